//! The colours of code and of Markdown source, and the marks on and beside it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use attune_core::lesson::text::markdown_options;
use attune_engine::code::editor::highlight::{Span, SpanKind, highlight};
use attune_engine::code::editor::scope::{CompletionScope, NameKind, definitions};
use egui::text::{CCursor, LayoutJob, TextFormat};
use egui::{Align2, Color32, Galley, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2};
use pulldown_cmark::{Event, Parser, Tag};

use crate::theme::{self, Palette, size};

/// The language of a text.
#[derive(Clone, Copy)]
pub enum Language<'a> {
    /// Code, with the names in its scope.
    Code(&'a CompletionScope),
    Markdown,
}

/// The coloured layout of a text, cached until the text changes.
pub struct Inked {
    of: (u64, bool),
    /// The names in the code's scope; `None` for Markdown.
    scope: Option<CompletionScope>,
    pub spans: Vec<Span>,
    job: LayoutJob,
}

impl Inked {
    /// Lays out `source`, using the cached colours in `kept` if the text is the same.
    pub fn galley(kept: &mut Option<Inked>, ui: &Ui, source: &str, width: f32, language: Language) -> Arc<Galley> {
        let inked = Self::of(kept, ui, source, language);
        inked.job.wrap.max_width = width;
        let job = inked.job.clone();
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    }

    pub fn of<'k>(kept: &'k mut Option<Inked>, ui: &Ui, source: &str, language: Language) -> &'k mut Inked {
        let palette = Palette::on(ui);
        let of = (egui::util::hash(source), palette.dark);
        let is_same = |inked: &Inked| {
            let is_same_scope = match (&inked.scope, language) {
                (Some(known), Language::Code(scope)) => known.is(scope),
                (None, Language::Markdown) => true,
                _ => false,
            };
            inked.of == of && is_same_scope
        };
        if !kept.as_ref().is_some_and(is_same) {
            *kept = None;
        }
        kept.get_or_insert_with(|| match language {
            Language::Code(scope) => {
                let spans = highlight(source);
                let job = code(source, &spans, scope, &mono(palette.ink), palette);
                Self { of, scope: Some(scope.clone()), spans, job }
            }
            Language::Markdown => Self { of, scope: None, spans: Vec::new(), job: markdown(source, palette) },
        })
    }
}

/// Lays out code in sections of one colour each. White space joins the section before it.
pub fn code(
    source: &str,
    spans: &[Span],
    scope: &CompletionScope,
    format: &TextFormat,
    palette: &Palette,
) -> LayoutJob {
    let definitions = definitions(source, spans);
    let own: HashMap<&str, NameKind> =
        definitions.iter().map(|found| (found.name.name.as_str(), found.name.kind)).collect();
    let of_name = |name: &str| own.get(name).copied().or_else(|| scope.find(name).map(|name| name.kind));
    let mut job = LayoutJob { keep_trailing_whitespace: true, ..LayoutJob::default() };
    let plain = |color| TextFormat { color, ..format.clone() };
    let mut section = (0, palette.ink);
    for span in spans {
        let color = match span.kind {
            SpanKind::Name => of_name(&source[span.range.clone()]).map_or(palette.ink, |kind| name_ink(kind, palette)),
            kind => ink(kind, palette),
        };
        if color != section.1 {
            append(&mut job, &source[section.0..span.range.start], plain(section.1));
            section = (span.range.start, color);
        }
    }
    end(&mut job, &source[section.0..], plain(section.1));
    job
}

fn markdown(source: &str, palette: &Palette) -> LayoutJob {
    let code = &palette.code;
    let mut job = LayoutJob { keep_trailing_whitespace: true, ..LayoutJob::default() };
    for (range, mark) in marks(source) {
        let color = match mark {
            MarkdownMark::Plain => palette.ink,
            MarkdownMark::Heading => code.keyword,
            MarkdownMark::Emphasis | MarkdownMark::Strong => code.variable,
            MarkdownMark::Code => code.text,
            MarkdownMark::Maths => code.number,
            MarkdownMark::Link => code.function,
            MarkdownMark::Sign => code.comment,
        };
        append(&mut job, &source[range], TextFormat { italics: mark == MarkdownMark::Emphasis, ..mono(color) });
    }
    end(&mut job, "", mono(palette.ink));
    job
}

fn append(job: &mut LayoutJob, text: &str, format: TextFormat) {
    if !text.is_empty() {
        job.append(text, 0.0, format);
    }
}

