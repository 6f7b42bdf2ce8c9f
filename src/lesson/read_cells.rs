//! Reads what the learner sees: cells, probes and claims.

use super::check::{Names, id, line, markdown, unique_ids};
use super::decode::{At, choice, list, number, whole};
use super::issue::{Issues, shorten};
use super::limits::{CELLS_MAX, CHOICES_MAX, CLAIMS_MAX, PROBES_MAX, TOKENS_MAX};
use super::record::Record;
use super::schema::{Cell, CellKind, Claim, Expect, Fact, Probe, Space};
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
fn sentence_index<'s>(lengths: Option<&[usize]>) -> impl Fn(Node<'s>, &mut Issues<'s>) -> Option<usize> {
    // Without lengths the sentences themselves are wrong, and any index may be right.
    whole(0..=lengths.map_or(CHOICES_MAX, |lengths| lengths.len().saturating_sub(1)))
}

fn take_id<'s>(record: &mut Record<'s>, ids: &mut Vec<At<'s, String>>, issues: &mut Issues<'s>) -> Option<String> {
    let id = record.take("id", |node, issues| id(node, issues).map(|value| At { value, node }), issues)?;
    ids.push(id.clone());
    Some(id.value)
}

/// `lengths` are those of the sentences; it and `probe_count` are `None` where these have issues.
pub(super) fn read_claims<'s>(
    node: Node<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    probe_count: Option<usize>,
    issues: &mut Issues<'s>,
) -> Option<Vec<Claim>> {
    let mut ids = Vec::new();
    let read = |node, issues: &mut Issues<'s>| read_claim(node, names, lengths, probe_count, &mut ids, issues);
    let claims = list(node, CLAIMS_MAX, read, issues);
    unique_ids(&ids, "claim", issues);
    claims
}

fn read_claim<'s>(
    node: Node<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    probe_count: Option<usize>,
    ids: &mut Vec<At<'s, String>>,
    issues: &mut Issues<'s>,
) -> Option<Claim> {
    let mut record = Record::open(node, &["Claim"], issues)?;
    let id = take_id(&mut record, ids, issues);
    let says = record.take("says", line, issues);
    let read = |node, issues: &mut Issues<'s>| read_fact(node, names, lengths, probe_count, issues);
    let fact = record.take("fact", read, issues);
    let expect = record.take("expect", |node, issues| read_expect(node, fact.as_ref(), issues), issues);
    record.finish(issues);
    Some(Claim { id: id?, says: says?, fact: fact?, expect: expect? })
}

fn read_fact<'s>(
    node: Node<'s>,
    names: &Names,
    lengths: Option<&[usize]>,
    probe_count: Option<usize>,
    issues: &mut Issues<'s>,
) -> Option<Fact> {
    const FACTS: &[&str] = &[
        "SenseAccuracy",
        "MajorityShare",
        "SenseMargin",
        "TokenMargin",
        "Mixture",
        "Cosine",
        "FinalLoss",
        "ContributionError",
    ];
    const SPACES: &[(&str, Space)] = &[("Static", Space::Static), ("Contextual", Space::Contextual)];
    let mut record = Record::open(node, FACTS, issues)?;
    let word = |node: Node<'s>, issues: &mut Issues<'s>| names.word(node, issues);
    let group = |node: Node<'s>, issues: &mut Issues<'s>| names.group(node, issues);
    let fact = match record.name {
        "SenseAccuracy" => record.take_item("Static or Contextual", choice(SPACES), issues).map(Fact::SenseAccuracy),
        "SenseMargin" => record.take_item("Static or Contextual", choice(SPACES), issues).map(Fact::SenseMargin),
        "MajorityShare" => Some(Fact::MajorityShare),
        "TokenMargin" => {
            let sentence = record.take("sentence", sentence_index(lengths), issues);
            let tokens = sentence.zip(lengths).map_or(TOKENS_MAX, |(sentence, lengths)| lengths[sentence]);
            let token = record.take("token", whole(0..=tokens - 1), issues);
            let sense = record.take("sense", group, issues);
            (|| Some(Fact::TokenMargin { sentence: sentence?, token: token?, sense: sense? }))()
        }
        "Mixture" => {
            let word = record.take("word", word, issues);
            let of = record.take("of", group, issues);
            let against = record.take("against", group, issues);
            if of.is_some() && of == against {
                issues.at(record.place_of("against"), "Mixture of a group against itself").expected("another group");
            }
            (|| Some(Fact::Mixture { word: word?, of: of?, against: against? }))()
        }
        "Cosine" => {
            let a = record.take("a", word, issues);
            let b = record.take("b", word, issues);
            a.zip(b).map(|(a, b)| Fact::Cosine { a, b })
        }
        "FinalLoss" => Some(Fact::FinalLoss),
        _ => Some(Fact::ContributionError),
    };
    let of_probes = matches!(record.name, "SenseAccuracy" | "MajorityShare" | "SenseMargin");
    if of_probes && probe_count == Some(0) {
        issues.at(node, format!("{} is measured on probes, but there are none", record.name)).expected("probes: [ … ]");
    }
    let group_count = names.groups.as_ref().map_or(2, Vec::len);
    if (of_probes || record.name == "TokenMargin") && group_count < 2 {
        let message = format!("{} compares groups, and the lesson has {group_count}", record.name);
        issues.at(node, message).expected("at least 2 groups");
    }
    record.finish(issues);
    fact
}

fn read_expect<'s>(node: Node<'s>, fact: Option<&Fact>, issues: &mut Issues<'s>) -> Option<Expect> {
    let mut record = Record::open(node, &["AtLeast", "AtMost", "Within"], issues)?;
    let finite = number(|_| true, "a number");
    let expect = match record.name {
        "AtLeast" => record.take_item("number", finite, issues).map(Expect::AtLeast),
        "AtMost" => record.take_item("number", finite, issues).map(Expect::AtMost),
        _ => {
            let value = record.take("value", finite, issues);
            let tolerance = record.take("tolerance", number(|x| x >= 0.0, "a number of at least 0"), issues);
            value.zip(tolerance).map(|(value, tolerance)| Expect::Within { value, tolerance })
        }
    };
    record.finish(issues);
    let expect = expect?;
    if let Some((least, most)) = fact.map(range)
        && !can_hold(expect, least, most)
    {
        issues
            .at(node, format!("expect: {} can never hold", shorten(node.text)))
            .expected(format!("something that values from {least} to {most} can meet"));
        return None;
    }
    Some(expect)
}

/// The values that a fact can have.
fn range(fact: &Fact) -> (f64, f64) {
    match fact {
        Fact::SenseAccuracy(_) | Fact::MajorityShare => (0.0, 1.0),
        Fact::Cosine { .. } => (-1.0, 1.0),
        Fact::SenseMargin(_) | Fact::TokenMargin { .. } => (-2.0, 2.0),
        Fact::Mixture { .. } => (f64::NEG_INFINITY, f64::INFINITY),
        Fact::FinalLoss | Fact::ContributionError => (0.0, f64::INFINITY),
    }
}

fn can_hold(expect: Expect, least: f64, most: f64) -> bool {
    match expect {
        Expect::AtLeast(bound) => bound <= most,
        Expect::AtMost(bound) => bound >= least,
        Expect::Within { value, tolerance } => value - tolerance <= most && value + tolerance >= least,
    }
}
