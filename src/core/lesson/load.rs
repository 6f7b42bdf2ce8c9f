//! Reading of a lesson from a file or a text.
//!
#![doc = include_str!("format.md")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use attune_engine::pretrained::Refusal;
use attune_engine::pretrained::cache::{self, Environment, ModelPath};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load::LoadStopped;
use attune_engine::recording::is_recording;

use crate::lesson::corpus::{vocabulary, with_given, with_rewritten};
use crate::lesson::opened::{file_id, usual_sentences};
use crate::lesson::read::budget::{check_budget, check_claims_work, check_states};
use crate::lesson::read::cells::CellContext;
use crate::lesson::read::claims::ClaimContext;
use crate::lesson::read::common::{LessonNames, Vocabulary, id, line};
use crate::lesson::read::corpus::{
    Lists, check_groups_apart, check_groups_occur, read_axes, read_corpus, read_lists, read_probes, read_sentences,
};
use crate::lesson::read::model::{ReadModel, check_objective, read_attention};
use crate::lesson::read::panels::read_panels;
use crate::lesson::read::recordings::{is_recorded, read_recording, take_texts};
use crate::lesson::read::switches::read_switches;
use crate::lesson::read::vectors::{
    check_given, is_file, is_pretrained, of_used, read_embedding, read_file_of_texts, read_pretrained,
};
use crate::lesson::reading::decode::{At, Node, Record, complete, decoded, different, fields, record, seed, whole};
use crate::lesson::reading::file::{A_LESSON, CLAIMS, begins_as_claims, begins_as_glossary, read_text};
pub use crate::lesson::reading::file::{foreign, text};
use crate::lesson::reading::issue::LessonIssue;
use crate::lesson::recorded::{ONE_PASS, RecordedModel};
use crate::lesson::schema::cells::Cell;
use crate::lesson::schema::limits::{BUILDS_ON_MAX, MINUTES, NUMBERS, PIECES_MAX, TOKENS_MAX};
use crate::lesson::schema::model::{ModelConfig, Objective};
use crate::lesson::schema::panels::PanelName;
use crate::lesson::schema::switches::Switches;
use crate::lesson::schema::{Claim, Corpus, Lesson, Probe, StaticEmbedding, TargetForm};
use crate::lesson::vector_files::{is_file_of_vectors, lesson_of};

const A_LESSON_OR_MODEL: &str = "a lesson file, a model's folder, or the name of a model in the Hugging Face cache";

/// Reads a lesson file, or opens a pretrained model, a recording or a file of vectors, and returns either the lesson or
/// all its issues with their places. A model is given by its folder or by its name in the Hugging Face cache.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn read(path: &Path) -> Result<Lesson, Vec<LessonIssue>> {
    read_with_text(path).map(|(lesson, _)| lesson)
}

/// Reads a lesson as [`read`] does, and returns the exact text from which it was made, even if the file changes a
/// moment later. A lesson without a lesson file has no text.
///
/// # Errors
/// See [`read`].
pub fn read_with_text(path: &Path) -> Result<(Lesson, Option<String>), Vec<LessonIssue>> {
    read_showing(path, &mut |_| {})
}

/// Reads a lesson and its text as [`read_with_text`] does; `first` receives the first rows of a large file of vectors
/// while the rest is being read.
///
/// # Errors
/// See [`read`].
pub fn read_showing(path: &Path, first: &mut dyn FnMut(Lesson)) -> Result<(Lesson, Option<String>), Vec<LessonIssue>> {
    let file = path.display().to_string();
    let of_model = |folder: &Path| Ok((of_folder(folder, &file)?, None));
    if path.is_file() && is_recording(path) {
        let recorded = RecordedModel::open(path).map(Lesson::of_recording);
        let issue = |refusal| refused(&file, refusal);
        let recorded = recorded.map_err(|refusals| refusals.into_iter().map(issue).collect::<Vec<_>>())?;
        return Ok((recorded, None));
    }
    match cache::given(path) {
        ModelPath::Lesson(_) | ModelPath::Folder(_) if is_file_of_vectors(path) => {
            return Ok((of_vectors(path, &file, first)?, None));
        }
        ModelPath::Folder(folder) if cache::has_part_of_a_model(&folder) => return of_model(&folder),
        ModelPath::Lesson(_) | ModelPath::Folder(_) => {}
        ModelPath::Name(name) => {
            return match cache::find(&name, &Environment::of_process()) {
                Ok(folder) => of_model(&folder),
                Err(absent) => Err(vec![LessonIssue::of_file(&file, absent.to_string(), A_LESSON_OR_MODEL)]),
            };
        }
    }
    let text = read_text(path, &file).map_err(|issue| vec![*issue])?;
    Ok((parse(&file, &text)?, Some(text)))
}

