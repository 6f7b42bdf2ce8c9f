//! A group of words as a learner names it: a group of the lesson by its name, words, or a pattern.
//!
//! | written | meant |
//! |---|---|
//! | `fruit` | the lesson's group of that name |
//! | `pear, plum` | these words, and all of a group that is named among them |
//! | `/ing$/` | all words of the vocabulary that match the regular expression; `/apple/` those that contain it |

use attune_engine::nearest::nearest;

use crate::kernel::data::vocabulary::index_of;
use crate::lesson::issue::shorten;
use crate::lesson::schema::Lesson;
use crate::lesson::text::tokenize;
use crate::pattern;

/// At least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGroup {
    /// As it was written.
    pub text: String,
    /// Rows of the vocabulary, each once, in their order.
    pub words: Vec<usize>,
}

/// A pattern of so many bytes is the learner's own; a longer one is no pattern.
const TEXT_MAX: usize = 500;

impl WordGroup {
    /// # Errors
    /// In words for the learner: nothing is named, what is named is unknown, or nothing matches.
    pub fn read(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > TEXT_MAX {
            return Err(format!("a group of words is written in at most {TEXT_MAX} letters"));
        }
        let mut words = match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Some(pattern) => matches(pattern, vocabulary)?,
            None => named(text, lesson, vocabulary)?,
        };
        words.sort_unstable();
        words.dedup();
        Ok(Self { text: text.to_owned(), words })
    }
}

fn matches(pattern: &str, vocabulary: &[String]) -> Result<Vec<usize>, String> {
    let regex = pattern::read(pattern);
    let regex = regex.map_err(|why| format!("/{}/ is no regular expression: {why}", shorten(pattern)))?;
    let words: Vec<usize> = (0..vocabulary.len()).filter(|&row| regex.is_match(&vocabulary[row])).collect();
    if pattern.is_empty() || words.is_empty() {
        return Err(format!("no word of the {} matches /{}/", vocabulary.len(), shorten(pattern)));
    }
    Ok(words)
}

fn named(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Vec<usize>, String> {
    let rows = index_of(vocabulary);
    let group = |name: &str| lesson.groups.iter().find(|group| group.name == name);
    let rows_of_group =
        |words: &[String]| words.iter().filter_map(|word| rows.get(word.as_str()).copied()).collect::<Vec<_>>();
    if let Some(group) = group(text) {
        return some(rows_of_group(&group.words), text);
    }
    let mut words = Vec::new();
    for item in text.split([',', ';']).flat_map(str::split_whitespace) {
        if let Some(group) = group(item) {
            words.extend(rows_of_group(&group.words));
            continue;
        }
        for word in tokenize(item) {
            let row = rows.get(word.as_str()).copied().ok_or_else(|| {
                let names = lesson.groups.iter().map(|group| group.name.as_str());
                let known = nearest(&word, names.chain(vocabulary.iter().map(String::as_str)));
                let hint = known.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
                format!("{:?} is no group of the lesson and no word of its vocabulary{hint}", shorten(&word))
            })?;
            words.push(row);
        }
    }
    some(words, text)
}

fn some(words: Vec<usize>, text: &str) -> Result<Vec<usize>, String> {
    if words.is_empty() {
        let said = if text.is_empty() {
            "a group of words is empty".to_owned()
        } else {
            format!("{:?} names no word", shorten(text))
        };
        return Err(format!("{said}: name a group of the lesson, write words, or a /pattern/"));
    }
    Ok(words)
}
