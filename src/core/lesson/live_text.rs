//! Texts of a lesson, and the expressions within their Markdown: `{{ A[0]["apple1", "phone"] | .2 }}` is replaced by a
//! value that the kernel computes.
//!
//! Reading replaces each expression with a single character, its [`placeholder`], so that Markdown does not interpret
//! the stars and brackets of the expression. Braces in code and formulas are left as they are.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use attune_engine::code::Value;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::lesson::reading::text::markdown_options;

/// Greatest number of expressions in a text; the others remain as written.
pub const EXPRESSIONS_MAX: usize = 100;
/// Greatest length of an expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 400;
/// Greatest number of decimals that a format can ask for.
pub const DECIMALS_MAX: usize = 9;

/// Decimals of a fractional number whose expression names no format.
const DECIMALS: usize = 2;

/// The first placeholder. The range is for private use, so that no text has these characters for another purpose.
const FIRST_PLACEHOLDER: u32 = 0xF_0000;

/// A text of a lesson or of the learner. It is read as Markdown once, when something first asks for its content, and
/// all clones share the result.
#[derive(Clone, Default)]
pub struct LessonText(Arc<Written>);

#[derive(Default)]
struct Written {
    text: Arc<str>,
    read: OnceLock<ReadText>,
}

/// The content of a text.
struct ReadText {
    /// The Markdown, with a placeholder for each expression.
    markdown: String,
    /// The elements of the Markdown, each with its range of bytes.
    events: Vec<(Event<'static>, Range<usize>)>,
    expressions: Vec<LiveExpression>,
    /// Braces that were meant to enclose an expression and do not.
    flaws: Vec<Flaw>,
}

impl LessonText {
    /// Returns the text as written.
    pub fn written(&self) -> &Arc<str> {
        &self.0.text
    }

    fn read(&self) -> &ReadText {
        self.0.read.get_or_init(|| ReadText::of(&self.0.text))
    }

    /// Returns the elements of the Markdown, in which each expression is a [`placeholder`].
    pub fn events(&self) -> impl Iterator<Item = Event<'static>> + '_ {
        self.read().events.iter().map(|(event, _)| event.clone())
    }

    /// Returns the passages of plain text, without code and formulas. Each is extended by at least the `before` bytes
    /// of Markdown that precede it, and comes with the byte at which the extended passage begins.
    pub(crate) fn words(&self, before: usize) -> impl Iterator<Item = (usize, &str)> {
        let ReadText { markdown, events, .. } = self.read();
        let words = events.iter().filter(|(event, _)| matches!(event, Event::Text(_)));
        words.map(move |(_, at)| {
            let start = markdown.floor_char_boundary(at.start.saturating_sub(before));
            (start, &markdown[start..at.end])
        })
    }

    /// Returns the expressions. A text without opening braces has none, so it is not parsed.
    pub fn expressions(&self) -> &[LiveExpression] {
        if self.contains("{{") { &self.read().expressions } else { &[] }
    }

    /// Returns the text as written, with each expression replaced by its value.
    pub fn with_values(&self, value: impl Fn(&LiveExpression) -> String) -> String {
        let mut filled = String::new();
        let mut from = 0;
        for expression in self.expressions() {
            filled.push_str(&self[from..expression.at.start]);
            filled.push_str(&value(expression));
            from = expression.at.end;
        }
        filled.push_str(&self[from..]);
        filled
    }

    pub fn flaws(&self) -> &[Flaw] {
        &self.read().flaws
    }

    /// Returns the addresses of the links.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.read().events.iter().filter_map(|(event, _)| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(&**dest_url),
            _ => None,
        })
    }
}

impl Deref for LessonText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl From<Arc<str>> for LessonText {
    fn from(text: Arc<str>) -> Self {
        Self(Arc::new(Written { text, read: OnceLock::new() }))
    }
}

impl From<&str> for LessonText {
    fn from(text: &str) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl From<String> for LessonText {
    fn from(text: String) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl PartialEq for LessonText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text == other.0.text
    }
}

impl Eq for LessonText {}

impl fmt::Debug for LessonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.text, f)
    }
}

impl fmt::Display for LessonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LiveExpression {
    /// The code, without its format.
    pub source: Arc<str>,
    pub format: NumberFormat,
    /// The expression's bytes in the text as written, including the braces.
    pub at: Range<usize>,
}

