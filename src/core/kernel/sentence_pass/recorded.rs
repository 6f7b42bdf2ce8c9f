//! The pass of a recorded text: the quantities of a model's pass, read from the file. A part that was not recorded is a
//! matrix without columns; [`RecordedPass::has`] says which parts were recorded.
//!
//! Only a stretch of a long text is read: at most [`STRETCH`] tokens from a given place on. Mixes and the denominators
//! of softmaxes are nevertheless sums over all keys of the text, of which only those in the stretch are shown.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::Activations;
use attune_engine::numerics::model::activations::{Arithmetic, BlockActivations, HeadActivations, SourceActivations};
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::table::Table;
use attune_engine::numerics::vectors::add_scaled;
use attune_engine::pretrained::Refusal;
use attune_engine::quantity::Quantity;
use attune_engine::recording::about::Grid;
use attune_engine::recording::parts::Part;
use attune_engine::recording::{Attention, RecordedText, Recording, mixes};

use crate::kernel::values::sentence::{Answers, PieceText, TextPiece, Token, likeliest};
pub use crate::lesson::recorded::STRETCH;
use crate::lesson::recorded::{RecordedModel, TowerTokens, Towers};

/// Greatest number of values that are kept in memory for the terms of all blocks of a pass, `Σ H T_k D`.
const TERMS_MAX: usize = 64 << 20;

/// A stretch of a text of a recording.
#[derive(Clone, Debug)]
pub struct RecordedPlace {
    pub model: Arc<RecordedModel>,
    pub text: usize,
    /// The first token of the stretch.
    pub first: usize,
}

impl PartialEq for RecordedPlace {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && (self.text, self.first) == (other.text, other.first)
    }
}

impl RecordedPlace {
    /// Returns the place of the stretch that begins at the token `first`, or of the text's last stretch if fewer than
    /// [`STRETCH`] tokens are left from there on.
    pub fn new(model: Arc<RecordedModel>, text: usize, first: usize) -> Self {
        let rows = model.rows(text);
        let longest = rows.own.len().max(rows.source.as_ref().map_or(0, Vec::len));
        let first = first.min(longest.saturating_sub(STRETCH));
        Self { model, text, first }
    }

    /// Returns the whole text, of which the stretch is a part.
    pub(super) fn recorded(&self) -> &RecordedText {
        &self.model.recording.texts[self.text]
    }

    /// Returns whether another place is in the same text, regardless of the stretch.
    pub fn is_same_text(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && self.text == other.text
    }

    /// Returns the grid of the picture whose patches the tokens are; `None` if they are not patches.
    pub fn grid(&self) -> Option<Grid> {
        self.recorded().about.grid
    }

    /// Returns the range of the stretch's tokens, in the sentence or in its source.
    pub fn tokens(&self, of_source: bool) -> Range<usize> {
        let count = self.count(of_source);
        let first = self.first.min(count.saturating_sub(STRETCH));
        first..(first + STRETCH).min(count)
    }

    /// Returns the number of tokens of the text, or of its source.
    pub fn count(&self, of_source: bool) -> usize {
        let rows = self.model.rows(self.text);
        if of_source { rows.source.as_ref().map_or(0, Vec::len) } else { rows.own.len() }
    }

    /// Returns the rows of the vocabulary of the stretch's tokens.
    pub fn words(&self) -> &[usize] {
        &self.model.rows(self.text).own[self.tokens(false)]
    }

    /// Returns the text with the pieces of the stretch's tokens, or `None` if the text has a source.
    pub fn piece_text(&self) -> Option<PieceText> {
        let recorded = self.recorded();
        let towers = Towers::of(recorded);
        let whole = || PieceText::of_recorded(recorded.about.text.as_deref(), &towers, self);
        let PieceText { text, pieces } = towers.source().is_none().then(whole)?;
        Some(PieceText { text, pieces: pieces[self.tokens(false)].to_vec() })
    }

