//! The layout of a text's lines: the separators of fields, decimal points or commas, the column of the word, and
//! whether the first line names the columns. It is inferred from the first lines, and only if they can be read in just
//! one way.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::WIDTH_MAX;
use super::decimal::parse;
use crate::pretrained::refusal::{Refusal, quoted};

/// Number of lines from which the layout of a file is inferred.
pub(super) const SAMPLE: usize = 100;
/// Names of the column that has the words.
pub(super) const WORD_COLUMNS: [&str; 6] = ["label", "word", "words", "token", "name", "text"];
/// Names of a column that contains the numbers of the rows.
const NUMBER_COLUMNS: [&str; 4] = ["", "index", "id", "unnamed: 0"];
/// Prefix of words that deeplearning4j writes in Base64, so that they contain no spaces.
pub(super) const BASE64: &[u8] = b"B64:";

/// The way in which a line separates its fields and writes its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style {
    /// Separator of fields; `None` means any number of spaces and tabs.
    separator: Option<u8>,
    has_decimal_commas: bool,
}

/// All styles, in order of preference.
const STYLES: [Style; 5] = [
    Style { separator: None, has_decimal_commas: false },
    Style { separator: None, has_decimal_commas: true },
    Style { separator: Some(b','), has_decimal_commas: false },
    Style { separator: Some(b';'), has_decimal_commas: false },
    Style { separator: Some(b';'), has_decimal_commas: true },
];

/// The place of the word in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordPlace {
    /// No place, as all fields are numbers.
    Nowhere,
    /// Everything before the numbers.
    First,
    /// One of several fields before the numbers, counted from 0.
    Field { at: usize, of: usize },
    /// No place, but the number of the row comes before the numbers.
    RowNumber,
}

/// The form of the lines of a text: how many numbers they have, what separates these, and where the word is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Number of numbers in a row.
    pub width: usize,
    style: Style,
    word: WordPlace,
    has_tabs: bool,
    /// First line of the text, if it names the columns.
    names: Option<String>,
    are_words_encoded: bool,
}

impl Layout {
    /// Infers the layout from the lines of a sample. If there is a header, rows of its width are preferred.
    ///
    /// # Errors
    /// If no line is a row, or the lines can be read in two ways.
    pub fn of(sample: &[u8], is_whole: bool, header_width: Option<usize>) -> Result<Self, Refusal> {
        let lines = lines(sample, is_whole);
        let promised = header_width.and_then(|width| best(&lines, |style| style.fit_width(&lines, width)));
        // If the lines have another width than the header says, only the plain style is accepted.
        let plain = || Some(STYLES[0].fit(&lines)).filter(|fit| fit.rows > 0);
        let fit =
            promised.or_else(|| if header_width.is_some() { plain() } else { best(&lines, |style| style.fit(&lines)) });
        let fit = fit.filter(|fit| fit.width <= WIDTH_MAX).ok_or_else(|| {
            let expected = format!("a word and 1 to {WIDTH_MAX} numbers per line");
            Refusal::new("no line with a word and its numbers", expected, super::NOT_VECTORS)
        })?;
        if header_width != Some(fit.width) {
            check_commas(&lines, &fit)?;
        }
        Ok(Self::of_fit(&lines, &fit))
    }

    /// Infers the layout of a table of numbers without words.
    ///
    /// # Errors
    /// See [`Self::of`].
    pub fn nameless(sample: &[u8], is_whole: bool) -> Result<Self, Refusal> {
        let layout = Self::of(sample, is_whole, None)?;
        let widest = lines(sample, is_whole).iter().map(|line| layout.style.fields(line).len()).max();
        let is_number = layout.word == WordPlace::Nowhere;
        let width = if is_number { layout.width } else { widest.unwrap_or_default().clamp(1, WIDTH_MAX) };
        Ok(Self { width, word: WordPlace::Nowhere, ..layout })
    }

