//! The live page, opened in a browser: its numbers are the program's, and nothing in a lesson becomes more than text.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, WeightCommand};
use attune_core::kernel::notebook::runs::TriedAnswer;
use attune_core::kernel::notebook::snapshot::Verdict;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::cells::{Bind, Cell, CellKind, Slider};
use attune_engine::numerics::attention::{Edge, HeadMode, Mask};
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::panics;
use attune_view::export::{Pictures, live_page, trace};
use serde_json::Value;

use crate::common::chromium::ask;
use crate::common::lessons::{APPLE, NOTEBOOK, SMALL, forms, lesson};
use crate::hostile::CELLS;
use crate::site::check_site;
use crate::{APPLE_RUN, course, run, text, with_cells};

/// Between double precision, in which a browser computes, and single, of numbers around 1.
const TOLERANCE: f64 = 1e-5;
/// The same of the forms, where a low temperature makes more of what single precision rounds away.
const WIDE_TOLERANCE: f64 = 1e-4;
/// The same where six layers follow each other and scores are not scaled.
const DEEP_TOLERANCE: f64 = 5e-4;
pub const SIZE: (u32, u32) = (1280, 800);
pub const TELEPHONE: (u32, u32) = (360, 740);
/// The numbers of a page, which its address asks for.
pub const NUMBERS: &str = "return JSON.parse(document.querySelector('#lab-numbers pre').textContent);";

pub fn as_web(snapshot: &Snapshot) -> String {
    text(|to| {
        assert!(live_page::write(snapshot, None, &Pictures::default(), None, to).expect("it is written"), "it is live")
    })
}

#[test]
fn a_page_is_the_same_whether_its_answers_come_from_a_copy_or_from_another_training() {
    let kernel = Kernel::trained(lesson(NOTEBOOK));
    let (snapshot, copy) = (kernel.snapshot(), kernel.copy(kernel.snapshot().lesson));
    let answered = live_page::revealed(&snapshot, || copy).expect("a prediction");
    let page = text(|to| {
        live_page::write(&snapshot, Some(&answered), &Pictures::default(), None, to).expect("it is written");
    });
    assert!(page == as_web(&snapshot), "byte for byte");
}

/// All numbers in a tensor, and where there is none.
fn flat(value: &Value, to: &mut Vec<Option<f64>>) {
    match value {
        Value::Array(all) => all.iter().for_each(|value| flat(value, to)),
        other => to.push(other.as_f64()),
    }
}

/// The largest score of a trace, in size.
fn sharpest(tensors: &serde_json::Map<String, Value>) -> f64 {
    let mut scores = Vec::new();
    tensors.iter().filter(|(name, _)| name.starts_with("scores")).for_each(|(_, all)| flat(&all["rows"], &mut scores));
    scores.into_iter().flatten().fold(0.0, |most, score| score.abs().max(most))
}

/// The page has every tensor of the trace, and no other. The page counts in 64 bits, the program in 32: a softmax makes
/// of the rounding of a score, which grows with the score, as large a share of a weight.
#[track_caller]
pub fn check(name: &str, page: &Value, snapshot: &Snapshot, tolerance: f64) {
    let trace: Value = serde_json::from_str(&trace::trace(snapshot).expect("a model")).expect("JSON");
    let tensors = |of: &Value| of["tensors"].as_object().cloned().unwrap_or_default();
    let (found, expected) = (tensors(page), tensors(&trace));
    assert!(!expected.is_empty(), "{name}: no tensors");
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}: {page:.300}");
    // The scores of a second layer bring the roundings of the first along.
    const ROUNDINGS: f64 = 32.0;
    let tolerance = tolerance.max(ROUNDINGS * f64::from(f32::EPSILON) * sharpest(&expected));
    for (tensor, expected) in expected {
        assert_eq!(found[&tensor]["shape"], expected["shape"], "{name}: {tensor}");
        let [mut numbers, mut truth] = [Vec::new(), Vec::new()];
        flat(&found[&tensor]["rows"], &mut numbers);
        flat(&expected["rows"], &mut truth);
        assert_eq!(numbers.len(), truth.len(), "{name}: {tensor}");
        for (at, (number, truth)) in numbers.iter().zip(&truth).enumerate() {
            let is_close = match (number, truth) {
                (Some(number), Some(truth)) => (number - truth).abs() <= tolerance * truth.abs().max(1.0),
                (number, truth) => number == truth,
            };
            assert!(is_close, "{name}: entry {at} of {tensor} is {number:?} in the page and {truth:?} in the trace");
        }
    }
}

