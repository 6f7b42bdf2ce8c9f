//! The sentence over the stage: its words in large type, the arcs above them, as thick as the weights between the
//! words; and the keys of the sentence, which act from a click on it until something else is clicked.

mod arcs;
mod patches;

use std::sync::Arc;

pub use attune_ui::actions::focus::strip_id;
use attune_ui::actions::{ActionTable, Pressed, SentenceAction, WindowAction, drop_text, pressed};
use attune_ui::theme::{self, Palette, Role, motion, size};
use attune_ui::ui_state::{Highlight, PanelView, Selection, Walk};
use attune_ui::widgets::controls::{paint_sink, reading_ui};
use attune_ui::widgets::heat::width_of;
use attune_ui::widgets::popup::card_beside;
use attune_ui::widgets::traced::{ASK_HINT, OF_PIECES, ask_on};
use attune_view::explain::walk::{Step, WalkModel};
use attune_view::view_model::attention::{Reading, Sink};
use attune_view::view_model::grid::PatchPicture;
use attune_view::view_model::labels::Side;
use attune_view::view_model::sentence_arcs::{
    ArcWord, Direction, SentenceArcs, ShownArcs, WeightArc, WordAt, WordNumber,
};
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, Align2, Color32, Context, Label, Layout, Painter, Pos2, Rect, Response, RichText, ScrollArea, Sense, Stroke,
    Ui, UiBuilder, Vec2, WidgetInfo, WidgetType,
};

use self::arcs::{PlacedArc, PlacedWord, Plan, Room, nearest, placed};
use super::names::TOWARDS_INK;

/// Height of the stage below which the sentence has no room.
const FROM: f32 = 230.0;
/// Height of the stage below which the arcs are low.
const ROOMY_FROM: f32 = 560.0;
/// Height of the stage from which the sentence may have the larger of the two greatest sizes of type.
const TALL_FROM: f32 = 800.0;
const FONTS: (f32, f32) = (24.0, 34.0);

/// State of the strip between frames.
#[derive(Clone, Debug, Default)]
pub struct StripState {
    area: Option<Rect>,
    /// The upper left corner of the words, from which their places are counted; `None` before the first frame.
    origin: Option<Pos2>,
    /// How far the line was scrolled to the left in the last frame.
    scrolled: f32,
    pub direction: Direction,
    /// The chosen word of the source; the chosen word of the sentence is the query.
    pub source: Option<usize>,
    /// The word of the source that the walk is about.
    pub followed: Option<usize>,
    fade: Fade,
    /// The chosen word to which the strip has scrolled.
    in_sight: Option<WordAt>,
}

/// The arcs that are shown, and those that fade out while these appear.
#[derive(Clone, Debug, Default)]
struct Fade {
    shown: Option<ShownArcs>,
    before: Option<ShownArcs>,
    since: f64,
}

/// Options of the strip.
#[derive(Clone, Copy, Debug)]
pub struct StripOptions {
    /// Whether the lesson has introduced attention: arcs are then visible before a word is pointed at.
    pub is_open: bool,
    pub reduced_motion: bool,
}

/// The sentence over the picture, laid out with its controls.
#[derive(Clone)]
pub struct Strip<'a> {
    model: &'a SentenceArcs,
    /// The picture whose patches the words are, if it is known.
    picture: Option<&'a PatchPicture>,
    plan: Plan,
    options: StripOptions,
    controls: f32,
    /// The step whose numbers are under the words.
    step: Step,
    /// The walk, while its steps are walked through.
    walk: Option<&'a WalkModel>,
    /// The partners of the chosen word in the step, which are not faint.
    partners: Vec<usize>,
}

/// The look of a word in the sentence.
#[derive(Clone, Copy)]
struct WordLook {
    is_chosen: bool,
    /// Whether the word's arcs are shown.
    is_followed: bool,
    is_lit: bool,
    is_pointed: bool,
}

