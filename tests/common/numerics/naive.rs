//! The equations once more, as they stand in the papers: in f64, entry by entry, one sentence at a
//! time, without a thought for speed. Nothing of the engine is used but its types.

use attune::numerics::Matrix;
use attune::numerics::attention::Mask;
use attune::numerics::block::{Attends, BlockConfig, Norm};
use attune::numerics::model::{Architecture, AttentionModel, Batch, Classes, Pooling, Readout, Sequences};
use attune::numerics::params::{Parameters, TensorName};
use attune::numerics::positions::Positions;

pub type Rows = Vec<Vec<f64>>;

pub fn rows(m: &Matrix<f64>) -> Rows {
    m.flat().chunks(m.cols()).map(<[f64]>::to_vec).collect()
}

pub struct Attended {
    /// By head.
    pub weights: Vec<Rows>,
    /// `[M_1 … M_H]`
    pub mix: Rows,
}

fn tensor(parameters: &Parameters<f64>, block: usize, name: TensorName) -> Option<Rows> {
    let id = name.of_block(block);
    let cols = parameters.spec(id)?.cols;
    Some(parameters.values_of(id).chunks(cols).map(<[f64]>::to_vec).collect())
}

fn affine(x: &Rows, w: &Rows, b: Option<&Rows>) -> Rows {
    let entry = |row: &[f64], j: usize| {
        let product: f64 = row.iter().zip(w).map(|(x, w)| x * w[j]).sum();
        product + b.map_or(0.0, |b| b[0][j])
    };
    x.iter().map(|row| (0..w[0].len()).map(|j| entry(row, j)).collect()).collect()
}

fn plus(a: &Rows, b: &Rows) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// All 0 where every score is −∞.
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return vec![0.0; scores.len()];
    }
    let powers: Vec<f64> = scores.iter().map(|s| (s - highest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|p| p / sum).collect()
}

pub fn sees(mask: &Mask, query: usize, key: usize) -> bool {
    match mask {
        Mask::None => true,
        Mask::Causal => key <= query,
        Mask::Custom(table) => table.sees(query, key),
    }
}

pub fn attention(config: &BlockConfig, parameters: &Parameters<f64>, block: usize, x: &Rows, z: &Rows) -> Attended {
    use TensorName::*;
    let layer = &config.attention;
    let project = |x: &Rows, weights: TensorName, bias: TensorName| match tensor(parameters, block, weights) {
        Some(w) => affine(x, &w, tensor(parameters, block, bias).as_ref()),
        None => x.clone(),
    };
    let (q, k) = (project(x, QueryWeights, QueryBias), project(z, KeyWeights, KeyBias));
    let v = project(z, ValueWeights, ValueBias);
    let distances = tensor(parameters, block, DistanceBias);
    let root = if layer.scale { (layer.key_width as f64).sqrt() } else { 1.0 };
    let mut weights = Vec::new();
    let mut mix = vec![Vec::new(); x.len()];
    for head in 0..layer.heads {
        let score = |i: usize, j: usize| {
            let columns = head * layer.key_width..(head + 1) * layer.key_width;
            let dot: f64 = columns.map(|c| q[i][c] * k[j][c]).sum();
            let distance = layer.distances.map_or(0.0, |tokens| {
                distances.as_ref().expect("a layer with distances has B")[head][tokens - 1 + j - i]
            });
            if sees(&layer.mask, i, j) { (dot / root + distance) / layer.temperature } else { f64::NEG_INFINITY }
        };
        let a: Rows = (0..x.len()).map(|i| softmax(&(0..z.len()).map(|j| score(i, j)).collect::<Vec<_>>())).collect();
        for (a, mix) in a.iter().zip(&mut mix) {
            let columns = head * layer.value_width..(head + 1) * layer.value_width;
            mix.extend(columns.map(|c| a.iter().zip(&v).map(|(a, v)| a * v[c]).sum::<f64>()));
        }
        weights.push(a);
    }
    Attended { weights, mix }
}

pub fn norm(x: &Rows, gain: &Rows, bias: &Rows) -> Rows {
    const EPSILON: f64 = 1e-5;
    let row = |x: &Vec<f64>| {
        let width = x.len() as f64;
        let mean = x.iter().sum::<f64>() / width;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width;
        let entry = |j: usize| gain[0][j] * (x[j] - mean) / (variance + EPSILON).sqrt() + bias[0][j];
        (0..x.len()).map(entry).collect()
    };
    x.iter().map(row).collect()
}

pub fn feed_forward(parameters: &Parameters<f64>, block: usize, x: &Rows) -> Rows {
    use TensorName::*;
    let of = |name| tensor(parameters, block, name).expect("a feed-forward layer has its tensors");
    let mut hidden = affine(x, &of(HiddenWeights), Some(&of(HiddenBias)));
    hidden.iter_mut().flatten().for_each(|h| *h = h.max(0.0));
    affine(&hidden, &of(ForwardWeights), Some(&of(ForwardBias)))
}

pub fn norm_of(parameters: &Parameters<f64>, block: usize, x: &Rows, gain: TensorName, bias: TensorName) -> Rows {
    let of = |name| tensor(parameters, block, name).expect("a norm has its tensors");
    norm(x, &of(gain), &of(bias))
}