/// Each of the tolerances refuses a page that has one other number.
#[test]
fn a_page_with_another_number_is_refused() {
    let snapshot = run(SMALL).snapshot();
    let trace: Value = serde_json::from_str(&trace::trace(&snapshot).expect("a model")).expect("JSON");
    for tolerance in [TOLERANCE, WIDE_TOLERANCE, DEEP_TOLERANCE] {
        check("the same", &trace, &snapshot, tolerance);
        for other in [10.0 * tolerance, f64::NAN] {
            let mut page = trace.clone();
            let entry = &mut page["tensors"]["output"]["rows"][0][0];
            *entry = entry.as_f64().map(|number| number + other).into();
            let passes = panics::quietly(|| check("another", &page, &snapshot, tolerance)).is_ok();
            assert!(!passes, "{tolerance}: {other} more passes");
        }
    }
}

/// A way that a learner changes the model: as the page's address says it, and the commands.
fn ways(snapshot: &Snapshot) -> Vec<(String, Vec<Command>)> {
    let model = snapshot.model.as_ref().expect("a model");
    let intervene = Command::Interventions;
    let longest = snapshot.lesson.sentences.iter().map(Vec::len).max().unwrap_or(1);
    // Other words than the lesson's first sentence, in another order.
    let own: Vec<String> = snapshot.lesson.sentences[0].iter().rev().take(longest.min(3)).cloned().collect();
    let own = own.join(" ");
    let heads = model.architecture.heads();
    let mut ways = vec![
        (String::new(), Vec::new()),
        ("&temperature=0.4".to_owned(), vec![intervene(InterventionCommand::SetTemperature(Some(0.4)))]),
        (
            format!("&off={}", heads - 1),
            vec![intervene(InterventionCommand::SetHead { head: heads - 1, mode: HeadMode::Off })],
        ),
        (format!("&sentence={}", own.replace(' ', "+")), vec![Command::Sentence(SentenceCommand::Set(own))]),
    ];
    // The lesson's own slider of a weight, or else any entry.
    let of_lesson = snapshot.lesson.cells.iter().find_map(|cell| match &cell.kind {
        CellKind::Slider(slider) => match slider.bind {
            Bind::Weight { tensor, row, col } => Some((tensor, row, col)),
            _ => None,
        },
        _ => None,
    });
    let query = TensorId::from(TensorName::QueryWeights);
    let (tensor, row, col) = of_lesson.unwrap_or((query, 1, 0));
    if model.parameters.entry(tensor, row, col).is_some() {
        let set = WeightCommand::Set { tensor, row, col, value: 1.5 };
        let of_weight = format!("&{}%5B{row},{col}%5D=1.5", tensor.code_name());
        ways.push((of_weight.clone(), vec![Command::Weights(set.clone())]));
        let both = vec![Command::Weights(set), intervene(InterventionCommand::SetScale(Some(false)))];
        ways.push((format!("{of_weight}&scale=0"), both));
    }
    ways
}

/// Opens each kernel's page in every way, and holds its numbers to those of a kernel that was told the same.
fn check_all(kernels: Vec<(String, Kernel)>, tolerance: f64) {
    let pages: Vec<(String, String)> =
        kernels.iter().map(|(name, kernel)| (format!("{name}.html"), as_web(&kernel.snapshot()))).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let of_kernel = |(name, kernel): &(String, Kernel)| {
        let address = |(way, _): &(String, _)| format!("{name}.html#numbers{way}");
        ways(&kernel.snapshot()).iter().map(address).collect::<Vec<_>>()
    };
    let addresses: Vec<String> = kernels.iter().flat_map(of_kernel).collect();
    let Some(answers) = ask(&pages, &addresses, NUMBERS, SIZE) else { return };
    assert_eq!(answers.len(), addresses.len(), "every page answers");
    let mut answers = addresses.iter().zip(&answers);
    for (_, mut kernel) in kernels {
        let all = ways(&kernel.snapshot());
        for (_, commands) in all {
            let count = commands.len();
            for command in commands {
                kernel.apply(command);
                kernel.settle();
                assert_eq!(kernel.snapshot().notice, None);
            }
            let (address, page) = answers.next().expect("as many answers");
            check(address, page, &kernel.snapshot(), tolerance);
            for _ in 0..count {
                kernel.apply(Command::Undo);
                kernel.settle();
            }
        }
    }
}