    /// Returns the tokens of the stretch, and those of its source if there is one.
    fn read_tokens(&self) -> (Vec<Token>, Option<Vec<Token>>) {
        let towers = Towers::of(self.recorded());
        let whole = self.piece_text();
        let token =
            |row: usize, piece| Token { text: self.model.vocabulary[row].clone(), word: Some(row), piece: Some(piece) };
        let cut = |at: usize| whole.as_ref().and_then(|whole| whole.pieces.get(at).cloned());
        let own = self.words().iter().zip(self.tokens(false)).enumerate();
        let own = own.map(|(at, (row, place))| token(*row, cut(at).unwrap_or_else(|| towers.own().piece(place))));
        let source = towers.source().zip(self.source_words()).map(|(source, words)| {
            words.iter().zip(self.tokens(true)).map(|(row, at)| token(*row, source.piece(at))).collect()
        });
        (own.collect(), source)
    }

    /// Returns the rows of the vocabulary of the source's tokens in the stretch, or `None` without a source.
    pub fn source_words(&self) -> Option<&[usize]> {
        Some(&self.model.rows(self.text).source.as_ref()?[self.tokens(true)])
    }
}

/// The recorded pass of a stretch of a text.
#[derive(Debug)]
pub struct RecordedPass {
    pub place: RecordedPlace,
    pub tokens: Vec<Token>,
    pub source: Option<Vec<Token>>,
    pub activations: Activations<f32>,
    pub arithmetic: Vec<Arc<Arithmetic<f32>>>,
    pub contributions: Vec<Arc<Contributions<f32>>>,
    pub answers: Arc<Answers>,
    /// Parts of each block that were recorded.
    pub blocks: Vec<BlockParts>,
    /// The first reason why a part of the file could not be read, if there is one.
    pub trouble: Option<Arc<str>>,
}

/// The parts of a block that were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockParts {
    pub attention: bool,
    pub scores: bool,
    pub values: bool,
    /// The terms that keys add, which need values, the output map and hidden states.
    pub terms: bool,
    /// The hidden states at the beginning (`input`) and at the end (`output`) of this very block. Without them, those
    /// of the nearest recorded layer are used.
    pub input: bool,
    pub output: bool,
}

impl RecordedPass {
    /// Reads a stretch of a text. Numbers that cannot be read are NaN.
    pub fn read(place: &RecordedPlace) -> Self {
        let towers = Towers::of(place.recorded());
        let mut reader = Reader { place, towers, trouble: None };
        let own = reader.first_states(false);
        let source = towers.source().map(|_| reader.first_states(true));
        let (tokens, source_tokens) = place.read_tokens();
        let mut pass = Self {
            place: place.clone(),
            tokens,
            source: source_tokens,
            activations: Activations {
                embedded: None,
                input: own.clone(),
                source: source.clone().map(|source| SourceActivations {
                    embedded: None,
                    memory: source.clone(),
                    input: source,
                }),
                blocks: Vec::new(),
                output: own.clone(),
            },
            arithmetic: Vec::new(),
            contributions: Vec::new(),
            answers: reader.answers(),
            blocks: Vec::new(),
            trouble: None,
        };
        let mut source = source.unwrap_or_else(|| Arc::new(Matrix::zeros(0, 0)));
        for (number, (layer, attention)) in towers.blocks().into_iter().enumerate() {
            let of_source = attention.is_some_and(|attention| towers.is_of_source(attention));
            let stream = if of_source { &mut source } else { &mut pass.activations.output };
            let read = reader.block((number, layer), attention, stream.clone());
            *stream = read.activations.output.clone();
            pass.activations.blocks.push(Arc::new(read.activations));
            pass.arithmetic.extend(read.arithmetic.into_iter().map(Arc::new));
            pass.contributions.push(Arc::new(read.contributions));
            pass.blocks.push(read.parts);
        }
        Self { trouble: reader.trouble, ..pass }
    }

