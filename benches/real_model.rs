//! Times the opening of a real model, and the way from an input to the numbers of the new picture.
//!
//!     cargo bench --package attune-view --bench real_model -- path/to/a/model [--words 16] [--opening] [--writing]
//!
//! Times are CPU times of the thread, where the system reports them, so that other programs do not count; only those of
//! the opening are elapsed times.
//!
//! Prints the time from the folder to the first snapshot. For texts of some lengths, it prints the median time to the
//! snapshot after typing a text, changing a weight in the first and the last layer, and switching off a head in earlier
//! and earlier layers; to the split of a score in the last layer, and to the map of two texts. It also times the logit
//! lens of a word and the scores of one word in 20 sentences. For a model with only causal attention, it times one more
//! word with cached keys and values, beside the time to read the weights once.

mod top;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use attune_core::kernel::command::{
    InterventionCommand, SenseCommand, SenseList, SenseSentence, SentenceCommand, WeightCommand,
};
use attune_core::kernel::sentence_pass::senses::MEASURED_MAX;
use attune_core::kernel::snapshot::Progress;
use attune_core::kernel::snapshot::scores::{ShownScore, split_of};
use attune_core::kernel::static_embedding::network;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::{HeadMode, Mask, Tokens};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Pooling, Sequences};
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::answers::LensModel;
use clap::Parser;

/// Words that every tokenizer can read.
const WORDS: [&str; 5] = ["the", "bank", "of", "a", "river"];
const TIMES: usize = 15;

#[derive(Parser)]
struct Args {
    model: PathBuf,
    /// The numbers of words in the texts.
    #[arg(long, default_values_t = [8, 16, 64])]
    words: Vec<usize>,
    /// Whether to end once the model is open.
    #[arg(long)]
    opening: bool,
    /// Whether to measure only one more word, which requires causal attention.
    #[arg(long)]
    writing: bool,
    /// A flag that cargo passes.
    #[arg(long)]
    bench: bool,
}

fn main() {
    top::begin();
    let args = Args::parse();
    let _ = args.bench;
    let mut kernel = opened(&args.model);
    if args.opening {
        return;
    }
    if args.writing {
        return one_more(&kernel);
    }
    let layers = kernel.snapshot().model.map_or(0, |model| model.architecture.blocks.len());

    for length in args.words {
        let text = |turn: usize| (0..length).map(|i| WORDS[(i + turn) % WORDS.len()]).collect::<Vec<_>>().join(" ");
        let typed = median(|turn| {
            kernel.apply(Command::Sentence(SentenceCommand::Type(text(turn))));
            tokens(&kernel)
        });
        let mut turned = |layer: usize| {
            median(|turn| {
                let (tensor, value) = (TensorName::QueryWeights.of_block(layer), turn as f32 * 1e-3);
                kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 1, value }));
                tokens(&kernel)
            })
        };
        let (first, last) = (turned(0), turned(layers - 1));
        println!(
            "{length} words, {} tokens: typed {:.1} ms, a weight of the first layer {:.1} ms, of the last {:.1} ms",
            typed.1, typed.0, first.0, last.0
        );
        kernel.apply(Command::Weights(WeightCommand::ResetAll));
        heads(&mut kernel);
        lens(&kernel);
        split(&kernel);
        map(&mut kernel, [text(1), text(2)]);
    }
    senses(&mut kernel);
    one_more(&kernel);
}

/// Opens the model and returns its kernel. Prints elapsed times, because a user waits for them.
fn opened(model: &Path) -> Kernel {
    let begun = Instant::now();
    let passed = || 1e3 * begun.elapsed().as_secs_f64();
    let lesson = attune_core::lesson::read(model).unwrap_or_else(|issues| panic!("{issues:?}"));
    let read = passed();
    let mut kernel = Kernel::new(Arc::new(lesson));
    let (mut first, mut loaded) = (None, None);
    kernel.advance();
    // The loop must not take snapshots of the model, because that would run its sentence.
    while kernel.is_busy() {
        let Progress { done, of } = kernel.snapshot().embedding_progress;
        first = first.or_else(|| (of > 0).then(passed));
        loaded = loaded.or_else(|| (of > 0 && done == of).then(passed));
        kernel.advance();
    }
    let ready = passed();
    assert!(kernel.snapshot().model.is_some(), "{:?}", kernel.snapshot().fault);
    let [first, loaded] = [first, loaded].map(Option::unwrap_or_default);
    println!("folder read {read:.0} ms, progress from {first:.0} ms, weights read {loaded:.0} ms, axes {ready:.0} ms");
    println!("opened: {:.0} ms", passed());
    kernel
}

