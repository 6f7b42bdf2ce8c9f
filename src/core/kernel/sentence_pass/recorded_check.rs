//! The check of a recorded text, and the measures of its heads over all tokens. Because a file may be large, one
//! attention is checked at a time, between other work.

use std::sync::Arc;

use attune_engine::numerics::head_measures::{HeadMeasure, HeadPatterns, MeasuredToken};
use attune_engine::pretrained::Refusal;
use attune_engine::recording::Attention;
use attune_engine::recording::proof::line;

use crate::kernel::sentence_pass::recorded::RecordedPlace;
use crate::kernel::values::Progress;
use crate::lesson::recorded::{TowerTokens, Towers};

/// The findings about a text so far.
#[derive(Clone, Debug)]
pub struct CheckedText {
    /// Findings about the attentions that have been checked, in the order of the blocks.
    pub attentions: Vec<Arc<CheckedAttention>>,
    /// Number of attentions that have been checked, and number of all attentions; `None` once all have been checked.
    pub progress: Option<Progress>,
}

/// The findings about an attention.
#[derive(Debug)]
pub struct CheckedAttention {
    /// Findings of the check in one line, or the reason why the attention could not be checked.
    pub line: String,
    pub faults: Vec<Refusal>,
    /// The largest share of a row's weights that is on other keys than in the softmax of its scores, if scores were
    /// recorded.
    pub row: Option<f64>,
    /// The measures of each head, in the order of [`HeadMeasure::ALL`].
    pub measures: Vec<Vec<Option<f32>>>,
}

impl CheckedText {
    /// Returns the findings before anything has been checked.
    pub fn begun(place: &RecordedPlace) -> Self {
        let of = place.recorded().attentions.len();
        Self { attentions: Vec::new(), progress: (of > 0).then_some(Progress { done: 0, of }) }
    }

    pub fn is_done(&self) -> bool {
        self.progress.is_none()
    }

    pub fn faults(&self) -> impl Iterator<Item = &Refusal> {
        self.attentions.iter().flat_map(|attention| &attention.faults)
    }

    /// Returns the measures of a head, counted over all blocks, or `None` until its attention has been checked.
    pub fn measures(&self, head: usize) -> Option<&[Option<f32>]> {
        self.attentions.iter().flat_map(|attention| &attention.measures).nth(head).map(Vec::as_slice)
    }
}

/// The check of the text that is shown.
pub struct RecordedCheck {
    place: RecordedPlace,
    patterns: Patterns,
    found: CheckedText,
}

/// The pairs of queries and keys that measures count: in the source, in the text, and from the text to the source.
struct Patterns {
    of_source: HeadPatterns,
    own: HeadPatterns,
    across: HeadPatterns,
}

impl RecordedCheck {
    pub fn new(place: &RecordedPlace) -> Self {
        let (towers, rows) = (Towers::of(place.recorded()), place.model.rows(place.text));
        let measured = |tower: TowerTokens<'_>, rows: &[usize]| {
            let token = |(at, row): (usize, &usize)| MeasuredToken {
                word: Some(*row),
                is_added: tower.special.binary_search(&at).is_ok(),
            };
            rows.iter().enumerate().map(token).collect::<Vec<_>>()
        };
        let own = measured(towers.own(), &rows.own);
        let source = towers.source().zip(rows.source.as_deref());
        let source = source.map_or_else(Vec::new, |(tower, rows)| measured(tower, rows));
        let patterns = Patterns {
            of_source: HeadPatterns::within(&source),
            across: HeadPatterns::between(own.len(), &source),
            own: match place.grid() {
                Some(grid) => HeadPatterns::within(&own).on_grid(&own, grid.columns),
                None => HeadPatterns::within(&own),
            },
        };
        Self { place: place.clone(), patterns, found: CheckedText::begun(place) }
    }

    /// Returns whether the check is of this text, regardless of the stretch.
    pub fn is_of(&self, place: &RecordedPlace) -> bool {
        self.place.is_same_text(place)
    }

    pub fn is_done(&self) -> bool {
        self.found.attentions.len() == self.place.recorded().attentions.len()
    }

    pub fn found(&self) -> &CheckedText {
        &self.found
    }

    /// Checks the next attention.
    pub fn advance(&mut self) {
        let Some(attention) = self.place.recorded().attentions.get(self.found.attentions.len()) else { return };
        let checked = self.checked(attention);
        self.found.attentions.push(Arc::new(checked));
        let (done, of) = (self.found.attentions.len(), self.place.recorded().attentions.len());
        self.found.progress = (done < of).then_some(Progress { done, of });
    }

    fn checked(&self, attention: &Attention) -> CheckedAttention {
        let recording = &self.place.model.recording;
        let (line, row, faults) = match recording.check(self.place.recorded(), attention) {
            Ok(findings) => {
                (line(attention, &findings), findings.deviation.map(|deviation| deviation.row), findings.faults)
            }
            Err(refusal) => (refusal.to_string(), None, vec![refusal]),
        };
        let towers = Towers::of(self.place.recorded());
        let patterns = match (towers.is_of_source(attention), attention.side.keys_are_of_source()) {
            (true, _) => &self.patterns.of_source,
            (false, true) if towers.source().is_some() => &self.patterns.across,
            (false, _) => &self.patterns.own,
        };
        let of_head = |head: usize| {
            let Ok(weights) = recording.matrix(attention.weights(), head) else {
                return vec![None; HeadMeasure::ALL.len()];
            };
            let measure = |measure| patterns.measure(measure, &weights).map(|found| found as f32);
            HeadMeasure::ALL.into_iter().map(measure).collect()
        };
        CheckedAttention { line, row, faults, measures: (0..attention.heads).map(of_head).collect() }
    }
}
