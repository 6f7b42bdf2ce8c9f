//! Reads the static embedding: how it is trained, or the vectors themselves.

use std::collections::HashSet;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::word2vec::{Architecture, Word2VecConfig};

use super::check::{Vocabulary, word};
use super::decode::{flag, list, map, number, whole};
use super::issue::shorten;
use super::limits::{DIM_MAX, EPOCHS_MAX, NEGATIVES_MAX, VOCABULARY_MAX, WINDOW_MAX};
use super::read_training::{LEARNING_RATE, is_learning_rate};
use super::record::{Record, complete, fields};
use super::schema::{GivenVectors, StaticEmbedding};
use super::source::Node;

/// Fewer numbers make no space to look at.
pub(super) const DIM_MIN: usize = 2;

pub(super) struct ReadEmbedding<'s> {
    pub embedding: StaticEmbedding,
    pub node: Node<'s>,
}

pub(super) fn read_embedding<'s>(node: Node<'s>) -> Option<ReadEmbedding<'s>> {
    let mut record = Record::open(node, &["SkipGram", "Cbow", "Given"])?;
    let embedding = match record.name {
        "Given" => {
            let given = record.take_item("{ \"word\": [number, …], … }", read_given);
            given.map(StaticEmbedding::Given)
        }
        _ => read_word2vec(&mut record).map(StaticEmbedding::Word2Vec),
    };
    record.finish();
    Some(ReadEmbedding { embedding: embedding?, node })
}

fn read_word2vec(record: &mut Record<'_>) -> Option<Word2VecConfig> {
    fields! { record;
        dim: whole(DIM_MIN..=DIM_MAX);
        window: whole(1..=WINDOW_MAX), or 3;
        negatives: whole(1..=NEGATIVES_MAX), or 5;
        epochs: whole(1..=EPOCHS_MAX), or 20;
        learning_rate: number(is_learning_rate, LEARNING_RATE), or 0.05;
        subsample: number(|x| x > 0.0 && x <= 1.0, "a share of the corpus, above 0 and at most 1"), or 1.0;
    }
    // No word is a larger share than 1.
    let subsample = subsample.map(|share| (share < 1.0).then_some(share));
    let architecture = match record.name {
        "Cbow" => Some(Architecture::Cbow),
        _ => {
            let share_negatives = record.take_or("share_negatives", false, flag);
            share_negatives.map(|share_negatives| Architecture::SkipGram { share_negatives })
        }
    };
    complete!(Word2VecConfig { architecture, dim, window, negatives, epochs, learning_rate, subsample })
}

/// Vectors of one width, each for a word of its own.
fn read_given(node: Node<'_>) -> Option<GivenVectors> {
    let entry = number(|x| (x as f32).is_finite(), "a number");
    let row = |node| Some((node, list(node, DIM_MAX, &entry)));
    let rows = map(node, VOCABULARY_MAX, row)?;
    if rows.is_empty() {
        return node.issue("static_embedding: no vectors").expected("one for each word of the corpus").none();
    }
    let mut seen = HashSet::new();
    let mut width = None;
    let mut good = true;
    let mut given = (Vec::new(), Vec::new());
    for (key, (row_node, row)) in rows {
        let word = word(key.node).filter(|word| {
            let fresh = seen.insert(word.clone());
            if !fresh {
                key.node.issue(format!("static_embedding: word \"{word}\" appears twice"));
            }
            fresh
        });
        let row = row.filter(|row| {
            let wanted = *width.get_or_insert(row.len());
            let fits = row.len() == wanted && row.len() >= DIM_MIN;
            if !fits {
                let expected = if wanted < DIM_MIN {
                    format!("at least {DIM_MIN}")
                } else {
                    format!("{wanted}, as in the first vector")
                };
                row_node.issue(format!("static_embedding: a vector of {} numbers", row.len())).expected(expected);
            }
            fits
        });
        match (word, row) {
            (Some(word), Some(row)) => {
                given.0.push(word);
                given.1.extend(row.into_iter().map(|x| x as f32));
            }
            _ => good = false,
        }
    }
    let (words, entries) = given;
    good.then(|| GivenVectors {
        vectors: Matrix::from_row_major(words.len(), width.unwrap_or(DIM_MIN), entries),
        words,
    })
}

/// Every word that a sentence can contain needs a vector.
pub(super) fn check_given(read: &ReadEmbedding<'_>, corpus: &Vocabulary) {
    let StaticEmbedding::Given(given) = &read.embedding else { return };
    let words: HashSet<&String> = given.words.iter().collect();
    for word in corpus.words.iter().filter(|word| !words.contains(word)) {
        read.node
            .issue(format!("static_embedding: no vector for \"{}\", a word of the corpus", shorten(word)))
            .nearest(word, given.words.iter().filter(|word| !corpus.has(word)).map(String::as_str));
    }
}
