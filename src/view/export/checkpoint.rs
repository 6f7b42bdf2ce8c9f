//! Model folders that transformers opens and attune reads back: a lesson's trained model in the form of BERT or GPT-2,
//! of a [decoder](super::decoders) with rotary positions or, if it has a source, of a [translator](super::translators);
//! or a pretrained model with the learner's changes, or after further training.
//!
//! Words keep their ids. After them come the few special tokens that a tokenizer needs, with the zero vector that a
//! hidden word has in a lesson. Parts of the form that the lesson's model lacks, such as biases or position embeddings,
//! are written as zeros. A part of the lesson's model that the form lacks is refused, with the name of its field.

use std::path::{Path, PathBuf};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::static_embedding::network;
use attune_core::lesson::Lesson;
use attune_core::lesson::issue::shown;
use attune_core::lesson::places::FieldPath;
use attune_core::lesson::schema::Objective;
use attune_core::whole_file::{no_new_folder, write_folder};
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{Mask, Window};
use attune_engine::numerics::block::{Branches, Norm};
use attune_engine::numerics::model::{Architecture, Readout, WritingRules};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::pretrained::config::Plain;
use attune_engine::pretrained::folder::{NewFile, files_with, of_words};
use attune_engine::pretrained::tokenizer::write::PADDING;
use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
use attune_engine::pretrained::{Config, Family};

use super::decoders;
pub use super::fault::Unfit;
use super::fault::{ExportFault, Field, attention_alone, differing, other_norm};
use super::translators;

/// The bias of a class that is not an answer of the lesson: low enough never to be predicted, but not so low that
/// logits lose precision.
const NEVER: f32 = -100.0;

/// The folder to which a lesson's model is written, with the configuration and the tokenizer that are written there.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    folder: PathBuf,
    config: Config,
    readout: Readout,
    tokenizer: Vec<NewFile>,
}

impl Checkpoint {
    /// Checks that the lesson's model can be written to `folder`.
    ///
    /// # Errors
    /// If no form expresses the model, or the folder cannot be written.
    pub fn new(lesson: &Lesson, folder: &Path) -> Result<Self, ExportFault> {
        if let Some(why) = no_new_folder(folder) {
            return Err(ExportFault::Place { file: folder.to_owned(), why });
        }
        let (config, readout) = form(lesson).map_err(ExportFault::Form)?;
        let tokenizer = match lesson.static_embedding.pretrained() {
            Some(model) => model.tokenizer_contents().map_err(|refusal| {
                let error = std::io::Error::other(refusal.to_string());
                ExportFault::Write { file: model.path.clone(), error }
            })?,
            None => of_words(&lesson.vocabulary(), config.family).files(config.positions()),
        };
        Ok(Self { folder: folder.to_owned(), config, readout, tokenizer })
    }

    /// Writes the snapshot's model, and returns a line that reports it.
    ///
    /// # Errors
    /// If there is no model yet, or a file cannot be written.
    pub fn write(&self, snapshot: &Snapshot) -> Result<String, ExportFault> {
        let fault = |error| ExportFault::Write { file: self.folder.clone(), error };
        let files = self.files(snapshot).ok_or_else(|| fault(std::io::Error::other("the lesson has no model yet")))?;
        write_folder(&self.folder, &files).map_err(fault)?;
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        Ok(format!("{}: {}; {} files, {bytes} bytes", shown(&self.folder), self.config, files.len()))
    }

