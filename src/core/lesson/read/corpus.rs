//! Reading of the language of a lesson and of the lesson's views of it: groups, the corpus with its templates, the
//! sentences that the learner can choose, probes, and the axes of the picture.

use std::collections::{BTreeMap, HashMap, HashSet};

use attune_engine::numerics::projection::AXES;

use crate::lesson::corpus::{TemplateError, TemplatePiece, lengths, pieces, uses_per_sentence, wanted_rates};
use crate::lesson::read::common::{LessonNames, Vocabulary, check_name, word, words};
use crate::lesson::reading::decode::{
    At, Node, Record, fields, list, list_of, map, number, record, share, text, whole, wrong,
};
use crate::lesson::reading::issue::shorten;
use crate::lesson::reading::text::{is_word_char, tokenize};
use crate::lesson::reading::tree::Form;
use crate::lesson::schema::limits::{
    AMBIGUOUS_MAX, CHOICES_MAX, GROUPS_MAX, PROBES_MAX, SENTENCES_MAX, TEMPLATE_BYTES_MAX, TEMPLATES_MAX, TOKENS_MAX,
    VOCABULARY_MAX, WORD_CHARS_MAX,
};
use crate::lesson::schema::{Ambiguous, AxisEnds, Corpus, Group, Join, Probe, Topic};

/// Tolerance of the sum of shares, since shares are written with a few decimals and thirds must be able to sum to 1.
const SHARES_TOLERANCE: f64 = 1e-3;

/// The slot of the templates of a corpus of repeats.
const REPEATED_SLOT: &str = "{words}";

/// Named word lists with their places.
#[derive(Default)]
pub struct Lists<'s> {
    /// The lists. A list whose words have issues is empty here, so that references to its name are not reported too.
    pub lists: Vec<Group>,
    names: Vec<Node<'s>>,
    words: Vec<Vec<At<'s, String>>>,
    has_issues: bool,
}

impl Lists<'_> {
    pub fn names(&self) -> Vec<String> {
        self.lists.iter().map(|list| list.name.clone()).collect()
    }

    /// Returns the lists, if none has an issue.
    pub fn checked(self) -> Option<Vec<Group>> {
        (!self.has_issues).then_some(self.lists)
    }

    pub fn are_checked(&self) -> bool {
        !self.has_issues
    }
}

/// Reads named word lists, `{ "name": ["word", …], … }`.
pub fn read_lists<'s>(node: Node<'s>) -> Option<Lists<'s>> {
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
    // If a name is wrong, the intended name would be reported as unknown wherever it is used.
    well_named.then_some(read)
}

/// Checks that no word has two groups, because a group is the word's colour; words with several senses are `ambiguous`.
pub fn check_groups_apart(groups: &Lists<'_>) {
    let mut group_of = HashMap::new();
    for (group, words) in groups.lists.iter().zip(&groups.words) {
        for word in words {
            if let Some(first) = group_of.insert(&word.value, &group.name) {
                let message = format!("groups: word \"{}\" is in \"{first}\" and in \"{}\"", word.value, group.name);
                word.node.issue(message).expected("one group per word; a word with several senses is `ambiguous`");
            }
        }
    }
}

/// Checks that the words of groups occur in the corpus: a word that never occurs has no vector.
pub fn check_groups_occur(groups: &Lists<'_>, vocabulary: &Vocabulary) {
    for (group, words) in groups.lists.iter().zip(&groups.words) {
        for word in words.iter().filter(|word| !vocabulary.has(&word.value)) {
            word.node
                .issue(format!("groups: word \"{}\" {}", word.value, vocabulary.place()))
                .expected(format!("a template with {{{}}} or with the word", group.name));
        }
    }
}

/// Reads a corpus of any kind. If `lone_words` is true, a sentence may consist of a single word.
pub fn read_corpus<'s>(
    node: Node<'s>,
    groups: Option<&Lists<'s>>,
    max_tokens: Option<usize>,
    lone_words: bool,
) -> Option<At<'s, Corpus>> {
    record(node, &["Corpus", "Sentences", "Repeats"], |record| match record.name {
        "Repeats" => read_repeats(record, max_tokens),
        "Sentences" => {
            record.take_item("a list, or a map of topics with lists", |node| read_given(node, max_tokens, lone_words))
        }
        _ => read_drawn(record, groups, max_tokens, lone_words),
    })
}

