//! Vectors for the Embedding Projector, <https://projector.tensorflow.org>: a file of vectors, a line
//! each, and one that says what each line is.
//!
//! First stand the static vectors of all words; then, of each token of each of the lesson's sentences, and before these of
//! the one on the stage where it is none of them, its static vector and its contextual one. The column `__seq_next__` holds the line, from 0, that
//! follows a line; the Projector draws the two as a path. [`at_sentence`] is the same model on another of the
//! lesson's sentences.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use attune_core::kernel::sentence_pass::interventions::for_any_sentence;
use attune_core::kernel::sentence_pass::passes::Passes;
use attune_core::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::static_embedding::{Rewriter, network};

/// The columns of the second file. Its header is there because there is more than one.
const COLUMNS: [&str; 7] = ["label", "word", "kind", "sentence", "position", "group", "__seq_next__"];

/// Counts of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub words: usize,
    pub tokens: usize,
    pub width: usize,
}

impl Counts {
    pub fn lines(self) -> usize {
        self.words + 2 * self.tokens
    }
}

/// Writes both files.
///
/// # Errors
/// If a file cannot be written, there is no model yet, or the Projector could not read the vectors: a
/// number is not finite, or a vector has only one.
pub fn write(snapshot: &Snapshot, vectors: impl Write, metadata: impl Write) -> io::Result<Counts> {
    let Some(space) = snapshot.space.as_deref().filter(|_| snapshot.model.is_some()) else {
        return Err(io::Error::other("the lesson has no model yet"));
    };
    let width = space.vectors.cols();
    if width < 2 {
        return Err(io::Error::other("the Embedding Projector reads vectors of two numbers or more"));
    }
    let group = |word: usize| space.group_of[word].map_or("", |group| snapshot.lesson.groups[group].name.as_str());
    let mut files = Files { vectors, metadata, lines: 0 };
    writeln!(files.metadata, "{}", COLUMNS.join("\t"))?;
    for (word, text) in space.vocabulary.iter().enumerate() {
        files.line(&space.vectors.row(word), [text, text, "static", "", "", group(word)], None)?;
    }
    let mut tokens = 0;
    let mut seen = HashSet::new();
    let own =
        snapshot.model.as_ref().filter(|model| model.sentence.index.is_none()).map(|model| model.sentence.clone());
    let of_lesson = snapshot.lesson.sentences.iter().enumerate().filter_map(|(index, sentence)| {
        let at = at_sentence(snapshot, index).filter(|_| seen.insert(sentence))?;
        Some(at.model?.sentence)
    });
    for shown in own.into_iter().chain(of_lesson) {
        let words: Vec<&str> = shown.tokens.iter().map(|token| token.text.as_str()).collect();
        let labels = token_labels(&shown.tokens);
        for (i, token) in shown.tokens.iter().enumerate() {
            // The start of a sentence that is yet to be written is no word.
            let Some(word) = token.word else { continue };
            let (place, sentence) = ((i + 1).to_string(), words.join(" "));
            let about = |kind| [labels[i].as_str(), &token.text, kind, &sentence, &place, group(word)];
            let next = files.lines + 1;
            files.line(&space.vectors.row(word), about("static in a sentence"), Some(next))?;
            files.line(shown.activations.output.row(i), about("contextual"), None)?;
            tokens += 1;
        }
    }
    files.vectors.flush()?;
    files.metadata.flush()?;
    Ok(Counts { words: space.vocabulary.len(), tokens, width })
}

struct Files<V: Write, M: Write> {
    vectors: V,
    metadata: M,
    lines: usize,
}

impl<V: Write, M: Write> Files<V, M> {
    fn line(&mut self, vector: &[f32], about: [&str; 6], next: Option<usize>) -> io::Result<()> {
        if vector.iter().any(|x| !x.is_finite()) {
            return Err(io::Error::other(format!("the vector of {:?} has a number that is not finite", about[0])));
        }
        let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
        writeln!(self.vectors, "{}", numbers.join("\t"))?;
        // Words have no tabs, but what a lesson calls its groups may.
        let about = about.map(|text| text.replace(|c: char| c.is_control(), " "));
        let next = next.map_or(String::new(), |next| next.to_string());
        writeln!(self.metadata, "{}\t{next}", about.join("\t"))?;
        self.lines += 1;
        Ok(())
    }
}

/// The snapshot as it would be with one of the lesson's sentences on the stage; what is not about one
/// sentence stays as it is. `None` until there is a model, or if there is no such sentence.
pub fn at_sentence(snapshot: &Snapshot, index: usize) -> Option<Snapshot> {
    let space = snapshot.space.as_deref()?;
    let model = snapshot.model.as_ref()?;
    if model.sentence.index == Some(index) {
        return Some(snapshot.clone());
    }
    let sentence = Sentence::of_lesson(&snapshot.lesson, &space.vocabulary, index)?;
    let rewriter = Rewriter::of(&snapshot.lesson.model.objective, &space.vocabulary);
    let frame = Arc::new(SentenceFrame::new(sentence, space, rewriter.as_ref()));
    let network = network(&snapshot.lesson, space);
    let interventions = Arc::new(for_any_sentence(&model.interventions));
    let sentence = frame.run(&Passes::default(), space, &network, &model.parameters, &model.trained, &interventions);
    let mut other = snapshot.clone();
    if let Some(model) = &mut other.model {
        model.sentence = sentence;
        model.interventions = interventions;
        model.generated = None;
    }
    Some(other)
}
