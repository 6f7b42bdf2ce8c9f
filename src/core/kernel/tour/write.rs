//! The cells of a tour. Numbers are live expressions over the model's tensors, for the sentence to which the cell
//! refers; layers are counted from 1, as in the window.

use attune_engine::messages::counted;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Mask, Window};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::head_measures::{HeadMeasure, LEAST_WEIGHT, TIMES_EVEN};
use attune_engine::numerics::model::{Architecture, Readout};
use attune_engine::numerics::norm::NormKind;
use attune_engine::numerics::params::code_suffix;
use attune_engine::numerics::positions::Positions;

use crate::kernel::model::LessonModel;
use crate::kernel::notebook::document::TourCell;
use crate::kernel::tour::links::{escaped, head_link, sentence_link};
use crate::kernel::tour::{
    Findings, FoundHead, FoundHeads, FoundText, LikeliestAnswer, MapLine, Occurrence, Parting, TourSink, Turned,
    translators,
};
use crate::kernel::values::sentence::{Token, token_labels};

/// Returns all cells in order. A section is left out if its finding is missing.
pub fn cells(model: &LessonModel, findings: &Findings) -> Vec<TourCell> {
    let architecture = &model.training.network().architecture;
    let Findings { turned, sinks, heads, parting, answered, translations } = findings;
    let has_readout = model.ground.pretrained.as_ref().is_none_or(|read| read.has_head);
    let parts = TourCell { markdown: parts(architecture, model.space.vocabulary.len(), has_readout), speaks_of: None };
    let layers = architecture.blocks.len();
    let sections = [
        turned.as_ref().map(|found| cell(found, words_that_turn(found))),
        heads.as_ref().map(|found| cell(found, known_heads(found))),
        sinks.as_ref().map(|found| cell(found, known_sinks(found))),
        parting.as_ref().map(|found| cell(found, two_senses(found, layers))),
        answered.as_ref().map(|found| cell(found, answer(found, model, layers))),
    ];
    let tasks = tasks(findings, model);
    let sections = translations.cells(architecture).into_iter().chain(sections.into_iter().flatten());
    [parts].into_iter().chain(sections).chain([tasks]).collect()
}

fn cell<T>(found: &FoundText<T>, markdown: String) -> TourCell {
    TourCell { markdown, speaks_of: Some(found.text.clone()) }
}

/// Describes the parts of the model: its layer in formulas, and each part in a row of a table.
fn parts(architecture: &Architecture, vocabulary: usize, has_readout: bool) -> String {
    let blocks = &architecture.blocks;
    let has_source = architecture.has_source();
    let (whose, formulas) = match blocks.iter().all(|other| *other == blocks[0]) {
        _ if has_source => (
            "Each layer of the decoder, with the source $z$ as the encoder leaves it,",
            translators::formulas(&blocks[0]),
        ),
        true => ("Each layer", formulas(&blocks[0])),
        false => ("The first layer", formulas(&blocks[0])),
    };
    let row = |(part, words, lesson): (&str, String, &str)| {
        format!("| {part} | {words} | [{}](attune:lesson/{lesson}) |", title(lesson))
    };
    let rows: Vec<String> = forms(architecture, vocabulary, has_readout).into_iter().map(row).collect();
    format!(
        "## What the model is made of\n\n{whose} turns the vector $x$ of every token into $y$:\n\n{}\n\n| part | \
         here | lesson |\n|---|---|---|\n{}",
        formulas,
        rows.join("\n")
    )
}

