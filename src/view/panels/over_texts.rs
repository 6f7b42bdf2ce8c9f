//! *All heads* over texts: the progress through a file, all heads over two measures, and one head with its
//! distributions, words, distances and shown texts.

use attune_core::kernel::Snapshot;
use attune_core::kernel::command::{Command, TextsCommand};
use attune_core::kernel::evidence::over_texts::{KeptTexts, OpenedHead, OpenedText};
use attune_core::kernel::evidence::texts::HeadTexts;
use attune_core::kernel::snapshot::Progress;
use attune_core::kernel::snapshot::sentence::START;
use attune_core::lesson::recorded::ONE_PASS;
use attune_engine::messages::{counted, cut};
use attune_engine::numerics::evidence::corpus::{
    BINS, DISTANCE_EDGES, INTERVALS, ListedWord, QUANTILES, Spread, TextMeasure,
};
use attune_engine::numerics::model::Tower;

use crate::sheet::control::{Button, Look, Menu};
use crate::sheet::{Ask, Bars, Choice, Chosen, Control, Grid, Grids, Item, Meter, Scale, Table, TableCell, Text, Tone};
use crate::view_model::Models;
use crate::view_model::output::{LineModel, PlotModel, RankingModel};

/// The number of heads that are named as the highest.
const NAMED: usize = 5;
/// The number of words of a head that are listed.
const LISTED: usize = 10;
/// The number of texts whose arcs are shown; those of other texts are in lines that open.
const IN_SIGHT: usize = 3;
/// The number of bins into which the [`BINS`] bins of largest weights are merged to be shown.
const SHOWN_BINS: usize = 10;
/// The largest number of characters of a text that its button shows.
const TEXT_CHARS: usize = 36;
/// The largest number of layers that have a colour each in the plot; with more layers, all heads have the same one.
const COLOURED: usize = 8;

/// Returns the items of the view over texts, which replaces that of the sentence's heads; `None` if there is no model.
pub fn items(models: &Models, chosen: &Chosen) -> Option<Vec<Item>> {
    let snapshot = models.snapshot()?;
    let mut items = vec![Item::Controls(choice(true).into())];
    let is_recorded = snapshot.model.as_ref()?.recorded.is_some();
    items.extend((!is_recorded).then(|| Item::Controls(controls(snapshot))));
    items.push(Item::Scrolls);
    if is_recorded {
        items.push(Item::warning(format!("{ONE_PASS}, so no other text can run through it.")));
        return Some(items);
    }
    let texts = &snapshot.texts;
    if let Some((file, progress)) = &texts.running {
        items.push(Item::Meter(meter(file, *progress)));
    }
    items.extend(texts.fault.iter().map(|why| Item::warning(&**why)));
    match &texts.kept {
        Some(kept) => items.extend(results(snapshot, kept, chosen)),
        None if texts.running.is_none() => items.push(Item::soft(
            "What a head does in one sentence is rarely all that it does. Choose a text file in UTF-8, a sentence on each line; of \
             a model with an encoder and a decoder, a source or source ||| target. All heads are measured over all lines.",
        )),
        None => {}
    }
    Some(items)
}

/// Returns the results as a line that opens below the sentence's heads, so that exports contain them; `None` if there
/// are no results.
pub fn details(models: &Models, chosen: &Chosen) -> Option<Item> {
    let snapshot = models.snapshot()?;
    let kept = snapshot.texts.kept.as_ref()?;
    Some(Item::Details { summary: "Over texts", items: results(snapshot, kept, chosen) })
}

/// Returns the buttons that choose between the sentence and a file of texts.
pub fn choice(over_texts: bool) -> [Control; 2] {
    [
        (false, "sentence", "The heads in the sentence on the stage"),
        (true, "over texts", "The heads over all sentences of a text file"),
    ]
    .map(|(is_over, label, hint)| {
        Control::Button(Button::option(label, hint, over_texts == is_over, Choice::OverTexts(is_over)))
    })
}

