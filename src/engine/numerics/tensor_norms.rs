//! L2 norms of the tensors of a gradient or of another set, and the tensor that overflowed first.

use super::Scalar;
use super::params::{Parameters, TensorId};

/// L2 norms of a set of tensors, allocated once, so that measuring allocates nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorNorms {
    pub overall: f32,
    /// Norm of each tensor, in the order of [`Parameters::tensors`].
    pub by_tensor: Vec<f32>,
}

impl TensorNorms {
    /// Allocates room for the tensors of `parameters`.
    pub fn new<S: Scalar>(parameters: &Parameters<S>) -> Self {
        Self { overall: 0.0, by_tensor: vec![0.0; parameters.specs().len()] }
    }

    /// Computes the norms of the tensors, for example of the difference between two sets of parameters.
    pub fn of<S: Scalar>(tensors: &Parameters<S>) -> Self {
        let mut norms = Self::new(tensors);
        // An overflow is visible in the norm itself.
        let _ = norms.measure(tensors);
        norms
    }

    /// Computes `‖g‖ = √(Σ g²)` of each tensor and of all together.
    ///
    /// # Errors
    /// The tensor in which the gradient first overflowed: the sum of its squares is not finite in single precision, in
    /// which Adam squares the entries. The backward pass computes the gradients from the last tensor to the first, so
    /// of several overflowed tensors the last was the first to overflow.
    pub fn measure<S: Scalar>(&mut self, gradient: &Parameters<S>) -> Result<(), TensorId> {
        let (mut all, mut overflowed) = (0.0, None);
        for ((spec, values), norm) in gradient.tensors().zip(&mut self.by_tensor) {
            let sum = square_sum(&values);
            if !(sum as f32).is_finite() {
                overflowed = Some(spec.id);
            }
            *norm = sum.sqrt() as f32;
            all += sum;
        }
        self.overall = all.sqrt() as f32;
        overflowed.map_or(Ok(()), Err)
    }
}

/// Returns the first tensor with an entry that is not finite; `None` if there is none.
pub fn first_not_finite<S: Scalar>(parameters: &Parameters<S>) -> Option<TensorId> {
    let mut tensors = parameters.tensors();
    tensors.find(|(_, values)| !square_sum(values).is_finite()).map(|(spec, _)| spec.id)
}

/// Computes `Σ x²` in double precision, in which the squares of finite single-precision entries cannot overflow.
fn square_sum<S: Scalar>(values: &[S]) -> f64 {
    /// Number of independent sums, so that an addition need not wait for the one before it.
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let square = |x: S| x.to_f64() * x.to_f64();
    let mut chunks = values.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (sum, &x) in sums.iter_mut().zip(chunk) {
            *sum += square(x);
        }
    }
    sums.iter().sum::<f64>() + chunks.remainder().iter().map(|&x| square(x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::params::TensorName;

    fn gradient(query: &[f32], output: &[f32]) -> Parameters<f32> {
        let (q, o) = (TensorName::QueryWeights.into(), TensorName::OutputWeights.into());
        let mut gradient = Parameters::zeros(&[(q, 1, query.len()), (o, 1, output.len())]);
        gradient.values_of_mut(q).copy_from_slice(query);
        gradient.values_of_mut(o).copy_from_slice(output);
        gradient
    }

    #[test]
    fn norms_by_hand() {
        let gradient = gradient(&[3.0, 4.0], &[1.0; 144]);
        let mut norms = TensorNorms::new(&gradient);
        norms.measure(&gradient).expect("finite");
        assert_eq!((norms.overall, &norms.by_tensor[..]), (13.0, &[5.0, 12.0][..]));
        assert_eq!(first_not_finite(&gradient), None);
    }

    #[test]
    fn the_tensor_that_overflows_is_named() {
        let mut norms = TensorNorms::new(&gradient(&[0.0], &[0.0; 9]));
        let mut measure = |query, last| {
            let mut output = [0.0; 9];
            output[8] = last;
            norms.measure(&gradient(&[query], &output))
        };
        for bad in [f32::NAN, f32::INFINITY, 1e30] {
            assert_eq!(measure(bad, 0.0), Err(TensorName::QueryWeights.into()), "{bad}");
            assert_eq!(measure(0.0, bad), Err(TensorName::OutputWeights.into()), "{bad}");
            assert_eq!(
                measure(bad, bad),
                Err(TensorName::OutputWeights.into()),
                "{bad}: where the backward pass meets it"
            );
        }
        assert_eq!(measure(1e18, 1e18), Ok(()));
        assert_eq!(first_not_finite(&gradient(&[1e30], &[f32::NAN])), Some(TensorName::OutputWeights.into()));
        assert_eq!(first_not_finite(&gradient(&[f32::NAN], &[f32::NAN])), Some(TensorName::QueryWeights.into()));
        assert_eq!(first_not_finite(&gradient(&[f32::MAX], &[1.0])), None);
    }
}
