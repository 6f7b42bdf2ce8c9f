//! Reads the pretrained model that a lesson is about: `model: Pretrained("org/name")`, or with texts that it is trained
//! on further.

use std::path::{Component, Path};

use attune_engine::pretrained::cache::{Environment, ModelName, find};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::write::MASK;

use super::budget::check_training;
use super::decode::{flag, list, text};
use super::issue::shorten;
use super::limits::{PIECES_MAX, STEPS_MAX, TEXTS_MAX};
use super::read_training::{Schedule, Usual, read_schedule};
use super::record::{Record, complete, fields};
use super::schema::{Corpus, Lesson, ModelConfig, Objective, Topic};
use super::source::Node;

const NAME: &str = "Pretrained";

/// Whether a lesson's model is a pretrained one.
pub(super) fn is_pretrained(model: Node<'_>) -> bool {
    model.text.starts_with(NAME)
}

/// How a model is trained on.
struct Further {
    texts: Vec<String>,
    train_embedding: bool,
    schedule: Schedule,
}

/// The lesson of the model, which is opened; its weights are read later.
pub(super) fn read_pretrained(node: Node<'_>) -> Option<Lesson> {
    let mut record = Record::open(node, &[NAME])?;
    if record.given("from").is_none() {
        let model = record.take_item("\"org/name\"", read_model);
        record.finish();
        return model.map(Lesson::of_model);
    }
    let model = record.take("from", read_model);
    fields! { record;
        texts: |node| read_texts(node, model.as_ref());
        train_embedding: flag, or false;
    }
    let usual = Usual { steps: 100, batch: 16, learning_rate: 1e-4 };
    let schedule = read_schedule(&mut record, 1..=STEPS_MAX, &usual);
    record.finish();
    let further = complete!(Further { texts, train_embedding, schedule });
    let (model, further) = (model?, further?);
    let longest = further.texts.iter().filter_map(|text| model.pieces(text).ok()).map(|pieces| pieces.len()).max();
    let vocabulary = model.config.vocabulary;
    let lesson = trained_further(Lesson::of_model(model), further);
    check_training(node, &lesson.model, vocabulary, longest.unwrap_or(0)).then_some(lesson)
}

fn trained_further(lesson: Lesson, further: Further) -> Lesson {
    let Further { texts, train_embedding, schedule } = further;
    let Schedule { steps, batch, learning_rate, weight_decay, optimiser, stop } = schedule;
    let mut architecture = lesson.model.architecture.clone();
    architecture.train_embedding = train_embedding;
    // A bias that no file has would have no place when the model is written.
    architecture.readout_bias &= !matches!(lesson.model.objective, Objective::NextWord);
    let corpus = Corpus {
        sentences: texts.len(),
        topics: vec![Topic { name: "texts".to_owned(), templates: texts }],
        ..Corpus::default()
    };
    let model = ModelConfig {
        architecture,
        steps,
        batch,
        learning_rate,
        weight_decay,
        optimiser,
        stop,
        ..lesson.model.clone()
    };
    Lesson { model, corpus, ..lesson }
}

/// Texts that the model can learn from.
fn read_texts(node: Node<'_>, model: Option<&ModelFolder>) -> Option<Vec<String>> {
    let texts = list(node, TEXTS_MAX, |node| read_text(node, model))?;
    if let Some(why) = model.filter(|model| model.absent.is_none()).and_then(cannot_learn) {
        return node.issue(format!("texts: {why}")).expected("a model that guesses words, with its tokenizer").none();
    }
    if texts.is_empty() { node.issue("texts: none").expected("at least one").none() } else { Some(texts) }
}

/// Why a model cannot be trained on texts, if it cannot.
fn cannot_learn(model: &ModelFolder) -> Option<String> {
    let name = &model.name;
    if !model.has_head {
        return Some(format!("{name} has no readout that names words"));
    }
    let Some(tokenizer) = &model.tokenizer else { return Some(format!("{name} has no tokenizer")) };
    let hides = !model.config.causal && tokenizer.id_of(MASK).is_none();
    hides.then(|| format!("the tokenizer of {name} has no piece {MASK}, which would hide a word"))
}

fn read_text(node: Node<'_>, model: Option<&ModelFolder>) -> Option<String> {
    let written = text(node)?;
    let Some(model) = model.filter(|model| model.absent.is_none()) else { return Some(written) };
    let least = match Lesson::objective_of(&model.config) {
        Objective::NextWord => 2,
        _ => 1 + model.pieces("").map_or(0, |added| added.len()),
    };
    let most = model.config.positions.min(PIECES_MAX);
    let found = match model.pieces(&written) {
        Ok(pieces) if (least..=most).contains(&pieces.len()) => return Some(written),
        Ok(pieces) => format!("a text of {} pieces", pieces.len()),
        Err(why) => why,
    };
    node.issue(format!("texts: {found}")).expected(format!("from {least} to {most} pieces")).none()
}

/// A name in the Hugging Face cache, or `./` and a folder beside the lesson. A well-known model need not be there: the
/// lesson can be read without it.
fn read_model(node: Node<'_>) -> Option<ModelFolder> {
    let written = text(node)?;
    if let Some(beside) = written.strip_prefix("./") {
        let beside = Path::new(beside);
        // A lesson looks at nothing outside of its own folder.
        let is_within = beside.components().all(|part| matches!(part, Component::Normal(_)));
        return match is_within {
            true => open(node, &Path::new(node.issues.source.file).parent().unwrap_or(Path::new("")).join(beside)),
            false => wrong_name(node, &written),
        };
    }
    let Some(name) = ModelName::new(&written) else { return wrong_name(node, &written) };
    match find(&name, &Environment::of_process()) {
        Ok(folder) => open(node, &folder),
        Err(absent) => {
            let said = absent.to_string();
            ModelFolder::absent(absent).or_else(|| node.issue(said).none())
        }
    }
}

fn open(node: Node<'_>, folder: &Path) -> Option<ModelFolder> {
    match ModelFolder::open(folder) {
        Ok(model) => Some(model),
        Err(refusal) => node.issue(format!("model: {refusal}")).none(),
    }
}

fn wrong_name<T>(node: Node<'_>, written: &str) -> Option<T> {
    node.issue(format!("model: \"{}\" is no name of a model", shorten(written)))
        .expected("a name such as sentence-transformers/all-MiniLM-L6-v2, or ./ and a folder beside the lesson")
        .none()
}
