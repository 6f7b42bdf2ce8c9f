//! A recording that a lesson uses instead of a model: its form, and the vocabulary of its tokens.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_engine::messages::counted;
use attune_engine::numerics::attention::AttentionConfig;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::model::{Architecture, Pooling, Readout};
use attune_engine::numerics::positions::Positions;
use attune_engine::pretrained::Refusal;
use attune_engine::pretrained::safetensors::FileTensor;
use attune_engine::pretrained::tokenizer::spelling::Spelling;
use attune_engine::recording::parts::{Part, Side};
use attune_engine::recording::{Attention, RecordedText, Recording};

use crate::lesson::schema::limits::PIECES_MAX;

/// Greatest size of the weights, in bytes, that are checked when a recording is opened. The weights of larger files are
/// checked while the recording is shown.
const CHECKED_FIRST_BYTES_MAX: u64 = 32 << 20;

/// Greatest number of tokens of a long text that are shown at once, because the stage and the maps show no more.
pub const STRETCH: usize = 128;

/// Greatest number of values, 2 GiB of them, that the shown stretch of a text may take in memory in addition to those
/// in the file. Vectors that heads share, and vectors of blocks without states, are kept for each head and each block.
const NUMBERS_MAX: usize = 512 << 20;

/// Number of matrices of hidden states that are kept for a block: its sums, its terms and its output.
const STATES_OF_BLOCK: usize = 3;

/// The reason why only a recorded text can be shown.
pub const ONE_PASS: &str = "a recording holds one pass, not the model";

/// A recording that is open.
#[derive(Debug)]
pub struct RecordedModel {
    pub path: PathBuf,
    /// Name of the model that was recorded, or else of the file.
    pub name: String,
    pub recording: Recording,
    /// Form of the first text's pass. A text of another form is not shown.
    pub architecture: Architecture,
    /// The different tokens of all texts that have the form of the first, as they are shown.
    pub vocabulary: Arc<[String]>,
    /// The names of the logits' columns, or their numbers.
    pub classes: Arc<[String]>,
    /// The rows of the vocabulary of each text's tokens; a text of another form has none.
    rows: Vec<TokenRows>,
    /// Titles by which the texts are chosen; no two are equal.
    titles: Vec<String>,
}

/// The tokens of a text as rows of the vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenRows {
    pub own: Vec<usize>,
    pub source: Option<Vec<usize>>,
}

impl PartialEq for RecordedModel {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// One text of a recording, in the form in which a model reads it. An encoder that was recorded alone is a model of one
/// tower.
#[derive(Clone, Copy)]
pub struct Towers<'a> {
    text: &'a RecordedText,
    is_encoder_alone: bool,
}

/// The tokens of one tower.
#[derive(Clone, Copy)]
pub struct TowerTokens<'a> {
    pub tokens: &'a [String],
    /// Positions of the tokens that the tokenizer added.
    pub special: &'a [usize],
}

impl<'a> Towers<'a> {
    pub fn of(text: &'a RecordedText) -> Self {
        let is_of_encoder = |attention: &Attention| attention.side == Side::Encoder;
        let has_own = !text.states.is_empty() || !text.attentions.iter().all(is_of_encoder);
        let has_encoder = !text.source_states.is_empty() || !text.attentions.is_empty();
        Self { text, is_encoder_alone: !has_own && has_encoder }
    }

