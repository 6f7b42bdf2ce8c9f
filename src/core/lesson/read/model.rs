//! Reading of the attention model: its layers, its objective, its initial weights, and its training.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::model::{Architecture, DistanceCosts, Pooling, Readout};
use attune_engine::numerics::optimiser::Method;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::{PositionRows, Positions};

use crate::lesson::corpus::words_among;
use crate::lesson::read::common::{LessonNames, Vocabulary, word};
use crate::lesson::read::corpus::Lists;
use crate::lesson::read::layers::{FACTORS, PositionForm, read_positions};
use crate::lesson::read::towers::{Towers, read_towers};
use crate::lesson::reading::decode::{
    At, Node, Record, all, choice, different, fields, flag, list, list_of, map, number, positive, record, share, whole,
    within, wrong,
};
use crate::lesson::reading::issue::{one_of, shorten};
use crate::lesson::schema::limits::{
    BATCH_MAX, COST_MAX, DIM_MAX, FEED_FORWARD_MAX, GROUPS_MAX, HEADS_MAX, LEARNING_RATE_MAX, STEPS_MAX,
    STOP_RULES_MAX, TOKENS_MAX, VOCABULARY_MAX,
};
use crate::lesson::schema::model::{ModelConfig, Objective, Order, Rewriting, Schedule, StopRule, TargetForm};
use crate::lesson::schema::{Corpus, Group};

/// A model that has been read. Parts without issues are available even if others have issues.
pub struct ReadModel<'s> {
    pub config: Option<ModelConfig>,
    pub objective: Option<ReadObjective<'s>>,
    pub max_tokens: Option<usize>,
    /// Place of the readout in the file, if it uses the static vectors of the labels.
    pub tied_labels: Option<Node<'s>>,
    pub node: Node<'s>,
}

/// Reads the model. The fields of the records `changes` replace those of the model; `dim` is the width of the static
/// embedding and of the model.
pub fn read_attention<'s>(
    node: Node<'s>,
    changes: &[Node<'s>],
    dim: Option<usize>,
    groups: Option<&Lists<'s>>,
) -> Option<ReadModel<'s>> {
    record(node, &["Attention"], |record| {
        changes.iter().for_each(|change| record.change(*change));
        Some(read_fields(record, dim, groups))
    })
}

fn read_fields<'s>(record: &mut Record<'s>, dim: Option<usize>, groups: Option<&Lists<'s>>) -> ReadModel<'s> {
    let read = record.take("objective", |node| read_objective(node, groups));
    let objective = read.as_ref().map(|read| &read.objective);
    let towers = read_towers(record, dim, objective);
    fields! { record;
        positions: read_positions, or PositionForm::Vectors(Positions::Learned);
        max_tokens: whole(2..=TOKENS_MAX), or 32;
        embedding_norm: flag, or false;
        final_norm: flag, or false;
        train_embedding: flag, or false;
        readout_bias: flag, or true;
        embedding_scale: within(FACTORS), optional;
        logit_scale: within(FACTORS), optional;
        logit_cap: within(FACTORS), optional;
    }
    if let Some(towers) = &towers {
        check_turn(record, positions, towers);
        towers.check_source(record, positions, embedding_norm);
    }
    let answer = read_answer(record, objective, logit_scale.flatten());
    let is_tied_label =
        objective == Some(&Objective::Label) && answer.is_some_and(|(readout, _)| readout.is_by_static_vectors());
    let tied_labels = is_tied_label.then(|| record.place_of("readout"));

    let costs = read_costs(record, objective, answer, train_embedding);
    let weights = record.take_or("weights", Vec::new(), read_weights);
    let usual = Schedule { steps: 800, batch: 64, learning_rate: 0.01, ..Schedule::default() };
    let schedule = read_schedule(record, 0..=STEPS_MAX, usual);

    let config = || {
        let towers = towers.as_ref()?;
        let block = &towers.layers.block;
        let (source_blocks, blocks) = towers.blocks(positions?, max_tokens?);
        let (readout, pooling) = answer?;
        let readout = match readout {
            Readout::Transformed(_) => Readout::Transformed(block.activation),
            Readout::Tied | Readout::Linear | Readout::TransformedLinear(_) => readout,
        };
        let architecture = Architecture {
            width: dim?,
            max_tokens: max_tokens?,
            positions: positions?.vectors(),
            position_rows: PositionRows::default(),
            segments: None,
            embedding_norm: embedding_norm?,
            final_norm: final_norm?,
            norm_form: block.norm_form,
            embedding_scale: embedding_scale?,
            source: towers.form,
            train_embedding: train_embedding?,
            source_blocks,
            blocks,
            pooling,
            readout,
            transform_bias: true,
            readout_bias: readout_bias?,
            logit_scale: logit_scale?,
            logit_cap: logit_cap?,
            layers: None,
        };
        let weights = check_weights(weights?, &architecture)?;
        let untrained = ModelConfig::untrained(architecture, objective.cloned()?);
        Some(ModelConfig { costs: costs?, weights, schedule: schedule?, ..untrained })
    };
    let config = config();
    ReadModel { config, objective: read, max_tokens, tied_labels, node: record.node }
}