impl<'a> Strip<'a> {
    /// Lays out the strip, or returns `None` if the stage is too small for it or the sentence has no words.
    pub fn of(ui: &Ui, model: &'a SentenceArcs, area: Vec2, options: StripOptions) -> Option<Self> {
        /// Heights above, between and below the rows.
        const ROOMY: (f32, f32, f32) = (46.0, 36.0, NUMBERS);
        const TIGHT: (f32, f32, f32) = (32.0, 28.0, NUMBERS);
        /// Height of the numbers under the words, outside the frame of the keyboard's focus.
        const NUMBERS: f32 = 21.0;
        const PLAIN: (f32, f32, f32) = (size::GAP, size::GAP_TIGHT, size::GAP_TIGHT);
        /// Height between two rows of one sentence: room for arcs from row to row, and for low arcs within the second
        /// row.
        const NEAR: f32 = 16.0;
        /// Greatest height of a picture's patches, as a share of the stage.
        const PATCHES: f32 = 0.22;
        /// Heights for a lesson in which arcs are drawn only while a word is pointed at.
        const CLOSED: (f32, f32, f32) = (28.0, NEAR, NUMBERS);
        if area.y < FROM || model.words.is_empty() {
            return None;
        }
        let has_arcs = !model.layers.is_empty();
        let (above, between, below) = match has_arcs {
            false => PLAIN,
            true if !options.is_open && model.source.is_empty() => CLOSED,
            true if area.y >= ROOMY_FROM => ROOMY,
            true => TIGHT,
        };
        // A source is a row of its own, so its arcs run from row to row.
        let between = if model.source.is_empty() { between.min(NEAR) } else { between };
        let measure = |text: &str, font: f32| width_of(ui, text, theme::strong(font));
        let font = if area.y < TALL_FROM { FONTS.0 } else { FONTS.1 };
        let room = Room { width: (area.x - 2.0 * size::GAP).max(0.0), above, between, below, font };
        let plan = match &model.patches {
            Some(places) => Plan::of_patches(&model.words, places, room.width, PATCHES * area.y, measure),
            None => Plan::of(&model.source, &model.words, room, measure),
        };
        let controls = if has_arcs && options.is_open { size::VIEW_BAR - size::GAP_TIGHT } else { 0.0 };
        let (walk, partners) = (None, Vec::new());
        Some(Self { model, picture: None, plan, options, controls, step: Step::Contextual, walk, partners })
    }

    /// Returns the strip with the picture whose patches the words are.
    #[must_use]
    pub fn with_picture(self, picture: Option<&'a PatchPicture>) -> Self {
        Self { picture, ..self }
    }

    /// Returns the strip at a step: before softmax, each key has its own number, and from softmax on, the weights have
    /// arcs. `walk` is given while the steps are walked through.
    #[must_use]
    pub fn at_step(self, step: Step, walk: Option<&'a WalkModel>) -> Self {
        let partners = walk.map_or_else(Vec::new, |walk| walk.partners(step));
        Self { step, walk, partners, ..self }
    }

    /// Returns whether the step is about a word: it is the chosen word or one of its partners, or the step is the last.
    fn is_about(&self, at: WordAt) -> bool {
        let Some(walk) = self.walk.filter(|_| self.step != Step::Contextual) else { return true };
        let is_query = at == WordAt { side: walk.query_side, position: walk.focus.query };
        is_query || at.side == walk.key_side && self.partners.contains(&at.position)
    }

    /// Returns the head that the step is about; `None` for a step about the whole layer, and without a walk.
    fn walked_head(&self) -> Option<usize> {
        self.walk.filter(|_| self.step.is_of_head()).map(|walk| walk.focus.head)
    }

    fn has_weights(&self) -> bool {
        self.step >= Step::Softmax
    }

    /// Returns the weights to draw. Before softmax there are none, except for those of a word under the pointer; during
    /// a walk not even these, because they would hide the step's numbers.
    fn drawn(&self, state: &StripState, view: &PanelView) -> Option<ShownArcs> {
        if self.walk.is_some() {
            let chosen = chosen(self.model, state, view, self.options.is_open).filter(|_| self.has_weights());
            return chosen.map(|shown| ShownArcs { head: self.walked_head().or(shown.head), ..shown });
        }
        let is_pointed_at = view.hover.at().is_some() || view.hover.pair().is_some();
        // Without its picture, a grid of patches has nothing to show but weights.
        let is_empty_grid = self.model.patches.is_some() && self.picture.is_none();
        let is_shown = is_pointed_at || is_empty_grid || self.has_weights();
        shown(self.model, state, view, self.options.is_open).filter(|_| is_shown)
    }

    pub fn height(&self) -> f32 {
        self.controls + self.plan.size.y
    }

    /// Returns the horizontal position on the screen of the middle of a word; `None` before the first frame, and for a
    /// word without a place.
    pub fn middle_of(&self, word: WordAt, state: &StripState) -> Option<f32> {
        Some(state.origin?.x + self.plan.middle(word, state.scrolled)?)
    }

