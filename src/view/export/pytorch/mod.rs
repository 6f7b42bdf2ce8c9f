//! A lesson's model as a Jupyter notebook in Python: the model in PyTorch, its weights, one sentence, and the numbers
//! that attune computed, each of which the notebook asserts.
//!
//! The classes are written for the lesson's own model: [`template`] leaves out every line that it does not need.
//! Weights and numbers are in the notebook, in Base64, so it is one file that needs only torch.

mod layers;
mod sentence;
mod template;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, StaticSpace};
use attune_core::kernel::static_embedding::network;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::{Architecture, Pooling, Readout, SourceForm};
use attune_engine::numerics::params::{TensorName, TensorSpec};
use attune_engine::numerics::positions::Positions;
use data_encoding::BASE64;
use pulldown_cmark::HeadingLevel;
use serde_json::{Value, json};

use self::layers::{LayerClass, activation, calls, unlike_library};
use self::sentence::Sentence;
use self::template::Filling;
use super::ipynb::{lines, write_cells};
use super::markdown::MarkdownWriter;
use super::page::Pictures;
use super::trace::matrices;

/// The largest difference between a number of PyTorch and that of attune, relative to the largest number of the tensor,
/// or to 1 if that number is smaller. Both compute in single precision, but add in different orders.
const TOLERANCE: &str = "5e-5";
/// The largest number of values in a notebook, weights and results together; in Base64 they take 43 MB.
pub const NUMBERS_MAX: usize = 8_000_000;
/// The number of characters in a line of Base64.
const LINE: usize = 120;

/// The numbers of tensors in a notebook that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The number of tensors of the model.
    pub weights: usize,
    /// The number of tensors that the notebook compares with its own results.
    pub compared: usize,
}

/// Writes the notebook of the snapshot's model and sentence.
///
/// # Errors
/// If it cannot be written, or if a notebook cannot express the model; described in words.
pub fn write(snapshot: &Snapshot, to: impl Write) -> io::Result<Contents> {
    let (Some(space), Some(model)) = (snapshot.space.as_deref(), snapshot.model.as_ref()) else {
        return Err(io::Error::other("the lesson has no model yet"));
    };
    if model.recorded.is_some() {
        return Err(io::Error::other("a recording has no weights, so no model can be built of it"));
    }
    if !are_none(&model.interventions) {
        return Err(io::Error::other(
            "the model's pass is changed in Intervene, and PyTorch's would not be; take the changes back first",
        ));
    }
    let results: Vec<(String, Numbers<'_>)> =
        matrices(&model.sentence, space).into_iter().map(|(name, matrix)| (name, Numbers::of(&matrix))).collect();
    let count = model.parameters.len() + space.vectors.rows() * space.vectors.cols();
    let count = count + results.iter().map(|(_, numbers)| numbers.values.len()).sum::<usize>();
    if count > NUMBERS_MAX {
        return Err(io::Error::other(format!(
            "the model and its results have {count} numbers, and a notebook at most {NUMBERS_MAX}; transformers opens the \
             model's own folder, and --to checkpoint writes one"
        )));
    }
    let weights = weights(model, space);
    let contents = Contents { weights: weights.len(), compared: results.len() };
    let notebook = Notebook { snapshot, model, space, cells: Vec::new() };
    let metadata = json!({
        "title": snapshot.lesson.title,
        "attune": { "lesson": snapshot.lesson.id, "seed": model.made_of.seed, "version": env!("CARGO_PKG_VERSION") },
        "kernelspec": { "name": "python3", "display_name": "Python 3", "language": "python" },
        "language_info": { "name": "python", "file_extension": ".py", "mimetype": "text/x-python" },
    });
    write_cells(&metadata, &notebook.cells(&weights, &results), to)?;
    Ok(contents)
}

/// The numbers of a tensor, row by row, with its shape.
struct Numbers<'a> {
    shape: Vec<usize>,
    values: Cow<'a, [f32]>,
}

impl Numbers<'_> {
    fn of(matrix: &Matrix<f32>) -> Self {
        Self { shape: vec![matrix.rows(), matrix.cols()], values: matrix.flat().to_vec().into() }
    }
}

