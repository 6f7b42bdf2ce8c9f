//! A model's pass as a recording, with everything that a recording can have.

use std::collections::BTreeMap;
use std::io::{self, Write};

use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, Token};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations};
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::safetensors::write_with;
use attune_engine::recording::about::{KEY, VERSION};
use attune_engine::recording::parts::{Part, Side};
use serde_json::json;

use crate::export::trace::texts;

/// Writes the forward pass of the snapshot's sentence. Entries and tensors are in the order of their names, so that the
/// same pass gives the same bytes.
///
/// # Errors
/// If it cannot be written, or there is no model yet.
pub fn write(snapshot: &Snapshot, to: &mut dyn Write) -> io::Result<()> {
    let Some(model) = &snapshot.model else { return Err(io::Error::other("the lesson has no model to record")) };
    let mut writer = Writer { model, tensors: BTreeMap::new(), changed: Vec::new() };
    let places = writer.places();
    writer.layers(&places);
    writer.states(&places);
    writer.add(Part::Logits.name().to_owned(), matrix(&model.sentence.answers.logits));
    let about = writer.about(snapshot);
    let tensors = writer.tensors.iter();
    let tensors = tensors.map(|(name, (shape, numbers))| (name.clone(), (&shape[..], &numbers[..]))).collect();
    write_with(&about, &tensors, to)
}

type Tensor = (Vec<usize>, Vec<f32>);

struct Writer<'a> {
    model: &'a ModelSnapshot,
    tensors: BTreeMap<String, Tensor>,
    /// The learner's changes that the tensors do not show, by layer.
    changed: Vec<String>,
}

/// The side and the layer of a block in a recording.
#[derive(Clone, Copy)]
struct Place {
    side: Side,
    layer: usize,
}

impl Place {
    fn name(self, part: Part) -> String {
        format!("{}{}.{}", self.side.prefix(), part.name(), self.layer)
    }
}

