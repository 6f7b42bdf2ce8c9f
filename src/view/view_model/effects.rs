//! The effect of each weight of the model on a word: how fast the word's contextual point moves in the picture as the
//! weight grows.

use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::numerics::params::{Parameters, TensorId, TensorSpec};

use super::{number, quoted};

/// The effects of all weights on the point of a word in the picture.
#[derive(Clone, Debug)]
pub struct WeightEffects {
    /// The word in quotation marks.
    word: String,
    /// The effects, with the strongest entry of each tensor; or the reason why they cannot be measured.
    found: Result<(Parameters<f32>, Vec<Strongest>), &'static str>,
}

/// The entry of a tensor with the largest effect, and this effect.
#[derive(Clone, Copy, Debug)]
struct Strongest {
    tensor: TensorId,
    entry: (usize, usize),
    effect: f32,
}

impl Strongest {
    fn of(effects: &Parameters<f32>, spec: &TensorSpec) -> Self {
        let entries = (0..spec.rows).flat_map(|row| (0..spec.cols).map(move |col| (row, col)));
        let measured = entries.map(|(row, col)| ((row, col), effects.entry(spec.id, row, col).unwrap_or(0.0)));
        let (entry, effect) = measured.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        Self { tensor: spec.id, entry, effect }
    }
}

/// The effects of a tensor's entries.
pub struct TensorEffects<'a> {
    word: &'a str,
    effects: &'a Parameters<f32>,
    strongest: Strongest,
}

impl WeightEffects {
    /// Measures the effects on the word at a position of the sentence; `None` if there is no model or no such word.
    pub fn of(snapshot: &Snapshot, word: usize) -> Option<Self> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        let label = token_labels(&model.sentence.tokens).get(word).map(|label| quoted(label))?;
        let found = model.effects_on(word, space).map(|effects| {
            let strongest = effects.specs().iter().map(|spec| Strongest::of(&effects, spec)).collect();
            (effects, strongest)
        });
        Some(Self { word: label, found })
    }

    /// Returns the effects of a tensor's entries.
    ///
    /// # Errors
    /// If effects cannot be measured; the reason is in words for the learner.
    pub fn of_tensor(&self, id: TensorId) -> Result<TensorEffects<'_>, &'static str> {
        let (effects, strongest) = self.found.as_ref().map_err(|why| *why)?;
        let of = strongest.iter().find(|strongest| strongest.tensor == id).copied();
        let strongest = of.unwrap_or(Strongest { tensor: id, entry: (0, 0), effect: 0.0 });
        Ok(TensorEffects { word: &self.word, effects, strongest })
    }
}

impl TensorEffects<'_> {
    /// Returns the effect of an entry relative to the largest one of its tensor, from 0 to 1.
    pub fn share(&self, row: usize, col: usize) -> f32 {
        self.effect(row, col) / self.strongest.effect.max(f32::MIN_POSITIVE)
    }

    fn effect(&self, row: usize, col: usize) -> f32 {
        self.effects.entry(self.strongest.tensor, row, col).unwrap_or(0.0)
    }

    /// Returns the entry with the largest effect; `None` if no entry moves the word.
    pub fn strongest(&self) -> Option<(usize, usize)> {
        Some(self.strongest.entry).filter(|_| self.strongest.effect > 0.0)
    }

    /// Says how far an entry moves the word in the picture.
    pub fn told(&self, row: usize, col: usize) -> String {
        let Self { word, strongest: Strongest { tensor, effect: most, .. }, .. } = self;
        if *most == 0.0 {
            return format!("No entry of {tensor} moves {word} in the picture.");
        }
        let [own, most] = [self.effect(row, col), *most].map(|effect| number(effect.into()));
        format!("Moves {word} by {own} for each 1; the strongest entry of {tensor} by {most}.")
    }
}
