//! Mistakes that are easily made with these models, made on purpose: the comparison with other programs must see each.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Window};
use attune_engine::numerics::attention::{Rotary, RotaryScaling};
use attune_engine::numerics::block::Branches;
use attune_engine::numerics::model::{Architecture, Readout, Sequences};
use attune_engine::numerics::norm::NormKind;
use attune_engine::numerics::params::{Parameters, TensorId, TensorName};

use crate::models::{Mistaken, pass};
use crate::values::{TOLERANCE, expected, found, worst};
use crate::{FIXTURES, lists, read};

type Mistake = fn(&mut Mistaken);

/// Those of every model that can make them, each with the fixtures that do.
const MISTAKES: &[(&str, &[&str], Mistake)] = &[
    ("positions of the rotation from 5 on", &["llama-wild"], |model| model.turn_columns(5.0)),
    ("no bias of queries", &["qwen2-wild", "neox-wild", "phi-wild", "roberta-wild"], |model| {
        model.without(&[TensorName::QueryBias]);
    }),
    ("no bias of keys", &["qwen2-wild", "neox-wild", "phi-wild", "roberta-wild"], |model| {
        model.without(&[TensorName::KeyBias]);
    }),
    ("no bias of values", &["qwen2-wild", "neox-wild", "phi-wild", "roberta-wild"], |model| {
        model.without(&[TensorName::ValueBias]);
    }),
    ("no bias of outputs", &["neo-wild", "neox-wild", "phi-wild", "roberta-wild"], |model| {
        model.without(&[TensorName::OutputBias]);
    }),
    ("no biases of the feed-forward layer", &["neo-wild", "neox-wild", "phi-wild", "roberta-wild"], |model| {
        model.without(&[TensorName::HiddenBias, TensorName::ForwardBias]);
    }),
    ("no bias of the readout", &["phi-wild", "roberta-wild", "modernbert-wild", "distilbert-wild"], |model| {
        model.without(&[TensorName::LogitBias]);
    }),
    ("one norm for both branches", &["neox-wild"], |model| {
        model.blocks(|block| block.branches = Branches::ParallelOneNorm);
    }),
    ("parallel read as sequential", &["neox-wild"], |model| {
        model.blocks(|block| block.branches = Branches::Sequential)
    }),
    ("an epsilon of 1e-6", &["llama-wild", "gemma3-wild", "olmo2-wild", "neox-wild", "roberta-wild"], |model| {
        model.norms(|form| form.epsilon = 1e-6);
    }),
    ("an epsilon of 1e-5", &["phi3-wild", "qwen3-wild", "neo-wild", "modernbert-wild", "distilbert-wild"], |model| {
        model.norms(|form| form.epsilon = 1e-5);
    }),
    ("GELU by a tanh", &["neox-wild", "modernbert-wild", "roberta-wild", "distilbert-wild"], |model| {
        model.activation(Activation::GeluTanh);
    }),
    ("GELU by the error function", &["gemma2-wild", "gemma3-wild", "phi-wild", "neo-wild"], |model| {
        model.activation(Activation::Gelu);
    }),
    ("GELU for SiLU", &["llama-wild", "mistral-window", "olmo2-wild", "phi3-wild"], |model| {
        model.activation(Activation::Gelu);
    }),
    ("SiLU for GELU", &["gemma2-wild", "gemma3-wild"], |model| model.activation(Activation::Silu)),
    ("gate and its factor swapped", &["llama-wild", "gemma2-wild", "phi3-wild", "modernbert-wild"], |model| {
        model.swap([TensorName::GateWeights, TensorName::HiddenWeights]);
    }),
    ("no bound of scores", &["gemma2-wild"], |model| model.attention(|layer| layer.score_cap = None)),
    ("the bound of scores before their scale", &["gemma2-wild"], |model| {
        model.attention(|layer| layer.score_cap = layer.score_cap.map(|cap| cap * layer.score_scale()));
    }),
    ("no bound of logits", &["gemma2-wild"], |model| model.0.architecture.logit_cap = None),
    ("pairs side by side", &["llama-wild", "gemma3-wild", "neox-wild", "modernbert-wild"], |model| {
        // Pair i is columns 2i and 2i + 1 of the file's.
        model.columns(|rotary, _, col| match col {
            _ if col >= rotary.width => col,
            _ if col < rotary.width / 2 => 2 * col,
            _ => 2 * (col - rotary.width / 2) + 1,
        });
    }),
    ("turned the other way", &["llama-wild", "phi-wild", "modernbert-wild"], |model| {
        model.columns(|rotary, _, col| if col < rotary.width { (col + rotary.width / 2) % rotary.width } else { col });
    }),
    ("no rotation", &["llama-wild", "gemma3-wild", "phi-wild", "modernbert-wild"], |model| {
        model.attention(|layer| layer.rotary = None);
    }),
    ("another theta", &["llama3-scaling", "qwen3-wild", "phi3-wild", "olmo2-wild"], |model| {
        model.rotary(|rotary| rotary.theta = 10_000.0);
    }),
    ("thetas of local and global layers swapped", &["gemma3-wild", "modernbert-wild"], |model| {
        let of = |windowed: bool, model: &Mistaken| {
            let mut layers = model.0.architecture.blocks.iter().map(|block| &block.attention);
            layers.find(|layer| (layer.window != Window::ALL) == windowed).and_then(|layer| layer.rotary)
        };
        let swapped = [of(true, model), of(false, model)];
        model.attention(|layer| layer.rotary = swapped[usize::from(layer.window != Window::ALL)]);
    }),
    ("no scaling of the rotation", &["llama3-scaling", "gemma3-wild"], |model| {
        model.rotary(|rotary| rotary.scaling = RotaryScaling::None);
    }),
    ("a scaling that is not smooth between", &["llama3-scaling"], |model| {
        model.rotary(|rotary| {
            if let RotaryScaling::Llama3 { low, high, .. } = &mut rotary.scaling {
                let middle = (*low + *high) / 2.0;
                (*low, *high) = (middle - 1e-9, middle + 1e-9);
            }
        });
    }),
    ("a scaling of the local layers too", &["gemma3-wild"], |model| {
        model.rotary(|rotary| rotary.scaling = RotaryScaling::Linear(2.5));
    }),
    ("the whole head turned", &["neox-wild", "phi-wild"], |model| {
        model.attention(|layer| layer.rotary = layer.rotary.map(|it| Rotary { width: layer.key_width, ..it }));
    }),
    ("pairs over the whole head", &["neox-wild", "phi-wild"], |model| {
        // The second column of pair i is i + d/2 of the file's.
        model.columns(|rotary, width, col| {
            let (pairs, half) = (rotary.width / 2, width / 2);
            let second: Vec<usize> = (half..half + pairs).collect();
            let rest = (0..width).filter(|at| *at >= pairs && !second.contains(at));
            let order: Vec<usize> = (0..pairs).chain(second.iter().copied()).chain(rest).collect();
            order[col]
        });
    }),
    ("an exponent over the whole head", &["neox-wild", "phi-wild"], |model| {
        model.attention(|layer| {
            let width = layer.key_width as f64;
            layer.rotary = layer.rotary.map(|it| Rotary { theta: it.theta.powf(it.width as f64 / width), ..it });
        });
    }),
    ("scores over the root of the head's width", &["gemma2-wild", "gemma3-wild"], |model| {
        model.attention(|layer| layer.score_divisor = 1.0);
    }),
    ("scores over the root of D / H", &["qwen3-wild", "llama3-scaling", "mistral-window"], |model| {
        model.attention(|layer| {
            layer.score_divisor = ((layer.width / layer.heads) as f64 / layer.key_width as f64).sqrt();
        });
    }),
    ("scores that are scaled", &["neo-wild"], |model| model.attention(|layer| layer.scale = true)),
    ("layer 0 is normed", &["modernbert-wild"], |model| {
        model.blocks(|block| block.attention_norm = true);
        model.reshape(|id, (_, cols)| {
            (id.name == TensorName::AttentionNormGain && id.block == 0).then(|| vec![1.0; cols])
        });
    }),
    ("no norm of the embeddings", &["modernbert-wild", "roberta-wild"], |model| {
        model.0.architecture.embedding_norm = false;
    }),
    ("a window of one word more", &WINDOWED, |model| model.windows(|reach| reach + 1)),
    ("a window of one word less", &WINDOWED, |model| model.windows(|reach| reach - 1)),
    ("no window", &WINDOWED, |model| model.attention(|layer| layer.window = Window::ALL)),
    ("windows on the other layers", &["gemma2-wild", "gemma3-wild", "neo-wild", "modernbert-wild"], |model| {
        let mut layers = model.0.architecture.blocks.iter().map(|block| block.attention.window);
        let window = layers.find(|window| *window != Window::ALL).expect("a window");
        model.attention(|layer| layer.window = if layer.window == Window::ALL { window } else { Window::ALL });
    }),
    ("a window twice as wide", &["modernbert-wild"], |model| model.windows(|reach| 2 * reach)),
    ("heads of keys and values in turn", &["llama-wild", "qwen2-wild", "gemma2-wild"], Mistaken::tile_groups),
    ("queries, keys and values in thirds", &["neox-wild"], Mistaken::thirds),
    ("a mean taken off", &["llama-wild", "gemma3-wild", "olmo2-wild"], |model| {
        model.norms(|form| form.kind = NormKind::Layer);
    }),
    ("no mean taken off", &["neox-wild", "modernbert-wild", "roberta-wild"], |model| {
        model.norms(|form| form.kind = NormKind::Rms);
    }),
    ("gains from 0", &["gemma2-wild", "gemma3-wild"], |model| model.norms(|form| form.gain_from_one = false)),
    ("gains from 1", &["llama-wild", "qwen3-wild", "olmo2-wild"], |model| {
        model.norms(|form| form.gain_from_one = true);
    }),
    ("a table that is not scaled", &["gemma2-wild", "gemma3-wild"], |model| {
        model.0.architecture.embedding_scale = None;
    }),
    ("a readout that is scaled too", &["gemma2-wild", "gemma3-wild"], |model| {
        let scale = model.0.architecture.embedding_scale.take().expect("a scale") as f32;
        let table = &model.0.embedding;
        let scaled = Matrix::from_fn(table.rows(), table.cols(), |i, j| scale * table.get(i, j));
        model.0.embedding = Arc::new(scaled.into());
    }),
    ("positions from 0", &["roberta-wild"], |model| model.first_position(0)),
    ("positions from 1", &["roberta-wild"], |model| model.first_position(1)),
    ("fillers counted", &["roberta-wild"], |model| model.0.architecture.position_rows.filler = None),
    ("no token type", &["roberta-wild"], |model| model.without(&[TensorName::Segments])),
    ("a head with the layers' activation", &["roberta-wild"], |model| {
        model.0.architecture.readout = Readout::Transformed(model.0.architecture.blocks[0].activation);
    }),
    ("no last norm", &["llama-wild", "neox-wild", "neo-wild", "modernbert-wild"], |model| {
        model.0.architecture.final_norm = false;
    }),
    ("the table as readout", &["llama-wild", "neox-wild"], |model| model.0.architecture.readout = Readout::Tied),
    ("no norm of queries and keys", &["qwen3-wild", "gemma3-wild", "olmo2-wild"], |model| {
        model.attention(|layer| layer.query_key_norm = None);
    }),
    ("a norm of queries and keys over all heads", &["qwen3-wild", "gemma3-wild"], |model| {
        let of_head = model.0.parameters.clone();
        model.attention(|layer| {
            layer.query_key_norm = layer.query_key_norm.map(|mut norm| {
                norm.each_head = false;
                norm
            });
        });
        model.reshape(|id, (_, cols)| {
            let is_gain = matches!(id.name, TensorName::QueryNormGain | TensorName::KeyNormGain);
            is_gain.then(|| of_head.row_major(id).iter().copied().cycle().take(cols).collect())
        });
    }),
    ("no norms of what branches add", &["gemma2-wild", "gemma3-wild", "olmo2-wild"], |model| {
        model.blocks(|block| block.output_norms = false);
    }),
];

