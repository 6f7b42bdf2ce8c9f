//! The provenance of numbers: every formula, worked out again in double precision from the numbers that it
//! names, comes to the number that is shown.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::norm::NormKind;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity, StagePoint};
use attune_view::explain::formulas::{LinePiece, Operand, ProductTerm, Worked};
use attune_view::explain::numbers::Divisors;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::reader::part_index;
use attune_view::explain::walk::{Focus, WalkModel};
use attune_view::explain::{Explanation, Provenance};

use crate::common::lessons::{SMALL, formed, forms, kernel, set_weight, small};
use crate::common::top::at;

/// A model that reads few words.
pub fn odd(model: &str) -> String {
    formed(&format!("max_tokens: 6, {model}"))
}

/// Everything that a model can have: norms, feed-forward, layers, positions, no residual, no projections.
pub const ODD: [&str; 11] = [
    "positions: Sinusoidal",
    "positions: Learned, layers: 2",
    "norm: Pre",
    "norm: Post, residual: false",
    "norm: Pre, feed_forward: 5, layers: 2",
    "norm: Post, feed_forward: 5",
    "norm: Post, layers: 2, bias: true",
    "feed_forward: 5, residual: false, bias: true",
    "norm: Post, feed_forward: 5, residual: false, bias: true",
    "scale: false, temperature: 2.0, bias: true",
    "mask: Causal, readout: Linear",
];

/// The formula's value; `None` where the number is given.
fn worked_out(worked: &Worked) -> Option<f64> {
    let value = |operand: &Operand| f64::from(operand.value);
    Some(match worked {
        Worked::Given(_) => return None,
        Worked::Sum(terms) => terms.iter().map(|term| term.value()).sum(),
        Worked::Exponential { score, largest } => (value(score) - value(largest)).exp(),
        Worked::Quotient { over, under } => value(over) / value(under),
        Worked::Share(count) => 1.0 / *count as f64,
        Worked::Scale(Divisors { key_width, own, temperature }) => {
            1.0 / (key_width.map_or(1.0, |d| (d as f64).sqrt()) * own * temperature)
        }
        Worked::Length(sums) => sums.iter().map(|sum| sum.iter().map(value).sum::<f64>().powi(2)).sum::<f64>().sqrt(),
        Worked::Distance(pairs) => pairs.iter().map(|(a, b)| (value(a) - value(b)).powi(2)).sum::<f64>().sqrt(),
        Worked::Cosine(pairs) => {
            let [ab, aa, bb] = pairs.iter().fold([0.0; 3], |[ab, aa, bb], (a, b)| {
                let (a, b) = (value(a), value(b));
                [ab + a * b, aa + a * a, bb + b * b]
            });
            if aa * bb == 0.0 { 0.0 } else { ab / (aa * bb).sqrt() }
        }
        Worked::Norm { row, at, gain, shift, form } => {
            let is_layer = form.kind == NormKind::Layer;
            let mean = if is_layer { row.iter().map(value).sum::<f64>() / row.len() as f64 } else { 0.0 };
            let variance = row.iter().map(|x| (value(x) - mean).powi(2)).sum::<f64>() / row.len() as f64;
            let gain = value(gain) + if form.gain_from_one { 1.0 } else { 0.0 };
            gain * (value(&row[*at]) - mean) / (variance + form.epsilon).sqrt() + shift.as_ref().map_or(0.0, value)
        }
        Worked::Bounded { sum, cap, added } => {
            let cap = f64::from(*cap);
            cap * (sum.iter().map(ProductTerm::value).sum::<f64>() / cap).tanh()
                + added.as_ref().map_or(0.0, |added| added.value())
        }
        Worked::Softmax { own, largest, others: _, rest } => {
            let most = value(&largest[0]);
            (value(own) - most).exp() / (largest.iter().map(|z| (value(z) - most).exp()).sum::<f64>() + rest)
        }
    })
}