    /// Returns whether a quantity of a block is known. A quantity of the whole model is asked for with block 0.
    pub fn has(&self, quantity: Quantity, block: usize) -> bool {
        use Quantity::*;
        let Some(parts) = self.blocks.get(block) else { return false };
        match quantity {
            Weight => parts.attention,
            Query | Key | Product | Scale | Score | Exponential | RowSum => parts.scores,
            DistanceBias => parts.scores,
            Value | Mix => parts.values,
            Term | Arrow | TermLength | WordLength | HeadLength | HeadArrowLength => parts.terms,
            Summed => parts.terms && parts.input,
            Input => parts.input,
            Output => parts.output,
            Part | PartLength | MoveLength => parts.input && parts.output,
            Final => self.blocks.last().is_some_and(|last| last.output),
            Coordinate | Cosine | Distance | Static => self.has_states(),
            Logit | Probability => self.answers.logits.cols() > 0,
            Gain | Position | Embedded | Normed | Attended | Hidden | Joined | Visible | Temperature | Parameter(_) => {
                false
            }
        }
    }

    /// Returns the name of a block's tensor in the file, or `None` if the tensor was not recorded.
    pub fn tensor(&self, block: usize, part: Part) -> Option<String> {
        let (_, attention) = *Towers::of(self.place.recorded()).blocks().get(block)?;
        Some(attention?.part(part)?.name.clone())
    }

    /// Returns whether hidden states were recorded, without which there are no points.
    pub fn has_states(&self) -> bool {
        self.activations.input.cols() > 0
    }
}

struct Reader<'a> {
    place: &'a RecordedPlace,
    towers: Towers<'a>,
    trouble: Option<Arc<str>>,
}

/// A block as it was read.
struct ReadBlock {
    activations: BlockActivations<f32>,
    arithmetic: Vec<Arithmetic<f32>>,
    contributions: Contributions<f32>,
    parts: BlockParts,
}

/// Heads of a block and, if the text has keys outside the stretch, the mixes of the stretch's keys alone.
#[derive(Default)]
struct ReadHeads {
    heads: Vec<HeadActivations<f32>>,
    arithmetic: Vec<Arithmetic<f32>>,
    has_scores: bool,
    of_stretch: Vec<Matrix<f32>>,
}

