//! Reading of the origin of the vectors: a static embedding that is trained or given, or a pretrained model, as in
//! `model: Pretrained("org/name")`, possibly with texts for further training.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use attune_engine::files;
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::word2vec::{Word2VecConfig, WordPrediction};
use attune_engine::pretrained::cache::{Environment, ModelName, find};
use attune_engine::pretrained::folder::{ModelFolder, NoTokenizer};
use attune_engine::pretrained::tokenizer::write::MASK;
use attune_engine::vectors::Vectors;

use crate::lesson::read::budget::check_training;
use crate::lesson::read::common::{Vocabulary, word};
use crate::lesson::read::model::{learning_rate, read_schedule};
use crate::lesson::reading::decode::{
    At, Node, Record, complete, fields, flag, list, map, number, record, text, whole,
};
use crate::lesson::reading::file::begins_as_claims;
use crate::lesson::reading::issue::{Report, shorten};
use crate::lesson::schema::limits::{
    DIM_MAX, EPOCHS_MAX, NEGATIVES_MAX, PIECES_MAX, STEPS_MAX, TEXTS_MAX, VOCABULARY_MAX, WINDOW_MAX,
};
use crate::lesson::schema::model::{ModelConfig, Objective, Schedule};
use crate::lesson::schema::{Corpus, GivenSource, GivenVectors, Lesson, StaticEmbedding, Topic};
use crate::lesson::vector_files;

/// Least width of vectors; a smaller space could not be shown.
pub const DIM_MIN: usize = 2;

pub fn read_embedding<'s>(node: Node<'s>) -> Option<At<'s, StaticEmbedding>> {
    let value = record(node, &["SkipGram", "Cbow", "Given", FILE], |record| match record.name {
        "Given" => record.take_item("{ \"word\": [number, …], … }", read_given).map(StaticEmbedding::Given),
        FILE => record.take_item("\"vectors.txt\"", read_file).map(StaticEmbedding::Given),
        _ => read_word2vec(record).map(StaticEmbedding::Word2Vec),
    })?;
    Some(At { value, node })
}

fn read_word2vec(record: &mut Record<'_>) -> Option<Word2VecConfig> {
    fields! { record;
        dim: whole(DIM_MIN..=DIM_MAX);
        window: whole(1..=WINDOW_MAX), or 3;
        negatives: whole(1..=NEGATIVES_MAX), or 5;
        epochs: whole(1..=EPOCHS_MAX), or 20;
        learning_rate: learning_rate, or 0.05;
        subsample: number(|x| x > 0.0 && x <= 1.0, "a share of the corpus, above 0 and at most 1"), or 1.0;
    }
    // The share of a word is below 1, so a bound of 1 never applies.
    let subsample = subsample.map(|share| (share < 1.0).then_some(share));
    let architecture = match record.name {
        "Cbow" => Some(WordPrediction::Cbow),
        _ => {
            let share_negatives = record.take_or("share_negatives", false, flag);
            share_negatives.map(|share_negatives| WordPrediction::SkipGram { share_negatives })
        }
    };
    complete!(Word2VecConfig { architecture, dim, window, negatives, epochs, learning_rate, subsample })
}

/// Reads a map of different words to vectors, all of one width.
fn read_given(node: Node<'_>) -> Option<GivenVectors> {
    let entry = number(|x| (x as f32).is_finite(), "a number");
    let row = |node| Some((node, list(node, DIM_MAX, &entry)));
    let rows = map(node, VOCABULARY_MAX, row)?;
    if rows.is_empty() {
        return node.issue("static_embedding: no vectors").expected("one for each word of the corpus").none();
    }
    let mut seen = HashSet::new();
    let mut width = None;
    let mut good = true;
    let mut given = (Vec::new(), Vec::new());
    for (key, (row_node, row)) in rows {
        let word = word(key.node).filter(|word| {
            let fresh = seen.insert(word.clone());
            if !fresh {
                key.node.issue(format!("static_embedding: word \"{word}\" appears twice"));
            }
            fresh
        });
        let row = row.filter(|row| {
            let wanted = *width.get_or_insert(row.len());
            let fits = row.len() == wanted && row.len() >= DIM_MIN;
            if !fits {
                let expected = if wanted < DIM_MIN {
                    format!("at least {DIM_MIN}")
                } else {
                    format!("{wanted}, as in the first vector")
                };
                row_node
                    .issue(format!("static_embedding: a vector of {}", counted(row.len(), "number")))
                    .expected(expected);
            }
            fits
        });
        match (word, row) {
            (Some(word), Some(row)) => {
                given.0.push(word);
                given.1.extend(row.into_iter().map(|x| x as f32));
            }
            _ => good = false,
        }
    }
    let (words, entries) = given;
    good.then(|| GivenVectors {
        vectors: Arc::new(Matrix::from_row_major(words.len(), width.unwrap_or(DIM_MIN), entries).into()),
        words: words.into(),
        source: GivenSource::Lesson,
    })
}

