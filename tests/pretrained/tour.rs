//! The tour of a model: every section says what a plain sum over the model's tensors says too, and a section whose
//! claim does not hold is left out.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::{SentenceCommand, WeightCommand};
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::live_text::LiveValue;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::snapshot::answers::layer_answers;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot, Token};
use attune_core::kernel::tour::{PARTED_MIN, TextPurpose, Told, texts_of};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_engine::code::Value;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{Activations, Readout, Sequences};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::folder::files;
use attune_engine::pretrained::load;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;
use crate::common::models::{fixture, shape, with_tokenizer};
use crate::common::top::at;
use crate::opened::{ALL, opened};

/// A model with a tour in its notebook.
fn toured(lesson: &Arc<Lesson>) -> Kernel {
    let mut kernel = Kernel::new(lesson.clone());
    kernel.apply(Command::Tour);
    kernel.settle();
    assert_eq!(kernel.snapshot().notice, None);
    kernel
}

/// The cells of the tour.
fn cells(snapshot: &Snapshot) -> Vec<CellSnapshot> {
    snapshot.notebook.cells.iter().filter(|shown| shown.cell.is_own).cloned().collect()
}

fn section(snapshot: &Snapshot, title: &str) -> Option<CellSnapshot> {
    cells(snapshot).into_iter().find(|shown| shown.cell.text.starts_with(&format!("## {title}\n")))
}

/// Live numbers of a cell, in the order of its text.
fn numbers(shown: &CellSnapshot) -> Vec<f64> {
    let values = shown.live.as_ref().and_then(|live| live.values.clone()).expect("evaluated");
    let number = |value: &LiveValue| match &value.value {
        Ok(Value::Number { value, .. }) => *value,
        other => panic!("{}: {other:?}", value.source),
    };
    values.values.iter().map(number).collect()
}

/// A text on the stage.
fn on_stage(kernel: &mut Kernel, text: &str) -> Snapshot {
    kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
    let snapshot = kernel.snapshot();
    assert_eq!(snapshot.notice, None, "{text}");
    snapshot
}

fn model(snapshot: &Snapshot) -> &ModelSnapshot {
    snapshot.model.as_ref().expect("a model")
}

/// Attention weights by layer and head.
fn maps(snapshot: &Snapshot) -> Vec<Vec<&Matrix<f32>>> {
    let blocks = &model(snapshot).sentence.activations.blocks;
    blocks.iter().map(|block| block.heads.iter().map(|head| &head.weights).collect()).collect()
}

/// Keys that a query sees: after it, those that a causal model hides have no weight.
fn seen(snapshot: &Snapshot, query: usize) -> usize {
    let scores = &model(snapshot).sentence.activations.blocks[0].heads[0].scores;
    scores.row(query).iter().filter(|score| score.is_finite()).count()
}

fn is_added(token: &Token) -> bool {
    token.piece.as_ref().is_some_and(|piece| piece.is_added)
}

