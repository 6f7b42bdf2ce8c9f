//! Models whose tokenizer makes no sentence that they read: they begin with token ids, and say why.

use attune_core::kernel::command::{AxisCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::limits::pieces_max;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::model::Readout;
use attune_engine::pretrained::config::architecture;
use attune_engine::pretrained::config::{Config, Plain};
use serde_json::Value;

use crate::common::models::{adding, shape, without_words, zeros};
use crate::common::resaved::{open, saved};
use crate::common::top::at;
use crate::opened::opened;

const SMALL: [usize; 6] = [8, 2, 2, 8, 512, 20];

/// Each with the words that say why.
fn models() -> [(Config, Value, &'static str); 3] {
    let two_positions = [8, 2, 2, 8, 2, 20];
    [
        (shape(SMALL), without_words(), "it can read neither common English words nor those of its own vocabulary"),
        (shape(SMALL), adding(192), "it adds 192 pieces to every text, but the model reads at most 128"),
        (shape(two_positions), adding(3), "it adds 3 pieces to every text, but the model reads at most 2"),
    ]
}

#[test]
fn they_open_with_token_ids_and_say_why() {
    for (config, tokenizer, why) in models() {
        let folder = zeros(&config, Some(&tokenizer));
        let lesson = opened(&folder.0);
        let told = lesson.why_no_sentence().expect("there is none");
        assert!(told.contains(why), "{told}");
        let notes = lesson.cells[0].kind.markdown().map(|text| &**text).collect::<String>();
        assert!(notes.contains(why), "{notes}");
        let mut kernel = Kernel::embedded(lesson);
        let shown = |kernel: &Kernel| kernel.snapshot().model.expect("a model").sentence;
        let count = config.positions().min(6);
        assert_eq!(shown(&kernel).tokens.len(), count, "{why}");
        kernel.apply(Command::Sentence(SentenceCommand::Ids(vec![3, 2])));
        assert_eq!(kernel.snapshot().notice, None);
        let words: Vec<_> = shown(&kernel).tokens.iter().map(|token| token.word).collect();
        assert_eq!(words, [Some(3), Some(2)]);
        for ids in [vec![3, 2], vec![3]] {
            kernel.apply(Command::Sentence(SentenceCommand::Ids(ids)));
            let again = open(kernel.snapshot().lesson, saved(&kernel));
            assert_eq!(again.snapshot().report[..], [""; 0], "{why}");
            assert_eq!(shown(&again).tokens, shown(&kernel).tokens, "{why}");
        }
        kernel.apply(Command::Sentence(SentenceCommand::Set("She sat on the bank.".to_owned())));
        assert!(kernel.snapshot().notice.is_some(), "{why}: it cannot be read");
        kernel.apply(Command::Sentence(SentenceCommand::Select(0)));
        assert!(kernel.snapshot().notice.is_some(), "{why}: there is none");
    }
}

/// A BERT of width, layers, heads and hidden units.
fn large([width, layers, heads, hidden]: [usize; 4], vocabulary: usize) -> Config {
    let small = shape(SMALL);
    let (norm, norm_epsilon, activation, mask) = (Norm::Post, 1e-12, Activation::Gelu, Mask::None);
    let (positions, readout) = (small.positions(), Readout::Tied);
    let shape =
        Plain { width, layers, heads, hidden, positions, norm, norm_epsilon, activation, mask, types: 1, readout };
    Config { vocabulary, architecture: shape.architecture(), ..small }
}

/// The memory and the time of a sentence are in measure with the model.
#[test]
fn a_sentence_is_bounded_only_where_its_model_is_small() {
    let most = |config: &Config| pieces_max(&architecture(config, Readout::Tied), config.vocabulary);
    let usual = [
        ("BERT-base", shape([768, 12, 12, 3072, 512, 30_522])),
        ("BERT-large", shape([1024, 24, 16, 4096, 512, 30_522])),
        ("GPT-2", shape([768, 12, 12, 3072, 1024, 50_257])),
        ("MiniLM", shape([384, 6, 12, 1536, 512, 30_522])),
        // Larger than what is opened.
        ("600 million", large([1024, 28, 16, 3072], 151_936)),
        ("a billion", large([2048, 24, 16, 8192], 128_256)),
    ];
    for (name, config) in usual {
        assert_eq!(most(&config), 128, "{name}");
    }
    for sizes in [[32, 128, 32, 1, 128, 20], [128, 128, 128, 1, 128, 20], [256, 8, 256, 1, 128, 20]] {
        assert!((2..100).contains(&most(&shape(sizes))), "{sizes:?}: {}", most(&shape(sizes)));
    }
}

/// Returns the names of the ends of the first axis.
fn ends(kernel: &Kernel) -> Vec<String> {
    let space = kernel.snapshot().space.expect("a space");
    let meaning = space.basis.meaning().expect("an axis with a meaning");
    meaning.ends.iter().map(|end| end.name.clone()).collect()
}

/// The two likeliest answers for a hidden word are the ends, if the model's answer is a word of the sentence.
#[test]
fn the_candidates_of_a_hidden_word_are_the_ends_of_the_first_axis() {
    // The older encoder finds another word of the sentence likelier than the second noun.
    for (path, expected) in [("lessons/depth", ["trophy", "suitcase"]), ("lessons/frame", ["trophy", "fit"])] {
        let lesson = opened(&at(path));
        assert!(lesson.sentences[0][0].contains("[MASK] was too big"), "{path}: {:?}", lesson.sentences);
        let mut kernel = Kernel::embedded(lesson);
        assert_eq!(ends(&kernel), expected, "{path}");
        // Here the answer is a verb that the sentence does not have.
        let text = "the dogs that the king saw in the garden [MASK] tired.".to_owned();
        kernel.apply(Command::Sentence(SentenceCommand::Set(text)));
        kernel.apply(Command::Axes(AxisCommand::Refit));
        assert!(ends(&kernel).iter().all(|end| !expected.contains(&&**end)), "{path}: {:?}", ends(&kernel));
    }
}

/// The first axis is never named after words that the sentence does not have, if the sentence has two that say
/// something. Until then, the axes stay, so that an edited sentence is compared in the same picture.
#[test]
fn a_wholly_new_sentence_gets_axes_of_its_own() {
    let lesson = opened(&at("lessons/depth"));
    let first = lesson.sentences[0].join(" ");
    let mut kernel = Kernel::embedded(lesson);
    let set = |kernel: &mut Kernel, text: &str| {
        kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
        assert_eq!(kernel.snapshot().notice, None, "{text}");
        ends(kernel)
    };
    let own = ends(&kernel);
    assert_eq!(set(&mut kernel, &first.replace("big", "small")), own, "an edit");
    let text = "the dogs liked the king in the garden.";
    kernel.apply(Command::Sentence(SentenceCommand::Type(text.to_owned())));
    assert_eq!(ends(&kernel), own, "not finished");
    let new = set(&mut kernel, text);
    assert!(new.iter().all(|end| text.contains(&**end)), "{new:?}");
    let kept = saved(&kernel);
    assert_eq!(ends(&open(kernel.snapshot().lesson, kept)), new);
    kernel.apply(Command::Undo);
    assert_eq!(ends(&kernel), own, "undone");
    let kept = saved(&kernel);
    assert_eq!(ends(&open(kernel.snapshot().lesson, kept)), own, "saved as it is");
    assert_eq!(set(&mut kernel, text), new);
    assert_eq!(set(&mut kernel, &first), own, "the lesson's words again");
}