impl Reader<'_> {
    fn recording(&self) -> &Recording {
        &self.place.model.recording
    }

    /// Returns the value if it was read. Otherwise keeps the reason for the failure, unless an earlier one is kept
    /// already.
    fn kept<T>(&mut self, read: Result<T, Refusal>) -> Option<T> {
        if let Err(refusal) = &read {
            self.trouble.get_or_insert_with(|| refusal.to_string().into());
        }
        read.ok()
    }

    /// Returns the matrix that was read, or a matrix of NaN if the reading failed.
    fn taken(&mut self, read: Result<Matrix<f32>, Refusal>, rows: usize, cols: usize) -> Matrix<f32> {
        self.kept(read).unwrap_or_else(|| Matrix::from_fn(rows, cols, |_, _| f32::NAN))
    }

    fn width(&self) -> usize {
        self.place.model.architecture.width
    }

    /// Reads the hidden states with which the first block begins. The matrix has no columns if they were not recorded.
    fn first_states(&mut self, of_source: bool) -> Arc<Matrix<f32>> {
        let (rows, width) = (self.place.tokens(of_source), self.width());
        let state = self.towers.first_state(of_source).filter(|_| width > 0);
        Arc::new(match state {
            Some(state) => {
                let read = self.recording().rows(state, 0, rows.clone());
                self.taken(read, rows.len(), width)
            }
            None => Matrix::zeros(rows.len(), 0),
        })
    }

    fn answers(&mut self) -> Arc<Answers> {
        let Some(tensor) = self.towers.logits() else {
            return Arc::new(Answers { logits: Matrix::zeros(0, 0), likeliest: Vec::new(), never: Vec::new() });
        };
        let is_whole = tensor.shape[0] == 1;
        let rows = if is_whole { 0..1 } else { self.place.tokens(false) };
        let read = self.recording().rows(tensor, 0, rows.clone());
        let logits = self.taken(read, rows.len(), tensor.shape[1]);
        let likeliest = (0..logits.rows()).map(|row| likeliest(logits.row(row), &[])).collect();
        Arc::new(Answers { logits, likeliest, never: Vec::new() })
    }

    /// Reads a block, given its number among all blocks and its layer.
    fn block(
        &mut self,
        (number, layer): (usize, usize),
        attention: Option<&Attention>,
        input: Arc<Matrix<f32>>,
    ) -> ReadBlock {
        let model = self.place.model.clone();
        let config = model.architecture.numbered_blocks().nth(number).map_or(&model.architecture.blocks[0], |of| of.1);
        let ReadHeads { heads, arithmetic, has_scores, of_stretch } =
            attention.map_or_else(ReadHeads::default, |attention| self.heads(attention));
        let [before, behind] = self.towers.around(number).map(|state| state.filter(|_| self.width() > 0));
        let mut parts = BlockParts {
            attention: attention.is_some(),
            scores: has_scores && !arithmetic.is_empty(),
            values: attention.is_some_and(|attention| attention.part(Part::Values).is_some()),
            terms: false,
            input: before.is_some_and(|(layers, _)| layers == layer),
            output: behind.is_some_and(|(layers, _)| layers == layer + 1),
        };
        let mut activations = of_heads(input, heads);
        let with_values = attention.filter(|_| self.width() > 0 && parts.values);
        let map = with_values.and_then(|attention| self.output_map(attention, config.attention.mixes_width()));
        parts.terms = map.is_some();
        let terms = |of: &BlockActivations<f32>| Contributions::of_recorded(config, map.as_deref(), of);
        let of_all = (parts.terms && !of_stretch.is_empty()).then(|| terms(&activations).added);
        let whole = exchanged(&mut activations.heads, of_stretch);
        let contributions = terms(&activations);
        exchanged(&mut activations.heads, whole);
        if parts.terms {
            sum(&mut activations, &contributions.added, of_all.as_ref());
        }
        let rows = attention.map_or(self.place.tokens(false), |attention| self.queries(attention));
        activations.output = match behind.map(|(_, state)| self.recording().rows(state, 0, rows.clone())) {
            Some(read) => Arc::new(self.taken(read, rows.len(), config.attention.width)),
            None if parts.terms => Arc::new(activations.summed.clone()),
            None => activations.input.clone(),
        };
        ReadBlock { activations, arithmetic, contributions, parts }
    }

    fn queries(&self, attention: &Attention) -> Range<usize> {
        self.place.tokens(self.towers.is_of_source(attention))
    }

    /// Returns the range of the keys that are shown; they are tokens of the source if the block attends to it.
    fn keys(&self, attention: &Attention) -> Range<usize> {
        self.place.tokens(attention.side.keys_are_of_source() && self.towers.source().is_some())
    }

    /// Reads `W_O`, if its shape fits the vectors, and there is room for all terms.
    fn output_map(&mut self, attention: &Attention, mixes_width: usize) -> Option<Vec<f32>> {
        let tensor = attention.part(Part::OutputWeight)?;
        let architecture = &self.place.model.architecture;
        let terms = architecture.heads() * STRETCH * self.width();
        let values = attention.part(Part::Values).map_or(0, |values| attention.heads * values.shape[2]);
        let fits = *tensor.shape == [mixes_width, self.width()] && values == mixes_width;
        if !fits || terms > TERMS_MAX {
            return None;
        }
        let read = self.recording().all(tensor);
        self.kept(read)
    }

    fn heads(&mut self, attention: &Attention) -> ReadHeads {
        let (queries, keys) = (self.queries(attention), self.keys(attention));
        let all = attention.weights().shape[2];
        // A mix and the denominator of a softmax are sums over all keys; if neither values nor scores were recorded,
        // the keys that are shown are enough.
        let has_sums = attention.has_scores() || attention.part(Part::Values).is_some();
        let known = if has_sums { 0..all } else { keys.clone() };
        let shown = keys.start - known.start..keys.end - known.start;
        let (mut read, mut seen) = (ReadHeads::default(), vec![false; queries.len() * known.len()]);
        let mask = self.mask(attention, &queries, &known);
        for head in 0..attention.heads {
            let weights = self.recording().block(attention.weights(), head, queries.clone(), known.clone());
            let weights = self.taken(weights, queries.len(), known.len());
            if mask.is_none() {
                seen.iter_mut().zip(weights.flat()).for_each(|(seen, weight)| *seen |= *weight > 0.0);
            }
            let value = self.shared(attention, Part::Values, head, 0..all);
            let mix = mixes(&weights, &value);
            let of_shown = weights.top_columns(queries.len(), &shown);
            let value = value.rows_in(&keys);
            if keys.len() < all {
                read.of_stretch.push(mixes(&of_shown, &value));
            }
            read.heads.push(HeadActivations {
                query: self.shared(attention, Part::Queries, head, queries.clone()),
                key: Matrix::zeros(0, 0),
                value,
                scores: Matrix::zeros(0, 0),
                weights: of_shown,
                mix,
            });
        }
        let seen = mask.unwrap_or(seen);
        let sight = Matrix::from_fn(queries.len(), keys.len(), |query, key| {
            if seen[query * known.len() + shown.start + key] { 0.0 } else { f32::NEG_INFINITY }
        });
        for (number, head) in read.heads.iter_mut().enumerate() {
            // All keys are in memory for one head at a time.
            head.key = self.shared(attention, Part::Keys, number, 0..all);
            head.scores = match self.scores(attention, number, &queries, &seen) {
                Some(scores) => {
                    head.scores = scores;
                    read.arithmetic.push(self.arithmetic(attention, number, head, &queries).of_keys(&keys));
                    head.scores.top_columns(queries.len(), &keys)
                }
                None => sight.clone(),
            };
            head.key = head.key.rows_in(&keys);
        }
        read.has_scores = read.arithmetic.len() == read.heads.len();
        if !read.has_scores {
            read.arithmetic = vec![Arithmetic::unknown(queries.len()); read.heads.len()];
        }
        read
    }

    /// Reads rows of a part, such as the keys, for a head; several heads may share them. The matrix has no columns if
    /// the part was not recorded.
    fn shared(&mut self, attention: &Attention, part: Part, head: usize, rows: Range<usize>) -> Matrix<f32> {
        let Some(tensor) = attention.part(part) else { return Matrix::zeros(rows.len(), 0) };
        let group = attention.heads / tensor.shape[0];
        let read = self.recording().rows(tensor, head / group, rows.clone());
        self.taken(read, rows.len(), tensor.shape[2])
    }

    /// Reads which of these keys the queries see, or returns `None` if no mask was recorded.
    fn mask(&mut self, attention: &Attention, queries: &Range<usize>, keys: &Range<usize>) -> Option<Vec<bool>> {
        let mask = attention.part(Part::Mask)?;
        let read = self.recording().block(mask, 0, queries.clone(), keys.clone());
        let read = self.taken(read, queries.len(), keys.len());
        Some(read.flat().iter().map(|entry| *entry > 0.0).collect())
    }

    fn scores(&mut self, attention: &Attention, head: usize, of: &Range<usize>, seen: &[bool]) -> Option<Matrix<f32>> {
        let read = self.recording().scores_of(attention, head, of.clone(), seen);
        self.kept(read).flatten()
    }

    fn arithmetic(
        &mut self,
        attention: &Attention,
        number: usize,
        head: &HeadActivations<f32>,
        queries: &Range<usize>,
    ) -> Arithmetic<f32> {
        let scale = self.recording().scale(attention, number).ok().flatten().unwrap_or(1.0);
        let bias = attention.part(Part::ScoreBias).map(|tensor| {
            let at = if tensor.shape[0] == 1 { 0 } else { number };
            let read = self.recording().rows(tensor, at, queries.clone());
            self.taken(read, queries.len(), tensor.shape[2])
        });
        let arithmetic = Arithmetic::of(head, scale, bias);
        let sink =
            attention.part(Part::Sinks).and_then(|sinks| self.recording().numbers(sinks, number..number + 1).ok());
        match sink.as_deref() {
            Some([sink]) => arithmetic.with_sink(*sink),
            _ => arithmetic,
        }
    }
}

