//! *Step*: the steps of a word through a head, in words, and why it looks where it looks.
//!
//! The window draws the steps as pictures of their own, but takes the split of a score from here.

use attune_core::kernel::snapshot::scores::ShownScore;

use crate::explain::walk::{Focus, RouteModel, StepModel, WalkModel};
use crate::sheet::{Chosen, Item, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::score::{PairNumbers, PartName, PartRow, ScoreModel, score_by_default};

pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    let focus = chosen.focus.or_else(|| focus_by_default(models))?;
    let walk = models.of_choice::<WalkModel>(&focus)?;
    let query = walk.queries.get(focus.query).map_or("", String::as_str);
    let mut items = vec![Item::text(format!("{}: “{query}” among {}.", walk.head, walk.keys.join(" ")))];
    items.extend(walk.steps.iter().flat_map(step));
    if let Some(score) = models.of_choice::<Result<ScoreModel, String>>(&shown_score(&walk)) {
        items.extend(of_score(&score));
    }
    Some(items)
}

/// Returns the score that the walk works through.
pub fn shown_score(walk: &WalkModel) -> ShownScore {
    ShownScore { head: walk.focus.head, query: walk.focus.query, key: walk.key }
}

/// Returns the focus before one is chosen: the word that the lesson is about, with the score that is explained by
/// default, or else in the first head.
fn focus_by_default(models: &Models) -> Option<Focus> {
    let route = models.get::<RouteModel>()?;
    let word = route.word(&[])?;
    score_by_default(models.snapshot()?, word).or_else(|| Some(route.focus(word, 0, None)))
}

fn step(model: &StepModel) -> [Item; 2] {
    let number = model.step.index() + 1;
    [Item::Heading(format!("{number} {}", model.step.name())), Item::text(model.told())]
}

/// The title of the split of a score.
pub const WHY: &str = "Why it looks there";

const ABOUT: &str = "The score is a sum over pairs: what a source put into the query, times what a source put into the key. \
     Softmax sees only differences between keys, so the first number of a pair is minus its mean over all keys that the query \
     sees. The norms on the way keep their standard deviation, so a part is not what would happen without its source.";

/// Returns the split of a score, or why there is none.
pub fn of_score(score: &Result<ScoreModel, String>) -> Vec<Item> {
    let mut items = vec![Item::Heading(WHY.to_owned())];
    let model = match score {
        Ok(model) => model,
        Err(why) => {
            items.push(Item::soft(why));
            return items;
        }
    };
    items.push(Item::text(&*model.title));
    items.push(Item::Table(pairs(model)));
    items.extend(model.then.iter().map(Item::text));
    items.push(Item::small(ABOUT));
    let parts = [("Parts of the query", &model.query_parts), ("Parts of the key", &model.key_parts)];
    let tables: Vec<Item> = parts
        .into_iter()
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(caption, rows)| Item::Table(part_table(caption, rows)))
        .collect();
    if !tables.is_empty() {
        items.push(Item::Details { summary: "From which words the query and the key have it", items: tables });
    }
    items
}

fn pairs(model: &ScoreModel) -> Table {
    let (count, others) = model.others;
    let row = |[query, key]: [TableCell; 2], numbers: PairNumbers| {
        vec![query, key, exact(numbers.relative), exact(numbers.value)]
    };
    let named = |words: String| [TableCell::words(words), TableCell::default()];
    let pairs = model.pairs.iter().map(|pair| row([part(&pair.query), part(&pair.key)], pair.numbers));
    let rest = (count > 0).then(|| row(named(format!("{count} other pairs")), others));
    let mut whole = row(named("together".to_owned()), model.whole);
    whole[3].entry = model.entry;
    Table {
        caption: "What makes the score".to_owned(),
        columns: ["in the query", "in the key", "above the mean", "in the score"].map(str::to_owned).to_vec(),
        rows: pairs.chain(rest).chain([whole]).collect(),
    }
}

fn part_table(caption: &str, rows: &[PartRow]) -> Table {
    Table {
        caption: caption.to_owned(),
        columns: ["part", "in the score"].map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| vec![part(&row.name), exact(row.value)]).collect(),
    }
}

fn part(name: &PartName) -> TableCell {
    TableCell { entry: name.entry, ..TableCell::words(&*name.label) }
}

/// Returns a cell with four decimals, from which all digits can be copied.
fn exact(value: f64) -> TableCell {
    TableCell { words: format!("{value:.4}").replace('-', "−"), value: Some(value), entry: None }
}
