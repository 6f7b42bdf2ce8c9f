//! The meaning panel: the words that a word is near, before and after attention; a word in two sentences, or one
//! sentence in two models; and the senses of a word in several sentences.

use std::sync::Arc;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::snapshot::PairedWord;
use attune_engine::quantity::{Quantity, StagePoint};
use attune_engine::vectors::answers::Measure;
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{Hover, PanelView, Selection};
use attune_ui::widgets::controls::{action_ui, button_ui, choose_query_ui, switch_ui};
use attune_ui::widgets::plot::sketch_ui;
use attune_ui::widgets::sentence_field::{SentenceChange, SentenceField, SentenceFieldState, sentence_field_ui};
use attune_ui::widgets::traced::ask_on;
use attune_view::panels::meaning::layer_items;
use attune_view::view_model::capitalised;
use attune_view::view_model::compare::{CompareModel, PairModel};
use attune_view::view_model::meaning::{
    LayerNeighbours, NearExpression, NearWord, NeighboursModel, SensesModel, list_with, written_at,
};
use attune_view::view_model::number;
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use attune_view::view_model::sentences::SentencesModel;
use attune_view::view_model::spaces::TwoSpaces;
use attune_view::view_model::two_models::{SideOfBoth, TwoModels, WordInModel, WordOfBoth};
use egui::{CornerRadius, Grid, Label, Rect, RichText, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, WidgetType, vec2};

use super::panel::{Panel, PanelContext, PanelId, PanelName};
use super::senses::{SensesUiState, senses_ui};
use super::sheet::{SheetContext, SheetUiState, bar_at_foot, items_ui, name_and_number_ui};

/// The text above the buttons that begin a comparison with another model.
const ONE_MODEL: &str = "Another model reads the same sentence, and the answers, attention and layers of both models \
    are shown side by side. A file of vectors is compared with another file, whose vectors are rotated to match.";

#[derive(Default)]
pub struct MeaningPanel {
    pub view: MeaningView,
    /// The measure of nearness.
    measure: Measure,
    question: Question,
    field: SentenceFieldState,
    senses: SensesUiState,
    /// The state of the maps of layers.
    models: SheetUiState,
    /// Whether there was a second sentence in the last frame; a new one brings its view to the front.
    is_comparing: bool,
    /// Whether there was a list of senses in the last frame; a new one brings its view to the front.
    has_senses: bool,
    /// Whether there was another model in the last frame; a new one brings its view to the front.
    has_models: bool,
}

/// An expression of words whose neighbours are asked for.
#[derive(Default)]
struct Question {
    text: String,
    /// Whether the expression's own words count as answers.
    with_own: bool,
}

impl MeaningPanel {
    pub const ID: PanelId = PanelId::of(PanelName::Meaning);

    pub fn showing(view: MeaningView) -> Self {
        Self { view, ..Self::default() }
    }
}

