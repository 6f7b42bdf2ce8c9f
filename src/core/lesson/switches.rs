//! Switches: named changes of a lesson's model, which a learner tries by training the lesson again with some of them on.

use std::collections::BTreeSet;

use super::check::line;
use super::decode::{At, Node, different, fields, list, record};
use super::issue::{one_of, shorten};
use super::limits::SWITCHES_MAX;
use super::read_corpus::Lists;
use super::read_model::{ReadModel, read_attention};
use super::schema::ModelConfig;
use super::tree::{Body, Form};

/// The switches of a lesson, and which of them are on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Switches {
    /// In the order of the lesson's file.
    pub list: Vec<Switch>,
    /// Names of those that are on; none in a lesson's file.
    pub on: BTreeSet<String>,
    /// The model with every combination on: bit `i` of the index is switch `i`. `None` where changes do not go together.
    models: Vec<Option<ModelConfig>>,
}

/// A change that a learner can make to the lesson's model.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    pub name: String,
    /// The change and its reason, for a tooltip; may be empty.
    pub tip: String,
}

/// Fields that a switch leaves as they are: sentences, answers and sizes of the lesson are checked against them.
const KEPT: [&str; 4] = ["objective", "readout", "pool", "max_tokens"];

impl Switches {
    /// The model with some switches on.
    ///
    /// # Errors
    /// In words for the learner, if there is no such switch, or if the changes do not go together.
    pub fn model(&self, on: &BTreeSet<String>) -> Result<&ModelConfig, String> {
        let mut bits = 0;
        for name in on {
            let place = self.list.iter().position(|switch| switch.name == *name);
            bits |= 1 << place.ok_or_else(|| format!("the lesson has no switch “{name}”"))?;
        }
        let together =
            || format!("“{}” do not go together", on.iter().map(String::as_str).collect::<Vec<_>>().join("” and “"));
        self.models.get(bits).and_then(Option::as_ref).ok_or_else(together)
    }
}

/// Reads the switches of a lesson whose model has been read. Each must make a model by itself.
pub(super) fn read_switches<'s>(
    node: Node<'s>,
    model: &ReadModel<'s>,
    dim: Option<usize>,
    groups: Option<&Lists<'s>>,
) -> Option<Switches> {
    let own = model.config.clone()?;
    let mut changes = Vec::new();
    let read = |node| {
        let (switch, change) = read_switch(node)?;
        changes.push(change);
        Some(switch)
    };
    let named = list(node, SWITCHES_MAX, read)?;
    let mut names = BTreeSet::new();
    for At { value, node } in &named {
        if !names.insert(&value.name) {
            return node.issue(format!("switch \"{}\" appears twice", shorten(&value.name))).none();
        }
    }
    let mut models = vec![Some(own)];
    for bits in 1..1usize << changes.len() {
        let on = (0..changes.len()).filter(|switch| bits >> switch & 1 == 1);
        let on: Vec<Node<'s>> = on.map(|switch| changes[switch]).collect();
        let read = || read_attention(model.node, &on, dim, groups).and_then(|read| read.config);
        models.push(match on[..] {
            [_] => Some(read()?),
            _ => node.issues.quietly(read),
        });
    }
    let list = named.into_iter().map(|read| read.value).collect();
    Some(Switches { list, on: BTreeSet::new(), models })
}

/// A switch, and the fields of the model that it changes.
fn read_switch(node: Node<'_>) -> Option<(At<'_, Switch>, Node<'_>)> {
    record(node, &["Switch"], |record| {
        fields! { record; name: line; tip: line, or String::new(); change as "model": read_change; }
        Some((At { value: Switch { name: name?, tip: tip? }, node }, change?))
    })
}

/// A record of the model with the fields that change.
fn read_change(node: Node<'_>) -> Option<Node<'_>> {
    let fields = match node.form() {
        Form::Record(_, Body::Fields(fields)) => &fields[..],
        _ => &[],
    };
    if fields.is_empty() {
        return node.field_issue(format!("found {}", shorten(node.text))).expected("the fields that change").none();
    }
    let kept = fields.iter().find(|(field, _)| KEPT.contains(field));
    match kept {
        Some((field, _)) => {
            let message = format!("a switch cannot change {field}, which the rest of the lesson relies on");
            node.at(field).issue(message).expected(format!("fields other than {}", one_of(&KEPT))).none()
        }
        None => Some(node),
    }
}

/// Names of switches, as a claim gives them.
pub(super) fn read_names(node: Node<'_>, switches: Option<&Switches>) -> Option<BTreeSet<String>> {
    let name = |node| {
        let name = line(node)?;
        let Some(known) = switches.map(|switches| switches.list.iter().map(|switch| &*switch.name)) else {
            return Some(name);
        };
        let known: Vec<&str> = known.collect();
        if known.contains(&&*name) {
            return Some(name);
        }
        let report = node.field_issue(format!("the lesson has no switch \"{}\"", shorten(&name)));
        let report =
            if known.is_empty() { report.expected("switches: [ … ]") } else { report.expected(one_of(&known)) };
        report.nearest(&name, known).none()
    };
    Some(different(node, SWITCHES_MAX, "switch ", name)?.into_iter().collect())
}
