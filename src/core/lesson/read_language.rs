//! Reads the groups and the corpus: what the lesson's language is like.

use std::collections::{HashMap, HashSet};

use super::check::{Names, Vocabulary, check_name, word, words};
use super::corpus::{uses_per_sentence, wanted_rates};
use super::decode::{At, Kind, list_of, map, number, share, whole};
use super::issue::shorten;
use super::limits::{AMBIGUOUS_MAX, GROUPS_MAX, SENTENCES_MAX, VOCABULARY_MAX};
use super::read_topics::{ReadTopics, Templates, read_given};
use super::record::{Record, fields};
use super::schema::{Ambiguous, Corpus, Group, Join, Topic};
use super::source::Node;
use super::text::is_word_char;
use super::vocabulary::vocabulary;

/// Shares are written with a few decimals; thirds must be able to sum to one.
const SHARES_TOLERANCE: f64 = 1e-3;

/// Named word lists, with places.
#[derive(Default)]
pub(super) struct Lists<'s> {
    /// A list whose words have issues is empty here: its name can still be used elsewhere.
    pub lists: Vec<Group>,
    names: Vec<Node<'s>>,
    words: Vec<Vec<At<'s, String>>>,
    has_issues: bool,
}

impl Lists<'_> {
    pub fn names(&self) -> Vec<String> {
        self.lists.iter().map(|list| list.name.clone()).collect()
    }

    /// The lists, if nothing is wrong with any.
    pub fn checked(self) -> Option<Vec<Group>> {
        (!self.has_issues).then_some(self.lists)
    }

    pub fn are_checked(&self) -> bool {
        !self.has_issues
    }
}

/// Reads `{ "name": ["word", …], … }`.
pub(super) fn read_lists<'s>(node: Node<'s>) -> Option<Lists<'s>> {
    let entries = map(node, GROUPS_MAX, |node| Some(words(node, VOCABULARY_MAX)))?;
    let mut read = Lists::default();
    let mut well_named = true;
    for (name, words) in entries {
        let plain = |c: char| is_word_char(c) || matches!(c, '_' | '-' | ' ');
        if name.value.trim().is_empty() || name.value.trim() != name.value || !name.value.chars().all(plain) {
            name.node.field_issue(format!("name {}", shorten(name.node.text))).expected("letters, digits, _ and -");
            well_named = false;
        } else {
            well_named &= check_name(&name).is_some();
        }
        read.has_issues |= words.is_none();
        let words = words.unwrap_or_default();
        read.lists.push(Group { name: name.value, words: words.iter().map(|word| word.value.clone()).collect() });
        read.names.push(name.node);
        read.words.push(words);
    }
    // With a wrong name the right one would be unknown wherever it is used.
    well_named.then_some(read)
}

/// A word has one group, for its colour; the words with several senses are `ambiguous`.
pub(super) fn check_groups_apart(groups: &Lists<'_>) {
    let mut group_of = HashMap::new();
    for (group, words) in groups.lists.iter().zip(&groups.words) {
        for word in words {
            if let Some(first) = group_of.insert(&word.value, &group.name) {
                let message = format!("groups: word \"{}\" is in \"{first}\" and in \"{}\"", word.value, group.name);
                word.node.issue(message).expected("one group a word; a word with several senses is `ambiguous`");
            }
        }
    }
}

/// A group whose words never occur has no vectors.
pub(super) fn check_groups_occur(groups: &Lists<'_>, vocabulary: &Vocabulary) {
    for (group, words) in groups.lists.iter().zip(&groups.words) {
        for word in words.iter().filter(|word| !vocabulary.has(&word.value)) {
            word.node
                .issue(format!("groups: word \"{}\" never occurs in the corpus", word.value))
                .expected(format!("a template with {{{}}} or with the word", group.name));
        }
    }
}

/// A read corpus and what must be known of it later.
pub(super) struct ReadCorpus<'s> {
    pub corpus: Corpus,
    pub node: Node<'s>,
    /// Words of the longest sentence that can be drawn.
    pub longest: usize,
}

/// With `lone_words` a sentence may have one word alone.
pub(super) fn read_corpus<'s>(
    node: Node<'s>,
    groups: Option<&Lists<'s>>,
    max_tokens: Option<usize>,
    lone_words: bool,
) -> Option<ReadCorpus<'s>> {
    let mut record = Record::open(node, &["Corpus", "Sentences"])?;
    if record.name == "Sentences" {
        let read = |node| read_given(node, max_tokens, lone_words);
        let given = record.take_item("a list, or a map of topics with lists", read);
        record.finish();
        return given;
    }
    let sentences = record.take("sentences", read_count);
    let slots = record.take_or("slots", Lists::default(), read_lists);
    if let (Some(slots), Some(groups)) = (&slots, groups) {
        check_slots_apart(slots, groups);
    }
    let lists = slots.as_ref().zip(groups).map(|(slots, groups)| [&slots.lists[..], &groups.lists[..]].concat());
    let context = Templates { lists: lists.as_deref(), max_tokens, lone_words, given: false };
    let topics = record.take("topics", |node| context.read_topics(node));

    let names = Names { groups: groups.map(Lists::names), max_tokens, ..Names::default() };
    let read = |node| read_ambiguous(node, &names, groups, topics.as_ref());
    let ambiguous = record.take_or("ambiguous", Vec::new(), list_of(AMBIGUOUS_MAX, read));
    if let (Some(ambiguous), Some(topics)) = (&ambiguous, &topics) {
        check_rates(ambiguous, &topics.topics);
    }
    let mut longest = topics.as_ref().map_or(0, |topics| topics.lengths.iter().copied().max().unwrap_or(0));
    let join = record.take_optional("join", read_join);
    if let (Some(Some((_, node))), Some(topics)) = (&join, &topics) {
        longest = check_join(*node, topics, max_tokens);
    }
    record.finish();
    let corpus = Corpus {
        sentences: sentences?,
        drawn: true,
        slots: slots?.checked()?,
        topics: topics?.topics,
        ambiguous: ambiguous?.into_iter().map(|ambiguous| ambiguous.value).collect(),
        join: join?.map(|(join, _)| join),
    };
    Some(ReadCorpus { corpus, node, longest })
}

