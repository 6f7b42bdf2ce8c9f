//! The cards of a live page say what the program says of the same entry: the same formula, numbers and sentences, in
//! every form of model and with every change.

use attune_core::kernel::command::InterventionCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::{Edge, HeadMode, Mask};
use attune_engine::panics;
use attune_engine::quantity::Quantity;
use attune_view::explain::Explanation;
use attune_view::explain::cards::WHOLE;
use attune_view::explain::reader::EntryReader;
use attune_view::export::web_page::math::mathml;
use serde_json::{Value, json};

use crate::common::chromium::ask;
use crate::common::lessons::{SMALL, edited, forms, with};
use crate::run;
use crate::web::{SIZE, as_web};

/// One in the last digit that a page shows of a number, which single precision may round otherwise.
const TOLERANCE: f64 = 1.1e-3;

/// What the rounding of its operands makes of an equation, as a share of its value and 1.
const WORKED_TOLERANCE: f64 = 0.01;

/// Chooses a few cells of every map that is shown, and reads the card of each, with the value of each equation's left
/// side unless it leaves terms out.
const CARDS: &str = r#"
    const script = (text) => [['−', '-'], ['·', '*'], ['²', '**2'], ['∞', 'Infinity'], ['exp', 'Math.exp'], ['tanh', 'Math.tanh']]
        .reduce((text, [sign, own]) => text.replaceAll(sign, own), text)
        .replaceAll('√(', 'Math.sqrt(')
        .replace(/√([\d.]+)/g, 'Math.sqrt($1)');
    const value = (text) => new Function(`return ${script(text)}`)();
    const worked = (equation) => {
        const [, formula] = /^[^=]* = (.*) = [^=]*$/.exec(equation) || [];
        return formula && !formula.includes('…') ? value(formula) : null;
    };
    const all = [];
    for (const map of document.querySelectorAll('.map')) {
        for (const at of ['0,0', '0,1', '1,0', '1,1']) {
            const cell = map.querySelector(`[data-at="${at}"]`);
            if (!cell) continue;
            cell.click();
            const steps = [...document.querySelectorAll('#panel-number .worked')].map((step) => ({
                formula: step.querySelector('.formula').textContent.replaceAll('\u00a0', ' '),
                equation: step.querySelector('code').textContent,
                worked: worked(step.querySelector('code').textContent),
                said: step.querySelector('p') ? step.querySelector('p').textContent : '',
            }));
            all.push({ head: map.ariaLabel.split(':')[0], at: at.split(',').map(Number), steps });
        }
    }
    return all;
"#;

/// Returns the text of a page's markup.
fn text_of(markup: &str) -> String {
    let parts = markup.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: String = parts.collect();
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace('\u{a0}', " ")
}

/// Returns whether a number is shown as another is written, with three digits after the point or, from 10 on, with two.
fn is_close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= if b.abs() < 10.0 { TOLERANCE } else { 10.0 * TOLERANCE }
}

/// Returns whether two sentences are the same, except that their numbers may be rounded otherwise.
fn is_same(a: &str, b: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let is_of_number = |c: char| c.is_ascii_digit() || ".−".contains(c);
        let parts = text.chars().collect::<Vec<_>>();
        parts.chunk_by(|a, b| is_of_number(*a) == is_of_number(*b)).map(|part| part.iter().collect()).collect()
    };
    let number = |text: &str| text.trim_end_matches('.').replace('−', "-").parse::<f64>().ok();
    let alike = |(a, b): (&String, &String)| match (number(a), number(b)) {
        (Some(a), Some(b)) => is_close(a, b),
        _ => a == b,
    };
    let (a, b) = (parts(a), parts(b));
    a.len() == b.len() && a.iter().zip(&b).all(alike)
}

