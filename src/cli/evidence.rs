//! `attune map`, `score`, `words` and `heads`: what an answer or an attention score depends on, and what heads do over
//! many texts.

use std::path::Path;

use attune_core::kernel::Kernel;
use attune_core::kernel::evidence::map::MapRequest;
use attune_core::kernel::evidence::texts::read_texts;
use attune_core::lesson::issue::{printable, shown};
use attune_core::lesson::recorded::ONE_PASS;
use attune_core::lesson::vector_files::is_file_of_vectors;
use attune_core::whole_file::no_new_folder;
use attune_engine::recording::is_recording;
use attune_view::export::evidence::{
    map_json, map_text, score_json, score_text, tables_json, tables_text, texts_json, texts_text, words_json,
    words_text, write_headvis,
};
use serde::Serialize;

use super::args::Common;
use super::evidence_args::{HeadsArgs, MapArgs, ScoreArgs, WordsArgs};
use super::{CliFault, lessons, print, training};

/// Prints the maps of a sentence.
///
/// # Errors
/// If the model cannot be opened, or has no maps of these sentences and this answer.
pub fn map(request: &MapArgs, common: &Common) -> Result<(), CliFault> {
    let kernel = opened(&request.lesson, common)?;
    let asked = MapRequest {
        sentence: request.sentence.clone(),
        second: request.second.clone(),
        asked: request.asked.asked(),
        into: request.into,
        direct: request.direct,
    };
    let evidence = kernel.evidence().map_err(refused)?;
    let maps = with_bar("Passes", common, |progressed| evidence.maps(&asked, progressed))?;
    printed(request.json, || map_json(&maps), || map_text(&maps))
}

/// Prints the terms whose sum is the attention score of a query and a key.
///
/// # Errors
/// If the model cannot be opened, or lacks the head, the query or the key.
pub fn score(request: &ScoreArgs, common: &Common) -> Result<(), CliFault> {
    let kernel = opened(&request.lesson, common)?;
    let score =
        kernel.evidence().and_then(|evidence| evidence.score(&request.sentence, request.of)).map_err(refused)?;
    printed(request.json, || score_json(&score), || score_text(&score))
}

/// Prints the measures of which word mattered.
///
/// # Errors
/// If the model cannot be opened, or has no measures of this sentence and this answer.
pub fn words(request: &WordsArgs, common: &Common) -> Result<(), CliFault> {
    let kernel = opened(&request.lesson, common)?;
    let evidence = kernel.evidence().map_err(refused)?;
    let asked = request.asked.asked();
    let words = with_bar("Measures", common, |progressed| evidence.words(&request.sentence, &asked, progressed))?;
    printed(request.json, || words_json(&words), || words_text(&words))
}

/// Prints measures of all heads over a file of texts, or the tables of some heads.
///
/// # Errors
/// If the model or the texts cannot be read, or the folder cannot be written.
pub fn heads(request: &HeadsArgs, common: &Common) -> Result<(), CliFault> {
    let Some(file) = &request.texts else {
        let kernel = opened(&request.lesson, common)?;
        let evidence = kernel.evidence().map_err(refused)?;
        let tables =
            with_bar("Heads", common, |progressed| evidence.tables(&request.head, &request.words, progressed))?;
        return printed(request.json, || tables_json(&tables), || tables_text(&tables));
    };
    // Checked and read before training, which takes time.
    if let Some((folder, why)) = request.output.as_deref().and_then(|folder| Some((folder, no_new_folder(folder)?))) {
        return Err(CliFault::usage(format_args!("--output: {}: {why}; name a new folder", shown(folder))));
    }
    let text = read_texts(file).map_err(|why| CliFault::usage(format_args!("{}: {why}", shown(file))))?;
    let kernel = opened(&request.lesson, common)?;
    let evidence = kernel.evidence().map_err(refused)?;
    if request.output.is_some() && kernel.snapshot().lesson.model.architecture.has_source() {
        return Err(CliFault::usage(
            "--to headvis: HeadVis has one sentence for a text, and this model reads a source and a target; use --json",
        ));
    }
    let texts = with_bar("Texts", common, |progressed| {
        evidence.texts(&text, progressed).map_err(|why| format!("{}: {why}", shown(file)))
    })?;
    if let Some(folder) = &request.output {
        let name = kernel.snapshot().lesson.title.clone();
        write_headvis(folder, (&name, &text), &texts, &evidence)
            .map_err(|why| CliFault::output(format_args!("{}: {why}", shown(folder))))?;
    }
    printed(request.json, || texts_json(&texts, &evidence), || texts_text(&texts, &evidence))
}

/// Opens and trains a lesson, or opens a model.
fn opened(path: &Path, common: &Common) -> Result<Kernel, CliFault> {
    if is_recording(path) {
        return Err(CliFault::usage(format_args!("{}: {ONE_PASS}", shown(path))));
    }
    if is_file_of_vectors(path) {
        return Err(CliFault::usage(format_args!("{}: a file of vectors has no model to ask", shown(path))));
    }
    let kernel = training::train(lessons::read(path, common.seed)?, common);
    training::trained(&kernel, path)?;
    Ok(kernel)
}

fn refused(why: String) -> CliFault {
    CliFault::usage(printable(&why))
}

/// Runs work with a progress bar on a terminal.
fn with_bar<T>(
    name: &'static str,
    common: &Common,
    work: impl FnOnce(&(dyn Fn(usize, usize) -> bool + Sync)) -> Result<T, String>,
) -> Result<T, CliFault> {
    let bar = training::bar(0, "{msg} {bar:32} {pos}/{len}", common);
    bar.set_message(name);
    let found = work(&|done, of| {
        bar.set_length(of as u64);
        bar.set_position(done as u64);
        true
    });
    bar.finish_and_clear();
    found.map_err(refused)
}

/// Prints a result as JSON, or as text in which control characters are escaped because names of pieces may contain
/// them.
fn printed<J: Serialize>(
    is_json: bool,
    json: impl FnOnce() -> J,
    text: impl FnOnce() -> String,
) -> Result<(), CliFault> {
    if is_json {
        return print::with(|out| {
            serde_json::to_writer(&mut *out, &json())?;
            writeln!(out)
        });
    }
    let text = text();
    print::with(|out| text.lines().try_for_each(|line| writeln!(out, "{}", printable(line))))
}