    pub fn ui(&self, ui: &mut Ui, state: &mut StripState, view: &mut PanelView) {
        let palette = Palette::on(ui);
        let area = ui.available_rect_before_wrap();
        state.area = Some(area);
        let shown = self.drawn(state, view);
        let ground = ui.interact(area, strip_id(), Sense::click());
        let said = shown.map_or_else(|| self.sentence(), |shown| self.model.spoken(&shown));
        ground.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, format!("Sentence: {said}")));
        keep_keys(&ground);
        if ground.clicked() {
            view.selection.choose_query(None);
            state.source = None;
        }
        let (top, below) = area.split_top_bottom_at_y(area.top() + self.controls);
        if self.controls > 0.0 {
            let inner = top.shrink2(Vec2::new(size::GAP, 0.0));
            let layout = Layout::left_to_right(Align::Center);
            ui.scope_builder(UiBuilder::new().max_rect(inner).layout(layout), |ui| {
                self.controls_ui(ui, shown, state, view);
            });
        }
        let inner = below.shrink2(Vec2::new(size::GAP, 0.0));
        ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
            if self.plan.size.x > inner.width() {
                ScrollArea::horizontal().id_salt("sentence").show_viewport(ui, |ui, seen| {
                    state.scrolled = seen.left();
                    let strip = Self { plan: self.plan.scrolled(seen.left()), ..self.clone() };
                    strip.line_ui(ui, &ground, shown, state, view);
                });
            } else {
                state.scrolled = 0.0;
                self.line_ui(ui, &ground, shown, state, view);
            }
        });
        if ground.has_focus() {
            let stroke = Stroke::new(size::HAIRLINE, palette.accent);
            ui.painter().rect_stroke(area, 0.0, stroke, egui::StrokeKind::Inside);
        }
    }

    fn sentence(&self) -> String {
        self.model.words.iter().map(|word| word.label.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Shows the choices of heads, layers and direction, and the largest weights in words.
    fn controls_ui(&self, ui: &mut Ui, shown: Option<ShownArcs>, state: &mut StripState, view: &mut PanelView) {
        /// Least room for the weights in words; in less room, they would be cut off before the key's name.
        const SAID_MIN: f32 = 180.0;
        /// Least room for the switches of the reading with some words beside them.
        const READING_FROM: f32 = 300.0;
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.spacing_mut().button_padding.x = size::GAP_TIGHT + 2.0;
        let palette = Palette::on(ui);
        let Some(layer) = layer(self.model, view.selection, view.walk) else { return };
        self.layers_ui(ui, layer, view.selection, view.walk);
        self.heads_ui(ui, layer, palette, view.selection);
        self.directions_ui(ui, state, view.highlight);
        // The switches are also shown if their setting is not the default one, so that the learner can see why the arcs
        // differ.
        if ui.available_width() > READING_FROM || view.selection.reading != Reading::default() {
            ui.separator();
            reading_ui(ui, &self.model.sinks, &mut view.selection.reading);
        }
        ui.add_space(size::GAP_TIGHT);
        let Some(shown) = shown.filter(|_| ui.available_width() > SAID_MIN) else { return };
        let said = self.model.summary(&shown);
        let is_short = width_of(ui, &said, theme::plain(size::BODY)) <= ui.available_width();
        let words = RichText::new(&said).size(if is_short { size::BODY } else { size::SMALL });
        ui.add(Label::new(words.color(palette.ink_soft)).truncate()).on_hover_text(said);
    }

    fn layers_ui(&self, ui: &mut Ui, layer: usize, selection: &mut Selection, walk: &Walk) {
        /// Greatest number of layers with buttons; more have a list.
        const BUTTONS: usize = 2;
        let layers = &self.model.layers;
        if layers.len() < 2 {
            return;
        }
        let mut choice = |ui: &mut Ui, index: usize| {
            let one = &layers[index];
            let response = ui.selectable_label(index == layer, &one.title);
            let name = format!("Show the arcs of {}", one.title.to_lowercase());
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, index == layer, &name));
            if response.on_hover_text(name).clicked() {
                show_layer(self.model, index, selection, walk);
            }
        };
        if layers.len() <= BUTTONS {
            (0..layers.len()).for_each(|index| choice(ui, index));
        } else {
            let button = ui.menu_button(format!("{} ▾", layers[layer].title), |ui| {
                (0..layers.len()).for_each(|index| choice(ui, index));
            });
            button.response.on_hover_text(SentenceAction::HeadAfter.row().hint_with("Which layer's arcs are shown"));
        }
        ui.separator();
    }

    fn heads_ui(&self, ui: &mut Ui, layer: usize, palette: &Palette, selection: &mut Selection) {
        /// Greatest number of heads with chips; more have a list.
        const CHIPS: usize = 6;
        let heads = &self.model.layers[layer].heads;
        if heads.len() < 2 {
            return;
        }
        let only = self.walked_head().or(selection.shown_head());
        let mut chip = |ui: &mut Ui, head: Option<usize>, text: RichText, name: &str| {
            let response = ui.selectable_label(only == head, text);
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, only == head, name));
            if response.on_hover_text(SentenceAction::HeadAfter.row().hint_with(name)).clicked() {
                selection.show_head(head);
            }
        };
        let mut chips = |ui: &mut Ui| {
            let all = "Arcs of all heads; each number is the mean over the heads";
            chip(ui, None, RichText::new("all"), all);
            for (own, head) in heads.iter().enumerate() {
                let off = if head.is_enabled { "" } else { ", switched off" };
                let text = RichText::new(format!("{}", own + 1)).color(palette.head(own)).strong();
                let text = if head.is_enabled { text } else { text.strikethrough() };
                chip(ui, Some(head.head), text, &format!("Arcs of {} only{off}", head.title.to_lowercase()));
            }
        };
        if heads.len() <= CHIPS {
            chips(ui);
        } else {
            let title = only.map_or("All heads".to_owned(), |_| "One head".to_owned());
            ui.menu_button(format!("{title} ▾"), chips).response.on_hover_text("Which heads' arcs are shown");
        }
        ui.separator();
    }

    /// Shows the choices of the direction of the arcs, and of words or pieces.
    fn directions_ui(&self, ui: &mut Ui, state: &mut StripState, highlight: &mut Highlight) {
        for direction in Direction::ALL {
            let is_shown = state.direction == direction;
            let hint = match direction {
                Direction::LooksAt => "Arcs to the words that the chosen word looks at",
                Direction::SeenBy => "Arcs from the words that look at the chosen word",
            };
            let response = ui.selectable_label(is_shown, direction.name());
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_shown, hint));
            if response.on_hover_text(SentenceAction::Turn.row().hint_with(hint)).clicked() {
                state.direction = direction;
            }
        }
        if self.model.has_pieces {
            ui.separator();
            let row = WindowAction::Pieces.row();
            let response = ui.selectable_label(highlight.pieces, row.text);
            if response.on_hover_text(row.hint()).clicked() {
                highlight.pieces = !highlight.pieces;
            }
        }
    }

    /// Shows words, arcs and numbers.
    fn line_ui(
        &self,
        ui: &mut Ui,
        ground: &Response,
        shown: Option<ShownArcs>,
        state: &mut StripState,
        view: &mut PanelView,
    ) {
        let palette = Palette::on(ui);
        let origin = ui.allocate_space(self.plan.size).1.min;
        state.origin = Some(origin);
        let painter = ui.painter().clone();
        if let Some(places) = &self.model.patches {
            self.patches_ui(ui, places, origin, shown, state, view);
            return;
        }
        // The arcs are painted under the words.
        let (share, before) = state.fade.at(ui, shown, self.options.reduced_motion);
        let arcs_of = |shown: Option<ShownArcs>| shown.map(|shown| self.model.drawn(&shown)).unwrap_or_default();
        let (own, aligned) = (arcs_of(shown), shown.is_none().then(|| self.alignment(view)));
        let arcs = aligned.as_deref().unwrap_or(&own);
        let placed_arcs = placed(&self.plan, origin, arcs);
        let pointed = view.hover.pair().and_then(|pair| self.model.placed_pair(pair));
        let leaving = placed(&self.plan, origin, &arcs_of(before));
        leaving.iter().for_each(|arc| arc.paint(&painter, palette, 1.0 - share, false));
        let is_pointed = |arc: &&PlacedArc| pointed == Some(arc.arc.pair);
        placed_arcs.iter().filter(|arc| !is_pointed(arc)).for_each(|arc| arc.paint(&painter, palette, share, false));
        placed_arcs.iter().filter(is_pointed).for_each(|arc| arc.paint(&painter, palette, share, true));
        let mut hovered = None;
        for word in &self.plan.words {
            if self.word_ui(ui, word, origin, shown, state, view) {
                hovered = Some(word.at);
            }
        }
        match (self.walk, shown) {
            (Some(walk), _) if !self.has_weights() => self.step_numbers(&painter, origin, walk, palette),
            (_, Some(shown)) if self.has_weights() => self.numbers(&painter, origin, &shown, palette),
            _ => {}
        }
        let pointer = ground.hover_pos().filter(|_| hovered.is_none());
        let pair = pointer.and_then(|pointer| nearest(&placed_arcs, pointer));
        if let Some(arc) = pair.and_then(|pair| arcs.iter().find(|arc| arc.pair == pair)) {
            self.arc_ui(ground, arc, view);
        }
    }

    /// Returns the arcs from each word to the one of the other sentence that it looks at most, as long as no word is
    /// chosen and no step is walked through.
    fn alignment(&self, view: &PanelView) -> Arc<[WeightArc]> {
        let layer = layer(self.model, view.selection, view.walk)
            .filter(|_| self.options.is_open && self.walk.is_none() && self.has_weights());
        let arcs = layer.map(|layer| self.model.alignment(layer, view.selection.shown_head(), view.selection.reading));
        arcs.unwrap_or_default()
    }

    /// Shows the weight of the arc under the pointer in words; a click on the arc of a word of the sentence chooses its
    /// pair for the walk.
    fn arc_ui(&self, ground: &Response, arc: &WeightArc, view: &mut PanelView) {
        view.hover.point_at_pair(arc.pair);
        if ground.clicked() && arc.from.side == Side::Sentence {
            let selection = &mut view.selection;
            selection.choose_query(Some(arc.pair.query));
            (selection.head, selection.key) = (arc.pair.head, Some(arc.pair.key));
        }
        let entry = self.model.entry(arc);
        if let Some(entry) = entry {
            ask_on(ground, entry, view.trail);
        }
        ground.clone().on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_ui(|ui| {
            ui.label(self.model.say(arc));
            ui.weak(format!("Click to follow this pair. {}", if entry.is_some() { ASK_HINT } else { OF_PIECES }));
        });
    }

    /// Shows a word, and returns true if the pointer is over it.
    fn word_ui(
        &self,
        ui: &Ui,
        word: &PlacedWord,
        origin: Pos2,
        shown: Option<ShownArcs>,
        state: &mut StripState,
        view: &mut PanelView,
    ) -> bool {
        let palette = Palette::on(ui);
        let Some(text) = self.model.word(word.at) else { return false };
        let rect = word.rect.translate(origin.to_vec2());
        // The strip as a whole has the keyboard focus, and its arrow keys move from word to word.
        let response = ui.interact(rect, ui.id().with(("word", word.at)), Sense::CLICK);
        let is_chosen = is_chosen(word.at, state, view.selection);
        response.widget_info(|| {
            let kind = if self.model.patches.is_some() { "Token" } else { "Word" };
            let spoken = self.spoken(word.at, shown, state, view.selection, view.walk);
            let name = format!("{kind} {}: {spoken}", text.label);
            WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, name)
        });
        let is_pointed = response.hovered()
            || view.hover.at() == Some(word.at)
            || view.hover.at().is_none() && view.hover.word() == Some(&*text.text);
        let is_followed = shown.is_some_and(|shown| shown.word == word.at);
        let is_lit = view.highlight.lit.contains(&text.text);
        let look = WordLook { is_chosen, is_followed, is_lit, is_pointed };
        match self.model.patches.as_ref().and_then(|places| places.of_token(word.at.position)) {
            Some(_) => patches::paint_look(ui.painter(), rect, look, palette),
            None => self.paint_word(ui.painter(), word.at, text, rect, look, palette),
        }
        // The strip scrolls to the walk's word while the walk is in the source, and otherwise to the chosen word.
        let is_sought = state.followed.map_or(is_chosen, |followed| word.at == WordAt::in_source(followed));
        if is_sought && state.in_sight != Some(word.at) {
            state.in_sight = Some(word.at);
            ui.scroll_to_rect(self.plan.sought(word).translate(origin.to_vec2()), Some(Align::Center));
        }
        if response.clicked() {
            choose(word.at, state, view.selection);
            ui.memory_mut(|memory| memory.request_focus(strip_id()));
        }
        if response.hovered() {
            self.pointed_ui(&response, word.at, text, state.area, view);
        }
        response.hovered()
    }

    /// Highlights the word under the pointer everywhere, and shows its card beside the strip.
    fn pointed_ui(&self, word: &Response, at: WordAt, text: &ArcWord, strip: Option<Rect>, view: &mut PanelView) {
        view.hover.point_at_token(at);
        view.hover.point_at(&text.text);
        let cards = self.cards(at, view.selection, view.walk);
        let sink = at.token().and_then(|position| self.model.sinks.at(position));
        let strip = strip.unwrap_or(word.rect);
        card_beside(word, word.rect, strip, |ui| card_ui(ui, &text.label, &cards, sink));
    }

    fn paint_word(&self, painter: &Painter, at: WordAt, text: &ArcWord, rect: Rect, look: WordLook, palette: &Palette) {
        let WordLook { is_chosen, is_followed, is_lit, is_pointed } = look;
        if is_pointed {
            painter.rect_filled(rect, f32::from(size::RADIUS_SMALL), palette.lifted);
        }
        let ink = palette.token(text.group);
        let ink = if is_lit || is_followed || text.group.is_some() { ink } else { palette.ink };
        let ink = if self.is_about(at) { ink } else { palette.ink_faint };
        let font = if is_lit || is_chosen || is_followed { theme::strong } else { theme::plain };
        painter.text(rect.center(), Align2::CENTER_CENTER, &text.label, font(self.plan.font), ink);
        if at.token().is_some_and(|position| self.model.sinks.at(position).is_some()) {
            paint_sink(painter, rect.right_top() + Vec2::new(0.0, size::GAP), palette);
        }
        if is_chosen || is_followed {
            let ink = if is_chosen { palette.accent } else { palette.ink_faint };
            let line = rect.shrink(size::GAP_TIGHT).x_range();
            painter.hline(line, rect.bottom() - size::OUTLINE, Stroke::new(size::OUTLINE, ink));
        }
    }

    /// Returns the weights of a word in both directions in words, several lines each.
    fn cards(&self, at: WordAt, selection: &Selection, walk: &Walk) -> Vec<(Direction, Vec<String>)> {
        let Some(layer) = layer(self.model, selection, walk) else { return Vec::new() };
        let head = selection.shown_head();
        let directions = self.model.directions(layer, at).into_iter();
        directions
            .map(|direction| {
                (
                    direction,
                    self.model.card(&ShownArcs { word: at, direction, layer, head, reading: selection.reading }),
                )
            })
            .collect()
    }

    fn spoken(
        &self,
        at: WordAt,
        shown: Option<ShownArcs>,
        state: &StripState,
        selection: &Selection,
        walk: &Walk,
    ) -> String {
        let Some(layer) = layer(self.model, selection, walk) else { return self.model.label(at).to_owned() };
        let directions = self.model.directions(layer, at);
        let head = shown.map_or(selection.shown_head(), |shown| shown.head);
        match directions.iter().find(|one| **one == state.direction).or(directions.first()) {
            Some(&direction) => {
                let reading = selection.reading;
                self.model.spoken(&ShownArcs { word: at, direction, layer, head, reading })
            }
            None => self.model.label(at).to_owned(),
        }
    }

    /// Writes the largest weights as numbers beside their words, on the side without arcs; those of a single head have
    /// its colour.
    fn numbers(&self, painter: &egui::Painter, origin: Pos2, shown: &ShownArcs, palette: &Palette) {
        let Some(from) = self.plan.place(shown.word) else { return };
        let mut notes = Notes { painter, palette, taken: Vec::new() };
        for WordNumber { at, text, own } in self.model.numbers(shown) {
            let Some(word) = self.plan.place(at) else { continue };
            let ink = own.map_or(palette.ink, |own| palette.head(own).lerp_to_gamma(palette.ink, TOWARDS_INK));
            notes.write(word.rect.translate(origin.to_vec2()), word.row < from.row, text, ink);
        }
    }

    /// Writes the step's number for each key, or the letters of its vectors, beside the key's word. Keys with the
    /// largest pull come first, because a note that would overlap an earlier one is left out. Of patches, only those
    /// have numbers that the step is about, because numbers would cover the picture.
    fn step_numbers(&self, painter: &egui::Painter, origin: Pos2, walk: &WalkModel, palette: &Palette) {
        let step = self.step;
        let mut notes = Notes { painter, palette, taken: Vec::new() };
        let is_written = |key: &usize| self.model.patches.is_none() || self.partners.contains(key);
        let mut keys: Vec<usize> = (0..walk.keys.len()).filter(is_written).collect();
        let place = step.index() as f32;
        keys.sort_by(|a, b| walk.pull(place, *b).total_cmp(&walk.pull(place, *a)));
        for key in keys {
            let word = self.plan.place(WordAt { side: walk.key_side, position: key });
            let (Some(word), Some(note)) = (word, walk.beside(step, key)) else { continue };
            let ink = if walk.is_large(step, key) { palette.ink } else { palette.ink_soft };
            let is_above = walk.key_side == Side::Source && walk.query_side == Side::Sentence;
            notes.write(word.rect.translate(origin.to_vec2()), is_above, note, ink);
        }
    }
}

