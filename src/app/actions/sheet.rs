//! The key sheet, printed from the tables.

use super::keys::Shortcut;
use super::{ActionTable, Row};

/// How the key sheet tells of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SheetLine {
    /// Without a line in the sheet: the action has no key.
    Unlisted,
    /// A line of its own, with these words.
    New(&'static str),
    /// Its keys stand on the line of the row above.
    Joined,
    /// The words of another line mention its keys.
    Mentioned,
}

/// Keys, or what the mouse does, and their meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLine {
    pub keys: String,
    pub meaning: &'static str,
}

/// The lines of a table, below those of the mouse.
pub fn lines<A: ActionTable>(mouse: &[(&str, &'static str)]) -> Vec<KeyLine> {
    let mouse = mouse.iter().map(|(keys, meaning)| KeyLine { keys: (*keys).to_owned(), meaning });
    let mut lines: Vec<(Vec<&Row>, &'static str)> = Vec::new();
    for (_, row) in A::ROWS {
        match (row.line, lines.last_mut()) {
            (SheetLine::New(meaning), _) => lines.push((vec![row], meaning)),
            (SheetLine::Joined, Some((rows, _))) => rows.push(row),
            (SheetLine::Unlisted | SheetLine::Mentioned | SheetLine::Joined, _) => {}
        }
    }
    mouse.chain(lines.into_iter().map(|(rows, meaning)| KeyLine { keys: written(&rows), meaning })).collect()
}

/// The keys of all rows, and behind an "or" the other keys for the same.
fn written(rows: &[&Row]) -> String {
    let all =
        |keys: fn(&Row) -> &'static [Shortcut]| rows.iter().flat_map(|row| keys(row)).copied().collect::<Vec<_>>();
    let [keys, or] = [all(|row| row.keys), all(|row| row.or)].map(|keys| joined(&keys));
    if or.is_empty() { keys } else { format!("{keys} or {or}") }
}

/// Modifiers that follow each other are written once: `Ctrl + plus, minus, 0`.
fn joined(keys: &[Shortcut]) -> String {
    let groups = keys.chunk_by(|a, b| a.modifiers == b.modifiers).map(|group| {
        let modifiers: String = group[0].modifier_names().map(|name| format!("{name} + ")).collect();
        format!("{modifiers}{}", names(group))
    });
    groups.collect::<Vec<_>>().join(", ")
}

/// Signs stand side by side, words and letters as a list; of a row of digits, the ends.
fn names(keys: &[Shortcut]) -> String {
    const RANGE: usize = 3;
    let name = |key: &Shortcut| if key.is_twice { key.text() } else { key.key_name().to_owned() };
    let digit = |key: &Shortcut| key.key_name().parse::<u32>().ok();
    let runs = keys.chunk_by(|a, b| digit(a).zip(digit(b)).is_some_and(|(a, b)| a + 1 == b));
    let names: Vec<String> = runs
        .flat_map(|run| match run {
            [first, .., last] if run.len() >= RANGE => vec![format!("{} … {}", name(first), name(last))],
            _ => run.iter().map(name).collect(),
        })
        .collect();
    let are_signs = names.iter().all(|name| !name.chars().any(char::is_alphanumeric));
    names.join(if are_signs { " " } else { ", " })
}