impl Panel for MeaningPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (neighbours, sentences) = (cx.models.get::<NeighboursModel>()?, cx.models.get::<SentencesModel>()?);
        let senses = cx.models.get::<SensesModel>()?;
        let (beside, spaces) = (cx.models.beside.clone(), cx.models.spaces.clone());
        let has_models = beside.is_some() || spaces.is_some();
        self.follow_comparisons(sentences.second.is_some(), senses.is_on, has_models);
        self.view = cx.view.asked.meaning.take().unwrap_or(self.view);
        let views = [
            (MeaningView::Neighbours, "Neighbours", "The words near one word, before and after attention"),
            (
                MeaningView::Sentences,
                "Two sentences",
                "One word in two sentences, and how far apart its contextual vectors are",
            ),
            (
                MeaningView::Senses,
                "Senses",
                "One word in up to 20 sentences, and after which layer its senses \
                separate",
            ),
            (
                MeaningView::Models,
                "Two models",
                "This model and another one on the same sentence, or two files of vectors",
            ),
        ];
        switch_ui(ui, &mut self.view, &views);
        match self.view {
            MeaningView::Neighbours if question_ui(ui, &mut self.question) => {
                let choice = (self.question.text.trim().to_owned(), self.question.with_own);
                let answer = cx.models.of_choice::<NearExpression>(&choice)?;
                answer_ui(ui, &answer, &mut self.measure, &mut cx.view);
            }
            MeaningView::Neighbours => {
                let near = passed_neighbours(cx);
                let behind = near.as_ref().map(|(block, near)| (*block, &**near));
                neighbours_ui(ui, &neighbours, behind, &mut self.measure, &mut cx.view);
            }
            MeaningView::Sentences => {
                let model = cx.models.get::<CompareModel>();
                let commands = &mut cx.requests.commands;
                compare_ui(ui, model.as_deref(), &sentences, &mut self.field, &mut cx.view, commands);
            }
            MeaningView::Models => {
                let offered: &[WindowAction] = if has_models {
                    &[WindowAction::EndBeside]
                } else {
                    ui.add(Label::new(RichText::new(ONE_MODEL).weak()).wrap());
                    &[WindowAction::BesideOwn, WindowAction::Beside]
                };
                cx.requests.actions.extend(offered.iter().filter_map(|action| action_ui(ui, *action)));
                match (spaces, beside) {
                    (Some(spaces), _) => two_spaces_ui(ui, &spaces, cx.view.selection, cx.view.hover),
                    (None, Some(beside)) => {
                        let models = cx.models.of_choice::<TwoModels>(&beside)?;
                        two_models_ui(ui, &models, &mut SheetContext::new(&mut self.models, &mut cx.view));
                    }
                    (None, None) => {}
                }
            }
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
            // A restored second sentence or list of senses does not change the view, because it is not new; another
            // model is always new.
            (self.is_comparing, self.has_senses) = (true, true);
        }
    }
}

impl MeaningPanel {
    /// Brings a comparison into view when it begins.
    fn follow_comparisons(&mut self, has_second: bool, has_senses: bool, has_models: bool) {
        if !std::mem::replace(&mut self.is_comparing, has_second) && has_second {
            self.view = MeaningView::Sentences;
        }
        if !std::mem::replace(&mut self.has_senses, has_senses) && has_senses {
            self.view = MeaningView::Senses;
        }
        if !std::mem::replace(&mut self.has_models, has_models) && has_models {
            self.view = MeaningView::Models;
        }
    }
}

/// Returns the index of the layer that the walk has passed last, and the words near the chosen one after it. Returns
/// `None` before the end of the first layer, after the last layer, whose neighbours are those of the contextual
/// vectors, and if no word is chosen.
fn passed_neighbours(cx: &PanelContext) -> Option<(usize, Arc<LayerNeighbours>)> {
    let passed = cx.view.walk.passed_layers().map(|passed| passed as usize);
    let block = passed.filter(|passed| *passed < cx.view.walk.layers())?.checked_sub(1)?;
    let query = cx.view.selection.query?;
    Some((block, cx.models.of_choice::<LayerNeighbours>(&(query, block))?))
}

/// Draws the field of the expression. Returns whether it has any text.
fn question_ui(ui: &mut Ui, question: &mut Question) -> bool {
    const NAME: &str = "Words near";
    const OWN: f32 = 100.0;
    /// The most letters that an expression may have.
    const LETTERS: usize = 500;
    ui.horizontal(|ui| {
        let width = (ui.available_width() - OWN).max(size::CHART_MIN);
        let field = TextEdit::singleline(&mut question.text)
            .char_limit(LETTERS)
            .desired_width(width)
            .margin(size::FIELD_MARGIN)
            .hint_text("king - man + woman");
        let field = ui.add(field);
        ui.ctx().accesskit_node_builder(field.id, |node| node.set_label(NAME));
        field.on_hover_text("Finds the words near a word, or near a sum of words; put spaces around + and -");
        let own = ui.selectable_label(question.with_own, "own words");
        if own.on_hover_text("Whether the words of the question may be answers").clicked() {
            question.with_own = !question.with_own;
        }
    });
    !question.text.trim().is_empty()
}