/// Returns the forms of the model's parts, each with the lesson that teaches it.
fn forms(
    architecture: &Architecture,
    vocabulary: usize,
    has_readout: bool,
) -> Vec<(&'static str, String, &'static str)> {
    let Architecture { width, max_tokens, blocks, .. } = architecture;
    // The feed-forward part of a decoder's layer is in its second block.
    let block = if architecture.has_source() { &blocks[blocks.len() - 1] } else { &blocks[0] };
    let attention = &blocks[0].attention;
    let positions = match architecture.positions {
        Positions::Learned => format!("a learned vector for each of {max_tokens} positions is added"),
        Positions::Sinusoidal | Positions::SinusoidalInHalves => {
            "sines and cosines of the position are added".to_owned()
        }
        Positions::None if attention.distances.is_some() => {
            "each head adds a number for the distance to the scores of self-attention".to_owned()
        }
        Positions::None => turns(attention),
    };
    let mut scale = scaled_by(attention);
    if let Some(cap) = attention.score_cap {
        scale.push_str(&format!(", and kept between −{cap} and {cap}"));
    }
    let (layers, heads) = (counted(blocks.len(), "layer"), counted(attention.heads, "head"));
    let layers =
        if architecture.has_source() { translators::layers(architecture) } else { format!("{layers} of {heads}") };
    let mut rows = vec![
        ("word vectors", format!("{vocabulary} tokens, each a row of {width} numbers"), "words"),
        ("positions", positions, "order"),
        (
            "attention",
            format!("{layers}, with queries and keys of {} numbers{}", attention.key_width, shared(attention)),
            if attention.group_size > 1 { "now" } else { "heads" },
        ),
        ("a token sees", sees(blocks), if blocks.iter().all(has_window_of_all) { "masks" } else { "now" }),
        ("scores", scale, "scaling"),
    ];
    let (norm, taught) = match block.norm_form.kind {
        NormKind::Layer => ("layer norm", "block"),
        NormKind::Rms => ("RMSNorm", "now"),
    };
    rows.extend(norm_words(block).map(|words| (norm, words, taught)));
    let gated = if block.gated { ", each with a gate" } else { "" };
    let forward = |hidden| format!("{hidden} hidden units with {}{gated}", name(block.activation));
    let forward = block.feed_forward.map(forward);
    let taught = if block.gated { "now" } else { "block" };
    rows.extend(forward.map(|words| ("feed-forward part", words, taught)));
    let answers = if has_readout { readout(architecture.readout) } else { "none, because the model has no readout" };
    rows.push(("answers", answers.to_owned(), "next_word"));
    rows
}

/// Describes the form of positions if nothing is added to the vectors.
fn turns(attention: &AttentionConfig) -> String {
    match &attention.rotary {
        Some(rotary) if rotary.width < attention.key_width => {
            format!(
                "the first {} numbers of each query and key are rotated by an angle that grows with the position",
                rotary.width
            )
        }
        Some(_) => "queries and keys are rotated by angles that grow with the position".to_owned(),
        None => "no positions are added to the vectors".to_owned(),
    }
}

/// Describes the divisor of the scores: `√d_k`, a number of the model's own, or both.
fn scaled_by(attention: &AttentionConfig) -> String {
    match (attention.scale, attention.score_divisor) {
        (true, 1.0) => "divided by $\\sqrt{d_k}$".to_owned(),
        (false, 1.0) => "not scaled".to_owned(),
        (is_by_root, divisor) => {
            let root = if is_by_root { (attention.key_width as f64).sqrt() } else { 1.0 };
            format!("divided by {:.3}", root * divisor)
        }
    }
}

/// Describes heads that share keys and values, and norms of queries and keys.
fn shared(attention: &AttentionConfig) -> String {
    let shared = match attention.group_size {
        1 => String::new(),
        group => format!("; groups of {group} heads share keys and values"),
    };
    let normed = if attention.query_key_norm.is_some() { "; a norm is applied to queries and keys" } else { "" };
    format!("{shared}{normed}")
}

/// Describes which tokens a token sees, in the first layer and in layers with another window.
fn sees(blocks: &[BlockConfig]) -> String {
    if blocks.iter().any(BlockConfig::attends_to_source) {
        return "in the source all of its tokens; in the target itself, the tokens before it, and the source"
            .to_owned();
    }
    let attention = &blocks[0].attention;
    let sees = match attention.mask {
        Mask::None => "all tokens, before it and after it",
        Mask::Causal => "itself and the tokens before it",
        Mask::Custom(_) => "the tokens that a table names",
    };
    let windowed: Vec<&Window> =
        blocks.iter().map(|block| &block.attention.window).filter(|window| **window != Window::ALL).collect();
    let Some(reach) = windowed.first().and_then(|window| window.before.or(window.after)) else {
        return sees.to_owned();
    };
    let layers = if windowed.len() == blocks.len() {
        String::new()
    } else {
        format!(" in {} of {} layers", windowed.len(), blocks.len())
    };
    format!("{sees}, at a distance of at most {reach}{layers}")
}

