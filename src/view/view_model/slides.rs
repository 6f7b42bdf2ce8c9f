//! The slides of a presentation: a lesson in small parts, each with the stage cell whose picture is shown beside it.
//!
//! A slide is a part of a text, a cell, a step of the walk, or a reveal: outputs, the model's answer, a hint, a
//! solution.

use std::ops::Range;

use attune_core::kernel::notebook::document::{Behaviour, CellId};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::live_text::LessonText;
use attune_core::lesson::text::markdown_options;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::attention::AttentionMaps;
use super::capitalised;
use crate::explain::print::AND;
use crate::explain::walk::{RouteModel, Step, WalkModel};

/// The number of characters that fit on a slide in large type.
const ROOM: usize = 300;
/// The space that a formula or a picture takes, and the least space of a line of code or of a row of a table, both in
/// characters.
const FIGURE: usize = 70;
const LINE: usize = 30;
/// The largest number of layers whose steps are slides. In a deeper model, each layer is one slide, because steps would
/// fill most of the presentation.
const STEPPED_LAYERS: usize = 2;

/// All slides of a notebook, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct SlidesModel(pub Vec<Slide>);

#[derive(Clone, Debug, PartialEq)]
pub struct Slide {
    pub cell: CellId,
    /// The index of the slide among those of its cell.
    pub part: usize,
    /// The section of the text, the kind of a task, or the name of a step.
    pub title: String,
    pub shows: SlideContent,
    /// The stage cell whose picture is shown: the last one before this slide, or the slide's own.
    pub stage: Option<CellId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SlideContent {
    /// A part of a text, as Markdown.
    Text(LessonText),
    /// The cell before it is run or answered.
    Cell,
    /// The cell with its outputs.
    Ran,
    /// A prediction with the model's answer.
    Answered,
    /// An exercise with this number of hints.
    Hints(usize),
    /// An exercise with its solution.
    Solution,
    /// A stop of the walk through attention.
    Walk(Stop),
}

/// A place at which a presentation stops on the walk. Layers are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Step {
        layer: usize,
        step: Step,
    },
    /// The place after a whole layer.
    Layer(usize),
}

impl Stop {
    /// Returns the layer and the step at whose end the walk stops.
    pub fn place(self) -> (usize, Step) {
        match self {
            Self::Step { layer, step } => (layer, step),
            Self::Layer(layer) => (layer, Step::Contextual),
        }
    }

    /// Returns the title of a slide's layer; `None` in a model whose layers have none.
    pub fn title(self, route: &RouteModel) -> Option<String> {
        let title = &route.layers.get(self.place().0).filter(|layer| !layer.title.is_empty())?.title;
        Some(capitalised(&if self.is_whole_layer() { format!("After {title}") } else { title.clone() }))
    }

    /// Returns the equations of a slide in LaTeX: those of its step. After a whole layer there are none, because they
    /// would always be the same.
    pub fn equations(self, walk: &WalkModel) -> impl Iterator<Item = &str> {
        let equations: &str = if self.is_whole_layer() { "" } else { &walk.step(self.place().1).equation };
        equations.split(AND).filter(|equation| !equation.is_empty())
    }

    fn is_whole_layer(self) -> bool {
        matches!(self, Self::Layer(_))
    }
}

/// Returns the number of layers through which the walk goes; 0 before there is a model, and if no word attends to
/// another.
fn layers(snapshot: &Snapshot) -> usize {
    let looks = AttentionMaps::of(snapshot).is_some_and(|attention| !attention.is_each_word_alone());
    let layers = snapshot.model.as_ref().map_or(0, |model| model.sentence.activations.blocks.len());
    if looks { layers } else { 0 }
}

impl SlidesModel {
    pub fn of(snapshot: &Snapshot) -> Self {
        let cells = snapshot.notebook.cells.iter();
        let cells = cells.map(|shown| (&shown.cell.id, &*shown.cell.kind, &*shown.cell.text));
        Self(slides(cells, layers(snapshot)))
    }

    /// Returns the first cell that has a slide, beginning with `cell`, or else the first one of all; `None` if there
    /// are no slides.
    pub fn first_from(&self, snapshot: &Snapshot, cell: Option<&str>) -> Option<CellId> {
        let cells = &snapshot.notebook.cells;
        let begin = cells.iter().position(|shown| Some(&*shown.cell.id) == cell).unwrap_or(0);
        let has_slide = |id: &CellId| self.0.iter().any(|slide| slide.cell == *id);
        let from_there = cells.iter().skip(begin).map(|shown| &shown.cell.id).find(|id| has_slide(id));
        from_there.or(self.0.first().map(|slide| &slide.cell)).cloned()
    }

