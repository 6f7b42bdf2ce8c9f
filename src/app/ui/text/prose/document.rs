//! Markdown parsed into a document of blocks and runs, in which each formula is typeset once. Text that looks like a
//! malformed formula is marked, because Markdown silently reads `$x_{i$` as words.

use std::ops::Range;
use std::sync::Arc;

use attune_core::lesson::live_text::{LessonText, LiveExpression, placed};
use attune_engine::code::editor::highlight::{Span, SpanKind, highlight};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, Tag, TagEnd};

use super::formula::Maths;

/// The largest part of a cell's Markdown that is shown, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 * 1024;
/// The largest depth of nested lists and quotes. Deeper content joins the last level.
const NESTING_MAX: usize = 8;
/// The largest number of formulas in a cell.
const FORMULAS_MAX: usize = 300;
const COLUMNS_MAX: usize = 24;
const ROWS_MAX: usize = 500;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProseDocument {
    pub blocks: Vec<TextBlock>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TextBlock {
    Paragraph(Vec<TextRun>),
    /// A heading; level 1 is the largest.
    Heading(usize, Vec<TextRun>),
    Code {
        code: String,
        /// The tokens of the code, if it is in the language of code cells.
        spans: Arc<[Span]>,
    },
    Quote(Vec<TextBlock>),
    List {
        /// The first number; `None` for bullets.
        start: Option<u64>,
        items: Vec<Vec<TextBlock>>,
    },
    Table(TextTable),
    Formula(Arc<Maths>),
    Rule,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    pub columns: Vec<Alignment>,
    /// The rows of cells, the heading first.
    pub rows: Vec<Vec<Vec<TextRun>>>,
}

/// A part of a line of text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextRun {
    Text(String, Style),
    /// An expression whose value the kernel computes.
    Live(Arc<LiveExpression>, Style),
    Formula(Arc<Maths>),
    Image {
        path: Arc<str>,
        alt: String,
    },
    Task(bool),
    Break,
}

/// A mention of a glossary term in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermInText {
    /// The term's index in the glossary.
    pub term: usize,
    /// Whether this is the first mention in a section, of a term that this lesson or an earlier one introduces. A first
    /// mention is underlined to show that it can be looked up. In a text without a section heading, only bold terms
    /// count as first mentions.
    pub is_first: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Style {
    pub strong: bool,
    pub emphasis: bool,
    pub strike: bool,
    pub code: bool,
    pub link: Option<Arc<str>>,
    /// The reason why the text is not a formula, although it looks like one.
    pub flaw: Option<Arc<str>>,
    /// The glossary term that the text names.
    pub named: Option<TermInText>,
}

impl ProseDocument {
    pub fn read(whole: &LessonText) -> ProseDocument {
        let shown = &whole[..whole.floor_char_boundary(SOURCE_BYTES_MAX)];
        let text = if shown.len() < whole.len() { shown.into() } else { whole.clone() };
        let expressions: Vec<_> = text.expressions().iter().cloned().map(Arc::new).collect();
        let mut reader = Reader {
            events: &mut text.events(),
            expressions: &expressions,
            styles: vec![Style::default()],
            line: Vec::new(),
            image: None,
            formulas: 0,
        };
        let mut blocks = reader.blocks(0);
        if shown.len() < whole.len() {
            let rest = format!("… and {} bytes more, which are not shown.", whole.len() - shown.len());
            blocks.push(TextBlock::Paragraph(vec![TextRun::Text(rest, Style { emphasis: true, ..Style::default() })]));
        }
        ProseDocument { blocks }
    }
}

struct Reader<'a> {
    events: &'a mut dyn Iterator<Item = Event<'static>>,
    expressions: &'a [Arc<LiveExpression>],
    /// The styles of the open spans, the innermost last; never empty.
    styles: Vec<Style>,
    /// The runs that do not belong to a block yet.
    line: Vec<TextRun>,
    /// The picture whose alternative text is being read.
    image: Option<OpenImage>,
    formulas: usize,
}

/// A picture whose end has not been read.
struct OpenImage {
    path: Arc<str>,
    alt: String,
    /// The number of open pictures within its alternative text.
    depth: usize,
}