    /// Returns the tokens of the tower that is shown as the sentence.
    pub fn own(&self) -> TowerTokens<'a> {
        let about = &self.text.about;
        match self.encoder() {
            Some(encoder) if self.is_encoder_alone => encoder,
            _ => TowerTokens { tokens: &about.tokens, special: &about.special },
        }
    }

    /// Returns the tokens of the source, or `None` if the text has none, or neither attention to them nor hidden states
    /// of them were recorded.
    pub fn source(&self) -> Option<TowerTokens<'a>> {
        let of_source = |attention: &Attention| attention.side.keys_are_of_source();
        let is_used = !self.text.source_states.is_empty() || self.text.attentions.iter().any(of_source);
        self.encoder().filter(|_| is_used && !self.is_encoder_alone)
    }

    fn encoder(&self) -> Option<TowerTokens<'a>> {
        let about = &self.text.about;
        Some(TowerTokens { tokens: about.source_tokens.as_deref()?, special: &about.source_special })
    }

    /// Returns the number of the word to which each token of the sentence belongs, if these numbers were recorded.
    pub fn words(&self) -> Option<&'a [Option<i64>]> {
        self.text.about.words.as_deref().filter(|_| !self.is_encoder_alone)
    }

    /// Returns whether both the queries and the keys of an attention are tokens of the source.
    pub fn is_of_source(&self, attention: &Attention) -> bool {
        attention.side == Side::Encoder && !self.is_encoder_alone
    }

    /// Returns the hidden states of the source's tower, or of the sentence's.
    pub fn states(&self, of_source: bool) -> &'a BTreeMap<usize, FileTensor> {
        if of_source || self.is_encoder_alone { &self.text.source_states } else { &self.text.states }
    }

    /// Returns the width of all hidden states. Returns `None` if their widths differ, or if there are fewer than two of
    /// a tower, which are too few for a picture.
    pub fn width(&self) -> Option<usize> {
        let width = |of_source: bool| {
            let states = self.states(of_source);
            states.values().next().filter(|_| states.len() > 1).map(|state| state.shape[1])
        };
        let own = width(false)?;
        (self.source().is_none() || width(true) == Some(own)).then_some(own)
    }

    /// Returns the logits, if they have a row for each token of the sentence, or one for all.
    pub fn logits(&self) -> Option<&'a FileTensor> {
        let tokens = self.own().tokens.len();
        self.text.logits.as_ref().filter(|logits| [1, tokens].contains(&logits.shape[0]))
    }

    /// Returns whether one row of logits answers for several tokens.
    pub fn is_answered_as_whole(&self) -> bool {
        self.own().tokens.len() > 1 && self.logits().is_some_and(|logits| logits.shape[0] == 1)
    }

    /// Returns the layers that have blocks: those with an attention or, if no attention was recorded, those with a
    /// hidden state before or after them.
    fn own_layers(&self) -> Vec<(usize, Option<&'a Attention>)> {
        let own = self.text.attentions.iter().filter(|attention| !self.is_of_source(attention));
        let own: Vec<_> = own.map(|attention| (attention.layer, Some(attention))).collect();
        if !own.is_empty() {
            return own;
        }
        let states = self.states(false);
        let ends = states.keys().next().zip(states.keys().next_back());
        let (first, last) = ends.map_or((0, 0), |(first, last)| (*first, *last));
        // If only logits were recorded, nothing is known of the layers, and one is assumed.
        let has_state =
            |layer: &usize| states.is_empty() || states.contains_key(layer) || states.contains_key(&(layer + 1));
        (first..last.max(first + 1)).filter(has_state).map(|layer| (layer, None)).collect()
    }

    /// Returns the layer and the attention of each block, the source's first.
    pub fn blocks(&self) -> Vec<(usize, Option<&'a Attention>)> {
        let of_source = self.text.attentions.iter().filter(|attention| self.is_of_source(attention));
        of_source.map(|attention| (attention.layer, Some(attention))).chain(self.own_layers()).collect()
    }

    /// Returns the hidden states with which the first block of a tower begins, or else the first hidden states of the
    /// tower.
    pub fn first_state(&self, of_source: bool) -> Option<&'a FileTensor> {
        let is_of_tower = |(_, attention): &(usize, Option<&Attention>)| {
            attention.is_some_and(|attention| self.is_of_source(attention)) == of_source
        };
        let before = self.blocks().iter().position(is_of_tower).and_then(|block| self.around(block)[0]);
        before.map(|(_, state)| state).or_else(|| self.states(of_source).values().next())
    }

    /// Returns the number of values that a stretch takes in memory in addition to those of the file.
    fn numbers(&self) -> usize {
        let tokens = self.own().tokens.len().max(self.source().map_or(0, |source| source.tokens.len()));
        let of_block = |(_, attention): (usize, Option<&Attention>)| {
            let last_axis = |part: Part| attention.and_then(|of| of.part(part)).map_or(0, |tensor| tensor.shape[2]);
            // The values are kept, and so are the mixes, which have the same width.
            let of_head = last_axis(Part::Keys) + 2 * last_axis(Part::Values);
            STATES_OF_BLOCK * self.width().unwrap_or(0) + attention.map_or(0, |of| of.heads) * of_head
        };
        tokens.min(STRETCH) * self.blocks().into_iter().map(of_block).sum::<usize>()
    }

    /// Returns the hidden states with which a block begins and ends, each with the number of layers before it. A block
    /// ends with the states with which the next block begins; these are the states after its own layer, unless layers
    /// without a block follow. Between the two attentions of a decoder's layer, there are none.
    pub fn around(&self, block: usize) -> [Option<(usize, &'a FileTensor)>; 2] {
        let blocks = self.blocks();
        let of_source = |at: usize| blocks[at].1.is_some_and(|attention| self.is_of_source(attention));
        let states = self.states(of_source(block));
        let (layer, _) = blocks[block];
        let before = states.range(..=layer).next_back().or_else(|| states.iter().next());
        let is_second = block > 0 && of_source(block - 1) == of_source(block) && blocks[block - 1].0 == layer;
        let next = (block + 1 < blocks.len() && of_source(block + 1) == of_source(block)).then(|| blocks[block + 1].0);
        let behind = match next {
            Some(next) if next == layer => None,
            Some(next) => states.range(layer + 1..=next).next_back(),
            None => states.iter().next_back(),
        };
        [before.filter(|_| !is_second), behind].map(|found| found.map(|(layer, state)| (*layer, state)))
    }
}

