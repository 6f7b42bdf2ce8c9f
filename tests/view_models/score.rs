//! The split of a score as it is shown: it adds up, under the learner's changes too, or says why there is none.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::scores::{ShownScore, split_of};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::panels::PanelName;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Patch;
use attune_view::panels::sheets;
use attune_view::sheet::{Item, Table};
use attune_view::view_model::score::{PairNumbers, ScoreModel};

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::lessons::{apply, form, forms, small};

/// The scores of all heads at two pairs that most masks let see.
fn scores(snapshot: &Snapshot) -> impl Iterator<Item = ShownScore> {
    let heads = snapshot.model.as_ref().expect("a model").architecture.heads();
    (0..heads).flat_map(|head| [(2, 1), (1, 1)].map(|(query, key)| ShownScore { head, query, key }))
}

/// Checks all scores of a model; returns how many there are.
fn check(name: &str, kernel: &Kernel) -> usize {
    let snapshot = kernel.snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    let mut count = 0;
    for at in scores(&snapshot) {
        let (block, _, own) = model.architecture.head(at.head);
        let of_head = &model.sentence.activations.blocks[block].heads[own];
        let Some(Ok(shown)) = split_of(&snapshot, at) else { continue };
        let (name, split) = (format!("{name}: {at:?}"), &shown.split);
        let bounded = split.cap.map_or(split.score, |cap| cap * (split.score / cap).tanh());
        let whole = bounded + split.added.unwrap_or(0.0);
        let size = 1.0f64.max(whole.abs());
        assert_close_beside(size, &name, of_head.scores.get(at.query, at.key), whole, Tolerance::SINGLE_PASS);
        let sum: f64 = split.pairs.flat().iter().sum();
        assert_close_beside(size, &name, sum, split.score, Tolerance::SINGLE_PASS);
        for (parts, whole) in
            [(&split.query_parts, of_head.query.row(at.query)), (&split.key_parts, of_head.key.row(at.key))]
        {
            let size = whole.iter().fold(1.0f64, |most, x| most.max(f64::from(x.abs())));
            assert_close_beside(size, &name, column_sums(parts), whole.to_vec(), Tolerance::SINGLE_PASS);
        }
        let model = ScoreModel::of(&snapshot, at).expect("a model").expect("a split");
        check_rows(&name, &model, split.score);
        count += 1;
    }
    count
}

fn column_sums(parts: &Matrix<f64>) -> Vec<f64> {
    (0..parts.cols()).map(|col| (0..parts.rows()).map(|row| parts.get(row, col)).sum()).collect()
}

/// The listed pairs with all others are the whole, and the tips of the chains are the query and the key, whose product
/// is the score.
fn check_rows(name: &str, model: &ScoreModel, score: f64) {
    let numbers: Vec<PairNumbers> = model.pairs.iter().map(|pair| pair.numbers).chain([model.others.1]).collect();
    let size = 1.0f64.max(score.abs());
    assert_close_beside(size, name, numbers.iter().map(|x| x.value).sum::<f64>(), score, Tolerance::SINGLE_PASS);
    let relative: f64 = numbers.iter().map(|x| x.relative).sum();
    assert_close_beside(size, name, relative, model.whole.relative, Tolerance::SINGLE_PASS);
    for chain in [&model.chains.query, &model.chains.key] {
        let steps = chain.arrows.iter().map(|arrow| [arrow.to[0] - arrow.from[0], arrow.to[1] - arrow.from[1]]);
        let tip = steps.fold([0.0; 2], |sum, step| [sum[0] + step[0], sum[1] + step[1]]);
        assert_close_beside(1.0, name, tip.to_vec(), chain.tip.to_vec(), Tolerance::SINGLE_PASS);
        assert!(chain.arrows.windows(2).all(|pair| pair[0].to == pair[1].from), "{name}: tip to tail");
    }
    let [query, key] = [&model.chains.query, &model.chains.key].map(|chain| chain.tip);
    let product = model.scale * (query[0] * key[0] + query[1] * key[1]);
    assert_close_beside(size, name, product, score, Tolerance::SINGLE_PASS);
}

#[test]
fn the_pairs_of_every_shown_score_add_up_to_it_and_its_chains_end_at_the_query_and_the_key() {
    let counts = forms().map(|(name, kernel)| check(&name, &kernel));
    assert!(counts.sum::<usize>() > 40);
}

#[test]
fn a_score_under_the_learners_changes_is_split_as_it_is_shown() {
    let changes = [
        InterventionCommand::SetTemperature(Some(2.5)),
        InterventionCommand::SetScale(Some(false)),
        InterventionCommand::SetHead { head: 0, mode: HeadMode::Gain(0.5) },
        InterventionCommand::SetHead { head: 1, mode: HeadMode::Mean },
    ];
    let mut kernel = form("pythia");
    for change in changes {
        apply(&mut kernel, Command::Interventions(change.clone()));
        assert!(check(&format!("{change:?}"), &kernel) > 0);
    }
    let snapshot = kernel.snapshot();
    let last = snapshot.model.as_ref().expect("a model").architecture.heads() - 1;
    let split = ScoreModel::of(&snapshot, ShownScore { head: last, query: 2, key: 1 }).expect("a model");
    let split = split.expect("a split");
    assert!(split.query_parts.is_empty(), "a head that is changed as a whole is no sum over words");
}

#[test]
fn a_score_that_cannot_be_split_says_why() {
    let why = |kernel: &Kernel, head: usize, query: usize, key: usize| {
        ScoreModel::of(&kernel.snapshot(), ShownScore { head, query, key }).expect("a model").expect_err("a reason")
    };
    let said = why(&form("translation"), 0, 1, 0);
    assert!(said.contains("reads a source sentence"), "{said}");
    let said = why(&form("pythia"), 0, 0, 1);
    assert!(said.contains("does not see this key"), "{said}");
    let mut patched = form("pythia");
    let second = patched.snapshot().model.expect("a model").sentence.written();
    apply(&mut patched, Command::Sentence(SentenceCommand::SetSecond(Some(second))));
    let patch = Patch { block: 1, position: 1, from: 2, vector: None };
    apply(&mut patched, Command::Interventions(InterventionCommand::SetPatch(Some(patch))));
    let last = patched.snapshot().model.expect("a model").architecture.heads() - 1;
    let said = why(&patched, last, 2, 1);
    assert!(said.contains("copied in"), "{said}");
    assert!(ScoreModel::of(&patched.snapshot(), ShownScore { head: 0, query: 2, key: 1 }).expect("a model").is_ok());
    assert_eq!(ScoreModel::of(&small().snapshot(), ShownScore { head: 99, query: 0, key: 0 }), None);
}

/// An export has what the window shows before anything is chosen.
#[test]
fn the_sheet_of_the_steps_has_the_table_whose_last_row_is_the_score() {
    let sheet = sheets(&[PanelName::Step], &form("pythia").snapshot()).remove(0);
    let tables: Vec<&Table> =
        sheet.items.iter().filter_map(|item| if let Item::Table(table) = item { Some(table) } else { None }).collect();
    let rows = &tables.first().expect("a table").rows;
    let value = |row: usize, col: usize| rows[row][col].value.expect("a number");
    let last = rows.len() - 1;
    for col in [2, 3] {
        let sum: f64 = (0..last).map(|row| value(row, col)).sum();
        assert_close("the sum of a column", sum, value(last, col), Tolerance::SINGLE_PASS);
    }
    assert!(rows[0][0].entry.is_some(), "a part leads to where it comes from");
}