impl LiveExpression {
    /// Returns a value as the text shows it.
    pub fn written(&self, value: &Value) -> String {
        match value {
            Value::Number { value, is_whole } => self.format.number(*value, *is_whole),
            Value::Word(word) => word.to_string(),
        }
    }
}

/// A problem with braces, in words, and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub at: Range<usize>,
    pub words: String,
    pub expected: String,
}

/// Returns the placeholder of the expression with this index.
pub fn placeholder(index: usize) -> char {
    u32::try_from(index).ok().and_then(|index| char::from_u32(FIRST_PLACEHOLDER + index)).unwrap_or('\u{fffd}')
}

/// Returns the index of the expression for which a character stands, or `None` if it is no placeholder.
pub fn placed(c: char) -> Option<usize> {
    let index = (c as u32).checked_sub(FIRST_PLACEHOLDER)? as usize;
    (index < EXPRESSIONS_MAX).then_some(index)
}

/// Replaces each placeholder of a text with the value of its expression.
pub fn filled(text: &str, values: &[String]) -> String {
    let mut filled = String::with_capacity(text.len());
    for c in text.chars() {
        match placed(c).and_then(|index| values.get(index)) {
            Some(value) => filled.push_str(value),
            None => filled.push(c),
        }
    }
    filled
}

impl ReadText {
    fn of(text: &str) -> Self {
        if !text.contains("{{") && !text.contains(is_placeholder) {
            return Self::parsed(text.to_owned(), Vec::new(), Vec::new());
        }
        let mut reader = Reader::of(text);
        reader.read();
        let Reader { markdown, expressions, flaws, .. } = reader;
        Self::parsed(markdown, expressions, flaws).without_hidden(text)
    }

    fn parsed(markdown: String, expressions: Vec<LiveExpression>, flaws: Vec<Flaw>) -> Self {
        let events = Parser::new_ext(&markdown, markdown_options()).into_offset_iter();
        let events = events.map(|(event, at)| (event.into_static(), at)).collect();
        Self { markdown, events, expressions, flaws }
    }

    /// Restores the source of expressions that are not in visible text but in an address or the name of a picture.
    fn without_hidden(mut self, text: &str) -> Self {
        let mut is_shown = vec![false; self.expressions.len()];
        let mut images = 0_usize;
        for (event, _) in &self.events {
            match event {
                Event::Start(Tag::Image { .. }) => images += 1,
                Event::End(TagEnd::Image) => images = images.saturating_sub(1),
                Event::Text(words) if images == 0 => {
                    for index in words.chars().filter_map(placed) {
                        if let Some(shown) = is_shown.get_mut(index) {
                            *shown = true;
                        }
                    }
                }
                _ => {}
            }
        }
        if !is_shown.contains(&false) {
            return self;
        }
        let mut kept = Vec::new();
        let mut markdown = String::with_capacity(text.len());
        for c in self.markdown.chars() {
            match placed(c).and_then(|index| Some((index, self.expressions.get(index)?))) {
                Some((index, expression)) if is_shown[index] => {
                    markdown.push(placeholder(kept.len()));
                    kept.push(expression.clone());
                }
                Some((_, expression)) => markdown.push_str(&text[expression.at.clone()]),
                None => markdown.push(c),
            }
        }
        for (expression, _) in self.expressions.iter().zip(is_shown).filter(|(_, is_shown)| !is_shown) {
            self.flaws.push(Flaw {
                at: expression.at.clone(),
                words: "an expression in an address or in the name of a picture".to_owned(),
                expected: "an expression in the text".to_owned(),
            });
        }
        Self::parsed(markdown, kept, self.flaws)
    }
}

fn is_placeholder(c: char) -> bool {
    placed(c).is_some()
}

struct Reader<'a> {
    text: &'a str,
    /// The Markdown that has been read, up to byte `end` of the text.
    markdown: String,
    end: usize,
    expressions: Vec<LiveExpression>,
    flaws: Vec<Flaw>,
    /// Number of bytes that were parsed or searched; it is proportional to the length of the text, not to its square.
    work: usize,
}

