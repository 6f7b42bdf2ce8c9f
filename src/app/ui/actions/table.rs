//! The action tables: actions of the window (pages, dialogs, the walk, training, history, appearance), of the stage, of
//! the sentence above it while it has the keyboard, and of the notebook, with Jupyter's keys.

use std::path::PathBuf;

use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::worker::Pace;
use attune_core::lesson::links::TextLink;
use attune_engine::vectors::Format as VectorFormat;
use attune_view::export::Format;
use egui::Key;

use super::row::SheetLine::{Joined, Mentioned, New};
use super::row::action_table;
use super::shortcut::{Pressed, alt, ctrl, ctrl_shift, key, shift, twice};

/// Mouse gestures that work everywhere.
pub const MOUSE: [(&str, &str); 1] = [("Right-click", "see where a number, a cell, an arrow or a point comes from")];

action_table! {
    /// An action of the window or of the lesson in it.
    WindowAction {
        StepOn {
            tooltip: "Step forward",
            keys: &[key(Key::Space)],
            line: New("next step of the walk through attention"),
        }
        StepBack { tooltip: "Step back", keys: &[shift(Key::Space)], line: New("previous step of the walk") }
        Origin {
            keys: &[key(Key::W)],
            line: New("see where the weight between the chosen words comes from; Esc closes"),
        }
        WhyThere {
            text: "Why it looks there",
            tooltip: "Opens Step at the score of this pair, as a sum over what made the query and the key",
            keys: &[shift(Key::W)],
            line: New("why the chosen word looks there: its score as a sum of parts"),
        }
        MapAnswer {
            keys: &[alt(Key::P)],
            line: New("Intervene: map which words and heads carry the answer; again: stop"),
        }
        MeasureWords {
            keys: &[alt(Key::A)],
            line: New("Answers: measure which word mattered; again: stop"),
        }
        ComputeTables {
            keys: &[alt(Key::K)],
            line: New("All heads: compute what a head compares and writes; again: stop"),
        }
        MeasureTexts {
            keys: &[alt(Key::X)],
            line: New("All heads: measure them over a file of texts; again: stop"),
        }
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
            line: New("hide or show attention sinks"),
        }
        CloseOrigin { tooltip: "Close", keys: &[key(Key::Escape)], line: Mentioned }
        OriginBefore {
            tooltip: "Goes back to the previous number",
            keys: &[alt(Key::ArrowLeft)],
            line: Mentioned,
        }
        NextLayer {
            text: "Next layer",
            tooltip: "Moves the words to where they are after the next layer",
            keys: &[key(Key::L)],
            line: New("move the words to after the next layer; with Shift, to the previous layer"),
        }
        LayerBefore { keys: &[shift(Key::L)], line: Mentioned }
        Pieces {
            text: "Pieces",
            tooltip: "Gives each piece of a word its own point, row and column",
            keys: &[key(Key::E)],
            line: New("a word's pieces separately, or as one word"),
        }
        RawStates {
            text: "Raw",
            tooltip: "Shows the vectors without the norm that gives all layers the same scale",
            keys: &[key(Key::N)],
            line: New("a model's raw vectors, or the vectors after the same norm in all layers"),
        }
        Play { keys: &[key(Key::P)], line: New("play or pause training") }
        TrainStep { text: "Step", keys: &[key(Key::Period)], line: New("train one step") }
        BrowseTraining {
            keys: &[key(Key::OpenBracket), key(Key::CloseBracket)],
            line: New("look at the previous or the next training step; with Shift, ten steps"),
        }
        BrowseTrainingFar {
            keys: &[shift(Key::OpenBracket), shift(Key::CloseBracket)],
            aliases: &[shift(Key::OpenCurlyBracket), shift(Key::CloseCurlyBracket)],
            line: Mentioned,
        }
        Undo { text: "Undo", keys: &[ctrl(Key::Z)], line: New("undo, redo") }
        Redo { text: "Redo", keys: &[ctrl_shift(Key::Z)], aliases: &[ctrl(Key::Y)], line: Joined }
        WriteSentence {
            tooltip: "Write your own sentence for the stage",
            keys: &[alt(Key::S)],
            line: New("write a sentence of your own"),
        }
        TokensBefore {
            text: "◀",
            tooltip: "The tokens before these",
            keys: &[alt(Key::PageUp)],
            line: New("the tokens before those that are shown of a long recorded text, or after them"),
        }
        TokensAfter { text: "▶", tooltip: "The tokens after these", keys: &[alt(Key::PageDown)], line: Joined }
        Compare {
            text: "Compare",
            tooltip: "Shows a second sentence beside this one",
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
            tooltip: "Every term and symbol, with the lesson that introduces it",
            keys: &[key(Key::G)],
            line: New("open the glossary, with every term and symbol; Esc closes it"),
        }
        CloseGlossary { keys: &[key(Key::Escape)], line: Mentioned }
        Questions {
            text: "Questions",
            tooltip: "Questions as people ask them, each with a short answer and the cell that shows it",
            keys: &[alt(Key::Q)],
            line: New("open the page of questions"),
        }
        Review {
            text: "Review",
            tooltip: "The questions of earlier lessons that are due again, and when the others are",
            keys: &[alt(Key::R)],
            line: New("open the page of what is due for review"),
        }
        Panel {
            tooltip: "Brings the panel to the front, or opens it",
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
            line: New("open a panel or bring it to the front; numbered as in Lab"),
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
            tooltip: "Shows the lesson in large type, one item at a time beside the stage; your work stays as it is",
            keys: &[key(Key::F5)],
            line: New("present the lesson, slide by slide; Esc ends the presentation"),
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
            tooltip: "Ends the presentation and goes back to the lesson",
            keys: &[key(Key::Escape)],
            line: Mentioned,
        }
        Course {
            text: "The course",
            tooltip: "Every lesson, and your progress",
            keys: &[alt(Key::Home)],
            line: New("open the course"),
        }
        Browse {
            text: "Open a file …",
            tooltip: "Opens another lesson on this computer, a file that somebody shared, or a model (choose its \
                config.json)",
            keys: &[ctrl(Key::O)],
            line: New("open a file"),
        }
        Beside {
            text: "Compare with another model …",
            tooltip: "Runs another lesson or model beside this one, on the same sentence; a file of vectors is \
                compared with another file of vectors",
            keys: &[alt(Key::B)],
            line: New("compare with another model, or another file of vectors"),
        }
        BesideOwn {
            text: "Compare with a model that comes with attune",
            tooltip: "Runs a small model with four layers on the same sentence and shows the answers, attention and \
                layers of both models side by side",
        }
        EndBeside {
            text: "End the comparison",
            tooltip: "The stage and the panels again show only this model, or this file of vectors",
        }
        NewLesson {
            text: "New lesson …",
            tooltip: "Writes a small commented lesson to a file, which opens here and in your editor",
        }
        CopyLesson {
            text: "Edit this lesson as a copy …",
            tooltip: "Writes a copy to a file, which opens here and in your editor; this lesson stays as it is",
        }
        HandIn {
            text: "Hand in …",
            tooltip: "Save your answers to a file for your teacher",
            keys: &[ctrl_shift(Key::H)],
            line: New("hand in your work as a file"),
        }
        Share {
            text: "Share …",
            tooltip: "Saves the view and your work to one file, which others can open as a copy",
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
        // With Shift, this key splits a cell.
        Smaller { text: "A−", tooltip: "Smaller", keys: &[ctrl(Key::Minus).without_shift()], line: Joined }
        UsualSize { keys: &[ctrl(Key::Num0)], line: Joined }
        KeySheet {
            text: "?",
            tooltip: "Keys",
            keys: &[key(Key::F1)],
            or: &[key(Key::Questionmark)],
            line: New("show this sheet; Esc closes it"),
        }
        CloseKeySheet { keys: &[key(Key::Escape)], line: Mentioned }
        Picture { text: "Picture of the stage …", tooltip: "A PNG of the stage as you see it now" }
        Record {
            text: "Record the stage …",
            tooltip: "Records a GIF from this view: the walk's steps if a walk has begun, otherwise the moving \
                words or, if no word moves, one turn of the stage",
            keys: &[ctrl_shift(Key::G)],
            line: New("record the stage as a GIF"),
        }
        Checkpoints { text: "Checkpoints …", tooltip: "Go back to an earlier state of your work on this lesson" }
        ResetLesson {
            text: "Reset the lesson",
            tooltip: "Resets cells, answers and weights; your work is kept as a checkpoint",
        }
        Map {
            text: "Map …",
            tooltip: "Draws a t-SNE map of all words in a separate window",
        }
    }
}

