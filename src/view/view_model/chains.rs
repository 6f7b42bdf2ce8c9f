//! The query and the key of a score as two chains of arrows, tip to tail. Each arrow is what one source put into the
//! vector.
//!
//! The picture is the plane through both vectors in the head's space, with the direction of the query to the right. The
//! chains therefore end at the query and the key themselves. The distance by which an arrow of the key leads to the
//! right, times `‖q‖` and the scale, is its part of the score.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::vectors::{add_scaled, dot};

/// A point of the plane: to the right, and up.
pub type PlanePoint = [f64; 2];

/// The chains of the query and of the key whose product is a score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreChains {
    pub query: Chain,
    pub key: Chain,
}

/// A vector as a chain of arrows from the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    pub arrows: Vec<ChainArrow>,
    /// The tip of the whole vector.
    pub tip: PlanePoint,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChainArrow {
    pub label: String,
    pub from: PlanePoint,
    pub to: PlanePoint,
}

/// The share of the key's length below which a remainder is only a rounding error of double precision.
const ROUNDING: f64 = 1e-9;
/// The largest number of arrows in a chain, not counting the one for all other parts.
const ARROWS: usize = 7;

impl ScoreChains {
    /// Builds the chains from the parts of a query and of a key, each of shape (sources, d_k), with the names of the
    /// sources. The query points to the right.
    pub fn of(names: &[String], query_parts: &Matrix<f64>, key_parts: &Matrix<f64>) -> Self {
        let (query, key) = (sum(query_parts), sum(key_parts));
        let right = unit(&query).or_else(|| unit(&key)).unwrap_or_else(|| vec![0.0; query.len()]);
        let (mut across, along) = (key.clone(), dot(&key, &right));
        add_scaled(&mut across, -along, &right);
        // If the key has the direction of the query, what is left across it is only rounding.
        let is_apart = dot(&across, &across).sqrt() > ROUNDING * dot(&key, &key).sqrt();
        let up = unit(&across).filter(|_| is_apart).unwrap_or_default();
        let point = |vector: &[f64]| [&right, &up].map(|axis| if axis.is_empty() { 0.0 } else { dot(vector, axis) });
        let chain = |parts: &Matrix<f64>| {
            let points = (0..parts.rows()).map(|row| point(parts.row(row)));
            Chain::of(names.iter().cloned().zip(points).collect())
        };
        Self { query: chain(query_parts), key: chain(key_parts) }
    }

    /// Returns all points of both chains.
    pub fn points(&self) -> impl Iterator<Item = PlanePoint> {
        [&self.query, &self.key]
            .into_iter()
            .flat_map(|chain| chain.arrows.iter().map(|arrow| arrow.to))
            .chain([[0.0; 2]])
    }
}

impl Chain {
    /// Builds a chain from parts, the longest first; the shortest ones together are one arrow.
    fn of(mut parts: Vec<(String, PlanePoint)>) -> Self {
        parts.sort_by(|a, b| length(b.1).total_cmp(&length(a.1)));
        let rest = parts.split_off(parts.len().min(ARROWS));
        if !rest.is_empty() {
            let sum = rest.iter().fold([0.0; 2], |sum, (_, part)| plus(sum, *part));
            parts.push((format!("{} others", rest.len()), sum));
        }
        let mut tip = [0.0; 2];
        let arrows = parts
            .into_iter()
            .map(|(label, part)| {
                let from = tip;
                tip = plus(tip, part);
                ChainArrow { label, from, to: tip }
            })
            .collect();
        Self { arrows, tip }
    }
}

fn plus(a: PlanePoint, b: PlanePoint) -> PlanePoint {
    [a[0] + b[0], a[1] + b[1]]
}

fn length([x, y]: PlanePoint) -> f64 {
    x.hypot(y)
}

fn sum(parts: &Matrix<f64>) -> Vec<f64> {
    let mut sum = vec![0.0; parts.cols()];
    (0..parts.rows()).for_each(|row| add_scaled(&mut sum, 1.0, parts.row(row)));
    sum
}

/// Returns the unit vector in the direction of a vector; `None` for the zero vector.
fn unit(vector: &[f64]) -> Option<Vec<f64>> {
    let length = dot(vector, vector).sqrt();
    (length > f64::MIN_POSITIVE).then(|| vector.iter().map(|x| x / length).collect())
}
