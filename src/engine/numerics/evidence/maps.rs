//! Patch maps, ablation maps and path patching.
//!
//! ```text
//! words[l][t]   (m(x_t^l ← second's x_t^l) − m) / (m₂ − m)        one token's vector before block l
//! heads[l][h]   (m(M_h^l ← second's M_h^l, all tokens) − m) / (m₂ − m)
//! off, mean     m(changed) − m        the head's mix is 0, or at every place its mean over all places
//! ```
//!
//! `m` is the answer of the sentence and `m₂` that of the second, so that 0 means no change and 1 the answer of the
//! second. Values of the second sentence go into the sentence (*denoising*: Vig et al. 2020, arXiv 2004.12265; Meng et
//! al. 2022, arXiv 2202.05262; what the direction means: Heimersheim & Nanda 2024, arXiv 2404.15255).
//!
//! Path patching (Wang et al. 2022, arXiv 2211.00593, section 3.1; Goldowsky-Dill et al. 2023, arXiv 2304.05969) asks
//! for the effect of one path only, from a head to another head's queries, keys or values, or straight to the answer:
//!
//! ```text
//! B   all heads mix as in the sentence, but the sender as in the second; feed-forward layers are computed anew, or kept
//! C   the receiver's q, k or v is that of B, and all behind it is computed anew        the value is (m_C − m) / (m₂ − m)
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Asked, Question, Watch};
use crate::numerics::Matrix;
use crate::numerics::model::activations::{Activations, BlockActivations};
use crate::numerics::model::onward::{Onward, Projected, mixes_of};
use crate::numerics::model::{AttentionModel, Sequences, Tower};
use crate::numerics::parallel::{available, each};
use crate::numerics::params::Parameters;

/// A sentence's pass with the question, and the pass of a second sentence of as many tokens, if there is one.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    pub sentence: &'a Sequences,
    pub own: &'a Activations<f32>,
    pub second: Option<&'a Activations<f32>>,
    pub question: Question,
}

/// Largest number of passes whose answers a thread reads together.
const TOGETHER: usize = 8;

/// A change to a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A token's vector before a block, replaced by that of the second sentence.
    Word { block: usize, token: usize },
    /// A head's mixes, replaced at all tokens by those of the second sentence.
    Head { block: usize, head: usize },
    /// A head's mixes, set to 0.
    Off { block: usize, head: usize },
    /// A head's mixes, replaced at every token by their mean over all tokens.
    Mean { block: usize, head: usize },
}

impl Change {
    /// Returns the block, and the number of the token or the head in it.
    pub fn place(&self) -> (usize, usize) {
        match *self {
            Self::Word { block, token } => (block, token),
            Self::Head { block, head } | Self::Off { block, head } | Self::Mean { block, head } => (block, head),
        }
    }
}

/// The end of a path: what reads the sender's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    Answer,
    Head { block: usize, head: usize, part: Projected },
}