/// Reads a corpus that is drawn from templates.
fn read_drawn<'s>(
    record: &mut Record<'s>,
    groups: Option<&Lists<'s>>,
    max_tokens: Option<usize>,
    lone_words: bool,
) -> Option<At<'s, Corpus>> {
    fields! { record;
        sentences: read_count;
        slots: read_lists, or Lists::default();
    }
    if let (Some(slots), Some(groups)) = (&slots, groups) {
        check_slots_apart(slots, groups);
    }
    let lists = slots.as_ref().zip(groups).map(|(slots, groups)| [&slots.lists[..], &groups.lists[..]].concat());
    let context = Templates { lists: lists.as_deref(), max_tokens, lone_words, given: false };
    let names = LessonNames { groups: groups.map(Lists::names), max_tokens, ..LessonNames::default() };
    fields! { record; topics: |node| context.read_topics(node); }
    let uses = topics.as_deref().map(uses_per_sentence);
    fields! { record;
        ambiguous: list_of(AMBIGUOUS_MAX, |node| read_ambiguous(node, &names, groups, uses.as_ref())), or Vec::new();
        join: read_join, optional;
    }
    if let (Some(ambiguous), Some(uses)) = (&ambiguous, &uses) {
        check_rates(ambiguous, uses);
    }
    if let (Some(Some((_, node))), Some(topics)) = (&join, &topics) {
        check_join(*node, topics, max_tokens);
    }
    let corpus = Corpus {
        sentences: sentences?,
        drawn: true,
        repeats: false,
        slots: slots?.checked()?,
        topics: topics?,
        ambiguous: ambiguous?.into_iter().map(|ambiguous| ambiguous.value).collect(),
        join: join?.map(|(join, _)| join),
    };
    Some(At { value: corpus, node: record.node })
}

/// Reads a corpus of random words that are written twice.
fn read_repeats<'s>(record: &mut Record<'s>, max_tokens: Option<usize>) -> Option<At<'s, Corpus>> {
    let most = max_tokens.unwrap_or(TOKENS_MAX) / 2;
    fields! { record;
        words: |node| words(node, VOCABULARY_MAX);
        longest: |node| whole(1..=words.as_ref().map_or(most, |words| most.min(words.len())))(node);
        shortest: |node| whole(1..=longest.unwrap_or(most))(node);
        sentences: read_count;
    }
    let (shortest, longest) = (shortest?, longest?);
    let words = words?.into_iter().map(|word| word.value).collect();
    let templates = (shortest..=longest).map(|count| vec![REPEATED_SLOT; count].join(" ")).collect();
    let corpus = Corpus {
        sentences: sentences?,
        drawn: true,
        repeats: true,
        slots: vec![Group { name: "words".to_owned(), words }],
        topics: vec![Topic { name: "repeats".to_owned(), templates }],
        ..Corpus::default()
    };
    Some(At { value: corpus, node: record.node })
}

/// Reads the number of sentences to draw.
fn read_count(node: Node<'_>) -> Option<usize> {
    if matches!(node.form(), Form::List(_) | Form::Map(_)) || node.text.starts_with("Sentences") {
        let expected = "the number of sentences to draw, or corpus: Sentences(…) without Corpus";
        return node.issue("sentences: the sentences themselves").expected(expected).none();
    }
    whole(1..=SENTENCES_MAX)(node)
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
    names: &LessonNames,
    groups: Option<&Lists<'s>>,
    uses: Option<&BTreeMap<String, f64>>,
) -> Option<At<'s, Ambiguous>> {
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
            if uses.is_some_and(|uses| !uses.contains_key(&group.value)) && good {
                group
                    .node
                    .issue(format!("shares: no template uses {{{}}}", group.value))
                    .expected("a template that has a slot for this sense");
                good = false;
            }
            // The shares are divided by their sum, which need not be exactly 1.
            shares.push((group.value, share / sum));
        }
        good.then_some(shares)
    };
    let value = record(node, &["Ambiguous"], |record| {
        fields! { record => Ambiguous {
            word: own_word;
            rate: number(|x| x > 0.0 && x < 1.0, "a number between 0 and 1");
            shares: read_shares;
        } }
    })?;
    Some(At { value, node })
}