/// Numbers beside words, each on a background of its own. Where two would overlap, only the first is drawn.
struct Notes<'a> {
    painter: &'a egui::Painter,
    palette: &'a Palette,
    taken: Vec<Rect>,
}

impl Notes<'_> {
    fn write(&mut self, word: Rect, is_above: bool, note: String, ink: Color32) {
        let Self { painter, palette, taken } = self;
        let mut job = LayoutJob::default();
        for letter in note.chars() {
            let ink = Role::of_letter(letter).map_or(ink, |role| role.hue(palette));
            job.append(letter.encode_utf8(&mut [0; 4]), 0.0, TextFormat::simple(theme::mono(size::LABEL_AXIS), ink));
        }
        let galley = painter.layout_job(job);
        let (side, at) = match is_above {
            true => (Align2::CENTER_BOTTOM, word.center_top()),
            false => (Align2::CENTER_TOP, word.center_bottom()),
        };
        let at = side.anchor_size(at, galley.size());
        let room = at.expand2(Vec2::new(size::GAP_TIGHT / 2.0, 0.0));
        if !taken.iter().any(|other| other.intersects(room)) {
            taken.push(room);
            painter.rect_filled(room, f32::from(size::RADIUS_SMALL), palette.stage.gamma_multiply(HALO));
            painter.galley(at.min, galley, ink);
        }
    }
}