/// Returns the model's tensors by their names in code, the static vectors first.
fn weights<'a>(model: &'a ModelSnapshot, space: &StaticSpace) -> Vec<(String, Numbers<'a>)> {
    let is_learned = model.parameters.spec(TensorName::Embedding).is_some();
    let fixed =
        (!is_learned).then(|| (TensorName::Embedding.symbol().to_owned(), Numbers::of(&space.vectors.widened())));
    // A bias, and the gain or shift of a norm, is a vector.
    let shape = |spec: &TensorSpec, name: &str| match name {
        _ if ["b_", "gamma_", "beta_"].iter().any(|vector| name.starts_with(vector)) => vec![spec.cols],
        _ => vec![spec.rows, spec.cols],
    };
    let learned = model.parameters.tensors().map(|(spec, values)| {
        let name = spec.id.code_name();
        let shape = shape(spec, &name);
        (name, Numbers { shape, values })
    });
    fixed.into_iter().chain(learned).collect()
}

struct Notebook<'a> {
    snapshot: &'a Snapshot,
    model: &'a ModelSnapshot,
    space: &'a StaticSpace,
    cells: Vec<Value>,
}

impl Notebook<'_> {
    fn cells(mut self, weights: &[(String, Numbers<'_>)], results: &[(String, Numbers<'_>)]) -> Vec<Value> {
        let (architecture, snapshot) = (&self.model.architecture, self.snapshot);
        let sentence = Sentence::of(snapshot, self.model, self.space);
        let classes = LayerClass::all(architecture);
        let library = Library::of(&classes, &sentence);
        let filling = self.filling(&classes, &sentence).with_facts([("library", !library.alike.is_empty())]);
        self.title();
        self.code(&filling.fill(include_str!("cells/begin.py")));
        self.text("## The weights\n\nEvery tensor has the name that it has in attune's code cells. Rows are words.");
        self.data("parameters", weights);
        self.code("weights = {name: nn.Parameter(values) for name, values in parameters.items()}\n");
        self.text("## The sentence");
        self.code(&filling.fill(include_str!("cells/sentence.py")));
        self.text(EQUATIONS);
        if architecture.numbered_blocks().any(|(_, block)| block.attention.rotary.is_some()) {
            self.code(include_str!("cells/turn.py"));
        }
        if matches!(architecture.positions, Positions::Sinusoidal | Positions::SinusoidalInHalves) {
            self.code(&filling.fill(include_str!("cells/waves.py")));
        }
        for class in &classes {
            class.python().iter().for_each(|code| self.code(code));
        }
        self.code(&filling.fill(include_str!("cells/model.py")));
        self.text("## The same numbers\n\nattune's numbers for this sentence, and a comparison with each of them.");
        self.data("attune", results);
        self.code(&filling.fill(include_str!("cells/compare.py")));
        if sentence.has_neighbours() {
            self.code(include_str!("cells/neighbours.py"));
        }
        self.text(&library.words());
        if !library.alike.is_empty() {
            let filling =
                filling.with_gap("alike", library.alike.iter().map(|name| format!("{name}, ")).collect::<String>());
            self.code(&filling.fill(include_str!("cells/library.py")));
        }
        if sentence.is_of_words() {
            self.other(&sentence);
        }
        self.cells
    }

    fn other(&mut self, sentence: &Sentence) {
        self.text("## Another sentence");
        let filling = Filling::new(self.model.architecture.norm_form).with_gap("sentence", sentence.written());
        self.code(&filling.fill(include_str!("cells/other.py")));
    }

    /// Returns the facts and texts that the templates of the whole model need.
    fn filling(&self, classes: &[LayerClass], sentence: &Sentence) -> Filling {
        let architecture = &self.model.architecture;
        let sources = architecture.source_blocks.len();
        let network = network(&self.model.made_of, self.space);
        let words = network.classes.candidates().map_or(&[][..], |candidates| candidates.words());
        let is_tied = architecture.readout.is_by_static_vectors();
        let are_all = words.iter().copied().eq(0..self.space.vectors.rows());
        let filling = sentence.fill(filling_of(architecture)).with_facts([
            ("frozen", self.model.parameters.spec(TensorName::Embedding).is_none()),
            ("some_words", is_tied && !are_all),
        ]);
        let filling = filling
            .with_gap("candidates", json!(words))
            .with_gap("tolerance", TOLERANCE)
            .with_gap("source_blocks", calls(architecture, classes, 0..sources))
            .with_gap("blocks", calls(architecture, classes, sources..sources + architecture.blocks.len()));
        let embed = |tower: Filling| tower.fill(include_str!("cells/embed.py")).trim_end().to_owned();
        let source = architecture.has_source().then(|| embed(sentence.fill(source_embedding(architecture))));
        let own = embed(sentence.fill(own_embedding(architecture)));
        filling.with_gap("embed source", source.unwrap_or_default()).with_gap("embed sentence", own)
    }

    fn title(&mut self) {
        let pictures = Pictures::default();
        let mut words = MarkdownWriter::new(&pictures, "");
        words.heading(HeadingLevel::H1, &self.snapshot.lesson.title);
        let (seed, model) = (self.model.made_of.seed, self.model.weights_origin());
        let text = format!(
            "{}\n\nThis is the lesson's model in PyTorch, with the weights that attune has: {model}, with seed {seed}. The \
             notebook runs one sentence, and asserts every number that attune computed for it: the static vectors, and the \
             queries, keys, values, scores, weights and mixes of every head, the outputs, and the answers. Each may differ \
             by at most {TOLERANCE}, times the largest number of its tensor where that is above 1.\n\nRun the cells from the \
             top. They need torch and nothing else, and no network.",
            words.text.trim_end()
        );
        self.text(&text);
    }

    fn text(&mut self, text: &str) {
        let id = format!("cell-{}", self.cells.len() + 1);
        self.cells.push(json!({ "cell_type": "markdown", "id": id, "metadata": {}, "source": lines(text.trim_end()) }));
    }

    fn code(&mut self, code: &str) {
        self.code_with(code, json!({}));
    }

    fn code_with(&mut self, code: &str, metadata: Value) {
        let id = format!("cell-{}", self.cells.len() + 1);
        self.cells.push(json!({
            "cell_type": "code", "id": id, "metadata": metadata, "execution_count": null, "outputs": [],
            "source": lines(code.trim_end()),
        }));
    }

    /// Adds a cell with named tensors, which Jupyter folds.
    fn data(&mut self, name: &'static str, tensors: &[(String, Numbers<'_>)]) {
        let shapes = tensors.iter().map(|(name, numbers)| format!("{}: {}", json!(name), json!(numbers.shape)));
        let shapes = format!("{{{}}}", shapes.collect::<Vec<_>>().join(", "));
        let values = tensors.iter().flat_map(|(_, numbers)| numbers.values.iter());
        let text = BASE64.encode(&values.flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>());
        let mut broken = String::with_capacity(text.len() + text.len() / LINE + 1);
        for (at, line) in text.as_bytes().chunks(LINE).enumerate() {
            broken.push_str(if at == 0 { "" } else { "\n" });
            broken.extend(line.iter().copied().map(char::from));
        }
        let code = format!("{name} = tensors({shapes}, \"\"\"\n{broken}\n\"\"\")\n");
        self.code_with(&code, json!({ "jupyter": { "source_hidden": true } }));
    }
}