impl<'a> Reader<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            markdown: String::with_capacity(text.len()),
            end: 0,
            expressions: Vec::new(),
            flaws: Vec::new(),
            work: 0,
        }
    }

    fn read(&mut self) {
        for part in self.parts() {
            self.read_part(part);
        }
        self.copy_up_to(self.text.len());
    }

    /// Returns parts of the text that no expression crosses, since none crosses a blank line. If an expression changes
    /// its Markdown, only its own part has to be parsed again.
    fn parts(&mut self) -> Vec<Range<usize>> {
        self.work += self.text.len();
        let (mut depth, mut starts) = (0_usize, vec![0]);
        for (event, range) in Parser::new_ext(self.text, markdown_options()).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    // An item of a list parses alone in the same way as in its list.
                    let is_whole = depth == 0 || depth == 1 && tag == Tag::Item;
                    let line = self.text[..range.start].rfind('\n').map_or(0, |end| end + 1);
                    if is_whole && line > 0 && follows_blank_line(self.text, line) {
                        starts.push(line);
                    }
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        let ends = starts.iter().skip(1).copied().chain([self.text.len()]);
        starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    fn read_part(&mut self, part: Range<usize>) {
        if !self.text[part.clone()].contains("{{") {
            return;
        }
        self.copy_up_to(part.start);
        let begin = self.markdown.len();
        let mut still = self.still(begin, part.end);
        let mut from = self.end;
        while let Some(found) = self.text.get(from..part.end).and_then(|rest| rest.find("{{")) {
            let open = from + found;
            // The ranges are in the order of the text.
            let next = still.partition_point(|still| still.end <= open);
            if let Some(still) = still.get(next).filter(|still| still.contains(&open)) {
                from = still.end.max(open + 1);
                continue;
            }
            from = open + OPEN;
            if is_escaped(self.text, open) {
                continue;
            }
            match self.expression(open) {
                Ok(expression) => {
                    self.copy_up_to(open);
                    self.markdown.push(placeholder(self.expressions.len()));
                    self.end = expression.at.end;
                    from = self.end;
                    let changes_markdown = self.text[expression.at.clone()].contains(['`', '$', '<', '\\', '\n']);
                    self.expressions.push(expression);
                    // The ranges may be others now: a backtick in the expression, for example, did not begin code.
                    if changes_markdown {
                        still = self.still(begin, part.end);
                    }
                }
                Err(flaw) => {
                    from = from.max(flaw.at.end);
                    self.flaws.push(flaw);
                }
            }
        }
    }

    fn copy_up_to(&mut self, end: usize) {
        let end = end.max(self.end);
        // A character of the text that equals a placeholder would be read as an expression.
        self.markdown.extend(self.text[self.end..end].chars().map(|c| if is_placeholder(c) { '\u{fffd}' } else { c }));
        self.end = end;
    }

    /// Returns the ranges of code, formulas and tags in the rest of a part, in which braces are not expressions. The
    /// part begins at byte `part` of the Markdown that has been read, and ends at byte `end` of the text.
    fn still(&mut self, part: usize, end: usize) -> Vec<Range<usize>> {
        let rest = self.text.get(self.end..end).unwrap_or_default();
        let read = &self.markdown[part..];
        let begin = read.len();
        let written = format!("{read}{rest}");
        self.work += written.len();
        let is_still = |event: &Event| {
            matches!(
                event,
                Event::Code(_)
                    | Event::InlineMath(_)
                    | Event::DisplayMath(_)
                    | Event::InlineHtml(_)
                    | Event::Html(_)
                    | Event::Start(Tag::CodeBlock(_))
            )
        };
        let events = Parser::new_ext(&written, markdown_options()).into_offset_iter();
        let ranges = events.filter(|(event, _)| is_still(event)).map(|(_, range)| range);
        let in_rest = ranges.filter(|range| range.end > begin);
        in_rest.map(|range| range.start.max(begin) - begin + self.end..range.end - begin + self.end).collect()
    }

    fn expression(&mut self, open: usize) -> Result<LiveExpression, Flaw> {
        let inner = open + OPEN;
        let flaw = |end: usize, words: &str, expected: &str| Flaw {
            at: open..end,
            words: words.to_owned(),
            expected: expected.to_owned(),
        };
        let within = self.text.ceil_char_boundary(inner + SEARCHED_MAX);
        let searched = &self.text[inner..within];
        let close = end_of(searched);
        let (Ok(stop) | Err(stop)) = close;
        self.work += stop;
        let Ok(close) = close else {
            let line = searched.find('\n').map_or(within, |end| inner + end);
            let is_long = within < self.text.len() && stop == searched.len();
            let words = if is_long {
                format!("an opening {{{{ with no }}}} in the next {SEARCHED_MAX} bytes")
            } else {
                "an opening {{ that no }} closes in its paragraph".to_owned()
            };
            return Err(flaw(line, &words, "{{ expression }}, or `{{` as code"));
        };
        let written = &self.text[inner..inner + close];
        let end = inner + close + OPEN;
        let (source, format) = split_format(written).map_err(|words| {
            let formats = ".2 (decimals), .0% (a percentage) or +.2 (always with a sign)";
            flaw(end, &words, &format!("{formats}, with at most {DECIMALS_MAX} decimals"))
        })?;
        if source.is_empty() {
            return Err(flaw(end, "nothing within {{ }}", "an expression, such as {{ A[0][1, 2] }}"));
        }
        if source.len() > EXPRESSION_BYTES_MAX {
            let words = format!("an expression of {} bytes", source.len());
            let most = format!("at most {EXPRESSION_BYTES_MAX}; compute it in a cell above and use the variable");
            return Err(flaw(end, &words, &most));
        }
        if self.expressions.len() == EXPRESSIONS_MAX {
            let most = format!("at most {EXPRESSIONS_MAX}; split the text");
            return Err(flaw(end, "more expressions than a text may have", &most));
        }
        Ok(LiveExpression { source: source.into(), format, at: open..end })
    }
}

