//! A model's next word: the likeliest, or one drawn by its probability.

use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::block::Attends;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::generate::{CannotGenerate, NextWordChoice, Sampling, choose};
use attune_engine::numerics::model::{Activations, Architecture, Batch, Classes, Pooling, Readout, Sequences};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::reference;
use attune_engine::numerics::rng::{Generator, Stream, stream};

use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::{MAX_TOKENS, Net, architecture, block, block_forms, candidates, layer, sentence, words};

fn rng(seed: u64) -> Generator {
    stream(seed, Stream::Batches)
}

fn causal(change: impl FnOnce(&mut Architecture)) -> Net {
    let build = |a: &mut Architecture| {
        a.blocks = vec![block(|b| b.attention.mask = Mask::Causal)];
        change(a);
    };
    Net::new(architecture(build), words(), 11)
}

fn translator() -> Net {
    causal(|a| {
        a.source_blocks = vec![block(|_| ())];
        a.blocks.push(block(|b| b.attends = Attends::Source));
    })
}

fn generate(
    net: &Net,
    prompt: &[usize],
    source: Option<&[usize]>,
    count: usize,
    choice: NextWordChoice,
) -> Result<Vec<usize>, CannotGenerate> {
    net.model.generate(&net.parameters, prompt, source, count, choice, &mut rng(1))
}

/// The likeliest next word, a sentence at a time and by nothing of [`attune_engine::numerics::model::generate`].
fn by_hand(net: &Net, prompt: &[usize], count: usize) -> Vec<usize> {
    let mut said = prompt.to_vec();
    for _ in 0..count {
        let read = &said[said.len().saturating_sub(MAX_TOKENS)..];
        let loss = |class: usize| {
            let mut batch = Batch::default();
            batch.input.push(read.iter().copied().map(Some), 0);
            batch.targets.push((read.len() - 1, class));
            reference::model::loss(&net.model, &net.parameters, &batch)
        };
        let classes = candidates().words().len();
        let best = (0..classes).min_by(|&a, &b| loss(a).total_cmp(&loss(b))).expect("classes");
        said.push(candidates().words()[best]);
    }
    said[prompt.len()..].to_vec()
}

#[test]
fn greedy_says_the_likeliest_word_each_time() {
    // Longer than the model reads: then its end is read.
    let net = causal(|_| ());
    for prompt in [&[0][..], &[2, 7, 7], &[0, 1, 2, 3, 4, 5, 6, 7, 8]] {
        let found = generate(&net, prompt, None, 9, NextWordChoice::Greedy);
        assert_eq!(found, Ok(by_hand(&net, prompt, 9)));
        assert_eq!(generate(&net, prompt, None, 9, NextWordChoice::Greedy), found, "again the same");
    }
}

#[test]
fn kept_keys_and_values_are_those_of_a_whole_pass_in_every_form() {
    let forms = [true, false].into_iter().flat_map(|distances| {
        let layer =
            layer(|l| (l.mask, l.distances) = (Mask::Causal, distances.then(|| DistanceForm::of_each(MAX_TOKENS))));
        block_forms(&layer)
    });
    let words = [3, 0, 7, 7, 1, 5];
    assert_eq!(words.len(), MAX_TOKENS);
    for form in forms {
        let net =
            Net::new(architecture(|a| (a.blocks, a.final_norm) = (vec![form.clone(); 2], true)), self::words(), 11);
        let live = Interventions::default();
        let whole = Activations::of(&net.model, &net.parameters, &sentence(&words), None, &live);
        for begun in 1..MAX_TOKENS {
            let first: Vec<Option<usize>> = words[..begun].iter().copied().map(Some).collect();
            let (mut kept, output) = net.model.begin(&net.parameters, &first, None, MAX_TOKENS);
            let mut rows = output.flat().to_vec();
            for &word in &words[begun..] {
                rows.extend(net.model.one_more(&net.parameters, &mut kept, Some(word)).flat());
            }
            assert_close(format!("{form:?}"), rows, whole.output.flat(), Tolerance::DOUBLE_PASS);
        }
    }
}

