//! The still map of the vocabulary by t-SNE (van der Maaten & Hinton 2008). It is drawn only on request, in a window
//! over the others. The map never moves and nothing is measured in it; motion is on the stage, in one linear basis.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use attune_core::kernel::snapshot::{Progress, StaticSpace};
use attune_engine::numerics::vectors::distance;
use attune_view::view_model::pictures::{StillModel, StillPoint};
use bhtsne::tSNE;
use egui::{Align2, Context, Key, Modifiers, Pos2, ProgressBar, Rect, RichText, Sense, Ui, Vec2};

use crate::app::actions::Action;
use crate::app::theme::{self, Palette, TEXT_CONTRAST, size};
use crate::app::widgets::popup::tool_window;
use crate::app::work::job::Job;

#[derive(Clone, Debug, Default, PartialEq)]
pub enum StillState {
    #[default]
    None,
    Drawing(Progress),
    Drawn(StillModel),
    /// The reason why there is no map.
    Failed(String),
}

/// The size of the window: a square below three lines of text.
const SIZE: [f32; 2] = [460.0, 520.0];

const POINT: f32 = 3.5;

/// The interval between two checks of the progress, in seconds.
const LOOK: f32 = 0.1;

/// Shows the still map; returns the action that closes it.
pub fn still_ui(ctx: &Context, state: &StillState) -> Option<Action> {
    if *state == StillState::None {
        return None;
    }
    let mut is_open = true;
    let mut is_closed = false;
    let window = tool_window("A map of the words").open(&mut is_open);
    let middle = ctx.content_rect().center();
    let window = window.pivot(Align2::CENTER_CENTER).default_pos(middle).default_size(SIZE);
    window.show(ctx, |ui| match state {
        StillState::None => {}
        StillState::Drawing(Progress { done, of }) => {
            ui.label(format!("t-SNE: round {done} of {of}"));
            ui.add(ProgressBar::new(*done as f32 / (*of).max(1) as f32));
            is_closed = ui.button("Cancel").on_hover_text("Stops without drawing the map").clicked();
            ui.ctx().request_repaint_after_secs(LOOK);
        }
        StillState::Drawn(model) => map_ui(ui, model),
        StillState::Failed(why) => {
            ui.label(why);
        }
    });
    let is_left = !ctx.text_edit_focused() && ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    (is_closed || is_left || !is_open).then_some(Action::CloseMap)
}

fn map_ui(ui: &mut Ui, model: &StillModel) {
    let palette = Palette::on(ui);
    ui.add(egui::Label::new(RichText::new(model.about).font(theme::plain(size::SMALL)).color(palette.ink_soft)).wrap());
    let side = ui.available_size().min_elem().max(size::CHART_MIN);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Image, true, "The words as t-SNE arranges them"));
    ui.painter().rect_filled(rect, f32::from(size::RADIUS_SMALL), palette.stage);
    let inner = rect.shrink(size::GAP_WIDE);
    let seen = |point: &StillPoint| inner.lerp_inside(Vec2::from(point.at));
    for point in &model.points {
        ui.painter().circle_filled(seen(point), POINT, palette.word_of(point.group));
    }
    names_ui(ui, model, rect, &seen, palette);
    let near = |pointer: Pos2| {
        let away = |point: &&StillPoint| seen(point).distance(pointer);
        model.points.iter().min_by(|a, b| away(a).total_cmp(&away(b))).filter(|point| away(point) <= size::GAP)
    };
    if let Some(point) = response.hover_pos().and_then(near) {
        ui.painter().circle_stroke(seen(point), POINT + size::RING_GAP, egui::Stroke::new(size::RING, palette.accent));
        response.on_hover_text_at_pointer(&point.text);
    }
}

/// Writes the names of words where there is room, those with a group first.
fn names_ui(ui: &Ui, model: &StillModel, rect: Rect, seen: &dyn Fn(&StillPoint) -> Pos2, palette: &Palette) {
    // Names must not cover dots.
    let dot = |point: &StillPoint| Rect::from_center_size(seen(point), Vec2::splat(2.0 * POINT));
    let mut taken = TakenPlaces::default();
    model.points.iter().for_each(|point| taken.add(dot(point)));
    let (grouped, others): (Vec<_>, Vec<_>) = model.points.iter().partition(|point| point.group.is_some());
    for point in grouped.into_iter().chain(others) {
        let ink = palette.legible(palette.word_of(point.group), TEXT_CONTRAST);
        let galley = ui.painter().layout_no_wrap(point.text.clone(), theme::plain(size::SMALL), ink);
        let half = galley.size() / 2.0;
        let (x, y) = (POINT + size::GAP_TIGHT / 2.0 + half.x, POINT + half.y);
        let places = [(x, 0.0), (-x, 0.0), (0.0, -y), (0.0, y)]
            .map(|(x, y)| Rect::from_center_size(seen(point) + Vec2::new(x, y), galley.size()));
        let is_free = |place: &&Rect| rect.contains_rect(**place) && taken.is_free(**place);
        if let Some(place) = places.iter().find(is_free) {
            taken.add(*place);
            ui.painter().galley(place.min, galley, ink);
        }
    }
}

/// The rectangles that are taken, by the grid squares that they touch, so that a name is compared only with those near
/// it and not with all 2000 in every frame.
#[derive(Default)]
struct TakenPlaces(HashMap<(i32, i32), Vec<Rect>>);

impl TakenPlaces {
    /// The side of a square in points: about the width of a name.
    const SIDE: f32 = 48.0;