/// A request to the window. Requests to the kernel are commands.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An action with a row in the table.
    Row(Pressed<WindowAction>),
    /// The return from the course page to the lesson.
    Back,
    /// A dialog that chooses a file for this purpose.
    ChooseFile(FilePurpose),
    /// The use of a chosen file for this purpose.
    UseFile(FilePurpose, PathBuf),
    CloseMap,
    /// The return to the checkpoint at this index of the list.
    GoBack(usize),
    ResetCourse,
    UndoResetCourse,
    /// A lesson to open at one of its cells.
    OpenCell(PathBuf, String),
    /// The removal of the questions from earlier lessons at the beginning of the lesson.
    LeaveRecall,
    /// A link in a text to follow.
    Follow(TextLink),
    /// A cell of the notebook whose panels are opened.
    Reach(ReachedCell),
    /// The pace of training to set.
    SetPace(Pace),
}

impl Action {
    /// Returns the action that opens a lesson, a model or a shared file in place of the open lesson.
    pub fn open(path: impl Into<PathBuf>) -> Action {
        Action::UseFile(FilePurpose::Open, path.into())
    }
}

impl From<WindowAction> for Action {
    fn from(action: WindowAction) -> Action {
        Action::Row(Pressed::once(action))
    }
}

/// The purpose of a file that is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePurpose {
    /// A lesson, a model or a shared file, opened in place of the current lesson.
    Open,
    /// A model to compare with the open one.
    OpenBeside,
    /// A file dropped on the window: a file of vectors to compare with the open one, or else a replacement for the open
    /// lesson.
    Dropped,
    /// An export of the lesson to another format.
    Export(Format),
    /// The vectors of the words found on the stage by a search or a lasso.
    ExportFound(VectorFormat),
    /// A PNG picture of the stage.
    Picture(PictureChoice),
    /// A GIF of the stage.
    Recording,
    /// A new lesson, which is opened afterwards: a small one or a copy of this one.
    NewLesson {
        is_copy: bool,
    },
    /// The learner's work, as a file.
    Work(WorkChoice),
    ImportSenses,
    ExportSenses,
    /// Texts over which all heads are measured.
    Texts,
}

