//! The sentence fields: what is typed as words, each known or not, and what could be done about it.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::sentence::Sentence;
use attune_core::kernel::snapshot::{Snapshot, StaticSpace};
use attune_core::lesson::Lesson;
use attune_core::lesson::text::words_at;
use attune_engine::messages::nearest_few;

use super::{quoted, sentence};

/// Letters that a field takes; a sentence that a model reads is far shorter.
pub const CHARS_MAX: usize = 2000;
/// Words of which a field tells how they are read; more are counted.
pub const WORDS_TOLD: usize = 96;
/// Spellings that are offered for an unknown word.
const SPELLINGS: usize = 3;
/// Words in the way for which others are offered; more are worked through one after the other.
pub const OFFERED: usize = 4;

#[derive(Clone, Debug)]
pub struct SentencesModel {
    pub lexicon: Arc<Lexicon>,
    /// The lesson's, as text.
    pub sentences: Vec<String>,
    /// The one on the stage, as text, and its index among them.
    pub shown: String,
    pub selected: Option<usize>,
    /// The one beside it.
    pub second: Option<String>,
    /// A sentence to compare with: the lesson's that shares the longest word with it.
    pub suggestion: Option<usize>,
}

/// Words and sizes that a model reads.
#[derive(Debug)]
pub struct Lexicon {
    space: Arc<StaticSpace>,
    most_words: usize,
    /// The lesson of a pretrained model, which reads any text.
    pretrained: Option<Arc<Lesson>>,
}

