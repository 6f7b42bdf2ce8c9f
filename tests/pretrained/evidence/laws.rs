//! What holds of evidence on every family of models: splits add up, cells are single changes, gradients are slopes.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::evidence::corpus::{Corpus, HeadTowers, TextMeasure, TextSums, TextWords};
use attune_engine::numerics::evidence::gradient::AnswerOf;
use attune_engine::numerics::evidence::maps::{Change, Receiver, Setting};
use attune_engine::numerics::evidence::score::{ScoreAt, Source, SplitPass};
use attune_engine::numerics::evidence::words::{WordMeasure, chained, spearman, word_table};
use attune_engine::numerics::evidence::{Asked, Question};
use attune_engine::numerics::head_measures::{HeadMeasure, HeadPatterns, MeasuredToken};
use attune_engine::numerics::model::activations::{Activations, Interventions, Patch};
use attune_engine::numerics::model::onward::{Onward, Projected};
use attune_engine::numerics::model::{AttentionModel, Candidates, Classes, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::pretrained::Pretrained;

use crate::common::close::{Tolerance, assert_close, assert_close_beside, is_each_close};
use crate::common::models::read;

/// Norms behind sums, before parts, around parts; parallel parts; shared keys; rotations; windows; norms of queries and
/// keys; bounds; tables of two bytes.
const FAMILIES: [&str; 16] = [
    "bert-wild",
    "roberta-wild",
    "distilbert-wild",
    "modernbert-wild",
    "gpt2-wild",
    "neo-wild",
    "neox-wild",
    "phi-wild",
    "llama-wild",
    "mistral-window",
    "qwen2-wild",
    "qwen3-wild",
    "phi3-wild",
    "olmo2-wild",
    "gemma2-wild",
    "gemma3-wild",
];

const SENTENCE: [usize; 9] = [2, 45, 31, 7, 45, 31, 7, 12, 3];
const SECOND: [usize; 9] = [2, 45, 60, 7, 45, 31, 9, 12, 3];

/// A model with the passes of two sentences.
struct Model {
    name: &'static str,
    parameters: Arc<Parameters<f32>>,
    network: AttentionModel<f32>,
    sentence: Sequences,
    own: Activations<f32>,
    second: Activations<f32>,
}

impl Model {
    fn new(name: &'static str) -> Self {
        let of_file: Pretrained = read(name);
        let (network, parameters) = (of_file.model(), of_file.parameters);
        let pass = |words: &[usize]| {
            let sentence = Sequences::one(words);
            Activations::of(&network, &parameters, &sentence, None, &Interventions::default())
        };
        let (own, second) = (pass(&SENTENCE), pass(&SECOND));
        Self { name, sentence: Sequences::one(&SENTENCE), own, second, parameters, network }
    }

    fn setting(&self) -> Setting<'_> {
        let place = SENTENCE.len() - 1;
        Setting {
            model: &self.network,
            parameters: &self.parameters,
            sentence: &self.sentence,
            own: &self.own,
            second: Some(&self.second),
            question: Question { place, answer: 45, against: 60 },
        }
    }

    fn split(&self) -> SplitPass<'_> {
        let Self { network: model, parameters, sentence, own: activations, .. } = self;
        SplitPass { model, parameters, sentence, activations }
    }
}

#[test]
fn the_pairs_of_a_score_add_up_to_it() {
    for name in FAMILIES {
        let model = Model::new(name);
        let layers = model.own.blocks.len();
        for block in 0..layers {
            for head in 0..model.own.blocks[block].heads.len() {
                for (query, key) in [(8, 8), (8, 1), (8, 5), (5, 3), (1, 0), (2, 6)] {
                    let of = format!("{name} {block}.{head}:{query}-{key}");
                    let weights = &model.own.blocks[block].heads[head].scores;
                    let found = model.split().split(ScoreAt { block, head, query, key });
                    let Some(found) = found else {
                        assert_eq!(weights.get(query, key), f32::NEG_INFINITY, "{of}");
                        continue;
                    };
                    let sum: f64 = found.pairs.flat().iter().sum();
                    is_each_close(sum, found.score, Tolerance::SINGLE_PASS).unwrap_or_else(|why| panic!("{of}: {why}"));
                    let bounded = found.cap.map_or(found.score, |cap| cap * (found.score / cap).tanh());
                    let whole = bounded + found.added.unwrap_or(0.0);
                    assert_close_beside(
                        1.0f64.max(whole.abs()),
                        &of,
                        weights.get(query, key),
                        whole,
                        Tolerance::SINGLE_PASS,
                    );
                    words_add_up(&of, &found.sources, &found.pairs, &found.query_words);
                }
            }
        }
    }
}

