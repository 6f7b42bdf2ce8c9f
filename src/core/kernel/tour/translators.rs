//! The tour of a model with an encoder and a decoder: which head aligns, what each kind of attention is for, and
//! whether the words of the target come nearer to those of the source. Everything is measured over all of the tour's
//! sources, with the targets that the model writes.

use std::sync::Arc;

use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::head_measures::{HeadMeasure, HeadPatterns, LEAST_WEIGHT, MeasuredToken, alignment};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, Tower};
use attune_engine::numerics::projection::Lens;
use attune_engine::numerics::vectors::cosine;

use crate::kernel::model::LessonModel;
use crate::kernel::notebook::document::TourCell;
use crate::kernel::sentence_pass::sentence::{SentenceFrame, lens};
use crate::kernel::tour::links::{escaped, head_link, sentence_link};
use crate::kernel::values::sentence::Token;

/// Least change of a mean cosine that the tour calls coming nearer or moving away.
const NEARER_MIN: f64 = 0.1;

/// A mean to which numbers are added one by one; numbers that are not finite are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mean {
    sum: f64,
    count: usize,
}

impl Mean {
    fn add(&mut self, number: f64) {
        if number.is_finite() {
            self.sum += number;
            self.count += 1;
        }
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The measures that the tour lists for each head of cross-attention.
const LISTED: [HeadMeasure; 3] = [HeadMeasure::Aligned, HeadMeasure::Monotony, HeadMeasure::Entropy];

/// Measures of one head of cross-attention.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CrossHead {
    /// Index of the head, counted over all layers.
    head: usize,
    /// Means of the measures in [`LISTED`].
    means: [Mean; LISTED.len()],
}

/// A row of a head's weights in which the head looks at one word, and the word that the model writes next.
#[derive(Clone, Debug, PartialEq)]
struct ReadRow {
    /// Index of the head, counted over all layers.
    head: usize,
    /// The word of the target at which the row begins, and the next one.
    read: String,
    next: String,
    /// The word of the source with the largest weight of the row, and the weight.
    source: String,
    weight: f32,
}

impl ReadRow {
    /// Returns the row of the largest weight, among the rows after the start token that have a next word.
    fn of(head: usize, weights: &Matrix<f32>, target: &[Token], source: &[Token]) -> Option<Self> {
        // Marks such as `<s>` or `>>fra<<`, with which some targets begin, are no words.
        let is_word = |token: &Token| token.text.starts_with(char::is_alphabetic);
        let read = |query: &usize| is_word(&target[*query]) && is_word(&target[*query + 1]);
        let words = (0..source.len()).filter(|key| !source[*key].is_added());
        let read: Vec<usize> = (1..target.len().saturating_sub(1)).filter(read).collect();
        let cells = words.flat_map(|key| read.iter().map(move |query| (*query, key)));
        let (query, key) = cells.max_by(|a, b| weights.get(a.0, a.1).total_cmp(&weights.get(b.0, b.1)))?;
        Some(Self {
            head,
            read: target[query].text.clone(),
            next: target[query + 1].text.clone(),
            source: source[key].text.clone(),
            weight: weights.get(query, key),
        })
    }
}

/// Cosines between each word of the target and those of the source: the aligned word, and the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Nearness {
    aligned: Mean,
    others: Mean,
}

/// The kinds of attention in a model with an encoder and a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttentionKind {
    OfEncoder,
    OfDecoder,
    Cross,
}

impl AttentionKind {
    const ALL: [Self; 3] = [Self::OfEncoder, Self::OfDecoder, Self::Cross];