#[test]
fn the_site_of_the_course_is_the_program_and_fits_a_telephone() {
    let course = course();
    let pages = check_site(&course);
    let is_pretrained = |(_, kernel): &(String, Kernel)| kernel.snapshot().lesson.static_embedding.is_pretrained();
    let named = course.into_iter().map(|(file, kernel)| (file.id(), kernel));
    let (pretrained, trained): (Vec<_>, Vec<_>) = named.partition(is_pretrained);
    assert_eq!(
        pretrained.iter().map(|(id, _)| &**id).collect::<Vec<_>>(),
        ["layers", "encoder", "writer", "pieces", "assistant"]
    );
    check_all(trained, TOLERANCE);
    check_all(pretrained, DEEP_TOLERANCE);

    let addresses: Vec<String> =
        pages.iter().map(|(name, _)| name.clone()).filter(|name| name.ends_with(".html")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let questions = r"
        const named = (found) => found.ariaLabel || found.textContent.trim() || found.title || (found.labels || []).length;
        const controls = [...document.querySelectorAll('button, input, select, canvas, [tabindex]')];
        const isSeen = (found) => found.offsetParent !== null;
        return {
            beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            nameless: controls.filter(isSeen).filter((found) => !named(found)).map((found) => found.outerHTML),
        };
    ";
    let Some(answers) = ask(&pages, &addresses, questions, TELEPHONE) else { return };
    for (address, answer) in addresses.iter().zip(&answers) {
        assert_eq!(*answer, serde_json::json!({ "beyond": 0, "nameless": [] }), "{address}");
    }
}

/// A page has the changes of the pass that it was written with.
#[test]
fn the_changes_of_a_pass_are_in_the_page() {
    let of = |name: &str, text: &str| {
        let mut kernel = run(text);
        let words = kernel.snapshot().lesson.sentences[0].iter().rev().cloned().collect::<Vec<_>>().join(" ");
        let edge = |query, key| InterventionCommand::SetEdge { edge: Edge { head: 0, query, key }, is_removed: true };
        let block = kernel.snapshot().model.expect("a model").architecture.blocks.len() - 1;
        kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(words))));
        let last = kernel.snapshot().model.expect("a model").architecture.heads() - 1;
        for change in [
            edge(1, 0),
            edge(1, 1),
            InterventionCommand::SetHead { head: last, mode: HeadMode::Mean },
            InterventionCommand::SetPatch(Some(Patch { block, position: 1, from: 0, vector: None })),
        ] {
            kernel.apply(Command::Interventions(change));
            assert_eq!(kernel.snapshot().notice, None);
        }
        kernel.settle();
        (name.to_owned(), kernel)
    };
    let kernels = vec![
        of("apple", APPLE),
        of("decoder", include_str!("../fixtures/forms/decoder.ron")),
        of("llama", include_str!("../fixtures/forms/llama.ron")),
        of("gemma", include_str!("../fixtures/forms/gemma.ron")),
        of("pythia", include_str!("../fixtures/forms/pythia.ron")),
    ];
    check_all(kernels, TOLERANCE);
}

