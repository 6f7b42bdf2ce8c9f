//! Packed parameters: the same entries and the same numbers as plain ones, whatever the model's form; clones share, and
//! an edit copies one tensor.

use std::sync::Arc;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{AttentionModel, Readout};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::packed::{NumberType, PANEL};
use attune_engine::numerics::params::{Parameters, TensorId, TensorName};
use attune_engine::numerics::table::Table;
use attune_engine::numerics::tensor_norms::TensorNorms;
use attune_engine::numerics::{Matrix, Scalar};
use attune_engine::panics;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::numerics::{Net, architecture, batches, block_forms, layer, sentence, words};

fn packed_as(id: TensorId) -> Option<NumberType> {
    id.name.multiplies().then_some(NumberType::Whole)
}

/// Two blocks of every form, with all that a real model has around them.
fn nets() -> impl Iterator<Item = Net> {
    block_forms(&layer(|_| ())).into_iter().enumerate().map(|(i, form)| {
        let activation = Activation::ALL[i % Activation::ALL.len()];
        let form = BlockConfig { activation, norm_form: NormForm::layer(1e-12), ..form };
        let is_even = i % 2 == 0;
        let architecture = architecture(|of| {
            of.segments = is_even.then_some(2);
            of.embedding_norm = is_even;
            of.final_norm = !is_even;
            of.readout = [
                Readout::Tied,
                Readout::Transformed(activation),
                Readout::Linear,
                Readout::TransformedLinear(activation),
            ][i % 4];
            of.blocks = vec![form.clone(), form];
        });
        Net::new(architecture, words(), i as u64)
    })
}

/// All numbers of a pass and what is made of them.
fn numbers<S: Scalar>(net: &Net<S>, parameters: &Parameters<S>) -> Vec<S> {
    let run = Activations::of(&net.model, parameters, &sentence(&[1, 3, 0, 8]), None, &Interventions::default());
    let mut all = net.model.logits_of(parameters, &run.output).flat().to_vec();
    for (b, block) in run.blocks.iter().enumerate() {
        let config = &net.model.architecture.blocks[b];
        let terms = Contributions::of(config, b, parameters, block, &[]);
        all.extend(terms.head_lengths.iter().flatten());
        let heads = block.heads.iter().flat_map(|head| [&head.query, &head.key, &head.value, &head.weights, &head.mix]);
        let others = [Some(&block.summed), block.normed.as_ref(), block.attended.as_ref(), block.hidden.as_ref()];
        let all_matrices = heads.chain(others.into_iter().flatten()).chain([&*block.output]);
        all.extend(all_matrices.flat_map(|matrix: &Matrix<S>| matrix.flat().iter().copied()));
    }
    all
}

#[test]
fn every_form_of_the_engine_gives_the_numbers_of_plain_weights() {
    for net in nets() {
        let packed = net.parameters.with_packed(packed_as);
        assert!(packed.is_packed() && packed.flat().len() < packed.len() && !net.parameters.is_packed());
        let plain = numbers(&net, &net.parameters);
        assert_close("in double precision", numbers(&net, &packed), plain, Tolerance::DOUBLE_PASS);
        let net = net.cast::<f32>();
        let packed = net.parameters.with_packed(packed_as);
        let (found, expected) = (numbers(&net, &packed), numbers(&net, &net.parameters));
        // Shares of the largest: some of these nets, without norms, have numbers up to hundreds.
        let largest = expected.iter().fold(1f32, |most, x| most.max(x.abs()));
        assert_close_beside(largest, "in single precision", found, expected, Tolerance::SINGLE_PASS);
    }
}

