//! One meaning for each key, wherever the keyboard is; and every text that names a key names what the key does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use attune::app::actions::focus::{Focus, Opened, Page};
use attune::app::actions::keys::{LiveKey, live_keys};
use attune::app::actions::shortcut::{alt, ctrl, ctrl_shift, key, shift};
use attune::app::actions::{
    ActionTable, Keyboard, NotebookAction, SentenceAction, Shortcut, StageAction, WindowAction,
};
use egui::Key;
use regex::Regex;

const FOCUSES: [Focus; 6] = [Focus::Page, Focus::Text, Focus::Letters, Focus::Control, Focus::Stage, Focus::Sentence];
const PAGES: [Page; 3] = [Page::Lesson, Page::Talk, Page::Course];

/// Every state that decides what keys are for.
fn keyboards() -> impl Iterator<Item = Keyboard> {
    let flags = [false, true];
    FOCUSES.into_iter().flat_map(move |focus| {
        PAGES.into_iter().flat_map(move |page| {
            flags.into_iter().flat_map(move |is_key_sheet_open| {
                flags.into_iter().flat_map(move |is_glossary_open| {
                    (0..3).map(move |trail_depth| {
                        let opened = Opened { page, is_key_sheet_open, trail_depth, is_glossary_open };
                        Keyboard { focus, opened }
                    })
                })
            })
        })
    })
}

/// A live key of any table, by the names of the table and of the action.
#[derive(PartialEq)]
struct AnyKey {
    table: &'static str,
    action: String,
    shortcut: Shortcut,
}

fn all(at: &Keyboard) -> Vec<AnyKey> {
    fn of<A: ActionTable>(table: &'static str, at: &Keyboard) -> Vec<AnyKey> {
        let any =
            |LiveKey { action, shortcut, .. }: LiveKey<A>| AnyKey { table, action: format!("{action:?}"), shortcut };
        live_keys::<A>(at).into_iter().map(any).collect()
    }
    let tables = [
        of::<WindowAction>("window", at),
        of::<StageAction>("stage", at),
        of::<SentenceAction>("sentence", at),
        of::<NotebookAction>("notebook", at),
    ];
    tables.into_iter().flatten().collect()
}

/// Whether pressing the first key might be taken for the second one. Within a table the key with more modifiers is
/// asked first.
fn is_taken_for(pressed: &AnyKey, other: &AnyKey) -> bool {
    let Shortcut { key, modifiers, .. } = pressed.shortcut;
    let is_asked_later =
        pressed.table == other.table && pressed.shortcut.modifier_count() > other.shortcut.modifier_count();
    other.shortcut.matches(key, modifiers) && !is_asked_later
}

#[test]
fn no_key_has_two_meanings_at_once() {
    for at in keyboards() {
        let keys = all(&at);
        for pressed in &keys {
            let same = |other: &&AnyKey| (other.table, &other.action) == (pressed.table, &pressed.action);
            let other = keys.iter().filter(|other| !same(other)).find(|other| is_taken_for(pressed, other));
            if let Some(other) = other {
                let (key, table, action) = (pressed.shortcut.text(), other.table, &other.action);
                panic!("{key} is {} of the {} and {action} of the {table}: {at:?}", pressed.action, pressed.table);
            }
        }
    }
}

#[test]
fn the_keys_of_the_window_are_the_same_on_the_stage_and_on_the_sentence() {
    let lesson = |focus| Keyboard { focus, ..Keyboard::default() };
    let window: Vec<AnyKey> = all(&lesson(Focus::Page)).into_iter().filter(|key| key.table == "window").collect();
    assert!(window.len() > 40, "{}", window.len());
    for focus in [Focus::Stage, Focus::Sentence] {
        let keys = all(&lesson(focus));
        let missing =
            window.iter().find(|key| !keys.contains(key)).map(|key| format!("{} {}", key.action, key.shortcut.text()));
        assert_eq!(missing, None, "{focus:?}");
    }
}