fn controls(snapshot: &Snapshot) -> Vec<Control> {
    let texts = |command| Ask::Command(Command::Texts(command));
    let button = |label: &str, hint: &str, asks| Control::Button(Button::new(label, hint, asks));
    let mut controls = Vec::new();
    if snapshot.texts.running.is_some() {
        controls.push(button("Stop", "Ends the measuring. What was measured so far stays", texts(TextsCommand::Stop)));
        return controls;
    }
    let hint = "Measures all heads over a text file in UTF-8, a sentence on each line, while you work on";
    controls.push(button("Choose texts…", hint, Ask::ChooseTexts));
    if snapshot.texts.kept.is_some() {
        controls.push(button("Forget", "Removes these results from your work", texts(TextsCommand::Forget)));
    }
    controls
}

fn meter(file: &str, Progress { done, of }: Progress) -> Meter {
    let shown = format!("{done} of {of}");
    Meter {
        letter: "",
        name: file.to_owned(),
        share: done as f32 / of.max(1) as f32,
        spoken: format!("{file}: {shown} lines are measured"),
        hint: "Lines that have run through the model".to_owned(),
        shown,
    }
}

fn results(snapshot: &Snapshot, kept: &KeptTexts, chosen: &Chosen) -> Vec<Item> {
    let mut about = format!("{}: {}.", kept.file, kept.texts.about());
    if kept.done < kept.of {
        about.push_str(&format!(" Stopped after {} of {}.", kept.done, counted(kept.of, "line")));
    }
    let [across, up] = plotted(kept, chosen);
    let mut items = vec![
        Item::text(about),
        Item::Controls(vec![measure_menu(kept, 0, across)]),
        Item::Controls(vec![measure_menu(kept, 1, up)]),
    ];
    let [meaning, formula] = up.words();
    items.push(Item::soft(format!("{}: {meaning}. {formula}", up.name())));
    items.push(Item::Plot(scatter(kept, [across, up])));
    let asked = snapshot.texts.asked;
    items.push(Item::Controls(highest(kept, up)));
    items.push(Item::Controls(heads(kept, asked)));
    items.push(Item::Details { summary: "All measures of all heads", items: vec![Item::Table(table(kept))] });
    if let Some(head) = asked.and_then(|head| kept.texts.heads.get(head)) {
        items.extend(of_head(snapshot, kept, head));
    }
    match &snapshot.texts.opened {
        Some(opened) if asked == Some(opened.head) => items.extend(texts_of(kept, opened)),
        _ if asked.is_some() => items.push(Item::soft("The texts of this head run once more…")),
        _ => items.push(Item::soft("Choose a head to see its distributions, words and texts.")),
    }
    items
}

/// Returns the two measures of the plot: the chosen ones if the model has them, or else the usual ones.
fn plotted(kept: &KeptTexts, chosen: &Chosen) -> [TextMeasure; 2] {
    let usual = match kept.texts.even {
        Some(_) => [TextMeasure::Monotony, TextMeasure::Aligned],
        None => [TextMeasure::Previous, TextMeasure::Induction],
    };
    let measures = measures(kept);
    [0, 1].map(|axis| chosen.plotted[axis].filter(|chosen| measures.contains(chosen)).unwrap_or(usual[axis]))
}

/// Returns the measures for which at least one head has a value.
fn measures(kept: &KeptTexts) -> Vec<TextMeasure> {
    let is_there =
        |measure: &TextMeasure| kept.texts.heads.iter().any(|head| head.measures.measure(*measure).is_some());
    TextMeasure::ALL.into_iter().filter(is_there).collect()
}

