//! A quiet plot of curves over whole steps: nothing in it is dragged or zoomed, and its axes have a few round marks.

use egui::Sense;
use egui_plot::{GridInput, GridMark, Plot};

use crate::app::theme::{Palette, size};

/// The plot without its curves.
pub fn curve_plot<'a>(name: &str, height: f32, palette: &Palette) -> Plot<'a> {
    Plot::new(name)
        .height(height.clamp(size::CURVE_MIN, size::CHART_MAX))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .show_crosshair(false)
        .label_formatter(|_| None)
        .sense(Sense::click_and_drag())
        .grid_color(palette.line)
        .x_grid_spacer(ticks)
        .y_grid_spacer(ticks)
}

/// A few round numbers, however long the axis is: egui_plot's own are powers of ten, of which there may be one.
fn ticks(input: GridInput) -> Vec<GridMark> {
    let (from, to) = input.bounds;
    let step_size = round_step(to - from);
    if !step_size.is_normal() {
        return Vec::new();
    }
    let (first, last) = ((from / step_size).ceil() as i64, (to / step_size).floor() as i64);
    (first..=last).map(|i| GridMark { value: i as f64 * step_size, step_size }).collect()
}

/// 1, 2 or 5 times a power of ten: the least of which `length` has no more than a few.
fn round_step(length: f64) -> f64 {
    const FEW: f64 = 4.0;
    const BASE: f64 = 10.0;
    const ROUND: [f64; 3] = [1.0, 2.0, 5.0];
    let least = length / FEW;
    let power = BASE.powf(least.log10().floor());
    ROUND.into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(BASE * power)
}

/// A number with as many decimals as tell it from one that is a `digit` away.
pub fn tick_text(value: f64, digit: f64) -> String {
    let decimals = (-digit.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_round_ticks() {
        let values = |from: f64, to: f64| {
            let marks = ticks(GridInput { bounds: (from, to), base_step_size: 1.0 });
            marks.into_iter().map(|mark| tick_text(mark.value, mark.step_size)).collect::<Vec<_>>()
        };
        assert_eq!(values(-5.0, 605.0), ["0", "200", "400", "600"]);
        assert_eq!(values(0.0, 0.7), ["0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(values(0.0, 1e5), ["0", "50000", "100000"]);
        assert_eq!(values(0.0, 0.0), Vec::<String>::new());
        assert_eq!(values(f64::NAN, 1.0), Vec::<String>::new());
    }
}
