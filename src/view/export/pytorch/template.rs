//! Templates of Python code, with lines that only some models need, and gaps for numbers and names.
//!
//! A line that ends in `#? a !b` is written for a model that has the fact `a` and lacks the fact `b`. A gap is
//! `{name}`, or `{norm X gamma beta}` for a norm with these tensors; braces around anything else are Python's own.

use std::collections::{BTreeMap, BTreeSet};

use attune_engine::numerics::norm::{NormForm, NormKind};

/// The mark between a line of a template and its condition.
const CONDITION: &str = "#? ";
/// The beginning of the gap of a norm.
const NORM: &str = "norm ";

/// The facts and texts with which a template is filled, for a model or a part of one.
pub(super) struct Filling {
    facts: BTreeSet<&'static str>,
    gaps: BTreeMap<&'static str, String>,
    norm: NormForm,
}

impl Filling {
    pub fn new(norm: NormForm) -> Self {
        let filling = Self { facts: BTreeSet::new(), gaps: BTreeMap::new(), norm };
        filling.with_gap("norm", norm_equation(norm))
    }

    /// Adds the facts that hold.
    #[must_use]
    pub fn with_facts(mut self, facts: impl IntoIterator<Item = (&'static str, bool)>) -> Self {
        self.facts.extend(facts.into_iter().filter(|(_, holds)| *holds).map(|(fact, _)| fact));
        self
    }

    #[must_use]
    pub fn with_gap(mut self, name: &'static str, text: impl ToString) -> Self {
        self.gaps.insert(name, text.to_string());
        self
    }

    /// Returns the Python code of a template.
    pub fn fill(&self, template: &str) -> String {
        let lines = template.lines().filter_map(|line| self.needed(line));
        lines.map(|line| self.without_gaps(line) + "\n").collect()
    }

    /// Returns a line without its condition; `None` if the condition does not hold.
    fn needed<'t>(&self, line: &'t str) -> Option<&'t str> {
        let Some((text, condition)) = line.rsplit_once(CONDITION) else { return Some(line) };
        let holds = condition.split_whitespace().all(|fact| match fact.strip_prefix('!') {
            Some(lacked) => !self.facts.contains(lacked),
            None => self.facts.contains(fact),
        });
        holds.then(|| text.trim_end())
    }

    /// Fills all gaps of a line in one pass, so that braces in the text of a gap are kept.
    fn without_gaps(&self, line: &str) -> String {
        let (mut filled, mut rest) = (String::new(), line);
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let gap = after.split_once('}').and_then(|(name, after)| Some((self.gap(name)?, after)));
            rest = match gap {
                Some((text, after)) => {
                    filled.push_str(&text);
                    after
                }
                None => {
                    filled.push('{');
                    after
                }
            };
        }
        filled + rest
    }

    fn gap(&self, name: &str) -> Option<String> {
        match name.strip_prefix(NORM).map(|parts| parts.split(' ').collect::<Vec<_>>()).as_deref() {
            Some([x, gain, shift]) => Some(norm_call(self.norm, x, gain, shift)),
            _ => self.gaps.get(name).cloned(),
        }
    }
}

/// Returns the PyTorch call that applies a norm to `x`, with the gain and the shift of a module.
pub(super) fn norm_call(form: NormForm, x: &str, gain: &str, shift: &str) -> String {
    let (shape, epsilon) = (format!("self.{gain}.shape"), format!("{:e}", form.epsilon));
    let gain = if form.gain_from_one { format!("1 + self.{gain}") } else { format!("self.{gain}") };
    match (form.kind, form.shift) {
        (NormKind::Layer, true) => format!("functional.layer_norm({x}, {shape}, {gain}, self.{shift}, {epsilon})"),
        (NormKind::Layer, false) => format!("functional.layer_norm({x}, {shape}, {gain}, None, {epsilon})"),
        (NormKind::Rms, true) => format!("functional.rms_norm({x}, {shape}, {gain}, {epsilon}) + self.{shift}"),
        (NormKind::Rms, false) => format!("functional.rms_norm({x}, {shape}, {gain}, {epsilon})"),
    }
}

/// Returns the equation of a norm, for a comment.
fn norm_equation(form: NormForm) -> String {
    let gain = if form.gain_from_one { "(1 + γ)" } else { "γ" };
    let shift = if form.shift { " + β" } else { "" };
    match form.kind {
        NormKind::Layer => format!("{gain} (x − mean x) / √(variance x + ε){shift}"),
        NormKind::Rms => format!("{gain} x / √(mean x² + ε){shift}"),
    }
}
