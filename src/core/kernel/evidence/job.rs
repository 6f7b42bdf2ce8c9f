//! Work that answers a question about a model. It may take long, so it runs on a thread of its own, and the kernel
//! stays free for other commands, any of which may end the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::params::Parameters;

use super::{Evidence, Progressed};
use crate::kernel::sentence_pass::sentence::SentenceFrame;
use crate::kernel::values::Progress;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::Lesson;

/// Time for which the kernel waits for an answer before it looks for other requests.
const WAIT: Duration = Duration::from_millis(10);

/// A model, with everything else that is needed to answer a question about it on another thread.
pub struct OwnModel {
    pub lesson: Arc<Lesson>,
    pub model: AttentionModel<f32>,
    pub parameters: Arc<Parameters<f32>>,
    pub space: Arc<StaticSpace>,
    pub classes: Arc<[String]>,
}

impl OwnModel {
    pub fn evidence(&self) -> Evidence<'_> {
        let Self { lesson, model, parameters, space, classes } = self;
        Evidence { lesson, model, parameters, space, classes, targets: None }
    }
}

/// The subject of a question: the sentence on the stage and the weights.
#[derive(Clone, Debug)]
pub struct Subject {
    pub frame: Arc<SentenceFrame>,
    pub parameters: Arc<Parameters<f32>>,
}

impl Subject {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.frame, &other.frame) && Arc::ptr_eq(&self.parameters, &other.parameters)
    }
}

/// The outcome of a question so far.
#[derive(Clone, Debug)]
pub struct Asked<T> {
    pub progress: Progress,
    /// The answer, or a message that says why there is none; `None` while the work goes on.
    pub found: Option<Result<Arc<T>, String>>,
}

/// A question that is being answered on its own thread, or has been answered. The thread ends soon after the job is
/// dropped.
pub struct Job<T> {
    of: Subject,
    watched: Arc<Watched>,
    news: Receiver<Result<T, String>>,
    found: Option<Result<Arc<T>, String>>,
}

#[derive(Default)]
struct Watched {
    is_ended: AtomicBool,
    done: AtomicUsize,
    steps: AtomicUsize,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` on a thread of its own.
    pub fn begin(
        of: Subject,
        model: OwnModel,
        work: impl FnOnce(Evidence<'_>, Progressed<'_>) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (sender, news) = channel();
        let watched = Arc::new(Watched::default());
        let of_thread = watched.clone();
        thread::spawn(move || {
            let goes_on = |done: usize, steps: usize| {
                of_thread.done.fetch_max(done, Ordering::Relaxed);
                of_thread.steps.store(steps, Ordering::Relaxed);
                !of_thread.is_ended.load(Ordering::Relaxed)
            };
            // If the send fails, the job was dropped, and nobody waits for the answer.
            let _ = sender.send(work(model.evidence(), &goes_on));
        });
        Self { of, watched, news, found: None }
    }

    /// Returns whether the question is about this subject.
    pub fn is_of(&self, of: &Subject) -> bool {
        self.of.is_same(of)
    }

    /// Returns whether the question is about this subject and is not answered yet.
    pub fn is_pending(&self, of: &Subject) -> bool {
        self.found.is_none() && self.is_of(of)
    }

    /// Waits for the answer, at most for `WAIT`.
    pub fn wait(&mut self) {
        match self.news.recv_timeout(WAIT) {
            Ok(found) => self.found = Some(found.map(Arc::new)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                self.found = Some(Err("the work stopped because of a fault in attune itself".to_owned()));
            }
        }
    }

    /// Returns the progress, and the answer once it is known.
    pub fn asked(&self) -> Asked<T> {
        let Watched { done, steps, .. } = &*self.watched;
        let progress = Progress { done: done.load(Ordering::Relaxed), of: steps.load(Ordering::Relaxed) };
        Asked { progress, found: self.found.clone() }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.watched.is_ended.store(true, Ordering::Relaxed);
    }
}
