//! Steps of skip-gram and CBOW: `make_word2vec.py`.

use attune_engine::numerics::word2vec::{Lanes, Tables, WordStep};

use super::{EXACT, Fixture, SINGLE, assert_close};
use crate::common::close::{self, Tolerance};
use crate::common::numerics::json::{flag, list, matrix, number, parse, sizes};

static FIXTURE: Fixture = Fixture::new(|| parse(include_str!("word2vec.json")));

/// Losses may be small, and so have a tolerance of their own.
fn check_word2vec<S: Lanes>(tolerance: Tolerance, of_loss: Tolerance) {
    let mut tables = Tables::<S>::new(&matrix(&FIXTURE["v"]).cast(), &matrix(&FIXTURE["u"]).cast());
    for (i, step) in list(&FIXTURE["steps"]).iter().enumerate() {
        let (inputs, targets) = (sizes(&step["inputs"]), sizes(&step["targets"]));
        let example = WordStep { inputs: &inputs, mean: flag(&step["mean"]), targets: &targets };
        close::assert_close(format!("loss {i}"), tables.loss(example).to_f64(), number(&step["loss"]), of_loss);
        tables.descend(example, S::from_f64(number(&FIXTURE["rate"])));
        assert_close(&format!("v after step {i}"), tables.vectors().flat(), &step["v"], tolerance);
        assert_close(&format!("u after step {i}"), tables.contexts().flat(), &step["u"], tolerance);
    }
}

#[test]
fn word2vec_agrees_over_its_steps() {
    check_word2vec::<f64>(EXACT, EXACT);
    check_word2vec::<f32>(SINGLE, Tolerance::SINGLE);
}