    fn squares(rect: Rect) -> impl Iterator<Item = (i32, i32)> {
        let square = |at: f32| (at / Self::SIDE).floor() as i32;
        let (rows, columns) = (square(rect.min.y)..=square(rect.max.y), square(rect.min.x)..=square(rect.max.x));
        rows.flat_map(move |row| columns.clone().map(move |column| (row, column)))
    }

    fn add(&mut self, rect: Rect) {
        Self::squares(rect).for_each(|square| self.0.entry(square).or_default().push(rect));
    }

    fn is_free(&self, rect: Rect) -> bool {
        let near = Self::squares(rect).filter_map(|square| self.0.get(&square));
        !near.flatten().any(|other| other.intersects(rect))
    }
}

/// The least and the largest number of words. Fewer words have no neighbourhoods, and more would take minutes.
const WORDS: (usize, usize) = (8, 2000);

/// The largest number of words with exact forces. For more words, distant ones are grouped (Barnes-Hut).
const EXACT_MAX: usize = 500;

const THETA: f32 = 0.5;

const EPOCHS: usize = 1000;

/// The perplexity, which is roughly the number of neighbours that count; at most a third of the number of words.
const PERPLEXITY: f32 = 15.0;

/// The scale of the initial positions, which are the first two axes of the stage, as in the authors' code.
const START: f32 = 1e-4;

/// A map that is being drawn. Its thread runs to its end, which takes seconds, even if its result is no longer needed.
pub type Drawing = Job<StillModel>;

impl Drawing {
    /// Starts drawing the map. `waker` is called whenever there is news, as [`Job::run`] does.
    pub fn start(space: Arc<StaticSpace>, waker: impl Fn() + Send + 'static) -> Self {
        Self::run(EPOCHS, waker, move |count| draw(&space, count.done))
    }
}

/// Draws the map. The same space always gives the same map, because one thread adds in a fixed order and the start is
/// not random.
fn draw(space: &StaticSpace, done: &AtomicUsize) -> Result<StillModel, String> {
    let words = space.vocabulary.len();
    let (least, most) = WORDS;
    if words < least || words > most {
        return Err(format!("a map can show {least} to {most} words, not {words}"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|why| format!("the operating system could not start a thread to draw the map: {why}"))?;
    Ok(StillModel::of(space, &pool.install(|| fit(space, done))))
}

/// Returns the two coordinates of each word, one word after another.
fn fit(space: &StaticSpace, done: &AtomicUsize) -> Vec<f32> {
    let vectors = space.vectors.widened();
    let rows: Vec<&[f32]> = (0..vectors.rows()).map(|row| vectors.row(row)).collect();
    let mut map: tSNE<f32, &[f32], 2> = tSNE::new(&rows);
    map.perplexity(PERPLEXITY.min((rows.len() - 1) as f32 / 3.0)).epochs(EPOCHS).initial_embedding(beginning(space));
    map.epoch_callback(|epoch, _| done.store(epoch + 1, Ordering::Relaxed));
    if rows.len() <= EXACT_MAX {
        map.exact(|a, b| distance(a, b));
    } else {
        map.barnes_hut(THETA, |a, b| distance(a, b));
    }
    map.embedding()
}

fn beginning(space: &StaticSpace) -> Vec<f32> {
    let flat = || (0..space.points.rows()).flat_map(|row| space.points.row(row)[..2].to_vec());
    let count = (2 * space.points.rows()).max(1) as f32;
    let size = (flat().map(|x| x * x).sum::<f32>() / count).sqrt().max(f32::MIN_POSITIVE);
    flat().map(|x| x / size * START).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, is_close_beside};

    fn space() -> Arc<StaticSpace> {
        let lesson = attune_core::lesson::parse("small.ron", include_str!("../../../tests/fixtures/small.ron"))
            .expect("no issues");
        attune_core::kernel::Kernel::trained(Arc::new(lesson)).snapshot().space.expect("a space")
    }

    #[test]
    fn a_map_is_the_same_each_time_and_lies_in_the_unit_square() {
        let space = space();
        let (first, second) = (draw(&space, &AtomicUsize::new(0)), draw(&space, &AtomicUsize::new(0)));
        assert_eq!(first, second);
        let model = first.expect("a map");
        assert_eq!(model.points.len(), space.vocabulary.len());
        assert!(
            model.points.iter().flat_map(|point| point.at).all(|x| is_close_beside(
                1.0,
                x,
                x.clamp(0.0, 1.0),
                Tolerance::SINGLE_NORMS
            )
            .is_ok())
        );
    }

    #[test]
    fn two_crowds_stay_two_crowds() {
        let mut two = StaticSpace::clone(&space());
        let words = two.vocabulary.len();
        let side = |row: usize| if row < words / 2 { 10.0 } else { -10.0 };
        let noise = |row: usize, col: usize| ((row * 7 + col * 13) % 10) as f32 / 10.0;
        let vectors = attune_engine::numerics::Matrix::from_fn(words, 4, |row, col| side(row) + noise(row, col));
        two.vectors = Arc::new(vectors.into());
        let model = draw(&two, &AtomicUsize::new(0)).expect("a map");
        let apart = |a: usize, b: usize| distance(&model.points[a].at, &model.points[b].at);
        for row in 0..words {
            let nearest =
                (0..words).filter(|other| *other != row).min_by(|a, b| apart(row, *a).total_cmp(&apart(row, *b)));
            assert_eq!(nearest.map(side), Some(side(row)));
        }
    }
}
