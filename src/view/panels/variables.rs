//! *Variables*: every tensor and variable with its shape; each opens to show all of its numbers.

use crate::sheet::{Chosen, Fold, FoldContent, Item, Numbers};
use crate::view_model::tensors::{VariableKind, VariableModel, VariableValue, VariablesModel};
use crate::view_model::{Models, sentence};

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let model = models.get::<VariablesModel>()?;
    let mut items = Vec::new();
    for kind in VariableKind::ALL {
        let of_kind = || model.all().iter().filter(|variable| variable.kind == kind);
        if of_kind().next().is_some() {
            items.push(Item::Heading(kind.title().to_owned()));
        }
        items.extend(of_kind().map(|variable| Item::Fold(fold(variable))));
    }
    if !model.all().iter().any(|variable| variable.kind == VariableKind::Code) {
        items.push(Item::soft("Variables that code cells define with `let` appear here once the cells run."));
    }
    Some(items)
}

fn fold(variable: &VariableModel) -> Fold {
    let in_code = if variable.name == variable.symbol {
        String::new()
    } else {
        format!(" In code, its name is {}.", variable.name)
    };
    let content = match &variable.value {
        VariableValue::Table(table) => {
            FoldContent::Numbers(Numbers { table: table.clone(), first: variable.entry([0; 3]) })
        }
        VariableValue::Number(number) => FoldContent::Value { short: short(*number), full: number.to_string() },
        VariableValue::Text(text) => {
            FoldContent::Value { short: text.lines().next().unwrap_or("").to_owned(), full: text.to_string() }
        }
    };
    Fold {
        name: variable.name.clone(),
        symbol: variable.symbol.clone(),
        detail: variable.shape(),
        about: sentence(&variable.meaning) + in_code.as_str(),
        content,
    }
}

fn short(number: f64) -> String {
    const DIGITS: usize = 4;
    let text = format!("{number:.DIGITS$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