const WINDOWED: [&str; 6] =
    ["mistral-window", "gemma2-wild", "gemma3-wild", "phi3-wild", "neo-wild", "modernbert-wild"];

impl Mistaken {
    fn attention(&mut self, mut change: impl FnMut(&mut AttentionConfig)) {
        self.blocks(|block| change(&mut block.attention));
    }

    fn rotary(&mut self, mut change: impl FnMut(&mut Rotary)) {
        self.attention(|layer| layer.rotary.iter_mut().for_each(&mut change));
    }

    fn windows(&mut self, change: impl Fn(usize) -> usize) {
        self.attention(|layer| {
            let Window { before, after } = layer.window;
            layer.window = Window { before: before.map(&change), after: after.map(&change) };
        });
    }

    /// The tensors of an architecture that has changed: these, and the others as they were.
    fn reshape(&mut self, new: impl Fn(TensorId, (usize, usize)) -> Option<Vec<f32>>) {
        let (old, words) = (&self.0.parameters, self.0.config.vocabulary);
        let mut parameters = Parameters::zeros(&self.0.architecture.shapes(words, words));
        for spec in parameters.specs().to_vec() {
            let values = new(spec.id, (spec.rows, spec.cols)).unwrap_or_else(|| old.row_major(spec.id).into_owned());
            parameters.set_row_major(spec.id, &values);
        }
        self.0.parameters = Arc::new(parameters);
    }