    fn of_fit(lines: &[&[u8]], fit: &Fit) -> Self {
        let Fit { style, width, is_nameless, .. } = *fit;
        let has_names = names_columns(lines, fit);
        let rows = &lines[usize::from(has_names)..];
        let word = word_place(lines, rows, fit);
        let width = if is_nameless && word == WordPlace::RowNumber { width - 1 } else { width };
        let starts_encoded = |line: &&[u8]| line.starts_with(BASE64);
        Self {
            width,
            style,
            word,
            has_tabs: rows.iter().any(|line| line.contains(&b'\t')),
            names: has_names.then(|| String::from_utf8_lossy(lines[0]).into_owned()),
            are_words_encoded: !rows.is_empty() && rows.iter().all(starts_encoded),
        }
    }

    /// Returns whether there are no words.
    pub fn is_nameless(&self) -> bool {
        self.word == WordPlace::Nowhere
    }

    /// Returns whether rows begin with their number instead of a word.
    pub fn has_row_numbers(&self) -> bool {
        self.word == WordPlace::RowNumber
    }

    pub fn has_tabs(&self) -> bool {
        self.has_tabs
    }

    /// Returns whether fields are separated by commas or semicolons.
    pub fn is_delimited(&self) -> bool {
        self.style.separator.is_some()
    }

    /// Returns the number of lines of column names before the first row: 0 or 1.
    pub fn names(&self) -> usize {
        usize::from(self.names.is_some())
    }

    /// Returns sentences about the layout for the report.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let names = self.names.as_ref().map(|line| format!("the first line, {}, names the columns", quoted(line)));
        let commas = self.style.has_decimal_commas.then(|| "the numbers have decimal commas".to_owned());
        let encoded =
            self.are_words_encoded.then(|| "the words were encoded as B64:…, as deeplearning4j does".to_owned());
        let word = match self.word {
            WordPlace::Field { at, of } => {
                Some(format!("of the {of} columns before the numbers, column {} has the words", at + 1))
            }
            _ => None,
        };
        [names, commas, encoded, word].into_iter().flatten()
    }

    /// Appends the numbers of a line to `numbers` and its word to `word`. Returns `false` if the line is not a row.
    pub fn row(&self, line: &[u8], word: &mut Vec<u8>, numbers: &mut Vec<f32>) -> bool {
        let before = numbers.len();
        let is_row = match self.style {
            Style { separator: None, .. } => self.blank_row(line, word, numbers),
            Style { separator: Some(_), .. } => self.delimited_row(line, word, numbers),
        };
        if !is_row {
            numbers.truncate(before);
        } else if self.are_words_encoded {
            decode(word);
        }
        is_row
    }

    fn blank_row(&self, line: &[u8], word: &mut Vec<u8>, numbers: &mut Vec<f32>) -> bool {
        let before = numbers.len();
        let from = if self.is_nameless() { 0 } else { line.iter().position(is_blank).unwrap_or(line.len()) };
        let mut count = 0;
        for field in blank_fields(&line[from..]) {
            let Some(number) = self.style.number(field).filter(|_| count < self.width) else {
                count = usize::MAX;
                break;
            };
            numbers.push(number);
            count += 1;
        }
        if count == self.width {
            word.extend_from_slice(&line[..from]);
            return true;
        }
        numbers.truncate(before);
        let Some(found) = self.style.word_of(line, self.width) else { return false };
        if self.is_nameless() != found.is_empty() {
            return false;
        }
        word.extend_from_slice(found);
        let start = found.len();
        numbers.extend(blank_fields(&line[start..]).filter_map(|field| self.style.number(field)));
        true
    }

    fn delimited_row(&self, line: &[u8], word: &mut Vec<u8>, numbers: &mut Vec<f32>) -> bool {
        let Some((leading, found)) = self.style.split(line, self.width) else { return false };
        if self.is_nameless() != leading.is_empty() {
            return false;
        }
        numbers.extend(found);
        let at = match self.word {
            WordPlace::Field { at, of } if of == leading.len() => Some(at),
            _ => (leading.len() == 1).then_some(0),
        };
        match at {
            Some(at) => word.extend_from_slice(&unquoted(leading[at])),
            // The word contains separators but is not quoted.
            None => word.extend_from_slice(&leading.join(&self.style.separator.unwrap_or(b' '))),
        }
        true
    }
}

