//! The sentences of one training step, and the targets of each objective.

use std::borrow::Cow;
use std::ops::Range;

use rand::RngExt;

use crate::numerics::attention::BatchRows;
use crate::numerics::model::Pooling;
use crate::numerics::model::classes::{Candidates, Masking};
use crate::numerics::positions::PositionRows;
use crate::numerics::rng::Generator;

/// Sentences as rows of words and positions, the form that a model reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sequences {
    pub rows: BatchRows,
    /// Word of each row; `None` is a hidden word, or the start of a sentence that is not written yet.
    pub words: Vec<Option<usize>>,
    /// Position of each row, as an index into `P`.
    pub positions: Vec<usize>,
    /// The sentence of a pair that each row belongs to, as an index into `E_S`.
    pub segments: Vec<usize>,
}

impl Sequences {
    /// Allocates room for a batch of the given size.
    pub fn with_capacity(sentences: usize, rows: usize) -> Self {
        Self {
            rows: BatchRows::with_capacity(sentences),
            words: Vec::with_capacity(rows),
            positions: Vec::with_capacity(rows),
            segments: Vec::with_capacity(rows),
        }
    }

    /// Makes one sentence with nothing hidden, starting at position 0.
    pub fn one(words: &[usize]) -> Self {
        Self::starting_at(0, words.iter().copied().map(Some))
    }

    /// Makes one sentence whose first word has the position `first`; a word that is `None` is hidden.
    pub fn starting_at(first: usize, words: impl IntoIterator<Item = Option<usize>>) -> Self {
        let mut sequences = Self::default();
        sequences.push(words, first);
        sequences
    }

    /// Sets which sentence of a pair each row belongs to.
    ///
    /// # Panics
    /// If the number of segments is not the number of rows.
    #[must_use]
    pub fn with_segments(self, segments: Vec<usize>) -> Self {
        assert_eq!(segments.len(), self.words.len(), "sequences: segments of {} rows", segments.len());
        Self { segments, ..self }
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.words.clear();
        self.positions.clear();
        self.segments.clear();
    }

    /// Adds a sentence whose first word has the position `first`.
    pub fn push(&mut self, words: impl IntoIterator<Item = Option<usize>>, first: usize) {
        let start = self.words.len();
        self.words.extend(words);
        self.end_sentence(start, first);
    }

    /// Returns the row of `P` for each token.
    pub fn position_rows(&self, form: PositionRows) -> Cow<'_, [usize]> {
        if form == PositionRows::default() {
            return Cow::Borrowed(&self.positions);
        }
        let of_sentence = |rows: Range<usize>| form.rows(&self.words[rows.clone()], &self.positions[rows]);
        Cow::Owned(self.rows.sentences().flat_map(of_sentence).collect())
    }

    /// Copies a range of the sentences.
    fn sentences(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        for sentence in range.map(|i| self.rows.sentence(i)) {
            part.words.extend_from_slice(&self.words[sentence.clone()]);
            part.positions.extend_from_slice(&self.positions[sentence.clone()]);
            part.segments.extend_from_slice(&self.segments[sentence.clone()]);
            part.rows.push(sentence.len());
        }
        part
    }

    fn end_sentence(&mut self, start: usize, first: usize) {
        let tokens = self.words.len() - start;
        self.positions.extend(first..first + tokens);
        self.segments.resize(start + tokens, 0);
        self.rows.push(tokens);
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub input: Sequences,
    /// Source sentences for cross-attention, as many as in `input`, or none if the model has no source.
    pub source: Sequences,
    /// Targets, each with its class. A target is a row of the input if every position is read, and otherwise a
    /// sentence.
    pub targets: Vec<(usize, usize)>,
    /// Rows of the input whose outputs should stay at their words' static vectors, each with its word.
    pub kept: Vec<(usize, usize)>,
}

impl Batch {
    /// Allocates room for a batch of the given size, without a source.
    pub fn with_capacity(sentences: usize, rows: usize) -> Self {
        let input = Sequences::with_capacity(sentences, rows);
        let (targets, kept) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        Self { input, source: Sequences::default(), targets, kept }
    }

    /// Adds room for a source of the given size.
    pub fn with_source(self, sentences: usize, rows: usize) -> Self {
        Self { source: Sequences::with_capacity(sentences, rows), ..self }
    }

    /// Copies a range of the sentences with their targets; `of_rows` says whether targets are rows or sentences.
    pub fn sentences(&self, range: Range<usize>, of_rows: bool) -> Self {
        let source =
            if self.source.rows.count() > 0 { self.source.sentences(range.clone()) } else { Sequences::default() };
        let rows = self.input.rows.sentence(range.start).start..self.input.rows.sentence(range.end - 1).end;
        let part = |pairs: &[(usize, usize)], of: &Range<usize>| {
            let inside = pairs.iter().filter(|(at, _)| of.contains(at));
            inside.map(|&(at, other)| (at - of.start, other)).collect()
        };
        let targets = part(&self.targets, if of_rows { &rows } else { &range });
        let kept = part(&self.kept, &rows);
        Self { input: self.input.sentences(range), source, targets, kept }
    }

