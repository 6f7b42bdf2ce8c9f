//! `attune check`: one line for each lesson or glossary, and every issue.

use std::cell::LazyCell;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;
use std::time::Duration;
use std::{fs, thread};

use attune_core::kernel::check::claims::{ClaimVerdict, first_overflow, verify_switched, verify_within};
use attune_core::kernel::check::{Problem, rehearse};
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::Token;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::cells::Cell;
use attune_core::lesson::controls::closed_panels;
use attune_core::lesson::controls::{UnknownControl, unknown_controls};
use attune_core::lesson::course::{self, CourseFile};
use attune_core::lesson::glossary::{self, Glossary, TermIssue, check_terms, is_glossary_file};
use attune_core::lesson::issue::{LessonIssue, did_you_mean, printable, shorten, shown};
use attune_core::lesson::links::{LinkContext, TextLink};
use attune_core::lesson::live_text::LessonText;
use attune_core::lesson::load::{EVERY, WatchedFile};
use attune_core::lesson::pictures::PictureFolder;
use attune_core::lesson::places::{CellPlaces, Spot, written};
use attune_core::lesson::schema::{Expect, Lesson, StaticEmbedding};
use attune_core::lesson::vector_files::{in_folder, is_file_of_vectors};
use attune_engine::code::{LineColumn, Output};
use attune_engine::messages::counted;
use attune_engine::pretrained::examine::{ModelFindings, examine};
use attune_engine::recording::is_recording;

use super::args::{CheckOptions, Common, SentenceArgs};
use super::{CliFault, print, recordings, say, training, vectors};
use crate::built_in;

/// Checks the lessons once, or again whenever they are saved.
///
/// # Errors
/// If a lesson has issues, or the results cannot be printed.
pub fn check(lessons: &[PathBuf], how: How<'_>, common: &Common) -> Result<(), CliFault> {
    if how.options.watch { watch(lessons, how, common) } else { round(lessons, how, common, &mut Ids::default()) }
}

/// The sentence to run in each lesson, and the options of `attune check`.
#[derive(Clone, Copy)]
pub struct How<'a> {
    pub sentence: &'a SentenceArgs,
    pub options: &'a CheckOptions,
}

/// Checks all lessons, and then those that were saved, round by round, until the process is ended.
fn watch(lessons: &[PathBuf], how: How<'_>, common: &Common) -> Result<(), CliFault> {
    let glossaries: BTreeSet<PathBuf> = lessons.iter().filter_map(|path| glossary::beside(path)).collect();
    let files = glossaries.into_iter().filter(|file| !lessons.contains(file)).chain(lessons.iter().cloned());
    let mut files: Vec<WatchedFile> = files.map(WatchedFile::new).collect();
    let (mut due, mut ids) = (lessons.to_vec(), Ids::default());
    let mut why = "every file; a file is checked again whenever it is saved, until you press Ctrl-C".to_owned();
    for number in 1_u64.. {
        print::line(format_args!("round {number}: {why}"))?;
        match round(&due, how, common, &mut ids) {
            Err(CliFault::Lesson(issues)) => say(issues.trim_end_matches('\n')),
            result => result?,
        }
        let saved = next_saved(&mut files);
        why = saved.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ") + " saved";
        // The glossary concerns every lesson, so all of them are checked again.
        due = if saved.iter().any(|path| is_glossary_file(path)) { lessons.to_vec() } else { saved };
    }
    Ok(())
}

/// Waits until files are saved, and returns them.
fn next_saved(files: &mut [WatchedFile]) -> Vec<PathBuf> {
    loop {
        thread::sleep(EVERY);
        let saved = files.iter_mut().filter_map(|file| file.has_changed().then(|| file.path().to_owned()));
        let saved: Vec<PathBuf> = saved.collect();
        if !saved.is_empty() {
            return saved;
        }
    }
}

