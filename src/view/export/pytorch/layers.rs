//! The layers of a model as classes of PyTorch: blocks of the same form share a class.

use std::fmt::Write;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::attention::rotary::RotaryScaling;
use attune_engine::numerics::attention::{AttentionConfig, Mask, Window};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::code_suffix;
use serde_json::json;

use super::template::{Filling, norm_call};

/// A form that blocks of a model share, which is written as a class for the attention and one for the block.
pub(super) struct LayerClass {
    /// The prefix of the names of the classes, which distinguishes the blocks of a model with a source. From the second
    /// form with this prefix on, `number` is the suffix.
    kind: &'static str,
    number: String,
    pub form: BlockConfig,
}

impl LayerClass {
    /// Returns the different forms of a model's blocks, in the order of their first blocks.
    pub fn all(architecture: &Architecture) -> Vec<Self> {
        let mut classes: Vec<Self> = Vec::new();
        for (number, block) in architecture.numbered_blocks() {
            let (kind, form) = (kind(architecture, number, block), form(block));
            if classes.iter().any(|class| class.kind == kind && class.form == form) {
                continue;
            }
            let same = classes.iter().filter(|class| class.kind == kind).count();
            let number = if same == 0 { String::new() } else { (same + 1).to_string() };
            classes.push(Self { kind, number, form });
        }
        classes
    }

    pub fn attention(&self) -> String {
        format!("{}Attention{}", self.kind, self.number)
    }

    pub fn block(&self) -> String {
        format!("{}Block{}", self.kind, self.number)
    }

    /// Returns the Python code of both classes: of the attention and of the block.
    pub fn python(&self) -> [String; 2] {
        let attention = attention(&self.form.attention).with_gap("Attention", self.attention());
        let block = block(&self.form).with_gap("Attention", self.attention()).with_gap("Block", self.block());
        [attention.fill(include_str!("cells/attention.py")), block.fill(include_str!("cells/block.py"))]
    }
}

/// Returns the Python code that creates a range of a model's blocks, which are numbered with those of the source first.
pub(super) fn calls(architecture: &Architecture, classes: &[LayerClass], blocks: std::ops::Range<usize>) -> String {
    let mut calls = String::new();
    for (number, block) in architecture.numbered_blocks().filter(|(number, _)| blocks.contains(number)) {
        let (kind, form) = (kind(architecture, number, block), form(block));
        let Some(class) = classes.iter().find(|class| class.kind == kind && class.form == form) else { continue };
        let table = match block.attention.distances {
            Some(_) => format!(", \"{}\"", code_suffix(block.attention.distance_block(number))),
            None => String::new(),
        };
        let comma = if calls.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(calls, "{comma}{}(\"{}\"{table})", class.block(), code_suffix(number));
    }
    calls
}

fn kind(architecture: &Architecture, number: usize, block: &BlockConfig) -> &'static str {
    match block.attends_to_source() {
        _ if !architecture.has_source() => "",
        true => "Cross",
        false if number < architecture.source_blocks.len() => "Source",
        false => "Target",
    }
}

/// Returns the form of a block without the number of the block that owns its table of distances, so that all blocks
/// with a shared table have the same form.
fn form(block: &BlockConfig) -> BlockConfig {
    let mut form = block.clone();
    form.attention.distances = form.attention.distances.map(|distances| DistanceForm { table: None, ..distances });
    form
}

fn attention(config: &AttentionConfig) -> Filling {
    let form = config.query_key_norm.map_or(NormForm::LAYER, |norm| NormForm { shift: false, ..norm.form });
    let filling = Filling::new(form)
        .with_facts(facts_of_projections(config))
        .with_facts(facts_of_scores(config))
        .with_gap("H", config.heads)
        .with_gap("d_k", config.key_width)
        .with_gap("d_v", config.value_width)
        .with_gap("G", config.key_value_heads())
        .with_gap("K", if config.group_size > 1 { "self.G" } else { "H" })
        .with_gap("norm_q", norm_call(form, "Q", "gamma_q", ""))
        .with_gap("norm_k", norm_call(form, "K", "gamma_k", ""))
        .with_gap("divisor", config.score_divisor)
        .with_gap("temperature", config.temperature)
        .with_gap("cap", config.score_cap.unwrap_or_default() / config.temperature)
        .with_gap("before", config.window.before.unwrap_or_default())
        .with_gap("after", config.window.after.unwrap_or_default());
    with_places(config, filling)
}

