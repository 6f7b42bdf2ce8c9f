//! The map of the sentence on the stage, which fills while the worker computes it: how the answer changes when each
//! vector and each head of the second sentence is put in or, without a second sentence, when each head is switched off.

use std::sync::Arc;

use attune_engine::numerics::evidence::maps::{Change, Receiver, Setting};
use attune_engine::numerics::evidence::{Asked, Question};
use attune_engine::numerics::model::onward::Projected;
use attune_engine::numerics::params::Parameters;

use super::map::{Grid, NO_MAP, NumberMaps, by_layer, number_maps, share};
use super::{AskedAnswer, Evidence, Ran};
use crate::kernel::sentence_pass::sentence::SentenceFrame;
use crate::kernel::values::Progress;

/// Number of forward passes in one piece of work, which takes a few milliseconds on a small model.
const AT_ONCE: usize = 8;

/// The subject of a map: the sentence on the stage, the second sentence, the weights, and the answer with its foil.
#[derive(Clone, Debug)]
pub struct Mapped {
    pub frame: Arc<SentenceFrame>,
    pub second: Option<Arc<SentenceFrame>>,
    pub parameters: Arc<Parameters<f32>>,
    pub asked: AskedAnswer,
}

impl Mapped {
    fn is_same(&self, other: &Self) -> bool {
        let has_second = match (&self.second, &other.second) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        has_second
            && Arc::ptr_eq(&self.frame, &other.frame)
            && Arc::ptr_eq(&self.parameters, &other.parameters)
            && self.asked == other.asked
    }
}

/// A map that is being computed, or is complete.
pub struct LiveMap {
    of: Mapped,
    ran: Ran,
    other: Option<Ran>,
    question: Question,
    /// Logit of the answer minus that of the other class, in the sentence and in the second one; NaN without a second
    /// one.
    ends: [f64; 2],
    changes: Vec<Change>,
    found: Vec<Asked>,
    paths: Option<LivePaths>,
    /// Whether the learner has stopped the map before it was complete. Its cells stay, and it can go on.
    is_stopped: bool,
}

/// The paths into one head that are being computed, or are complete.
struct LivePaths {
    head: usize,
    /// The place of this head: its block, and its number there.
    at: (usize, usize),
    senders: Vec<(usize, usize)>,
    /// Answers that result from the paths into the head's queries, then into its keys, then into its values.
    found: Vec<Asked>,
}

/// The paths into one head as far as they are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadPaths {
    /// The head, counted over all blocks.
    pub head: usize,
    /// Shares of the way from this sentence's answer to that of the second, through the queries, the keys and the
    /// values; each by the layer and head of the sender.
    pub through: [Grid; 3],
}

/// The parts of a head that paths go into.
const PARTS: [Projected; 3] = [Projected::Query, Projected::Key, Projected::Value];

/// A map as far as it is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct SentenceMap {
    pub place: usize,
    pub answer: String,
    pub against: String,
    /// Classes of `answer` and `against`.
    pub classes: [usize; 2],
    /// Logit of `answer` minus that of `against`, in the sentence and in the second one.
    pub sentence: f64,
    pub second: Option<f64>,
    /// Shares of the way to the second sentence's answer: `words` by layer and token, `heads` by layer and head.
    /// Without a second sentence, `words` is `None`, and `heads` has the changes when a head is switched off.
    pub words: Option<Grid>,
    pub heads: Grid,
    pub paths: Option<HeadPaths>,
    pub progress: Progress,
    pub is_stopped: bool,
}

impl SentenceMap {
    /// Returns whether cells are still being computed.
    pub fn is_running(&self) -> bool {
        self.progress.done < self.progress.of && !self.is_stopped
    }
}

impl LiveMap {
    /// Begins the map of the sentence on the stage, with the weights in use.
    ///
    /// # Errors
    /// A message for the learner if the model reads a source, there is no answer to map, or the two sentences have
    /// different lengths or the same answer.
    pub fn of(of: Mapped, evidence: Evidence<'_>) -> Result<Self, String> {
        evidence.check_no_source(NO_MAP)?;
        let ran = evidence.run_frame(&of.frame);
        let other = of.second.as_deref().map(|second| evidence.run_frame(second));
        let place = evidence.place(&ran.tokens, None).map_err(|_| {
            "a map is of an answer, and this sentence has no hidden word at which the model answers".to_owned()
        })?;
        if let Some(other) = other.as_ref().filter(|other| other.tokens.len() != ran.tokens.len()) {
            let (own, other) = (ran.tokens.len(), other.tokens.len());
            return Err(format!("the sentences have {own} and {other} tokens, but a map exchanges tokens by place"));
        }
        let named = evidence.named_pair(&of.asked)?;
        let [answer, against] = evidence.shown_pair(named, place, (&of.frame, &ran), other.as_ref())?;
        let question = Question { place, answer, against };
        let (ends, changes, found) = ([f64::NAN; 2], Vec::new(), Vec::new());
        let mut map = Self { of, ran, other, question, ends, changes, found, paths: None, is_stopped: false };
        let is_shown = |change: &Change| match change {
            Change::Word { .. } | Change::Head { .. } => true,
            Change::Off { .. } => map.other.is_none(),
            Change::Mean { .. } => false,
        };
        map.changes = map.setting(evidence).changes().into_iter().filter(is_shown).collect();
        let setting = map.setting(evidence);
        let ask = |ran: &Ran| setting.ask(&ran.activations.output).difference;
        map.ends = [ask(&map.ran), map.other.as_ref().map_or(f64::NAN, ask)];
        evidence
            .check_apart(question, map.ends[0], map.other.as_ref().map(|_| map.ends[1]))
            .map_err(|why| format!("{why}; choose another answer or another foil"))?;
        Ok(map)
    }

