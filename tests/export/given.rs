//! The page of one pass whose numbers are given: a model that does not fit into a page, or whose tokenizer no page has.
//! Its numbers are the program's.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::export::{Pictures, live_page};
use attune_view::view_model::grid::PatchMap;
use attune_view::view_model::stage::StageModel;
use serde_json::{Value, json};

use crate::common::chromium::ask;
use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;
use crate::common::recorded::recording_of;
use crate::common::top::at;
use crate::web::{SIZE, TELEPHONE, as_web};

/// A model whose tokenizer no page has: three layers of three heads.
static MODEL: LazyLock<Snapshot> = LazyLock::new(|| {
    let lesson = lesson::read(&at("tests/fixtures/pretrained/gpt2-wild")).unwrap_or_else(|issues| panic!("{issues:?}"));
    Kernel::embedded(Arc::new(lesson)).snapshot()
});

/// What a page shows of a head: the weights of its map, its arcs, the line about it, and where the points are.
const SHOWN: &str = "
    const all = (selector) => [...document.querySelectorAll(selector)];
    document.getElementById('tab-attention').click();
    return {
        weights: all('#panel-attention .map tbody tr').map((row) => [...row.querySelectorAll('td')].map((cell) => cell.title)),
        maps: all('#panel-maps button').length,
        layers: all('#panel-maps span').map((name) => name.textContent),
        result: document.getElementById('lab-result').textContent,
        link: document.getElementById('lab-link').getAttribute('href'),
        moment: document.getElementById('time-said').textContent,
        words: all('#lab-sentence .words button').map((word) => word.textContent),
        arcs: all('.arcs path').length,
        wide: document.documentElement.scrollWidth,
    };";

/// What a page shows of patches and of answers: the size of the picture, how much of its red each patch keeps in its
/// middle, and the line of answers.
const PATCHES: &str = "
    const [canvas, answers] = ['lab-patches', 'lab-answers'].map((id) => document.getElementById(id));
    const { grid } = JSON.parse(document.getElementById('attune-data').textContent);
    const kept = () => {
        const pixels = atob(grid.picture.pixels);
        const [width, height] = [canvas.width / grid.columns, canvas.height / grid.rows];
        const ground = (() => { const all = canvas.getContext('2d'); return (x, y) => all.getImageData(x, y, 1, 1).data; })();
        const paper = getComputedStyle(document.documentElement).getPropertyValue('--raised').trim();
        const cover = [1, 3, 5].map((at) => parseInt(paper.slice(at, at + 2), 16));
        return grid.tokens.map((_, at) => {
            const [x, y] = [Math.floor((at % grid.columns + 0.5) * width), Math.floor((Math.floor(at / grid.columns) + 0.5) * height)];
            const own = [0, 1, 2].map((part) => pixels.charCodeAt(4 * (y * canvas.width + x) + part));
            const part = [0, 1, 2].reduce((best, part) => Math.abs(own[part] - cover[part]) > Math.abs(own[best] - cover[best]) ? part : best, 0);
            return (ground(x, y)[part] - cover[part]) / (own[part] - cover[part]);
        });
    };
    return {
        size: canvas.hidden ? null : [canvas.width, canvas.height],
        answers: answers.hidden ? null : answers.textContent,
        kept: grid && kept(),
    };";

/// The arrows of heads in a page's data: of each block its shape and its numbers.
const ARROWS: &str = "
    const { blocks } = JSON.parse(document.getElementById('attune-data').textContent);
    const { Data } = window.eval('({ Data })');
    return { blocks: blocks.map(({ shape, arrows }) => ({ shape, arrows: arrows && [...Data.numbers(arrows)] })) };";

fn page(address: &str, size: (u32, u32)) -> Option<Value> {
    asked(&MODEL, address, size)
}

fn asked(snapshot: &Snapshot, address: &str, size: (u32, u32)) -> Option<Value> {
    let answers = ask(&[("page.html", &as_web(snapshot))], &[format!("page.html{address}")], SHOWN, size)?;
    answers.into_iter().next()
}

