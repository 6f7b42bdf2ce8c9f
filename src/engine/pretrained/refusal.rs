//! The message that says why a model is not opened: where, what was found, what was expected, and what to do.

use std::fmt;
use std::io;

use crate::messages::cut;

/// Largest number of characters of a name that a message repeats, with the sign of a cut.
const NAME_CHARS_MAX: usize = 161;

/// Advice if a file differs from what was originally written.
pub const FETCH_AGAIN: &str = "the file is damaged or incomplete: download it again";

/// The reason why a model is not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the file within the model's folder; empty for the folder itself.
    pub file: String,
    pub tensor: Option<String>,
    pub found: String,
    pub expected: String,
    /// Advice, starting with a small letter.
    pub advice: String,
}

impl Refusal {
    pub fn new(found: impl Into<String>, expected: impl Into<String>, advice: impl Into<String>) -> Self {
        let (found, expected, advice) = (found.into(), expected.into(), advice.into());
        Self { file: String::new(), tensor: None, found, expected, advice }
    }

    /// Makes the refusal of a file that cannot be read.
    pub fn unreadable(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Self::new("the end of the file too early", "the rest of the file", FETCH_AGAIN)
            }
            _ => Self::new(
                error.to_string(),
                "a file that can be read",
                "check that the file exists and that you may read it",
            ),
        }
    }

    /// Makes the refusal of text that is not the expected JSON, with line and column, and with a bounded part of the
    /// file's own text.
    pub fn bad_json(error: &dyn fmt::Display, expected: &str, advice: &str) -> Self {
        const WORDS_MAX: usize = 300;
        let words = error.to_string();
        let (words, place) = words.split_at(words.rfind(" at line ").unwrap_or(words.len()));
        let words = words.chars().filter(|sign| !sign.is_control()).take(WORDS_MAX);
        Self::new(words.chain(place.chars()).collect::<String>(), expected, advice)
    }

    /// Adds the name of the file, unless there is one already.
    #[must_use]
    pub fn in_file(self, file: &str) -> Self {
        if self.file.is_empty() { Self { file: file.to_owned(), ..self } } else { self }
    }

    /// Adds the name of the tensor.
    #[must_use]
    pub fn of_tensor(self, tensor: &str) -> Self {
        Self { tensor: Some(tensor.to_owned()), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}: ", escaped(&self.file))?;
        }
        if let Some(tensor) = &self.tensor {
            write!(f, "{}: ", quoted(tensor))?;
        }
        write!(f, "found {}; expected {}; {}", self.found, self.expected, self.advice)
    }
}

impl std::error::Error for Refusal {}

/// Writes a name from a file for a message: quoted, without control characters, and cut if it is long.
pub fn quoted(name: &str) -> String {
    format!("`{}`", escaped(name))
}

fn escaped(name: &str) -> String {
    let escaped: String = cut(name, NAME_CHARS_MAX).chars().flat_map(char::escape_debug).collect();
    // Names are quoted with backquotes, within which single and double quotes need no escape.
    escaped.replace("\\'", "'").replace("\\\"", "\"")
}

/// Writes a shape as in the literature: `(600, 24)`.
pub fn shape(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("({})", sizes.join(", "))
}
