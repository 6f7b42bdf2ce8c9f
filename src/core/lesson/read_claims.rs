//! Reads the claims: what is measured, and what is expected of it.

use attune_engine::numerics::model::Pooling;

use super::check::{Names, line, one_of_names, unique_ids};
use super::decode::{At, choice, finite, flag, list, map, number, text, whole};
use super::issue::{one_of, shorten};
use super::limits::{CHOICES_MAX, CLAIMS_MAX, HEADS_MAX, LAYERS_MAX, TOKENS_MAX};
use super::read_cells::take_id;
use super::read_sentences::sentence_index;
use super::record::{Record, complete, fields};
use super::schema::{Claim, Expect, Fact, ModelConfig, Objective, Space, TokenPlace};
use super::source::Node;

/// The parts of a lesson that its claims refer to; `None` where a part has issues of its own.
pub(super) struct ClaimContext<'c> {
    pub names: &'c Names,
    /// Words of each of the lesson's sentences.
    pub lengths: Option<&'c [usize]>,
    pub probes: Option<usize>,
    pub model: Option<&'c ModelConfig>,
    /// Names of the corpus's topics, which are the labels.
    pub labels: Option<Vec<String>>,
}

/// The blocks that a model can have: each layer has two, and the source's.
const BLOCKS_MAX: usize = 3 * LAYERS_MAX;

