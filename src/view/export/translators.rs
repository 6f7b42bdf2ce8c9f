//! The forms in which a lesson's model with a source is written as a folder: T5, BART, mBART and Marian.
//!
//! The token with which the lesson's decoder begins becomes a word with the zero vector. A lesson's target is as long
//! as its source, so no word ends the target, and the folder's rules for writing exclude all words that are not answers
//! of the lesson.

use attune_core::lesson::places::FieldPath;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::attention::{Mask, Window};
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::model::{Architecture, Readout, SourceForm};
use attune_engine::numerics::norm::{NORM_EPSILON, NormForm, NormKind};
use attune_engine::numerics::positions::{PositionRows, Positions};
use attune_engine::pretrained::Family;

use super::fault::{Field, Unfit, attention_alone, differing, other_norm};

/// The number of rows before that of the first token in the learned positions of BART and mBART.
const FIRST_ROW: usize = 2;

/// Returns the family whose form may fit a model with a source, judged by its norms and its positions.
pub(super) fn family(architecture: &Architecture) -> Family {
    let block = &architecture.blocks[0];
    match (block.norm_form.kind, block.norm, architecture.positions) {
        (NormKind::Rms, ..) => Family::T5,
        (_, Norm::Pre, _) => Family::MBart,
        (_, _, Positions::SinusoidalInHalves) => Family::Marian,
        _ => Family::Bart,
    }
}

/// Returns whether a family of models with a source can express a field that otherwise only newer models have.
pub(super) fn has_field(field: FieldPath, architecture: &Architecture, family: Family) -> bool {
    let root = (architecture.width as f64).sqrt();
    match (field, family) {
        (["model", "activation"], _) => true,
        (["model", "gated" | "norm_kind"], Family::T5) => true,
        (["model", "logit_scale"], Family::T5) => {
            architecture.logit_scale.is_none_or(|scale| scale as f32 == root.recip() as f32)
        }
        (["model", "feed_forward_bias"], Family::T5) => true,
        (["model", "embedding_scale"], Family::Bart | Family::MBart | Family::Marian) => {
            architecture.embedding_scale.is_none_or(|scale| scale as f32 == root as f32)
        }
        _ => false,
    }
}

/// Lists the fields of a model with a source that a family's form cannot express, except those of newer models.
pub(super) fn unfit(architecture: &Architecture, family: Family) -> Vec<Unfit> {
    let is_t5 = family == Family::T5;
    let flags = if is_t5 { flags_of_t5(architecture) } else { flags_of_bart(architecture, family) };
    let own = architecture.blocks[0].attention.scale;
    let scale: Field<bool> = (&["model", "scale"], own, !is_t5);
    let mut unfit = differing(flags.into_iter().chain([scale]));
    unfit.extend(of_both(architecture, family));
    unfit.extend(of_widths(architecture, is_t5));
    unfit.extend(of_positions(architecture, family));
    unfit
}

fn flags_of_t5(architecture: &Architecture) -> Vec<Field<bool>> {
    let block = &architecture.blocks[1];
    vec![
        (&["model", "bias"], block.attention.bias, false),
        (&["model", "feed_forward_bias"], block.forward_bias, false),
        (&["model", "norm_shift"], block.norm_form.shift, false),
        (&["model", "norm_gain_from_one"], block.norm_form.gain_from_one, false),
        (&["model", "readout_bias"], architecture.readout_bias, false),
        (&["model", "embedding_norm"], architecture.embedding_norm, false),
        (&["model", "final_norm"], architecture.final_norm, true),
        (&["model", "source"], architecture.source.final_norm, true),
    ]
}

fn flags_of_bart(architecture: &Architecture, family: Family) -> Vec<Field<bool>> {
    let has_final_norms = family == Family::MBart;
    vec![
        (&["model", "embedding_norm"], architecture.embedding_norm, family != Family::Marian),
        (&["model", "final_norm"], architecture.final_norm, has_final_norms),
        (&["model", "source"], architecture.source.final_norm, has_final_norms),
    ]
}

