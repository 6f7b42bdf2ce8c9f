//! Recordings on the command line: what `attune check` and `attune trace` say of one, and `attune trace --to safetensors`.

use std::path::Path;

use attune_core::kernel::Snapshot;
use attune_core::lesson::issue::{printable, shown};
use attune_core::whole_file::{self, Prepared};
use attune_engine::messages::counted;
use attune_engine::pretrained::Refusal;
use attune_engine::recording::parts::Part;
use attune_engine::recording::{RecordedText, Recording, proof};
use attune_view::export::recording::trace::NoTrace;
use attune_view::export::recording::{file, trace};

use super::{CliFault, print};

/// Prints what each attention of a recording is, what the file has, and what is not used.
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

/// Prints one text of a recording as a JSON object.
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
        Ok(()) => CliFault::Lesson(format!("{}: cannot be opened\n", shown(path))),
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
    let model = about.model.as_ref().map_or_else(String::new, |model| format!(", {}", printable(model)));
    format!("a recording of {texts}, the first of {}{source}{model}", counted(about.tokens.len(), "token"))
}

/// Tensor names, with commas between them.
fn names(names: &[String]) -> String {
    const NAMED: usize = 20;
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Lists the parts of a text, and those that would have to be recorded for more.
fn has_and_lacks(text: &RecordedText) -> Vec<String> {
    let has = |part: Part| text.attentions.iter().any(|attention| attention.part(part).is_some());
    let needs = [
        (!text.attentions.is_empty(), "attention", "attentions.0, …"),
        (!text.states.is_empty(), "points through the layers", "hidden_states.0, … (output_hidden_states=True)"),
        (has(Part::Queries) && has(Part::Keys), "scores and proof", "queries.0, keys.0, … (record with proof=True)"),
        (has(Part::Values) && has(Part::OutputWeight), "lengths and arrows", "values.0, output_weight.0, …"),
        (text.logits.is_some(), "answers", "logits"),
    ];
    let of = |is_there: bool| needs.iter().filter(move |(there, ..)| *there == is_there);
    let there: Vec<&str> = of(true).map(|(_, name, _)| *name).collect();
    let absent = of(false).map(|(_, name, tensors)| format!("needs for {name}: {tensors}"));
    std::iter::once(format!("has: {}", there.join(", "))).chain(absent).collect()
}