/// A page begins with what was on the stage when it was written, and keeps the reader's own sentence.
#[test]
fn the_sentence_of_the_stage_is_the_pages_first() {
    let mut kernel = run(APPLE);
    let set = |kernel: &mut Kernel, text: &str| {
        kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
        kernel.settle();
        as_web(&kernel.snapshot())
    };
    let lessons = as_web(&kernel.snapshot());
    let own = set(&mut kernel, "a sweet apple");
    let pages = [("lessons.html", &*lessons), ("own.html", &*own)];
    let questions = r"
        const shown = () => [...document.querySelectorAll('#lab-sentence button')].map((found) => found.textContent).join(' ');
        const first = shown();
        const stages = [...document.querySelectorAll('.show-stage')];
        stages[stages.length - 1].click();
        return { first, asked: shown() !== first };
    ";
    let addresses = pages.map(|(name, _)| name.to_owned());
    let Some(answers) = ask(&pages, &addresses, questions, SIZE) else { return };
    assert!(answers[0]["first"].as_str().is_some_and(|first| first.starts_with("apple₁ launched")), "{answers:?}");
    assert_eq!(answers[1], serde_json::json!({ "first": "a sweet apple", "asked": true }));
}

#[test]
fn the_lines_of_a_stage_cell_are_in_the_page() {
    let snapshot = Kernel::trained(lesson(include_str!("../fixtures/reference.ron"))).snapshot();
    let lines = r#""lines":[["seal","otter"],["seal","anchor"]]"#;
    assert!(as_web(&snapshot).contains(lines));
}

/// What is no number, or would make too many, changes nothing and hangs nothing.
#[test]
fn the_page_bounds_what_it_is_given() {
    const CHECK: &str = r#"Exercise(id: "much", ask: "?", check: "sum(zeros(30000, 30000)) == 0.0", solution: "1"),"#;
    let page = as_web(&with_cells(CHECK).snapshot());
    let questions = r"
        document.querySelector('#tab-weights').click();
        const number = document.querySelector('#panel-weights [data-part=number]');
        const before = number.value;
        number.value = '';
        number.dispatchEvent(new window.Event('change'));
        const { rows } = JSON.parse(document.querySelector('#lab-numbers pre').textContent).tensors.logits;
        return { isKept: number.value === before, isFinite: rows.flat().every(Number.isFinite), cells: document.querySelectorAll('.checked').length };
    ";
    let address = "much.html#numbers&temperature=1e-320".to_owned();
    let Some(answers) = ask(&[("much.html", &page)], &[address], questions, SIZE) else { return };
    assert_eq!(answers, [serde_json::json!({ "isKept": true, "isFinite": true, "cells": 1 })]);
}

/// A link may have thousands of parts and numbers of any size: the page reads all, computes once, and shows no NaN.
#[test]
fn no_address_hangs_the_page_or_puts_nan_on_it() {
    const COUNT: usize = 5000;
    let page = as_web(&APPLE_RUN);
    let many = |part: &dyn Fn(usize) -> String| (0..COUNT).map(part).collect::<Vec<_>>();
    let mut addresses = vec![
        "frames=1000000000".to_owned(),
        format!("off={}", many(&|i| (i % 2).to_string()).join(",").repeat(8)),
        many(&|i| format!("W_Q%5B0,3%5D={i}")).join("&"),
        many(&|_| "sentence=a+sweet+apple".to_owned()).join("&"),
        many(&|i| format!("time={}&walk={i}&theme=dark&tab=weights&mask=causal&scale=0", i % 2)).join("&"),
        "W_Q%5B0,3%5D=1e39".to_owned(),
        "W_Q%5B0,3%5D=3e38&W_K%5B0,3%5D=3e38&W_V%5B0,3%5D=3e38&scale=0".to_owned(),
        "W_Q%5B0,3%5D=NaN&W_Q%5B99999999999999999999,3%5D=1&temperature=Infinity&walk=1e400".to_owned(),
        "W_Q%5B0,3%5D=1.5".to_owned(),
        format!("{}&W_Q%5B0,3%5D=1.5", (0..200_000).map(|i| format!("x{i}=1")).collect::<Vec<_>>().join("&")),
    ];
    addresses.iter_mut().for_each(|address| *address = format!("apple.html#numbers&tab=weights&{address}"));
    let questions = r"
        const text = document.querySelector('#lab').textContent;
        const numbers = document.querySelector('#lab-numbers pre').textContent;
        const nothing = { output: { rows: [] }, logits: { rows: [] } };
        const { tensors } = numbers === '' ? { tensors: nothing } : JSON.parse(numbers);
        const fields = [...document.querySelectorAll('#lab input')].map((field) => field.value);
        return {
            isFinite: [...tensors.output.rows, ...tensors.logits.rows].flat().every(Number.isFinite),
            isShown: !/NaN|Infinity|∞/.test(text.replaceAll('−∞', '')) && !fields.includes('NaN'),
            isChanged: !document.querySelector('#lab-reset').disabled,
            said: document.querySelector('#lab-said').textContent.includes('too l'),
        };
    ";
    let begun = Instant::now();
    let Some(answers) = ask(&[("apple.html", &page)], &addresses, questions, SIZE) else { return };
    assert!(begun.elapsed() < Duration::from_secs(60), "the model runs once for each address");
    let is_changed = [false, true, true, false, true, false, false, true, true, false];
    let is_refused = [false, false, false, false, false, true, false, false, false, true];
    assert_eq!(answers.len(), addresses.len());
    for (i, answer) in answers.iter().enumerate() {
        let what = format!("{:.80}: {answer}", addresses[i]);
        assert!(answer["isFinite"] == true && answer["isShown"] == true, "{what}");
        if i != 6 {
            assert_eq!(
                (&answer["isChanged"], &answer["said"]),
                (&is_changed[i].into(), &is_refused[i].into()),
                "{what}"
            );
        }
    }
}