/// The words of a head add up to its row of pairs.
#[track_caller]
fn words_add_up(
    of: &str,
    sources: &[Source],
    pairs: &Matrix<f64>,
    words: &[attune_engine::numerics::evidence::score::SourceValue],
) {
    for (row, source) in sources.iter().enumerate() {
        let sum: f64 = words.iter().filter(|word| word.source == *source).map(|word| word.value).sum();
        let expected: f64 = pairs.row(row).iter().sum();
        let size: f64 = pairs.row(row).iter().map(|pair| pair.abs()).sum::<f64>().max(1.0);
        assert_close_beside(size, format!("{of} {source:?}"), sum, expected, Tolerance::SINGLE_PASS);
    }
}

#[test]
fn a_pair_whose_key_side_is_the_same_everywhere_is_nothing_beside_the_mean() {
    // Without rotations the bias of the keys is the same at each place.
    let model = Model::new("gpt2-wild");
    let found = model.split().split(ScoreAt { block: 0, head: 1, query: 8, key: 3 }).expect("it is seen");
    let bias = found.key_sources.iter().position(|source| *source == Source::Bias).expect("biases");
    assert_eq!(found.key_sources[0], Source::Word);
    let of_rows = (0..found.relative.rows()).map(|row| found.relative.get(row, 0)).collect::<Vec<_>>();
    assert!(of_rows.iter().any(|value| value.abs() > 1e-3), "{of_rows:?}");
    assert!(bias > 0);
}

#[test]
fn a_cell_of_a_map_is_that_change_alone() {
    for name in FAMILIES {
        let model = Model::new(name);
        let setting = model.setting();
        let changes = setting.changes();
        let found = setting.answers(&changes, &|_| true).expect("it goes on");
        for (change, found) in changes.iter().zip(found).step_by(3) {
            let expected = single(&model, *change);
            let of = format!("{name} {change:?}");
            let size = expected.difference.abs().max(1.0);
            assert_close_beside(size, &of, found.difference, expected.difference, Tolerance::SINGLE_PASS);
            assert_close_beside(1.0, of, found.probability, expected.probability, Tolerance::SINGLE_PASS);
        }
    }
}

/// The answer with one change, as a trace makes it; a head of the second sentence is computed by hand.
fn single(model: &Model, change: Change) -> Asked {
    let Model { network, parameters, sentence, own, second, .. } = model;
    let mut interventions = Interventions::<f32>::default();
    let mut mode = |block: usize, head: usize, mode: HeadMode<f32>| {
        let mut modes = vec![HeadMode::Live; network.architecture.heads()];
        modes[network.architecture.heads_of(block).start + head] = mode;
        interventions.heads = modes;
    };
    match change {
        Change::Word { block, token } => {
            let vector = Some(Arc::from(second.blocks[block].input.row(token)));
            interventions.patch = Some(Patch { block, position: token, from: token, vector });
        }
        Change::Off { block, head } => mode(block, head, HeadMode::Off),
        Change::Mean { block, head } => mode(block, head, HeadMode::Mean),
        Change::Head { block, head } => {
            let mut mixes = attune_engine::numerics::model::onward::mixes_of(&own.blocks[block]);
            let columns = network.architecture.blocks[block].attention.mix_columns(head);
            for row in 0..mixes.rows() {
                mixes.row_mut(row)[columns.clone()].copy_from_slice(second.blocks[block].heads[head].mix.row(row));
            }
            let output = Onward::new(network, parameters, sentence).from_mixes(block, &mixes, &own.blocks[block].input);
            return model.setting().ask(&output);
        }
    }
    let changed = Activations::of(network, parameters, sentence, None, &interventions);
    model.setting().ask(&changed.output)
}

