//! The sentence fields: the typed text as words, each known or not, and suggestions for the unknown ones.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::sentence::Sentence;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace};
use attune_core::lesson::Lesson;
use attune_core::lesson::text::{tokenize, words_at};
use attune_engine::messages::{cut, nearest_few};

use super::{quoted, sentence};

/// The largest number of characters in a field; every sentence that a model can read is far shorter.
pub const CHARS_MAX: usize = 2000;
/// The largest number of words whose reading is shown; further words are only counted.
pub const WORDS_TOLD: usize = 96;
/// The number of similar words that are offered for an unknown one.
const SPELLINGS: usize = 3;
/// The largest number of unknown words for which others are offered at once.
pub const OFFERED: usize = 4;

#[derive(Clone, Debug)]
pub struct SentencesModel {
    pub lexicon: Arc<Lexicon>,
    /// The lesson's sentences, as text.
    pub sentences: Vec<String>,
    /// The sentence on the stage, as text.
    pub shown: String,
    /// The index of the shown sentence among the lesson's; `None` if it is not one of them.
    pub selected: Option<usize>,
    /// The second sentence of a comparison.
    pub second: Option<String>,
    /// Whether the sentences are the texts of a recording, which can be chosen but not edited.
    pub is_recorded: bool,
    /// The index of the sentence that is suggested for comparison: the other sentence of the lesson that has the
    /// longest word in common with the shown one, or the first other if none has any.
    pub suggestion: Option<usize>,
}

/// The words that a model knows, and the largest number of them that it reads.
#[derive(Debug)]
pub struct Lexicon {
    space: Arc<StaticSpace>,
    most_words: usize,
    /// The lesson of a pretrained model, whose tokenizer can read any text; `None` for any other model.
    pretrained: Option<Arc<Lesson>>,
}

