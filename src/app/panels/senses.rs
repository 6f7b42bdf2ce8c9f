//! The senses of a word: a list of sentences that can be edited in place, and a curve of how far the senses are apart
//! after each layer.

use attune_core::kernel::command::{AxisCommand, Command, SenseCommand};
use attune_core::kernel::sentence_pass::senses::{CHARS_MAX, SENSES, SenseList};
use attune_ui::actions::focus::keep_letters;
use attune_ui::actions::{Action, ActionTable, FilePurpose, WindowAction, keys};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Walk;
use attune_ui::widgets::controls::{button_ui, named, switch_ui};
use attune_ui::widgets::plot::{cursor, curve_plot, name_axes, tick_text};
use attune_view::view_model::meaning::{SenseCurve, SensesModel, after};
use attune_view::view_model::number;
use egui::{
    Button, EventFilter, Id, Key, Label, Modifiers, Response, RichText, ScrollArea, Sense, Stroke, TextEdit, TextStyle,
    TextWrapMode, Ui, WidgetInfo, WidgetText, WidgetType, vec2,
};
use egui_plot::{Line, LineStyle, PlotPoints, PlotUi, Points, VLine};

use super::panel::Requests;

/// Name of the word's field.
pub const SENSE_WORD: &str = "The word whose senses are shown";

/// State of the panel between frames, including the text of the field that is being edited, which the list does not
/// have yet.
#[derive(Default)]
pub struct SensesUiState {
    written: Option<(Id, String)>,
    /// Whether cosines are shown minus the layer's baseline.
    over_baseline: bool,
    /// The width of the panel and the height of the scores when they were last drawn; `None` if they were not.
    scores: Option<(f32, f32)>,
}

/// Returns the commands that show or hide the word in its sentences; `word` is used if the list has none.
pub fn toggle_senses(senses: &SensesModel, word: Option<String>) -> Vec<Command> {
    let word = word.filter(|_| !senses.is_on && senses.word.is_empty() && senses.suggestion.is_none());
    let show = SenseCommand::Show(!senses.is_on);
    word.map(SenseCommand::SetWord).into_iter().chain([show]).map(Command::Senses).collect()
}

/// Shows the senses. `chosen` is a list for the word that is chosen in the sentence, which is offered while there is no
/// list; `marked` is the sentence whose point was clicked.
pub fn senses_ui(
    ui: &mut Ui,
    model: &SensesModel,
    chosen: Option<&SenseList>,
    state: &mut SensesUiState,
    marked: Option<usize>,
    walk: &mut Walk,
    requests: &mut Requests,
) {
    head_ui(ui, model, state, requests);
    if let Some(fault) = &model.word_fault {
        ui.add(Label::new(RichText::new(fault).color(Palette::on(ui).warn)).wrap());
    }
    let mut asked = Vec::new();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.set_max_width(ui.available_width());
        let layer = (walk.time() * model.last_layer() as f32).round() as usize;
        if model.rows.is_empty() {
            empty_ui(ui, model, chosen, &mut asked);
        }
        if model.is_on && model.last_layer() > 0 {
            held_scores_ui(ui, model, state, layer, walk);
        } else {
            state.scores = None;
        }
        if let Some(words) = model.waits_for.as_ref().filter(|_| !model.rows.is_empty()) {
            ui.add(Label::new(RichText::new(words).weak()).wrap());
        }
        for index in 0..model.rows.len() {
            row_ui(ui, model, index, layer, state, marked == Some(index), &mut asked);
        }
        foot_ui(ui, model, &mut asked, &mut requests.actions);
    });
    requests.commands.extend(asked.into_iter().map(Command::Senses));
}

