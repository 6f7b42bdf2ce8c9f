//! A tour of a pretrained model: cells that are written from measurements of it.
//!
//! | file | job |
//! |---|---|
//! | [`texts`] | the texts that a model is measured on: those that its tokenizer knows every piece of |
//! | [`measure`] | what one pass shows: words that turn, heads of known kinds, sinks, senses that part, an answer |
//! | [`write`] | the findings as Markdown, with live numbers and links; a section without a finding is left out |
//!
//! Each text is one piece of work of the kernel, and its pass is gone when it is measured. The cells are the learner's own
//! from then on.

pub mod measure;
pub mod texts;
pub mod write;

use std::sync::Arc;

use attune_engine::numerics::model::Activations;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::data::progress::Progress;
use crate::kernel::data::token::Token;
use crate::kernel::model::LessonModel;
use crate::kernel::scene::sentence::{Sentence, SentenceFrame};
use crate::kernel::tour::measure::{Answered, FoundHead, Parting, Sink, Turned};
use crate::kernel::tour::texts::{Shows, TourText};

/// A cell of the tour.
#[derive(Clone, Debug, PartialEq)]
pub struct TourCell {
    pub markdown: String,
    /// The sentence that its numbers are of.
    pub speaks_of: Option<Arc<str>>,
}

/// A text with what was found in its pass.
#[derive(Clone, Debug)]
pub struct Found<T> {
    pub text: Arc<str>,
    pub tokens: Vec<Token>,
    pub found: T,
}

/// All that was found; a section of the tour is left out where there is nothing.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub turned: Option<Found<Turned>>,
    pub sinks: Option<Found<Vec<Sink>>>,
    pub heads: Option<Found<Vec<FoundHead>>>,
    pub parting: Option<Found<Parting>>,
    pub answered: Option<Found<Answered>>,
}

/// A tour that is being measured.
pub struct Touring {
    texts: Vec<TourText>,
    done: usize,
    findings: Findings,
}

impl Touring {
    pub fn new(model: &LessonModel) -> Self {
        Self { texts: texts::of(&model.origin.lesson), done: 0, findings: Findings::default() }
    }

    /// Texts that have run, and those that are to.
    pub fn progress(&self) -> Progress {
        Progress { done: self.done, of: self.texts.len() }
    }

    /// Measures the model on the next text; the cells of the tour once there is none.
    pub fn advance(&mut self, model: &LessonModel) -> Option<Vec<TourCell>> {
        let Some(text) = self.texts.get(self.done) else { return Some(write::cells(model, &self.findings)) };
        self.done += 1;
        if !self.findings.has(&text.shows) {
            self.findings.take(text, model);
        }
        None
    }
}

impl Findings {
    /// Another text cannot add anything: the first word with senses that part is enough.
    fn has(&self, shows: &Shows) -> bool {
        matches!(shows, Shows::Senses(_)) && self.parting.is_some()
    }

    fn take(&mut self, of: &TourText, model: &LessonModel) {
        let Some((tokens, activations)) = pass(&of.text, model) else { return };
        let architecture = &model.training.trainer().model.architecture;
        match &of.shows {
            Shows::Words => {
                self.turned = found(of, &tokens, measure::turned(&tokens, &activations));
                let sinks = measure::sinks(&activations);
                self.sinks = found(of, &tokens, Some(sinks).filter(|sinks| !sinks.is_empty()));
            }
            Shows::Heads => {
                let heads = measure::heads(&tokens, &activations, architecture);
                self.heads = found(of, &tokens, Some(heads).filter(|heads| !heads.is_empty()));
            }
            Shows::Senses(word) => {
                self.parting = found(of, &tokens, measure::parting(word, &tokens, &activations, architecture));
            }
            Shows::Answer(at) => {
                let answered = at.place(&tokens).and_then(|at| measure::answered(at, &activations, model));
                let before = self.answered.as_ref().map_or(0.0, |before| before.found.probability);
                let better = answered.filter(|answered| answered.probability > before);
                self.answered = found(of, &tokens, better).or_else(|| self.answered.take());
            }
        }
    }
}

fn found<T>(of: &TourText, tokens: &[Token], found: Option<T>) -> Option<Found<T>> {
    Some(Found { text: of.text.clone(), tokens: tokens.to_vec(), found: found? })
}

/// The pass of a text through the model as its files have it.
fn pass(text: &str, model: &LessonModel) -> Option<(Vec<Token>, Activations<f32>)> {
    let sentence = Sentence::read(text, &model.origin.lesson, &model.words).ok()?;
    let frame = SentenceFrame::without_points(sentence, &model.space, None);
    let (network, parameters) = (&model.training.trainer().model, model.training.model().trained());
    let activations = Activations::of(network, parameters, frame.input(), None, &Interventions::default());
    Some((frame.tokens().to_vec(), activations))
}
