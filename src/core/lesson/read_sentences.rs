//! Reads the sentences that the learner can choose, and the probes.

use super::check::Names;
use super::decode::{list, whole};
use super::issue::shorten;
use super::limits::{CHOICES_MAX, PROBES_MAX};
use super::record::{Record, complete};
use super::schema::Probe;
use super::source::Node;

/// The sentences that can be read are `Some`: an index into them is right even where one is not.
pub(super) fn read_sentences(node: Node<'_>, names: &Names) -> Option<Vec<Option<Vec<String>>>> {
    let sentences = list(node, CHOICES_MAX, |node| Some(names.sentence(node)))?;
    if sentences.is_empty() {
        return node.issue("sentences: none").expected("at least one, for the stage to show").none();
    }
    Some(sentences)
}

pub(super) fn read_probes(node: Node<'_>, names: &Names) -> Option<Vec<Probe>> {
    list(node, PROBES_MAX, |node| read_probe(node, names))
}

fn read_probe(node: Node<'_>, names: &Names) -> Option<Probe> {
    let mut record = Record::open(node, &["Probe"])?;
    let sentence = record.take("sentence", |node| names.sentence(node));
    let in_sentence = |node| {
        let word = names.word(node)?;
        let count = sentence.as_ref().map_or(1, |s| s.iter().filter(|other| **other == word).count());
        if count != 1 {
            let times = if count == 0 { "not at all".to_owned() } else { format!("{count} times") };
            return node
                .issue(format!("word: \"{}\" occurs in the sentence {times}", shorten(&word)))
                .expected("exactly once, so that it is clear which one is meant")
                .none();
        }
        Some(word)
    };
    let word = record.take("word", in_sentence);
    let sense = record.take("sense", |node| names.group(node));
    record.finish();
    complete!(Probe { sentence, word, sense })
}

/// Decodes which of the sentences is meant, from 0. `lengths` are those of the sentences, `None` where
/// these have issues.
pub(super) fn sentence_index(lengths: Option<&[usize]>) -> impl Fn(Node<'_>) -> Option<usize> {
    // Without lengths the sentences themselves are wrong, and any index may be right.
    whole(0..=lengths.map_or(CHOICES_MAX, |lengths| lengths.len().saturating_sub(1)))
}
