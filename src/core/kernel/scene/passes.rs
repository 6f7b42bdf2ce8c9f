//! The last forward passes of a sentence. A change of a weight or a head computes its block and those behind it; what
//! lies before it is shared with a pass that has it already.

use std::cell::{RefCell, RefMut};
use std::sync::{Arc, OnceLock};

use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel};
use attune_engine::numerics::params::{Layer, Parameters};

use crate::kernel::data::answers::{Answers, answers};
use crate::kernel::data::neighbours::Neighbours;
use crate::kernel::data::sentence::{SentenceSnapshot, UnchangedResult};
use crate::kernel::data::space::StaticSpace;
use crate::kernel::scene::near::near;
use crate::kernel::scene::sentence::SentenceFrame;

/// The one that is shown, and the one without the learner's changes.
const KEPT: usize = 2;

/// A forward pass and what it is of.
#[derive(Debug)]
pub struct Pass {
    pub parameters: Arc<Parameters<f32>>,
    pub interventions: Arc<Interventions<f32>>,
    pub activations: Activations<f32>,
    answers: OnceLock<Arc<Answers>>,
    neighbours: OnceLock<Vec<Neighbours>>,
}

impl Pass {
    fn new(
        (parameters, interventions): (&Arc<Parameters<f32>>, &Arc<Interventions<f32>>),
        activations: Activations<f32>,
    ) -> Self {
        Self {
            parameters: parameters.clone(),
            interventions: interventions.clone(),
            activations,
            answers: OnceLock::new(),
            neighbours: OnceLock::new(),
        }
    }

    /// Worked out when they are first asked for.
    pub fn answers(&self, model: &AttentionModel<f32>) -> &Arc<Answers> {
        self.answers.get_or_init(|| Arc::new(answers(model, &self.parameters, &self.activations.output)))
    }

    /// Words near each output, worked out when they are first asked for.
    pub fn neighbours(&self, space: &StaticSpace) -> &Vec<Neighbours> {
        let output = &self.activations.output;
        self.neighbours.get_or_init(|| near(space, output, &vec![None; output.rows()]))
    }

    /// How far it agrees with the pass of others.
    fn agrees(
        &self,
        architecture: &Architecture,
        parameters: &Parameters<f32>,
        interventions: &Interventions<f32>,
    ) -> Agreement {
        let blocks = self.activations.blocks.len();
        let mut agreement = Agreement { blocks, is_whole: true };
        let ours = &*self.interventions;
        let scores = |of: &Interventions<f32>| (of.temperature.map(f64::to_bits), of.scale);
        if scores(ours) != scores(interventions) || ours.mask != interventions.mask {
            agreement.ends_at(0);
        }
        let mode = |of: &Interventions<f32>, head: usize| of.heads.get(head).cloned().unwrap_or_default();
        for (b, _) in architecture.numbered_blocks() {
            let is_same = |head: usize| is_same(&mode(ours, head), &mode(interventions, head));
            if !architecture.heads_of(b).all(is_same) {
                agreement.ends_at(b);
            }
        }
        let only_one_has = |edge: &&Edge| !(ours.edges.contains(edge) && interventions.edges.contains(edge));
        for edge in ours.edges.iter().chain(&interventions.edges).filter(only_one_has) {
            agreement.ends_at(architecture.head(edge.head).0);
        }
        if ours.patch != interventions.patch {
            let patches = ours.patch.iter().chain(&interventions.patch);
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

/// Modes by their bits: a gain of −0 is not one of 0.
fn is_same(a: &HeadMode<f32>, b: &HeadMode<f32>) -> bool {
    match (a, b) {
        (HeadMode::Gain(a), HeadMode::Gain(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// The parts that two passes have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Agreement {
    /// The first blocks; where there are none, not even the embeddings need be the same.
    blocks: usize,
    /// And what follows the last one.
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
pub struct Shown {
    pub of: Arc<Pass>,
    /// The parameters of its ghost.
    pub trained: Arc<Parameters<f32>>,
    pub sentence: Arc<SentenceSnapshot>,
}

/// The last passes of one sentence; another one takes their place.
#[derive(Debug, Default)]
pub struct Passes(RefCell<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// Held, so that nothing new can stand at its address.
    of: Option<Arc<SentenceFrame>>,
    /// The latest one last.
    passes: Vec<Arc<Pass>>,
    shown: Option<Shown>,
    /// With the parameters that it is of; held, so that nothing new can stand at their address.
    unchanged: Option<(Arc<Parameters<f32>>, Arc<UnchangedResult>)>,
}

impl Passes {
    /// Those of a sentence.
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

    /// A pass, from the first block on that differs from those of the kept ones.
    pub fn forward(
        &self,
        frame: &Arc<SentenceFrame>,
        model: &AttentionModel<f32>,
        (parameters, interventions): (&Arc<Parameters<f32>>, &Arc<Interventions<f32>>),
    ) -> Arc<Pass> {
        let kept = &mut *self.of(frame);
        let (passes, sentence, source) = (&mut kept.passes, frame.input(), frame.source());
        let agreement = |pass: &Arc<Pass>| pass.agrees(&model.architecture, parameters, interventions);
        let nearest = passes.iter().enumerate().map(|(at, pass)| (agreement(pass), at)).max();
        let pass = match nearest {
            Some((Agreement { is_whole: true, .. }, at)) => passes.remove(at),
            Some((Agreement { blocks, .. }, at)) if blocks > 0 => {
                let from = &passes[at].activations;
                let activations = from.again(blocks, model, parameters, sentence, source, interventions);
                Arc::new(Pass::new((parameters, interventions), activations))
            }
            _ => {
                let activations = Activations::of(model, parameters, sentence, source, interventions);
                Arc::new(Pass::new((parameters, interventions), activations))
            }
        };
        if passes.len() == KEPT {
            passes.remove(0);
        }
        passes.push(pass.clone());
        pass
    }

    pub fn shown(&self) -> Option<Shown> {
        self.0.borrow().shown.clone()
    }

    pub fn show(&self, shown: Shown) {
        self.0.borrow_mut().shown = Some(shown);
    }

    /// The result without the learner's changes, made where it is not of these parameters yet.
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
