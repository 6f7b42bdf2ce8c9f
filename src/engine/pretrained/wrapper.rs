//! Prefixes that programs put before the names of all tensors when they save a wrapped model: `_orig_mod.` of
//! torch.compile, `module.` of data-parallel training, `base_model.model.` of PEFT, `0.auto_model.` of
//! sentence-transformers.

use std::collections::BTreeSet;

use super::config::Family;
use super::refusal::{Refusal, quoted};
use crate::numerics::params::TensorName;

/// Prefixes that models of several families have.
const OF_MANY: [&str; 3] = ["model.", "transformer.", "decoder."];
/// Parts of the names of adapters' tensors, which change other weights.
const OF_ADAPTERS: [&str; 4] = [".lora_A.", ".lora_embedding_A.", ".adapters.", ".base_layer."];

/// Finds the prefix that all names of a model have in addition to its family's own; `None` if there is none. The prefix
/// is recognised by the name of the word table, which every model has.
///
/// # Errors
/// If the files have several models, or an adapter in addition to the weights.
pub(super) fn find<'a>(
    family: Family,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<String>, Refusal> {
    if let Some(name) = names.clone().find(|name| OF_ADAPTERS.iter().any(|part| name.contains(part))) {
        let advice =
            "merge the adapter in Python with PEFT's merge_and_unload, and save the model with save_pretrained";
        let refusal = Refusal::new("the weights of an adapter", "weights that stand by themselves", advice);
        return Err(refusal.of_tensor(name));
    }
    let Some(table) = family.written(TensorName::Embedding.into(), 0) else { return Ok(None) };
    let before = |name: &'a str| name.strip_suffix(&*table).filter(|before| before.is_empty() || before.ends_with('.'));
    let found: BTreeSet<&str> = names.filter_map(before).collect();
    let prefixes = family.names().prefixes;
    if found.iter().any(|before| before.is_empty() || prefixes.contains(before)) {
        return Ok(None);
    }
    let mut found = found.into_iter();
    match (found.next(), found.next()) {
        (Some(first), Some(second)) => {
            let both = format!(
                "the tables of words {} and {}",
                quoted(&format!("{first}{table}")),
                quoted(&format!("{second}{table}"))
            );
            Err(Refusal::new(both, "one model", "save the one that you want to see in a folder of its own"))
        }
        (Some(before), None) => {
            let own = prefixes.iter().filter(|prefix| before.ends_with(**prefix)).map(|prefix| prefix.len()).max();
            let wrapper = &before[..before.len() - own.unwrap_or(0)];
            Ok((!is_of_another(wrapper)).then(|| wrapper.to_owned()))
        }
        (None, _) => Ok(None),
    }
}

/// Returns whether a prefix belongs to another family, in which case the config and the weights belong to two models.
fn is_of_another(wrapper: &str) -> bool {
    let prefixes = Family::ALL.iter().flat_map(|family| family.names().prefixes);
    prefixes.filter(|prefix| !prefix.is_empty() && !OF_MANY.contains(prefix)).any(|prefix| wrapper.ends_with(prefix))
}