/// Adds the last section. Even an empty text gets one, so that it has the height of a line.
fn end(job: &mut LayoutJob, text: &str, format: TextFormat) {
    if !text.is_empty() || job.sections.is_empty() {
        job.append(text, 0.0, format);
    }
}

/// Returns a monospaced format.
fn mono(color: Color32) -> TextFormat {
    let line_height = Some(size::MONO + 2.0 * size::CODE_LEADING);
    TextFormat { line_height, ..TextFormat::simple(theme::mono(size::MONO), color) }
}

fn ink(kind: SpanKind, palette: &Palette) -> Color32 {
    let code = &palette.code;
    match kind {
        SpanKind::Keyword => code.keyword,
        SpanKind::Number => code.number,
        SpanKind::Text => code.text,
        SpanKind::Comment => code.comment,
        SpanKind::Operator | SpanKind::Bracket => palette.ink_soft,
        SpanKind::Unmatched => palette.error,
        SpanKind::Name => palette.ink,
    }
}

pub fn name_ink(kind: NameKind, palette: &Palette) -> Color32 {
    match kind {
        NameKind::Variable => palette.code.variable,
        NameKind::Tensor => palette.code.tensor,
        NameKind::Function => palette.code.function,
        NameKind::Keyword => palette.code.keyword,
        NameKind::Word => palette.code.text,
    }
}

/// A text that is laid out on the screen.
pub struct Laid<'a> {
    pub source: &'a str,
    pub galley: &'a Galley,
    pub origin: Pos2,
}

impl Laid<'_> {
    fn cursor(&self, at: usize) -> CCursor {
        CCursor { index: self.source[..at].chars().count().into(), prefer_next_row: true }
    }

    /// Returns the rectangle of the caret before byte `at`.
    pub fn caret(&self, at: usize) -> Rect {
        self.galley.pos_from_cursor(self.cursor(at)).translate(self.origin.to_vec2())
    }

    /// Returns the rectangle of a part of one line, cut off at the end of its row.
    pub fn rect(&self, range: Range<usize>) -> Rect {
        let (start, end) = (self.caret(range.start), self.caret(range.end));
        let right = if end.top() > start.top() { self.origin.x + self.galley.rect.right() } else { end.right() };
        let least = size::MONO / 2.0;
        Rect::from_min_max(start.min, Pos2::new(right.max(start.left() + least), start.bottom()))
    }

    pub fn mark(&self, ui: &Ui, range: Range<usize>, color: Color32) {
        let stroke = Stroke::new(size::HAIRLINE, color);
        ui.painter().rect_stroke(self.rect(range), f32::from(size::RADIUS_SMALL), stroke, StrokeKind::Outside);
    }

    /// Writes line numbers to the left of the text.
    pub fn number_lines(&self, ui: &Ui, color: Color32) {
        let visible = ui.clip_rect();
        let font = theme::mono(size::CELL_NUMBER);
        let (mut line, mut starts) = (0, true);
        for row in &self.galley.rows {
            if starts {
                line += 1;
                let rect = row.rect().translate(self.origin.to_vec2());
                if rect.bottom() >= visible.top() && rect.top() <= visible.bottom() {
                    let at = Pos2::new(self.origin.x - size::GAP - size::LABEL_GAP, rect.center().y);
                    ui.painter().text(at, Align2::RIGHT_CENTER, line.to_string(), font.clone(), color);
                }
            }
            starts = row.ends_with_newline;
        }
    }
}

/// Draws a wavy line at the bottom of `rect`.
pub fn squiggle(ui: &Ui, rect: Rect, color: Color32) {
    const WAVE: f32 = 3.0;
    const HEIGHT: f32 = 2.0;
    let foot = rect.bottom() - HEIGHT;
    let count = (rect.width() / WAVE).ceil().max(2.0) as usize;
    let points = (0..=count).map(|i| {
        let up = if i % 2 == 0 { 0.0 } else { HEIGHT };
        Pos2::new(rect.left(), foot) + Vec2::new(i as f32 * WAVE, up)
    });
    ui.painter().add(Shape::line(points.collect(), Stroke::new(size::CURVE, color)));
}

/// Kinds of Markdown source, by which it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownMark {
    Plain,
    Heading,
    Emphasis,
    Strong,
    Code,
    Maths,
    Link,
    /// Markup such as `#`, `*` and `-`, and link addresses.
    Sign,
}

