//! The work of the window's own thread for each snapshot, while a slider changes an entry of `W_Q` in a model of
//! GPT-2's shape and vocabulary: 12 layers, width 768, 50,257 pieces, random weights.
//!
//!     cargo bench --profile dev --bench snapshot_cost
//!
//! Measures the stage's points and shapes, and the models of the open panels: first those of a model's lesson, then
//! also *Intervene*. Drawing a frame is not included.

mod clock;
mod random_gpt2;

use std::sync::Arc;
use std::time::Duration;

use attune::app::link::LatestModels;
use attune::app::stage::frame::{self, StageTab};
use attune::app::stage::pass::StageFrame;
use attune::app::stage::pick::PointIndex;
use attune::app::stage::state::StageState;
use attune::app::systems::show;
use attune::app::ui_state::ViewState;
use attune_core::kernel::command::{SentenceCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::attention::AttentionMaps;
use attune_view::view_model::notebook::NotebookModel;
use attune_view::view_model::pieces::WordAttention;
use attune_view::view_model::sentences::SentencesModel;
use attune_view::view_model::what_if::WhatIfModel;
use bevy::ecs::world::World;
use bevy::time::Time;
use clock::{tell, timed};

const TEXT: &str = "the bank of the river by an apple near the old bank";
/// The number of snapshots before measuring.
const WARM: usize = 3;
/// The number of measured snapshots.
const TIMES: usize = 41;

/// The window's resources that depend on a snapshot.
struct Window(World);

impl Window {
    fn new() -> Self {
        let mut world = World::new();
        world.insert_resource(Time::<()>::default());
        world.init_resource::<LatestModels>();
        world.init_resource::<StageState>();
        world.init_resource::<ViewState>();
        world.init_resource::<StageTab>();
        world.init_resource::<StageFrame>();
        Self(world)
    }

    /// Builds the points and lines of a snapshot, up to the data for the graphics card.
    fn stage(&mut self, snapshot: Arc<Snapshot>) {
        let world = &mut self.0;
        world.resource_scope(|world, mut scene: bevy::ecs::world::Mut<LatestModels>| {
            world.resource_scope(|world, mut stage: bevy::ecs::world::Mut<StageState>| {
                let mut view = world.resource_mut::<ViewState>();
                show(snapshot, &mut scene, &mut stage, &mut view);
            });
        });
        world.run_system_cached(frame::advance).expect("it runs");
        world.run_system_cached(frame::build).expect("it runs");
        let stage = world.resource::<StageState>();
        let points = stage.points.as_ref().expect("points");
        std::hint::black_box(PointIndex::of(points, &stage.emphasis));
    }

    /// Builds the models of the panels of a model's lesson.
    fn panels(&self) {
        let models = self.0.resource::<LatestModels>();
        assert!(models.get::<NotebookModel>().is_some() && models.get::<SentencesModel>().is_some());
        assert!(models.get::<WordAttention>().is_some() || models.get::<AttentionMaps>().is_some());
    }

    fn intervene(&self) {
        let models = self.0.resource::<LatestModels>();
        let query = self.0.resource::<ViewState>().selection.query;
        assert!(models.get::<WhatIfModel>().is_some());
        std::hint::black_box(models.of_choice::<AnswerShifts>(&query));
    }
}

fn main() {
    let folder = random_gpt2::folder();
    let lesson = attune_core::lesson::read(&folder.0).unwrap_or_else(|issues| panic!("{issues:?}"));
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.apply(Command::Sentence(SentenceCommand::Set(TEXT.to_owned())));
    let mut window = Window::new();
    let [mut stage, mut panels, mut intervene]: [Vec<Duration>; 3] = Default::default();
    for turn in 0..WARM + TIMES {
        let (tensor, value) = (TensorName::QueryWeights.into(), 1e-3 * turn as f32);
        kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 1, value }));
        let snapshot = Arc::new(kernel.snapshot());
        timed(&mut stage, || window.stage(snapshot));
        timed(&mut panels, || window.panels());
        timed(&mut intervene, || window.intervene());
    }
    let tokens = kernel.snapshot().model.map_or(0, |model| model.sentence.tokens.len());
    let of = |times: &[&Vec<Duration>]| -> Vec<Duration> {
        (WARM..WARM + TIMES).map(|turn| times.iter().map(|times| times[turn]).sum()).collect()
    };
    println!("{tokens} tokens");
    tell("stage", of(&[&stage]));
    tell("panels", of(&[&panels]));
    tell("Intervene", of(&[&intervene]));
    tell("all, without Intervene", of(&[&stage, &panels]));
    tell("all", of(&[&stage, &panels, &intervene]));
}
