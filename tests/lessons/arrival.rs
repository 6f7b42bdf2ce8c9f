//! The picture and the claim agree: words of several senses end at their sense, whatever the seed, also in sentences
//! that no lesson shows; and the words that nothing asks to move rest.

use std::sync::Arc;

use attune_core::kernel::check::claims::{WordPlaces, verify};
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Lesson;
use attune_core::lesson::corpus::generate;
use attune_core::lesson::schema::Probe;
use attune_engine::numerics::vectors::distance;

use crate::common::lessons::of_file;

/// Sentences of words that the lesson knows; it shows none of them.
const OF_APPLE: [(&str, usize, &str); 10] = [
    ("she sliced an apple and a pear for the salad", 3, "fruit"),
    ("one apple was in the basket", 1, "fruit"),
    ("i was washing the apple in the bowl", 4, "fruit"),
    ("they drank apple juice in the garden", 2, "fruit"),
    ("the apple was juicy while apple shares fell", 1, "fruit"),
    ("the apple was juicy while apple shares fell", 5, "company"),
    ("customers like the apple laptop", 3, "company"),
    ("managers of apple read the report", 2, "company"),
    ("the boss at apple released a phone", 3, "company"),
    ("a patent on the apple chip", 4, "company"),
];
const OF_BANK: [(&str, usize, &str); 8] = [
    ("the clerk counts the savings of the bank", 7, "finance"),
    ("i borrow cash at the bank", 5, "finance"),
    ("ask the bank to invest the money", 2, "finance"),
    ("the honest bank pays the cheque", 2, "finance"),
    ("a duck sat on the bank", 5, "waterside"),
    ("the bank of the stream was sandy", 1, "waterside"),
    ("the river flows to the bank", 5, "waterside"),
    ("a heron lay on the bank", 5, "waterside"),
];
/// The least share of the sentences above, over all seeds.
const ARRIVED_LEAST: f64 = 0.95;
/// How far words that rest end from their static vectors on average, in mean static lengths.
const DRIFT_MOST: f32 = 0.15;

/// Whether the token arrives, and how far each word that rests ends from its place.
fn ends(kernel: &mut Kernel, (sentence, at, sense): (&str, usize, &str)) -> (bool, Vec<f32>) {
    kernel.apply(Command::Sentence(SentenceCommand::Set(sentence.to_owned())));
    let snapshot = kernel.snapshot();
    assert_eq!(snapshot.notice, None, "{sentence}");
    let (model, space) = (snapshot.model.expect("a model"), snapshot.space.expect("a space"));
    let places = WordPlaces::of(&snapshot.lesson, &space);
    let words: Vec<String> = sentence.split(' ').map(str::to_owned).collect();
    let probe = Probe { sentence: words.clone(), word: words[at].clone(), sense: sense.to_owned() };
    let output = &model.sentence.activations.output;
    let arrival = places.arrival(&probe, output.row(at)).expect("a group");
    let drift = |other: usize| {
        distance(output.row(other), &places.word(&words[other]).expect("a known word")) / places.mean_length()
    };
    (arrival.has_arrived(), places.resting(&words).map(drift).collect())
}

/// The claims of a lesson hold; `attune check` knows one seed.
fn check_claims(kernel: &Kernel) {
    let snapshot = kernel.snapshot();
    for verdict in verify(&snapshot).expect("a trained model") {
        assert!(verdict.holds(), "{}, seed {}: {verdict:?}", snapshot.lesson.id, snapshot.lesson.seed);
    }
}

#[test]
fn words_end_at_their_sense_and_others_rest_and_their_lessons_hold_for_seeds_1_to_10() {
    for (name, sentences) in [("apple", &OF_APPLE[..]), ("bank", &OF_BANK)] {
        let lesson = of_file(format!("lessons/{name}.ron"));
        let (mut arrived, mut drifts) = (Vec::new(), Vec::new());
        for seed in 1..=10 {
            let mut kernel = Kernel::trained(Arc::new(Lesson { seed, ..lesson.clone() }));
            check_claims(&kernel);
            for &asked in sentences {
                let (is_there, drift) = ends(&mut kernel, asked);
                arrived.push(is_there);
                drifts.extend(drift);
            }
        }
        let share = arrived.iter().filter(|is_there| **is_there).count() as f64 / arrived.len() as f64;
        assert!(share >= ARRIVED_LEAST, "{name}: {share} arrived");
        let mean = drifts.iter().sum::<f32>() / drifts.len() as f32;
        assert!(mean <= DRIFT_MOST, "{name}: words that rest drift by {mean}");
    }
}

#[test]
fn other_lessons_hold_for_seeds_1_to_10() {
    let names = "it masks idiom heads cross_attention the_transformer now block gradient memory assistant";
    for name in names.split(' ') {
        let lesson = of_file(format!("lessons/{name}.ron"));
        (1..=10).for_each(|seed| check_claims(&Kernel::trained(Arc::new(Lesson { seed, ..lesson.clone() }))));
    }
}

/// The main lesson asks about sentences that training never saw.
#[test]
fn apple_asks_about_sentences_of_its_own() {
    let lesson = of_file("lessons/apple.ron");
    assert!(lesson.probes.len() >= 20);
    for id in ["contextual", "margin", "static", "apple1", "apple2", "mixture", "sum"] {
        assert!(lesson.claims.iter().any(|claim| claim.id == id), "the claim {id:?} is gone");
    }
    for seed in 1..=10 {
        let seen = generate(&lesson.corpus, &lesson.groups, seed);
        for probe in &lesson.probes {
            assert!(!seen.contains(&probe.sentence), "seed {seed}: training sees {:?}", probe.sentence.join(" "));
        }
    }
}

/// Without what makes them arrive, the same words fly past their senses: the measure can fail.
#[test]
fn without_distances_in_the_loss_nothing_arrives() {
    let mut lesson = of_file("lessons/apple.ron");
    lesson.model.costs = Default::default();
    let mut kernel = Kernel::trained(Arc::new(lesson));
    let arrived = OF_APPLE.iter().filter(|asked| ends(&mut kernel, **asked).0).count();
    assert!(arrived <= OF_APPLE.len() / 2, "{arrived} arrived");
}