/// Length of the opening braces.
const OPEN: usize = "{{".len();

/// Number of bytes after the opening braces within which the closing braces must be.
const SEARCHED_MAX: usize = 4 * EXPRESSION_BYTES_MAX;

/// Returns whether the line before the one that begins at `line` is blank.
fn follows_blank_line(text: &str, line: usize) -> bool {
    text[..line].lines().next_back().is_some_and(|before| before.trim().is_empty())
}

/// Returns whether a backslash escapes the character at `at`.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Finds the closing braces of the expression whose opening braces are just before `text`; strings and nested braces
/// are skipped. The error is the byte at which the search ended.
fn end_of(text: &str) -> Result<usize, usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            // A blank line ends the paragraph.
            (_, '\n') if text[at + 1..].lines().next().is_some_and(|line| line.trim().is_empty()) => return Err(at),
            (Some(_), '\\') => _ = chars.next(),
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth > 0 => depth -= 1,
            (None, '}') if text[at..].starts_with("}}") => return Ok(at),
            _ => {}
        }
    }
    Err(text.len())
}

/// Splits an expression into the code before the last `|` and the format after it.
fn split_format(written: &str) -> Result<(&str, NumberFormat), String> {
    let whole = (written.trim(), NumberFormat::default());
    let Some((source, format)) = written.rsplit_once('|').filter(|(source, _)| !source.ends_with('|')) else {
        return Ok(whole);
    };
    let format = format.trim();
    if let Some(format) = NumberFormat::read(format) {
        return Ok((source.trim(), format));
    }
    // No code begins with a point or a percent sign, so this must be a format.
    if format.starts_with(['.', '%']) || format.starts_with("+.") {
        return Err(format!("{format} is not a format"));
    }
    Ok(whole)
}

/// The format of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NumberFormat {
    /// The number of decimals; `None` for two decimals of a fractional number and none of a whole number.
    decimals: Option<usize>,
    is_percentage: bool,
    has_sign: bool,
}

impl NumberFormat {
    fn read(written: &str) -> Option<Self> {
        let (has_sign, rest) = written.strip_prefix('+').map_or((false, written), |rest| (true, rest));
        let (is_percentage, rest) = rest.strip_suffix('%').map_or((false, rest), |rest| (true, rest));
        let decimals = rest.strip_prefix('.')?;
        if decimals.is_empty() || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let decimals = decimals.parse().ok().filter(|decimals| *decimals <= DECIMALS_MAX)?;
        Some(Self { decimals: Some(decimals), is_percentage, has_sign })
    }

    /// Formats a number as the text shows it; `is_whole` is true for an integer of the code.
    pub fn number(self, value: f64, is_whole: bool) -> String {
        if value.is_nan() {
            return "NaN".to_owned();
        }
        let shown = if self.is_percentage { value * 100.0 } else { value };
        let decimals = self.decimals.unwrap_or(if is_whole { 0 } else { DECIMALS });
        let digits = digits(shown.abs(), decimals);
        // A number that rounds to zero has no sign.
        let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        let sign = match shown.is_sign_negative() {
            _ if is_zero => "",
            true => "−",
            false if self.has_sign => "+",
            false => "",
        };
        format!("{sign}{digits}{}", if self.is_percentage { "\u{a0}%" } else { "" })
    }
}

