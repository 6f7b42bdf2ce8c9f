//! The changes of a pass as code writes them: `forward("the cat sat", #{ off: [3], temperature: 0.5 })`. Code,
//! *Intervene* and `attune trace` use the same names.

use std::sync::Arc;

use rhai::{Array, Dynamic, INT, Map};

use super::fault::Fault;
use super::model::OnlyChanges;
use super::tensor::Tensor;
use super::value::type_name;
use crate::messages::nearest;
use crate::numerics::Matrix;
use crate::numerics::attention::{Edge, HeadMode, Mask, MaskBase, MaskTable};
use crate::numerics::model::activations::Patch;

/// The name of the function that runs the model.
pub const FORWARD: &str = "forward";

/// The names of the changes, each with its form.
const NAMES: [(&str, &str); 10] = [
    ("off", "a list of heads"),
    ("mean", "a list of heads"),
    ("uniform", "a list of heads"),
    ("gain", "a list of heads with their gains, as in [[3, 0.5]]"),
    ("frozen", "a list of heads with their weights, as in [[3, A[3]]]"),
    ("temperature", "a number"),
    ("scale", "true or false"),
    ("mask", "\"none\", \"causal\", or a matrix of 0 and 1 with a row for each query"),
    ("without", "a list of heads with query and key, as in [[3, 0, 2]]"),
    (
        "patch",
        "#{ layer: 0, position: 2, from: 2, second: \"the sentence\" }, or #{ heads: [3], second: \"the sentence\" }",
    ),
];
/// Masks that a mask given as a matrix can change, by the name that code writes as `base`.
const BASES: [(&str, MaskBase); 3] =
    [("none", MaskBase::None), ("causal", MaskBase::Causal), ("hidden", MaskBase::Hidden)];
const BASE: &str = "base";

fn fault(name: &str, found: &Dynamic) -> Fault {
    let form = NAMES.iter().find(|(known, _)| *known == name).map_or("", |(_, form)| form);
    Fault::new(format!("{FORWARD}: {name} is {}", type_name(found))).hint(format!("{name} is {form}"))
}

/// Reads the changes of a map.
///
/// # Errors
/// A message for the learner, if a name is unknown or its value does not have the form in `NAMES`.
pub fn read(map: &Map) -> Result<OnlyChanges, Fault> {
    let mut changes = OnlyChanges::default();
    for (name, value) in map {
        let wrong = || fault(name, value);
        match name.as_str() {
            "off" => modes(&mut changes, &list(value).ok_or_else(wrong)?, &HeadMode::Off)?,
            "mean" => modes(&mut changes, &list(value).ok_or_else(wrong)?, &HeadMode::Mean)?,
            "uniform" => modes(&mut changes, &list(value).ok_or_else(wrong)?, &HeadMode::Uniform)?,
            "gain" => {
                changes.heads.extend(pairs(value, |gain| Some(HeadMode::Gain(number(gain)? as f32))).ok_or_else(wrong)?)
            }
            "frozen" => changes.heads.extend(pairs(value, frozen).ok_or_else(wrong)?),
            "temperature" => changes.others.temperature = Some(number(value).ok_or_else(wrong)?),
            "scale" => changes.others.scale = Some(value.as_bool().map_err(|_| wrong())?),
            "mask" => changes.others.mask = Some(mask(value, map.get(BASE)).ok_or_else(wrong)?),
            "without" => changes.others.edges = edges(value).ok_or_else(wrong)?,
            "patch" => patch(&mut changes, value)?.ok_or_else(wrong)?,
            BASE if map.contains_key("mask") => {}
            other => {
                let names = || NAMES.iter().map(|(name, _)| *name);
                let fault = Fault::new(format!("{FORWARD}: there is no change {other:?}"));
                return Err(match nearest(other, names()) {
                    Some(near) => fault.hint(format!("did you mean {near:?}?")),
                    None => fault.hint(format!("the changes are {}", names().collect::<Vec<_>>().join(", "))),
                });
            }
        }
    }
    Ok(changes)
}

fn list(value: &Dynamic) -> Option<Array> {
    value.clone().into_array().ok()
}

fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|whole: INT| whole as f64))
}

fn index(value: &Dynamic) -> Option<usize> {
    usize::try_from(value.as_int().ok()?).ok()
}

