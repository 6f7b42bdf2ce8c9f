//! Lessons that are made for a file, without a lesson file: the one for a pretrained model, with a note, some sentences
//! to begin with, and nothing to train; and the one for a recording. Functions that are also needed for the lesson of a
//! file of vectors are here too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_engine::messages::counted;
use attune_engine::numerics::model::Pooling;
use attune_engine::pretrained::cache::Absent;
use attune_engine::pretrained::folder::{ModelFolder, NoTokenizer, PAIR};
use attune_engine::pretrained::tokenizer::Origin;
use attune_engine::pretrained::tokenizer::write::UNKNOWN;
use attune_engine::pretrained::{Config, Family};

use crate::lesson::recorded::RecordedModel;
use crate::lesson::schema::cells::{Cell, CellKind};
use crate::lesson::schema::limits::pieces_max;
use crate::lesson::schema::model::{ModelConfig, Objective, TargetForm};
use crate::lesson::schema::panels::PanelName;
use crate::lesson::schema::switches::Switches;
use crate::lesson::schema::{Corpus, Lesson, StaticEmbedding};

impl Lesson {
    /// Returns the lesson that is made for a model's folder.
    pub fn of_model(model: ModelFolder) -> Self {
        let (config, sentences) = (&model.config, usual_sentences(&model));
        let notes = notes(&model, &sentences);
        let network = ModelConfig::untrained(model.architecture.clone(), Self::objective_of(config));
        let (id, title, about) = (file_id("model", &model.name), model.name.clone(), model.about());
        Self {
            sentences: sentences.into_iter().map(|text| vec![text]).collect(),
            panels: vec![PanelName::Attention, PanelName::AllHeads],
            cells: vec![notes],
            ..Self::of_file(id, title, about, network, StaticEmbedding::Pretrained(Arc::new(model)))
        }
    }

    /// Returns the lesson that is made for a recording, whose texts are the sentences.
    pub fn of_recording(model: RecordedModel) -> Self {
        let (name, about) = (model.name.clone(), model.about());
        // Answers were recorded for each token, or once for the whole text. The training is not known, so an objective
        // with such answers is taken.
        let objective = match model.architecture.pooling {
            Pooling::Mean => Objective::Label,
            _ => Objective::MaskedWord { rate: 0.15, among: Vec::new(), stand_ins: Vec::new() },
        };
        let network = ModelConfig::untrained(model.architecture.clone(), objective);
        let markdown = format!("# {}\n\n{}.", plain(&name), plain(&about));
        let file = model.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (id, sentences) = (file_id("recording", &file), 0..model.recording.texts.len());
        Self {
            sentences: sentences.map(|text| vec![model.title(text)]).collect(),
            panels: vec![PanelName::Attention, PanelName::AllHeads],
            cells: vec![note(markdown)],
            ..Self::of_file(id, name, about, network, StaticEmbedding::Recording(Arc::new(model)))
        }
    }