/// Trains each lesson, verifies its claims and runs its cells and solutions, several lessons at a time. Results are
/// printed in the order of the paths. `ids` has the ids of the lessons checked so far, in earlier rounds too.
fn round(paths: &[PathBuf], how: How<'_>, common: &Common, ids: &mut Ids) -> Result<(), CliFault> {
    // A folder is a large model, so it is checked when its result is needed, not on a thread in advance.
    let is_lesson =
        |path: &&PathBuf| path.is_file() && !is_glossary_file(path) && !is_file_of_vectors(path) && !is_recording(path);
    let lessons: Vec<&PathBuf> = paths.iter().filter(is_lesson).collect();
    // With several lessons at a time, progress bars would mix.
    let common = &Common { quiet: common.quiet || lessons.len() > 1, ..common.clone() };
    let mut round = Round { ids, courses: Courses::default(), glossaries: Glossaries::default() };
    let mut faults = String::new();
    thread::scope(|scope| {
        let mut runs = run_all(scope, &lessons, how, common);
        let mut lessons = lessons.iter().peekable();
        for path in paths {
            let checked = match lessons.next_if_eq(&&path).and_then(|_| runs.next()) {
                None if is_glossary_file(path) => Ok(Some(round.glossaries.check(path))),
                None if is_recording(path) => recordings::check(path).map(|()| None),
                None if is_file_of_vectors(path) => vectors::check(path, common).map(|()| None),
                ahead => {
                    let ran = ahead.unwrap_or_else(|| run(path, how, common));
                    ran.and_then(|ran| round.judge(path, ran)).map(Some)
                }
            };
            match checked {
                Ok(line) => line.into_iter().try_for_each(print::line)?,
                Err(CliFault::Lesson(issues)) => {
                    print::line(format_args!("{}: has issues", shown(path)))?;
                    faults.push_str(&issues);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    })?;
    faults.push_str(&round.glossaries.faults);
    if faults.is_empty() { Ok(()) } else { Err(CliFault::Lesson(faults)) }
}

/// Runs lessons on one thread for each processor, and returns the results in order. Each thread runs at most two
/// lessons ahead of the results that were taken, and ends when the iterator is dropped.
fn run_all<'s>(
    scope: &'s Scope<'s, '_>,
    lessons: &'s [&'s PathBuf],
    how: How<'s>,
    common: &'s Common,
) -> impl Iterator<Item = Result<Ran, CliFault>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(lessons.len());
    let start = |thread: usize| {
        let (tell, told) = sync_channel(1);
        let mut own = lessons.iter().skip(thread).step_by(threads);
        scope.spawn(move || own.all(|path| tell.send(run(path, how, common)).is_ok()));
        told
    };
    let told: Vec<Receiver<_>> = (0..threads).map(start).collect();
    (0..lessons.len()).map_while(move |index| told[index % threads].recv().ok())
}

/// The state of a round: the lessons checked so far, and the content of their folders.
struct Round<'a> {
    ids: &'a mut Ids,
    courses: Courses,
    glossaries: Glossaries,
}

/// The glossaries in the lessons' folders. Each is read and reported only once.
#[derive(Default)]
struct Glossaries {
    read: HashMap<PathBuf, Option<Glossary>>,
    faults: String,
}

impl Glossaries {
    /// Reads the glossary in a file; `None` if it has issues.
    fn read(&mut self, file: &Path) -> Option<&Glossary> {
        let key = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        let told = |issues: Vec<LessonIssue>| issues.iter().for_each(|issue| self.faults += &format!("{issue}\n"));
        self.read.entry(key).or_insert_with(|| glossary::check(file).map_err(told).ok()).as_ref()
    }

    /// Checks a glossary, and returns the result as one line.
    fn check(&mut self, file: &Path) -> String {
        match self.read(file) {
            Some(glossary) => format!("{}: ok, {}", shown(file), counted(glossary.terms().len(), "term")),
            None => format!("{}: has issues", shown(file)),
        }
    }

