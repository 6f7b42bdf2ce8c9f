//! The learner's changes to a pass, as its trace names them.

use std::collections::BTreeMap;

use attune_engine::numerics::attention::{HeadMode, Mask};
use attune_engine::numerics::model::activations::Interventions;
use serde::Serialize;

use super::trace::visible;

#[derive(Serialize)]
pub struct Changes<'a> {
    /// Heads that are not live, counted over all blocks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    heads: BTreeMap<usize, Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// Whether scores are divided by `√d_k`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled: Option<bool>,
    /// A row for each query, 1 where it sees a key; or `causal`, or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mask: Option<MaskChange>,
    /// Head, query and key of each edge that is taken out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<[usize; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<Patch<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Mode {
    Named(&'static str),
    Gain(f32),
}

#[derive(Serialize)]
#[serde(untagged)]
enum MaskChange {
    Named(&'static str),
    Visible(Vec<Vec<u8>>),
}

#[derive(Serialize)]
struct Patch<'a> {
    block: usize,
    position: usize,
    from: usize,
    vector: &'a [f32],
}

impl<'a> Changes<'a> {
    /// `None` where nothing is changed.
    pub fn of(interventions: &'a Interventions<f32>) -> Option<Self> {
        let mode = |mode: &HeadMode<f32>| match mode {
            HeadMode::Live => None,
            HeadMode::Off => Some(Mode::Named("off")),
            HeadMode::Uniform => Some(Mode::Named("uniform")),
            HeadMode::Frozen(_) => Some(Mode::Named("frozen")),
            HeadMode::Mean => Some(Mode::Named("mean")),
            HeadMode::Gain(gain) => Some(Mode::Gain(*gain)),
        };
        let heads: BTreeMap<usize, Mode> =
            interventions.heads.iter().enumerate().filter_map(|(head, of)| Some((head, mode(of)?))).collect();
        let Interventions { temperature, scale, mask, edges, patch, .. } = interventions;
        let is_changed = !heads.is_empty() || !edges.is_empty() || temperature.is_some() || scale.is_some();
        (is_changed || mask.is_some() || patch.is_some()).then(|| Self {
            heads,
            temperature: *temperature,
            scaled: *scale,
            mask: mask.as_ref().map(|mask| match mask {
                Mask::None => MaskChange::Named("none"),
                Mask::Causal => MaskChange::Named("causal"),
                Mask::Custom(table) => MaskChange::Visible(visible(table)),
            }),
            edges: edges.iter().map(|edge| [edge.head, edge.query, edge.key]).collect(),
            patch: patch.as_ref().map(|patch| Patch {
                block: patch.block,
                position: patch.position,
                from: patch.from,
                vector: &patch.vector,
            }),
        })
    }
}
