//! One block by itself, on vectors of one's own: forward, and a gradient for `⟨Y, d_Y⟩`.

use std::ops::Range;

use attune_engine::numerics::attention::{BatchRoom, BatchRows, HeadChanges, HeadMode, Tokens};
use attune_engine::numerics::block::{
    BlockCache, BlockConfig, attend_backward, attend_forward, tail_backward, tail_forward,
};
use attune_engine::numerics::params::{Learned, Parameters};
use attune_engine::numerics::reference::block::{backward as reference_backward, steps};
use attune_engine::numerics::{Matrix, Scalar};

use super::cast;
use crate::common::close::{Tolerance, is_each_close};

/// A block's input.
#[derive(Clone)]
pub struct Input<S> {
    pub x: Matrix<S>,
    pub rows: BatchRows,
    /// The sentences that cross-attention looks at.
    pub source: Option<(Matrix<S>, BatchRows)>,
}

impl<S: Scalar> Input<S> {
    pub fn one(x: Matrix<S>) -> Self {
        let rows = BatchRows::one(x.rows());
        Self { x, rows, source: None }
    }

    pub fn with_source(self, z: Matrix<S>) -> Self {
        let rows = BatchRows::one(z.rows());
        Self { source: Some((z, rows)), ..self }
    }

    /// The output and every gradient are the reference's, sentence by sentence.
    ///
    /// # Errors
    /// The first number that is another.
    pub fn is_the_reference(
        &self,
        config: &BlockConfig,
        parameters: &Parameters<S>,
        d_y: &Matrix<S>,
        tolerance: Tolerance,
    ) -> Result<(), String> {
        let shown = forward(config, parameters, self, &[]);
        let trained = output(config, parameters, self);
        let found = backward(config, parameters, self, d_y);
        // From the numbers that the engine was given, rounded as they were.
        let exact = cast::<S, f64>(parameters);
        let part = |m: &Matrix<S>, rows: Range<usize>| {
            Matrix::from_fn(rows.len(), m.cols(), |i, j| m.get(rows.start + i, j).to_f64())
        };
        let entries = |m: &Matrix<S>, rows: &Range<usize>| part(m, rows.clone()).flat().to_vec();
        let as_exact = |m: &Matrix<S>, rows: &Range<usize>, name: &str, expected: &Matrix<f64>| {
            is_each_close(entries(m, rows), expected.flat(), tolerance).map_err(|why| format!("{name}: {why}"))
        };
        let mut gradient = exact.zeros_like();
        for (i, rows) in self.rows.sentences().enumerate() {
            let (x, d_y) = (part(&self.x, rows.clone()), part(d_y, rows.clone()));
            let source_rows = self.source.as_ref().map(|(_, rows)| rows.sentence(i));
            let source = self.source.as_ref().zip(source_rows.clone()).map(|((z, _), rows)| part(z, rows));
            let block = Learned { config, parameters: &exact, number: 0 };
            let expected = steps(block, &x, source.as_ref()).output;
            as_exact(shown.tail.output(), &rows, "Y as a viewer sees it", &expected)?;
            as_exact(&trained, &rows, "Y in training", &expected)?;
            let (d_x, d_z) = reference_backward(block, &x, source.as_ref(), &d_y, &mut gradient);
            as_exact(&found.x, &rows, "d_X", &d_x)?;
            if let (Some(d_z), Some(found), Some(rows)) = (d_z, &found.source, source_rows) {
                as_exact(found, &rows, "d_source", &d_z)?;
            }
        }
        for (spec, expected) in gradient.tensors() {
            let found = super::exact(found.parameters.values_of(spec.id));
            is_each_close(found, &*expected, tolerance).map_err(|why| format!("{}: {why}", spec.id))?;
        }
        Ok(())
    }

    fn tokens(&self) -> Tokens<'_, S> {
        Tokens::new(self.x.flat(), &self.rows)
    }

    fn source_tokens(&self) -> Option<Tokens<'_, S>> {
        self.source.as_ref().map(|(z, rows)| Tokens::new(z.flat(), rows))
    }

    fn keys(&self) -> &BatchRows {
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
    let cache = BlockCache::for_views(config, BatchRoom::of(&input.rows), BatchRoom::of(input.keys()));
    run(config, parameters, input, modes, cache)
}

/// As training does it, which short sentences take another way through.
pub fn training_forward<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
) -> BlockCache<S> {
    let cache = BlockCache::new(config, BatchRoom::of(&input.rows), BatchRoom::of(input.keys()));
    run(config, parameters, input, &[], cache)
}

fn run<S: Scalar>(
    config: &BlockConfig,
    parameters: &Parameters<S>,
    input: &Input<S>,
    modes: &[HeadMode<S>],
    mut cache: BlockCache<S>,
) -> BlockCache<S> {
    let block = Learned { config, parameters, number: 0 };
    attend_forward(
        block,
        input.tokens(),
        input.source_tokens(),
        HeadChanges { modes, ..HeadChanges::NONE },
        &mut cache,
    );
    let mix = cache.attention.mix.flat();
    tail_forward(block, mix, input.x.flat(), &mut cache.tail);
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
    let block = Learned { config, parameters, number: 0 };
    tail_backward(block, attention.mix.flat(), tail, &mut gradient, d_x.flat_mut(), d_mix);
    let (x, z) = (input.tokens(), input.source_tokens());
    let d_z = d_source.as_mut().map(Matrix::flat_mut);
    attend_backward(block, x, z, &mut cache, &mut gradient, d_x.flat_mut(), d_z);
    Gradients { parameters: gradient, x: d_x, source: d_source }
}