impl Writer<'_> {
    fn add(&mut self, name: String, tensor: Tensor) {
        self.tensors.insert(name, tensor);
    }

    /// Returns the place of each block. In a model with a source, a layer of the decoder has two blocks: one of
    /// self-attention, and one that attends to the source.
    fn places(&self) -> Vec<Place> {
        let architecture = &self.model.architecture;
        let sources = architecture.source_blocks.len();
        let has_source = self.model.sentence.source.is_some();
        let (mut layers, mut is_open) = (0, false);
        let place = |(block, (_, config)): (usize, (usize, &BlockConfig))| {
            if block < sources {
                return Place { side: Side::Encoder, layer: block };
            }
            if config.attends_to_source() {
                layers += usize::from(!is_open);
                is_open = false;
                return Place { side: Side::Cross, layer: layers - 1 };
            }
            layers += 1;
            is_open = true;
            Place { side: if has_source { Side::Decoder } else { Side::Own }, layer: layers - 1 }
        };
        architecture.numbered_blocks().enumerate().map(place).collect()
    }

    fn layers(&mut self, places: &[Place]) {
        let model = self.model;
        let blocks = model.architecture.numbered_blocks().zip(&model.sentence.activations.blocks).zip(places);
        for (((number, config), activations), place) in blocks {
            self.layer(number, config, activations, *place);
        }
    }

    fn layer(&mut self, number: usize, config: &BlockConfig, block: &BlockActivations<f32>, place: Place) {
        let model = self.model;
        let attention = &config.attention;
        let heads = model.architecture.heads_of(number);
        let arithmetic = &model.sentence.arithmetic[heads.clone()];
        let modes: Vec<&HeadMode<f32>> =
            heads.clone().map(|head| model.interventions.heads.get(head).unwrap_or(&HeadMode::Live)).collect();
        let all = || block.heads.iter();
        let shared = || block.heads.iter().step_by(attention.group_size);
        self.add(place.name(Part::Attentions), stacked(all().map(|head| &head.weights)));
        self.add(place.name(Part::Mask), mask(&block.heads));
        let has_removed_edge = model.interventions.edges.iter().any(|edge| heads.contains(&edge.head));
        if has_removed_edge || modes.iter().any(|mode| mode.replaces_weights()) {
            self.changed.push(format!("the weights of {}", place.name(Part::Attentions)));
        } else {
            self.add(place.name(Part::Queries), stacked(all().map(|head| &head.query)));
            self.add(place.name(Part::Keys), stacked(shared().map(|head| &head.key)));
        }
        let number_of_all = |number: f32| (vec![1], vec![number]);
        self.add(place.name(Part::ScoreScale), number_of_all(arithmetic[0].scale));
        let temperature = model.interventions.temperature_of(config);
        if let Some(cap) = attention.score_cap {
            self.add(place.name(Part::ScoreCap), number_of_all((cap / temperature) as f32));
        }
        if attention.distances.is_some() {
            let distances = arithmetic.iter().filter_map(|head| head.distances.as_ref());
            self.add(place.name(Part::ScoreBias), stacked(distances));
        }
        if modes.iter().any(|mode| mode.gain() != 1.0 || matches!(mode, HeadMode::Mean | HeadMode::Second(_))) {
            self.changed.push(format!("what the heads of {} add", place.name(Part::Attentions)));
            return;
        }
        self.add(place.name(Part::Values), stacked(shared().map(|head| &head.value)));
        let output = TensorName::OutputWeights.of_block(number);
        if let Some(spec) = model.parameters.spec(output).filter(|_| attention.output) {
            let weights = model.parameters.row_major(output).into_owned();
            self.add(place.name(Part::OutputWeight), (vec![spec.rows, spec.cols], weights));
        }
    }

    /// Adds the vectors before the first layer and after each layer, without the final norm.
    fn states(&mut self, places: &[Place]) {
        let model = self.model;
        let activations = &model.sentence.activations;
        let sources = model.architecture.source_blocks.len();
        let (of_source, own) = activations.blocks.split_at(sources);
        let name = |side, layer| Place { side, layer }.name(Part::HiddenStates);
        if let Some(source) = &activations.source {
            self.add(name(Side::Encoder, 0), matrix(&source.input));
            for (layer, block) in of_source.iter().enumerate() {
                self.add(name(Side::Encoder, layer + 1), matrix(&block.output));
            }
        }
        let side = if model.sentence.source.is_some() { Side::Decoder } else { Side::Own };
        self.add(name(side, 0), matrix(&activations.input));
        for (block, place) in own.iter().zip(&places[sources..]) {
            // The output of a layer's last block replaces those of its earlier blocks.
            self.add(name(side, place.layer + 1), matrix(&block.output));
        }
    }

    fn about(&self, snapshot: &Snapshot) -> BTreeMap<String, String> {
        let sentence = &self.model.sentence;
        let mut about = BTreeMap::new();
        let mut add = |key: &str, value: String| _ = about.insert(key.to_owned(), value);
        add(KEY, VERSION.to_owned());
        add("model", snapshot.lesson.title.clone());
        add("text", sentence.written());
        add("tokens", json!(texts(&sentence.tokens)).to_string());
        add("special", json!(special(&sentence.tokens)).to_string());
        if let Some(source) = &sentence.source {
            add("source_tokens", json!(texts(source)).to_string());
            add("source_special", json!(special(source)).to_string());
        }
        if let Some(words) = words(&sentence.tokens) {
            add("words", json!(words).to_string());
        }
        // The classes of a pretrained model are its vocabulary, which is in its own files.
        if !snapshot.lesson.static_embedding.is_pretrained() {
            add("classes", json!(&self.model.classes[..]).to_string());
        }
        if !self.changed.is_empty() {
            add("changed", self.changed.join("; "));
        }
        about
    }
}

fn matrix(matrix: &Matrix<f32>) -> Tensor {
    (vec![matrix.rows(), matrix.cols()], matrix.flat().to_vec())
}

/// Stacks matrices of the same shape into one tensor, whose first dimension is their number.
fn stacked<'m>(matrices: impl Iterator<Item = &'m Matrix<f32>>) -> Tensor {
    let (mut shape, mut numbers) = (vec![0, 0, 0], Vec::new());
    for matrix in matrices {
        shape = vec![shape[0] + 1, matrix.rows(), matrix.cols()];
        numbers.extend_from_slice(matrix.flat());
    }
    (shape, numbers)
}

/// Returns a matrix with 1 where a query sees a key in at least one head, and 0 elsewhere.
fn mask(heads: &[HeadActivations<f32>]) -> Tensor {
    let [queries, keys] = heads.first().map_or([0; 2], |head| [head.scores.rows(), head.scores.cols()]);
    let is_seen = |at: usize| heads.iter().any(|head| head.scores.flat()[at] > f32::NEG_INFINITY);
    let mask = (0..queries * keys).map(|at| if is_seen(at) { 1.0 } else { 0.0 });
    (vec![queries, keys], mask.collect())
}

/// Returns the positions of the tokens that a tokenizer added.
fn special(tokens: &[Token]) -> Vec<usize> {
    (0..tokens.len()).filter(|at| tokens[*at].is_added()).collect()
}

/// Returns, for each token, the index of the word of the text to which it belongs, if there is one; `None` for a model
/// that reads whole words.
fn words(tokens: &[Token]) -> Option<Vec<Option<usize>>> {
    let pieces = tokens.iter().map(|token| token.piece.as_ref());
    pieces.map(|piece| piece.map(|piece| piece.word)).collect()
}
