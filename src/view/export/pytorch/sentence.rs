//! The sentence that the notebook runs, and the answers that the model in it must give.

use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace, Token};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::positions::{PositionRows, Positions};
use serde_json::{Value, json};

use super::template::Filling;

/// The data of a sentence that the cells need.
pub(super) struct Sentence {
    tokens: Tower,
    source: Option<Tower>,
    segments: Vec<usize>,
    has_hidden_word: bool,
    /// Whether some word of the sentence sees no word.
    pub has_blind_word: bool,
    has_given_rows: bool,
    has_segments: bool,
    words: Option<Value>,
    classes: Value,
    answers: Value,
    never: Vec<usize>,
    neighbours: Vec<Value>,
}

/// The tokens of a sentence or of its source, with their rows of `E` and of `P`.
struct Tower {
    texts: Vec<String>,
    ids: Vec<usize>,
    rows: Vec<usize>,
}

impl Tower {
    /// Creates a tower from tokens. A token without a word gets the row after those of `E`, which the notebook fills
    /// with zeros.
    fn of(tokens: &[Token], zero: usize, form: PositionRows) -> Self {
        let words: Vec<Option<usize>> = tokens.iter().map(|token| token.word).collect();
        let places: Vec<usize> = (0..tokens.len()).collect();
        Self {
            texts: tokens.iter().map(|token| token.text.clone()).collect(),
            ids: words.iter().map(|word| word.unwrap_or(zero)).collect(),
            rows: form.rows(&words, &places),
        }
    }
}

/// Returns whether the rows of `P` are given, rather than counted from 0.
pub(super) fn has_given_rows(architecture: &Architecture) -> bool {
    architecture.positions == Positions::Learned && architecture.position_rows != PositionRows::default()
}

impl Sentence {
    pub fn of(snapshot: &Snapshot, model: &ModelSnapshot, space: &StaticSpace) -> Self {
        let (sentence, architecture) = (&model.sentence, &model.architecture);
        let is_read = snapshot.lesson.static_embedding.is_pretrained();
        let zero = space.vectors.rows();
        let tower = |tokens: &[Token]| Tower::of(tokens, zero, architecture.position_rows);
        let (tokens, source) = (tower(&sentence.tokens), sentence.source.as_deref().map(tower));
        let towers = || [Some(&tokens), source.as_ref()].into_iter().flatten();
        let has_hidden_word = towers().any(|tower| tower.ids.contains(&zero));
        let answers = &sentence.answers;
        let likeliest = answers.likeliest.iter().filter_map(|row| row.first());
        let likeliest =
            likeliest.map(|answer| json!([answer.class, model.classes.get(answer.class), answer.probability]));
        let answers_of_rows = json!(likeliest.collect::<Vec<_>>());
        let is_blind = |row: &[f32]| row.iter().all(|weight| *weight == 0.0);
        let mut heads = sentence.activations.heads();
        Self {
            segments: sentence
                .tokens
                .iter()
                .map(|token| token.piece.as_ref().map_or(0, |piece| piece.segment))
                .collect(),
            has_hidden_word,
            has_blind_word: heads.any(|head| (0..head.weights.rows()).any(|row| is_blind(head.weights.row(row)))),
            has_given_rows: has_given_rows(architecture),
            has_segments: architecture.segments.is_some(),
            words: (!is_read).then(|| json!(&*space.vocabulary)),
            classes: json!(&*model.classes),
            answers: answers_of_rows,
            never: answers.never.clone(),
            neighbours: if is_read { Vec::new() } else { neighbours(model, space) },
            tokens,
            source,
        }
    }

    pub fn has_neighbours(&self) -> bool {
        !self.neighbours.is_empty()
    }

    /// Returns whether a reader of the notebook can replace the sentence by another one of the lesson's words.
    pub fn is_of_words(&self) -> bool {
        self.words.is_some() && self.source.is_none()
    }

    /// Returns the sentence as a Python string.
    pub fn written(&self) -> Value {
        json!(self.tokens.texts.join(" "))
    }

    /// Adds the facts and texts of the sentence.
    pub fn fill(&self, filling: Filling) -> Filling {
        let source = |list: fn(&Tower) -> Value| self.source.as_ref().map_or(Value::Null, list);
        let mut arguments = vec!["ids"];
        arguments.extend(self.has_given_rows.then_some("rows"));
        arguments.extend(self.source.as_ref().map(|_| "source_ids"));
        arguments.extend(self.source.as_ref().filter(|_| self.has_given_rows).map(|_| "source_rows"));
        filling
            .with_facts([
                ("hidden_word", self.has_hidden_word),
                ("given_rows", self.has_given_rows),
                ("segments", self.has_segments),
                ("source", self.source.is_some()),
                ("words", self.words.is_some()),
                ("never", !self.never.is_empty()),
                ("neighbours", self.has_neighbours()),
            ])
            .with_gap("arguments", arguments.join(", "))
            .with_gap("tokens", json!(self.tokens.texts))
            .with_gap("token_ids", json!(self.tokens.ids))
            .with_gap("token_rows", json!(self.tokens.rows))
            .with_gap("token_segments", json!(self.segments))
            .with_gap("source_tokens", source(|source| json!(source.texts)))
            .with_gap("source_token_ids", source(|source| json!(source.ids)))
            .with_gap("source_token_rows", source(|source| json!(source.rows)))
            .with_gap("words", self.words.as_ref().unwrap_or(&Value::Null))
            .with_gap("classes", &self.classes)
            .with_gap("answers", &self.answers)
            .with_gap("never", json!(self.never))
            .with_gap("neighbours", json!(self.neighbours))
    }
}

/// Returns the row of each word of the sentence, with the row of the nearest other word and the cosine of the two;
/// empty if some static vector is zero.
fn neighbours(model: &ModelSnapshot, space: &StaticSpace) -> Vec<Value> {
    if space.squares.contains(&0.0) {
        return Vec::new();
    }
    let tokens = model.sentence.tokens.iter().zip(&model.sentence.static_neighbours);
    let nearest = tokens.filter_map(|(token, near)| Some((token.word?, near.by_cosine.first()?)));
    nearest.map(|(word, near)| json!([word, near.word, near.cosine])).collect()
}
