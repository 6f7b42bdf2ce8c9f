//! Reads what the learner sees: sentences and cells; and the probes.

use super::check::{Names, id, line, markdown, unique_ids};
use super::decode::{At, list, number, whole};
use super::issue::{Issues, shorten};
use super::limits::{CELLS_MAX, CHOICES_MAX, PROBES_MAX, TOKENS_MAX};
use super::record::Record;
use super::schema::{Cell, CellKind, Probe};
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
                .at(node, format!("word: \"{}\" stands in the sentence {times}", shorten(&word)))
                .expected("once, so that it is clear which one is meant");
            return None;
        }
        Some(word)
    };
    let word = record.take("word", in_sentence, issues);
    let sense = record.take("sense", |node, issues| names.group(node, issues), issues);
    record.finish(issues);
    Some(Probe { sentence: sentence?, word: word?, sense: sense? })
}

/// `lengths` are those of the sentences, `None` where these have issues.
pub(super) fn read_cells<'s>(
    node: Node<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    issues: &mut Issues<'s>,
) -> Option<Vec<Cell>> {
    let mut ids = Vec::new();
    let read = |node, issues: &mut Issues<'s>| read_cell(node, names, lengths, &mut ids, issues);
    let cells = list(node, CELLS_MAX, read, issues);
    unique_ids(&ids, "cell", issues);
    cells
}

fn read_cell<'s>(
    node: Node<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    ids: &mut Vec<At<'s, String>>,
    issues: &mut Issues<'s>,
) -> Option<Cell> {
    let mut record = Record::open(node, &["Text", "Stage"], issues)?;
    let id = take_id(&mut record, ids, issues);
    let kind = match record.name {
        "Text" => record.take("md", markdown, issues).map(|markdown| CellKind::Text { markdown }),
        _ => read_stage(&mut record, names, lengths, issues),
    };
    record.finish(issues);
    Some(Cell { id: id?, kind: kind? })
}

fn read_stage<'s>(
    record: &mut Record<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    issues: &mut Issues<'s>,
) -> Option<CellKind> {
    let caption = record.take_or("caption", String::new(), line, issues);
    let sentence = record.take_or("sentence", 0, sentence_index(lengths), issues);
    let word = |node, issues: &mut Issues<'s>| names.word(node, issues);
    let words = record.take_or("words", Vec::new(), |node, issues| list(node, TOKENS_MAX, word, issues), issues);
    let time = record.take_or("time", 0.0, number(|x| (0.0..=1.0).contains(&x), "a number from 0 to 1"), issues);
    Some(CellKind::Stage { caption: caption?, sentence: sentence?, words: words?, time: time? as f32 })
}

/// Decodes which of the sentences is meant, from 0.
pub(super) fn sentence_index<'s>(lengths: Option<&[usize]>) -> impl Fn(Node<'s>, &mut Issues<'s>) -> Option<usize> {
    // Without lengths the sentences themselves are wrong, and any index may be right.
    whole(0..=lengths.map_or(CHOICES_MAX, |lengths| lengths.len().saturating_sub(1)))
}

pub(super) fn take_id<'s>(
    record: &mut Record<'s>,
    ids: &mut Vec<At<'s, String>>,
    issues: &mut Issues<'s>,
) -> Option<String> {
    let id = record.take("id", |node, issues| id(node, issues).map(|value| At { value, node }), issues)?;
    ids.push(id.clone());
    Some(id.value)
}