/// The vector of each token of a recording at its first occurrence, before the first layer, and the spread of the
/// states in all layers, to which the picture's axes are fitted.
pub struct RecordedVectors {
    pub vectors: Arc<Table<f32>>,
    pub spread: Arc<Spread>,
}

/// Greatest number of values of hidden states to which the axes are fitted. If there are more, fewer tokens of each
/// text count.
const FITTED_MAX: usize = 16 << 20;

impl RecordedVectors {
    /// Reads the vectors and the states of a recording. A vector that cannot be read is NaN, and the axes are not
    /// fitted to such states.
    pub fn of(model: &RecordedModel) -> Self {
        let width = model.architecture.width;
        let mut vectors = Matrix::from_fn(model.vocabulary.len(), width, |_, _| f32::NAN);
        let mut states = Vec::new();
        let layers = model.architecture.blocks.len() + model.architecture.source_blocks.len() + 2;
        let most = (FITTED_MAX / (model.recording.texts.len() * layers * width.max(1))).clamp(1, STRETCH);
        let mut is_known = vec![false; model.vocabulary.len()];
        let fits = |(number, _): &(usize, &RecordedText)| width > 0 && model.check_text(*number).is_ok();
        for (number, text) in model.recording.texts.iter().enumerate().filter(fits) {
            let (towers, rows) = (Towers::of(text), model.rows(number));
            for (of_source, words) in [(false, Some(&rows.own)), (true, rows.source.as_ref())] {
                let (Some(words), states_of) = (words, towers.states(of_source)) else { continue };
                if states_of.values().any(|state| state.shape[1] != width) {
                    continue;
                }
                let first = states_of.values().next().map(|state| model.recording.matrix(state, 0));
                if let Some(Ok(first)) = first {
                    for (at, word) in
                        words.iter().enumerate().filter(|(_, word)| !std::mem::replace(&mut is_known[**word], true))
                    {
                        vectors.row_mut(*word).copy_from_slice(first.row(at));
                    }
                }
                // The first token lies far from everything else in many models.
                let counted = usize::from(words.len() > 1)..words.len().min(most + 1);
                let read = states_of.values().filter_map(|state| model.recording.rows(state, 0, counted.clone()).ok());
                states.extend(read);
            }
        }
        let is_finite = |row: &&[f32]| row.iter().all(|x| x.is_finite());
        let rows: Vec<&[f32]> =
            states.iter().flat_map(|state| (0..state.rows()).map(|row| state.row(row))).filter(is_finite).collect();
        let seen = if rows.is_empty() {
            Matrix::zeros(1, width)
        } else {
            Matrix::from_row_major(rows.len(), width, rows.concat())
        };
        Self { vectors: Arc::new(vectors.into()), spread: Arc::new(Spread::of(&seen)) }
    }
}