/// Returns the lines of a sample without their ends. The last one is left out if the sample ends within it.
fn lines(sample: &[u8], is_whole: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = sample.split_inclusive(|byte| *byte == b'\n').take(SAMPLE).collect();
    if lines.len() > 1 && !is_whole && lines.last().is_some_and(|last| !last.ends_with(b"\n")) {
        lines.pop();
    }
    lines.into_iter().map(trimmed).filter(|line| !line.is_empty()).collect()
}

pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r' | b' ' | b'\t'));
    &line[..end.map_or(0, |end| end + 1)]
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn blank_fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(is_blank).filter(|field| !field.is_empty())
}

/// A style, and how well it fits the lines.
#[derive(Clone, Copy, Debug)]
struct Fit {
    style: Style,
    width: usize,
    /// Number of lines that are rows of `width` numbers in this style.
    rows: usize,
    is_nameless: bool,
}

/// Returns the style with the most rows; of equal ones, the style with the most numbers in each row.
fn best(lines: &[&[u8]], fit: impl Fn(Style) -> Fit) -> Option<Fit> {
    let has_row = |fit: &Fit| fit.rows > 0 && fit.width > 0 && !lines.is_empty();
    let better = |best: Fit, next: Fit| if (next.rows, next.width) > (best.rows, best.width) { next } else { best };
    STYLES.into_iter().map(fit).filter(has_row).reduce(better)
}

impl Style {
    fn fields(self, line: &[u8]) -> Vec<&[u8]> {
        match self.separator {
            None => blank_fields(line).collect(),
            Some(separator) => delimited(line, separator),
        }
    }

    /// Returns the number that a field spells, or `None` if it is not a number.
    fn number(self, field: &[u8]) -> Option<f32> {
        let field = if self.separator.is_some() { bare(field) } else { field };
        if !self.has_decimal_commas {
            return parse(field);
        }
        if field.contains(&b'.') || field.iter().filter(|byte| **byte == b',').count() > 1 {
            return None;
        }
        let with_point: Vec<u8> = field.iter().map(|byte| if *byte == b',' { b'.' } else { *byte }).collect();
        parse(&with_point)
    }

    /// Returns the part of a line before its last `width` fields, separated by spaces, if these are numbers.
    fn word_of(self, line: &[u8], width: usize) -> Option<&[u8]> {
        let mut rest = line;
        for _ in 0..width {
            let from = rest.iter().rposition(is_blank).map_or(0, |at| at + 1);
            self.number(&rest[from..])?;
            rest = trimmed(&rest[..from]);
        }
        Some(rest)
    }

    /// Returns the fields before the last `width` of a delimited line, and the last ones as numbers. A space may
    /// separate the word from the first number.
    fn split(self, line: &[u8], width: usize) -> Option<(Vec<&[u8]>, Vec<f32>)> {
        let mut fields = self.fields(line);
        if fields.len() == width && self.number(fields[0]).is_none() {
            let (word, number) = word_and_number(fields[0])?;
            fields.splice(..1, [word, number]);
        }
        let leading = fields.len().checked_sub(width)?;
        let numbers = fields[leading..].iter().map(|field| self.number(field)).collect::<Option<_>>()?;
        fields.truncate(leading);
        Some((fields, numbers))
    }

    /// Returns whether a line ends in `width` numbers.
    fn has(self, line: &[u8], width: usize) -> bool {
        match self.separator {
            None => self.word_of(line, width).is_some(),
            Some(_) => self.split(line, width).is_some(),
        }
    }

