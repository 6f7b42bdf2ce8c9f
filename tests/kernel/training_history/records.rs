//! Records of the steps, and differences between them.

use attune_core::kernel::command::Reference;
use attune_core::kernel::{Command, Kernel};
use attune_view::view_model::training::TrainingModel;

use super::{apply, long, model, run, turn};
use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::commands::{BRANCH, compare, scrub, step};

#[test]
fn differences_are_data() {
    let mut kernel = run(&long(), &[step(300)]);
    assert!(model(&kernel).comparison.is_none());
    let states: Vec<_> = [0, 120, 300].map(|at| (at, model(&run(&long(), &[step(at.max(1))])).parameters)).into();
    let start = model(&run(&long(), &[])).parameters;
    let check = |kernel: &Kernel, with: Reference, reference: &[f32]| {
        let model = model(kernel);
        let comparison = model.comparison.expect("a comparison");
        assert_eq!((comparison.with, comparison.reference.flat()), (with, reference));
        let expected: Vec<f32> =
            model.parameters.flat().iter().zip(reference).map(|(live, other)| live - other).collect();
        assert_eq!(comparison.difference.flat(), expected);
        let length = expected.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        assert_close("the length", comparison.norms.overall, length, Tolerance::SINGLE);
        assert_eq!(comparison.norms.by_tensor.len(), model.parameters.specs().len());
    };
    apply(&mut kernel, turn(4.0));
    apply(&mut kernel, compare(Reference::Trained));
    check(&kernel, Reference::Trained, model(&kernel).trained.flat());
    assert_eq!(model(&kernel).comparison.expect("one").difference.flat().iter().filter(|x| **x != 0.0).count(), 1);
    apply(&mut kernel, compare(Reference::Start));
    check(&kernel, Reference::Start, start.flat());
    apply(&mut kernel, compare(Reference::Step(120)));
    check(&kernel, Reference::Step(120), states[1].1.flat());
    // Between two steps: the one shown, and the other.
    apply(&mut kernel, scrub(299));
    check(&kernel, Reference::Step(120), states[1].1.flat());
    // It outlives its line: two branches can be compared.
    apply(&mut kernel, compare(Reference::Step(300)));
    check(&kernel, Reference::Step(300), states[2].1.flat());
    apply(&mut kernel, scrub(10));
    apply(&mut kernel, BRANCH);
    check(&kernel, Reference::Step(300), states[2].1.flat());
    for _ in 0..3 {
        apply(&mut kernel, Command::Undo);
    }
    check(&kernel, Reference::Step(120), states[1].1.flat());
    assert_eq!(model(&kernel).training.step_shown(), 299);
}

#[test]
fn gradient_norms_are_recorded_by_tensor() {
    let kernel = run(&long(), &[step(30)]);
    let model = model(&kernel);
    assert_eq!(model.training.log.len(), 30);
    for step in model.training.log.steps() {
        assert_eq!(step.by_tensor.len(), model.parameters.specs().len());
        let whole = step.by_tensor.iter().map(|norm| norm * norm).sum::<f32>().sqrt();
        assert!(whole > 0.0);
        assert_close_beside(whole, "of all tensors", step.gradient_norm, whole, Tolerance::SINGLE_PASS);
    }
    let tensors = TrainingModel::of(&kernel.snapshot()).tensors;
    assert_eq!(tensors, ["P", "W_Q", "b_Q", "W_K", "b_K", "W_V", "b_V", "W_O", "b_O", "b_logits"]);
}
