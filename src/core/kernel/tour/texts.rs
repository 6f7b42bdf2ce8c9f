//! The texts that a model is measured on. A text with a piece that the tokenizer does not know would show how the model
//! reads its unknown piece, so it is not read.

use std::sync::Arc;

use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::write::{MASK, UNKNOWN};
use attune_engine::pretrained::tokenizer::{Origin, Piece};

use crate::kernel::data::token::Token;
use crate::lesson::budget::pieces_max;
use crate::lesson::schema::{Lesson, Objective, StaticEmbedding};

/// A text, and what is looked for in its pass.
#[derive(Clone, Debug, PartialEq)]
pub struct TourText {
    pub text: Arc<str>,
    pub shows: Shows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Words that turn on their way through the layers, and sinks.
    Words,
    /// Heads of known kinds: the text says something twice.
    Heads,
    /// The word stands in it four times, in two senses by turns.
    Senses(&'static str),
    Answer(AnswerAt),
}

/// The place of a text whose answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerAt {
    /// The hidden word, by its row of the vocabulary.
    Hidden(usize),
    /// The last word, after which the next one comes.
    End,
}

impl AnswerAt {
    pub fn place(self, tokens: &[Token]) -> Option<usize> {
        match self {
            Self::Hidden(mask) => tokens.iter().position(|token| token.word == Some(mask)),
            Self::End => tokens.len().checked_sub(1),
        }
    }
}

/// No word in it is repeated, so that saying it twice makes one copy of each.
const SAID_TWICE: [&str; 2] = ["the dog saw a black bird in that garden.", "she ate one red apple."];

/// Senses take turns, so that neither distance nor order tells them apart.
const SENSES: [(&str, &str); 4] = [
    (
        "bank",
        "We sat on the bank of the river. The bank lent us the money. We walked to the other bank of the lake. We put \
         the gold in the bank.",
    ),
    (
        "seal",
        "the hunter followed the seal. the king broke the seal. the seal swam in the sea. the seal lay on the letter.",
    ),
    (
        "bat",
        "At night the bat flew out of the cave. He hit the ball with the bat. The bat has wings and fur. The player held \
         the bat.",
    ),
    (
        "spring",
        "The flowers open in spring. In the clock a spring broke. The birds sing in spring. Under the seat was a spring.",
    ),
];

const HIDDEN: [&str; 4] = [
    "The capital of France is [MASK].",
    "The opposite of hot is [MASK].",
    "the kettle was not hot, it was [MASK].",
    "the dogs that the king saw in the garden [MASK] tired.",
];

const CONTINUED: [&str; 4] = [
    "The capital of France is the city of",
    "One, two, three, four,",
    "Monday, Tuesday, Wednesday,",
    "Once upon a time, there was a little girl. Her",
];

/// All texts for the model of a lesson, in the order of the tour.
pub fn of(lesson: &Lesson) -> Vec<TourText> {
    let StaticEmbedding::Pretrained(model) = &lesson.static_embedding else { return Vec::new() };
    let first = lesson.sentences.first().map(|words| words.join(" "));
    let Some(first) = first else { return Vec::new() };
    let mut texts = Vec::new();
    let mut add = |text: String, shows| texts.push(TourText { text: text.into(), shows });
    let Some(tokenizer) = &model.tokenizer else {
        let twice = twice(&first);
        add(first, Shows::Words);
        if reads(model, &twice) {
            add(twice, Shows::Heads);
        }
        return texts;
    };
    add(first, Shows::Words);
    if let Some(twice) = SAID_TWICE.map(twice).into_iter().find(|text| reads(model, text)) {
        add(twice, Shows::Heads);
    }
    for (word, text) in SENSES.into_iter().filter(|(_, text)| reads(model, text)) {
        add(text.to_owned(), Shows::Senses(word));
    }
    // Without a head of its own, what a model seems to answer is no answer.
    if model.has_head {
        let (place, texts) = match (&lesson.model.objective, tokenizer.hidden()) {
            (Objective::NextWord, _) => (Some(AnswerAt::End), CONTINUED.map(str::to_owned)),
            (_, Some((piece, id))) => {
                (Some(AnswerAt::Hidden(id as usize)), HIDDEN.map(|text| text.replace(MASK, piece)))
            }
            (_, None) => (None, HIDDEN.map(str::to_owned)),
        };
        for text in texts.into_iter().filter(|text| reads(model, text)) {
            place.into_iter().for_each(|at| add(text.clone(), Shows::Answer(at)));
        }
    }
    texts
}

fn twice(text: &str) -> String {
    format!("{text} {text}")
}

/// Whether the model reads a text, and its tokenizer knows every piece.
fn reads(model: &ModelFolder, text: &str) -> bool {
    let unknown = model.tokenizer.as_ref().and_then(|tokenizer| tokenizer.id_of(UNKNOWN));
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    let is_read = |pieces: Vec<Piece>| {
        let is_known = pieces.iter().all(|piece| Some(piece.id) != unknown);
        is_known && pieces.len() <= most && pieces.iter().any(|piece| piece.origin != Origin::Added)
    };
    model.pieces(text).is_ok_and(is_read)
}