    /// Returns the word at the row that is read for each target; `None` if it is hidden, or the mean of the sentence is
    /// read.
    pub(super) fn answering(&self, pooling: Pooling) -> impl Iterator<Item = Option<usize>> {
        self.targets.iter().map(move |&(target, _)| match pooling {
            Pooling::Every => self.input.words[target],
            Pooling::Last => self.input.words[self.input.rows.sentence(target).end - 1],
            Pooling::Mean => None,
        })
    }

    /// Returns the number of outputs that the loss reads.
    pub fn reads(&self) -> usize {
        self.targets.len() + self.kept.len()
    }

    pub fn clear(&mut self) {
        self.input.clear();
        self.source.clear();
        self.targets.clear();
        self.kept.clear();
    }

    /// Adds to [`Self::kept`] the words of the last sentence that satisfy `keeps` and that no target reads. If
    /// sentences are read at their last word, that word is never one of them; if their mean is read, no word is.
    pub fn keep_last(&mut self, pooling: Pooling, keeps: impl Fn(usize) -> bool) {
        let Some(last) = self.input.rows.count().checked_sub(1) else { return };
        let rows = self.input.rows.sentence(last);
        let end = rows.end;
        // Targets that are rows are sorted.
        let first_target = self.targets.partition_point(|&(row, _)| row < rows.start);
        let mut targets = self.targets[first_target..].iter().map(|&(row, _)| row).peekable();
        for row in rows {
            let is_read = match pooling {
                Pooling::Every => targets.next_if_eq(&row).is_some(),
                Pooling::Last => row + 1 == end,
                Pooling::Mean => true,
            };
            let word = self.input.words[row].filter(|&word| !is_read && keeps(word));
            self.kept.extend(word.map(|word| (row, word)));
        }
    }

    /// Adds a sentence for the masked-word objective (adapted from Devlin et al. 2019, section 3.1).
    ///
    /// Each candidate is chosen with the probability [`Masking::rate`], but at least one is; a sentence without
    /// candidates is not added. The chosen words are the targets. Some of them are replaced by a random word instead of
    /// being hidden, so that only the context tells which word belongs there. All other words that the masking does not
    /// spare are hidden with the same probability, without becoming targets.
    pub fn push_masked(
        &mut self,
        sentence: &[usize],
        first: usize,
        candidates: &Candidates,
        masking: &Masking,
        rng: &mut Generator,
    ) {
        let class = |word: usize| candidates.class(word).filter(|_| !masking.spares(word));
        let count = sentence.iter().filter(|&&word| class(word).is_some()).count();
        if count == 0 {
            return;
        }
        let certain = rng.random_range(0..count);
        let start = self.input.words.len();
        let mut candidates_before = 0;
        for (t, &word) in sentence.iter().enumerate() {
            let target = class(word).filter(|_| {
                candidates_before += 1;
                candidates_before - 1 == certain || rng.random_bool(masking.rate)
            });
            let word = match target {
                Some(class) => {
                    self.targets.push((start + t, class));
                    masking.show(word, candidates, rng)
                }
                None if masking.spares(word) || !rng.random_bool(masking.rate) => Some(word),
                None => masking.mask,
            };
            self.input.words.push(word);
        }
        self.input.end_sentence(start, first);
    }

    /// Adds a sentence for the next-word objective: at every position the target is the next word, unless that is not a
    /// candidate.
    pub fn push_next(&mut self, sentence: &[usize], first: usize, candidates: &Candidates) {
        let start = self.input.words.len();
        let next = sentence.iter().skip(1).enumerate();
        self.targets.extend(next.filter_map(|(t, &next)| Some((start + t, candidates.class(next)?))));
        self.input.push(sentence.iter().copied().map(Some), first);
    }

    /// Adds a sentence and its class.
    pub fn push_labelled(&mut self, sentence: &[usize], first: usize, class: usize) {
        self.targets.push((self.input.rows.count(), class));
        self.input.push(sentence.iter().copied().map(Some), first);
    }

    /// Adds a pair for the sequence-to-sequence objective (Sutskever, Vinyals & Le 2014, arXiv 1409.3215). At each
    /// position the target is the next word of `target`, given those before it and `source`. The sentence begins with a
    /// zero vector, from which the first word is predicted.
    pub fn push_pair(&mut self, source: &[usize], target: &[usize], candidates: &Candidates) {
        let start = self.input.words.len();
        let words = target.iter().enumerate();
        self.targets.extend(words.filter_map(|(t, &word)| Some((start + t, candidates.class(word)?))));
        let before = target.split_last().map_or(&[][..], |(_, before)| before).iter().copied().map(Some);
        self.input.push(std::iter::once(None).chain(before), 0);
        self.source.push(source.iter().copied().map(Some), 0);
    }
}