/// A text as a model reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentenceReading {
    /// The words, up to [`WORDS_TOLD`].
    pub words: Vec<ReadWord>,
    /// The number of all words.
    pub count: usize,
    /// The largest number of words that the model can read.
    pub most_words: usize,
    /// Whether a tokenizer reads the text. Case and punctuation may then matter.
    pub in_pieces: bool,
    /// The reason why the sentence cannot be shown; `None` if it can.
    pub fault: Option<SentenceFault>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadWord {
    /// The word's range in the text, in bytes.
    pub at: Range<usize>,
    /// The word as it is read: in lower case, or as the pieces into which the tokenizer splits it.
    pub text: String,
    pub kind: WordKind,
    /// The known words that have the most pairs of adjacent letters in common with an unknown word; empty if similar
    /// words were found.
    pub others: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum WordKind {
    /// A known word, with the index of its group.
    Known(Option<usize>),
    /// The last word, still being typed, with known words that begin with it.
    Unfinished(Vec<String>),
    /// An unknown word, with the words most similar to it.
    Unknown(Vec<String>),
    /// A known word after the last one that the model can read.
    TooMany,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SentenceFault {
    pub words: String,
    /// Whether the text may become correct as typing goes on.
    pub is_early: bool,
}

impl SentencesModel {
    /// Builds the model; `None` until there is a model of the lesson. Unchanged parts of `before` are reused.
    pub fn of(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let most_words = model.architecture.max_tokens;
        let is_same = |lexicon: &&Arc<Lexicon>| Arc::ptr_eq(&lexicon.space, space) && lexicon.most_words == most_words;
        let lexicon = before.map(|before| &before.lexicon).filter(is_same).cloned();
        let lexicon = lexicon.unwrap_or_else(|| Arc::new(Lexicon::new(space.clone(), &snapshot.lesson, most_words)));
        let shown = tokenize(&model.sentence.written());
        // The word that a lesson is about is more likely to be long than an article is. A sentence for a model that
        // reads pieces of words is a single text.
        let longest_shared = |sentence: &[String]| {
            let shared = sentence.iter().flat_map(|text| tokenize(text)).filter(|word| shown.contains(word));
            shared.map(|word| word.chars().count()).max()
        };
        let sentences = &snapshot.lesson.sentences;
        let others = (0..sentences.len()).filter(|index| model.sentence.index != Some(*index)).rev();
        let suggestion = others.max_by_key(|index| longest_shared(&sentences[*index]));
        Some(Self {
            lexicon,
            sentences: sentences.iter().map(|words| words.join(" ")).collect(),
            shown: title(model, &model.sentence),
            selected: model.sentence.index,
            is_recorded: model.recorded.is_some(),
            second: model.second.as_ref().map(|second| title(model, &second.other)),
            suggestion,
        })
    }

    /// Returns the text with which a comparison begins: the suggested sentence, or the shown one if none is suggested.
    pub fn first_second(&self) -> String {
        self.suggestion.map_or(&self.shown, |index| &self.sentences[index]).clone()
    }
}

/// Returns the text under which a sentence can be chosen. For a text of a recording, this is its title.
fn title(model: &ModelSnapshot, sentence: &SentenceSnapshot) -> String {
    let recorded = model.recorded.as_ref().zip(sentence.index);
    recorded.map_or_else(|| sentence.written(), |(pass, text)| pass.place.model.title(text))
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

    /// Returns the rows of the words among which those similar to an unknown one are searched for during typing. In a
    /// very large vocabulary, these are only the words with the same first letter.
    fn looked_through(&self, word: &str) -> impl Iterator<Item = usize> {
        /// The largest number of words that can be searched within a frame.
        const MANY: usize = 60_000;
        let is_many = self.space.vocabulary.len() > MANY;
        let first = word.chars().next().filter(|_| is_many).map_or_else(String::new, String::from);
        self.space.beginning(&first).iter().copied()
    }

    /// Returns the known words that have the most pairs of adjacent letters in common with a word.
    fn like(&self, word: &str) -> Vec<String> {
        /// The number of initial letters of a long word that are compared.
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
            // The rank is twice the number of common pairs, in thousandths of the number of pairs in both words.
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

    /// Reads a text as a pretrained model does, and finds the pieces of each word.
    fn read_pieces(&self, text: &str, lesson: &Lesson) -> SentenceReading {
        let most_words = self.most_words;
        let sentence = match Sentence::read(text, lesson, &self.space.vocabulary) {
            Ok(sentence) => sentence,
            Err(why) => {
                let fault = Some(SentenceFault { words: sentence(&why), is_early: text.trim().is_empty() });
                return SentenceReading { most_words, in_pieces: true, fault, ..SentenceReading::default() };
            }
        };
        let of_source = sentence.text.iter().flat_map(|text| &text.pieces).zip(&sentence.words);
        let of_target = sentence.target.iter().flat_map(|target| target.pieces.iter().zip(&target.words));
        let of_target = of_target.filter_map(|(piece, row)| Some((piece.as_ref()?, row.as_ref()?)));
        let pieces = of_source.map(|pair| (false, pair)).chain(of_target.map(|pair| (true, pair)));
        let mut words: Vec<ReadWord> = Vec::new();
        let mut last = None;
        for (is_of_target, (piece, row)) in pieces.filter(|(_, (piece, _))| !piece.is_added) {
            let shown = self.space.vocabulary[*row].trim_start_matches("##");
            match words.last_mut().filter(|_| last == Some((is_of_target, piece.word))) {
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
            last = Some((is_of_target, piece.word));
        }
        let count = words.len();
        words.truncate(WORDS_TOLD);
        SentenceReading { words, count, most_words, in_pieces: true, fault: None }
    }
}

/// The mark between the pieces of a word.
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

/// Shortens a word for a line of text.
pub fn shortened(word: &str) -> String {
    const MOST: usize = 25;
    cut(word, MOST)
}

impl SentenceReading {
    /// Returns the index of the first unknown word and the best replacement; `None` if there is none.
    pub fn suggestion(&self) -> Option<(usize, &str)> {
        let word = self.first_fault()?;
        match &self.words[word].kind {
            WordKind::Unknown(others) | WordKind::Unfinished(others) => Some((word, others.first()?)),
            WordKind::Known(_) | WordKind::TooMany => None,
        }
    }

    /// Returns a text without faults in the form in which it is saved: the lesson's words with single spaces, or the
    /// text as written if a tokenizer reads it.
    pub fn sentence(&self, text: &str) -> String {
        if self.in_pieces || self.count > self.words.len() {
            return text.trim().to_owned();
        }
        self.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the index of the first unknown or unfinished word; `None` if there is none.
    pub fn first_fault(&self) -> Option<usize> {
        self.words.iter().position(|word| matches!(word.kind, WordKind::Unknown(_) | WordKind::Unfinished(_)))
    }

    /// Returns the text without a word.
    pub fn without(&self, text: &str, word: usize) -> String {
        let at = self.words[word].at.clone();
        let (before, after) = (&text[..at.start], &text[at.end..]);
        // If there are spaces on both sides of the word, one of them is removed too.
        match before.strip_suffix(' ') {
            Some(before) if after.is_empty() || after.starts_with(' ') => format!("{before}{after}"),
            _ => format!("{before}{}", after.strip_prefix(' ').unwrap_or(after)),
        }
    }

    /// Returns the text with a word replaced by another.
    pub fn with(&self, text: &str, word: usize, other: &str) -> String {
        let at = self.words[word].at.clone();
        format!("{}{other}{}", &text[..at.start], &text[at.end..])
    }

    /// Returns the text up to the last word that the model can read.
    pub fn cut(&self, text: &str) -> String {
        let end = self.words.get(self.most_words.saturating_sub(1)).map_or(text.len(), |word| word.at.end);
        text[..end].to_owned()
    }
}
