//! Recordings on the command line: the lines of `attune check` and `attune trace` about a recording, and `attune trace
//! --to safetensors`.

use std::path::Path;

use attune_core::kernel::Snapshot;
use attune_core::lesson::issue::{printable, shorten, shown};
use attune_core::whole_file::{self, Prepared};
use attune_engine::messages::counted;
use attune_engine::pretrained::Refusal;
use attune_engine::recording::{RecordedText, Recording, proof};
use attune_view::export::recording::trace::NoTrace;
use attune_view::export::recording::{file, trace};
use attune_view::view_model::needs::Needs;

use super::{CliFault, print};

/// Prints a description of each attention in a recording, what the file contains, and which of its tensors are not
/// used.
///
/// # Errors
/// If the file cannot be read, or its tensors contradict each other.
pub fn check(path: &Path) -> Result<(), CliFault> {
    let recording = open(path)?;
    let mut faults = Vec::new();
    print::line(format_args!("{}: {}", shown(path), summary(&recording)))?;
    for text in &recording.texts {
        for attention in &text.attentions {
            match recording.check(text, attention) {
                Ok(findings) => {
                    print::line(printable(&proof::line(attention, &findings)))?;
                    faults.extend(findings.faults);
                }
                Err(fault) => faults.push(fault),
            }
        }
        faults.extend(recording.check_vectors(text));
    }
    if let Some(text) = recording.texts.first() {
        for line in has_and_lacks(text) {
            print::line(line)?;
        }
    }
    if !recording.unused.is_empty() {
        print::line(format_args!("not used: {}", printable(&names(&recording.unused))))?;
    }
    refused(path, &faults)
}

/// Prints one text of a recording, counted from 1 and by default the first, as a JSON object.
///
/// # Errors
/// If the recording cannot be read, or does not have the text.
pub fn print_trace(path: &Path, number: Option<u64>) -> Result<(), CliFault> {
    let recording = open(path)?;
    let at = number.map_or(0, |number| usize::try_from(number - 1).unwrap_or(usize::MAX));
    let Some(text) = recording.texts.get(at) else {
        let count = counted(recording.texts.len(), "text");
        return Err(CliFault::usage(format_args!("--text: the recording has {count}")));
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut fault = None;
    print::with(|out| match trace::write(&recording, text, &name, &mut *out) {
        Ok(()) => writeln!(out),
        Err(NoTrace::Unwritten(error)) => Err(error),
        Err(NoTrace::Refused(refusal)) => {
            fault = Some(refusal);
            Ok(())
        }
    })?;
    refused(path, fault.as_slice())
}

/// Writes the pass of a snapshot's sentence as a recording.
///
/// # Errors
/// If `output` is the lesson itself or cannot be written.
pub fn write(snapshot: &Snapshot, lesson: &Path, output: &Path) -> Result<(), CliFault> {
    if whole_file::is_same(output, lesson) {
        return Err(CliFault::usage("--output: this is the lesson itself, which is never overwritten"));
    }
    let written = Prepared::with(output, |to| file::write(snapshot, to)).and_then(Prepared::put);
    written.map_err(|error| CliFault::output(format_args!("{}: {error}", shown(output))))?;
    print::line(format_args!("{}: a recording of {:?}", shown(output), sentence(snapshot)))
}

fn sentence(snapshot: &Snapshot) -> String {
    snapshot.model.as_ref().map_or_else(String::new, |model| model.sentence.written())
}

fn open(path: &Path) -> Result<Recording, CliFault> {
    Recording::open(path).map_err(|faults| match refused(path, &faults) {
        Err(fault) => fault,
        Ok(()) => CliFault::in_file(path, "cannot be opened"),
    })
}

fn refused(path: &Path, faults: &[Refusal]) -> Result<(), CliFault> {
    if faults.is_empty() {
        return Ok(());
    }
    let lines = faults.iter().map(|fault| format!("{}: {}\n", shown(path), printable(&fault.to_string())));
    Err(CliFault::Lesson(lines.collect()))
}

fn summary(recording: &Recording) -> String {
    let texts = counted(recording.texts.len(), "text");
    let Some(first) = recording.texts.first() else { return texts };
    let about = &first.about;
    let source = about.source_tokens.as_ref().map_or_else(String::new, |source| format!(" from {}", source.len()));
    let model = about.model.as_ref().map_or_else(String::new, |model| format!(", {}", printable(&shorten(model))));
    format!("a recording of {texts}, the first of {}{source}{model}", counted(about.tokens.len(), "token"))
}

/// Lists the names of tensors, separated by commas; if there are more than 20, it counts the rest.
fn names(names: &[String]) -> String {
    const NAMED: usize = 20;
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Lists the views that a recorded text allows, and then what would have to be recorded for the others.
fn has_and_lacks(text: &RecordedText) -> Vec<String> {
    let (there, absent): (Vec<Needs>, Vec<Needs>) = Needs::PARTS.into_iter().partition(|part| part.is_in(text));
    let opens: Vec<&str> = there.into_iter().map(Needs::opens).collect();
    let has = format!("has: {}", opens.join(", "));
    std::iter::once(has).chain(absent.into_iter().map(|needs| needs.words().to_owned())).collect()
}