/// Times a pass with a head switched off, for heads in several layers: the forward pass alone, and all work up to the
/// snapshot.
fn heads(kernel: &mut Kernel) {
    let snapshot = kernel.snapshot();
    let (space, model) = (snapshot.space.expect("vectors"), snapshot.model.expect("a model"));
    let network = network(&model.made_of, &space);
    let words: Vec<usize> = model.sentence.tokens.iter().filter_map(|token| token.word).collect();
    let (sentence, none) = (Sequences::one(&words), Interventions::default());
    let whole = median(|_| Activations::of(&network, &model.parameters, &sentence, None, &none).blocks.len()).0;
    println!("  forward pass alone: {whole:.1} ms");
    let layers = model.architecture.blocks.len();
    let pass = Activations::of(&network, &model.parameters, &sentence, None, &none);
    for layer in [0, layers / 4, layers / 2, 3 * layers / 4, layers - 1] {
        let heads = model.architecture.heads_of(layer);
        let off = |turn: usize| heads.start + turn % heads.len();
        let forward = median(|turn| {
            let mut heads = vec![HeadMode::Live; model.architecture.heads()];
            heads[off(turn)] = HeadMode::Off;
            let changed = Interventions { heads, ..Interventions::default() };
            pass.again(layer, &network, &model.parameters, &sentence, None, &changed).blocks.len()
        });
        let mut times: Vec<f64> = (1..=TIMES)
            .map(|turn| {
                let set = |mode| Command::Interventions(InterventionCommand::SetHead { head: off(turn), mode });
                let begun = now();
                kernel.apply(set(HeadMode::Off));
                tokens(kernel);
                let time = 1e3 * (now() - begun);
                kernel.apply(set(HeadMode::Live));
                tokens(kernel);
                time
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let share = 100.0 * forward.0 / whole;
        let bound = 100.0 * (layers - layer) as f64 / layers as f64 + 10.0;
        println!(
            "  a head of layer {} off: forward {:.1} ms, {share:.0} % of a pass (at most {bound:.0} %); to the snapshot {:.1} ms",
            layer + 1,
            forward.0,
            times[TIMES / 2]
        );
    }
}

/// Times the logit lens of a word. The time is elapsed time, because several threads work.
fn lens(kernel: &Kernel) {
    let snapshot = kernel.snapshot();
    let time = median_of(
        Instant::now,
        |begun| begun.elapsed().as_secs_f64(),
        |_| LensModel::of(&snapshot, Some(1)).map_or(0, |lens| lens.layers.len()),
    );
    if time.1 > 0 {
        println!("  logit lens of a word: {:.1} ms", time.0);
    }
}

/// Times the split of a score in the last layer, between the last word and the first.
fn split(kernel: &Kernel) {
    let snapshot = kernel.snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    let at = ShownScore { head: model.architecture.heads() - 1, query: model.sentence.tokens.len() - 1, key: 0 };
    let time = median_of(
        Instant::now,
        |begun| begun.elapsed().as_secs_f64(),
        |_| split_of(&snapshot, at).expect("a head").map_or(0, |shown| shown.split.sources.len()),
    );
    println!("  split of a score: {:.1} ms, {} sources", time.0, time.1);
}

/// Times the map of two texts: each word and each head of the second put into the first, layer by layer. A model that
/// guesses hidden words is asked at the last one.
fn map(kernel: &mut Kernel, texts: [String; 2]) {
    for hidden in ["", " [MASK]"] {
        let [own, second] = texts.each_ref().map(|text| format!("{text}{hidden}"));
        kernel.apply(Command::Sentence(SentenceCommand::Type(own)));
        kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(second))));
        kernel.settle();
        let begun = Instant::now();
        kernel.apply(Command::Map);
        kernel.settle();
        if let Some(map) = kernel.snapshot().model.and_then(|model| model.map) {
            println!("  map of two texts: {} cells in {:.0} ms", map.progress.of, 1e3 * begun.elapsed().as_secs_f64());
        }
        kernel.apply(Command::EndMap);
    }
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
}