impl RecordedModel {
    /// Opens a recording. The weights of a small file are all checked at once.
    ///
    /// # Errors
    /// A refusal for each fault of the file.
    pub fn open(path: &Path) -> Result<Self, Vec<Refusal>> {
        let recording = Recording::open(path)?;
        let attentions = || recording.texts.iter().flat_map(|text| &text.attentions);
        if attentions().map(|attention| attention.weights().bytes()).sum::<u64>() <= CHECKED_FIRST_BYTES_MAX {
            let faults: Vec<Refusal> = attentions().filter_map(|attention| recording.sums(attention).err()).collect();
            if !faults.is_empty() {
                return Err(faults);
            }
        }
        let first = recording.texts.first().ok_or_else(Vec::new)?;
        let faults: Vec<Refusal> = recording.texts.iter().filter_map(size_fault).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let architecture = architecture(&recording, first);
        let columns = Towers::of(first).logits().map_or(0, |logits| logits.shape[1]);
        let numbers = || (0..columns).map(|class| class.to_string()).collect();
        let classes = first.about.classes.clone().map_or_else(numbers, Arc::from);
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = first.about.model.clone().unwrap_or_else(|| file.into_owned());
        let (vocabulary, rows) = vocabulary(&recording.texts);
        let titles = titles(&recording.texts);
        Ok(Self { path: path.to_owned(), name, architecture, vocabulary, classes, rows, titles, recording })
    }

    /// Returns the tokens of a text as rows of the vocabulary.
    pub fn rows(&self, text: usize) -> &TokenRows {
        &self.rows[text]
    }

    /// Returns the title by which a text is chosen: the recorded text, or else its tokens, with a number if an earlier
    /// text has the same title.
    pub fn title(&self, text: usize) -> String {
        self.titles[text].clone()
    }

    /// Returns the tokens of the text with a title, as far as they are shown.
    pub fn tokens_of(&self, title: &str) -> Vec<String> {
        let text = self.titles.iter().position(|own| own == title);
        let rows = text.map_or(&[][..], |text| &self.rows[text].own);
        rows.iter().take(PIECES_MAX).map(|row| self.vocabulary[*row].clone()).collect()
    }

    /// Checks that a text exists and has the form of the first.
    ///
    /// # Errors
    /// A message for the learner if there is no such text, or it is of another form than the first.
    pub fn check_text(&self, text: usize) -> Result<(), String> {
        let count = self.recording.texts.len();
        let Some(recorded) = self.recording.texts.get(text) else {
            return Err(format!("there is no text {}; the recording has {count}", text.saturating_add(1)));
        };
        match difference(&self.recording.texts[0], recorded) {
            Some(what) => Err(format!(
                "text {} was recorded with other {what} than the first; open it as a file of its own",
                text + 1
            )),
            None => Ok(()),
        }
    }

