//! The card of a walk's step on the live page, and the arrow to a goal: their numbers are the program's, whatever is
//! changed.

use attune_core::kernel::command::{InterventionCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::panics;
use attune_engine::quantity::Quantity;
use attune_view::explain::result::{Moment, StageResult};
use attune_view::explain::walk::{Focus, RouteModel, Step, WalkModel};
use attune_view::view_model::stage::StageModel;
use serde_json::Value;

use crate::common::chromium::ask;
use crate::common::lessons::{APPLE, lesson};
use crate::common::top::text;
use crate::web::{SIZE, TELEPHONE, as_web};

/// Half of the last digit that a cell's title has, and what single precision rounds away.
const TOLERANCE: f32 = 1e-4;

/// The card as it stands: its words, the numbers of its lines, and its place on the page. `other` in the address
/// chooses another word, head and key.
const CARD: &str = r"
    // On a telephone, the picture is folded without the rest of the model.
    const fold = document.querySelector('#lab-fold');
    if (fold.getAttribute('aria-expanded') === 'false') fold.click();
    if (document.location.hash.includes('other')) document.querySelectorAll('.map')[1].querySelector('[data-at=\'4,1\']').click();
    const card = document.querySelector('#lab-ribbons');
    const number = (title) => Number(/[-−]?([\d.]+|∞)$/.exec(title)[0].replace('−', '-').replace('∞', 'Infinity'));
    return {
        query: [...document.querySelectorAll('#lab-sentence button')].findIndex((found) => found.ariaPressed === 'true'),
        said: card.hidden ? null : card.ariaLabel,
        result: document.querySelector('#lab-result').textContent,
        grown: card.style.getPropertyValue('--grown'),
        lines: [...card.querySelectorAll('.ribbon')].map((line) => [...line.querySelectorAll('i')].map((cell) => number(cell.title))),
        isBelow: card.hidden || card.getBoundingClientRect().top >= document.querySelector('#lab-stage').getBoundingClientRect().bottom,
        beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
";

/// The numbers of a step's card, line by line.
fn lines(walk: &WalkModel, step: Step) -> Vec<Vec<f32>> {
    let rows = |quantities: &[Quantity]| {
        let of = |quantity: &Quantity| walk.by_key(step, *quantity).to_vec();
        quantities.iter().map(of).collect::<Vec<_>>()
    };
    let added = || walk.added.iter().map(|added| added.row.values.clone());
    match step {
        Step::Embed => Vec::new(),
        Step::Project => rows(&[Quantity::Query, Quantity::Key, Quantity::Value]),
        Step::Score => {
            let mut lines = rows(&[Quantity::Query, Quantity::Key]);
            lines.push(lines[0].iter().zip(&lines[1]).map(|(q, k)| q * k).collect());
            lines
        }
        Step::Scale => {
            let mut lines = rows(&[Quantity::Product, Quantity::DistanceBias, Quantity::Score]);
            lines.insert(1, lines[2].iter().zip(&lines[1]).map(|(score, bias)| score - bias).collect());
            lines
        }
        Step::Softmax => rows(&[Quantity::Weight]),
        Step::Mix => {
            walk.carried.iter().map(|carried| carried.value.values.clone()).chain(rows(&[Quantity::Mix])).collect()
        }
        Step::Output => {
            let joined = walk.mixes.iter().flat_map(|mix| mix.values.clone()).collect();
            [joined].into_iter().chain(added()).collect()
        }
        Step::Contextual => {
            let [before, after] =
                [Quantity::Input, Quantity::Output].map(|quantity| walk.by_key(step, quantity).to_vec());
            [before].into_iter().chain(added()).chain([after]).collect()
        }
    }
}

#[track_caller]
fn check(address: &str, answer: &Value, walk: &WalkModel, step: Step) {
    let found = answer["lines"].as_array().unwrap_or_else(|| panic!("{address}: {answer}"));
    let expected = lines(walk, step);
    assert_eq!(found.len(), expected.len(), "{address}: {answer}");
    for (line, expected) in found.iter().zip(expected) {
        let line = line.as_array().expect("numbers");
        assert!(!expected.is_empty() && line.len() == expected.len(), "{address}: {line:?}");
        for (number, expected) in line.iter().zip(&expected) {
            let number = number.as_f64().map_or(f32::NEG_INFINITY, |number| number as f32);
            let is_close = number == *expected || (number - expected).abs() <= TOLERANCE * expected.abs().max(1.0);
            assert!(is_close, "{address}: {number} in the page and {expected} in the walk");
        }
    }
}

/// The numbers of a page within the tolerance pass, and no others.
#[test]
fn a_card_with_another_number_is_refused() {
    let snapshot = Kernel::trained(lesson(APPLE)).snapshot();
    let walk = WalkModel::of(&snapshot, Focus { query: 0, head: 0, key: None }).expect("a walk");
    let page = |off: f32| {
        let mut all = lines(&walk, Step::Mix);
        all[0][0] += off;
        serde_json::json!({ "lines": all })
    };
    check("the same", &page(TOLERANCE / 2.0), &walk, Step::Mix);
    for off in [-10.0 * TOLERANCE, f32::NAN] {
        let passes = panics::quietly(|| check("another", &page(off), &walk, Step::Mix)).is_ok();
        assert!(!passes, "{off} more passes");
    }
}

/// A way that a reader changes what the card shows: in the page's address, and as commands.
struct Way {
    address: &'static str,
    commands: Vec<Command>,
    /// The head and the key that the address looks at.
    head: usize,
    key: Option<usize>,
}

fn ways() -> Vec<Way> {
    let weight = |name, value| {
        let tensor = TensorId::from(name);
        vec![Command::Weights(WeightCommand::Set { tensor, row: 0, col: 3, value })]
    };
    let intervened = |command| vec![Command::Interventions(command)];
    let plain = |address, commands| Way { address, commands, head: 0, key: None };
    let other = |address, commands| Way { address, commands, head: 1, key: Some(1) };
    vec![
        plain("", Vec::new()),
        plain("&W_Q[0,3]=1.5", weight(TensorName::QueryWeights, 1.5)),
        other("&W_V[0,3]=-2&other", weight(TensorName::ValueWeights, -2.0)),
        other("&temperature=0.4&other", intervened(InterventionCommand::SetTemperature(Some(0.4)))),
        plain("&off=1", intervened(InterventionCommand::SetHead { head: 1, mode: HeadMode::Off })),
    ]
}

fn changed(kernel: &mut Kernel, commands: &[Command]) -> Snapshot {
    for command in commands {
        kernel.apply(command.clone());
    }
    kernel.settle();
    let snapshot = kernel.snapshot();
    assert_eq!(snapshot.notice, None);
    snapshot
}

#[test]
fn the_card_of_each_step_has_the_numbers_of_the_program_and_follows_every_change() {
    let trained = Kernel::trained(lesson(APPLE));
    let page = as_web(&trained.snapshot());
    let of_way = |way: &Way| Step::ALL.map(|step| format!("apple.html#walk={}{}", step.index(), way.address));
    let addresses: Vec<String> = ways().iter().flat_map(of_way).collect();
    let Some(answers) = ask(&[("apple.html", &page)], &addresses, CARD, TELEPHONE) else { return };
    let mut answers = addresses.iter().zip(&answers);
    for Way { commands, head, key, .. } in ways() {
        let snapshot = changed(&mut trained.copy(trained.snapshot().lesson), &commands);
        for (step, (address, answer)) in Step::ALL.into_iter().zip(answers.by_ref()) {
            let query = answer["query"].as_u64().unwrap_or_else(|| panic!("{address}: {answer}")) as usize;
            let walk = WalkModel::of(&snapshot, Focus { query, head, key }).expect("a walk");
            check(address, answer, &walk, step);
            assert_eq!(answer["result"], walk.step(step).result.clone().unwrap_or_default(), "{address}");
            assert!(answer["isBelow"] == true && answer["beyond"] == 0, "{address}: {answer}");
        }
    }
}

#[test]
fn the_card_says_in_words_what_it_shows_and_grows_on_the_way_to_a_step() {
    let page = as_web(&Kernel::trained(lesson(APPLE)).snapshot());
    let cards = [
        ("time=1", None, None),
        ("walk=0", None, None),
        ("walk=1", Some("Q K V: Each cell is a number; hollow cells are negative"), Some("1")),
        ("walk=1.25", Some("scores: 16 products, and their sum"), Some("0.25")),
        ("walk=4", Some("softmax: The weights sum to 1"), Some("1")),
        ("walk=6.5", Some("contextual: The input, what is added to it, and the output"), Some("0.5")),
    ];
    let addresses = cards.map(|(way, ..)| format!("apple.html#{way}"));
    let Some(answers) = ask(&[("apple.html", &page)], &addresses, CARD, SIZE) else { return };
    for ((way, said, grown), answer) in cards.into_iter().zip(&answers) {
        assert_eq!(answer["said"].as_str(), said, "{way}");
        assert!(grown.is_none() || answer["grown"].as_str() == grown, "{way}: {answer}");
    }
}

#[test]
fn a_page_at_rest_tells_the_result_that_the_stage_tells() {
    const TOLD: &str = "return document.querySelector('#lab-result').textContent.replaceAll('\u{a0}', ' ');";
    for name in ["apple", "qkv", "words", "masks", "heads", "order"] {
        let snapshot = Kernel::trained(lesson(&text(format!("lessons/{name}.ron")))).snapshot();
        let word = RouteModel::of(&snapshot).and_then(|route| route.word(&[])).expect("a word");
        let addresses = ["time=0", "time=0.5", "time=1"].map(|way| format!("{name}.html#{way}"));
        let Some(told) = ask(&[(&addresses[0][..name.len() + 5], &as_web(&snapshot))], &addresses, TOLD, SIZE) else {
            return;
        };
        let expected = [Some(Moment::Static), None, Some(Moment::Contextual)].map(|moment| {
            let result = StageResult::of(&snapshot, (moment?, word, false))?;
            Some(result.0.replace('\u{a0}', " "))
        });
        for ((address, told), expected) in addresses.iter().zip(&told).zip(expected) {
            assert_eq!(*told, expected.unwrap_or_default(), "{address}");
        }
    }
}

/// The loss beside the arrow is that of the program, with the trained weights and with a changed one.
#[test]
fn the_arrow_to_a_goal_has_the_loss_of_the_program() {
    let trained = Kernel::trained(lesson(include_str!("../../lessons/gradient.ron")));
    let page = as_web(&trained.snapshot());
    let tensor = TensorId::from(TensorName::QueryWeights);
    let turned = Command::Weights(WeightCommand::Set { tensor, row: 0, col: 0, value: 4.0 });
    let ways = [("&time=1", vec![]), ("&time=1&W_Q[0,0]=4", vec![turned]), ("&walk=7", vec![])];
    let early = ["&time=0", "&walk=6"];
    let addresses: Vec<String> =
        ways.iter().map(|(way, _)| *way).chain(early).map(|way| format!("gradient.html#numbers{way}")).collect();
    let goals = "return JSON.parse(document.querySelector('#lab-numbers pre').textContent).canvas.goals;";
    let Some(answers) = ask(&[("gradient.html", &page)], &addresses, goals, SIZE) else { return };
    let mut answers = answers.iter();
    let mut losses = Vec::new();
    for ((way, commands), answer) in ways.iter().zip(answers.by_ref()) {
        let snapshot = changed(&mut trained.copy(trained.snapshot().lesson), commands);
        let stage = StageModel::of(&snapshot).expect("a stage");
        let cell = &snapshot.notebook.cells[0].cell;
        let [goal] = stage.goals_of(&cell.kind, &snapshot)[..] else { panic!("one goal") };
        losses.push(format!("{:.2}", goal.loss));
        assert_eq!(*answer, serde_json::json!([format!("−∂L/∂y, L = {:.2}", goal.loss)]), "{way}");
    }
    assert_ne!(losses[0], losses[1], "the weight counts");
    assert!(answers.all(|answer| *answer == serde_json::json!([])), "no arrow before the word is there");
}
