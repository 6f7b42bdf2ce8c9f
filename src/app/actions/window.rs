//! The actions of the window: its pages and dialogs, the walk, training, history, what it looks like.

use std::path::PathBuf;

use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::worker::Pace;
use attune_core::lesson::links::TextLink;
use attune_view::export::Format;
use egui::Key;

use super::SheetLine::{Joined, Mentioned, New};
use super::action_table;
use super::keys::{Pressed, alt, ctrl, ctrl_shift, key, shift};

/// Mouse gestures that work everywhere.
pub const MOUSE: [(&str, &str); 1] = [("Right-click", "where a number, a cell, an arrow or a point comes from")];

action_table! {
    /// An action of the window or of the lesson in it.
    WindowAction {
        StepOn { tooltip: "Step forward", keys: &[key(Key::Space)], line: New("a step on the walk through attention") }
        StepBack { tooltip: "Step back", keys: &[shift(Key::Space)], line: New("and a step back") }
        Origin { keys: &[key(Key::W)], line: New("where the weight of the chosen words comes from; Esc closes") }
        ReadAdded {
            text: "lengths",
            tooltip: "Shows the length of what each word adds, ‖α V W_O‖, instead of its weight α",
            keys: &[key(Key::V)],
            line: New("attention as weights, or as lengths of what is added"),
        }
        HideSinks {
            text: "hide sinks",
            tooltip: "Leaves out the sinks and rescales the other weights to sum to 1",
            keys: &[key(Key::S)],
            line: New("attention without its sinks, and with them"),
        }
        CloseOrigin { tooltip: "Close", keys: &[key(Key::Escape)], line: Mentioned }
        OriginBefore {
            tooltip: "Back to the number before",
            keys: &[alt(Key::ArrowLeft)],
            line: Mentioned,
        }
        NextLayer {
            text: "Next layer",
            tooltip: "Moves the words to where they are after the next layer",
            keys: &[key(Key::L)],
            line: New("the words after the next layer; with Shift, after the one before"),
        }
        LayerBefore { keys: &[shift(Key::L)], line: Mentioned }
        Pieces {
            text: "Pieces",
            tooltip: "Shows each piece of a word separately instead of one point, one row and one column per word",
            keys: &[key(Key::E)],
            line: New("a word's pieces by themselves, or as one word"),
        }
        RawStates {
            text: "Raw",
            tooltip: "Shows the vectors without the norm that puts all layers on one scale",
            keys: &[key(Key::N)],
            line: New("a model's raw vectors, or all layers through one norm"),
        }
        Play { keys: &[key(Key::P)], line: New("play or pause training") }
        TrainStep { text: "Step", keys: &[key(Key::Period)], line: New("train one step") }
        BrowseTraining {
            keys: &[key(Key::OpenBracket), key(Key::CloseBracket)],
            line: New("look at the training step before, after; with Shift by ten"),
        }
        BrowseTrainingFar {
            keys: &[shift(Key::OpenBracket), shift(Key::CloseBracket)],
            aliases: &[shift(Key::OpenCurlyBracket), shift(Key::CloseCurlyBracket)],
            line: Mentioned,
        }
        Undo { text: "Undo", keys: &[ctrl(Key::Z)], line: New("undo, redo") }
        Redo { text: "Redo", keys: &[ctrl_shift(Key::Z)], aliases: &[ctrl(Key::Y)], line: Joined }
        WriteSentence {
            tooltip: "The sentence on the stage: write your own",
            keys: &[alt(Key::S)],
            line: New("write a sentence of your own"),
        }
        Compare {
            text: "Compare",
            tooltip: "A second sentence beside this one",
            keys: &[alt(Key::C)],
            line: New("toggle comparison with a second sentence"),
        }
        Senses {
            text: "Senses",
            tooltip: "Compare the senses of one word across sentences, layer by layer",
            keys: &[alt(Key::M)],
            line: New("toggle the senses of a word in several sentences"),
        }
        Glossary {
            text: "Glossary",
            tooltip: "Every term and symbol of the course, with its first lesson",
            keys: &[key(Key::G)],
            line: New("the glossary: every term and symbol; Esc closes"),
        }
        CloseGlossary { keys: &[key(Key::Escape)], line: Mentioned }
        Panel {
            tooltip: "Brings it to the front; opens it if it is closed",
            keys: &[
                alt(Key::Num1),
                alt(Key::Num2),
                alt(Key::Num3),
                alt(Key::Num4),
                alt(Key::Num5),
                alt(Key::Num6),
                alt(Key::Num7),
                alt(Key::Num8),
                alt(Key::Num9),
                alt(Key::Num0),
                alt(Key::H),
            ],
            line: New("a panel to the front, as Lab numbers them; opens it"),
        }
        Lab {
            text: "Lab",
            tooltip: "Opens and closes panels",
            keys: &[alt(Key::L)],
            line: New("Lab: open and close panels"),
        }
        TogglePanel { tooltip: "Opens a panel, or closes it" }
        ClosePanel { tooltip: "Closes the panel", keys: &[alt(Key::W)], line: New("close the panel that was used last") }
        Present {
            text: "Present",
            tooltip: "Large type, and one thing at a time beside the stage; your work stays as it is",
            keys: &[key(Key::F5)],
            line: New("present the lesson, slide by slide; Esc ends"),
        }
        NextSlide {
            text: "Next",
            tooltip: "The next slide",
            keys: &[key(Key::PageDown)],
            or: &[key(Key::ArrowRight)],
            aliases: &[key(Key::ArrowDown), key(Key::Space)],
            line: New("presenting: next slide, previous slide"),
        }
        PreviousSlide {
            text: "Previous",
            tooltip: "The previous slide",
            keys: &[key(Key::PageUp)],
            or: &[key(Key::ArrowLeft)],
            aliases: &[key(Key::ArrowUp), shift(Key::Space)],
            line: Joined,
        }
        EndPresentation {
            text: "End",
            tooltip: "Back to the lesson as it was",
            keys: &[key(Key::Escape)],
            line: Mentioned,
        }
        Course {
            text: "The course",
            tooltip: "Every lesson, and how far you are",
            keys: &[alt(Key::Home)],
            line: New("the course"),
        }
        Browse {
            text: "Open a file …",
            tooltip: "Another lesson on this computer, what somebody shared, or a model by its config.json",
            keys: &[ctrl(Key::O)],
            line: New("open a file"),
        }
        Beside {
            text: "Compare with another model …",
            tooltip: "Another lesson or model on the same sentence: answers, attention and layers of both, side by side",
            keys: &[alt(Key::B)],
            line: New("compare with another model on the same sentence"),
        }
        BesideOwn {
            text: "Compare with the model that comes with attune",
            tooltip: "A small model of six layers, on the same sentence: answers, attention and layers of both, side by side",
        }
        NewLesson {
            text: "New lesson …",
            tooltip: "A small lesson with comments, in a file of your own, open here and in your editor",
        }
        CopyLesson {
            text: "Edit this lesson as a copy …",
            tooltip: "A file of your own, open here and in your editor; this lesson stays as it is",
        }
        HandIn {
            text: "Hand in …",
            tooltip: "Save your answers to a file for your teacher",
            keys: &[ctrl_shift(Key::H)],
            line: New("hand in your work as a file"),
        }
        Share {
            text: "Share …",
            tooltip: "What you see and have done as one file, which others open as a copy",
            keys: &[ctrl_shift(Key::S)],
            line: New("share what you see as a file"),
        }
        Theme { keys: &[alt(Key::T)], line: New("theme: system, light, dark") }
        Larger {
            text: "A+",
            tooltip: "Larger",
            keys: &[ctrl(Key::Plus)],
            aliases: &[ctrl(Key::Equals)],
            line: New("size of everything"),
        }
        // With Shift it splits a cell.
        Smaller { text: "A−", tooltip: "Smaller", keys: &[ctrl(Key::Minus).without_shift()], line: Joined }
        UsualSize { keys: &[ctrl(Key::Num0)], line: Joined }
        KeySheet {
            text: "?",
            tooltip: "Keys",
            keys: &[key(Key::F1)],
            or: &[key(Key::Questionmark)],
            line: New("this sheet; Esc closes it"),
        }
        CloseKeySheet { keys: &[key(Key::Escape)], line: Mentioned }
        Picture { text: "Picture of the stage …", tooltip: "The stage as you see it now, as PNG" }
        Checkpoints { text: "Checkpoints …", tooltip: "Go back to how your work on this lesson was" }
        ResetLesson {
            text: "Reset the lesson",
            tooltip: "Cells, answers and weights as at the start; your work stays as a checkpoint",
        }
        Map {
            text: "Map …",
            tooltip: "A still map of all words by t-SNE, in a window of its own; nothing moves in it",
        }
    }
}