    /// Returns the index of a slide, given its cell and its part; for a part that no longer exists, that of the cell's
    /// last slide.
    pub fn index(&self, cell: &str, part: usize) -> Option<usize> {
        self.0.iter().rposition(|slide| *slide.cell == *cell && slide.part <= part)
    }
}

/// Returns the slides of cells, which are given with their texts. The walk through `layers` layers is shown once: at
/// the first stage cell that rests at the contextual points or, if there is none, at one that plays to them.
pub fn slides<'a>(
    cells: impl Iterator<Item = (&'a CellId, &'a CellKind, &'a str)> + Clone,
    layers: usize,
) -> Vec<Slide> {
    let ends = |kind: &CellKind| match kind {
        CellKind::Stage { time, plays, .. } if *time == 1.0 => Some(*plays > 0),
        _ => None,
    };
    let walked = cells.clone().filter_map(|(id, kind, _)| Some((ends(kind)?, id))).min_by_key(|(plays, _)| *plays);
    let mut talk = Talk::default();
    for (id, kind, text) in cells {
        let title = Behaviour::of(kind).title;
        match kind {
            CellKind::Text { .. } => talk.text(id, text),
            CellKind::Plot { .. } | CellKind::Slider(_) => talk.add(id, title, vec![SlideContent::Cell]),
            CellKind::Code { .. } => talk.add(id, title, vec![SlideContent::Cell, SlideContent::Ran]),
            CellKind::Predict(_) => talk.add(id, title, vec![SlideContent::Cell, SlideContent::Answered]),
            CellKind::Exercise(exercise) => {
                let hints = (1..=exercise.hints.len()).map(SlideContent::Hints);
                talk.add(
                    id,
                    title,
                    std::iter::once(SlideContent::Cell).chain(hints).chain([SlideContent::Solution]).collect(),
                );
            }
            CellKind::Stage { .. } => {
                talk.stage = Some(id.clone());
                talk.add(id, title, vec![SlideContent::Cell]);
                if walked.is_some_and(|(_, walked)| walked == id) {
                    talk.walk(id, layers);
                }
            }
            // A presentation does not wait for tasks.
            CellKind::Gate { .. } => {}
        }
    }
    // A model that was opened without a lesson has no stage cell, but the walk is shown too.
    if let (None, Some(last)) = (&talk.stage, talk.slides.last()) {
        let last = last.cell.clone();
        talk.walk(&last, layers);
    }
    talk.slides
}

#[derive(Default)]
struct Talk {
    slides: Vec<Slide>,
    /// The text of the last heading.
    section: String,
    stage: Option<CellId>,
}

impl Talk {
    /// Adds the slides of a cell; an empty title is replaced by that of the section.
    fn add(&mut self, cell: &CellId, title: &str, all: Vec<SlideContent>) {
        let before = self.slides.iter().rev().take_while(|slide| slide.cell == *cell).count();
        let title = if title.is_empty() { &self.section } else { title }.to_owned();
        let (cell, stage) = (cell.clone(), self.stage.clone());
        let slide = |(place, shows)| {
            let (cell, title, stage) = (cell.clone(), title.clone(), stage.clone());
            Slide { cell, part: before + place, title, shows, stage }
        };
        self.slides.extend(all.into_iter().enumerate().map(slide));
    }

    fn text(&mut self, cell: &CellId, markdown: &str) {
        for (heading, part) in parts(markdown) {
            if let Some(heading) = heading {
                self.section = heading;
            }
            self.add(cell, "", vec![SlideContent::Text(part.into())]);
        }
    }

    fn walk(&mut self, cell: &CellId, layers: usize) {
        for layer in 0..layers {
            if layers > STEPPED_LAYERS {
                self.add(cell, "", vec![SlideContent::Walk(Stop::Layer(layer))]);
                continue;
            }
            for step in Step::ALL {
                self.add(cell, step.name(), vec![SlideContent::Walk(Stop::Step { layer, step })]);
            }
        }
    }
}

/// A paragraph, a list item, or another block of a text.
struct Block {
    range: Range<usize>,
    /// The space that the block needs, in characters.
    room: usize,
    /// The text of the heading, if the block is one.
    heading: Option<String>,
    /// The ends of sentences, and the space used up to each.
    ends: Vec<(usize, usize)>,
}

