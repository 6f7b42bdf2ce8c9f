//! The search with several beams, beside plain searches that compute each beginning from nothing.

use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Attends;
use attune_engine::numerics::model::WritingRules;
use attune_engine::numerics::model::beams::BEAMS_MAX;
use attune_engine::numerics::model::generate::{CannotGenerate, NextWordChoice};
use attune_engine::numerics::rng::{Stream, stream};

use crate::common::numerics::{MAX_TOKENS, Net, architecture, block, candidates, sentence, words};

const SEEDS: std::ops::Range<u64> = 0..12;
const END: usize = 8;
const SOURCE: [usize; 3] = [2, 7, 3];

/// A model with a source that ends a sentence with one of its four words, and never writes the words `never`.
fn translator(seed: u64, never: &[usize]) -> Net {
    let built = architecture(|a| {
        a.source_blocks = vec![block(|_| ())];
        a.blocks = vec![block(|b| b.attention.mask = Mask::Causal), block(|b| b.attends = Attends::Source)];
    });
    let mut net = Net::new(built, words(), seed);
    let rules = WritingRules { start: Some(0), ends: vec![END], never: never.to_vec(), ..WritingRules::default() };
    net.model = net.model.with_rules(rules);
    net
}

fn written(net: &Net, count: usize, choice: NextWordChoice) -> Vec<usize> {
    let rng = &mut stream(1, Stream::Generation);
    net.model.generate(&net.parameters, &[], Some(&SOURCE), count, choice, rng).expect("words")
}

/// The logarithms of the probabilities of the next words, from a pass over all words.
fn log_probabilities(net: &Net, found: &[usize]) -> Vec<(usize, f64)> {
    let read: Vec<usize> = [0].into_iter().chain(found.iter().copied()).collect();
    let logits = net.model.logits(&net.parameters, &sentence(&read), Some(&sentence(&SOURCE)));
    let sum: f64 = logits.iter().map(|z| z.exp()).sum();
    candidates().words().iter().copied().zip(logits.iter().map(|z| z - sum.ln())).collect()
}

/// Lists all sentences that end within `count` words, with the logarithms of their probabilities.
fn all_sentences(net: &Net, found: &[usize], count: usize, before: f64, all: &mut Vec<(Vec<usize>, f64)>) {
    if found.len() == count {
        return;
    }
    for (word, log) in log_probabilities(net, found) {
        let longer = [found, &[word]].concat();
        match word {
            END => all.push((found.to_vec(), before + log)),
            _ if net.model.rules().never.contains(&word) => {}
            _ => all_sentences(net, &longer, count, before + log, all),
        }
    }
}

/// The search, with lists of words and nothing kept.
fn plain_search(net: &Net, count: usize, width: usize) -> Vec<usize> {
    let mut open = vec![(Vec::new(), 0.0)];
    let mut whole: Vec<(Vec<usize>, f64)> = Vec::new();
    for _ in 0..count {
        let mut longer: Vec<(Vec<usize>, f64)> = Vec::new();
        for (found, before) in &open {
            let next = log_probabilities(net, found);
            let next = next.into_iter().filter(|(word, _)| !net.model.rules().never.contains(word));
            longer.extend(next.map(|(word, log)| ([&found[..], &[word]].concat(), before + log)));
        }
        longer.sort_by(|a, b| b.1.total_cmp(&a.1));
        open.clear();
        for (mut found, log) in longer {
            if open.len() == width {
                break;
            }
            if found.last() == Some(&END) {
                found.pop();
                whole.push((found, log));
            } else {
                open.push((found, log));
            }
        }
    }
    let best = whole.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    best.unwrap_or_else(|| open.swap_remove(0)).0
}

/// There are fewer beginnings than beams, so none is dropped.
#[test]
fn a_search_with_all_beams_finds_the_likeliest_sentence_of_all() {
    const COUNT: usize = 2;
    let mut different = 0;
    for seed in SEEDS {
        // Two words besides the end.
        let net = translator(seed, &[1]);
        let mut all = Vec::new();
        all_sentences(&net, &[], COUNT, 0.0, &mut all);
        assert_eq!(all.len(), 1 + 2);
        let (best, _) = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("sentences");
        assert_eq!(written(&net, COUNT, NextWordChoice::Beams(BEAMS_MAX)), best, "seed {seed}");
        different += usize::from(written(&net, COUNT, NextWordChoice::Greedy) != best);
    }
    assert!(different > 0, "greedy finds them all, so nothing is searched");
}

#[test]
fn each_width_keeps_the_beginnings_of_a_plain_search() {
    for seed in SEEDS {
        let net = translator(seed, &[]);
        for (width, count) in (1..=BEAMS_MAX).flat_map(|width| (1..MAX_TOKENS).map(move |count| (width, count))) {
            let found = written(&net, count, NextWordChoice::Beams(width));
            assert_eq!(found, plain_search(&net, count, width), "seed {seed}, {width} beams, {count} words");
        }
    }
}

#[test]
fn one_beam_is_greedy() {
    for seed in SEEDS {
        let net = translator(seed, &[]);
        assert_eq!(written(&net, 5, NextWordChoice::Beams(1)), written(&net, 5, NextWordChoice::Greedy), "seed {seed}");
    }
}

#[test]
fn a_number_of_beams_outside_its_range_is_refused() {
    let net = translator(1, &[]);
    for width in [0, BEAMS_MAX + 1, usize::MAX] {
        let rng = &mut stream(1, Stream::Generation);
        let found = net.model.generate(&net.parameters, &[], Some(&SOURCE), 3, NextWordChoice::Beams(width), rng);
        assert_eq!(found, Err(CannotGenerate::Beams), "{width}");
    }
}