/// Request to the window; a request to the kernel is a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An action with a row in the table.
    Row(Pressed<WindowAction>),
    /// From the page of the course back to the lesson.
    Back,
    /// Opens a dialog that chooses a file for this purpose.
    ChooseFile(FilePurpose),
    /// Uses that file for this purpose.
    UseFile(FilePurpose, PathBuf),
    CloseMap,
    /// Goes back to the checkpoint at this place of the list.
    GoBack(usize),
    ResetCourse,
    UndoResetCourse,
    /// Does what a link in a text says.
    Follow(TextLink),
    /// Opens the panels that come with a cell of the notebook.
    Reach(ReachedCell),
    /// Plays training at this pace.
    SetPace(Pace),
}

impl Action {
    /// Opens a lesson, a model or a shared file in place of the lesson that is open.
    pub fn open(path: impl Into<PathBuf>) -> Action {
        Action::UseFile(FilePurpose::Open, path.into())
    }
}

impl From<WindowAction> for Action {
    fn from(action: WindowAction) -> Action {
        Action::Row(Pressed::once(action))
    }
}

/// The purpose of a file that is chosen: one to be read, or one to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    /// A lesson, a model or a shared file, in place of the lesson that is open.
    Open,
    /// A model beside the one that is open.
    OpenBeside,
    /// The lesson in another format.
    Export(Format),
    /// The stage as PNG.
    Picture(PictureChoice),
    /// A new lesson, a small one or a copy of this one, which is opened then.
    NewLesson {
        is_copy: bool,
    },
    /// The learner's work.
    Work(WorkChoice),
    ImportSenses,
    ExportSenses,
}

impl FilePurpose {
    /// An export is written beside the window, one at a time.
    pub fn is_export(&self) -> bool {
        matches!(self, FilePurpose::Export(_) | FilePurpose::Picture(_) | FilePurpose::Work(_))
    }
}

/// A cell of the notebook that the learner has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedCell {
    pub cell: CellId,
    /// The cell was run or shown, and not only read.
    pub is_used: bool,
    /// The predictions that wait for an answer: the panels that they open would give it away.
    pub unanswered: Vec<CellId>,
}

/// The file of the learner's work that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkChoice {
    /// To be handed in, with what the learner says of it.
    HandIn { name: Option<String>, minutes: Option<u64> },
    /// To be shared, with what is on the screen.
    Share,
}

/// The picture of the stage that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureChoice {
    /// In pixels.
    pub size: (u32, u32),
    pub is_transparent: bool,
    /// The sentence and the step stand below.
    pub has_caption: bool,
}