fn measure_menu(kept: &KeptTexts, axis: usize, now: TextMeasure) -> Control {
    const WIDTH: f32 = 190.0;
    let option = |measure: TextMeasure| {
        let choice = Choice::Plotted { axis, measure };
        Control::Button(Button::option(measure.name(), measure.words()[0], measure == now, choice))
    };
    let [name, hint] = [
        ["Measure from left to right", "The measure from left to right in the plot"],
        ["Measure upwards", "The measure upwards in the plot, by which the highest heads are named"],
    ][axis];
    let sign = ["→", "↑"][axis];
    Control::Menu(Menu {
        label: format!("{sign} {}", now.name()),
        name: name.to_owned(),
        hint: hint.to_owned(),
        width: Some(WIDTH),
        controls: measures(kept).into_iter().map(option).collect(),
    })
}

/// Draws all heads as points over two measures, in the colours of their layers.
fn scatter(kept: &KeptTexts, axes: [TextMeasure; 2]) -> PlotModel {
    let point = |head: &HeadTexts| {
        let [across, up] = axes.map(|measure| head.measures.measure(measure));
        Some(vec![[across?, up?]])
    };
    let layers: Vec<usize> = {
        let mut layers: Vec<usize> = kept.texts.heads.iter().map(|head| head.layer).collect();
        layers.dedup();
        layers
    };
    let line = |name: String, heads: &mut dyn Iterator<Item = &HeadTexts>| LineModel {
        name,
        pieces: heads.filter_map(point).collect(),
        marked: true,
    };
    let all = &kept.texts.heads;
    let lines: Vec<LineModel> = if layers.len() > COLOURED {
        vec![line(String::new(), &mut all.iter())]
    } else {
        let of_layer = |layer: &usize| {
            let of_layer = || all.iter().filter(|head| head.layer == *layer);
            line(of_layer().next().map_or_else(String::new, layer_title), &mut of_layer())
        };
        layers.iter().map(of_layer).filter(|line| !line.pieces.is_empty()).collect()
    };
    PlotModel { lines, left_out: 0, axes: axes.map(|measure| measure.name().to_owned()) }
}

/// Returns the name of a head's layer, such as `layer 2, source`.
fn layer_title(head: &HeadTexts) -> String {
    head.name.rsplit_once(", head ").map_or("the only layer", |(layer, _)| layer).to_owned()
}

fn open(head: usize) -> Ask {
    Ask::Command(Command::Texts(TextsCommand::Open(head)))
}

/// Returns the heads with the largest values of a measure, as buttons that open them.
fn highest(kept: &KeptTexts, measure: TextMeasure) -> Vec<Control> {
    let mut heads: Vec<(usize, &HeadTexts, f64)> = kept
        .texts
        .heads
        .iter()
        .enumerate()
        .filter_map(|(number, head)| Some((number, head, head.measures.measure(measure)?)))
        .collect();
    heads.sort_by(|a, b| b.2.total_cmp(&a.2));
    let has_source = heads.iter().any(|(_, head, _)| head.towers.keys == Tower::Source);
    let button = |(number, head, value): &(usize, &HeadTexts, f64)| {
        // In a model with a source, the number of a layer does not say whose it is.
        let label = match has_source {
            true => format!("{} {value:.2}", head.name),
            false => format!("{}·{} {value:.2}", head.layer + 1, head.head + 1),
        };
        let hint = format!("{}: {} {value:.3}. Click to open the head", head.name, measure.name());
        let button = Button::new(label, hint, open(*number)).named(format!("Open {} over texts", head.name));
        Control::Button(Button { look: Look::Small { is_enabled: true }, ..button })
    };
    let title = Control::Words(Text::toned("Highest:", Tone::Plain));
    std::iter::once(title).chain(heads.iter().take(NAMED).map(button)).collect()
}

