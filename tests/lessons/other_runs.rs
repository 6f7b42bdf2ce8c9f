//! What the course says of trainings that its lessons do not run: without a mask, with another number of heads, without
//! planted weights, with other positions. For each of the seeds that the texts name.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

use attune_core::kernel::Kernel;
use attune_core::kernel::check::claims::{verify, verify_switched};
use attune_core::lesson::parse;

use crate::common::top::text;

const SEEDS: RangeInclusive<u64> = 1..=10;

/// A lesson of the course with other settings, and without its notebook.
struct Variant(String);

impl Variant {
    fn of(lesson: &str) -> Self {
        Self(text(format!("lessons/{lesson}.ron"))).without("    cells: [", "    claims: [")
    }

    #[track_caller]
    fn with(self, now: &str, then: &str) -> Self {
        assert!(self.0.contains(now), "{now:?} is gone");
        Self(self.0.replacen(now, then, 1))
    }

    /// Removes what lies between the two, the first included.
    #[track_caller]
    fn without(mut self, from: &str, to: &str) -> Self {
        let start = self.0.find(from).unwrap_or_else(|| panic!("{from:?} is gone"));
        let end = start + self.0[start..].find(to).unwrap_or_else(|| panic!("{to:?} is gone"));
        self.0.replace_range(start..end, "");
        self
    }

    /// Measures one more fact.
    fn measuring(self, id: &str, fact: &str) -> Self {
        let claim = format!(
            "    claims: [Claim(id: \"{id}\", says: \"measured\", fact: {fact}, expect: Within(value: 0.5, tolerance: 0.5)),"
        );
        self.with("    claims: [", &claim)
    }

    /// Values of all claims by their ids, trained with each seed.
    fn train(&self) -> Vec<BTreeMap<String, f64>> {
        let mut lesson = parse("variant.ron", &self.0).unwrap_or_else(|issues| panic!("{issues:#?}"));
        let mut trained = |seed| {
            lesson.seed = seed;
            let verdicts = verify(&Kernel::trained(Arc::new(lesson.clone())).snapshot()).expect("a trained model");
            verdicts.into_iter().map(|verdict| (verdict.id, verdict.value)).collect()
        };
        SEEDS.map(&mut trained).collect()
    }
}

#[test]
fn without_the_mask_the_loss_is_below_a_tenth_of_the_floor() {
    let floor = 2.0 * 3_f64.ln() / 6.0;
    for found in Variant::of("masks").with("mask: Causal", "mask: None").train() {
        assert!(found["floor"] < floor / 10.0, "{found:?}");
    }
}

fn weight_id(sentence: usize, head: usize, key: usize) -> String {
    format!("weight-{sentence}-{head}-{key}")
}

/// The lesson of two heads, in which the weights from the last word to subject and object are measured, and the loss.
fn two_heads() -> Variant {
    let mut variant = Variant::of("heads").measuring("loss", "FinalLoss");
    for (sentence, head, key) in (0..4).flat_map(|s| [(s, 0, 1), (s, 0, 4), (s, 1, 1), (s, 1, 4)]) {
        let fact = format!("Weight(sentence: {sentence}, head: {head}, query: 5, key: {key})");
        variant = variant.measuring(&weight_id(sentence, head, key), &fact);
    }
    variant
}

/// That lesson, trained once for all tests.
static TWO_HEADS: LazyLock<Vec<BTreeMap<String, f64>>> = LazyLock::new(|| two_heads().train());

#[test]
fn one_head_is_right_at_twice_the_loss() {
    // Claims on the second head are of the lesson alone.
    let of_lesson = Variant::of("heads").without("        Claim(id: \"subject\"", "        Claim(id: \"answer\"");
    let one = of_lesson.measuring("loss", "FinalLoss").with("heads: 2", "heads: 1").train();
    for (two, one) in TWO_HEADS.iter().zip(&one) {
        assert_eq!((one["trained"], one["kept-out"]), (1.0, 1.0));
        let times = one["loss"] / two["loss"];
        assert!((1.8..2.7).contains(&times), "{times} times the loss");
        assert!(one["stay"] > 2.0 * two["stay"], "{one:?} {two:?}");
    }
}

/// Whether one head is mostly on the subject and the other on the object, in all sentences of the lesson.
fn has_a_head_for_each(found: &BTreeMap<String, f64>) -> bool {
    const MOST: f64 = 0.5;
    let is_on = |head: usize, key: usize| (0..4).all(|sentence| found[&weight_id(sentence, head, key)] > MOST);
    [(0, 1), (1, 0)].into_iter().any(|(subject, object)| is_on(subject, 1) && is_on(object, 4))
}

#[test]
fn without_planted_weights_few_seeds_have_a_head_for_each() {
    let count = |all: &[BTreeMap<String, f64>]| all.iter().filter(|found| has_a_head_for_each(found)).count();
    assert!(count(&TWO_HEADS) >= 8, "{} of ten", count(&TWO_HEADS));
    let free = two_heads().without("            \"W_Q\": [", "        },\n        steps:").train();
    assert!(free.iter().all(|found| (found["trained"], found["kept-out"]) == (1.0, 1.0)), "{free:?}");
    assert!(count(&free) < 5, "{} of ten", count(&free));
}

#[test]
fn the_idiom_needs_positions_and_projections() {
    let variant = |positions: &str, has_projections: bool| {
        let variant = Variant::of("idiom").with("positions: Learned", positions);
        let off = "bias: false, projections: false, output: true,";
        if has_projections { variant } else { variant.with("bias: false,", off) }
    };
    let kept_out = |variant: Variant| variant.train().iter().map(|found| found["kept-out"]).collect::<Vec<_>>();
    let all = |value: f64| vec![value; SEEDS.count()];
    assert_eq!(kept_out(variant("positions: None", true)), all(0.5));
    assert_eq!(kept_out(variant("positions: None", false)), all(0.5));
    assert_eq!(kept_out(variant("positions: Rotary()", true)), all(1.0));
    let learned = kept_out(variant("positions: Learned", false));
    assert!(learned.iter().all(|share| *share <= 0.5), "{learned:?}");
    let free = variant("positions: Learned", false).with("arrive: 0.3,", "").with("keep: 0.1,", "");
    for found in free.train() {
        assert!(found["kept-out"] == 1.0 && found["drift"] > 4.0, "{found:?}");
    }
}

#[test]
fn with_a_live_encoder_the_map_need_not_be_the_alignment() {
    let live = Variant::of("cross_attention").without("            \"W_V\": [", "        },\n        steps:");
    let found = live.train();
    assert!(found.iter().all(|found| found["right"] == 1.0), "{found:?}");
    assert!(found.iter().any(|found| found["aligned"] == 0.0), "{found:?}");
}

/// Trains every combination of switches that a lesson claims something about, with each seed.
#[test]
fn each_part_of_today_s_block_can_be_turned_back() {
    let mut lesson = parse("now.ron", &Variant::of("now").0).unwrap_or_else(|issues| panic!("{issues:#?}"));
    for seed in SEEDS {
        lesson.seed = seed;
        let verdicts = verify_switched(&lesson);
        assert_eq!(verdicts.len(), lesson.claims.iter().filter(|claim| !claim.with.is_empty()).count());
        for verdict in verdicts {
            assert!(verdict.holds(), "seed {seed}: {verdict:?}");
        }
    }
}