/// Checks that no slot would have to be filled with ambiguous words at a rate above 1.
fn check_rates(ambiguous: &[At<'_, Ambiguous>], uses: &BTreeMap<String, f64>) {
    let mut filled: HashMap<&str, f64> = HashMap::new();
    let mut seen = HashSet::new();
    for At { value, node } in ambiguous {
        let word = &value.word;
        if !seen.insert(word) {
            node.issue(format!("ambiguous: word \"{word}\" appears twice"));
        }
        for ((group, _), rate) in value.shares.iter().zip(wanted_rates(value, uses)) {
            let filled = filled.entry(group).or_default();
            *filled += rate;
            if *filled > 1.0 {
                let message = format!("ambiguous: {{{group}}} would be \"{word}\" with probability {filled:.2}");
                node.issue(message).expected("at most 1; lower the rate");
            }
        }
    }
}

fn read_join<'s>(node: Node<'s>) -> Option<(Join, Node<'s>)> {
    let values = |words: Vec<At<'s, String>>| words.into_iter().map(|word| word.value).collect();
    let join = record(node, &["Join"], |record| {
        fields! { record => Join {
            share: share;
            words: |node| words(node, VOCABULARY_MAX).map(values);
        } }
    })?;
    Some((join, node))
}

/// Checks a joined sentence: there are two topics for its clauses, and it has no more words than the model reads.
fn check_join(node: Node<'_>, topics: &[Topic], max_tokens: Option<usize>) {
    let [first, second, ..] = lengths(topics)[..] else {
        node.issue("join: there is only one topic").expected("two topics, for two clauses of different topics");
        return;
    };
    let longest = first + 1 + second;
    if let Some(max) = max_tokens.filter(|max| longest > *max) {
        node.issue(format!("join: two clauses and a word between them can have {longest} words"))
            .expected(format!("at most max_tokens: {max}"));
    }
}

/// Reads the sentences of a lesson that writes them out: a list, or a list for each topic.
fn read_given<'s>(node: Node<'s>, max_tokens: Option<usize>, lone_words: bool) -> Option<At<'s, Corpus>> {
    let context = Templates { lists: Some(&[]), max_tokens, lone_words, given: true };
    let topics = match node.form() {
        Form::Map(_) => context.read_topics(node)?,
        _ => vec![Topic { name: "all".to_owned(), templates: context.read_templates(node)? }],
    };
    let sentences = topics.iter().map(|topic| topic.templates.len()).sum();
    if sentences > SENTENCES_MAX {
        return node
            .issue(format!("corpus: {sentences} sentences"))
            .expected(format!("at most {SENTENCES_MAX}"))
            .none();
    }
    Some(At { value: Corpus { sentences, topics, ..Corpus::default() }, node })
}

/// The names and limits that apply to templates.
struct Templates<'l> {
    /// Lists from which templates may draw: slots and groups.
    lists: Option<&'l [Group]>,
    max_tokens: Option<usize>,
    /// Whether a single word is a sentence, because vectors are given and the objective asks for no word.
    lone_words: bool,
    /// Whether the templates are themselves the sentences.
    given: bool,
}

