//! The step of the walk as matrices: those of one block on their way through the walk; they part into heads, each head
//! gets a picture of its own, and all join again.

mod picture;
mod scene;
mod sheet;

use attune_view::explain::walk::Step;
use attune_view::view_model::fold::{FoldModel, Role, Sheet};
use egui::{Id, Label, Rect, Sense, TextStyle, Ui, UiBuilder, vec2};

use self::picture::PictureUi;
use self::scene::{FoldScene, Placed};
use self::sheet::SheetUi;
use crate::app::scene_camera::SceneCamera;
use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::slant::width_of;
use crate::app::widgets::traced::{ASK_HINT, ask_on};

/// Draws into all of `ui`. The walk decides what is seen; `look` is how the small pictures are looked at.
pub fn fold_ui(ui: &mut Ui, model: &FoldModel, view: &mut PanelView, camera: &mut dyn SceneCamera) {
    let area = ui.available_rect_before_wrap();
    let (words, area) = area.split_top_bottom_at_y((area.top() + words_height(ui, model)).min(area.bottom()));
    ui.scope_builder(UiBuilder::new().max_rect(words), |ui| words_ui(ui, model, view));
    let walk = view.walk.at();
    let scene = FoldScene {
        area,
        heads: model.heads.len(),
        has_output: model.has_output(),
        is_projected: model.is_projected(),
        has_input: Role::ALL.map(|role| model.has_projected(role)),
        words: words_width(ui, model),
    };
    let ui = &mut ui.new_child(UiBuilder::new().max_rect(area));
    let placed = scene.placed(walk);
    let scales = Scales::of(model);
    let query = view.selection.query.filter(|_| !model.is_of_source);
    for one in &placed {
        SheetUi { model, placed: one, scale: scales.of_sheet(one.sheet), query, words_room: scene.words }.paint(ui);
    }
    signs_ui(ui, &scene, walk);
    hover(ui, model, &placed, view);
    pictures_ui(ui, model, &scene, view, camera);
}

/// Room for what is said of any step, so that nothing moves from one to the next; above it, where there are several
/// blocks, for a row to choose one from.
fn words_height(ui: &Ui, model: &FoldModel) -> f32 {
    let spacing = ui.spacing();
    let blocks = if model.blocks.len() > 1 { spacing.interact_size.y + spacing.item_spacing.y } else { 0.0 };
    let (font, ink) = (TextStyle::Body.resolve(ui.style()), ui.visuals().text_color());
    let height = |step: &Step| {
        let said = model.said(*step);
        ui.painter().layout(said, font.clone(), ink, ui.available_width()).size().y
    };
    blocks + Step::ALL.iter().map(height).fold(0.0, f32::max) + size::GAP
}

/// Room for the words beside a matrix.
fn words_width(ui: &Ui, model: &FoldModel) -> f32 {
    const WIDEST: f32 = 74.0;
    let font = theme::plain(size::SMALL);
    let words = model.words_of(Role::Query).chain(model.words_of(Role::Key));
    words.map(|(word, _)| width_of(ui, word, font.clone())).fold(0.0, f32::max).min(WIDEST) + size::GAP_TIGHT
}

fn signs_ui(ui: &Ui, scene: &FoldScene, walk: f32) {
    let palette = Palette::of(ui.visuals().dark_mode);
    for sign in scene.signs(walk) {
        let ink = palette.ink.gamma_multiply(sign.alpha);
        ui.painter().text(sign.center, egui::Align2::CENTER_CENTER, sign.text, theme::strong(size::READING), ink);
    }
}

fn words_ui(ui: &mut Ui, model: &FoldModel, view: &mut PanelView) {
    if model.blocks.len() > 1 {
        ui.horizontal(|ui| {
            for (name, head) in &model.blocks {
                let is_shown = model.heads.iter().any(|shown| shown.head == *head);
                if ui.selectable_label(is_shown, name).on_hover_text("Fold this block").clicked() {
                    view.selection.choose_head(*head);
                }
            }
        });
    }
    ui.add(Label::new(model.said(view.walk.step())).wrap());
}

/// The largest entries of each kind, over all heads: a slice keeps its colours when it parts from the others.
struct Scales {
    by_kind: Vec<(std::mem::Discriminant<Sheet>, f32)>,
}

