//! The learner's changes to the forward pass of the sentence on the stage, which leave the model as it is.

use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskBase, MaskTable};
use attune_engine::numerics::evidence::corpus::HeadTowers;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;

use super::sentence::SentenceFrame;
use crate::lesson::is_temperature;
use crate::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};

/// A kind of change that a learner can make to the forward pass, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterventionWords {
    pub name: &'static str,
    pub meaning: &'static str,
    /// The option of `attune trace` for this change.
    pub option: Option<&'static str>,
    /// The key in the trace's `interventions`.
    pub key: &'static str,
}

/// The changes to a forward pass other than the modes of heads, which are
/// [`HeadMode`](attune_engine::numerics::attention::HeadMode).
pub const INTERVENTIONS: [InterventionWords; 5] = [
    InterventionWords {
        name: "edge",
        meaning: "If you untick the box beside a weight, the chosen word no longer looks at this word in this head, and the rest \
                  of the row is rescaled to sum to 1.",
        option: Some("without"),
        key: "edges",
    },
    InterventionWords {
        name: "patch",
        meaning: "Activation patching: before a layer, the chosen word gets the vector that a word of the second sentence \
                  (*Alt+C*) has there. The vector stays as it was when it was copied, until one of the sentences changes.",
        option: Some("patch"),
        key: "patch",
    },
    InterventionWords {
        name: "temperature",
        meaning: "The scores of all heads are divided by this number.",
        option: Some("temperature"),
        key: "temperature",
    },
    InterventionWords {
        name: "scale",
        meaning: "The scaling of the scores by 1 / √d_k is switched on or off in all heads.",
        option: None,
        key: "scaled",
    },
    InterventionWords {
        name: "mask",
        meaning: "Which words a word may look at is changed in all heads.",
        option: None,
        key: "mask",
    },
];

/// Returns interventions that change nothing, with a mode for every head.
pub fn none(architecture: &Architecture) -> Interventions<f32> {
    Interventions { heads: vec![HeadMode::Live; architecture.heads()], ..Interventions::default() }
}

/// Returns whether these interventions change nothing.
pub fn are_none(interventions: &Interventions<f32>) -> bool {
    let Interventions { heads, temperature, scale, mask, edges, patch } = interventions;
    let are_live = heads.iter().all(|mode| *mode == HeadMode::Live) && edges.is_empty() && patch.is_none();
    are_live && temperature.is_none() && scale.is_none() && mask.is_none()
}

/// Returns the interventions that can be applied to another sentence. Frozen weights, the mask, removed edges and a
/// patch belong to one sentence.
pub fn for_any_sentence(interventions: &Interventions<f32>) -> Interventions<f32> {
    let mut others = interventions.clone();
    others.mask = others.mask.filter(|mask| !mask.is_of_sentence());
    (others.edges, others.patch) = (Vec::new(), None);
    for mode in others.heads.iter_mut().filter(|mode| mode.is_of_sentence()) {
        *mode = HeadMode::Live;
    }
    others
}

/// Returns the number of queries and of keys that a head has in a sentence.
pub fn shape_of(architecture: &Architecture, head: usize, frame: &SentenceFrame) -> (usize, usize) {
    let HeadTowers { queries, keys } = HeadTowers::all(architecture)[head];
    (frame.tokens_of(queries).len(), frame.tokens_of(keys).len())
}

/// Checks that a head has as many queries and keys in the second sentence as in the first, and returns their numbers.
///
/// # Errors
/// A message for the learner if the numbers differ.
pub fn check_exchange(
    architecture: &Architecture,
    head: usize,
    frames: [&SentenceFrame; 2],
) -> Result<(usize, usize), String> {
    let [own, other] = frames.map(|frame| shape_of(architecture, head, frame));
    if own == other {
        return Ok(own);
    }
    let [own, other] = frames.map(|frame| frame.tokens().len());
    Err(format!("the sentences have {own} and {other} tokens, but a head is exchanged token by token"))
}

/// Checks a temperature.
///
/// # Errors
/// A message for the learner if the temperature is out of range.
pub fn check_temperature(temperature: f64) -> Result<(), String> {
    if is_temperature(temperature) {
        return Ok(());
    }
    Err(format!("a temperature must be from {TEMPERATURE_MIN} to {TEMPERATURE_MAX}, not {temperature}"))
}