/// How many sentences are drawn.
fn read_count(node: Node<'_>) -> Option<usize> {
    if matches!(node.kind(), Kind::List | Kind::Map) || node.text.starts_with("Sentences") {
        let expected = "how many are drawn, or, with no Corpus around it, corpus: Sentences(…)";
        return node.issue("sentences: the sentences themselves").expected(expected).none();
    }
    whole(1..=SENTENCES_MAX)(node)
}

impl ReadCorpus<'_> {
    pub fn vocabulary(&self, groups: &[Group]) -> Vec<String> {
        vocabulary(&self.corpus, groups)
    }
}

fn check_slots_apart<'s>(slots: &Lists<'s>, groups: &Lists<'s>) {
    for (slot, node) in slots.lists.iter().zip(&slots.names) {
        if groups.lists.iter().any(|group| group.name == slot.name) {
            node.issue(format!("slots: \"{}\" is a group already", slot.name)).expected("another name");
        }
    }
}

fn read_ambiguous<'s>(
    node: Node<'s>,
    names: &Names,
    groups: Option<&Lists<'s>>,
    topics: Option<&ReadTopics>,
) -> Option<At<'s, Ambiguous>> {
    let mut record = Record::open(node, &["Ambiguous"])?;
    let own_word = |node| {
        let word = word(node)?;
        match groups.and_then(|groups| groups.lists.iter().find(|group| group.words.contains(&word))) {
            Some(group) => {
                let message = format!("word: the ambiguous word \"{word}\" is in group \"{}\" too", group.name);
                node.issue(message).expected("a word in no group").none()
            }
            None => Some(word),
        }
    };
    let read_shares = |node| {
        let entries = map(node, GROUPS_MAX, share)?;
        let sum: f64 = entries.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > SHARES_TOLERANCE {
            return node.issue(format!("shares: they sum to {sum:.3}")).expected("a sum of 1").none();
        }
        let mut shares = Vec::new();
        let mut good = true;
        for (group, share) in entries {
            good &= names.group(group.node).is_some();
            if topics.is_some_and(|topics| !topics.used.contains(&group.value)) && good {
                group
                    .node
                    .issue(format!("shares: no template uses {{{}}}", group.value))
                    .expected("a template that has a slot for this sense");
                good = false;
            }
            // Exactly one, so that sampling needs no tolerance.
            shares.push((group.value, share / sum));
        }
        good.then_some(shares)
    };
    let ambiguous = fields! { record => Ambiguous {
        word: own_word;
        rate: number(|x| x > 0.0 && x < 1.0, "a number between 0 and 1");
        shares: read_shares;
    } };
    record.finish();
    Some(At { value: ambiguous?, node })
}

/// A slot cannot be filled with ambiguous words more often than always.
fn check_rates(ambiguous: &[At<'_, Ambiguous>], topics: &[Topic]) {
    let mut filled: HashMap<&str, f64> = HashMap::new();
    let uses = uses_per_sentence(topics);
    let mut seen = HashSet::new();
    for At { value, node } in ambiguous {
        let word = &value.word;
        if !seen.insert(word) {
            node.issue(format!("ambiguous: word \"{word}\" appears twice"));
        }
        for ((group, _), rate) in value.shares.iter().zip(wanted_rates(value, &uses)) {
            let filled = filled.entry(group).or_default();
            *filled += rate;
            if *filled > 1.0 {
                let message = format!("ambiguous: {{{group}}} would be \"{word}\" with probability {filled:.2}");
                node.issue(message).expected("at most 1: a lower rate");
            }
        }
    }
}

fn read_join<'s>(node: Node<'s>) -> Option<(Join, Node<'s>)> {
    let mut record = Record::open(node, &["Join"])?;
    let values = |words: Vec<At<'s, String>>| words.into_iter().map(|word| word.value).collect();
    let join = fields! { record => Join {
        share: share;
        words: |node| words(node, VOCABULARY_MAX).map(values);
    } };
    record.finish();
    Some((join?, node))
}

/// Answers how many words the longest joined sentence has.
fn check_join(node: Node<'_>, topics: &ReadTopics, max_tokens: Option<usize>) -> usize {
    let mut lengths = topics.lengths.clone();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    let [first, second, ..] = lengths[..] else {
        node.issue("join: there is only one topic").expected("two topics, for two clauses of different topics");
        return lengths.first().copied().unwrap_or(0);
    };
    let longest = first + 1 + second;
    if let Some(max) = max_tokens.filter(|max| longest > *max) {
        node.issue(format!("join: two clauses and a word between them can have {longest} words"))
            .expected(format!("at most max_tokens: {max}"));
    }
    longest
}