    /// Returns the disagreements of a lesson with the glossary in its folder.
    fn disagreements(&mut self, path: &Path, lesson: &Lesson) -> Vec<TermIssue> {
        let glossary = glossary::beside(path).and_then(|file| self.read(&file));
        glossary.map_or_else(Vec::new, |glossary| check_terms(lesson, glossary))
    }
}

/// The files of the lessons checked so far, by their ids.
#[derive(Default)]
struct Ids(HashMap<String, PathBuf>);

impl Ids {
    /// Adds the id of a lesson. Naming the same file twice is not an error.
    ///
    /// # Errors
    /// If another file has the same id.
    fn add(&mut self, id: &str, path: &Path) -> Result<(), CliFault> {
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // The id may have been changed since the file was last checked.
        self.0.retain(|_, other| *other != file);
        match self.0.get(id).filter(|other| **other != file) {
            Some(other) => Err(CliFault::Lesson(format!(
                "{}: id {id:?} is also the id of {}; expected a unique id\n",
                training::place(path, &["id"]),
                shown(other)
            ))),
            None => {
                self.0.insert(id.to_owned(), file);
                Ok(())
            }
        }
    }
}

/// The ids of the lessons in each folder, each with the ids of its cells; a folder is read only once.
#[derive(Default)]
struct Courses(HashMap<PathBuf, Vec<(String, Vec<String>)>>);

impl Courses {
    /// Returns the ids of the lessons in the folder of a file.
    fn beside(&mut self, path: &Path) -> Vec<String> {
        self.cells_beside(path).iter().map(|(id, _)| id.clone()).collect()
    }

    /// Returns the ids of the lessons in the folder of a file, each with those of its cells.
    fn cells_beside(&mut self, path: &Path) -> &[(String, Vec<String>)] {
        let folder = course::folder_of(path);
        let cells = |file: &CourseFile| file.heading.as_ref().map_or(Vec::new(), |heading| heading.cells.clone());
        let list = || course::list(folder).iter().map(|file| (file.id(), cells(file))).collect();
        self.0.entry(folder.to_owned()).or_insert_with(list)
    }
}

/// A lesson that was run, and the issues that were found in it without looking at other lessons.
struct Ran {
    lesson: Arc<Lesson>,
    /// The model that the lesson needs, if it is not on this computer.
    absent: Option<String>,
    /// Lines to print, whether or not the lesson has issues.
    told: Vec<String>,
    wrong: Wrong,
}

/// Trains one lesson, verifies its claims and runs its cells and solutions.
fn run(path: &Path, how: How<'_>, common: &Common) -> Result<Ran, CliFault> {
    let lesson = super::lessons::read(path, common.seed)?;
    let absent = lesson.absent_model().map(ToString::to_string);
    let shows = if absent.is_some() { None } else { how.sentence.command(&lesson)? };
    let mut kernel = training::train(lesson, common);
    let snapshot = if absent.is_some() { kernel.snapshot() } else { training::trained(&kernel, path)? };
    let (file, lesson) = (shown(path), snapshot.lesson.clone());
    let mut verdicts = verify_within(&snapshot, Duration::from_secs(how.options.within)).unwrap_or_default();
    if absent.is_none() {
        verdicts.extend(verify_switched(&lesson));
    }
    let mut told = Vec::new();
    if how.options.verbose {
        // Claims that do not hold are printed as issues.
        let holding = verdicts.iter().filter(|verdict| verdict.holds());
        told.extend(holding.map(|verdict| format!("{file}: {}", line(verdict))));
    }
    let findings = examined(&snapshot);
    let mut lines: Vec<String> =
        findings.faults.iter().map(|fault| format!("{file}: {}\n", printable(fault))).collect();
    lines.extend(
        first_overflow(&snapshot)
            .map(|(sentence, tensor)| training::overflow(path, &lesson, &sentence.join(" "), tensor)),
    );
    if let Some(shows) = shows {
        let (read, overflow) = run_sentence(&mut kernel, shows, path);
        told.extend(read);
        lines.extend(overflow);
    }
    if !path.is_file() {
        told.extend(findings.good.iter().map(|found| format!("{file}: {}", printable(found))));
    }
    let mut problems = match absent {
        // Cells cannot run without the model.
        Some(_) => Vec::new(),
        None => rehearse(&mut kernel, Duration::from_secs(how.options.within)),
    };
    problems.extend(missing_pictures(path, &kernel.snapshot()));
    let wrong = Wrong { lines, verdicts, problems, terms: Vec::new() };
    Ok(Ran { lesson, absent, told, wrong })
}

