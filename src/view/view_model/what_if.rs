//! The learner's changes to the forward pass, and their effect compared with the unchanged result.

use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_core::kernel::evidence::live::SentenceMap;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{ModelSnapshot, Neighbours, SentenceSnapshot, Snapshot, StaticSpace, Token};
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskBase};
use attune_engine::numerics::model::activations::{Activations, Patch};
use attune_engine::numerics::model::{Architecture, Tower};

use super::as_code;
pub use super::as_code::MapKind;
use super::asked::AnswerChoice;
use super::heads::HeadRow;
use super::labels::{HeadLabels, place_of};
use super::stage::nearest_word;
use super::{quoted, quoted_token};

#[derive(Clone, Debug)]
pub struct WhatIfModel {
    pub tokens: Vec<String>,
    pub temperature: Setting<f64>,
    /// Whether scores are divided by `√d_k`.
    pub scale: Setting<bool>,
    pub key_width: usize,
    /// The names of the layers.
    pub blocks: Vec<String>,
    pub heads: Vec<HeadRow>,
    /// Whether each query sees each key in the first layer, row by row; a row is a query.
    pub mask: Setting<Vec<bool>>,
    /// The masks to which the learner's changes of single pairs apply: those of the layers, or one for all of them.
    pub mask_base: MaskBase,
    /// Whether the layers have different masks or windows. A pair that is changed in the first layer is changed in all
    /// of them.
    pub layers_see_differently: bool,
    /// The removed edges.
    pub edges: Vec<Edge>,
    pub patch: PatchState,
    /// The answer and the foil of the map.
    pub choice: AnswerChoice,
    /// The map of the sentence; `None` until it is requested.
    pub map: Option<Arc<SentenceMap>>,
    /// The changes, as sentences; empty if there are none.
    pub said: Vec<String>,
    /// The code of a cell that makes the same changes; `None` if there are none. `map_codes` has the code of a cell for
    /// each map that one can compute.
    pub code: Option<String>,
    pub map_codes: Vec<(MapKind, String)>,
    /// The pass together with the unchanged one, from which the effect on a word is computed on request.
    sentence: Arc<SentenceSnapshot>,
    space: Arc<StaticSpace>,
    architecture: Architecture,
    /// The index of the first head of the sentence, after those of the source.
    first_head: usize,
}

/// A setting, with the value in use and the lesson's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting<T> {
    pub now: T,
    pub own: T,
    /// Whether the learner has set the value.
    pub is_set: bool,
}

impl<T: Clone> Setting<T> {
    fn of(set: Option<T>, own: T) -> Self {
        Self { is_set: set.is_some(), now: set.unwrap_or_else(|| own.clone()), own }
    }
}

/// The patch of a vector of the second sentence into the first, and the possible choices.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchState {
    pub is_on: bool,
    /// The names of the layers, those of the source first.
    pub layers: Vec<String>,
    /// The number of layers of the source.
    sources: usize,
    of_source: PatchWords,
    of_sentence: PatchWords,
}

/// The words whose vectors can be replaced, and the words whose vectors can take their place.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchWords {
    pub first: Vec<String>,
    /// The words of the second sentence; empty if there is none.
    pub second: Vec<String>,
    /// The position in the second sentence of the same word, for each word of the first; `None` if it is not there.
    pub same: Vec<Option<usize>>,
}

impl PatchWords {
    fn of(model: &ModelSnapshot, tower: Tower) -> Self {
        let first = model.sentence.tokens_of(tower);
        let second = model.second.as_ref().map_or(&[][..], |second| second.other.tokens_of(tower));
        let same = |token: &Token| second.iter().position(|other| other.text == token.text);
        let same = first.iter().map(same).collect();
        Self { first: token_labels(first), second: token_labels(second), same }
    }
}

impl PatchState {
    fn of(model: &ModelSnapshot) -> Self {
        let architecture = &model.architecture;
        let layers = architecture.numbered_blocks().map(|(block, _)| layer_name(architecture, block));
        Self {
            is_on: model.interventions.patch.is_some(),
            layers: layers.collect(),
            sources: architecture.source_blocks.len(),
            of_source: PatchWords::of(model, Tower::Source),
            of_sentence: PatchWords::of(model, Tower::Sentence),
        }
    }