/// Reports a rotation that would have no columns.
fn check_turn(record: &Record<'_>, positions: Option<PositionForm>, towers: &Towers) {
    let runs = [Some(&towers.layers), towers.source.as_ref()].into_iter().flatten();
    let Some((positions, key_width)) = positions.zip(runs.map(|run| run.block.attention.key_width).min()) else {
        return;
    };
    if positions.rotary(key_width).is_some_and(|rotary| rotary.width == 0) {
        record
            .issue("positions", format!("rotary positions rotate pairs of columns, but keys are only {key_width} wide"))
            .expected("a larger fraction, or wider keys");
    }
}

/// Reads the costs of distances, which need outputs that are not read off as answers.
fn read_costs(
    record: &mut Record<'_>,
    objective: Option<&Objective>,
    answer: Option<(Readout, Pooling)>,
    train_embedding: Option<bool>,
) -> Option<DistanceCosts> {
    let costs = fields! { record => DistanceCosts {
        arrive: within(0.0..=COST_MAX), or 0.0;
        keep: within(0.0..=COST_MAX), or 0.0;
    } }?;
    let (readout, pooling) = answer?;
    let mut good = true;
    let mut wrong = |field, message: &str, expected: &str| {
        record.issue(field, message).expected(expected);
        good = false;
    };
    if costs.arrive > 0.0 && train_embedding == Some(true) {
        wrong(
            "arrive",
            "static vectors move when they are trained, so nothing can arrive at them",
            "train_embedding: false",
        );
    }
    let why_not = match readout {
        Readout::Linear => Some("with a Linear readout, an answer has no static vector to arrive at"),
        Readout::Transformed(_) => Some("a Transformed readout reads the answer from a vector other than the output"),
        Readout::Tied | Readout::TransformedLinear(_) => None,
    };
    if let Some(why_not) = why_not.filter(|_| costs.arrive > 0.0) {
        wrong("arrive", why_not, "readout: Tied");
    }
    // A linear readout is applied to the candidates only, so the outputs of other words may stay near their places.
    let leaves_none =
        objective?.reads_every_output(pooling) && (readout.is_by_static_vectors() || pooling == Pooling::Mean);
    if costs.keep > 0.0 && leaves_none {
        let message = "every output gives an answer, so no output is left to be kept near its own word";
        wrong("keep", message, "MaskedWord, Label with pool: Last, or readout: Linear");
    }
    good.then_some(costs)
}

/// Reads how answers are computed from the outputs.
fn read_answer(
    record: &mut Record<'_>,
    objective: Option<&Objective>,
    logit_scale: Option<f64>,
) -> Option<(Readout, Pooling)> {
    let is_label = objective == Some(&Objective::Label);
    let (readout, pooling) = if is_label { (Readout::Linear, Pooling::Mean) } else { (Readout::Tied, Pooling::Every) };
    let readout = record.take_or("readout", readout, choice(READOUTS));
    let pooling = record.take_or("pool", pooling, choice(POOLINGS));
    if logit_scale.is_some() && readout.is_some_and(|readout| readout.activation().is_some()) {
        record
            .issue("logit_scale", "a Transformed readout norms what it reads, so the factor would not count")
            .expected("readout: Tied or readout: Linear");
        return None;
    }
    let name = objective?.name();
    match pooling {
        Some(Pooling::Every) if is_label => {
            record
                .issue("pool", "Every reads word by word, but Label asks for the whole sentence")
                .expected("pool: Last or pool: Mean");
        }
        Some(Pooling::Last | Pooling::Mean) if !is_label => {
            record
                .issue("pool", format!("this reads the sentence once, but {name} asks for each word"))
                .expected("pool: Every");
        }
        _ => {}
    }
    readout.zip(pooling)
}

