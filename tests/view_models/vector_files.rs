//! Words near a word or a sum of words, among those of a file.

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::read;
use attune_engine::vectors::answers::Measure;
use attune_view::view_model::Models;
use attune_view::view_model::meaning::NearExpression;

use crate::common::top::at;

#[test]
fn a_sum_of_words_has_neighbours_with_its_own_words_and_without() {
    let lesson = read(&at("tests/fixtures/vectors/plain.bin")).expect("no issues");
    let models = Models::of(Arc::new(Kernel::trained(Arc::new(lesson)).snapshot()));
    let near =
        |text: &str, with_own| models.of_choice::<NearExpression>(&(text.to_owned(), with_own)).expect("a space");
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