/// The attention classes that `nn.MultiheadAttention` can express, and the reasons why it cannot express the others.
struct Library {
    alike: Vec<String>,
    /// The reasons, each with the classes to which it applies.
    reasons: BTreeMap<&'static str, Vec<String>>,
}

impl Library {
    fn of(classes: &[LayerClass], sentence: &Sentence) -> Self {
        let mut library = Self { alike: Vec::new(), reasons: BTreeMap::new() };
        const BLIND: &str = "a word of this sentence sees no word, for which it returns NaN";
        for class in classes {
            let reason = unlike_library(&class.form.attention).or(sentence.has_blind_word.then_some(BLIND));
            match reason {
                None => library.alike.push(class.attention()),
                Some(reason) => library.reasons.entry(reason).or_default().push(class.attention()),
            }
        }
        library
    }

    fn words(&self) -> String {
        let mut words = "## nn.MultiheadAttention\n\n".to_owned();
        if !self.alike.is_empty() {
            words += "PyTorch's own layer computes the same, with the same weights. It returns neither its queries and keys \
                      nor its scores.\n\n";
        }
        for (reason, classes) in &self.reasons {
            words += &format!("`nn.MultiheadAttention` cannot say `{}`: {reason}.\n\n", classes.join("`, `"));
        }
        words
    }
}

