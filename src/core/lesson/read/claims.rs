//! Reading of the claims, each of which names a fact that is measured and the value that is expected.

use std::collections::BTreeSet;

use attune_engine::numerics::evidence::corpus::{Distribution, HeadTowers, QUANTILES, TextMeasure};
use attune_engine::numerics::model::Pooling;

use crate::lesson::read::common::{LessonNames, line, take_id, unique_ids, unknown_name};
use crate::lesson::read::corpus::sentence_index;
use crate::lesson::read::switches::read_names;
use crate::lesson::reading::decode::{
    At, Node, Record, all, choice, complete, fields, finite, flag, list, map, number, record, text, whole,
};
use crate::lesson::reading::issue::{one_of, shorten};
use crate::lesson::recorded::ONE_PASS;
use crate::lesson::schema::limits::{CHOICES_MAX, CLAIMS_MAX, HEADS_MAX, LAYERS_MAX, SWITCHED_MODELS_MAX, TOKENS_MAX};
use crate::lesson::schema::model::{ModelConfig, Objective};
use crate::lesson::schema::switches::Switches;
use crate::lesson::schema::{Claim, Expect, Fact, OverTexts, Space, TokenPlace};

/// The parts of a lesson to which its claims refer; `None` for a part with issues of its own.
#[derive(Clone, Copy)]
pub struct ClaimContext<'c> {
    pub names: &'c LessonNames,
    /// Number of words of each of the lesson's sentences.
    pub lengths: Option<&'c [usize]>,
    pub probes: Option<usize>,
    pub model: Option<&'c ModelConfig>,
    pub switches: Option<&'c Switches>,
    /// Names of the corpus's topics, which are the labels.
    pub labels: Option<&'c [String]>,
    /// Whether the lesson names a file of texts.
    pub has_texts: bool,
}

/// A kind of fact: its name in a lesson, and the lessons in which it is defined.
struct FactForm {
    name: &'static str,
    /// The range of its values.
    range: (f64, f64),
    needs: Needs,
    read: fn(&ClaimContext<'_>, &mut Record<'_>) -> Option<Fact>,
}

/// The parts that a lesson must have so that a fact can be measured.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    /// Several groups, and probes of their words, before or after attention.
    Probes,
    /// The same as [`Needs::Probes`], but after attention only.
    ReadProbes,
    /// Several groups, and an objective with a single sentence.
    Groups,
    Labels,
    Sequences,
    /// Words whose outputs are not read off as answers.
    RestingWords,
    Training,
    /// A file of texts.
    Texts,
    /// An answer that the model guesses in a sentence.
    Answer,
}

const SHARE: (f64, f64) = (0.0, 1.0);
const COSINE: (f64, f64) = (-1.0, 1.0);
const DIFFERENCE_OF_COSINES: (f64, f64) = (-2.0, 2.0);
const LENGTH: (f64, f64) = (0.0, f64::INFINITY);
const ANY: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

const SPACES: &[(&str, Space)] = &[("Static", Space::Static), ("Contextual", Space::Contextual)];
const TOKEN: [&str; 2] = ["sentence", "token"];
const OTHER_TOKEN: [&str; 2] = ["other_sentence", "other_token"];

/// Names of the facts that a single pass contains, and that a recording therefore has.
const OF_A_PASS: [&str; 2] = [WEIGHT, "LayerCosine"];
const WEIGHT: &str = "Weight";

const fn form(
    name: &'static str,
    range: (f64, f64),
    needs: Needs,
    read: fn(&ClaimContext<'_>, &mut Record<'_>) -> Option<Fact>,
) -> FactForm {
    FactForm { name, range, needs, read }
}