impl Reader<'_> {
    /// Reads blocks up to the end of the enclosing container.
    fn blocks(&mut self, depth: usize) -> Vec<TextBlock> {
        let mut blocks = Vec::new();
        // The number of open containers that are nested too deeply, whose content joins this one.
        let mut joined = 0;
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(Tag::Paragraph | Tag::HtmlBlock) => self.close(&mut blocks),
                Event::End(TagEnd::Paragraph | TagEnd::HtmlBlock) => self.close(&mut blocks),
                Event::Start(Tag::Heading { .. }) => self.close(&mut blocks),
                Event::End(TagEnd::Heading(level)) => {
                    blocks.push(TextBlock::Heading(level as usize, self.take_line()));
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    self.close(&mut blocks);
                    blocks.push(self.code(&kind));
                }
                Event::Start(Tag::BlockQuote(_)) if depth < NESTING_MAX => {
                    self.close(&mut blocks);
                    blocks.push(TextBlock::Quote(self.blocks(depth + 1)));
                }
                Event::Start(Tag::List(start)) if depth < NESTING_MAX => {
                    self.close(&mut blocks);
                    blocks.push(TextBlock::List { start, items: self.items(depth + 1) });
                }
                Event::Start(Tag::Table(columns)) => {
                    self.close(&mut blocks);
                    blocks.push(TextBlock::Table(self.table(columns)));
                }
                Event::Rule => {
                    self.close(&mut blocks);
                    blocks.push(TextBlock::Rule);
                }
                Event::DisplayMath(source) => {
                    self.close(&mut blocks);
                    blocks.push(TextBlock::Formula(self.formula(&source, true)));
                }
                event if is_span(&event) => self.span(event),
                Event::Start(_) => {
                    self.close(&mut blocks);
                    joined += 1;
                }
                Event::End(_) if joined > 0 => {
                    self.close(&mut blocks);
                    joined -= 1;
                }
                Event::End(_) => break,
                event => self.span(event),
            }
        }
        self.close(&mut blocks);
        blocks
    }

    fn items(&mut self, depth: usize) -> Vec<Vec<TextBlock>> {
        let mut items = Vec::new();
        while let Some(Event::Start(_)) = self.events.next() {
            items.push(self.blocks(depth));
        }
        items
    }

    fn take_line(&mut self) -> Vec<TextRun> {
        with_flaws(std::mem::take(&mut self.line))
    }

    fn code(&mut self, kind: &CodeBlockKind) -> TextBlock {
        let mut code = String::new();
        while let Some(Event::Text(text)) = self.events.next() {
            code.push_str(&text);
        }
        code.truncate(code.trim_end().len());
        let spans = highlight(&code);
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.trim(),
            CodeBlockKind::Indented => "",
        };
        let is_own = match language {
            "" => looks_like_code(&code, &spans),
            language => OWN_LANGUAGE.contains(&language),
        };
        TextBlock::Code { code, spans: if is_own { spans.into() } else { Arc::from([]) } }
    }

    fn table(&mut self, mut columns: Vec<Alignment>) -> TextTable {
        columns.truncate(COLUMNS_MAX);
        let mut table = TextTable { columns, rows: Vec::new() };
        let mut row = Vec::new();
        while let Some(event) = self.events.next() {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => row.clear(),
                Event::Start(Tag::TableCell) => self.line.clear(),
                Event::End(TagEnd::TableCell) => {
                    let cell = self.take_line();
                    if row.len() < table.columns.len() {
                        row.push(cell);
                    }
                }
                Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                    if table.rows.len() < ROWS_MAX {
                        table.rows.push(std::mem::take(&mut row));
                    }
                }
                Event::End(TagEnd::Table) => break,
                event => self.span(event),
            }
        }
        table
    }

    /// Reads an event within a line.
    fn span(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(TagEnd::Image) => self.end_image(),
            Event::End(_) if self.styles.len() > 1 => {
                self.styles.pop();
            }
            Event::Text(text) => self.text(&text, false),
            Event::Code(text) => self.text(&text, true),
            Event::InlineHtml(tag) if tag.starts_with("<br") => self.line.push(TextRun::Break),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, false),
            Event::SoftBreak => self.text(&CowStr::Borrowed(" "), false),
            Event::HardBreak => self.line.push(TextRun::Break),
            Event::InlineMath(source) => {
                let formula = self.formula(&source, false);
                self.line.push(TextRun::Formula(formula));
            }
            Event::DisplayMath(source) => {
                let formula = self.formula(&source, true);
                self.line.push(TextRun::Formula(formula));
            }
            Event::TaskListMarker(done) => self.line.push(TextRun::Task(done)),
            Event::End(_) | Event::FootnoteReference(_) | Event::Rule => {}
        }
    }

    fn open(&mut self, tag: Tag) {
        let mut style = self.styles.last().cloned().unwrap_or_default();
        match tag {
            Tag::Emphasis => style.emphasis = true,
            Tag::Strong => style.strong = true,
            Tag::Strikethrough => style.strike = true,
            Tag::Link { dest_url, .. } => style.link = Some(Arc::from(&*dest_url)),
            Tag::Image { dest_url, .. } => {
                match &mut self.image {
                    // A picture in another picture's alternative text is read as text.
                    Some(outer) => outer.depth += 1,
                    None => self.image = Some(OpenImage { path: Arc::from(&*dest_url), alt: String::new(), depth: 0 }),
                }
                return;
            }
            _ => {}
        }
        self.styles.push(style);
    }

    /// Ends the picture, or one within its alternative text.
    fn end_image(&mut self) {
        match self.image.take() {
            Some(OpenImage { depth: 0, path, alt }) => self.line.push(TextRun::Image { path, alt }),
            outer => self.image = outer.map(|outer| OpenImage { depth: outer.depth - 1, ..outer }),
        }
    }

    fn text(&mut self, text: &str, code: bool) {
        if let Some(image) = &mut self.image {
            image.alt.push_str(text);
            return;
        }
        let style = Style { code, ..self.styles.last().cloned().unwrap_or_default() };
        let mut plain = text;
        while let Some((at, index)) = plain.char_indices().find_map(|(at, c)| Some((at, placed(c)?))) {
            let after = plain[at..].chars().next().map_or(0, char::len_utf8);
            self.plain(&plain[..at], &style);
            if let Some(expression) = self.expressions.get(index) {
                self.line.push(TextRun::Live(expression.clone(), style.clone()));
            }
            plain = &plain[at + after..];
        }
        self.plain(plain, &style);
    }

    fn plain(&mut self, text: &str, style: &Style) {
        match self.line.last_mut() {
            _ if text.is_empty() => {}
            Some(TextRun::Text(before, of_before)) if of_before == style => before.push_str(text),
            _ => self.line.push(TextRun::Text(text.to_owned(), style.clone())),
        }
    }

    fn formula(&mut self, source: &str, display: bool) -> Arc<Maths> {
        self.formulas += 1;
        Arc::new(if self.formulas > FORMULAS_MAX {
            Maths::refused(source, format!("one cell shows {FORMULAS_MAX} formulas at most"))
        } else {
            Maths::typeset(source, display)
        })
    }

    fn close(&mut self, blocks: &mut Vec<TextBlock>) {
        let blank = |run: &TextRun| matches!(run, TextRun::Text(text, _) if text.trim().is_empty());
        let line = self.take_line();
        if !line.iter().all(blank) {
            blocks.push(TextBlock::Paragraph(line));
        }
    }
}

