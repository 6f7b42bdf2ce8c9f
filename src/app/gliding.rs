//! The points glide from one picture to another when a lesson was trained again.

use std::sync::Arc;

use bevy::prelude::*;

use crate::view_model::stage::StageModel;

use super::bridge::Models;
use super::theme::motion;
use super::view_state::{ViewState, ease};

/// Between two pictures of one vocabulary.
pub struct StageGlide {
    from: Arc<StageModel>,
    to: Arc<StageModel>,
    elapsed: f32,
}

impl StageGlide {
    pub fn new(from: Arc<StageModel>, to: Arc<StageModel>) -> Self {
        Self { from, to, elapsed: 0.0 }
    }

    /// The picture at its end has changed meanwhile.
    pub fn aim(&mut self, to: Arc<StageModel>) {
        if *self.to != *to {
            self.to = to;
        }
    }
}

/// Lets the time of a glide pass.
pub fn advance(time: Res<Time>, view: Res<ViewState>, mut models: ResMut<Models>) {
    if models.glide.is_none() {
        return;
    }
    let Some(mut glide) = models.glide.take() else { return };
    glide.elapsed += time.delta_secs();
    let share = if view.reduced_motion { 1.0 } else { glide.elapsed / motion::RETRAINED };
    if share >= 1.0 {
        models.stage = Some(glide.to);
        return;
    }
    models.stage = Some(Arc::new(between(&glide.from, &glide.to, ease(share))));
    models.glide = Some(glide);
}

/// The second picture with its points on their way from where they were in the first, each at its own scale.
fn between(from: &StageModel, to: &StageModel, share: f32) -> StageModel {
    let scale = to.radius / from.radius;
    let mix = |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|axis| a[axis] * scale * (1.0 - share) + b[axis] * share);
    let mut now = to.clone();
    for (word, before) in now.words.iter_mut().zip(&from.words) {
        if word.text == before.text {
            word.at = mix(before.at, word.at);
        }
    }
    for (token, before) in now.tokens.iter_mut().zip(&from.tokens) {
        if token.text == before.text {
            token.start = mix(before.start, token.start);
            token.trained_end = mix(before.trained_end, token.trained_end);
            token.end = mix(before.end, token.end);
        }
    }
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::stage::WordPoint;

    fn picture(radius: f32, at: [f32; 3]) -> StageModel {
        let word = WordPoint { text: "apple".to_owned(), group: None, at, in_sentence: false };
        StageModel {
            words: vec![word],
            tokens: Vec::new(),
            groups: Vec::new(),
            axes: Vec::new(),
            explained: 1.0,
            ghosts: Vec::new(),
            note: None,
            radius,
        }
    }

    #[test]
    fn a_glide_begins_where_the_points_were_on_the_screen_and_ends_where_they_are() {
        let (from, to) = (picture(2.0, [2.0, 0.0, 0.0]), picture(4.0, [0.0, 4.0, 0.0]));
        let seen = |share| between(&from, &to, share).words[0].at.map(|x| x / to.radius);
        assert_eq!([seen(0.0), seen(1.0)], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(seen(0.5), [0.5, 0.5, 0.0]);
    }
}
