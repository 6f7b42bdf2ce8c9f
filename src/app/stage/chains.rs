//! The picture of a score, beside its ribbons: its query and its key as two chains of arrows, tip to tail, an arrow for
//! the share of each source. The plane goes through both vectors in the head's space, which is not the space of the
//! stage.

use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::arrow::arrow;
use attune_ui::widgets::heat::width_of;
use attune_view::view_model::chains::{Chain, PlanePoint};
use attune_view::view_model::score::ScoreModel;
use egui::{Align2, Color32, Pos2, Rect, Sense, Stroke, Ui, WidgetInfo, WidgetType, vec2};

const WIDTH: f32 = 200.0;
const MARGIN: f32 = 6.0;
/// Least width of the band that has room for the chains beside the ribbons.
const FROM: f32 = 540.0;
/// Length by which an arrow that is named is longer than its name, in points.
const NAMED: f32 = 22.0;

/// The picture of a score: its query and its key as two chains of arrows.
pub struct ChainsCard<'a>(pub &'a ScoreModel);

impl ChainsCard<'_> {
    /// Divides the band of the walk into the ribbons' place and, beside it, the place of the chains; `None` if the band
    /// is too narrow for both.
    pub fn beside(band: Rect) -> Option<(Rect, Rect)> {
        (band.width() >= FROM).then(|| band.split_left_right_at_x(band.right() - WIDTH))
    }

    pub fn ui(&self, ui: &Ui, area: Rect) {
        let (palette, chains) = (Palette::on(ui), &self.0.chains);
        ui.painter().rect_filled(area, 0.0, palette.surface);
        let inner = area.shrink(MARGIN);
        let names = [(&chains.query, "q", palette.query), (&chains.key, "k", palette.key)];
        let name =
            names.iter().map(|(_, name, _)| width_of(ui, name, theme::strong(size::READING))).fold(0.0, f32::max);
        let plane = Plane::of(chains.points(), inner.with_max_x(inner.right() - name - size::GAP_TIGHT));
        for (chain, name, ink) in names {
            plane.chain_ui(ui, chain, ink, palette);
            let (tip, font) = (plane.place(chain.tip), theme::strong(size::READING));
            ui.painter().text(tip + vec2(size::GAP_TIGHT, 0.0), Align2::LEFT_CENTER, name, font, ink);
        }
        let response = ui.interact(area, ui.id().with("chains"), Sense::hover());
        let said = format!(
            "{} In the head's space, tip to tail, what each source put into the query and into the key: {}; {}. Right is \
             the query's direction.",
            self.0.title,
            said("query", &chains.query),
            said("key", &chains.key)
        );
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, &said));
        response.on_hover_text(said);
    }
}

fn said(name: &str, chain: &Chain) -> String {
    let labels: Vec<&str> = chain.arrows.iter().map(|arrow| arrow.label.as_str()).collect();
    format!("{name} = {}", labels.join(" + "))
}

/// The plane of the chains in its rectangle, at one scale in both directions.
struct Plane {
    least: PlanePoint,
    scale: f64,
    corner: Pos2,
}

impl Plane {
    fn of(points: impl Iterator<Item = PlanePoint>, rect: Rect) -> Self {
        let (mut least, mut most) = ([0.0f64; 2], [0.0f64; 2]);
        for point in points {
            for axis in 0..2 {
                least[axis] = least[axis].min(point[axis]);
                most[axis] = most[axis].max(point[axis]);
            }
        }
        let spans = [f64::from(rect.width()), f64::from(rect.height())];
        let scale = |axis: usize| spans[axis] / (most[axis] - least[axis]).max(f64::MIN_POSITIVE);
        let scale = scale(0).min(scale(1));
        Self { least, scale: if scale.is_finite() { scale } else { 0.0 }, corner: rect.left_bottom() }
    }

    fn place(&self, point: PlanePoint) -> Pos2 {
        let along = |axis: usize| ((point[axis] - self.least[axis]) * self.scale) as f32;
        self.corner + vec2(along(0), -along(1))
    }

    fn chain_ui(&self, ui: &Ui, chain: &Chain, ink: Color32, palette: &Palette) {
        let painter = ui.painter();
        let (origin, tip) = (self.place([0.0; 2]), self.place(chain.tip));
        painter.line_segment([origin, tip], Stroke::new(size::HAIRLINE, ink.gamma_multiply(size::BAR_FAINT)));
        for step in &chain.arrows {
            let [from, to] = [step.from, step.to].map(|point| self.place(point));
            arrow(painter, from, to, ink);
            let font = theme::plain(size::SMALL);
            if from.distance(to) >= width_of(ui, &step.label, font.clone()) + NAMED {
                painter.text(from.lerp(to, 0.5), Align2::CENTER_BOTTOM, &step.label, font, palette.ink_soft);
            }
        }
    }
}