#[test]
fn what_is_the_same_in_both_sentences_changes_nothing() {
    for name in FAMILIES {
        let model = Model::new(name);
        let mut setting = model.setting();
        let (low, tokens) = (setting.ask(&model.own.output), SENTENCE.len());
        let first: Vec<Change> = (0..tokens).map(|token| Change::Word { block: 0, token }).collect();
        for (token, found) in setting.answers(&first, &|_| true).expect("it goes on").iter().enumerate() {
            let is_same = SENTENCE[token] == SECOND[token];
            assert!(!is_same || *found == low, "{name} token {token}: {found:?} {low:?}");
        }
        if !model.network.is_causal() {
            continue;
        }
        // Neither behind the place nor before the first token that differs.
        setting.question.place = 4;
        let low = setting.ask(&model.own.output);
        let blocks = 0..model.own.blocks.len();
        let outside = [0, 1, 5, 6, 7, 8];
        let changes: Vec<Change> =
            blocks.flat_map(|block| outside.map(|token| Change::Word { block, token })).collect();
        let found = setting.answers(&changes, &|_| true).expect("it goes on");
        assert!(found.iter().all(|found| *found == low), "{name}: {found:?}");
    }
}

#[test]
fn all_words_of_the_second_sentence_give_its_answer() {
    for name in FAMILIES {
        let model = Model::new(name);
        for block in 0..model.own.blocks.len() {
            let mut passes = Onward::new(&model.network, &model.parameters, &model.sentence);
            let output = passes.from(block, (*model.second.blocks[block].input).clone());
            assert_eq!(output, *model.second.output, "{name} before block {block}");
        }
    }
}

#[test]
fn a_path_into_a_head_of_which_nothing_arrives_is_nothing_and_one_into_shared_keys_reaches_one_head() {
    let model = Model::new("llama-wild");
    let setting = model.setting();
    let low = setting.ask(&model.own.output);
    let block = 1;
    let heads = model.own.blocks[block].heads.len();
    let senders: Vec<(usize, usize)> = (0..model.own.blocks[0].heads.len()).map(|head| (0, head)).collect();
    let mut all = Vec::new();
    for part in [Projected::Query, Projected::Key, Projected::Value] {
        for head in 0..heads {
            let into = Receiver::Head { block, head, part };
            let found = setting.paths(&senders, (into, false), &|_| true).expect("it goes on");
            all.extend(found.iter().map(|found| found.difference - low.difference));
        }
    }
    assert!(all.iter().any(|change| change.abs() > 1e-6), "{all:?}");
    // A sender whose output is the same in both sentences sends nothing.
    let same = Setting { second: Some(&model.own), ..setting };
    let into = Receiver::Head { block, head: 0, part: Projected::Key };
    for found in same.paths(&senders, (into, false), &|_| true).expect("it goes on") {
        assert_close_beside(1.0, "nothing", found.difference, low.difference, Tolerance::SINGLE_PASS);
    }
}

/// A model in double precision.
fn double(model: &Model) -> (AttentionModel<f64>, Parameters<f64>) {
    let shapes: Vec<_> = model.parameters.specs().iter().map(|spec| (spec.id, spec.rows, spec.cols)).collect();
    let mut parameters = Parameters::<f64>::zeros(&shapes);
    for (spec, values) in model.parameters.tensors() {
        let values: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
        parameters.set_row_major(spec.id, &values);
    }
    let table = model.network.embedding.widened().cast::<f64>();
    let classes = Classes::Words(Candidates::all(table.rows()));
    (AttentionModel::new(model.network.architecture.clone(), Arc::new(table.into()), classes), parameters)
}

#[test]
fn gradients_are_the_slopes_of_the_answer() {
    const STEP: f64 = 1e-5;
    for name in FAMILIES {
        let of_file = Model::new(name);
        let (model, parameters) = double(&of_file);
        let question = of_file.setting().question;
        let answer = AnswerOf { model: &model, parameters: &parameters, sentence: &of_file.sentence, question };
        let statics = model.statics(&parameters, &of_file.sentence);
        // Two variants at once, of which the second is another point.
        let other =
            Matrix::from_fn(statics.rows(), statics.cols(), |i, j| 0.5 * statics.get(i, j) + 0.01 * (i + j) as f64);
        let variants = [statics, other];
        let gradients = answer.gradients(&variants);
        for (statics, gradient) in variants.iter().zip(&gradients) {
            for (word, column) in [(0, 0), (1, 3), (4, 1), (7, 2), (8, 0)] {
                let at = |step: f64| {
                    let mut moved = statics.clone();
                    moved.row_mut(word)[column] += step;
                    let input = model.input_of(&parameters, &of_file.sentence, moved);
                    let output = Onward::new(&model, &parameters, &of_file.sentence).from(0, input);
                    question.ask(&model, &parameters, &output).difference
                };
                let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                let size = gradient.flat().iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                let of = format!("{name} word {word}, column {column}");
                assert_close_beside(size, of, gradient.get(word, column), slope, Tolerance::DIFFERENCES);
            }
        }
    }
}

