//! The learner's changes of the forward pass of the sentence on the stage; the model stays as it is.

use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskBase, MaskTable};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::activations::Interventions;

use crate::lesson::is_temperature;
use crate::lesson::limits::{TEMPERATURE_MAX, TEMPERATURE_MIN};

/// A kind of change that a learner can make to the forward pass, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterventionWords {
    pub name: &'static str,
    pub meaning: &'static str,
    /// The option of `attune trace` that makes it.
    pub option: Option<&'static str>,
    /// The key in the trace, among those of `interventions`.
    pub key: &'static str,
}

/// The changes of a forward pass beside those of its heads, whose modes are
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

/// The interventions of a model, of which every head has a mode.
pub fn none(architecture: &Architecture) -> Interventions<f32> {
    Interventions { heads: vec![HeadMode::Live; architecture.heads()], ..Interventions::default() }
}

/// Nothing is changed.
pub fn are_none(interventions: &Interventions<f32>) -> bool {
    let Interventions { heads, temperature, scale, mask, edges, patch } = interventions;
    let are_live = heads.iter().all(|mode| *mode == HeadMode::Live) && edges.is_empty() && patch.is_none();
    are_live && temperature.is_none() && scale.is_none() && mask.is_none()
}

/// The interventions that hold for another sentence too: frozen weights, an edited mask, removed edges and a patch
/// belong to one alone.
pub fn for_any_sentence(interventions: &Interventions<f32>) -> Interventions<f32> {
    let mut others = interventions.clone();
    (others.mask, others.edges, others.patch) = (None, Vec::new(), None);
    for mode in others.heads.iter_mut().filter(|mode| mode.is_of_sentence()) {
        *mode = HeadMode::Live;
    }
    others
}

/// # Errors
/// In words for the learner, if scores cannot be divided by it.
pub fn check_temperature(temperature: f64) -> Result<(), String> {
    if is_temperature(temperature) {
        return Ok(());
    }
    Err(format!("a temperature must be from {TEMPERATURE_MIN} to {TEMPERATURE_MAX}, not {temperature}"))
}

/// # Errors
/// In words for the learner, if it is no mask of a sentence of the given number of tokens.
pub fn check_mask(mask: &Mask, tokens: usize) -> Result<(), String> {
    match mask {
        Mask::Custom(table) if table.size() != (tokens, tokens) => {
            let (queries, keys) = table.size();
            Err(format!("a mask of {queries} by {keys} does not fit the sentence, which has {tokens} tokens"))
        }
        _ => Ok(()),
    }
}

/// The most edges that are taken out at once.
pub const EDGES_MAX: usize = 4096;

/// The edges with one taken out or put back, in their order.
///
/// # Errors
/// In words for the learner, if there are too many.
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

/// The largest gain of a head.
pub const GAIN_MAX: f32 = 4.0;

/// # Errors
/// In words for the learner, if a head cannot count the given number of times.
pub fn check_gain(gain: f32) -> Result<(), String> {
    if (0.0..=GAIN_MAX).contains(&gain) {
        return Ok(());
    }
    Err(format!("a head's gain must be from 0 to {GAIN_MAX}, not {gain}"))
}

/// A head that counts once is live; one that does not count is off.
pub fn mode_of_gain(gain: f32) -> HeadMode<f32> {
    match gain {
        0.0 => HeadMode::Off,
        1.0 => HeadMode::Live,
        _ => HeadMode::Gain(gain),
    }
}

/// The mask with one pair of query and key turned, from hidden to seen or back, as the first layer sees it with its window;
/// `None` where it is the model's again.
///
/// # Errors
/// In words for the learner, if there is no such pair.
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

/// The mask under which the first layer sees as told, with the changes over the layers' masks or over those that the learner put
/// in their place; a plain mask where every layer sees the same by it.
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
