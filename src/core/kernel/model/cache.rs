//! Results that can be computed again: forward passes, checkpoints of training, room for its steps. A cache may be
//! dropped at any time, and no number changes.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use crate::kernel::sentence_pass::PassCache;
use crate::kernel::sentence_pass::recorded_check::RecordedCheck;
use crate::kernel::training::cache::StepCache;
use crate::kernel::values::Replaced;

/// Results about one model. What undo keeps is a clone of a model, whose cache is empty.
#[derive(Default)]
pub struct Cache {
    pub steps: StepCache,
    pub passes: PassCache,
    /// The model that this one replaced, as it was shown last.
    pub replaced: OnceCell<Arc<Replaced>>,
    /// The check of the recorded text that is shown.
    pub recorded: RefCell<Option<RecordedCheck>>,
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self::default()
    }
}