#[test]
fn a_table_of_two_bytes_gives_the_bits_of_one_that_was_widened_first() {
    /// Whole numbers of these fit in two bytes, whichever.
    const STEP: f32 = 1.0 / 64.0;
    for net in nets().map(|net| net.cast::<f32>()) {
        let given = net.model.embedding.widened();
        let whole = Matrix::from_fn(given.rows(), given.cols(), |i, j| (given.get(i, j) / STEP).round() * STEP);
        let with = |kind: NumberType| {
            let mut table = Table::zeros_as(kind, whole.rows(), whole.cols());
            table.set_part((0, 0), whole.view());
            let model = AttentionModel::new(net.model.architecture.clone(), Arc::new(table), words());
            Net { model, parameters: net.parameters.clone() }
        };
        let wide = with(NumberType::Whole);
        let expected = (numbers(&wide, &wide.parameters), wide.loss(&batches::next()));
        for kind in [NumberType::Bf16, NumberType::F16] {
            let narrow = with(kind);
            assert_eq!(2 * narrow.model.embedding.bytes(), wide.model.embedding.bytes());
            assert_eq!((numbers(&narrow, &narrow.parameters), narrow.loss(&batches::next())), expected, "{kind:?}");
        }
    }
}

#[test]
fn entries_and_their_indices_are_those_of_plain_parameters() {
    let net = nets().last().expect("forms");
    let (plain, mut packed) = (&net.parameters, net.parameters.with_packed(packed_as));
    assert_eq!((packed.len(), packed.specs().len()), (plain.len(), plain.specs().len()));
    assert!(packed.changed_to(plain).is_empty() && plain.changed_to(&packed).is_empty());
    for spec in plain.specs() {
        let (id, last) = (spec.id, (spec.rows - 1, spec.cols - 1));
        assert_eq!(packed.index(id, last.0, last.1), plain.index(id, last.0, last.1));
        assert_eq!(packed.entry(id, last.0, last.1), plain.values_of(id).last().copied());
        assert_eq!(packed.entry(id, spec.rows, 0), None);
        assert_eq!(packed.row_major(id), plain.values_of(id));
        assert_eq!(packed.rows(id, last.0..spec.rows), plain.rows(id, last.0..spec.rows));
        packed.set(id, last.0, last.1, 7.5);
        let index = spec.indices().end - 1;
        assert_eq!(plain.changed_to(&packed), [(index, 7.5)], "{id}");
        packed.set_at(index, plain.at(index));
        assert_eq!(packed.changed_to(plain), [], "{id}");
    }
    let (norms, expected) = (TensorNorms::of(&packed), TensorNorms::of(plain));
    assert_eq!(norms, expected);
}

#[test]
fn clones_share_and_an_edit_copies_one_tensor() {
    let net = nets().last().expect("forms");
    let start = net.parameters.with_packed(packed_as);
    let flat = size_of_val(start.flat());
    let mut edited = start.clone();
    assert_eq!((edited.bytes_beside(&start), &edited), (flat, &start));
    let id = TensorName::HiddenWeights.of_block(1);
    let before = start.entry(id, 2, 3).expect("an entry");
    edited.set(id, 2, 3, before + 1.0);
    let spec = start.spec(id).expect("a tensor");
    let in_panels = spec.rows * spec.cols.next_multiple_of(PANEL);
    assert_eq!(edited.bytes_beside(&start), flat + in_panels * size_of::<f64>());
    assert_eq!(start.entry(id, 2, 3), Some(before), "the others keep theirs");
    assert!(edited != start && !edited.has_same(id, &start));
    assert!(edited.has_same(TensorName::HiddenWeights, &start));

    let difference = edited.less(&start);
    let places: Vec<usize> = (0..difference.len()).filter(|&i| difference.at(i) != 0.0).collect();
    assert_eq!(places, [start.index(id, 2, 3).expect("an entry")]);
    edited.take(id, &start);
    assert_eq!((edited.bytes_beside(&start), &edited), (flat, &start));
}

