//! *Answers*: what the model answers, and what it has written.

use std::sync::Arc;

use attune_core::kernel::evidence::words::Words;
use attune_engine::numerics::evidence::words::WordMeasure;

use super::intervene::answers_form;
use crate::sheet::control::{Button, Menu};
use crate::sheet::{Ask, Bars, Cells, Choice, Chosen, Control, Grid, Grids, Item, Scale, Table, TableCell, Text, Tone};
use crate::view_model::answers::{AnswerRow, AnswersModel, AnswersWriting};
use crate::view_model::asked::AskedState;
use crate::view_model::output::{RankingModel, RankingRow};
use crate::view_model::word_measures::WordMeasures;
use crate::view_model::{Models, number};

/// The number of answers for each word in the table of all words.
const OF_WORD: usize = 3;

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<AnswersModel>()?;
    let mut items = vec![Item::text(&*model.question)];
    items.extend(model.row_of(None).map(|row| Item::Bars(bars(row))));
    items.extend(model.row_of(None).and_then(AnswerRow::never_said).map(Item::soft));
    if model.rows.len() > 1 {
        items.push(Item::Table(table(&model)));
    }
    if let AnswersWriting::Can { written: Some(written), .. } = &model.writing {
        items.push(Item::text(format!("{}{}", written.before, written.text)));
        items.push(Item::soft(&*written.said));
    }
    if let Some(measures) = models.get::<WordMeasures>()
        && let AskedState::Found(words) = &measures.state
    {
        items.extend(of_words(&measures, words));
    }
    Some(items)
}

/// The title of the measures of which word mattered.
pub const WHICH: &str = "Which word mattered?";

/// Returns the measures of which word mattered for an answer, with the button that computes them; `None` while there is
/// no model.
pub fn word_items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    let measures = models.get::<WordMeasures>()?;
    let (name, hint) = match &measures.state {
        AskedState::Refused(why) => return Some(vec![Item::soft(why)]),
        AskedState::Running(_) => ("Stop", "Ends the work and removes it"),
        _ => ("Measure", "Computes ten measures of which word mattered for this answer; they need not agree"),
    };
    let button = Button::new(name, hint, Ask::Command(measures.command(chosen.answer)));
    let mut items = vec![Item::Controls(vec![
        Control::Words(Text::toned(WHICH, Tone::Plain)),
        Control::Button(button.named(format!("{name} which word mattered"))),
        Control::Words(Text::toned(measures.state.progress().unwrap_or_default(), Tone::Soft)),
    ])];
    items.push(Item::Controls(vec![Control::Form(answers_form(&measures.choice))]));
    match &measures.state {
        AskedState::Found(words) => {
            items.push(Item::Controls(arcs(words, chosen)));
            items.push(Item::Scrolls);
            items.extend(of_words(&measures, words));
        }
        _ => items.push(Item::soft(
            "Attention says where a head looks, not what the answer depends on. Ten measures of it stand here side by side: by \
             weights, by gradients, and by words that nobody can read.",
        )),
    }
    Some(items)
}

/// Returns the controls that choose what the arcs of the sentence show.
fn arcs(words: &Words, chosen: &Chosen) -> Vec<Control> {
    let option = |title: String, hint: &str, measure: Option<WordMeasure>| {
        let is_on = chosen.word_measure == measure;
        Control::Button(
            Button::option(&*title, hint, is_on, Choice::WordMeasure(measure)).named(format!("Arcs by {title}")),
        )
    };
    let weights = option("weights".to_owned(), "The arcs of the sentence show attention weights", None);
    let measures =
        words.table.measures.iter().map(|(measure, _)| option(measure.title(), measure.means(), Some(*measure)));
    let now = chosen.word_measure.map_or_else(|| "weights".to_owned(), WordMeasure::title);
    let menu = Menu {
        label: now,
        name: "Arcs of the sentence".to_owned(),
        hint: "What the arcs over the stage show for this answer: weights, or one of the measures".to_owned(),
        width: Some(ARCS_WIDTH),
        controls: [weights].into_iter().chain(measures).collect(),
    };
    vec![Control::Words(Text::toned("Arcs:", Tone::Plain)), Control::Menu(menu)]
}