/// Draws the words near an expression, or why there are none.
fn answer_ui(ui: &mut Ui, answer: &NearExpression, measure: &mut Measure, view: &mut PanelView) {
    if let Some(fault) = &answer.fault {
        ui.weak(fault);
        return;
    }
    measure_ui(ui, measure);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        let near = answer.words.by(*measure);
        for word in near {
            row_ui(ui, "Near", None, *measure, word, near, view);
        }
    });
}

/// Draws the neighbours of the chosen word by a measure of nearness. `behind` has the neighbours after the layer that
/// the walk has passed last, with the index of this layer.
fn neighbours_ui(
    ui: &mut Ui,
    model: &NeighboursModel,
    behind: Option<(usize, &LayerNeighbours)>,
    measure: &mut Measure,
    view: &mut PanelView,
) {
    // The words are divided as in the sentence: into pieces, or not.
    let words = if view.highlight.pieces { &[][..] } else { &model.words[..] };
    let hint = "The words near this one";
    if words.is_empty() {
        choose_query_ui(ui, model.tokens.iter().map(|token| &token.label).enumerate(), hint, view.selection);
    } else {
        choose_query_ui(ui, words.iter().map(|word| (word.first, &word.label)), hint, view.selection);
    }
    // The only word of a sentence need not be chosen.
    let chosen = view.selection.query.or((model.tokens.len() == 1).then_some(0));
    let Some((query, token)) = chosen.and_then(|query| Some((query, model.tokens.get(query)?))) else {
        ui.weak("Choose a word to see which words are near it before and after attention.");
        return;
    };
    if let Some(note) = words.iter().find(|word| word.first == query).and_then(|word| word.note(&model.tokens)) {
        ui.add(Label::new(RichText::new(note).weak()).wrap());
    }
    measure_ui(ui, measure);
    // A word that nothing moves has one list.
    let nearest = token.after.by(*measure).first();
    let is_unmoved = behind.is_none() && nearest.is_some_and(|near| near.word == token.label && near.distance == 0.0);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.columns(if is_unmoved { 1 } else { 2 }, |columns| {
            let [first, last] = model.ends.map(capitalised);
            let contextual = (last.as_str(), &token.after, StagePoint::Contextual(query));
            let last = behind.map_or(contextual, |(block, near)| {
                (near.title.as_str(), &near.words, StagePoint::After(query, block))
            });
            let lists = [(first.as_str(), &token.before, StagePoint::Static(query)), last];
            for (ui, (title, words, of)) in columns.iter_mut().zip(lists) {
                ui.label(RichText::new(title).font(theme::strong(size::BODY)));
                let near = words.by(*measure);
                for word in near {
                    let plain;
                    let word = if is_unmoved && word.is_new {
                        plain = NearWord { is_new: false, ..word.clone() };
                        &plain
                    } else {
                        word
                    };
                    row_ui(ui, title, Some(of), *measure, word, near, view);
                }
            }
        });
    });
}

/// Draws the choice between the two measures of nearness.
fn measure_ui(ui: &mut Ui, measure: &mut Measure) {
    ui.horizontal(|ui| {
        for (choice, words, hint) in [
            (Measure::Cosine, "Cosine", "By the cosine of the angle between the vectors; 1 means the same direction"),
            (Measure::Distance, "Euclidean", "By the distance between the vectors; 0 means the same point"),
        ] {
            if ui.selectable_label(*measure == choice, words).on_hover_text(hint).clicked() {
                *measure = choice;
            }
        }
        let words = RichText::new("in the true space, not in the picture").weak();
        ui.add(Label::new(words).truncate());
    });
    ui.add_space(size::GAP_TIGHT);
}