/// A text as a model reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentenceReading {
    /// At most [`WORDS_TOLD`].
    pub words: Vec<ReadWord>,
    /// Words in all.
    pub count: usize,
    /// Words that the model reads at most.
    pub most_words: usize,
    /// A tokenizer reads it, to which case and punctuation matter.
    pub in_pieces: bool,
    /// Why it cannot be shown; `None` where it can.
    pub fault: Option<SentenceFault>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadWord {
    /// Bytes of the text.
    pub at: Range<usize>,
    /// As it is read: without capitals.
    pub text: String,
    pub kind: WordKind,
    /// Words to take instead of an unknown one that none is spelt like: those that share the most letters with it.
    pub others: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WordKind {
    /// With its group's index.
    Known(Option<usize>),
    /// The last one, with known words that begin so.
    Unfinished(Vec<String>),
    /// With the words that are spelt most like it.
    Unknown(Vec<String>),
    /// Known, but more than the model reads.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SentenceFault {
    pub words: String,
    /// Whether the text is only unfinished.
    pub is_early: bool,
}

impl SentencesModel {
    /// `None` until there is a model; `before` lends what has not changed.
    pub fn of(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let most_words = model.architecture.max_tokens;
        let is_same = |lexicon: &&Arc<Lexicon>| Arc::ptr_eq(&lexicon.space, space) && lexicon.most_words == most_words;
        let lexicon = before.map(|before| &before.lexicon).filter(is_same).cloned();
        let lexicon = lexicon.unwrap_or_else(|| Arc::new(Lexicon::new(space.clone(), &snapshot.lesson, most_words)));
        let chosen = model.sentence.chosen();
        // The word that a lesson is about is rather a long one than an article.
        let longest_shared = |sentence: &[String]| {
            let shared = sentence.iter().filter(|word| chosen.iter().any(|token| token.text == **word));
            shared.map(|word| word.chars().count()).max()
        };
        let sentences = &snapshot.lesson.sentences;
        let others = (0..sentences.len()).filter(|index| model.sentence.index != Some(*index)).rev();
        let suggestion = others.max_by_key(|index| longest_shared(&sentences[*index]));
        Some(Self {
            lexicon,
            sentences: sentences.iter().map(|words| words.join(" ")).collect(),
            shown: model.sentence.written(),
            selected: model.sentence.index,
            second: model.second.as_ref().map(|second| second.other.written()),
            suggestion,
        })
    }

    /// First text of a comparison: the suggestion, or the sentence itself where the lesson has no other.
    pub fn first_second(&self) -> String {
        self.suggestion.map_or(&self.shown, |index| &self.sentences[index]).clone()
    }
}

impl Lexicon {
    fn new(space: Arc<StaticSpace>, lesson: &Arc<Lesson>, most_words: usize) -> Self {
        let is_pretrained = lesson.static_embedding.is_pretrained();
        Self { most_words, space, pretrained: is_pretrained.then(|| lesson.clone()) }
    }

    fn kind(&self, word: &str, is_last: bool) -> WordKind {
        let words = &self.space.vocabulary;
        let longer = self.space.beginning(word);
        match longer.first() {
            Some(&row) if words[row] == word => WordKind::Known(self.space.group_of[row]),
            Some(_) if is_last => {
                WordKind::Unfinished(longer.iter().take(SPELLINGS).map(|&row| words[row].clone()).collect())
            }
            _ => {
                let near = nearest_few(word, self.looked_through(word).map(|row| words[row].as_str()), SPELLINGS);
                WordKind::Unknown(near.into_iter().map(str::to_owned).collect())
            }
        }
    }

    /// Rows in which words like an unknown one are looked for while it is typed: of very many those with its first letter.
    fn looked_through(&self, word: &str) -> impl Iterator<Item = usize> {
        /// More take longer than a frame.
        const MANY: usize = 60_000;
        let is_many = self.space.vocabulary.len() > MANY;
        let first = word.chars().next().filter(|_| is_many).map_or_else(String::new, String::from);
        self.space.beginning(&first).iter().copied()
    }

    /// The words that share the most letters with one, by pairs of letters that follow each other.
    fn like(&self, word: &str) -> Vec<String> {
        /// The beginning of a longer word.
        const LETTERS: usize = 24;
        let pairs = |word: &str| -> Vec<(char, char)> {
            let letters: Vec<char> = word.chars().take(LETTERS).collect();
            letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
        };
        let wanted = pairs(word);
        let shared = |row: &usize| {
            let own = pairs(&self.space.vocabulary[*row]);
            let count = own.iter().filter(|pair| wanted.contains(pair)).count();
            let begins_alike = self.space.vocabulary[*row].chars().next() == word.chars().next();
            // Twice the pairs of both, in thousandths of all.
            (2000 * count / (own.len() + wanted.len()).max(1), begins_alike)
        };
        let mut rows: Vec<(_, usize)> = self.looked_through(word).map(|row| (shared(&row), row)).collect();
        rows.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
        rows.into_iter().take(SPELLINGS).map(|(_, row)| self.space.vocabulary[row].clone()).collect()
    }

    pub fn read(&self, text: &str) -> SentenceReading {
        if let Some(lesson) = &self.pretrained {
            return self.read_pieces(text, lesson);
        }
        let most_words = self.most_words;
        let mut words = Vec::new();
        let (mut count, mut strange) = (0, 0);
        for (at, word) in words_at(text) {
            count += 1;
            if count <= WORDS_TOLD {
                let kind = match self.kind(&word, at.end == text.len()) {
                    WordKind::Known(_) if count > most_words => WordKind::TooMany,
                    kind => kind,
                };
                let is_strange = matches!(&kind, WordKind::Unknown(near) if near.is_empty()) && strange < OFFERED;
                strange += usize::from(is_strange);
                let others = if is_strange { self.like(&word) } else { Vec::new() };
                words.push(ReadWord { at, text: word, kind, others });
            }
        }
        let fault = fault(&words, count, most_words);
        SentenceReading { words, count, most_words, in_pieces: false, fault }
    }

    /// A text as a pretrained model reads it: each word in its pieces.
    fn read_pieces(&self, text: &str, lesson: &Lesson) -> SentenceReading {
        let most_words = self.most_words;
        let sentence = match Sentence::read(text, lesson, &self.space.vocabulary) {
            Ok(sentence) => sentence,
            Err(why) => {
                let fault = Some(SentenceFault { words: sentence(&why), is_early: text.trim().is_empty() });
                return SentenceReading { most_words, in_pieces: true, fault, ..SentenceReading::default() };
            }
        };
        let count = sentence.words.len();
        let pieces = sentence.text.iter().flat_map(|text| &text.pieces).zip(&sentence.words);
        let mut words: Vec<ReadWord> = Vec::new();
        let mut last = None;
        for (piece, row) in pieces.filter(|(piece, _)| !piece.is_added) {
            let shown = self.space.vocabulary[*row].trim_start_matches("##");
            match words.last_mut().filter(|_| last == Some(piece.word)) {
                Some(word) => {
                    word.at.end = piece.bytes.end;
                    word.text.push(PIECE_MARK);
                    word.text.push_str(shown);
                }
                None => words.push(ReadWord {
                    at: piece.bytes.clone(),
                    text: shown.to_owned(),
                    kind: WordKind::Known(None),
                    others: Vec::new(),
                }),
            }
            last = Some(piece.word);
        }
        words.truncate(WORDS_TOLD);
        SentenceReading { words, count, most_words, in_pieces: true, fault: None }
    }
}

/// Stands between the pieces of a word.
const PIECE_MARK: char = '·';

fn fault(words: &[ReadWord], count: usize, most_words: usize) -> Option<SentenceFault> {
    let unknown: Vec<&str> =
        words.iter().filter(|word| matches!(word.kind, WordKind::Unknown(_))).map(|word| word.text.as_str()).collect();
    let early = |words: String| Some(SentenceFault { words, is_early: true });
    let late = |words: String| Some(SentenceFault { words, is_early: false });
    match &unknown[..] {
        _ if count == 0 => early("Write words of this lesson. They are shown here as you type.".to_owned()),
        [] if count > most_words => late(format!(
            "The sentence has {count} words, but the model reads at most \
            {most_words}."
        )),
        [] => match words.last() {
            Some(ReadWord { text, kind: WordKind::Unfinished(_), .. }) => {
                early(format!("{} is not yet a word of this lesson.", quoted(&shortened(text))))
            }
            _ => None,
        },
        [one] => late(format!("{} is not a word of this lesson.", quoted(&shortened(one)))),
        [one, other] => {
            let [one, other] = [one, other].map(|word| quoted(&shortened(word)));
            late(format!("{one} and {other} are not words of this lesson."))
        }
        [first, ..] => late(format!(
            "{} and {} others are not words of this lesson.",
            quoted(&shortened(first)),
            unknown.len() - 1
        )),
    }
}

/// A word of any length, for a line of text.
pub fn shortened(word: &str) -> String {
    const MOST: usize = 24;
    if word.chars().count() <= MOST {
        return word.to_owned();
    }
    word.chars().take(MOST).chain(['…']).collect()
}

impl SentenceReading {
    /// The word in the way, and the nearest word to put in its place; none where nothing is near enough to be meant.
    pub fn suggestion(&self) -> Option<(usize, &str)> {
        let word = self.first_fault()?;
        match &self.words[word].kind {
            WordKind::Unknown(others) | WordKind::Unfinished(others) => Some((word, others.first()?)),
            WordKind::Known(_) | WordKind::TooMany => None,
        }
    }

    /// A text without a fault, as it is kept: the words of a lesson; as it was written, where a tokenizer reads it.
    pub fn sentence(&self, text: &str) -> String {
        if self.in_pieces || self.count > self.words.len() {
            return text.trim().to_owned();
        }
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The first word that stands in the way.
    pub fn first_fault(&self) -> Option<usize> {
        self.words.iter().position(|word| matches!(word.kind, WordKind::Unknown(_) | WordKind::Unfinished(_)))
    }

    /// The text without a word.
    pub fn without(&self, text: &str, word: usize) -> String {
        let at = self.words[word].at.clone();
        let (before, after) = (&text[..at.start], &text[at.end..]);
        // One space of the two around it goes with it.
        match before.strip_suffix(' ') {
            Some(before) if after.is_empty() || after.starts_with(' ') => format!("{before}{after}"),
            _ => format!("{before}{}", after.strip_prefix(' ').unwrap_or(after)),
        }
    }

    /// The text with another word in place of one.
    pub fn with(&self, text: &str, word: usize, other: &str) -> String {
        let at = self.words[word].at.clone();
        format!("{}{other}{}", &text[..at.start], &text[at.end..])
    }

    /// The text up to the last word that the model reads.
    pub fn cut(&self, text: &str) -> String {
        let end = self.words.get(self.most_words.saturating_sub(1)).map_or(text.len(), |word| word.at.end);
        text[..end].to_owned()
    }
}