#[test]
fn an_edit_of_numbers_of_two_bytes_takes_two_bytes_for_each() {
    let id = TensorId::from(TensorName::HiddenWeights);
    let shape = [(id, 3, PANEL)];
    let start = Parameters::<f32>::zeros_with_packed(&shape, |_| Some(NumberType::Bf16));
    let mut edited = start.clone();
    edited.set(id, 1, 1, 0.5);
    assert_eq!(edited.bytes_beside(&start), 3 * PANEL * size_of::<u16>());
    assert_eq!((edited.bytes(), start.bytes_beside(&start)), (3 * PANEL * size_of::<u16>(), 0));
    // No number of two bytes: all are widened.
    edited.set(id, 1, 1, 0.1);
    assert_eq!(edited.bytes_beside(&start), 3 * PANEL * size_of::<f32>());
}

#[test]
fn what_is_written_is_read() {
    let net = nets().last().expect("forms");
    let mut packed = net.model.zeros().with_packed(packed_as);
    assert!(packed.is_packed());
    for spec in net.parameters.specs() {
        packed.set_row_major(spec.id, net.parameters.values_of(spec.id));
    }
    assert_eq!(packed, net.parameters.with_packed(packed_as));
    let id = TensorName::OutputWeights.of_block(1);
    let plain = packed.plain(&[id]);
    assert!(!plain.is_packed() && plain.specs().len() == 1);
    assert_eq!(plain.values_of(id), net.parameters.values_of(id));
}

#[test]
fn packed_parameters_are_neither_trained_nor_slices() {
    let (net, batch) = (nets().next().expect("forms"), batches::next());
    let packed = Net { parameters: net.parameters.with_packed(packed_as), model: net.model };
    let cases: [(&str, &dyn Fn()); 2] = [
        ("packed parameters are not trained", &|| drop(packed.gradient(&batch))),
        ("is packed", &|| _ = packed.parameters.values_of(TensorName::QueryWeights)),
    ];
    for (expected, work) in cases {
        let said = panics::quietly(work).expect_err(expected);
        assert!(said.contains(expected), "{said:?}, not {expected:?}");
    }
}

#[test]
fn again_from_a_block_has_the_bits_of_a_whole_pass_and_shares_what_lies_before() {
    for net in nets().filter(|net| net.model.architecture.blocks[0].feed_forward.is_some()) {
        let words = sentence(&[1, 3, 0, 8]);
        let none = Interventions::default();
        let start = net.parameters.with_packed(packed_as);
        let before = Activations::of(&net.model, &start, &words, None, &none);
        for block in [0, 1] {
            let mut turned = start.clone();
            turned.set(TensorName::HiddenWeights.of_block(block), 1, 1, 0.7);
            let heads = vec![HeadMode::Live, HeadMode::Live, HeadMode::Off, HeadMode::Live];
            let off = Interventions { heads, ..Interventions::default() };
            let whole = Activations::of(&net.model, &turned, &words, None, &off);
            let again = before.again(block, &net.model, &turned, &words, None, &off);
            assert_eq!(again, whole);
            assert_ne!(again.output, before.output);
            assert!(again.blocks.iter().zip(&before.blocks).take(block).all(|(a, b)| Arc::ptr_eq(a, b)));
        }
        assert_eq!(before.again(2, &net.model, &start, &words, None, &none), before, "nothing but the output is made");
    }
}

#[test]
fn parts_are_put_where_they_belong_however_they_lie() {
    let w = Matrix::from_fn(70, 90, |i, j| (i * 90 + j) as f32);
    let by_columns = Matrix::copied(w.view().transpose());
    let id = TensorName::QueryWeights.into();
    for (is_packed, from) in [(true, w.view()), (true, by_columns.view().transpose()), (false, w.view())] {
        let mut parameters = Parameters::zeros_with_packed(&[(id, 70, 90)], |_| is_packed.then_some(NumberType::Whole));
        // Columns that begin and end within a panel, and rows in two pieces.
        for (first_row, rows) in [(0, 33), (33, 37)] {
            for (first_col, cols) in [(0, 1), (1, 40), (41, 49)] {
                let part = from.submatrix(first_row, first_col, rows, cols);
                parameters.set_part(id, (first_row, first_col), part);
            }
        }
        assert_eq!(*parameters.row_major(id), *w.flat());
    }
}