/// Draws a neighbour with its measure as a bar. If it is a neighbour of a point on the stage, `of`, a click opens the
/// provenance of the number.
fn row_ui(
    ui: &mut Ui,
    list: &str,
    of: Option<StagePoint>,
    measure: Measure,
    word: &NearWord,
    near: &[NearWord],
    view: &mut PanelView,
) {
    let value = word.value(measure);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::click());
    let said = format!("{list}: {} {value:.4}", word.word);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    if response.hovered() {
        view.hover.point_at(&word.word);
    }
    let quantity = match measure {
        Measure::Cosine => Quantity::Cosine,
        Measure::Distance => Quantity::Distance,
    };
    let entry = of.map(|of| quantity.of_point(of, word.row));
    if let Some(entry) = entry {
        if response.clicked() {
            view.trail.open(entry);
        }
        ask_on(&response, entry, view.trail);
    }
    if view.hover.word() == Some(word.word.as_str()) {
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS_SMALL), Palette::on(ui).lifted);
    }
    near_word_ui(ui, rect, word, near, measure);
    let other = if word.is_new { "This word is not in the other list. " } else { "" };
    let click = if entry.is_some() { " Click to see where the number comes from." } else { "" };
    response.on_hover_text(format!(
        "{other}Cosine {:.4}, distance {:.4}. The stage shows where the word is.{click}",
        word.cosine, word.distance
    ));
}

/// Draws the word with its value, over a bar.
fn near_word_ui(ui: &mut Ui, rect: Rect, word: &NearWord, near: &[NearWord], measure: Measure) {
    let palette = Palette::on(ui);
    let value = word.value(measure);
    let most = near.iter().map(|word| word.value(measure).abs()).fold(f32::MIN_POSITIVE, f32::max);
    bar_at_foot(ui, rect, value.abs() / most, palette.word_of(word.group).gamma_multiply(size::BAR_FAINT));
    name_and_number_ui(ui, rect, &format!("{value:.3}"), |ui| {
        let font = if word.is_new { theme::strong(size::BODY) } else { theme::plain(size::BODY) };
        ui.add(Label::new(RichText::new(&word.word).font(font).color(palette.ink)).truncate());
    });
}

/// The name of the field of the second sentence.
pub const SECOND_SENTENCE: &str = "Second sentence";

/// Returns the command that begins a comparison with a second sentence, or ends the current one.
pub fn toggle(sentences: &SentencesModel) -> Command {
    Command::Sentence(SentenceCommand::SetSecond(sentences.second.is_none().then(|| sentences.first_second())))
}

/// Draws the second sentence, and the comparison of a word that both have.
pub fn compare_ui(
    ui: &mut Ui,
    model: Option<&CompareModel>,
    sentences: &SentencesModel,
    state: &mut SentenceFieldState,
    view: &mut PanelView,
    commands: &mut Vec<Command>,
) {
    let (Some(model), Some(second)) = (model, &sentences.second) else {
        ui.label(
            "Two sentences are shown on one stage, on the same axes. A word that is in both starts at one point and \
             moves in two ways.",
        );
        let hint = WindowAction::Compare.row().hint_with("Puts a second sentence beside the one on the stage");
        commands.extend(button_ui(ui, "Compare with a second sentence", hint, toggle(sentences)));
        return;
    };
    second_ui(ui, second, sentences, state, commands);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if let Some(none) = &model.none {
            ui.label(none);
        }
        let Some(pair) = model.chosen(view.selection.query, view.selection.second, &view.highlight.lit) else { return };
        pairs_ui(ui, model, pair, view.selection);
        ui.add_space(size::GAP_TIGHT);
        ui.label(&pair.said);
        numbers_ui(ui, pair);
        ui.add_space(size::GAP_TIGHT);
        near_ui(ui, pair, view);
    });
}

/// Draws the field of the second sentence, and the button that ends the comparison.
fn second_ui(
    ui: &mut Ui,
    second: &str,
    sentences: &SentencesModel,
    state: &mut SentenceFieldState,
    commands: &mut Vec<Command>,
) {
    const END: f32 = 62.0;
    const MENU: f32 = 36.0;
    ui.horizontal(|ui| {
        let selected = sentences.sentences.iter().position(|sentence| sentence == second);
        let field = SentenceField {
            name: SECOND_SENTENCE,
            hint: "The sentence beside the one on the stage",
            shown: second,
            selected,
            width: (ui.available_width() - END - MENU).max(size::CHART_MIN),
        };
        for change in sentence_field_ui(ui, &field, sentences, state) {
            commands.push(Command::Sentence(SentenceCommand::SetSecond(Some(match change {
                SentenceChange::Typed(text) | SentenceChange::Done(text) => text,
                SentenceChange::Chosen(index) => sentences.sentences[index].clone(),
            }))));
        }
        let hint = WindowAction::Compare.row().hint_with("Shows one sentence again");
        commands.extend(button_ui(ui, "✕  End", hint, toggle(sentences)));
    });
}