/// Opens the lesson of a model's folder.
fn of_folder(folder: &Path, file: &str) -> Result<Lesson, Vec<LessonIssue>> {
    ModelFolder::open(folder).map(Lesson::of_model).map_err(|refusal| vec![refused(file, refusal)])
}

/// Opens the lesson of a file of vectors.
fn of_vectors(path: &Path, file: &str, first: &mut dyn FnMut(Lesson)) -> Result<Lesson, Vec<LessonIssue>> {
    lesson_of(path, first).map_err(|stopped| match stopped {
        LoadStopped::Refused(refusal) => {
            // The message begins with this file's path, so the refusal's file is named only if it is another one.
            let is_own = path.file_name().is_some_and(|name| *name == *refusal.file);
            let part = if is_own { String::new() } else { refusal.file.clone() };
            vec![refused(file, Refusal { file: part, ..*refusal })]
        }
        LoadStopped::Cancelled => vec![LessonIssue::of_file(file, "reading was stopped", A_LESSON)],
    })
}

fn refused(file: &str, Refusal { file: part, tensor, found, expected, advice }: Refusal) -> LessonIssue {
    let of: String = [part].into_iter().filter(|part| !part.is_empty()).chain(tensor).map(|it| it + ": ").collect();
    LessonIssue::of_file(file, format!("{of}found {found}"), format!("{expected}; {advice}"))
}

/// Parses the text of a lesson; `file_name` is used in the issues.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn parse(file_name: &str, text: &str) -> Result<Lesson, Vec<LessonIssue>> {
    if begins_as_glossary(text) {
        return Err(vec![LessonIssue::of_file(file_name, "this is a glossary, not a lesson", A_LESSON)]);
    }
    let folder = Path::new(file_name).parent().map(Path::to_owned);
    decoded(file_name, text, |node| match begins_as_claims(text) {
        true => record(node, &[CLAIMS], |record| read_claims_file(record, file_name, folder)),
        false => record(node, &["Lesson"], |record| read_parts(record, folder)),
    })
}

/// Reads a file of claims about a pretrained model, which is a lesson whose id, title and sentences may be left out.
fn read_claims_file(record: &mut Record<'_>, file_name: &str, folder: Option<PathBuf>) -> Option<Lesson> {
    let file = Path::new(file_name).file_stem().unwrap_or_default().to_string_lossy();
    let (usual_id, usual_title) = (file_id("claims", &file), format!("Claims of {file}"));
    fields! { record;
        id: id, or usual_id;
        title: line, or usual_title;
    }
    if let Some(model) = record.given("model").filter(|model| !is_pretrained(*model)) {
        model.issue("model: claims of a file are about a pretrained model").expected("Pretrained(\"./my-model\")");
        return None;
    }
    let on_model = read_on_a_model(record);
    Some(Lesson { id: id?, title: title?, folder, ..on_model? })
}