impl Templates<'_> {
    fn read_templates(&self, node: Node<'_>) -> Option<Vec<String>> {
        let template = |node| self.read_template(node);
        let most = if self.given { SENTENCES_MAX } else { TEMPLATES_MAX };
        let templates = list(node, most, template)?;
        match templates.is_empty() {
            true if self.given => wrong(node, "at least one sentence"),
            true => wrong(node, "at least one template"),
            false => Some(templates),
        }
    }

    fn read_topics(&self, node: Node<'_>) -> Option<Vec<Topic>> {
        let entries = map(node, GROUPS_MAX, |node| self.read_templates(node))?;
        if entries.is_empty() {
            return wrong(node, "at least one topic");
        }
        let mut topics = Vec::with_capacity(entries.len());
        for (name, templates) in entries {
            if name.value.trim().is_empty() {
                return name.node.issue("topics: an empty name").none();
            }
            check_name(&name)?;
            topics.push(Topic { name: name.value, templates });
        }
        Some(topics)
    }

    fn read_template(&self, node: Node<'_>) -> Option<String> {
        let template = text(node)?;
        let what = if self.given { "corpus: a sentence" } else { "topics: a template" };
        if template.len() > TEMPLATE_BYTES_MAX {
            return node
                .issue(format!("{what} of {} bytes", template.len()))
                .expected(format!("at most {TEMPLATE_BYTES_MAX}"))
                .none();
        }
        let pieces = pieces(&template).map_err(|error| report_template(node, &error)).ok()?;
        let mut good = true;
        if pieces.is_empty() && self.lone_words {
            node.issue(format!("{what} without words"));
            good = false;
        } else if pieces.len() < 2 && !self.lone_words {
            node.issue(format!("{what} with fewer than 2 words"))
                .expected("at least 2, because a word learns from its neighbours");
            good = false;
        }
        let max = self.max_tokens.unwrap_or(TOKENS_MAX);
        if pieces.len() > max {
            return node
                .issue(format!("{what} of {} words", pieces.len()))
                .expected(format!("at most max_tokens: {max}"))
                .none();
        }
        for piece in &pieces {
            good &= match piece {
                TemplatePiece::Slot(name) => self.check_slot(name, node),
                TemplatePiece::Word(word) => check_length(word, node),
            };
        }
        good.then_some(template)
    }

    fn check_slot(&self, name: &str, node: Node<'_>) -> bool {
        let Some(lists) = self.lists.filter(|lists| lists.iter().all(|list| list.name != name)) else {
            return true;
        };
        let expected =
            if self.given { "words only; slots belong in Corpus(…)" } else { "a name from slots or groups" };
        node.part(&format!("{{{name}}}"))
            .issue(format!("topics: unknown slot {{{}}}", shorten(name)))
            .expected(expected)
            .nearest(name, lists.iter().map(|list| list.name.as_str()));
        false
    }
}

fn check_length(word: &str, node: Node<'_>) -> bool {
    let good = word.chars().count() <= WORD_CHARS_MAX;
    if !good {
        node.word(word)
            .issue(format!("topics: the word {} is too long", shorten(word)))
            .expected(format!("at most {WORD_CHARS_MAX} characters"));
    }
    good
}

fn report_template(node: Node<'_>, error: &TemplateError) {
    let (part, found, expected) = match error {
        TemplateError::Unclosed(part) => (&**part, "a { that is not closed".to_owned(), "{slot}"),
        TemplateError::Unopened(part) => (&**part, "a } without a { before it".to_owned(), "{slot}"),
        TemplateError::Touching(part) => {
            let found = format!("{} touches other letters", shorten(part));
            (&**part, found, "spaces around a slot, because it is one whole word")
        }
        TemplateError::Unnamed => ("{}", "a slot without a name".to_owned(), "{slot}"),
    };
    node.part(part).issue(format!("topics: {found}")).expected(expected);
}

/// Reads the sentences. A sentence with issues is `None` in the list, so that indices into the list remain right.
pub fn read_sentences(node: Node<'_>, names: &LessonNames) -> Option<Vec<Option<Vec<String>>>> {
    let sentences = list(node, CHOICES_MAX, |node| Some(names.sentence(node)))?;
    if sentences.is_empty() {
        return node.issue("sentences: none").expected("at least one, for the stage to show").none();
    }
    Some(sentences)
}

pub fn read_probes(node: Node<'_>, names: &LessonNames) -> Option<Vec<Probe>> {
    list(node, PROBES_MAX, |node| read_probe(node, names))
}