    fn files(&self, snapshot: &Snapshot) -> Option<Vec<NewFile>> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        let network = network(&model.made_of, space);
        let candidates = network.classes.candidates()?;
        let words = &space.vocabulary;
        let class = |word: usize| (word < words.len()).then(|| candidates.class(word)).flatten();
        let learned = |id: TensorId, row, col| model.parameters.entry(id, row, col);
        let entry = |id: TensorId, row: usize, col: usize| match id.name {
            TensorName::Embedding if row < words.len() => {
                learned(id, row, col).unwrap_or_else(|| space.vectors.get(row, col))
            }
            TensorName::LogitBias => class(col).map_or(NEVER, |class| learned(id, row, class).unwrap_or(0.0)),
            TensorName::LogitWeights => class(col).and_then(|class| learned(id, row, class)).unwrap_or(0.0),
            TensorName::Positions | TensorName::SourcePositions => {
                let place = row.checked_sub(self.config.architecture.position_rows.first);
                let fixed = model.fixed_positions.as_ref().zip(place).map(|(fixed, row)| fixed.get(row, col));
                fixed.or_else(|| learned(id, place?, col)).unwrap_or(0.0)
            }
            _ => learned(id, row, col).unwrap_or(0.0),
        };
        // A lesson without gates is written with gates: its hidden units become the gates, and the units that these
        // multiply are 1, with weights 0 and biases 1.
        let gets_gate = decoders::gets_gate(&model.architecture, &self.config.architecture);
        let entry = |id: TensorId, row: usize, col: usize| match id.name {
            TensorName::GateWeights if gets_gate => entry(TensorName::HiddenWeights.of_block(id.block), row, col),
            TensorName::GateBias if gets_gate => entry(TensorName::HiddenBias.of_block(id.block), row, col),
            TensorName::HiddenWeights if gets_gate => 0.0,
            TensorName::HiddenBias if gets_gate => 1.0,
            _ => entry(id, row, col),
        };
        // A source without tensors of its own gets those of the sentence.
        let has = |id: TensorId| model.parameters.spec(id).is_some();
        let entry = |id: TensorId, row, col| {
            let of_sentence = match id.name {
                TensorName::SourcePositions => TensorName::Positions,
                TensorName::SourceEmbeddingNormGain => TensorName::EmbeddingNormGain,
                TensorName::SourceEmbeddingNormBias => TensorName::EmbeddingNormBias,
                other => other,
            };
            entry(if has(id) { id } else { of_sentence.of_block(id.block) }, row, col)
        };
        let rules = self.rules(words.len(), |word| class(word).is_some());
        let files = files_with(&self.config, self.readout, &rules, entry);
        Some(files.into_iter().chain(self.tokenizer.iter().cloned()).collect())
    }

    /// Returns the rules for writing a target; the default ones if the family has no padding piece. A target begins
    /// with that piece. Only words that are answers are written, so that no word ends the target, which is as long as
    /// the source.
    fn rules(&self, words: usize, is_answer: impl Fn(usize) -> bool) -> WritingRules {
        let start = self.config.family.special_pieces().iter().position(|piece| *piece == PADDING);
        let Some(start) = start.map(|at| words + at) else { return WritingRules::default() };
        let never = (0..self.config.vocabulary).filter(|word| !is_answer(*word)).collect();
        WritingRules { start: Some(start), first: None, never, ends: vec![start] }
    }
}

/// Returns the configuration and the readout with which a lesson's model is written.
///
/// # Errors
///
/// If the form that fits the lesson cannot express its model. The error lists every field that prevents it.
pub fn form(lesson: &Lesson) -> Result<(Config, Readout), Vec<Unfit>> {
    let readout = lesson.model.architecture.readout;
    if let Some(read) = lesson.static_embedding.pretrained() {
        let family = read.config.family;
        return match (family.is_written(), read.has_head) {
            (false, _) => {
                let found = format!("a model of {}", family.name());
                Err(vec![Unfit::new(
                    &["model"],
                    &found,
                    "one of BERT, DistilBERT, EuroBERT, GPT-2 or Llama, which attune writes",
                )])
            }
            (true, true) => Ok((read.config.clone(), readout)),
            (true, false) => Err(vec![Unfit::new(&["model"], "a model without a readout", "a model with one")]),
        };
    }
    if lesson.static_embedding.recording().is_some() {
        return Err(vec![Unfit::new(&["model"], "a recording, which has no weights", "a model with weights")]);
    }
    let architecture = &lesson.model.architecture;
    let family =
        family(lesson).map_err(|unfit| [unfit].into_iter().chain(attention_alone(architecture)).collect::<Vec<_>>())?;
    if decoders::is_of_today(architecture) {
        return decoder(lesson).map(|config| (config, readout));
    }
    let unfit = unfit(lesson, family);
    if !unfit.is_empty() {
        return Err(unfit);
    }
    let vocabulary = lesson.vocabulary().len() + family.special_pieces().len();
    Ok((Config { family, vocabulary, architecture: written(&lesson.model.architecture, family) }, readout))
}

/// Returns the config of a decoder with rotary positions.
fn decoder(lesson: &Lesson) -> Result<Config, Vec<Unfit>> {
    let architecture = &lesson.model.architecture;
    if let Some(alone) = attention_alone(architecture) {
        return Err(vec![alone]);
    }
    // All these families have the same pieces after the words.
    let vocabulary = lesson.vocabulary().len() + Family::Llama.special_pieces().len();
    let config = decoders::config(architecture, vocabulary)?;
    let unfit: Vec<Unfit> = among_some_words(lesson).into_iter().chain(cut_words(lesson, config.family)).collect();
    if unfit.is_empty() { Ok(config) } else { Err(unfit) }
}

