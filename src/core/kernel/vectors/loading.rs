//! A pretrained model on its way from its files: on a thread of its own, so that nobody waits for the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load::{Pretrained, Stopped, load};

use crate::kernel::data::progress::Progress;
use crate::lesson::locate::FieldPath;

/// How long one look waits for the end.
const LOOK: Duration = Duration::from_millis(10);

/// The outcome of the loading.
pub type Outcome = Result<Arc<Pretrained>, String>;

pub struct Loading {
    outcome: Option<Outcome>,
    news: Receiver<Result<Pretrained, Stopped>>,
    shared: Arc<Shared>,
    /// The field of a lesson that is to blame where there is no outcome.
    field: FieldPath,
}

/// Bytes read, of all; and whether anybody still waits.
#[derive(Default)]
struct Shared {
    done: AtomicU64,
    all: AtomicU64,
    is_over: AtomicBool,
}

impl Loading {
    pub fn start(model: &ModelFolder) -> Self {
        let (sender, news) = channel();
        let shared = Arc::new(Shared::default());
        if let Some(absent) = &model.absent {
            return Self { outcome: Some(Err(absent.to_string())), news, shared, field: &["model"] };
        }
        let (folder, told) = (model.path.clone(), shared.clone());
        thread::spawn(move || {
            let mut watch = |progress: attune_engine::pretrained::load::Progress| {
                told.done.store(progress.done, Ordering::Relaxed);
                told.all.store(progress.all, Ordering::Relaxed);
                !told.is_over.load(Ordering::Relaxed)
            };
            // Nobody hears of it when the lesson was closed meanwhile.
            let _ = sender.send(load(&folder, &mut watch));
        });
        Self { outcome: None, news, shared, field: &[] }
    }

    /// Waits some milliseconds; true once it is over.
    pub fn advance(&mut self) -> bool {
        if self.outcome.is_none() {
            self.outcome = match self.news.recv_timeout(LOOK) {
                Ok(loaded) => Some(loaded.map(Arc::new).map_err(|stopped| stopped.to_string())),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Err("the loading broke off".to_owned())),
            };
        }
        self.outcome.is_some()
    }

    /// The model, or why there is none; `None` while it is read.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The field of the lesson that is to blame for a model that cannot be read.
    pub fn field(&self) -> FieldPath {
        self.field
    }

    /// In megabytes.
    pub fn progress(&self) -> Progress {
        let megabytes = |bytes: &AtomicU64| (bytes.load(Ordering::Relaxed) >> 20) as usize;
        Progress { done: megabytes(&self.shared.done), of: megabytes(&self.shared.all) }
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}
