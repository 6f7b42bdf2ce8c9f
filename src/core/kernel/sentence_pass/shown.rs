//! The forward pass of a sentence as a viewer may see it.

use std::sync::Arc;

use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{AttentionModel, Tower};
use attune_engine::numerics::moves::Moves;
use attune_engine::numerics::params::Parameters;

use crate::kernel::sentence_pass::interventions::{self, are_none};
use crate::kernel::sentence_pass::passes::{KeptPass, Passes, ShownSentence};
use crate::kernel::sentence_pass::sentence::{
    SentenceFrame, arithmetic_of, contributions_of, last_state, lens, sight as sight_of,
};
use crate::kernel::values::sentence::{Pair, SentenceSnapshot, UnchangedResult, sinks};
use crate::kernel::values::space::StaticSpace;

impl SentenceFrame {
    /// Returns the forward pass with its contributions and its points, reusing the parts that the latest passes have
    /// already.
    pub fn run(
        self: &Arc<Self>,
        passes: &Passes,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        live: &Arc<Parameters<f32>>,
        trained: &Arc<Parameters<f32>>,
        interventions: &Arc<Interventions<f32>>,
    ) -> Arc<SentenceSnapshot> {
        // The result without the learner's changes differs only if weights or interventions are changed.
        let is_changed = !(Arc::ptr_eq(live, trained) && are_none(interventions));
        // The unchanged result is computed first, because its pass may be the one that was shown last, which is still
        // kept.
        let unchanged = is_changed.then(|| self.unchanged(passes, space, model, trained));
        let pass = passes.forward(self, model, (live, interventions));
        let before = passes.shown();
        if let Some(ShownSentence { of, trained: before, sentence }) = &before
            && Arc::ptr_eq(of, &pass)
            && Arc::ptr_eq(before, trained)
        {
            return sentence.clone();
        }
        // With another norm, every point is in another place.
        let lenses = |parameters: &Parameters<f32>| {
            [Tower::Source, Tower::Sentence].map(|tower| lens(tower, space, model, parameters))
        };
        let is_seen_so = |before: &ShownSentence| lenses(&before.of.parameters) == lenses(live);
        let before = before.filter(is_seen_so).map(|before| before.sentence);
        let sentence =
            Arc::new(self.shown(space, model, &pass, unchanged.map(|result| (result, &**trained)), before.as_deref()));
        passes.show(ShownSentence { of: pass, trained: trained.clone(), sentence: sentence.clone() });
        sentence
    }

    /// Builds the snapshot. `before` is the same sentence as it was shown last, whose equal blocks are shared.
    fn shown(
        &self,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        pass: &KeptPass,
        unchanged: Option<(Arc<UnchangedResult>, &Parameters<f32>)>,
        before: Option<&SentenceSnapshot>,
    ) -> SentenceSnapshot {
        let KeptPass { parameters, interventions, activations, .. } = pass;
        let sight = sight_of(Tower::Sentence, space, model, parameters);
        let sight_of_source = sight_of(Tower::Source, space, model, parameters);
        let end = sight.points(last_state(activations));
        let trained_end = match &unchanged {
            Some((result, of)) => sight_of(Tower::Sentence, space, model, of).points(last_state(&result.activations)),
            None => end.clone(),
        };
        let unchanged = unchanged.map(|(result, _)| Pair::with_unchanged(&activations.output, result));
        let (mut arithmetic, mut contributions, mut moves) = (Vec::new(), Vec::new(), Vec::new());
        for ((b, config), block) in model.architecture.numbered_blocks().zip(&activations.blocks) {
            let heads = model.architecture.heads_of(b);
            if let Some(before) = before.filter(|before| Arc::ptr_eq(&before.activations.blocks[b], block)) {
                arithmetic.extend_from_slice(&before.arithmetic[heads]);
                contributions.push(before.contributions[b].clone());
                moves.push(before.moves[b].clone());
                continue;
            }
            let added = match &self.recorded {
                Some(recorded) => {
                    arithmetic.extend_from_slice(&recorded.arithmetic[heads]);
                    recorded.contributions[b].clone()
                }
                None => {
                    let of_heads = arithmetic_of((b, config), parameters, block, interventions);
                    arithmetic.extend(of_heads.into_iter().map(Arc::new));
                    Arc::new(contributions_of((b, config), model, parameters, block, interventions))
                }
            };
            let sight = match model.architecture.tower_of(b) {
                Tower::Source => &sight_of_source,
                Tower::Sentence => &sight,
            };
            moves.push(Arc::new(Moves::of(sight, block, &added, config.residual)));
            contributions.push(added);
        }
        let of_blocks = model.architecture.numbered_blocks().zip(activations.blocks.iter().zip(&moves));
        let looks_at_sentence = |(b, config): (usize, &BlockConfig)| {
            b >= model.architecture.source_blocks.len() && !config.attends_to_source()
        };
        let within: Vec<_> = of_blocks
            .filter(|(numbered, _)| looks_at_sentence(*numbered))
            .map(|(_, (block, moves))| (&**block, &**moves))
            .collect();
        let sinks = sinks(&within, self.tokens.len());
        let source_blocks = activations.blocks.iter().take(model.architecture.source_blocks.len());
        let after = source_blocks.map(|block| sight_of_source.points(&block.output));
        let source_points = self.source_start.iter().cloned().chain(after).collect();
        SentenceSnapshot {
            sinks,
            arithmetic,
            moves,
            index: self.sentence.index,
            tokens: self.tokens.clone(),
            text: self.sentence.text.clone(),
            input: self.input.clone(),
            source: self.source_tokens.clone(),
            has_own_target: self.sentence.target.as_ref().is_some_and(|target| !target.is_written),
            answers: pass.answers(model).clone(),
            start: self.start.clone(),
            static_neighbours: self.static_neighbours.clone(),
            contributions,
            end,
            source_points,
            trained_end,
            unchanged,
            contextual_neighbours: pass.neighbours(space).clone(),
            activations: activations.clone(),
        }
    }

    /// Returns the result of the trained parameters without interventions, which stays the same while a slider is
    /// dragged.
    fn unchanged(
        self: &Arc<Self>,
        passes: &Passes,
        space: &StaticSpace,
        model: &AttentionModel<f32>,
        trained: &Arc<Parameters<f32>>,
    ) -> Arc<UnchangedResult> {
        passes.unchanged(self, trained, || {
            let none = Arc::new(interventions::none(&model.architecture));
            let pass = passes.forward(self, model, (trained, &none));
            let contextual_neighbours = pass.neighbours(space).clone();
            let answers = pass.answers(model).clone();
            Arc::new(UnchangedResult { activations: pass.activations.clone(), answers, contextual_neighbours })
        })
    }
}