impl Round<'_> {
    /// Compares a lesson with the others and the glossary. Returns the lesson's line if it has no issues.
    fn judge(&mut self, path: &Path, ran: Ran) -> Result<String, CliFault> {
        let Ran { lesson, absent, told, mut wrong } = ran;
        self.ids.add(&lesson.id, path)?;
        told.into_iter().try_for_each(print::line)?;
        wrong.terms = self.glossaries.disagreements(path, &lesson);
        wrong.problems.extend(missing_files(path, &lesson, &mut self.courses));
        wrong.problems.extend(unopened_panels(&lesson));
        wrong.problems.extend(misnamed_controls(&lesson));
        wrong.lines.splice(0..0, unknown_lessons(path, &lesson, &mut self.courses));
        let issues = wrong.report(path);
        if issues.is_empty() {
            Ok(passed(&shown(path), &lesson, absent.as_deref(), wrong.verdicts.len()))
        } else {
            Err(CliFault::Lesson(issues))
        }
    }
}

/// Everything that can be wrong with a lesson that was read.
struct Wrong {
    /// Issues that are written out with their places: of prerequisite lessons, of the model, and of sentences whose
    /// forward passes give numbers that are not finite.
    lines: Vec<String>,
    verdicts: Vec<ClaimVerdict>,
    problems: Vec<Problem>,
    terms: Vec<TermIssue>,
}

impl Wrong {
    /// Lists the issues, one a line, with their places in the file.
    fn report(&self, path: &Path) -> String {
        let file = shown(path);
        let text = written(path).unwrap_or_default();
        // Computed only if there is an issue: most lessons have none, and it takes as long as reading the lesson.
        let places = LazyCell::new(|| CellPlaces::of(&text));
        let at = |place: Option<LineColumn>| place.map_or(file.clone(), |place| format!("{file}:{place}"));
        let mut issues = self.lines.concat();
        for verdict in self.verdicts.iter().filter(|verdict| !verdict.holds()) {
            issues += &format!("{}: {}\n", at(places.claim(&verdict.id)), line(verdict));
        }
        for Problem { cell, words, at: spot } in &self.problems {
            issues += &format!("{}: cell {cell:?}: {}\n", at(places.cell(cell, spot)), printable(words));
        }
        for TermIssue { cell, phrase, words } in &self.terms {
            issues += &match cell {
                Some(cell) => {
                    let spot = Spot::Words(phrase.clone());
                    format!("{}: cell {cell:?}: {words}\n", at(places.cell(cell, &spot)))
                }
                None => format!("{}: {words}\n", training::place(path, &["id"])),
            };
        }
        issues
    }
}

/// Returns the output line of a lesson without issues.
fn passed(file: &str, lesson: &Lesson, absent: Option<&str>, claims: usize) -> String {
    let cells = counted(lesson.cells.len(), "cell");
    if let Some(absent) = absent {
        let ids: Vec<&str> = lesson.claims.iter().map(|claim| &*claim.id).collect();
        let claims =
            if ids.is_empty() { "no claims".to_owned() } else { format!("claims skipped: {}", ids.join(", ")) };
        return format!("{file}: read but not run, {cells}; {claims}; {}", printable(absent));
    }
    let claims = match claims {
        1 => "1 claim holds".to_owned(),
        claims => format!("{claims} claims hold"),
    };
    format!("{file}: ok, {cells}, {claims} with seed {}", lesson.seed)
}