    fn fit_width(self, lines: &[&[u8]], width: usize) -> Fit {
        let rows = lines.iter().filter(|line| self.has(line, width)).count();
        Fit { style: self, width, rows, is_nameless: false }
    }

    /// Returns the number of a line's fields, and how many fields at its end are numbers. In a delimited line, a word
    /// and a number that only a space separates count as two.
    fn shape(self, line: &[u8]) -> (usize, usize) {
        let fields = self.fields(line);
        let numbers = fields.iter().rev().take_while(|field| self.number(field).is_some()).count();
        if self.separator.is_none() || fields.len() < 2 || numbers + 1 < fields.len() {
            return (fields.len(), numbers);
        }
        let is_first_of_numbers = |(_, number): (&[u8], &[u8])| {
            number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')) && self.number(number).is_some()
        };
        match word_and_number(fields[0]).is_some_and(is_first_of_numbers) {
            true => (fields.len() + 1, numbers + 1),
            false => (fields.len(), numbers),
        }
    }

    /// Returns whether the first field is an integer and all others are fractions.
    fn begins_with_id(self, line: &[u8]) -> bool {
        let fields = self.fields(line);
        let is_id = |field: &&[u8]| bare(field).iter().all(u8::is_ascii_digit);
        let is_fraction = |field: &&[u8]| field.iter().any(|byte| matches!(byte, b'.' | b',' | b'e' | b'E'));
        fields.len() > 1 && fields.first().is_some_and(is_id) && fields[1..].iter().all(is_fraction)
    }

    fn fit(self, lines: &[&[u8]]) -> Fit {
        let shapes: Vec<(usize, usize)> = lines.iter().map(|line| self.shape(line)).collect();
        let has_names = shapes.len() > 1 && shapes[0].1 == 0;
        let rows = usize::from(has_names)..;
        let is_fraction = |line: &&[u8]| {
            let first = self.fields(line).into_iter().next().unwrap_or_default();
            self.separator.is_none() && line.contains(&b'\t')
                || first.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
                || self.has_decimal_commas && first.contains(&b',')
        };
        let are_numbers = shapes[rows.clone()].iter().all(|(fields, numbers)| fields == numbers && *fields > 0);
        let lines = &lines[rows];
        let are_ids = lines.iter().all(|line| self.begins_with_id(line));
        let is_nameless = !lines.is_empty() && are_numbers && !are_ids && lines.iter().all(is_fraction);
        let widths = shapes.iter().map(|&(fields, numbers)| match is_nameless {
            true => numbers,
            // A line has more numbers than other fields. If not, the separators are inside numbers.
            false if self.separator.is_some() && 2 * numbers < fields => 0,
            false => numbers.min(fields.saturating_sub(1)),
        });
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        widths.filter(|width| *width > 0).for_each(|width| *counts.entry(width).or_default() += 1);
        // The most frequent width is used; of equally frequent ones, the smallest.
        let most = counts.into_iter().rev().max_by_key(|(_, times)| *times);
        let (width, rows) = most.unwrap_or_default();
        Fit { style: self, width, rows, is_nameless }
    }
}

/// Returns a field without surrounding white space and quotes.
fn bare(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field)
}

/// Returns the text of a field between separators.
fn unquoted(field: &[u8]) -> Cow<'_, [u8]> {
    let field = bare(field);
    if !field.windows(2).any(|two| two == b"\"\"") {
        return field.into();
    }
    String::from_utf8_lossy(field).replace("\"\"", "\"").into_bytes().into()
}

/// Splits a field into a word and a number at its last space.
fn word_and_number(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let field = field.trim_ascii();
    let at = field.iter().rposition(is_blank)?;
    Some((trimmed(&field[..at]), &field[at + 1..]))
}