fn has_window_of_all(block: &BlockConfig) -> bool {
    block.attention.window == Window::ALL
}

/// Returns the formulas of the layer's sums and norms.
fn formulas(block: &BlockConfig) -> String {
    let normed = |applies: bool, of: String| if applies { format!("\\text{{norm}}({of})") } else { of };
    let (is_pre, is_post) = (block.norm == Norm::Pre, block.norm == Norm::Post);
    let part = |inner: &str, of: &str, has_norm: bool| {
        let made = format!("\\text{{{inner}}}({})", normed(is_pre && has_norm, of.to_owned()));
        normed(block.output_norms, made)
    };
    let joined = |inner: &str, of: &str, has_norm: bool| {
        let made = part(inner, of, has_norm);
        normed(is_post && has_norm, if block.residual { format!("{of} + {made}") } else { made })
    };
    let attended = joined("attention", "x", block.attention_norm);
    match (block.feed_forward, block.branches) {
        (None, _) => format!("$$y = {attended}$$"),
        (Some(_), Branches::Sequential) => {
            format!("$$a = {attended}$$\n\n$$y = {}$$", joined("feed-forward", "a", true))
        }
        (Some(_), Branches::Parallel | Branches::ParallelOneNorm) => {
            format!("$$y = {attended} + {}$$", part("feed-forward", "x", true))
        }
    }
}

fn norm_words(block: &BlockConfig) -> Option<String> {
    let usual = match block.norm {
        Norm::None => None,
        Norm::Pre => Some("applied before each part"),
        Norm::Post => Some("applied after each sum"),
    };
    let own = block.output_norms.then_some("applied to what each part adds");
    let words: Vec<&str> = usual.into_iter().chain(own).collect();
    (!words.is_empty()).then(|| words.join(", and "))
}

fn name(activation: Activation) -> &'static str {
    match activation {
        Activation::Relu => "ReLU",
        Activation::Gelu => "GELU",
        Activation::GeluTanh => "GELU (tanh approximation)",
        Activation::Silu => "SiLU",
    }
}

fn readout(readout: Readout) -> &'static str {
    match readout {
        Readout::Tied => "dot products with the word vectors",
        Readout::Transformed(_) => "a separate layer, then dot products with the word vectors",
        Readout::Linear => "separate weights",
        Readout::TransformedLinear(_) => "a separate layer and separate weights",
    }
}

/// Returns the title of a lesson that teaches a part.
fn title(lesson: &str) -> &'static str {
    match lesson {
        "words" => "Words as vectors",
        "order" => "Order of words",
        "heads" => "Many heads, folded",
        "masks" => "Do not look ahead",
        "scaling" => "Why the square root of d",
        "block" => "The block",
        "now" => "2017 and now",
        _ => "A whole two-word classifier",
    }
}

fn words_that_turn(found: &FoundText<Turned>) -> String {
    let FoundText { text, tokens, found: Turned { farthest, least } } = found;
    let cosine = |at: &usize| format!("{{{{ cosine(X[{at}], Y[{at}]) | .2 }}}}");
    format!(
        "## What context changes\n\n{}\n\nClick the sentence to put it on the stage, and press *L* to go from layer \
         to layer. The vector of every word changes depending on the words around it. The vector of {} turns \
         farthest: the cosine between this vector before the first layer and after the last layer is {}. The vector \
         of {} turns least; its cosine is {}. (A cosine of 1 means that a vector has not turned, and 0 means a right \
         angle.)",
        sentence_link(text),
        word(tokens, *farthest),
        cosine(farthest),
        word(tokens, *least),
        cosine(least),
    )
}