    fn words(self) -> &'static str {
        match self {
            Self::OfEncoder => "the encoder's self-attention",
            Self::OfDecoder => "the decoder's self-attention",
            Self::Cross => "cross-attention",
        }
    }

    fn of(architecture: &Architecture, block: usize, config: &BlockConfig) -> Self {
        match architecture.tower_of(block) {
            Tower::Source => Self::OfEncoder,
            Tower::Sentence if config.attends_to_source() => Self::Cross,
            Tower::Sentence => Self::OfDecoder,
        }
    }

    /// Returns interventions that switch off all heads of this kind.
    fn off(self, architecture: &Architecture) -> Interventions<f32> {
        let of_block = |(block, config): (usize, &BlockConfig)| {
            let is_off = Self::of(architecture, block, config) == self;
            std::iter::repeat_n(if is_off { HeadMode::Off } else { HeadMode::Live }, config.attention.heads)
        };
        let heads = architecture.numbered_blocks().flat_map(of_block).collect();
        Interventions { heads, ..Interventions::default() }
    }
}

/// The measures of a model with an encoder and a decoder, over the texts so far.
#[derive(Clone, Debug, Default)]
pub struct Translations {
    texts: Vec<Arc<str>>,
    heads: Vec<CrossHead>,
    /// Share of the weights on the aligned word if all words had the same weight.
    even: Mean,
    /// Cosines before the decoder's layers, and after them.
    nearness: [Nearness; 2],
    /// Share of the places at which the likeliest word stays the same without each kind of attention.
    without: [Mean; AttentionKind::ALL.len()],
    /// The words of the first target, each with the likeliest next word, and with the likeliest one without
    /// cross-attention.
    next_words: Vec<[String; 3]>,
    /// The rows of the first text that show best where each head looks.
    rows: Vec<ReadRow>,
}

/// Returns the heads of cross-attention.
fn cross_heads(architecture: &Architecture) -> Vec<usize> {
    let cross = architecture.numbered_blocks().filter(|(_, config)| config.attends_to_source());
    cross.flat_map(|(block, _)| architecture.heads_of(block)).collect()
}

impl Translations {
    /// Measures the pass of a source and its target.
    pub fn take(&mut self, text: &Arc<str>, frame: &SentenceFrame, run: &Activations<f32>, model: &LessonModel) {
        let Some(source) = frame.source_tokens() else { return };
        let network = model.training.network();
        let heads = cross_heads(&network.architecture);
        let all: Vec<_> = run.heads().collect();
        let keys: Vec<MeasuredToken> = source.iter().map(Token::measured).collect();
        let aligned = alignment(heads.iter().map(|&head| &all[head].weights), &keys);
        if aligned.is_empty() {
            return;
        }
        self.texts.push(text.clone());
        self.even.add(1.0 / keys.len() as f64);
        let patterns = HeadPatterns::between(frame.tokens().len(), &keys).aligned(&aligned);
        if self.heads.is_empty() {
            self.heads = heads.iter().map(|&head| CrossHead { head, means: Default::default() }).collect();
            let row = |&head: &usize| ReadRow::of(head, &all[head].weights, frame.tokens(), source);
            self.rows = heads.iter().filter_map(row).collect();
        }
        for CrossHead { head, means } in &mut self.heads {
            for (mean, measure) in means.iter_mut().zip(LISTED) {
                patterns.measure(measure, &all[*head].weights).into_iter().for_each(|number| mean.add(number));
            }
        }
        self.measure_nearness(run, &aligned, &keys, model);
        self.measure_without(run, frame, model);
    }

