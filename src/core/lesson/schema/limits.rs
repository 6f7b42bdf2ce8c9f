//! The hard limits of a lesson. Crossing one is an issue with a place, never a slow or huge run.

use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::cost::{NUMBER_BYTES, pairs_of_heads, parameters, sentence_bytes};

pub use crate::lesson::reading::file::LESSON_BYTES_MAX;
pub use crate::lesson::reading::issue::ISSUES_MAX;

/// Bytes of the Markdown of one text cell.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Places in a course, and minutes that a lesson takes.
pub const NUMBERS: std::ops::RangeInclusive<usize> = 1..=999;
pub const MINUTES: std::ops::RangeInclusive<usize> = 1..=600;
/// Lessons that one builds on.
pub const BUILDS_ON_MAX: usize = 20;
/// Characters of a title, a summary, a caption or the words of a claim.
pub const LINE_CHARS_MAX: usize = 500;
/// Characters of an id; it becomes part of file names.
pub const ID_CHARS_MAX: usize = 64;
/// Characters of the name of a group, a slot or a topic; messages list all of them.
pub const NAME_CHARS_MAX: usize = 40;
/// Characters of one word: longer ones cannot be drawn as a label.
pub const WORD_CHARS_MAX: usize = 40;

/// How many times a stage cell plays: nobody waits for more.
pub const PLAYS_MAX: usize = 9;
/// Lines of a stage cell.
pub const LINES_MAX: usize = 100;

/// Bytes of one template.
pub const TEMPLATE_BYTES_MAX: usize = 4096;
/// Templates of one topic.
pub const TEMPLATES_MAX: usize = 200;
/// Words with several senses.
pub const AMBIGUOUS_MAX: usize = 16;
/// Groups: each needs a colour that can be told from the others.
pub const GROUPS_MAX: usize = 32;
/// Different words of a corpus.
pub const VOCABULARY_MAX: usize = 20_000;
/// Sentences that are drawn for training.
pub const SENTENCES_MAX: usize = 100_000;
/// Sentences that the learner can choose.
pub const CHOICES_MAX: usize = 200;
pub const PROBES_MAX: usize = 1000;
pub const CELLS_MAX: usize = 1000;
pub const CLAIMS_MAX: usize = 200;
/// Switches of a lesson's model: there is a model for every combination.
pub const SWITCHES_MAX: usize = 7;
/// Combinations of switches that claims are about: `attune check` trains each.
pub const SWITCHED_MODELS_MAX: usize = 8;

/// Things to choose among in a prediction.
pub const CHOICES_OF_PREDICTION: std::ops::RangeInclusive<usize> = 2..=8;
/// Hints, feedback and cases of one exercise.
pub const HINTS_MAX: usize = 10;
pub const FEEDBACK_MAX: usize = 20;
pub const CASES_MAX: usize = 20;

/// Terms of a glossary, and of one of them: other spellings, symbols, words of a spelling, bytes of a symbol
/// and of the meaning.
pub const GLOSSARY_TERMS_MAX: usize = 1000;
pub const SPELLINGS_MAX: usize = 16;
pub const SYMBOLS_MAX: usize = 8;
pub const SPELLING_WORDS_MAX: usize = 8;
pub const SYMBOL_BYTES_MAX: usize = 100;
pub const MEANING_BYTES_MAX: usize = 1000;

/// Width of the embeddings, and of the keys and values of one head.
pub const DIM_MAX: usize = 256;
pub const HEADS_MAX: usize = 16;
pub const LAYERS_MAX: usize = 8;
/// Hidden units of a feed-forward layer.
pub const FEED_FORWARD_MAX: usize = 1024;
/// Scores are divided by a temperature; nearer to 0 or further away they would leave the numbers.
pub const TEMPERATURE_MIN: f64 = 0.01;
pub const TEMPERATURE_MAX: f64 = 100.0;
/// Added to the variance in a norm: below, `f32` would not see it; above, norms would not norm.
pub const NORM_EPSILON_MIN: f64 = 1e-12;
pub const NORM_EPSILON_MAX: f64 = 0.1;
/// Factors and bounds of scores, logits and vectors.
pub const FACTOR_MIN: f64 = 0.001;
pub const FACTOR_MAX: f64 = 1000.0;
/// `θ` of rotary positions.
pub const THETA_MAX: f64 = 1e8;
/// Words that a model writes at once.
pub const GENERATED_MAX: usize = 64;
/// Words of one sentence.
pub const TOKENS_MAX: usize = 64;
/// Texts that a pretrained model is trained on further.
pub const TEXTS_MAX: usize = 10_000;
/// Pieces of one text that a pretrained model reads.
pub const PIECES_MAX: usize = 128;
/// Bytes that one sentence of a pretrained model may take over those of its weights: its layers, heads and pieces, each
/// within its own limit, multiply.
pub const SENTENCE_BYTES_MAX: f64 = 512.0 * 1024.0 * 1024.0;
/// Pairs of heads, queries and keys that are added up for one sentence of a pretrained model: about two seconds.
pub const SENTENCE_PAIRS_MAX: f64 = 1e9;
pub const WINDOW_MAX: usize = 16;
pub const NEGATIVES_MAX: usize = 64;
pub const EPOCHS_MAX: usize = 1000;
pub const STEPS_MAX: usize = 100_000;
/// The most that a squared distance counts beside the cross-entropy: beyond it no answer would be learned.
pub const COST_MAX: f64 = 10.0;
pub const BATCH_MAX: usize = 4096;
pub const LEARNING_RATE_MAX: f64 = 1.0;
pub const STOP_RULES_MAX: usize = 8;

/// Multiplications of the forward passes of a whole training run, and of all that the claims measure.
/// Each limit above is reasonable alone; this one keeps their product from running for hours. A laptop
/// does about 10¹⁰ a second with the backward passes that follow.
pub const TRAINING_WORK_MAX: f64 = 5e10;

/// Bytes that one training step may need: more would not fit beside a window on a small laptop.
pub const TRAINING_BYTES_MAX: f64 = 1024.0 * 1024.0 * 1024.0;

/// Pieces that one sentence of a pretrained model may have: those that it reads and the stage shows, as far as memory
/// and time for them are in measure with the model.
pub fn pieces_max(architecture: &Architecture, vocabulary: usize) -> usize {
    let weights = NUMBER_BYTES * parameters(architecture, 0, 0).0;
    let fits = |tokens: usize| {
        sentence_bytes(architecture, vocabulary, tokens) <= SENTENCE_BYTES_MAX + weights
            && pairs_of_heads(architecture, tokens) <= SENTENCE_PAIRS_MAX
    };
    (2..=PIECES_MAX.min(architecture.max_tokens)).rev().find(|&tokens| fits(tokens)).unwrap_or(1)
}

/// Why a sentence of the given number of pieces is not read; `None` where it is.
pub fn too_many_pieces(architecture: &Architecture, vocabulary: usize, count: usize) -> Option<String> {
    let most = pieces_max(architecture, vocabulary);
    let (positions, heads) = (architecture.max_tokens, architecture.heads());
    let why = match most {
        _ if most == positions => "the model reads".to_owned(),
        PIECES_MAX => "the stage shows".to_owned(),
        _ => format!(
            "with {heads} heads in all its layers, one sentence of this model would need too much memory or time; it reads"
        ),
    };
    (count > most).then(|| format!("the text has {count} pieces, but {why} at most {most}"))
}
