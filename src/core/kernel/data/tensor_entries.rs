//! Entries of one tensor with their values, by the tensor's name: what is written of weights.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::numbers;
use attune_engine::numerics::params::Parameters;
use serde::{Deserialize, Serialize};

use crate::lesson::issue::shorten;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TensorEntries {
    /// As code calls it.
    pub name: String,
    pub rows: usize,
    pub cols: usize,
    /// Row-major; none where they are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<usize>>,
    #[serde(with = "numbers::many")]
    pub values: Vec<f32>,
}

impl TensorEntries {
    /// The entries in which two sets of parameters differ, by their bits; with the values of the second.
    pub fn between(trained: &Arc<Parameters<f32>>, live: &Arc<Parameters<f32>>) -> Vec<Self> {
        if Arc::ptr_eq(trained, live) {
            return Vec::new();
        }
        Self::all(live, &trained.changed_to(live))
    }

    /// Entries of all tensors, in their order, by the tensors that they belong to.
    pub fn all(parameters: &Parameters<f32>, entries: &[(usize, f32)]) -> Vec<Self> {
        let mut rest = entries;
        let mut all = Vec::new();
        for spec in parameters.specs() {
            let Range { start: begin, end } = spec.indices();
            let count = rest.partition_point(|(index, _)| *index < end);
            let (own, others) = rest.split_at(count);
            rest = others;
            if own.is_empty() {
                continue;
            }
            let at = (own.len() < end - begin).then(|| own.iter().map(|(index, _)| index - begin).collect());
            let values = own.iter().map(|(_, value)| *value).collect();
            all.push(Self { name: spec.id.code_name(), rows: spec.rows, cols: spec.cols, at, values });
        }
        all
    }

    /// The entries with their indices among those of all tensors.
    ///
    /// # Errors
    /// In words for the learner, if there is no such tensor, or one that could not hold the values.
    pub fn indexed(&self, parameters: &Parameters<f32>) -> Result<Vec<(usize, f32)>, String> {
        self.fitting(parameters).ok_or_else(|| {
            let Self { name, rows, cols, .. } = self;
            format!("the model cannot take entries of a tensor {} of {rows} by {cols}", shorten(name))
        })
    }

    fn fitting(&self, parameters: &Parameters<f32>) -> Option<Vec<(usize, f32)>> {
        let spec = parameters.specs().iter().find(|spec| spec.id.code_name() == self.name)?;
        let Range { start: begin, end } = spec.indices();
        let count = self.at.as_ref().map_or(end - begin, Vec::len);
        let fits = (spec.rows, spec.cols) == (self.rows, self.cols)
            && count == self.values.len()
            && self.values.iter().all(|value| value.is_finite())
            && self.at.iter().flatten().all(|at| *at < end - begin);
        let place = |i: usize| begin + self.at.as_ref().map_or(i, |at| at[i]);
        fits.then(|| self.values.iter().enumerate().map(|(i, value)| (place(i), *value)).collect())
    }
}