const EQUATIONS: &str = "## The model\n\nEach line has its equation beside it. $X$ has a row for each word, and $h$ counts \
                         the heads:\n\n$$A_h = \\mathrm{softmax}\\left(\\frac{Q_h K_h^T}{\\sqrt{d_k}}\\right), \\qquad M_h = A_h V_h$$\n\n\
                         The classes have only what this model has.";

/// Returns the facts and texts about the model's architecture that the template of the whole model needs.
fn filling_of(architecture: &Architecture) -> Filling {
    let source = if architecture.has_source() { architecture.source } else { SourceForm::default() };
    let transform = architecture.readout.activation();
    let is_learned = architecture.positions == Positions::Learned;
    Filling::new(architecture.norm_form)
        .with_facts([
            ("learned", is_learned),
            ("halves", architecture.positions == Positions::SinusoidalInHalves),
            ("source", architecture.has_source()),
            ("source_positions", is_learned && source.positions),
            ("segments", architecture.segments.is_some()),
            ("embedding_norm", architecture.embedding_norm),
            ("source_embedding_norm", architecture.embedding_norm && source.embedding_norm),
            ("source_norm", source.final_norm),
            ("final_norm", architecture.final_norm),
            ("shift", architecture.norm_form.shift),
        ])
        .with_facts([
            ("last", architecture.pooling == Pooling::Last),
            ("mean", architecture.pooling == Pooling::Mean),
            ("transformed", transform.is_some()),
            ("transform_bias", transform.is_some() && architecture.transform_bias),
            ("tied", architecture.readout.is_by_static_vectors()),
            ("linear", matches!(architecture.readout, Readout::Linear | Readout::TransformedLinear(_))),
            ("readout_bias", architecture.readout_bias),
            ("logit_scale", architecture.logit_scale.is_some()),
            ("logit_cap", architecture.logit_cap.is_some()),
        ])
        .with_gap("phi", transform.map_or("", |function| activation(function).0))
        .with_gap("logit_scale", architecture.logit_scale.unwrap_or(1.0))
        .with_gap("logit_cap", architecture.logit_cap.unwrap_or(1.0))
}

/// Returns the facts and texts that the template for the embedding of the sentence needs.
fn own_embedding(architecture: &Architecture) -> Filling {
    embedding(architecture, ["ids", "tokens", "", "rows", "P", "gamma_E", "beta_E"])
}

/// Returns the facts and texts that the template for the embedding of the source needs. It uses tensors of the source
/// where the model has them, and otherwise those of the sentence.
fn source_embedding(architecture: &Architecture) -> Filling {
    let SourceForm { positions, embedding_norm, .. } = architecture.source;
    let table = if positions { "P_S" } else { "P" };
    let [gain, shift] = if embedding_norm { ["gamma_ES", "beta_ES"] } else { ["gamma_E", "beta_E"] };
    embedding(architecture, ["source_ids", "source", "[source]", "source_rows", table, gain, shift])
}

fn embedding(architecture: &Architecture, [ids, of, at, rows, table, gain, shift]: [&str; 7]) -> Filling {
    let is_sinusoidal = matches!(architecture.positions, Positions::Sinusoidal | Positions::SinusoidalInHalves);
    let norm = template::norm_call(architecture.norm_form, "X", gain, shift);
    let are_given = sentence::has_given_rows(architecture);
    let rows = if are_given { rows.to_owned() } else { format!("torch.arange(len({ids}))") };
    filling_of(architecture)
        .with_facts([("sinusoidal", is_sinusoidal), ("embedding_scale", architecture.embedding_scale.is_some())])
        .with_gap("embedding_scale", architecture.embedding_scale.unwrap_or(1.0))
        .with_gap("ids", ids)
        .with_gap("of", of)
        .with_gap("at", at)
        .with_gap("rows", rows)
        .with_gap("P", table)
        .with_gap("norm of embeddings", norm)
}
