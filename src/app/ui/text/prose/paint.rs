//! Painting of placed items: colours, links, tips and text selection.

use std::sync::Arc;

use attune_core::lesson::links::{TextLink, tokens_named};
use attune_engine::code::editor::scope::CompletionScope;
use attune_view::view_model::glossary::GlossaryModel;
use attune_view::view_model::notebook::{LiveCellModel, LiveStanding, LiveWord};
use attune_view::view_model::sentence_arcs::WordAt;
use egui::epaint::TextShape;
use egui::text_selection::LabelSelectionState;
use egui::{
    Color32, CornerRadius, CursorIcon, Galley, Id, OpenUrl, Pos2, Rect, RectAlign, Response, ScrollArea, Sense, Shape,
    Stroke, Tooltip, Ui, UiBuilder, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};

use super::document::TermInText;
use super::flow::{FillRole, Ink, ItemKind, RunFormat, TextItem, TextNote};
use super::formula::{formula_ui, snapped};
use crate::text::code_text::code;
use crate::text::images::Images;
use crate::text::live_card::{LiveCard, live_lines_ui};
use crate::theme::{self, Palette, prose, size};
use crate::ui_state::{Hover, Trail};

/// A function that draws the entry of a term, given its index in the glossary.
pub type TermCard = fn(&mut Ui, &GlossaryModel, usize);

/// The lesson around a text, which makes the text interactive.
#[derive(Default)]
pub struct LessonAround<'a> {
    /// The values of the text's expressions.
    pub live: Option<&'a LiveCellModel>,
    /// The words of the sentence on the stage. Where a text names one in italics, hovering the name highlights the
    /// word, here and on the stage.
    pub words: &'a [String],
    pub hover: Option<&'a mut Hover>,
    /// The trail that opens the provenance of a number.
    pub trail: Option<&'a mut Trail>,
}

/// The context in which a text is painted.
pub struct PaintContext<'a> {
    pub images: &'a mut Images,
    /// The glossary, and the function that draws one of its entries.
    pub entries: Option<(&'a GlossaryModel, TermCard)>,
    /// The place for the index of a clicked term.
    pub asked: &'a mut Option<usize>,
    /// The list to which clicked links are added.
    pub followed: &'a mut Vec<TextLink>,
    pub card: &'a mut Option<LiveCard>,
    pub around: LessonAround<'a>,
}

/// Draws the visible items of `placed`, relative to `origin`.
pub fn paint(ui: &mut Ui, placed: &[TextItem], origin: Pos2, context: &mut PaintContext) {
    let palette = Palette::on(ui);
    for (i, TextItem { at, what }) in placed.iter().enumerate() {
        let at = origin + at.to_vec2();
        match what {
            ItemKind::Text { text, format, width } => text_ui(ui, i, text, format, *width, at, context),
            ItemKind::Formula { maths, size, ink: wanted } => {
                if let Ok(formula) = &maths.formula {
                    formula_ui(ui, formula, at, *size, ink(*wanted, palette));
                    if let Some(term) = maths.term {
                        symbol_ui(ui, i, term, formula.place(at, *size), context);
                    }
                }
            }
            ItemKind::Image { path, alt, size } => {
                image_ui(ui, i, path, alt, Rect::from_min_size(at, *size), context.images);
            }
            ItemKind::Fill { size, role } => fill_ui(ui, Rect::from_min_size(at, *size), *role, palette),
            ItemKind::Task(done) => task_ui(ui, *done, at, palette),
            ItemKind::Scroll { size, content, inner } => {
                let place = Rect::from_min_size(at, *size);
                if ui.is_rect_visible(place) {
                    scroll_ui(ui, i, place, *content, inner, context);
                }
            }
        }
    }
}

fn scroll_ui(ui: &mut Ui, i: usize, place: Rect, content: Vec2, inner: &[TextItem], context: &mut PaintContext) {
    let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt(("scroll", i)));
    ScrollArea::horizontal().auto_shrink(false).show(&mut child, |ui| {
        let (whole, _) = ui.allocate_exact_size(content, Sense::hover());
        paint(ui, inner, whole.min, context);
    });
}

fn ink(ink: Ink, palette: &Palette) -> Color32 {
    match ink {
        Ink::Plain => palette.ink,
        Ink::Soft => palette.ink_soft,
        Ink::Link => palette.accent,
        Ink::Error => palette.error,
        Ink::Role(role) => role.hue(palette),
    }
}