/// The pairs of a kind by its definition.
fn pairs(kind: &str, tokens: &[Token]) -> Vec<(usize, usize)> {
    let own: Vec<usize> = (0..tokens.len()).filter(|at| !is_added(&tokens[*at])).collect();
    // The copy is half a text before: of words that stand there more often, that one is meant.
    let half = own.len() / 2;
    let is_copy = |i: usize| own.contains(&i) && i >= own[0] + half && tokens[i].word == tokens[i - half].word;
    let all = (0..tokens.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let is_one = |(i, j): &(usize, usize)| match kind {
        "the token before" => *i == j + 1,
        "the first token" => *j == 0 && *i > 0,
        "an earlier copy of the same token" => is_copy(*i) && *j == i - half,
        "the token after an earlier copy" => is_copy(*i) && *j == i - half + 1,
        other => panic!("{other}"),
    };
    all.filter(is_one).collect()
}

const KINDS: [&str; 4] =
    ["the token before", "the first token", "an earlier copy of the same token", "the token after an earlier copy"];

/// The rows that the table of heads should have, with the even and the mean weight; and how many heads are of no kind.
fn known_heads(snapshot: &Snapshot) -> (Vec<(String, f64, f64)>, usize) {
    let tokens = &model(snapshot).sentence.tokens;
    let mut all = Vec::new();
    let mut known = BTreeSet::new();
    for kind in KINDS {
        let pairs = pairs(kind, tokens);
        let count = pairs.len() as f64;
        let even = pairs.iter().map(|(query, _)| 1.0 / seen(snapshot, *query) as f64).sum::<f64>() / count;
        let mut found = Vec::new();
        let mut number = 0;
        for (layer, heads) in maps(snapshot).iter().enumerate() {
            for (head, map) in heads.iter().enumerate() {
                number += 1;
                let mean = pairs.iter().map(|(i, j)| f64::from(map.get(*i, *j))).sum::<f64>() / count;
                if mean >= 0.3 && mean >= 2.0 * even {
                    let link = format!("[layer {}, head {}](attune:attention/{number})", layer + 1, head + 1);
                    found.push((format!("| {link} | {kind} |"), even, mean));
                    known.insert(number);
                }
            }
        }
        found.sort_by(|a, b| b.2.total_cmp(&a.2));
        all.extend(found.into_iter().take(3));
    }
    let heads = maps(snapshot).iter().map(Vec::len).sum::<usize>();
    (all, heads - known.len())
}

#[track_caller]
fn check_heads(text: Option<&str>, kernel: &mut Kernel, tour: &Snapshot) {
    let shown = section(tour, "Where the attention goes");
    let (expected, others) = text.map_or_else(Default::default, |text| known_heads(&on_stage(kernel, text)));
    assert_eq!(shown.is_some(), !expected.is_empty());
    let Some(shown) = shown else { return };
    let rows: Vec<&str> = shown.cell.text.lines().filter(|line| line.starts_with("| [layer")).collect();
    assert_eq!(rows.len(), expected.len());
    let has_copies = rows.iter().any(|row| KINDS[2..].iter().any(|kind| row.contains(kind)));
    assert_eq!(shown.cell.text.contains("no head gives that much weight to an earlier copy"), !has_copies);
    let others = match others {
        0 => "Every head of the model shows one".to_owned(),
        1 => "One head of the model shows none".to_owned(),
        others => format!("{others} heads of the model show none"),
    };
    assert!(shown.cell.text.contains(&others), "{others}: {}", shown.cell.text);
    for ((row, number), (begin, even, mean)) in rows.into_iter().zip(numbers(&shown)).zip(expected) {
        assert!(row.starts_with(&begin) && row.ends_with(&format!("| {:.0} % |", 100.0 * even)), "{row}, not {begin}");
        assert_close_beside(1.0, "as the tour says", number, mean, Tolerance::SINGLE_PASS);
    }
}

/// Sinks, with the layer in which each gets most, and its mean there.
fn known_sinks(snapshot: &Snapshot) -> Vec<(usize, usize, f64)> {
    let maps = maps(snapshot);
    let count = maps[0][0].rows();
    let scores = &model(snapshot).sentence.activations.blocks[0].heads[0].scores;
    let queries = |key: usize| (0..count).filter(move |query| scores.get(*query, key).is_finite()).collect::<Vec<_>>();
    let of_layer = |heads: &[&Matrix<f32>], key: usize| {
        let queries = queries(key);
        let sum: f64 = heads.iter().flat_map(|map| queries.iter().map(|i| f64::from(map.get(*i, key)))).sum();
        sum / (heads.len() * queries.len()) as f64
    };
    let sink = |key: usize| {
        let queries = queries(key);
        let means: Vec<f64> = maps.iter().map(|heads| of_layer(heads, key)).collect();
        let all = means.iter().sum::<f64>() / means.len() as f64;
        let even = queries.iter().map(|i| 1.0 / seen(snapshot, *i) as f64).sum::<f64>() / queries.len() as f64;
        let most = means.iter().copied().fold(0.0, f64::max);
        let layer = means.iter().position(|mean| *mean == most).expect("one of them");
        (all > 0.3 && all > 2.0 * even).then_some((key, layer, most))
    };
    (0..count).filter_map(sink).collect()
}

#[track_caller]
fn check_sinks(text: &str, kernel: &mut Kernel, tour: &Snapshot) {
    let (shown, expected) = (section(tour, "Sinks"), known_sinks(&on_stage(kernel, text)));
    assert_eq!(shown.is_some(), !expected.is_empty());
    let Some(shown) = shown else { return };
    let lines: Vec<&str> = shown.cell.text.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), expected.len());
    for ((line, number), (_, layer, mean)) in lines.into_iter().zip(numbers(&shown)).zip(expected) {
        assert!(line.ends_with(&format!("in layer {}", layer + 1)), "{line}");
        assert_close_beside(1.0, "as the tour says", number, mean, Tolerance::SINGLE_PASS);
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Vectors before the layers, and after each.
fn states(snapshot: &Snapshot) -> Vec<&Matrix<f32>> {
    let activations = &model(snapshot).sentence.activations;
    let after = activations.blocks.iter().map(|block| &*block.output);
    std::iter::once(&*activations.input).chain(after).collect()
}

#[track_caller]
fn check_words(text: &str, kernel: &mut Kernel, tour: &Snapshot) {
    let snapshot = on_stage(kernel, text);
    let (states, tokens) = (states(&snapshot), &model(&snapshot).sentence.tokens);
    let is_whole = |at: &usize| {
        let word = |at: usize| tokens.get(at).and_then(|token: &Token| token.piece.as_ref()?.word);
        let is_alone = word(*at).is_some() && word(*at) != word(at - 1) && word(*at) != word(at + 1);
        is_alone && tokens[*at].text.chars().all(char::is_alphanumeric)
    };
    let turns = (1..tokens.len()).filter(is_whole);
    let turns: Vec<f64> = turns.map(|at| cosine(states[0].row(at), states[states.len() - 1].row(at))).collect();
    let [farthest, least] = [turns.iter().copied().fold(1.0, f64::min), turns.iter().copied().fold(-1.0, f64::max)];
    let shown = section(tour, "What context changes");
    assert_eq!(shown.is_some(), least - farthest >= 0.1, "{farthest} to {least}");
    let Some(shown) = shown else { return };
    let numbers = numbers(&shown);
    assert_close_beside(1.0, "as the tour says", numbers[0], farthest, Tolerance::SINGLE_PASS);
    assert_close_beside(1.0, "as the tour says", numbers[1], least, Tolerance::SINGLE_PASS);
}

/// The vectors of a word before the layers and after each, for each of its places in a text.
fn occurrences(snapshot: &Snapshot, word: &str) -> Vec<Vec<Vec<f32>>> {
    let tokens = &model(snapshot).sentence.tokens;
    let places = (0..tokens.len()).filter(|at| tokens[*at].text.eq_ignore_ascii_case(word));
    places.map(|at| states(snapshot).iter().map(|state| state.row(at).to_vec()).collect()).collect()
}

/// The layer from which on a word's senses stay apart; `None` where they do not part.
fn parts(occurrences: &[Vec<Vec<f32>>]) -> Option<(usize, Vec<[f64; 2]>)> {
    let [a, b, c, d] = occurrences else { return None };
    let mut means = Vec::new();
    let mut layer = 0;
    for after in 0..a.len() {
        let cosine = |i: &[Vec<f32>], j: &[Vec<f32>]| cosine(&i[after], &j[after]);
        let (same, other) = ([cosine(a, c), cosine(b, d)], [cosine(a, b), cosine(a, d), cosine(b, c), cosine(c, d)]);
        // The nearest of each is the other one of its sense.
        let is_each = [(a, c, [b, d]), (c, a, [b, d]), (b, d, [a, c]), (d, b, [a, c])]
            .into_iter()
            .all(|(one, twin, others)| others.into_iter().all(|other| cosine(one, twin) > cosine(one, other)));
        let mean = [same.iter().sum::<f64>() / 2.0, other.iter().sum::<f64>() / 4.0];
        if !(is_each && mean[0] - mean[1] >= PARTED_MIN) {
            layer = after + 1;
        }
        means.push([mean[0], (other[0] + other[3]) / 2.0]);
    }
    (1..means.len()).contains(&layer).then_some((layer, means))
}

#[track_caller]
fn check_senses(kernel: &mut Kernel, tour: &Snapshot) {
    let mut found = None;
    for text in texts_of(&tour.lesson) {
        let TextPurpose::Senses(senses, told) = text.shows else { continue };
        let texts = match told {
            Told::Together => vec![&*text.text],
            Told::Apart => senses.sentences.to_vec(),
        };
        let all: Vec<_> = texts.iter().flat_map(|text| occurrences(&on_stage(kernel, text), senses.word)).collect();
        found = found.or_else(|| parts(&all).map(|parts| (texts.len(), parts)));
    }
    let shown = section(tour, "One word, two senses");
    assert_eq!(shown.is_some(), found.is_some());
    let (Some(shown), Some((texts, (layer, means)))) = (shown, found) else { return };
    let text = &shown.cell.text;
    assert!(text.contains(&format!("From layer {layer} on")), "{text}");
    assert_eq!(text.matches("(<attune:sentence/").count(), texts, "{text}");
    assert_eq!(numbers(&shown).len(), 2 * means.len());
    for (pair, mean) in numbers(&shown).chunks(2).zip(means) {
        assert_close_beside(1.0, "as the tour says", pair[0], mean[0], Tolerance::SINGLE_PASS);
        assert_close_beside(1.0, "as the tour says", pair[1], mean[1], Tolerance::SINGLE_PASS);
    }
}

#[track_caller]
fn check_answer(kernel: &mut Kernel, tour: &Snapshot) {
    let mut best: Option<(f64, String, usize)> = None;
    for text in texts_of(&tour.lesson) {
        let TextPurpose::Answer(at) = text.shows else { continue };
        let snapshot = on_stage(kernel, &text.text);
        let model = model(&snapshot);
        let at = at.place(&model.sentence.tokens).expect("a place");
        let logits = model.sentence.answers.logits.row(at);
        let most = (0..logits.len()).reduce(|best, i| if logits[i] > logits[best] { i } else { best }).expect("some");
        let sum: f64 = logits.iter().map(|logit| f64::from(logit - logits[most]).exp()).sum();
        let (probability, answer) = (1.0 / sum, model.classes[most].clone());
        let is_one = probability >= 0.3 && answer.chars().all(char::is_alphabetic);
        if is_one && best.as_ref().is_none_or(|best| probability > best.0) {
            let layers = layer_answers(&snapshot, at).expect("answers");
            let other = layers.iter().rposition(|answers| answers[0].class != most);
            best = Some((probability, answer, other.map_or(0, |last| last + 1)));
        }
    }
    let shown = section(tour, "What the model answers");
    assert_eq!(shown.is_some(), best.is_some());
    let (Some(shown), Some((probability, answer, layer))) = (shown, best) else { return };
    let text = &shown.cell.text;
    assert_close_beside(1.0, "as the tour says", numbers(&shown)[0], probability, Tolerance::SINGLE_PASS);
    let layers = model(tour).architecture.blocks.len();
    let from = match layer {
        0 => "before the first layer".to_owned(),
        layer if layer == layers => "becomes the likeliest answer only in the last layer".to_owned(),
        layer => format!("From layer {layer} of {layers} on"),
    };
    assert!(text.contains(&format!("*{answer}*")) && text.contains(&from), "{text}: {answer}, {from}");
}

/// Holds every section against plain sums; returns the headings.
#[track_caller]
fn check(folder: &Path) -> Vec<String> {
    let lesson = opened(folder);
    let tour = toured(&lesson).snapshot();
    let mut kernel = Kernel::embedded(lesson.clone());
    let texts = texts_of(&lesson);
    let of = |shows: TextPurpose| texts.iter().find(|text| text.shows == shows).map(|text| text.text.clone());
    let words = of(TextPurpose::Words).expect("a text");
    check_words(&words, &mut kernel, &tour);
    check_sinks(&words, &mut kernel, &tour);
    check_heads(of(TextPurpose::Heads).as_deref(), &mut kernel, &tour);
    check_senses(&mut kernel, &tour);
    check_answer(&mut kernel, &tour);
    let cells = cells(&tour);
    let answers = cells[0].cell.text.lines().find(|line| line.starts_with("| answers |")).expect("a row");
    assert_eq!(answers.contains("no readout"), !lesson.static_embedding.guesses_words(), "{answers}");
    for shown in &cells {
        let faults: Vec<_> =
            shown.live.iter().flat_map(|live| live.values.iter().flat_map(|values| values.faults())).collect();
        assert!(faults.is_empty(), "{faults:?}");
    }
    cells.iter().filter_map(|shown| shown.cell.text.lines().next().map(str::to_owned)).collect()
}

#[test]
fn every_section_on_the_shipped_model_is_recomputed_by_plain_sums() {
    // It has no sink. It read one sentence at a time, so that its senses are those of four texts.
    let expected = [
        "## What the model is made of",
        "## What context changes",
        "## Where the attention goes",
        "## One word, two senses",
        "## What the model answers",
        "## Try it",
    ];
    assert_eq!(check(&at("lessons/frame")), expected);
    assert_eq!(check(&at("lessons/depth")), expected);
}

/// The model that was shipped before tells two senses in four sentences.
#[test]
fn senses_are_recomputed_by_plain_sums() {
    let headings = check(&at("tests/fixtures/saved/second/lessons/depth"));
    assert!(headings.contains(&"## One word, two senses".to_owned()), "{headings:?}");
}

/// Every query asks for what the first position has, in the first layer most.
#[test]
fn a_sink_is_named_with_the_layer_in_which_it_gets_most() {
    let config = shape([8, 2, 2, 16, 32, 16]);
    let folder = Folder::new("sink");
    let entry = |tensor: TensorId, row: usize, col: usize| match tensor.name {
        TensorName::EmbeddingNormGain | TensorName::AttentionNormGain | TensorName::ForwardNormGain => 1.0,
        TensorName::Positions => f32::from((row, col) == (0, 0)),
        TensorName::KeyWeights => f32::from(row == 0),
        TensorName::QueryBias if tensor.block == 0 => 1.0,
        TensorName::QueryBias => 0.5,
        _ => 0.0,
    };
    for (name, bytes) in files(&config, Readout::Tied, entry) {
        std::fs::write(folder.join(name), bytes).expect("written");
    }
    let headings = check(&folder.join(""));
    assert!(headings.contains(&"## Sinks".to_owned()), "{headings:?}");
}

/// Their weights are random: nearly all that a tour could say is false of them.
#[test]
fn a_section_whose_claim_fails_is_left_out() {
    for name in ALL {
        let with_texts = check(&with_tokenizer(name).join(""));
        let with_ids = check(&fixture(name));
        for headings in [with_texts, with_ids] {
            assert_eq!(headings.first().map(String::as_str), Some("## What the model is made of"), "{name}");
            assert_eq!(headings.last().map(String::as_str), Some("## Try it"), "{name}");
            assert!(!headings.contains(&"## One word, two senses".to_owned()), "{name}");
        }
    }
}

fn depth() -> Arc<Lesson> {
    opened(&at("lessons/depth"))
}

#[test]
fn lessons_are_linked_by_their_titles() {
    let tour = toured(&depth()).snapshot();
    let parts = section(&tour, "What the model is made of").expect("parts").cell.text.clone();
    let links: Vec<(&str, &str)> = parts
        .split("| [")
        .skip(1)
        .map(|link| link.split_once("](attune:lesson/").expect("a link"))
        .map(|(title, rest)| (title, rest.split(')').next().expect("an id")))
        .collect();
    assert!(links.len() > 4, "{parts}");
    for (title, id) in links {
        let lesson = attune_core::lesson::read(&at("lessons").join(format!("{id}.ron"))).expect("a lesson");
        assert_eq!(lesson.title, title, "{id}");
    }
}

#[test]
fn the_title_is_the_model_s_name_and_the_first_cell_stays() {
    let snapshot = toured(&depth()).snapshot();
    assert_eq!(snapshot.lesson.title, "depth");
    let first = &snapshot.notebook.cells[0].cell;
    assert!(first.text.starts_with("# depth\n") && !first.is_own);
}

#[test]
fn numbers_stay_those_of_their_sentence_and_follow_the_weights() {
    let mut kernel = toured(&depth());
    let before = section(&kernel.snapshot(), "Where the attention goes").expect("heads");
    let snapshot = on_stage(&mut kernel, "we sat on the bank.");
    kernel.settle();
    let after = section(&kernel.snapshot(), "Where the attention goes").expect("heads");
    assert_eq!(numbers(&before), numbers(&after));
    assert!(model(&snapshot).sentence.index.is_none());
    let tensor = TensorName::QueryWeights.of_block(0);
    for row in 0..8 {
        kernel.apply(Command::Weights(WeightCommand::Set { tensor, row, col: 0, value: 30.0 }));
    }
    kernel.settle();
    let changed = section(&kernel.snapshot(), "Where the attention goes").expect("heads");
    assert_ne!(numbers(&changed), numbers(&after));
}

#[test]
fn the_cells_are_the_learner_s_own_from_then_on() {
    let lesson = depth();
    let mut kernel = toured(&lesson);
    let tour = cells(&kernel.snapshot());
    assert_eq!(kernel.snapshot().history.undo, None, "nobody asked for it, so that undo does not take it away");
    let ask = |kernel: &mut Kernel, cell: usize, command: CellCommand| {
        kernel.apply(Command::Notebook(NotebookCommand::Cell(tour[cell].cell.id.clone(), command)));
        kernel.settle();
    };
    ask(&mut kernel, 0, CellCommand::SetText("mine".into()));
    ask(&mut kernel, 1, CellCommand::Delete);
    let left = kernel.snapshot();
    let text = serde_json::to_string(&Saved::of(&left)).expect("it is written");
    let mut again = Kernel::open(lesson.clone(), Some(serde_json::from_str(&text).expect("it is read")));
    again.apply(Command::Tour);
    again.settle();
    let (left, found) = (cells(&left), cells(&again.snapshot()));
    assert!(again.snapshot().report.is_empty(), "{:?}", again.snapshot().report);
    assert_eq!(found.len(), tour.len() - 1);
    assert_eq!(&*found[0].cell.text, "mine");
    for (left, found) in left.iter().zip(&found) {
        assert_eq!((&left.cell.text, &left.cell.speaks_of), (&found.cell.text, &found.cell.speaks_of));
        assert_eq!(left.live.as_ref().map(|_| numbers(left)), found.live.as_ref().map(|_| numbers(found)));
    }
    ask(&mut again, 0, CellCommand::Reset);
    assert_eq!(cells(&again.snapshot())[0].cell.text, tour[0].cell.text, "as the tour wrote it");
    // All of it goes, and stays away, until the notebook is to be as it was at first.
    for shown in cells(&again.snapshot()) {
        again.apply(Command::Notebook(NotebookCommand::Cell(shown.cell.id.clone(), CellCommand::Delete)));
    }
    let saved = Saved::of(&again.snapshot());
    let mut empty = Kernel::open(lesson, Some(saved));
    empty.apply(Command::Tour);
    empty.settle();
    assert_eq!(cells(&empty.snapshot()).len(), 0);
    empty.apply(Command::Notebook(NotebookCommand::Reset));
    empty.settle();
    let texts = |cells: Vec<CellSnapshot>| cells.into_iter().map(|shown| shown.cell.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(cells(&empty.snapshot())), texts(tour));
}

#[test]
fn a_notebook_in_which_something_is_written_gets_no_tour_and_nor_does_a_lesson() {
    let lesson = depth();
    let mut kernel = Kernel::embedded(lesson);
    let write = CellCommand::Insert { kind: OwnKind::Code, is_above: false };
    kernel.apply(Command::Notebook(NotebookCommand::Cell("about".into(), write)));
    let before = kernel.snapshot().notebook.cells.len();
    kernel.apply(Command::Tour);
    kernel.settle();
    assert_eq!(kernel.snapshot().notebook.cells.len(), before);
    let lesson = opened(&at("lessons/layers.ron"));
    let kernel = toured(&lesson);
    assert_eq!(kernel.snapshot().notebook.cells.len(), lesson.cells.len());
}

#[test]
fn it_is_measured_in_pieces_with_progress_and_what_is_written_meanwhile_stays() {
    let mut kernel = Kernel::embedded(depth());
    kernel.apply(Command::Tour);
    let mut seen = Vec::new();
    while kernel.is_busy() {
        kernel.advance();
        seen.extend(kernel.snapshot().touring.filter(|progress| seen.last() != Some(progress)));
        if seen.len() == 2 && kernel.snapshot().history.undo.is_none() {
            let write = CellCommand::Insert { kind: OwnKind::Text, is_above: false };
            kernel.apply(Command::Notebook(NotebookCommand::Cell("about".into(), write)));
        }
    }
    let of = texts_of(&kernel.snapshot().lesson).len();
    assert_eq!(
        seen.iter().map(|progress| (progress.done, progress.of)).collect::<Vec<_>>(),
        (0..=of).map(|done| (done, of)).collect::<Vec<_>>()
    );
    assert_eq!(kernel.snapshot().touring, None);
    assert_eq!(kernel.snapshot().history.undo.as_deref(), Some("tour of the model"));
    assert!(kernel.snapshot().notebook.cells.iter().any(|shown| shown.cell.text.is_empty()), "the learner's cell");
    kernel.apply(Command::Undo);
    assert_eq!(kernel.snapshot().notebook.cells.len(), 2);
}

/// Heads of the shipped translator, counted over all layers: of the encoder, and of the decoder's two kinds of
/// attention.
const OF_ENCODER: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];
const OF_DECODER: &[usize] = &[8, 9, 10, 11, 16, 17, 18, 19];
const OF_CROSS: &[usize] = &[12, 13, 14, 15, 20, 21, 22, 23];

