//! Reads the sentences that the learner can choose, and the probes.

use super::check::Names;
use super::decode::{list, whole};
use super::issue::{Issues, shorten};
use super::limits::{CHOICES_MAX, PROBES_MAX};
use super::record::{Record, complete};
use super::schema::Probe;
use super::source::Node;

/// The sentences that can be read are `Some`: an index into them is right even where one is not.
pub(super) fn read_sentences<'s>(
    node: Node<'s>,
    names: &Names,
    issues: &mut Issues<'s>,
) -> Option<Vec<Option<Vec<String>>>> {
    let sentences = list(node, CHOICES_MAX, |node, issues| Some(names.sentence(node, issues)), issues)?;
    if sentences.is_empty() {
        issues.at(node, "sentences: none").expected("at least one, for the stage to show");
        return None;
    }
    Some(sentences)
}

pub(super) fn read_probes<'s>(node: Node<'s>, names: &Names, issues: &mut Issues<'s>) -> Option<Vec<Probe>> {
    list(node, PROBES_MAX, |node, issues| read_probe(node, names, issues), issues)
}

fn read_probe<'s>(node: Node<'s>, names: &Names, issues: &mut Issues<'s>) -> Option<Probe> {
    let mut record = Record::open(node, &["Probe"], issues)?;
    let sentence = record.take("sentence", |node, issues| names.sentence(node, issues), issues);
    let in_sentence = |node: Node<'s>, issues: &mut Issues<'s>| {
        let word = names.word(node, issues)?;
        let count = sentence.as_ref().map_or(1, |s| s.iter().filter(|other| **other == word).count());
        if count != 1 {
            let times = if count == 0 { "not at all".to_owned() } else { format!("{count} times") };
            issues
                .at(node, format!("word: \"{}\" occurs in the sentence {times}", shorten(&word)))
                .expected("exactly once, so that it is clear which one is meant");
            return None;
        }
        Some(word)
    };
    let word = record.take("word", in_sentence, issues);
    let sense = record.take("sense", |node, issues| names.group(node, issues), issues);
    record.finish(issues);
    complete!(Probe { sentence, word, sense })
}

/// Decodes which of the sentences is meant, from 0. `lengths` are those of the sentences, `None` where
/// these have issues.
pub(super) fn sentence_index<'s>(lengths: Option<&[usize]>) -> impl Fn(Node<'s>, &mut Issues<'s>) -> Option<usize> {
    // Without lengths the sentences themselves are wrong, and any index may be right.
    whole(0..=lengths.map_or(CHOICES_MAX, |lengths| lengths.len().saturating_sub(1)))
}
