//! Saved work that was changed behind the program's back.

use std::fmt::{self, Debug, Formatter};
use std::fs;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::store::{Home, Key, Lock, Stored, open, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::commands::RandomCommands;
use super::{
    Attack, HOSTILE, Outcome, at_least_a_fifth, attack, flip, hostile, lines, numbers, place_in, places, shares,
};
use crate::common::folder::Folder;
use crate::common::lessons::apply;

/// Work of one lesson, as the store keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Work(pub Saved);

impl Stored for Work {
    const VERSION: u32 = 1;
}

impl Work {
    /// Numbers that are none are not equal to themselves; their texts are.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A change of what was saved.
#[derive(Clone, Debug)]
enum Edit {
    /// Another value at a place of the tree.
    Replace(Index, Value),
    Remove(Index),
    /// The value at one place stands at another too.
    Copy {
        from: Index,
        to: Index,
    },
    /// A list gets its first element so many times more.
    Repeat(Index, usize),
    /// Another value of the same kind.
    Like(Index, Alike),
    /// Fewer bytes of the file, which no longer match their checksum.
    Cut(f64),
    Flip(f64, u8),
}

/// A value of each kind.
#[derive(Clone, Debug)]
struct Alike {
    number: f64,
    text: String,
    flag: bool,
    /// Elements that a list keeps.
    kept: f64,
}

impl Alike {
    /// That of the value's own kind; objects have fields that they need, and stay.
    fn take_place_of(&self, value: &mut Value) {
        match value {
            Value::Number(number) if number.is_f64() => *value = json!(self.number),
            Value::Number(number) => *number = (self.number.abs() as u64).into(),
            Value::String(text) => text.clone_from(&self.text),
            Value::Bool(flag) => *flag = self.flag,
            Value::Array(all) => all.truncate((all.len() as f64 * self.kept) as usize),
            Value::Null | Value::Object(_) => {}
        }
    }
}

/// The work of a learner with some changes.
struct MutatedState {
    learner: RandomCommands,
    edits: Vec<Edit>,
}

#[test]
fn mutated_states_open_or_say_why_and_are_saved() {
    let outcomes = attack::<MutatedState>(120, &["opened", "opened in part", "said why not"]);
    at_least_a_fifth(outcomes["opened"] + outcomes["opened in part"], &outcomes);
}

impl Attack for MutatedState {
    fn cases() -> impl Strategy<Value = Self> {
        let learner = RandomCommands::of_at_most(40);
        // A value of another kind is refused with all of the file: what is opened is mostly of the same.
        let edits = prop_oneof![2 => vec(alike(), 1..6), 1 => vec(edits(), 1..6)];
        (learner, edits).prop_map(|(learner, edits)| Self { learner, edits })
    }

    fn run(&self) -> Outcome {
        let folder = Folder::new("attack");
        let home = &Home::at(&folder.0);
        let key = Key::named("attack");
        let saved = Saved::of(&self.learner.done().snapshot());
        let mut value = serde_json::to_value(saved).map_err(|why| format!("not saved: {why}"))?;
        for edit in &self.edits {
            change(&mut value, edit);
        }
        let state = {
            let mut first = open::<Work>(home, &key);
            first.store.save(&Work::default()).map_err(|why| format!("nothing is saved: {why}"))?;
            first.store.folder().path().join("state.json")
        };
        let mut bytes = file(&value);
        for edit in &self.edits {
            damage(&mut bytes, edit);
        }
        fs::write(&state, &bytes).map_err(|error| format!("the state cannot be written: {error}"))?;

        let mut opened = open::<Work>(home, &key);
        let found = opened.loaded.value.take();
        if found.is_none() && opened.loaded.report().is_empty() {
            return Err("neither work nor a reason".to_owned());
        }
        if opened.store.lock() != &Lock::Mine {
            return Err(format!("not saved from now on: {}", opened.store.lock()));
        }
        let outcome = if found.is_some() { "opened" } else { "said why not" };
        let mut kernel = Kernel::open(self.learner.lesson.clone(), found.map(|Work(saved)| saved));
        kernel.settle();
        let snapshot = kernel.snapshot();
        let outcome = if snapshot.report.is_empty() { outcome } else { "opened in part" };
        if snapshot.report.iter().any(|said| said.len() > 2000 || said.contains('\u{1b}')) {
            return Err(format!("reports {:?}", snapshot.report));
        }
        snapshot.model.as_ref().ok_or("there is no model")?;

        // It goes on from there, and is saved.
        apply(&mut kernel, Command::Sentence(SentenceCommand::Select(0)));
        let work = Work(Saved::of(&kernel.snapshot()));
        opened.store.save(&work).map_err(|why| format!("not saved afterwards: {why}"))?;
        let back = read::<Work>(home, &key);
        match &back.value {
            Some(again) if again.text() == work.text() => Ok(outcome),
            Some(_) => Err("what is saved afterwards is read as something else".to_owned()),
            None => Err(format!("what is saved afterwards is not read: {:?}", back.report())),
        }
    }
}

impl Debug for MutatedState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.learner, lines(&self.edits))
    }
}

/// The file of a value, with the right checksum.
fn file(value: &Value) -> Vec<u8> {
    let body = format!("{}\n{value}\n", json!({ "id": "attack", "saved": 1_763_732_302_000_u64 }));
    let rest = format!("{} {}\n{body}", Work::VERSION, body.len());
    format!("attune-state {:08x} {rest}", crc32fast::hash(rest.as_bytes())).into_bytes()
}

