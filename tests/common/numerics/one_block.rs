//! One block by itself, on vectors of one's own: forward, and a gradient for `⟨Y, d_Y⟩`.

use attune::numerics::attention::{HeadMode, Rows, Tokens};
use attune::numerics::block::{BlockCache, BlockConfig, attend_backward, attend_forward, tail_backward, tail_forward};
use attune::numerics::params::Parameters;
use attune::numerics::{Matrix, Scalar};

use super::room;

/// What a block reads.
#[derive(Clone)]
pub struct Input<S> {
    pub x: Matrix<S>,
    pub rows: Rows,
    /// What cross-attention looks at.
    pub source: Option<(Matrix<S>, Rows)>,
}

impl<S: Scalar> Input<S> {
    pub fn one(x: Matrix<S>) -> Self {
        let rows = Rows::one(x.rows());
        Self { x, rows, source: None }
    }

    pub fn with_source(self, z: Matrix<S>) -> Self {
        let rows = Rows::one(z.rows());
        Self { source: Some((z, rows)), ..self }
    }

    fn tokens(&self) -> Tokens<'_, S> {
        Tokens::new(self.x.flat(), &self.rows)
    }

    fn source_tokens(&self) -> Option<Tokens<'_, S>> {
        self.source.as_ref().map(|(z, rows)| Tokens::new(z.flat(), rows))
    }

    fn keys(&self) -> &Rows {
        self.source.as_ref().map_or(&self.rows, |(_, rows)| rows)
    }
}

/// As a viewer sees it, with the scores.
pub fn forward<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
    modes: &[HeadMode<S>],
) -> BlockCache<S> {
    let cache = BlockCache::with_scores(config, room(&input.rows), room(input.keys()));
    run(config, parameters, input, modes, cache)
}

/// As training does it, which short sentences take another way through.
pub fn training_forward<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
) -> BlockCache<S> {
    let cache = BlockCache::new(config, room(&input.rows), room(input.keys()));
    run(config, parameters, input, &[], cache)
}

fn run<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
    modes: &[HeadMode<S>],
    mut cache: BlockCache<S>,
) -> BlockCache<S> {
    attend_forward(config, parameters, 0, input.tokens(), input.source_tokens(), modes, &mut cache);
    let mix = cache.attention.mix.flat();
    tail_forward(config, parameters, 0, mix, input.x.flat(), &mut cache.tail);
    cache
}

pub fn output<S: Scalar>(config: &BlockConfig, parameters: &Parameters<S>, input: &Input<S>) -> Matrix<S> {
    training_forward(config, parameters, input).tail.output().clone()
}

pub struct Gradients<S> {
    pub parameters: Parameters<S>,
    pub x: Matrix<S>,
    pub source: Option<Matrix<S>>,
}

pub fn backward<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
    d_y: &Matrix<S>,
) -> Gradients<S> {
    let mut cache = training_forward(config, parameters, input);
    let mut gradient = parameters.zeros_like();
    let mut d_x = d_y.clone();
    let mut d_source = input.source.as_ref().map(|(z, _)| Matrix::zeros(z.rows(), z.cols()));
    let BlockCache { attention, tail, d_mix, .. } = &mut cache;
    let d_mix = d_mix.top_flat_mut(input.x.rows());
    tail_backward(config, parameters, 0, attention.mix.flat(), tail, &mut gradient, d_x.flat_mut(), d_mix);
    let (x, z) = (input.tokens(), input.source_tokens());
    let d_z = d_source.as_mut().map(Matrix::flat_mut);
    attend_backward(config, parameters, 0, x, z, &mut cache, &mut gradient, d_x.flat_mut(), d_z);
    Gradients { parameters: gradient, x: d_x, source: d_source }
}
