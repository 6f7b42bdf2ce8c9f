//! An issue of a file with its place, and the collector to which every step of reading reports.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::Path;

use attune_engine::code::LineColumn;
use attune_engine::messages::{counted, nearest};

/// Returns the word at a line and a column, both from 1, of the text in a string literal, as the file writes it.
pub(crate) fn inside(text: &str, line: usize, column: usize) -> Option<&str> {
    let is_raw = text.starts_with('r');
    let written = text.trim_start_matches('r').trim_start_matches('#').strip_prefix('"')?;
    let (mut at, mut now) = (0, (1, 1));
    while now < (line, column) {
        let rest = &written[at..];
        let bytes = if is_raw { None } else { escape_bytes(rest) };
        let is_break = rest.starts_with('\n') || bytes.is_some() && rest.starts_with("\\n");
        at += bytes.or_else(|| rest.chars().next().map(char::len_utf8))?;
        now = if is_break { (now.0 + 1, 1) } else { (now.0, now.1 + 1) };
    }
    let rest = (now == (line, column)).then(|| &written[at..]).filter(|rest| !rest.is_empty())?;
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|end| *end > 0);
    Some(&rest[..end.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8))])
}

/// Returns the end of a message about an unknown name, which offers the most similar known one; empty if none is
/// similar.
pub fn did_you_mean<'c>(name: &str, known: impl IntoIterator<Item = &'c str>) -> String {
    nearest(name, known).map_or(String::new(), |near| format!("; did you mean {near:?}?"))
}

/// Returns the length in bytes of the escape with which a text begins, such as `\n`, `\x1b` or `\u{301}`, if it begins
/// with one.
fn escape_bytes(text: &str) -> Option<usize> {
    const HEX: usize = r"\x1b".len();
    let kind = text.strip_prefix('\\')?.chars().next()?;
    match kind {
        'x' => Some(HEX.min(text.len())),
        'u' => text.find('}').map(|end| end + 1),
        kind => Some('\\'.len_utf8() + kind.len_utf8()),
    }
}

/// An issue of a lesson file.
///
/// `{}` prints one line; `{:#}` adds the source line with a caret under the offending text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonIssue {
    /// The file as the caller named it.
    pub file: String,
    /// The place, or `None` if the issue concerns the whole file.
    pub place: Option<LineColumn>,
    /// The offending text, shortened.
    pub found: String,
    /// The problem in words.
    pub message: String,
    /// The valid input in words.
    pub expected: Option<String>,
    /// The valid name that is most similar to the wrong one.
    pub nearest: Option<String>,
    pub excerpt: Option<Excerpt>,
}

/// The part of a source line around the offending text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    pub line: String,
    /// Number of characters before the offending text, and in it.
    pub before: usize,
    pub width: usize,
}

impl LessonIssue {
    /// Returns an issue that concerns the whole file.
    pub(crate) fn of_file(file: &str, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: None,
            found: String::new(),
            message: message.into(),
            expected: Some(expected.into()),
            nearest: None,
            excerpt: None,
        }
    }
}

impl fmt::Display for LessonIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.file))?;
        if let Some(place) = self.place {
            write!(f, ":{place}")?;
        }
        // Some messages quote text of the file.
        write!(f, ": {}", printable(&self.message))?;
        if let Some(expected) = &self.expected {
            write!(f, "; expected {}", printable(expected))?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean \"{}\"?", printable(nearest))?;
            if self.found.trim_matches('"').to_lowercase() == nearest.to_lowercase() {
                write!(f, " Capitals matter here")?;
            }
        }
        if let (true, Some(place), Some(excerpt)) = (f.alternate(), self.place, &self.excerpt) {
            let number = place.line.to_string();
            let Excerpt { line, before, width } = excerpt;
            write!(f, "\n  {number} | {line}")?;
            write!(f, "\n  {:1$} | ", "", number.len())?;
            write!(f, "{:before$}{:^>width$}", "", "")?;
        }
        Ok(())
    }
}

impl std::error::Error for LessonIssue {}

/// Collector of the issues of one file, to which every part of the reader can report.
#[derive(Debug)]
pub(crate) struct Issues<'s> {
    pub source: LessonText<'s>,
    list: RefCell<Vec<LessonIssue>>,
    /// Number of issues after the list was full, and the place of the first of them.
    more: Cell<(usize, Option<LineColumn>)>,
}

impl<'s> Issues<'s> {
    pub fn new(file: &'s str, text: &'s str) -> Self {
        Self { source: LessonText::new(file, text), list: RefCell::default(), more: Cell::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.list.borrow().is_empty()
    }

    /// Reports an issue of a part of the file's text, whose address in memory determines its place.
    pub fn report(&self, text: &str, message: impl Into<String>) -> Report<'_> {
        let mut list = self.list.borrow_mut();
        if list.len() == ISSUES_MAX {
            let place = || self.source.place_of(text);
            self.more.update(|(more, first)| (more + 1, first.or_else(|| Some(place()))));
            return Report(None);
        }
        let offset = self.source.offset(text);
        let first_line = text.split(['\n', '\r']).next().unwrap_or_default();
        list.push(LessonIssue {
            file: self.source.file.to_owned(),
            place: Some(self.source.place(offset)),
            found: shorten(text),
            message: message.into(),
            expected: None,
            nearest: None,
            excerpt: Some(self.source.excerpt(offset, first_line.len())),
        });
        Report(Some((&self.list, list.len() - 1)))
    }

    /// Runs a reader and discards the issues that it reports.
    pub fn quietly<T>(&self, read: impl FnOnce() -> T) -> T {
        let (known, more) = (self.list.borrow().len(), self.more.get());
        let read = read();
        self.list.borrow_mut().truncate(known);
        self.more.set(more);
        read
    }