/// Opacity of the background of a number.
const HALO: f32 = 0.8;

fn card_ui(ui: &mut Ui, label: &str, cards: &[(Direction, Vec<String>)], sink: Option<&Sink>) {
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    ui.strong(label);
    for (place, (direction, card)) in cards.iter().filter(|(_, card)| !card.is_empty()).enumerate() {
        if place > 0 {
            ui.separator();
        }
        ui.label(RichText::new(direction.heading(label)).font(theme::strong(size::SMALL)));
        card.iter().for_each(|line| {
            ui.label(line);
        });
    }
    if let Some(sink) = sink {
        ui.separator();
        ui.set_max_width(size::WIDE_POPUP);
        ui.add(Label::new(sink.about()).wrap());
    }
    ui.weak("Click to choose the word; then the arrow keys move to other words.");
}

/// Returns the layer whose arcs are shown: that of the walk or of a head that was chosen or is shown alone, or else the
/// last layer.
pub fn layer(model: &SentenceArcs, selection: &Selection, walk: &Walk) -> Option<usize> {
    let is_of_head = selection.is_head_chosen || selection.shown_head().is_some();
    let is_followed = is_of_head || walk.is_walking() || walk.shown_layer().is_some();
    let of_head = || model.layer_of(selection.head);
    if is_followed { of_head() } else { model.layers.len().checked_sub(1) }
}