    pub fn has_second(&self) -> bool {
        !self.of_sentence.second.is_empty()
    }

    /// Returns whether a layer, counted from 0, is one of the source.
    pub fn is_of_source(&self, layer: usize) -> bool {
        layer < self.sources
    }

    /// Returns the words that a layer processes, in both sentences.
    pub fn words(&self, layer: usize) -> &PatchWords {
        if self.is_of_source(layer) { &self.of_source } else { &self.of_sentence }
    }

    /// Returns the command that replaces the vector at `position` before a layer by the vector at `from` in the second
    /// sentence.
    pub fn command(&self, layer: usize, position: usize, from: usize) -> Command {
        let patch = Patch { block: layer, position, from, vector: None };
        Command::Interventions(InterventionCommand::SetPatch(Some(patch)))
    }
}

/// The effect of the changes on one token.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenEffect {
    /// The distance between the contextual vectors with and without the changes, `‖y − y'‖`.
    pub moved: f32,
    /// The nearest words without and with the changes, each with its cosine.
    pub nearest: [Option<(String, f32)>; 2],
}

/// A token's weights in a head, without and with the changes.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectRow {
    pub head: usize,
    pub before: Vec<f32>,
    pub now: Vec<f32>,
}

impl EffectRow {
    /// Returns the edge to a key, with whether it is removed, and whether it can be removed or restored. An edge that
    /// never had weight can be neither.
    pub fn edge(&self, edges: &[Edge], query: usize, key: usize) -> EdgeState {
        let edge = Edge { head: self.head, query, key };
        let is_removed = edges.contains(&edge);
        EdgeState { edge, is_removed, is_there: is_removed || self.before[key] > 0.0 || self.now[key] > 0.0 }
    }
}

/// The attention of a head from one token to another, which the learner may remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeState {
    edge: Edge,
    pub is_removed: bool,
    pub is_there: bool,
}

impl EdgeState {
    /// Returns the command that removes the edge or restores it.
    pub fn toggled(self) -> Command {
        Command::Interventions(InterventionCommand::SetEdge { edge: self.edge, is_removed: !self.is_removed })
    }
}

