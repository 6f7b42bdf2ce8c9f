//! SentencePiece's normaliser: characters replaced by a table, and blanks, which become a visible character.
//!
//! Each byte of the result keeps the place that it comes from, as in SentencePiece's own `norm_to_orig`.

use std::ops::Range;

use super::super::refuse::Read;
use super::super::spelling::BLANK;
use super::super::steps::Bounds;
use super::charsmap::Charsmap;
use super::file::NormalizerSpec;

/// The steps by which a file normalises texts.
#[derive(Debug)]
pub struct Normaliser {
    charsmap: Charsmap,
    /// Whether a blank is put before the text.
    begins_with_blank: bool,
    /// Whether blanks at both ends are dropped, and several in a row become one.
    squeezes: bool,
    /// The character that a blank becomes.
    blank: char,
}

/// A text after all steps of normalisation.
#[derive(Debug, Default)]
pub struct NormalText {
    pub text: String,
    /// For each byte, the range in the original text of the character that it belongs to.
    origins: Vec<Range<usize>>,
}

impl NormalText {
    fn push(&mut self, sign: char, origin: &Range<usize>) {
        self.text.push(sign);
        self.origins.resize(self.text.len(), origin.clone());
    }

    fn pop(&mut self) {
        self.text.pop();
        self.origins.truncate(self.text.len());
    }

    /// Returns the range of the original text from which a range of this text was made. Dropped characters belong to
    /// the range before them.
    pub fn origin(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.origins[part.start].start;
        let end = self.origins[part.end - 1].end;
        start..self.origins.get(part.end).map_or(end, |next| end.max(next.start))
    }
}

impl Normaliser {
    pub fn read(spec: &NormalizerSpec) -> Read<Self> {
        Ok(Self {
            charsmap: Charsmap::read(&spec.precompiled_charsmap)?,
            begins_with_blank: spec.add_dummy_prefix(),
            squeezes: spec.remove_extra_whitespaces(),
            blank: if spec.escape_whitespaces() { BLANK } else { ' ' },
        })
    }

    /// Applies all steps to a text.
    ///
    /// # Errors
    /// A message, if the table lengthens it too much.
    pub fn run(&self, text: &str, bounds: &Bounds) -> Result<NormalText, String> {
        let mut normal = NormalText::default();
        let mut parts = self.parts(text).peekable();
        while self.squeezes && parts.next_if(|(part, _)| *part == " ").is_some() {}
        let Some((_, first)) = parts.peek() else { return Ok(normal) };
        if self.begins_with_blank {
            normal.push(self.blank, &(first.start..first.start));
        }
        let mut is_behind_blank = self.squeezes;
        for (part, origin) in parts {
            let part = if is_behind_blank { part.trim_start_matches(' ') } else { part };
            bounds.check(normal.text.len() + part.len(), 1)?;
            part.chars().for_each(|sign| normal.push(if sign == ' ' { self.blank } else { sign }, &origin));
            if !part.is_empty() {
                is_behind_blank = self.squeezes && part.ends_with(' ');
            }
        }
        while self.squeezes && normal.text.ends_with(self.blank) {
            normal.pop();
        }
        Ok(normal)
    }

    /// Splits a text into the sequences that the table replaces and the characters between them. Returns for each the
    /// text that it becomes, and its range.
    fn parts<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, Range<usize>)> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = &text[at..];
            let letter = rest.chars().next()?.len_utf8();
            let (length, part) = self.charsmap.longest(rest).unwrap_or((letter, &rest[..letter]));
            at += length;
            Some((part, at - length..at))
        })
    }
}