/// Readouts by name. The activation of a transformed readout is a placeholder, which is later replaced with that of the
/// layers.
const READOUTS: &[(&str, Readout)] =
    &[("Tied", Readout::Tied), ("Transformed", Readout::Transformed(Activation::Relu)), ("Linear", Readout::Linear)];
const POOLINGS: &[(&str, Pooling)] = &[("Every", Pooling::Every), ("Last", Pooling::Last), ("Mean", Pooling::Mean)];

/// An objective, with the parts that are checked once the corpus is known.
pub struct ReadObjective<'s> {
    pub objective: Objective,
    node: Node<'s>,
    /// Words that a sequence objective replaces.
    rewritten: Vec<At<'s, String>>,
    /// Words that replace hidden words.
    stand_ins: Vec<At<'s, String>>,
}

impl ReadObjective<'_> {
    /// Returns whether the target has other words than the source.
    pub fn replaces_words(&self) -> bool {
        !self.rewritten.is_empty()
    }
}

const ORDERS: &[(&str, Order)] = &[("Same", Order::Same), ("Reversed", Order::Reversed)];

pub fn read_objective<'s>(node: Node<'s>, groups: Option<&Lists<'s>>) -> Option<ReadObjective<'s>> {
    let (mut rewritten, mut stand_ins) = (Vec::new(), Vec::new());
    let read = |record: &mut Record<'s>| match record.name {
        "MaskedWord" => {
            let mut stand_in = |node| {
                let value = word(node)?;
                stand_ins.push(At { value: value.clone(), node });
                Some(value)
            };
            fields! { record => Objective::MaskedWord {
                rate: number(|x| x > 0.0 && x < 1.0, "a number between 0 and 1"), or 0.15;
                among: |node| read_candidates(node, groups), or Vec::new();
                stand_ins: list_of(VOCABULARY_MAX, &mut stand_in), or Vec::new();
            } }
        }
        "NextWord" => Some(Objective::NextWord),
        "Label" => Some(Objective::Label),
        _ => {
            fields! { record;
                order: choice(ORDERS), or Order::Same;
                words: |node| map(node, VOCABULARY_MAX, word), or Vec::new();
            }
            order.zip(words).map(|(order, words)| {
                rewritten.extend(words.iter().map(|(from, _)| from.clone()));
                let words = words.into_iter().map(|(from, to)| (from.value, to)).collect();
                Objective::Sequence(TargetForm::ByRule(Rewriting { order, words }))
            })
        }
    };
    let objective = record(node, &["MaskedWord", "NextWord", "Label", "Sequence"], read)?;
    Some(ReadObjective { objective, node, rewritten, stand_ins })
}