/// Some entries of every kind that the snapshot has.
fn entries(snapshot: &Snapshot) -> Vec<Entry> {
    let model = snapshot.model.as_ref().expect("a model");
    let (sentence, architecture) = (&model.sentence, &model.architecture);
    let width = architecture.width;
    let mut all = vec![Quantity::Static.of_model([1, 0]), Quantity::Position.of_model([1, 1])];
    all.extend((0..sentence.tokens.len()).map(|token| Quantity::Embedded.of_model([token, 1])));
    for (block, _) in architecture.numbered_blocks() {
        let tokens = sentence.activations.blocks[block].input.rows();
        for token in [0, tokens - 1] {
            for dim in [0, width - 1] {
                use Quantity::{Attended, Input, Joined, Normed, Output, Summed};
                let of_block = [Input, Normed, Summed, Attended, Joined, Output];
                all.extend(of_block.map(|quantity| quantity.of_block(block, [token, dim])));
                all.extend(BlockPart::ALL.map(|part| Quantity::Part.of_block(block, [part_index(part), token, dim])));
            }
            all.push(Quantity::MoveLength.of_block(block, [token]));
            all.extend(BlockPart::ALL.map(|part| Quantity::PartLength.of_block(block, [part_index(part), token])));
            all.push(Quantity::WordLength.of_block(block, [token, 0]));
        }
        all.push(Entry::parameter(TensorName::ValueWeights.of_block(block), 1, 1));
    }
    for (head, activations) in sentence.activations.heads().enumerate() {
        all.push(Quantity::Scale.of_head(head, []));
        let (queries, keys) = (activations.weights.rows(), activations.weights.cols());
        for query in 0..queries {
            all.extend([Quantity::RowSum.of_head(head, [query]), Quantity::HeadLength.of_head(head, [query])]);
            all.push(Quantity::HeadArrowLength.of_head(head, [query]));
            all.extend([Quantity::Query.of_head(head, [query, 1]), Quantity::Mix.of_head(head, [query, 1])]);
            for key in 0..keys {
                use Quantity::{Exponential, Product, Score, TermLength, Weight};
                let of_pair = [Product, Score, Exponential, Weight, TermLength];
                all.extend(of_pair.map(|quantity| quantity.of_head(head, [query, key])));
                all.extend([
                    Quantity::Key.of_head(head, [key, 0]),
                    Quantity::Value.of_head(head, [key, 1]),
                    Quantity::Arrow.of_head(head, [query, key, 1]),
                    Quantity::Term.of_head(head, [query, key, 0]),
                    Quantity::Term.of_head(head, [query, key, width - 1]),
                ]);
            }
        }
    }
    for token in 0..sentence.tokens.len() {
        for of in [StagePoint::Static(token), StagePoint::Contextual(token), StagePoint::Word(token)] {
            all.extend((0..3).map(|axis| Quantity::Coordinate.of_point(of, axis)));
        }
        for (of, near) in [
            (StagePoint::Static(token), &sentence.static_neighbours[token]),
            (StagePoint::Contextual(token), &sentence.contextual_neighbours[token]),
        ] {
            for near in near.by_cosine.iter().chain(&near.by_distance).take(3) {
                all.extend([Quantity::Cosine.of_point(of, near.word), Quantity::Distance.of_point(of, near.word)]);
            }
        }
    }
    for (row, best) in sentence.answers.likeliest.iter().enumerate() {
        let class = best[0].class;
        all.extend([Quantity::Logit.of_model([row, class]), Quantity::Probability.of_model([row, class])]);
    }
    all
}