    /// Returns a description of the recording's size.
    pub fn about(&self) -> String {
        let first = &self.recording.texts[0];
        let towers = Towers::of(first);
        let mut tokens = counted(towers.own().tokens.len(), "token");
        if let Some(source) = towers.source() {
            tokens += &format!(" and {} of the source", source.tokens.len());
        }
        let heads = counted(self.architecture.heads(), "head");
        let blocks = counted(first.attentions.len(), "attention");
        match self.recording.texts.len() {
            1 => format!("A recording of {tokens}: {blocks} with {heads} in all"),
            texts => format!("A recording of {texts} texts, the first of {tokens}: {blocks} with {heads} in all"),
        }
    }
}

/// Returns a few words on how a text differs from the first, or `None` if both are passes of one form.
fn difference(first: &RecordedText, text: &RecordedText) -> Option<&'static str> {
    let [a, b] = [first, text].map(Towers::of);
    let [own, other] = [&a, &b].map(Towers::blocks);
    let kinds = |blocks: &[(usize, Option<&Attention>)]| {
        blocks.iter().map(|(layer, of)| (*layer, of.map(|of| of.side))).collect::<Vec<_>>()
    };
    let pairs = || own.iter().zip(&other).filter_map(|((_, own), (_, other))| Some(((*own)?, (*other)?)));
    let shape = |of: &Attention, part: Part| of.part(part).map(|tensor| tensor.shape.clone());
    // Heads and widths of a part, whose other axis is that of the tokens.
    let axes = |of: &Attention, part: Part| of.part(part).map(|tensor| [tensor.shape[0], tensor.shape[2]]);
    let vectors = [Part::Queries, Part::Keys, Part::Values];
    let is_one_token = |towers: &Towers<'_>| towers.own().tokens.len() == 1;
    let columns = |towers: &Towers<'_>| towers.logits().map(|logits| logits.shape[1]);
    let differences = [
        (kinds(&own) != kinds(&other) || a.source().is_some() != b.source().is_some(), "layers"),
        (a.width() != b.width(), "hidden states or widths of them"),
        (pairs().any(|(own, other)| own.heads != other.heads), "heads"),
        (
            pairs().any(|(own, other)| vectors.into_iter().any(|part| axes(own, part) != axes(other, part))),
            "queries, keys or values, or widths or heads of them",
        ),
        (
            pairs().any(|(own, other)| {
                shape(own, Part::OutputWeight) != shape(other, Part::OutputWeight)
                    || own.part(Part::ScoreBias).is_some() != other.part(Part::ScoreBias).is_some()
            }),
            "output weights or biases of scores",
        ),
        (columns(&a) != columns(&b) || first.about.classes != text.about.classes, "logits or classes"),
        // With a single token, a single row is both a row for each token and a row for all of them.
        (a.is_answered_as_whole() != b.is_answered_as_whole() && !is_one_token(&b), "rows of logits"),
    ];
    differences.into_iter().find_map(|(is_other, what)| is_other.then_some(what))
}

/// Returns a refusal if a text would take too much memory, because many heads or blocks share small tensors.
fn size_fault(text: &RecordedText) -> Option<Refusal> {
    let towers = Towers::of(text);
    let numbers = towers.numbers();
    if numbers <= NUMBERS_MAX {
        return None;
    }
    let first = towers.blocks().into_iter().find_map(|(_, attention)| Some(attention?.weights()));
    let name = first.or_else(|| towers.states(false).values().next()).map_or("", |tensor| &tensor.name);
    let found = format!("{numbers} numbers of all blocks and heads in a stretch of {STRETCH} tokens");
    let expected = format!("at most {NUMBERS_MAX}: layers, tokens and widths, and heads, tokens and widths");
    Some(Refusal::new(found, expected, "record fewer layers").of_tensor(name))
}

/// Returns the titles by which the texts are chosen.
fn titles(texts: &[RecordedText]) -> Vec<String> {
    let mut used = HashSet::new();
    let title = |text: &RecordedText| {
        let tokens = || {
            let towers = Towers::of(text);
            readable(towers.source().unwrap_or_else(|| towers.own())).join(" ")
        };
        let title = text.about.text.clone().unwrap_or_else(tokens);
        let mut numbered = title.clone();
        for number in 2.. {
            if used.insert(numbered.clone()) {
                break;
            }
            numbered = format!("{title} ({number})");
        }
        numbered
    };
    texts.iter().map(title).collect()
}

