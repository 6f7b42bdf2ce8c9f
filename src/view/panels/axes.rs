//! *Axes*: what the axes of the stage mean, and how much of the variance they show.

use crate::sheet::{Bars, Chosen, Item};
use crate::view_model::Models;
use crate::view_model::axes::{AxesModel, AxisOrders, AxisRow, percent};
use crate::view_model::output::{RankingModel, RankingRow};

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let (model, orders) = (models.get::<AxesModel>()?, models.get::<AxisOrders>()?);
    let mut items: Vec<Item> = model.warnings.iter().map(Item::warning).collect();
    let rows = model.rows.iter().map(bar).collect();
    let ranking = RankingModel { rows, has_negative: false };
    items.push(Item::Bars(Bars { caption: "Share of the variance".to_owned(), ranking, entries: Vec::new() }));
    if let Some([plane, all]) = model.together {
        items.push(Item::text(format!("Together they show {}, in 2D {}.", percent(all), percent(plane))));
    }
    for row in &model.rows {
        items.push(Item::soft(format!("{}: {}.", row.name, row.meaning)));
        let ends = orders.ends[row.axis.index()].as_ref().zip(row.chosen.as_ref());
        if let Some((ends, (from, to))) = ends {
            let end = |(name, words): (&String, &Vec<String>)| Item::soft(format!("{name}: {}", words.join(", ")));
            items.extend([from, to].into_iter().zip(ends).map(end));
        }
    }
    items.push(Item::soft(&*model.about));
    Some(items)
}

fn bar(row: &AxisRow) -> RankingRow {
    RankingRow {
        word: format!("{} {}", row.axis.letter(), row.name),
        number: f64::from(row.variance),
        shown: format!("{:.1} %", row.variance * 100.0),
        share: Some(row.variance.clamp(0.0, 1.0)),
    }
}