/// Checks every entry, and how many were worked out.
fn check(name: &str, snapshot: &Snapshot) -> usize {
    let mut count = 0;
    let mut missing = Vec::new();
    for entry in entries(snapshot) {
        let Some(Provenance { name: of_number, explanation: told, .. }) = Provenance::of(snapshot, entry) else {
            missing.push(entry);
            continue;
        };
        assert!(!of_number.is_empty() && !told.meaning.is_empty() && !told.symbols.is_empty(), "{name}: {told:?}");
        if let Some(found) = worked_out(&told.worked) {
            let (shown, found) = (f64::from(told.value), found);
            let tolerance = 2e-5 * (1.0 + shown.abs());
            assert!((shown - found).abs() <= tolerance, "{name}: {of_number} is {shown}, not {found}");
            count += 1;
        }
        // Every number in it can be asked for in its turn.
        for piece in told.worked.lines(usize::MAX).lines.iter().flatten() {
            if let LinePiece::Number(operand) = piece
                && let Some(entry) = operand.entry
            {
                let value = Explanation::of(snapshot, entry).unwrap_or_else(|| panic!("{name}: no {entry:?}")).value;
                assert_eq!(value.to_bits(), operand.value.to_bits(), "{name}: {}", operand.label);
            }
        }
    }
    // Numbers that only some forms have.
    let optional = |entry: &Entry| {
        matches!(
            entry.quantity,
            Quantity::Position
                | Quantity::Embedded
                | Quantity::Normed
                | Quantity::Attended
                | Quantity::Joined
                | Quantity::Arrow
                | Quantity::HeadArrowLength
                | Quantity::Part
                | Quantity::PartLength
                | Quantity::Parameter(_)
        )
    };
    missing.retain(|entry| !optional(entry));
    assert!(missing.is_empty(), "{name}: {missing:?}");
    count
}

#[test]
fn every_formula_comes_to_the_number_that_is_shown() {
    assert!(check("small", &small().snapshot()) > 1000);
}

#[test]
fn and_so_it_does_in_every_form_of_a_model() {
    for (form, kernel) in forms() {
        check(&form, &kernel.snapshot());
    }
    for model in ODD {
        check(model, &kernel(&odd(model)).snapshot());
    }
}

#[test]
fn and_so_it_does_in_the_families_of_real_models() {
    for family in FAMILIES {
        let folder = at("tests/fixtures/pretrained").join(family);
        let lesson = attune_core::lesson::read(&folder).unwrap_or_else(|issues| panic!("{family}: {issues:?}"));
        let mut kernel = Kernel::embedded(Arc::new(lesson));
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![5, 17, 5, 40, 9])));
        kernel.settle();
        let snapshot = kernel.snapshot();
        assert_eq!(snapshot.notice, None, "{family}");
        let found = check(family, &snapshot);
        assert!(found > 500, "{family}: {found}");
    }
}

pub const FAMILIES: [&str; 16] = [
    "bert-wild",
    "gpt2-wild",
    "llama-wild",
    "llama3-scaling",
    "mistral-window",
    "qwen2-wild",
    "qwen3-wild",
    "gemma2-wild",
    "gemma3-wild",
    "phi3-wild",
    "phi-wild",
    "neox-wild",
    "neo-wild",
    "roberta-wild",
    "modernbert-wild",
    "olmo2-wild",
];

#[test]
fn what_the_learner_changed_is_said_as_the_reason() {
    let head = |head, mode| Command::Interventions(InterventionCommand::SetHead { head, mode });
    let holes = Mask::custom(MaskTable::from_fn(7, 7, |query, key| query != 2 && (query, key) != (0, 1)));
    let cases = [
        (head(0, HeadMode::Uniform), Quantity::Weight.of_head(0, [0, 1]), "the same weight"),
        (head(0, HeadMode::Frozen(None)), Quantity::Weight.of_head(0, [0, 1]), "is frozen"),
        (head(0, HeadMode::Off), Quantity::Mix.of_head(0, [0, 0]), "Head 1 is off"),
        (head(0, HeadMode::Gain(2.5)), Quantity::Mix.of_head(0, [0, 0]), "output of head 1 is multiplied by 2.5"),
        (
            Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))),
            Quantity::Score.of_head(0, [0, 1]),
            "temperature was set to 0.5",
        ),
        (
            Command::Interventions(InterventionCommand::SetScale(Some(false))),
            Quantity::Scale.of_head(1, []),
            "Scaling was turned off",
        ),
        (
            Command::Interventions(InterventionCommand::SetMask(Some(holes.clone()))),
            Quantity::Weight.of_head(0, [0, 1]),
            "your mask hides",
        ),
        (
            Command::Interventions(InterventionCommand::SetMask(Some(holes))),
            Quantity::Weight.of_head(0, [2, 1]),
            "sees no word at all",
        ),
        (
            set_weight(TensorName::QueryWeights, 0, 1, 9.0),
            Entry::parameter(TensorName::QueryWeights.into(), 0, 1),
            "You changed this weight",
        ),
    ];
    for (command, entry, reason) in cases {
        let mut kernel = small();
        kernel.apply(command.clone());
        let snapshot = kernel.snapshot();
        check(reason, &snapshot);
        let notes = Explanation::of(&snapshot, entry).expect("an entry").sentences.join(" ");
        assert!(notes.contains(reason), "{command:?}: {notes}");
    }
}