impl ClaimContext<'_> {
    pub fn read_claims(&self, node: Node<'_>) -> Option<Vec<Claim>> {
        let mut ids = Vec::new();
        let claims = list(node, CLAIMS_MAX, |node| self.read_claim(node, &mut ids));
        unique_ids(&ids, "claim");
        claims
    }

    fn read_claim<'s>(&self, node: Node<'s>, ids: &mut Vec<At<'s, String>>) -> Option<Claim> {
        let mut record = Record::open(node, &["Claim"])?;
        let id = take_id(&mut record, ids);
        fields! { record;
            says: line;
            fact: |node| self.read_fact(node);
            expect: |node| read_expect(node, fact.as_ref());
        }
        record.finish();
        complete!(Claim { id, says, fact, expect })
    }

    fn read_fact(&self, node: Node<'_>) -> Option<Fact> {
        const FACTS: &[&str] = &[
            "SenseAccuracy",
            "MajorityShare",
            "SenseMargin",
            "Arrived",
            "Drift",
            "TokenMargin",
            "TokenCosine",
            "TokenDistance",
            "TokenLength",
            "TokenMove",
            "MoveCosine",
            "LayerCosine",
            "Mixture",
            "Cosine",
            "FinalLoss",
            "ContributionError",
            "LabelAccuracy",
            "Says",
            "Weight",
            "Alignment",
            "SequenceAccuracy",
        ];
        const SPACES: &[(&str, Space)] = &[("Static", Space::Static), ("Contextual", Space::Contextual)];
        let mut record = Record::open(node, FACTS)?;
        let word = |node| self.names.word(node);
        let group = |node| self.names.group(node);
        let fact = match record.name {
            "SenseAccuracy" => record.take_item("Static or Contextual", choice(SPACES)).map(Fact::SenseAccuracy),
            "SenseMargin" => record.take_item("Static or Contextual", choice(SPACES)).map(Fact::SenseMargin),
            "MajorityShare" => Some(Fact::MajorityShare),
            "TokenMargin" => {
                let at = self.take_token(&mut record, ["sentence", "token"]);
                let sense = record.take("sense", group);
                complete!(Fact::TokenMargin { at, sense })
            }
            "Arrived" => Some(Fact::Arrived),
            "Drift" => Some(Fact::Drift),
            "TokenCosine" | "TokenDistance" => {
                let at = self.take_token(&mut record, ["sentence", "token"]);
                fields! { record;
                    to: |node| self.read_goal(node);
                    space: choice(SPACES), or Space::Contextual;
                }
                if record.name == "TokenCosine" {
                    complete!(Fact::TokenCosine { at, to, space })
                } else {
                    let drawn = record.take_or("drawn", false, flag);
                    complete!(Fact::TokenDistance { at, to, space, drawn })
                }
            }
            "TokenLength" => {
                let at = self.take_token(&mut record, ["sentence", "token"]);
                let space = record.take_or("space", Space::Contextual, choice(SPACES));
                complete!(Fact::TokenLength { at, space })
            }
            "TokenMove" => self.take_token(&mut record, ["sentence", "token"]).map(|at| Fact::TokenMove { at }),
            "MoveCosine" => {
                let at = self.take_token(&mut record, ["sentence", "token"]);
                let other = self.take_token(&mut record, ["other_sentence", "other_token"]);
                complete!(Fact::MoveCosine { at, other })
            }
            "Mixture" => {
                fields! { record;
                    word: word;
                    of: group;
                    against: group;
                }
                if of.is_some() && of == against {
                    record.place_of("against").issue("Mixture of a group against itself").expected("another group");
                }
                complete!(Fact::Mixture { word, of, against })
            }
            "Cosine" => fields! { record => Fact::Cosine { a: word; b: word; } },
            "LabelAccuracy" => fields! { record => Fact::LabelAccuracy {
                on: |node| self.read_labelled(node), optional;
            } },
            "Says" => fields! { record => Fact::Says {
                sentence: |node| self.names.sentence(node);
                hides: whole(0..=sentence.as_ref().map_or(TOKENS_MAX, |words| self.names.count(words)) - 1), optional;
                answer: |node| self.read_answer(node);
                layer: whole(0..=self.layers()), optional;
            } },
            "LayerCosine" => {
                let at = self.take_token(&mut record, ["sentence", "token"]);
                let other = self.take_token(&mut record, ["other_sentence", "other_token"]);
                let layer = record.take("layer", whole(0..=self.layers()));
                complete!(Fact::LayerCosine { at, other, layer })
            }
            "Weight" => {
                let (sentence, tokens) = self.take_sentence(&mut record, "sentence");
                let heads = self.model.map_or(BLOCKS_MAX * HEADS_MAX, |model| model.architecture.heads());
                fields! { record;
                    head: whole(0..=heads - 1);
                    query: whole(0..=tokens - 1);
                    key: whole(0..=tokens - 1);
                }
                complete!(Fact::Weight { sentence, head, query, key })
            }
            "Alignment" => fields! { record => Fact::Alignment {
                head: |node| self.read_cross_head(node);
            } },
            "SequenceAccuracy" => Some(Fact::SequenceAccuracy),
            "FinalLoss" => Some(Fact::FinalLoss),
            _ => Some(Fact::ContributionError),
        };
        self.check_groups_and_probes(node, record.name);
        if let Some(fact) = &fact {
            self.check_objective(node, record.name, fact);
        }
        record.finish();
        fact
    }

    /// Layers that a sentence goes through.
    fn layers(&self) -> usize {
        self.model.map_or(BLOCKS_MAX, |model| model.architecture.blocks.len())
    }

    /// One of the lesson's sentences, with how many words it may have.
    fn take_sentence<'s>(&self, record: &mut Record<'s>, field: &'static str) -> (Option<usize>, usize) {
        let sentence = record.take(field, sentence_index(self.lengths));
        let lengths = sentence.zip(self.lengths);
        (sentence, lengths.map_or(TOKENS_MAX, |(sentence, lengths)| lengths[sentence]))
    }

    /// One token of one of the lesson's sentences.
    fn take_token<'s>(&self, record: &mut Record<'s>, [sentence, token]: [&'static str; 2]) -> Option<TokenPlace> {
        let (sentence, tokens) = self.take_sentence(record, sentence);
        let token = record.take(token, whole(0..=tokens - 1));
        complete!(TokenPlace { sentence, token })
    }

    /// Reads where a word may end: at a group or at a word.
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
        let read = |(sentence, label): (At<'_, String>, Option<String>)| {
            let words = self.names.sentence(sentence.node);
            words.zip(label)
        };
        let all: Vec<_> = entries.into_iter().map(read).collect();
        all.into_iter().collect()
    }

    fn read_label(&self, node: Node<'_>) -> Option<String> {
        let label = text(node)?;
        let Some(labels) = self.labels.as_ref().filter(|labels| !labels.contains(&label)) else { return Some(label) };
        node.field_issue(format!("no topic is called \"{}\"", shorten(&label)))
            .expected(one_of_names(labels, "a topic"))
            .nearest(&label, labels.iter().map(String::as_str))
            .none()
    }

    /// A label or a word, as the model answers.
    fn read_answer(&self, node: Node<'_>) -> Option<String> {
        match self.model.map(|model| &model.objective) {
            Some(Objective::Label) => self.read_label(node),
            Some(_) => self.names.word(node),
            None => text(node),
        }
    }

    /// A head that looks from the target at the source.
    fn read_cross_head(&self, node: Node<'_>) -> Option<usize> {
        let Some(model) = self.model else { return whole(0..=BLOCKS_MAX * HEADS_MAX)(node) };
        let architecture = &model.architecture;
        let head = whole(0..=architecture.heads() - 1)(node)?;
        let is_cross = |head: &usize| architecture.head(*head).1.attends_to_source();
        if architecture.has_source() && !is_cross(&head) {
            let heads: Vec<String> = (0..architecture.heads()).filter(is_cross).map(|head| head.to_string()).collect();
            return node
                .issue(format!("head: {head} does not look at the source"))
                .expected(one_of(&heads.iter().map(String::as_str).collect::<Vec<_>>()))
                .none();
        }
        Some(head)
    }

    fn check_groups_and_probes(&self, node: Node<'_>, name: &str) {
        let of_probes = matches!(name, "SenseAccuracy" | "MajorityShare" | "SenseMargin" | "Arrived");
        if of_probes && self.probes == Some(0) {
            node.issue(format!("{name} is measured on probes, but there are none")).expected("probes: [ … ]");
        }
        let group_count = self.names.groups.as_ref().map_or(2, Vec::len);
        if (of_probes || name == "TokenMargin") && group_count < 2 {
            let message = format!("{name} compares groups, and the lesson has {group_count}");
            node.issue(message).expected("at least 2 groups");
        }
    }

    /// Each objective has facts of its own.
    fn check_objective(&self, node: Node<'_>, name: &str, fact: &Fact) {
        let Some(model) = self.model else { return };
        let objective = &model.objective;
        let (fits, expected) = match fact {
            Fact::LabelAccuracy { .. } => (*objective == Objective::Label, "the objective Label"),
            Fact::Says { layer: Some(_), .. } if model.architecture.pooling != Pooling::Every => {
                (false, "no `layer`: what is read from several words has no answer within the layers")
            }
            Fact::Says { hides, .. } => match objective {
                Objective::MaskedWord { .. } => (hides.is_some(), "hides: …, the place of the word that is asked for"),
                Objective::Label | Objective::NextWord => (hides.is_none(), "no `hides`, which is for MaskedWord"),
                Objective::Sequence(_) => (false, "the objective Label, NextWord or MaskedWord"),
            },
            Fact::Alignment { .. } | Fact::SequenceAccuracy => {
                (matches!(objective, Objective::Sequence(_)), "the objective Sequence(…)")
            }
            Fact::SenseAccuracy(Space::Contextual)
            | Fact::SenseMargin(Space::Contextual)
            | Fact::Arrived
            | Fact::TokenMargin { .. } => {
                (!matches!(objective, Objective::Sequence(_)), "an objective of one sentence")
            }
            Fact::Drift => {
                (!model.reads_every_output(), "MaskedWord, or Label with pool: Last: other objectives read every word")
            }
            Fact::FinalLoss if model.steps == 0 => {
                node.issue("FinalLoss of a model that is not trained").expected("steps above 0");
                return;
            }
            _ => return,
        };
        if !fits {
            node.issue(format!("{name} with the objective {}", objective.name())).expected(expected);
        }
    }
}

