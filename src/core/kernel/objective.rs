//! The objective of a lesson for the attention model: its examples, and the answers between which the model chooses.

use std::collections::HashSet;

use attune_engine::numerics::model::{AttentionModel, Candidates, Classes};
use attune_engine::pretrained::folder::ModelFolder;

use crate::kernel::values::space::{StaticSpace, index_of, rows_of};
use crate::lesson::corpus::{vocabulary as corpus_vocabulary, words_among};
use crate::lesson::schema::{Lesson, Objective, Order, TargetForm};

/// Returns the attention model over a space, without its parameters.
pub fn network(lesson: &Lesson, space: &StaticSpace) -> AttentionModel<f32> {
    let classes = match &lesson.model.objective {
        _ if let Some(model) = lesson.static_embedding.recording() => Classes::Labels(model.classes.len()),
        Objective::Label => labels(lesson, &space.vocabulary),
        _ => Classes::Words(candidates(lesson, &space.vocabulary)),
    };
    let rules = lesson.static_embedding.pretrained().map(|model| model.rules.clone()).unwrap_or_default();
    AttentionModel::new(lesson.model.architecture.clone(), space.vectors.clone(), classes)
        .with_costs(lesson.model.costs)
        .with_rules(rules)
}

/// Returns the classes for the labels. A tied readout represents each label by a word.
fn labels(lesson: &Lesson, vocabulary: &[String]) -> Classes {
    let topics = &lesson.corpus.topics;
    if !lesson.model.architecture.readout.is_by_static_vectors() {
        return Classes::Labels(topics.len());
    }
    let names: Vec<String> = topics.iter().map(|topic| topic.name.clone()).collect();
    let words = rows_of(&names, &index_of(vocabulary)).expect("each label is a word: it was checked");
    Classes::Words(Candidates::new(vocabulary.len(), words))
}

/// Returns the words between which the model chooses.
fn candidates(lesson: &Lesson, vocabulary: &[String]) -> Candidates {
    let (among, stand_ins) = match &lesson.model.objective {
        Objective::MaskedWord { among, stand_ins, .. } => (among, stand_ins),
        objective @ Objective::Sequence(TargetForm::ByRule(_)) => return written(objective, lesson, vocabulary),
        _ => return Candidates::all(vocabulary.len()),
    };
    let named: HashSet<&String> = words_among(among, &lesson.corpus, &lesson.groups).collect();
    let words: Vec<usize> = (0..vocabulary.len()).filter(|&row| named.contains(&vocabulary[row])).collect();
    // Without groups, every word is a candidate.
    let candidates =
        if words.is_empty() { Candidates::all(vocabulary.len()) } else { Candidates::new(vocabulary.len(), words) };
    if stand_ins.is_empty() {
        return candidates;
    }
    let rows = rows_of(stand_ins, &index_of(vocabulary)).expect("each occurs in the corpus: it was checked");
    candidates.with_stand_ins(rows)
}

/// Returns the words that a sequence objective can write.
fn written(objective: &Objective, lesson: &Lesson, vocabulary: &[String]) -> Candidates {
    let rewriter = Rewriter::of(objective, vocabulary);
    let index = index_of(vocabulary);
    let sources = rows_of(&corpus_vocabulary(&lesson.corpus, &lesson.groups), &index).unwrap_or_default();
    let mut words = rewriter.map_or(sources.clone(), |rewriter| rewriter.target(&sources));
    words.sort_unstable();
    words.dedup();
    Candidates::new(vocabulary.len(), words)
}

/// A sentence of the training corpus, as rows of the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub enum Example {
    /// A sentence of which some words are to be predicted.
    Words(Vec<usize>),
    /// A sentence whose label is to be predicted.
    Labelled { words: Vec<usize>, label: usize },
    /// A source, and the target that is to be written from it.
    Pair { source: Vec<usize>, target: Vec<usize> },
}

impl Example {
    /// Returns the words that a learner would type; those of a pair are its source.
    pub fn words(&self) -> &[usize] {
        match self {
            Example::Words(words) | Example::Labelled { words, .. } | Example::Pair { source: words, .. } => words,
        }
    }
}

/// Returns the examples of an objective, from sentences with their topics.
pub fn examples(
    objective: &Objective,
    vocabulary: &[String],
    sentences: &[Vec<usize>],
    topics: &[usize],
) -> Vec<Example> {
    let rewriter = Rewriter::of(objective, vocabulary);
    let example = |(words, &topic): (&Vec<usize>, &usize)| match (objective, &rewriter) {
        (_, Some(rewriter)) => Example::Pair { source: words.clone(), target: rewriter.target(words) },
        (Objective::Label, _) => Example::Labelled { words: words.clone(), label: topic },
        _ => Example::Words(words.clone()),
    };
    sentences.iter().zip(topics).map(example).collect()
}

/// Returns the examples for a pretrained model: the pieces of the lesson's texts.
pub fn of_texts(lesson: &Lesson, model: &ModelFolder) -> Vec<Example> {
    let texts = lesson.corpus.topics.iter().flat_map(|topic| &topic.templates);
    let pieces = texts.filter_map(|text| model.pieces(text).ok());
    pieces.map(|pieces| Example::Words(pieces.into_iter().map(|piece| piece.id as usize).collect())).collect()
}

/// Maker of targets from sources, by the rule of a sequence objective.
#[derive(Clone, Debug)]
pub struct Rewriter {
    pub order: Order,
    /// Row of the word that replaces each word of the vocabulary in targets, which may be the word itself.
    becomes: Vec<usize>,
}

impl Rewriter {
    /// Returns the rule of a sequence objective, or `None` for other objectives.
    pub fn of(objective: &Objective, vocabulary: &[String]) -> Option<Self> {
        let Objective::Sequence(TargetForm::ByRule(rewriting)) = objective else { return None };
        let rows = index_of(vocabulary);
        let mut becomes: Vec<usize> = (0..vocabulary.len()).collect();
        for (from, to) in &rewriting.words {
            if let (Some(&from), Some(&to)) = (rows.get(from.as_str()), rows.get(to.as_str())) {
                becomes[from] = to;
            }
        }
        Some(Self { order: rewriting.order, becomes })
    }

    pub fn target(&self, source: &[usize]) -> Vec<usize> {
        let word = |target: usize| self.becomes[source[self.order.source_of(target, source.len())]];
        (0..source.len()).map(word).collect()
    }

    /// Returns whether any word is replaced by another in targets.
    pub fn replaces_words(&self) -> bool {
        self.becomes.iter().enumerate().any(|(from, to)| from != *to)
    }
}

/// Returns whether the word has a single sense in the corpus.
pub fn has_one_meaning(lesson: &Lesson, word: &str) -> bool {
    lesson.corpus.ambiguous.iter().all(|known| known.word != word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::schema::Rewriting;

    #[test]
    fn targets_by_rule() {
        let vocabulary = ["the", "cat", "le", "chat"].map(str::to_owned);
        let target = |order, words: &[(&str, &str)], source: &[usize]| {
            let words = words.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
            let objective = Objective::Sequence(TargetForm::ByRule(Rewriting { order, words }));
            Rewriter::of(&objective, &vocabulary).expect("a sequence").target(source)
        };
        assert_eq!(target(Order::Same, &[], &[0, 1, 1]), [0, 1, 1]);
        assert_eq!(target(Order::Reversed, &[], &[0, 1, 2]), [2, 1, 0]);
        assert_eq!(target(Order::Reversed, &[("the", "le"), ("cat", "chat")], &[0, 1]), [3, 2]);
        assert!(Rewriter::of(&Objective::Label, &vocabulary).is_none());
    }
}
