//! Reads weights that a lesson begins with instead of random ones.

use std::collections::HashSet;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::{TensorId, TensorName};

use super::decode::{At, list, map, number, wrong};
use super::issue::{one_of, shorten};
use super::limits::{DIM_MAX, FEED_FORWARD_MAX, HEADS_MAX};
use super::source::Node;

/// The tensors that a map names, unchecked: `{ "W_Q": [[0.3, 0.6], [0.1, 0.4]], … }`.
pub(super) type ReadWeights<'s> = Vec<(At<'s, String>, At<'s, Matrix<f32>>)>;

/// More than any model has.
const TENSORS_MAX: usize = 1000;
/// Rows and columns of the largest: keys or values of all heads, or hidden units.
const SIDE_MAX: usize = if HEADS_MAX * DIM_MAX > FEED_FORWARD_MAX { HEADS_MAX * DIM_MAX } else { FEED_FORWARD_MAX };

pub(super) fn read_weights<'s>(node: Node<'s>) -> Option<ReadWeights<'s>> {
    map(node, TENSORS_MAX, |node| Some(At { value: read_table(node)?, node }))
}

fn read_table(node: Node<'_>) -> Option<Matrix<f32>> {
    let entry = number(|x| (x as f32).is_finite(), "a number that is not too large");
    let row = |node| list(node, SIDE_MAX, &entry);
    let rows = list(node, SIDE_MAX, row)?;
    let cols = rows.first().map_or(0, Vec::len);
    if cols == 0 || rows.iter().any(|row| row.len() != cols) {
        return wrong(node, "rows of numbers, all of one length");
    }
    Some(Matrix::from_fn(rows.len(), cols, |i, j| rows[i][j] as f32))
}

/// The weights, if the model has such tensors in these shapes.
pub(super) fn check_weights(
    read: ReadWeights<'_>,
    architecture: &Architecture,
) -> Option<Vec<(TensorId, Matrix<f32>)>> {
    let shapes = shapes(architecture);
    let symbols: Vec<String> = shapes.iter().map(|(id, ..)| id.to_string()).collect();
    let known = || symbols.iter().map(String::as_str);
    let expected = || match architecture.numbered_blocks().count() {
        1 => one_of(&known().collect::<Vec<_>>()),
        _ => "a tensor of one of its blocks, such as W_Q or W_Q_2".to_owned(),
    };
    let mut named = HashSet::new();
    let mut check = |(name, table): (At<'_, String>, At<'_, Matrix<f32>>)| {
        // As the weights panel writes it, or as code does.
        let is_named = |(id, symbol): (&TensorId, &String)| *symbol == name.value || id.code_name() == name.value;
        let ids = shapes.iter().map(|(id, ..)| id);
        let Some(place) = ids.zip(&symbols).position(is_named) else {
            return name
                .node
                .issue(format!("weights: the model has no {}", shorten(name.node.text)))
                .expected(expected())
                .nearest(&name.value, known())
                .none();
        };
        let (id, rows, cols) = shapes[place];
        if !named.insert(id) {
            return name.node.issue(format!("weights: {id} appears twice")).none();
        }
        let found = (table.value.rows(), table.value.cols());
        if found != (rows, cols) {
            return table
                .node
                .issue(format!("weights: {id} as {} × {}", found.0, found.1))
                .expected(format!("{rows} × {cols}"))
                .none();
        }
        Some((id, table.value))
    };
    let all: Vec<_> = read.into_iter().map(&mut check).collect();
    all.into_iter().collect()
}

/// All but those that grow with the vocabulary or the answers: what a sentence's own vectors depend on, and the layer of
/// a readout.
pub(super) fn shapes(architecture: &Architecture) -> Vec<(TensorId, usize, usize)> {
    let grows = |name| matches!(name, TensorName::Embedding | TensorName::LogitWeights | TensorName::LogitBias);
    architecture.shapes(0, 0).into_iter().filter(|(id, ..)| !grows(id.name)).collect()
}