/// All facts that a lesson can claim; [`Fact`] documents what each measures.
const FACTS: &[FactForm] = &[
    form("SenseAccuracy", SHARE, Needs::Probes, |_, record| take_space(record).map(Fact::SenseAccuracy)),
    form("MajorityShare", SHARE, Needs::Probes, |_, _| Some(Fact::MajorityShare)),
    form("SenseMargin", DIFFERENCE_OF_COSINES, Needs::Probes, |_, record| take_space(record).map(Fact::SenseMargin)),
    form("Arrived", SHARE, Needs::ReadProbes, |_, _| Some(Fact::Arrived)),
    form("Drift", LENGTH, Needs::RestingWords, |_, _| Some(Fact::Drift)),
    form("TokenMargin", DIFFERENCE_OF_COSINES, Needs::Groups, |cx, record| {
        let at = cx.take_token(record, TOKEN);
        fields! { record; sense: |node| cx.names.group(node); }
        complete!(Fact::TokenMargin { at, sense })
    }),
    form("TokenCosine", COSINE, Needs::Nothing, |cx, record| {
        let at = cx.take_token(record, TOKEN);
        fields! { record; to: |node| cx.read_goal(node); space: choice(SPACES), or Space::Contextual; }
        complete!(Fact::TokenCosine { at, to, space })
    }),
    form("TokenDistance", LENGTH, Needs::Nothing, |cx, record| {
        let at = cx.take_token(record, TOKEN);
        fields! { record;
            to: |node| cx.read_goal(node);
            space: choice(SPACES), or Space::Contextual;
            drawn: flag, or false;
        }
        complete!(Fact::TokenDistance { at, to, space, drawn })
    }),
    form("TokenLength", LENGTH, Needs::Nothing, |cx, record| {
        let at = cx.take_token(record, TOKEN);
        fields! { record; space: choice(SPACES), or Space::Contextual; }
        complete!(Fact::TokenLength { at, space })
    }),
    form("TokenMove", LENGTH, Needs::Nothing, |cx, record| {
        cx.take_token(record, TOKEN).map(|at| Fact::TokenMove { at })
    }),
    form("MoveCosine", COSINE, Needs::Nothing, |cx, record| {
        let (at, other) = (cx.take_token(record, TOKEN), cx.take_token(record, OTHER_TOKEN));
        complete!(Fact::MoveCosine { at, other })
    }),
    form("LayerCosine", COSINE, Needs::Nothing, |cx, record| {
        let (at, other) = (cx.take_token(record, TOKEN), cx.take_token(record, OTHER_TOKEN));
        fields! { record; layer: whole(0..=cx.layers()); }
        complete!(Fact::LayerCosine { at, other, layer })
    }),
    form("Mixture", ANY, Needs::Nothing, |cx, record| {
        let group = |node| cx.names.group(node);
        fields! { record; word: |node| cx.names.word(node); of: group; against: group; }
        if of.is_some() && of == against {
            record.place_of("against").issue("Mixture of a group against itself").expected("another group");
        }
        complete!(Fact::Mixture { word, of, against })
    }),
    form("Cosine", COSINE, Needs::Nothing, |cx, record| {
        let word = |node| cx.names.word(node);
        fields! { record => Fact::Cosine { a: word; b: word; } }
    }),
    form("FinalLoss", LENGTH, Needs::Training, |_, _| Some(Fact::FinalLoss)),
    form("ContributionError", LENGTH, Needs::Nothing, |_, _| Some(Fact::ContributionError)),
    form("LabelAccuracy", SHARE, Needs::Labels, |cx, record| {
        fields! { record => Fact::LabelAccuracy { on: |node| cx.read_labelled(node), optional; } }
    }),
    form("Says", SHARE, Needs::Answer, |cx, record| {
        fields! { record => Fact::Says {
            sentence: |node| cx.names.sentence(node);
            hides: whole(0..=sentence.as_ref().map_or(TOKENS_MAX, |words| cx.names.count(words)) - 1), optional;
            answer: |node| cx.read_answer(node);
            layer: whole(0..=cx.layers()), optional;
        } }
    }),
    form(WEIGHT, SHARE, Needs::Nothing, |cx, record| {
        let (sentence, tokens) = cx.take_sentence(record, "sentence");
        fields! { record; head: whole(0..=cx.heads() - 1); query: whole(0..=tokens - 1); key: whole(0..=tokens - 1); }
        complete!(Fact::Weight { sentence, head, query, key })
    }),
    form("Alignment", SHARE, Needs::Sequences, |cx, record| {
        fields! { record => Fact::Alignment { head: |node| cx.read_cross_head(node); } }
    }),
    form("SequenceAccuracy", SHARE, Needs::Sequences, |_, _| Some(Fact::SequenceAccuracy)),
    form(OVER_TEXTS, LENGTH, Needs::Texts, |cx, record| cx.read_over_texts(record)),
];

