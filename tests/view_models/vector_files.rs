//! Words near a word or a sum of words, among those of a file.

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::read;
use attune_engine::vectors::answers::Measure;
use attune_view::view_model::Models;
use attune_view::view_model::meaning::NearExpression;
use serde_json::Value;

use crate::common::top::{at, text};

#[test]
fn a_sum_of_words_has_the_neighbours_that_gensim_gives() {
    let lesson = read(&at("tests/fixtures/vectors/plain.bin")).expect("no issues");
    let models = Models::of(Arc::new(Kernel::trained(Arc::new(lesson)).snapshot()));
    let answers: Value = serde_json::from_str(&text("tests/fixtures/vectors/answers.json")).expect("JSON");
    let near =
        |text: &str, with_own| models.of_choice::<NearExpression>(&(text.to_owned(), with_own)).expect("a space");
    let found = near("king - man + woman", false);
    let wanted = answers["king - man + woman"].as_array().expect("neighbours");
    for (found, wanted) in found.words.by(Measure::Cosine).iter().zip(wanted) {
        assert_eq!(found.word, wanted[0].as_str().expect("a word"));
        assert!((f64::from(found.cosine) - wanted[1].as_f64().expect("a cosine")).abs() < 1e-6);
    }
    let own = ["king", "man", "woman"];
    let is_own = |measure, with_own| {
        let found = near("king - man + woman", with_own);
        found.words.by(measure).iter().any(|near| own.contains(&near.word.as_str()))
    };
    for measure in [Measure::Cosine, Measure::Distance] {
        assert!(is_own(measure, true) && !is_own(measure, false), "{measure:?}");
    }
    let fault = near("king - wom", false).fault.clone();
    assert_eq!(fault.as_deref(), Some("\"wom\" is not among the 12 words; did you mean \"woman\"?"));
}
