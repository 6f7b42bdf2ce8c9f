//! The effect of each weight of the model in a snapshot on a word. It is measured on demand, because few viewers ask
//! for it.

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::evidence::effects::WordOf;
use attune_engine::numerics::params::{Parameters, TensorSpec};

use super::snapshot::ModelSnapshot;
use crate::kernel::values::space::{ScaleNorm, StaticSpace};

/// Greatest number of weights of a model whose effects are measured; the passes of a larger model would hold up a
/// frame.
const WEIGHTS_MAX: usize = 500_000;

impl ModelSnapshot {
    /// Measures how far the contextual point of a word moves in the picture per unit that is added to each weight; see
    /// [`WordOf::effects`].
    ///
    /// # Errors
    /// A message for the learner if the effects cannot be measured.
    pub fn effects_on(&self, word: usize, space: &StaticSpace) -> Result<Parameters<f32>, &'static str> {
        if let Some(why) = self.why_no_effects(space) {
            return Err(why);
        }
        let axes: Vec<Vec<f32>> =
            (0..space.projection.dimensions()).map(|axis| space.projection.axis(axis).to_vec()).collect();
        let first = self.sentence.activations.blocks.first().filter(|block| word < block.input.rows());
        let input = &first.ok_or("There are no layers, so no weight moves a word.")?.input;
        let (architecture, parameters) = (&self.architecture, &*self.parameters);
        Ok(WordOf { architecture, parameters, input, word }.effects(&axes))
    }

    fn why_no_effects(&self, space: &StaticSpace) -> Option<&'static str> {
        let changes = &self.interventions;
        let has_changes = changes.temperature.is_some()
            || changes.scale.is_some()
            || changes.mask.is_some()
            || changes.patch.is_some()
            || !changes.edges.is_empty()
            || changes.heads.iter().any(|mode| *mode != HeadMode::Live);
        let specs = self.parameters.specs();
        let weights: usize = specs.iter().map(|spec| spec.rows * spec.cols).sum();
        if weights > WEIGHTS_MAX || specs.iter().any(TensorSpec::is_packed) {
            Some("The effects of weights are measured in smaller models only.")
        } else if self.architecture.has_source() {
            Some("The effects of weights are measured in models with one sentence only.")
        } else if space.scale().is_some_and(|scale| scale.norm == ScaleNorm::Last) {
            Some("The picture is seen through the final norm, so the effects of weights are not measured.")
        } else if has_changes {
            Some("Heads, mask or temperature are changed. Reset these changes to see the effects of weights.")
        } else {
            None
        }
    }
}