fn text_ui(
    ui: &mut Ui,
    i: usize,
    text: &str,
    format: &RunFormat,
    width: f32,
    baseline: Pos2,
    context: &mut PaintContext,
) {
    let palette = Palette::on(ui);
    let near = reach_of(text, format, width, baseline);
    let id = ui.id().with(i);
    if !ui.is_rect_visible(near) {
        out_of_sight_ui(ui, id, near, text, format);
        return;
    }
    let color = ink(format.ink, palette);
    let galley = laid_out(ui, text, format, color, palette);
    let ascent = galley.rows.first().map_or(0.0, |row| row.pos.y + row.glyphs.first().map_or(0.0, |g| g.pos.y));
    let corner = snapped(baseline, ui.pixels_per_point()) - vec2(0.0, ascent);
    let rect = Rect::from_min_size(corner, galley.size());
    let sense = sense_of(format);
    let response = ui.interact(rect, id, sense);
    response.widget_info(|| spoken(text, format));
    let is_link = matches!(format.note, Some(TextNote::Link(_) | TextNote::Act(_)));
    let is_pointed = is_link && (response.hovered() || response.has_focus());
    let underline = if is_pointed { Stroke::new(size::HAIRLINE, color) } else { Stroke::NONE };
    if is_pointed {
        ui.set_cursor_icon(CursorIcon::PointingHand);
    }
    let response = note_ui(ui, text, format, rect, baseline.y, response, context);
    if is_link {
        ui.painter().add(TextShape::new(corner, galley, color).with_underline(underline));
        return;
    }
    LabelSelectionState::label_text_selection(ui, &response, corner, galley, color, underline);
    if sense.is_focusable() {
        // egui's text selection has given the link the role of a label, so its own role is set again.
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Link));
    }
}

/// Returns the place of a run before it is laid out. The rectangle is generous, because marks and code of many lines
/// reach far from the first baseline.
fn reach_of(text: &str, format: &RunFormat, width: f32, baseline: Pos2) -> Rect {
    let rows_of = |line: &str| 1.0 + (line.chars().count() as f32 * format.size / format.wrap).floor();
    let rows = text.lines().map(rows_of).sum::<f32>().max(1.0);
    let reach = format.size * (prose::STRUT.0 + prose::STRUT.1);
    Rect::from_min_size(baseline - vec2(0.0, reach), vec2(width, reach * (rows + 1.0)))
}

/// Returns the interactions of a run. The keyboard moves only between controls and first mentions of terms, not between
/// lines of text.
fn sense_of(format: &RunFormat) -> Sense {
    match format.note {
        Some(TextNote::Link(_) | TextNote::Act(_)) => Sense::click(),
        Some(TextNote::Live(_) | TextNote::Term(TermInText { is_first: true, .. })) => Sense::click_and_drag(),
        _ => Sense::click_and_drag() - Sense::FOCUSABLE,
    }
}

/// Returns a run's description for screen readers.
fn spoken(text: &str, format: &RunFormat) -> WidgetInfo {
    let kind = if sense_of(format).is_focusable() { WidgetType::Link } else { WidgetType::Label };
    match &format.note {
        Some(TextNote::Act(link)) => WidgetInfo::labeled(kind, true, format!("{text}: {}", link.says())),
        Some(TextNote::Live(word)) => {
            let notes: String = word.notes.iter().map(|note| format!(" {note}")).collect();
            WidgetInfo::labeled(kind, true, format!("{text}, live.{notes}"))
        }
        _ => WidgetInfo::labeled(kind, true, text),
    }
}

/// Adds a run that is scrolled out of view, so that the keyboard and screen readers reach it.
fn out_of_sight_ui(ui: &mut Ui, id: Id, near: Rect, text: &str, format: &RunFormat) {
    let sense = sense_of(format);
    let response = ui.interact(near, id, if sense.is_focusable() { sense } else { Sense::hover() });
    response.widget_info(|| spoken(text, format));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
}

fn laid_out(ui: &Ui, text: &str, format: &RunFormat, color: Color32, palette: &Palette) -> Arc<Galley> {
    ui.fonts_mut(|fonts| {
        let mut job = format.job(text);
        if !format.spans.is_empty() {
            let plain = job.sections[0].format.clone();
            let wrap = job.wrap;
            job = egui::text::LayoutJob {
                wrap,
                ..code(text, &format.spans, &CompletionScope::default(), &plain, palette)
            };
        }
        for section in &mut job.sections {
            section.format.strikethrough = format.strikethrough(color);
        }
        fonts.layout_job(job)
    })
}

