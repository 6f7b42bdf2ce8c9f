//! A lesson as the slides of its presentation, in the window's order. Each slide is a cell of a page, with the stage
//! that is shown beside it.

use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::cells::{CellKind, Exercise};

use super::page::{Code, Page, PageCell, PageItem, SlidePlace, markdown, plain_code};
use super::prose::LessonProse;
use super::vectors::at_sentence;
use crate::explain::walk::{RouteModel, Step, WalkModel};
use crate::view_model::capitalised;
use crate::view_model::slides::{Slide, SlideContent, SlidesModel, Stop};

/// Returns the slides as a page. `answered` has the model's answers to the predictions.
pub(super) fn page<'a>(snapshot: &'a Snapshot, answered: Option<&'a Snapshot>) -> Page<'a> {
    let slides = SlidesModel::of(snapshot).0;
    let walk = Walk::of(snapshot, &slides);
    let cells = slides.iter().filter_map(|slide| {
        let shown = cell_of(snapshot, &slide.cell)?;
        let whole = PageCell::of(shown, snapshot);
        let items = match &slide.shows {
            SlideContent::Text(text) => vec![markdown(text, shown)],
            SlideContent::Cell => before_its_answer(whole.items),
            SlideContent::Ran => whole.items,
            SlideContent::Answered => answered_items(whole.items, answered, &slide.cell),
            SlideContent::Hints(count) => with_hints(whole.items, shown, *count),
            SlideContent::Solution => with_solution(whole.items, shown),
            SlideContent::Walk(stop) => walk.as_ref().map_or_else(Vec::new, |walk| walk.items(*stop)),
        };
        Some(PageCell { items, slide: Some(place(slide)), ..whole })
    });
    let cells = cells.collect();
    Page { cells, ..Page::of(snapshot, &[]) }
}

fn cell_of<'a>(snapshot: &'a Snapshot, id: &str) -> Option<&'a CellSnapshot> {
    snapshot.notebook.cells.iter().find(|shown| &*shown.cell.id == id)
}

fn place(slide: &Slide) -> SlidePlace {
    SlidePlace {
        title: capitalised(&slide.title),
        stage: slide.stage.as_ref().map(ToString::to_string),
        walk: match slide.shows {
            SlideContent::Walk(stop) => Some(stop.place()).map(|(layer, step)| layer * Step::ALL.len() + step.index()),
            _ => None,
        },
        is_first: slide.part == 0,
        answers: slide.shows == SlideContent::Answered,
    }
}

/// Returns the items of a cell before it is run or answered: without outputs, except those of a plot, and without the
/// label of a task, which is in the slide's title.
fn before_its_answer(items: Vec<PageItem<'_>>) -> Vec<PageItem<'_>> {
    let before = |item| match item {
        PageItem::Details { .. } | PageItem::Label(_) => None,
        PageItem::Code(code) if !code.is_hidden => {
            Some(PageItem::Code(Code { outputs: Vec::new(), fault: None, note: None, ..code }))
        }
        item => Some(item),
    };
    items.into_iter().filter_map(before).collect()
}

/// Returns the items of a prediction, with the model's answer in place of the choices; without the answer if there is
/// none.
fn answered_items<'a>(items: Vec<PageItem<'a>>, answered: Option<&'a Snapshot>, cell: &str) -> Vec<PageItem<'a>> {
    let shown = answered.and_then(|answered| Some(PageCell::of(cell_of(answered, cell)?, answered)));
    let details = shown.and_then(|shown| {
        shown.items.into_iter().find_map(|item| match item {
            PageItem::Details { items, .. } => Some(items),
            _ => None,
        })
    });
    let before = before_its_answer(items);
    let Some(details) = details else { return before };
    let asked = before.into_iter().filter(|item| !matches!(item, PageItem::Choices { .. }));
    // The reasons belong to a choice, and nobody has chosen.
    let answer = details.into_iter().filter_map(|item| match item {
        PageItem::Reasons { .. } => None,
        PageItem::Choices { choices, right, .. } => Some(PageItem::Choices { choices, chosen: None, right }),
        item => Some(item),
    });
    asked.chain(answer).collect()
}

fn exercise_of(shown: &CellSnapshot) -> Option<&Exercise> {
    if let CellKind::Exercise(exercise) = &*shown.cell.kind { Some(exercise) } else { None }
}

/// Returns the items of an exercise with its first hints.
fn with_hints<'a>(items: Vec<PageItem<'a>>, shown: &'a CellSnapshot, count: usize) -> Vec<PageItem<'a>> {
    let hints = exercise_of(shown).map_or(&[][..], |exercise| &exercise.hints);
    let hints = hints.iter().take(count).enumerate();
    let told = hints.flat_map(|(hint, text)| [PageItem::Line(format!("Hint {}", hint + 1)), markdown(text, shown)]);
    before_its_answer(items).into_iter().chain(told).collect()
}

fn with_solution<'a>(items: Vec<PageItem<'a>>, shown: &'a CellSnapshot) -> Vec<PageItem<'a>> {
    let solution = exercise_of(shown).map(|exercise| PageItem::Code(plain_code(&exercise.solution)));
    let told = solution.into_iter().flat_map(|code| [PageItem::Line("A solution".to_owned()), code]);
    before_its_answer(items).into_iter().chain(told).collect()
}

/// The walk that the slides show, through the sentence of the stage cell beside them.
struct Walk {
    snapshot: Snapshot,
    route: RouteModel,
    /// The position of the word that is followed.
    word: usize,
}

impl Walk {
    fn of(snapshot: &Snapshot, slides: &[Slide]) -> Option<Self> {
        let walked = slides.iter().find(|slide| matches!(slide.shows, SlideContent::Walk(_)))?;
        let stage = walked.stage.as_ref().and_then(|stage| cell_of(snapshot, stage));
        let (snapshot, words) = match stage.map(|shown| &*shown.cell.kind) {
            Some(CellKind::Stage { sentence, words, .. }) => (at_sentence(snapshot, *sentence)?, &words[..]),
            _ => (snapshot.clone(), &[][..]),
        };
        let route = RouteModel::of(&snapshot)?;
        let word = route.word(words)?;
        Some(Self { snapshot, route, word })
    }

    /// Returns the title of the layer, the equations of the step, and the explanation.
    fn items<'a>(&self, stop: Stop) -> Vec<PageItem<'a>> {
        let mut items: Vec<PageItem<'_>> = stop.title(&self.route).map(PageItem::Line).into_iter().collect();
        let (layer, step) = stop.place();
        let focus = self.route.head(layer, self.word).map(|head| self.route.focus(self.word, head, None));
        let Some(walk) = focus.and_then(|focus| WalkModel::of(&self.snapshot, focus)) else { return items };
        let equations: String = stop.equations(&walk).map(|equation| format!("$$\n{equation}\n$$\n\n")).collect();
        if !equations.is_empty() {
            items.push(PageItem::Markdown(LessonProse::of(&equations.into(), None)));
        }
        items.push(PageItem::Line(walk.step(step).said.clone()));
        items
    }
}