    /// Returns whether the map is about these sentences, weights and answers.
    pub fn is_of(&self, of: &Mapped) -> bool {
        self.of.is_same(of)
    }

    /// Returns whether cells are still to be computed, and the learner has not stopped the map.
    pub fn is_running(&self) -> bool {
        let Progress { done, of } = self.progress();
        done < of && !self.is_stopped
    }

    /// Stops the map, or continues it.
    pub fn set_stopped(&mut self, is_stopped: bool) {
        self.is_stopped = is_stopped;
    }

    fn progress(&self) -> Progress {
        let paths = self.paths.as_ref().map_or((0, 0), |paths| (paths.found.len(), paths.steps()));
        Progress { done: self.found.len() + paths.0, of: self.changes.len() + paths.1 }
    }

    /// Adds the paths into a head, and removes the paths into any other head.
    ///
    /// # Errors
    /// A message for the learner if there is no second sentence, no such head, or no head before it.
    pub fn add_paths(&mut self, head: usize, evidence: Evidence<'_>) -> Result<(), String> {
        if self.other.is_none() {
            return Err("a path brings values of a second sentence, so it needs one".to_owned());
        }
        let at @ (block, own) = evidence.counted_head(head)?;
        let senders = evidence.senders(Receiver::Head { block, head: own, part: Projected::Query });
        if senders.is_empty() {
            return Err("no head is before those of the first layer, so no path goes into them".to_owned());
        }
        self.paths = Some(LivePaths { head, at, senders, found: Vec::new() });
        self.is_stopped = false;
        Ok(())
    }

    /// Computes the next cells of the map, and after them those of the paths.
    pub fn advance(&mut self, evidence: Evidence<'_>) {
        let next = &self.changes[self.found.len()..self.changes.len().min(self.found.len() + AT_ONCE)];
        if !next.is_empty() {
            let found = self.setting(evidence).answers(next, &|_| true);
            self.found.extend(found.into_iter().flatten());
            return;
        }
        let Some((receiver, senders)) = self.paths.as_ref().and_then(LivePaths::next) else { return };
        let found = self.setting(evidence).paths(senders, (receiver, false), &|_| true);
        if let Some(paths) = &mut self.paths {
            paths.found.extend(found.into_iter().flatten());
        }
    }

    /// Returns the map as far as it is computed.
    pub fn snapshot(&self, evidence: Evidence<'_>) -> SentenceMap {
        let [sentence, second] = self.ends;
        let maps = number_maps(&self.changes, &self.found, self.ends, |of| of.difference, 0.0);
        let NumberMaps { words, heads, off, .. } = maps;
        SentenceMap {
            place: self.question.place,
            answer: evidence.named(self.question.answer),
            against: evidence.named(self.question.against),
            classes: [self.question.answer, self.question.against],
            sentence,
            second: self.other.is_some().then_some(second),
            words,
            heads: heads.unwrap_or(off),
            paths: self.paths.as_ref().map(|paths| paths.snapshot(self.ends)),
            progress: self.progress(),
            is_stopped: self.is_stopped,
        }
    }

    fn setting<'s>(&'s self, evidence: Evidence<'s>) -> Setting<'s> {
        Setting {
            model: evidence.model,
            parameters: evidence.parameters,
            sentence: &self.ran.input,
            own: &self.ran.activations,
            second: self.other.as_ref().map(|other| &other.activations),
            question: self.question,
        }
    }
}

impl LivePaths {
    fn steps(&self) -> usize {
        PARTS.len() * self.senders.len()
    }

    /// Returns the next paths into one part of the head; `None` if all are computed.
    fn next(&self) -> Option<(Receiver, &[(usize, usize)])> {
        let part = *PARTS.get(self.found.len() / self.senders.len())?;
        let begin = self.found.len() % self.senders.len();
        let senders = &self.senders[begin..self.senders.len().min(begin + AT_ONCE)];
        let (block, head) = self.at;
        Some((Receiver::Head { block, head, part }, senders))
    }

    fn snapshot(&self, [low, high]: [f64; 2]) -> HeadPaths {
        let share = share(low, Some(high), 0.0);
        let mut parts = self.found.chunks(self.senders.len());
        let through = PARTS.map(|_| {
            let found = parts.next().unwrap_or_default();
            by_layer(&self.senders, found.iter().map(|asked| share(asked.difference)))
        });
        HeadPaths { head: self.head, through }
    }
}