/// Shows the scores with at least their earlier height. Other senses may have fewer lines, but the sentences below must
/// not move.
fn held_scores_ui(ui: &mut Ui, model: &SensesModel, state: &mut SensesUiState, layer: usize, walk: &mut Walk) {
    let width = ui.available_width();
    let (_, high) = state.scores.filter(|(of, _)| *of == width).unwrap_or((width, 0.0));
    let shown = ui.scope(|ui| {
        ui.set_min_height(high);
        scores_ui(ui, model, state, layer, walk);
    });
    state.scores = Some((width, shown.response.rect.height()));
}

/// Shows the word, and whether it is on the stage.
fn head_ui(ui: &mut Ui, model: &SensesModel, state: &mut SensesUiState, requests: &mut Requests) {
    /// Width of the word's field.
    const WIDTH: f32 = 110.0;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let hint =
            "The word to compare. If the tokenizer cuts it, its vector is the mean of its pieces' vectors. Enter: \
             write the first sentence";
        let id = keys::sentence_field(SENSE_WORD);
        let (field, text) = field_ui(ui, id, SENSE_WORD, &model.word, "word", WIDTH, state);
        if is_entered(ui, &field) {
            if model.rows.is_empty() {
                requests.commands.push(Command::Senses(SenseCommand::Insert(0)));
            }
            keys::ask(ui.ctx(), sentence_id(0));
        }
        field.on_hover_text(hint);
        requests.commands.extend(text.map(|word| Command::Senses(SenseCommand::SetWord(word))));
        let hint =
            if model.is_on { "Shows one sentence on the stage again" } else { "Shows the word in all of these sentences" };
        let shown = ui.selectable_label(model.is_on, "on the stage");
        if shown.on_hover_text(WindowAction::Senses.row().hint_with(hint)).clicked() {
            requests.commands.push(Command::Senses(SenseCommand::Show(!model.is_on)));
        }
        let hint = "Turns the axes to the directions in which these points differ most";
        if model.can_refit && model.is_shown() {
            requests.commands.extend(button_ui(ui, "Refit axes", hint, Command::Axes(AxisCommand::Refit)));
        }
    });
}

/// Shows the buttons that add a sentence and that read and write the list's file.
fn foot_ui(ui: &mut Ui, model: &SensesModel, asked: &mut Vec<SenseCommand>, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let add = ui.button("+ Sentence").on_hover_text("Adds another sentence (Enter in the last sentence)");
        if add.clicked() {
            asked.push(SenseCommand::Insert(model.rows.len()));
            keys::ask(ui.ctx(), sentence_id(model.rows.len()));
        }
        let format = "one sentence per line; a letter and a tab before the sentence give its sense";
        for (purpose, words, hint) in [
            (FilePurpose::ImportSenses, "Import …", format!("Reads the sentences from a text file: {format}")),
            (FilePurpose::ExportSenses, "Export …", format!("Writes the sentences as a text file: {format}")),
        ] {
            actions.extend(button_ui(ui, words, hint, Action::ChooseFile(purpose)));
        }
    });
}

/// Explains the panel, and offers sentences with the chosen word and those of the lesson.
fn empty_ui(ui: &mut Ui, model: &SensesModel, chosen: Option<&SenseList>, asked: &mut Vec<SenseCommand>) {
    let words = "The stage can show one word in 2 to 20 sentences at once. Give the same letter to the sentences that \
        use the word in the same sense, and see after which layer the senses separate.";
    ui.add(Label::new(words).wrap());
    let is_same = |list: &&SenseList| chosen.is_some_and(|chosen| chosen.word == list.word);
    let own = chosen.filter(|_| !model.suggestion.as_ref().is_some_and(|list| is_same(&list)));
    for list in own.into_iter().chain(&model.suggestion) {
        let words = match list.sentences.len() {
            1 => format!("1 sentence with “{}”", list.word),
            count => format!("{count} sentences with “{}”", list.word),
        };
        let hint = "Lists the sentences with this word, and shows the word in them";
        if ui.button(&words).on_hover_text(hint).clicked() {
            asked.extend([SenseCommand::Replace(list.clone()), SenseCommand::Show(true)]);
        }
    }
}

