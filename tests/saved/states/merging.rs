//! The lesson changed since it was open: of each cell the side wins that changed it.

use attune_core::kernel::Kernel;
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::{Answer, Attempts, OwnKind};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;

use super::{apply, cell, changed, found, ids, kernel, lesson, outputs, reopened, report, text, write};
use crate::common::commands::{head, set};

const DONE: (&str, &str) = ("\"Done.\"", "\"All done.\"");
const USES: &str = "Code(id: \"uses\", src: \"let b = a * much; b\"),";

fn conflict(kernel: &Kernel, id: &str) -> Option<String> {
    found(kernel, id).cell.conflict.as_deref().map(str::to_owned)
}

#[test]
fn the_side_wins_that_changed_a_text() {
    let mut before = kernel();
    write(&mut before, "intro", "Mine");
    let after = reopened(&before, changed(&[DONE]));
    assert_eq!((text(&after, "intro").as_str(), text(&after, "end").as_str()), ("Mine", "All done."));
    assert_eq!((conflict(&after, "intro"), conflict(&after, "end")), (None, None));
    assert_eq!(report(&after), [""; 0]);
}

#[test]
fn where_both_changed_a_text_the_learner_chooses() {
    let mut before = kernel();
    write(&mut before, "end", "Mine");
    for keep_mine in [true, false] {
        let mut after = reopened(&before, changed(&[DONE]));
        assert_eq!((text(&after, "end"), conflict(&after, "end")), ("Mine".into(), Some("All done.".into())));
        assert_eq!(report(&after).len(), 1, "{:?}", report(&after));
        let again = reopened(&after, changed(&[DONE]));
        assert_eq!((text(&again, "end"), conflict(&again, "end")), ("Mine".into(), Some("All done.".into())));
        assert_eq!(report(&again), [""; 0], "it was said");
        let newest = reopened(&again, changed(&[("\"Done.\"", "\"Really.\"")]));
        assert_eq!((text(&newest, "end"), conflict(&newest, "end")), ("Mine".into(), Some("Really.".into())));
        cell(&mut after, "end", CellCommand::Settle { keep_mine });
        let settled = reopened(&after, changed(&[DONE]));
        let expected = if keep_mine { "Mine" } else { "All done." };
        assert_eq!((text(&settled, "end").as_str(), conflict(&settled, "end")), (expected, None));
        assert_eq!(found(&settled, "end").cell.is_edited(), keep_mine);
    }
    let agreed = reopened(&before, changed(&[("\"Done.\"", "\"Mine\"")]));
    assert_eq!((conflict(&agreed, "end"), found(&agreed, "end").cell.is_edited()), (None, false));
}

#[test]
fn a_dropped_cell_stays_where_something_was_done_to_it() {
    let mut before = kernel();
    cell(&mut before, "double", CellCommand::Run);
    write(&mut before, "uses", "let b = a; b + 40");
    cell(&mut before, "uses", CellCommand::Run);
    let dropped = changed(&[(USES, "")]);
    let after = reopened(&before, dropped.clone());
    let own = found(&after, "uses").cell;
    assert!(own.is_own && own.is_code());
    assert_eq!(ids(&after)[..5], ["intro", "double", "turn", "uses", "reads"]);
    assert_eq!(outputs(&after, "uses").len(), 1, "what it showed is there too");
    assert_eq!(report(&after), ["The lesson no longer has cell “uses”; the cell stays as one of your own."]);
    // It stays as it is, also when it is opened again, and is the lesson's again when that has it again.
    let again = reopened(&after, dropped);
    assert_eq!((text(&again, "uses").as_str(), report(&again).len()), ("let b = a; b + 40", 0));
    let back = reopened(&again, lesson());
    assert_eq!((text(&back, "uses").as_str(), found(&back, "uses").cell.is_own), ("let b = a; b + 40", false));
    assert_eq!(ids(&back), ids(&kernel()));
    let untouched = reopened(&kernel(), changed(&[(USES, "")]));
    assert!(!ids(&untouched).contains(&"uses".to_owned()) && report(&untouched).is_empty());
}

#[test]
fn an_answer_to_a_dropped_question_stays_in_words() {
    let mut before = kernel();
    cell(&mut before, "guess", CellCommand::Choose(1));
    let question = {
        let begin = super::TEXT.find("Predict(").expect("a question");
        let end = begin + super::TEXT[begin..].find("\n        ),").expect("its end") + "\n        ),".len();
        &super::TEXT[begin..end]
    };
    let after = reopened(&before, changed(&[(question, "")]));
    assert_eq!(text(&after, "kept 1"), "*The lesson no longer asks:* How many heads?\n\nYour answer: two");
    assert_eq!(report(&after).len(), 1);
    let again = reopened(&after, changed(&[(question, "")]));
    assert_eq!((text(&again, "kept 1"), report(&again).len()), (text(&after, "kept 1"), 0));
}