/// Splits a text into a part for each slide, each with the heading that begins there, if there is one. A part ends with
/// a block or, within a block that is too long, with a sentence.
fn parts(markdown: &str) -> Vec<(Option<String>, String)> {
    let mut parts: Vec<(Option<String>, Range<usize>, usize)> = Vec::new();
    let (mut heading, mut is_under_heading) = (None, true);
    for block in blocks(markdown) {
        if block.heading.is_some() {
            (heading, is_under_heading) = (block.heading, true);
            continue;
        }
        for (piece, room) in pieces(&block) {
            let last = parts.last_mut().filter(|_| !is_under_heading);
            // A block that follows a colon stays on the same slide if possible.
            let leads = last.as_ref().is_some_and(|(_, part, _)| markdown[part.clone()].trim_end().ends_with(':'));
            let most = if leads { ROOM + ROOM / 2 } else { ROOM };
            match last.filter(|(.., taken)| taken + room <= most) {
                Some((_, part, taken)) => (part.end, *taken) = (piece.end, *taken + room),
                None => parts.push((heading.take(), piece, room)),
            }
            is_under_heading = false;
        }
    }
    // A heading without text becomes a slide too.
    parts.extend(heading.map(|heading| (Some(heading), 0..0, 0)));
    parts.into_iter().map(|(heading, part, _)| (heading, markdown[part].trim().to_owned())).collect()
}

/// Returns a block as a whole or, if it is too long, in parts of similar length that end with sentences; each with the
/// space that it needs.
fn pieces(block: &Block) -> Vec<(Range<usize>, usize)> {
    let about = block.room / block.room.div_ceil(ROOM).max(1);
    let mut pieces = Vec::new();
    let (mut start, mut before) = (block.range.start, 0);
    for (index, (end, taken)) in block.ends.iter().enumerate() {
        let next = block.ends.get(index + 1).map_or(block.room, |(_, taken)| *taken);
        // The part ends here if adding the next sentence would take its length further from the intended one.
        if block.room > ROOM && (next - before).abs_diff(about) > (taken - before).abs_diff(about) {
            pieces.push((start..*end, taken - before));
            (start, before) = (*end, *taken);
        }
    }
    pieces.push((start..block.range.end, block.room - before));
    pieces
}

fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut depth, mut is_code) = (0, false);
    for (event, range) in Parser::new_ext(markdown, markdown_options()).into_offset_iter() {
        let begins = match &event {
            Event::Start(Tag::List(_)) | Event::End(_) => false,
            Event::Start(Tag::Item) => depth == 1,
            _ => depth == 0,
        };
        if begins {
            let heading = matches!(event, Event::Start(Tag::Heading { .. })).then(String::new);
            blocks.push(Block { range: range.clone(), room: 0, heading, ends: Vec::new() });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_code = true,
            Event::End(TagEnd::CodeBlock) => is_code = false,
            _ => {}
        }
        let Some(block) = blocks.last_mut() else { continue };
        if let Event::Text(text) = &event
            && depth == 1
            && !is_code
        {
            let ends = sentence_ends(markdown, &range);
            block.ends.extend(ends.map(|end| (end, block.room + markdown[range.start..end].chars().count())));
            block.room += text.chars().count();
            block.heading.iter_mut().for_each(|words| words.push_str(text));
            continue;
        }
        block.room += match &event {
            Event::Text(text) if is_code => text.lines().map(|line| line.chars().count().max(LINE)).sum(),
            Event::Text(text) | Event::Code(text) => text.chars().count(),
            Event::InlineMath(text) => text.chars().count() / 2,
            Event::DisplayMath(_) | Event::Start(Tag::Image { .. }) => FIGURE,
            Event::Start(Tag::TableRow | Tag::TableHead) => LINE,
            Event::SoftBreak => 1,
            _ => 0,
        };
        if let (Some(words), Event::Code(text) | Event::InlineMath(text)) = (&mut block.heading, &event) {
            words.push_str(text);
        }
    }
    blocks
}