/// Lists the fields of the layers in both towers that the family cannot express.
fn of_both(architecture: &Architecture, family: Family) -> Vec<Unfit> {
    let (cross, source) = (&architecture.blocks[1], &architecture.source_blocks[0]);
    let needed = if matches!(family, Family::T5 | Family::MBart) { Norm::Pre } else { Norm::Post };
    let mut unfit = other_norm(cross, needed);
    let epsilon: Field<f64> = (&["model", "norm_epsilon"], cross.norm_form.epsilon, NORM_EPSILON);
    if family != Family::T5 {
        unfit.extend(differing([epsilon]));
    }
    if architecture.readout != Readout::Tied {
        unfit.push(Unfit::new(&["model", "readout"], "another readout", "Tied"));
    }
    unfit.extend(attention_alone(architecture));
    if alike(source) != alike(cross) {
        let found = "layers of another form than the target's";
        unfit.push(Unfit::new(&["model", "source"], found, "other numbers of layers, heads or hidden units only"));
    }
    let sizes = |block: &BlockConfig| (block.attention.heads, block.feed_forward);
    if family == Family::T5 && sizes(source) != sizes(cross) {
        let found = "other heads or hidden units than the target's";
        unfit.push(Unfit::new(&["model", "source"], found, "the same in both towers"));
    }
    unfit
}

/// Returns a block without the sizes and the masks in which the towers of a family may differ.
fn alike(block: &BlockConfig) -> BlockConfig {
    let mut alike = BlockConfig { attends: Attends::Source, feed_forward: None, ..block.clone() };
    let attention = &mut alike.attention;
    (attention.heads, attention.key_width, attention.value_width) = (1, 1, 1);
    (attention.mask, attention.window, attention.distances) = (Mask::None, Window::ALL, None);
    alike
}

/// Lists the widths of heads that the family cannot express.
fn of_widths(architecture: &Architecture, is_t5: bool) -> Vec<Unfit> {
    let of_block = |block: &BlockConfig| {
        let attention = &block.attention;
        let needed = if is_t5 { attention.key_width } else { architecture.width / attention.heads };
        let widths: [Field<usize>; 2] = [
            (&["model", "key_width"], attention.key_width, needed),
            (&["model", "value_width"], attention.value_width, needed),
        ];
        differing(widths)
    };
    let [source, mut all] = [&architecture.source_blocks[0], &architecture.blocks[1]].map(of_block);
    // A finding that holds in both towers is listed once.
    all.retain(|unfit| !source.contains(unfit));
    source.into_iter().chain(all).collect()
}

/// Returns a finding if the family cannot express the model's positions.
fn of_positions(architecture: &Architecture, family: Family) -> Option<Unfit> {
    let distances = architecture.blocks[0].attention.distances;
    let is_shared = |form: DistanceForm| {
        let layers = architecture.source_blocks.len().max(architecture.blocks.len() / 2);
        let tables = architecture.numbered_blocks().filter(|(_, block)| block.attention.has_own_distances()).count();
        form.buckets.is_some() && (layers == 1 || tables == 2)
    };
    let needed = match (family, architecture.positions) {
        (Family::T5, _) if distances.is_some_and(is_shared) => return None,
        (Family::T5, _) => "Distances(buckets: …, shared: true)",
        (Family::Marian, Positions::SinusoidalInHalves) if distances.is_none() => return None,
        (Family::Marian, _) => "Sinusoidal(halves: true)",
        _ if distances.is_none() => return None,
        _ => "Learned (or Sinusoidal or None)",
    };
    let found = match architecture.positions {
        _ if distances.is_some() => "Distances in another form",
        Positions::Learned => "Learned",
        Positions::None => "None",
        Positions::Sinusoidal | Positions::SinusoidalInHalves => "Sinusoidal",
    };
    Some(Unfit::new(&["model", "positions"], found, needed))
}

/// Returns the model in the family's form. Parts that the lesson lacks are added to it, and are written as zeros.
pub(super) fn written(architecture: &Architecture, family: Family) -> Architecture {
    let mut written = architecture.clone();
    if family == Family::T5 {
        return written;
    }
    for block in written.source_blocks.iter_mut().chain(&mut written.blocks) {
        let attention = &mut block.attention;
        (attention.bias, attention.output_bias, attention.window) = (true, true, Window::ALL);
        (block.forward_bias, block.norm_form) = (true, NormForm::layer(block.norm_form.epsilon));
    }
    written.norm_form = NormForm::layer(written.norm_form.epsilon);
    written.readout_bias = true;
    if family != Family::Marian {
        written.positions = Positions::Learned;
        written.position_rows = PositionRows { first: FIRST_ROW, filler: None };
        let final_norm = family == Family::MBart;
        written.source = SourceForm { positions: true, embedding_norm: true, final_norm };
    }
    written
}
