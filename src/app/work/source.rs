//! The lesson file: reading and watching it, reading it again when it is saved, and opening it in the learner's own
//! editor; also the kernels that are started for lessons.

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use attune_core::kernel::command::{Command as KernelCommand, SentenceCommand, TrainingCommand};
use attune_core::kernel::worker::Worker;
use attune_core::kernel::{Saved, Snapshot};
use attune_core::lesson::course::folder_of;
use attune_core::lesson::issue::{printable, shown};
use attune_core::lesson::load::{self, EVERY, WatchedFile};
use attune_core::lesson::{Lesson, course, glossary, vector_files};
use attune_view::export::work_file::LessonMark;
use attune_view::view_model::ModelBeside;
use attune_view::view_model::course::LessonsAround;
use attune_view::view_model::glossary::GlossaryModel;
use bevy::prelude::*;

use super::job::Waker;
use super::session::{Session, SessionState};
use crate::app::link::{LatestModels, Link};
use crate::app::ui_state::ViewState;
use crate::app::workspace::WorkspaceState;

/// The issues of a lesson, as text.
pub type Issues = Vec<String>;

/// A lesson that was read.
pub struct ReadLesson {
    pub lesson: Arc<Lesson>,
    /// The mark of its text; that of a model's folder is known only after the model is read.
    pub mark: Option<LessonMark>,
}

/// The source of the open lesson, which watches its file.
#[derive(Resource)]
pub struct LessonSource {
    news: Mutex<Receiver<SourceNews>>,
    /// News that arrived before the source existed.
    early: Mutex<Option<SourceNews>>,
    waker: Waker,
    /// A token whose drop ends the watch.
    _watched: Arc<()>,
}

/// A file that was read on another thread.
enum SourceNews {
    Lesson(Result<ReadLesson, Issues>),
    /// The first rows of a large file of vectors, while the rest is read.
    First(Arc<Lesson>),
    /// The glossary of the lesson's folder; `None` if there is none.
    Glossary(Result<Option<Arc<GlossaryModel>>, Issues>),
    /// The lessons before and after this one.
    Around(LessonsAround),
}

/// The issues of the last saved version of the file.
#[derive(Resource, Default)]
pub struct LessonIssues(pub Issues);

impl LessonSource {
    /// Reads the lesson and starts to watch its file. A large file of vectors is read in the background: see [`first`].
    pub fn open(path: PathBuf, seed: Option<u64>, waker: Waker) -> (LessonSource, Result<ReadLesson, Issues>) {
        let file = WatchedFile::new(path.clone());
        let (sender, news) = channel();
        let watched = Arc::new(());
        let is_watched = Arc::downgrade(&watched);
        let waits = waker.clone();
        std::thread::spawn(move || {
            // When the source is dropped, the receiver is gone and the watch ends.
            let send = |news| {
                let _ = sender.send(news);
                waker.wake();
            };
            send(SourceNews::Lesson(read(&path, seed, &mut |first| send(SourceNews::First(Arc::new(first))))));
            watch(file, seed, &is_watched, &sender, &waker);
        });
        let (early, first) = first(&news);
        (LessonSource { news: Mutex::new(news), early: Mutex::new(early), waker: waits, _watched: watched }, first)
    }

    /// Starts a kernel on its own thread: from saved work, or with training if there is none.
    pub fn start(&self, lesson: Arc<Lesson>, saved: Option<Saved>) -> Worker {
        // A lesson may have no training steps.
        let trains = lesson.model.steps > 0 && saved.as_ref().is_none_or(|saved| saved.commands.is_empty());
        let has_tour = lesson.is_of_folder();
        let worker = Worker::spawn_on(lesson, saved, self.waker.hook());
        if trains {
            worker.send(KernelCommand::Training(TrainingCommand::Play));
        }
        if has_tour {
            worker.send(KernelCommand::Tour);
        }
        worker
    }