/// Runs a sentence. Returns what the model read, or else the issue if its numbers are not finite.
fn run_sentence(kernel: &mut Kernel, shows: Command, path: &Path) -> (Option<String>, Option<String>) {
    kernel.apply(shows);
    let on_stage = kernel.snapshot();
    let overflow = training::overflow_of(&on_stage, path);
    let read = overflow.is_none().then(|| format!("{}: {}", shown(path), printable(&ran(&on_stage))));
    // The cells, which run later, must run with the lesson's own sentence.
    kernel.apply(Command::Sentence(SentenceCommand::Select(0)));
    (read, overflow)
}

/// Finds panels that a text names but no cell so far opens.
fn unopened_panels(lesson: &Lesson) -> impl Iterator<Item = Problem> {
    closed_panels(lesson).into_iter().map(|(cell, panel)| {
        let panel = panel.title();
        let words = format!(
            "its text names the panel {panel}, which neither this cell nor an earlier one opens; add opens: [{panel:?}] to \
             one of them, or write a link: [{panel}](attune:panel/{panel})"
        );
        Problem { cell: cell.to_owned(), words, at: Spot::Words(format!("*{panel}*").into()) }
    })
}

/// Finds controls that a text names but the window does not have.
fn misnamed_controls(lesson: &Lesson) -> impl Iterator<Item = Problem> {
    unknown_controls(lesson).into_iter().map(|(cell, UnknownControl { named, nearest })| {
        let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean *{nearest}*?"));
        let words = format!(
            "its text names the control *{}*, which the window does not have; expected the name of a panel, a button, a \
             menu entry or a key{hint}",
            shorten(&named)
        );
        Problem { cell: cell.to_owned(), words, at: Spot::Words(format!("*{named}*").into()) }
    })
}

/// Describes a sentence that was run, as the model read it.
fn ran(snapshot: &Snapshot) -> String {
    let Some(model) = &snapshot.model else { return String::new() };
    let said = |tokens: &[Token]| {
        let read: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let ids = model.pretrained.as_ref().map(|_| tokens.iter().filter_map(|token| token.word));
        let ids = ids.map(|ids| ids.map(|id| id.to_string()).collect::<Vec<_>>().join(","));
        let ids = ids.map_or_else(String::new, |ids| format!(" (ids {ids})"));
        format!("{}, {}{ids}", counted(tokens.len(), "token"), read.join(" "))
    };
    let target = match model.sentence.source {
        Some(_) => format!("; the target: {}", said(&model.sentence.tokens)),
        None => String::new(),
    };
    let (text, chosen) = (model.sentence.written(), said(model.sentence.chosen()));
    format!("the sentence {text:?}: {chosen}{target}; all numbers are finite")
}

/// Examines a pretrained model. A lesson's own model has no findings.
fn examined(snapshot: &Snapshot) -> ModelFindings {
    let read = snapshot.model.as_ref().and_then(|model| model.pretrained.as_deref());
    match (&snapshot.lesson.static_embedding, read) {
        (StaticEmbedding::Pretrained(folder), Some(read)) => examine(folder, read),
        _ => ModelFindings::default(),
    }
}

/// Finds pictures that cells show but the lesson's folder does not have.
fn missing_pictures(lesson: &Path, snapshot: &Snapshot) -> Vec<Problem> {
    let mut folder = PictureFolder::of(lesson);
    let mut missing = Vec::new();
    for shown in &snapshot.notebook.cells {
        for output in shown.run.iter().flat_map(|run| run.outputs.iter()) {
            if let Output::Image(path) = output
                && let Err(why) = folder.find(path)
            {
                let words = format!("image({path:?}): {why}");
                let spot = Spot::Words(path.clone());
                missing.push(Problem { cell: shown.cell.id.to_string(), words, at: spot });
            }
        }
    }
    missing
}

