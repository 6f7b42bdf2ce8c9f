//! A scene that opens with the walk: contextual points may lie so far out that the camera has to step back for them.
//! It does so by a factor on where it is, so that what the hands do on the way is not lost, and the way back is the
//! same.

use super::glide::Glide;

#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// How far the open scene reaches; none: it is closed.
    reach: Option<f32>,
    scale: f32,
    glide: Option<Glide<f32>>,
}

impl Default for Opened {
    fn default() -> Self {
        Self { reach: None, scale: 1.0, glide: None }
    }
}

impl Opened {
    /// What the camera's place is multiplied by now.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// What it comes to.
    pub fn goal(&self) -> f32 {
        self.glide.map_or(self.scale, |glide| glide.to)
    }

    pub fn is_moving(&self) -> bool {
        self.glide.is_some()
    }

    /// The scene reaches so far from now on, of which `base` is seen while it is closed. One that is open and grows is
    /// followed where `is_followed`, and none that shrinks: a point's motion would mix with a zoom.
    pub fn open(&mut self, reach: Option<f32>, base: f32, is_followed: bool) {
        let turns = self.reach.is_some() != reach.is_some();
        self.reach = reach;
        let to = self.wanted(base);
        if turns || (is_followed && to > self.goal()) {
            self.glide_to(to);
        }
    }

    /// The camera goes home, to see `base`.
    pub fn home(&mut self, base: f32) {
        self.glide_to(self.wanted(base));
    }

    pub fn advance(&mut self, seconds: f32) {
        Glide::advance(&mut self.glide, &mut self.scale, seconds, |from, to, share| from + (to - from) * share);
    }

    fn wanted(&self, base: f32) -> f32 {
        self.reach.map_or(1.0, |reach| (reach / base).max(1.0))
    }

    fn glide_to(&mut self, to: f32) {
        self.glide = Glide::between(self.scale, to);
    }
}
