//! Layout of runs in lines: words, formulas and pictures on one baseline, broken at the column's width. Also the format
//! of a run: its font, size and colour, and the text in place of something that cannot be shown.

use std::ops::Range;
use std::sync::Arc;

use attune_core::lesson::links::TextLink;
use attune_core::lesson::live_text::LiveExpression;
use attune_engine::code::editor::highlight::Span;
use attune_view::view_model::notebook::{LiveCellModel, LiveStanding, LiveWord, waiting};
use egui::epaint::text::{FontsView, LayoutJob, TextFormat};
use egui::{FontId, Pos2, Stroke, Vec2, pos2, vec2};

use super::document::{Style, TermInText, TextRun};
use super::formula::Maths;
use crate::text::images::Images;
use crate::theme::{self, prose, size};

/// An item at its position relative to the text cell's corner.
#[derive(Clone, Debug, PartialEq)]
pub struct TextItem {
    /// The left end of the baseline for text and formulas, the upper left corner for all other items.
    pub at: Pos2,
    pub what: ItemKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    Text {
        text: String,
        format: RunFormat,
        width: f32,
    },
    Formula {
        maths: Arc<Maths>,
        size: f32,
        ink: Ink,
    },
    Image {
        path: Arc<str>,
        alt: Arc<str>,
        size: Vec2,
    },
    Fill {
        size: Vec2,
        role: FillRole,
    },
    Task(bool),
    /// Content that is wider than the column, and scrolls.
    Scroll {
        size: Vec2,
        content: Vec2,
        inner: Vec<TextItem>,
    },
}

/// The purpose of a filled rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillRole {
    CodeBlock,
    CodeInline,
    QuoteBar,
    Line,
    Bullet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    Plain,
    Italic,
    Strong,
    Mono,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Soft,
    Link,
    Error,
    Role(theme::Role),
}

