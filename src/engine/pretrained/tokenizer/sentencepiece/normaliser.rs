//! SentencePiece's normaliser: characters replaced by a table, and blanks, which become a visible character.
//!
//! Each byte of the result keeps the place that it comes from, as in SentencePiece's own `norm_to_orig`.

use std::ops::Range;

use super::super::refuse::Read;
use super::super::steps::Bounds;
use super::charsmap::Charsmap;
use super::file::NormalizerSpec;

/// The character that stands for a blank.
pub const BLANK: char = '▁';

/// The steps of a file.
#[derive(Debug)]
pub struct Normaliser {
    charsmap: Charsmap,
    /// Whether a blank is put before the text.
    begins_with_blank: bool,
    /// Whether blanks at both ends are dropped, and several in a row become one.
    squeezes: bool,
    /// What a blank becomes.
    blank: char,
}

/// A text after all steps.
#[derive(Debug, Default)]
pub struct NormalText {
    pub text: String,
    /// For each byte, the range of the original text that became its character.
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

    /// Returns the range of the original text for a range of this one. What was dropped belongs to the part before it.
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

    /// Returns a text after all steps.
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

    /// Splits a text into the sequences that the table replaces, and the characters between them. Returns what stands for
    /// each, and its place.
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