impl FilePurpose {
    /// Returns whether the file is an export, which is written in the background, one at a time.
    pub fn is_export(&self) -> bool {
        matches!(self, Self::Export(_) | Self::ExportFound(_) | Self::Picture(_) | Self::Recording | Self::Work(_))
    }
}

/// A cell of the notebook that the learner has reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedCell {
    pub cell: CellId,
    /// Whether the cell was run or shown, and not only scrolled to.
    pub is_used: bool,
    /// The predictions that are not answered yet. Their panels stay closed, because these would give the answer away.
    pub unanswered: Vec<CellId>,
}

/// The kind of file for the learner's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkChoice {
    /// A file to hand in, with the learner's name and the time spent, if given.
    HandIn { name: Option<String>, minutes: Option<u64> },
    /// A file to share, which includes the current view.
    Share,
}

/// Options of a picture of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureChoice {
    /// The size of the picture, in pixels.
    pub size: (u32, u32),
    pub is_transparent: bool,
    /// Whether a caption with the sentence and the step is drawn below.
    pub has_caption: bool,
}

/// Mouse gestures on the stage.
pub const STAGE_MOUSE: [(&str, &str); 6] = [
    ("Left-drag", "turn; turns 2D into 3D"),
    ("Shift and left-drag", "draw a line around points to select them"),
    ("Right- or middle-drag", "pan"),
    ("Wheel", "zoom towards the pointer"),
    ("Click", "choose a token and its row of attention"),
    ("Double-click", "centre on a point; on empty space, reset the view"),
];

