//! The Weights panel: every entry of a tensor with its ghost.

use crate::kernel::snapshot::Snapshot;
use crate::numerics::params::TensorId;

#[derive(Clone, Debug, PartialEq)]
pub struct WeightsModel {
    pub tensors: Vec<TensorModel>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TensorModel {
    pub id: TensorId,
    pub rows: usize,
    pub cols: usize,
    /// Row-major, in use now.
    pub values: Vec<f32>,
    /// Row-major, as training left them.
    pub trained: Vec<f32>,
    /// How many entries differ from `trained`.
    pub changed: usize,
    /// How many heads share the columns (of `W_O`, the rows).
    pub heads: usize,
}

impl TensorModel {
    pub fn value(&self, row: usize, col: usize) -> f32 {
        self.values[row * self.cols + col]
    }

    pub fn trained_value(&self, row: usize, col: usize) -> f32 {
        self.trained[row * self.cols + col]
    }
}

impl WeightsModel {
    pub fn of(snapshot: &Snapshot) -> Option<WeightsModel> {
        let model = snapshot.model.as_ref()?;
        let tensors = model
            .parameters
            .tensors()
            .map(|(spec, values)| {
                let trained = model.trained.values_of(spec.id);
                TensorModel {
                    id: spec.id,
                    rows: spec.rows,
                    cols: spec.cols,
                    values: values.to_vec(),
                    trained: trained.to_vec(),
                    changed: values.iter().zip(trained).filter(|(live, trained)| live != trained).count(),
                    heads: model
                        .architecture
                        .numbered_blocks()
                        .nth(spec.id.block)
                        .map_or(1, |(_, block)| block.attention.heads),
                }
            })
            .collect();
        Some(WeightsModel { tensors })
    }
}