/// The width of the list of measures, in pixels.
const ARCS_WIDTH: f32 = 130.0;

fn of_words(measures: &WordMeasures, words: &Words) -> Vec<Item> {
    let Words { place, answer, against, table, .. } = words;
    let at = measures.label(*place);
    let mut items = vec![
        Item::text(format!(
            "“{answer}” against “{against}” at “{at}”: a difference of logits of {}; without any word it is {}.",
            number(table.difference),
            number(table.nothing)
        )),
        Item::text(measures.parting(words)),
        Item::Table(measure_table(measures, words)),
    ];
    items.extend(
        table
            .direct_rest
            .map(|rest| Item::small(format!("direct: all other terms of the difference add {}.", number(rest)))),
    );
    items.push(Item::Grids(Grids {
        grids: vec![correlations(words)],
        as_lines: false,
        legend: "Correlation of the ranks of two measures (Spearman), over the words of the text: 1 ranks alike, 0 has nothing \
                 in common."
            .to_owned(),
    }));
    let about =
        table.measures.iter().map(|(measure, _)| Item::small(format!("{}: {}.", measure.title(), measure.means())));
    items.push(Item::Details { summary: "What the measures are", items: about.collect() });
    items
}

fn measure_table(measures: &WordMeasures, words: &Words) -> Table {
    let of = &words.table.measures;
    let value = |values: &[f64], place: usize| {
        let value = values.get(place).copied();
        TableCell { words: value.map_or_else(String::new, number), value, entry: None }
    };
    let row = |place: usize| {
        let values = of.iter().map(|(_, values)| value(values, place));
        [TableCell::words(measures.label(place))].into_iter().chain(values).collect()
    };
    Table {
        caption: WHICH.to_owned(),
        columns: ["word".to_owned()].into_iter().chain(of.iter().map(|(measure, _)| measure.title())).collect(),
        rows: (0..words.tokens.len()).map(row).collect(),
    }
}

fn correlations(words: &Words) -> Grid {
    let names: Arc<[String]> = words.table.measures.iter().map(|(measure, _)| measure.title()).collect();
    let values = words.spearman.iter().flatten().map(|value| value.map(|value| value as f32)).collect();
    Grid {
        title: "Do the measures rank alike?".to_owned(),
        rows: names.clone(),
        cols: names,
        cells: Cells::Numbers { values, entries: Vec::new() },
        scale: Scale::Signed { full: 1.0 },
        marked: Vec::new(),
    }
}

fn bars(row: &AnswerRow) -> Bars {
    let rows = row.answers.iter().map(|answer| RankingRow {
        word: answer.name.clone(),
        number: f64::from(answer.probability),
        shown: format!("{:.3}", answer.probability),
        share: Some(answer.probability.clamp(0.0, 1.0)),
    });
    let ranking = RankingModel { rows: rows.collect(), has_negative: false };
    let entries = row.answers.iter().map(|answer| answer.entry).collect();
    Bars { caption: format!("Probability at {}", row.label), ranking, entries }
}

fn table(model: &AnswersModel) -> Table {
    let row = |row: &AnswerRow| {
        let answers = row.answers.iter().take(OF_WORD).flat_map(|answer| {
            let probability = TableCell { entry: Some(answer.entry), ..TableCell::number(answer.probability) };
            [TableCell::words(&*answer.name), probability]
        });
        [TableCell::words(&*row.label)].into_iter().chain(answers).collect()
    };
    let answers = (1..=OF_WORD).flat_map(|rank| [format!("answer {rank}"), "probability".to_owned()]);
    Table {
        caption: "The likeliest answers at each word".to_owned(),
        columns: ["word".to_owned()].into_iter().chain(answers).collect(),
        rows: model.rows.iter().map(row).collect(),
    }
}