/// A link, tip or term that responds to the pointer.
#[derive(Clone, Debug, PartialEq)]
pub enum TextNote {
    Link(Arc<str>),
    Tip(Arc<str>),
    Term(TermInText),
    /// A link to a part of the program.
    Act(Arc<TextLink>),
    Live(Arc<LiveWord>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunFormat {
    pub face: Face,
    pub size: f32,
    /// Whether emphasis is drawn by slanting, because the font has no italics.
    pub slanted: bool,
    pub strike: bool,
    pub ink: Ink,
    pub note: Option<TextNote>,
    /// The tokens of a code block, which determine its colours.
    pub spans: Arc<[Span]>,
    /// The width at which lines of code are wrapped.
    pub wrap: f32,
}

impl RunFormat {
    pub fn plain(size: f32) -> RunFormat {
        let spans = Arc::default();
        let (face, ink, wrap) = (Face::Plain, Ink::Plain, f32::INFINITY);
        RunFormat { face, size, slanted: false, strike: false, ink, note: None, spans, wrap }
    }

    pub fn job(&self, text: &str) -> LayoutJob {
        let font_id = match self.face {
            Face::Plain => theme::plain(self.size),
            Face::Italic => theme::italic(self.size),
            Face::Strong => theme::strong(self.size),
            Face::Mono => theme::mono(self.size),
        };
        // The colour is chosen when the text is painted, so that a change of theme needs no new layout.
        let format = TextFormat {
            italics: self.slanted,
            line_height: (self.face == Face::Mono).then(|| mono_line(&font_id)),
            ..TextFormat::simple(font_id, egui::Color32::PLACEHOLDER)
        };
        let mut job = LayoutJob::single_section(text.to_owned(), format);
        job.wrap.max_width = self.wrap;
        job
    }

    pub fn strikethrough(&self, color: egui::Color32) -> Stroke {
        if self.strike { Stroke::new(theme::size::HAIRLINE, color) } else { Stroke::NONE }
    }
}

/// Returns the line height of code, which has the same spacing as text.
fn mono_line(font: &FontId) -> f32 {
    let (up, down) = prose::STRUT;
    (font.size * (up + down)).round()
}

/// An item within a line.
#[derive(Clone, Debug)]
pub enum Inline {
    Text(String, RunFormat),
    /// An item other than text, with its width, its height above the baseline and its depth below.
    Solid {
        what: ItemKind,
        width: f32,
        ascent: f32,
        descent: f32,
    },
    Break,
}

/// The space that a paragraph fills.
#[derive(Clone, Copy, Debug)]
pub struct LineFit {
    pub width: f32,
    /// The least height of a line above and below its baseline, in points.
    pub strut: (f32, f32),
    /// The alignment: 0 left, 0.5 centred, 1 right.
    pub align: f32,
}

/// A measured part of a word that cannot be broken.
struct WordPart {
    inline: usize,
    bytes: Range<usize>,
    width: f32,
    /// The space before it, which is dropped at the start of a line.
    space: f32,
    /// Whether a line may end before it.
    breakable: bool,
    /// Whether a line must end before it.
    forced: bool,
}

/// Lays out `inlines` below `top` and returns their size.
pub fn flow(inlines: &[Inline], measure: LineFit, top: Pos2, fonts: &mut FontsView, out: &mut Vec<TextItem>) -> Vec2 {
    let pieces = pieces(inlines, measure.width, fonts);
    let mut size = Vec2::ZERO;
    for line in lines(&pieces, measure.width) {
        let placed = set_line(inlines, &pieces[line], measure, top + vec2(0.0, size.y), out);
        size = vec2(size.x.max(placed.x), size.y + placed.y);
    }
    size
}

/// Returns the width of the widest word, and the width of everything without line breaks.
pub fn widths(inlines: &[Inline], fonts: &mut FontsView) -> (f32, f32) {
    let pieces = pieces(inlines, f32::INFINITY, fonts);
    let (mut word, mut widest_word, mut line, mut widest_line) = (0.0f32, 0.0f32, 0.0f32, 0.0f32);
    for piece in &pieces {
        word = if piece.breakable { piece.width } else { word + piece.space + piece.width };
        line = if piece.forced { piece.width } else { line + piece.space + piece.width };
        (widest_word, widest_line) = (widest_word.max(word), widest_line.max(line));
    }
    (widest_word, widest_line)
}

/// Cuts `inlines` at possible line ends. A word that is wider than a line is cut between any characters.
fn pieces(inlines: &[Inline], width: f32, fonts: &mut FontsView) -> Vec<WordPart> {
    let mut cutter = Cutter { pieces: Vec::new(), space: 0.0, breakable: true, forced: false };
    for (inline, content) in inlines.iter().enumerate() {
        match content {
            Inline::Break => cutter.forced = true,
            Inline::Solid { width, .. } => cutter.push(inline, 0..0, *width),
            Inline::Text(text, format) => {
                let advances: Vec<f32> = advances(text, format, fonts);
                let padding = if format.is_code() { prose::CODE_INLINE_PADDING.0 } else { 0.0 };
                cutter.space += padding;
                cutter.cut(inline, text, &advances, width);
                cutter.space += padding;
            }
        }
    }
    cutter.pieces
}

/// Returns the advance width of each character, as shaped.
fn advances(text: &str, format: &RunFormat, fonts: &mut FontsView) -> Vec<f32> {
    let galley = fonts.layout_job(format.job(text));
    galley.rows.iter().flat_map(|row| &row.glyphs).map(|glyph| glyph.advance_width).collect()
}

impl RunFormat {
    /// Returns whether the text is emphasized.
    pub fn is_emphasis(&self) -> bool {
        self.slanted || self.face == Face::Italic
    }

    pub fn is_code(&self) -> bool {
        self.face == Face::Mono && self.ink == Ink::Plain
    }
}

struct Cutter {
    pieces: Vec<WordPart>,
    space: f32,
    breakable: bool,
    forced: bool,
}

impl Cutter {
    fn push(&mut self, inline: usize, bytes: Range<usize>, width: f32) {
        let (space, breakable, forced) = (self.space, self.breakable || self.forced, self.forced);
        self.pieces.push(WordPart { inline, bytes, width, space, breakable, forced });
        (self.space, self.breakable, self.forced) = (0.0, false, false);
    }

    fn cut(&mut self, inline: usize, text: &str, advances: &[f32], line_width: f32) {
        let (mut start, mut width) = (0, 0.0);
        let mut before: Option<char> = None;
        for ((at, c), advance) in text.char_indices().zip(advances) {
            // A no-break space is part of its word.
            if c.is_whitespace() && c != '\u{a0}' && c != '\u{202f}' {
                if start < at {
                    self.push(inline, start..at, width);
                }
                self.space += advance;
                self.breakable = true;
                (start, width, before) = (at + c.len_utf8(), 0.0, None);
                continue;
            }
            let may_break = before.is_some_and(|before| breaks_between(before, c));
            // Marks without a width stay with their letter.
            let must_break = width + advance > line_width && *advance > 0.0;
            if start < at && (may_break || must_break) {
                self.push(inline, start..at, width);
                self.breakable = true;
                (start, width) = (at, 0.0);
            }
            width += advance;
            before = Some(c);
        }
        if start < text.len() {
            self.push(inline, start..text.len(), width);
        }
    }
}

/// Returns whether a line may break between two characters: after a hyphen or dash inside a word, and between
/// ideographs.
fn breaks_between(before: char, after: char) -> bool {
    let ideograph = |c: char| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}');
    let closes = |c: char| {
        matches!(
            c,
            '\u{3001}'
                ..='\u{3002}'
                    | '\u{300b}'
                    | '\u{300d}'
                    | '\u{ff01}'
                    | '\u{ff0c}'
                    | '\u{ff1a}'
                    | '\u{ff1b}'
                    | '\u{ff1f}'
                    | ','
                    | '.'
                    | ')'
                    | ':'
                    | ';'
                    | '!'
                    | '?'
        )
    };
    (matches!(before, '-' | '–' | '—' | '/') && after.is_alphabetic())
        || (ideograph(before) || ideograph(after)) && !closes(after)
}

/// Returns the range of parts in each line.
fn lines(pieces: &[WordPart], width: f32) -> Vec<Range<usize>> {
    /// A tolerance for rounding in sums of widths.
    const ROUNDING: f32 = 0.05;
    let mut lines = Vec::new();
    let (mut start, mut x, mut i) = (0, 0.0, 0);
    while i < pieces.len() {
        let mut end = i + 1;
        let mut word = pieces[i].width;
        while end < pieces.len() && !pieces[end].breakable {
            word += pieces[end].space + pieces[end].width;
            end += 1;
        }
        let space = if i == start { 0.0 } else { pieces[i].space };
        if i > start && (pieces[i].forced || x + space + word > width + ROUNDING) {
            lines.push(start..i);
            (start, x) = (i, word);
        } else {
            x += space + word;
        }
        i = end;
    }
    if start < pieces.len() {
        lines.push(start..pieces.len());
    }
    lines
}

/// Lays out one line, and returns its size. Adjacent parts of one run are joined into one text.
fn set_line(inlines: &[Inline], line: &[WordPart], measure: LineFit, top: Pos2, out: &mut Vec<TextItem>) -> Vec2 {
    let (above, below) = reach(inlines, line, measure);
    let mut x = indent(line, measure);
    let baseline = top.y + above;
    let mut first = true;
    let mut i = 0;
    while i < line.len() {
        let piece = &line[i];
        if !first {
            x += piece.space;
        }
        first = false;
        let left = pos2(top.x + x, baseline);
        match &inlines[piece.inline] {
            Inline::Text(text, format) => {
                let (bytes, run, last) = joined(line, i);
                i = last;
                x += run;
                if format.is_code() {
                    out.push(behind_code(left, run, format.size));
                }
                let text = text[bytes].to_owned();
                out.push(TextItem { at: left, what: ItemKind::Text { text, format: format.clone(), width: run } });
            }
            Inline::Solid { what, width, ascent, .. } => {
                let at = match what {
                    ItemKind::Formula { .. } => left,
                    _ => left - vec2(0.0, *ascent),
                };
                out.push(TextItem { at, what: what.clone() });
                x += width;
            }
            Inline::Break => {}
        }
        i += 1;
    }
    vec2(x, above + below)
}

/// Returns the heights of a line above and below its baseline.
fn reach(inlines: &[Inline], line: &[WordPart], measure: LineFit) -> (f32, f32) {
    let (mut above, mut below) = measure.strut;
    for piece in line {
        if let Inline::Solid { ascent, descent, .. } = &inlines[piece.inline] {
            above = above.max(ascent + prose::STRUT_EXTRA);
            below = below.max(descent + prose::STRUT_EXTRA);
        }
    }
    (above, below)
}

/// Returns the space before an aligned line.
fn indent(line: &[WordPart], measure: LineFit) -> f32 {
    let space = line.first().map_or(0.0, |piece| piece.space);
    let width = line.iter().map(|piece| piece.width + piece.space).sum::<f32>() - space;
    let indent = ((measure.width - width) * measure.align).max(0.0);
    if indent.is_finite() { indent } else { 0.0 }
}

/// Joins the part at `first` with the following parts of the same run. Returns their bytes, their width and the index
/// of the last.
fn joined(line: &[WordPart], first: usize) -> (Range<usize>, f32, usize) {
    let piece = &line[first];
    let (mut bytes, mut width, mut last) = (piece.bytes.clone(), piece.width, first);
    while let Some(next) = line.get(last + 1).filter(|next| next.inline == piece.inline) {
        width += next.space + next.width;
        bytes.end = next.bytes.end;
        last += 1;
    }
    (bytes, width, last)
}

fn behind_code(left: Pos2, width: f32, size: f32) -> TextItem {
    /// The height of a monospaced font above its baseline, in em.
    const ASCENT: f32 = 0.95;
    /// The depth of a monospaced font below its baseline, in em.
    const DESCENT: f32 = 0.25;
    let (padding_x, padding_y) = prose::CODE_INLINE_PADDING;
    let at = left - vec2(padding_x, size * ASCENT + padding_y);
    let size = vec2(width + 2.0 * padding_x, size * (ASCENT + DESCENT) + 2.0 * padding_y);
    TextItem { at, what: ItemKind::Fill { size, role: FillRole::CodeInline } }
}

/// The properties that the runs of a block share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    pub size: f32,
    pub strong: bool,
    pub ink: Ink,
}