    /// Columns of each head's queries and keys in another order: of the file's, where each stands.
    fn columns(&mut self, order: fn(&Rotary, usize, usize) -> usize) {
        use TensorName::{KeyBias, KeyNormGain, KeyWeights, QueryBias, QueryNormGain, QueryWeights};
        let blocks = self.0.architecture.blocks.clone();
        let all = [QueryWeights, QueryBias, KeyWeights, KeyBias, QueryNormGain, KeyNormGain];
        for name in all.into_iter().filter(|name| self.has(*name)).collect::<Vec<_>>() {
            self.change(name, |id, values| {
                let layer = &blocks[id.block].attention;
                let rotary = layer.rotary.expect("a rotation");
                for head in values.chunks_exact_mut(layer.key_width) {
                    let old = head.to_vec();
                    let from = |col| old[order(&rotary, layer.key_width, col)];
                    head.iter_mut().enumerate().for_each(|(col, to)| *to = from(col));
                }
            });
        }
    }

    /// Queries and keys turned by so many places more.
    fn turn_columns(&mut self, places: f64) {
        let blocks = self.0.architecture.blocks.clone();
        for name in [TensorName::QueryWeights, TensorName::KeyWeights] {
            self.change(name, |id, values| {
                let layer = &blocks[id.block].attention;
                let frequencies = layer.rotary.expect("a rotation").frequencies();
                for head in values.chunks_exact_mut(layer.key_width) {
                    let (first, second) = head.split_at_mut(frequencies.len());
                    for ((x, y), frequency) in first.iter_mut().zip(second).zip(&frequencies) {
                        let (sine, cosine) = (places * frequency).sin_cos();
                        let (a, b) = (f64::from(*x), f64::from(*y));
                        (*x, *y) = ((a * cosine - b * sine) as f32, (b * cosine + a * sine) as f32);
                    }
                }
            });
        }
    }