/// Reads the parts in the order of their dependencies, which may differ from the order in the file.
fn read_parts(record: &mut Record<'_>, folder: Option<PathBuf>) -> Option<Lesson> {
    fields! { record;
        id: id;
        title: line;
        summary: line, optional;
        number: whole(NUMBERS), optional;
        minutes: whole(MINUTES), optional;
        builds_on: |node| read_builds_on(node, id.as_deref()), or Vec::new();
        chapter: line, optional;
        seed: seed;
        groups: read_lists, or Lists::default();
    }
    if let Some(groups) = &groups {
        check_groups_apart(groups);
    }
    if record.given("model").is_some_and(|model| is_pretrained(model) || is_recorded(model)) {
        let on_model = read_on_a_model(record);
        let (id, title, summary) = (id?, title?, summary?);
        let (number, minutes, builds_on, chapter, seed) = (number?, minutes?, builds_on?, chapter?, seed?);
        return Some(Lesson { id, title, folder, summary, number, minutes, builds_on, chapter, seed, ..on_model? });
    }
    let folder = Some(folder);

    let is_of_file = record.given("static_embedding").is_some_and(is_file);
    let embedding = record.take("static_embedding", read_embedding);
    // The words of a file that cannot be read are unknown.
    let has_words = embedding.is_some() || !is_of_file;
    let dim = embedding.as_ref().map(|read| read.value.dim());
    let model = record.take("model", |node| read_attention(node, &[], dim, groups.as_ref()));
    let switches = record
        .take_or("switches", Switches::default(), |node| read_switches(node, model.as_ref()?, dim, groups.as_ref()));
    let max_tokens = model.as_ref().and_then(|model| model.max_tokens);

    let lone_words = are_lone_words_enough(embedding.as_ref(), model.as_ref());
    let read = |node| read_corpus(node, groups.as_ref(), max_tokens, lone_words);
    let corpus = record.take("corpus", read);
    let checked_groups = groups.as_ref().filter(|groups| groups.are_checked());
    let vocabulary = corpus.as_ref().zip(checked_groups).filter(|_| has_words).map(|(corpus, groups)| {
        let words = Vocabulary::new(vocabulary(&corpus.value, &groups.lists));
        let objective = model.as_ref().and_then(|model| model.objective.as_ref());
        let tied_labels = model.as_ref().and_then(|model| model.tied_labels);
        if let Some(objective) = objective {
            check_objective(objective, tied_labels, &corpus.value, &groups.lists, &words);
        }
        let words = Vocabulary::new(with_rewritten(words.words, objective.map(|read| &read.objective)));
        if let Some(embedding) = &embedding {
            check_given(embedding, &words);
        }
        let vocabulary = Vocabulary::new(with_given(words.words, embedding.as_ref().map(|read| &read.value)))
            .with_file(embedding.as_ref().and_then(|read| read.value.file().cloned()));
        check_groups_occur(groups, &vocabulary);
        check_budget(corpus, &vocabulary, &embedding, &model);
        vocabulary
    });

    let names =
        LessonNames { groups: groups.as_ref().map(Lists::names), vocabulary, max_tokens, model: None, recording: None };
    let axes = record.take_or("axes", Vec::new(), |node| read_axes(node, &names, dim));
    let config = model.as_ref().and_then(|model| model.config.as_ref());
    let texts = record.take_optional("texts", read_file_of_texts);
    let Pages { sentences, probes, panels, cells, claims } =
        read_pages(record, &names, config, switches.as_ref(), corpus.as_ref().map(|read| &read.value));

    let static_embedding = embedding.map(|read| of_used(read.value, names.vocabulary));
    let corpus = corpus.map(|read| read.value);
    let (groups, model) = (groups.and_then(Lists::checked), model.and_then(|read| read.config));
    complete!(Lesson {
        id,
        title,
        folder,
        summary,
        number,
        minutes,
        builds_on,
        chapter,
        seed,
        groups,
        axes,
        corpus,
        static_embedding,
        model,
        switches,
        sentences,
        texts,
        probes,
        panels,
        cells,
        claims,
    })
}

/// Reads the parts of a lesson about a pretrained model or a recording that do not come from the model.
fn read_on_a_model(record: &mut Record<'_>) -> Option<Lesson> {
    if let Some(groups) = record.given("groups") {
        groups.issue("groups: a lesson about a pretrained model or a recording has no groups").expected("no groups");
    }
    let is_of_recording = record.given("model").is_some_and(is_recorded);
    let lesson = record.take("model", if is_of_recording { read_recording } else { read_pretrained });
    let embedding = lesson.as_ref().map(|lesson| &lesson.static_embedding);
    let recording = embedding.and_then(|embedding| embedding.recording().cloned());
    let model = embedding.and_then(|embedding| embedding.pretrained().cloned());
    let here = model.as_ref().filter(|model| model.absent.is_none());
    let recorded = recording.as_ref().map(|recording| recording.vocabulary.to_vec());
    let vocabulary = here.map(|model| model.vocabulary()).or(recorded).map(Vocabulary::new);
    let names = LessonNames { groups: Some(Vec::new()), vocabulary, max_tokens: None, model, recording };
    let config = lesson.as_ref().map(|lesson| &lesson.model);
    if let Some(texts) = record.given("texts").filter(|_| is_of_recording) {
        texts.issue(format!("texts: {ONE_PASS}")).expected("no texts");
    }
    let texts = record.take_optional("texts", read_file_of_texts);
    let Pages { sentences, panels, cells, claims, .. } =
        read_pages(record, &names, config, Some(&Switches::default()), None);
    if let (Some(config), Some(sentences), Some(node)) = (config, &sentences, record.given("sentences")) {
        check_states(node, &config.architecture, sentences.iter().map(|sentence| names.count(sentence)).sum());
    }
    let (texts, panels, cells, claims) = (texts?, panels?, cells?, claims?);
    Some(Lesson { sentences: sentences?, texts, panels, cells, claims, ..lesson? })
}