/// Returns the weights of the chosen word of the row, if there is one. Without one, they are of the first word that the
/// lesson is about once it has introduced attention or, in the row of the source, of the word that the walk is about.
fn chosen(model: &SentenceArcs, state: &StripState, view: &PanelView, is_open: bool) -> Option<ShownArcs> {
    let layer = layer(model, view.selection, view.walk)?;
    let word = match model.layers[layer].line_of(state.direction) {
        Side::Sentence => view
            .selection
            .query
            .or_else(|| model.first_lit(&view.highlight.lit).filter(|_| is_open))
            .map(WordAt::in_sentence),
        Side::Source => state.source.or(state.followed).map(WordAt::in_source),
    };
    of_word(model, state, view, word?)
}

/// Returns the weights of a word in the layer and the heads that are shown.
fn of_word(model: &SentenceArcs, state: &StripState, view: &PanelView, word: WordAt) -> Option<ShownArcs> {
    let layer = layer(model, view.selection, view.walk)?;
    let word = Some(word).filter(|word| model.word(*word).is_some()).map(|word| model.placed(word))?;
    let directions = model.directions(layer, word);
    let same = directions.iter().find(|one| **one == state.direction).or(directions.first());
    let selection = &view.selection;
    Some(ShownArcs {
        word,
        direction: same.copied().unwrap_or(state.direction),
        layer,
        // During a walk through a head, the numbers beside the points are that head's.
        head: selection.shown_head().or(view.walk.is_walking().then_some(selection.head)),
        reading: selection.reading,
    })
}