fn read_probe(node: Node<'_>, names: &LessonNames) -> Option<Probe> {
    let in_sentence = |node: Node<'_>, sentence: Option<&Vec<String>>| {
        let word = names.word(node)?;
        let count = sentence.map_or(1, |s| s.iter().filter(|other| **other == word).count());
        if count != 1 {
            let times = if count == 0 { "not at all".to_owned() } else { format!("{count} times") };
            return node
                .issue(format!("word: \"{}\" occurs in the sentence {times}", shorten(&word)))
                .expected("exactly once, so that it is clear which one is meant")
                .none();
        }
        Some(word)
    };
    record(node, &["Probe"], |record| {
        fields! { record => Probe {
            sentence: |node| names.sentence(node);
            word: |node| in_sentence(node, sentence.as_ref());
            sense: |node| names.group(node);
        } }
    })
}

/// Returns a decoder of the index of a sentence. `lengths` are the sentences' lengths, or `None` if the sentences have
/// issues.
pub fn sentence_index(lengths: Option<&[usize]>) -> impl Fn(Node<'_>) -> Option<usize> {
    // If the sentences have issues, any index may be valid.
    whole(0..=lengths.map_or(CHOICES_MAX, |lengths| lengths.len().saturating_sub(1)))
}

/// Reads the axes: at most as many as the picture has, and as the vectors have dimensions.
pub fn read_axes(node: Node<'_>, names: &LessonNames, dim: Option<usize>) -> Option<Vec<AxisEnds>> {
    let mut read: Vec<AxisEnds> = Vec::new();
    let axes = list(node, AXES, |node| {
        let axis = read_axis(node, names)?;
        // An axis in the other direction is the same line.
        if read.iter().any(|other| *other == axis || (&other.from, &other.to) == (&axis.to, &axis.from)) {
            let (from, to) = (shorten(&axis.from), shorten(&axis.to));
            return node.field_issue(format!("an axis of \"{from}\" and \"{to}\" appears twice")).none();
        }
        read.push(axis.clone());
        Some(axis)
    })?;
    match dim {
        Some(dim) if axes.len() > dim => {
            let expected = format!("at most {dim}, the number of dimensions of the vectors");
            node.issue(format!("axes: {}", axes.len())).expected(expected).none()
        }
        _ => Some(axes),
    }
}

fn read_axis(node: Node<'_>, names: &LessonNames) -> Option<AxisEnds> {
    let axis = record(node, &["Axis"], |record| {
        fields! { record => AxisEnds {
            from: |node| read_end(node, names);
            to: |node| read_end(node, names);
        } }
    })?;
    if axis.from == axis.to {
        return node.issue(format!("an axis from \"{}\" to itself", shorten(&axis.to))).expected("two ends").none();
    }
    Some(axis)
}

/// Reads an end of an axis: one or more groups and words, separated by commas, semicolons or spaces.
fn read_end(node: Node<'_>, names: &LessonNames) -> Option<String> {
    let end = text(node)?.trim().to_owned();
    let is_group = |name: &str| names.groups.as_ref().is_none_or(|groups| groups.iter().any(|group| group == name));
    if is_group(&end) {
        return Some(end);
    }
    let mut named = 0;
    for item in end.split([',', ';']).flat_map(str::split_whitespace).filter(|item| !is_group(item)) {
        for word in tokenize(item) {
            named += 1;
            let Some(vocabulary) = names.vocabulary.as_ref().filter(|vocabulary| !vocabulary.has(&word)) else {
                continue;
            };
            let groups = names.groups.iter().flatten().map(String::as_str);
            return node
                .word(&word)
                .field_issue(format!("\"{}\" is neither a group nor a word of the corpus", shorten(&word)))
                .expected("a group, or words separated by commas")
                .nearest(&word, groups.chain(vocabulary.all()))
                .none();
        }
    }
    let has_group = end.split([',', ';']).flat_map(str::split_whitespace).any(is_group);
    if named == 0 && !has_group {
        return node.field_issue("no word").expected("a group, or words separated by commas").none();
    }
    Some(end)
}
