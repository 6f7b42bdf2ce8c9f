//! `attune render`: a picture without a display.

#[cfg(not(feature = "app"))]
use super::Fault;
#[cfg(not(feature = "app"))]
use super::args::{Common, RenderArgs};

#[cfg(feature = "app")]
pub use drawn::render;

#[cfg(not(feature = "app"))]
pub fn render(_: &RenderArgs, _: &Common) -> Result<(), Fault> {
    Err(Fault::screen("this build draws no pictures; build with the default features"))
}

#[cfg(feature = "app")]
mod drawn {
    use std::sync::Arc;

    use attune_core::kernel::Command;
    use attune_core::kernel::command::SentenceCommand;
    use attune_core::lesson::Lesson;
    use attune_core::lesson::issue::printable;
    use attune_core::lesson::schema::CellKind;
    use attune_engine::nearest::nearest;
    use attune_view::export::file::obstacle;
    use attune_view::export::work_file::{OTHER_VERSION, Shared};

    use crate::app::{self, AppFault, PictureOptions};
    use crate::cli::args::{Common, RenderArgs};
    use crate::cli::{Fault, lessons, print, training};

    pub fn render(request: &RenderArgs, common: &Common) -> Result<(), Fault> {
        let output = || printable(&request.output.display().to_string());
        if !request.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            return Err(Fault::usage(format_args!(
                "--output: {} is not the name of a PNG file, such as apple.png",
                output()
            )));
        }
        // Before training, which may take long.
        if let Some(why) = obstacle(&request.output) {
            return Err(Fault::output(format_args!("the picture cannot be written: {}: {why}", output())));
        }
        let options = match lessons::shared(&request.lesson, &request.of, common)? {
            Some(shared) => of_shared(request, shared, common)?,
            None => of_lesson(request, common)?,
        };
        let options = PictureOptions {
            size: request.size.unwrap_or(options.size),
            workspace: request.workspace,
            dark: request.theme.is_dark(),
            transparent: request.transparent,
            ..options
        };
        app::render(&options, &request.output).map_err(|fault| match fault {
            fault @ AppFault::Output(_) => Fault::output(fault),
            fault => Fault::screen(fault),
        })
    }

    /// The picture of a lesson, which is trained first: a stage cell's, or that of the first sentence behind attention.
    fn of_lesson(request: &RenderArgs, common: &Common) -> Result<PictureOptions, Fault> {
        let lesson = lessons::read(&request.lesson, common.seed)?;
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
        Ok(PictureOptions { cell, time, ..PictureOptions::of(Arc::new(kernel.snapshot())) })
    }

    /// The sentence and the time of a stage cell.
    fn stage_cell(lesson: &Lesson, id: &str) -> Result<(usize, f32), Fault> {
        let stages = || {
            lesson.cells.iter().filter_map(|cell| match &cell.kind {
                CellKind::Stage { sentence, time, .. } => Some((&*cell.id, (*sentence, *time))),
                _ => None,
            })
        };
        stages().find(|(known, _)| *known == id).map(|(_, at)| at).ok_or_else(|| {
            let known: Vec<&str> = stages().map(|(known, _)| known).collect();
            let hint =
                nearest(id, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            let known = known.join(", ");
            Fault::usage(format_args!("--cell: the lesson has no stage cell {id:?}; it has {known}{hint}"))
        })
    }

    /// The picture of what somebody shared: the lesson as they had it, seen as they saw it.
    fn of_shared(request: &RenderArgs, shared: Shared, common: &Common) -> Result<PictureOptions, Fault> {
        let given =
            [request.cell.as_ref().map(|_| "--cell"), request.time.map(|_| "--time"), request.sentence.option()];
        if let Some(option) = given.into_iter().flatten().next() {
            return Err(Fault::usage(format_args!("{option}: what was shared is drawn as it was on the screen")));
        }
        let lesson = lessons::read(&shared.lesson, common.seed.or(shared.content.work.seed))?;
        let version = shared.is_of_another_version.then_some(OTHER_VERSION.to_owned());
        let kernel = training::resume(lesson, shared.content.work, common);
        let snapshot = kernel.snapshot();
        if !common.quiet {
            version.iter().chain(&*snapshot.report).for_each(print::warning);
        }
        if let Some(fault) = &snapshot.fault {
            return Err(Fault::Lesson(format!("{}: {}\n", training::place(&shared.lesson, fault.field), fault.words)));
        }
        let (snapshot, view) = (Arc::new(snapshot), shared.content.view.unwrap_or_default());
        // The whole window has the usual size.
        let size = request.workspace.then(|| PictureOptions::of(snapshot.clone()).size);
        let options = PictureOptions::of_shared(snapshot, view);
        Ok(PictureOptions { size: size.unwrap_or(options.size), ..options })
    }
}