fn modes(changes: &mut OnlyChanges, list: &Array, mode: &HeadMode<f32>) -> Result<(), Fault> {
    changes.heads.extend(heads(list)?.into_iter().map(|head| (head, mode.clone())));
    Ok(())
}

/// Reads a list of pairs, each a head and its value, which `mode` converts; `None` if an entry is not such a pair.
fn pairs(value: &Dynamic, mode: impl Fn(&Dynamic) -> Option<HeadMode<f32>>) -> Option<Vec<(usize, HeadMode<f32>)>> {
    let pair = |pair: &Dynamic| match &list(pair)?[..] {
        [head, value] => Some((index(head)?, mode(value)?)),
        _ => None,
    };
    list(value)?.iter().map(pair).collect()
}

fn frozen(value: &Dynamic) -> Option<HeadMode<f32>> {
    let (rows, cols, entries) = table(value)?;
    let entries = entries.into_iter().map(|entry| entry as f32).collect();
    Some(HeadMode::Frozen(Some(Arc::new(Matrix::from_row_major(rows, cols, entries)))))
}

/// Returns the numbers of rows and columns and the entries of a matrix; `None` if the value is not one.
fn table(value: &Dynamic) -> Option<(usize, usize, Vec<f64>)> {
    let tensor: Tensor = value.clone().try_cast()?;
    match tensor.axes() {
        [rows, cols] => Some((rows.len, cols.len, tensor.entries().to_vec())),
        _ => None,
    }
}

fn mask(value: &Dynamic, base: Option<&Dynamic>) -> Option<Mask> {
    if let Ok(name) = value.clone().into_string() {
        return match name.as_str() {
            "none" => Some(Mask::None),
            "causal" => Some(Mask::Causal),
            _ => None,
        };
    }
    let base = match base {
        None => MaskBase::Layers,
        Some(name) => {
            let name = name.clone().into_string().ok()?;
            BASES.iter().find(|(known, _)| *known == name).map(|(_, base)| *base)?
        }
    };
    let (queries, keys, entries) = table(value)?;
    let sees = |query: usize, key: usize| entries[query * keys + key] != 0.0;
    Some(Mask::custom(MaskTable::from_fn(queries, keys, sees).over(base)))
}

/// Reads a list of removed edges, sorts it and removes duplicates; `None` if an entry is not a list of head, query and
/// key.
fn edges(value: &Dynamic) -> Option<Vec<Edge>> {
    let edge = |edge: &Dynamic| match &list(edge)?[..] {
        [head, query, key] => Some(Edge { head: index(head)?, query: index(query)?, key: index(key)? }),
        _ => None,
    };
    let mut edges: Vec<Edge> = list(value)?.iter().map(edge).collect::<Option<_>>()?;
    edges.sort_unstable();
    edges.dedup();
    Some(edges)
}

/// Reads what is taken from a second sentence: a vector, heads, or both; `None` if the value does not have this form.
fn patch(changes: &mut OnlyChanges, value: &Dynamic) -> Result<Option<()>, Fault> {
    let Some(map) = value.clone().try_cast::<Map>() else { return Ok(None) };
    changes.second = map.get("second").and_then(|second| second.clone().into_string().ok());
    let mut names = 1;
    if let Some(head) = map.get("head") {
        modes(changes, &vec![head.clone()], &HeadMode::Second(None))?;
        names += 1;
    }
    if let Some(heads) = map.get("heads") {
        let Some(heads) = list(heads) else { return Ok(None) };
        modes(changes, &heads, &HeadMode::Second(None))?;
        names += 1;
    }
    let place = |name: &str| index(map.get(name)?);
    if let (Some(block), Some(position), Some(from)) = (place("layer"), place("position"), place("from")) {
        changes.others.patch = Some(Patch { block, position, from, vector: None });
        names += 3;
    }
    Ok((changes.second.is_some() && names > 1 && map.len() == names).then_some(()))
}

/// Reads heads from a list of whole numbers.
pub(super) fn heads(list: &Array) -> Result<Vec<usize>, Fault> {
    let head = |head: &Dynamic| {
        let number = head.as_int().ok().and_then(|head: INT| usize::try_from(head).ok());
        number.ok_or_else(|| {
            let found = if head.is_int() { head.to_string() } else { type_name(head).to_owned() };
            Fault::new(format!("{FORWARD}: {found} is not a head")).hint("heads count from 0, as in [0, 2]")
        })
    };
    list.iter().map(head).collect()
}
