//! From a learner's text to a sentence: words of the lesson's vocabulary, or the pieces of a pretrained model.

use std::sync::Arc;

use attune_engine::nearest::nearest;
use attune_engine::numerics::model::Architecture;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::{self as pretrained, Origin};

use crate::kernel::data::token::{Piece, PieceText};
use crate::kernel::data::vocabulary::{index_of, rows_of};
use crate::kernel::scene::sentence::Sentence;
use crate::lesson::budget::too_many_pieces;
use crate::lesson::issue::shorten;
use crate::lesson::lesson_from_model::first_ids;
use crate::lesson::schema::{Lesson, StaticEmbedding};
use crate::lesson::text::tokenize;

/// Bytes of a text that is looked at: a piece has some four, and what is longer has too many pieces.
const TEXT_BYTES_MAX: usize = 1 << 16;

impl Sentence {
    /// A learner's text, which may be one of the lesson's sentences.
    ///
    /// # Errors
    /// In words for the learner: nothing to read, too much, or the first unknown word with the nearest known.
    pub fn read(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        if let StaticEmbedding::Pretrained(model) = &lesson.static_embedding {
            let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq([text]));
            return Ok(Self { index, ..in_pieces(text, model)? });
        }
        let words = read_words(text, vocabulary, lesson.model.architecture.max_tokens)?;
        let texts = || words.iter().map(|&word| &vocabulary[word]);
        let index = lesson.sentences.iter().position(|sentence| sentence.iter().eq(texts()));
        Ok(Self { index, words, text: None })
    }

    /// One of the lesson's sentences; `None` if there is none such.
    pub fn of_lesson(lesson: &Lesson, vocabulary: &[String], index: usize) -> Option<Self> {
        let words = lesson.sentences.get(index)?;
        let sentence = match &lesson.static_embedding {
            StaticEmbedding::Pretrained(_) => Self::read(&words.join(" "), lesson, vocabulary).ok()?,
            _ => Self { index: None, words: rows_of(words, &index_of(vocabulary))?, text: None },
        };
        Some(Self { index: Some(index), ..sentence })
    }

    /// The sentence that is shown first: the lesson's first that can be read, or else some rows of the vocabulary.
    pub fn first(lesson: &Lesson, vocabulary: &[String]) -> Self {
        let mut of_lesson = (0..lesson.sentences.len()).filter_map(|index| Self::of_lesson(lesson, vocabulary, index));
        let rows = || first_ids(vocabulary.len(), lesson.model.architecture.max_tokens).collect();
        of_lesson.next().unwrap_or_else(|| Self { index: None, words: rows(), text: None })
    }

    /// Rows of the vocabulary as they are.
    ///
    /// # Errors
    /// In words for the learner, if there are none or too many, or one is no row.
    pub fn of_ids(ids: &[usize], lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        if let Some(id) = ids.iter().find(|id| **id >= vocabulary.len()) {
            return Err(format!("there is no token {id}: the model has those from 0 to {}", vocabulary.len() - 1));
        }
        check_count(ids.len(), &lesson.model.architecture, vocabulary.len())?;
        Ok(Self { index: None, words: ids.to_vec(), text: None })
    }
}

fn check_count(count: usize, architecture: &Architecture, vocabulary: usize) -> Result<(), String> {
    if count == 0 {
        return Err("the sentence has no words".to_owned());
    }
    too_many_pieces(architecture, vocabulary, count).map_or(Ok(()), Err)
}

/// A text as the model's tokenizer cuts it; token ids, where it has none.
fn in_pieces(text: &str, model: &ModelFolder) -> Result<Sentence, String> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!("the text has {} bytes: at most {TEXT_BYTES_MAX} are read", text.len()));
    }
    let pieces = model.pieces(text)?;
    if pieces.iter().all(|piece| piece.origin == Origin::Added) {
        return Err("the sentence has no words".to_owned());
    }
    check_count(pieces.len(), &model.architecture, model.config.vocabulary)?;
    let words = pieces.iter().map(|piece| piece.id as usize).collect();
    let of = |piece: pretrained::Piece| Piece {
        bytes: piece.bytes,
        word: piece.word,
        segment: piece.segment,
        is_added: piece.origin == Origin::Added,
    };
    let pieces = PieceText { text: text.to_owned(), pieces: pieces.into_iter().map(of).collect() };
    Ok(Sentence { index: None, words, text: Some(Arc::new(pieces)) })
}

/// A learner's sentence as rows of the vocabulary.
///
/// # Errors
/// In words for the learner: nothing to read, too many words, or the first unknown one with the
/// nearest known.
fn read_words(text: &str, vocabulary: &[String], max_tokens: usize) -> Result<Vec<usize>, String> {
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
            let known = nearest(word, vocabulary.iter().map(String::as_str));
            let hint = known.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
            format!("the word {:?} is not in the lesson's vocabulary of {}{hint}", shorten(word), vocabulary.len())
        })
    };
    words.iter().map(row).collect()
}