impl Tone {
    pub const BODY: Tone = Tone { size: size::READING, strong: false, ink: Ink::Plain };
}

/// Formats the runs for a column of this width.
pub fn inlines(
    runs: &[TextRun],
    tone: Tone,
    width: f32,
    images: &mut Images,
    live: Option<&LiveCellModel>,
) -> Vec<Inline> {
    let mut inlines = Vec::with_capacity(runs.len());
    for run in runs {
        match run {
            TextRun::Text(text, style) => {
                let mut format = run_format(style, tone);
                let role = theme::Role::of_word(text.trim()).filter(|_| style.strong && format.ink == Ink::Plain);
                format.ink = role.map_or(format.ink, Ink::Role);
                inlines.push(Inline::Text(text.clone(), format));
            }
            TextRun::Live(expression, style) => inlines.push(live_word(expression, style, tone, live)),
            TextRun::Formula(maths) => inlines.push(formula(maths, tone, width)),
            TextRun::Image { path, alt } => inlines.extend(image(path, alt, tone, width, images)),
            TextRun::Task(done) => inlines.push(task(*done)),
            TextRun::Break => inlines.push(Inline::Break),
        }
    }
    inlines
}

fn run_format(style: &Style, tone: Tone) -> RunFormat {
    let face = match style {
        Style { code: true, .. } => Face::Mono,
        Style { strong: true, .. } => Face::Strong,
        _ if tone.strong => Face::Strong,
        Style { emphasis: true, .. } => Face::Italic,
        _ => Face::Plain,
    };
    let size = if style.code { tone.size * prose::CODE_INLINE } else { tone.size };
    let link = style.link.as_ref().map(link);
    let ink = match link {
        Some(TextNote::Link(_) | TextNote::Act(_)) => Ink::Link,
        Some(TextNote::Tip(_)) => Ink::Soft,
        Some(TextNote::Term(_) | TextNote::Live(_)) | None => tone.ink,
    };
    let slanted = style.emphasis && face != Face::Italic;
    let note = link.or_else(|| style.flaw.clone().map(TextNote::Tip)).or_else(|| style.named.map(TextNote::Term));
    RunFormat { face, slanted, strike: style.strike, ink, note, ..RunFormat::plain(size) }
}