/// The parts of a lesson that refer to its words and its model.
struct Pages {
    sentences: Option<Vec<Vec<String>>>,
    /// The probes, of which a pretrained model and a recording have none.
    probes: Option<Vec<Probe>>,
    panels: Option<Vec<PanelName>>,
    cells: Option<Vec<Cell>>,
    claims: Option<Vec<Claim>>,
}

/// Reads the parts that refer to others. A part is `None` if it or a part to which it refers has issues.
fn read_pages(
    record: &mut Record<'_>,
    names: &LessonNames,
    config: Option<&ModelConfig>,
    switches: Option<&Switches>,
    corpus: Option<&Corpus>,
) -> Pages {
    let sentences = if record.given("model").is_some_and(is_recorded) {
        take_texts(record, names.recording.as_ref())
    } else if let Some(usual) = names.model.as_ref().filter(|_| record.name == CLAIMS) {
        let usual = usual_sentences(usual).into_iter().map(|text| Some(vec![text])).collect();
        record.take_or("sentences", usual, |node| read_sentences(node, names))
    } else {
        record.take("sentences", |node| read_sentences(node, names))
    };
    let tokens: Vec<Option<Vec<String>>> = sentences.as_ref().map_or_else(Vec::new, |all| {
        let known = |sentence: &Option<Vec<String>>| {
            sentence.as_ref().filter(|_| !names.is_absent()).map(|sentence| names.tokens(sentence))
        };
        all.iter().map(known).collect()
    });
    let probes = match names.model {
        None if names.recording.is_some() => Some(Vec::new()),
        None => record.take_or("probes", Vec::new(), |node| read_probes(node, names)),
        Some(_) => Some(Vec::new()),
    };
    // The number of words is unknown for a sentence with issues, and if the model that would count the pieces is
    // absent.
    let most = if names.is_absent() { PIECES_MAX } else { TOKENS_MAX };
    let length = |tokens: &Option<Vec<String>>| tokens.as_ref().map_or(most, Vec::len);
    let lengths: Option<Vec<usize>> = sentences.as_ref().map(|_| tokens.iter().map(length).collect());
    let lengths = lengths.as_deref();
    let panels = record.take_or("panels", Vec::new(), read_panels);
    let words_on_stage = words_on_stage(&tokens, config.map(|config| &config.objective));
    let cell_context = CellContext {
        names,
        lengths,
        sentences: &words_on_stage,
        architecture: config.map(|config| &config.architecture),
        answers: config.map(|config| match (&config.objective, corpus) {
            (Objective::Label, Some(corpus)) => corpus.topics.len(),
            _ => names.vocabulary.as_ref().map_or(0, |vocabulary| vocabulary.words.len()),
        }),
    };
    let cells = record.take_or("cells", Vec::new(), |node| cell_context.read_cells(node));
    let labels: Option<Vec<String>> =
        corpus.map(|corpus| corpus.topics.iter().map(|topic| topic.name.clone()).collect());
    let claim_context = ClaimContext {
        names,
        lengths,
        probes: probes.as_ref().map(Vec::len),
        model: config,
        switches,
        labels: labels.as_deref(),
        has_texts: record.given("texts").is_some(),
    };
    let read = |node| {
        let claims = claim_context.read_claims(node)?;
        check_claims_work(node, &claims, corpus, &claim_context, probes.as_deref());
        Some(claims)
    };
    let claims = record.take_or("claims", Vec::new(), read);
    let sentences = sentences.and_then(|all| all.into_iter().collect());
    Pages { sentences, probes, panels, cells, claims }
}

/// Returns the words of each sentence on the stage. If the target follows a rule, these are the words that the decoder
/// reads.
fn words_on_stage(sentences: &[Option<Vec<String>>], objective: Option<&Objective>) -> Vec<Option<Vec<String>>> {
    let read_by = |words: &Vec<String>| match objective {
        Some(Objective::Sequence(TargetForm::ByRule(rewriting))) => rewriting.decoded(words),
        _ => words.clone(),
    };
    sentences.iter().map(|sentence| sentence.as_ref().map(read_by)).collect()
}