impl Setting<'_> {
    /// Reads the answer to the question from the outputs (T, D) of a pass.
    pub fn ask(&self, output: &Matrix<f32>) -> Asked {
        self.question.ask(self.model, self.parameters, output)
    }

    /// Returns all changes of the maps: first those that need the second sentence, if there is one, then each head off
    /// and each head mean.
    pub fn changes(&self) -> Vec<Change> {
        let blocks = || 0..self.own.blocks.len();
        let heads = |make: fn(usize, usize) -> Change| {
            blocks().flat_map(move |block| (0..self.own.blocks[block].heads.len()).map(move |head| make(block, head)))
        };
        let tokens = self.own.input.rows();
        let words = blocks().flat_map(|block| (0..tokens).map(move |token| Change::Word { block, token }));
        let mut changes = Vec::new();
        if self.second.is_some() {
            changes.extend(words);
            changes.extend(heads(|block, head| Change::Head { block, head }));
        }
        changes.extend(heads(|block, head| Change::Off { block, head }));
        changes.extend(heads(|block, head| Change::Mean { block, head }));
        changes
    }

    /// Computes the answers of passes with one change each, on all threads; `None` if the watch ended them.
    pub fn answers(&self, changes: &[Change], watch: Watch<'_>) -> Option<Vec<Asked>> {
        self.on_threads(changes, watch, |passes, change| self.changed(passes, *change))
    }

    /// Computes the answers of the paths from each sender, a head of a block; `None` if the watch ended them.
    pub fn paths(
        &self,
        senders: &[(usize, usize)],
        (receiver, keeps_forward): (Receiver, bool),
        watch: Watch<'_>,
    ) -> Option<Vec<Asked>> {
        self.on_threads(senders, watch, |passes, sender| self.path(passes, *sender, receiver, keeps_forward))
    }

    /// Computes the answer for each item from the outputs that `work` returns; if it returns none, the answer is that
    /// of the sentence. The first items take longest, so the threads take items in turn.
    fn on_threads<T: Sync>(
        &self,
        items: &[T],
        watch: Watch<'_>,
        work: impl Fn(&mut Onward<'_, f32>, &T) -> Option<Matrix<f32>> + Sync,
    ) -> Option<Vec<Asked>> {
        let (next, done, goes_on) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(true));
        let threads = available().min(items.len()).max(1);
        let groups: Vec<&[T]> = items.chunks(items.len().div_ceil(threads).clamp(1, TOGETHER)).collect();
        let mut lists: Vec<Vec<(usize, Vec<Asked>)>> = vec![Vec::new(); threads];
        let own = self.ask(&self.own.output);
        each(lists.iter_mut(), |list| {
            let mut passes = Onward::new(self.model, self.parameters, self.sentence);
            while goes_on.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(group) = groups.get(at) else { return };
                let mut read = Vec::with_capacity(group.len());
                for item in *group {
                    let output = work(&mut passes, item);
                    read.push(output.map(|output| self.model.read_at(&output, self.question.place)));
                    if !watch(done.fetch_add(1, Ordering::Relaxed) + 1) {
                        goes_on.store(false, Ordering::Relaxed);
                        return;
                    }
                }
                list.push((at, self.ask_together(own, &read)));
            }
        });
        let mut found: Vec<(usize, Vec<Asked>)> = lists.concat();
        found.sort_unstable_by_key(|(at, _)| *at);
        (found.len() == groups.len()).then(|| found.into_iter().flat_map(|(_, asked)| asked).collect())
    }

    /// Reads the answers from the vectors of several passes; where there is none, the answer is the sentence's own.
    fn ask_together(&self, own: Asked, read: &[Option<Vec<f32>>]) -> Vec<Asked> {
        let rows: Vec<&Vec<f32>> = read.iter().flatten().collect();
        if rows.is_empty() {
            return vec![own; read.len()];
        }
        let changed = Matrix::from_fn(rows.len(), self.own.output.cols(), |row, col| rows[row][col]);
        let mut asked = self.question.ask_together(self.model, self.parameters, &changed).into_iter();
        read.iter().map(|read| read.as_ref().and_then(|_| asked.next()).unwrap_or(own)).collect()
    }

    /// Computes the outputs (T, D) of a pass with one change; `None` if they are the same as without it.
    pub fn output(&self, change: Change) -> Option<Matrix<f32>> {
        self.changed(&mut Onward::new(self.model, self.parameters, self.sentence), change)
    }

    fn changed(&self, passes: &mut Onward<'_, f32>, change: Change) -> Option<Matrix<f32>> {
        match change {
            Change::Word { block, token } => self.with_word(passes, block, token),
            Change::Head { block, head } => self
                .second
                .and_then(|second| self.with_mix(passes, (block, head), &second.blocks[block].heads[head].mix)),
            Change::Off { block, head } => {
                let mix = &self.own.blocks[block].heads[head].mix;
                self.with_mix(passes, (block, head), &Matrix::zeros(mix.rows(), mix.cols()))
            }
            Change::Mean { block, head } => {
                self.with_mix(passes, (block, head), &mean_of_rows(&self.own.blocks[block].heads[head].mix))
            }
        }
    }

    /// Computes the outputs with one vector of the second sentence; `None` if they are the same as without it, because
    /// the vector is equal, or the answer's position cannot see it.
    fn with_word(&self, passes: &mut Onward<'_, f32>, block: usize, token: usize) -> Option<Matrix<f32>> {
        let (own, other) = (&self.own.blocks[block].input, &self.second?.blocks[block].input);
        let is_unseen = self.model.is_causal() && token > self.question.place;
        if is_unseen || own.row(token) == other.row(token) {
            return None;
        }
        let mut x = (**own).clone();
        x.row_mut(token).copy_from_slice(other.row(token));
        Some(passes.from(block, x))
    }

    /// Computes the outputs with the given mixes of a head (T, d_v); `None` if these are the head's own.
    fn with_mix(
        &self,
        passes: &mut Onward<'_, f32>,
        (block, head): (usize, usize),
        mix: &Matrix<f32>,
    ) -> Option<Matrix<f32>> {
        let own = &self.own.blocks[block];
        (own.heads[head].mix != *mix).then(|| passes.from_mixes(block, &self.mixes_but((block, head), mix), &own.input))
    }

    /// Returns the mixes of a block, with those of one head replaced by `mix`.
    fn mixes_but(&self, (block, head): (usize, usize), mix: &Matrix<f32>) -> Matrix<f32> {
        let mut mixes = mixes_of(&self.own.blocks[block]);
        let columns = self.model.architecture.blocks[block].attention.mix_columns(head);
        (0..mix.rows()).for_each(|row| mixes.row_mut(row)[columns.clone()].copy_from_slice(mix.row(row)));
        mixes
    }

    /// Computes the outputs of a path; `None` where they are those of the sentence.
    fn path(
        &self,
        passes: &mut Onward<'_, f32>,
        (block, head): (usize, usize),
        receiver: Receiver,
        keeps_forward: bool,
    ) -> Option<Matrix<f32>> {
        let second = self.second?;
        let sent = self.mixes_but((block, head), &second.blocks[block].heads[head].mix);
        let kept: &[Arc<BlockActivations<f32>>] = &self.own.blocks;
        match receiver {
            Receiver::Answer => {
                let x = passes.along_kept_mixes(kept, (block, kept.len()), &sent, keeps_forward);
                Some(self.model.behind_blocks(self.parameters, Tower::Sentence, x))
            }
            Receiver::Head { block: until, head, part } => {
                let x = passes.along_kept_mixes(kept, (block, until), &sent, keeps_forward);
                let arrived = passes.projected_of((until, head), &x, part);
                let mix = passes.mix_with((until, head), &kept[until].input, (part, &arrived));
                self.with_mix(passes, (until, head), &mix)
            }
        }
    }
}

/// Returns a matrix of the same shape whose rows are all the mean row.
fn mean_of_rows(mix: &Matrix<f32>) -> Matrix<f32> {
    let mean = crate::numerics::vectors::centroid(mix, &(0..mix.rows()).collect::<Vec<_>>());
    Matrix::from_fn(mix.rows(), mix.cols(), |_, col| mean[col])
}
