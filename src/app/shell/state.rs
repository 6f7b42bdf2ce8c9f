//! The state of the window outside the lesson: actions that were asked for, dialogs, exports.

use bevy::ecs::resource::Resource;

use super::exported::ExportModel;
use super::files::FilesUiState;
use super::hand_in::HandInUiState;
use super::presentation::Presentation;
use super::still_map::StillState;
use crate::app::actions::Action;
use crate::app::actions::window::PictureChoice;

/// The actions that are asked of the window, and its dialogs.
#[derive(Resource, Default)]
pub struct WindowState {
    /// In the order in which it was asked.
    pub asked: Vec<Action>,
    pub is_key_sheet_open: bool,
    pub files: FilesUiState,
    /// The picture that is being chosen.
    pub picture: Option<PictureChoice>,
    /// The dialog of a work that is to be handed in.
    pub hand_in: Option<HandInUiState>,
    /// The dialog that says what is shared is open.
    pub is_sharing: bool,
    /// The note on the export that is under way, or has ended.
    pub export: ExportModel,
    /// The still map of the words.
    pub map: StillState,
    /// The talk that is given.
    pub presentation: Option<Presentation>,
}

impl WindowState {
    /// A dialog of files, of a picture or of a work has the keys.
    pub fn is_dialog_open(&self) -> bool {
        self.files.is_open() || self.picture.is_some() || self.hand_in.is_some() || self.is_sharing
    }

    pub fn is_exporting(&self) -> bool {
        matches!(self.export, ExportModel::Writing { .. })
    }
}
