//! Names of parts of the window in a lesson's texts: controls ("press *Reset*", "choose *Sentences*") and panels. A
//! name that the window does not have is an issue of the lesson.

use std::collections::HashSet;

use attune_engine::messages::nearest;
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::lesson::links::TextLink;
use crate::lesson::live_text::LessonText;
use crate::lesson::schema::Lesson;
use crate::lesson::schema::panels::PanelName;

/// Returns the panels that a text names (as in `the *Weights* panel`) before any cell has opened them, each with its
/// cell. A link to the panel in the same text opens it too.
pub fn closed_panels(lesson: &Lesson) -> Vec<(&str, PanelName)> {
    let mut open: HashSet<PanelName> = lesson.panels.iter().copied().collect();
    let mut closed = Vec::new();
    for cell in &lesson.cells {
        open.extend(&cell.opens);
        for markdown in cell.kind.markdown() {
            let linked: Vec<_> = markdown.links().filter_map(TextLink::read).collect();
            let is_open = |panel: &PanelName| {
                panel.is_always_open() || open.contains(panel) || linked.contains(&Ok(TextLink::Panel(*panel)))
            };
            let named = named_panels(markdown).into_iter().filter(|panel| !is_open(panel));
            closed.extend(named.map(|panel| (cell.id.as_str(), panel)));
        }
    }
    closed.dedup();
    closed
}

/// Returns the panels that a text names: their titles in italics, followed by the word *panel*.
fn named_panels(text: &LessonText) -> Vec<PanelName> {
    let (mut is_emphasis, mut before, mut named) = (false, None, Vec::new());
    for event in text.events() {
        match event {
            Event::Start(Tag::Emphasis) => is_emphasis = true,
            Event::End(TagEnd::Emphasis) => is_emphasis = false,
            Event::Text(words) if is_emphasis => before = PanelName::named(&words),
            Event::Text(words) => {
                let is_panel = words.trim_start().split(|c: char| !c.is_alphabetic()).next() == Some("panel");
                named.extend(before.take().filter(|_| is_panel));
            }
            Event::End(TagEnd::Paragraph) => before = None,
            _ => {}
        }
    }
    named
}

/// Controls of the window that a text may name, in addition to panels and keys. `tests/window` checks that each exists.
pub const CONTROLS: &[&str] = &[
    // The bar at the top, and the menu.
    "Lab",
    "Glossary",
    "Present",
    "Undo",
    "Redo",
    "The course",
    "Share",
    "Hand in",
    "Checkpoints",
    "Reset the lesson",
    // The stage.
    "2D",
    "Isolate",
    "Home",
    "Refit",
    // Views of panels, and the controls in them.
    "Numbers",
    "Matrices",
    "Neighbours",
    "Two sentences",
    "Compare with a second sentence",
    "Senses",
    "Layer by layer",
    "Why",
    "Map",
    "List",
    "Reset all",
    "Reset entry",
    "Step by step",
    "Retrain",
    "Lesson defaults",
    "Play",
    "Step",
    "Step 10",
    "Reset",
    "Latest",
    "Branch here",
    "Temperature",
    "Ghosts",
    // The notebook.
    "Run",
    "Check",
    "Hint",
    "Solution",
    "Outline",
    "Functions",
];

/// Verbs that mark the next phrase in italics as the name of a control.
const VERBS: &[&str] = &["press", "click", "choose", "open", "close", "tick", "untick", "select", "push"];
/// Nouns that mark the previous phrase in italics as the name of a control.
const NOUNS: &[&str] = &["panel", "button", "menu"];
/// Words that may be between one of the [`VERBS`] and the name of a control.
const BETWEEN: &[&str] = &["the", "on", "then", "panel", "button"];
/// Words that may join two names of controls.
const JOINTS: &[&str] = &["", "and", "or", "then", "and then", "or then"];
/// Keys that are written as words; every other key is one character.
const KEYS: &[&str] = &[
    "Space",
    "Enter",
    "Esc",
    "Tab",
    "Home",
    "End",
    "Delete",
    "Backspace",
    "Page Up",
    "Page Down",
    "Ctrl",
    "Alt",
    "Shift",
    "Cmd",
];

/// Returns the names of controls that the window does not have, each with its cell and the most similar control.
pub fn unknown_controls(lesson: &Lesson) -> Vec<(&str, UnknownControl)> {
    let words: HashSet<String> = lesson.sentences.iter().flatten().map(|word| word.to_lowercase()).collect();
    let mut unknown = Vec::new();
    for cell in &lesson.cells {
        for named in cell.kind.markdown().flat_map(named_controls) {
            let is_word = named.split_whitespace().all(|word| words.contains(&word.to_lowercase()));
            let is_switch = lesson.switches.list.iter().any(|switch| switch.name == named);
            if !is_word && !is_switch && !names().any(|name| name == named) && !is_key(&named) {
                let nearest = nearest(&named, names()).map(str::to_owned);
                unknown.push((cell.id.as_str(), UnknownControl { named, nearest }));
            }
        }
    }
    unknown
}