fn edits() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        8 => at().prop_map(Edit::Remove),
        8 => (at(), at()).prop_map(|(from, to)| Edit::Copy { from, to }),
        19 => (at(), values()).prop_map(|(at, with)| Edit::Replace(at, with)),
        3 => (at(), select(&[1, 2, 50, 3000][..])).prop_map(|(at, count)| Edit::Repeat(at, count)),
        1 => shares().prop_map(Edit::Cut),
        1 => (shares(), 0..8_u8).prop_map(|(share, bit)| Edit::Flip(share, bit)),
    ]
}

fn alike() -> impl Strategy<Value = Edit> {
    let number = prop_oneof![1 => numbers(), 2 => places(9).prop_map(|number| number as f64)];
    let text =
        prop_oneof![3 => select(&["the", "seal", "both", "1"][..]).prop_map(str::to_owned), 1 => hostile(&[1, 40])];
    let value = (number, text, any::<bool>(), shares());
    let value = value.prop_map(|(number, text, flag, kept)| Alike { number, text, flag, kept });
    (any::<Index>(), value).prop_map(|(at, value)| Edit::Like(at, value))
}

fn values() -> impl Strategy<Value = Value> {
    let deep = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    prop_oneof![
        8 => select(vec![
            json!(null),
            json!(false),
            json!(true),
            json!(u64::MAX),
            json!(i64::MIN),
            json!([]),
            json!({}),
            deep(1),
            deep(20),
            deep(100),
        ]),
        1 => numbers().prop_map(|number| json!(number)),
        1 => numbers().prop_map(|number| json!(number.abs().min(1e15) as u64)),
        1 => hostile(&[1, 40, 3000]).prop_map(|text| json!(text)),
        1 => select(HOSTILE).prop_map(|word| json!(["the", "seal", word])),
        1 => (0..9_usize).prop_map(|rows| json!({ "Frozen": { "rows": rows, "weights": [0.5, 0.5] } })),
        1 => (0..9_usize).prop_map(|rows| {
            let matrix = json!({ "rows": rows, "weights": [0.5, 0.5] });
            json!({ "Second": { "weights": matrix, "values": matrix } })
        }),
        1 => numbers().prop_map(|gain| json!({ "Gain": gain })),
        1 => (places(5), 0..16_usize).prop_map(|(heads, width)| json!({ "heads": heads, "width": width })),
        1 => select(HOSTILE).prop_map(|text| json!({ "Text": text })),
    ]
}

/// Values of a tree, itself among them.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(size).sum::<usize>(),
        Value::Object(all) => all.values().map(size).sum(),
        _ => 0,
    }
}

/// The value at a place, in the order of the tree.
fn at(value: &mut Value, place: usize) -> Option<&mut Value> {
    if place == 0 {
        return Some(value);
    }
    let (child, left) = child_around(value, place)?;
    at(child, left)
}

/// The child that a place lies in, and the place within it.
fn child_around(value: &mut Value, place: usize) -> Option<(&mut Value, usize)> {
    let mut left = place.checked_sub(1)?;
    let children: Vec<&mut Value> = match value {
        Value::Array(all) => all.iter_mut().collect(),
        Value::Object(all) => all.values_mut().collect(),
        _ => return None,
    };
    for child in children {
        let count = size(child);
        if left < count {
            return Some((child, left));
        }
        left -= count;
    }
    None
}

/// Removes a value from the list or object that it stands in.
fn remove(value: &mut Value, place: usize) -> bool {
    let mut left = place.wrapping_sub(1);
    let found = match value {
        Value::Array(all) => all.iter().position(|child| is_first(child, &mut left)).map(|i| drop(all.remove(i))),
        Value::Object(all) => {
            let key = all.iter().find(|(_, child)| is_first(child, &mut left)).map(|(key, _)| key.clone());
            key.map(|key| drop(all.remove(&key)))
        }
        _ => None,
    };
    found.is_some() || child_around(value, place).is_some_and(|(child, left)| remove(child, left))
}

/// Whether the place is the child itself; counts on over it if not.
fn is_first(child: &Value, left: &mut usize) -> bool {
    if *left == 0 {
        return true;
    }
    *left = left.wrapping_sub(size(child));
    false
}

fn change(value: &mut Value, edit: &Edit) {
    let place = |value: &Value, at: &Index| at.index(size(value));
    match edit {
        Edit::Replace(to, with) => {
            let to = place(value, to);
            if let Some(found) = at(value, to) {
                *found = with.clone();
            }
        }
        Edit::Remove(from) => {
            let from = place(value, from);
            remove(value, from);
        }
        Edit::Copy { from, to } => {
            let (from, to) = (place(value, from), place(value, to));
            let copy = at(value, from).cloned();
            if let (Some(copy), Some(found)) = (copy, at(value, to)) {
                *found = copy;
            }
        }
        Edit::Repeat(list, count) => {
            let list = place(value, list);
            if let Some(Value::Array(all)) = at(value, list)
                && let Some(first) = all.first().cloned()
                // What would not fit the file tells nothing.
                && size(&first) * count < 500_000
            {
                all.extend(std::iter::repeat_n(first, *count));
            }
        }
        Edit::Like(to, with) => {
            let to = place(value, to);
            if let Some(found) = at(value, to) {
                with.take_place_of(found);
            }
        }
        Edit::Cut(_) | Edit::Flip(..) => {}
    }
}

fn damage(bytes: &mut Vec<u8>, edit: &Edit) {
    match edit {
        Edit::Cut(share) => bytes.truncate(place_in(bytes, *share)),
        Edit::Flip(share, bit) => flip(bytes, *share, *bit),
        _ => {}
    }
}
