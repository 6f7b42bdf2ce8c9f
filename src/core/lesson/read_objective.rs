//! Reads what the model is asked for.

use std::collections::{HashMap, HashSet};

use super::check::{Names, Vocabulary, word};
use super::decode::{At, choice, list, list_of, map, number};
use super::issue::shorten;
use super::limits::{GROUPS_MAX, VOCABULARY_MAX};
use super::read_language::{Lists, ReadCorpus};
use super::record::{Record, fields};
use super::schema::{Corpus, Group, Objective, Order, Rewriting};
use super::source::Node;

/// An objective, with what is checked once the corpus is known.
pub(super) struct ReadObjective<'s> {
    pub objective: Objective,
    node: Node<'s>,
    /// Words that a sequence objective replaces.
    rewritten: Vec<At<'s, String>>,
    /// Words that take the place of hidden ones.
    stand_ins: Vec<At<'s, String>>,
}

impl ReadObjective<'_> {
    /// The target has other words than the source.
    pub fn replaces_words(&self) -> bool {
        !self.rewritten.is_empty()
    }
}

const ORDERS: &[(&str, Order)] = &[("Same", Order::Same), ("Reversed", Order::Reversed)];

pub(super) fn read_objective<'s>(node: Node<'s>, groups: Option<&Lists<'s>>) -> Option<ReadObjective<'s>> {
    let mut record = Record::open(node, &["MaskedWord", "NextWord", "Label", "Sequence"])?;
    let (mut rewritten, mut stand_ins) = (Vec::new(), Vec::new());
    let objective = match record.name {
        "MaskedWord" => {
            let mut stand_in = |node| {
                let value = word(node)?;
                stand_ins.push(At { value: value.clone(), node });
                Some(value)
            };
            fields! { record => Objective::MaskedWord {
                rate: number(|x| x > 0.0 && x < 1.0, "a number between 0 and 1"), or 0.15;
                among: |node| read_candidates(node, groups), or Vec::new();
                stand_ins: list_of(VOCABULARY_MAX, &mut stand_in), or Vec::new();
            } }
        }
        "NextWord" => Some(Objective::NextWord),
        "Label" => Some(Objective::Label),
        _ => {
            fields! { record;
                order: choice(ORDERS), or Order::Same;
                words: |node| map(node, VOCABULARY_MAX, word), or Vec::new();
            }
            order.zip(words).map(|(order, words)| {
                rewritten.extend(words.iter().map(|(from, _)| from.clone()));
                let words = words.into_iter().map(|(from, to)| (from.value, to)).collect();
                Objective::Sequence(Rewriting { order, words })
            })
        }
    };
    record.finish();
    objective.map(|objective| ReadObjective { objective, node, rewritten, stand_ins })
}

/// Checks an objective against the corpus.
pub(super) fn check_objective<'s>(
    read: &ReadObjective<'s>,
    tied_labels: Option<Node<'s>>,
    corpus: &ReadCorpus<'s>,
    groups: &[Group],
    vocabulary: &Vocabulary,
) {
    let corpus = &corpus.corpus;
    if read.objective == Objective::Label {
        if corpus.topics.len() < 2 {
            read.node
                .issue(format!("Label names the topic of a sentence, but the corpus has {}", corpus.topics.len()))
                .expected("at least 2 topics");
        }
        if corpus.join.is_some() {
            read.node
                .issue("Label names the topic of a sentence, but a joined sentence has two")
                .expected("a corpus without join");
        }
    }
    if let Some(readout) = tied_labels {
        let names = corpus.topics.iter().map(|topic| &topic.name);
        for label in names.filter(|label| !vocabulary.has(label)) {
            let label = shorten(label);
            readout
                .issue(format!(
                    "readout: Tied reads a label by its static vector, but no word of the corpus is \"{label}\""
                ))
                .expected("readout: Linear, or topics named by words of the corpus");
        }
    }
    let count = choices(&read.objective, corpus, groups, vocabulary);
    if let Some(count) = count.filter(|count| *count < 2) {
        let words = match count {
            0 => "none of the corpus".to_owned(),
            count => format!("only {count} of the corpus"),
        };
        read.node
            .issue(format!("{} asks for one of several words, but there is {words}", read.objective.name()))
            .expected("at least 2 words to choose among");
    }
    let named = [("words", &read.rewritten), ("stand_ins", &read.stand_ins)];
    for (field, word) in named.iter().flat_map(|(field, words)| words.iter().map(move |word| (field, word))) {
        if !vocabulary.has(&word.value) {
            word.node
                .issue(format!("{field}: word \"{}\" never occurs in the corpus", shorten(&word.value)))
                .nearest(&word.value, vocabulary.words.iter().map(String::as_str));
        }
    }
}

/// How many words of the corpus can be the answer; `None` where a label is.
fn choices(objective: &Objective, corpus: &Corpus, groups: &[Group], vocabulary: &Vocabulary) -> Option<usize> {
    match objective {
        Objective::Label => None,
        Objective::MaskedWord { among, .. } if !among.is_empty() => {
            let in_groups = groups.iter().filter(|group| among.contains(&group.name)).flat_map(|group| &group.words);
            let has_sense = |shares: &[(String, f64)]| shares.iter().any(|(group, _)| among.contains(group));
            let ambiguous = corpus.ambiguous.iter().filter(|ambiguous| has_sense(&ambiguous.shares));
            Some(in_groups.filter(|word| vocabulary.has(word)).count() + ambiguous.count())
        }
        Objective::MaskedWord { .. } | Objective::NextWord => Some(vocabulary.words.len()),
        Objective::Sequence(rewriting) => {
            let becomes: HashMap<&String, &String> = rewriting.words.iter().map(|(from, to)| (from, to)).collect();
            let written = vocabulary.words.iter().map(|word| *becomes.get(word).unwrap_or(&word));
            Some(written.collect::<HashSet<_>>().len())
        }
    }
}

/// Different groups, with words enough to choose among.
fn read_candidates<'s>(node: Node<'s>, groups: Option<&Lists<'s>>) -> Option<Vec<String>> {
    let names = Names { groups: groups.map(Lists::names), ..Names::default() };
    let mut seen = HashSet::new();
    let group = |node| {
        let name = names.group(node)?;
        let fresh = seen.insert(name.clone());
        if !fresh {
            node.issue(format!("among: group \"{name}\" appears twice"));
        }
        fresh.then_some(name)
    };
    let among = list(node, GROUPS_MAX, group)?;
    let lists = groups.filter(|groups| groups.are_checked()).map(|groups| &groups.lists);
    let chosen = lists.into_iter().flatten().filter(|group| among.contains(&group.name));
    let count: usize = chosen.map(|group| group.words.len()).sum();
    if lists.is_some() && count == 1 {
        return node.issue("among: only one word to choose").expected("groups with at least 2 words in all").none();
    }
    Some(among)
}