/// Returns a block that has only its input and its heads so far.
fn of_heads(input: Arc<Matrix<f32>>, heads: Vec<HeadActivations<f32>>) -> BlockActivations<f32> {
    BlockActivations {
        summed: Matrix::clone(&input),
        output: input.clone(),
        input,
        normed: None,
        heads,
        branch: None,
        attended: None,
        hidden: None,
        joined: None,
    }
}

/// Adds the terms of all keys to a block's summed vectors. In a stretch, only the shown keys have arrows, and the
/// attended vectors contain only their terms. The rest of the output, which is its difference from the attended
/// vectors, then includes the terms of the other keys.
fn sum(activations: &mut BlockActivations<f32>, of_shown: &Matrix<f32>, of_all: Option<&Matrix<f32>>) {
    if of_all.is_some() {
        let mut attended = activations.summed.clone();
        add_scaled(attended.flat_mut(), 1.0, of_shown.flat());
        activations.attended = Some(attended);
    }
    add_scaled(activations.summed.flat_mut(), 1.0, of_all.unwrap_or(of_shown).flat());
}

/// Puts other mixes into heads, and returns the earlier ones.
fn exchanged(heads: &mut [HeadActivations<f32>], mixes: Vec<Matrix<f32>>) -> Vec<Matrix<f32>> {
    heads.iter_mut().zip(mixes).map(|(head, mix)| std::mem::replace(&mut head.mix, mix)).collect()
}

