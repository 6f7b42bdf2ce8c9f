//! Edits of the weights in use.

use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::rng::{Stream, part};
use rand::RngExt;

use crate::kernel::command::{Brush, WeightCommand};
use crate::kernel::model::LessonModel;

/// Largest scale of a perturbation: a larger one would leave nothing of the trained weights.
pub const PERTURBATION_MAX: f32 = 10.0;

/// An entry of a tensor, by its row and column.
type Entry = (TensorId, usize, usize);

impl LessonModel {
    pub(crate) fn apply_to_weights(&mut self, command: WeightCommand) -> Result<(), String> {
        match command {
            WeightCommand::Put(entries) => {
                let indexed = entries.indexed(self.training.live())?;
                self.set_entries(&format!("weights of {}", entries.name), &indexed)
            }
            WeightCommand::Set { tensor, row, col, value } => self.set_weight((tensor, row, col), value),
            WeightCommand::Paint { tensor, entries, brush, .. } => self.paint(tensor, &entries, brush),
            WeightCommand::Perturb { tensor, scale, draw } => self.perturb(tensor, scale, draw),
            WeightCommand::Reset { tensor, row, col } => {
                let index = self.index((tensor, row, col))?;
                let trained = self.training.model().trained().at(index);
                self.set_weight((tensor, row, col), trained)
            }
            WeightCommand::ResetTensor(tensor) => self.reset_tensor(tensor),
            WeightCommand::ResetAll if !self.training.model().is_edited() => Ok(()),
            WeightCommand::ResetAll => self.change_model("reset of all weights", |training, _| {
                training.discard_edits();
                Ok(())
            }),
        }
    }

    fn index(&self, (tensor, row, col): Entry) -> Result<usize, String> {
        let index = self.training.live().index(tensor, row, col);
        index.ok_or_else(|| format!("the model has no {tensor}[{row}, {col}]"))
    }

    fn set_weight(&mut self, entry: Entry, value: f32) -> Result<(), String> {
        let index = self.index(entry)?;
        let (tensor, row, col) = entry;
        if !value.is_finite() {
            return Err(format!("{tensor}[{row}, {col}] cannot be {value}, because a weight must be a finite number"));
        }
        self.set_entries(&format!("{tensor}[{row}, {col}]"), &[(index, value)])
    }

    /// Sets entries, unless each already has exactly these bits.
    fn set_entries(&mut self, label: &str, entries: &[(usize, f32)]) -> Result<(), String> {
        let live = self.training.live();
        if entries.iter().all(|&(index, value)| live.at(index).to_bits() == value.to_bits()) {
            return Ok(());
        }
        self.edit(label, |live| entries.iter().for_each(|&(index, value)| live.set_at(index, value)))
    }

    fn reset_tensor(&mut self, tensor: TensorId) -> Result<(), String> {
        let model = self.training.model();
        if model.live().spec(tensor).is_none() {
            return Err(format!("the model has no {tensor}"));
        }
        if model.live().has_same(tensor, model.trained()) {
            return Ok(());
        }
        let (trained, label) = (model.trained().clone(), format!("reset of {tensor}"));
        self.edit(&label, |live| live.take(tensor, &trained))
    }

    pub(crate) fn edit(&mut self, label: &str, change: impl FnOnce(&mut Parameters<f32>)) -> Result<(), String> {
        let mut live = Parameters::clone(self.training.live());
        change(&mut live);
        self.change_model(label, |training, _| training.edit(live))
    }

    fn paint(&mut self, tensor: TensorId, entries: &[(usize, usize)], brush: Brush) -> Result<(), String> {
        let places: Vec<usize> =
            entries.iter().map(|&(row, col)| self.index((tensor, row, col))).collect::<Result<_, _>>()?;
        let live = self.training.live();
        let painted = |index: usize| match brush {
            Brush::Set(value) => value,
            Brush::Add(value) => live.at(index) + value,
        };
        let changed: Vec<(usize, f32)> = places.into_iter().map(|index| (index, painted(index))).collect();
        if changed.iter().any(|(_, value)| !value.is_finite()) {
            return Err(format!("the brush would leave {tensor} with an entry that is not a finite number"));
        }
        self.set_entries(&format!("painting of {tensor}"), &changed)
    }

    fn perturb(&mut self, tensor: TensorId, scale: f32, draw: u64) -> Result<(), String> {
        let live = self.training.live();
        let Some(place) = live.specs().iter().position(|spec| spec.id == tensor) else {
            return Err(format!("the model has no {tensor}"));
        };
        if !(scale > 0.0 && scale <= PERTURBATION_MAX) {
            return Err(format!("the noise of a shake must be above 0 and at most {PERTURBATION_MAX}, not {scale}"));
        }
        // Each tensor has its own random stream.
        let mut rng = part(draw, Stream::Perturbation, place);
        let shaken: Vec<f32> =
            live.row_major(tensor).iter().map(|value| value + rng.random_range(-scale..=scale)).collect();
        if !shaken.iter().all(|value| value.is_finite()) {
            return Err(format!("{tensor} has entries that are too large to be shaken"));
        }
        self.edit(&format!("shake of {tensor} by ±{scale}"), |live| {
            live.set_row_major(tensor, &shaken);
        })
    }
}