/// Returns a message about prerequisite lessons that the course does not have. A lesson outside a course may name any.
fn unknown_lessons(path: &Path, lesson: &Lesson, courses: &mut Courses) -> Option<String> {
    let folder = fs::canonicalize(path).ok()?.parent()?.to_owned();
    if folder.file_name() != Some(course::FOLDER.as_ref()) || lesson.builds_on.is_empty() {
        return None;
    }
    let ids = courses.beside(path);
    let unknown: Vec<_> = lesson.builds_on.iter().filter(|before| !ids.contains(before)).collect();
    let first = unknown.first()?;
    let near = did_you_mean(first, ids.iter().map(String::as_str));
    let place = training::place(path, &["builds_on"]);
    Some(format!(
        "{place}: builds_on: no lesson in the same folder has the id {first:?}; expected lessons of this course{near}\n"
    ))
}

/// Finds links to lessons that are neither in this folder nor in the built-in course, and links to files that hold no
/// vectors.
fn missing_files(path: &Path, lesson: &Lesson, courses: &mut Courses) -> Vec<Problem> {
    let links = |cell: &Cell| {
        let addresses = cell.kind.markdown().flat_map(LessonText::links);
        let of_lessons = addresses.filter_map(|address| match TextLink::read(address)?.ok()? {
            link @ (TextLink::Lesson(_) | TextLink::Place { .. } | TextLink::File(_)) => {
                Some((address.to_owned(), link))
            }
            _ => None,
        });
        of_lessons.map(|(address, link)| (cell.id.clone(), address, link)).collect::<Vec<_>>()
    };
    let links: Vec<_> = lesson.cells.iter().flat_map(links).collect();
    if links.is_empty() {
        return Vec::new();
    }
    let ids = courses.beside(path);
    let of_program: Vec<&str> = built_in::ids().collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).chain(of_program).collect();
    let cells = courses.cells_beside(path);
    let context = LinkContext { lessons: Some(&ids), lesson_cells: Some(cells), ..LinkContext::default() };
    let problem = |(cell, address, link): (String, String, TextLink)| {
        let words = match &link {
            TextLink::File(name) => in_folder(lesson.folder.as_deref(), name).err()?,
            link => context.check(link).err()?.line(),
        };
        Some(Problem { cell, words, at: Spot::Words(address.into()) })
    };
    links.into_iter().filter_map(problem).collect()
}

fn line(verdict: &ClaimVerdict) -> String {
    let ClaimVerdict { id, says, value, fault, expect } = verdict;
    let verb = if verdict.holds() { "holds" } else { "does not hold" };
    let measured = match fault {
        Some(why) => format!("nothing, because {}", printable(why)),
        None if value.is_nan() => "no finite number".to_owned(),
        None => measured(*value),
    };
    let expected = match expect {
        Expect::AtLeast(least) => format!("at least {}", bound(*least)),
        Expect::AtMost(most) => format!("at most {}", bound(*most)),
        Expect::Within { value, tolerance } => format!("{} ± {}", bound(*value), bound(*tolerance)),
    };
    format!("claim {id:?} {verb}: measured {measured}, expected {expected} ({says})")
}

/// Returns whether a value is not 0 but so small that five decimals would show little of it.
fn is_tiny(value: f64) -> bool {
    const TINY: f64 = 1e-3;
    value != 0.0 && value.abs() < TINY
}

fn measured(value: f64) -> String {
    if is_tiny(value) { format!("{value:.1e}") } else { format!("{value:.5}") }
}

/// Returns a bound of a claim, written as in the lesson.
fn bound(value: f64) -> String {
    if is_tiny(value) { format!("{value:e}") } else { value.to_string() }
}