/// Returns the ends of sentences in a part of a paragraph.
fn sentence_ends<'a>(markdown: &'a str, range: &Range<usize>) -> impl Iterator<Item = usize> + use<'a> {
    let is_end = |end: &usize| {
        let after = &markdown[*end..];
        after.starts_with([' ', '\n']) && after.trim_start().starts_with(|first: char| !first.is_lowercase())
    };
    let start = range.start;
    markdown[range.clone()].match_indices(['.', '?', '!']).map(move |(at, _)| start + at + 1).filter(is_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_core::lesson::cells::{Exercise, Predict};

    #[test]
    fn a_long_text_is_cut_between_blocks_and_sentences_and_nothing_is_lost() {
        let sentence = "Attention moves *every* word to where its neighbours say it belongs. ";
        let text = format!(
            "# One\n\nShort. Very short.\n\n## Two `E`\n\n{}\n\n- a first item\n- a second\n\nIt is the sum:\n\n$$a + b$$\n",
            sentence.repeat(9).trim_end()
        );
        let found = parts(&text);
        let headings: Vec<Option<&str>> = found.iter().map(|(heading, _)| heading.as_deref()).collect();
        assert_eq!(headings, [Some("One"), Some("Two E"), None, None], "{found:#?}");
        assert_eq!(found[0].1, "Short. Very short.");
        let third = sentence.repeat(3).trim_end().to_owned();
        assert_eq!([&found[1].1, &found[2].1], [&third; 2], "parts of the same length");
        let rest = found[3].1.strip_prefix(&third).expect("the rest of the text");
        assert_eq!(rest, "\n\n- a first item\n- a second\n\nIt is the sum:\n\n$$a + b$$", "small blocks go with it");
    }

    #[test]
    fn a_heading_alone_and_an_empty_text_are_what_they_are() {
        assert_eq!(parts("# Alone"), [(Some("Alone".to_owned()), String::new())]);
        assert_eq!(parts(""), []);
        assert_eq!(parts("1. one\n2. two"), [(None, "1. one\n2. two".to_owned())]);
    }

    #[test]
    fn a_talk_walks_once_and_reveals_what_is_asked() {
        let stage = |plays| CellKind::Stage {
            caption: "c".into(),
            sentence: 0,
            words: vec![],
            time: 1.0,
            plays,
            lines: vec![],
            goals: vec![],
        };
        let predict = Predict {
            ask: "".into(),
            draws: String::new(),
            choices: vec![],
            reasons: vec![],
            answer: String::new(),
            shows: String::new(),
            explain: "".into(),
        };
        let exercise = Exercise {
            ask: "".into(),
            start: None,
            check: String::new(),
            cases: vec![],
            value: String::new(),
            expected: String::new(),
            hints: vec!["one".into(), "two".into()],
            feedback: vec![],
            solution: String::new(),
        };
        let cells: Vec<(CellId, CellKind)> = [
            ("opening", stage(2)),
            ("words", CellKind::Text { markdown: "".into() }),
            ("move", stage(0)),
            ("guess", CellKind::Predict(predict)),
            ("gate", CellKind::Gate { caption: String::new(), needs: vec![] }),
            ("task", CellKind::Exercise(exercise)),
        ]
        .map(|(id, kind)| (id.into(), kind))
        .into();
        let told = |layers: usize| -> Vec<String> {
            let cells = cells.iter().map(|(id, kind)| (id, kind, "# A heading\n\nWords."));
            let said = |slide: &Slide| {
                let stage = slide.stage.as_deref().unwrap_or("-");
                format!("{} {} {} {:?} @{stage}", slide.cell, slide.part, slide.title, slide.shows)
            };
            slides(cells, layers).iter().map(said).collect()
        };
        let none = [
            "opening 0  Cell @opening",
            "words 0 A heading Text(\"Words.\") @opening",
            "move 0 A heading Cell @move",
            "guess 0 Predict Cell @move",
            "guess 1 Predict Answered @move",
            "task 0 Exercise Cell @move",
            "task 1 Exercise Hints(1) @move",
            "task 2 Exercise Hints(2) @move",
            "task 3 Exercise Solution @move",
        ];
        assert_eq!(told(0), none);
        let two = told(2);
        assert_eq!(two.len(), none.len() + 2 * Step::ALL.len());
        assert_eq!(two[3], "move 1 embed Walk(Step { layer: 0, step: Embed }) @move");
        assert_eq!(two[18], "move 16 contextual Walk(Step { layer: 1, step: Contextual }) @move");
        let words = (CellId::from("about"), CellKind::Text { markdown: "".into() });
        let alone = slides([(&words.0, &words.1, "# A model")].into_iter(), 6);
        assert_eq!(alone.len(), 1 + 6, "without a stage cell the walk comes at the end");
        assert_eq!((&*alone[6].cell, &alone[6].shows), ("about", &SlideContent::Walk(Stop::Layer(5))));
        assert_eq!(told(6)[3..9].iter().filter(|slide| slide.contains("Walk(Layer(")).count(), 6);
    }

    #[test]
    fn a_slide_that_is_gone_leaves_the_last_one_of_its_cell() {
        let cell: CellId = "words".into();
        let kind = CellKind::Text { markdown: "".into() };
        let model = SlidesModel(slides([(&cell, &kind, "# A\n\na\n\n# B\n\nb")].into_iter(), 0));
        assert_eq!(
            [model.index("words", 1), model.index("words", 7), model.index("gone", 0)],
            [Some(1), Some(1), None]
        );
    }
}
