//! Commands of the weights: one entry, strokes of a brush, random shakes, and resets.

use attune_engine::numerics::params::{Parameters, TensorId};
use attune_engine::numerics::rng::{Stream, part};
use rand::RngExt;

use super::{Drag, LessonModel};
use crate::kernel::command::{Brush, TensorEntries, WeightCommand};

/// A shake moves no entry further: beyond it nothing is left of what was trained.
pub const PERTURBATION_MAX: f32 = 10.0;

/// A tensor, a row and a column.
type Entry = (TensorId, usize, usize);

impl LessonModel {
    pub(super) fn apply_to_weights(&mut self, command: WeightCommand, last: Option<Drag>) -> Result<(), String> {
        match command {
            WeightCommand::Put(entries) => self.put(&entries),
            WeightCommand::Set { tensor, row, col, value } => {
                let drag = Drag::Entry(tensor, row, col);
                self.set_weight((tensor, row, col), value, last == Some(drag))?;
                self.last_drag = Some(drag);
                Ok(())
            }
            WeightCommand::Paint { tensor, entries, brush, stroke } => {
                let drag = Drag::Stroke(stroke);
                self.paint(tensor, &entries, brush, last == Some(drag))?;
                self.last_drag = Some(drag);
                Ok(())
            }
            WeightCommand::Perturb { tensor, scale, draw } => self.perturb(tensor, scale, draw),
            WeightCommand::Reset { tensor, row, col } => {
                let index = self.index((tensor, row, col))?;
                let trained = self.training.model().trained().at(index);
                self.set_weight((tensor, row, col), trained, false)
            }
            WeightCommand::ResetTensor(tensor) => self.reset_tensor(tensor),
            WeightCommand::ResetAll if !self.training.model().is_edited() => Ok(()),
            WeightCommand::ResetAll => self.change_model("reset of all weights", false, |training, _| {
                training.discard_edits();
                Ok(())
            }),
        }
    }

    fn index(&self, (tensor, row, col): Entry) -> Result<usize, String> {
        let index = self.training.model().live().index(tensor, row, col);
        index.ok_or_else(|| format!("the model has no {tensor}[{row}, {col}]"))
    }

    fn set_weight(&mut self, entry: Entry, value: f32, goes_on: bool) -> Result<(), String> {
        let index = self.index(entry)?;
        let (tensor, row, col) = entry;
        if !value.is_finite() {
            return Err(format!("{tensor}[{row}, {col}] cannot be {value}: a weight is a finite number"));
        }
        if self.training.model().live().at(index).to_bits() == value.to_bits() {
            return Ok(());
        }
        let label = format!("{tensor}[{row}, {col}]");
        self.edit(&label, goes_on, |live| live.set_at(index, value))
    }

    fn put(&mut self, entries: &TensorEntries) -> Result<(), String> {
        let live = self.training.model().live();
        let indexed = entries.indexed(live)?;
        if indexed.iter().all(|&(index, value)| live.at(index).to_bits() == value.to_bits()) {
            return Ok(());
        }
        self.edit(&format!("weights of {}", entries.name), false, |live| {
            indexed.into_iter().for_each(|(index, value)| live.set_at(index, value));
        })
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
        self.edit(&label, false, |live| live.take(tensor, &trained))
    }

    pub(in crate::kernel) fn edit(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Parameters<f32>),
    ) -> Result<(), String> {
        let mut live = Parameters::clone(self.training.model().live());
        change(&mut live);
        self.change_model(label, goes_on, |training, _| training.edit(live))
    }

    /// `goes_on`: it is more of the same stroke, and undoes together with it.
    fn paint(
        &mut self,
        tensor: TensorId,
        entries: &[(usize, usize)],
        brush: Brush,
        goes_on: bool,
    ) -> Result<(), String> {
        let places: Vec<usize> =
            entries.iter().map(|&(row, col)| self.index((tensor, row, col))).collect::<Result<_, _>>()?;
        let live = self.training.model().live();
        let painted = |index: usize| match brush {
            Brush::Set(value) => value,
            Brush::Add(value) => live.at(index) + value,
        };
        let changed: Vec<(usize, f32)> = places.into_iter().map(|index| (index, painted(index))).collect();
        if changed.iter().any(|(_, value)| !value.is_finite()) {
            return Err(format!("the brush would leave {tensor} with an entry that is no finite number"));
        }
        if changed.iter().all(|&(index, value)| live.at(index).to_bits() == value.to_bits()) {
            return Ok(());
        }
        self.edit(&format!("painting of {tensor}"), goes_on, |live| {
            changed.into_iter().for_each(|(index, value)| live.set_at(index, value));
        })
    }

    fn perturb(&mut self, tensor: TensorId, scale: f32, draw: u64) -> Result<(), String> {
        let live = self.training.model().live();
        let Some(place) = live.specs().iter().position(|spec| spec.id == tensor) else {
            return Err(format!("the model has no {tensor}"));
        };
        if !(scale > 0.0 && scale <= PERTURBATION_MAX) {
            return Err(format!("a shake is above 0 and at most {PERTURBATION_MAX}, not {scale}"));
        }
        // Each tensor draws for itself.
        let mut rng = part(draw, Stream::Perturbation, place);
        let shaken: Vec<f32> =
            live.row_major(tensor).iter().map(|value| value + rng.random_range(-scale..=scale)).collect();
        if !shaken.iter().all(|value| value.is_finite()) {
            return Err(format!("{tensor} has entries that are too large to be shaken"));
        }
        self.edit(&format!("shake of {tensor} by ±{scale}"), false, |live| {
            live.set_row_major(tensor, &shaken);
        })
    }
}