const OVER_TEXTS: &str = "OverTexts";

/// Returns all measures of heads over texts. Distributions have a placeholder for the quantile that a claim must name.
fn over_texts() -> impl Iterator<Item = OverTexts> {
    let distribution = |of| OverTexts::Quantile { of, quantile: 0 };
    TextMeasure::ALL.into_iter().map(OverTexts::Measure).chain(Distribution::ALL.into_iter().map(distribution))
}

/// Returns the range of a measure over texts.
fn range_over_texts(of: OverTexts) -> (f64, f64) {
    match of {
        OverTexts::Measure(
            TextMeasure::Own
            | TextMeasure::Previous
            | TextMeasure::Induction
            | TextMeasure::Aligned
            | TextMeasure::Monotony
            | TextMeasure::MeanLargest,
        )
        | OverTexts::Quantile { of: Distribution::Previous | Distribution::First, .. } => SHARE,
        OverTexts::Measure(TextMeasure::Entropy | TextMeasure::Distance | TextMeasure::DistanceVariance)
        | OverTexts::Quantile { of: Distribution::Entropy | Distribution::Distance, .. } => LENGTH,
    }
}

/// Returns the names of all facts.
pub fn fact_names() -> impl Iterator<Item = &'static str> {
    FACTS.iter().map(|form| form.name)
}

fn take_space(record: &mut Record<'_>) -> Option<Space> {
    record.take_item("Static or Contextual", choice(SPACES))
}

/// Greatest number of blocks of a model: two for each layer, and one for each layer of the source.
const BLOCKS_MAX: usize = 3 * LAYERS_MAX;