#[test]
fn words_are_drawn_among_the_likeliest_alone() {
    let logits = [2.0f64, 0.0, 1.0, 1.0, -3.0];
    let drawn = |top_k, top_p| {
        let choice = NextWordChoice::Sampled(Sampling { temperature: 1.0, top_k, top_p });
        let mut rng = rng(5);
        let mut seen: Vec<usize> =
            (0..5000).map(|_| choose(&mut logits.clone(), choice, &mut rng).expect("a class")).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    // Of two that are equally likely, the first.
    assert_eq!(drawn(Some(1), None), [0]);
    assert_eq!(drawn(Some(2), None), [0, 2]);
    assert_eq!(drawn(Some(9), None), [0, 1, 2, 3, 4]);
    // 0.533, 0.196, 0.196, 0.072 and 0.004 by softmax, in the order of size; of the first two 0.73 and 0.27.
    assert_eq!(drawn(None, Some(0.5)), [0]);
    assert_eq!(drawn(None, Some(0.7)), [0, 2]);
    assert_eq!(drawn(None, Some(0.95)), [0, 1, 2, 3]);
    assert_eq!(drawn(None, Some(1.0)), [0, 1, 2, 3, 4]);
    assert_eq!(drawn(Some(2), Some(0.7)), [0]);
    let refused = |top_k, top_p| {
        let choice = NextWordChoice::Sampled(Sampling { temperature: 1.0, top_k, top_p });
        choose(&mut logits.clone(), choice, &mut rng(5)).expect_err("no choice")
    };
    assert_eq!(refused(Some(0), None), CannotGenerate::TopK);
    for share in [0.0, -0.5, 1.5, f64::NAN] {
        assert_eq!(refused(None, Some(share)), CannotGenerate::TopP);
    }
}

#[test]
fn it_says_candidates_and_as_many_as_asked() {
    for net in [causal(|_| ()), causal(|a| a.pooling = Pooling::Mean), causal(|a| a.readout = Readout::Linear)] {
        for count in [0, 1, 20] {
            let said = generate(&net, &[3], None, count, NextWordChoice::sampled(2.0)).expect("it goes on");
            assert_eq!(said.len(), count);
            assert!(said.iter().all(|word| candidates().words().contains(word)), "{said:?}");
        }
    }
}

#[test]
fn a_translation_begins_from_nothing_and_hangs_on_its_source() {
    let net = translator();
    let from = |source: &[usize]| generate(&net, &[], Some(source), 4, NextWordChoice::Greedy).expect("it goes on");
    assert_eq!(from(&[0, 1, 2]).len(), 4);
    // The source is read once and not for each word: the words are those of whole passes all the same.
    let mut by_hand: Vec<usize> = Vec::new();
    for _ in 0..4 {
        let words = by_hand.iter().copied().map(Some);
        let written = Sequences::starting_at(0, [None].into_iter().chain(words));
        let mut logits = net.model.logits(&net.parameters, &written, Some(&sentence(&[0, 1, 2])));
        let class = choose(&mut logits, NextWordChoice::Greedy, &mut rng(1)).expect("finite logits");
        by_hand.push(candidates().words()[class]);
    }
    assert_eq!(from(&[0, 1, 2]), by_hand);
    let sources = [&[0, 1, 2][..], &[6], &[7, 3, 3, 2], &[8, 8], &[4, 0], &[5]];
    assert!(sources.iter().any(|source| from(source) != from(&[0, 1, 2])), "the source is heard");
}

#[test]
fn a_first_sampled_word_is_drawn_by_its_probability() {
    let net = causal(|_| ());
    let temperature = 0.7;
    let logits = net.model.logits(&net.parameters, &sentence(&[2, 7]), None);
    let expected = reference::attention::softmax(&logits.iter().map(|z| z / temperature).collect::<Vec<_>>());
    let draws = 20_000;
    let mut counts = vec![0f64; expected.len()];
    let mut rng = rng(1);
    for _ in 0..draws {
        let choice = NextWordChoice::sampled(temperature);
        let said = net.model.generate(&net.parameters, &[2, 7], None, 1, choice, &mut rng).expect("it goes on");
        counts[candidates().class(said[0]).expect("a candidate")] += 1.0;
    }
    let share = |p: f64| f64::from(draws) * p;
    let chi_square: f64 = counts.iter().zip(&expected).map(|(n, &p)| (n - share(p)).powi(2) / share(p)).sum();
    /// Passed by chance in 1 of 1000 seeds, at 3 degrees of freedom.
    const LIMIT: f64 = 16.27;
    assert_eq!(expected.len(), 4);
    assert!(chi_square < LIMIT, "χ² = {chi_square}: {counts:?} for {expected:?}");
}

#[test]
fn a_temperature_near_zero_is_greedy() {
    let net = causal(|_| ());
    for temperature in [1e-3, 1e-30, f64::MIN_POSITIVE] {
        let cold = generate(&net, &[2, 7], None, 9, NextWordChoice::sampled(temperature));
        assert_eq!(cold, generate(&net, &[2, 7], None, 9, NextWordChoice::Greedy));
    }
}

#[test]
fn what_cannot_go_on_says_why() {
    let net = causal(|_| ());
    assert_eq!(generate(&net, &[], None, 3, NextWordChoice::Greedy), Err(CannotGenerate::NoWords));
    for temperature in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let found = generate(&net, &[1], None, 1, NextWordChoice::sampled(temperature));
        assert_eq!(found, Err(CannotGenerate::Temperature), "{temperature}");
    }
    let labels =
        Net::new(architecture(|a| (a.pooling, a.readout) = (Pooling::Mean, Readout::Linear)), Classes::Labels(3), 1);
    assert_eq!(generate(&labels, &[1], None, 1, NextWordChoice::Greedy), Err(CannotGenerate::NotWords));
    for poison in [f64::NAN, f64::INFINITY] {
        for tensor in [TensorName::LogitBias, TensorName::ValueWeights] {
            let mut diverged = net.clone();
            diverged.parameters.values_of_mut(tensor)[0] = poison;
            for choice in [NextWordChoice::Greedy, NextWordChoice::sampled(1.0)] {
                let found = generate(&diverged, &[1], None, 1, choice);
                assert_eq!(found, Err(CannotGenerate::NotFinite), "{tensor:?} = {poison}");
            }
        }
    }
}

#[test]
fn extreme_logits_are_chosen_from_without_overflow() {
    let hottest = NextWordChoice::sampled(f64::INFINITY);
    for choice in [NextWordChoice::Greedy, NextWordChoice::sampled(1e-300)] {
        assert_eq!(choose(&mut [f32::MIN, f32::MAX, 0.0], choice, &mut rng(1)), Ok(1));
    }
    let mut rng = rng(1);
    let drawn: Vec<_> = (0..50).map(|_| choose(&mut [-5.0, 5.0], hottest, &mut rng)).collect();
    assert!(drawn.contains(&Ok(0)) && drawn.contains(&Ok(1)), "all are as likely");
    assert_eq!(choose(&mut [1.5], NextWordChoice::sampled(1.0), &mut rng), Ok(0), "one word is all it can say");
}