/// The word under the pointer is lit in the sentence, the maps and the prose, and the other of its kind is not.
#[test]
fn a_word_of_the_prose_is_lit_wherever_it_stands() {
    let page = as_web(&APPLE_RUN);
    let questions = r"
        const words = [...document.querySelectorAll('em .word')];
        const first = words.find((found) => found.textContent === 'apple₁');
        const isLit = (found) => found.classList.contains('hovered');
        const point = (type) => first.dispatchEvent(new window.PointerEvent(type, { bubbles: true }));
        point('pointerover');
        const lit = {
            sentence: [...document.querySelectorAll('#lab-sentence button')].filter(isLit).map((found) => found.textContent),
            maps: [...document.querySelectorAll('#panel-attention tbody th')].filter((found) => isLit(found.parentElement)).map((found) => found.textContent),
            prose: [...new Set(words.filter(isLit).map((found) => found.textContent))].sort(),
        };
        point('pointerout');
        return { ...lit, after: document.querySelectorAll('.hovered').length };
    ";
    let Some(answers) = ask(&[("apple.html", &page)], &["apple.html".to_owned()], questions, SIZE) else { return };
    let expected = serde_json::json!({
        "sentence": ["apple₁"], "maps": ["apple₁", "apple₁"], "prose": ["apple", "apple₁"], "after": 0,
    });
    assert_eq!(answers, [expected]);
}

/// Norms before and behind, feed-forward layers, every readout and pooling, a mask of its own, no projections.
#[test]
fn the_pages_numbers_are_the_programs_in_every_form() {
    check_all(forms().collect(), WIDE_TOLERANCE);
}

#[test]
fn a_hostile_lesson_stays_text_in_a_browser() {
    // Headless, a dialog would pass unseen; what runs instead of it leaves a mark.
    let page = as_web(&with_cells(&CELLS.replace("alert(", "parent.attacked=(")).snapshot());
    assert!(page.contains("parent.attacked=("));
    assert!(page.contains("default-src 'none'; script-src 'sha256-"), "the policy forbids every connection");
    let questions = r"
        await new Promise((rest) => window.setTimeout(rest, 200));
        // A prediction is made, so that its answer is in the page too.
        document.querySelectorAll('.choices input').forEach((box) => box.click());
        document.querySelectorAll('.of-prediction > button').forEach((button) => button.click());
        const names = [...new Set([...document.querySelectorAll('*')].map((found) => found.localName))];
        const handlers = [...document.querySelectorAll('*')].flatMap((found) => [...found.attributes])
            .filter(({ name }) => name.startsWith('on') || name === 'srcdoc');
        return {
            scripts: document.scripts.length,
            foreign: names.filter((name) => ['iframe', 'object', 'embed', 'link', 'base', 'frame', 'video', 'audio'].includes(name)),
            images: [...document.images].map((image) => image.src).filter((src) => !src.startsWith('data:')),
            handlers: handlers.length,
            links: [...document.links].map((link) => link.protocol).filter((to) => to !== 'https:' && to !== 'file:'),
            requests: window.performance.getEntriesByType('resource').length,
            isLive: document.documentElement.classList.contains('live'),
            attacked: window.parent.attacked || 0,
            title: document.title,
        };
    ";
    let Some(answers) = ask(&[("hostile.html", &page)], &["hostile.html".to_owned()], questions, SIZE) else {
        return;
    };
    let expected = serde_json::json!({
        "scripts": 4, "foreign": [], "images": [], "handlers": 0, "links": [], "requests": 0, "isLive": true,
        "attacked": 0, "title": "Sinking and swimming",
    });
    assert_eq!(answers, [expected]);
}