/// Returns a list of the layers, and the heads of the open head's layer or, if no head is open, of the first layer.
fn heads(kept: &KeptTexts, asked: Option<usize>) -> Vec<Control> {
    const WIDTH: f32 = 150.0;
    let all = &kept.texts.heads;
    let now = asked.and_then(|head| all.get(head)).map_or(0, |head| head.layer);
    let numbered = || all.iter().enumerate();
    let layer = |(number, head): (usize, &HeadTexts)| {
        let look = Look::Option { is_on: head.layer == now };
        let hint = "Shows the heads of this layer, and opens the first";
        Control::Button(Button { look, ..Button::new(layer_title(head), hint, open(number)) })
    };
    let head = |(number, head): (usize, &HeadTexts)| {
        let look = Look::Option { is_on: asked == Some(number) };
        let hint = format!("Opens {}: its distributions, words and texts", head.name);
        let button = Button::new((head.head + 1).to_string(), hint, open(number)).named(format!("Open {}", head.name));
        Control::Button(Button { look, hue: Some(head.head), ..button })
    };
    let layers = numbered().filter(|(_, head)| head.head == 0).map(layer).collect();
    let label = all.iter().find(|head| head.layer == now).map_or_else(String::new, layer_title);
    let menu = Menu {
        label,
        name: "Layer over texts".to_owned(),
        hint: "The layer whose heads stand beside".to_owned(),
        width: Some(WIDTH),
        controls: layers,
    };
    let of_layer = numbered().filter(|(_, head)| head.layer == now).map(head);
    std::iter::once(Control::Menu(menu)).chain(of_layer).collect()
}

fn table(kept: &KeptTexts) -> Table {
    let measures = measures(kept);
    let number =
        |value: Option<f64>| value.map_or_else(|| TableCell::words("–"), |value| TableCell::number(value as f32));
    let row = |head: &HeadTexts| {
        let values = measures.iter().map(|measure| number(head.measures.measure(*measure)));
        std::iter::once(TableCell::words(&head.name)).chain(values).collect()
    };
    let names = measures.iter().map(|measure| measure.name().to_owned());
    Table {
        caption: "All measures of all heads".to_owned(),
        columns: std::iter::once("head".to_owned()).chain(names).collect(),
        rows: kept.texts.heads.iter().map(row).collect(),
    }
}

/// Returns what is known about a head without running its texts again: distributions, largest weights, distances and
/// words.
fn of_head(snapshot: &Snapshot, kept: &KeptTexts, head: &HeadTexts) -> Vec<Item> {
    let of = &head.measures;
    let spread = |Spread { of, values }: &Spread| {
        let values = values.iter().map(|value| TableCell::number(*value as f32));
        std::iter::once(TableCell::words(of.name())).chain(values).collect()
    };
    let quantiles = QUANTILES.map(|share| format!("{:.0} %", 100.0 * share));
    let merged = of.histogram.chunks(BINS / SHOWN_BINS).enumerate().map(|(bin, counts)| {
        let [from, to] = [bin, bin + 1].map(|edge| edge as f64 / SHOWN_BINS as f64);
        (format!("{from:.1} to {to:.1}"), counts.iter().sum::<usize>() as f64)
    });
    let all: f64 = of.distance_histogram.iter().sum();
    let distance = |(bin, weight): (usize, &f64)| {
        let [from, to] = [DISTANCE_EDGES[bin], DISTANCE_EDGES[bin + 1] - 1];
        let name = if from == to { from.to_string() } else { format!("{from} to {to}") };
        (name, weight / all)
    };
    // The list of distances ends at the last one that has weight.
    let last = of.distance_histogram.iter().rposition(|weight| *weight > 0.0).map_or(0, |last| last + 1);
    let mut items = vec![
        Item::Heading(head.name.clone()),
        Item::Table(Table {
            caption: format!("Distributions over {}", counted(kept.texts.texts, "text")),
            columns: std::iter::once("measure of a text".to_owned()).chain(quantiles).collect(),
            rows: of.distributions.iter().map(spread).collect(),
        }),
        bars("Texts by largest weight", merged.collect()),
    ];
    if last > 0 {
        let distances = of.distance_histogram[..last].iter().enumerate().map(distance);
        items.push(bars("Weight by the distance in tokens", distances.collect()));
    }
    items.push(words(snapshot, "Keys with most weight", &of.key_words));
    items.push(words(snapshot, "Queries by their largest weight", &of.query_words));
    items
}

