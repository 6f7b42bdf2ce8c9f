//! One list of cases for all engines: the reference in plain loops, the pass that the stage shows, a batch as training
//! has it, kept keys and values, and the script of a page. Each answers what a few questions cost, `−ln p`, for
//! ordinary sentences and for numbers that no training gives.

use std::sync::LazyLock;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::static_embedding::network;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::{Mask, MaskTable};
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{AttentionModel, Batch, Pooling, Sequences};
use attune_engine::numerics::params::TensorId;
use attune_engine::numerics::{Matrix, reference};
use serde_json::{Value, json};

use crate::common::chromium::ask;
use crate::common::lessons::forms;
use crate::common::numerics::Net;
use crate::web::{SIZE, as_web};

/// Between single precision and double, as a share of the larger of a cost and 1.
const TOLERANCE: f64 = 1e-4;
/// What the first entry of a tensor may be; the last is too small for a normal number.
const ENTRIES: [f32; 5] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40];
/// The most classes that a row is asked for.
const CLASSES: usize = 4;

/// A model with a sentence.
#[derive(Clone)]
struct Case {
    name: String,
    net: Net<f32>,
    /// The sentence, with its source where the model has one; nothing is asked yet.
    batch: Batch,
    /// Rows of the vocabulary that a reader of the page would choose.
    words: Vec<usize>,
    /// No query sees any key.
    hides_all: bool,
    /// The symbol of a tensor, and its first entry in place of the trained one.
    entry: Option<(String, f32)>,
}

impl Case {
    /// The sentence that a kernel shows.
    fn of(name: &str, kernel: &Kernel) -> Self {
        let snapshot = kernel.snapshot();
        let (space, model) = (snapshot.space.expect("a space"), snapshot.model.expect("a model"));
        let net = Net { model: network(&model.made_of, &space), parameters: (*model.parameters).clone() };
        let sentence = &model.sentence;
        let input = Sequences::starting_at(0, sentence.tokens.iter().map(|token| token.word));
        let source = sentence.source.iter().flatten().map(|token| token.word);
        let source = if sentence.source.is_some() { Sequences::starting_at(0, source) } else { Sequences::default() };
        let batch = Batch { input, source, ..Batch::default() };
        let words = sentence.chosen().iter().filter_map(|token| token.word).collect();
        Self { name: name.to_owned(), net: net.with_costs(0.0, 0.0), batch, words, hides_all: false, entry: None }
    }

    fn with_entry(&self, id: TensorId, value: f32) -> Self {
        let mut case = Self { name: format!("{}, {id}[0] = {value:e}", self.name), ..self.clone() };
        let mut values = case.net.parameters.row_major(id).into_owned();
        values[0] = value;
        case.net.parameters.set_row_major(id, &values);
        case.entry = Some((id.to_string(), value));
        case
    }

    fn hiding_all(&self) -> Self {
        let AttentionModel { architecture, embedding, classes, .. } = &self.net.model;
        let (mut architecture, most) = (architecture.clone(), architecture.max_tokens);
        let blocks = architecture.source_blocks.iter_mut().chain(&mut architecture.blocks);
        blocks.for_each(|block| block.attention.mask = Mask::custom(MaskTable::from_fn(most, most, |_, _| false)));
        let model = AttentionModel::new(architecture, embedding.clone(), classes.clone());
        let net = Net { model, ..self.net.clone() };
        Self { name: format!("{}, all hidden", self.name), net, hides_all: true, ..self.clone() }
    }

    fn source(&self) -> Option<&Sequences> {
        self.net.model.architecture.has_source().then_some(&self.batch.source)
    }

    /// Rows of the logits with a class each: the first row and the last, of the sentence where it is read once.
    fn questions(&self) -> Vec<(usize, usize)> {
        let is_once = self.net.model.architecture.pooling != Pooling::Every;
        let last = if is_once { 0 } else { self.batch.input.words.len() - 1 };
        let classes = self.net.model.classes.count();
        let asked = (0..classes).step_by(classes.div_ceil(CLASSES));
        let rows = if last == 0 { vec![0] } else { vec![0, last] };
        rows.into_iter().flat_map(|row| asked.clone().map(move |class| (row, class))).collect()
    }

    /// The costs of all questions by the logits of the rows.
    fn costs(&self, logits: &Matrix<f64>) -> Vec<f64> {
        let cost = |(row, class): (usize, usize)| {
            let row = logits.row(row);
            let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|z| (z - most).exp()).sum();
            sum.ln() - (row[class] - most)
        };
        self.questions().into_iter().map(cost).collect()
    }

    /// Logits of what is read of the outputs.
    fn costs_of(&self, output: &Matrix<f32>) -> Vec<f64> {
        let Net { model, parameters } = &self.net;
        let logits = match model.architecture.pooling {
            Pooling::Every => model.logits_of(parameters, output),
            _ => {
                let at_end = model.logits_at_end(parameters, output);
                Matrix::from_row_major(1, at_end.len(), at_end)
            }
        };
        self.costs(&logits.cast())
    }
}

