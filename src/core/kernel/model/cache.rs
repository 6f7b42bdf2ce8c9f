//! Results that can be computed again: forward passes, checkpoints of training, buffers for its steps, and answers to
//! questions. Dropping a cache at any time changes no number of the model.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use crate::kernel::evidence::job::Job;
use crate::kernel::evidence::live::LiveMap;
use crate::kernel::evidence::tables::ShownTables;
use crate::kernel::evidence::words::Words;
use crate::kernel::sentence_pass::PassCache;
use crate::kernel::sentence_pass::recorded_check::RecordedCheck;
use crate::kernel::training::cache::StepCache;
use crate::kernel::values::Replaced;

/// Results about one model. A clone of a model, as in the history of undo, has an empty cache.
#[derive(Default)]
pub struct Cache {
    pub steps: StepCache,
    pub passes: PassCache,
    /// The model that this one replaced, as it was shown last.
    pub replaced: OnceCell<Arc<Replaced>>,
    /// The check of the recorded text that is shown.
    pub recorded: RefCell<Option<RecordedCheck>>,
    /// The map that the learner has asked for.
    pub map: RefCell<Option<LiveMap>>,
    pub words: RefCell<Option<Job<Words>>>,
    pub tables: RefCell<Option<Job<ShownTables>>>,
}

impl Clone for Cache {
    fn clone(&self) -> Self {
        Self::default()
    }
}
