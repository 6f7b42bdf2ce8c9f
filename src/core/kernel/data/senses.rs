//! A list of sentences of the learner's with one word in common, each with the sense of the word, if the learner gave one.
//!
//! As a text it is a file that any editor writes: one sentence a line; where the word's sense is given, the line begins with its
//! letter and a tab. Blank lines are nothing.

use serde::{Deserialize, Serialize};

use crate::beginning::beginning;
use crate::lesson::issue::shorten;

/// Sentences that are measured.
pub const MEASURED_MAX: usize = 20;
/// Sentences that a list holds: those that are not measured are lost to nobody.
pub const LISTED_MAX: usize = 200;
/// Sentences of a saved list that are read: with more than it holds it is refused as a whole.
const READ_MAX: usize = LISTED_MAX + 1;
/// Characters of a sentence, and of the word.
pub const CHARS_MAX: usize = 2000;
/// The letters of senses, as many as there are hues.
pub const SENSES: std::ops::RangeInclusive<char> = 'A'..='H';

/// A word and the sentences that it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseList {
    pub word: String,
    #[serde(deserialize_with = "beginning::<READ_MAX, _, _>")]
    pub sentences: Vec<SenseSentence>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseSentence {
    pub text: String,
    /// One of [`SENSES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<char>,
}

impl SenseList {
    /// Nothing is written in it.
    pub fn is_empty(&self) -> bool {
        self.word.is_empty() && self.sentences.is_empty()
    }

    /// The sentences as a file, without the rows in which nothing is written yet.
    pub fn written(&self) -> String {
        self.sentences.iter().filter(|sentence| !sentence.text.is_empty()).map(SenseSentence::line).collect()
    }
}

impl SenseList {
    /// The same as a list holds it.
    ///
    /// # Errors
    /// In words for the learner, if no list could hold it.
    pub fn checked(mut self) -> Result<Self, String> {
        check_count(self.sentences.len())?;
        for text in self.sentences.iter_mut().map(|sentence| &mut sentence.text).chain([&mut self.word]) {
            check_text(text)?;
            *text = one_line(text);
        }
        self.sentences.iter().filter_map(|sentence| sentence.sense).try_for_each(check_sense)?;
        Ok(self)
    }
}

/// The sentences of a file.
///
/// # Errors
/// In words for the learner, if there are none, too many, or one is too long: a part of a file would be a list of which nobody
/// knows what is missing.
pub fn read_sentences(text: &str) -> Result<Vec<SenseSentence>, String> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let sentences = read_lines(lines.filter(|(_, line)| !line.trim().is_empty()))?;
    if sentences.is_empty() { Err("there is no sentence in it".to_owned()) } else { Ok(sentences) }
}

/// Reads a sentence from each line; the lines are counted from 0.
fn read_lines<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<SenseSentence>, String> {
    let mut sentences = Vec::new();
    for (number, line) in lines {
        let sentence = SenseSentence::read(line);
        check_text(&sentence.text).map_err(|why| format!("line {}: {why}", number + 1))?;
        sentences.push(sentence);
        check_count(sentences.len())?;
    }
    Ok(sentences)
}

impl SenseSentence {
    fn line(&self) -> String {
        let text = &self.text;
        self.sense.map_or_else(|| format!("{text}\n"), |sense| format!("{sense}\t{text}\n"))
    }

    /// One line; what stands before the tab is a sense only where it is the letter of one.
    pub(in crate::kernel) fn read(line: &str) -> Self {
        let begun = line.split_once('\t').and_then(|(sense, text)| Some((read_sense(sense)?, text)));
        let (sense, text) = begun.map_or((None, line), |(sense, text)| (Some(sense), text));
        Self { text: one_line(text), sense }
    }
}

/// The sense that a letter names, small or capital.
fn read_sense(text: &str) -> Option<char> {
    let mut letters = text.trim().chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?.to_ascii_uppercase();
    SENSES.contains(&letter).then_some(letter)
}

/// A text without line breaks and tabs, which a file could not hold.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// # Errors
/// In words for the learner, if there are more sentences than a list holds.
pub fn check_count(count: usize) -> Result<(), String> {
    if count > LISTED_MAX {
        return Err(format!("a list of senses holds at most {LISTED_MAX} sentences"));
    }
    Ok(())
}

/// # Errors
/// In words for the learner, if a text is too long for a list.
pub fn check_text(text: &str) -> Result<(), String> {
    let count = text.chars().count();
    if count > CHARS_MAX {
        return Err(format!("{:?} has {count} characters: at most {CHARS_MAX} are read", shorten(text)));
    }
    Ok(())
}

/// # Errors
/// In words for the learner, if no sense has that letter.
pub fn check_sense(sense: char) -> Result<(), String> {
    if SENSES.contains(&sense) {
        return Ok(());
    }
    Err(format!("senses have the letters {} to {}, not {sense:?}", SENSES.start(), SENSES.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(list: &[(Option<char>, &str)]) -> Vec<SenseSentence> {
        list.iter().map(|(sense, text)| SenseSentence { text: (*text).to_owned(), sense: *sense }).collect()
    }

    #[test]
    fn a_list_is_read_from_the_file_that_it_writes() {
        let expected =
            sentences(&[(Some('A'), "the bank of the river"), (None, "a bank"), (Some('H'), "the bank lent")]);
        let list = SenseList { word: "bank".to_owned(), sentences: expected.clone() };
        assert_eq!(list.written(), "A\tthe bank of the river\na bank\nH\tthe bank lent\n");
        assert_eq!(read_sentences(&list.written()), Ok(expected));
    }

    #[test]
    fn rows_that_wait_for_a_sentence_are_left_out_of_files() {
        let list = sentences(&[(None, ""), (Some('B'), ""), (None, "a bank"), (None, "")]);
        let list = SenseList { word: String::new(), sentences: list };
        assert_eq!(list.written(), "a bank\n");
    }

    #[test]
    fn files_of_other_editors_are_read_and_nothing_of_a_line_is_lost() {
        let text = "\u{feff}a\tone bank\r\n\r\n  \t \nZ\ttwo banks\n AB\tthree \tbanks\n B \tfour\n";
        let expected = [(Some('A'), "one bank"), (None, "Z two banks"), (None, "AB three banks"), (Some('B'), "four")];
        assert_eq!(read_sentences(text), Ok(sentences(&expected)));
    }

    #[test]
    fn a_file_that_is_no_list_is_refused_with_words() {
        let refused = |text: &str, words: &str| {
            let why = read_sentences(text).expect_err("a refusal");
            assert!(why.contains(words), "{why}");
        };
        refused("\n \n", "no sentence");
        refused(&"a bank\n".repeat(LISTED_MAX + 1), "at most 200 sentences");
        refused(&format!("a bank\n{}\n", "b".repeat(CHARS_MAX + 1)), "line 2: ");
        assert_eq!(read_sentences(&"a bank\n".repeat(LISTED_MAX)).map(|read| read.len()), Ok(LISTED_MAX));
    }
}
