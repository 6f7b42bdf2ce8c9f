//! Reads the sentences of a corpus: templates by topic, or the sentences themselves.

use std::collections::HashSet;

use super::check::check_name;
use super::decode::{Kind, list, map, text, wrong};
use super::issue::shorten;
use super::limits::{GROUPS_MAX, SENTENCES_MAX, TEMPLATE_BYTES_MAX, TEMPLATES_MAX, TOKENS_MAX};
use super::read_language::ReadCorpus;
use super::schema::{Corpus, Group, Topic};
use super::source::Node;
use super::template::{Piece, TemplateError, pieces};

/// Sentences that stand in the lesson: a list, or a list for each topic.
pub(super) fn read_given<'s>(node: Node<'s>, max_tokens: Option<usize>, lone_words: bool) -> Option<ReadCorpus<'s>> {
    let context = Templates { lists: Some(&[]), max_tokens, lone_words, given: true };
    let read = if node.kind() == Kind::Map {
        context.read_topics(node)?
    } else {
        let mut read = ReadTopics::default();
        read.add("all".to_owned(), context.read_templates(node)?);
        read
    };
    let longest = read.lengths.iter().copied().max().unwrap_or(0);
    let sentences = read.topics.iter().map(|topic| topic.templates.len()).sum();
    if sentences > SENTENCES_MAX {
        return node
            .issue(format!("corpus: {sentences} sentences"))
            .expected(format!("at most {SENTENCES_MAX}"))
            .none();
    }
    let corpus =
        Corpus { sentences, drawn: false, slots: Vec::new(), topics: read.topics, ambiguous: Vec::new(), join: None };
    Some(ReadCorpus { corpus, node, longest })
}

/// Names and limits that a template may use.
pub(super) struct Templates<'l> {
    /// Slots and groups.
    pub lists: Option<&'l [Group]>,
    pub max_tokens: Option<usize>,
    /// One word is sentence enough: its vector is given, and what is asked for is no word.
    pub lone_words: bool,
    /// The templates are the sentences themselves.
    pub given: bool,
}

#[derive(Default)]
pub(super) struct ReadTopics {
    pub topics: Vec<Topic>,
    /// Words of the longest template of each topic.
    pub lengths: Vec<usize>,
    /// Slots that some template uses.
    pub used: HashSet<String>,
}

/// A template with its words and slots.
pub(super) type ReadTemplate = (String, Vec<Piece>);

impl ReadTopics {
    pub fn add(&mut self, name: String, templates: Vec<ReadTemplate>) {
        self.lengths.push(templates.iter().map(|(_, pieces)| pieces.len()).max().unwrap_or(0));
        let slots = templates.iter().flat_map(|(_, pieces)| pieces).filter_map(|piece| match piece {
            Piece::Slot(name) => Some(name.clone()),
            Piece::Word(_) => None,
        });
        self.used.extend(slots);
        let templates = templates.into_iter().map(|(template, _)| template).collect();
        self.topics.push(Topic { name, templates });
    }
}

impl Templates<'_> {
    pub fn read_templates(&self, node: Node<'_>) -> Option<Vec<ReadTemplate>> {
        let template = |node| self.read_template(node);
        let most = if self.given { SENTENCES_MAX } else { TEMPLATES_MAX };
        let templates = list(node, most, template)?;
        match templates.is_empty() {
            true if self.given => wrong(node, "at least one sentence"),
            true => wrong(node, "at least one template"),
            false => Some(templates),
        }
    }

    pub fn read_topics(&self, node: Node<'_>) -> Option<ReadTopics> {
        let entries = map(node, GROUPS_MAX, |node| self.read_templates(node))?;
        if entries.is_empty() {
            return wrong(node, "at least one topic");
        }
        let mut read = ReadTopics::default();
        for (name, templates) in entries {
            if name.value.trim().is_empty() {
                return name.node.issue("topics: an empty name").none();
            }
            check_name(&name)?;
            read.add(name.value, templates);
        }
        Some(read)
    }

    fn read_template(&self, node: Node<'_>) -> Option<ReadTemplate> {
        let template = text(node)?;
        let what = if self.given { "corpus: a sentence" } else { "topics: a template" };
        if template.len() > TEMPLATE_BYTES_MAX {
            return node
                .issue(format!("{what} of {} bytes", template.len()))
                .expected(format!("at most {TEMPLATE_BYTES_MAX}"))
                .none();
        }
        let pieces = match pieces(&template) {
            Ok(pieces) => pieces,
            Err(error) => {
                report_template(node, &error);
                return None;
            }
        };
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
                Piece::Slot(name) => self.check_slot(name, node),
                Piece::Word(word) => check_length(word, node),
            };
        }
        good.then_some((template, pieces))
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
    let max = super::limits::WORD_CHARS_MAX;
    let good = word.chars().count() <= max;
    if !good {
        node.word(word)
            .issue(format!("topics: the word {} is too long", shorten(word)))
            .expected(format!("at most {max} characters"));
    }
    good
}

fn report_template(node: Node<'_>, error: &TemplateError) {
    match error {
        TemplateError::Unclosed(part) => {
            node.part(part).issue("topics: a { that is not closed").expected("{slot}");
        }
        TemplateError::Unopened(part) => {
            node.part(part).issue("topics: a } without a { before it").expected("{slot}");
        }
        TemplateError::Touching(part) => {
            node.part(part)
                .issue(format!("topics: {} touches other letters", shorten(part)))
                .expected("spaces around a slot, because it is one whole word");
        }
        TemplateError::Unnamed => {
            node.part("{}").issue("topics: a slot without a name").expected("{slot}");
        }
    }
}
