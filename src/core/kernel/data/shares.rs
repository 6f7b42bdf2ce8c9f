//! How much of the tokens on the stage the axes of the picture show.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::projection::Projection;
use attune_engine::numerics::shares::Shares;
use attune_engine::numerics::vectors::add_scaled;

/// Shares of the vectors of some tokens, as the picture sees them, and of their moves; `None` where nothing varies, or
/// nothing moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenShares {
    /// Shares of the variance: of the static vectors, and of the states after each layer.
    pub states: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves through each layer.
    pub moves: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves from static to contextual.
    pub whole: Option<Shares>,
}

impl TokenShares {
    /// `stops`: the vectors of the tokens, static and after each layer, a row a token.
    pub fn of(projection: &Projection, stops: &[Matrix<f32>]) -> Self {
        let moved = |from: &Matrix<f32>, to: &Matrix<f32>| {
            let mut arrows = to.clone();
            add_scaled(arrows.flat_mut(), -1.0, from.flat());
            Shares::of_arrows(projection, &arrows)
        };
        Self {
            states: stops.iter().map(|states| Shares::of_variance(projection, states)).collect(),
            moves: stops.windows(2).map(|pair| moved(&pair[0], &pair[1])).collect(),
            whole: stops.first().zip(stops.last()).and_then(|(first, last)| moved(first, last)),
        }
    }
}
