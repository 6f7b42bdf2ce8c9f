//! Times a frame with small maps of all heads of a real model or of a recording, at rest and while they scroll, and a
//! frame of the Attention panel, with all heads, with one, and in which another is chosen; also the measures of a new
//! sentence.
//!
//!     cargo bench --profile dev --bench heads_frames -- path/to/a/model --words 16
//!     cargo bench --profile dev --bench heads_frames -- run.safetensors

mod clock;
mod frames;

use std::path::PathBuf;
use std::sync::Arc;

use attune::app::panels::sheet::SheetPanel;
use attune::app::panels::{Panel, PanelContext, PanelName, Requests, StageUi};
use attune::app::text::prose::Prose;
use attune::app::ui_state::{PanelView, ViewState};
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_view::view_model::Models;
use attune_view::view_model::heads::AllHeads;
use clap::Parser;
use clock::{tell, timed};
use egui::{Context, Event, Pos2, Ui, Vec2};
use frames::{context, input, wheel};

/// Words that every tokenizer can read.
const WORDS: [&str; 5] = ["the", "bank", "of", "a", "river"];
const FRAMES: usize = 120;
/// The points by which a frame scrolls.
const SCROLLED: f32 = 40.0;
/// The right half of a window of 2560x1440.
const SIZE: Vec2 = Vec2::new(1000.0, 1300.0);

#[derive(Parser)]
struct Args {
    /// A model's folder or a recording.
    model: PathBuf,
    /// Words of the sentence that a model reads.
    #[arg(long, default_value_t = 16)]
    words: usize,
    /// A flag that cargo passes.
    #[arg(long)]
    bench: bool,
}

/// A panel in a window without a display.
struct Bench<P> {
    ctx: Context,
    panel: P,
    prose: Prose,
    view: ViewState,
    models: Models,
    frames: u64,
}

struct NoStage;

impl StageUi for NoStage {
    fn stage_ui(&mut self, _ui: &mut Ui, _view: &mut PanelView) {}
}

impl<P: Panel> Bench<P> {
    fn new(snapshot: &Arc<Snapshot>, panel: P) -> Self {
        let ctx = context();
        let models = Models::of(snapshot.clone());
        Self { ctx, panel, prose: Prose::default(), view: ViewState::default(), models, frames: 0 }
    }

    /// Runs one frame, from the input to the triangles, and returns the number of triangles.
    fn frame(&mut self, events: Vec<Event>) -> usize {
        self.frames += 1;
        let input = input(SIZE, self.frames, events);
        let mut requests = Requests::default();
        let mut output = self.ctx.run_ui(input, |ui| {
            let mut context = PanelContext {
                models: &self.models,
                view: self.view.for_panels(),
                stage: &mut NoStage,
                prose: &mut self.prose,
                is_answered: true,
                requests: &mut requests,
            };
            self.panel.ui(ui, &mut context).expect("a model");
        });
        output.textures_delta.clear();
        self.ctx.tessellate(output.shapes, output.pixels_per_point).len()
    }

    fn measure(&mut self, what: &str) {
        const SETTLED: usize = 30;
        let mut first = Vec::new();
        timed(&mut first, || self.frame(Vec::new()));
        (0..SETTLED).for_each(|_| _ = self.frame(Vec::new()));
        let (mut still, mut draws) = (Vec::new(), 0);
        (0..FRAMES).for_each(|_| draws = timed(&mut still, || self.frame(Vec::new())));
        tell(&format!("{what}, first frame"), first);
        tell(&format!("{what}, still ({draws} draw calls)"), still);
        let mut moved = Vec::new();
        for i in 0..FRAMES {
            let at = Pos2::new(20.0 + 7.0 * i as f32, 200.0 + 5.0 * i as f32);
            timed(&mut moved, || self.frame(vec![Event::PointerMoved(at)]));
        }
        tell(&format!("{what}, the pointer over it"), moved);
    }

    /// Scrolls down and up again, so that maps come into sight that were not there before, and others return.
    fn scroll(&mut self, what: &str) {
        let mut scrolled = Vec::new();
        let middle = Event::PointerMoved((SIZE / 2.0).to_pos2());
        for by in [-SCROLLED, SCROLLED] {
            for _ in 0..FRAMES {
                timed(&mut scrolled, || self.frame([vec![middle.clone()], wheel(by)].concat()));
            }
        }
        tell(&format!("{what}, scrolling"), scrolled);
    }

    /// Chooses one head after another.
    fn choose(&mut self, what: &str, heads: usize) {
        let mut chosen = Vec::new();
        for frame in 0..FRAMES {
            self.view.selection.show_head(Some(frame * heads / FRAMES));
            timed(&mut chosen, || self.frame(Vec::new()));
        }
        tell(&format!("{what}, another one in each frame"), chosen);
    }
}

fn main() {
    let args = Args::parse();
    let _ = args.bench;
    let lesson = attune_core::lesson::read(&args.model).unwrap_or_else(|issues| panic!("{issues:?}"));
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    if kernel.snapshot().model.is_some_and(|model| model.recorded.is_none()) {
        let text = (0..args.words).map(|i| WORDS[i % WORDS.len()]).collect::<Vec<_>>().join(" ");
        kernel.apply(Command::Sentence(SentenceCommand::Set(text)));
    }
    kernel.settle();
    let snapshot = Arc::new(kernel.snapshot());
    let model = snapshot.model.as_ref().expect("a model");
    println!("{} heads, {} tokens", model.architecture.heads(), model.sentence.tokens.len());

    let mut measured = Vec::new();
    (0..FRAMES / 6).for_each(|_| _ = timed(&mut measured, || AllHeads::of(model)));
    tell("measures of all heads", measured);
    let mut attention = Bench::new(&snapshot, SheetPanel::of(PanelName::Attention));
    attention.measure("Attention, all heads");
    attention.view.selection.show_head(Some(0));
    attention.measure("Attention, one head");
    attention.choose("Attention, one head", model.architecture.heads());
    let mut heads = Bench::new(&snapshot, SheetPanel::of(PanelName::AllHeads));
    heads.measure("All heads");
    heads.scroll("All heads");
}
