//! The hard limits of a lesson. Exceeding one is an issue with a place, never a slow or huge run.

use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::cost::{NUMBER_BYTES, pairs_of_heads, parameters, sentence_bytes};

pub use crate::lesson::reading::file::LESSON_BYTES_MAX;
pub use crate::lesson::reading::issue::ISSUES_MAX;

/// Greatest size of the Markdown of a text cell, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;
/// Numbers that a lesson can have in a course, and minutes that a lesson can take.
pub const NUMBERS: std::ops::RangeInclusive<usize> = 1..=999;
pub const MINUTES: std::ops::RangeInclusive<usize> = 1..=600;
/// Greatest number of lessons on which a lesson builds.
pub const BUILDS_ON_MAX: usize = 20;
/// Greatest number of characters of a title, a summary, a caption or the words of a claim.
pub const LINE_CHARS_MAX: usize = 500;
/// Greatest number of characters of an id, which becomes part of file names.
pub const ID_CHARS_MAX: usize = 64;
/// Greatest number of characters of the name of a group, a slot or a topic; messages list all of them.
pub const NAME_CHARS_MAX: usize = 40;
/// Greatest number of characters of a word; a longer one cannot be drawn as a label.
pub const WORD_CHARS_MAX: usize = 40;

/// Greatest number of times that a stage cell plays; more would only keep the learner waiting.
pub const PLAYS_MAX: usize = 9;
/// Greatest number of lines of a stage cell.
pub const LINES_MAX: usize = 100;

/// Greatest size of a template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 4096;
/// Greatest number of templates of a topic.
pub const TEMPLATES_MAX: usize = 200;
/// Greatest number of words with several senses.
pub const AMBIGUOUS_MAX: usize = 16;
/// Greatest number of groups: each needs a colour that differs from all others.
pub const GROUPS_MAX: usize = 32;
/// Greatest number of different words of a corpus.
pub const VOCABULARY_MAX: usize = 20_000;
/// Greatest number of sentences that are drawn for training.
pub const SENTENCES_MAX: usize = 100_000;
/// Greatest number of sentences that the learner can choose.
pub const CHOICES_MAX: usize = 200;
pub const PROBES_MAX: usize = 1000;
pub const CELLS_MAX: usize = 1000;
pub const CLAIMS_MAX: usize = 200;
/// Greatest number of switches of a lesson's model, since there is a model for every combination.
pub const SWITCHES_MAX: usize = 7;
/// Greatest number of combinations of switches in claims, since `attune check` trains each of them.
pub const SWITCHED_MODELS_MAX: usize = 8;

/// Number of choices of a prediction.
pub const CHOICES_OF_PREDICTION: std::ops::RangeInclusive<usize> = 2..=8;
/// Greatest number of hints, feedback and cases of an exercise.
pub const HINTS_MAX: usize = 10;
pub const FEEDBACK_MAX: usize = 20;
pub const CASES_MAX: usize = 20;

/// Greatest number of terms of a glossary, of other spellings and symbols of a term, and of words in a spelling; and
/// greatest size of a symbol and of the meaning, in bytes.
pub const GLOSSARY_TERMS_MAX: usize = 1000;
pub const SPELLINGS_MAX: usize = 16;
pub const SYMBOLS_MAX: usize = 8;
pub const SPELLING_WORDS_MAX: usize = 8;
pub const SYMBOL_BYTES_MAX: usize = 100;
pub const MEANING_BYTES_MAX: usize = 1000;

/// Greatest width of the embeddings, and of the keys and values of a head.
pub const DIM_MAX: usize = 256;
pub const HEADS_MAX: usize = 16;
pub const LAYERS_MAX: usize = 8;
/// Greatest number of hidden units of a feed-forward layer.
pub const FEED_FORWARD_MAX: usize = 1024;
/// Limits of the temperature, by which scores are divided; beyond them, scores would overflow or vanish.
pub const TEMPERATURE_MIN: f64 = 0.01;
pub const TEMPERATURE_MAX: f64 = 100.0;
/// Limits of the number that a norm adds to the variance: below, the number would be lost in `f32`; above, the norm
/// would have little effect.
pub const NORM_EPSILON_MIN: f64 = 1e-12;
pub const NORM_EPSILON_MAX: f64 = 0.1;
/// Limits of the factors and bounds of scores, logits and vectors.
pub const FACTOR_MIN: f64 = 0.001;
pub const FACTOR_MAX: f64 = 1000.0;
/// Numbers of buckets of distances. With fewer, a direction has no bucket of a single distance; with more, there are
/// more buckets than distances in a sentence.
pub const BUCKETS: std::ops::RangeInclusive<usize> = 4..=128;
/// Greatest distance from which all distances are in the last bucket; no sentence has distances as large.
pub const DISTANCE_MAX: usize = 1024;
/// Greatest base `θ` of rotary positions.
pub const THETA_MAX: f64 = 1e8;
/// Greatest number of words that a model writes at once.
pub const GENERATED_MAX: usize = 64;
/// Greatest number of words of a sentence.
pub const TOKENS_MAX: usize = 64;
/// Greatest number of texts on which a pretrained model is trained further.
pub const TEXTS_MAX: usize = 10_000;
/// Greatest number of pieces of a text that a pretrained model reads.
pub const PIECES_MAX: usize = 128;
/// Greatest memory of a sentence of a pretrained model, in bytes, in addition to that of its weights. Layers, heads and
/// pieces are within their own limits, but their product may be too large.
pub const SENTENCE_BYTES_MAX: f64 = 512.0 * 1024.0 * 1024.0;
/// Greatest number of pairs of heads, queries and keys in one sentence of a pretrained model; it takes about two
/// seconds.
pub const SENTENCE_PAIRS_MAX: f64 = 1e9;
pub const WINDOW_MAX: usize = 16;
pub const NEGATIVES_MAX: usize = 64;
pub const EPOCHS_MAX: usize = 1000;
pub const STEPS_MAX: usize = 100_000;
/// Greatest weight of a squared distance beside the cross-entropy; with more, no answer would be learned.
pub const COST_MAX: f64 = 10.0;
pub const BATCH_MAX: usize = 4096;
pub const LEARNING_RATE_MAX: f64 = 1.0;
pub const STOP_RULES_MAX: usize = 8;

/// Greatest number of multiplications in the forward passes of a whole training, and in the measurement of all claims.
/// Each of the limits above is reasonable alone, but their product could run for hours. With the backward passes, a
/// laptop does about 10¹⁰ a second.
pub const TRAINING_WORK_MAX: f64 = 5e10;

/// Greatest memory of a training step, in bytes; more would not fit beside a window on a small laptop.
pub const TRAINING_BYTES_MAX: f64 = 1024.0 * 1024.0 * 1024.0;

/// Returns the most pieces that a sentence may have: no more than the model reads and the stage shows, and so few
/// that memory and time stay within bounds.
pub fn pieces_max(architecture: &Architecture, vocabulary: usize) -> usize {
    let weights = NUMBER_BYTES * parameters(architecture, 0, 0).0;
    let fits = |tokens: usize| {
        sentence_bytes(architecture, vocabulary, tokens) <= SENTENCE_BYTES_MAX + weights
            && pairs_of_heads(architecture, tokens) <= SENTENCE_PAIRS_MAX
    };
    (2..=PIECES_MAX.min(architecture.max_tokens)).rev().find(|&tokens| fits(tokens)).unwrap_or(1)
}

/// Returns the reason why a sentence of the given number of pieces is refused, or `None` if it is not.
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
