//! `attune render`: a picture or an animation, drawn without a display.

#[cfg(not(feature = "app"))]
use super::CliFault;
#[cfg(not(feature = "app"))]
use super::args::{Common, RenderArgs};

#[cfg(feature = "app")]
pub use drawn::render;

#[cfg(not(feature = "app"))]
pub fn render(_: &RenderArgs, _: &Common) -> Result<(), CliFault> {
    Err(CliFault::screen("this build cannot draw; build attune with the default features"))
}

#[cfg(feature = "app")]
mod drawn {
    use std::sync::Arc;

    use attune_core::kernel::command::{SentenceCommand, TrainingCommand};
    use attune_core::kernel::{Command, Kernel, Snapshot};
    use attune_core::lesson::Lesson;
    use attune_core::lesson::issue::{did_you_mean, printable, shown};
    use attune_core::lesson::schema::CellKind;
    use attune_view::export::file::obstacle;
    use attune_view::export::work_file::{OTHER_VERSION, SharedWork};
    use attune_view::view_model::Model;
    use attune_view::view_model::features::{Feature, Features};
    use indicatif::ProgressBar;

    use crate::app::encode::Form;
    use crate::app::moving::Play;
    use crate::app::moving::{MovingOptions, Stagehand};
    use crate::app::{self, AppFault, PictureOptions};
    use crate::cli::args::{Common, PlayArg, RenderArgs};
    use crate::cli::{CliFault, lessons, print, training};

    pub fn render(request: &RenderArgs, common: &Common) -> Result<(), CliFault> {
        let form = moves(request)?;
        // Checked before training, which may take long.
        if let Some(why) = obstacle(&request.output) {
            return Err(CliFault::output(format_args!(
                "the picture cannot be written: {}: {why}",
                shown(&request.output)
            )));
        }
        let (kernel, options) = match lessons::shared(&request.lesson, &request.of, common)? {
            Some(_) if form.is_some() => {
                return Err(CliFault::usage(
                    "--output: a shared file is drawn as a still picture: name a PNG file, and leave out --play",
                ));
            }
            Some(shared) => (None, of_shared(request, shared, common)?),
            None => of_lesson(request, common).map(|(kernel, options)| (Some(kernel), options))?,
        };
        let options = PictureOptions {
            size: request.size.unwrap_or(options.size),
            workspace: request.workspace,
            dark: request.theme.is_dark(),
            transparent: request.transparent,
            ..options
        };
        let drawn = match form.zip(kernel) {
            Some(((form, play), kernel)) => {
                let options = MovingOptions { picture: options, play, seconds: request.seconds, form };
                let mut hand = Hand { kernel, bar: training::pictures(0, common) };
                let drawn = app::moving::render(&options, &mut hand, &request.output);
                hand.bar.finish_and_clear();
                drawn
            }
            None => app::render(&options, &request.output),
        };
        drawn.map_err(|fault| match fault {
            fault @ AppFault::Output(_) => CliFault::output(fault),
            fault => CliFault::screen(fault),
        })
    }

    /// Returns the form and the sequence of an animation; `None` for a still picture.
    fn moves(request: &RenderArgs) -> Result<Option<(Form, Play)>, CliFault> {
        let ending = request.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let form = match ending.to_ascii_lowercase().as_str() {
            "gif" => Form::Gif,
            "apng" => Form::Apng,
            "png" if request.play.is_some() => Form::Apng,
            "png" if request.seconds.is_some() => {
                return Err(CliFault::usage("--seconds: a PNG file is an animation only with --play"));
            }
            "png" => return Ok(None),
            _ => {
                return Err(CliFault::usage(format_args!(
                    "--output: {} is neither the name of a picture, such as apple.png, nor that of an animation, such as \
                     apple.gif or apple.apng",
                    shown(&request.output)
                )));
            }
        };
        let play = match request.play.unwrap_or(PlayArg::Split) {
            PlayArg::Split => Play::Split,
            PlayArg::Walk => Play::Walk,
            PlayArg::Training => Play::Training,
            PlayArg::Orbit => Play::Orbit,
        };
        if request.transparent {
            return Err(CliFault::usage("--transparent: an animation always has a background"));
        }
        if request.time.is_some() && matches!(play, Play::Split | Play::Walk) {
            return Err(CliFault::usage("--time: the animations \"split\" and \"walk\" go through all times"));
        }
        Ok(Some((form, play)))
    }

    /// The kernel that supplies an animation's snapshots, and the progress bar of its frames.
    struct Hand {
        kernel: Kernel,
        bar: ProgressBar,
    }