impl TowerTokens<'_> {
    /// Returns the piece of a token whose text is not known: a word of its own, unless the token is special.
    fn piece(&self, at: usize) -> TextPiece {
        let is_added = self.special.binary_search(&at).is_ok();
        TextPiece { bytes: 0..0, word: (!is_added).then_some(at), segment: 0, is_added }
    }
}

impl PieceText {
    /// Returns the text of a recording, and the part of it that belongs to each token. This is the recorded text if all
    /// tokens are found in it, one after the other, and otherwise a text that is made from the tokens.
    fn of_recorded(text: Option<&str>, towers: &Towers<'_>, place: &RecordedPlace) -> Self {
        let TowerTokens { tokens, special } = towers.own();
        let words = words(towers, tokens.len(), special);
        let rows = &place.model.rows(place.text).own;
        let shown: Vec<&str> = rows.iter().map(|row| place.model.vocabulary[*row].as_str()).collect();
        // If the recording numbers its words, a token without a number was added by the tokenizer, even if it is not
        // marked as special.
        let has_words = words.iter().any(Option::is_some);
        let is_added = |at: usize| special.binary_search(&at).is_ok() || (has_words && words[at].is_none());
        let found = text.and_then(|text| Some((text.to_owned(), places_in(text, &shown, &is_added)?)));
        let (text, bytes) = found.unwrap_or_else(|| made_of(&shown, &words, &is_added));
        let piece = |(at, bytes): (usize, Range<usize>)| TextPiece {
            bytes,
            word: words[at],
            segment: 0,
            is_added: is_added(at),
        };
        Self { text, pieces: bytes.into_iter().enumerate().map(piece).collect() }
    }
}

/// Returns the number of each token's word, or `None` for tokens that the tokenizer added.
fn words(towers: &Towers<'_>, tokens: usize, special: &[usize]) -> Vec<Option<usize>> {
    let is_added = |at: usize| special.binary_search(&at).is_ok();
    let Some(recorded) = towers.words() else {
        return (0..tokens).map(|at| (!is_added(at)).then_some(at)).collect();
    };
    // The recorded numbers may be any numbers: a word begins where the number changes.
    let mut word = 0;
    (0..tokens)
        .map(|at| {
            word += usize::from(at > 0 && recorded[at] != recorded[at - 1]);
            recorded[at].map(|_| word)
        })
        .collect()
}

/// Returns the letters of a piece, without the mark of a piece that continues a word.
fn letters(piece: &str) -> &str {
    piece.strip_prefix("##").filter(|rest| !rest.is_empty()).unwrap_or(piece)
}

/// Finds each token in the text after the one before it, regardless of case. Returns `None` if anything but blanks is
/// between them.
fn places_in(text: &str, tokens: &[&str], is_added: &dyn Fn(usize) -> bool) -> Option<Vec<Range<usize>>> {
    let mut from = 0;
    let mut places = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        if is_added(at) {
            places.push(from..from);
            continue;
        }
        let wanted = letters(token).trim();
        let begin = from + text[from..].len() - text[from..].trim_start().len();
        let end = begin + wanted.len();
        let part = text.get(begin..end)?;
        if part.to_lowercase() != wanted.to_lowercase() {
            return None;
        }
        places.push(begin..end);
        from = end;
    }
    Some(places)
}

/// Makes a text from tokens, with blanks between words, and returns it with the place of each token.
fn made_of(tokens: &[&str], words: &[Option<usize>], is_added: &dyn Fn(usize) -> bool) -> (String, Vec<Range<usize>>) {
    let mut text = String::new();
    let mut places = Vec::with_capacity(tokens.len());
    let mut last = None;
    for (at, token) in tokens.iter().enumerate() {
        if is_added(at) {
            places.push(text.len()..text.len());
            continue;
        }
        let continues = last.is_some() && last == words[at];
        if !text.is_empty() && !continues {
            text.push(' ');
        }
        last = words[at];
        let begin = text.len();
        text.push_str(if continues { letters(token) } else { token });
        places.push(begin..text.len());
    }
    (text, places)
}
