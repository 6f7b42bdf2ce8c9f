//! The switches of a lesson: named changes of its model.

use std::collections::BTreeSet;

use crate::lesson::schema::model::ModelConfig;

/// The switches of a lesson, and which of them are on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Switches {
    /// The switches in the order of the lesson's file.
    pub list: Vec<Switch>,
    /// Names of the switches that are on; there are none in a lesson's file.
    pub on: BTreeSet<String>,
    /// The models of all combinations. Bit `i` of an index is switch `i`; `None` marks changes that cannot be combined.
    pub(crate) models: Vec<Option<ModelConfig>>,
}

/// A change that a learner can make to the lesson's model.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    pub name: String,
    /// The change and its reason, for a tooltip; may be empty.
    pub tip: String,
}

impl Switches {
    /// Returns the model with some switches on.
    ///
    /// # Errors
    /// A message for the learner if there is no such switch, or if the changes cannot be combined.
    pub fn model(&self, on: &BTreeSet<String>) -> Result<&ModelConfig, String> {
        let mut bits = 0;
        for name in on {
            let place = self.list.iter().position(|switch| switch.name == *name);
            bits |= 1 << place.ok_or_else(|| format!("the lesson has no switch “{name}”"))?;
        }
        let together =
            || format!("“{}” cannot be combined", on.iter().map(String::as_str).collect::<Vec<_>>().join("” and “"));
        self.models.get(bits).and_then(Option::as_ref).ok_or_else(together)
    }
}
