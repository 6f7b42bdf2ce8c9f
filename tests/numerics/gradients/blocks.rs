//! A block: norms, residuals and the feed-forward layer around attention.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::vectors::dot;

use crate::common::close::Tolerance;
use crate::common::numerics::differences::check;
use crate::common::numerics::one_block::{Input, backward, output};
use crate::common::numerics::{block, block_forms, filled, generator, layer, random_matrix, rows, with};

/// The gradients of the parameters, of what goes in and of the source, all at random points.
#[track_caller]
pub fn check_block(name: &str, config: &BlockConfig, lengths: &[usize], sources: Option<&[usize]>) {
    let mut rng = generator(11);
    let width = config.attention.width;
    let rows_of = |lengths: &[usize]| rows(lengths);
    let n = lengths.iter().sum();
    let x = random_matrix(&mut rng, n, width);
    let source = sources.map(|lengths| (random_matrix(&mut rng, lengths.iter().sum(), width), rows_of(lengths)));
    let input = Input { x, rows: rows_of(lengths), source };
    let d_y = random_matrix(&mut rng, n, width);
    let parameters = filled(Parameters::zeros(&config.shapes(0)), &mut rng);

    let found = backward(config, &parameters, &input, &d_y);
    if let Err(why) = input.is_the_reference(config, &parameters, &d_y, Tolerance::DOUBLE_PASS) {
        panic!("{name}: {why}");
    }
    let loss =
        |parameters: &Parameters<f64>, input: &Input<f64>| dot(output(config, parameters, input).flat(), d_y.flat());
    let of_parameters = |entries: &[f64]| loss(&with(&parameters, entries), &input);
    check(&format!("{name}: parameters"), parameters.flat(), found.parameters.flat(), of_parameters);

    let like = |m: &Matrix<f64>, entries: &[f64]| Matrix::from_row_major(m.rows(), width, entries.to_vec());
    let of_x = |entries: &[f64]| loss(&parameters, &Input { x: like(&input.x, entries), ..input.clone() });
    check(&format!("{name}: d_x"), input.x.flat(), found.x.flat(), of_x);
    if let (Some((z, z_rows)), Some(d_z)) = (&input.source, &found.source) {
        let of_z = |entries: &[f64]| {
            loss(&parameters, &Input { source: Some((like(z, entries), z_rows.clone())), ..input.clone() })
        };
        check(&format!("{name}: d_source"), z.flat(), d_z.flat(), of_z);
    }
}

#[test]
fn self_attention_in_every_block() {
    for config in block_forms(&layer(|_| ())) {
        check_block(&format!("{config:?}"), &config, &[4, 1, 3], None);
    }
}

#[test]
fn cross_attention_in_every_block() {
    for config in block_forms(&layer(|_| ())) {
        let config = BlockConfig { attends: Attends::Source, ..config };
        check_block(&format!("{config:?}"), &config, &[4, 1], Some(&[2, 3]));
    }
}

#[test]
fn blocks_without_an_output_projection() {
    for config in block_forms(&layer(|l| (l.heads, l.value_width, l.output) = (1, 5, false))) {
        check_block(&format!("{config:?}"), &config, &[4, 1], None);
    }
}

#[test]
fn a_source_nobody_looks_at_has_no_gradient() {
    let config = block(|_| ());
    let mut rng = generator(11);
    let input = Input::one(random_matrix(&mut rng, 3, 5)).with_source(random_matrix(&mut rng, 3, 5));
    let parameters = filled(Parameters::zeros(&config.shapes(0)), &mut rng);
    let found = backward(&config, &parameters, &input, &random_matrix(&mut rng, 3, 5));
    assert_eq!(found.source.expect("a source").flat(), [0.0; 15]);
}
