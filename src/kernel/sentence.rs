//! One sentence through the model: everything that a viewer may see of it.

use super::snapshot::{Neighbour, SentenceSnapshot, StaticSpace, Token};
use super::space::index_of;
use crate::lesson::issue::shorten;
use crate::lesson::nearest as nearest_name;
use crate::lesson::text::tokenize;
use crate::numerics::Matrix;
use crate::numerics::block::BlockConfig;
use crate::numerics::contributions::Contributions;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::{Activations, AttentionModel, Sequences};
use crate::numerics::params::Parameters;
use crate::numerics::vectors::{Similarity, nearest};

/// How many neighbours a list has.
pub const NEIGHBOURS: usize = 8;

/// A sentence that can be run: words of the vocabulary, at least one and not too many.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Index into the lesson's sentences, if it is one of them.
    pub index: Option<usize>,
    /// Rows of the vocabulary.
    pub words: Vec<usize>,
}

/// The parts of a snapshot that change with the sentence alone.
#[derive(Clone, Debug)]
pub struct SentenceFrame {
    pub sentence: Sentence,
    tokens: Vec<Token>,
    start: Matrix<f32>,
    static_neighbours: Vec<Vec<Neighbour>>,
}

impl SentenceFrame {
    pub fn new(sentence: Sentence, space: &StaticSpace) -> Self {
        let words = &sentence.words;
        let tokens = words.iter().map(|&word| Token { text: space.vocabulary[word].clone(), word }).collect();
        let start = Matrix::from_fn(words.len(), space.points.cols(), |i, axis| space.points.get(words[i], axis));
        let static_neighbours =
            words.iter().map(|&word| neighbours(space, space.vectors.row(word), Some(word))).collect();
        Self { tokens, start, static_neighbours, sentence }
    }

    /// The forward pass, its contributions and its points.
    pub fn run(
        &self,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        live: &Parameters<f32>,
        trained: &Parameters<f32>,
        enabled: &[bool],
    ) -> SentenceSnapshot {
        let words = &self.sentence.words;
        let sequences = Sequences::one(words);
        let interventions = Interventions::heads(enabled);
        let activations = Activations::of(model, live, &sequences, None, &interventions);
        let contributions = contributions(model, live, &activations, &interventions);
        let end = space.projection.points(&activations.output);
        // The ghost differs only while weights or heads do.
        let trained_end = if std::ptr::eq(live, trained) && enabled.iter().all(|on| *on) {
            end.clone()
        } else {
            let ghost = Activations::of(model, trained, &sequences, None, &Interventions::default());
            space.projection.points(&ghost.output)
        };
        let contextual_neighbours =
            (0..words.len()).map(|i| neighbours(space, activations.output.row(i), None)).collect();
        SentenceSnapshot {
            index: self.sentence.index,
            tokens: self.tokens.clone(),
            start: self.start.clone(),
            static_neighbours: self.static_neighbours.clone(),
            activations,
            contributions,
            end,
            trained_end,
            contextual_neighbours,
        }
    }
}

/// Of every block.
pub fn contributions(
    model: &AttentionModel<f32>,
    parameters: &Parameters<f32>,
    activations: &Activations<f32>,
    interventions: &Interventions<f32>,
) -> Vec<Contributions<f32>> {
    let mut modes = &interventions.heads[..];
    let of_block = |((b, config), activations): ((usize, &BlockConfig), _)| {
        let (own, others) = modes.split_at(config.attention.heads.min(modes.len()));
        modes = others;
        Contributions::of(config, b, parameters, activations, own)
    };
    model.architecture.numbered_blocks().zip(&activations.blocks).map(of_block).collect()
}

fn neighbours(space: &StaticSpace, vector: &[f32], except: Option<usize>) -> Vec<Neighbour> {
    nearest(Similarity::Cosine, &space.vectors, vector, NEIGHBOURS, except.as_slice())
        .into_iter()
        .map(|(word, cosine)| Neighbour { word, cosine })
        .collect()
}

/// A learner's sentence as rows of the vocabulary.
///
/// # Errors
/// In words for the learner: nothing to read, too many words, or the first unknown one with the
/// nearest known.
pub fn read_sentence(text: &str, vocabulary: &[String], max_tokens: usize) -> Result<Vec<usize>, String> {
    let words = tokenize(text);
    if words.is_empty() {
        return Err("the sentence has no words".to_owned());
    }
    if words.len() > max_tokens {
        return Err(format!("the sentence has {} words: the model reads at most {max_tokens}", words.len()));
    }
    let rows = index_of(vocabulary);
    let row = |word: &String| {
        rows.get(word.as_str()).copied().ok_or_else(|| {
            let known = nearest_name(word, vocabulary.iter().map(String::as_str));
            let hint = known.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
            format!("the word {:?} is not in the lesson's vocabulary of {}{hint}", shorten(word), vocabulary.len())
        })
    };
    words.iter().map(row).collect()
}