    /// Starts a kernel for a presentation, with the model and the state of another kernel.
    pub fn copy(&self, of: &Worker, lesson: Arc<Lesson>) -> Worker {
        of.copy(lesson, self.waker.hook())
    }
}

/// Waits for the lesson as it is first read. Returns an error without issues if it comes later, because a large file of
/// vectors is being read.
fn first(news: &Receiver<SourceNews>) -> (Option<SourceNews>, Result<ReadLesson, Issues>) {
    loop {
        match news.recv_timeout(LOOK) {
            Ok(SourceNews::Lesson(read)) => return (None, read),
            Err(RecvTimeoutError::Timeout) if vector_files::progress().is_none() => {}
            early => return (early.ok(), Err(Vec::new())),
        }
    }
}

fn read(path: &Path, seed: Option<u64>, first: &mut dyn FnMut(Lesson)) -> Result<ReadLesson, Issues> {
    match load::read_showing(path, first) {
        Ok((lesson, text)) => {
            let mark = text.map(|text| LessonMark::of(&lesson.id, &lesson.title, &text));
            Ok(ReadLesson { lesson: Arc::new(Lesson { seed: seed.unwrap_or(lesson.seed), ..lesson }), mark })
        }
        Err(issues) => Err(issues.iter().map(ToString::to_string).collect()),
    }
}

fn read_glossary(lesson: &Path) -> Result<Option<Arc<GlossaryModel>>, Issues> {
    let Some(file) = glossary::beside(lesson) else { return Ok(None) };
    match glossary::read(&file) {
        Ok(glossary) => Ok(Some(Arc::new(GlossaryModel::of(glossary, &course::list(folder_of(&file)), lesson)))),
        Err(issues) => Err(issues.iter().map(ToString::to_string).collect()),
    }
}

/// Reads the glossary, and then watches both files as long as the source exists.
fn watch(mut file: WatchedFile, seed: Option<u64>, source: &Weak<()>, news: &Sender<SourceNews>, waker: &Waker) {
    let path = file.path().to_owned();
    let mut terms = WatchedFile::new(path.with_file_name(glossary::FILE));
    let send = |read: SourceNews| {
        // When the source is dropped, the receiver is gone and the watch ends.
        let _ = news.send(read);
        waker.wake();
    };
    send(SourceNews::Glossary(read_glossary(&path)));
    send(SourceNews::Around(LessonsAround::of(&course::list(folder_of(&path)), &path)));
    while source.strong_count() > 0 {
        std::thread::sleep(EVERY);
        if file.has_changed() && file.is_there() {
            send(SourceNews::Lesson(read(&path, seed, &mut |_| {})));
        }
        if terms.has_changed() {
            send(SourceNews::Glossary(read_glossary(&path)));
        }
    }
}

