//! The accuracy of the costs in [`attune_engine::numerics::model::cost`], which limit the size of a lesson's model: the
//! time of a training step beside its cost, for small and large models.
//!
//!     cargo bench --package attune-core --bench step_cost

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::parse;
use attune_engine::numerics::model::cost::forward_cost;

/// The training time of each model.
const TIME: Duration = Duration::from_millis(150);

struct Case {
    objective: &'static str,
    words: usize,
    tokens: usize,
    dim: usize,
    heads: usize,
    key_width: usize,
    layers: usize,
    /// Further fields of the model.
    rest: &'static str,
    batch: usize,
}

const SMALL: Case = Case {
    objective: "NextWord",
    words: 2,
    tokens: 2,
    dim: 2,
    heads: 1,
    key_width: 1,
    layers: 1,
    rest: "",
    batch: 4096,
};

fn main() {
    let lone = Case { batch: 1, ..SMALL };
    let middle =
        Case { words: 100, tokens: 12, dim: 16, heads: 2, key_width: 8, batch: 64, objective: "MaskedWord", ..SMALL };
    let large = Case { words: 1000, tokens: 32, dim: 128, heads: 8, key_width: 16, batch: 16, ..middle };
    let cases = [
        ("small", SMALL),
        ("small, one sentence", Case { ..lone }),
        ("small, one sentence, 8 layers", Case { layers: 8, ..lone }),
        ("small, masked words", Case { objective: "MaskedWord", ..SMALL }),
        ("small, 16 heads", Case { heads: 16, ..SMALL }),
        ("small, 8 layers", Case { layers: 8, ..SMALL }),
        ("small, 8 layers, norms", Case { layers: 8, rest: "norm: Pre, feed_forward: 1", ..SMALL }),
        ("small, 8 layers, forward", Case { layers: 8, rest: "feed_forward: 1", ..SMALL }),
        ("small, 8 layers, 16 heads", Case { layers: 8, heads: 16, batch: 512, ..SMALL }),
        ("small, sequence", Case { objective: "Sequence", ..SMALL }),
        (
            "small, sequence, 8 layers, norms",
            Case { objective: "Sequence", layers: 8, rest: "norm: Post, feed_forward: 1", ..SMALL },
        ),
        ("small, 20 words", Case { words: 20, tokens: 20, batch: 1024, ..SMALL }),
        ("small, 64 words, 8 heads", Case { words: 64, tokens: 64, heads: 8, batch: 64, ..SMALL }),
        ("middle", Case { ..middle }),
        ("middle, one sentence", Case { batch: 1, ..middle }),
        ("middle, next word", Case { objective: "NextWord", ..middle }),
        ("middle, sequence, 2 layers", Case { objective: "Sequence", layers: 2, ..middle }),
        ("middle, norms, 2 layers", Case { layers: 2, rest: "norm: Pre, feed_forward: 64", ..middle }),
        ("middle, 5000 words", Case { words: 5000, ..middle }),
        ("middle, 5000 words, next", Case { words: 5000, objective: "NextWord", ..middle }),
        ("large", Case { ..large }),
        ("large, next word", Case { objective: "NextWord", ..large }),
        ("large, 4 layers", Case { layers: 4, rest: "norm: Pre, feed_forward: 512", ..large }),
        ("large, 64 tokens, 16 heads", Case { tokens: 64, heads: 16, layers: 2, ..large }),
        ("large, 256 wide, 1 sentence", Case { dim: 256, key_width: 32, batch: 1, ..large }),
        ("large, 256 wide, keys of 256", Case { dim: 256, heads: 16, key_width: 256, batch: 4, ..large }),
    ];
    println!("{:36} {:>10} {:>10} {:>10}", "model", "cost", "µs a step", "10⁹ a s");
    for (name, case) in cases {
        let (cost, seconds) = measure(&case);
        println!("{name:36} {cost:10.2e} {:10.1} {:10.2}", seconds * 1e6, cost / seconds * 1e-9);
    }
}

/// Returns the cost of a step, and its seconds.
fn measure(case: &Case) -> (f64, f64) {
    let lesson = parse("bench", &text(case)).unwrap_or_else(|issues| panic!("{}", issues[0]));
    let architecture = lesson.model.architecture.clone();
    let cost = forward_cost(&architecture, case.words, case.batch * case.tokens, case.tokens);
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.apply(Command::Training(TrainingCommand::Play));
    kernel.advance();
    let (start, before) = (Instant::now(), kernel.steps_done());
    while start.elapsed() < TIME && kernel.is_busy() {
        kernel.advance();
    }
    let steps = kernel.steps_done() - before;
    assert!(steps > 0, "it trains");
    (cost, start.elapsed().as_secs_f64() / steps as f64)
}

fn text(case: &Case) -> String {
    let Case { objective, words, tokens, dim, heads, key_width, layers, rest, batch } = case;
    let mut vectors = String::new();
    for word in 0..*words {
        let row: Vec<String> = (0..*dim).map(|d| format!("{:.2}", ((word * 7 + d * 13) as f64).sin())).collect();
        write!(vectors, "\"w{word}\": [{}],", row.join(",")).expect("a string");
    }
    let count = words.div_ceil(*tokens);
    let sentence = |s: usize| (0..*tokens).map(|t| format!("w{} ", (s * tokens + t) % words)).collect::<String>();
    let sentences: Vec<String> = (0..count).map(|s| format!("\"{}\"", sentence(s).trim())).collect();
    // Few enough steps that the budget accepts every model.
    format!(
        "Lesson(id: \"b\", title: \"b\", seed: 1, corpus: Sentences([{}]), static_embedding: Given({{{vectors}}}),
        model: Attention(heads: {heads}, key_width: {key_width}, value_width: {key_width}, layers: {layers},
        objective: {objective}, max_tokens: {}, batch: {batch}, steps: STEPS, learning_rate: 1e-6, {rest}),
        sentences: [{}])",
        sentences.join(","),
        tokens.max(&2),
        sentences[0],
    )
    .replace("STEPS", &steps(case).to_string())
}

/// Returns as many steps as the budget surely accepts, and enough for measuring.
fn steps(case: &Case) -> usize {
    if case.batch == 1 && case.dim < 100 { 20_000 } else { 40 }
}
