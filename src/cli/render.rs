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
    let lesson = super::read::read(&request.lesson, common.seed)?;
    let (mut sentence, mut time) = (0, 1.0);
    if let Some(id) = &request.cell {
        let stages = || lesson.cells.iter().filter(|cell| matches!(cell.kind, CellKind::Stage { .. }));
        let cell = stages().find(|cell| cell.id == *id).ok_or_else(|| {
            let known: Vec<&str> = stages().map(|cell| cell.id.as_str()).collect();
            let nearest = crate::nearest::nearest(id, known.iter().copied());
            let hint = nearest.map_or(String::new(), |nearest| format!("; did you mean {nearest:?}?"));
            Fault::usage(format_args!("--cell: the lesson has no stage cell {id:?}; it has {}{hint}", known.join(", ")))
        })?;
        if let CellKind::Stage { sentence: of_cell, time: at_cell, .. } = &cell.kind {
            (sentence, time) = (*of_cell, *at_cell);
        }
    }
    let mut kernel = super::progress::train(lesson, common);
    super::progress::trained(&kernel, &request.lesson)?;
    kernel.apply(Command::Sentence(SentenceCommand::Select(sentence)));
    let options = PictureOptions {
        cell: request.cell.clone(),
        time: request.time.unwrap_or(time),
        size: request.size,
        workspace: request.workspace,
        dark: request.theme.is_dark(),
        transparent: request.transparent,
        ..PictureOptions::of(Arc::new(kernel.snapshot()))
    };
    crate::app::render(&options, &request.output).map_err(|fault| match fault {
        fault @ AppFault::Output(_) => Fault::output(fault),
        fault => Fault::screen(fault),
    })
}