/// Checks a mask.
///
/// # Errors
/// A message for the learner if the mask does not fit a sentence of the given number of tokens.
pub fn check_mask(mask: &Mask, tokens: usize) -> Result<(), String> {
    match mask {
        Mask::Custom(table) if table.size() != (tokens, tokens) => {
            let (queries, keys) = table.size();
            Err(format!("a mask of {queries} by {keys} does not fit the sentence, which has {tokens} tokens"))
        }
        _ => Ok(()),
    }
}

/// Greatest number of edges that can be removed.
pub const EDGES_MAX: usize = 4096;

/// Returns the sorted list of removed edges, to which `edge` is added if `is_removed`, and from which it is taken
/// otherwise.
///
/// # Errors
/// A message for the learner if more than [`EDGES_MAX`] edges would be removed.
pub fn with_edge(edges: &[Edge], edge: Edge, is_removed: bool) -> Result<Vec<Edge>, String> {
    let mut edges = edges.to_vec();
    match (edges.binary_search(&edge), is_removed) {
        (Err(_), true) if edges.len() >= EDGES_MAX => {
            return Err(format!("at most {EDGES_MAX} edges can be removed"));
        }
        (Err(at), true) => edges.insert(at, edge),
        (Ok(at), false) => {
            edges.remove(at);
        }
        (Ok(_), true) | (Err(_), false) => {}
    }
    Ok(edges)
}

/// Largest gain of a head.
pub const GAIN_MAX: f32 = 4.0;

/// Checks the gain of a head.
///
/// # Errors
/// A message for the learner if the gain is out of range.
pub fn check_gain(gain: f32) -> Result<(), String> {
    if (0.0..=GAIN_MAX).contains(&gain) {
        return Ok(());
    }
    Err(format!("a head's gain must be from 0 to {GAIN_MAX}, not {gain}"))
}

/// Returns the mode for a gain: a head with a gain of 1 is live, and one with a gain of 0 is off.
pub fn mode_of_gain(gain: f32) -> HeadMode<f32> {
    match gain {
        0.0 => HeadMode::Off,
        1.0 => HeadMode::Live,
        _ => HeadMode::Gain(gain),
    }
}

/// Returns the mask with one pair of query and key toggled, starting from what the first layer sees with its window;
/// `None` if the result is the model's own mask.
///
/// # Errors
/// A message for the learner if there is no such pair.
pub fn toggled(
    architecture: &Architecture,
    interventions: &Interventions<f32>,
    tokens: usize,
    query: usize,
    key: usize,
) -> Result<Option<Mask>, String> {
    if query >= tokens || key >= tokens {
        return Err(format!(
            "the sentence has {tokens} tokens, so there is no pair {}, {}",
            query.saturating_add(1),
            key.saturating_add(1)
        ));
    }
    let before = interventions.sight_of_first(architecture);
    let sees = |q: usize, k: usize| before.sees(q, k) != ((q, k) == (query, key));
    Ok(with_first_sight(architecture, interventions, tokens, sees))
}

/// Returns the mask with which the first layer sees the given pairs. The differences are applied to the masks of all
/// layers, or to the mask with which the learner replaced these. The result is a plain mask if every layer sees the
/// same with it.
pub fn with_first_sight(
    architecture: &Architecture,
    interventions: &Interventions<f32>,
    tokens: usize,
    sees: impl Fn(usize, usize) -> bool,
) -> Option<Mask> {
    let base = interventions.mask.as_ref().map(Mask::base).unwrap_or_default();
    let under = |mask: Option<Mask>| Interventions { mask, ..Interventions::<f32>::default() };
    let changed = under(Some(Mask::custom(MaskTable::from_fn(tokens, tokens, sees).over(base))));
    let pairs = || (0..tokens).flat_map(|query| (0..tokens).map(move |key| (query, key)));
    let is_as_changed = |plain: &Interventions<f32>| {
        architecture.numbered_blocks().all(|(b, _)| {
            let (plain, changed) = (plain.sight(architecture, b), changed.sight(architecture, b));
            pairs().all(|(query, key)| plain.sees(query, key) == changed.sees(query, key))
        })
    };
    let plain = match base {
        MaskBase::None => Some(Mask::None),
        MaskBase::Causal => Some(Mask::Causal),
        MaskBase::Layers | MaskBase::Hidden => None,
    };
    [under(None), under(plain)].into_iter().find(is_as_changed).unwrap_or(changed).mask
}