#[test]
fn new_cells_come_in_at_their_place() {
    let new = (USES, "Code(id: \"uses\", src: \"let b = a * much; b\"), Text(id: \"new\", md: \"New\"),");
    let place = |kernel: &Kernel, id: &str| ids(kernel).iter().position(|at| at == id).expect("a cell");
    let mut before = kernel();
    cell(&mut before, "uses", CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    write(&mut before, "own 1", "1");
    cell(&mut before, "curve", CellCommand::Delete);
    let after = reopened(&before, changed(&[new]));
    assert_eq!(ids(&after)[3..7], ["uses", "own 1", "new", "reads"]);
    assert!(!ids(&after).contains(&"curve".to_owned()), "what was deleted stays so");
    // The learner's order stays.
    cell(&mut before, "uses", CellCommand::Shift(-3));
    let after = reopened(&before, changed(&[new]));
    assert_eq!(place(&after, "uses"), 0);
    assert_eq!(place(&after, "new"), 1);
    assert_eq!(ids(&reopened(&after, changed(&[new]))), ids(&after));
    // The lesson's own order is followed where the learner's is the lesson's.
    let moved = changed(&[
        (USES, ""),
        ("Text(id: \"end\"", "Code(id: \"uses\", src: \"let b = a * much; b\"), Text(id: \"end\""),
    ]);
    let after = reopened(&kernel(), moved);
    assert_eq!(ids(&after).iter().rev().take(2).collect::<Vec<_>>(), ["end", "uses"]);
    let mut ids = ids(&after);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), super::ids(&kernel()).len());
}

#[test]
fn answers_stay_where_the_task_is_the_same() {
    let mut before = kernel();
    cell(&mut before, "guess", CellCommand::Choose(1));
    cell(&mut before, "guess", CellCommand::Reveal);
    write(&mut before, "middle", "fn middle(a, b) { (a + b) / 2 }");
    cell(&mut before, "middle", CellCommand::Run);
    let other_words =
        changed(&[("How many heads?", "How many are there?"), ("The middle of two", "The centre of two")]);
    let after = reopened(&before, other_words);
    assert_eq!(found(&after, "guess").cell.answer, Answer::Predict { chosen: Some(1), is_locked: true });
    assert!(found(&after, "middle").cell.is_done() && report(&after).is_empty());
    let other_task = changed(&[("[\"one\", \"two\"]", "[\"two\", \"one\"]"), ("< 0.000001", "< 0.00001")]);
    let after = reopened(&before, other_task);
    assert_eq!(found(&after, "guess").cell.answer, Answer::Predict { chosen: None, is_locked: false });
    assert!(found(&after, "guess").run.is_none() && found(&after, "middle").run.is_none());
    assert_eq!(found(&after, "middle").cell.attempts(), Attempts::default());
    assert_eq!(text(&after, "middle"), "fn middle(a, b) { (a + b) / 2 }");
    assert_eq!(report(&after).len(), 2, "{:?}", report(&after));
}

#[test]
fn a_cell_of_another_kind_leaves_the_text_beside_it() {
    let mut before = kernel();
    write(&mut before, "end", "Mine");
    let after = reopened(&before, changed(&[("Text(id: \"end\", md: \"Done.\")", "Code(id: \"end\", src: \"1\")")]));
    assert_eq!((text(&after, "end").as_str(), text(&after, "kept 1").as_str()), ("1", "Mine"));
    assert!(found(&after, "kept 1").cell.is_text());
    assert_eq!(ids(&after).last().map(String::as_str), Some("kept 1"));
}

#[test]
fn weights_stay_where_the_model_has_the_same_shape() {
    let tensor = TensorName::QueryWeights;
    let mut before = kernel();
    apply(&mut before, set(tensor, 0, 1, 0.75));
    apply(&mut before, head(1, HeadMode::Off));
    let weight = |kernel: &Kernel| {
        let model = kernel.snapshot().model.expect("a model");
        (model.parameters.values_of(tensor)[1], model.trained.values_of(tensor)[1])
    };
    let other_training = reopened(&before, changed(&[("seed: 5", "seed: 6"), ("steps: 20", "steps: 30")]));
    assert_eq!(weight(&other_training).0, 0.75);
    assert_ne!(weight(&other_training).1, weight(&before).1);
    let progress = other_training.snapshot().model.expect("a model").training.progress;
    assert_eq!((progress.done, progress.of), (30, 30), "it was at its end");
    let other_model = reopened(&before, changed(&[("dim: 6", "dim: 9"), ("heads: 2", "heads: 3")]));
    let (live, trained) = weight(&other_model);
    assert_eq!(live, trained);
    let said = report(&other_model);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("W_Q of 6 by 6"), "{said:?}");
    let heads = |kernel: &Kernel| kernel.snapshot().model.expect("a model").interventions.heads.clone();
    assert_eq!(
        heads(&other_model),
        [HeadMode::Live, HeadMode::Off, HeadMode::Live],
        "as a recipe with more leaves them"
    );
    let one_head = reopened(&before, changed(&[("heads: 2", "heads: 1")]));
    assert_eq!(heads(&one_head), [HeadMode::Live]);
    assert_eq!(report(&one_head)[0], "The change of head 2 is left out: there is no head 2; the model has 1.");
    let other_words = reopened(&before, changed(&[("[\"the seal sank while a duck swam\", ", "[")]));
    assert_eq!(weight(&other_words).0, 0.75);
}