    impl Stagehand for Hand {
        fn trained(&mut self, share: f32) -> Arc<Snapshot> {
            let step = (share * self.kernel.steps_done() as f32).round() as usize;
            self.kernel.apply(Command::Training(TrainingCommand::Scrub(step)));
            self.kernel.settle();
            Arc::new(self.kernel.snapshot())
        }

        fn drawn(&mut self, frames: usize, all: usize) {
            self.bar.set_length(all as u64);
            self.bar.set_position(frames as u64);
        }
    }

    /// Trains a lesson, and returns its kernel with the options of the picture. The picture is that of a stage cell, of
    /// the sentence in the arguments, or else of the first sentence.
    fn of_lesson(request: &RenderArgs, common: &Common) -> Result<(Kernel, PictureOptions), CliFault> {
        let lesson = lessons::read(&request.lesson, common.seed)?;
        if request.play == Some(PlayArg::Training) && lesson.model.schedule.steps == 0 {
            return Err(CliFault::usage("--play: the lesson has no training steps"));
        }
        let shows = request.sentence.command(&lesson)?;
        let (sentence, time) = match &request.cell {
            Some(id) => stage_cell(&lesson, id)?,
            None => (0, 1.0),
        };
        let train = if request.workspace { training::train_with_tour } else { training::train };
        let mut kernel = train(lesson, common);
        training::trained(&kernel, &request.lesson)?;
        kernel.apply(shows.unwrap_or(Command::Sentence(SentenceCommand::Select(sentence))));
        let (cell, time) = (request.cell.clone(), request.time.unwrap_or(time));
        let snapshot = Arc::new(kernel.snapshot());
        let features = features(request, &snapshot)?;
        let options = PictureOptions { cell, time, features, ..PictureOptions::of(snapshot) };
        Ok((kernel, options))
    }

    /// Returns the features that set the colours and the sizes of points; `None` for an option that is not given.
    fn features(request: &RenderArgs, snapshot: &Arc<Snapshot>) -> Result<[Option<Feature>; 2], CliFault> {
        let all = Features::make(snapshot, &(), None);
        let named = |option: &str, name: &Option<String>, sizes| {
            let Some(name) = name else { return Ok(None) };
            let not_a_file = || "only a file of vectors has columns".to_owned();
            let feature = all.as_ref().ok_or_else(not_a_file).and_then(|all| all.named(name, sizes));
            feature.map(Some).map_err(|why| CliFault::usage(format_args!("{option}: {}", printable(&why))))
        };
        Ok([named("--colour-by", &request.colour_by, false)?, named("--size-by", &request.size_by, true)?])
    }

    /// Returns the sentence and the time of a stage cell.
    fn stage_cell(lesson: &Lesson, id: &str) -> Result<(usize, f32), CliFault> {
        let stages = || {
            lesson.cells.iter().filter_map(|cell| match &cell.kind {
                CellKind::Stage { sentence, time, .. } => Some((&*cell.id, (*sentence, *time))),
                _ => None,
            })
        };
        stages().find(|(known, _)| *known == id).map(|(_, at)| at).ok_or_else(|| {
            let known: Vec<&str> = stages().map(|(known, _)| known).collect();
            let hint = did_you_mean(id, known.iter().copied());
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            CliFault::usage(format_args!("--cell: the lesson has no stage cell {id:?}; its stage cells: {known}{hint}"))
        })
    }

    /// Returns the options of the picture of a shared lesson, with the work and the view that were shared.
    fn of_shared(request: &RenderArgs, shared: SharedWork, common: &Common) -> Result<PictureOptions, CliFault> {
        let given = [
            request.cell.as_ref().map(|_| "--cell"),
            request.time.map(|_| "--time"),
            request.sentence.option(),
            request.colour_by.as_ref().map(|_| "--colour-by"),
            request.size_by.as_ref().map(|_| "--size-by"),
        ];
        if let Some(option) = given.into_iter().flatten().next() {
            return Err(CliFault::usage(format_args!(
                "{option}: a shared file is always drawn as it was on the screen"
            )));
        }
        let lesson = lessons::read(&shared.lesson, common.seed.or(shared.content.work.seed))?;
        let version = shared.is_of_another_version.then_some(OTHER_VERSION.to_owned());
        let kernel = training::resume(lesson, shared.content.work, common);
        let snapshot = kernel.snapshot();
        if !common.quiet {
            version.iter().chain(&*snapshot.report).for_each(print::warning);
        }
        training::check_fault(&snapshot, &shared.lesson)?;
        let (snapshot, view) = (Arc::new(snapshot), shared.content.view.unwrap_or_default());
        // A picture of the whole window has the default size.
        let size = request.workspace.then(|| PictureOptions::of(snapshot.clone()).size);
        let options = PictureOptions::of_shared(snapshot, view);
        Ok(PictureOptions { size: size.unwrap_or(options.size), ..options })
    }
}
