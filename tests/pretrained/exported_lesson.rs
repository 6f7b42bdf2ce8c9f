//! A trained lesson written as a model's folder, and its sentences as the folder's readers must compute them.

use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson;
use attune_engine::numerics::Matrix;
use attune_view::export::checkpoint::Checkpoint;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::folder::Folder;

/// A lesson's kernel, trained, and the folder of its model.
pub fn exported(name: &str, text: &str) -> (Kernel, Folder) {
    let lesson = Arc::new(lesson::parse("a.ron", text).unwrap_or_else(|issues| panic!("{name}: {issues:#?}")));
    let folder = Folder::new("exported_lesson");
    let target = Checkpoint::new(&lesson, &folder.0).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    let kernel = Kernel::trained(lesson);
    target.write(&kernel.snapshot()).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    (kernel, folder)
}

/// A sentence of the lesson: its words, their ids and those of its source, if it has one, and the logits of the
/// lesson's answers in each row, each with its id.
pub struct Pass {
    pub words: String,
    pub source: Option<Vec<usize>>,
    pub ids: Vec<usize>,
    pub logits: Vec<Vec<(usize, f32)>>,
}

/// Returns the passes of all sentences. `start` is the id of the token that begins a target.
pub fn passes(kernel: &mut Kernel, start: Option<usize>) -> Vec<Pass> {
    let lesson = kernel.snapshot().lesson.clone();
    let pass = |words: &Vec<String>| {
        let words = words.join(" ");
        kernel.apply(Command::Sentence(SentenceCommand::Set(words.clone())));
        kernel.settle();
        let Snapshot { space, model, .. } = kernel.snapshot();
        let (space, model) = (space.expect("vectors"), model.expect("a model"));
        let id = |word: &String| space.vocabulary.iter().position(|known| known == word).expect("a word");
        let logits = &model.sentence.answers.logits;
        let row =
            |row| model.classes.iter().enumerate().map(|(class, word)| (id(word), logits.get(row, class))).collect();
        let source = model.sentence.source.as_ref();
        Pass {
            words,
            source: source.map(|source| source.iter().map(|token| token.word.expect("a word")).collect()),
            ids: model.sentence.tokens.iter().map(|token| token.word.or(start).expect("a word")).collect(),
            logits: (0..logits.rows()).map(row).collect(),
        }
    };
    lesson.sentences.iter().map(pass).collect()
}

/// Checks that logits over all ids are those of the lesson's answers.
pub fn check_logits(name: &str, Pass { words, logits, .. }: &Pass, found: &Matrix<f32>) {
    for (row, logits) in logits.iter().enumerate() {
        for &(id, logit) in logits {
            let what = format!("{name}: {words}, row {row}, {id}");
            assert_close_beside(1.0, what, found.get(row, id), logit, Tolerance::LIBRARY);
        }
    }
}