/// A form by its name, with its page and its cases.
struct Form {
    name: String,
    page: String,
    cases: Vec<Case>,
}

/// The sentences of every form, one of a single word among them; the first of each form with hostile numbers too. Each
/// form is trained once for all tests.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let of_form = |(form, mut kernel): (String, Kernel)| {
        let whole = Case::of(&form, &kernel);
        let first = kernel.snapshot().lesson.sentences[0][0].clone();
        kernel.apply(Command::Sentence(SentenceCommand::Set(first)));
        kernel.settle();
        let mut cases = vec![whole.hiding_all(), Case::of(&format!("{form}, one word"), &kernel)];
        for spec in whole.net.parameters.specs() {
            let entry = |value: &f32| whole.with_entry(spec.id, *value);
            cases.extend(ENTRIES.iter().map(entry));
        }
        cases.push(whole);
        let page = as_web(&kernel.snapshot()).replace("script-src ", "script-src 'unsafe-eval' ");
        Form { name: form, page, cases }
    };
    forms().map(of_form).collect()
});

/// What every engine is held to.
fn reference(case: &Case) -> Vec<f64> {
    let exact = case.net.cast::<f64>();
    let cost = |question| {
        let batch = Batch { targets: vec![question], ..case.batch.clone() };
        reference::model::loss(&exact.model, &exact.parameters, &batch)
    };
    case.questions().into_iter().map(cost).collect()
}

fn shown(case: &Case) -> Option<Vec<f64>> {
    let Net { model, parameters } = &case.net;
    let pass = Activations::of(model, parameters, &case.batch.input, case.source(), &Interventions::default());
    Some(case.costs_of(&pass.output))
}

/// Between two other sentences.
fn batched(case: &Case) -> Option<Vec<f64>> {
    let push = |to: &mut Sequences, of: &Sequences| to.push(of.words.iter().copied(), 0);
    let other = Sequences::one(&[0]);
    let mut batch = Batch::default();
    for (input, source) in [(&other, &other), (&case.batch.input, &case.batch.source), (&other, &other)] {
        push(&mut batch.input, input);
        if case.source().is_some() {
            push(&mut batch.source, source);
        }
    }
    // Behind the row, or the sentence, of the other.
    let cost = |(row, class)| f64::from(case.net.loss(&Batch { targets: vec![(row + 1, class)], ..batch.clone() }));
    Some(case.questions().into_iter().map(cost).collect())
}

/// Word by word, where a model looks back only.
fn kept(case: &Case) -> Option<Vec<f64>> {
    let Net { model, parameters } = &case.net;
    let architecture = &model.architecture;
    let looks_back = architecture.blocks.iter().all(|block| block.attention.mask == Mask::Causal);
    if architecture.has_source() || !looks_back || architecture.pooling == Pooling::Mean {
        return None;
    }
    let words = &case.batch.input.words;
    let (mut kept, output) = model.begin(parameters, &words[..1], None, words.len());
    let mut rows = output.flat().to_vec();
    for word in &words[1..] {
        rows.extend(model.one_more(parameters, &mut kept, *word).flat());
    }
    Some(case.costs_of(&Matrix::from_row_major(words.len(), architecture.width, rows)))
}

type Engine = fn(&Case) -> Option<Vec<f64>>;

const ENGINES: [(&str, Engine); 3] = [("the pass that is shown", shown), ("a batch", batched), ("kept keys", kept)];

/// The logits of each case, as the page's own script computes them; as texts, for JSON has no NaN.
const OF_PAGE: &str = r#"
    const { Engine, Data } = window.eval("({ Engine, Data })");
    return CASES.map(({ words, most, hidesAll, symbol, value }) => {
        const { model } = Data.read(document.getElementById("attune-data").textContent);
        const none = Array.from({ length: most }, () => Array(most).fill(false));
        if (hidesAll) model.blocks.forEach((block) => Object.assign(block, { mask: "custom", mask_visible: none }));
        if (symbol) model.parameters[symbol].data[0] = Number(value);
        return Engine.rows(Engine.forward(model, words).logits).map((row) => row.map(String));
    });
"#;