/// Draws the words that both sentences have; a click chooses one.
fn pairs_ui(ui: &mut Ui, model: &CompareModel, chosen: &PairModel, selection: &mut Selection) {
    ScrollArea::horizontal().id_salt("pairs").show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
            for pair in &model.pairs {
                let words = pair.labels.join(" · ");
                let hint = "Shows the two moves of this word";
                if ui.selectable_label(pair == chosen, words).on_hover_text(hint).clicked() {
                    (selection.query, selection.second, selection.key) =
                        (Some(pair.paired.first), Some(pair.paired.second), None);
                }
            }
        });
    });
}

/// Draws the cosine and the distance of a pair, before and after attention.
fn numbers_ui(ui: &mut Ui, pair: &PairModel) {
    let palette = Palette::on(ui);
    let number =
        |x: f32, ink| RichText::new(format!("{x:.3}").replace('-', "−")).font(theme::mono(size::MONO)).color(ink);
    let PairedWord { before, after, .. } = pair.paired;
    let rows = [
        ("cosine", before.cosine, after.cosine, "1 means the same direction"),
        ("distance", before.distance, after.distance, "0 means the same point"),
    ];
    Grid::new("numbers").num_columns(4).min_col_width(0.0).spacing([size::GAP, size::GAP_TIGHT]).show(ui, |ui| {
        for (name, before, after, hint) in rows {
            ui.label(name).on_hover_text(format!("Computed from the two vectors in the true space; {hint}"));
            ui.label(number(before, palette.ink_soft)).on_hover_text("Before attention");
            ui.weak("→");
            let [first, second] = &pair.labels;
            let said = format!("{name} of {first} and {second} after attention: {after:.6}");
            ui.label(number(after, palette.ink)).on_hover_text(said);
            ui.end_row();
        }
    });
}

/// Draws the words near each of the two words, side by side.
fn near_ui(ui: &mut Ui, pair: &PairModel, view: &mut PanelView) {
    ui.columns(2, |columns| {
        for ((ui, label), near) in columns.iter_mut().zip(&pair.labels).zip(&pair.near) {
            let title = format!("Near {label}");
            ui.label(RichText::new(&title).font(theme::strong(size::BODY)));
            near.iter().for_each(|word| row_ui(ui, &title, None, Measure::Cosine, word, near, view));
        }
    });
}

/// Draws the words that moved most and least between two files of vectors. A row marks its point on the stage.
fn two_spaces_ui(ui: &mut Ui, spaces: &TwoSpaces, selection: &mut Selection, hover: &mut Hover) {
    let ([here, there], shared) = (&spaces.names, spaces.shared);
    let said = format!(
        "{there} is rotated to match {here} as closely as possible on the {shared} words that both have. The mean \
         cosine of these words after the rotation is {}.",
        number(spaces.mean_cosine)
    );
    ui.add(Label::new(said).wrap());
    ui.add_space(size::GAP);
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.columns(2, |columns| {
            let lists = [("Moved most", &spaces.most, 0), ("Moved least", &spaces.least, spaces.most.len())];
            for (ui, (title, words, first)) in columns.iter_mut().zip(lists) {
                ui.label(RichText::new(title).font(theme::strong(size::BODY)));
                for (point, word) in (first..).zip(words) {
                    let is_marked = selection.sense == Some(point);
                    let cosine = number(word.cosine);
                    let row = ui.selectable_label(is_marked, format!("{cosine}  {}", word.word));
                    let hint = "The cosine between the word's vector here and its rotated vector there. Click to \
                        mark the word on the stage";
                    let row = row.on_hover_text(hint);
                    if row.hovered() {
                        hover.point_at(&word.word);
                    }
                    if row.clicked() {
                        selection.sense = (!is_marked).then_some(point);
                    }
                }
            }
        });
    });
}