/// Returns the tokens of a tower, written as the pieces of a model are.
fn readable(tower: TowerTokens<'_>) -> Vec<String> {
    let spelling = Spelling::guessed(tower.tokens);
    tower.tokens.iter().map(|token| shown(&spelling, token)).collect()
}

/// Returns the different tokens of all texts that have the form of the first, in their order, and the tokens of each
/// text as rows. Where there are hidden states, each of these tokens has some in the file, so a vector for each takes
/// no more memory than the file.
fn vocabulary(texts: &[RecordedText]) -> (Arc<[String]>, Vec<TokenRows>) {
    let (mut words, mut known): (Vec<String>, HashMap<String, usize>) = Default::default();
    let mut row = |word: String| {
        *known.entry(word).or_insert_with_key(|word| {
            words.push(word.clone());
            words.len() - 1
        })
    };
    let rows = texts.iter().map(|text| {
        if difference(&texts[0], text).is_some() {
            return TokenRows::default();
        }
        let towers = Towers::of(text);
        let mut of = |tower: TowerTokens<'_>| readable(tower).into_iter().map(&mut row).collect::<Vec<_>>();
        TokenRows { own: of(towers.own()), source: towers.source().map(of) }
    });
    let rows = rows.collect();
    (words.into(), rows)
}

/// Returns a token, written as the pieces of a model are: without the mark of a word's beginning.
fn shown(spelling: &Spelling, token: &str) -> String {
    let shown = spelling.shown(token);
    let text = shown.strip_prefix(' ').unwrap_or(&shown);
    if text.is_empty() { token.to_owned() } else { text.to_owned() }
}

/// Returns the architecture of a model that reads the text, without the parts that were not recorded.
fn architecture(recording: &Recording, text: &RecordedText) -> Architecture {
    let towers = Towers::of(text);
    let width = towers.width().unwrap_or(0);
    let tokens = towers.own().tokens.len().max(towers.source().map_or(0, |source| source.tokens.len()));
    let (mut source_blocks, mut blocks, mut layers) = (Vec::new(), Vec::new(), Vec::new());
    for (layer, attention) in towers.blocks() {
        let is_of_source = attention.is_some_and(|attention| towers.is_of_source(attention));
        let to = if is_of_source { &mut source_blocks } else { &mut blocks };
        to.push(block(recording, attention, width, tokens));
        layers.push(layer);
    }
    let one = BlockConfig::plain(AttentionConfig::parameter_free(width)).attention;
    Architecture {
        source_blocks,
        blocks,
        layers: Some(layers.into()),
        pooling: if towers.is_answered_as_whole() { Pooling::Mean } else { Pooling::Every },
        readout: Readout::Linear,
        readout_bias: false,
        ..Architecture::of_attention(one, Positions::None, tokens)
    }
}

fn block(recording: &Recording, attention: Option<&Attention>, width: usize, tokens: usize) -> BlockConfig {
    let none = AttentionConfig { heads: 0, key_width: 0, value_width: 0, ..AttentionConfig::parameter_free(width) };
    let Some(attention) = attention else { return BlockConfig::plain(none) };
    let last_axis = |part: Part| attention.part(part).map_or(0, |tensor| tensor.shape[2]);
    let key_width = last_axis(Part::Queries);
    let even = (key_width as f64).sqrt().recip();
    // A number that cannot be read is reported when its head is read.
    let scale = recording.scale(attention, 0).ok().flatten().unwrap_or(even);
    let is_even = (scale - even).abs() <= f64::from(f32::EPSILON) * even;
    let config = AttentionConfig {
        heads: attention.heads,
        group_size: attention.key_value_heads().map_or(1, |own| attention.heads / own),
        key_width,
        value_width: last_axis(Part::Values),
        projected: true,
        output: true,
        scale: is_even,
        score_divisor: if is_even { 1.0 } else { scale.recip() },
        score_cap: recording.cap(attention, 0).ok().flatten(),
        distances: attention.part(Part::ScoreBias).map(|_| DistanceForm::of_each(tokens)),
        ..none
    };
    let attends = if attention.side == Side::Cross { Attends::Source } else { Attends::OwnSentence };
    BlockConfig { attends, ..BlockConfig::plain(config) }
}
