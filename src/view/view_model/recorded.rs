//! The line about a recording above the panels: the findings of its check, and the tokens that are shown.

use std::sync::Arc;

use attune_core::kernel::sentence_pass::recorded::{RecordedPlace, STRETCH};
use attune_core::kernel::sentence_pass::recorded_check::{CheckedAttention, CheckedText};
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::messages::counted;
use attune_engine::recording::RecordedText;
use attune_engine::recording::parts::Part;

/// The check and the shown part of a recording, for the line above the panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingModel {
    /// The findings of the check, in one line.
    pub check: String,
    /// Whether the check found a fault.
    pub is_wrong: bool,
    /// Everything that the check found, line by line, followed by facts about the file.
    pub lines: Vec<String>,
    /// The part of the text that is shown; `None` if all of it is.
    pub stretch: Option<Stretch>,
}

/// A part of a text that is too long to be shown as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The range as text, such as `Tokens 1 to 128 of 512`.
    pub words: String,
    /// The first tokens of the parts before and after this one; `None` at the ends of the text.
    pub before: Option<usize>,
    pub behind: Option<usize>,
}

impl RecordingModel {
    /// Builds the model; `None` if the model is not a recording.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let (pass, checked) = (model.recorded.as_deref()?, model.checked.as_deref()?);
        let mut faults: Vec<String> = checked.faults().map(|fault| fault.to_string().replace('`', "")).collect();
        let trouble = pass.trouble.as_deref().map(|trouble| trouble.replace('`', ""));
        faults.extend(trouble.filter(|trouble| !faults.contains(trouble)));
        let text = &pass.place.model.recording.texts[pass.place.text];
        let about = &text.about;
        let mut lines = faults.clone();
        lines.extend(checked.attentions.iter().map(|attention| attention.line.clone()));
        lines.extend(behind_final_norm(text).map(str::to_owned));
        lines.extend(about.changed.as_ref().map(|changed| format!("Changed before it was recorded: {changed}.")));
        let unused = &pass.place.model.recording.unused;
        lines.extend((!unused.is_empty()).then(|| format!("Not used: {}.", unused.join(", "))));
        Some(Self {
            check: said(checked, &faults, text),
            is_wrong: !faults.is_empty(),
            lines,
            stretch: Stretch::of(&pass.place),
        })
    }
}

/// Returns a sentence if the last recorded hidden state comes after the model's final norm.
pub(super) fn behind_final_norm(text: &RecordedText) -> Option<&'static str> {
    // A text without states of its own comes from an encoder without a decoder.
    let is_applied =
        if text.states.is_empty() { text.about.source_final_norm_applied } else { text.about.final_norm_applied };
    is_applied.then_some("The last hidden state comes after the model's final norm.")
}

fn said(checked: &CheckedText, faults: &[String], text: &RecordedText) -> String {
    let is_wrong = |attention: &&Arc<CheckedAttention>| !attention.faults.is_empty();
    let wrong = || checked.attentions.iter().filter(is_wrong);
    // The attention whose weights differ most from the softmax of its scores is named, with advice on what to check.
    let worst = wrong().max_by(|a, b| a.row.unwrap_or(0.0).total_cmp(&b.row.unwrap_or(0.0)));
    if let Some(attention) = worst {
        let more = wrong().count() - 1;
        let more = if more == 0 { String::new() } else { format!(" ({more} more)") };
        let advice = attention.faults.last().map_or("", |fault| &fault.advice);
        return format!("{}; {advice}{more}", attention.line).replace('`', "");
    }
    if let Some(first) = faults.first() {
        return first.clone();
    }
    match &checked.progress {
        Some(progress) => format!("Checking the attention: {} of {}", progress.done, progress.of),
        None if checked.attentions.is_empty() => "No attention was recorded".to_owned(),
        None => format!("Checked: {}", without_fault(checked, text)),
    }
}

/// Describes what was checked if no fault was found: the softmax where it could be computed, and the sums of rows.
fn without_fault(checked: &CheckedText, text: &RecordedText) -> String {
    let proved = checked.attentions.iter().filter(|attention| attention.row.is_some()).count();
    let all = counted(checked.attentions.len(), "attention");
    if proved == checked.attentions.len() {
        let each = if proved == 1 { "" } else { "each " };
        return format!("{all}, {each}the softmax of its own queries and keys");
    }
    let sums = sums(text);
    let needs = if text.about.is_partial { "all weights" } else { "queries and keys" };
    match proved {
        0 => format!("{sums}; a proof needs {needs}"),
        _ => format!("{proved} of {all} as the softmax of its own queries and keys; {sums}"),
    }
}

/// Describes the rows whose sums were checked. Those with a learned sink are not, because the share of the sink is
/// unknown.
fn sums(text: &RecordedText) -> String {
    let count = text.attentions.len();
    let summed = text.attentions.iter().filter(|attention| attention.part(Part::Sinks).is_none()).count();
    let sum =
        if text.about.is_partial { "sum to 1 at most (small weights were left out)" } else { "sum as they should" };
    match summed {
        0 => "no weight is negative (with learned sinks, sums are not checked)".to_owned(),
        _ if summed == count => format!("all rows {sum}"),
        _ => format!("the rows of {summed} of {count} attentions {sum} (with learned sinks, sums are not checked)"),
    }
}

impl Stretch {
    /// Returns the part of a text that is shown; `None` if all of it is.
    fn of(place: &RecordedPlace) -> Option<Self> {
        let count = place.count(false).max(place.count(true));
        if count <= STRETCH {
            return None;
        }
        let of_source = place.count(false) < place.count(true);
        let shown = place.tokens(of_source);
        Some(Self {
            words: format!("Tokens {} to {} of {count}", shown.start + 1, shown.end),
            before: (shown.start > 0).then(|| shown.start.saturating_sub(STRETCH)),
            behind: (shown.end < count).then_some(shown.end),
        })
    }
}
