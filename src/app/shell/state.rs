//! The state of the window: requested actions, dialogs, background jobs, and the settings with which lessons open. It
//! is plain data that the other files read and write.

use std::path::PathBuf;

use attune_core::store::Home;
use attune_view::export::work_file::SharedWork;
use attune_view::view_model::spaces::TwoSpaces;
use bevy::prelude::*;

use super::dialogs::{FilesUiState, HandInUiState};
use super::still_map::{Drawing, StillState};
use super::talk::Presentation;
use crate::app::actions::Action;
use crate::app::actions::table::PictureChoice;
use crate::app::theme::fonts::Letters;
use crate::app::work::export::Export;
use crate::app::work::job::Job;
use crate::app::work::waker::Waker;
use crate::app::workspace::notices::ExportModel;

/// The requested actions, and the state of the dialogs.
#[derive(Resource, Default)]
pub struct WindowState {
    /// Requested actions, in order.
    pub asked: Vec<Action>,
    pub is_key_sheet_open: bool,
    pub files: FilesUiState,
    /// The options of the picture that is being chosen; `None` while the dialog is closed.
    pub picture: Option<PictureChoice>,
    /// The dialog for handing in work; `None` while it is closed.
    pub hand_in: Option<HandInUiState>,
    /// Whether the dialog that explains sharing is open.
    pub is_sharing: bool,
    /// The note on the current or last export.
    pub export: ExportModel,
    /// The still map of the words.
    pub map: StillState,
    /// The presentation in progress, if there is one.
    pub presentation: Option<Presentation>,
    pub letters: Letters,
}

impl WindowState {
    /// Returns whether a dialog for files, a picture or work has the keys.
    pub fn is_dialog_open(&self) -> bool {
        self.files.is_open() || self.picture.is_some() || self.hand_in.is_some() || self.is_sharing
    }

    pub fn is_exporting(&self) -> bool {
        matches!(self.export, ExportModel::Writing { .. })
    }
}

/// Settings for every lesson of this window; absent when a picture is rendered.
#[derive(Resource, Clone)]
pub struct Setup {
    /// The seed that replaces a lesson's own.
    pub seed: Option<u64>,
    /// The store of the learner's work; `None` to save nothing.
    pub home: Option<Home>,
    pub waker: Waker,
    /// Whether new lessons are opened in the learner's editor, which tests do not want.
    pub has_editor: bool,
}

/// The background jobs.
#[derive(Resource, Default)]
pub struct Jobs {
    pub export: Option<Export>,
    pub editor: Option<Export>,
    pub map: Option<Drawing>,
    pub opening: Option<Job<SharedWork>>,
    /// The job that reads another file of vectors and rotates it onto the open one.
    pub spaces: Option<Job<TwoSpaces>>,
    /// Another file of vectors, which waits until the first one is read.
    pub awaited: Option<PathBuf>,
}

/// Shows the result of an action with a file: what was done, or why it failed.
pub fn say(world: &mut World, told: Result<String, String>) {
    world.resource_mut::<WindowState>().export = ExportModel::Said(told);
}
