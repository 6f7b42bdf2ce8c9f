//! A cell runs the model on a sentence of its own: the numbers are those of the stage, and they follow the weights.

use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_engine::numerics::params::TensorName;

use super::{apply, fault, kernel, number, run, status, write};
use crate::common::commands::set;

const SHOWN: &str = "the seal sank while a duck swam";

#[test]
fn a_pass_has_the_numbers_of_the_sentence_on_the_stage() {
    let mut kernel = kernel();
    for name in ["X", "Y", "Z"] {
        write(&mut kernel, "double", &format!("max(max(abs(forward(\"{SHOWN}\").{name} - {name})))"));
        run(&mut kernel, "double");
        assert_eq!(number(&kernel, "double"), 0.0, "{name}");
    }
    for (head, off) in [(0, true), (1, false)] {
        write(&mut kernel, "double", &format!("max(max(abs(forward(\"{SHOWN}\", [0]).M[{head}])))"));
        run(&mut kernel, "double");
        assert_eq!(number(&kernel, "double") == 0.0, off, "head {head}");
    }
}

#[test]
fn a_pass_follows_the_weights() {
    let mut kernel = kernel();
    write(&mut kernel, "double", "forward(\"a seal is happy\").Y[1, 0]");
    run(&mut kernel, "double");
    let before = number(&kernel, "double");
    assert_eq!(status(&kernel, "double"), CellStatus::Fresh);
    apply(&mut kernel, set(TensorName::ValueWeights, 0, 0, 3.0));
    assert_eq!(status(&kernel, "double"), CellStatus::Stale);
    run(&mut kernel, "double");
    assert_ne!(number(&kernel, "double"), before);
}

#[test]
fn what_a_pass_cannot_do_is_said_with_its_place() {
    let mut kernel = kernel();
    for (source, expected) in [
        ("forward(\"the seal sank\", [2])", "1:1: forward: there is no head 2; use numbers from 0 to 1"),
        ("forward(\"\")", "1:1: forward: the sentence has no words"),
        (
            "let y = forward(\"a seal\").E;",
            "1:26: a forward pass has no `E`; it is the same for all sentences, so write just `E`",
        ),
        ("forward(\"a seel\")", "1:1: forward: "),
    ] {
        write(&mut kernel, "double", source);
        run(&mut kernel, "double");
        assert!(fault(&kernel, "double").starts_with(expected), "{source}: {}", fault(&kernel, "double"));
    }
}
