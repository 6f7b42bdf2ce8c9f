//! Reading of the switches of a lesson, which are named changes of its model, and the model of every combination.

use std::collections::BTreeSet;

use crate::lesson::read::common::line;
use crate::lesson::read::corpus::Lists;
use crate::lesson::read::model::{ReadModel, read_attention};
use crate::lesson::reading::decode::{At, Node, different, fields, list, record};
use crate::lesson::reading::issue::{one_of, shorten};
use crate::lesson::reading::tree::{Body, Form};
use crate::lesson::schema::limits::SWITCHES_MAX;
use crate::lesson::schema::switches::{Switch, Switches};

/// Fields that a switch cannot change, because sentences, answers and sizes of the lesson are checked against them.
const KEPT: [&str; 4] = ["objective", "readout", "pool", "max_tokens"];

/// Reads the switches of a lesson, once its model has been read. Each switch must by itself result in a valid model.
pub fn read_switches<'s>(
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

/// Reads a switch, with the record of the fields of the model that it changes.
fn read_switch(node: Node<'_>) -> Option<(At<'_, Switch>, Node<'_>)> {
    record(node, &["Switch"], |record| {
        fields! { record; name: line; tip: line, or String::new(); change as "model": read_change; }
        Some((At { value: Switch { name: name?, tip: tip? }, node }, change?))
    })
}

/// Reads the record of the fields that change.
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

/// Reads the names of switches in a claim.
pub fn read_names(node: Node<'_>, switches: Option<&Switches>) -> Option<BTreeSet<String>> {
    let name = |node| {
        let name = line(node)?;
        let Some(switches) = switches else { return Some(name) };
        let known: Vec<&str> = switches.list.iter().map(|switch| &*switch.name).collect();
        if known.contains(&&*name) {
            return Some(name);
        }
        let expected = if known.is_empty() { "switches: [ … ]".to_owned() } else { one_of(&known) };
        node.field_issue(format!("the lesson has no switch \"{}\"", shorten(&name)))
            .expected(expected)
            .nearest(&name, known)
            .none()
    };
    Some(different(node, SWITCHES_MAX, "switch ", name)?.into_iter().collect())
}
