//! The words of a text, before they are cut into pieces.

use unicode_general_category::GeneralCategory::{
    ClosePunctuation, ConnectorPunctuation, DashPunctuation, DecimalNumber, EnclosingMark, FinalPunctuation,
    InitialPunctuation, LetterNumber, LowercaseLetter, ModifierLetter, NonspacingMark, OpenPunctuation, OtherLetter,
    OtherNumber, OtherPunctuation, SpacingMark, TitlecaseLetter, UppercaseLetter,
};
use unicode_general_category::get_general_category;

use super::byte_level;
use super::text_char::TextChar;

/// A way to find words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splitter {
    /// At spaces, and around each sign of punctuation.
    Bert,
    /// GPT-2's, whose characters become bytes.
    ByteLevel {
        /// A text that does not begin with a blank is given one, at the place of its first character.
        add_prefix_space: bool,
        /// Splits into words; where it is off, all is one.
        use_regex: bool,
    },
    /// Letters with their marks, digits, and apostrophes within: the rest is dropped. See [`WORDS`].
    Words,
}

/// The words of models that attune trained and wrote, as other programs find them: what does not match is dropped.
pub const WORDS: &str = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'+[\p{L}\p{M}\p{N}]+)*";

impl Splitter {
    pub fn split(self, mut signs: Vec<TextChar>) -> Vec<Vec<TextChar>> {
        match self {
            Self::Bert => bert_words(&signs),
            Self::Words => matches(&signs),
            Self::ByteLevel { add_prefix_space, use_regex } => {
                if let Some(first) = signs.first().copied().filter(|first| add_prefix_space && first.value != ' ') {
                    signs.insert(0, first.with(' '));
                }
                let words = if use_regex { gpt2_words(&signs) } else { vec![&signs[..]] };
                words.into_iter().map(byte_level::spelled).collect()
            }
        }
    }
}

/// BERT's words: `BasicTokenizer` of its `tokenization.py`.
fn bert_words(signs: &[TextChar]) -> Vec<Vec<TextChar>> {
    let stands_alone = |sign: &TextChar| is_punctuation(sign.value);
    let runs = signs.split(|sign| sign.value.is_whitespace());
    let words = runs.flat_map(|run| run.chunk_by(move |left, right| !stands_alone(left) && !stands_alone(right)));
    words.map(<[TextChar]>::to_vec).collect()
}

/// The matches of [`WORDS`].
fn matches(mut signs: &[TextChar]) -> Vec<Vec<TextChar>> {
    let is_inner = |sign: &TextChar| is_mark(sign.value) || is_letter_or_number(sign.value);
    let mut words = Vec::new();
    while let Some(start) = signs.iter().position(|sign| is_letter_or_number(sign.value)) {
        let run = |from: usize| signs[from..].iter().take_while(|sign| is_inner(sign)).count();
        let mut end = start + run(start);
        loop {
            let apostrophes = signs[end..].iter().take_while(|sign| sign.value == '\'').count();
            match run(end + apostrophes) {
                inner if apostrophes > 0 && inner > 0 => end += apostrophes + inner,
                _ => break,
            }
        }
        words.push(signs[start..end].to_vec());
        signs = &signs[end..];
    }
    words
}

fn is_letter_or_number(sign: char) -> bool {
    matches!(Class::of(sign), Class::Letter | Class::Number)
}

fn is_mark(sign: char) -> bool {
    matches!(get_general_category(sign), NonspacingMark | SpacingMark | EnclosingMark)
}

/// ASCII's signs count as punctuation all, `$` and `+` too.
fn is_punctuation(sign: char) -> bool {
    sign.is_ascii_punctuation()
        || matches!(
            get_general_category(sign),
            ClosePunctuation
                | ConnectorPunctuation
                | DashPunctuation
                | FinalPunctuation
                | InitialPunctuation
                | OpenPunctuation
                | OtherPunctuation
        )
}

/// GPT-2's words, after the pattern of its `encoder.py`:
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`.
///
/// By hand, for `regex` cannot look ahead: of several spaces before a word, the last one goes to the word if it is a
/// blank, and is alone otherwise.
fn gpt2_words(signs: &[TextChar]) -> Vec<&[TextChar]> {
    let mut words = Vec::new();
    let mut rest = signs;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(gpt2_word(rest));
        words.push(word);
        rest = after;
    }
    words
}

const CONTRACTIONS: [&str; 7] = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"];

/// The length of the word that these begin with.
fn gpt2_word(signs: &[TextChar]) -> usize {
    let begins_with = |text: &str| text.chars().eq(signs.iter().map(|sign| sign.value).take(text.len()));
    if let Some(contraction) = CONTRACTIONS.iter().find(|contraction| begins_with(contraction)) {
        return contraction.len();
    }
    let class = |at: usize| signs.get(at).map(|sign| Class::of(sign.value));
    let run = |from: usize| {
        let first = class(from);
        from + signs[from..].iter().take_while(|sign| first == Some(Class::of(sign.value))).count()
    };
    let blank = usize::from(signs[0].value == ' ');
    match class(blank) {
        Some(Class::Letter | Class::Number | Class::Other) => run(blank),
        Some(Class::Space) | None => match run(0) {
            spaces if spaces > 1 && spaces < signs.len() => spaces - 1,
            spaces => spaces,
        },
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Number,
    Space,
    Other,
}

impl Class {
    fn of(sign: char) -> Self {
        match get_general_category(sign) {
            UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter => Self::Letter,
            DecimalNumber | LetterNumber | OtherNumber => Self::Number,
            _ if sign.is_whitespace() => Self::Space,
            _ => Self::Other,
        }
    }
}