#[test]
fn only_keys_that_write_nothing_are_live_in_a_text() {
    for at in keyboards().filter(|at| at.focus.takes_letters()) {
        for AnyKey { action, shortcut, table } in all(&at) {
            let is_of_editor = table == "notebook";
            let is_function = matches!(shortcut.key, Key::Escape | Key::F1 | Key::F5);
            let is_command = shortcut.modifiers.alt || shortcut.modifiers.command;
            assert!(is_command || is_function || is_of_editor, "{action}: {}", shortcut.text());
        }
    }
}

/// What a key that a text names is for.
#[derive(Clone, Copy, Debug)]
enum Meaning {
    Window(WindowAction),
    Stage(StageAction),
    Sentence(SentenceAction),
    Notebook(NotebookAction),
    /// A field's own key, which no table has.
    Field,
}

use Meaning::{Field, Notebook, Sentence, Stage, Window};
use NotebookAction as InNotebook;
use SentenceAction as OnSentence;
use StageAction as OnStage;
use WindowAction as InWindow;

/// Keys that texts name, what they are for, and words of which one is in each sentence that names the key for that.
const NAMED: &[(Shortcut, Meaning, &[&str])] = &[
    (
        key(Key::Space),
        Window(InWindow::StepOn),
        &[
            "a few times",
            "zoom",
            "cross-attention",
            "step",
            "layers",
            "last English word",
            "to their end",
            "brings them there",
        ],
    ),
    (key(Key::Space), Window(InWindow::NextSlide), &["goes forward"]),
    (shift(Key::Space), Window(InWindow::StepBack), &["step back"]),
    (key(Key::L), Window(InWindow::NextLayer), &["layer"]),
    (shift(Key::L), Window(InWindow::LayerBefore), &["layer"]),
    (key(Key::E), Window(InWindow::Pieces), &["each piece", "pieces"]),
    (key(Key::N), Window(InWindow::RawStates), &["raw"]),
    (key(Key::V), Window(InWindow::ReadAdded), &["lengths"]),
    (key(Key::S), Window(InWindow::HideSinks), &["sinks"]),
    (key(Key::G), Window(InWindow::Glossary), &["glossary"]),
    (alt(Key::Q), Window(InWindow::Questions), &["questions", "opens this page"]),
    (alt(Key::R), Window(InWindow::Review), &["review"]),
    (key(Key::P), Window(InWindow::Play), &["training"]),
    (key(Key::OpenBracket), Window(InWindow::BrowseTraining), &["look back", "training step"]),
    (key(Key::CloseBracket), Window(InWindow::BrowseTraining), &["look back", "training step"]),
    (ctrl(Key::Z), Window(InWindow::Undo), &["edit text", "undo", "restore", "back", "show"]),
    (alt(Key::S), Window(InWindow::WriteSentence), &["sentence", "try"]),
    (alt(Key::PageUp), Window(InWindow::TokensBefore), &["128 tokens"]),
    (alt(Key::PageDown), Window(InWindow::TokensAfter), &["128 tokens"]),
    (alt(Key::C), Window(InWindow::Compare), &["compare", "second sentence"]),
    (alt(Key::M), Window(InWindow::Senses), &["senses"]),
    (alt(Key::B), Window(InWindow::Beside), &["drop the other file", "compare", "beside"]),
    (alt(Key::L), Window(InWindow::Lab), &["lab"]),
    (alt(Key::P), Window(InWindow::MapAnswer), &["maps"]),
    (alt(Key::A), Window(InWindow::MeasureWords), &["measures"]),
    (alt(Key::K), Window(InWindow::ComputeTables), &["compute"]),
    (alt(Key::X), Window(InWindow::MeasureTexts), &["over texts"]),
    (alt(Key::W), Window(InWindow::ClosePanel), &["closes the panel"]),
    (alt(Key::H), Window(InWindow::Panel), &["all heads"]),
    (alt(Key::Num1), Window(InWindow::Panel), &["panel to the front"]),
    (alt(Key::Num2), Window(InWindow::Panel), &["panel to the front"]),
    (alt(Key::Num5), Window(InWindow::Panel), &["intervene"]),
    (alt(Key::Num9), Window(InWindow::Panel), &["answers"]),
    (alt(Key::Home), Window(InWindow::Course), &["course"]),
    (ctrl(Key::O), Window(InWindow::Browse), &["open", "lesson"]),
    (ctrl_shift(Key::G), Window(InWindow::Record), &["gif"]),
    (ctrl_shift(Key::H), Window(InWindow::HandIn), &["hand in"]),
    (ctrl_shift(Key::S), Window(InWindow::Share), &["share"]),
    (key(Key::F1), Window(InWindow::KeySheet), &["all keys"]),
    (key(Key::F5), Window(InWindow::Present), &["present"]),
    (key(Key::PageDown), Window(InWindow::NextSlide), &["forward and back"]),
    (key(Key::PageUp), Window(InWindow::PreviousSlide), &["forward and back"]),
    (key(Key::Escape), Window(InWindow::EndPresentation), &["presentation"]),
    (
        key(Key::Escape),
        Stage(OnStage::Clear),
        &["does one thing", "lasso", "gives the focus back", "no word is chosen"],
    ),
    (key(Key::Escape), Sentence(OnSentence::LetGo), &["clears the choice", "ends the walk"]),
    (key(Key::Escape), Notebook(InNotebook::Leave), &["the arrows", "Ctrl+Z", "letter keys", "leaves the cell"]),
    (key(Key::Slash), Stage(OnStage::Search), &["finds words"]),
    (key(Key::C), Stage(OnStage::Lasso), &["lasso"]),
    (key(Key::Home), Stage(OnStage::Home), &["camera", "into view", "arrows", "is marked"]),
    (key(Key::Num2), Stage(OnStage::Flat), &["arrows"]),
    (key(Key::ArrowLeft), Sentence(OnSentence::WordBefore), &["word before"]),
    (key(Key::ArrowRight), Sentence(OnSentence::WordAfter), &["word after"]),
    (key(Key::ArrowUp), Sentence(OnSentence::HeadBefore), &["head and the layer"]),
    (key(Key::ArrowDown), Sentence(OnSentence::HeadAfter), &["head and the layer"]),
    (key(Key::R), Sentence(OnSentence::Turn), &["look at the chosen word"]),
    (key(Key::ArrowUp), Notebook(InNotebook::SelectAbove), &["cell to cell"]),
    (key(Key::ArrowDown), Notebook(InNotebook::SelectBelow), &["cell to cell", "next lesson"]),
    (key(Key::K), Notebook(InNotebook::SelectAbove), &["the arrows"]),
    (key(Key::J), Notebook(InNotebook::SelectBelow), &["the arrows"]),
    (key(Key::Enter), Notebook(InNotebook::Write), &["to write", "cell"]),
    (shift(Key::Enter), Notebook(InNotebook::RunAndGoOn), &["goes to the next cell", "run", "the arrows"]),
    (key(Key::F2), Notebook(InNotebook::EditText), &["edit"]),
    (
        key(Key::Enter),
        Field,
        &["takes the sentence", "opens a head", "last sentence", "search field", "sentence below"],
    ),
    (key(Key::A), Field, &["a to h"]),
    (ctrl(Key::C), Field, &["spreadsheet"]),
    (ctrl(Key::G), Field, &["sense", "letter"]),
    (ctrl(Key::D), Field, &["removes a sentence", "remove the sentence", "in its field"]),
    (key(Key::ArrowDown), Field, &["first suggestion", "choose a word"]),
    (key(Key::ArrowUp), Field, &["leave it out", "leaves the word out"]),
];