impl fmt::Display for NumberFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(decimals) = self.decimals else { return Ok(()) };
        let sign = if self.has_sign { "+" } else { "" };
        write!(f, "{sign}.{decimals}{}", if self.is_percentage { "%" } else { "" })
    }
}

/// Returns the digits of a number that is not negative; a number with too many digits is written with a power of ten.
fn digits(value: f64, decimals: usize) -> String {
    /// The first number with 16 digits before its point. An `f64` holds about 16 digits, so more of them would mean
    /// nothing.
    const LONG: f64 = 1e15;
    if value.is_infinite() {
        return "∞".to_owned();
    }
    if value < LONG {
        return format!("{value:.decimals$}");
    }
    let written = format!("{value:.decimals$e}");
    let (digits, power) = written.split_once('e').unwrap_or((&written, "0"));
    let power: String = power.chars().map(raised).collect();
    format!("{digits}·10{power}")
}

/// Returns a digit in superscript.
fn raised(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).and_then(|digit| RAISED.get(digit as usize)).copied().unwrap_or(digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the sources with their formats, in order, and the flaws.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let read = ReadText::of(text);
        let one = |e: &LiveExpression| match e.format.to_string() {
            format if format.is_empty() => e.source.to_string(),
            format => format!("{} as {format}", e.source),
        };
        let flawed = |flaw: &Flaw| format!("{}: {}", &text[flaw.at.clone()], flaw.words);
        (read.expressions.iter().map(one).collect(), read.flaws.iter().map(flawed).collect())
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let (found, flaws) = read(text);
        assert_eq!(found, expected, "{text}");
        assert_eq!(flaws, [""; 0], "{text}");
    }

    #[test]
    fn expressions_and_their_formats() {
        check("{{ a }} and {{b|.3}}, {{ c | +.2 }} {{ d | .0% }}", &["a", "b as .3", "c as +.2", "d as .0%"]);
        check(
            r#"*{{ A[0]["apple1", "phone"] }}* of **{{ x * y * z }}**"#,
            &[r#"A[0]["apple1", "phone"]"#, "x * y * z"],
        );
        check("{{ a || b }} {{ a | b }} {{ #{a: 1}.a }} {{ \"}}\" }}", &["a || b", "a | b", "#{a: 1}.a", "\"}}\""]);
        check("{{ a\n+ b }}", &["a\n+ b"]);
        check("| a | b |\n|---|---|\n| {{ x | .3 }} | {{ y[\"|\"] }} |", &["x as .3", "y[\"|\"]"]);
    }

    #[test]
    fn code_and_formulas_keep_their_braces() {
        check("`{{ a }}` ``{{ ` }}`` $\\frac{{a}}{b}$ $$x^{{2}}$$ and {{ b }}", &["b"]);
        check("```\n{{ a }}\n```\n\n    {{ b }}\n\n\\{{ c }} and {{ d }}", &["d"]);
        check("{{ a[`x`] }} then `{{ b }}` and {{ \"$\" }} for $5 and {{ c }}", &["a[`x`]", "\"$\"", "c"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(read("a {{ b\n\nc }}").1, ["{{ b: an opening {{ that no }} closes in its paragraph"]);
        assert_eq!(read("{{ }} {{ b }}"), (vec!["b".to_owned()], vec!["{{ }}: nothing within {{ }}".to_owned()]));
        assert_eq!(read("{{ b | .2f }}").1, ["{{ b | .2f }}: .2f is not a format"]);
        assert_eq!(read("{{ b | .99 }}").1, ["{{ b | .99 }}: .99 is not a format"]);
        let (found, flaws) = read("[x](attune:{{a}}) ![{{b}}](c.png) {{ c }}");
        assert_eq!((found.len(), flaws.len()), (1, 2), "{found:?} {flaws:?}");
        let many = "{{ a }} ".repeat(EXPRESSIONS_MAX + 1);
        assert_eq!(read(&many).0.len(), EXPRESSIONS_MAX);
        assert_eq!(read(&many).1.len(), 1);
        let limits = [
            (many, EXPRESSIONS_MAX),
            (format!("{{{{ {} }}}}", "a".repeat(EXPRESSION_BYTES_MAX + 1)), EXPRESSION_BYTES_MAX),
            (format!("{{{{ a | .{} }}}}", DECIMALS_MAX + 1), DECIMALS_MAX),
        ];
        for (text, most) in limits {
            let expected = &ReadText::of(&text).flaws[0].expected;
            assert!(expected.contains(&format!("at most {most}")), "{expected}");
        }
        let text = LessonText::from("é[b](c)");
        assert_eq!(text.words(2).map(|(_, words)| words).collect::<Vec<_>>(), ["é", "é[b"], "no byte within a letter");
    }

    #[test]
    fn numbers_are_rounded_as_the_format_says() {
        let shown = |format: &str, value: f64, is_whole| {
            let format =
                if format.is_empty() { NumberFormat::default() } else { NumberFormat::read(format).expect(format) };
            format.number(value, is_whole)
        };
        assert_eq!(shown("", 0.7149, false), "0.71");
        assert_eq!(shown("", 3.0, true), "3");
        assert_eq!(shown("", 3.0, false), "3.00");
        assert_eq!(shown("", -0.001, false), "0.00");
        assert_eq!(shown(".3", -0.5, false), "−0.500");
        assert_eq!(shown(".0%", 0.361, false), "36\u{a0}%");
        assert_eq!(shown("+.2", 0.5, false), "+0.50");
        assert_eq!(shown("+.2", 0.0, false), "0.00");
        assert_eq!(shown(".1", f64::NEG_INFINITY, false), "−∞");
        assert_eq!(shown("", f64::NAN, false), "NaN");
        assert_eq!(shown("", 999_999_999_999_999.0, true), "999999999999999");
        assert_eq!(shown(".9", -1e308, false), "−1.000000000·10³⁰⁸");
        assert_eq!(shown("+.0%", 2.5e20, false), "+2·10²²\u{a0}%");
    }

    #[test]
    fn reading_takes_work_in_proportion_to_the_text() {
        let work = |text: &str| {
            let mut reader = Reader::of(text);
            reader.read();
            (reader.work, reader.expressions.len())
        };
        const PARTS: usize = 2_000;
        for part in ["{{ `a` }} and `{{`, {{ b }}\n\n", "{{ without\n\n", "- {{ \"$\" }}\n- {{ c\n\n", "`{{` $x$ "] {
            let text = part.repeat(PARTS);
            let (done, _) = work(&text);
            assert!(done < 4 * text.len(), "{done} for {} of {part:?}", text.len());
        }
        // Each paragraph has opening braces and a quote. No search may run to the end of the text.
        let (done, _) = work(&"{{ '\n".repeat(PARTS));
        assert!(done < 3 * PARTS * SEARCHED_MAX, "{done}");
        assert_eq!(work(&"{{ `a` }}\n\n".repeat(PARTS)).1, EXPRESSIONS_MAX);
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z ]{0,4}",
            proptest::sample::select(vec![
                "{{",
                "}}",
                "{",
                "}",
                "`",
                "``",
                "```\n",
                "$",
                "$$",
                "*",
                "_",
                "[",
                "]",
                "](",
                ")",
                "!",
                "|",
                "\n",
                "\n\n",
                "> ",
                "- ",
                "    ",
                "\\",
                "<",
                ">",
                "<b>",
                "\"",
                "'",
                "#",
                "{{ a }}",
                "{{ b | .2 }}",
                "{{ \"}}\" }}",
                "\u{f0000}",
                "\u{f0001}",
                "é",
                "\u{301}",
                "|-|",
                "&amp;",
                "~~",
            ])
            .prop_map(str::to_owned),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_of_a_hostile_text_is_lost(text in hostile()) {
            let read = ReadText::of(&text);
            let plain: String = text.chars().map(|c| if is_placeholder(c) { '\u{fffd}' } else { c }).collect();
            let written = |expression: &LiveExpression| {
                let written = &text[expression.at.clone()];
                assert!(written.starts_with("{{") && written.ends_with("}}"));
                written.chars().map(|c| if is_placeholder(c) { '\u{fffd}' } else { c }).collect()
            };
            let written: Vec<String> = read.expressions.iter().map(written).collect();
            prop_assert_eq!(filled(&read.markdown, &written), plain);
            // Each expression has its placeholder in the visible text.
            let mut shown: Vec<usize> = Vec::new();
            for event in Parser::new_ext(&read.markdown, markdown_options()) {
                match event {
                    Event::Text(words) => shown.extend(words.chars().filter_map(placed)),
                    Event::Code(words) | Event::InlineMath(words) | Event::DisplayMath(words) => {
                        prop_assert!(!words.contains(is_placeholder), "{words}");
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(shown, (0..read.expressions.len()).collect::<Vec<_>>());
        }
    }
}
