//! The schedule of a play: what each frame of a moving picture shows, and for how long.

use crate::app::theme::motion;
use crate::app::ui_state::walk::{STEPS, ease};

/// The course of a moving picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// From static to contextual, and back.
    Split,
    /// The steps of the walk of the lesson's word, through all layers.
    Walk,
    /// Training, from before its first step to its last.
    Training,
    /// One turn of the camera around the scene.
    Orbit,
}

/// Length of a frame in which something moves, in hundredths of a second, which is how GIF counts: some 14 a second.
pub const FRAME: u16 = 7;
const HUNDREDTHS: f32 = 100.0;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    /// The place in the play: on the walk a whole number at each step, else from 0 to 1.
    pub at: f32,
    /// For how long it is shown.
    pub hundredths: u16,
}

/// A part of a play, with its seconds.
#[derive(Clone, Copy)]
enum Part {
    Rest { at: f32, seconds: f32 },
    Way { from: f32, to: f32, seconds: f32, eased: bool },
}

impl Part {
    fn seconds(self) -> f32 {
        match self {
            Part::Rest { seconds, .. } | Part::Way { seconds, .. } => seconds,
        }
    }

    /// The frames of the part, if it lasts the given number of seconds. Those at the ends of a way belong to the rests
    /// beside it.
    fn stills(self, seconds: f32) -> Vec<Still> {
        let hundredths = seconds * HUNDREDTHS;
        match self {
            Part::Rest { at, .. } => vec![Still { at, hundredths: (hundredths.round() as u16).max(FRAME) }],
            Part::Way { from, to, eased, .. } => {
                let frames = (hundredths / f32::from(FRAME)).round() as usize;
                let share = |i: usize| i as f32 / frames as f32;
                let way = (1..frames).map(share).map(|x| if eased { ease(x) } else { x });
                way.map(|x| Still { at: from + (to - from) * x, hundredths: FRAME }).collect()
            }
        }
    }
}

impl Play {
    /// The frames, in `seconds` or in the play's own length. The walk ends at the place `end`.
    pub fn schedule(self, seconds: Option<f32>, end: f32) -> Vec<Still> {
        let parts = self.parts(end);
        let own: f32 = parts.iter().map(|part| part.seconds()).sum();
        let scale = seconds.unwrap_or(own) / own;
        parts.into_iter().flat_map(|part| part.stills(part.seconds() * scale)).collect()
    }

    fn parts(self, end: f32) -> Vec<Part> {
        /// A training takes as long as two ways of the points.
        const LONG: f32 = 2.0 * motion::PLAY;
        /// A turn of the camera changes all of each frame, and so is kept short.
        const TURN: f32 = 4.0;
        let (rest, seconds) = (motion::PLAY_PAUSE, motion::PLAY);
        match self {
            Play::Split => vec![
                Part::Rest { at: 0.0, seconds: rest },
                Part::Way { from: 0.0, to: 1.0, seconds, eased: true },
                Part::Rest { at: 1.0, seconds: rest },
                Part::Way { from: 1.0, to: 0.0, seconds: seconds / 2.0, eased: true },
            ],
            Play::Walk => walk(end),
            Play::Training => vec![
                Part::Rest { at: 0.0, seconds: rest },
                Part::Way { from: 0.0, to: 1.0, seconds: LONG, eased: false },
                Part::Rest { at: 1.0, seconds: 2.0 * rest },
            ],
            Play::Orbit => vec![
                Part::Rest { at: 0.0, seconds: f32::from(FRAME) / HUNDREDTHS },
                Part::Way { from: 0.0, to: 1.0, seconds: TURN, eased: false },
            ],
        }
    }
}

/// A rest at each step, and the way to the next one. Where a layer ends the next begins, and nothing moves between them.
fn walk(end: f32) -> Vec<Part> {
    /// Each step is looked at for longer than a play rests.
    const REST: f32 = 1.5 * motion::PLAY_PAUSE;
    let places = end as usize;
    let step = |place: usize| {
        let at = place as f32;
        let is_last = place == places || place % STEPS == STEPS - 1;
        let way = Part::Way { from: at, to: at + 1.0, seconds: motion::GLIDE, eased: true };
        [Some(Part::Rest { at, seconds: REST }), (!is_last).then_some(way)].into_iter().flatten()
    };
    (0..=places).flat_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYS: [Play; 4] = [Play::Split, Play::Walk, Play::Training, Play::Orbit];
    const END: f32 = (STEPS - 1) as f32;

    fn seconds(stills: &[Still]) -> f32 {
        stills.iter().map(|still| f32::from(still.hundredths)).sum::<f32>() / HUNDREDTHS
    }

    #[test]
    fn a_play_lasts_as_long_as_it_is_asked_to() {
        for play in PLAYS {
            for asked in [8.0, 20.0, 60.0] {
                let took = seconds(&play.schedule(Some(asked), END));
                assert!((took - asked).abs() < 0.15 * asked, "{play:?}: {took} s instead of {asked}");
            }
            assert!(!play.schedule(Some(0.01), END).is_empty(), "{play:?} has a frame, however short it is");
        }
    }

    #[test]
    fn the_split_goes_to_contextual_and_back() {
        let all: Vec<f32> = Play::Split.schedule(None, END).iter().map(|still| still.at).collect();
        let top = all.iter().position(|at| *at == 1.0).expect("it comes to contextual");
        assert_eq!(all[0], 0.0);
        assert!(all[..=top].is_sorted() && all[top..].is_sorted_by(|a, b| a >= b), "{all:?}");
        assert!(*all.last().expect("frames") < 0.1, "the next round begins where this one ends");
    }

    #[test]
    fn the_walk_rests_at_each_step_of_each_layer_and_jumps_between_layers() {
        let layers = 2;
        let end = (layers * STEPS - 1) as f32;
        let all = Play::Walk.schedule(None, end);
        let rests: Vec<f32> = all.iter().filter(|still| still.hundredths > FRAME).map(|still| still.at).collect();
        assert_eq!(rests, (0..layers * STEPS).map(|place| place as f32).collect::<Vec<_>>());
        let between = |still: &&Still| still.at > END && still.at < END + 1.0;
        assert_eq!(all.iter().filter(between).count(), 0);
    }

    #[test]
    fn the_camera_turns_once_and_evenly() {
        let all = Play::Orbit.schedule(None, END);
        let step = 1.0 / all.len() as f32;
        assert!(
            all.iter()
                .enumerate()
                .all(|(i, still)| (still.at - i as f32 * step).abs() < 1e-5 && still.hundredths == FRAME)
        );
    }
}
