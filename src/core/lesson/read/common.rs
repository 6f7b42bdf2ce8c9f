//! Checks that several parts of a lesson share: ids, words, and names that other parts define.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::{ModelPiece, Origin};
use attune_engine::vectors::Vectors;

use crate::lesson::reading::decode::{At, Node, Record, list, text};
use crate::lesson::reading::issue::{inside, is_unprintable, one_of, shorten};
use crate::lesson::reading::text::tokenize;
use crate::lesson::recorded::RecordedModel;
use crate::lesson::schema::START_TOKEN;
use crate::lesson::schema::limits::{
    ID_CHARS_MAX, LINE_CHARS_MAX, NAME_CHARS_MAX, PIECES_MAX, TEXT_BYTES_MAX, TOKENS_MAX, WORD_CHARS_MAX, pieces_max,
};

/// Names that earlier parts of the lesson define. For a part with issues of its own it is `None`, and nothing is
/// checked against it, so that one mistake does not cause many issues.
#[derive(Default)]
pub struct LessonNames {
    pub groups: Option<Vec<String>>,
    pub vocabulary: Option<Vocabulary>,
    pub max_tokens: Option<usize>,
    /// The pretrained model that reads the sentences, if there is one; the words are then its pieces.
    pub model: Option<Arc<ModelFolder>>,
    /// The recording whose texts are the sentences, if there is one: its tokens are the words.
    pub recording: Option<Arc<RecordedModel>>,
}

/// The words of the corpus, in order and for look-up.
pub struct Vocabulary {
    pub words: Vec<String>,
    set: HashSet<String>,
    /// The file that provides vectors of further words.
    file: Option<Arc<Vectors>>,
    /// Words of the file that the lesson uses and that are not in the corpus.
    asked: RefCell<Vec<String>>,
}

impl Vocabulary {
    pub fn new(words: Vec<String>) -> Self {
        Self { set: words.iter().cloned().collect(), words, file: None, asked: RefCell::default() }
    }

    /// Adds the words of a file to the vocabulary.
    pub fn with_file(self, file: Option<Arc<Vectors>>) -> Self {
        Self { file, ..self }
    }

    /// Returns whether the lesson can use a word. A word of the file is noted as used.
    pub fn has(&self, word: &str) -> bool {
        if self.set.contains(word) {
            return true;
        }
        let is_in_file = self.file.as_ref().is_some_and(|file| file.row_of(word).is_some());
        let mut asked = self.asked.borrow_mut();
        if is_in_file && !asked.iter().any(|known| known == word) {
            asked.push(word.to_owned());
        }
        is_in_file
    }

    /// Returns all words that the lesson could use.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let in_file = self.file.iter().flat_map(|file| file.words.iter().map(|word| &**word));
        self.words.iter().map(String::as_str).chain(in_file)
    }

    /// Returns the words that the lesson uses.
    pub fn used(self) -> Vec<String> {
        self.words.into_iter().chain(self.asked.into_inner()).collect()
    }

    /// Returns the end of a message about an unknown word: where the word is missing.
    pub fn place(&self) -> &'static str {
        match self.file {
            Some(_) => "is neither in the corpus nor in the file of vectors",
            None => "never occurs in the corpus",
        }
    }
}

impl LessonNames {
    /// Reads a word of the vocabulary.
    pub fn word(&self, node: Node<'_>) -> Option<String> {
        let is_of_tokens = self.model.is_some() || self.recording.is_some();
        let word = if is_of_tokens { line(node)? } else { word(node)? };
        self.known_word(&word, node).then_some(word)
    }

    fn known_word(&self, word: &str, node: Node<'_>) -> bool {
        let Some(vocabulary) = self.vocabulary.as_ref().filter(|vocabulary| !vocabulary.has(word)) else {
            return true;
        };
        let place = match (&self.model, &self.recording) {
            (Some(_), _) => "is not a piece of the model's vocabulary",
            (None, Some(_)) => "is not a token of the recording",
            (None, None) => vocabulary.place(),
        };
        node.field_issue(format!("word \"{}\" {place}", shorten(word))).nearest(word, vocabulary.all());
        false
    }