/// Returns the name in code of a layer's attention weights.
fn weights(block: usize) -> String {
    format!("A{}", code_suffix(block))
}

impl MapLine {
    /// Returns code for the mean weight of a head on the line.
    fn mean(&self, block: usize, own: usize) -> String {
        let map = weights(block);
        match self {
            Self::Diagonal { query, key, len } => {
                let (queries, keys) = (query + len, key + len);
                format!("mean(sum({map}[{own}, {query}..{queries}, {key}..{keys}] * eye({len})))")
            }
            Self::Column { queries, key } => {
                format!("mean({map}[{own}, {}..{}, {key}])", queries.start, queries.end)
            }
        }
    }
}

fn known_heads(FoundText { text, found, .. }: &FoundText<FoundHeads>) -> String {
    let row = |head: &FoundHead| {
        let FoundHead { block, own, kind, line, even, .. } = head;
        format!(
            "| {} | {} | {{{{ {} | .0% }}}} | {:.0} % |",
            link(head),
            looks_at(*kind),
            line.mean(*block, *own),
            100.0 * even
        )
    };
    let rows: Vec<String> = found.named.iter().map(row).collect();
    format!(
        "## Where the attention goes\n\n{}\n\nIn **attention**, every token receives a weighted sum of vectors of \
         the tokens that it sees, and each head has its own weights. The sentence is repeated here, because a head \
         that looks for copies can be recognised only where something is repeated. Each head in the table gives one \
         kind of token at least {:.0} % of its weight, and at least {TIMES_EVEN} times as much as if it gave all \
         tokens the same weight. The numbers are means over all tokens that have such a token to look at. Click a \
         head to open it.\n\n| head | looks at | weight | if all weights were equal |\n|---|---|---|---|\n{}\n\n{}",
        sentence_link(text),
        100.0 * LEAST_WEIGHT,
        rows.join("\n"),
        other_heads(found),
    )
}

/// Returns the sentences below the table: about heads that look for copies, and about the heads of no kind.
fn other_heads(found: &FoundHeads) -> String {
    let has = |kind: HeadMeasure| found.named.iter().any(|head| head.kind == kind);
    let copies = match (has(HeadMeasure::Induction), has(HeadMeasure::Duplicate)) {
        (true, _) => {
            "The token after an earlier copy comes next if the text repeats itself. A head that looks at this token \
             is an **induction head**. "
        }
        (false, true) => "",
        (false, false) => {
            "In this text, no head gives that much weight to an earlier copy of the current token, or to the token \
             after that copy. "
        }
    };
    let others = match found.others {
        0 => "Every head of the model shows one of these patterns here.".to_owned(),
        1 => "One head of the model shows none of these patterns here.".to_owned(),
        others => format!("{others} heads of the model show none of these patterns here."),
    };
    let all = "[All heads](<attune:panel/All heads>) shows the weights of every head.";
    format!("{copies}{others} {all}")
}

fn link(head: &FoundHead) -> String {
    head_link(&format!("layer {}, head {}", head.block + 1, head.own + 1), head.head)
}

fn looks_at(kind: HeadMeasure) -> &'static str {
    match kind {
        HeadMeasure::Previous => "the token before",
        HeadMeasure::First => "the first token",
        HeadMeasure::Duplicate => "an earlier copy of the same token",
        _ => "the token after an earlier copy",
    }
}

fn known_sinks(found: &FoundText<Vec<TourSink>>) -> String {
    let line = |sink: &TourSink| {
        let TourSink { token, block, queries, .. } = sink;
        let mean = format!("mean(mean({}[.., {}..{}, {token}]))", weights(*block), queries.start, queries.end);
        format!("- {}: {{{{ {mean} | .0% }}}} in layer {}", word(&found.tokens, *token), block + 1)
    };
    let lines: Vec<String> = found.found.iter().map(line).collect();
    format!(
        "## Sinks\n\n{}\n\nA **sink** is a token that gets much attention whatever the query is: more than 30 % of \
         the weight on average over all heads, and more than twice what it would get if all tokens got the same. \
         Here is each sink, with its mean weight in the layer where this weight is largest:\n\n{}\n\nThe weights of \
         a head sum to 1 even where the head has nothing to look for. The usual explanation is that the head then \
         spends them where they add little. [All heads](<attune:panel/All heads>) can hide sinks.",
        sentence_link(&found.text),
        lines.join("\n")
    )
}