/// `Y` of one sentence.
pub fn block(
    config: &BlockConfig,
    parameters: &Parameters<f64>,
    block: usize,
    x: &Rows,
    source: Option<&Rows>,
) -> Rows {
    use TensorName::*;
    let attention_norm = |x: &Rows| norm_of(parameters, block, x, AttentionNormGain, AttentionNormBias);
    let forward_norm = |x: &Rows| norm_of(parameters, block, x, ForwardNormGain, ForwardNormBias);
    let residual = |to: Rows, x: &Rows| if config.residual { plus(&to, x) } else { to };

    let queries = if config.norm == Norm::Pre { attention_norm(x) } else { x.clone() };
    let keys = match config.attends {
        Attends::OwnSentence => &queries,
        Attends::Source => source.expect("cross-attention has a source"),
    };
    let mix = attention(config, parameters, block, &queries, keys).mix;
    let moved = match tensor(parameters, block, OutputWeights) {
        Some(w) => affine(&mix, &w, tensor(parameters, block, OutputBias).as_ref()),
        None => mix,
    };
    let attended = residual(moved, x);
    let attended = if config.norm == Norm::Post { attention_norm(&attended) } else { attended };
    if config.feed_forward.is_none() {
        return attended;
    }
    let input = if config.norm == Norm::Pre { forward_norm(&attended) } else { attended.clone() };
    let output = residual(feed_forward(parameters, block, &input), &attended);
    if config.norm == Norm::Post { forward_norm(&output) } else { output }
}

/// `P[t]`
fn position(architecture: &Architecture, parameters: &Parameters<f64>, t: usize) -> Vec<f64> {
    let width = architecture.width;
    match architecture.positions {
        Positions::None => vec![0.0; width],
        Positions::Learned => tensor(parameters, 0, TensorName::Positions).expect("learned positions")[t].clone(),
        Positions::Sinusoidal => (0..width)
            .map(|j| {
                let angle = t as f64 / 10_000f64.powf((2 * (j / 2)) as f64 / width as f64);
                if j % 2 == 0 { angle.sin() } else { angle.cos() }
            })
            .collect(),
    }
}

fn embedding(model: &AttentionModel<f64>, parameters: &Parameters<f64>, word: usize) -> Vec<f64> {
    match tensor(parameters, 0, TensorName::Embedding) {
        Some(trained) => trained[word].clone(),
        None => model.embedding.row(word).to_vec(),
    }
}

/// The vectors of one sentence of a batch, on their way through some blocks.
fn sentence(
    model: &AttentionModel<f64>,
    parameters: &Parameters<f64>,
    sequences: &Sequences,
    index: usize,
    (blocks, first): (&[BlockConfig], usize),
    source: Option<&Rows>,
) -> Rows {
    let architecture = &model.architecture;
    let embed = |row: usize| {
        let zero = || vec![0.0; architecture.width];
        let word = sequences.words[row].map_or_else(zero, |word| embedding(model, parameters, word));
        let position = position(architecture, parameters, sequences.positions[row]);
        word.iter().zip(&position).map(|(e, p)| e + p).collect()
    };
    let x: Rows = sequences.rows.sentence(index).map(embed).collect();
    blocks.iter().enumerate().fold(x, |x, (i, config)| block(config, parameters, first + i, &x, source))
}

/// The mean loss of a batch.
pub fn loss(model: &AttentionModel<f64>, parameters: &Parameters<f64>, batch: &Batch) -> f64 {
    let (architecture, costs) = (&model.architecture, model.costs());
    let sources = architecture.source_blocks.len();
    let outputs: Vec<Rows> = (0..batch.input.rows.count())
        .map(|index| {
            let memory = architecture
                .has_source()
                .then(|| sentence(model, parameters, &batch.source, index, (&architecture.source_blocks, 0), None));
            let blocks = (&architecture.blocks[..], sources);
            sentence(model, parameters, &batch.input, index, blocks, memory.as_ref())
        })
        .collect();
    let every: Rows = outputs.concat();
    let read = |target: usize| match architecture.pooling {
        Pooling::Every => every[target].clone(),
        Pooling::Last => outputs[target][outputs[target].len() - 1].clone(),
        Pooling::Mean => {
            let sentence = &outputs[target];
            let mean = |j: usize| sentence.iter().map(|y| y[j]).sum::<f64>() / sentence.len() as f64;
            (0..architecture.width).map(mean).collect()
        }
    };
    let weights: Rows = match (architecture.readout, &model.classes) {
        (Readout::Tied, Classes::Words(candidates)) => {
            let columns: Rows = candidates.words().iter().map(|&word| embedding(model, parameters, word)).collect();
            (0..architecture.width).map(|j| columns.iter().map(|column| column[j]).collect()).collect()
        }
        _ => tensor(parameters, 0, TensorName::LogitWeights).expect("a linear readout"),
    };
    let bias = tensor(parameters, 0, TensorName::LogitBias);
    let losses = batch.targets.iter().map(|&(target, class)| {
        let y = read(target);
        let logits = affine(&vec![y.clone()], &weights, bias.as_ref());
        let asked = match (architecture.readout, architecture.pooling) {
            // An answer has a place: that of the right class.
            (Readout::Tied, _) => {
                let centre: Vec<f64> = weights.iter().map(|row| row[class]).collect();
                costs.arrive * squared_distance(&y, &centre)
            }
            (Readout::Linear, Pooling::Mean) => 0.0,
            // Or none, and stays near its word.
            (Readout::Linear, pooling) => {
                let row = if pooling == Pooling::Every { target } else { batch.input.rows.sentence(target).end - 1 };
                let word = batch.input.words[row];
                word.map_or(0.0, |word| costs.keep * squared_distance(&y, model.embedding.row(word)))
            }
        };
        asked - softmax(&logits[0])[class].ln()
    });
    let kept =
        batch.kept.iter().map(|&(row, word)| costs.keep * squared_distance(&every[row], model.embedding.row(word)));
    (losses.sum::<f64>() + kept.sum::<f64>()) / batch.targets.len().max(1) as f64
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}