fn sentence_id(index: usize) -> Id {
    Id::new(("sentence of the senses", index))
}

/// Shows a field for a text of the list. Returns the response, and the text if it was edited in this frame.
fn field_ui(
    ui: &mut Ui,
    id: Id,
    name: &str,
    shown: &str,
    hint: &str,
    width: f32,
    state: &mut SensesUiState,
) -> (Response, Option<String>) {
    keys::take(ui.ctx(), id);
    let written = state.written.take();
    let mut text = match written {
        Some((of, text)) if of == id => text,
        other => {
            state.written = other;
            shown.to_owned()
        }
    };
    let field = TextEdit::singleline(&mut text).id(id).desired_width(width).char_limit(CHARS_MAX).hint_text(hint);
    let response = ui.add(field);
    ui.ctx().accesskit_node_builder(id, |node| node.set_label(name));
    let changed = response.changed().then(|| text.clone());
    if response.has_focus() {
        state.written = Some((id, text));
    }
    (response, changed)
}

/// Returns whether Enter ended the editing of a field, and consumes the key.
fn is_entered(ui: &Ui, field: &Response) -> bool {
    field.lost_focus() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter))
}

/// Shows a sentence with its number, its sense, and the note about it.
fn row_ui(
    ui: &mut Ui,
    model: &SensesModel,
    index: usize,
    layer: usize,
    state: &mut SensesUiState,
    is_marked: bool,
    asked: &mut Vec<SenseCommand>,
) {
    const NUMBER: f32 = 18.0;
    /// Width of the button after the field, and of the field's margins.
    const REMOVE: f32 = 40.0;
    let palette = Palette::on(ui);
    let (row, id) = (&model.rows[index], sentence_id(index));
    // The shortcuts are taken before the field can take them.
    let has_focus = ui.memory(|memory| memory.has_focus(id));
    let pressed = |key| has_focus && ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key));
    let (turns, mut removes) = (pressed(Key::G), pressed(Key::D));
    let mut goes_on = false;
    let nearest = model.nearest(index, layer);
    let line = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let number = RichText::new((index + 1).to_string()).font(theme::mono(size::SMALL)).color(palette.ink_soft);
        let number = ui.add_sized([NUMBER, size::TABLE_ROW], Label::new(number));
        if let Some(nearest) = &nearest {
            number.on_hover_text(&nearest.said);
        }
        if let Some(sense) = sense_ui(ui, model, index, turns) {
            asked.push(SenseCommand::SetSense { index, sense });
        }
        let width = (ui.available_width() - REMOVE).max(size::CHART_MIN);
        let name = format!("Sentence {}", index + 1);
        let (field, text) = field_ui(ui, id, &name, &row.text, "a sentence with the word", width, state);
        asked.extend(text.map(|text| SenseCommand::SetText { index, text }));
        goes_on = is_entered(ui, &field);
        field.on_hover_text("Enter: add a sentence below; Ctrl+G: change the sense; Ctrl+D: remove the sentence");
        let remove = ui.add(Button::new("✕").frame_when_inactive(false));
        let remove = named(remove, WidgetType::Button, format!("Remove sentence {}", index + 1));
        removes |= remove.on_hover_text("Removes this sentence (Ctrl+D in its field)").clicked();
    });
    let under = match (&row.said, nearest.filter(|nearest| nearest.is_of_another)) {
        (Some(said), _) => Some((said.clone(), if row.is_left_out { palette.warn } else { palette.ink_soft })),
        (None, Some(nearest)) => Some((nearest.said, palette.ink_soft)),
        (None, None) => None,
    };
    // The note has one line even if it is empty, because a click on a letter changes the notes on other sentences too,
    // and must not move them.
    if model.is_on || under.is_some() {
        let (words, ink) = under.unwrap_or((String::new(), palette.ink_soft));
        ui.horizontal(|ui| {
            ui.add_space(NUMBER + size::GAP_TIGHT);
            ui.set_min_height(size::BODY);
            let label = Label::new(RichText::new(&words).font(theme::plain(size::SMALL)).color(ink));
            ui.add(if row.is_left_out { label.wrap() } else { label.truncate() });
        });
    }
    if is_marked {
        let mark = line.response.rect.expand2(vec2(size::OUTLINE, 0.0));
        ui.painter().rect_stroke(
            mark,
            f32::from(size::RADIUS_SMALL),
            Stroke::new(size::HAIRLINE, palette.accent),
            egui::StrokeKind::Outside,
        );
    }
    if removes {
        state.written = None;
        asked.push(SenseCommand::Remove(index));
    } else if goes_on {
        asked.push(SenseCommand::Insert(index + 1));
        keys::ask(ui.ctx(), sentence_id(index + 1));
    }
}