/// Opens a file of vectors beside the lesson; its words are selected later.
fn read_file(node: Node<'_>) -> Option<GivenVectors> {
    let path = file_beside(node, "static_embedding", "glove.txt")?;
    let file = match vector_files::open(&path) {
        Ok(file) => file,
        Err(refusal) => return node.issue(format!("static_embedding: {refusal}")).none(),
    };
    if file.width() < DIM_MIN {
        let found = format!("static_embedding: vectors of {}", counted(file.width(), "number"));
        return node.issue(found).expected(format!("at least {DIM_MIN}")).none();
    }
    Some(picked(&file, Vec::new()))
}

/// Reads the name of a file beside the lesson. The message for a wrong name contains `field` and `example`.
pub fn file_beside(node: Node<'_>, field: &str, example: &str) -> Option<PathBuf> {
    let written = text(node)?;
    let path = beside(node, &written);
    if path.is_none() {
        node.issue(format!("{field}: \"{}\" is not the name of a file beside the lesson", shorten(&written)))
            .expected(format!("the name of a file in the lesson's folder, such as \"{example}\""));
    }
    path
}

/// Returns the path of a file or folder beside the lesson, or `None` for a path that leads out of the lesson's folder:
/// a lesson may come from anywhere. A file of claims is written by those who check it, and may name any path.
fn beside(node: Node<'_>, written: &str) -> Option<PathBuf> {
    let path = Path::new(written.strip_prefix("./").unwrap_or(written));
    let is_within = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_allowed = is_within || begins_as_claims(node.issues.source.text);
    let folder = Path::new(node.issues.source.file).parent().unwrap_or(Path::new(""));
    (is_allowed && !written.is_empty()).then(|| folder.join(path))
}

/// Reads the file of texts over which claims measure heads; its texts are read when they are measured.
pub fn read_file_of_texts(node: Node<'_>) -> Option<PathBuf> {
    let path = file_beside(node, "texts", "sentences.txt")?;
    match files::open(&path) {
        Ok(_) => Some(path),
        Err(error) => node
            .issue(format!("texts: {} cannot be read: {error}", shorten(node.text)))
            .expected("a file of texts in UTF-8, a sentence on each line")
            .none(),
    }
}

/// Returns the vectors of some words of a file.
fn picked(file: &Arc<Vectors>, words: Vec<String>) -> GivenVectors {
    let rows: Vec<usize> = words.iter().filter_map(|word| file.row_of(word)).collect();
    let vectors = Matrix::from_fn(rows.len(), file.width(), |i, j| file.rows.get(rows[i], j));
    GivenVectors { words: words.into(), vectors: Arc::new(vectors.into()), source: GivenSource::File(file.clone()) }
}

/// Restricts an embedding from a file to the words that the lesson uses.
pub fn of_used(embedding: StaticEmbedding, vocabulary: Option<Vocabulary>) -> StaticEmbedding {
    match embedding.file().zip(vocabulary) {
        Some((file, vocabulary)) => StaticEmbedding::Given(picked(file, vocabulary.used())),
        None => embedding,
    }
}

/// Checks that every word that a sentence can contain has a vector.
pub fn check_given(read: &At<'_, StaticEmbedding>, corpus: &Vocabulary) {
    let StaticEmbedding::Given(given) = &read.value else { return };
    if let Some(file) = read.value.file() {
        for word in corpus.words.iter().filter(|word| file.row_of(word).is_none()) {
            no_vector(read, word).nearest(word, file.words.iter().map(|word| &**word));
        }
        return;
    }
    let words: HashSet<&String> = given.words.iter().collect();
    for word in corpus.words.iter().filter(|word| !words.contains(word)) {
        let others = given.words.iter().filter(|word| !corpus.has(word));
        no_vector(read, word).nearest(word, others.map(String::as_str));
    }
}

fn no_vector<'i>(read: &At<'i, StaticEmbedding>, word: &str) -> Report<'i> {
    read.node.issue(format!("static_embedding: no vector for \"{}\", a word of the corpus", shorten(word)))
}

const FILE: &str = "File";
const NAME: &str = "Pretrained";

/// Returns whether a lesson's vectors come from a file.
pub fn is_file(embedding: Node<'_>) -> bool {
    embedding.text.starts_with(FILE)
}

/// Returns whether a lesson's model is a pretrained one.
pub fn is_pretrained(model: Node<'_>) -> bool {
    model.text.starts_with(NAME)
}