#[test]
fn measures_of_words_are_there_on_every_family() {
    for name in FAMILIES {
        let model = Model::new(name);
        let setting = Setting { second: None, ..model.setting() };
        let table = word_table(&setting, &|_| true).expect("it goes on");
        let has_sum = table.measures.iter().any(|(measure, _)| *measure == WordMeasure::Direct);
        assert_eq!(has_sum, table.direct_rest.is_some(), "{name}");
        for (measure, values) in &table.measures {
            assert_eq!(values.len(), SENTENCE.len(), "{name} {measure:?}");
            assert!(values.iter().all(|value| value.is_finite()), "{name} {measure:?}: {values:?}");
        }
        for shares in
            [WordMeasure::AttentionLast, WordMeasure::Attention, WordMeasure::Rollout, WordMeasure::ValueZeroing]
        {
            let values = &table.measures.iter().find(|(measure, _)| *measure == shares).expect("it is there").1;
            assert_close(format!("{name} {shares:?}"), values.iter().sum::<f64>(), 1.0, Tolerance::SINGLE_PASS);
        }
        assert!(word_table(&setting, &|done| done < 4).is_none(), "{name}: it is ended");
    }
}

#[test]
fn rows_are_multiplied_from_the_last_layer_to_the_first() {
    let grids = [
        Matrix::from_row_major(2, 2, vec![1.0, 0.0, 3.0, 1.0]),
        Matrix::from_row_major(2, 2, vec![1.0, 0.0, 1.0, 1.0]),
    ];
    // (½, ½) of the last, then ½ (1, 0) + ½ (¾, ¼) of the first.
    assert_close("the row", chained(&grids, 1), [0.875, 0.125], Tolerance::DOUBLE);
}

#[test]
fn ranks_are_correlated_over_absolute_values_and_not_for_what_is_constant() {
    let [a, b, constant] = [[1.0, -4.0, 2.0, 9.0], [10.0, 40.0, -20.0, 0.0], [3.0, -3.0, 3.0, 3.0 + 1e-12]];
    let words = [0, 1, 2];
    assert_close("the same order", spearman(&a, &b, &words).expect("a number"), 1.0, Tolerance::DOUBLE);
    assert_eq!(spearman(&a, &constant, &words), None);
    // Ranks 1, 3, 2, 4 and 2, 4, 3, 1.
    assert_close("all", spearman(&a, &b, &[0, 1, 2, 3]).expect("a number"), -0.2, Tolerance::DOUBLE);
}

