//! The part of *All heads* about the weights of a head: what it compares and writes, and with which heads it composes.

use std::sync::Arc;

use attune_core::kernel::command::Command;
use attune_core::kernel::evidence::tables::{Row, ShownTables};
use attune_engine::numerics::evidence::tables::Composition;

use crate::sheet::control::Button;
use crate::sheet::{Ask, Control, Grid, Item, Scale, Table, TableCell, Text, Tone};
use crate::view_model::asked::AskedState;
use crate::view_model::head_tables::TablesModel;
use crate::view_model::{Models, number};

/// The largest number of heads of a model whose compositions are all drawn.
const HEADS_DRAWN: usize = 32;
/// The number of pairs of heads that are listed.
const LISTED: usize = 10;

/// Returns the tables of a head, with the button that computes them; `None` if there is no model, or no such head.
pub fn items(models: &Models, head: usize) -> Option<Vec<Item>> {
    let model = models.get::<TablesModel>()?;
    let title = model.titles.get(head)?.to_lowercase();
    let mut items = vec![Item::Heading("What a head compares and writes".to_owned())];
    let (name, hint, command) = match &model.state {
        AskedState::Refused(why) => {
            items.push(Item::soft(why));
            return Some(items);
        }
        AskedState::Running(_) => ("Stop".to_owned(), "Ends the work and removes it", Command::EndTables),
        _ => (format!("Compute for {title}"), COMPUTES, Command::Tables(head)),
    };
    let button = Button::new(&*name, hint, Ask::Command(command)).named(format!("{name}: tables of a head"));
    let progress = Text::toned(model.state.progress().unwrap_or_default(), Tone::Soft);
    items.push(Item::Controls(vec![Control::Button(button), Control::Words(progress)]));
    match &model.state {
        AskedState::Found(found) => items.extend(of_tables(&model, found)),
        _ => items.push(Item::soft(
            "From the weights alone, for the static vectors of the sentence's words. Choose a head for its tables.",
        )),
    }
    Some(items)
}

const COMPUTES: &str = "Which words the head looks at from each word of the sentence and what it writes for it (QK and OV), and how \
     strongly heads read what others write";

fn of_tables(model: &TablesModel, found: &ShownTables) -> Vec<Item> {
    let ShownTables { head, tables } = found;
    let mut items = vec![Item::text(format!("{}.", model.titles[*head]))];
    for of in &tables.tables {
        let writes = if tables.are_logits { "writes" } else { "writes what is similar to" };
        items.push(Item::Table(words("From each word, the head looks at (QK)", &of.looks_at)));
        items.push(Item::Table(words(&format!("From each word, it {writes} (OV)"), &of.writes)));
        if of.layer > 0 {
            items.push(Item::small(
                "Static words are what layer 1 reads; above it this is one of many ways into the head.",
            ));
        }
        let copying = tables.copying.as_ref().and_then(|rows| rows.get(of.layer)?.get(of.head));
        items.extend(
            copying.map(|copying| {
                Item::text(format!("Copying: {}. 1 writes what is read, −1 avoids it.", number(*copying)))
            }),
        );
    }
    items.push(Item::Table(composition(found)));
    items.push(Item::small(format!(
        "How strongly a head reads what an earlier one writes, in its queries (Q), keys (K) or values (V); unrelated heads have \
         {:.3} (Elhage et al. 2021).",
        tables.chance
    )));
    if tables.is_whole && model.titles.len() <= HEADS_DRAWN {
        let grids = PARTS.into_iter().map(|(name, of)| grid(name, of, &tables.composition)).collect();
        items.push(Item::maps(grids, "Rows are the heads that write, columns those that read."));
    }
    items
}

/// A function that returns one of the numbers of a composition.
type PartOf = fn(&Composition) -> f64;

/// The inputs of a head through which it composes, each with the function that returns its number.
const PARTS: [(&str, PartOf); 3] = [
    ("Composition by queries", |of| of.query),
    ("Composition by keys", |of| of.key),
    ("Composition by values", |of| of.value),
];

fn words(caption: &str, rows: &[Row]) -> Table {
    let most = rows.iter().map(|(_, listed)| listed.len()).max().unwrap_or(0);
    let cell = |(name, value): &(String, f64)| TableCell {
        words: format!("{name} {}", number(*value)),
        value: Some(*value),
        entry: None,
    };
    let row = |(word, listed): &Row| [TableCell::words(&**word)].into_iter().chain(listed.iter().map(cell)).collect();
    Table {
        caption: caption.to_owned(),
        columns: ["word".to_owned()].into_iter().chain((1..=most).map(|rank| rank.to_string())).collect(),
        rows: rows.iter().map(row).collect(),
    }
}

fn name((layer, head): (usize, usize)) -> String {
    format!("{}.{}", layer + 1, head + 1)
}

/// Lists the pairs with this head that compose most.
fn composition(found: &ShownTables) -> Table {
    let ShownTables { tables, .. } = found;
    let own = tables.tables.first().map(|of| (of.layer, of.head));
    let with_own = tables.composition.iter().filter(|of| own.is_some_and(|own| of.first == own || of.second == own));
    let most = |of: &Composition| of.query.max(of.key).max(of.value);
    let mut pairs: Vec<&Composition> = with_own.collect();
    pairs.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let row = |of: &&Composition| {
        let numbers = PARTS.map(|(_, part)| TableCell::number(part(of) as f32));
        [TableCell::words(name(of.first)), TableCell::words(name(of.second))].into_iter().chain(numbers).collect()
    };
    Table {
        caption: "Composition with this head".to_owned(),
        columns: ["writes", "reads", "Q", "K", "V"].map(str::to_owned).to_vec(),
        rows: pairs.iter().take(LISTED).map(row).collect(),
    }
}

fn grid(title: &str, part: fn(&Composition) -> f64, all: &[Composition]) -> Grid {
    let mut rows: Vec<(usize, usize)> = all.iter().map(|of| of.first).collect();
    let mut cols: Vec<(usize, usize)> = all.iter().map(|of| of.second).collect();
    for heads in [&mut rows, &mut cols] {
        heads.sort_unstable();
        heads.dedup();
    }
    let value = |first: (usize, usize), second: (usize, usize)| {
        all.iter().find(|of| of.first == first && of.second == second).map(|of| part(of) as f32)
    };
    let values: Vec<Option<f32>> =
        rows.iter().flat_map(|first| cols.iter().map(|second| value(*first, *second))).collect();
    let names = |heads: &[(usize, usize)]| heads.iter().map(|head| name(*head)).collect::<Arc<[String]>>();
    let full = values.iter().flatten().copied().fold(f32::MIN_POSITIVE, f32::max);
    Grid::of_numbers(title, [names(&rows), names(&cols)], values, Scale::Share { hue: 0, full })
}