impl ClaimContext<'_> {
    pub fn read_claims(&self, node: Node<'_>) -> Option<Vec<Claim>> {
        let mut ids = Vec::new();
        let claims = list(node, CLAIMS_MAX, |node| self.read_claim(node, &mut ids));
        unique_ids(&ids, "claim");
        let combinations: BTreeSet<&BTreeSet<String>> = claims.iter().flatten().map(|claim| &claim.with).collect();
        let trained = combinations.into_iter().filter(|with| !with.is_empty()).count();
        if trained > SWITCHED_MODELS_MAX {
            let message = format!("claims: {trained} combinations of switches, each of which is trained");
            return node.issue(message).expected(format!("at most {SWITCHED_MODELS_MAX}")).none();
        }
        claims
    }

    fn read_claim<'s>(&self, node: Node<'s>, ids: &mut Vec<At<'s, String>>) -> Option<Claim> {
        record(node, &["Claim"], |record| {
            let id = take_id(record, ids);
            fields! { record;
                says: line;
                with: |node| read_names(node, self.switches), or BTreeSet::new();
            }
            let model = with.as_ref().and_then(|with| self.model_with(with, record.value_of("with")));
            let context = ClaimContext { model, ..*self };
            fields! { record;
                fact: |node| context.read_fact(node);
                expect: |node| read_expect(node, fact.as_ref().map(|(_, range)| *range));
            }
            let fact = fact.map(|(fact, _)| fact);
            complete!(Claim { id, says, with, fact, expect })
        })
    }

    /// Returns the model with some switches on.
    fn model_with(&self, with: &BTreeSet<String>, node: Node<'_>) -> Option<&ModelConfig> {
        if with.is_empty() {
            return self.model;
        }
        match self.switches?.model(with) {
            Ok(model) => Some(model),
            Err(why) => node.issue(format!("with: {why}")).none(),
        }
    }

    /// Reads a fact, and returns it with the range of its values.
    fn read_fact(&self, node: Node<'_>) -> Option<(Fact, (f64, f64))> {
        let names: Vec<&str> = fact_names().collect();
        record(node, &names, |record| {
            let form = FACTS.iter().find(|form| form.name == record.name)?;
            let fact = (form.read)(self, record);
            self.check_recorded(node, form)?;
            if form.needs == Needs::Texts && !self.has_texts {
                let message = format!("{} is measured over a file of texts, and none is named", form.name);
                node.issue(message).expected("texts: \"sentences.txt\", a field beside claims");
            }
            self.check_groups_and_probes(node, form);
            if let (Some(fact), Some(model)) = (&fact, self.model)
                && let Err((found, expected)) = fits(form, fact, model)
            {
                node.issue(found).expected(expected);
            }
            let fact = fact?;
            let range = if let Fact::OverTexts { of, .. } = fact { range_over_texts(of) } else { form.range };
            Some((fact, range))
        })
    }

    /// Reads a measure of a head over texts.
    fn read_over_texts(&self, record: &mut Record<'_>) -> Option<Fact> {
        let blocks = self.model.map(|model| model.architecture.numbered_blocks().count());
        fields! { record;
            measure: read_measure;
            quantile: read_quantile, optional;
            layer: whole(0..=blocks.unwrap_or(BLOCKS_MAX).saturating_sub(1));
        }
        let heads = layer.zip(self.model).map(|(layer, model)| model.architecture.heads_of(layer));
        let head =
            record.take("head", whole(0..=heads.clone().map_or(HEADS_MAX, |heads| heads.len()).saturating_sub(1)));
        let of = match (measure?, quantile?) {
            (OverTexts::Quantile { of, .. }, Some(quantile)) => OverTexts::Quantile { of, quantile },
            (measure @ OverTexts::Quantile { .. }, None) => {
                let message = format!("{} is a distribution over texts", measure.name());
                return record
                    .value_of("measure")
                    .issue(message)
                    .expected("a quantile beside it: quantile: 0.5")
                    .none();
            }
            (measure @ OverTexts::Measure(_), None) => measure,
            (measure @ OverTexts::Measure(_), Some(_)) => {
                let message = format!("{} is one number over all texts", measure.name());
                return record.value_of("quantile").issue(message).expected("no quantile").none();
            }
        };
        let (layer, head) = (layer?, head?);
        if let Some((model, heads)) = self.model.zip(heads)
            && !of.is_of(HeadTowers::all(&model.architecture)[heads.start + head])
        {
            let name = model.architecture.head_name(heads.start + head);
            return record
                .value_of("measure")
                .issue(format!("{name} has no {}", of.name()))
                .expected(MEASURE_OF)
                .none();
        }
        Some(Fact::OverTexts { of, layer, head })
    }

    /// Returns the number of layers through which a sentence passes.
    fn layers(&self) -> usize {
        self.model.map_or(BLOCKS_MAX, |model| model.architecture.blocks.len())
    }

    fn heads(&self) -> usize {
        self.model.map_or(BLOCKS_MAX * HEADS_MAX, |model| model.architecture.heads())
    }

    /// Takes the index of one of the lesson's sentences, and returns it with the sentence's number of words.
    fn take_sentence<'s>(&self, record: &mut Record<'s>, field: &'static str) -> (Option<usize>, usize) {
        let sentence = record.take(field, sentence_index(self.lengths));
        let lengths = sentence.zip(self.lengths);
        (sentence, lengths.map_or(TOKENS_MAX, |(sentence, lengths)| lengths[sentence]))
    }

    /// Takes the place of a token in one of the lesson's sentences.
    fn take_token<'s>(&self, record: &mut Record<'s>, [sentence, token]: [&'static str; 2]) -> Option<TokenPlace> {
        let (sentence, tokens) = self.take_sentence(record, sentence);
        let token = record.take(token, whole(0..=tokens - 1));
        complete!(TokenPlace { sentence, token })
    }

    /// Reads the goal of a word: a group or another word.
    fn read_goal(&self, node: Node<'_>) -> Option<String> {
        let name = text(node)?;
        let Some(groups) = &self.names.groups else { return Some(name) };
        if groups.contains(&name) { Some(name) } else { self.names.word(node) }
    }

    fn read_labelled(&self, node: Node<'_>) -> Option<Vec<(Vec<String>, String)>> {
        let entries = map(node, CHOICES_MAX, |node| Some(self.read_label(node)))?;
        if entries.is_empty() {
            return node.issue("on: no sentences").expected("sentences with their labels").none();
        }
        all(entries.into_iter().map(|(sentence, label)| self.names.sentence(sentence.node).zip(label)))
    }

    fn read_label(&self, node: Node<'_>) -> Option<String> {
        let label = text(node)?;
        let Some(labels) = self.labels.filter(|labels| !labels.contains(&label)) else { return Some(label) };
        unknown_name(node, format!("no topic is called \"{}\"", shorten(&label)), &label, labels, "a topic")
    }

    /// Reads an answer of the model, which is a label or a word.
    fn read_answer(&self, node: Node<'_>) -> Option<String> {
        match self.model.map(|model| &model.objective) {
            Some(Objective::Label) => self.read_label(node),
            Some(_) => self.names.word(node),
            None => text(node),
        }
    }

    /// Reads the index of a head that attends from the target to the source.
    fn read_cross_head(&self, node: Node<'_>) -> Option<usize> {
        let Some(model) = self.model else { return whole(0..=BLOCKS_MAX * HEADS_MAX)(node) };
        let architecture = &model.architecture;
        let head = whole(0..=architecture.heads() - 1)(node)?;
        let is_cross = |head: &usize| architecture.head(*head).1.attends_to_source();
        if architecture.has_source() && !is_cross(&head) {
            let heads: Vec<String> = (0..architecture.heads()).filter(is_cross).map(|head| head.to_string()).collect();
            return node.issue(format!("head: {head} does not look at the source")).expected(one_of(&heads)).none();
        }
        Some(head)
    }

    /// Checks that a fact can be measured in a recording: a single pass must contain it, and a fact about hidden
    /// states needs a recording that has them.
    fn check_recorded(&self, node: Node<'_>, form: &FactForm) -> Option<()> {
        let Some(recording) = &self.names.recording else { return Some(()) };
        if !OF_A_PASS.contains(&form.name) {
            let message = format!("{} asks a model, but {ONE_PASS}", form.name);
            return node.issue(message).expected(one_of(&OF_A_PASS.map(str::to_owned))).none();
        }
        if form.name != WEIGHT && recording.architecture.width == 0 {
            let message = format!("{} needs hidden states, which were not recorded", form.name);
            return node.issue(message).expected("hidden_states.0, … in the recording, or the fact Weight").none();
        }
        Some(())
    }

    fn check_groups_and_probes(&self, node: Node<'_>, &FactForm { name, needs, .. }: &FactForm) {
        let of_probes = matches!(needs, Needs::Probes | Needs::ReadProbes);
        if of_probes && self.probes == Some(0) {
            node.issue(format!("{name} is measured on probes, but there are none")).expected("probes: [ … ]");
        }
        let group_count = self.names.groups.as_ref().map_or(2, Vec::len);
        if (of_probes || needs == Needs::Groups) && group_count < 2 {
            let message = format!("{name} compares groups, and the lesson has {group_count}");
            node.issue(message).expected("at least 2 groups");
        }
    }
}