impl WhatIfModel {
    /// Builds the model; `None` until there is a model of the lesson.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let (space, model) = (snapshot.space.as_ref()?, snapshot.model.as_ref()?);
        let labels = HeadLabels::of(model);
        let attention = &model.architecture.first_self_attention().attention;
        let changed = &model.interventions;
        let count = labels.tokens.len();
        let pairs = || (0..count * count).map(|at| (at / count, at % count));
        let own: Vec<bool> = pairs().map(|(query, key)| attention.sees(query, key)).collect();
        let sight = changed.sight_of_first(&model.architecture);
        let learners = |_: &Mask| pairs().map(|(query, key)| sight.sees(query, key)).collect();
        let mut told = Self {
            temperature: Setting::of(changed.temperature, attention.temperature),
            scale: Setting::of(changed.scale, attention.scale),
            key_width: attention.key_width,
            blocks: labels.blocks(),
            heads: HeadRow::all(model, &labels),
            mask: Setting::of(changed.mask.as_ref().map(learners), own),
            mask_base: changed.mask.as_ref().map(Mask::base).unwrap_or_default(),
            layers_see_differently: layers_see_differently(&model.architecture),
            edges: changed.edges.clone(),
            patch: PatchState::of(model),
            choice: AnswerChoice::of(model),
            map: model.map.clone(),
            said: Vec::new(),
            code: None,
            map_codes: Vec::new(),
            sentence: model.sentence.clone(),
            space: space.clone(),
            architecture: model.architecture.clone(),
            first_head: labels.first_of_sentence(),
            tokens: labels.tokens,
        };
        told.said = told.say(model);
        told.code = as_code::changes(model, &told.said);
        if let Some(map) = &told.map {
            let kinds = [Some(MapKind::Words).filter(|_| map.words.is_some()), Some(MapKind::Heads)];
            let code = |kind| Some((kind, as_code::map(model, map, kind)?));
            told.map_codes = kinds.into_iter().flatten().filter_map(code).collect();
        }
        Some(told)
    }

    /// Returns a title for the map, with the answers that it compares; `None` if there is no map.
    pub fn map_title(&self) -> Option<String> {
        let SentenceMap { place, answer, against, sentence, second, .. } = &**self.map.as_ref()?;
        let second = second.map_or(String::new(), |second| format!(", {second:.2} in the second"));
        let at = &self.tokens[*place];
        Some(format!("{answer} against {against} at {at}: {sentence:.2} in the sentence{second}"))
    }

    /// Returns the code of a cell that computes a map; `None` if there is none.
    pub fn map_code(&self, kind: MapKind) -> Option<&str> {
        self.map_codes.iter().find(|(of, _)| *of == kind).map(|(_, code)| &**code)
    }

    /// Returns the command for a click on a cell of a map: it patches the vector of the second sentence, exchanges the
    /// head for that of the second sentence or, without a second sentence, switches the head off. For a head that is
    /// changed so already, the command makes it live again. `None` for a map of paths.
    pub fn map_command(&self, kind: MapKind, layer: usize, place: usize) -> Option<Command> {
        let of_two = self.map.as_ref()?.second.is_some();
        match kind {
            MapKind::Words => Some(self.patch.command(layer, place, place)),
            MapKind::Paths => None,
            MapKind::Heads => {
                let head = self.map_head(layer, place)?;
                let mode = if of_two { HeadMode::Second(None) } else { HeadMode::Off };
                let is_on = self.heads.get(head)?.mode.words() == mode.words();
                let mode = if is_on { HeadMode::Live } else { mode };
                Some(Command::Interventions(InterventionCommand::SetHead { head, mode }))
            }
        }
    }

    /// Returns the head of a cell of a map of heads, counted over all layers.
    pub fn map_head(&self, layer: usize, place: usize) -> Option<usize> {
        self.architecture.heads_of(layer).nth(place)
    }

    /// Returns whether the paths into a head can be added to the map, which must be of two sentences and have heads
    /// before this one.
    pub fn has_paths_into(&self, head: usize) -> bool {
        let of_two = self.map.as_ref().is_some_and(|map| map.second.is_some());
        of_two && self.heads.get(head).is_some_and(|row| row.block > 0)
    }

    /// Returns the name of a head within a sentence, such as `layer 2, head 1`.
    pub fn head_name(&self, head: usize) -> String {
        self.architecture.head_name(head)
    }

    /// Returns a head's place in the tensors, in words.
    pub fn place(&self, head: usize) -> String {
        place_of(&self.architecture, head)
    }

    /// Returns the pass without the changes, which is the shown one if there are none.
    fn before(&self) -> (&Activations<f32>, &[Neighbours]) {
        let Some(unchanged) = &self.sentence.unchanged else {
            return (&self.sentence.activations, &self.sentence.contextual_neighbours);
        };
        (&unchanged.other.activations, &unchanged.other.contextual_neighbours)
    }

    /// Returns how far the changes move a token, in the true space.
    fn moved(&self, token: usize) -> f32 {
        self.sentence.unchanged.as_ref().map_or(0.0, |unchanged| unchanged.moved(token))
    }

    /// Returns the effect of the changes on a token; `None` if there is no such token.
    pub fn effect(&self, token: usize) -> Option<TokenEffect> {
        let nearest = |near: &[Neighbours]| nearest_word(&self.space, near.get(token)?);
        let nearest = [self.before().1, &self.sentence.contextual_neighbours].map(nearest);
        (token < self.tokens.len()).then(|| TokenEffect { moved: self.moved(token), nearest })
    }

    /// Returns the token that the changes move most, and the distance; `None` for a sentence without tokens.
    pub fn moved_most(&self) -> Option<(usize, f32)> {
        let moved = (0..self.tokens.len()).map(|token| (token, self.moved(token)));
        moved.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns the heads whose queries are tokens of the sentence.
    pub fn own_heads(&self) -> Range<usize> {
        self.first_head..self.heads.len()
    }

    /// Returns the weights of a token in one of [`Self::own_heads`]; `None` for other heads, and if there is no such
    /// token.
    pub fn row(&self, token: usize, head: usize) -> Option<EffectRow> {
        let row = |activations: &Activations<f32>| {
            let weights = &activations.heads().nth(head)?.weights;
            (token < weights.rows()).then(|| weights.row(token).to_vec())
        };
        let is_own = self.own_heads().contains(&head);
        is_own
            .then(|| Some(EffectRow { head, before: row(self.before().0)?, now: row(&self.sentence.activations)? }))?
    }

    fn say(&self, model: &ModelSnapshot) -> Vec<String> {
        let Self { temperature, scale, key_width, heads, mask, .. } = self;
        let mut said = Vec::new();
        if temperature.is_set && temperature.now != temperature.own {
            said.push(format!("The temperature is {} instead of {}.", temperature.now, temperature.own));
        }
        if scale.is_set && scale.now != scale.own {
            said.push(format!("Scores are {}divided by √{key_width}.", if scale.now { "" } else { "not " }));
        }
        let changed = heads.iter().filter(|head| head.mode != HeadMode::Live);
        said.extend(changed.map(|head| format!("{} {}.", head.title, head.mode.effect())));
        let differ =
            |hides: bool| mask.now.iter().zip(&mask.own).filter(|(now, own)| now != own && **now != hides).count();
        for (count, what) in
            [(differ(true), "normally seen but now hidden"), (differ(false), "normally hidden but now seen")]
        {
            match count {
                0 => {}
                1 => said.push(format!("One pair is {what}.")),
                count => said.push(format!("{count} pairs are {what}.")),
            }
        }
        match &model.interventions.edges[..] {
            [edge] => said.push(said_edge(model, edge)),
            edges if !edges.is_empty() => said.push(format!("{} attention weights are removed.", edges.len())),
            _ => {}
        }
        said.extend(model.interventions.patch.as_ref().map(|patch| said_patch(model, patch)));
        let turned: usize = model.edits.iter().map(|(_, entries)| entries).sum();
        match turned {
            0 => {}
            1 => said.push("One model weight is changed.".to_owned()),
            turned => said.push(format!("{turned} model weights are changed.")),
        }
        said
    }
}