/// Times one more word with cached keys and values, and reading all weights once.
fn one_more(kernel: &Kernel) {
    let snapshot = kernel.snapshot();
    let (space, model) = (snapshot.space.expect("vectors"), snapshot.model.expect("a model"));
    let network = network(&model.made_of, &space);
    let looks_back = |mask: &Mask| *mask == Mask::Causal;
    let keeps = model.architecture.blocks.iter().all(|block| looks_back(&block.attention.mask));
    if !keeps || model.architecture.pooling == Pooling::Mean {
        return;
    }
    let words: Vec<Option<usize>> = (0..16).map(Some).collect();
    let longest = model.architecture.max_tokens;
    let (mut kept, _) = network.begin(&model.parameters, &words, None::<Tokens<'_, f32>>, longest);
    let written = median(|turn| {
        let output = network.one_more(&model.parameters, &mut kept, Some(turn));
        network.logits_at_end(&model.parameters, &output).len()
    });
    // An array of as many bytes stands in for the weights, which are packed for products and in the file's number type.
    let bytes = model.parameters.bytes() + network.embedding.bytes();
    let weights = vec![1.0; bytes / size_of::<f32>()];
    let read = median(|_| read(&weights).to_bits() as usize);
    println!(
        "one more word: {:.1} ms, {:.2} times the {:.1} ms to read {} MB of weights once",
        written.0,
        written.0 / read.0,
        read.0,
        bytes >> 20
    );
}

/// Returns the sum of all numbers, computed as fast as memory allows.
fn read(numbers: &[f32]) -> f32 {
    const LANES: usize = 64;
    let mut sums = [0.0f32; LANES];
    for chunk in numbers.chunks_exact(LANES) {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += x);
    }
    sums.iter().sum()
}

/// Takes a new snapshot and returns the number of its tokens.
fn tokens(kernel: &Kernel) -> usize {
    kernel.snapshot().model.map_or(0, |model| model.sentence.tokens.len())
}

/// Times the way from a list of sentences to the scores of each layer.
fn senses(kernel: &mut Kernel) {
    const LENGTH: usize = 12;
    let measured = median(|turn| {
        let sentence = |at: usize| {
            let words: Vec<&str> = (0..LENGTH).map(|i| WORDS[(i * (at + 1) + turn + at) % WORDS.len()]).collect();
            SenseSentence { text: format!("bank {}", words.join(" ")), sense: Some(if at < 10 { 'A' } else { 'B' }) }
        };
        let list = SenseList { word: "bank".to_owned(), sentences: (0..MEASURED_MAX).map(sentence).collect() };
        for command in [SenseCommand::Show(false), SenseCommand::Replace(list), SenseCommand::Show(true)] {
            kernel.apply(Command::Senses(command));
        }
        kernel.settle();
        let senses = kernel.snapshot().model.expect("a model").senses;
        assert!(senses.is_current && senses.progress.of == MEASURED_MAX, "{:?}", senses.rows);
        MEASURED_MAX * (LENGTH + 1)
    });
    println!("senses of {MEASURED_MAX} sentences, {} words: {:.0} ms", measured.1, measured.0);
}

/// Returns the median CPU time of some runs in milliseconds, and the last result.
fn median(run: impl FnMut(usize) -> usize) -> (f64, usize) {
    median_of(now, |begun| now() - begun, run)
}

/// Returns the median time by any clock: `clock` returns a start, and `since` the seconds since then.
fn median_of<T>(clock: impl Fn() -> T, since: impl Fn(T) -> f64, mut run: impl FnMut(usize) -> usize) -> (f64, usize) {
    let mut last = 0;
    let mut times: Vec<f64> = (1..=TIMES)
        .map(|turn| {
            let begun = clock();
            last = run(turn);
            1e3 * since(begun)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[TIMES / 2], last)
}

/// Returns the thread's CPU time in seconds, or the elapsed time where the system does not report it.
fn now() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}
