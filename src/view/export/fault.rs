//! The reasons why an export fails.

use std::fmt;
use std::io;
use std::path::PathBuf;

use attune_core::lesson::issue::shown;
use attune_core::lesson::places::FieldPath;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::Architecture;
use attune_engine::pretrained::Family;

/// The reason why an export failed.
#[derive(Debug)]
pub enum ExportFault {
    /// The file cannot be written at this path, for the given reason.
    Place { file: PathBuf, why: &'static str },
    /// The export would overwrite the lesson.
    Lesson,
    /// The lesson lacks the content that the format holds.
    Content { lesson: PathBuf, error: io::Error },
    /// The format cannot express the lesson's model.
    Form(Vec<Unfit>),
    /// A file could not be written.
    Write { file: PathBuf, error: io::Error },
}

impl fmt::Display for ExportFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place { file, why } => write!(f, "the export cannot be written: {}: {why}", shown(file)),
            Self::Lesson => write!(f, "this is the lesson itself, which is never overwritten"),
            Self::Form(unfit) => write!(f, "{}", unfit.iter().map(Unfit::to_string).collect::<Vec<_>>().join("; ")),
            Self::Content { lesson, error } => write!(f, "{}: {error}", shown(lesson)),
            Self::Write { file, error } => write!(f, "{} cannot be written: {error}", shown(file)),
        }
    }
}

impl std::error::Error for ExportFault {}

/// A field of a lesson that the written form cannot express, with the value found and the value expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    pub field: FieldPath,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Unfit {
    pub(super) fn new(field: FieldPath, found: &str, expected: &str) -> Self {
        Self { field, found: found.to_owned(), expected: expected.to_owned() }
    }

    /// Adds the name of the family that needs the expected value.
    pub(super) fn needed_by(self, family: Family) -> Self {
        Self { expected: format!("{}, as in {}'s shape", self.expected, family.name()), ..self }
    }
}

/// A field, with its value in the lesson and the value that the family needs.
pub(super) type Field<V> = (FieldPath, V, V);

/// Lists the fields whose two values differ.
pub(super) fn differing<V: PartialEq + ToString>(fields: impl IntoIterator<Item = Field<V>>) -> Vec<Unfit> {
    let fields = fields.into_iter().filter(|(_, found, needed)| found != needed);
    fields.map(|(field, found, needed)| Unfit::new(field, &found.to_string(), &needed.to_string())).collect()
}

/// Returns a finding if a layer's norm is not where the family has it.
pub(super) fn other_norm(block: &BlockConfig, needed: Norm) -> Vec<Unfit> {
    let norm: Field<String> = (&["model", "norm"], format!("{:?}", block.norm), format!("{needed:?}"));
    differing([norm])
}

/// Returns a finding if the blocks of the source or those of the sentence have no feed-forward layer, because every
/// family has them in both.
pub(super) fn attention_alone(architecture: &Architecture) -> Option<Unfit> {
    let forwards = |blocks: &[BlockConfig]| blocks.iter().any(|block| block.feed_forward.is_some());
    let is_whole = |blocks: &[BlockConfig]| blocks.is_empty() || forwards(blocks);
    let is_alone = !is_whole(&architecture.source_blocks) || !is_whole(&architecture.blocks);
    is_alone.then(|| {
        let found = "none: the model is attention alone, and no family of transformers is";
        Unfit::new(&["model", "feed_forward"], found, "a number of hidden units")
    })
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field.last().copied().unwrap_or("lesson");
        write!(f, "{name}: found {}; expected {}", self.found, self.expected)
    }
}