    /// Reads a sentence of words that the model knows, or the whole text for a pretrained model.
    pub fn sentence(&self, node: Node<'_>) -> Option<Vec<String>> {
        if let Some(model) = &self.model {
            return text_in_pieces(node, model).map(|text| vec![text]);
        }
        let words = tokenize(&text(node)?);
        if words.is_empty() {
            return node.field_issue("a sentence without words").none();
        }
        let max = self.max_tokens.unwrap_or(TOKENS_MAX);
        if words.len() > max {
            return node
                .field_issue(format!("a sentence of {} words", words.len()))
                .expected(format!("at most max_tokens: {max}"))
                .none();
        }
        let mut seen = HashSet::new();
        let mut known = true;
        for word in words.iter().filter(|word| seen.insert(word.as_str())) {
            known &= self.known_word(word, node.word(word));
        }
        known.then_some(words)
    }

    /// Returns the number of tokens of a sentence, or the greatest number that is read if the number is not known in
    /// advance.
    pub fn count(&self, sentence: &[String]) -> usize {
        let is_written = |model: &ModelFolder| {
            let text = sentence.join(" ");
            model.reads_source() && model.source_and_target(&text).is_ok_and(|(_, target)| target.is_none())
        };
        // The length of a target that the model writes is not known in advance.
        let is_unknown = self.is_absent() || self.model.as_ref().is_some_and(|model| is_written(model));
        if is_unknown { PIECES_MAX } else { self.tokens(sentence).len() }
    }

    /// Returns whether the pretrained model is missing on this computer.
    pub fn is_absent(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.absent.is_some())
    }

    /// Returns the tokens of a sentence, or of its target if the text contains one.
    pub fn tokens(&self, sentence: &[String]) -> Vec<String> {
        if let Some(recording) = &self.recording {
            return recording.tokens_of(&sentence.join(" "));
        }
        let Some(model) = &self.model else { return sentence.to_vec() };
        let text = sentence.join(" ");
        let shown = |pieces: Vec<ModelPiece>| pieces.into_iter().map(|piece| model.shown(piece.id)).collect::<Vec<_>>();
        match model.source_and_target(&text) {
            Ok((_, Some(target))) => {
                let start = model.rules.start.map_or_else(|| START_TOKEN.to_owned(), |start| model.shown(start as u32));
                [vec![start], shown(model.target_pieces(target).unwrap_or_default())].concat()
            }
            _ => shown(model.pieces(&text).unwrap_or_default()),
        }
    }

    /// Reads the name of a group.
    pub fn group(&self, node: Node<'_>) -> Option<String> {
        let name = text(node)?;
        match &self.groups {
            Some(groups) if !groups.contains(&name) => {
                let problem = format!("unknown group \"{}\"", shorten(&name));
                unknown_name(node, problem, &name, groups, "a group; the lesson has none, so define it in `groups`")
            }
            _ => Some(name),
        }
    }
}

/// Reads a text that the pretrained model can read.
fn text_in_pieces(node: Node<'_>, model: &ModelFolder) -> Option<String> {
    let text = line(node)?;
    if model.absent.is_some() {
        return Some(text);
    }
    let most = pieces_max(&model.architecture, model.config.vocabulary);
    let is_of_text = |piece: &ModelPiece| piece.origin != Origin::Added;
    let target_pieces = |target| model.target_pieces(target).map(|pieces| pieces.len() + 1);
    let read = model.source_and_target(&text).and_then(|(source, target)| {
        let behind = target.map(target_pieces).transpose()?;
        Ok((model.pieces(source)?, behind))
    });
    let (pieces, behind) = match read {
        Ok(read) => read,
        Err(why) => return node.field_issue(why).none(),
    };
    let found = match behind {
        Some(behind) if behind > most => format!("a target of {behind} pieces"),
        _ if !pieces.iter().any(is_of_text) => {
            return node.field_issue("a text without words").expected("words that the model's tokenizer knows").none();
        }
        _ if pieces.len() <= most => return Some(text),
        _ => format!("a text of {} pieces", pieces.len()),
    };
    node.field_issue(found).expected(format!("from 1 to {most}")).none()
}

/// Reads a single word, normalised by [`tokenize`].
pub fn word(node: Node<'_>) -> Option<String> {
    let written = text(node)?;
    match &tokenize(&written)[..] {
        [word] if word.chars().count() <= WORD_CHARS_MAX => Some(word.clone()),
        words => {
            let problem = if words.len() == 1 { "is too long" } else { "is not one word" };
            node.field_issue(format!("{} {problem}", shorten(node.text)))
                .expected(format!("one word of at most {WORD_CHARS_MAX} characters"))
                .none()
        }
    }
}