/// Shows and handles a run's note: a link, a tip, a term, a live number, or a word of the sentence.
fn note_ui(
    ui: &Ui,
    text: &str,
    format: &RunFormat,
    rect: Rect,
    baseline: f32,
    response: Response,
    context: &mut PaintContext,
) -> Response {
    match &format.note {
        Some(TextNote::Link(target)) => {
            if response.clicked() {
                ui.open_url(OpenUrl::new_tab(target));
            }
            response.on_hover_text(&**target)
        }
        Some(TextNote::Tip(why)) => {
            ui.painter().extend(quiet_line(rect, Palette::on(ui).warn));
            response.on_hover_text(&**why)
        }
        Some(TextNote::Term(named)) => {
            let baseline = Rect::from_min_max(rect.min, pos2(rect.max.x, baseline + prose::TERM_LINE));
            term_ui(ui, *named, baseline, response, context)
        }
        Some(TextNote::Act(link)) => {
            act_ui(ui, link, rect, &response, context);
            response.on_hover_text(link.says())
        }
        Some(TextNote::Live(word)) => live_ui(ui, word, rect, response, context),
        None => {
            if format.is_emphasis() {
                word_ui(ui, text, rect, &response, &mut context.around);
            }
            if response.hovered() {
                ui.set_cursor_icon(CursorIcon::Text);
            }
            response
        }
    }
}

/// Handles a link within the lesson: a click follows it and, if the link names a word, the word is highlighted while
/// the pointer is over the link.
fn act_ui(ui: &Ui, link: &TextLink, rect: Rect, response: &Response, context: &mut PaintContext) {
    if let TextLink::Word(name) = link {
        word_ui(ui, name, rect, response, &mut context.around);
    }
    if response.clicked() {
        context.followed.push(link.clone());
    }
}

/// Shows a live number with a faint tint and a tooltip card. A click opens its provenance or, if it has none, a card
/// with its exact value.
fn live_ui(ui: &Ui, word: &LiveWord, rect: Rect, response: Response, context: &mut PaintContext) -> Response {
    /// The opacity of the tint behind the number.
    const TINT: f32 = 0.07;
    const TINT_NEAR: f32 = 0.25;
    let palette = Palette::on(ui);
    let is_near = response.hovered() || response.has_focus();
    let color = match word.standing {
        LiveStanding::Current | LiveStanding::Waiting => palette.accent,
        LiveStanding::Differs => palette.warn,
        LiveStanding::Failed => palette.error,
    };
    let tint = color.gamma_multiply(if is_near { TINT_NEAR } else { TINT });
    ui.painter().rect_filled(rect.expand2(vec2(size::HAIRLINE, 0.0)), size::RADIUS_SMALL, tint);
    if word.standing == LiveStanding::Differs {
        ui.painter().extend(quiet_line(rect, palette.warn));
    }
    if response.clicked() {
        match (word.entry, &mut context.around.trail) {
            (Some(entry), Some(trail)) => trail.open(entry),
            _ => {
                let time = ui.input(|input| input.time);
                *context.card = Some(LiveCard { word: word.clone(), at: rect.left_bottom(), time });
            }
        }
    }
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    card_ui(ui, &response, |ui| live_tip_ui(ui, word));
    response.on_hover_cursor(CursorIcon::PointingHand)
}

/// Shows a card about a hovered or focused word: beside the column, where it covers no text, or else below or above the
/// word's line.
fn card_ui(ui: &Ui, response: &Response, content: impl FnOnce(&mut Ui)) {
    const PLACES: [RectAlign; 4] =
        [RectAlign::RIGHT_START, RectAlign::LEFT_START, RectAlign::BOTTOM_START, RectAlign::TOP_START];
    let is_reached = response.has_focus() && !response.hovered();
    let mut card = if is_reached { Tooltip::for_widget(response) } else { Tooltip::for_enabled(response) };
    let line = Rect::from_x_y_ranges(ui.clip_rect().x_range(), response.rect.y_range());
    card.popup = card.popup.anchor(line).align(PLACES[0]).align_alternatives(&PLACES[1..]);
    card.show(content);
}

fn live_tip_ui(ui: &mut Ui, word: &LiveWord) {
    ui.set_max_width(prose::TERM_CARD);
    live_lines_ui(ui, word);
    let hint =
        if word.entry.is_some() { "Click to see where the number comes from" } else { "Click for the exact value" };
    ui.label(egui::RichText::new(hint).size(size::SMALL).color(Palette::on(ui).ink_soft));
}

