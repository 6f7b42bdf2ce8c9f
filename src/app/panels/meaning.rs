//! The meaning panel: the words that a word is near, before attention and after it; the word beside a second sentence; and its
//! senses in several.

use attune_engine::quantity::{Quantity, StagePoint};
use attune_view::view_model::compare::{CompareModel, TwoModels};
use attune_view::view_model::meaning::{LayerNeighbours, Measure, NearWord, NeighboursModel};
use attune_view::view_model::meaning::{SensesModel, list_with, written_at};
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use attune_view::view_model::sentences::SentencesModel;
use egui::{Align, CornerRadius, Label, Layout, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

use super::compare::{TwoModelsUiState, compare_ui, one_model_ui, two_models_ui};
use super::senses::{SensesUiState, senses_ui};
use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::actions::Action;
use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::{choose_query_ui, switch_ui};
use crate::app::widgets::sentence_field::SentenceFieldState;
use crate::app::widgets::traced::ask_on;

#[derive(Default)]
pub struct MeaningPanel {
    pub view: MeaningView,
    /// How nearness is measured.
    measure: Measure,
    field: SentenceFieldState,
    senses: SensesUiState,
    models: TwoModelsUiState,
    /// Whether there was a second sentence in the last frame, whether senses were shown, and another model was there.
    is_comparing: bool,
    has_senses: bool,
    has_models: bool,
}

impl MeaningPanel {
    pub const ID: PanelId = PanelId::of(PanelName::Meaning);

    pub fn showing(view: MeaningView) -> Self {
        Self { view, ..Self::default() }
    }
}

impl Panel for MeaningPanel {
    fn id(&self) -> PanelId {
        Self::ID
    }

    fn region(&self) -> Region {
        Region::LowerRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (neighbours, sentences) = (cx.models.get::<NeighboursModel>()?, cx.models.get::<SentencesModel>()?);
        // Wherever a comparison begins, it is what is to be seen.
        let was_comparing = std::mem::replace(&mut self.is_comparing, sentences.second.is_some());
        if self.is_comparing && !was_comparing {
            self.view = MeaningView::Sentences;
        }
        let senses = cx.models.get::<SensesModel>()?;
        let had_senses = std::mem::replace(&mut self.has_senses, senses.is_on);
        if self.has_senses && !had_senses {
            self.view = MeaningView::Senses;
        }
        let beside = cx.models.beside.clone();
        let had_models = std::mem::replace(&mut self.has_models, beside.is_some());
        if self.has_models && !had_models {
            self.view = MeaningView::Models;
        }
        let views = [
            (MeaningView::Neighbours, "Neighbours", "The words near one word, before attention and after"),
            (MeaningView::Sentences, "Two sentences", "One word in two sentences: how far attention takes them apart"),
            (MeaningView::Senses, "Senses", "One word in up to 20 sentences: after which layer its senses part"),
            (MeaningView::Models, "Two models", "This model and another one on the same sentence"),
        ];
        switch_ui(ui, &mut self.view, &views);
        match self.view {
            MeaningView::Neighbours => {
                // Behind the last layer they are those of the contextual vectors.
                let passed = cx.view.walk.passed_layers().map(|passed| passed as usize);
                let block =
                    passed.filter(|passed| *passed < cx.view.walk.layers()).and_then(|passed| passed.checked_sub(1));
                let near =
                    cx.view.selection.query.zip(block).and_then(|(query, block)| {
                        Some((block, cx.models.of_choice::<LayerNeighbours>(&(query, block))?))
                    });
                let behind = near.as_ref().map(|(block, near)| (*block, &**near));
                neighbours_ui(ui, &neighbours, behind, &mut self.measure, &mut cx.view);
            }
            MeaningView::Sentences => {
                let model = cx.models.get::<CompareModel>();
                let commands = compare_ui(ui, model.as_deref(), &sentences, &mut self.field, &mut cx.view);
                cx.requests.commands.extend(commands);
            }
            MeaningView::Models => match beside {
                Some(beside) => {
                    let models = cx.models.of_choice::<TwoModels>(&beside)?;
                    two_models_ui(ui, &models, &mut self.models, &mut cx.view);
                }
                None => cx.requests.actions.extend(one_model_ui(ui).map(Action::from)),
            },
            MeaningView::Senses => {
                let snapshot = cx.models.snapshot().filter(|_| senses.rows.is_empty());
                let word = snapshot.and_then(|snapshot| written_at(snapshot, cx.view.selection.query));
                let chosen = snapshot.zip(word).and_then(|(snapshot, word)| list_with(snapshot, &word));
                let marked = cx.view.selection.sense.and_then(|point| senses.sentence_of(point));
                senses_ui(ui, &senses, chosen.as_ref(), &mut self.senses, marked, cx.view.walk, cx.requests);
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.meaning = Some(self.view);
    }

    fn restore(&mut self, saved: &SavedView) {
        if let Some(view) = saved.meaning {
            self.view = view;
            // A comparison that was kept has not just begun; another model beside this one has.
            (self.is_comparing, self.has_senses) = (true, true);
        }
    }
}

/// The lists of the chosen word, by a measure of nearness.
/// `behind` are those behind the layer that the walk has passed last, with its number.
pub fn neighbours_ui(
    ui: &mut Ui,
    model: &NeighboursModel,
    behind: Option<(usize, &LayerNeighbours)>,
    measure: &mut Measure,
    view: &mut PanelView,
) {
    // The same words as in the sentence.
    let words = if view.highlight.pieces { &[][..] } else { &model.words[..] };
    let hint = "The words near this one";
    if words.is_empty() {
        choose_query_ui(ui, model.tokens.iter().map(|token| &token.label).enumerate(), hint, view.selection);
    } else {
        choose_query_ui(ui, words.iter().map(|word| (word.first, &word.label)), hint, view.selection);
    }
    let Some((query, token)) = view.selection.query.and_then(|query| Some((query, model.tokens.get(query)?))) else {
        ui.weak("Choose a word, to see which words are near it before attention and after.");
        return;
    };
    if let Some(note) = words.iter().find(|word| word.first == query).and_then(|word| word.note(&model.tokens)) {
        ui.add(Label::new(RichText::new(note).weak()).wrap());
    }
    ui.horizontal(|ui| {
        for (choice, words, hint) in [
            (Measure::Cosine, "Cosine", "By the angle between the vectors: 1 is the same direction"),
            (Measure::Euclidean, "Euclidean", "By the distance between the vectors: 0 is the same place"),
        ] {
            if ui.selectable_label(*measure == choice, words).on_hover_text(hint).clicked() {
                *measure = choice;
            }
        }
        let words = RichText::new("in the true space, not in the picture").weak();
        ui.add(Label::new(words).truncate());
    });
    ui.add_space(size::GAP_TIGHT);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.columns(2, |columns| {
            let contextual = ("Contextual", &token.after, StagePoint::Contextual(query));
            let last = behind.map_or(contextual, |(block, near)| {
                (near.title.as_str(), &near.words, StagePoint::After(query, block))
            });
            let lists = [("Static", &token.before, StagePoint::Static(query)), last];
            for (ui, (title, words, of)) in columns.iter_mut().zip(lists) {
                ui.label(RichText::new(title).font(theme::strong(size::BODY)));
                let near = words.by(*measure);
                for word in near {
                    row_ui(ui, (title, of, *measure), word, near, view);
                }
            }
        });
    });
}

/// A word with its measure as a bar.
fn row_ui(
    ui: &mut Ui,
    (list, of, measure): (&str, StagePoint, Measure),
    word: &NearWord,
    near: &[NearWord],
    view: &mut PanelView,
) {
    const BAR: f32 = 3.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let value = word.value(measure);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::click());
    let said = format!("{list}: {} {value:.4}", word.word);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    if response.hovered() {
        view.hover.point_at(&word.word);
    }
    let entry = match measure {
        Measure::Cosine => Quantity::Cosine.of_point(of, word.row),
        Measure::Euclidean => Quantity::Distance.of_point(of, word.row),
    };
    if response.clicked() {
        view.trail.open(entry);
    }
    ask_on(&response, entry, view.trail);
    if view.hover.word() == Some(word.word.as_str()) {
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS_SMALL), palette.lifted);
    }
    let most = near.iter().map(|word| word.value(measure).abs()).fold(f32::MIN_POSITIVE, f32::max);
    let bar = Rect::from_min_size(
        rect.left_bottom() - vec2(0.0, BAR),
        vec2(rect.width() * (value.abs() / most).clamp(0.0, 1.0), BAR),
    );
    ui.painter().rect_filled(bar, CornerRadius::ZERO, palette.word_of(word.group).gamma_multiply(size::BAR_FAINT));
    let inner = egui::UiBuilder::new().max_rect(rect).layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(inner, |ui| {
        ui.label(RichText::new(format!("{value:.3}")).font(theme::mono(size::SMALL)).color(palette.ink_soft));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let font = if word.is_new { theme::strong(size::BODY) } else { theme::plain(size::BODY) };
            ui.add(Label::new(RichText::new(&word.word).font(font).color(palette.ink)).truncate());
        });
    });
    let other = if word.is_new { "It is not in the other list. " } else { "" };
    response.on_hover_text(format!(
        "{other}cosine {:.4}, distance {:.4}; the stage shows where it is. Click: where the number comes from.",
        word.cosine, word.distance
    ));
}
