//! Saved work that was changed behind the program's back.

use std::fs;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_core::store::{Home, Key, Lock, Stored, open, read};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::commands::after_some;
use super::{Attack, Dice, HOSTILE, Outcome, in_folder};

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
pub enum Edit {
    /// Another value at the `at`th place of the tree.
    Replace {
        at: usize,
        with: Value,
    },
    Remove {
        at: usize,
    },
    /// The value at one place stands at another too.
    Copy {
        from: usize,
        to: usize,
    },
    /// A list gets its first element so many times more.
    Repeat {
        at: usize,
        count: usize,
    },
    /// Fewer bytes of the file, which no longer match their checksum.
    Cut {
        share: f64,
    },
    Flip {
        share: f64,
        bit: u8,
    },
}

/// The work of a learner with some changes.
#[derive(Clone)]
pub struct MutatedState {
    lesson: Arc<Lesson>,
    saved: Value,
    edits: Vec<Edit>,
}

impl Attack for MutatedState {
    type Part = Edit;

    fn of(seed: u64) -> Self {
        /// The most commands of the learner.
        const COMMANDS: usize = 40;
        let mut dice = Dice::of(seed);
        let count = dice.below(COMMANDS);
        let (lesson, kernel) = after_some(seed, count);
        let saved = serde_json::to_value(Saved::of(&kernel.snapshot())).unwrap_or_default();
        let places = places(&saved);
        let edits = (0..1 + dice.below(5)).map(|_| edit(&mut dice, places)).collect();
        Self { lesson, saved, edits }
    }

    fn run(&self) -> Outcome {
        in_folder("home", |home| self.run_in(&Home::at(home)))
    }

    fn parts(&mut self) -> &mut Vec<Edit> {
        &mut self.edits
    }

    fn told(&self) -> String {
        let edits: Vec<String> = self.edits.iter().map(|edit| format!("  {edit:.2000?}\n")).collect();
        format!("lesson {}\n{}of {:.6000}", self.lesson.id, edits.concat(), self.saved)
    }
}

impl MutatedState {
    fn run_in(&self, home: &Home) -> Outcome {
        let key = Key::named("attack");
        let mut value = self.saved.clone();
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
        let mut kernel = Kernel::open(self.lesson.clone(), found.map(|Work(saved)| saved));
        kernel.settle();
        let snapshot = kernel.snapshot();
        let outcome = if snapshot.report.is_empty() { outcome } else { "opened in part" };
        if snapshot.report.iter().any(|said| said.len() > 2000 || said.contains('\u{1b}')) {
            return Err(format!("reports {:?}", snapshot.report));
        }
        snapshot.model.as_ref().ok_or("there is no model")?;

        // It goes on from there, and is saved.
        kernel.apply(Command::Sentence(SentenceCommand::Select(0)));
        kernel.settle();
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

/// The file of a value, with the right checksum.
fn file(value: &Value) -> Vec<u8> {
    let body = format!("{}\n{value}\n", json!({ "id": "attack", "saved": 1_763_732_302_000_u64 }));
    let rest = format!("{} {}\n{body}", Work::VERSION, body.len());
    format!("attune-state {:08x} {rest}", crc32fast::hash(rest.as_bytes())).into_bytes()
}

fn edit(dice: &mut Dice, places: usize) -> Edit {
    let at = dice.below(places);
    match dice.below(40) {
        0..8 => Edit::Remove { at },
        8..16 => Edit::Copy { from: dice.below(places), to: at },
        16..19 => Edit::Repeat { at, count: *dice.pick(&[1, 2, 50, 3000]) },
        19 => Edit::Cut { share: dice.number().abs().min(1.0) },
        20 => Edit::Flip { share: dice.number().abs().min(1.0), bit: u8::try_from(dice.below(8)).unwrap_or_default() },
        _ => Edit::Replace { at, with: value(dice) },
    }
}

fn value(dice: &mut Dice) -> Value {
    match dice.below(16) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(u64::MAX),
        3 => json!(i64::MIN),
        4 => json!(dice.number()),
        5 => json!(dice.number().abs().min(1e15) as u64),
        6 => json!([]),
        7 => json!({}),
        8 => json!(dice.pick(HOSTILE).repeat(*dice.pick(&[1, 40, 3000]))),
        9 => (0..*dice.pick(&[1, 20, 100])).fold(json!(1), |inner, _| json!([inner])),
        10 => json!(["the", "seal", *dice.pick(HOSTILE)]),
        11 => json!({ "Frozen": { "rows": dice.below(9), "weights": [0.5, 0.5] } }),
        12 => json!({ "Gain": dice.number() }),
        13 => json!({ "heads": dice.place(5), "width": dice.below(16) }),
        14 => json!({ "Text": *dice.pick(HOSTILE) }),
        _ => json!(*dice.pick(HOSTILE)),
    }
}

/// Values of a tree, itself among them.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(places).sum::<usize>(),
        Value::Object(all) => all.values().map(places).sum(),
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
        let count = places(child);
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
    *left = left.wrapping_sub(places(child));
    false
}

fn change(value: &mut Value, edit: &Edit) {
    match edit {
        Edit::Replace { at: place, with } => {
            if let Some(found) = at(value, *place) {
                *found = with.clone();
            }
        }
        Edit::Remove { at: place } => {
            remove(value, *place);
        }
        Edit::Copy { from, to } => {
            let copy = at(value, *from).cloned();
            if let (Some(copy), Some(found)) = (copy, at(value, *to)) {
                *found = copy;
            }
        }
        Edit::Repeat { at: place, count } => {
            if let Some(Value::Array(all)) = at(value, *place)
                && let Some(first) = all.first().cloned()
                // What would not fit the file tells nothing.
                && places(&first) * count < 500_000
            {
                all.extend(std::iter::repeat_n(first, *count));
            }
        }
        Edit::Cut { .. } | Edit::Flip { .. } => {}
    }
}

fn damage(bytes: &mut Vec<u8>, edit: &Edit) {
    let at = |bytes: &[u8], share: &f64| ((bytes.len() as f64 * share) as usize).min(bytes.len().saturating_sub(1));
    match edit {
        Edit::Cut { share } => bytes.truncate(at(bytes, share)),
        Edit::Flip { share, bit } if !bytes.is_empty() => {
            let place = at(bytes, share);
            bytes[place] ^= 1 << bit;
        }
        _ => {}
    }
}