/// Opens a lesson that was saved. If it has issues, they are shown and the last good version stays open.
pub fn reload(
    source: Option<Res<LessonSource>>,
    mut link: ResMut<Link>,
    mut issues: ResMut<LessonIssues>,
    mut workspace: ResMut<WorkspaceState>,
    mut view: ResMut<ViewState>,
    models: Res<LatestModels>,
    session: Option<ResMut<Session>>,
) {
    let (Some(source), Some(mut session)) = (source, session) else { return };
    let (Ok(news), Ok(mut early)) = (source.news.lock(), source.early.lock()) else { return };
    let (mut saved, mut first) = (None, None);
    for read in early.take().into_iter().chain(news.try_iter()) {
        match read {
            SourceNews::Lesson(read) => saved = Some(read),
            SourceNews::First(lesson) => first = Some(lesson),
            SourceNews::Glossary(read) => workspace.0.set_glossary(read),
            SourceNews::Around(around) => workspace.0.set_around(around),
        }
    }
    // No work is saved for it; that waits for the whole file.
    if let Some(lesson) = first.filter(|_| link.0.is_none()) {
        link.0 = Some(source.start(lesson, None));
    }
    let Some(read) = saved else { return };
    // The first rows are shown before the whole file replaces them, because its positions take longer to compute.
    let is_in_part = |snapshot: &Snapshot| snapshot.lesson.static_embedding.is_in_part() && snapshot.fault.is_none();
    let is_shown = models.snapshot().is_some_and(|shown| is_in_part(shown) && shown.space.is_some());
    if !is_shown && link.0.as_ref().is_some_and(|worker| is_in_part(&worker.latest())) {
        *early = Some(SourceNews::Lesson(read));
        return;
    }
    drop(early);
    workspace.0.lesson_saved();
    match (read, &link.0) {
        (Err(found), _) => issues.0 = found,
        (Ok(ReadLesson { lesson, mark }), None) => {
            issues.0.clear();
            session.mark = mark;
            let SessionState { kernel, view: kept } = session.open(&lesson).unwrap_or_default();
            workspace.0.restore(&kept, &mut view);
            link.0 = Some(source.start(lesson, Some(kernel)));
        }
        (Ok(ReadLesson { lesson, mark }), Some(worker)) => {
            issues.0.clear();
            session.mark = mark;
            if session.is_of_other(&lesson) {
                session.settle(&link, &workspace.0.saved(&view));
            }
            match session.lesson_saved(&lesson) {
                Some(SessionState { kernel, view: kept }) => {
                    workspace.0.restore(&kept, &mut view);
                    worker.open_saved(lesson, Some(kernel));
                }
                None => worker.open(lesson),
            }
        }
    }
}

/// The kernel of another model for comparison, which gets the same sentence as the window's. None of its state is
/// saved.
#[derive(Resource)]
pub struct OtherModel {
    worker: Worker,
    /// The sentence that it got last.
    given: Option<String>,
}

impl OtherModel {
    pub fn open(lesson: Arc<Lesson>, waker: &Waker) -> Self {
        let trains = lesson.model.steps > 0;
        let worker = Worker::spawn(lesson, waker.hook());
        if trains {
            worker.send(KernelCommand::Training(TrainingCommand::Play));
        }
        Self { worker, given: None }
    }
}

/// Passes the sentence on the stage to the other model, and gives its latest snapshot to the panels.
pub fn follow_beside(other: Option<ResMut<OtherModel>>, mut models: ResMut<LatestModels>) {
    let Some(mut other) = other else { return };
    let latest = other.worker.latest();
    let shown = models.snapshot().and_then(|snapshot| snapshot.model.as_ref()).map(|model| model.sentence.written());
    // The kernel would refuse a sentence before it has a model.
    if let Some(text) = shown.filter(|text| latest.model.is_some() && other.given.as_ref() != Some(text)) {
        other.worker.send(KernelCommand::Sentence(SentenceCommand::Set(text.clone())));
        other.given = Some(text);
    }
    if models.beside.as_ref().is_none_or(|beside| !Arc::ptr_eq(&beside.0, &latest)) {
        models.beside = Some(ModelBeside(latest));
    }
}

/// The time after which a program that still runs counts as having opened the file. A program that fails does so at
/// once.
const GRACE: Duration = Duration::from_millis(1500);
/// The time for the desktop's programs, which first look for an editor.
const GRACE_OF_DESKTOP: Duration = Duration::from_secs(6);
const LOOK: Duration = Duration::from_millis(50);

/// Programs that open text files on a desktop, each with its arguments.
const DESKTOP: &[&[&str]] = if cfg!(target_os = "macos") {
    &[&["open", "-t"]]
} else if cfg!(windows) {
    &[&["notepad"]]
} else {
    &[&["xdg-open"], &["gio", "open"]]
};

/// A program that may open the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EditorProgram {
    /// The environment variable that names it.
    of: Option<&'static str>,
    words: Vec<String>,
}

/// Returns the learner's choice in `VISUAL` and `EDITOR`, followed by the desktop's programs.
fn candidates(variable: impl Fn(&str) -> Option<String>) -> Vec<EditorProgram> {
    let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| {
        let words: Vec<String> = variable(name)?.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(EditorProgram { of: Some(name), words })
    });
    let desktop = DESKTOP.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    chosen.chain(desktop.map(|words| EditorProgram { of: None, words })).collect()
}