/// Handles the name of a word on the stage: hovering it highlights the word everywhere, and hovering the word elsewhere
/// highlights the name.
fn word_ui(ui: &Ui, name: &str, rect: Rect, response: &Response, around: &mut LessonAround) {
    /// The opacity of the tint behind a highlighted word.
    const TINT: f32 = 0.28;
    let Some(hover) = &mut around.hover else { return };
    let tokens: Vec<&str> = around.words.iter().map(String::as_str).collect();
    let named = tokens_named(&tokens, name.trim());
    let Some(&first) = named.first() else { return };
    if response.hovered() {
        match named[..] {
            [one] => hover.point_at_token(WordAt::in_sentence(one)),
            _ => hover.point_at(tokens[first]),
        }
    }
    let is_lit = hover.token().map_or_else(|| hover.word() == Some(tokens[first]), |token| named.contains(&token));
    if response.hovered() || is_lit {
        ui.painter().rect_filled(rect, size::RADIUS_SMALL, Palette::on(ui).accent.gamma_multiply(TINT));
    }
}

/// Shows a term: a faint line where it is first named, and a tooltip card. A click opens its entry.
fn term_ui(ui: &Ui, named: TermInText, line: Rect, response: Response, context: &mut PaintContext) -> Response {
    let Some((glossary, term_card_ui)) = context.entries else { return response };
    let palette = Palette::on(ui);
    let is_near = response.hovered() || response.has_focus();
    if is_near || named.is_first {
        ui.painter().extend(quiet_line(line, if is_near { palette.accent } else { palette.ink_faint }));
    }
    if response.clicked() {
        *context.asked = Some(named.term);
    }
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    card_ui(ui, &response, |ui| term_card_ui(ui, glossary, named.term));
    response.on_hover_cursor(CursorIcon::PointingHand)
}

/// Shows a formula that is the symbol of a term.
fn symbol_ui(ui: &Ui, i: usize, term: usize, place: Rect, context: &mut PaintContext) {
    if ui.is_rect_visible(place) {
        let response = ui.interact(place, ui.id().with(i), Sense::click() - Sense::FOCUSABLE);
        let line = place.with_max_y(place.max.y + prose::TERM_LINE);
        term_ui(ui, TermInText { term, is_first: false }, line, response, context);
    }
}

/// Returns a faint line below something that can be hovered.
fn quiet_line(rect: Rect, color: Color32) -> Vec<Shape> {
    const DASH: f32 = 2.0;
    let ends = [rect.left_bottom(), rect.right_bottom()];
    Shape::dashed_line(&ends, Stroke::new(size::HAIRLINE, color), DASH, DASH)
}

/// Draws a picture, or a plain area of the same size until it is decoded.
pub fn image_ui(ui: &mut Ui, i: usize, path: &str, alt: &str, rect: Rect, images: &mut Images) {
    let response = ui.interact(rect, ui.id().with(i), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, alt));
    if !ui.is_rect_visible(rect) {
        return;
    }
    match images.texture(ui.ctx(), path) {
        Some(texture) => {
            egui::Image::new((texture, rect.size())).corner_radius(size::RADIUS_SMALL).paint_at(ui, rect);
        }
        // The size is known before the picture is decoded.
        None => {
            ui.painter().rect_filled(rect, size::RADIUS_SMALL, ui.visuals().faint_bg_color);
        }
    }
}

fn fill_ui(ui: &Ui, rect: Rect, role: FillRole, palette: &Palette) {
    let (color, radius) = match role {
        FillRole::CodeBlock => (palette.raised, CornerRadius::same(size::RADIUS)),
        FillRole::CodeInline => (palette.raised, CornerRadius::same(size::RADIUS_SMALL)),
        FillRole::QuoteBar => (palette.accent_soft, CornerRadius::same(size::RADIUS_SMALL)),
        FillRole::Line => (palette.line, CornerRadius::ZERO),
        FillRole::Bullet => {
            ui.painter().circle_filled(rect.center(), rect.width() / 2.0, palette.ink_faint);
            return;
        }
    };
    ui.painter().rect_filled(rect, radius, color);
}

fn task_ui(ui: &Ui, done: bool, at: Pos2, palette: &Palette) {
    /// The corners of a check mark, as shares of its box.
    const TICK: [Vec2; 3] = [Vec2::new(0.24, 0.54), Vec2::new(0.43, 0.72), Vec2::new(0.76, 0.30)];
    let rect = Rect::from_min_size(at, Vec2::splat(prose::TASK));
    let (fill, edge) = if done { (palette.accent, palette.accent) } else { (theme::CLEAR, palette.ink_faint) };
    let edge = Stroke::new(size::HAIRLINE, edge);
    ui.painter().rect(rect, size::RADIUS_SMALL, fill, edge, egui::StrokeKind::Inside);
    if done {
        let points = TICK.map(|share| rect.min + share * rect.size()).to_vec();
        ui.painter().add(Shape::line(points, Stroke::new(size::CURVE, palette.on_accent)));
    }
}