#[test]
fn the_apple_page_is_small_and_whole() {
    let page = as_web(&APPLE_RUN);
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert_eq!(page.matches("<script").count(), 4, "the data, the model's vectors and parameters, and the scripts");
    let named = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!named.contains("http://") && !named.contains("src=\"http"), "nothing is fetched");
}

/// Exercises that are done by turning the model are checked in the page as in the program.
#[test]
fn exercises_without_code_are_checked_in_the_page() {
    let lessons = [("notebook", NOTEBOOK, "temperature=0.5")];
    let page = |name: &str, lesson: &str| (format!("{name}.html"), as_web(&run(lesson).snapshot()));
    let pages: Vec<(String, String)> = lessons.iter().map(|(name, lesson, _)| page(name, lesson)).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let addresses = lessons.map(|(name, _, solved)| [format!("{name}.html"), format!("{name}.html#{solved}")]).concat();
    let verdicts = "return [...document.querySelectorAll('.checked')].map((found) => found.dataset.right);";
    let Some(answers) = ask(&pages, &addresses, verdicts, SIZE) else { return };
    for (address, answer) in addresses.iter().zip(&answers) {
        let is_solved = address.contains('#').to_string();
        let verdicts = answer.as_array().unwrap_or_else(|| panic!("{address}: {answer}"));
        assert!(!verdicts.is_empty() && verdicts.iter().any(|found| *found == *is_solved), "{address}: {answer}");
    }
}

/// The slider of a cell, with the positions to which a learner can move it: a mask is off or on.
fn positions(cell: &Cell) -> Option<(&Slider, Vec<f64>)> {
    /// As many as a slider without steps has in this test.
    const PARTS: f64 = 40.0;
    let CellKind::Slider(slider) = &cell.kind else { return None };
    let (least, most) = if slider.bind == Bind::Mask { (0.0, 1.0) } else { slider.range };
    let step = if slider.bind == Bind::Mask { 1.0 } else { slider.step.unwrap_or((most - least) / PARTS) };
    let count = ((most - least) / step).round() as u32;
    Some((slider, (0..=count).map(|place| least + f64::from(place) * step).collect()))
}

/// The command of a slider at a position; `None` where it changes no model.
fn moved(bind: &Bind, to: f64) -> Option<Command> {
    let intervene = |change| Some(Command::Interventions(change));
    match *bind {
        Bind::Temperature => intervene(InterventionCommand::SetTemperature(Some(to))),
        Bind::Mask => intervene(InterventionCommand::SetMask(Some(if to == 0.0 { Mask::None } else { Mask::Causal }))),
        Bind::Weight { tensor, row, col } => {
            Some(Command::Weights(WeightCommand::Set { tensor, row, col, value: to as f32 }))
        }
        Bind::Time | Bind::Variable(_) => None,
    }
}

/// Whether each exercise without code is right in the model of a kernel.
fn verdicts(kernel: &Kernel) -> Vec<bool> {
    let snapshot = kernel.snapshot();
    let without_code = |cell: &&Cell| matches!(&cell.kind, CellKind::Exercise(exercise) if exercise.start.is_none());
    let is_right = |cell: &Cell| {
        let tried = kernel.try_exercise(&cell.id, TriedAnswer::Start).expect("it is tried");
        matches!(tried.verdict, Some(Verdict::Exercise { is_right: true, .. }))
    };
    snapshot.lesson.cells.iter().filter(without_code).map(is_right).collect()
}