/// Returns the weights to show: those of the pair or word under the pointer, anywhere in the window, or else of the
/// chosen word, or else of the first word that the lesson is about.
pub fn shown(model: &SentenceArcs, state: &StripState, view: &PanelView, is_open: bool) -> Option<ShownArcs> {
    let of_word = match view.hover.at() {
        Some(word) => of_word(model, state, view, word),
        None => chosen(model, state, view, is_open),
    };
    let reading = view.selection.reading;
    let Some(pair) = view.hover.pair().and_then(|pair| model.placed_pair(pair)) else { return of_word };
    if of_word.is_some_and(|shown| model.arcs(&shown).iter().any(|arc| arc.pair == pair)) {
        return of_word;
    }
    let layer = model.layer_of(pair.head)?;
    let word = WordAt { side: model.layers[layer].queries, position: pair.query };
    Some(ShownArcs { word, direction: Direction::LooksAt, layer, head: Some(pair.head), reading })
}

/// Returns whether a word is the chosen one: the query in the sentence, or the chosen word in the source.
fn is_chosen(at: WordAt, state: &StripState, selection: &Selection) -> bool {
    match at.side {
        Side::Sentence => selection.query == Some(at.position),
        Side::Source => state.source == Some(at.position),
    }
}

/// Chooses a word. One of the sentence becomes the query in all panels; one of the source is chosen only in the strip,
/// which then shows the words that look at it.
pub fn choose(at: WordAt, state: &mut StripState, selection: &mut Selection) {
    match at.side {
        Side::Sentence => {
            state.source = None;
            if selection.query != Some(at.position) {
                selection.choose_query(Some(at.position));
            }
        }
        Side::Source => {
            state.source = Some(at.position);
            state.direction = Direction::SeenBy;
        }
    }
}

/// Gives the strip the keyboard on a click. The arrow keys then move from word to word instead of moving the focus to
/// another control.
fn keep_keys(response: &Response) {
    if response.clicked() {
        response.request_focus();
    }
    if response.has_focus() {
        let kept =
            egui::EventFilter { horizontal_arrows: true, vertical_arrows: true, escape: true, ..Default::default() };
        response.ctx.memory_mut(|memory| memory.set_focus_lock_filter(response.id, kept));
    }
}