/// Reads a list of different words, with at least one.
pub fn words<'s>(node: Node<'s>, max: usize) -> Option<Vec<At<'s, String>>> {
    let decode = |node| word(node).map(|value| At { value, node });
    let words = list(node, max, decode)?;
    if words.is_empty() {
        return node.field_issue("no words").expected("at least one word").none();
    }
    let mut seen = HashSet::new();
    for word in &words {
        if !seen.insert(&word.value) {
            word.node.field_issue(format!("word \"{}\" appears twice", word.value));
        }
    }
    (seen.len() == words.len()).then_some(words)
}

/// Checks the name of a group, a slot or a topic: it must be short and printable, because legends and messages show it.
pub fn check_name(name: &At<'_, String>) -> Option<()> {
    let count = name.value.chars().count();
    let problem = if count > NAME_CHARS_MAX {
        format!("a name of {count} characters")
    } else if name.value.chars().any(is_unprintable) {
        "a name with a line break or another character that cannot be shown".to_owned()
    } else {
        return Some(());
    };
    name.node.field_issue(problem).expected(format!("at most {NAME_CHARS_MAX} characters, on one line")).none()
}

/// Lists the names that a lesson defines, as in `"one", "two" or "three"`.
pub fn one_of_names(names: &[String], none: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", shorten(name))).collect();
    if quoted.is_empty() { none.to_owned() } else { one_of(&quoted) }
}

/// Reports a name that is not among `names`. If there are no names, `none` is what the message expects.
pub fn unknown_name<T>(node: Node<'_>, problem: String, name: &str, names: &[String], none: &str) -> Option<T> {
    let expected = one_of_names(names, none);
    node.field_issue(problem).expected(expected).nearest(name, names.iter().map(String::as_str)).none()
}

/// Reads an id. Because ids occur in file names and anchors, only characters that are safe in both are allowed.
pub fn id(node: Node<'_>) -> Option<String> {
    let id = text(node)?;
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if id.is_empty() || id.len() > ID_CHARS_MAX || !id.chars().all(safe) {
        let message = if id.is_empty() { "an empty id".to_owned() } else { format!("id {}", shorten(node.text)) };
        return node.issue(message).expected(format!("1 to {ID_CHARS_MAX} of the characters a-z, 0-9, - and _")).none();
    }
    Some(id)
}

/// Takes the id of a record, and notes its place.
pub fn take_id<'s>(record: &mut Record<'s>, ids: &mut Vec<At<'s, String>>) -> Option<String> {
    let id = record.take("id", |node| id(node).map(|value| At { value, node }))?;
    ids.push(id.clone());
    Some(id.value)
}

/// Reports each id that occurs twice.
pub fn unique_ids(ids: &[At<'_, String>], what: &str) {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(&id.value) {
            id.node.issue(format!("{what} id \"{}\" appears twice", id.value)).expected("a unique id");
        }
    }
}

/// Reads a title, a caption or a claim: one line of text that is not empty.
pub fn line(node: Node<'_>) -> Option<String> {
    let line = text(node)?;
    let count = line.chars().count();
    let problem = if count > LINE_CHARS_MAX {
        format!("{count} characters")
    } else if line.trim().is_empty() {
        "empty".to_owned()
    } else if line.chars().any(is_unprintable) {
        "a line break or another character that cannot be shown".to_owned()
    } else {
        return Some(line);
    };
    node.field_issue(problem).expected(format!("one line of 1 to {LINE_CHARS_MAX} characters")).none()
}

/// Reads Markdown of any number of lines.
pub fn markdown(node: Node<'_>) -> Option<String> {
    let markdown = text(node)?;
    if markdown.len() > TEXT_BYTES_MAX {
        return node
            .field_issue(format!("{} bytes", markdown.len()))
            .expected(format!("at most {TEXT_BYTES_MAX} bytes; split the text into more cells"))
            .none();
    }
    Some(markdown)
}

/// Reads code of a cell, which must be free of mistakes that can be found without running it.
pub fn code(node: Node<'_>) -> Option<String> {
    let source = text(node)?;
    if let Err(fault) = attune_engine::code::names(&source) {
        let at =
            fault.place.and_then(|place| inside(node.text, place.line, place.column)).map_or(node, |at| node.at(at));
        let said = attune_engine::code::Fault { place: None, ..fault };
        return at.field_issue(said).none();
    }
    Some(source)
}
