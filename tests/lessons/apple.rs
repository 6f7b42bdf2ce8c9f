//! The main lesson keeps its promise, whatever the seed.

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::claims::verify;

use crate::common::lessons::of_file;

#[test]
fn apple_holds_for_seeds_1_to_10() {
    let lesson = of_file("lessons/apple.ron");
    assert!(lesson.probes.len() >= 20);
    for seed in 1..=10 {
        let mut lesson = lesson.clone();
        lesson.seed = seed;
        let seen = attune_core::lesson::corpus::generate(&lesson.corpus, &lesson.groups, seed);
        for probe in &lesson.probes {
            assert!(!seen.contains(&probe.sentence), "seed {seed}: training sees {:?}", probe.sentence.join(" "));
        }
        let verdicts = verify(&Kernel::trained(Arc::new(lesson)).snapshot()).expect("a trained model");
        for id in ["contextual", "margin", "static", "apple1", "apple2", "mixture", "sum"] {
            assert!(verdicts.iter().any(|verdict| verdict.id == id), "the claim {id:?} is gone");
        }
        for verdict in verdicts {
            assert!(verdict.holds(), "seed {seed}: {verdict:?}");
        }
    }
}