    /// Head `h` reads the keys and values of head `h mod K`.
    fn tile_groups(model: &mut Self) {
        use TensorName::{KeyBias, KeyWeights, ValueBias, ValueWeights};
        let old = model.0.parameters.clone();
        model.attention(|layer| layer.group_size = 1);
        model.reshape(|id, (rows, cols)| {
            if ![KeyWeights, KeyBias, ValueWeights, ValueBias].contains(&id.name) {
                return None;
            }
            let (values, width) = (old.row_major(id), old.spec(id)?.cols);
            Some(
                (0..rows)
                    .flat_map(|row| (0..cols).map(move |col| (row, col % width)))
                    .map(|(row, col)| values[row * width + col])
                    .collect(),
            )
        });
    }

    /// The file's rows, which are head by head, read as all queries, all keys, all values.
    fn thirds(model: &mut Self) {
        use TensorName::{KeyBias, KeyWeights, QueryBias, QueryWeights, ValueBias, ValueWeights};
        let (old, blocks) = (model.0.parameters.clone(), model.0.architecture.blocks.clone());
        model.reshape(|id, (rows, cols)| {
            let all = [[QueryWeights, KeyWeights, ValueWeights], [QueryBias, KeyBias, ValueBias]];
            let names = all.into_iter().find(|names| names.contains(&id.name))?;
            let third = names.iter().position(|name| *name == id.name)?;
            let width = blocks[id.block].attention.key_width;
            let of = names.map(|name| old.row_major(name.of_block(id.block)));
            let entry = |row: usize, col: usize| {
                let at = third * cols + col; // of the file's rows
                let (head, part) = (at / (3 * width), at / width % 3);
                of[part][row * cols + head * width + at % width]
            };
            Some(
                (0..rows)
                    .flat_map(|row| (0..cols).map(move |col| (row, col)))
                    .map(|(row, col)| entry(row, col))
                    .collect(),
            )
        });
    }

    fn first_position(&mut self, first: usize) {
        let rows = self.0.architecture.max_tokens + self.0.architecture.position_rows.first;
        let Architecture { position_rows, max_tokens, .. } = &mut self.0.architecture;
        (position_rows.first, position_rows.filler, *max_tokens) = (first, None, rows - first);
    }
}