    /// Returns a lesson that has only what a file or a folder provides, without sentences and cells.
    pub(super) fn of_file(
        id: String,
        title: String,
        about: String,
        model: ModelConfig,
        static_embedding: StaticEmbedding,
    ) -> Self {
        Self {
            id,
            title,
            folder: None,
            summary: Some(about),
            number: None,
            minutes: None,
            builds_on: Vec::new(),
            chapter: None,
            seed: 0,
            groups: Vec::new(),
            axes: Vec::new(),
            corpus: Corpus::default(),
            static_embedding,
            model,
            switches: Switches::default(),
            sentences: Vec::new(),
            texts: None,
            probes: Vec::new(),
            panels: Vec::new(),
            cells: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Returns whether the lesson was opened from a model's folder, without a lesson file.
    pub fn is_of_folder(&self) -> bool {
        let is_alone = matches!(&self.cells[..], [cell] if cell.id == ABOUT);
        let model = self.static_embedding.pretrained().filter(|model| model.absent.is_none());
        is_alone && model.is_some_and(|model| self.id == file_id("model", &model.name))
    }

    /// Returns the lesson's pretrained model if it is not on this computer.
    pub fn absent_model(&self) -> Option<&Absent> {
        self.static_embedding.pretrained()?.absent.as_ref()
    }

    /// Returns the reason why the first sentence is a list of token ids although there is a tokenizer, or `None` if
    /// sentences can be read.
    pub fn why_no_sentence(&self) -> Option<String> {
        let model = self.static_embedding.pretrained()?;
        why_no_sentence(model, !self.sentences.is_empty())
    }

    /// Returns the objective that a model of this architecture was trained on.
    pub(super) fn objective_of(config: &Config) -> Objective {
        if config.architecture.has_source() {
            return Objective::Sequence(TargetForm::Free);
        }
        if config.is_causal() {
            return Objective::NextWord;
        }
        // The rate with which BERT was trained.
        Objective::MaskedWord { rate: 0.15, among: Vec::new(), stand_ins: Vec::new() }
    }
}

/// The id of the only cell of a lesson that was opened on a file or a folder.
const ABOUT: &str = "about";

/// Returns the only cell of a lesson that was opened on a file or a folder.
pub(super) fn note(markdown: String) -> Cell {
    Cell { id: ABOUT.to_owned(), kind: CellKind::Text { markdown: markdown.into() }, opens: Vec::new() }
}

/// Returns an id for a name; it consists of letters, digits and `-` only.
pub(super) fn file_id(kind: &str, name: &str) -> String {
    let of_id = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
    format!("{kind}-{}", name.chars().map(of_id).collect::<String>())
}

/// Mean number of pieces per word above which a text is considered unfamiliar to the model.
const PIECES_OF_A_WORD: f64 = 1.5;

/// Number of words of a text that is made from the vocabulary.
const TOKENS: usize = 6;

/// Returns some ids of a vocabulary, at regular intervals, for a model that cannot read text.
pub fn first_ids(vocabulary: usize, most: usize) -> impl Iterator<Item = usize> {
    let count = TOKENS.min(most).max(1);
    (0..count).map(move |i| i * vocabulary / count)
}

/// Greatest number of token ids that are tried as words. Each is tokenized separately, so trying a million would take
/// minutes.
const TRIED_MAX: usize = 10_000;
/// Longest time of the search for texts, because a tokenizer with slow patterns can take seconds for each.
const SEARCH_TIME_MAX: Duration = Duration::from_secs(5);

/// Returns texts to begin with: some sentences that fit into the model; or words of the vocabulary if the model can
/// read none of these sentences; or token ids if there is no tokenizer. There are none if the tokenizer reads nothing
/// that fits into the model.
pub(super) fn usual_sentences(model: &ModelFolder) -> Vec<String> {
    let vocabulary = model.config.vocabulary;
    let most = pieces_max(&model.architecture, vocabulary);
    let Ok(tokenizer) = &model.tokenizer else {
        let ids: Vec<String> = first_ids(vocabulary, most).map(|id| id.to_string()).collect();
        return vec![ids.join(" ")];
    };
    if let Some(texts) = of_a_shipped_model(model) {
        return texts;
    }
    // The first has a word in both of its senses, which the picture's first axis then tells apart.
    let texts = [
        "She took her money to the bank and then sat on the bank of the river.",
        "The bank lent her the money to buy shares of Apple, and she ate an apple.",
        "The trophy does not fit in the suitcase because it is too big.",
    ];
    // T5 was trained on several tasks, which it tells apart by how a text begins.
    let task = if model.config.family == Family::T5 { "translate English to German: " } else { "" };
    let texts = texts.map(|text| format!("{task}{text}"));
    let unknown = tokenizer.id_of(UNKNOWN);
    let begun = Instant::now();
    let is_in_time = || begun.elapsed() < SEARCH_TIME_MAX;
    let is_read = |text: &str| {
        if !is_in_time() {
            return false;
        }
        let pieces = model.pieces(text).unwrap_or_default();
        let known = pieces.iter().filter(|piece| Some(piece.id) != unknown).count();
        let has_own = pieces.iter().any(|piece| piece.origin != Origin::Added);
        has_own && pieces.len() <= most && 2 * known > pieces.len()
    };
    let mut read: Vec<String> = texts.into_iter().filter(|text| is_read(text)).collect();
    // A small vocabulary splits some of these words into letters and syllables. Texts that it splits less come first.
    read.sort_by_key(|text| {
        let pieces = model.pieces(text).unwrap_or_default();
        let own = pieces.iter().filter(|piece| piece.origin != Origin::Added).count();
        own as f64 > PIECES_OF_A_WORD * text.split_whitespace().count() as f64
    });
    if !read.is_empty() {
        return read;
    }
    let is_word = |(id, word): &(u32, String)| {
        let mut own = model.pieces(word).unwrap_or_default().into_iter().filter(|piece| piece.origin == Origin::Text);
        own.next().is_some_and(|piece| piece.id == *id) && own.next().is_none()
    };
    let tried = vocabulary.min(TRIED_MAX) as u32;
    let tried = (0..tried).take_while(|_| is_in_time());
    let words = tried.map(|id| (id, model.shown(id))).filter(is_word).map(|(_, word)| word);
    let words: Vec<String> = words.take(TOKENS).collect();
    let longest = (1..=words.len()).rev().map(|count| words[..count].join(" ")).find(|text| is_read(text));
    longest.into_iter().collect()
}

/// Sentences for the translator that comes with the course, which knows few words. Its heads are measured over them.
/// Each shows something that a word-by-word translation would get wrong: order, negation, agreement, and words of two
/// senses.
const OF_SHIPPED_TRANSLATOR: [&str; 10] = [
    "the hungry bat does not see the broken crane",
    "the sailor repaired the bat today",
    "the sailor feeds the bat today",
    "a big seal follows many young bears near the river",
    "these teachers did not sell the red lamp",
    "the thieves in the forest want this rusty jaguar",
    "the king saw the white horse because the wolves woke the cow yesterday",
    "some painters paint the green tower and the small dog likes the lake",
    "the hungry seal calls the nurse while the teacher paints the wooden seal",
    "the nurse calls the sleepy fox but these rabbits do not follow the farmer behind the house now",
];

/// A note on the language into which the shipped translator translates.
const ABOUT_SHIPPED_TRANSLATOR: &str = "\n\nIt translates a small English into a language that was made up for the course: *la \
    pipista famina lo elevato rompo ne vide* is “the hungry bat does not see the broken crane”. In this language the verb comes \
    last, an adjective follows its noun, and *ne* stands for *does not*. It knows few English words, and reads any other as `[UNK]`.";

/// Sentences for the encoders that come with the course, which know few words. They ask for the noun that *it* refers
/// to, for agreement across a second noun, and for the opposite; the last has a word in both of its senses.
const OF_SHIPPED_ENCODER: [&str; 4] = [
    "the trophy did not fit in the suitcase because it was too big. we saw that the [MASK] was too big.",
    "the dogs that the king saw in the garden [MASK] tired.",
    "the kettle was not hot, it was [MASK].",
    "we put the money in the bank and the fish swam near the bank.",
];

/// Returns the sentences for the translator or the encoders that come with the course, if the model knows all their
/// words.
fn of_a_shipped_model(model: &ModelFolder) -> Option<Vec<String>> {
    let texts: &[&str] = if model.reads_source() {
        &OF_SHIPPED_TRANSLATOR
    } else if model.config.is_causal() || !model.has_head || model.hidden().is_none() {
        return None;
    } else {
        &OF_SHIPPED_ENCODER
    };
    let unknown = model.tokenizer.as_ref().ok()?.id_of(UNKNOWN);
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    // A model that comes with the course reads each word, and each sign at the end of one, as one piece.
    let is_known = |text: &&str| {
        let pieces = model.pieces(text).unwrap_or_default();
        if pieces.len() > most {
            return false;
        }
        let own = pieces.iter().filter(|piece| piece.origin != Origin::Added).count();
        let signs = text.matches(['.', ',']).count();
        own == text.split_whitespace().count() + signs && pieces.iter().all(|piece| Some(piece.id) != unknown)
    };
    texts.iter().all(is_known).then(|| texts.iter().map(|text| (*text).to_owned()).collect())
}

/// Returns the reason why sentences are token ids; `has_sentence` tells whether the tokenizer reads one.
fn why_no_sentence(model: &ModelFolder, has_sentence: bool) -> Option<String> {
    match &model.tokenizer {
        Err(NoTokenizer::Missing) => return None,
        Err(why) => return Some(format!("{why}; therefore sentences are lists of token ids")),
        Ok(_) if has_sentence => return None,
        Ok(_) => {}
    }
    let added = model.pieces("").map_or(0, |pieces| pieces.len());
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    let why = if added >= most {
        format!("it adds {} to every text, but the model reads at most {most}", counted(added, "piece"))
    } else {
        "it can read neither common English words nor those of its own vocabulary".to_owned()
    };
    Some(format!(
        "the tokenizer of {} cannot make a sentence that the model can read, because {why}; therefore the first \
         sentence is a list of token ids",
        model.name
    ))
}

/// Returns a text from a file, without characters that have a meaning in Markdown. A `_` within a name has none.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace(['\\', '`', '*', '[', ']', '<', '>', '#', '$', '{', '}', '&'], " ");
    let is_letter = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
    let plain = |(at, sign): (usize, char)| {
        let is_within = is_letter(text[..at].chars().next_back()) && is_letter(text[at..].chars().nth(1));
        if sign == '_' && !is_within { ' ' } else { sign }
    };
    text.char_indices().map(plain).collect()
}

fn notes(model: &ModelFolder, sentences: &[String]) -> Cell {
    let first = match why_no_sentence(model, !sentences.is_empty()) {
        None if model.reads_source() => format!(
            "Type a source above the stage, and the model writes a target from it, with the likeliest word each time. To \
             see how the model reads a target of your own, write it behind `{PAIR}`. Every word moves"
        ),
        None => "Type a sentence above the stage, and every word moves".to_owned(),
        Some(why) => format!("Note that {}. Every token moves", plain(&why)),
    };
    let is_translator = *sentences == OF_SHIPPED_TRANSLATOR;
    note(format!(
        "# {}\n\n{}.{}\n\n{first} from its static vector, its row of the embedding table, through all layers. Add a \
         code cell below to read or change any tensor.",
        plain(&model.name),
        model.about(),
        if is_translator { ABOUT_SHIPPED_TRANSLATOR } else { "" },
    ))
}