/// Greatest number of rows of a table that a reader can survey.
const ROWS_MAX: usize = 14;

fn two_senses(found: &FoundText<Parting>, layers: usize) -> String {
    let FoundText { text, tokens, found: Parting { occurrences, layer } } = found;
    let state = |after: usize| if after == layers { "Y".to_owned() } else { format!("X{}", code_suffix(after)) };
    let vector = |after: usize, Occurrence { text, at }: Occurrence| match text {
        Some(text) => format!("forward({text:?}).{}[{at}]", state(after)),
        None => format!("{}[{at}]", state(after)),
    };
    let cosine = |after: usize, [a, b]: [usize; 2]| {
        format!("cosine({}, {})", vector(after, occurrences[a]), vector(after, occurrences[b]))
    };
    // The mean over all four pairs with different senses would exceed the greatest length of an expression.
    let mean = |after: usize, [one, other]: [[usize; 2]; 2]| {
        format!("{{{{ ({} + {}) / 2 | .2 }}}}", cosine(after, one), cosine(after, other))
    };
    let step = layers.div_ceil(ROWS_MAX - 1).max(1);
    let row = |after: usize| {
        let [same, other] = [mean(after, [[0, 2], [1, 3]]), mean(after, [[0, 1], [2, 3]])];
        format!("| {after} | {same} | {other} |")
    };
    let shown_after = (0..=layers).filter(|after| after % step == 0 || *after == layers || after == layer);
    let rows: Vec<String> = shown_after.map(row).collect();
    let texts: Vec<String> = match occurrences.map(|occurrence| occurrence.text) {
        [Some(a), Some(b), Some(c), Some(d)] => {
            let pair =
                |one: &str, other: &str| format!("{} and {}", sentence_link(&one.into()), sentence_link(&other.into()));
            vec![format!("- one sense: {}", pair(a, c)), format!("- the other: {}", pair(b, d))]
        }
        _ => vec![sentence_link(text)],
    };
    // The first occurrence is in the text to which the cell refers in either case.
    let name = tokens[occurrences[0].at].text.to_lowercase();
    format!(
        "## One word, two senses\n\n{}\n\n*{name}* has one row in the embedding table, but two senses here. From \
         layer {layer} on, each *{name}* is nearest to the other *{name}* in the same sense. The table lists mean \
         cosines, for the two pairs with the same sense and for two of the four pairs with different senses. (Layer \
         0 means before the first layer, where the vectors can differ only because of their positions.)\n\n| after \
         layer | same sense | other sense |\n|---|---|---|\n{}\n\n*Senses* in [Meaning](attune:panel/Meaning) draws \
         such cosines as curves, for sentences that you choose.",
        texts.join("\n"),
        rows.join("\n")
    )
}

/// Returns code for the probability of the answer.
fn probability(LikeliestAnswer { at, class, .. }: &LikeliestAnswer) -> String {
    format!("softmax(Z[{at}])[{class}]")
}

fn answer(found: &FoundText<LikeliestAnswer>, model: &LessonModel, layers: usize) -> String {
    let FoundText { text, tokens, found: answered } = found;
    let answer = escaped(&model.classes[answered.class]);
    let asked = match answered.at + 1 == tokens.len() {
        true => "After this, the model expects".to_owned(),
        false => format!("In place of {} the model puts", word(tokens, answered.at)),
    };
    let lens = match answered.layer {
        0 => format!("*{answer}* is the likeliest answer even before the first layer."),
        layer if layer == layers => format!("*{answer}* becomes the likeliest answer only in the last layer."),
        layer => format!("From layer {layer} of {layers} on, *{answer}* is the likeliest answer."),
    };
    format!(
        "## What the model answers\n\n{}\n\n{asked} *{answer}*, with a probability of {{{{ {} | .3 }}}}. {lens} The \
         **logit lens** shows what the model would answer if it ended after an earlier layer; see *Layer by layer* \
         in [Answers](attune:panel/Answers).",
        sentence_link(text),
        probability(answered),
    )
}