/// The costs of all cases of each form in its page; `None` where there is no browser.
fn of_pages() -> Option<Vec<Vec<Vec<f64>>>> {
    let written = |case: &Case| {
        let (symbol, value) = case.entry.clone().map(|(symbol, value)| (symbol, spelt(value))).unzip();
        let most = case.net.model.architecture.max_tokens;
        json!({ "words": case.words, "most": most, "hidesAll": case.hides_all, "symbol": symbol, "value": value })
    };
    let addresses: Vec<String> = FORMS.iter().map(|form| format!("{}.html", form.name)).collect();
    let of_form = |form: &Form| Value::from(form.cases.iter().map(written).collect::<Vec<_>>());
    let cases: serde_json::Map<String, Value> = addresses.iter().cloned().zip(FORMS.iter().map(of_form)).collect();
    let cases = format!("({})[window.location.pathname.split('/').pop()]", Value::from(cases));
    let pages: Vec<(&str, &str)> = addresses.iter().zip(&*FORMS).map(|(name, form)| (&**name, &*form.page)).collect();
    let answers = ask(&pages, &addresses, &OF_PAGE.replace("CASES", &cases), SIZE)?;
    assert_eq!(answers.len(), FORMS.len(), "every page answers");
    Some(FORMS.iter().zip(&answers).map(|(form, answer)| costs_of_page(form, answer)).collect())
}

fn costs_of_page(form: &Form, answers: &Value) -> Vec<Vec<f64>> {
    let answers = answers.as_array().unwrap_or_else(|| panic!("{}: {answers:?}", form.name));
    assert_eq!(answers.len(), form.cases.len(), "{}", form.name);
    let number = |text: &Value| match text.as_str() {
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        text => text.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN),
    };
    let logits = |answer: &Value| {
        let rows: Vec<Vec<f64>> = answer
            .as_array()
            .into_iter()
            .flatten()
            .map(|row| row.as_array().into_iter().flatten().map(number).collect())
            .collect();
        Matrix::from_row_major(rows.len(), rows[0].len(), rows.concat())
    };
    form.cases.iter().zip(answers).map(|(case, answer)| case.costs(&logits(answer))).collect()
}

/// A number as JavaScript reads it.
fn spelt(value: f32) -> String {
    match value {
        f32::INFINITY => "Infinity".to_owned(),
        f32::NEG_INFINITY => "-Infinity".to_owned(),
        value => format!("{value:e}"),
    }
}

/// Every number is the reference's, and NaN comes out as what is no number. Of ∞, engines may make NaN where the
/// reference has a number, or the other way round: 0 · ∞ and ∞ − ∞ hang on the order of sums; but two numbers are the
/// same.
fn is_same(found: f64, expected: f64, has_infinity: bool) -> bool {
    match (found.is_finite(), expected.is_finite()) {
        (true, true) => (found - expected).abs() <= TOLERANCE * expected.abs().max(1.0),
        (is_number, is_expected) => has_infinity || is_number == is_expected,
    }
}

fn are_same(case: &Case, found: &[f64], expected: &[f64]) -> bool {
    let has_infinity = case.entry.as_ref().is_some_and(|(_, value)| value.is_infinite());
    let mut both = found.iter().zip(expected);
    found.len() == expected.len() && both.all(|(found, expected)| is_same(*found, *expected, has_infinity))
}

#[test]
fn every_engine_is_the_reference_in_every_case() {
    let mut others = Vec::new();
    let of_pages = of_pages();
    for (number, form) in FORMS.iter().enumerate() {
        for (i, case) in form.cases.iter().enumerate() {
            let expected = reference(case);
            let of_engines = ENGINES.iter().map(|(engine, run)| (*engine, run(case)));
            let of_page = of_pages.as_ref().map(|all| all[number][i].clone());
            for (engine, found) in of_engines.chain([("the page", of_page)]) {
                let Some(found) = found else { continue };
                if !are_same(case, &found, &expected) {
                    others.push(format!("{engine}: {}: {found:?}, not {expected:?}", case.name));
                }
            }
        }
    }
    assert!(others.is_empty(), "{} differ:\n{}", others.len(), others.join("\n"));
}

/// The comparison sees weights that are a little more, each by another number, in every engine and every form.
#[test]
fn an_engine_with_other_weights_is_not_the_reference() {
    const MORE: f32 = 0.1;
    for Form { name, cases, .. } in &*FORMS {
        let whole = cases.last().expect("the sentence");
        let mut changed = whole.clone();
        let entries = changed.net.parameters.flat_mut().iter_mut().enumerate();
        entries.for_each(|(i, x)| *x += MORE * (i % 3) as f32);
        let expected = reference(&changed);
        for (engine, run) in ENGINES {
            if let Some(found) = run(whole) {
                assert!(!are_same(whole, &found, &expected), "{engine}: {name}: {found:?} and {expected:?}");
            }
        }
    }
    for (found, expected) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, f64::NAN), (1.0, 1.001)] {
        assert!(!is_same(found, expected, false), "{found} passes for {expected}");
    }
}