#[test]
fn every_mistake_is_seen() {
    let expected = FIXTURES.map(|name| (name, expected(name)));
    for (mistake, fixtures, make) in MISTAKES {
        for fixture in *fixtures {
            let (name, expected) = expected.iter().find(|(name, _)| name == fixture).expect("a fixture");
            let mut model = Mistaken(read(name));
            make(&mut model);
            let (off, key) = worst(&found(name, &model.0), expected);
            assert!(off > 2.0 * TOLERANCE, "{name}, {mistake}: {key} is off by {off:e} only");
        }
    }
}

/// `γ ⊙ x / ρ` with `ε` within the root or outside of it.
fn rms(x: &[f32], gain: &[f32], epsilon: f64, is_within: bool) -> Vec<f32> {
    let mean = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>() / x.len() as f64;
    let root = if is_within { (mean + epsilon).sqrt() } else { mean.sqrt() + epsilon };
    x.iter().zip(gain).map(|(&x, &gain)| (f64::from(x) / root) as f32 * gain).collect()
}

fn turned(rotary: &Rotary, place: usize, x: &[f32]) -> Vec<f32> {
    let (mut x, half) = (x.to_vec(), rotary.width / 2);
    for (pair, frequency) in rotary.frequencies().into_iter().enumerate() {
        let (sine, cosine) = (place as f64 * frequency).sin_cos();
        let (a, b) = (f64::from(x[pair]), f64::from(x[pair + half]));
        (x[pair], x[pair + half]) = ((a * cosine - b * sine) as f32, (b * cosine + a * sine) as f32);
    }
    x
}

fn off(found: &[f32], expected: &[f32]) -> f32 {
    found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f32::max)
}

/// Mistakes that no form of the engine can make: another order, and `ε` outside of the root.
#[test]
fn orders_that_no_form_has_are_seen() {
    let (name, list) = ("qwen3-wild", "n7");
    let (model, expected, ids) = (read(name), expected(name), &lists(name)[list]);
    let layer = &model.architecture.blocks[0].attention;
    let (width, heads) = (layer.key_width, layer.heads);
    let (rotary, norm) = (layer.rotary.expect("a rotation"), layer.query_key_norm.expect("a norm"));
    let run = pass(&model, &Sequences::one(ids));
    let normed = run.blocks[0].normed.as_ref().expect("a norm first");
    let weights = model.parameters.row_major(TensorName::QueryWeights);
    let gain = model.parameters.row_major(TensorName::QueryNormGain);
    let queries = &expected["n7.q.0"];
    let mut seen = 0f32;
    for (head, place) in (0..heads).flat_map(|head| (0..ids.len()).map(move |place| (head, place))) {
        let column = |col: usize| {
            let weights = weights.iter().skip(col).step_by(heads * width);
            normed.row(place).iter().zip(weights).map(|(x, weight)| x * weight).sum::<f32>()
        };
        let query: Vec<f32> = (head * width..(head + 1) * width).map(column).collect();
        let expected = &queries[(head * ids.len() + place) * width..][..width];
        let epsilon = norm.form.epsilon;
        let right = turned(&rotary, place, &rms(&query, &gain, epsilon, true));
        assert!(off(&right, expected) <= TOLERANCE, "a norm, and then the rotation");
        seen = seen.max(off(&rms(&turned(&rotary, place, &query), &gain, epsilon, true), expected));
    }
    assert!(seen > 2.0 * TOLERANCE, "the rotation before the norm is off by {seen:e} only");

    let values = &expected["n7.v.0"];
    let turned_values: Vec<f32> = values
        .chunks_exact(width)
        .enumerate()
        .flat_map(|(row, value)| turned(&rotary, row % ids.len(), value))
        .collect();
    assert!(off(&turned_values, values) > 2.0 * TOLERANCE, "values that are turned too");

    let last = &run.blocks.last().expect("a layer").output;
    let gain = model.parameters.row_major(TensorName::FinalNormGain);
    let epsilon = model.architecture.norm_form.epsilon;
    for (is_within, is_right) in [(true, true), (false, false)] {
        let rows = (0..ids.len()).flat_map(|token| rms(last.row(token), &gain, epsilon, is_within));
        let off = off(&rows.collect::<Vec<f32>>(), &expected["n7.final"]);
        assert_eq!(off <= 2.0 * TOLERANCE, is_right, "epsilon within the root: {is_within}: off by {off:e}");
    }
}