/// Shows the letter of a sentence's sense. Returns another sense if one was chosen: the next one by a click or Ctrl+G,
/// or the one whose letter was pressed.
fn sense_ui(ui: &mut Ui, model: &SensesModel, index: usize, turns: bool) -> Option<Option<char>> {
    const SIDE: f32 = 22.0;
    let row = &model.rows[index];
    let palette = Palette::on(ui);
    let fill = model.hue(row.sense).map_or(palette.raised, |hue| palette.group(hue));
    let letter = row.sense.map_or_else(|| "·".to_owned(), |sense| sense.to_string());
    let text = RichText::new(&letter).font(theme::strong(size::BODY)).color(palette.ink_on(fill));
    let button = ui.scope(|ui| {
        ui.spacing_mut().button_padding.x = 0.0;
        ui.add_sized([SIDE, SIDE], Button::new(text).fill(fill))
    });
    let said = row.sense.map_or_else(|| "none".to_owned(), |sense| sense.to_string());
    let button = named(button.inner, WidgetType::Button, format!("Sense of sentence {}: {said}", index + 1));
    let mut chosen = (button.clicked() || turns).then(|| model.next_sense(index));
    if button.has_focus() {
        keep_letters(ui.ctx(), button.id);
        let keys = EventFilter::default();
        ui.memory_mut(|memory| memory.set_focus_lock_filter(button.id, keys));
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let letters = [Key::A, Key::B, Key::C, Key::D, Key::E, Key::F, Key::G, Key::H];
        chosen =
            letters.into_iter().zip(SENSES).find(|(key, _)| pressed(*key)).map(|(_, sense)| Some(sense)).or(chosen);
        if pressed(Key::Backspace) || pressed(Key::Delete) {
            chosen = Some(None);
        }
    }
    let hint = "The sense of the word in this sentence. Click for the next letter. On the keyboard, press A to H, or \
        Backspace for none";
    button.on_hover_text(hint);
    chosen
}

/// Shows the curves, their legends, and their values after the walk's layer.
fn scores_ui(ui: &mut Ui, model: &SensesModel, state: &mut SensesUiState, layer: usize, walk: &mut Walk) {
    const HEIGHT: f32 = 112.0;
    let palette = Palette::on(ui);
    let ways = [
        (false, "cosine", "Shows the mean cosines as they are"),
        (
            true,
            "minus baseline",
            "Shows the cosines minus the layer's baseline, the mean over all pairs of different \
            tokens",
        ),
    ];
    switch_ui(ui, &mut state.over_baseline, &ways);
    let over = state.over_baseline;
    let last = model.last_layer();
    let plot = curve_plot("senses", HEIGHT, palette)
        .include_x(0.0)
        .include_x(last as f64)
        .include_y(0.0)
        .include_y(if over { 0.0 } else { 1.0 })
        .y_axis_formatter(|mark, _| tick_text(mark.value, mark.step_size))
        .x_axis_formatter(|mark, _| if mark.value.fract() == 0.0 { format!("{}", mark.value) } else { String::new() })
        .show(ui, |plot| draw_scores(plot, model, over, f64::from(walk.time()) * last as f64, palette));
    name_axes(ui, *plot.transform.frame(), "layer", if over { "cosine over the baseline" } else { "mean cosine" });
    let at = |x: f32| plot.transform.value_from_position(egui::pos2(x, 0.0)).x.round().clamp(0.0, last as f64) as usize;
    // The cursor of the plot is the walk's layer.
    plot.response.widget_info(|| WidgetInfo::slider(true, layer as f64, "Layer of the senses"));
    match cursor(ui, &plot.response, (layer, last), 1, at).filter(|wanted| *wanted != layer) {
        Some(wanted) if walk.layers() == 1 => walk.glide_to(wanted as f32),
        Some(wanted) => walk.pass_to(wanted),
        None => {}
    }
    plot.response.on_hover_text("Click, drag or use the arrow keys to see the words after a layer");
    legends_ui(ui, model, layer, over);
    if let Some(said) = &model.said {
        ui.add(Label::new(said).wrap());
    }
    ui.add_space(size::GAP_TIGHT);
}