/// Reads the ids of lessons that come before this one.
fn read_builds_on(node: Node<'_>, own: Option<&str>) -> Option<Vec<String>> {
    different(node, BUILDS_ON_MAX, "", |node| match id(node)? {
        before if own == Some(&*before) => {
            node.field_issue("the lesson itself").expected("lessons that come before this one").none()
        }
        before => Some(before),
    })
}

/// Returns whether sentences of a single word suffice: a word learns its vector from its neighbours, so its vector must
/// be given, and the objective must be a label.
fn are_lone_words_enough(embedding: Option<&At<'_, StaticEmbedding>>, model: Option<&ReadModel>) -> bool {
    let is_given = embedding.is_some_and(|read| matches!(read.value, StaticEmbedding::Given(_)));
    let objective = model.and_then(|model| model.objective.as_ref());
    is_given && objective.is_some_and(|read| read.objective == Objective::Label)
}

/// Interval at which a watched file is checked.
pub const EVERY: Duration = Duration::from_millis(300);

/// The time of a file's last change, and its length. If they differ from those before, the file has been saved.
type Stamp = (SystemTime, u64);

/// A file, with its stamps at the last reading and at the last check.
pub struct WatchedFile {
    path: PathBuf,
    read: Option<Stamp>,
    before: Option<Stamp>,
}

impl WatchedFile {
    /// Starts to watch a file that is being read at this moment.
    pub fn new(path: PathBuf) -> Self {
        let now = stamp(&path);
        Self { path, read: now, before: now }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_there(&self) -> bool {
        self.read.is_some()
    }

    /// Returns true once after the file has changed, appeared or disappeared, provided that nothing changed since the
    /// last check: editors save in several writes, or replace the file by another.
    pub fn has_changed(&mut self) -> bool {
        let now = stamp(&self.path);
        let is_still = std::mem::replace(&mut self.before, now) == now;
        is_still && std::mem::replace(&mut self.read, now) != now
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_format_is_read() {
        let format = include_str!("format.md");
        let example = format.split("```").nth(1).and_then(|block| block.strip_prefix("ron\n"));
        let example = example.expect("a ron block");
        let lesson = parse("format.md", example).expect("no issues");
        // The example states every default, so leaving the defaults out must give the same lesson.
        let optional = "window negatives epochs subsample share_negatives key_width value_width key_value_heads \
                        output_bias query_key_norm score_divisor attention_norm output_norms norm_kind \
                        norm_shift norm_gain_from_one branches gated feed_forward_bias bias scale projections \
                        output temperature mask layers norm residual positions train_embedding readout pool \
                        steps batch optimiser panels learning_rate";
        let optional: Vec<&str> = optional.split(' ').collect();
        let is_default = |line: &&str| optional.iter().any(|field| line.trim_start().starts_with(&format!("{field}:")));
        let short: Vec<&str> = example.lines().filter(|line| !is_default(line)).collect();
        assert!(short.len() + optional.len() < example.lines().count());
        assert_eq!(parse("short", &short.join("\n")), Ok(lesson));
    }

    #[test]
    fn a_file_is_read_when_it_stands_still_however_it_is_saved() {
        let folder = std::env::temp_dir().join(format!("attune-watched-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("own.ron");
        fs::write(&file, "one").expect("it is written");
        let mut watched = WatchedFile::new(file.clone());
        assert!(!watched.has_changed(), "nothing was saved");
        // The file is saved in two writes.
        fs::write(&file, "").expect("it is emptied");
        assert!(!watched.has_changed());
        fs::write(&file, "second").expect("it is written");
        assert!(!watched.has_changed(), "half a file is never read");
        assert!(watched.has_changed() && watched.is_there());
        assert!(!watched.has_changed(), "once");
        // The file is replaced by another.
        fs::write(folder.join("new"), "a third one").expect("it is written");
        fs::remove_file(&file).expect("it was there");
        assert!(!watched.has_changed(), "it may be on its way");
        fs::rename(folder.join("new"), &file).expect("it is put");
        assert!(!watched.has_changed());
        assert!(watched.has_changed() && watched.is_there());
        fs::remove_file(&file).expect("it was there");
        assert!(!watched.has_changed());
        assert!(watched.has_changed() && !watched.is_there(), "gone for good");
        fs::remove_dir_all(folder).expect("it was there");
    }
}