fn read_expect(node: Node<'_>, fact: Option<&Fact>) -> Option<Expect> {
    let mut record = Record::open(node, &["AtLeast", "AtMost", "Within"])?;
    let expect = match record.name {
        "AtLeast" => record.take_item("number", finite).map(Expect::AtLeast),
        "AtMost" => record.take_item("number", finite).map(Expect::AtMost),
        _ => fields! { record => Expect::Within {
            value: finite;
            tolerance: number(|x| x >= 0.0, "a number of at least 0");
        } },
    };
    record.finish();
    let expect = expect?;
    if let Some((least, most)) = fact.map(range)
        && !can_hold(expect, least, most)
    {
        return node
            .issue(format!("expect: {} can never hold", shorten(node.text)))
            .expected(reachable(least, most))
            .none();
    }
    Some(expect)
}

/// The values that a fact can have.
fn range(fact: &Fact) -> (f64, f64) {
    match fact {
        Fact::SenseAccuracy(_)
        | Fact::MajorityShare
        | Fact::Arrived
        | Fact::LabelAccuracy { .. }
        | Fact::Says { .. }
        | Fact::Weight { .. }
        | Fact::Alignment { .. }
        | Fact::SequenceAccuracy => (0.0, 1.0),
        Fact::Cosine { .. } | Fact::TokenCosine { .. } | Fact::MoveCosine { .. } | Fact::LayerCosine { .. } => {
            (-1.0, 1.0)
        }
        Fact::SenseMargin(_) | Fact::TokenMargin { .. } => (-2.0, 2.0),
        Fact::Mixture { .. } => (f64::NEG_INFINITY, f64::INFINITY),
        Fact::FinalLoss
        | Fact::ContributionError
        | Fact::Drift
        | Fact::TokenDistance { .. }
        | Fact::TokenLength { .. }
        | Fact::TokenMove { .. } => (0.0, f64::INFINITY),
    }
}

/// The bounds that a claim can set on a fact with such values, in words.
fn reachable(least: f64, most: f64) -> String {
    match most.is_finite() {
        true => format!("a bound from {least} to {most}"),
        false => format!("a bound of at least {least}"),
    }
}

fn can_hold(expect: Expect, least: f64, most: f64) -> bool {
    match expect {
        Expect::AtLeast(bound) => bound <= most,
        Expect::AtMost(bound) => bound >= least,
        Expect::Within { value, tolerance } => value - tolerance <= most && value + tolerance >= least,
    }
}