/// Checks that a model with this objective has such a fact. The error has the setting that was found and the one that
/// is expected.
fn fits(form: &FactForm, fact: &Fact, model: &ModelConfig) -> Result<(), (String, &'static str)> {
    let objective = &model.objective;
    let is_sequence = matches!(objective, Objective::Sequence(_));
    let (fits, expected) = match form.needs {
        Needs::Labels => (*objective == Objective::Label, "the objective Label"),
        Needs::Sequences => (is_sequence, "the objective Sequence(…)"),
        Needs::Probes
            if matches!(fact, Fact::SenseAccuracy(Space::Contextual) | Fact::SenseMargin(Space::Contextual)) =>
        {
            (!is_sequence, "an objective of one sentence")
        }
        Needs::ReadProbes | Needs::Groups => (!is_sequence, "an objective of one sentence"),
        Needs::RestingWords => {
            (!model.reads_every_output(), "MaskedWord, or Label with pool: Last: other objectives read every word")
        }
        Needs::Training if model.schedule.steps == 0 => {
            return Err((format!("{} of a model that is not trained", form.name), "steps above 0"));
        }
        Needs::Answer => has_answer(fact, model),
        Needs::Nothing | Needs::Probes | Needs::Training | Needs::Texts => return Ok(()),
    };
    if fits { Ok(()) } else { Err((format!("{} with the objective {}", form.name, objective.name()), expected)) }
}

