//! Many weights at once: strokes of a brush, and random shakes.

use rand::RngExt;

use super::command::Brush;
use super::ready::Ready;
use crate::numerics::params::TensorId;
use crate::numerics::rng::{Stream, part};

/// A shake moves no entry further: beyond it nothing is left of what was trained.
pub const PERTURBATION_MAX: f32 = 10.0;

impl Ready {
    /// `goes_on`: it is more of the same stroke, and undoes together with it.
    pub(super) fn paint(
        &mut self,
        tensor: TensorId,
        entries: &[(usize, usize)],
        brush: Brush,
        goes_on: bool,
    ) -> Result<(), String> {
        let places: Vec<usize> =
            entries.iter().map(|&(row, col)| self.index((tensor, row, col))).collect::<Result<_, _>>()?;
        let live = self.training.model().live().flat();
        let painted = |index: usize| match brush {
            Brush::Set(value) => value,
            Brush::Add(value) => live[index] + value,
        };
        let changed: Vec<(usize, f32)> = places.into_iter().map(|index| (index, painted(index))).collect();
        if changed.iter().any(|(_, value)| !value.is_finite()) {
            return Err(format!("the brush would leave {tensor} with an entry that is no finite number"));
        }
        if changed.iter().all(|&(index, value)| live[index] == value) {
            return Ok(());
        }
        self.edit(&format!("painting of {tensor}"), goes_on, |live| {
            changed.into_iter().for_each(|(index, value)| live.flat_mut()[index] = value);
        })
    }

    pub(super) fn perturb(&mut self, tensor: TensorId, scale: f32, draw: u64) -> Result<(), String> {
        let live = self.training.model().live();
        let Some(place) = live.tensors().position(|(spec, _)| spec.id == tensor) else {
            return Err(format!("the model has no {tensor}"));
        };
        if !(scale > 0.0 && scale <= PERTURBATION_MAX) {
            return Err(format!("a shake is above 0 and at most {PERTURBATION_MAX}, not {scale}"));
        }
        // Each tensor draws for itself.
        let mut rng = part(draw, Stream::Perturbation, place);
        let shaken: Vec<f32> =
            live.values_of(tensor).iter().map(|value| value + rng.random_range(-scale..=scale)).collect();
        if !shaken.iter().all(|value| value.is_finite()) {
            return Err(format!("{tensor} has entries that are too large to be shaken"));
        }
        self.edit(&format!("shake of {tensor} by ±{scale}"), false, |live| {
            live.values_of_mut(tensor).copy_from_slice(&shaken);
        })
    }
}