/// Checks an objective against the corpus.
pub fn check_objective<'s>(
    read: &ReadObjective<'s>,
    tied_labels: Option<Node<'s>>,
    corpus: &Corpus,
    groups: &[Group],
    vocabulary: &Vocabulary,
) {
    if read.objective == Objective::Label {
        if corpus.topics.len() < 2 {
            read.node
                .issue(format!("Label names the topic of a sentence, but the corpus has {}", corpus.topics.len()))
                .expected("at least 2 topics");
        }
        if corpus.join.is_some() {
            read.node
                .issue("Label names the topic of a sentence, but a joined sentence has two")
                .expected("a corpus without join");
        }
    }
    if let Some(readout) = tied_labels {
        let names = corpus.topics.iter().map(|topic| &topic.name);
        for label in names.filter(|label| !vocabulary.has(label)) {
            let label = shorten(label);
            readout
                .issue(format!(
                    "readout: Tied reads a label by its static vector, but no word of the corpus is \"{label}\""
                ))
                .expected("readout: Linear, or topics named by words of the corpus");
        }
    }
    let count = choices(&read.objective, corpus, groups, vocabulary);
    if let Some(count) = count.filter(|count| *count < 2) {
        let words = match count {
            0 => "none of the corpus".to_owned(),
            count => format!("only {count} of the corpus"),
        };
        read.node
            .issue(format!("{} asks for one of several words, but there is {words}", read.objective.name()))
            .expected("at least 2 words to choose among");
    }
    let named = [("words", &read.rewritten), ("stand_ins", &read.stand_ins)];
    for (field, word) in named.iter().flat_map(|(field, words)| words.iter().map(move |word| (field, word))) {
        if !vocabulary.has(&word.value) {
            word.node
                .issue(format!("{field}: word \"{}\" never occurs in the corpus", shorten(&word.value)))
                .nearest(&word.value, vocabulary.words.iter().map(String::as_str));
        }
    }
}

/// Returns the number of words of the corpus that can be answers, or `None` if answers are labels.
fn choices(objective: &Objective, corpus: &Corpus, groups: &[Group], vocabulary: &Vocabulary) -> Option<usize> {
    match objective {
        Objective::Label => None,
        Objective::MaskedWord { among, .. } if !among.is_empty() => {
            Some(words_among(among, corpus, groups).filter(|word| vocabulary.has(word)).count())
        }
        Objective::MaskedWord { .. } | Objective::NextWord | Objective::Sequence(TargetForm::Free) => {
            Some(vocabulary.words.len())
        }
        Objective::Sequence(TargetForm::ByRule(rewriting)) => {
            let becomes: HashMap<&String, &String> = rewriting.words.iter().map(|(from, to)| (from, to)).collect();
            let written = vocabulary.words.iter().map(|word| *becomes.get(word).unwrap_or(&word));
            Some(written.collect::<HashSet<_>>().len())
        }
    }
}

/// Reads the groups of candidates: different groups with at least two words together.
fn read_candidates<'s>(node: Node<'s>, groups: Option<&Lists<'s>>) -> Option<Vec<String>> {
    let names = LessonNames { groups: groups.map(Lists::names), ..LessonNames::default() };
    let among = different(node, GROUPS_MAX, "group ", |node| names.group(node))?;
    let lists = groups.filter(|groups| groups.are_checked()).map(|groups| &groups.lists);
    let chosen = lists.into_iter().flatten().filter(|group| among.contains(&group.name));
    let count: usize = chosen.map(|group| group.words.len()).sum();
    if lists.is_some() && count == 1 {
        return node.issue("among: only one word to choose").expected("groups with at least 2 words in all").none();
    }
    Some(among)
}

/// The tensors in a map, unchecked: `{ "W_Q": [[0.3, 0.6], [0.1, 0.4]], … }`.
pub type ReadWeights<'s> = Vec<(At<'s, String>, At<'s, Matrix<f32>>)>;

/// Greatest number of tensors; no model has more.
const TENSORS_MAX: usize = 1000;
/// Greatest number of rows or columns of a tensor: the width of the keys or values of all heads, or of the hidden
/// units.
const SIDE_MAX: usize = if HEADS_MAX * DIM_MAX > FEED_FORWARD_MAX { HEADS_MAX * DIM_MAX } else { FEED_FORWARD_MAX };

pub fn read_weights<'s>(node: Node<'s>) -> Option<ReadWeights<'s>> {
    map(node, TENSORS_MAX, |node| Some(At { value: read_table(node)?, node }))
}

fn read_table(node: Node<'_>) -> Option<Matrix<f32>> {
    let entry = number(|x| (x as f32).is_finite(), "a number that is not too large");
    let row = |node| list(node, SIDE_MAX, &entry);
    let rows = list(node, SIDE_MAX, row)?;
    let cols = rows.first().map_or(0, Vec::len);
    if cols == 0 || rows.iter().any(|row| row.len() != cols) {
        return wrong(node, "rows of numbers, all of one length");
    }
    Some(Matrix::from_fn(rows.len(), cols, |i, j| rows[i][j] as f32))
}