action_table! {
    /// An action of the stage.
    StageAction {
        Orbit {
            keys: &[key(Key::ArrowUp), key(Key::ArrowDown), key(Key::ArrowLeft), key(Key::ArrowRight)],
            line: New("turn; with Shift, pan"),
        }
        Pan {
            keys: &[shift(Key::ArrowUp), shift(Key::ArrowDown), shift(Key::ArrowLeft), shift(Key::ArrowRight)],
            line: Mentioned,
        }
        Nearer { keys: &[key(Key::Plus)], aliases: &[key(Key::Equals)], line: New("zoom") }
        Farther { keys: &[key(Key::Minus)], line: Joined }
        Focus { keys: &[key(Key::F)], line: New("look at the point under the pointer, or at the chosen word") }
        LookAlong {
            keys: &[key(Key::X), key(Key::Y), key(Key::Z)],
            line: New("look along an axis, then from the other side"),
        }
        Flat {
            text: "2D",
            tooltip: "Shows the plane of two axes, without perspective; drag to go back to 3D",
            keys: &[key(Key::Num2)],
            line: New("switch to 2D and back"),
        }
        Search {
            text: "Search words",
            tooltip: "Highlights the words that contain what you type; Enter goes to the next one",
            keys: &[key(Key::Slash)],
            line: New("search words; Enter: the next match"),
        }
        Isolate {
            text: "Isolate",
            tooltip: "Show only the points found",
            keys: &[key(Key::I)],
            line: New("show only the points found, or those near the chosen word"),
        }
        Lasso {
            text: "Lasso",
            tooltip: "Your next drag draws a line around points and selects them, as a drag with Shift does",
            keys: &[key(Key::C)],
            line: New("draw a lasso; isolating and exporting then apply to the points inside"),
        }
        NextQuery {
            keys: &[key(Key::Q)],
            line: New("make the next word the query; with Shift, the previous one"),
        }
        QueryBefore { keys: &[shift(Key::Q)], line: Mentioned }
        Clear {
            tooltip: "Shows all points again",
            keys: &[key(Key::Escape)],
            line: New("show all points again; end the walk; clear the choice; leave the stage"),
        }
        Home {
            text: "Home",
            tooltip: "Moves the camera back to its starting position",
            keys: &[key(Key::Home)],
            line: New("move the camera back to its starting position"),
        }
    }
}

/// Mouse gestures on the sentence.
pub const SENTENCE_MOUSE: [(&str, &str); 1] = [("Click", "choose a word, or the pair of an arc")];

action_table! {
    /// An action of the sentence over the stage.
    SentenceAction {
        WordBefore { keys: &[key(Key::ArrowLeft)], line: New("choose the word before, after") }
        WordAfter { keys: &[key(Key::ArrowRight)], line: Joined }
        HeadBefore { keys: &[key(Key::ArrowUp)], line: New("choose the head or layer before, after") }
        HeadAfter { keys: &[key(Key::ArrowDown)], line: Joined }
        Turn {
            tooltip: "Switches between the words that this word looks at and the words that look at it",
            keys: &[key(Key::R)],
            line: New("the words that this word looks at, or the words that look at it"),
        }
        LetGo { keys: &[key(Key::Escape)], line: New("end the walk; clear the choice; leave the sentence") }
    }
}