/// Formats a live value, in the font of the text around it.
fn live_word(expression: &LiveExpression, style: &Style, tone: Tone, live: Option<&LiveCellModel>) -> Inline {
    let word = live.map_or_else(|| waiting(expression), |live| live.word(expression));
    let mut format = run_format(&Style { link: None, named: None, ..style.clone() }, tone);
    if word.standing == LiveStanding::Failed {
        format.ink = Ink::Error;
    }
    let words = word.words.clone();
    Inline::Text(words, RunFormat { note: Some(TextNote::Live(Arc::new(word))), ..format })
}

/// Classifies a link. Only links to web pages and to parts of the program can be opened, because a lesson must not run
/// programs or read files.
fn link(target: &Arc<str>) -> TextNote {
    const OPENED: [&str; 3] = ["https://", "http://", "mailto:"];
    match TextLink::read(target) {
        Some(Ok(link)) => return TextNote::Act(Arc::new(link)),
        Some(Err(flaw)) => return TextNote::Tip(format!("This link leads nowhere: {}", flaw.line()).into()),
        None => {}
    }
    let lower = target.to_ascii_lowercase();
    if OPENED.iter().any(|scheme| lower.starts_with(scheme)) {
        TextNote::Link(target.clone())
    } else {
        TextNote::Tip(format!("Links can open only web pages, not {target}").into())
    }
}

