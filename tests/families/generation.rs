//! Decoders go on as two other programs do, NumPy and transformers, with and without kept keys and values.

use attune_engine::numerics::model::Sequences;
use attune_engine::numerics::model::generate::{NextWordChoice, choose};
use attune_engine::numerics::rng::{Stream, stream};

use crate::{FIXTURES, lists, parsed, read};

#[test]
fn twenty_words_are_those_of_other_programs_and_of_whole_passes() {
    const WORDS: usize = 20;
    let others = [include_str!("oracle/greedy.json"), include_str!("oracle/greedy_transformers.json")].map(parsed);
    let mut decoders = 0;
    for name in FIXTURES {
        let model = read(name);
        if !model.config.is_causal() {
            continue;
        }
        decoders += 1;
        let prompt = &lists(name)["n7"];
        let (engine, rng) = (model.model(), &mut stream(0, Stream::Generation));
        let kept = engine.generate(&model.parameters, prompt, None, WORDS, NextWordChoice::Greedy, rng).expect("words");
        for greedy in &others {
            let expected: Vec<usize> = serde_json::from_value(greedy[name].clone()).expect("ids");
            assert_eq!(kept, expected, "{name}");
        }
        let mut words = prompt.clone();
        for word in kept {
            let mut logits = engine.logits(&model.parameters, &Sequences::one(&words), None);
            assert_eq!(choose(&mut logits, NextWordChoice::Greedy, rng), Ok(word), "{name}");
            words.push(word);
        }
    }
    assert_eq!(decoders, 12);
}
