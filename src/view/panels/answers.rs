//! *Answers*: what the model answers, and what it has written.

use std::sync::Arc;

use attune_core::kernel::evidence::words::Words;
use attune_engine::numerics::evidence::words::WordMeasure;

use super::intervene::answers_form;
use crate::sheet::control::{Button, Menu};
use crate::sheet::{Ask, Bars, Choice, Chosen, Control, Grid, Item, Scale, Table, TableCell, Text, Tone};
use crate::view_model::answers::{AnswerRow, AnswersModel, AnswersWriting, AttributionModel, Share, TermWays};
use crate::view_model::asked::AskedState;
use crate::view_model::output::{RankingModel, RankingRow};
use crate::view_model::word_measures::WordMeasures;
use crate::view_model::{Models, number, quoted};

/// The number of answers for each word in the table of all words.
const OF_WORD: usize = 3;

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<AnswersModel>()?;
    let mut items = vec![Item::text(&*model.question)];
    items.extend(model.row_of(None).into_iter().flat_map(row_items));
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
    items.push(Item::maps(
        vec![correlations(words)],
        "Correlation of the ranks of two measures (Spearman), over the words of the text: 1 ranks alike, 0 has nothing in \
         common.",
    ));
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
    Grid::of_numbers("Do the measures rank alike?", [names.clone(), names], values, Scale::Signed { full: 1.0 })
}

/// Returns the likeliest answers of a row with their probabilities, and those that are never written.
pub fn row_items(row: &AnswerRow) -> Vec<Item> {
    let bar = |word: &str, probability: f32| RankingRow {
        word: word.to_owned(),
        number: f64::from(probability),
        shown: format!("{probability:.4}"),
        share: Some(probability.clamp(0.0, 1.0)),
    };
    let named = row.answers.iter().map(|answer| bar(&answer.name, answer.probability));
    let has_others = row.answers.len() == AnswersModel::NAMED && row.rest() > 0.0;
    let others = has_others.then(|| bar("all others together", row.rest()));
    let ranking = RankingModel { rows: named.chain(others).collect(), has_negative: false };
    let entries = row.answers.iter().map(|answer| answer.entry).collect();
    let bars = Item::Bars(Bars { caption: format!("Probability at {}", row.label), ranking, entries });
    [bars].into_iter().chain(row.never_said().map(Item::soft)).collect()
}

/// Returns the terms of an answer's logit in one of the ways to divide it, with their sum.
pub fn term_items(model: &AttributionModel, ways: TermWays) -> Vec<Item> {
    /// The largest number of terms that have a bar of their own; the others are added up in one bar.
    const LISTED_MAX: usize = 24;
    let terms = match ways {
        TermWays::Layers => &model.layers,
        TermWays::Heads => &model.heads,
        TermWays::Looks => &model.looks,
    };
    let finite = terms.iter().map(|share| share.value.abs()).filter(|value| value.is_finite());
    let longest = finite.fold(f32::MIN_POSITIVE, f32::max);
    let bar = |word: &str, value: f32| RankingRow {
        word: word.to_owned(),
        number: f64::from(value),
        shown: format!("{value:+.2}").replace('-', "−"),
        share: Some((value / longest).clamp(-1.0, 1.0)),
    };
    let sum = |terms: &[Share]| terms.iter().map(|share| share.value).sum::<f32>();
    let (listed, others) = terms.split_at(terms.len().min(LISTED_MAX));
    let mut rows: Vec<RankingRow> = listed.iter().map(|share| bar(&share.label, share.value)).collect();
    if !others.is_empty() {
        rows.push(bar(&format!("{} more together", others.len()), sum(others)));
    }
    let ranking = RankingModel { rows, has_negative: true };
    let bars = Bars { caption: format!("What gives {}", quoted(&model.answer)), ranking, entries: Vec::new() };
    // The layers' terms add up to the whole logit; those of heads and looks only to a part of it.
    let total = match ways {
        TermWays::Layers => format!("Together they give the logit, {:.3}.", model.logit),
        _ => format!("Together they give {:+.3} of the logit, {:.3}.", sum(terms), model.logit),
    };
    let largest = model.looks.first();
    let largest = largest.map(|look| format!("The largest attention weight: {}.", look.said(&model.answer)));
    largest.map(Item::text).into_iter().chain([Item::Bars(bars), Item::soft(total)]).collect()
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