fn facts_of_projections(config: &AttentionConfig) -> [(&'static str, bool); 9] {
    let (turns, normed) = (config.rotary, config.query_key_norm);
    [
        ("projected", config.projected),
        ("bias", config.projected && config.bias),
        ("output", config.output),
        ("output_bias", config.output && config.output_bias),
        ("grouped", config.group_size > 1),
        ("normed", normed.is_some()),
        ("normed_each", normed.is_some_and(|norm| norm.each_head)),
        ("rotary", turns.is_some()),
        ("listed", turns.is_some_and(|turns| turns.scaling != RotaryScaling::None)),
    ]
}

fn facts_of_scores(config: &AttentionConfig) -> [(&'static str, bool); 12] {
    let (window, buckets) = (config.window, config.distances.and_then(|form| form.buckets));
    [
        ("scaled", config.scale),
        ("divided", config.score_divisor != 1.0),
        ("temperature", config.temperature != 1.0),
        ("capped", config.score_cap.is_some()),
        ("masked", config.mask != Mask::None || window != Window::ALL),
        ("causal", config.mask == Mask::Causal),
        ("before", window.before.is_some()),
        ("after", window.after.is_some()),
        ("custom", matches!(config.mask, Mask::Custom(_))),
        ("distances", config.distances.is_some()),
        ("buckets", buckets.is_some()),
        ("both", buckets.is_some_and(|buckets| buckets.both_directions)),
    ]
}

/// Fills in the constants of the layer's positions and of its own mask.
fn with_places(config: &AttentionConfig, mut filling: Filling) -> Filling {
    if let Some(turns) = config.rotary {
        filling = filling.with_gap("theta", format!("{:?}", turns.theta)).with_gap("turned", turns.width);
        filling = filling.with_gap("frequencies", json!(turns.frequencies()));
    }
    if let Mask::Custom(table) = &config.mask {
        let digits = |row: &[bool]| row.iter().map(|sees| if *sees { '1' } else { '0' }).collect::<String>();
        filling = filling.with_gap("visible", json!(table.rows().map(digits).collect::<Vec<_>>()));
    }
    if let Some(distances) = config.distances {
        filling = filling.with_gap("T_max", distances.tokens);
    }
    if let Some(buckets) = config.distances.and_then(|form| form.buckets) {
        let own = if buckets.both_directions { buckets.count / 2 } else { buckets.count };
        filling = filling.with_gap("own", own).with_gap("exact", buckets.exact()).with_gap("most", buckets.most);
    }
    filling
}

fn block(config: &BlockConfig) -> Filling {
    let has_forward = config.feed_forward.is_some();
    let (phi, phi_name) = activation(config.activation);
    Filling::new(config.norm_form)
        .with_facts([
            ("distances", config.attention.distances.is_some()),
            ("attention_norm", config.has_attention_norm()),
            ("norms_first", config.norms_first()),
            ("norms_attended", config.norms_attended()),
            ("output_norms", config.output_norms),
            ("shift", config.norm_form.shift),
            ("cross", config.attends_to_source()),
            ("residual", config.residual),
        ])
        .with_facts([
            ("feed_forward", has_forward),
            ("forward_bias", config.forward_bias),
            ("gated", has_forward && config.gated),
            ("forward_norm", config.has_forward_norm()),
            ("norms_forward", config.has_forward_norm() && config.norm == Norm::Pre),
            ("post", config.norm == Norm::Post),
            ("sequential", config.branches == Branches::Sequential),
            ("one_norm", has_forward && config.branches == Branches::ParallelOneNorm),
            ("forward_output_norm", has_forward && config.output_norms),
        ])
        .with_gap("phi", phi)
        .with_gap("phi_name", phi_name)
}

/// Returns the module of PyTorch that computes an activation function, and the function's name.
pub(super) fn activation(activation: Activation) -> (&'static str, &'static str) {
    match activation {
        Activation::Relu => ("nn.ReLU()", "ReLU"),
        Activation::Gelu => ("nn.GELU()", "GELU"),
        Activation::GeluTanh => ("nn.GELU(\"tanh\")", "GELU in the tanh form"),
        Activation::Silu => ("nn.SiLU()", "SiLU"),
    }
}

/// Returns the reason why `nn.MultiheadAttention` cannot express an attention; `None` if it can.
pub(super) fn unlike_library(config: &AttentionConfig) -> Option<&'static str> {
    let widths = [config.key_width, config.value_width].map(|width| width * config.heads == config.width);
    let reasons = [
        (!config.projected, "queries, keys and values are the words themselves, without `W_Q`, `W_K` and `W_V`"),
        (!config.output, "there is no `W_O`"),
        (config.bias != config.output_bias, "either the projections or the output has a bias, but not both"),
        (widths != [true, true], "the heads are not as wide as `D / H`"),
        (config.group_size > 1, "heads share keys and values"),
        (!config.scale, "scores are not divided by `√d_k`"),
        (config.temperature != 1.0 || config.score_divisor != 1.0, "scores have a divisor of their own"),
        (config.score_cap.is_some(), "scores have a bound"),
        (config.rotary.is_some(), "queries and keys are turned by rotary positions"),
        (config.query_key_norm.is_some(), "queries and keys are normed"),
    ];
    reasons.into_iter().find(|(is_so, _)| *is_so).map(|(_, reason)| reason)
}