/// Splits a text into coloured ranges, in order and without gaps.
pub fn marks(source: &str) -> Vec<(Range<usize>, MarkdownMark)> {
    let mut pieces = Pieces { found: Vec::new(), end: 0 };
    let mut around = vec![MarkdownMark::Plain];
    for (event, range) in Parser::new_ext(source, markdown_options()).into_offset_iter() {
        let here = around.last().copied().unwrap_or(MarkdownMark::Plain);
        match event {
            Event::Start(tag) => around.push(of_tag(&tag, here)),
            Event::End(_) => _ = around.pop(),
            Event::Text(_) => pieces.push(range, here),
            Event::Code(_) => pieces.push(range, MarkdownMark::Code),
            Event::InlineMath(_) | Event::DisplayMath(_) => pieces.push(range, MarkdownMark::Maths),
            _ => {}
        }
    }
    pieces.push(source.len()..source.len(), MarkdownMark::Plain);
    pieces.found
}

fn of_tag(tag: &Tag, around: MarkdownMark) -> MarkdownMark {
    match tag {
        Tag::Heading { .. } => MarkdownMark::Heading,
        Tag::CodeBlock(_) => MarkdownMark::Code,
        Tag::Link { .. } | Tag::Image { .. } => MarkdownMark::Link,
        Tag::Strong if around == MarkdownMark::Plain => MarkdownMark::Strong,
        Tag::Emphasis if around == MarkdownMark::Plain => MarkdownMark::Emphasis,
        _ => around,
    }
}

struct Pieces {
    found: Vec<(Range<usize>, MarkdownMark)>,
    /// The end of the last range.
    end: usize,
}

impl Pieces {
    /// Adds a range, and marks the characters between it and the last one as markup.
    fn push(&mut self, range: Range<usize>, mark: MarkdownMark) {
        let start = range.start.max(self.end);
        self.join(self.end..start, MarkdownMark::Sign);
        self.join(start..range.end.max(start), mark);
    }

    fn join(&mut self, range: Range<usize>, mark: MarkdownMark) {
        self.end = range.end;
        match self.found.last_mut() {
            _ if range.is_empty() => {}
            Some((last, same)) if *same == mark => last.end = range.end,
            _ => self.found.push((range, mark)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(source: &str) -> Vec<(&str, MarkdownMark)> {
        marks(source).into_iter().map(|(range, mark)| (&source[range], mark)).collect()
    }

    #[test]
    fn what_is_said_and_the_signs_around_it() {
        assert_eq!(
            told("# Two *words*\n"),
            [
                ("# ", MarkdownMark::Sign),
                ("Two ", MarkdownMark::Heading),
                ("*", MarkdownMark::Sign),
                ("words", MarkdownMark::Heading),
                ("*\n", MarkdownMark::Sign)
            ]
        );
        assert_eq!(
            told("a **b** `c` $x_i$"),
            [
                ("a ", MarkdownMark::Plain),
                ("**", MarkdownMark::Sign),
                ("b", MarkdownMark::Strong),
                ("**", MarkdownMark::Sign),
                (" ", MarkdownMark::Plain),
                ("`c`", MarkdownMark::Code),
                (" ", MarkdownMark::Plain),
                ("$x_i$", MarkdownMark::Maths)
            ]
        );
        assert_eq!(
            told("[a](b)"),
            [("[", MarkdownMark::Sign), ("a", MarkdownMark::Link), ("](b)", MarkdownMark::Sign)]
        );
        assert_eq!(
            told("- *a*\n- b"),
            [
                ("- *", MarkdownMark::Sign),
                ("a", MarkdownMark::Emphasis),
                ("*\n- ", MarkdownMark::Sign),
                ("b", MarkdownMark::Plain)
            ]
        );
        assert_eq!(
            told("```rhai\nlet a;\n```"),
            [("```rhai\n", MarkdownMark::Sign), ("let a;\n", MarkdownMark::Code), ("```", MarkdownMark::Sign)]
        );
    }

    #[test]
    fn a_deep_text_is_marked_at_once() {
        for deep in ["**", "> ", "- ", "[", "$"] {
            marks(&deep.repeat(20_000));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_covered(source in "[ a#*_`$>é\\\\\\[\\]()|\n-]{0,60}") {
            let mut end = 0;
            for (range, _) in marks(&source) {
                prop_assert_eq!(range.start, end);
                prop_assert!(source.get(range.clone()).is_some() && !range.is_empty());
                end = range.end;
            }
            prop_assert_eq!(end, source.len());
        }
    }
}