#[test]
fn the_composition_of_heads_is_that_of_whole_matrices() {
    use attune_engine::numerics::evidence::tables::HeadTables;
    use attune_engine::numerics::params::TensorName::{
        AttentionNormGain, ForwardNormGain, KeyWeights, OutputWeights, QueryWeights, ValueWeights,
    };
    for name in ["gpt2-wild", "bert-wild", "llama-wild"] {
        let model = Model::new(name);
        let found = HeadTables { model: &model.network, parameters: &model.parameters };
        let found = found.composition(None, &|_| true).expect("it goes on");
        let architecture = &model.network.architecture;
        let columns = |tensor, block: usize, columns: std::ops::Range<usize>| {
            let values =
                model.parameters.row_major(attune_engine::numerics::params::TensorName::of_block(tensor, block));
            let all = values.len() / architecture.width;
            Matrix::from_fn(architecture.width, columns.len(), |i, j| f64::from(values[i * all + columns.start + j]))
        };
        let written = |(block, head): (usize, usize)| {
            let layer = &architecture.blocks[block].attention;
            let (mixes, output) = (layer.mix_columns(head), model.parameters.row_major(OutputWeights.of_block(block)));
            let output = Matrix::from_fn(mixes.len(), layer.width, |i, j| {
                f64::from(output[(mixes.start + i) * layer.width + j])
            });
            (columns(ValueWeights, block, layer.value_columns(head)), output)
        };
        for of in found.iter().step_by(5) {
            let ((first, _), (second, head)) = (of.first, of.second);
            let (value, output) = written(of.first);
            let mut ov = times(&value, &output);
            let mut norms: Vec<(usize, attune_engine::numerics::params::TensorName)> = Vec::new();
            if architecture.blocks[second].norms_first() {
                norms.push((second, AttentionNormGain));
            } else {
                norms.extend((first..second).flat_map(|block| [(block, AttentionNormGain), (block, ForwardNormGain)]));
            }
            for (block, gain) in norms {
                let gain: Vec<f64> =
                    model.parameters.row_major(gain.of_block(block)).iter().map(|x| f64::from(*x)).collect();
                let form = architecture.blocks[block].norm_form;
                (0..ov.rows()).for_each(|row| form.carry(&gain, 1.0, ov.row_mut(row)));
            }
            let layer = &architecture.blocks[second].attention;
            let query = columns(QueryWeights, second, layer.query_columns(head));
            let key = columns(KeyWeights, second, layer.key_columns(head));
            let (value, output) = written(of.second);
            let cases = [
                (of.query, times(&query, &turned(&key))),
                (of.key, times(&key, &turned(&query))),
                (of.value, times(&value, &output)),
            ];
            for (found, read) in cases {
                let expected = size_of(&times(&ov, &read)) / (size_of(&ov) * size_of(&read));
                assert_close(format!("{name} {of:?}"), found, expected, Tolerance::DOUBLE_SUMS);
            }
        }
    }
}

fn times(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.rows(), b.cols(), |i, j| (0..a.cols()).map(|k| a.get(i, k) * b.get(k, j)).sum())
}

fn turned(a: &Matrix<f64>) -> Matrix<f64> {
    Matrix::from_fn(a.cols(), a.rows(), |i, j| a.get(j, i))
}

fn size_of(a: &Matrix<f64>) -> f64 {
    a.flat().iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[test]
fn a_corpus_of_one_text_has_the_measures_of_the_text() {
    let model = Model::new("gpt2-wild");
    let words: Vec<Option<usize>> = SENTENCE.iter().copied().map(Some).collect();
    let towers = HeadTowers::all(&model.network.architecture);
    let of = TextWords { sentence: &words, ..TextWords::default() };
    let sums = TextSums::of(of, towers.into_iter().zip(model.own.heads().map(|head| &head.weights)));
    let mut corpus = Corpus::default();
    // Twice the same text has the same means.
    corpus.add(&sums);
    corpus.add(&sums);
    let tokens: Vec<MeasuredToken> = words.iter().map(|word| MeasuredToken { word: *word, is_added: false }).collect();
    let patterns = HeadPatterns::within(&tokens);
    let rows = SENTENCE.len() as f64;
    for (number, head) in model.own.heads().enumerate() {
        let found = corpus.head(number, &|word| format!("{word:?}"));
        let of = |measure| patterns.measure(measure, &head.weights).expect("a measure");
        let measured = |measure| found.measure(measure).expect("a measure over texts");
        let pairs = [
            (measured(TextMeasure::Own), of(HeadMeasure::Same)),
            (measured(TextMeasure::Entropy), of(HeadMeasure::Entropy)),
            (measured(TextMeasure::Distance), of(HeadMeasure::Distance)),
            (measured(TextMeasure::Previous) * (rows - 1.0) / rows, of(HeadMeasure::Previous)),
        ];
        assert_eq!(found.measure(TextMeasure::Aligned), None, "head {number}: there is no source");
        for (found, expected) in pairs {
            is_each_close(found, expected, Tolerance::SINGLE).unwrap_or_else(|why| panic!("head {number}: {why}"));
        }
        assert_eq!(found.histogram.iter().sum::<usize>(), 2, "head {number}");
        let weight: f64 = found.distance_histogram.iter().sum();
        assert_close("all weights", weight, 2.0 * rows, Tolerance::SINGLE_PASS);
        let received: f64 = found.key_words.iter().map(|word| word.weight).sum();
        assert_close("all words", received, 2.0 * rows, Tolerance::SINGLE_PASS);
    }
    assert_eq!((corpus.texts(), corpus.tokens()), (2, 2 * SENTENCE.len()), "{}", model.name);
}