impl Fade {
    /// Returns the opacity of the current arcs, from 0 to 1, and the arcs that fade out meanwhile.
    fn at(&mut self, ui: &Ui, shown: Option<ShownArcs>, reduced_motion: bool) -> (f32, Option<ShownArcs>) {
        let now = ui.input(|input| input.time);
        if self.shown != shown {
            (self.before, self.shown, self.since) = (self.shown, shown, now);
        }
        let share = if reduced_motion { 1.0 } else { ((now - self.since) as f32 / motion::FADE).clamp(0.0, 1.0) };
        if share < 1.0 {
            ui.ctx().request_repaint();
        } else {
            self.before = None;
        }
        (share, self.before)
    }
}

/// Handles key presses for the sentence before any panel sees them.
pub fn keys(ctx: &Context, model: Option<&SentenceArcs>, state: &mut StripState, view: &mut PanelView) {
    let Some(model) = model else { return };
    let has_arcs = !model.layers.is_empty();
    let pressed = pressed(ctx, |action| match action {
        SentenceAction::LetGo | SentenceAction::WordBefore | SentenceAction::WordAfter => true,
        SentenceAction::HeadBefore | SentenceAction::HeadAfter | SentenceAction::Turn => has_arcs,
    });
    for Pressed { action, count, .. } in &pressed {
        let steps = *count as isize;
        match action {
            SentenceAction::WordBefore => step(model, state, view, -steps),
            SentenceAction::WordAfter => step(model, state, view, steps),
            SentenceAction::HeadBefore => step_head(model, view.selection, view.walk, -steps),
            SentenceAction::HeadAfter => step_head(model, view.selection, view.walk, steps),
            SentenceAction::Turn => state.direction = state.direction.other(),
            SentenceAction::LetGo => let_go(ctx, state, view),
        }
    }
    if !pressed.is_empty() {
        drop_text(ctx);
    }
}

/// Undoes one thing with each press of Esc: it ends the walk, or else clears the choice, or else gives up the keyboard.
fn let_go(ctx: &Context, state: &mut StripState, view: &mut PanelView) {
    if view.end_walk() {
        return;
    }
    let clears = view.clear_choice() | state.source.take().is_some();
    if !clears {
        ctx.memory_mut(|memory| memory.surrender_focus(strip_id()));
    }
}

/// Chooses the word `steps` places further on, in the row whose weights are shown, but not beyond its ends.
fn step(model: &SentenceArcs, state: &mut StripState, view: &mut PanelView, steps: isize) {
    let layer = layer(model, view.selection, view.walk).map(|layer| &model.layers[layer]);
    let line = layer.map_or(Side::Sentence, |layer| layer.line_of(state.direction));
    let words = model.line(line);
    let placed: Vec<usize> = (0..words.len()).filter(|at| !words[*at].is_part).collect();
    let Some(last) = placed.len().checked_sub(1) else { return };
    let chosen = match line {
        Side::Sentence => view.selection.query.or_else(|| model.first_lit(&view.highlight.lit)),
        Side::Source => state.source,
    };
    // Without a chosen word, the first press chooses the word at an end.
    let from = chosen.map(|at| placed.partition_point(|other| *other <= at).saturating_sub(1));
    let to = from.map_or(if steps > 0 { 0 } else { last }, |at| at.saturating_add_signed(steps).min(last));
    let direction = state.direction;
    choose(WordAt { side: line, position: placed[to] }, state, view.selection);
    state.direction = direction;
    debug_assert!(shown(model, state, view, true).is_some() || model.layers.is_empty());
}

/// Moves `steps` places on in the sequence of all heads of a layer, each of its heads alone, and then the same for the
/// next layer; the ends of the sequence stop it.
fn step_head(model: &SentenceArcs, selection: &mut Selection, walk: &Walk, steps: isize) {
    let Some(now) = layer(model, selection, walk) else { return };
    let choices: Vec<(usize, Option<usize>)> = model
        .layers
        .iter()
        .enumerate()
        .flat_map(|(index, layer)| {
            // In a layer with one head, that head is all heads.
            let alone = layer.heads.iter().filter(|_| layer.heads.len() > 1).map(move |head| (index, Some(head.head)));
            std::iter::once((index, None)).chain(alone)
        })
        .collect();
    let only = selection.shown_head().filter(|_| model.layers[now].heads.len() > 1);
    let Some(at) = choices.iter().position(|choice| *choice == (now, only)) else { return };
    let (to, head) = choices[at.saturating_add_signed(steps).min(choices.len() - 1)];
    selection.show_head(head);
    if head.is_none() && to != now {
        selection.choose_head(model.layers[to].heads[0].head);
    }
}

/// Shows another layer, with all heads or with the head alone that has the same index in it.
pub fn show_layer(model: &SentenceArcs, index: usize, selection: &mut Selection, walk: &Walk) {
    let before = layer(model, selection, walk).map(|layer| &model.layers[layer].heads);
    let own = before.and_then(|heads| heads.iter().position(|head| head.head == selection.head));
    let heads = &model.layers[index].heads;
    selection.choose_head(heads[own.unwrap_or(0).min(heads.len() - 1)].head);
}