/// Opens the pretrained model and returns its lesson; the weights are read later.
pub fn read_pretrained(node: Node<'_>) -> Option<Lesson> {
    let (model, further) = record(node, &[NAME], |record| {
        if record.given("from").is_none() {
            return Some((record.take_item("\"org/name\"", read_model)?, None));
        }
        fields! { record;
            from: read_model;
            texts: |node| read_texts(node, from.as_ref());
            train_embedding: flag, or false;
        }
        let usual = Schedule { steps: 100, batch: 16, learning_rate: 1e-4, ..Schedule::default() };
        let schedule = read_schedule(record, 1..=STEPS_MAX, usual);
        Some((from?, Some((texts?, train_embedding?, schedule?))))
    })?;
    let Some((texts, train_embedding, schedule)) = further else { return Some(Lesson::of_model(model)) };
    let longest = texts.iter().filter_map(|text| model.pieces(text).ok()).map(|pieces| pieces.len()).max();
    let vocabulary = model.config.vocabulary;
    let lesson = trained_further(Lesson::of_model(model), texts, train_embedding, schedule);
    check_training(node, &lesson.model, vocabulary, longest.unwrap_or(0)).then_some(lesson)
}

/// Returns the lesson of a model that is trained further on some texts.
fn trained_further(lesson: Lesson, texts: Vec<String>, train_embedding: bool, schedule: Schedule) -> Lesson {
    let mut architecture = lesson.model.architecture.clone();
    architecture.train_embedding = train_embedding;
    // A bias that the model's files do not have could not be saved with the model.
    architecture.readout_bias &= !matches!(lesson.model.objective, Objective::NextWord);
    let corpus = Corpus {
        sentences: texts.len(),
        topics: vec![Topic { name: "texts".to_owned(), templates: texts }],
        ..Corpus::default()
    };
    let model = ModelConfig { architecture, schedule, ..lesson.model.clone() };
    Lesson { model, corpus, ..lesson }
}

/// Reads the texts for further training, if the model can learn from them.
fn read_texts(node: Node<'_>, model: Option<&ModelFolder>) -> Option<Vec<String>> {
    let texts = list(node, TEXTS_MAX, |node| read_text(node, model))?;
    if let Some(why) = model.filter(|model| model.absent.is_none()).and_then(cannot_learn) {
        return node.issue(format!("texts: {why}")).expected("a model that guesses words, with its tokenizer").none();
    }
    if texts.is_empty() { node.issue("texts: none").expected("at least one").none() } else { Some(texts) }
}

/// Returns the reason why a model cannot be trained on texts, if there is one.
fn cannot_learn(model: &ModelFolder) -> Option<String> {
    let name = &model.name;
    if model.reads_source() {
        return Some(format!("{name} writes a target from a source, and a text is only one of them"));
    }
    if !model.has_head {
        return Some(format!("{name} has no readout that names words"));
    }
    match &model.tokenizer {
        Err(NoTokenizer::Missing) => return Some(format!("{name} has no tokenizer")),
        Err(why) => return Some(format!("{name} has no words, because {why}")),
        Ok(_) => {}
    }
    let hides = !model.config.is_causal() && model.hidden().is_none();
    hides.then(|| format!("the tokenizer of {name} has no piece {MASK} to hide a word with"))
}

fn read_text(node: Node<'_>, model: Option<&ModelFolder>) -> Option<String> {
    let written = text(node)?;
    let Some(model) = model.filter(|model| model.absent.is_none()) else { return Some(written) };
    let least = match Lesson::objective_of(&model.config) {
        Objective::NextWord => 2,
        _ => 1 + model.pieces("").map_or(0, |added| added.len()),
    };
    let most = model.config.positions().min(PIECES_MAX);
    let found = match model.pieces(&written) {
        Ok(pieces) if (least..=most).contains(&pieces.len()) => return Some(written),
        Ok(pieces) => format!("a text of {} pieces", pieces.len()),
        Err(why) => why,
    };
    node.issue(format!("texts: {found}")).expected(format!("from {least} to {most} pieces")).none()
}

/// Reads the name of a model: one in the Hugging Face cache, or `./` and a folder beside the lesson; in a file of
/// claims, also `../` or `/` and any folder. A well-known model may be absent, because the lesson can be read without
/// it.
fn read_model(node: Node<'_>) -> Option<ModelFolder> {
    let written = text(node)?;
    if ["./", "../", "/"].iter().any(|begin| written.starts_with(begin)) {
        return match beside(node, &written) {
            Some(folder) => open(node, &folder),
            None => wrong_name(node, &written),
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
    node.issue(format!("model: \"{}\" is not the name of a model", shorten(written)))
        .expected("a name such as sentence-transformers/all-MiniLM-L6-v2, or ./ and a folder beside the lesson")
        .none()
}