fn two_models_ui(ui: &mut Ui, model: &TwoModels, cx: &mut SheetContext) {
    let [here, beside] = &model.names;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.set_max_width(ui.available_width());
        ui.add(Label::new(format!("{here}, and beside it {beside}")).wrap());
        if let Some(why) = &model.refusal {
            ui.add(Label::new(RichText::new(why).color(Palette::on(ui).warn)).wrap());
        }
        for note in &model.notes {
            ui.add(Label::new(RichText::new(note).weak()).wrap());
        }
        if let Some(targets) = &model.targets {
            ui.add_space(size::GAP_TIGHT);
            targets_ui(ui, targets, &model.names);
        }
        for (number, side) in model.sides.iter().enumerate() {
            if let Some(title) = side.title {
                ui.add_space(size::GAP);
                ui.label(RichText::new(title).font(theme::strong(size::READING)));
            }
            if let Some(word) = model.chosen(number, cx.view.selection.query) {
                ui.add_space(size::GAP_TIGHT);
                word_ui(ui, word, &model.names);
            }
            ui.add_space(size::GAP);
            pictures_ui(ui, side, &model.names);
            ui.add_space(size::GAP);
            ui.push_id(number, |ui| items_ui(ui, &layer_items(side, &model.names), cx));
        }
    });
}

/// Draws what both models have written from the sentence, or read as its target.
fn targets_ui(ui: &mut Ui, targets: &[String; 2], names: &[String; 2]) {
    ui.columns(2, |columns| {
        for ((ui, name), target) in columns.iter_mut().zip(names).zip(targets) {
            ui.add(Label::new(RichText::new(name).weak()).truncate());
            ui.add(Label::new(target).wrap());
        }
    });
}

/// Draws both models' answers at a word, and the word that gets most attention from it.
fn word_ui(ui: &mut Ui, word: &WordOfBoth, names: &[String; 2]) {
    ui.label(RichText::new(format!("At {}", word.label)).font(theme::strong(size::BODY)));
    ui.columns(2, |columns| {
        for ((ui, name), WordInModel { answers, looks_at }) in columns.iter_mut().zip(names).zip(&word.of) {
            ui.add(Label::new(RichText::new(name).weak()).truncate());
            for (answer, probability) in answers {
                let words = RichText::new(format!("{probability:.3}  {answer}")).font(theme::mono(size::SMALL));
                ui.add(Label::new(words).truncate());
            }
            if let Some((other, weight)) = looks_at {
                let hint =
                    "Of the other words that both models read, the one that gets the most attention from this word, \
                     by the mean weight α over all heads of all layers; for a word of a target, the word of the source, \
                     over all heads of cross-attention. Special tokens are left out, although they often get more";
                ui.add(Label::new(format!("looks at {other} ({weight:.2})")).truncate()).on_hover_text(hint);
            }
        }
    });
    if let Some(cosine) = word.attention {
        let hint = "Compares the two models' attention weights, averaged over all heads, for the words that both read";
        ui.label(format!("Cosine between the two models' attention from this word: {cosine:.2}.")).on_hover_text(hint);
    }
}

/// Draws the paths of the words in both models, each picture in its own axes.
fn pictures_ui(ui: &mut Ui, side: &SideOfBoth, names: &[String; 2]) {
    /// Height, as a share of the width.
    const HEIGHT: f32 = 0.8;
    ui.label(RichText::new("Before and after the layers").font(theme::strong(size::BODY)))
        .on_hover_text(TwoModels::WAYS);
    ui.columns(2, |columns| {
        for ((ui, name), picture) in columns.iter_mut().zip(names).zip(&side.pictures) {
            ui.add(Label::new(RichText::new(name).weak()).truncate());
            let width = ui.available_width();
            let (rect, response) = ui.allocate_exact_size(vec2(width, width * HEIGHT), Sense::hover());
            ui.painter().rect_filled(rect, size::RADIUS, Palette::on(ui).ground);
            sketch_ui(ui, picture, rect, 1.0);
            let ways: Vec<&str> = picture.moves.iter().map(|way| way.label.as_str()).collect();
            let said = format!("The paths of {} in {name}", ways.join(", "));
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &said));
            response.on_hover_text(TwoModels::WAYS);
        }
    });
}
