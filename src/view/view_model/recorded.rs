//! What is said of a recording as a whole: what the check found, and which of its tokens are shown.

use attune_core::kernel::sentence_pass::recorded::{RecordedPlace, STRETCH};
use attune_core::kernel::sentence_pass::recorded_check::CheckedText;
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::messages::counted;

/// The line of a recording over the panels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingModel {
    /// What the check found, in one line.
    pub check: String,
    /// Whether something is not as it should be.
    pub is_wrong: bool,
    /// All that the check found, line by line, and what is known of the file.
    pub lines: Vec<String>,
    /// The stretch that is shown, of a longer text.
    pub stretch: Option<Stretch>,
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// `Tokens 1 to 128 of 512`
    pub words: String,
    /// The first tokens of the stretches before and behind it; `None` at the ends.
    pub before: Option<usize>,
    pub behind: Option<usize>,
}

impl RecordingModel {
    /// Builds the model; `None` of everything that is no recording.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let (pass, checked) = (model.recorded.as_deref()?, model.checked.as_deref()?);
        let faults: Vec<String> = checked.faults().map(ToString::to_string).collect();
        let trouble = pass.trouble.as_deref().filter(|trouble| !faults.iter().any(|fault| fault == trouble));
        let faults: Vec<String> = trouble.map(str::to_owned).into_iter().chain(faults).collect();
        let about = &pass.place.model.recording.texts[pass.place.text].about;
        let mut lines = faults.clone();
        lines.extend(checked.attentions.iter().map(|attention| attention.line.clone()));
        let norm = "The last hidden state is behind the model's final norm.".to_owned();
        lines.extend(about.final_norm_applied.then_some(norm));
        lines.extend(about.changed.as_ref().map(|changed| format!("Changed before it was recorded: {changed}.")));
        let unused = &pass.place.model.recording.unused;
        lines.extend((!unused.is_empty()).then(|| format!("Not used: {}.", unused.join(", "))));
        Some(Self {
            check: said(checked, &faults, pass.blocks.iter().any(|parts| parts.scores)),
            is_wrong: !faults.is_empty(),
            lines,
            stretch: Stretch::of(&pass.place),
        })
    }
}

fn said(checked: &CheckedText, faults: &[String], has_proof: bool) -> String {
    if let [first, others @ ..] = faults {
        let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
        return format!("{first}{more}");
    }
    match &checked.progress {
        Some(progress) => format!("Checking the attention: {} of {}", progress.done, progress.of),
        None if checked.attentions.is_empty() => "No attention was recorded".to_owned(),
        None if has_proof => {
            let layers = counted(checked.attentions.len(), "attention");
            format!("Checked: {layers}, each the softmax of its own queries and keys")
        }
        None => "Checked: all rows sum as they should; a proof needs queries and keys".to_owned(),
    }
}

impl Stretch {
    /// `None` where the whole text is shown.
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