/// Returns a cell with two tasks for which the findings suffice or, for a model with a source, with the tasks of
/// translators.
fn tasks(findings: &Findings, model: &LessonModel) -> TourCell {
    const TASKS: usize = 2;
    let numbered = |tasks: &mut dyn Iterator<Item = String>| -> String {
        let tasks: Vec<String> = tasks.enumerate().map(|(i, task)| format!("{}. {task}", i + 1)).collect();
        format!("## Try it\n\n{}", tasks.join("\n"))
    };
    if findings.translations.are_measured() {
        let markdown = numbered(&mut translators::TASKS.into_iter().map(str::to_owned));
        return TourCell { markdown, speaks_of: None };
    }
    let answered = findings.answered.as_ref();
    let strongest = findings.heads.as_ref().and_then(|found| found.found.named.first());
    let senses = findings.parting.as_ref().map(|_| {
        "**Try another word.** In *Senses* in [Meaning](attune:panel/Meaning), write a word with two senses and four \
         sentences with it. After which layer does the nearest other sentence always have the same sense?"
            .to_owned()
    });
    let always = [
        "**Make attention sharper.** In [Intervene](attune:panel/Intervene), set the attention temperature to 0.5, and then \
         to 2. Which points on the stage move farthest?",
        "**Follow one word.** Click a point on the stage and press *L* again and again. In which layer does it move \
         farthest?",
    ];
    let found = [answered.map(|found| find_a_head(found, model)), strongest.map(try_another_text), senses];
    let all = found.into_iter().flatten().chain(always.map(str::to_owned));
    let speaks_of = answered.map(|found| found.text.clone());
    TourCell { markdown: numbered(&mut all.take(TASKS)), speaks_of }
}

fn find_a_head(found: &FoundText<LikeliestAnswer>, model: &LessonModel) -> String {
    format!(
        "**Find a head that the answer needs.** Put this sentence on the stage: {} Open \
         [Intervene](attune:panel/Intervene) and switch a head off. Read the probability of *{}* here, which is {{{{ \
         {} | .3 }}}} now, and switch the head on again. Which head lowers the probability most when it is off?",
        sentence_link(&found.text),
        escaped(&model.classes[found.found.class]),
        probability(&found.found)
    )
}

fn try_another_text(head: &FoundHead) -> String {
    let (title, twice) = match head.kind {
        HeadMeasure::Previous | HeadMeasure::First => ("Try another text", ""),
        _ => ("Say something else twice", ", twice,"),
    };
    format!(
        "**{title}.** Type a text of your own{twice} above the stage, and choose *{}* in [All \
         heads](<attune:panel/All heads>), which marks the five heads with the highest values. Is {} one of them?",
        head.kind.words().title,
        link(head)
    )
}

/// Returns a token with the label that it has on the stage.
fn word(tokens: &[Token], at: usize) -> String {
    format!("*{}*", escaped(&token_labels(tokens)[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_divided_by_the_root_and_the_number_of_the_model() {
        let attention = AttentionConfig::multi_head(20, 2);
        // As in Gemma, whose queries are scaled by a number of the config instead of `d_k`.
        let own = AttentionConfig { score_divisor: (6.0f64 / 10.0).sqrt(), ..attention.clone() };
        assert_eq!(scaled_by(&attention), "divided by $\\sqrt{d_k}$");
        assert_eq!(scaled_by(&own), "divided by 2.449");
        assert_eq!(scaled_by(&AttentionConfig { scale: false, ..own }), "divided by 0.775");
        assert_eq!(scaled_by(&AttentionConfig { scale: false, ..attention }), "not scaled");
    }
}