/// Draws the curves, and a line at the walk's layer.
fn draw_scores(plot: &mut PlotUi, model: &SensesModel, over: bool, at: f64, palette: &Palette) {
    plot.vline(VLine::new("layer", at).color(palette.ink_faint).width(size::HAIRLINE));
    for curve in model.curves() {
        let (ink, style) = line_of(curve, palette);
        let points = model.points(curve, over);
        plot.points(Points::new(curve.title(), points.clone()).color(ink).radius(size::OUTLINE));
        plot.line(Line::new(curve.title(), PlotPoints::from(points)).color(ink).width(size::CURVE).style(style));
    }
}

/// Lists the curves by name, with their values after a layer.
fn legends_ui(ui: &mut Ui, model: &SensesModel, layer: usize, over: bool) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.weak(format!("{}:", after(layer)));
        for curve in model.curves() {
            let Some(value) = model.layers.get(layer).and_then(|scores| curve.of(scores, over)) else { continue };
            legend_ui(ui, curve, value);
        }
    });
}

fn line_of(curve: SenseCurve, palette: &Palette) -> (egui::Color32, LineStyle) {
    match curve {
        SenseCurve::Within | SenseCurve::All => (palette.accent, LineStyle::Solid),
        SenseCurve::Between => (palette.accent, LineStyle::dashed_dense()),
        SenseCurve::Nearest => (palette.ink, LineStyle::Solid),
        SenseCurve::Baseline => (palette.ink_soft, LineStyle::dotted_dense()),
    }
}

/// Shows a sample of a curve's line, its name and its value.
fn legend_ui(ui: &mut Ui, curve: SenseCurve, value: f64) {
    const SAMPLE: f32 = 16.0;
    let palette = Palette::on(ui);
    let (ink, style) = line_of(curve, palette);
    let words = RichText::new(format!("{} {}", curve.title(), number(value)));
    let words = words.font(theme::plain(size::SMALL)).color(palette.ink);
    // A line is broken between two legends, and not within one.
    let text =
        WidgetText::from(words.clone()).into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body);
    if SAMPLE + ui.spacing().item_spacing.x + text.size().x > ui.available_size_before_wrap().x {
        ui.end_row();
    }
    let (rect, _) = ui.allocate_exact_size(vec2(SAMPLE, size::BODY), Sense::hover());
    let ends = [rect.left_center(), rect.right_center()];
    let stroke = Stroke::new(size::CURVE, ink);
    match style {
        LineStyle::Solid => {
            ui.painter().line_segment(ends, stroke);
        }
        LineStyle::Dashed { length } => {
            ui.painter().extend(egui::Shape::dashed_line(&ends, stroke, length, length));
        }
        LineStyle::Dotted { spacing } => {
            ui.painter().extend(egui::Shape::dotted_line(&ends, ink, spacing, size::CURVE / 2.0));
        }
    }
    ui.add(Label::new(words).extend()).on_hover_text(curve.about());
}
