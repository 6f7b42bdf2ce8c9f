//! `attune render`: a picture without a display.

use super::args::{Common, RenderArgs};
use super::fault::Fault;

#[cfg(not(feature = "app"))]
pub fn render(_: &RenderArgs, _: &Common) -> Result<(), Fault> {
    Err(Fault::screen("this build draws no pictures; build with the default features"))
}

#[cfg(feature = "app")]
pub fn render(request: &RenderArgs, common: &Common) -> Result<(), Fault> {
    use std::sync::Arc;

    use crate::app::{AppFault, PictureOptions};
    use crate::kernel::Command;
    use crate::kernel::command::SentenceCommand;
    use crate::lesson::schema::CellKind;

    let output = || crate::lesson::issue::printable(&request.output.display().to_string());
    if !request.output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return Err(Fault::usage(format_args!(
            "--output: {} is not the name of a PNG file, such as apple.png",
            output()
        )));
    }
    // Before training, which may take long.
    if let Some(why) = crate::export::file::obstacle(&request.output) {
        return Err(Fault::output(format_args!("the picture cannot be written: {}: {why}", output())));
    }
    let options = if let Some(shared) = super::open::shared(&request.lesson, &request.of, common)? {
        options_of_shared(request, shared, common)?
    } else {
        let lesson = super::read::read(&request.lesson, common.seed)?;
        let (mut sentence, mut time) = (0, 1.0);
        if let Some(id) = &request.cell {
            let stages = || lesson.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Stage { .. }));
            let cell = stages().find(|cell| cell.id == *id).ok_or_else(|| {
                let known: Vec<&str> = stages().map(|cell| cell.id.as_str()).collect();
                let nearest = crate::nearest::nearest(id, known.iter().copied());
                let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean {nearest:?}?"));
                let known = known.join(", ");
                Fault::usage(format_args!("--cell: the lesson has no stage cell {id:?}; it has {known}{hint}"))
            })?;
            if let CellKind::Stage { sentence: of_cell, time: at_cell, .. } = &cell.kind {
                (sentence, time) = (*of_cell, *at_cell);
            }
        }
        let mut kernel = super::progress::train(lesson, common);
        super::progress::trained(&kernel, &request.lesson)?;
        kernel.apply(Command::Sentence(SentenceCommand::Select(sentence)));
        let (cell, time) = (request.cell.clone(), request.time.unwrap_or(time));
        PictureOptions { cell, time, ..PictureOptions::of(Arc::new(kernel.snapshot())) }
    };
    let options = PictureOptions {
        size: request.size.unwrap_or(options.size),
        workspace: request.workspace,
        dark: request.theme.is_dark(),
        transparent: request.transparent,
        ..options
    };
    crate::app::render(&options, &request.output).map_err(|fault| match fault {
        fault @ AppFault::Output(_) => Fault::output(fault),
        fault => Fault::screen(fault),
    })
}

/// The picture of what somebody shared: the lesson as they had it, seen as they saw it.
#[cfg(feature = "app")]
fn options_of_shared(
    request: &RenderArgs,
    shared: crate::export::shared::Shared,
    common: &Common,
) -> Result<crate::app::PictureOptions, Fault> {
    use std::sync::Arc;

    use crate::app::PictureOptions;
    use crate::export::shared::OTHER_VERSION;

    let given = [("--cell", request.cell.is_some()), ("--time", request.time.is_some())];
    if let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Fault::usage(format_args!("{option}: what was shared is drawn as it was on the screen")));
    }
    let lesson = super::read::read(&shared.lesson, common.seed.or(shared.content.work.seed))?;
    let version = shared.is_of_another_version.then_some(OTHER_VERSION.to_owned());
    let kernel = super::progress::resume(lesson, shared.content.work, common);
    let snapshot = kernel.snapshot();
    if !common.quiet {
        version.iter().chain(&*snapshot.report).for_each(super::print::warning);
    }
    if let Some(fault) = &snapshot.fault {
        return Err(Fault::Lesson(format!("{}: {}\n", super::blame::place(&shared.lesson, fault.field), fault.words)));
    }
    let (snapshot, view) = (Arc::new(snapshot), shared.content.view.unwrap_or_default());
    // The whole window has the usual size.
    let size = if request.workspace { Some(PictureOptions::of(snapshot.clone()).size) } else { None };
    let options = PictureOptions::of_shared(snapshot, view);
    Ok(PictureOptions { size: size.unwrap_or(options.size), ..options })
}
