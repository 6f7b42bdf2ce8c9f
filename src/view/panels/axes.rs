//! *Axes*: what the axes of the stage mean, how much of the variance they show, and axes of the learner's own.

use attune_core::kernel::command::{AxisCommand, Command};

use crate::sheet::control::{Button, Field, Filled, Form, Shared};
use crate::sheet::{Ask, Chosen, Control, Item, Meter, Text, Tone};
use crate::view_model::Models;
use crate::view_model::axes::{AxesModel, AxisOrders, AxisRow, percent};

pub fn items(models: &Models, _: &Chosen) -> Option<Vec<Item>> {
    let (model, orders) = (models.get::<AxesModel>()?, models.get::<AxisOrders>()?);
    let mut items = vec![Item::Controls(basis(&model)), Item::Scrolls];
    items.extend(model.warnings.iter().map(Item::warning));
    for row in &model.rows {
        items.extend([Item::Meter(meter(row)), Item::Controls(choice(row, &model))]);
        items.push(Item::toned(format!("{}: {}.", row.name, row.meaning), Tone::Tooltip));
        let ends = orders.ends[row.axis.index()].as_ref().zip(row.chosen.as_ref());
        if let Some((ends, (from, to))) = ends {
            items.extend([from, to].into_iter().zip(ends).map(|(name, words)| end(name, words)));
        }
    }
    if let Some([plane, all]) = model.together {
        let words = format!("Together they show {}, in 2D {}.", percent(all), percent(plane));
        items.push(Item::toned(words, Tone::Tooltip));
    }
    items.push(Item::small(&*model.about));
    Some(items)
}

/// Returns the controls for all axes together: those that choose them anew, those of the picture, and the share of the
/// variance that the axes show.
fn basis(model: &AxesModel) -> Vec<Control> {
    let why = if model.can_refit {
        "Turns the axes to the directions in which the points that are now on the stage differ most"
    } else {
        "The picture shows the vectors as they are"
    };
    let reset = "Restores the axes as they were when the lesson opened";
    let asks = |command: AxisCommand| Ask::Command(Command::Axes(command));
    let mut controls = vec![
        Control::Button(Button::new("Refit", why, asks(AxisCommand::Refit)).enabled(model.can_refit)),
        Control::Button(
            Button::new("Reset", reset, asks(AxisCommand::ResetAll)).named("Reset the axes").enabled(model.is_changed),
        ),
    ];
    controls.extend(model.scale.map(|scale| Control::Shared(Shared::RawStates { is_on: !scale.is_on })));
    controls.push(Control::Shared(Shared::Map));
    controls.extend(model.together.map(|[plane, all]| {
        let words = format!("together {}, in 2D {}", percent(all), percent(plane));
        Control::Words(Text { words, tone: Tone::Soft, hint: model.about.clone() })
    }));
    controls
}

/// Returns an axis with its share of the variance.
fn meter(row: &AxisRow) -> Meter {
    let (letter, shown) = (row.axis.letter(), format!("{:.1} %", row.variance * 100.0));
    let spoken = format!("Axis {letter}: {}, {shown} of the variance", row.name);
    Meter { letter, name: row.name.clone(), shown, share: row.variance, spoken, hint: row.meaning.clone() }
}

/// Returns the fields for the two groups of words between which an axis runs, and the button that restores a changed
/// axis.
fn choice(row: &AxisRow, model: &AxesModel) -> Vec<Control> {
    let letter = row.axis.letter();
    let (from, to) = row.chosen.clone().unwrap_or_default();
    let field = |placeholder, text| Field {
        name: format!("Axis {letter} {placeholder}"),
        placeholder,
        hint: "A group or some words of the lesson, or a /pattern/ that words match",
        text,
        offers: model.groups.clone(),
        about_offers: "The lesson's groups",
    };
    let hint = "Sets the axis from the centre of the first words to the centre of the second words (Enter)";
    let mut controls = vec![Control::Form(Form {
        fields: vec![field("from", from), field("to", to)],
        between: "→",
        button: ["Set".to_owned(), format!("Set axis {letter}"), hint.to_owned()],
        fills: Filled::Axis(row.axis),
    })];
    if row.is_changed {
        let asks = Ask::Command(Command::Axes(AxisCommand::Reset(row.axis)));
        let reset = Button::new("✕", "Restores the lesson's axis", asks).named(format!("Reset axis {letter}"));
        controls.push(Control::Button(reset));
    }
    controls
}

/// Returns the words at one end of a chosen axis.
fn end(name: &str, words: &[String]) -> Item {
    let hint = "The words furthest along this axis, by their cosine with it";
    Item::Text(Text { words: format!("{name}: {}", words.join(", ")), tone: Tone::Small, hint: hint.to_owned() })
}