fn has_key<A: ActionTable>(action: A, shortcut: &Shortcut) -> bool {
    let row = action.row();
    [row.keys, row.or, row.aliases].concat().contains(shortcut)
}

#[test]
fn every_key_that_texts_name_is_the_key_of_what_they_say() {
    let in_text = all(&Keyboard { focus: Focus::Text, ..Keyboard::default() });
    for (shortcut, meaning, words) in NAMED {
        let is_right = match *meaning {
            Window(action) => has_key(action, shortcut),
            Stage(action) => has_key(action, shortcut),
            Sentence(action) => has_key(action, shortcut),
            Notebook(action) => has_key(action, shortcut),
            Field => !in_text.iter().any(|key| key.shortcut.matches(shortcut.key, shortcut.modifiers)),
        };
        assert!(is_right, "{} is not the key of {meaning:?} ({words:?})", shortcut.text());
    }
}

/// The texts that a learner reads, each with its file: the documentation, the lessons, and the words in the window's
/// source.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md"), root.join("src/core/lesson/format.md")];
    for (folder, ending) in [
        ("docs", "md"),
        ("lessons", "md"),
        ("lessons", "ron"),
        ("src/app", "rs"),
        ("src/view", "rs"),
        ("src/core/lesson", "rs"),
    ] {
        collect(&root.join(folder), ending, &mut files);
    }
    let literal = Regex::new(r#""(?:[^"\\]|\\(?s:.))*""#).expect("a pattern");
    // Tables that are made from lists name variables.
    let made = Regex::new(r"(?s)<!-- made from .*?<!-- end of [^>]*-->").expect("a pattern");
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let is_code = path.extension().is_some_and(|end| end == "rs");
        let words: String = if is_code {
            let is_comment = |line: &&str| line.trim_start().starts_with("//");
            let text = text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n").replace("'\"'", "");
            literal.find_iter(&text).map(|found| format!("{}\n\n", found.as_str())).collect()
        } else {
            made.replace_all(&text, "").into_owned()
        };
        (path.strip_prefix(root).unwrap_or(&path).display().to_string(), words)
    };
    files.into_iter().map(read).collect()
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|end| end == ending) {
            files.push(path);
        }
    }
}