/// Each position of each slider that changes a lesson's model: the cell, the position, and the program's verdicts
/// there.
fn judged(kernel: &Kernel) -> Vec<(String, f64, Vec<bool>)> {
    let lesson = kernel.snapshot().lesson;
    let mut judged = Vec::new();
    for (cell, (slider, positions)) in lesson.cells.iter().filter_map(|cell| Some((cell, positions(cell)?))) {
        let mut kernel = kernel.copy(lesson.clone());
        for to in positions {
            let Some(command) = moved(&slider.bind, to) else { continue };
            kernel.apply(command);
            kernel.settle();
            judged.push((format!("cell-{}", cell.id), to, verdicts(&kernel)));
        }
    }
    judged
}

/// Moves each slider of the page, and reads what each exercise says then.
const MOVE: &str = r"
    let before = null;
    return (MOVES)[window.location.pathname.split('/').pop()].map(([section, to]) => {
        if (section !== before) document.querySelector('#lab-reset').click();
        before = section;
        const input = document.querySelector(`#${CSS.escape(section)} .slider.live input`);
        if (input.type === 'checkbox') input.checked = to === 1;
        else input.value = to;
        input.dispatchEvent(new window.Event(input.type === 'checkbox' ? 'change' : 'input'));
        return [...document.querySelectorAll('.checked')].map((found) => found.dataset.right === 'true');
    });
";

/// An exercise that a control solves: no lesson of the course has one.
const WITHOUT_CODE: &str = r#"
    Slider(id: "entry", caption: "An entry", bind: "W_Q[0, 0]", range: (-4.0, 4.0), step: 1.0),
    Exercise(
        id: "large", ask: "Make the entry larger than 1.", solution: "W_Q[0, 0] = 2.0;",
        check: "W_Q[0, 0] > 1.0 && sum(A[0][0]) > 0.9",
    ),
"#;

/// An exercise that is solved by a control is solved by the same positions of it in the page as in the program.
#[test]
fn exercises_without_code_are_judged_in_the_page_as_in_the_program() {
    let mut kernels: Vec<(String, Kernel)> = course().into_iter().map(|(file, kernel)| (file.id(), kernel)).collect();
    kernels.push(("without_code".to_owned(), with_cells(WITHOUT_CODE)));
    kernels.retain(|(_, kernel)| !verdicts(kernel).is_empty());
    let judged: Vec<_> = kernels.iter().map(|(name, kernel)| (format!("{name}.html"), judged(kernel))).collect();
    let pages: Vec<String> = kernels.iter().map(|(_, kernel)| as_web(&kernel.snapshot())).collect();
    let pages: Vec<(&str, &str)> = judged.iter().zip(&pages).map(|((name, _), page)| (&**name, &**page)).collect();
    let moves: BTreeMap<&str, Vec<(&str, f64)>> = judged
        .iter()
        .map(|(name, judged)| (&**name, judged.iter().map(|(section, to, _)| (&**section, *to)).collect()))
        .collect();
    let question = MOVE.replace("MOVES", &serde_json::to_string(&moves).expect("JSON"));
    let addresses: Vec<String> = judged.iter().map(|(name, _)| name.clone()).collect();
    let Some(answers) = ask(&pages, &addresses, &question, SIZE) else { return };
    assert_eq!(answers.len(), judged.len());
    assert!(!judged.is_empty(), "a lesson has such an exercise");
    for ((name, judged), answer) in judged.iter().zip(answers) {
        let found: Vec<Vec<bool>> = serde_json::from_value(answer).unwrap_or_else(|why| panic!("{name}: {why}"));
        for ((section, to, truth), found) in judged.iter().zip(&found) {
            assert_eq!(found, truth, "{name}: {section} at {to}");
        }
        for exercise in 0..judged[0].2.len() {
            let (right, wrong): (Vec<_>, Vec<_>) = judged.iter().partition(|(.., truth)| truth[exercise]);
            assert!(
                !right.is_empty() && !wrong.is_empty(),
                "{name}: a control solves exercise {exercise}, or it is no task"
            );
        }
    }
}