    /// Measures how often the likeliest word at a place of the target stays the same without the heads of each kind.
    fn measure_without(&mut self, run: &Activations<f32>, frame: &SentenceFrame, model: &LessonModel) {
        let (network, parameters) = (model.training.network(), model.training.model().trained());
        let likeliest = |run: &Activations<f32>| -> Vec<usize> {
            let logits = network.logits_of(parameters, &run.output);
            let largest = |row: &[f32]| (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
            (0..logits.rows()).map(|place| largest(logits.row(place))).collect()
        };
        let whole = likeliest(run);
        for (kind, share) in AttentionKind::ALL.into_iter().zip(&mut self.without) {
            let off = kind.off(&network.architecture);
            let found = likeliest(&frame.activations(network, parameters, &off));
            whole.iter().zip(&found).for_each(|(a, b)| share.add(f64::from(u8::from(a == b))));
            if kind == AttentionKind::Cross && self.next_words.is_empty() {
                let class = |class: usize| model.classes[class].clone();
                let words = frame.tokens().iter().zip(whole.iter().zip(&found));
                let words = words.map(|(token, (with, without))| [token.text.clone(), class(*with), class(*without)]);
                self.next_words = words.collect();
            }
        }
    }

    /// Measures the cosines of the vectors as the picture shows them, with its norms applied.
    fn measure_nearness(
        &mut self,
        run: &Activations<f32>,
        aligned: &[usize],
        keys: &[MeasuredToken],
        model: &LessonModel,
    ) {
        let (network, parameters) = (model.training.network(), model.training.model().trained());
        let seen = |tower: Tower, state: &Matrix<f32>| {
            Lens::see_through(lens(tower, &model.space, network, parameters).as_ref(), state.clone())
        };
        let architecture = &network.architecture;
        let Some(source) = run.states_of(Tower::Source, architecture).last() else { return };
        let source = seen(Tower::Source, source);
        let wide = |row: &[f32]| row.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        let states: Vec<&Matrix<f32>> = run.states(architecture).collect();
        for (found, state) in self.nearness.iter_mut().zip([states.first(), states.last()].into_iter().flatten()) {
            let state = seen(Tower::Sentence, state);
            for (query, &aligned) in aligned.iter().enumerate() {
                for key in (0..source.rows()).filter(|key| !keys[*key].is_added) {
                    let cosine = cosine(&wide(state.row(query)), &wide(source.row(key)));
                    if key == aligned { found.aligned.add(cosine) } else { found.others.add(cosine) }
                }
            }
        }
    }

    pub fn are_measured(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Returns the cells about the measures; none if nothing was measured.
    pub fn cells(&self, architecture: &Architecture) -> Vec<TourCell> {
        let Some(first) = self.texts.first() else { return Vec::new() };
        let sections = [Some(writes(first)), self.aligns(architecture), self.needs(first), self.comes_nearer()];
        let cell = |markdown| TourCell { markdown, speaks_of: Some(first.clone()) };
        sections.into_iter().flatten().map(cell).collect()
    }

    fn aligns(&self, architecture: &Architecture) -> Option<String> {
        const NAMED: usize = 3;
        let mut heads: Vec<(&CrossHead, f64)> =
            self.heads.iter().filter_map(|head| Some((head, head.means[0].get()?))).collect();
        heads.sort_by(|a, b| b.1.total_cmp(&a.1));
        let number = |mean: Mean| mean.get().map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"));
        let row = |(head, aligned): &(&CrossHead, f64)| {
            let link = head_link(&architecture.head_name(head.head), head.head);
            let [_, monotony, entropy] = head.means.map(number);
            format!("| {link} | {:.0} % | {monotony} | {entropy} |", 100.0 * aligned)
        };
        let rows: Vec<String> = heads.iter().take(NAMED).map(row).collect();
        let (best, share) = heads.first()?;
        let is_clear =
            if *share >= LEAST_WEIGHT { "" } else { " That is little: no single head of this model aligns clearly." };
        let of_best = self.rows.iter().find(|row| row.head == best.head);
        let example = of_best.map_or_else(String::new, |row| {
            format!(
                " An example from the first sentence: at *{}*, the head gives *{}* {:.0} % of its weight, and the next word is \
                 *{}*.",
                escaped(&row.read),
                escaped(&row.source),
                100.0 * row.weight,
                escaped(&row.next)
            )
        });
        let best = architecture.head_name(best.head);
        Some(format!(
            "## Which head aligns\n\nAn alignment says from which word of the source a word of the target comes. Read the map \
             one row early: a row is a word that the decoder has read, and the head usually looks for the word that is written \
             *next*.{example}\n\nNobody has aligned these sentences by hand, so the heads vote: the aligned word of a row is the one \
             that all heads of cross-attention together weigh most (Garg et al. 2019). Measured over the {} of this notebook, \
             of the model's {} heads of cross-attention the one that gives this word the largest share of its weight is \
             {best}; if all words had the same weight, it would be {:.0} %.{is_clear}\n\n| head | on the aligned word | monotony \
             | entropy |\n|---|---|---|---|\n{}\n\n*Monotony* is the share of words for which the head looks at the same word of \
             the source as for the word before, or farther right: 1 where both languages have one order. *Entropy* is 0 if \
             all weight lies on one word, and larger the more words share it.\n\nThe measures in [All heads](<attune:panel/All \
             heads>) are those of your own sentence: is it the same head there? {} That a head aligns does not mean that the \
             answer needs it: switch it off in [Intervene](attune:panel/Intervene).",
            counted(self.texts.len(), "sentence"),
            self.heads.len(),
            100.0 * self.even.get()?,
            rows.join("\n"),
            signs_of_blocks(architecture),
        ))
    }

    fn needs(&self, first: &Arc<str>) -> Option<String> {
        /// Greatest number of places of the first target that are listed.
        const PLACES: usize = 8;
        let row = |(kind, share): (AttentionKind, &Mean)| {
            Some(format!("| {} | {:.0} % of {} |", kind.words(), 100.0 * share.get()?, share.count))
        };
        let rows: Vec<String> = AttentionKind::ALL.into_iter().zip(&self.without).map(row).collect::<Option<_>>()?;
        let line = |words: &[String; 3]| format!("| {} |", words.each_ref().map(|word| escaped(word)).join(" | "));
        let words: Vec<String> = self.next_words.iter().take(PLACES).map(line).collect();
        Some(format!(
            "## What each kind of attention is for\n\nMeasured over {}: the model reads each target that it wrote, with all \
             heads of one kind switched off. At how many places is the same word still the likeliest next one?\n\n| off | places \
             with the same next word |\n|---|---|\n{}\n\nWithout the decoder's self-attention, each place of the target sees no other, so it \
             cannot know which words are written already. Without cross-attention the source is masked, and the model goes by \
             the language alone. The likeliest next words in the target of {}:\n\n| after | with the source | without it \
             |\n|---|---|---|\n{}",
            counted(self.texts.len(), "sentence"),
            rows.join("\n"),
            sentence_link(first),
            words.join("\n"),
        ))
    }

    fn comes_nearer(&self) -> Option<String> {
        let [before, after] = &self.nearness;
        let [a, b] = [before.aligned.get()?, after.aligned.get()?];
        let [c, d] = [before.others.get()?, after.others.get()?];
        let nearer = match b - a {
            by if by >= NEARER_MIN && by - (d - c) >= NEARER_MIN => {
                "come nearer to it, and nearer than to the other words"
            }
            by if by >= NEARER_MIN => "come nearer to it, but just as much to the other words",
            by if by <= -NEARER_MIN => "move away from it",
            _ => "stay about as far from it as they were",
        };
        Some(format!(
            "## Do the words of the target come nearer to the source?\n\nSource and target are drawn in one space. \
             Cross-attention adds vectors made from the source to the words of the target, so one might expect them to move \
             towards it. The mean cosine between a word of the target and words of the source after the encoder, over \
             {}:\n\n| words of the source | before the decoder | after it |\n|---|---|---|\n| the aligned one | {a:.2} | \
             {b:.2} |\n| the others | {c:.2} | {d:.2} |\n\nSo in this model the words of the target {nearer}.",
            counted(self.texts.len(), "sentence"),
        ))
    }
}

/// Returns the signs that the panel *All heads* and the filmstrip use for the layers of each kind of attention, with
/// the numbers that the command line gives these layers.
fn signs_of_blocks(architecture: &Architecture) -> String {
    let of = |kind: AttentionKind| {
        let blocks = architecture.numbered_blocks();
        let own = blocks.filter(|(block, config)| AttentionKind::of(architecture, *block, config) == kind);
        let sign = |(block, _)| format!("**{}** ({})", architecture.block_sign(block), block + 1);
        format!("{} {}", kind.words(), own.map(sign).collect::<Vec<_>>().join(", "))
    };
    format!(
        "Its rows, like the frames of the filmstrip, have a sign for each layer, here with the number that the command line \
         gives it: {}.",
        AttentionKind::ALL.map(of).join("; ")
    )
}

fn writes(first: &Arc<str>) -> String {
    format!(
        "## How the target is written\n\n{}\n\nThe encoder reads the source once. The decoder begins with its start \
         token, and writes the likeliest word each time, until it writes the one that ends the sentence. The model's own setting \
         may search with several beams instead, as *beams* under *Writing* in [Answers](attune:panel/Answers) does, so its \
         published translations can differ. The target stays as the model \
         wrote it while you change weights and heads, so that you compare the same words; *Writing* in \
         [Answers](attune:panel/Answers) writes with your changed weights. Write `source ||| target` above the stage to \
         read a target of your own.",
        sentence_link(first)
    )
}

/// The tasks at the end of the tour.
pub const TASKS: [&str; 4] = [
    "**Which head aligns in your own sentences?** Type a source above the stage, and read the measure *aligned word* in [All \
     heads](<attune:panel/All heads>). Is the largest one that of the head of the table above? `attune heads MODEL TEXTS` measures all heads over \
     a file with a sentence on each line.",
    "**Read without the target.** In [Intervene](attune:panel/Intervene), switch off the heads of the decoder's \
     self-attention, layer by layer. At which places does [Answers](attune:panel/Answers) name another word?",
    "**Mask the source.** Switch off all heads of cross-attention instead. Which of the words that are left follow from the \
     words before them? To hide a single word from a head, click a word of the target and, among the keys of the head in \
     [Intervene](attune:panel/Intervene), untick the word of the source.",
    "**Compare greedy with beams.** Under *Writing* in [Answers](attune:panel/Answers), write with *likeliest*, and then with \
     two *beams*, which keep two beginnings and take the likelier whole sentence. For which sources do they differ?",
];

/// Returns the formulas of a layer of the decoder: self-attention, cross-attention and the feed-forward part.
pub fn formulas(block: &BlockConfig) -> String {
    let sum = |of: &str, part: &str, given: &str| match block.norm {
        Norm::None => format!("{of} + \\text{{{part}}}({of}{given})"),
        Norm::Pre => format!("{of} + \\text{{{part}}}(\\text{{norm}}({of}){given})"),
        Norm::Post => format!("\\text{{norm}}({of} + \\text{{{part}}}({of}{given}))"),
    };
    format!(
        "$$a = {}$$\n\n$$c = {}$$\n\n$$y = {}$$",
        sum("x", "self-attention", ""),
        sum("a", "cross-attention", ", z"),
        sum("c", "feed-forward", "")
    )
}

/// Describes the layers and heads of both towers.
pub fn layers(architecture: &Architecture) -> String {
    let heads = |blocks: &[BlockConfig]| counted(blocks.first().map_or(0, |block| block.attention.heads), "head");
    let Architecture { source_blocks, blocks, .. } = architecture;
    let (encoder, decoder) = (counted(source_blocks.len(), "layer"), counted(blocks.len() / 2, "layer"));
    format!(
        "an encoder of {encoder} of {}, and a decoder of {decoder}, each with self-attention and cross-attention of {}",
        heads(source_blocks),
        heads(blocks)
    )
}