/// What names a key in a sentence: marked keys, keys that are to be pressed, and all with modifiers. A letter alone is
/// a key in the documentation of the window; in lessons and formats it may be a matrix.
fn patterns(has_letters: bool) -> Vec<Regex> {
    const NAMES: &str = r"(?:Enter|Space|Home|Tab|Esc|Backspace|PageUp|PageDown|F\d+|[↑↓←→])";
    let any = format!(r"(?:(?:Ctrl|Shift|Alt)\+)*(?:{NAMES}|[A-Z0-9/.\[\]])");
    let marked = if has_letters { &any } else { NAMES };
    let patterns = [
        format!(r"[*`]({marked})[*`]"),
        format!(r"[Pp]ress(?:ing|es|ed)? [*`]?({any})(?:[*`]|\b|[\s,;.])"),
        format!(r"((?:(?:Ctrl|Shift|Alt)\+)+(?:{NAMES}|[A-Z0-9]))(?:[^A-Za-z]|$)"),
    ];
    patterns.iter().map(|pattern| Regex::new(pattern).expect("a pattern")).collect()
}

fn named_keys(sentence: &str, patterns: &[Regex]) -> BTreeSet<String> {
    let found = patterns.iter().flat_map(|pattern| pattern.captures_iter(sentence).map(|found| found[1].to_owned()));
    // A text that is a key and nothing else says nothing of it.
    found.filter(|name| sentence.trim_matches('"') != name).collect()
}

#[test]
fn every_text_that_names_a_key_says_what_the_key_does() {
    let (of_docs, of_others) = (patterns(true), patterns(false));
    let end = Regex::new(r"[.!?][)*”]?\s|\n\s*\n|\n\s*[-|]|\|").expect("a pattern");
    let mut unknown = Vec::new();
    let mut used = BTreeSet::new();
    for (file, text) in texts() {
        let patterns = if file.starts_with("docs") || file == "README.md" { &of_docs } else { &of_others };
        for sentence in end.split(&text) {
            let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
            let lower = sentence.to_lowercase();
            for name in named_keys(&sentence, patterns) {
                let says = |(shortcut, _, words): &&(Shortcut, Meaning, &[&str])| {
                    shortcut.text() == name && words.iter().any(|word| lower.contains(&word.to_lowercase()))
                };
                match NAMED.iter().position(|row| says(&row)) {
                    Some(row) => _ = used.insert(row),
                    None => unknown.push(format!("{file}: {name}: {sentence}")),
                }
            }
        }
    }
    assert!(unknown.is_empty(), "these texts name a key for something else than what it does:\n{}", unknown.join("\n"));
    let unused: Vec<_> = (0..NAMED.len()).filter(|row| !used.contains(row)).map(|row| NAMED[row].1).collect();
    assert!(unused.is_empty(), "no text says this any more: {unused:?}");
}