/// The language names of code fences that mean the language of code cells.
const OWN_LANGUAGE: [&str; 2] = ["rhai", "attune"];

/// Returns whether the code has an assignment, a matrix product or a call, and its brackets match.
fn looks_like_code(code: &str, spans: &[Span]) -> bool {
    let text = |span: &Span| &code[span.range.clone()];
    let does = spans.iter().any(|span| span.kind == SpanKind::Operator && matches!(text(span), "=" | "@"));
    let calls = spans.windows(2).any(|pair| {
        pair[0].kind == SpanKind::Name && text(&pair[1]) == "(" && pair[0].range.end == pair[1].range.start
    });
    (does || calls) && !spans.iter().any(|span| span.kind == SpanKind::Unmatched)
}

/// Returns whether an event starts or ends emphasis, a link or a picture. All other tags are blocks.
fn is_span(event: &Event) -> bool {
    match event {
        Event::Start(tag) => is_span_end(&tag.to_end()),
        Event::End(end) => is_span_end(end),
        _ => false,
    }
}

fn is_span_end(end: &TagEnd) -> bool {
    matches!(end, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// Splits runs so that each malformed formula becomes a run of its own, with the reason.
fn with_flaws(runs: Vec<TextRun>) -> Vec<TextRun> {
    let mut checked = Vec::with_capacity(runs.len());
    for run in runs {
        match run {
            TextRun::Text(text, style) if !style.code && text.contains('$') => split(&text, &style, &mut checked),
            run => checked.push(run),
        }
    }
    checked
}

fn split(text: &str, style: &Style, out: &mut Vec<TextRun>) {
    let mut push = |range: Range<usize>, flaw: Option<Arc<str>>| {
        if !range.is_empty() {
            out.push(TextRun::Text(text[range].to_owned(), Style { flaw, ..style.clone() }));
        }
    };
    let mut end = 0;
    while let Some((range, why)) = next(text, end) {
        push(end..range.start, None);
        end = range.end;
        push(range, Some(why.into()));
    }
    push(end..text.len(), None);
}

/// Returns the range of the first malformed formula from byte `from` on, and what is wrong with it; `None` if there is
/// none.
fn next(text: &str, from: usize) -> Option<(Range<usize>, &'static str)> {
    let mut dollars = text[from..].match_indices('$').map(|(at, _)| from + at).peekable();
    while let Some(open) = dollars.next() {
        let signs = if dollars.next_if_eq(&(open + 1)).is_some() { 2 } else { 1 };
        let &close = dollars.peek()?;
        let inner = &text[open + signs..close];
        let is_display = signs == 2;
        let closes = if is_display { text[close..].starts_with("$$") } else { !text[close..].starts_with("$$") };
        // The rules of formulas apply: no space inside the dollar signs, and no digit after them, which would make it a
        // price.
        let is_price = text[close + 1..].starts_with(|c: char| c.is_ascii_digit());
        let is_tight = !inner.starts_with(char::is_whitespace) && !inner.ends_with(char::is_whitespace) && !is_price;
        if closes
            && !inner.is_empty()
            && (is_display || is_tight)
            && let Some(why) = unbalanced(inner)
        {
            return Some((open..close + signs, why));
        }
    }
    None
}

fn unbalanced(formula: &str) -> Option<&'static str> {
    let mut depth = 0_usize;
    for c in formula.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some("Not a formula, because a } has no { before it"),
            '}' => depth -= 1,
            _ => {}
        }
    }
    (depth > 0).then_some("Not a formula, because a { has no } after it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(blocks: &[TextBlock]) -> String {
        let kind = |block: &TextBlock| match block {
            TextBlock::Paragraph(_) => "p".to_owned(),
            TextBlock::Heading(level, _) => format!("h{level}"),
            TextBlock::Code { spans, .. } => if spans.is_empty() { "verbatim" } else { "code" }.to_owned(),
            TextBlock::Quote(inner) => format!("quote({})", kinds(inner)),
            TextBlock::List { items, .. } => {
                format!("list({})", items.iter().map(|item| kinds(item)).collect::<Vec<_>>().join("|"))
            }
            TextBlock::Table(table) => format!("table{}x{}", table.rows.len(), table.columns.len()),
            TextBlock::Formula(_) => "$$".to_owned(),
            TextBlock::Rule => "rule".to_owned(),
        };
        blocks.iter().map(kind).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_block_is_read() {
        let text = "# A\ntext $x$\n\n- a\n- b\n  1. c\n\n> q\n\n```rust\nlet x;\n```\n\n|a|b|\n|-|-:|\n|1|2|\n\n---\nso $$y$$ it is";
        let document = ProseDocument::read(&text.into());
        assert_eq!(kinds(&document.blocks), "h1 p list(p|p list(p)) quote(p) verbatim table2x2 rule p $$ p");
    }

    #[test]
    fn code_of_the_notebooks_language_is_known() {
        let text = "```rhai\nx\n```\n\n```python\ny = f(x)\n```\n\n```\nlet s = A;\n```\n\n```\nword for word (1)\n```\n\n    softmax(S)\n";
        assert_eq!(kinds(&ProseDocument::read(&text.into()).blocks), "code verbatim code verbatim code");
    }

    #[test]
    fn a_picture_within_a_pictures_words_is_text() {
        let document = ProseDocument::read(&"![a ![b](x) c](y) after".into());
        let TextBlock::Paragraph(runs) = &document.blocks[0] else { panic!("{document:?}") };
        assert!(matches!(&runs[0], TextRun::Image { path, alt } if **path == *"y" && alt == "a b c"), "{runs:?}");
        assert!(matches!(&runs[1], TextRun::Text(text, _) if text == " after"), "{runs:?}");
    }

    #[test]
    fn styles_nest_and_end() {
        let document = ProseDocument::read(&"a **b *c*** `d` [e](f) ~~g~~".into());
        let TextBlock::Paragraph(runs) = &document.blocks[0] else { panic!("{document:?}") };
        let of = |wanted: &str| {
            runs.iter().find_map(|run| match run {
                TextRun::Text(text, style) if text == wanted => Some(style.clone()),
                _ => None,
            })
        };
        assert_eq!(of("c"), Some(Style { strong: true, emphasis: true, ..Style::default() }));
        assert_eq!(of("d"), Some(Style { code: true, ..Style::default() }));
        assert_eq!(of("e"), Some(Style { link: Some("f".into()), ..Style::default() }));
        assert_eq!(of("g"), Some(Style { strike: true, ..Style::default() }));
    }

    #[test]
    fn what_is_too_deep_joins_the_last_level() {
        let deep = format!("{}end", "> ".repeat(5000));
        let mut document = ProseDocument::read(&deep.as_str().into());
        let mut depth = 0;
        while let Some(TextBlock::Quote(inner)) = document.blocks.pop() {
            document.blocks = inner;
            depth += 1;
        }
        assert_eq!(depth, NESTING_MAX);
        ProseDocument::read(&"- ".repeat(20_000).into());
        ProseDocument::read(&"**".repeat(20_000).into());
        ProseDocument::read(&"[".repeat(20_000).into());
    }

    #[test]
    fn what_is_too_long_says_so() {
        let document = ProseDocument::read(&"é".repeat(SOURCE_BYTES_MAX).into());
        let Some(TextBlock::Paragraph(runs)) = document.blocks.last() else { panic!() };
        assert!(matches!(&runs[0], TextRun::Text(text, _) if text.contains("bytes more")), "{runs:?}");
    }

    #[test]
    fn what_is_too_many_is_counted() {
        let document = ProseDocument::read(&"$a$ ".repeat(FORMULAS_MAX + 1).into());
        let TextBlock::Paragraph(runs) = &document.blocks[0] else { panic!() };
        let Some(TextRun::Formula(last)) = runs.iter().rev().find(|run| matches!(run, TextRun::Formula(_))) else {
            panic!()
        };
        assert!(last.formula.is_err());
        let wide = format!("{}\n{}\n{}", "|a".repeat(40), "|-".repeat(40), "|b\n".repeat(2000));
        let document = ProseDocument::read(&wide.as_str().into());
        assert_eq!(kinds(&document.blocks), format!("table{ROWS_MAX}x{COLUMNS_MAX}"));
    }
}

#[cfg(test)]
mod flaws_tests {
    use super::*;

    fn flaws(text: &str) -> Vec<String> {
        let runs = with_flaws(vec![TextRun::Text(text.to_owned(), Style::default())]);
        let whole: String =
            runs.iter().map(|run| if let TextRun::Text(text, _) = run { text.as_str() } else { "" }).collect();
        assert_eq!(whole, text, "nothing is lost");
        let flawed = |run: &TextRun| matches!(run, TextRun::Text(_, style) if style.flaw.is_some());
        runs.iter()
            .filter(|run| flawed(run))
            .map(|run| format!("{run:?}").split('"').nth(1).unwrap_or("").to_owned())
            .collect()
    }

    #[test]
    fn a_brace_without_its_partner_is_found() {
        assert_eq!(flaws("so $x_{i$ is one, and $y}$, and $$z^{2$$"), ["$x_{i$", "$y}$", "$$z^{2$$"]);
    }

    #[test]
    fn prices_and_whole_formulas_are_left_alone() {
        for text in ["from $5 {a to $6", "a {b} $ c", "$", "$$", "$$$", "$ {", "{a $5} to $6"] {
            assert_eq!(flaws(text), Vec::<String>::new(), "{text}");
        }
    }
}
