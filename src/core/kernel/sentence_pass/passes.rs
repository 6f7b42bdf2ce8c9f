//! The latest forward passes of a sentence, and the words near its vectors.
//!
//! After a change of a weight or a head, only its block and later blocks are computed; earlier ones are shared with a
//! pass that has them already.

use std::cell::{RefCell, RefMut};
use std::sync::{Arc, OnceLock};

use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel};
use attune_engine::numerics::params::{Layer, Parameters};

use crate::kernel::sentence_pass::near::near;
use crate::kernel::sentence_pass::sentence::SentenceFrame;
use crate::kernel::values::sentence::{Answers, SentenceSnapshot, UnchangedResult, answers};
use crate::kernel::values::space::{Neighbours, StaticSpace};

/// Number of passes that are kept: the one that is shown, and the one without the learner's changes.
const KEPT: usize = 2;

/// A forward pass with its parameters and interventions.
#[derive(Debug)]
pub struct KeptPass {
    pub parameters: Arc<Parameters<f32>>,
    pub interventions: Arc<Interventions<f32>>,
    pub activations: Activations<f32>,
    answers: OnceLock<Arc<Answers>>,
    neighbours: OnceLock<Vec<Neighbours>>,
}

impl KeptPass {
    /// Returns the answers, which are computed at the first call.
    pub fn answers(&self, model: &AttentionModel<f32>) -> &Arc<Answers> {
        self.answers.get_or_init(|| Arc::new(answers(model, &self.parameters, &self.activations.output)))
    }

    /// Returns the words near each output, which are computed at the first call.
    pub fn neighbours(&self, space: &StaticSpace) -> &Vec<Neighbours> {
        let output = &self.activations.output;
        self.neighbours.get_or_init(|| near(space, output, &vec![None; output.rows()]))
    }

