//! The ink of code: its colours, and the marks over and beside it.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{CCursor, LayoutJob, TextFormat};
use egui::{Align2, Color32, Galley, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2};

use crate::app::theme::{self, Palette, size};
use crate::view_model::completion::{NameKind, Scope};
use crate::view_model::highlight::{Kind, Span, highlight};

/// The colours of a text, kept until it changes.
pub struct Inked {
    of: (u64, bool),
    scope: Arc<Scope>,
    pub spans: Vec<Span>,
    job: LayoutJob,
}

impl Inked {
    /// Lays out `source` with what was kept of it, if it is the same.
    pub fn galley(kept: &mut Option<Inked>, ui: &Ui, source: &str, width: f32, scope: &Arc<Scope>) -> Arc<Galley> {
        let inked = Self::of(kept, ui, source, scope);
        inked.job.wrap.max_width = width;
        let job = inked.job.clone();
        ui.fonts_mut(|fonts| fonts.layout_job(job))
    }

    pub fn of<'k>(kept: &'k mut Option<Inked>, ui: &Ui, source: &str, scope: &Arc<Scope>) -> &'k mut Inked {
        let palette = Palette::of(ui.visuals().dark_mode);
        let of = (egui::util::hash(source), palette.dark);
        if kept.as_ref().is_some_and(|inked| inked.of != of || !Arc::ptr_eq(&inked.scope, scope)) {
            *kept = None;
        }
        kept.get_or_insert_with(|| {
            let spans = highlight(source);
            let job = job(source, &spans, scope, palette);
            Self { of, scope: scope.clone(), spans, job }
        })
    }
}

/// Sections of one colour each; white space joins the one before it.
fn job(source: &str, spans: &[Span], scope: &Scope, palette: &Palette) -> LayoutJob {
    let mut job = LayoutJob { keep_trailing_whitespace: true, ..LayoutJob::default() };
    let mut section = (0, palette.ink);
    for span in spans {
        let color = ink(source, span, scope, palette);
        if color != section.1 {
            append(&mut job, &source[section.0..span.range.start], section.1);
            section = (span.range.start, color);
        }
    }
    append(&mut job, &source[section.0..], section.1);
    job
}

fn append(job: &mut LayoutJob, text: &str, color: Color32) {
    let font = theme::mono(size::MONO);
    // An empty text has the height of a line too.
    if !text.is_empty() || job.sections.is_empty() && job.text.is_empty() {
        let line_height = Some(font.size + 2.0 * size::CODE_LEADING);
        job.append(text, 0.0, TextFormat { line_height, ..TextFormat::simple(font, color) });
    }
}

fn ink(source: &str, span: &Span, scope: &Scope, palette: &Palette) -> Color32 {
    let code = &palette.code;
    match span.kind {
        Kind::Keyword => code.keyword,
        Kind::Number => code.number,
        Kind::Text => code.text,
        Kind::Comment => code.comment,
        Kind::Operator | Kind::Bracket => palette.ink_soft,
        Kind::Unmatched => palette.error,
        Kind::Name => scope.find(&source[span.range.clone()]).map_or(palette.ink, |name| name_ink(name.kind, palette)),
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

/// A text as it lies on the screen.
pub struct Laid<'a> {
    pub source: &'a str,
    pub galley: &'a Galley,
    pub origin: Pos2,
}

impl Laid<'_> {
    fn cursor(&self, at: usize) -> CCursor {
        CCursor { index: self.source[..at].chars().count().into(), prefer_next_row: true }
    }

    /// The place before byte `at`.
    pub fn caret(&self, at: usize) -> Rect {
        self.galley.pos_from_cursor(self.cursor(at)).translate(self.origin.to_vec2())
    }

    /// Of a piece of one line, as far as it is in one row.
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

    /// Numbers of the lines, left of the text.
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

/// A wavy line at the foot of `rect`.
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
