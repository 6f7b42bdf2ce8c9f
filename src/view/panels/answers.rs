//! *Answers*: what the model answers, and what it has written.

use crate::sheet::{Bars, Chosen, Item, Table, TableCell};
use crate::view_model::Models;
use crate::view_model::answers::{AnswerRow, AnswersModel, AnswersWriting};
use crate::view_model::output::{RankingModel, RankingRow};

/// Answers of each word in the table of all words.
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
    Some(items)
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
