//! The text of a lesson file, and places in it.

use std::fmt::Display;

use super::issue::{EXCERPT_CHARS_BEFORE, Excerpt, Issues, Place, Report, is_unprintable};
use super::limits::EXCERPT_CHARS_MAX;
use super::text::{normal, written_words};

/// A part of the file. Its address in memory is its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'s> {
    pub text: &'s str,
    /// The field that holds it, for messages.
    pub label: &'static str,
    pub issues: &'s Issues<'s>,
}

impl<'s> Node<'s> {
    /// Reports a problem at this place; the answer adds what was expected and the nearest name.
    pub fn issue(self, message: impl Into<String>) -> Report<'s> {
        self.issues.report(self.text, message.into())
    }

    /// Reports a problem of the field that holds this value, with the field's name before the message.
    pub fn field_issue(self, message: impl Display) -> Report<'s> {
        match self.label {
            "" => self.issue(message.to_string()),
            label => self.issue(format!("{label}: {message}")),
        }
    }

    /// The first occurrence of `part` inside this node, standing free of other word characters;
    /// the node itself if an escape in the text hides it.
    pub fn part(self, part: &str) -> Self {
        let found = self.text.match_indices(part).find(|(start, found)| {
            let joins = |left: Option<char>, right: Option<char>| {
                left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
            };
            let before = self.text[..*start].chars().next_back();
            let after = self.text[start + found.len()..].chars().next();
            !joins(before, found.chars().next()) && !joins(found.chars().next_back(), after)
        });
        match found {
            Some((_, text)) if !text.is_empty() => Self { text, ..self },
            _ => self,
        }
    }
}

impl Node<'_> {
    /// The place of a word of [`tokenize`](super::text::tokenize) in this text, however it is spelt
    /// there; the node itself if an escape in the text hides it.
    pub fn word(self, word: &str) -> Self {
        let text = written_words(self.text).find(|written| normal(written) == word);
        text.map_or(self, |text| Self { text, ..self })
    }
}

#[derive(Debug)]
pub(super) struct Source<'s> {
    pub file: &'s str,
    pub text: &'s str,
    /// Byte offset at which each line starts.
    lines: Vec<usize>,
}

impl<'s> Source<'s> {
    pub fn new(file: &'s str, text: &'s str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { file, text, lines: std::iter::once(0).chain(starts).collect() }
    }

    /// Bytes before `part`, which is a slice of this text.
    pub fn offset(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if offset <= self.text.len() { offset } else { 0 }
    }

    pub fn place(&self, offset: usize) -> Place {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        let start = self.lines[line - 1];
        Place { line, col: 1 + self.text[start..offset].chars().count() }
    }

    /// The text from a line and column on, both from 1; the empty end of the text beyond it.
    pub fn rest_from(&self, place: Place) -> &'s str {
        let end = self.text.len();
        let start = self.lines.get(place.line.saturating_sub(1)).copied().unwrap_or(end);
        let rest = &self.text[start..];
        let within = rest.char_indices().nth(place.col.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        &rest[within..]
    }

    /// The line of `offset`, cut to a readable width around `width_bytes` from there.
    pub fn excerpt(&self, offset: usize, width_bytes: usize) -> Excerpt {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        let start = self.lines[line - 1];
        let end = self.lines.get(line).map_or(self.text.len(), |next| next - 1);
        let plain = |c: char| if is_unprintable(c) { ' ' } else { c };

        let head = &self.text[start..offset];
        let cut = head.chars().count().saturating_sub(EXCERPT_CHARS_BEFORE);
        // Indentation is not worth the width.
        let head: String = head.chars().skip(cut).map(plain).collect();
        let head = head.trim_start();
        let before = head.chars().count();

        let tail: String =
            self.text[offset..end].trim_end().chars().take(EXCERPT_CHARS_MAX - before).map(plain).collect();
        let offending = &self.text[offset..(offset + width_bytes).min(end).max(offset)];
        let width = offending.trim_end().chars().take(EXCERPT_CHARS_MAX - before).count();
        Excerpt { line: format!("{head}{tail}"), before, width: width.max(1) }
    }
}