    /// Returns the issues in the order of their places, and a last one that counts those beyond [`ISSUES_MAX`], at the
    /// place of the first of these.
    pub fn finish(&self) -> Vec<LessonIssue> {
        let mut list = self.list.take();
        list.sort_by_key(|issue| issue.place);
        let (more, place) = self.more.get();
        if more > 0 {
            let rest = LessonIssue::of_file(self.source.file, format!("… and {}", counted(more, "more issue")), "");
            list.push(LessonIssue { place, expected: None, ..rest });
        }
        list
    }
}

/// The issue reported last, or `None` if it was only counted, so that no hints are computed for it.
pub(crate) struct Report<'i>(Option<(&'i RefCell<Vec<LessonIssue>>, usize)>);

impl Report<'_> {
    fn add(self, hint: impl FnOnce(&mut LessonIssue)) -> Self {
        if let Some((list, index)) = self.0 {
            hint(&mut list.borrow_mut()[index]);
        }
        self
    }

    pub fn expected(self, expected: impl Into<String>) -> Self {
        self.add(|issue| issue.expected = Some(expected.into()))
    }

    pub fn nearest<'c>(self, name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Self {
        self.add(|issue| issue.nearest = nearest(name, candidates).map(shorten))
    }

    /// Sets the name that was probably meant, if the caller has found it in its own way.
    pub fn meant(self, name: Option<&str>) -> Self {
        self.add(|issue| issue.nearest = name.map(shorten))
    }

    /// Returns `None`, the value of a decoder that has reported an issue.
    pub fn none<T>(self) -> Option<T> {
        None
    }
}

/// The text of a lesson file, which maps slices of the text to places.
#[derive(Debug)]
pub(crate) struct LessonText<'s> {
    pub file: &'s str,
    pub text: &'s str,
    /// Byte offset at which each line starts.
    lines: Vec<usize>,
}

impl<'s> LessonText<'s> {
    pub fn new(file: &'s str, text: &'s str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { file, text, lines: std::iter::once(0).chain(starts).collect() }
    }

    /// Returns the byte offset of `part`, a slice of this text.
    pub fn offset(&self, part: &str) -> usize {
        let offset = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if offset <= self.text.len() { offset } else { 0 }
    }

    pub fn place(&self, offset: usize) -> LineColumn {
        let line = self.line(offset);
        LineColumn { line, column: 1 + self.text[self.line_start(offset)..offset].chars().count() }
    }

    /// Returns the place of a slice of this text.
    pub fn place_of(&self, part: &str) -> LineColumn {
        self.place(self.offset(part))
    }

    /// Returns the number of the line at `offset`, from 1.
    fn line(&self, offset: usize) -> usize {
        self.lines.partition_point(|&start| start <= offset).max(1)
    }

    /// Returns the byte offset at which the line at `offset` starts.
    pub fn line_start(&self, offset: usize) -> usize {
        self.lines[self.line(offset) - 1]
    }

    /// Returns the text from a line and column on, both from 1; it is empty beyond the end of the text.
    pub fn rest_from(&self, place: LineColumn) -> &'s str {
        let end = self.text.len();
        let start = self.lines.get(place.line.saturating_sub(1)).copied().unwrap_or(end);
        let rest = &self.text[start..];
        let within = rest.char_indices().nth(place.column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        &rest[within..]
    }

    /// Returns the line at `offset`, cut to a readable width around the offending text, which begins there and is
    /// `width_bytes` long.
    pub fn excerpt(&self, offset: usize, width_bytes: usize) -> Excerpt {
        let line = self.line(offset);
        let start = self.lines[line - 1];
        let end = self.lines.get(line).map_or(self.text.len(), |next| next - 1);
        let plain = |c: char| if is_unprintable(c) { ' ' } else { c };

        let head = &self.text[start..offset];
        let cut = head.chars().count().saturating_sub(EXCERPT_CHARS_BEFORE);
        // Indentation would only take up width.
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

/// Returns at most [`FOUND_CHARS_MAX`] characters on one line, with control characters escaped, because they could
/// control a terminal.
pub fn shorten(text: &str) -> String {
    let mut short = String::new();
    for (i, c) in text.trim().chars().enumerate() {
        if i == FOUND_CHARS_MAX {
            short.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => short.push(' '),
            c if is_unprintable(c) => short.extend(c.escape_default()),
            c => short.push(c),
        }
    }
    short
}

/// Returns the path of a file for a message.
pub fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// Returns the whole of a text, such as a file's name, with control characters escaped.
pub fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unprintable(c) { plain.extend(c.escape_default()) } else { plain.push(c) }
    }
    plain
}

/// Returns whether a character is a control character, changes the direction of text or has no width. Joiners are
/// excluded, because words are spelt with them.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Lists names, as in `one, two or three`.
pub fn one_of(names: &[impl Borrow<str>]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.borrow().to_owned(),
        [most @ .., last] => format!("{} or {}", most.join(", "), last.borrow()),
    }
}

/// Greatest number of characters of an excerpt before the offending text.
pub(crate) const EXCERPT_CHARS_BEFORE: usize = EXCERPT_CHARS_MAX / 2;

/// Greatest number of issues in the list; further issues are only counted.
pub const ISSUES_MAX: usize = 100;
/// Greatest number of characters of offending text that an issue quotes.
pub const FOUND_CHARS_MAX: usize = 60;
/// Greatest number of characters of a source line that an issue shows.
pub const EXCERPT_CHARS_MAX: usize = 100;
