//! A lesson made of a pretrained model: an empty notebook, sentences to begin with, and nothing to train.

use std::sync::Arc;

use attune_engine::numerics::model::DistanceCosts;
use attune_engine::numerics::optimiser::Method;
use attune_engine::pretrained::Config;
use attune_engine::pretrained::cache::Absent;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::Origin;
use attune_engine::pretrained::tokenizer::write::UNKNOWN;

use super::budget::pieces_max;
use super::cells::{Cell, CellKind};
use super::panels::PanelName;
use super::schema::{Corpus, Lesson, ModelConfig, Objective, StaticEmbedding};
use super::switches::Switches;

impl Lesson {
    /// The lesson that opens on a model's folder.
    pub fn of_model(model: ModelFolder) -> Self {
        let (config, sentences) = (&model.config, sentences(&model));
        let notes = notes(&model, !sentences.is_empty());
        Self {
            id: id(&model.name),
            title: model.name.clone(),
            summary: Some(model.about()),
            number: None,
            minutes: None,
            builds_on: Vec::new(),
            seed: 0,
            groups: Vec::new(),
            axes: Vec::new(),
            corpus: Corpus::default(),
            switches: Switches::default(),
            model: ModelConfig {
                architecture: model.architecture.clone(),
                objective: Self::objective_of(config),
                costs: DistanceCosts::default(),
                weights: Vec::new(),
                steps: 0,
                batch: 1,
                learning_rate: 1e-3,
                weight_decay: 0.0,
                optimiser: Method::ADAM,
                stop: Vec::new(),
            },
            sentences: sentences.into_iter().map(|text| vec![text]).collect(),
            probes: Vec::new(),
            panels: vec![PanelName::Attention, PanelName::AllHeads],
            cells: vec![notes],
            claims: Vec::new(),
            static_embedding: StaticEmbedding::Pretrained(Arc::new(model)),
        }
    }

    /// Whether a model's folder is all of it: there is no file with texts of its own.
    pub fn is_of_folder(&self) -> bool {
        let is_about = |model: &ModelFolder| self.id == id(&model.name) && model.absent.is_none();
        let is_alone = matches!(&self.cells[..], [cell] if cell.id == ABOUT);
        is_alone && matches!(&self.static_embedding, StaticEmbedding::Pretrained(model) if is_about(model))
    }

    /// The pretrained model that it is about, if that is not on this computer.
    pub fn absent_model(&self) -> Option<&Absent> {
        match &self.static_embedding {
            StaticEmbedding::Pretrained(model) => model.absent.as_ref(),
            StaticEmbedding::Word2Vec(_) | StaticEmbedding::Given(_) => None,
        }
    }

    /// Why the model begins with token ids, though it has a tokenizer; `None` where a sentence can be read.
    pub fn why_no_sentence(&self) -> Option<String> {
        match &self.static_embedding {
            StaticEmbedding::Pretrained(model) if self.sentences.is_empty() => Some(why_no_sentence(model)),
            _ => None,
        }
    }

    /// The objective that a model of this shape was trained to.
    pub(super) fn objective_of(config: &Config) -> Objective {
        if config.is_causal() {
            return Objective::NextWord;
        }
        // The rate that BERT was trained with.
        Objective::MaskedWord { rate: 0.15, among: Vec::new(), stand_ins: Vec::new() }
    }
}

/// The id of the first cell of a model's notebook.
pub const ABOUT: &str = "about";

/// Letters, digits, `-` and `_`, as the ids of lessons have them.
fn id(name: &str) -> String {
    let of_id = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
    format!("model-{}", name.chars().map(of_id).collect::<String>())
}

/// Words of a text that is made of the vocabulary's own.
const TOKENS: usize = 6;

/// Rows of a vocabulary to begin with, where no text can be read.
pub fn first_ids(vocabulary: usize, positions: usize) -> impl Iterator<Item = usize> {
    let count = TOKENS.min(positions).max(1);
    (0..count).map(move |i| i * vocabulary / count)
}

/// Texts to begin with, as long as the model reads; words of a vocabulary that knows little of them; token ids where
/// there is no tokenizer. None where the tokenizer reads nothing that the model could.
fn sentences(model: &ModelFolder) -> Vec<String> {
    let (vocabulary, positions) = (model.config.vocabulary, model.config.positions());
    let Some(tokenizer) = &model.tokenizer else {
        let ids: Vec<String> = first_ids(vocabulary, positions).map(|id| id.to_string()).collect();
        return vec![ids.join(" ")];
    };
    let most = pieces_max(&model.architecture, vocabulary);
    let texts = [
        "She sat on the bank of the river and ate an apple.",
        "The bank lent her the money to buy shares of Apple.",
        "The trophy does not fit in the suitcase because it is too big.",
    ];
    let unknown = tokenizer.id_of(UNKNOWN);
    let is_read = |text: &str| {
        let pieces = model.pieces(text).unwrap_or_default();
        let known = pieces.iter().filter(|piece| Some(piece.id) != unknown).count();
        let has_own = pieces.iter().any(|piece| piece.origin != Origin::Added);
        has_own && pieces.len() <= most && 2 * known > pieces.len()
    };
    let read: Vec<String> = texts.into_iter().filter(|text| is_read(text)).map(str::to_owned).collect();
    if !read.is_empty() {
        return read;
    }
    let is_word = |(id, word): &(u32, String)| {
        let mut own = tokenizer.encode(word).pieces.into_iter().filter(|piece| piece.origin == Origin::Text);
        own.next().is_some_and(|piece| piece.id == *id) && own.next().is_none()
    };
    let words = (0..vocabulary as u32).map(|id| (id, model.shown(id))).filter(is_word).map(|(_, word)| word);
    let words: Vec<String> = words.take(TOKENS).collect();
    let longest = (1..=words.len()).rev().map(|count| words[..count].join(" ")).find(|text| is_read(text));
    longest.into_iter().collect()
}

fn why_no_sentence(model: &ModelFolder) -> String {
    let added = model.pieces("").map_or(0, |pieces| pieces.len());
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    let why = if added >= most {
        format!("it adds {added} pieces to every text, and the model reads at most {most}")
    } else {
        "it has pieces neither for common English words nor for those of its own vocabulary".to_owned()
    };
    format!(
        "the tokenizer of {} makes no sentence that the model can read: {why}; so the model begins with token ids",
        model.name
    )
}

/// `has_sentence`: the tokenizer reads one.
fn notes(model: &ModelFolder, has_sentence: bool) -> Cell {
    let plain = |text: &str| text.replace(['\\', '`', '*', '_', '[', ']', '<', '>', '#', '$', '{', '}', '&'], " ");
    let first = if has_sentence {
        "Type a sentence above the stage, and every word moves".to_owned()
    } else {
        format!("Careful: {}. Every token moves", plain(&why_no_sentence(model)))
    };
    let markdown = format!(
        "# {}\n\n{}.\n\n{first} from its static vector, its row of the embedding table, through all layers. Add a code \
         cell below to read and to change any tensor.",
        plain(&model.name),
        model.about(),
    );
    Cell { id: ABOUT.to_owned(), kind: CellKind::Text { markdown }, opens: Vec::new() }
}
