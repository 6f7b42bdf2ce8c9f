//! The page of one pass whose numbers are given: a model that does not fit into a page, or whose tokenizer no page has. Its
//! numbers are the program's.

use std::sync::{Arc, LazyLock};

use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson;
use serde_json::{Value, json};

use crate::common::chromium::ask;
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

fn page(address: &str, size: (u32, u32)) -> Option<Value> {
    let answers = ask(&[("page.html", &as_web(&MODEL))], &[format!("page.html{address}")], SHOWN, size)?;
    answers.into_iter().next()
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
            assert!(
                if key > query { is_hidden } else { told.is_some_and(|told| (told - weight).abs() < 1e-4) },
                "{said}: {weight}"
            );
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
