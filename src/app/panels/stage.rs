//! The stage panel: the tab into which the stage is drawn, or the reason why there is nothing to draw.

use attune_core::kernel::static_embedding::LessonFault;
use attune_engine::pretrained::cache::Absent;
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{copy_button, middle_ui};
use attune_view::view_model::needs::{Needs, needs};
use egui::{Frame, Label, Margin, RichText, Ui, UiBuilder};

use super::panel::{Panel, PanelContext, PanelId, PanelName};

#[derive(Default)]
pub struct StagePanel;

impl StagePanel {
    pub const ID: PanelId = PanelId::of(PanelName::Stage);
}

impl Panel for StagePanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let snapshot = cx.models.snapshot();
        match snapshot.and_then(|snapshot| Some((snapshot, snapshot.fault.as_ref()?))) {
            Some((snapshot, fault)) => empty_ui(ui, fault, snapshot.lesson.absent_model()),
            None => match snapshot.and_then(|snapshot| needs(PanelName::Stage, snapshot)) {
                Some(needs) => without_points_ui(ui, needs, cx),
                None => cx.stage.stage_ui(ui, &mut cx.view),
            },
        }
        Some(())
    }

    fn has_margin(&self) -> bool {
        false
    }
}

/// Draws the sentence of a recording without points, and says what must be recorded to have some.
fn without_points_ui(ui: &mut Ui, needs: Needs, cx: &mut PanelContext) {
    ui.painter().rect_filled(ui.max_rect(), 0.0, Palette::on(ui).stage);
    let rest = cx.stage.sentence_ui(ui, &mut cx.view);
    ui.scope_builder(UiBuilder::new().max_rect(rest), |ui| middle_ui(ui, |ui| _ = ui.weak(needs.words())));
}

/// Shows why there is nothing to show or, for a model that is not on this computer, the command that downloads it.
fn empty_ui(ui: &mut Ui, fault: &LessonFault, absent: Option<&Absent>) {
    let palette = Palette::on(ui);
    ui.painter().rect_filled(ui.max_rect(), 0.0, palette.stage);
    middle_ui(ui, |ui| match absent {
        Some(absent) => absent_ui(ui, absent, palette),
        None => _ = ui.add(Label::new(RichText::new(&fault.words).color(palette.warn)).selectable(true).wrap()),
    });
}

fn absent_ui(ui: &mut Ui, absent: &Absent, palette: &Palette) {
    let line = |ui: &mut Ui, words: RichText| _ = ui.add(Label::new(words).selectable(true).wrap());
    line(ui, RichText::new(absent.title()).font(theme::strong(size::HEADING)).color(palette.ink));
    let from = match absent.megabytes() {
        Some(megabytes) => format!(
            "attune opens no network connection. This command downloads the model \
            ({megabytes} MB):"
        ),
        None => "attune opens no network connection. This command downloads the model:".to_owned(),
    };
    line(ui, RichText::new(from).color(palette.ink_soft));
    Frame::new().fill(palette.raised).corner_radius(size::RADIUS).inner_margin(Margin::same(size::PANEL_MARGIN)).show(
        ui,
        |ui| {
            ui.set_width(ui.available_width());
            line(ui, RichText::new(absent.command()).font(theme::mono(size::MONO)).color(palette.ink));
            copy_button(ui, "the command", || absent.command());
        },
    );
    line(ui, RichText::new("Then open the lesson again.").color(palette.ink_soft));
    if let Some(folder) = &absent.looked_in {
        let words = format!("attune looked in {}", folder.display());
        line(ui, RichText::new(words).size(size::SMALL).color(palette.ink_faint));
    }
}