/// A name that no control has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownControl {
    pub named: String,
    pub nearest: Option<String>,
}

fn names() -> impl Iterator<Item = &'static str> {
    PanelName::ALL.into_iter().map(PanelName::title).chain(CONTROLS.iter().copied())
}

/// Returns whether a name in a text names a key: `Ctrl+Shift+Z`, `D D`, `F5`, `Space`.
fn is_key(named: &str) -> bool {
    let is_one = |key: &str| {
        KEYS.contains(&key)
            || key.chars().count() == 1
            || key.strip_prefix('F').is_some_and(|number| number.parse::<u8>().is_ok_and(|number| number <= 12))
    };
    is_one(named) || named.split(['+', ' ']).all(is_one)
}

/// Returns the names that a text gives to controls: capitalised phrases in italics that follow one of the verbs, or
/// precede the word *panel*, *button* or *menu*. Links are left out, because their addresses are checked.
fn named_controls(text: &LessonText) -> Vec<String> {
    let mut named = Vec::new();
    let mut reading = Reading::default();
    for event in text.events() {
        match event {
            Event::Start(Tag::Emphasis) => reading.phrase = Some(String::new()),
            Event::End(TagEnd::Emphasis) => named.extend(reading.end_phrase()),
            Event::Start(Tag::Link { .. }) => reading.is_link = true,
            Event::End(TagEnd::Link) => reading.is_link = false,
            Event::Text(words) | Event::Code(words) => named.extend(reading.add(&words)),
            Event::SoftBreak | Event::HardBreak => named.extend(reading.add(" ")),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::Heading(_)) => reading = Reading::default(),
            _ => {}
        }
    }
    named
}

/// A paragraph that has been read up to some point.
#[derive(Default)]
struct Reading {
    /// Plain text since the last phrase in italics.
    before: String,
    /// The phrase in italics that has not ended yet.
    phrase: Option<String>,
    /// Whether the last phrase was the name of a control.
    was_control: bool,
    /// A capitalised phrase that is the name of a control if the next word is one of the nouns.
    pending: Option<String>,
    is_link: bool,
}

impl Reading {
    /// Adds text. Returns the phrase before it if the text shows that the phrase is the name of a control.
    fn add(&mut self, words: &str) -> Option<String> {
        if let Some(phrase) = &mut self.phrase {
            phrase.push_str(words);
            return None;
        }
        self.before.push_str(words);
        let next = self.before.trim_start().split(|letter: char| !letter.is_alphabetic()).next()?;
        if next.is_empty() {
            return None;
        }
        self.pending.take().filter(|_| NOUNS.contains(&next))
    }

    /// Ends a phrase. Returns the phrase if the words before it show that it is the name of a control.
    fn end_phrase(&mut self) -> Option<String> {
        let phrase = self.phrase.take()?;
        let before = std::mem::take(&mut self.before);
        let is_name = !self.is_link && phrase.starts_with(char::is_uppercase);
        let joint = before.trim().trim_start_matches(',').trim();
        let is_asked = asks(&before) || self.was_control && JOINTS.contains(&joint);
        self.was_control = is_asked;
        self.pending = (is_name && !is_asked).then(|| phrase.clone());
        (is_name && is_asked).then_some(phrase)
    }
}

/// Returns whether the words end with a verb that is followed by the name of a control.
fn asks(before: &str) -> bool {
    let is_word_ended = before.ends_with(char::is_whitespace);
    let last = before.split_whitespace().rev().map(str::to_lowercase).find(|word| !BETWEEN.contains(&word.as_str()));
    is_word_ended && last.is_some_and(|word| VERBS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(markdown: &str, expected: &[&str]) {
        assert_eq!(named_controls(&markdown.into()), expected, "{markdown}");
    }

    #[test]
    fn a_capitalised_phrase_after_a_verb_or_before_a_noun_is_a_control() {
        check("Open [*Step*](attune:panel/Step), choose *Fold* and press *Space*.", &["Fold", "Space"]);
        check("Press the *Reset* button, or click on *Play*.", &["Reset", "Play"]);
        check("The *Wieghts* panel, and the *File*\nmenu", &["Wieghts", "File"]);
        check("choose *Sentences* and *Compare with another* (*Alt+C*)", &["Sentences", "Compare with another"]);
    }

    #[test]
    fn emphasis_is_no_control() {
        check("Read *The Great Gatsby*. *Fixed* vectors, *Softmax* shares; choose *who* and press on.", &[]);
        check("They press.\n\n*Then* comes the rest. Choose [*Who*](attune:word/who).", &[]);
        check("suppress *Noise* and the *query* panel", &[]);
    }

    #[test]
    fn keys_are_known_by_their_form() {
        for key in ["Ctrl+Shift+Z", "D D", "F5", "Space", "?", "Alt+1", "↑"] {
            assert!(is_key(key), "{key}");
        }
        for other in ["F55", "Spacebar", "Shift+Nothing", "Play"] {
            assert!(!is_key(other), "{other}");
        }
    }
}