fn recorded(path: &Path) -> Snapshot {
    let lesson = lesson::read(path).unwrap_or_else(|issues| panic!("{issues:?}"));
    Kernel::embedded(Arc::new(lesson)).snapshot()
}

#[test]
fn the_page_of_a_model_that_does_not_fit_has_the_numbers_of_its_pass() {
    let head = 5;
    let Some(shown) = page(&format!("#head={head}&word=4&key=1&walk=13"), SIZE) else { return };
    let model = MODEL.model.as_ref().expect("a model");
    let blocks = model.architecture.blocks.len();
    let weights = &model.sentence.activations.heads().nth(head).expect("a head").weights;
    let rows = shown["weights"].as_array().unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(rows.len(), weights.rows(), "{shown}");
    for (query, row) in rows.iter().enumerate() {
        for (key, title) in row.as_array().expect("a row").iter().enumerate() {
            let said = title.as_str().expect("a title");
            let weight = weights.get(query, key);
            let is_hidden = said.contains("does not see");
            let told = said.rsplit(": ").next().and_then(|number| number.parse::<f32>().ok());
            if key > query {
                assert!(is_hidden, "{said}");
            } else {
                assert_close_beside(1.0, said, told.expect("a number"), weight, Tolerance::SINGLE_SUMS);
            }
        }
    }
    assert_eq!(shown["maps"], json!(model.architecture.heads()));
    assert_eq!(shown["layers"].as_array().map(Vec::len), Some(blocks));
    assert_eq!(shown["words"].as_array().map(Vec::len), Some(model.sentence.tokens.len()));
    assert!(shown["arcs"].as_u64().is_some_and(|arcs| arcs > 0), "{shown}");
    // The moment that the address names: the last head of layer 2, when its lines are drawn.
    let weight = format!("{:.3}", weights.get(4, 1));
    assert!(shown["result"].as_str().is_some_and(|said| said.ends_with(&weight)), "{shown} {weight}");
    assert_eq!(shown["link"], "#walk=13&word=4&head=5&key=1");
    assert!(shown["moment"].as_str().is_some_and(|said| said.ends_with("where each token looks")), "{shown}");
}

#[test]
fn an_address_of_nowhere_shows_the_page_as_it_is() {
    for address in ["#head=999&word=-1&key=x&walk=1e9", "#walk=3.5", "#%", "#theme=green&tab=weights"] {
        let Some(shown) = page(address, TELEPHONE) else { return };
        assert!(shown["fault"].is_null(), "{address}: {shown}");
        assert!(
            shown["wide"].as_u64().is_some_and(|wide| wide <= u64::from(TELEPHONE.0)),
            "{address}: {}",
            shown["wide"]
        );
    }
}

#[test]
fn the_page_says_what_it_is_and_has_no_model() {
    let page = as_web(&MODEL);
    assert!(page.contains("shows the numbers of one pass and computes nothing"), "it says so");
    assert!(!page.contains("tab-weights") && !page.contains("lab-temperature"), "nothing can be changed");
    // The fonts, the scripts, and nine heads of a few tokens.
    assert!(page.len() < 400_000, "{} bytes", page.len());
}

#[test]
fn the_page_of_a_recording_has_its_weights_and_its_points_where_there_are_any() {
    // Layers, heads, whether there are points, and tokens.
    let cases = [
        ("bert", 3, 9, true, 12),
        ("attention-only", 4, 12, false, 8),
        ("t5", 8, 24, true, 6),
        ("vit", 3, 9, true, 26),
    ];
    for (folder, layers, heads, has_points, tokens) in cases {
        let snapshot = recorded(&at("tests/fixtures/recordings").join(folder).join("run.safetensors"));
        let Some(shown) = asked(&snapshot, "#word=3&head=1", SIZE) else { return };
        assert!(shown["fault"].is_null(), "{folder}: {shown}");
        assert_eq!(
            (&shown["maps"], shown["layers"].as_array().map(Vec::len)),
            (&json!(heads), Some(layers)),
            "{folder}"
        );
        assert_eq!(!shown["moment"].as_str().expect("a text").is_empty(), has_points, "{folder}: {shown}");
        assert!(shown["words"].as_array().is_some_and(|words| words.len() >= tokens), "{folder}: {}", shown["words"]);
        let weights = &snapshot.model.expect("a model").sentence.activations.blocks[0].heads[1].weights;
        let rows = shown["weights"].as_array().expect("rows");
        assert_eq!(rows.len(), weights.rows(), "{folder}");
        let said = rows[3][0].as_str().expect("a title").rsplit(": ").next().expect("a number").parse::<f32>();
        assert_close_beside(1.0, folder, said.expect("a number"), weights.get(3, 0), Tolerance::SINGLE_SUMS);
    }
}

