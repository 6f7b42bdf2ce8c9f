//! Appearance of a document's runs: faces, sizes, inks, and words where something cannot be shown.

use std::sync::Arc;

use attune_core::lesson::links::TextLink;
use attune_core::lesson::live_text::Expression;
use attune_view::view_model::notebook::{LiveTextModel, Standing, waiting};
use egui::{Vec2, pos2, vec2};

use super::document::{Run, Style};
use super::flow::{Face, Ink, Inline, Note, Placed, RunFormat, What};
use super::formula::Maths;
use crate::app::text::images::Images;
use crate::app::theme::{prose, size};

/// Properties that the runs of a block share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    pub size: f32,
    pub strong: bool,
    pub ink: Ink,
}

impl Tone {
    pub const BODY: Tone = Tone { size: size::READING, strong: false, ink: Ink::Plain };
}

/// The runs as they are set in a column of `width`.
pub fn inlines(runs: &[Run], tone: Tone, width: f32, images: &mut Images, live: Option<&LiveTextModel>) -> Vec<Inline> {
    let mut inlines = Vec::with_capacity(runs.len());
    for run in runs {
        match run {
            Run::Text(text, style) => inlines.push(Inline::Text(text.clone(), run_format(style, tone))),
            Run::Live(expression, style) => inlines.push(live_word(expression, style, tone, live)),
            Run::Formula(maths) => inlines.push(formula(maths, tone, width)),
            Run::Image { path, alt } => inlines.extend(image(path, alt, tone, width, images)),
            Run::Task(done) => inlines.push(task(*done)),
            Run::Break => inlines.push(Inline::Break),
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
        Some(Note::Link(_) | Note::Act(_)) => Ink::Link,
        Some(Note::Tip(_)) => Ink::Soft,
        Some(Note::Term(_) | Note::Live(_)) | None => tone.ink,
    };
    let slanted = style.emphasis && face != Face::Italic;
    let note = link.or_else(|| style.flaw.clone().map(Note::Tip)).or_else(|| style.named.map(Note::Term));
    RunFormat { face, slanted, strike: style.strike, ink, note, ..RunFormat::plain(size) }
}

/// A value as the sentence has it, with the face of the words around it.
fn live_word(expression: &Expression, style: &Style, tone: Tone, live: Option<&LiveTextModel>) -> Inline {
    let word = live.map_or_else(|| waiting(expression), |live| live.word(expression));
    let mut format = run_format(&Style { link: None, named: None, ..style.clone() }, tone);
    if word.standing == Standing::Failed {
        format.ink = Ink::Error;
    }
    let words = word.words.clone();
    Inline::Text(words, RunFormat { note: Some(Note::Live(Arc::new(word))), ..format })
}

/// Only the web opens: a lesson runs no program and reads no file.
fn link(target: &Arc<str>) -> Note {
    const OPENED: [&str; 3] = ["https://", "http://", "mailto:"];
    match TextLink::read(target) {
        Some(Ok(link)) => return Note::Act(Arc::new(link)),
        Some(Err(flaw)) => return Note::Tip(format!("This link leads nowhere: {}", flaw.line()).into()),
        None => {}
    }
    let lower = target.to_ascii_lowercase();
    if OPENED.iter().any(|scheme| lower.starts_with(scheme)) {
        Note::Link(target.clone())
    } else {
        Note::Tip(format!("Links open web pages only, not {target}").into())
    }
}

fn formula(maths: &Arc<Maths>, tone: Tone, width: f32) -> Inline {
    match &maths.formula {
        Ok(formula) => {
            // A comma behind it has room in the same line.
            let room = (width - tone.size).max(tone.size);
            let em = fitting(tone.size * prose::MATHS, formula.width, room);
            let (ascent, descent) = (formula.ascent * em, formula.descent * em);
            let what = What::Formula { maths: maths.clone(), size: em, ink: tone.ink };
            let content = vec2(formula.width * em, ascent + descent);
            if content.x <= room + size::HAIRLINE {
                return Inline::Solid { what, width: content.x, ascent, descent };
            }
            let inner = vec![Placed { at: pos2(0.0, ascent), what }];
            let descent = descent + prose::SCROLL_BAR;
            let what = What::Scroll { size: vec2(room, ascent + descent), content, inner };
            Inline::Solid { what, width: room, ascent, descent }
        }
        Err(why) => wrong(&maths.source, why, tone),
    }
}

/// The size at which `ems` fit `width`, if it need not become too small to read.
pub fn fitting(size: f32, ems: f32, width: f32) -> f32 {
    if ems * size > width { size * (width / (ems * size)).max(prose::MATHS_SHRINK) } else { size }
}

/// The source of a formula that is none.
pub fn wrong(source: &str, why: &str, tone: Tone) -> Inline {
    let format = RunFormat {
        face: Face::Mono,
        ink: Ink::Error,
        note: Some(Note::Tip(why.into())),
        ..RunFormat::plain(tone.size * prose::CODE_INLINE)
    };
    let shown = if source.is_empty() { "$$" } else { source };
    let end = shown.floor_char_boundary(SHOWN_BYTES);
    let more = if end < shown.len() { " …" } else { "" };
    Inline::Text(format!("{}{more}", &shown[..end]), format)
}

/// Bytes shown of the source of a bad formula.
const SHOWN_BYTES: usize = 400;

fn image(path: &Arc<str>, alt: &str, tone: Tone, width: f32, images: &mut Images) -> Vec<Inline> {
    let alt = if alt.is_empty() { path } else { alt };
    match images.size(path) {
        Ok(pixels) => {
            let size = if pixels.x > width { pixels * (width / pixels.x) } else { pixels };
            vec![Inline::Solid {
                what: What::Image { path: path.clone(), alt: alt.into(), size },
                width: size.x,
                ascent: size.y,
                descent: 0.0,
            }]
        }
        Err(why) => {
            let plain = RunFormat::plain(tone.size);
            let named = RunFormat { face: Face::Italic, ink: Ink::Soft, ..plain.clone() };
            let reason = RunFormat { ink: Ink::Error, note: Some(Note::Tip(path.clone())), ..plain };
            vec![Inline::Text(alt.to_owned(), named), Inline::Text(format!(" ({why})"), reason)]
        }
    }
}

fn task(done: bool) -> Inline {
    Inline::Solid { what: What::Task(done), width: prose::TASK + prose::MARKER_GAP, ascent: prose::TASK, descent: 0.0 }
}

/// The runs as text, for those who hear them. Pictures speak for themselves.
pub fn spoken(runs: &[Run], live: Option<&LiveTextModel>) -> String {
    let word = |run: &Run| match run {
        Run::Text(text, _) => text.clone(),
        Run::Live(expression, _) => live.map_or_else(|| waiting(expression), |live| live.word(expression)).words,
        Run::Formula(maths) => maths.source.clone(),
        Run::Image { .. } => String::new(),
        Run::Task(done) => if *done { "done: " } else { "to do: " }.to_owned(),
        Run::Break => " ".to_owned(),
    };
    runs.iter().map(word).collect()
}

/// Size of the box of a task.
pub const TASK: Vec2 = Vec2::splat(prose::TASK);