fn bars(caption: &str, rows: Vec<(String, f64)>) -> Item {
    Item::Bars(Bars { caption: caption.to_owned(), ranking: RankingModel::of(&rows), entries: Vec::new() })
}

fn words(snapshot: &Snapshot, caption: &str, words: &[ListedWord]) -> Item {
    let name = |word: Option<usize>| match (word, &snapshot.space) {
        (Some(row), Some(space)) => space.vocabulary.get(row).cloned().unwrap_or_default(),
        _ => START.to_owned(),
    };
    let row = |word: &ListedWord| {
        let numbers = [word.weight, word.mean].map(|number| TableCell::number(number as f32));
        let count = TableCell { words: word.count.to_string(), value: Some(word.count as f64), entry: None };
        std::iter::once(TableCell::words(name(word.word))).chain(numbers).chain([count]).collect()
    };
    Item::Table(Table {
        caption: caption.to_owned(),
        columns: ["word", "weight", "mean", "times"].map(str::to_owned).into(),
        rows: words.iter().take(LISTED).map(row).collect(),
    })
}

/// Returns the shown texts of a head with their weights: the strongest ones directly, and the others in lines that
/// open, one for each fifth of all texts.
fn texts_of(kept: &KeptTexts, opened: &OpenedHead) -> Vec<Item> {
    const FIFTHS: [&str; INTERVALS] = [
        "Texts of the lowest fifth by their largest weight",
        "Texts of the second fifth",
        "Texts of the third fifth",
        "Texts of the fourth fifth",
        "Further texts of the highest fifth",
    ];
    let Some(head) = kept.texts.heads.get(opened.head) else { return Vec::new() };
    let items_of = |text: &OpenedText| {
        let label = format!("{:.2}  {}", text.ranked.largest, cut(&text.line, TEXT_CHARS));
        let hint = "Puts this text on the stage, with this head chosen";
        let ask = Ask::OpenText { text: text.line.clone(), head: opened.head };
        let button = Button::new(label, hint, ask).named(format!("On the stage: {}", cut(&text.line, TEXT_CHARS)));
        let grid = grid(head, text);
        [
            Item::toned(text.line.clone(), Tone::Tooltip),
            Item::Controls(vec![Control::Button(button)]),
            Item::Grids(Grids { grids: vec![grid], as_lines: true, legend: LEGEND.to_owned() }),
        ]
    };
    let of_fifth = |fifth: usize| opened.texts.iter().filter(move |text| text.ranked.interval == fifth);
    let mut items = vec![Item::Heading("Strongest texts".to_owned())];
    items.extend(of_fifth(INTERVALS).take(IN_SIGHT).flat_map(items_of));
    for (place, summary) in FIFTHS.into_iter().enumerate().rev() {
        let fifth = place + 1;
        let skipped = if fifth == INTERVALS { IN_SIGHT } else { 0 };
        let items_of_fifth: Vec<Item> = of_fifth(fifth).skip(skipped).flat_map(items_of).collect();
        if !items_of_fifth.is_empty() {
            items.push(Item::Details { summary, items: items_of_fifth });
        }
    }
    items
}

const LEGEND: &str = "From each token to those that it looks at, as thick as the weight.";

fn grid(head: &HeadTexts, text: &OpenedText) -> Grid {
    let names = [&text.queries, &text.keys].map(|names| names.as_slice().into());
    let weights = text.weights.flat().iter().copied().map(Some).collect();
    Grid::of_numbers(&*head.name, names, weights, Scale::Share { hue: head.head, full: 1.0 })
}