#[test]
fn the_arrows_of_heads_on_the_page_of_a_recording_are_those_of_the_program() {
    for folder in ["bert", "llama-gqa", "t5", "vit", "attention-only"] {
        let snapshot = Arc::new(recorded(&at("tests/fixtures/recordings").join(folder).join("run.safetensors")));
        let page = as_web(&snapshot).replace("script-src ", "script-src 'unsafe-eval' ");
        let Some(page) = ask(&[("page.html", &page)], &["page.html".to_owned()], ARROWS, SIZE) else {
            return;
        };
        let (architecture, radius) = (
            &snapshot.model.as_ref().expect("a model").architecture,
            StageModel::of(&snapshot).expect("a stage").radius,
        );
        for (block, data) in page[0]["blocks"].as_array().unwrap_or_else(|| panic!("{page:?}")).iter().enumerate() {
            let heads = architecture.heads_of(block);
            let Some(numbers) = data["arrows"].as_array() else {
                assert_eq!(folder, "attention-only", "{data}");
                continue;
            };
            let queries = data["shape"][1].as_u64().expect("a number") as usize;
            assert_eq!(numbers.len(), heads.len() * queries * 3, "{folder}");
            let pairs = heads.flat_map(|head| (0..queries).map(move |query| (head, query)));
            for ((head, query), of_page) in pairs.zip(numbers.chunks_exact(3)) {
                let path = PathModel::of(&snapshot, query, head, ArrowParts::Head).expect("a path");
                let arrow = path.arrows.iter().find(|arrow| arrow.head == Some(head)).expect("an arrow");
                for axis in 0..3 {
                    let own = (arrow.to[axis] - arrow.from[axis]) / radius;
                    let of_page = of_page[axis].as_f64().expect("a number") as f32;
                    let what = format!("{folder}, head {head}, query {query}");
                    assert_close_beside(1.0, what, of_page, own, Tolerance::SINGLE_SUMS);
                }
            }
        }
    }
}

/// A recording with as many layers and heads of as many tokens, with hidden states.
fn made(layers: usize, heads: usize, tokens: usize) -> (Folder, PathBuf) {
    const WIDTH: usize = 8;
    let weights = vec![(tokens as f32).recip(); heads * tokens * tokens];
    let states: Vec<f32> = (0..tokens * WIDTH).map(|at| (at as f32).sin()).collect();
    let (of_weights, of_states) = ([heads, tokens, tokens], [tokens, WIDTH]);
    let names: Vec<[String; 2]> =
        (0..=layers).map(|layer| ["attentions", "hidden_states"].map(|part| format!("{part}.{layer}"))).collect();
    let attentions = names[..layers].iter().map(|[name, _]| (&name[..], &of_weights[..], weights.clone()));
    let states = names.iter().map(|[_, name]| (&name[..], &of_states[..], states.clone()));
    recording_of(tokens, &[], &attentions.chain(states).collect::<Vec<_>>())
}

#[test]
fn a_page_of_144_heads_at_32_tokens_is_small() {
    let (_folder, path) = made(12, 12, 32);
    let page = as_web(&recorded(&path));
    assert!(page.contains("recorded by another program") && !page.contains("computed by attune"), "whose numbers");
    assert!(page.len() <= 3_000_000, "{} bytes", page.len());
}