fn formula(maths: &Arc<Maths>, tone: Tone, width: f32) -> Inline {
    match &maths.formula {
        Ok(formula) => {
            // Leaves room for a comma after the formula on the same line.
            let room = (width - tone.size).max(tone.size);
            let em = fitting(tone.size * prose::MATHS, formula.width, room);
            let (ascent, descent) = (formula.ascent * em, formula.descent * em);
            let what = ItemKind::Formula { maths: maths.clone(), size: em, ink: tone.ink };
            let content = vec2(formula.width * em, ascent + descent);
            if content.x <= room + size::HAIRLINE {
                return Inline::Solid { what, width: content.x, ascent, descent };
            }
            let inner = vec![TextItem { at: pos2(0.0, ascent), what }];
            let descent = descent + prose::SCROLL_BAR;
            let what = ItemKind::Scroll { size: vec2(room, ascent + descent), content, inner };
            Inline::Solid { what, width: room, ascent, descent }
        }
        Err(why) => wrong(&maths.source, why, tone),
    }
}

/// Returns a size at which `ems` fit into `width`, but not one so small that it cannot be read.
pub fn fitting(size: f32, ems: f32, width: f32) -> f32 {
    if ems * size > width { size * (width / (ems * size)).max(prose::MATHS_SHRINK) } else { size }
}

/// Shows the source of a malformed formula, with the reason as a tip.
pub fn wrong(source: &str, why: &str, tone: Tone) -> Inline {
    let format = RunFormat {
        face: Face::Mono,
        ink: Ink::Error,
        note: Some(TextNote::Tip(why.into())),
        ..RunFormat::plain(tone.size * prose::CODE_INLINE)
    };
    let shown = if source.is_empty() { "$$" } else { source };
    let end = shown.floor_char_boundary(SHOWN_BYTES);
    let more = if end < shown.len() { " …" } else { "" };
    Inline::Text(format!("{}{more}", &shown[..end]), format)
}

/// The most bytes of a malformed formula that are shown.
const SHOWN_BYTES: usize = 400;

fn image(path: &Arc<str>, alt: &str, tone: Tone, width: f32, images: &mut Images) -> Vec<Inline> {
    let alt = if alt.is_empty() { path } else { alt };
    match images.size(path) {
        Ok(pixels) => {
            let size = if pixels.x > width { pixels * (width / pixels.x) } else { pixels };
            vec![Inline::Solid {
                what: ItemKind::Image { path: path.clone(), alt: alt.into(), size },
                width: size.x,
                ascent: size.y,
                descent: 0.0,
            }]
        }
        Err(why) => {
            let plain = RunFormat::plain(tone.size);
            let named = RunFormat { face: Face::Italic, ink: Ink::Soft, ..plain.clone() };
            let reason = RunFormat { ink: Ink::Error, note: Some(TextNote::Tip(path.clone())), ..plain };
            vec![Inline::Text(alt.to_owned(), named), Inline::Text(format!(" ({why})"), reason)]
        }
    }
}

fn task(done: bool) -> Inline {
    Inline::Solid {
        what: ItemKind::Task(done),
        width: prose::TASK + prose::MARKER_GAP,
        ascent: prose::TASK,
        descent: 0.0,
    }
}

/// Returns the runs as text for screen readers. Pictures have labels of their own.
pub fn spoken(runs: &[TextRun], live: Option<&LiveCellModel>) -> String {
    let word = |run: &TextRun| match run {
        TextRun::Text(text, _) => text.clone(),
        TextRun::Live(expression, _) => live.map_or_else(|| waiting(expression), |live| live.word(expression)).words,
        TextRun::Formula(maths) => maths.source.clone(),
        TextRun::Image { .. } => String::new(),
        TextRun::Task(done) => if *done { "done: " } else { "to do: " }.to_owned(),
        TextRun::Break => " ".to_owned(),
    };
    runs.iter().map(word).collect()
}

/// The size of a task's checkbox.
pub const TASK: Vec2 = Vec2::splat(prose::TASK);
