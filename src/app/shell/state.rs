//! What the window knows of itself: what was asked of it, its dialogs, the work beside it, and the settings that lessons open
//! with. Plain data, which the other files read and write.

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
use crate::app::work::export::Export;
use crate::app::work::job::Job;
use crate::app::work::waker::Waker;
use crate::app::workspace::notices::ExportModel;

/// The actions that are asked of the window, and its dialogs.
#[derive(Resource, Default)]
pub struct WindowState {
    /// Actions that were asked for, in their order.
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

/// Settings that every lesson of this window opens with. Absent in a picture.
#[derive(Resource, Clone)]
pub struct Setup {
    /// Replaces a lesson's seed.
    pub seed: Option<u64>,
    /// None: nothing is kept.
    pub home: Option<Home>,
    pub waker: Waker,
    /// Whether new lessons are handed to the learner's editor; those of a test are not.
    pub has_editor: bool,
}

/// The work beside the window.
#[derive(Resource, Default)]
pub struct Jobs {
    pub export: Option<Export>,
    pub editor: Option<Export>,
    pub map: Option<Drawing>,
    pub opening: Option<Job<SharedWork>>,
    /// Another file of vectors, which is read and turned onto the one that is open.
    pub spaces: Option<Job<TwoSpaces>>,
    /// Another file of vectors that waits until the first one is read.
    pub awaited: Option<PathBuf>,
}

/// Tells the learner what became of a file.
pub fn say(world: &mut World, told: Result<String, String>) {
    world.resource_mut::<WindowState>().export = ExportModel::Said(told);
}