action_table! {
    /// An action of the notebook. On cells that cannot be edited, such as predictions, `Write` and the three run
    /// actions do what that kind of cell defines.
    NotebookAction {
        Write { keys: &[key(Key::Enter)], line: New("write in the selected cell; stop writing") }
        Leave { keys: &[key(Key::Escape)], line: Joined }
        EditText { text: "Edit", keys: &[key(Key::F2)], line: New("edit a text of the lesson") }
        SelectAbove { keys: &[key(Key::ArrowUp)], or: &[key(Key::K)], line: New("select the cell above, below") }
        SelectBelow { keys: &[key(Key::ArrowDown)], or: &[key(Key::J)], line: Joined }
        RunAndGoOn {
            tooltip: "run it and go on",
            keys: &[shift(Key::Enter)],
            line: New("run the cell and go on"),
        }
        Run { tooltip: "Run this cell", keys: &[ctrl(Key::Enter)], line: New("run the cell") }
        RunAndInsert { keys: &[alt(Key::Enter)], line: New("run the cell and insert one below") }
        InsertAbove {
            text: "Insert code above",
            keys: &[key(Key::A)],
            line: New("insert a cell above, below"),
        }
        InsertBelow { text: "Insert code below", keys: &[key(Key::B)], line: Joined }
        Delete { text: "Delete", keys: &[twice(Key::D)], line: New("delete the cell; Z brings it back") }
        UndoDelete { keys: &[key(Key::Z)], line: Mentioned }
        MakeText { text: "Make it text", keys: &[key(Key::M)], line: New("make the cell text, code") }
        MakeCode { text: "Make it code", keys: &[key(Key::Y)], line: Joined }
        MoveUp { text: "Move up", keys: &[ctrl_shift(Key::ArrowUp)], line: New("move the cell") }
        MoveDown { text: "Move down", keys: &[ctrl_shift(Key::ArrowDown)], line: Joined }
        Split { keys: &[ctrl_shift(Key::Minus)], line: New("split the cell at the caret") }
        Merge {
            text: "Merge with the cell below",
            keys: &[shift(Key::M)],
            line: New("merge the cell with the one below"),
        }
        Fold { text: "Fold", keys: &[key(Key::O)], line: New("fold the cell, stop running cells, restart") }
        Interrupt {
            text: "■ Stop",
            tooltip: "Stop the running cell and those that are waiting",
            keys: &[twice(Key::I)],
            line: Joined,
        }
        Restart { text: "Restart: forget variables and outputs", keys: &[twice(Key::Num0)], line: Joined }
        Answer {
            keys: &[
                key(Key::Num1),
                key(Key::Num2),
                key(Key::Num3),
                key(Key::Num4),
                key(Key::Num5),
                key(Key::Num6),
                key(Key::Num7),
                key(Key::Num8),
            ],
            line: New("choose an answer; Enter locks it in"),
        }
        Turn {
            keys: &[key(Key::ArrowLeft), key(Key::ArrowRight)],
            line: New("move a slider; Enter shows a stage cell"),
        }
        TurnFinely { keys: &[shift(Key::ArrowLeft), shift(Key::ArrowRight)], line: Mentioned }
        Hint { text: "Hint", keys: &[key(Key::H)], line: New("show a hint, the solution") }
        Solution { text: "Solution", tooltip: "Show the lesson's solution", keys: &[shift(Key::H)], line: Joined }
        RunAbove { text: "Run the cells above" }
        ClearOutputs { text: "Clear its outputs" }
        AutoRun { text: "Run automatically" }
        Reset { text: "Reset to the lesson's" }
        Functions {
            text: "Functions",
            tooltip: "Every function for code cells, with its equation",
            keys: &[key(Key::F)],
            line: New("list the functions of code cells"),
        }
    }
}

impl NotebookAction {
    /// Returns whether the editor of a cell passes the action on to the notebook.
    pub fn is_of_editor(self) -> bool {
        use NotebookAction::{Leave, Run, RunAndGoOn, RunAndInsert, Split};
        matches!(self, Run | RunAndGoOn | RunAndInsert | Split | Leave)
    }

    /// Returns whether the action belongs to Jupyter's command mode: its key is a letter or a digit, and it changes the
    /// notebook.
    pub fn is_of_command_mode(self) -> bool {
        use NotebookAction::{Delete, Fold, InsertAbove, InsertBelow, MakeCode, MakeText, Merge, Restart, UndoDelete};
        matches!(self, InsertAbove | InsertBelow | Delete | UndoDelete | MakeText | MakeCode | Merge | Fold | Restart)
    }
}