#[test]
fn the_shipped_translator_s_tour_is_recomputed_by_plain_sums() {
    let folder = at("lessons/translator");
    let lesson = opened(&folder);
    let tour = toured(&lesson).snapshot();
    let headings: Vec<String> =
        cells(&tour).iter().filter_map(|shown| shown.cell.text.lines().next().map(str::to_owned)).collect();
    let expected = [
        "## What the model is made of",
        "## How the target is written",
        "## Which head aligns",
        "## What each kind of attention is for",
        "## Do the words of the target come nearer to the source?",
        "## Try it",
    ];
    assert_eq!(headings, expected);
    let (mut aligned, mut same, mut places) = (vec![Vec::new(); 24], [0; 3], 0);
    let read = load(&folder, &mut |_| true).expect("a model");
    let model = read.model();
    for text in &lesson.sentences {
        let pieces = lesson.static_embedding.pretrained().expect("a model").pieces(&text[0]).expect("words");
        let source: Vec<usize> = pieces.iter().map(|piece| piece.id as usize).collect();
        let rng = &mut stream(0, Stream::Generation);
        let target =
            model.generate(&read.parameters, &[], Some(&source), 60, NextWordChoice::Greedy, rng).expect("words");
        let target = [vec![model.rules().start.expect("a start")], target].concat();
        let pass = |off: &[usize]| {
            let mode = |head| if off.contains(&head) { HeadMode::Off } else { HeadMode::Live };
            let heads = Interventions { heads: (0..24).map(mode).collect(), ..Interventions::default() };
            let of = Some(&Sequences::one(&source));
            Activations::of(&model, &read.parameters, &Sequences::one(&target), of, &heads)
        };
        let whole = pass(&[]);
        let heads: Vec<_> = whole.heads().collect();
        let shares = |head: usize, query: usize| heads[head].weights.row(query);
        let words = source.len() - 1;
        let looked_at = |query: usize| {
            let all = |key: usize| OF_CROSS.iter().map(|&head| shares(head, query)[key]).sum::<f32>();
            (0..words).max_by(|&a, &b| all(a).total_cmp(&all(b))).expect("words")
        };
        for &head in OF_CROSS {
            let sum: f64 = (0..target.len()).map(|query| f64::from(shares(head, query)[looked_at(query)])).sum();
            aligned[head].push(sum / target.len() as f64);
        }
        let said = |pass: &Activations<f32>| -> Vec<usize> {
            let logits = model.logits_of(&read.parameters, &pass.output);
            let best = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("words");
            (0..target.len()).map(|place| best(logits.row(place))).collect()
        };
        let right = said(&whole);
        places += target.len();
        for (same, off) in same.iter_mut().zip([OF_ENCODER, OF_DECODER, OF_CROSS]) {
            *same += said(&pass(off)).iter().zip(&right).filter(|(a, b)| a == b).count();
        }
    }
    let mean = |head: &usize| aligned[*head].iter().sum::<f64>() / aligned[*head].len() as f64;
    let best = OF_CROSS.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).expect("heads");
    let text = section(&tour, "Which head aligns").expect("a section").cell.text.clone();
    let says = format!("(attune:attention/{}) | {:.0} % |", best + 1, 100.0 * mean(best));
    assert!(text.contains(&says), "{text}: {says}");
    assert!(text.contains("the largest share of its weight is layer 2, cross-attention, head"), "{text}");
    let text = section(&tour, "What each kind of attention is for").expect("a section").cell.text.clone();
    for (kind, same) in
        ["the encoder's self-attention", "the decoder's self-attention", "cross-attention"].iter().zip(same)
    {
        let says = format!("| {kind} | {:.0} % of {places} |", 100.0 * same as f64 / places as f64);
        assert!(text.contains(&says), "{text}: {says}");
    }
    let last = cells(&tour).pop().expect("tasks").cell.text.to_string();
    assert_eq!(last.lines().filter(|line| line.contains("**")).count(), 4, "{last}");
}
