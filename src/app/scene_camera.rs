//! Interface through which a panel draws the scene with the stage's camera; panel and stage do not import each other.

use egui::{Pos2, Rect, Vec2};

/// One camera, for the stage and for every small picture of the same scene.
pub trait SceneCamera {
    /// Projects points of the model into `rect`, from the side that the stage sees them from and so near that
    /// a ball of radius `reach` around `middle` fills it; `None` behind the eye.
    fn projection(&self, rect: Rect, middle: [f32; 3], reach: f32) -> Box<dyn Fn([f32; 3]) -> Option<Pos2> + '_>;

    /// Turns it by a drag.
    fn orbit(&mut self, drag: Vec2);

    /// Brings the whole scene back.
    fn home(&mut self);
}