    /// Returns which parts of the pass would be the same with other parameters and interventions.
    fn agrees(
        &self,
        architecture: &Architecture,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> Agreement {
        let blocks = self.activations.blocks.len();
        let mut agreement = Agreement { blocks, is_whole: true };
        // Every field is named, so that the compiler rejects a new field that is not compared.
        let Interventions { temperature, scale, heads, mask, edges, patch } = &*self.interventions;
        let has_same_scores = (temperature.map(f64::to_bits), scale)
            == (interventions.temperature.map(f64::to_bits), &interventions.scale);
        if !has_same_scores || *mask != interventions.mask {
            agreement.ends_at(0);
        }
        let mode = |of: &[HeadMode<f32>], head: usize| of.get(head).cloned().unwrap_or_default();
        for (b, _) in architecture.numbered_blocks() {
            let is_same = |head: usize| is_same(&mode(heads, head), &mode(&interventions.heads, head));
            if !architecture.heads_of(b).all(is_same) {
                agreement.ends_at(b);
            }
        }
        if let Some(edge) = first_difference(edges, &interventions.edges) {
            // Edges are sorted by their heads, and heads by their blocks.
            agreement.ends_at(architecture.head(edge.head).0);
        }
        if *patch != interventions.patch {
            let patches = patch.iter().chain(&interventions.patch);
            patches.for_each(|patch| agreement.ends_at(patch.block));
        }
        for id in self.parameters.differing(parameters) {
            match id.name.layer() {
                Layer::Input => return Agreement::NONE,
                Layer::Readout => agreement.is_whole = false,
                _ => agreement.ends_at(id.block),
            }
        }
        agreement
    }
}

/// Returns the first edge that only one of two sorted lists contains, or `None` if the lists are equal.
fn first_difference(some: &[Edge], others: &[Edge]) -> Option<Edge> {
    let same = some.iter().zip(others).take_while(|(edge, other)| edge == other).count();
    [some, others].into_iter().filter_map(|edges| edges.get(same)).min().copied()
}

/// Compares modes by their bits, because a gain of −0 differs from a gain of 0.
fn is_same(a: &HeadMode<f32>, b: &HeadMode<f32>) -> bool {
    match (a, b) {
        (HeadMode::Gain(a), HeadMode::Gain(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// The parts that two passes have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Agreement {
    /// Number of equal leading blocks. If it is 0, not even the embeddings need be equal.
    blocks: usize,
    /// Whether everything after the last block is equal too.
    is_whole: bool,
}

impl Agreement {
    const NONE: Self = Self { blocks: 0, is_whole: false };

    fn ends_at(&mut self, block: usize) {
        self.blocks = self.blocks.min(block);
        self.is_whole = false;
    }
}

/// A sentence as it was shown last.
#[derive(Clone, Debug)]
pub struct ShownSentence {
    pub of: Arc<KeptPass>,
    /// The trained parameters, whose result is shown for comparison.
    pub trained: Arc<Parameters<f32>>,
    pub sentence: Arc<SentenceSnapshot>,
}

/// The latest passes of one sentence, which are dropped when another sentence is run.
#[derive(Debug, Default)]
pub struct Passes(RefCell<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The sentence. It is held so that no new sentence can have the same address.
    of: Option<Arc<SentenceFrame>>,
    /// The passes, the latest one last.
    passes: Vec<Arc<KeptPass>>,
    shown: Option<ShownSentence>,
    /// The result without the learner's changes and its parameters, which are held so that no new ones can have the
    /// same address.
    unchanged: Option<(Arc<Parameters<f32>>, Arc<UnchangedResult>)>,
}

impl Passes {
    /// Returns the kept passes of a sentence. Those of any other sentence are dropped first.
    fn of(&self, frame: &Arc<SentenceFrame>) -> RefMut<'_, Kept> {
        let mut kept = self.0.borrow_mut();
        if !kept.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, frame)) {
            *kept = Kept { of: Some(frame.clone()), ..Kept::default() };
        }
        kept
    }

    pub fn clear(&self) {
        self.0.take();
    }

    /// Returns a pass. It shares its first blocks, up to the first that differs, with a kept pass.
    pub fn forward(
        &self,
        frame: &Arc<SentenceFrame>,
        model: &AttentionModel<f32>,
        (parameters, interventions): (&Arc<Parameters<f32>>, &Arc<Interventions<f32>>),
    ) -> Arc<KeptPass> {
        let kept = &mut *self.of(frame);
        let (passes, sentence, source) = (&mut kept.passes, frame.input(), frame.source());
        let agreement = |pass: &Arc<KeptPass>| pass.agrees(&model.architecture, parameters, interventions);
        let nearest = passes.iter().enumerate().map(|(at, pass)| (agreement(pass), at)).max();
        let pass = match nearest {
            Some((Agreement { is_whole: true, .. }, at)) => passes.remove(at),
            nearest => {
                let activations = match nearest {
                    Some((Agreement { blocks, .. }, at)) if blocks > 0 => {
                        let from = &passes[at].activations;
                        from.again(blocks, model, parameters, sentence, source, interventions)
                    }
                    _ => frame.activations(model, parameters, interventions),
                };
                let recorded = frame.recorded();
                Arc::new(KeptPass {
                    parameters: parameters.clone(),
                    interventions: interventions.clone(),
                    activations,
                    answers: recorded.map_or_else(OnceLock::new, |pass| pass.answers.clone().into()),
                    neighbours: match recorded {
                        Some(pass) if !pass.has_states() => vec![Neighbours::default(); pass.tokens.len()].into(),
                        _ => OnceLock::new(),
                    },
                })
            }
        };
        if passes.len() == KEPT {
            passes.remove(0);
        }
        passes.push(pass.clone());
        pass
    }

    pub fn shown(&self) -> Option<ShownSentence> {
        self.0.borrow().shown.clone()
    }

    pub fn show(&self, shown: ShownSentence) {
        self.0.borrow_mut().shown = Some(shown);
    }

    /// Returns the result without the learner's changes, which is computed if none is kept for these parameters.
    pub fn unchanged(
        &self,
        frame: &Arc<SentenceFrame>,
        trained: &Arc<Parameters<f32>>,
        make: impl FnOnce() -> Arc<UnchangedResult>,
    ) -> Arc<UnchangedResult> {
        let known = self.of(frame).unchanged.clone();
        match known {
            Some((of, result)) if Arc::ptr_eq(&of, trained) => result,
            _ => {
                let result = make();
                self.of(frame).unchanged = Some((trained.clone(), result.clone()));
                result
            }
        }
    }
}
