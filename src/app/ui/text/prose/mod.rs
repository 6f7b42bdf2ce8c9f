//! Typeset text cells: Markdown with formulas.
//!
//! This replaces egui_commonmark, whose hook for formulas provides a `Ui` in a wrapping row: a formula is centred on
//! the row or placed at its bottom instead of on the baseline of the text, punctuation after it can be wrapped to the
//! next line, and everything is laid out again in every frame. Here, words, code, formulas and pictures share the
//! baseline of their line; a cell is laid out only when its text, its width or the scale changes; and its height is
//! known without drawing it.
//!
//! | file | job |
//! |---|---|
//! | [`document`] | Markdown → blocks and runs; malformed formulas |
//! | [`formula`] | LaTeX → glyphs, bars and outlines, in em → the screen |
//! | [`terms`] | glossary terms in the text |
//! | [`flow`] | runs → fonts, sizes and colours → lines |
//! | [`layout`] | blocks and tables → placed items |
//! | [`paint`] | placed items → the screen |

pub mod document;
pub mod flow;
pub mod formula;
pub mod layout;
pub mod paint;
pub mod terms;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use attune_core::lesson::links::TextLink;
use attune_core::lesson::live_text::LessonText;
use attune_view::explain::print::AND;
use attune_view::view_model::course::LessonsAround;
use attune_view::view_model::glossary::GlossaryModel;
use attune_view::view_model::notebook::LiveCellModel;
use egui::mutex::Mutex;
use egui::{Id, Sense, Ui, WidgetInfo, WidgetType, vec2};

use self::document::ProseDocument;
use self::layout::TextLayout;
use self::paint::PaintContext;
pub use self::paint::{LessonAround, TermCard};
use super::images::Images;
use super::live_card::LiveCard;

/// The largest number of cached cells, more than a lesson has. The least recently used ones are removed first.
const REMEMBERED: usize = 1200;

/// The cached layouts of text cells, and the lesson's pictures.
#[derive(Default)]
pub struct Prose {
    pub images: Images,
    /// The lessons before and after the open one.
    pub around: LessonsAround,
    hasher: RandomState,
    pages: HashMap<u64, ProsePage>,
    /// A counter of uses, by which the least recently used layout is found.
    clock: u64,
    glossary: Option<Arc<GlossaryModel>>,
    term_card: Option<TermCard>,
    /// The index of the term that was clicked.
    asked: Option<usize>,
    /// The links that were clicked.
    followed: Vec<TextLink>,
    /// The card of the live number that was clicked.
    pub card: Option<LiveCard>,
}

impl Prose {
    /// Sets the glossary whose terms are marked in texts from now on. `card` is the function that draws one of its
    /// entries.
    pub fn set_glossary(&mut self, glossary: Option<Arc<GlossaryModel>>, card: TermCard) {
        self.glossary = glossary;
        self.term_card = Some(card);
        self.pages.clear();
    }

    pub fn glossary(&self) -> Option<&Arc<GlossaryModel>> {
        self.glossary.as_ref()
    }

    /// Returns the term that was clicked, and clears it.
    pub fn take_asked(&mut self) -> Option<usize> {
        self.asked.take()
    }

    /// Returns the links that were clicked, and clears them.
    pub fn take_followed(&mut self) -> Vec<TextLink> {
        std::mem::take(&mut self.followed)
    }
}

struct ProsePage {
    document: ProseDocument,
    layout: TextLayout,
    set_for: SetFor,
    /// The values of the text's expressions in this layout.
    live: Option<LiveCellModel>,
    used: u64,
}

/// The inputs of a layout other than the text.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SetFor {
    width: f32,
    pixels_per_point: f32,
    images: u64,
}

/// Shows `text` in the available width.
pub fn prose_ui(ui: &mut Ui, text: &LessonText, prose: &mut Prose) {
    live_prose_ui(ui, text, LessonAround::default(), prose);
}

/// Shows `text` with active expressions, links and words.
pub fn live_prose_ui(ui: &mut Ui, text: &LessonText, around: LessonAround, prose: &mut Prose) {
    let width = ui.available_width();
    let Prose { images, pages, hasher, clock, glossary, term_card, asked, followed, card, .. } = prose;
    let glossary = glossary.as_deref();
    let entries = glossary.zip(*term_card);
    let context = (&mut *images, glossary, around.live);
    let page = page(ui, text, width, pages, context, hasher.hash_one(&**text), clock);
    let (rect, _) = ui.allocate_exact_size(vec2(width, page.layout.height), Sense::hover());
    ui.push_id(ui.next_auto_id(), |ui| {
        for (i, (place, words)) in page.layout.spoken.iter().enumerate() {
            let place = place.translate(rect.min.to_vec2());
            let response = ui.interact(place, ui.id().with(("spoken", i)), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, words));
        }
        paint::paint(
            ui,
            &page.layout.placed,
            rect.min,
            &mut PaintContext { images, entries, asked, followed, card, around },
        );
    });
}

fn page<'a>(
    ui: &Ui,
    text: &LessonText,
    width: f32,
    pages: &'a mut HashMap<u64, ProsePage>,
    (images, glossary, live): (&mut Images, Option<&GlossaryModel>, Option<&LiveCellModel>),
    key: u64,
    clock: &mut u64,
) -> &'a ProsePage {
    *clock += 1;
    if pages.len() > REMEMBERED && !pages.contains_key(&key) {
        forget_older_half(pages);
    }
    let set_for = SetFor { width, pixels_per_point: ui.pixels_per_point(), images: images.generation() };
    let page = pages.entry(key).or_insert_with(|| {
        let nowhere = SetFor { width: f32::NAN, ..set_for };
        let mut document = ProseDocument::read(text);
        if let Some(glossary) = glossary {
            terms::mark(&mut document, glossary);
        }
        ProsePage { document, layout: TextLayout::default(), set_for: nowhere, live: None, used: *clock }
    });
    page.used = *clock;
    let has_same_values = match (&page.live, live) {
        (Some(shown), Some(live)) => shown.is_same(live),
        (shown, live) => shown.is_none() && live.is_none(),
    };
    if page.set_for != set_for || !has_same_values {
        page.layout = ui.fonts_mut(|fonts| TextLayout::of(&page.document, width, fonts, images, live));
        (page.set_for, page.live) = (set_for, live.cloned());
    }
    page
}

fn forget_older_half(pages: &mut HashMap<u64, ProsePage>) {
    let mut uses: Vec<u64> = pages.values().map(|page| page.used).collect();
    uses.sort_unstable();
    let middle = uses[uses.len() / 2];
    pages.retain(|_, page| page.used > middle);
}

/// Shows one or more LaTeX equations, which `AND` separates in `latex`, typeset as in the text.
pub fn equation_ui(ui: &mut Ui, latex: &str) {
    let equations: Vec<String> = latex.split(AND).map(|equation| format!("${equation}$")).collect();
    words_ui(ui, &equations.join(", ").into());
}

/// Shows Markdown with formulas, set as in the text.
pub fn words_ui(ui: &mut Ui, text: &LessonText) {
    // Layouts are cached in the context, so that callers need not keep them.
    type Set = Arc<Mutex<Prose>>;
    let set = ui.data_mut(|data| data.get_temp_mut_or_default::<Set>(Id::new("equations")).clone());
    prose_ui(ui, text, &mut set.lock());
}