impl Scales {
    fn of(model: &FoldModel) -> Self {
        let largest = |sheet: fn(usize) -> Sheet| {
            let values = (0..model.heads.len()).flat_map(|own| model.entries(sheet(own)).values());
            let finite = values.map(|x| x.abs()).filter(|x| x.is_finite());
            (std::mem::discriminant(&sheet(0)), finite.fold(f32::MIN_POSITIVE, f32::max))
        };
        let by_head: [fn(usize) -> Sheet; 10] = [
            |own| Sheet::RoleWeights(Role::Query, own),
            Sheet::Query,
            Sheet::Key,
            Sheet::Value,
            Sheet::Product,
            Sheet::Score,
            Sheet::Mix,
            Sheet::OutputWeights,
            |_| Sheet::Input,
            // What goes in keeps its colours where it is projected, unless it is normed before.
            |_| Sheet::Projected(Role::Query),
        ];
        let by_kind = by_head.into_iter().chain([(|_| Sheet::Output) as fn(usize) -> Sheet]).map(largest).collect();
        Self { by_kind }
    }

    /// Weights are shaded as they are.
    fn of_sheet(&self, sheet: Sheet) -> f32 {
        let kind = std::mem::discriminant(&sheet);
        self.by_kind.iter().find(|(other, _)| *other == kind).map_or(1.0, |(_, scale)| *scale)
    }
}

/// The entry under the pointer is said; a click chooses its word.
fn hover(ui: &Ui, model: &FoldModel, placed: &[Placed], view: &mut PanelView) {
    const SOLID: f32 = 0.5;
    for one in placed.iter().filter(|one| one.alpha > SOLID) {
        let id = Id::new("sheet").with(one.sheet);
        let response = ui.interact(one.rect, ui.id().with(id), Sense::click());
        let name = model.symbol(one.sheet);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &name));
        let entries = model.entries(one.sheet);
        let Some((row, col)) = response.hover_pos().and_then(|at| sheet::cell_at(one.rect, entries, at)) else {
            continue;
        };
        if response.clicked() && model.is_by_query(one.sheet) && !model.is_of_source {
            view.selection.choose_query(Some(row));
        }
        ask_on(&response, model.entry(one.sheet, row, col), view.trail);
        response.on_hover_text_at_pointer(format!("{}\n{ASK_HINT}", model.say(one.sheet, row, col)));
    }
}

fn pictures_ui(ui: &mut Ui, model: &FoldModel, scene: &FoldScene, view: &mut PanelView, camera: &mut dyn SceneCamera) {
    let walk = view.walk.at();
    let joined = scene.joined(walk);
    let palette = Palette::of(ui.visuals().dark_mode);
    let query = view.selection.query.filter(|_| !model.is_of_source);
    for stage in scene.role_stages(walk) {
        let name = model.symbol(if stage.is_result { stage.role.of_head(0) } else { Sheet::Input });
        let response = ui.interact(stage.rect, ui.id().with((stage.role, stage.is_result)), Sense::click_and_drag());
        let label = format!("{name} as points");
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &label));
        turn(&response, camera);
        picture::role_ui(ui, model, &stage, query, &*camera);
        let hint = if stage.is_result {
            format!("Each word's row of {name} as a point, along their own main axes")
        } else {
            "The words where they are on the stage".to_owned()
        };
        response.on_hover_text(hint);
    }
    for (own, head) in model.heads.iter().enumerate() {
        let (at, shown) = scene.title(own, walk);
        if shown > 0.0 {
            let ink = palette.head(own).gamma_multiply(shown);
            let off = if head.is_on { "" } else { "  · out of the sum" };
            let font = theme::strong(size::BODY);
            ui.painter().text(at, egui::Align2::LEFT_TOP, format!("{}{off}", head.title), font, ink);
        }
        let (rect, shown) = scene.picture(own, walk);
        // Once they are one, the first speaks for all.
        if shown == 0.0 || rect.height() < size::CHIP || (joined >= 1.0 && own > 0) {
            continue;
        }
        let response = ui.interact(rect, ui.id().with(("picture", own)), Sense::click_and_drag());
        let name =
            if joined >= 1.0 { "All heads on the stage".to_owned() } else { format!("{} on the stage", head.title) };
        response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &name));
        turn(&response, camera);
        PictureUi { model, own, rect, shown, walk, joined, query }.paint(ui, &*camera);
        response.on_hover_text("Seen as on the stage: drag to turn, double-click for home");
    }
}

fn turn(response: &egui::Response, camera: &mut dyn SceneCamera) {
    if response.dragged() {
        camera.orbit(response.drag_delta());
    }
    if response.double_clicked() {
        camera.home();
    }
}

/// Inside of what is drawn over by nothing else.
fn inner(rect: Rect) -> Rect {
    rect.shrink2(vec2(size::GAP_TIGHT, size::GAP_TIGHT))
}