/// Checks the cards of a page against the explanations of the program; returns how many there are.
fn check(address: &str, answer: &Value, snapshot: &Snapshot) -> usize {
    let reader = EntryReader::of(snapshot).expect("a model");
    let cards = answer.as_array().unwrap_or_else(|| panic!("{address}: {answer}"));
    let heads = reader.model.architecture.heads();
    for card in cards {
        let head = (0..heads).find(|head| card["head"] == *reader.labels.title(*head)).expect("a head");
        if reader.is_of_source(reader.head(head).expect("a head").block) {
            continue;
        }
        let at: [usize; 2] = serde_json::from_value(card["at"].clone()).expect("a place");
        let steps = card["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), WHOLE.len(), "{address}: {card}");
        for (step, (quantity, _)) in steps.iter().zip(WHOLE) {
            let told = Explanation::of(snapshot, quantity.of_head(head, at)).expect("an entry");
            let of = |name: &str| step[name].as_str().expect("a text").to_owned();
            let place = format!("{address}: {quantity:?} of head {head} at {at:?}: {step}");
            assert_eq!(of("formula"), text_of(&mathml(&told.symbols, false)), "{place}");
            assert!(is_same(&of("said"), &told.sentences.join(" ")), "{place}\n{}", told.sentences.join(" "));
            let equation = of("equation");
            let shown = equation.rsplit("= ").next().expect("a number").replace('−', "-").replace('∞', "inf");
            let shown: f64 = shown.parse().unwrap_or_else(|_| panic!("{place}"));
            assert!(is_close(shown, told.value.into()), "{place}: the program has {}", told.value);
            if let Some(worked) = step["worked"].as_f64() {
                assert!((worked - shown).abs() <= WORKED_TOLERANCE * (1.0 + shown.abs()), "{place}");
            }
        }
    }
    cards.len()
}

/// What a page's address changes, and the same as commands.
fn ways() -> [(&'static str, Vec<InterventionCommand>); 4] {
    use InterventionCommand::*;
    [
        ("", Vec::new()),
        // A low temperature without a scale makes many weights 0 in single precision, which then have no order.
        ("&temperature=2&scale=0", vec![SetTemperature(Some(2.0)), SetScale(Some(false))]),
        ("&mask=causal&scale=1", vec![SetMask(Some(Mask::Causal)), SetScale(Some(true))]),
        ("&off=0", vec![SetHead { head: 0, mode: HeadMode::Off }]),
    ]
}

/// A kernel of every form, and of scores with a bound, with distances and with a temperature.
fn kernels() -> Vec<(String, Kernel)> {
    let model = |fields: &str| run(&edited(SMALL, &[("model: Attention(", &format!("model: Attention({fields}, "))]));
    let near = "score_cap: 0.5, positions: Distances, temperature: 2.0";
    let others = [("bounded", "score_cap: 0.5"), ("near", near)].map(|(name, fields)| (name.to_owned(), model(fields)));
    forms().chain(others).collect()
}

#[test]
fn the_card_of_every_form_says_what_the_program_says_and_its_equations_are_true() {
    let kernels = kernels();
    let texts: Vec<_> =
        kernels.iter().map(|(name, kernel)| (format!("{name}.html"), as_web(&kernel.snapshot()))).collect();
    let pages: Vec<(&str, &str)> = texts.iter().map(|(page, text)| (&**page, &**text)).collect();
    let of_page = |(page, _): &(&str, &str)| ways().map(|(way, _)| format!("{page}#tab=number{way}"));
    let addresses: Vec<String> = pages.iter().flat_map(of_page).collect();
    let Some(answers) = ask(&pages, &addresses, CARDS, SIZE) else { return };
    let mut answers = addresses.iter().zip(&answers);
    for (_, kernel) in &kernels {
        for ((_, commands), (address, answer)) in ways().into_iter().zip(answers.by_ref()) {
            let mut kernel = kernel.copy(kernel.snapshot().lesson);
            commands.into_iter().for_each(|command| kernel.apply(Command::Interventions(command)));
            kernel.settle();
            assert!(check(address, answer, &kernel.snapshot()) > 0, "{address}");
        }
    }
}

#[test]
fn the_card_of_every_changed_head_says_what_the_program_says() {
    use InterventionCommand::*;
    let edge = |query, key| SetEdge { edge: Edge { head: 0, query, key }, is_removed: true };
    let mode = |mode| SetHead { head: 0, mode };
    let frozen = || mode(HeadMode::Frozen(None));
    let changes = [
        vec![mode(HeadMode::Uniform)],
        vec![mode(HeadMode::Uniform), edge(0, 1)],
        vec![mode(HeadMode::Mean)],
        vec![mode(HeadMode::Mean), edge(0, 1)],
        vec![mode(HeadMode::Gain(0.5))],
        vec![frozen()],
        vec![frozen(), edge(0, 1)],
        vec![edge(0, 1)],
        vec![ToggleMask { query: 0, key: 1 }, ToggleMask { query: 1, key: 1 }],
    ];
    let snapshots =
        changes.map(|changes| with(&changes.into_iter().map(Command::Interventions).collect::<Vec<_>>()).snapshot());
    let pages: Vec<(String, String)> =
        snapshots.iter().enumerate().map(|(at, snapshot)| (format!("{at}.html"), as_web(snapshot))).collect();
    let addresses: Vec<String> = pages.iter().map(|(name, _)| format!("{name}#tab=number")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let Some(answers) = ask(&pages, &addresses, CARDS, SIZE) else { return };
    for ((address, answer), snapshot) in addresses.iter().zip(&answers).zip(&snapshots) {
        assert!(check(address, answer, snapshot) > 0, "{address}");
    }
}

/// The twin: a card with another sentence, number or formula is refused.
#[test]
fn a_card_that_says_something_else_is_refused() {
    let snapshot = with(&[]).snapshot();
    let told = |quantity: Quantity| Explanation::of(&snapshot, quantity.of_head(0, [0, 0])).expect("an entry");
    let steps = || {
        WHOLE.map(|(quantity, _)| {
            let Explanation { symbols, value, sentences, .. } = told(quantity);
            let formula = text_of(&mathml(&symbols, false));
            let equation = format!("x = {value:.3}");
            json!({ "formula": formula, "equation": equation, "worked": value, "said": sentences.join(" ") })
        })
    };
    let title = EntryReader::of(&snapshot).expect("a model").labels.title(0);
    let page = |steps: &[Value]| json!([{ "head": title, "at": [0, 0], "steps": steps }]);
    assert_eq!(check("the same", &page(&steps()), &snapshot), 1);
    for (name, other) in
        [("formula", json!("x")), ("said", json!("No.")), ("equation", json!("x = 7.125")), ("worked", json!(7.125))]
    {
        let mut steps = steps();
        steps[1][name] = other;
        assert!(panics::quietly(|| check("another", &page(&steps), &snapshot)).is_err(), "{name}");
    }
}