/// Splits a line at separators that are not within quotes.
fn delimited(line: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut fields = Vec::new();
    let (mut from, mut is_quoted) = (0, false);
    for (at, byte) in line.iter().enumerate() {
        match *byte {
            b'"' => is_quoted = !is_quoted,
            byte if byte == separator && !is_quoted => {
                fields.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    // An unclosed quote belongs to a word.
    if is_quoted {
        return line.split(|byte| *byte == separator).collect();
    }
    // Some programs end each line with a separator, after which there is no field.
    if fields.is_empty() || !line[from..].trim_ascii().is_empty() {
        fields.push(&line[from..]);
    }
    fields
}

/// Refuses lines whose commas may be either within numbers or between them.
fn check_commas(lines: &[&[u8]], fit: &Fit) -> Result<(), Refusal> {
    let Fit { style, width, .. } = *fit;
    let is_lone = style.has_decimal_commas && style.separator.is_none() && width == 1;
    if is_lone || style.separator == Some(b',') && are_halves(lines, fit) {
        let line = lines.iter().find(|line| style.has(line, width)).copied().unwrap_or_default();
        let found = format!(
            "commas that may be within numbers or between them, as in {}",
            quoted(&String::from_utf8_lossy(line))
        );
        let advice = "write numbers with a point, or put tabs or semicolons between them";
        return Err(Refusal::new(found, "lines that can be read in one way", advice));
    }
    Ok(())
}

/// Returns whether integers between commas look like the two parts of decimal fractions: every second integer has no
/// sign, and some of these have many digits.
fn are_halves(lines: &[&[u8]], fit: &Fit) -> bool {
    const MANY_DIGITS: usize = 3;
    let Fit { style, width, .. } = *fit;
    let mut has_many = false;
    if width == 1 {
        return lines.iter().filter(|line| style.has(line, width)).all(|line| {
            let fields = style.fields(line);
            let before = fields.len().checked_sub(2).and_then(|at| bare(fields[at]).last().copied());
            before.is_some_and(|byte| byte.is_ascii_digit())
                && bare(fields[fields.len() - 1]).iter().all(u8::is_ascii_digit)
        });
    }
    let are_whole = lines.iter().filter(|line| style.has(line, width)).all(|line| {
        let fields = style.fields(line);
        let numbers = fields[fields.len().saturating_sub(width)..].iter().enumerate();
        numbers.fold(true, |all, (at, field)| {
            let field = bare(field);
            let is_half = at % 2 == 1;
            has_many |= is_half && field.len() >= MANY_DIGITS;
            let digits = field.strip_prefix(b"-").filter(|_| !is_half).unwrap_or(field);
            all && digits.iter().all(u8::is_ascii_digit)
        })
    });
    width % 2 == 0 && are_whole && has_many
}

/// Returns whether the first line names the columns. It then has a field for each and no numbers, except those that
/// count the columns.
fn names_columns(lines: &[&[u8]], fit: &Fit) -> bool {
    let Fit { style, width, is_nameless, .. } = *fit;
    let [first, rows @ ..] = lines else { return false };
    let Some(row) = rows.iter().find(|line| style.has(line, width)) else { return false };
    let fields = style.fields(first);
    let (of_row, _) = style.shape(row);
    let numbers = fields.iter().rev().take_while(|field| style.number(field).is_some()).count();
    if numbers == 0 {
        return fields.len() == of_row || fields.len() + 1 == of_row || fields.len() == width;
    }
    let from = fields.len().saturating_sub(width);
    let leading = fields[..from].iter().map(|field| String::from_utf8_lossy(bare(field)).to_lowercase());
    let are_columns = leading.into_iter().all(|name| is_of_column(&name)) && (is_nameless || from <= of_row - width);
    let is_count =
        |start: usize| fields[from..].iter().zip(start..).all(|(field, n)| *bare(field) == *n.to_string().as_bytes());
    let is_fraction = style
        .fields(row)
        .iter()
        .any(|field| !bare(field).iter().all(u8::is_ascii_digit) && style.number(field).is_some());
    width > 1 && fields.len() >= width && are_columns && is_fraction && (is_count(0) || is_count(1))
}

fn is_of_column(name: &str) -> bool {
    WORD_COLUMNS.contains(&name) || NUMBER_COLUMNS.contains(&name)
}

/// Returns the place of the words in the rows, which come after the line of names if there is one.
fn word_place(lines: &[&[u8]], rows: &[&[u8]], fit: &Fit) -> WordPlace {
    let Fit { style, width, is_nameless, .. } = *fit;
    let first_fields = rows.iter().filter_map(|line| Some(bare(style.fields(line).first()?).to_owned()));
    let first_row = rows.first().map(|line| style.fields(line)).unwrap_or_default();
    if are_row_numbers(first_fields) && width > usize::from(is_nameless) {
        let others = &first_row;
        let is_number = others.iter().skip(1).all(|field| style.number(field).is_some());
        if is_number {
            return WordPlace::RowNumber;
        }
    }
    if is_nameless {
        return WordPlace::Nowhere;
    }
    let of = rows.iter().filter_map(|line| Some(style.split(line, width)?.0.len())).min().unwrap_or_default();
    if style.separator.is_none() || of < 2 {
        return WordPlace::First;
    }
    let names = lines.first().filter(|_| lines.len() > rows.len()).map(|line| style.fields(line)).unwrap_or_default();
    let named = names
        .iter()
        .take(of)
        .position(|name| WORD_COLUMNS.contains(&&*String::from_utf8_lossy(bare(name)).to_lowercase()));
    let is_text = |at: &usize| first_row.get(*at).is_some_and(|field| style.number(field).is_none());
    let at = named.or_else(|| (0..of).find(is_text)).unwrap_or_default();
    WordPlace::Field { at, of }
}

/// Returns whether the fields count the rows from 0 or 1.
fn are_row_numbers(mut fields: impl Iterator<Item = Vec<u8>>) -> bool {
    /// Smallest number of rows; fewer might be words.
    const LEAST: u64 = 3;
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<u64>().ok();
    let Some(first) = fields.next().and_then(|field| number(&field)).filter(|first| *first < 2) else { return false };
    let mut next = first;
    let counts = fields.all(|field| {
        next += 1;
        number(&field) == Some(next)
    });
    counts && next + 1 - first >= LEAST
}

/// Replaces a word in Base64 by the word itself.
fn decode(word: &mut Vec<u8>) {
    if let Some(decoded) = word.strip_prefix(BASE64).and_then(|text| data_encoding::BASE64.decode(text).ok()) {
        *word = decoded;
    }
}

/// Returns whether a sample is a text with vectors: at least half of its lines are rows.
pub(super) fn has_rows(sample: &[u8], is_whole: bool) -> bool {
    // The last number of the sample may be cut off.
    let cut = || sample.iter().rposition(|byte| matches!(byte, b'\n' | b' ' | b'\t' | b',' | b';'));
    let sample = if is_whole { sample } else { &sample[..cut().unwrap_or(sample.len())] };
    let lines = lines(sample, is_whole || !sample.contains(&b'\n'));
    let fit = best(&lines, |style| style.fit(&lines));
    fit.is_some_and(|fit| 2 * fit.rows >= lines.len())
}

/// Returns whether one of the first lines is a word and `width` numbers, with decimal points or commas.
pub(super) fn has_row(sample: &[u8], width: usize) -> bool {
    const LOOKED_AT: usize = 20;
    let is_row = |line: &[u8]| {
        let spaced = STYLES.iter().filter(|style| style.separator.is_none());
        spaced.filter_map(|style| style.word_of(line, width)).any(|word| !word.is_empty())
    };
    lines(sample, false).iter().take(LOOKED_AT).any(|line| is_row(line))
}
