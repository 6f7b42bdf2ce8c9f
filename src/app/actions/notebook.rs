//! The actions of the notebook: Jupyter's keys for the selected cell, and those that work while it is written.

use egui::Key;

use super::SheetLine::{Joined, Mentioned, New};
use super::action_table;
use super::keys::{alt, ctrl, ctrl_shift, key, shift, twice};

action_table! {
    /// An action of the notebook. On a cell of a kind that is not written, such as a prediction, `Write` and the
    /// three that run mean what that kind does.
    NotebookAction {
        Write { keys: &[key(Key::Enter)], line: New("write in the selected cell; leave it") }
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
        RunAndInsert { keys: &[alt(Key::Enter)], line: New("run it and insert a cell below") }
        InsertAbove {
            text: "Insert code above",
            keys: &[key(Key::A)],
            line: New("insert a cell above, below"),
        }
        InsertBelow { text: "Insert code below", keys: &[key(Key::B)], line: Joined }
        Delete { text: "Delete", keys: &[twice(Key::D)], line: New("delete the cell; Z brings it back") }
        UndoDelete { keys: &[key(Key::Z)], line: Mentioned }
        MakeText { text: "Make it text", keys: &[key(Key::M)], line: New("make it text, code") }
        MakeCode { text: "Make it code", keys: &[key(Key::Y)], line: Joined }
        MoveUp { text: "Move up", keys: &[ctrl_shift(Key::ArrowUp)], line: New("move the cell") }
        MoveDown { text: "Move down", keys: &[ctrl_shift(Key::ArrowDown)], line: Joined }
        Split { keys: &[ctrl_shift(Key::Minus)], line: New("split the cell at the caret") }
        Merge {
            text: "Merge with the cell below",
            keys: &[shift(Key::M)],
            line: New("merge it with the cell below"),
        }
        Fold { text: "Fold", keys: &[key(Key::O)], line: New("fold, stop what runs, restart") }
        Interrupt {
            text: "■ Stop",
            tooltip: "End the cell that runs, and those that wait",
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
            line: New("turn a slider; Enter sets the stage"),
        }
        TurnFinely { keys: &[shift(Key::ArrowLeft), shift(Key::ArrowRight)], line: Mentioned }
        Hint { text: "Hint", keys: &[key(Key::H)], line: New("a hint, the solution") }
        Solution { text: "Solution", tooltip: "Show the lesson's solution", keys: &[shift(Key::H)], line: Joined }
        RunAbove { text: "Run the cells above" }
        ClearOutputs { text: "Clear its outputs" }
        AutoRun { text: "Run automatically" }
        Reset { text: "Reset to the lesson's" }
        Functions {
            text: "Functions",
            tooltip: "Every function of code cells, with its equation",
            keys: &[key(Key::F)],
            line: New("the functions of code cells"),
        }
    }
}

impl NotebookAction {
    /// The editor of a cell leaves it to the notebook.
    pub fn is_of_editor(self) -> bool {
        use NotebookAction::{Leave, Run, RunAndGoOn, RunAndInsert, Split};
        matches!(self, Run | RunAndGoOn | RunAndInsert | Split | Leave)
    }

    /// Its key is a letter or a digit that changes the notebook: one of Jupyter's command mode, which is entered by keys.
    pub fn is_of_command_mode(self) -> bool {
        use NotebookAction::{Delete, Fold, InsertAbove, InsertBelow, MakeCode, MakeText, Merge, Restart, UndoDelete};
        matches!(self, InsertAbove | InsertBelow | Delete | UndoDelete | MakeText | MakeCode | Merge | Fold | Restart)
    }
}