#[test]
fn what_does_not_fit_into_a_page_is_said_on_it() {
    // 32 heads of 128 tokens are 524,288 numbers: five layers fit.
    let (_folder, path) = made(7, 32, 200);
    let page = as_web(&recorded(&path));
    assert!(page.contains("It shows the tokens 1 to 128 of 200."), "a stretch");
    let senses = as_web(&recorded(&at("tests/fixtures/recordings/senses/run.safetensors")));
    assert!(senses.contains("It shows text 1 of 3."), "one of the texts");
    assert!(page.contains("The last 2 attentions did not fit and were left out"), "the first five");
}

#[test]
fn a_weight_of_0_is_no_hidden_key_where_small_weights_were_left_out() {
    let weights = || vec![1.0, 0.0, 0.5, 0.5];
    // Whether the rows are partial, and a mask was recorded.
    for (is_partial, has_mask, is_hidden) in
        [(false, false, true), (true, false, false), (true, true, true), (false, true, true)]
    {
        let entries: &[(&str, &str)] = if is_partial { &[("rows", "partial")] } else { &[] };
        let mut tensors = vec![("attentions.0", &[1, 2, 2][..], weights())];
        if has_mask {
            tensors.push(("mask.0", &[2, 2], vec![1.0, 0.0, 1.0, 1.0]));
        }
        let (_folder, path) = recording_of(2, entries, &tensors);
        let Some(shown) = asked(&recorded(&path), "", SIZE) else { return };
        let said = shown["weights"][0][1].as_str().expect("a title");
        assert_eq!(said.contains("does not see"), is_hidden, "{is_partial}, {has_mask}: {said}");
    }
}

#[test]
fn a_recording_whose_first_attention_does_not_fit_is_not_called_computed() {
    const TOKENS: usize = 128;
    let heads = 3_000_000 / (TOKENS * TOKENS) + 1;
    let (_folder, path) = made(1, heads, TOKENS);
    let mut page = Vec::new();
    let is_live = live_page::write(&recorded(&path), None, &Pictures::default(), None, &mut page);
    assert!(!is_live.expect("it is written"), "there is nothing to show");
    let page = String::from_utf8(page).expect("text");
    assert!(page.contains("has more numbers than a page holds"), "why there is none");
    assert!(!page.contains("attune computed"), "whose numbers");
}

#[test]
fn the_page_of_a_recording_has_its_answers_and_the_patches_of_its_picture() {
    let shown = |folder: &str, address: &str| {
        let snapshot = recorded(&at("tests/fixtures/recordings").join(folder).join("run.safetensors"));
        let answers = ask(&[("page.html", &as_web(&snapshot))], &[format!("page.html{address}")], PATCHES, SIZE)?;
        Some((snapshot, answers.into_iter().next()?))
    };
    let Some((snapshot, page)) = shown("picture", "#head=1&word=8") else { return };
    assert_eq!((&page["size"], &page["answers"]), (&json!([48, 32]), &json!(null)));
    let map = PatchMap::of(&snapshot, (8, 1)).expect("a map");
    let shares: Vec<f32> = map.weights.iter().map(|weight| weight / map.largest).collect();
    // Where the patch looks most, the picture is as it was recorded; where it does not look, it is nearly covered.
    let kept: Vec<f64> = page["kept"].as_array().expect("patches").iter().filter_map(Value::as_f64).collect();
    let [most, least] = [f32::max, f32::min].map(|of| shares.iter().copied().reduce(of).expect("patches"));
    let place = |of: f32| shares.iter().position(|share| *share == of).expect("a patch");
    assert!(kept[place(most)] > 0.95 && kept[place(least)] < 0.5, "{kept:?} of {shares:?}");
    let (snapshot, page) = shown("bert", "#word=4").expect("a browser");
    let best = &snapshot.model.as_ref().expect("a model").sentence.answers.likeliest[4][0];
    let first = format!("Answers: “{}” {:.0} %", best.class, (100.0 * best.probability).round());
    assert!(page["answers"].as_str().expect("answers").starts_with(&first), "{page} {first}");
    assert_eq!(page["size"], json!(null));
}
