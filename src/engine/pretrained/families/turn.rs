//! The fields of rotary positions, in both spellings.

use super::super::fields::{CHECK, Fields, no_such};
use super::super::refusal::Refusal;
use super::values::{FULL, SLIDING};
use crate::numerics::positions::{Rotary, RotaryScaling};

/// The keys of a turn, and the values of those that are missing.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    /// The name in `rope_parameters` of the layers that have it.
    pub kind: &'static str,
    pub theta_key: &'static str,
    pub theta: f64,
    pub fraction_key: &'static str,
    pub fraction: f64,
    /// Whether `rope_scaling` is of these layers.
    pub is_scaled: bool,
}

pub(super) const TURN: Turn = Turn {
    kind: FULL,
    theta_key: "rope_theta",
    theta: 1e4,
    fraction_key: "partial_rotary_factor",
    fraction: 1.0,
    is_scaled: true,
};

/// The keys of today's configs.
const PARAMETERS: &str = "rope_parameters";
const THETA: &str = "rope_theta";
const TYPE: &str = "rope_type";

impl Turn {
    pub fn read(&self, fields: Fields<'_>, head_width: usize) -> Result<Rotary, Refusal> {
        const THETA_BOUNDS: [f64; 2] = [1.0, 1e12];
        let new = self.parameters(fields)?;
        let is_new = |key: &str| Ok::<_, Refusal>(!new.is_empty() && fields.has(&[new, &[key]].concat())?);
        let number = |key: &str, old: &str, default: f64, bounds: [f64; 2]| match is_new(key)? {
            true => fields.number(&[new, &[key]].concat(), default, bounds),
            false => fields.number(&[old], default, bounds),
        };
        let theta = number(THETA, self.theta_key, self.theta, THETA_BOUNDS)?;
        let fraction = number("partial_rotary_factor", self.fraction_key, self.fraction, [0.0, 1.0])?;
        let width = (head_width as f64 * fraction) as usize;
        if width == 0 || !width.is_multiple_of(2) {
            let found = format!("{width} of {head_width} columns of a head that are turned ({})", self.fraction_key);
            return Err(Refusal::new(found, "an even number, in pairs", CHECK));
        }
        let old: &[&str] = if self.is_scaled { &["rope_scaling"] } else { &[] };
        let scaling = scaling(fields, if new.is_empty() { old } else { new })?;
        Ok(Rotary { theta, width, scaling })
    }

    /// The path of these layers' parameters; empty where the config has the older keys.
    fn parameters(&self, fields: Fields<'_>) -> Result<&'static [&'static str], Refusal> {
        // Of a kind's own, or of all layers.
        let paths: [&'static [&'static str]; 2] = if self.kind == FULL {
            [&[PARAMETERS, FULL], &[PARAMETERS]]
        } else {
            [&[PARAMETERS, SLIDING], &[PARAMETERS]]
        };
        if fields.has(paths[0])? {
            return Ok(paths[0]);
        }
        let is_of_all = fields.has(&[PARAMETERS, THETA])? || fields.has(&[PARAMETERS, TYPE])?;
        Ok(if is_of_all { paths[1] } else { &[] })
    }
}

/// The scaling that stands under these keys; none where there are none.
fn scaling(fields: Fields<'_>, path: &[&str]) -> Result<RotaryScaling, Refusal> {
    const FACTOR: [f64; 2] = [1.0, 1e6];
    const TURNS: [f64; 2] = [1e-3, 1e6];
    if path.is_empty() {
        return Ok(RotaryScaling::None);
    }
    let under = |key| [path, &[key]].concat();
    let kind = match fields.get::<String>(&under(TYPE))? {
        Some(kind) => Some(kind),
        None => fields.get::<String>(&under("type"))?,
    };
    let needed = |key, bounds| {
        if fields.get::<f64>(&under(key))?.is_none() {
            let found = format!("a {TYPE} without {key}");
            return Err(Refusal::new(found, "a number", CHECK));
        }
        fields.number(&under(key), 1.0, bounds)
    };
    match kind.as_deref() {
        None | Some("default") => Ok(RotaryScaling::None),
        Some("linear") => needed("factor", FACTOR).map(RotaryScaling::Linear),
        Some("llama3") => {
            let [factor, low, high] =
                [needed("factor", FACTOR)?, needed("low_freq_factor", TURNS)?, needed("high_freq_factor", TURNS)?];
            let tokens = needed("original_max_position_embeddings", [1.0, 1e9])?;
            if low >= high {
                let found = format!("{low} as low_freq_factor and {high} as high_freq_factor");
                return Err(Refusal::new(found, "the second above the first", CHECK));
            }
            Ok(RotaryScaling::Llama3 { factor, low, high, tokens })
        }
        Some(other) => Err(no_such(other, TYPE, "default, linear or llama3")),
    }
}
