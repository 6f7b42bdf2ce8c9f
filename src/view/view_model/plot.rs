//! Lines over one horizontal axis, no finer than can be seen.

use std::ops::Range;

use attune_engine::code::Plot;

use super::output::full;

#[derive(Clone, Debug, PartialEq)]
pub struct PlotModel {
    pub lines: Vec<LineModel>,
    /// How many points were not finite, and are not drawn.
    pub left_out: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LineModel {
    /// Empty for the only line.
    pub name: String,
    /// Apart where something is left out.
    pub pieces: Vec<Vec<[f64; 2]>>,
    /// So few points that each is marked.
    pub marked: bool,
}

impl PlotModel {
    pub fn of(plot: &Plot) -> Self {
        const MARKED_MAX: usize = 24;
        let mut left_out = 0;
        let lines = plot.lines.iter().map(|(name, ys)| {
            let points: Vec<[f64; 2]> = plot.x.iter().zip(ys.iter()).map(|(x, y)| [*x, *y]).collect();
            let is_finite = |point: &[f64; 2]| point.iter().all(|x| x.is_finite());
            left_out += points.iter().filter(|point| !is_finite(point)).count();
            let pieces = points.split(|point| !is_finite(point)).filter(|piece| !piece.is_empty()).map(thinned);
            LineModel { name: name.clone(), pieces: pieces.collect(), marked: points.len() <= MARKED_MAX }
        });
        let lines = lines.collect();
        Self { lines, left_out }
    }

    /// In words, for who does not see it.
    pub fn summary(&self) -> String {
        let names: Vec<&str> =
            self.lines.iter().map(|line| line.name.as_str()).filter(|name| !name.is_empty()).collect();
        let lines = if self.lines.len() == 1 { "a line".to_owned() } else { format!("{} lines", self.lines.len()) };
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        format!("Plot of {lines}{names}")
    }

    pub fn left_out_note(&self) -> Option<String> {
        (self.left_out > 0).then(|| match self.left_out {
            1 => "A point is not finite and is left out.".to_owned(),
            count => format!("{count} points are not finite and are left out."),
        })
    }
}

/// `name: (x, y)`
pub fn tell(name: &str, x: f64, y: f64) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    format!("{name}({}, {})", full(x), full(y))
}

/// Fewer points that draw the same line: the first, least, greatest and last of each stretch, in order.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const STRETCHES: usize = 1000;
    const KEPT: usize = 4;
    if points.len() <= STRETCHES * KEPT {
        return points.to_vec();
    }
    let stretch = |i: usize| -> Range<usize> { i * points.len() / STRETCHES..(i + 1) * points.len() / STRETCHES };
    let mut kept = Vec::with_capacity(STRETCHES * KEPT);
    for range in (0..STRETCHES).map(stretch) {
        let by_height = |a: &usize, b: &usize| points[*a][1].total_cmp(&points[*b][1]);
        let ends = [range.clone().min_by(by_height), range.clone().max_by(by_height)];
        let mut indices: Vec<usize> = ends.into_iter().flatten().chain([range.start, range.end - 1]).collect();
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|i| points[i]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(ys: Vec<f64>) -> PlotModel {
        let x = (0..ys.len()).map(|i| i as f64).collect();
        PlotModel::of(&Plot { x, lines: vec![("loss".to_owned(), ys.into())] })
    }

    #[test]
    fn a_line_breaks_where_a_number_is_missing() {
        let model = plot(vec![1.0, 2.0, f64::NAN, 3.0, f64::INFINITY]);
        let lens: Vec<usize> = model.lines[0].pieces.iter().map(Vec::len).collect();
        assert_eq!((lens, model.left_out, model.lines[0].marked), (vec![2, 1], 2, true));
        assert_eq!(model.summary(), "Plot of a line: loss");
    }

    #[test]
    fn a_long_line_keeps_its_peaks() {
        let mut ys = vec![0.0; 200_000];
        (ys[12_345], ys[99_999]) = (5.0, -5.0);
        let model = plot(ys);
        let points = &model.lines[0].pieces[0];
        assert!(points.len() <= 4000 && points.is_sorted_by(|a, b| a[0] < b[0]));
        assert!(points.contains(&[12_345.0, 5.0]) && points.contains(&[99_999.0, -5.0]));
        assert_eq!(points.last(), Some(&[199_999.0, 0.0]));
    }
}