/// Returns the weights if the model has these tensors in these shapes.
pub fn check_weights(read: ReadWeights<'_>, architecture: &Architecture) -> Option<Vec<(TensorId, Matrix<f32>)>> {
    let shapes = shapes(architecture);
    let symbols: Vec<String> = shapes.iter().map(|(id, ..)| id.to_string()).collect();
    let expected = || match architecture.numbered_blocks().count() {
        1 => one_of(&symbols),
        _ => "a tensor of one of its blocks, such as W_Q or W_Q_2".to_owned(),
    };
    let mut named = HashSet::new();
    let mut check = |(name, table): (At<'_, String>, At<'_, Matrix<f32>>)| {
        let Some((id, rows, cols)) = shape_named(&shapes, &name.value) else {
            return name
                .node
                .issue(format!("weights: the model has no {}", shorten(name.node.text)))
                .expected(expected())
                .nearest(&name.value, symbols.iter().map(String::as_str))
                .none();
        };
        if !named.insert(id) {
            return name.node.issue(format!("weights: {id} appears twice")).none();
        }
        let found = (table.value.rows(), table.value.cols());
        if found != (rows, cols) {
            return table
                .node
                .issue(format!("weights: {id} as {} × {}", found.0, found.1))
                .expected(format!("{rows} × {cols}"))
                .none();
        }
        Some((id, table.value))
    };
    all(read.into_iter().map(&mut check))
}

/// Returns the shapes of all tensors, except for those that grow with the vocabulary or the number of answers.
pub fn shapes(architecture: &Architecture) -> Vec<(TensorId, usize, usize)> {
    let grows = |name| matches!(name, TensorName::Embedding | TensorName::LogitWeights | TensorName::LogitBias);
    architecture.shapes(0, 0).into_iter().filter(|(id, ..)| !grows(id.name)).collect()
}

/// Returns the tensor with this name, as the weights panel or as code writes it.
pub fn shape_named(shapes: &[(TensorId, usize, usize)], name: &str) -> Option<(TensorId, usize, usize)> {
    shapes.iter().find(|(id, ..)| id.to_string() == name || id.code_name() == name).copied()
}

pub fn read_schedule(record: &mut Record<'_>, range: RangeInclusive<usize>, usual: Schedule) -> Option<Schedule> {
    fields! { record => Schedule {
        steps: whole(range), or usual.steps;
        batch: whole(1..=BATCH_MAX), or usual.batch;
        learning_rate: learning_rate, or usual.learning_rate;
        weight_decay: share, or usual.weight_decay;
        optimiser: read_optimiser, or usual.optimiser;
        stop: list_of(STOP_RULES_MAX, read_stop_rule), or usual.stop;
    } }
}

/// The values that [`is_learning_rate`] accepts, in words.
pub const LEARNING_RATE: &str = "a number above 0 and at most 1";

pub fn is_learning_rate(x: f64) -> bool {
    x > 0.0 && x <= LEARNING_RATE_MAX
}

pub fn learning_rate(node: Node<'_>) -> Option<f64> {
    number(is_learning_rate, LEARNING_RATE)(node)
}

pub fn read_optimiser(node: Node<'_>) -> Option<Method> {
    record(node, &["Adam", "Sgd"], |record| match record.name {
        "Sgd" => fields! { record => Method::Sgd {
            momentum: number(|x| (0.0..1.0).contains(&x), "a number from 0 to below 1"), or 0.0;
        } },
        _ => Some(Method::ADAM),
    })
}

fn read_stop_rule(node: Node<'_>) -> Option<StopRule> {
    record(node, &["LossBelow", "GradientBelow", "Plateau"], |record| match record.name {
        "LossBelow" => record.take_item("number", positive).map(StopRule::LossBelow),
        "GradientBelow" => record.take_item("number", positive).map(StopRule::GradientBelow),
        _ => fields! { record => StopRule::Plateau {
            steps: whole(1..=STEPS_MAX);
            by: number(|x| x >= 0.0, "a number from 0");
        } },
    })
}