/// Returns a finding if the objective chooses among some words only, which needs a readout bias that excludes the
/// others.
fn among_some_words(lesson: &Lesson) -> Option<Unfit> {
    let is_among = matches!(&lesson.model.objective, Objective::MaskedWord { among, .. } if !among.is_empty());
    is_among.then(|| Unfit::new(&["model", "objective"], "MaskedWord over some words", "all words"))
}

/// Returns a finding if the written tokenizer would split a word.
fn cut_words(lesson: &Lesson, family: Family) -> Option<Unfit> {
    let word = cut_word(&lesson.vocabulary(), family).cloned()?;
    let expected =
        "words of letters and digits, with apostrophes only inside a word, which the tokenizer does not split";
    Some(Unfit::new(&["corpus"], &format!("the word {word:?}"), expected))
}

/// Returns the family whose form may fit a lesson's own model, by its objective and its mask.
fn family(lesson: &Lesson) -> Result<Family, Unfit> {
    let objective = &lesson.model.objective;
    if matches!(objective, Objective::Sequence(_)) {
        return Ok(translators::family(&lesson.model.architecture));
    }
    if matches!(objective, Objective::Label) {
        let expected = "MaskedWord, NextWord or Sequence, the objectives of models that are written as folders";
        return Err(Unfit::new(&["model", "objective"], objective.name(), expected));
    }
    match lesson.model.architecture.blocks[0].attention.mask {
        Mask::Causal => Ok(Family::Gpt2),
        Mask::None => Ok(Family::Bert),
        Mask::Custom(_) => {
            Err(Unfit::new(&["model", "mask"], "Custom", "None, as in BERT's shape, or Causal, as in GPT-2's"))
        }
    }
}

/// Lists the fields of a lesson that a family's form cannot express.
fn unfit(lesson: &Lesson, family: Family) -> Vec<Unfit> {
    let architecture = &lesson.model.architecture;
    let objective = among_some_words(lesson).filter(|_| family == Family::Gpt2);
    let has_source = architecture.has_source();
    let forms = forms_of_today(architecture).into_iter();
    let forms = forms.filter(|(field, _)| !has_source || !translators::has_field(field, architecture, family));
    let forms = forms.map(|(field, found)| Unfit { field, found, expected: "the usual form".to_owned() });
    let fields = objective.into_iter().chain(of_attention(architecture)).chain(forms);
    let of_shape =
        if has_source { translators::unfit(architecture, family) } else { of_one_sentence(architecture, family) };
    let mut unfit: Vec<Unfit> = fields.chain(of_shape).map(|unfit| unfit.needed_by(family)).collect();
    unfit.extend(cut_words(lesson, family));
    unfit
}

/// Lists the fields of the attention that no family can express.
fn of_attention(architecture: &Architecture) -> Vec<Unfit> {
    let block = &architecture.blocks[0];
    let attention = &block.attention;
    let flags: [Field<bool>; 3] = [
        (&["model", "projections"], attention.projected, true),
        (&["model", "output"], attention.output, true),
        (&["model", "residual"], block.residual, true),
    ];
    let temperature: Field<f64> = (&["model", "temperature"], attention.temperature, 1.0);
    differing(flags).into_iter().chain(differing([temperature])).collect()
}

/// Lists the fields that a family of models without a source cannot express.
fn of_one_sentence(architecture: &Architecture, family: Family) -> Vec<Unfit> {
    let block = &architecture.blocks[0];
    let attention = &block.attention;
    let is_gpt2 = family == Family::Gpt2;
    let flags: [Field<bool>; 4] = [
        (&["model", "scale"], attention.scale, attention.scale || !is_gpt2),
        (&["model", "embedding_norm"], architecture.embedding_norm, !is_gpt2),
        (&["model", "final_norm"], architecture.final_norm, is_gpt2),
        (&["model", "readout_bias"], architecture.readout_bias, architecture.readout_bias && !is_gpt2),
    ];
    let mut unfit = differing(flags);
    let widths: [(FieldPath, usize); 2] =
        [(&["model", "key_width"], attention.key_width), (&["model", "value_width"], attention.value_width)];
    for (field, width) in widths {
        if width * attention.heads != architecture.width {
            let head_width = architecture.width / attention.heads;
            let expected = format!("the model's width divided by its number of heads ({head_width})");
            unfit.push(Unfit::new(field, &width.to_string(), &expected));
        }
    }
    if attention.distances.is_some() {
        unfit.push(Unfit::new(&["model", "positions"], "Distances", "Learned (or Sinusoidal or None)"));
    }
    unfit.extend(of_block(architecture, family));
    unfit
}

