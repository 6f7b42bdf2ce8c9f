//! The ellipse of a group of points in a picture: its middle, and one standard deviation along each axis.

use super::pictures::At;

/// The distance from the middle to the rim of a glow, in standard deviations.
pub const RIM: f32 = 2.1;
/// The distance from the middle to the end of the glow, in standard deviations.
pub const END: f32 = 4.2;
/// The opacity of a glow in its middle.
pub const MIDDLE: f32 = 0.26;
/// The opacity of a glow's rim.
pub const LINE: f32 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipse {
    pub middle: At,
    /// The angle of the long axis, in radians.
    pub angle: f32,
    /// The standard deviations along the long and the short axis.
    pub deviations: [f32; 2],
}

impl Ellipse {
    /// Fits an ellipse to points; `None` if there are none. The rim is at least `least` away from the middle, so that a
    /// tight group stays visible.
    pub fn of(points: &[At], least: f32) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        let count = points.len() as f32;
        let mean = |value: &dyn Fn(&At) -> f32| points.iter().map(value).sum::<f32>() / count;
        let [x, y] = [0, 1].map(|axis| mean(&|at| at[axis]));
        let xx = mean(&|at| (at[0] - x).powi(2));
        let xy = mean(&|at| (at[0] - x) * (at[1] - y));
        let yy = mean(&|at| (at[1] - y).powi(2));
        // The principal axes of the covariance, a symmetric 2×2 matrix, have a closed form.
        let (middle, half) = ((xx + yy) / 2.0, ((xx - yy) / 2.0).hypot(xy));
        let deviation = |variance: f32| variance.max(0.0).sqrt().max(least / RIM);
        Some(Self {
            middle: [x, y],
            angle: 0.5 * (2.0 * xy).atan2(xx - yy),
            deviations: [deviation(middle + half), deviation(middle - half)],
        })
    }
}