/// Returns whether the model gives the answer that [`Fact::Says`] refers to, and the input that is expected if it does
/// not.
fn has_answer(fact: &Fact, model: &ModelConfig) -> (bool, &'static str) {
    let Fact::Says { hides, layer, .. } = fact else { return (true, "") };
    if layer.is_some() && model.architecture.pooling != Pooling::Every {
        return (
            false,
            "no `layer`, because an answer that is read from several words does not exist within the \
            layers",
        );
    }
    match model.objective {
        Objective::MaskedWord { .. } => (hides.is_some(), "hides: …, the position of the word that is asked for"),
        Objective::Label | Objective::NextWord => (hides.is_none(), "no `hides`, which is for MaskedWord"),
        Objective::Sequence(_) => (false, "the objective Label, NextWord or MaskedWord"),
    }
}

/// Message that says which heads have which measures over texts.
const MEASURE_OF: &str = "a measure of such a head: cross-attention has pattern_entropy, mean_max_activation, aligned_score, \
     monotony, first and entropy; heads within one sentence have no aligned_score and no monotony";

/// Reads the name of a measure over texts, as `attune heads` prints it.
fn read_measure(node: Node<'_>) -> Option<OverTexts> {
    let named = |name: &str| over_texts().find(|of| of.name() == name);
    let written = node.text.trim_matches('"');
    named(written).or_else(|| {
        let names: Vec<String> = over_texts().map(|of| of.name().to_owned()).collect();
        node.field_issue(format!("{} is no measure of a head over texts", shorten(node.text)))
            .expected(one_of(&names))
            .nearest(written, names.iter().map(String::as_str))
            .none()
    })
}

/// Reads the quantile of a distribution, and returns its index among those that are measured.
fn read_quantile(node: Node<'_>) -> Option<usize> {
    let share = finite(node)?;
    let names = || QUANTILES.map(|share| share.to_string());
    QUANTILES.iter().position(|known| *known == share).or_else(|| {
        node.field_issue(format!("{share} is not among the quantiles that are measured"))
            .expected(one_of(&names()))
            .none()
    })
}

/// Reads a bound, which is checked against the range of the fact's values if that is known.
fn read_expect(node: Node<'_>, range: Option<(f64, f64)>) -> Option<Expect> {
    let expect = record(node, &["AtLeast", "AtMost", "Within"], |record| match record.name {
        "AtLeast" => record.take_item("number", finite).map(Expect::AtLeast),
        "AtMost" => record.take_item("number", finite).map(Expect::AtMost),
        _ => fields! { record => Expect::Within {
            value: finite;
            tolerance: number(|x| x >= 0.0, "a number of at least 0");
        } },
    })?;
    let Some((least, most)) = range else { return Some(expect) };
    let can_hold = match expect {
        Expect::AtLeast(bound) => bound <= most,
        Expect::AtMost(bound) => bound >= least,
        Expect::Within { value, tolerance } => value - tolerance <= most && value + tolerance >= least,
    };
    if can_hold {
        return Some(expect);
    }
    let reachable = match most.is_finite() {
        true => format!("a bound from {least} to {most}"),
        false => format!("a bound of at least {least}"),
    };
    node.issue(format!("expect: {} can never hold", shorten(node.text))).expected(reachable).none()
}