/// Lists the fields of the layer around the attention, and of the readout, that the family cannot express.
fn of_block(architecture: &Architecture, family: Family) -> Vec<Unfit> {
    let block = &architecture.blocks[0];
    let is_gpt2 = family == Family::Gpt2;
    let mut unfit = other_norm(block, if is_gpt2 { Norm::Pre } else { Norm::Post });
    unfit.extend(attention_alone(architecture));
    let (readout, is_of_gpt2) = match architecture.readout {
        Readout::Tied => ("Tied", true),
        Readout::Linear => ("Linear", true),
        Readout::Transformed(_) => ("Transformed", false),
        Readout::TransformedLinear(_) => ("TransformedLinear", false),
    };
    if is_of_gpt2 != is_gpt2 {
        unfit.push(Unfit::new(&["model", "readout"], readout, if is_gpt2 { "Tied or Linear" } else { "Transformed" }));
    }
    unfit
}

/// Returns the architecture in the family's form, with parts that the lesson lacks, which are written as zeros.
fn written(architecture: &Architecture, family: Family) -> Architecture {
    if architecture.has_source() {
        return translators::written(architecture, family);
    }
    let block = &architecture.blocks[0];
    let attention = &block.attention;
    let written = Plain {
        width: architecture.width,
        layers: architecture.blocks.len(),
        heads: attention.heads,
        hidden: block.feed_forward.unwrap_or_default(),
        positions: architecture.max_tokens,
        norm: block.norm,
        norm_epsilon: architecture.norm_form.epsilon,
        activation: block.activation,
        mask: attention.mask.clone(),
        types: usize::from(family != Family::Gpt2),
        readout: architecture.readout,
    };
    let mut written = written.architecture();
    written.blocks.iter_mut().for_each(|block| block.attention.scale = attention.scale);
    written
}

/// Lists newer features, which the forms of BERT and GPT-2 do not have, each with its field.
fn forms_of_today(architecture: &Architecture) -> Vec<(FieldPath, String)> {
    let block = &architecture.blocks[0];
    let layer = &block.attention;
    let usual = NormForm::layer(block.norm_form.epsilon);
    let number = |found: Option<f64>| found.map(|number| number.to_string());
    let said = |is_said: bool, found: &str| is_said.then(|| found.to_owned());
    let forms: [(FieldPath, Option<String>); 17] = [
        (&["model", "key_value_heads"], (layer.group_size > 1).then(|| layer.key_value_heads().to_string())),
        (&["model", "output_bias"], said(layer.output_bias != layer.bias, "a value other than that of bias")),
        (&["model", "query_key_norm"], said(layer.query_key_norm.is_some(), "a norm of queries and keys")),
        (&["model", "positions"], said(layer.rotary.is_some(), "Rotary")),
        (&["model", "score_divisor"], number(Some(layer.score_divisor).filter(|divisor| *divisor != 1.0))),
        (&["model", "score_cap"], number(layer.score_cap)),
        (&["model", "window"], said(layer.window != Window::ALL, "a window")),
        (&["model", "attention_norm"], said(!block.attention_norm, "false")),
        (&["model", "output_norms"], said(block.output_norms, "true")),
        (&["model", "branches"], said(block.branches != Branches::Sequential, "parallel branches")),
        (&["model", "gated"], said(block.gated, "true")),
        (&["model", "feed_forward_bias"], said(!block.forward_bias, "false")),
        (&["model", "norm_kind"], said(block.norm_form != usual, "a norm other than a layer norm")),
        (&["model", "activation"], said(block.activation == Activation::Silu, "Silu")),
        (&["model", "embedding_scale"], number(architecture.embedding_scale)),
        (&["model", "logit_cap"], number(architecture.logit_cap)),
        (&["model", "logit_scale"], number(architecture.logit_scale)),
    ];
    forms.into_iter().filter_map(|(field, found)| Some((field, found?))).collect()
}

/// Returns the first word that the written tokenizer would split into several pieces; `None` if there is none.
fn cut_word(words: &[String], family: Family) -> Option<&String> {
    let tokenizer = Tokenizer::read(TokenizerFiles::Json(&of_words(words, family).to_json()));
    let whole = |id: usize, word: &str| {
        let pieces = tokenizer.as_ref().ok().and_then(|tokenizer| Some(tokenizer.encode(word).ok()?.pieces));
        pieces.is_some_and(|pieces| pieces.len() == 1 && pieces[0].id as usize == id)
    };
    words.iter().enumerate().find(|(id, word)| !whole(*id, word)).map(|(_, word)| word)
}