/// Opens the file in an editor, and waits a moment to see whether the program stays. Returns a message for the learner,
/// or the reason why no editor was found, with the file's path.
pub fn open(file: &Path) -> Result<String, String> {
    open_with(file, &candidates(|name| std::env::var(name).ok()))
}

fn open_with(file: &Path, candidates: &[EditorProgram]) -> Result<String, String> {
    let shown = shown(file);
    let mut faults = Vec::new();
    for candidate in candidates {
        let name = printable(&candidate.words.join(" "));
        match start(candidate, file) {
            Ok(()) if candidate.of.is_some() => {
                return Ok(format!(
                    "{shown} is open in your editor ({name}). When you save the file, it reloads here."
                ));
            }
            Ok(()) => return Ok(format!("{name} was asked to open {shown}. When you save the file, it reloads here.")),
            Err(why) => faults.push(match candidate.of {
                Some(variable) => format!("{variable}={name}: {why}"),
                None => format!("{name}: {why}"),
            }),
        }
    }
    let faults = faults.join("; ");
    Err(format!(
        "No editor could be opened ({faults}). Open {shown} yourself. When you save the file, it reloads \
        here."
    ))
}

fn start(EditorProgram { of, words }: &EditorProgram, file: &Path) -> Result<(), String> {
    let (program, args) = words.split_first().ok_or("it is empty")?;
    let mut command = Command::new(program);
    command.args(args).arg(file);
    // Only an editor named by a variable may use the terminal in which attune was started.
    if !(of.is_some() && stdin().is_terminal()) {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    let mut child = command.spawn().map_err(|why| why.to_string())?;
    let (begun, grace) = (Instant::now(), if of.is_some() { GRACE } else { GRACE_OF_DESKTOP });
    while begun.elapsed() < grace {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Ok(None) => thread::sleep(LOOK),
            Err(why) => return Err(why.to_string()),
        }
    }
    // A started program must be waited for, so that the system can remove it.
    thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(candidate: &EditorProgram) -> String {
        candidate.words.join(" ")
    }

    #[test]
    fn the_learners_choice_comes_before_the_desktops() {
        let set = |name: &str| match name {
            "VISUAL" => Some("code --wait".to_owned()),
            "EDITOR" => Some("  ".to_owned()),
            _ => None,
        };
        let found = candidates(set);
        assert_eq!((words(&found[0]).as_str(), found[0].of), ("code --wait", Some("VISUAL")));
        assert_eq!(found.len(), 1 + DESKTOP.len(), "an empty name is none");
    }

    #[test]
    fn without_an_editor_the_path_is_said_and_why() {
        let none = |name: &str, of| EditorProgram { of, words: vec![name.to_owned()] };
        let all = [none("no-such-editor", Some("VISUAL")), none("no-such-opener", None)];
        let why = open_with(Path::new("/a/my_apple.ron"), &all).expect_err("there is none");
        for part in ["VISUAL=no-such-editor: ", "; no-such-opener: ", "Open /a/my_apple.ron yourself"] {
            assert!(why.contains(part), "{why}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn one_that_fails_gives_way_to_the_next() {
        let all = ["false", "true"].map(|name| EditorProgram { of: Some("EDITOR"), words: vec![name.to_owned()] });
        let told = open_with(Path::new("my_apple.ron"), &all).expect("true is an editor that ends at once");
        assert!(told.contains("my_apple.ron is open in your editor (true)"), "{told}");
        let why = open_with(Path::new("my_apple.ron"), &all[..1]).expect_err("false fails");
        assert!(why.contains("EDITOR=false: it ended with exit status: 1"), "{why}");
        let desktop = [EditorProgram { of: None, words: vec!["true".to_owned()] }];
        let told = open_with(Path::new("my_apple.ron"), &desktop).expect("it ends at once");
        assert!(told.contains("true was asked to open my_apple.ron"), "{told}");
    }
}