fn layers_see_differently(architecture: &Architecture) -> bool {
    let first = &architecture.first_self_attention().attention;
    let mut layers =
        architecture.blocks.iter().filter(|block| !block.attends_to_source()).map(|block| &block.attention);
    layers.any(|layer| (&layer.mask, layer.window) != (&first.mask, first.window))
}

/// Describes a removed edge, as in `In layer 2, head 1, “it” no longer looks at “bank”.`
fn said_edge(model: &ModelSnapshot, edge: &Edge) -> String {
    let labels = HeadLabels::of(model);
    let word = |words: &[String], at: usize| words.get(at).map_or_else(String::new, |word| quoted(word));
    let (query, key) = (word(labels.queries(edge.head), edge.query), word(labels.keys(edge.head), edge.key));
    let title = labels.title(edge.head).to_lowercase();
    format!("In {title}, {query} no longer looks at {key}.")
}

/// Returns the name of a block, such as `layer 1` or `layer 2, cross-attention`; never empty.
fn layer_name(architecture: &Architecture, block: usize) -> String {
    match architecture.block_name(block) {
        name if name.is_empty() => "layer 1".to_owned(),
        name => name,
    }
}

/// Describes the vector that replaced another.
pub(crate) fn said_patch(model: &ModelSnapshot, patch: &Patch<f32>) -> String {
    let tower = model.architecture.tower_of(patch.block);
    let token = |sentence: &SentenceSnapshot, at: usize| quoted_token(sentence.tokens_of(tower), at);
    let taken = model.second.as_ref().map_or_else(String::new, |second| token(&second.other, patch.from));
    let at = token(&model.sentence, patch.position);
    let layer = layer_name(&model.architecture, patch.block);
    format!(
        "Before {layer}, the vector of {at} is replaced by that of {taken} in the second sentence, as it \
        was when you copied it."
    )
}