#[test]
fn a_weight_leads_back_to_the_static_vector() {
    let snapshot = small().snapshot();
    let told = Provenance::of(&snapshot, Quantity::Weight.of_head(0, [1, 5])).expect("a weight");
    assert_eq!((told.name.as_str(), told.place.as_str()), ("A₁[\"seal\", \"duck\"]", "A[0, 1, 5]"));
    assert_eq!(told.explanation.meaning, "attention weight: how much “seal” looks at “duck” in head 1");
    let way: Vec<String> = told.way.iter().map(|(_, symbol)| symbol.clone()).collect();
    assert_eq!(way[..3], ["exp", "S₁", "Q₁ Kᵀ"], "{way:?}");
    assert!(["E", "W_Q", "W_K", "P", "b_Q", "b_K"].contains(&way.last().expect("an end").as_str()), "{way:?}");
    let text = Explanation::of(&snapshot, Quantity::Product.of_head(0, [1, 5])).expect("a score").worked.text(2);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("q[") && lines[1].starts_with("+ q["), "{text}");
    assert!(lines[2].starts_with("… + "), "{text}");
}

#[test]
fn what_is_not_there_has_no_provenance() {
    let snapshot = small().snapshot();
    for entry in [
        Quantity::Weight.of_head(9, [0, 0]),
        Quantity::Weight.of_head(0, [99, 0]),
        Quantity::Term.of_head(0, [0, 99, 0]),
        Quantity::Term.of_head(0, [0, 0, 99]),
        Quantity::Input.of_block(7, [0, 0]),
        Quantity::Static.of_model([usize::MAX, 0]),
        Quantity::Coordinate.of_point(StagePoint::Static(0), 3),
        Entry::parameter(TensorName::HiddenWeights.into(), 0, 0),
        Quantity::Logit.of_model([99, 0]),
    ] {
        assert_eq!(Provenance::of(&snapshot, entry), None, "{entry:?}");
    }
}

#[test]
fn every_number_of_the_walk_and_every_arrow_says_where_it_comes_from() {
    let forms = ODD.map(odd);
    let given = [SMALL, include_str!("../fixtures/forms/translation.ron")];
    for text in given.into_iter().chain(forms.iter().map(String::as_str)) {
        let snapshot = kernel(text).snapshot();
        let heads = snapshot.model.as_ref().expect("a model").architecture.heads();
        for head in 0..heads {
            let walk = WalkModel::of(&snapshot, Focus { query: 1, head, key: None }).expect("a walk");
            for row in walk.steps.iter().flat_map(|step| &step.rows) {
                for (column, value) in row.values.iter().enumerate() {
                    match Explanation::of(&snapshot, row.entry(column)) {
                        Some(told) => assert_eq!(told.value.to_bits(), value.to_bits(), "{}", row.label),
                        None => assert_eq!(row.label, "b_O", "only a model without b_O has none of it"),
                    }
                }
            }
            for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
                for arrow in PathModel::of(&snapshot, 1, head, by).expect("a path").arrows {
                    let told = Explanation::of(&snapshot, arrow.entry.expect("an entry")).expect("an entry");
                    assert_eq!(told.value, arrow.length, "{}", arrow.label);
                }
            }
        }
    }
}
