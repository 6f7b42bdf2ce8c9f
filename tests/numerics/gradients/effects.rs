//! The effects of weights on a word.

use attune_engine::numerics::evidence::effects::WordOf;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::vectors::dot;

use crate::common::numerics::differences::{central_differences, compare};
use crate::common::numerics::one_block::{Input, output};
use crate::common::numerics::{architecture, block_forms, filled, generator, layer, random_matrix, with};

#[test]
fn the_effect_of_each_weight_is_what_differences_of_the_output_give() {
    const WORD: usize = 2;
    for config in block_forms(&layer(|_| ())) {
        let mut rng = generator(11);
        let width = config.attention.width;
        let architecture = architecture(|architecture| architecture.blocks = vec![config.clone()]);
        let parameters = filled(Parameters::zeros(&config.shapes(0)), &mut rng);
        let (input, drawn) = (random_matrix(&mut rng, 4, width), random_matrix(&mut rng, 3, width));
        let axes: Vec<Vec<f64>> = (0..drawn.rows()).map(|axis| drawn.row(axis).to_vec()).collect();
        let word = WordOf { architecture: &architecture, parameters: &parameters, input: &input, word: WORD };
        let found = word.effects(&axes);
        let along = |axis: &Vec<f64>| {
            central_differences(parameters.flat(), |entries| {
                dot(output(&config, &with(&parameters, entries), &Input::one(input.clone())).row(WORD), axis)
            })
        };
        let slopes: Vec<Vec<f64>> = axes.iter().map(along).collect();
        let length = |entry: usize| slopes.iter().map(|slope| slope[entry].powi(2)).sum::<f64>().sqrt();
        let expected: Vec<f64> = (0..parameters.len()).map(length).collect();
        compare(&format!("{config:?}"), found.flat(), &expected).unwrap_or_else(|why| panic!("{why}"));
    }
}
