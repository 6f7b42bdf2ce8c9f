//! All heads over a file of texts in the window. The worker measures some lines at a time, and the results are kept
//! with the work. When a head is opened, the texts that are shown for it run once more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune_engine::messages::no_head;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::evidence::corpus::{HeadTowers, RankedText};
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::parallel::available;
use attune_engine::numerics::params::Parameters;
use serde::{Deserialize, Serialize};

use super::texts::{Texts, TextsRun, read_texts};
use super::{Evidence, quoted};
use crate::kernel::values::Progress;

/// Number of lines for each thread in one piece of work. Commands are taken between the pieces.
const AT_ONCE: usize = 4;

/// The message about a request for a head if no texts have been measured.
const NOT_MEASURED: &str = "no texts have been measured yet";

/// A request about the measures of heads over a file of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextsCommand {
    /// Measures all heads over a file. The results replace those over another file.
    Measure(PathBuf),
    /// Ends the measuring. What was measured so far stays.
    Stop,
    /// Runs the texts that are shown for a head, counted over all blocks.
    Open(usize),
    /// Removes the results.
    Forget,
}

/// The results of a file, which are kept with the learner's work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptTexts {
    /// The name of the file.
    pub file: String,
    /// Lines that were run, and all lines: fewer were run if the measuring was stopped.
    pub done: usize,
    pub of: usize,
    pub texts: Texts,
    /// Lines that are shown for some head, by the number of the text.
    pub lines: BTreeMap<usize, String>,
}

impl KeptTexts {
    /// Returns whether the results fit a model of this architecture. They come from saved work, which is not trusted.
    pub fn fits(&self, architecture: &Architecture) -> bool {
        let towers = HeadTowers::all(architecture);
        let heads = &self.texts.heads;
        let is_head = |(number, towers): (usize, &HeadTowers)| {
            let (head, (layer, _, own)) = (&heads[number], architecture.head(number));
            let is_there = |text: &RankedText| self.lines.contains_key(&text.text);
            (head.layer, head.head, head.towers) == (layer, own, *towers)
                && head.measures.is_whole()
                && head.measures.texts.iter().all(is_there)
        };
        heads.len() == towers.len() && towers.iter().enumerate().all(is_head)
    }
}

/// A text that is shown for a head, with its tokens and the head's weights.
#[derive(Clone, Debug)]
pub struct OpenedText {
    pub ranked: RankedText,
    /// The line of the file of texts, before it is split into tokens.
    pub line: String,
    pub queries: Vec<String>,
    pub keys: Vec<String>,
    pub weights: Matrix<f32>,
}

/// A head with its shown texts.
#[derive(Clone, Debug)]
pub struct OpenedHead {
    pub head: usize,
    pub texts: Vec<OpenedText>,
}

/// The state of the measures of heads over texts.
#[derive(Clone, Debug, Default)]
pub struct TextsSnapshot {
    /// Name of the file that is being measured, with the progress.
    pub running: Option<(Arc<str>, Progress)>,
    pub kept: Option<Arc<KeptTexts>>,
    /// The head that was asked for, and its texts once they have run.
    pub asked: Option<usize>,
    pub opened: Option<Arc<OpenedHead>>,
    /// The reason why a file was not measured.
    pub fault: Option<Arc<str>>,
}

/// The measures of heads over texts that a kernel runs, keeps and shows.
#[derive(Default)]
pub struct OverTexts {
    run: Option<Run>,
    kept: Option<Arc<KeptTexts>>,
    asked: Option<usize>,
    opened: Option<Arc<OpenedHead>>,
    fault: Option<Arc<str>>,
}

/// A file that is being measured, with the weights from the start of the measuring.
struct Run {
    file: Arc<str>,
    text: String,
    parameters: Arc<Parameters<f32>>,
    run: TextsRun,
}

impl OverTexts {
    pub fn kept(kept: Option<Arc<KeptTexts>>) -> Self {
        Self { kept, ..Self::default() }
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// A message for the learner if the file cannot be read, or there is no such head.
    pub fn apply(&mut self, command: TextsCommand, evidence: Evidence<'_>) -> Result<(), String> {
        match command {
            TextsCommand::Measure(path) => self.start(&path, evidence),
            TextsCommand::Stop => {
                self.finish(evidence);
                Ok(())
            }
            TextsCommand::Open(head) => {
                let heads = self.kept.as_ref().ok_or(NOT_MEASURED)?.texts.heads.len();
                self.asked = Some(head).filter(|head| *head < heads);
                self.asked.map(|_| ()).ok_or_else(|| no_head(head, heads))
            }
            TextsCommand::Forget => {
                *self = Self::default();
                Ok(())
            }
        }
    }

    fn start(&mut self, path: &Path, evidence: Evidence<'_>) -> Result<(), String> {
        let file = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
        let text = read_texts(path).map_err(|why| format!("{file}: {why}"))?;
        let (run, parameters) = (TextsRun::new(&text), evidence.parameters.clone());
        self.run = Some(Run { file: file.into(), text, parameters, run });
        self.fault = None;
        Ok(())
    }

    /// Returns whether there is work to do.
    pub fn is_pending(&self) -> bool {
        self.run.is_some() || self.is_to_open()
    }

    /// Returns whether a file is being measured.
    pub fn is_running(&self) -> bool {
        self.run.is_some()
    }

    fn is_to_open(&self) -> bool {
        self.asked.is_some() && self.asked != self.opened.as_ref().map(|opened| opened.head)
    }

    /// Does the next piece of work. The texts of a head that was asked for come before those of the file, because the
    /// learner waits for them.
    pub fn advance(&mut self, evidence: Evidence<'_>) {
        if self.is_to_open() {
            self.opened = self.open(evidence).map(Arc::new);
            self.asked = self.opened.as_ref().map(|opened| opened.head);
            return;
        }
        let Some(Run { text, parameters, run, .. }) = &mut self.run else { return };
        let evidence_then = Evidence { parameters, ..evidence };
        let goes_on = run.advance(&evidence_then, text, AT_ONCE * available(), &|_| true);
        if goes_on != Ok(true) {
            self.finish(evidence);
        }
    }

    /// Ends the measuring, and keeps the results or the reason why there are none.
    fn finish(&mut self, evidence: Evidence<'_>) {
        let Some(Run { file, text, parameters, run }) = self.run.take() else { return };
        let Progress { done, of } = run.progress();
        match run.finish(&Evidence { parameters: &parameters, ..evidence }) {
            Ok(mut texts) => {
                let lines = texts.take_shown_lines(&text);
                self.kept = Some(Arc::new(KeptTexts { file: file.to_string(), done, of, texts, lines }));
                (self.asked, self.opened) = (None, None);
            }
            Err(why) => self.fault = Some(format!("{file}: {why}").into()),
        }
    }

    /// Runs the texts that are shown for the head that was asked for, with the weights in use. Texts that cannot be
    /// read are left out.
    fn open(&self, evidence: Evidence<'_>) -> Option<OpenedHead> {
        let (kept, head) = (self.kept.as_ref()?, self.asked?);
        let of = kept.texts.heads.get(head)?;
        let text = |ranked: &RankedText| {
            let line = kept.lines.get(&ranked.text)?;
            let mut shown = evidence.shown_line(line).ok()?;
            Some(OpenedText {
                ranked: *ranked,
                line: line.clone(),
                queries: shown.tokens_of(of.towers.queries).to_vec(),
                keys: shown.tokens_of(of.towers.keys).to_vec(),
                weights: (head < shown.weights.len()).then(|| shown.weights.swap_remove(head))?,
            })
        };
        Some(OpenedHead { head, texts: of.measures.texts.iter().filter_map(text).collect() })
    }

    /// Returns the state, without results that do not fit this architecture. Without an architecture, because there is
    /// no model yet, all results are returned.
    pub fn snapshot(&self, architecture: Option<&Architecture>) -> TextsSnapshot {
        let fits = |kept: &Arc<KeptTexts>| architecture.is_none_or(|architecture| kept.fits(architecture));
        let kept = self.kept.clone().filter(fits);
        TextsSnapshot {
            running: self.run.as_ref().map(|run| (run.file.clone(), run.run.progress())),
            asked: self.asked.filter(|_| kept.is_some()),
            opened: self.opened.clone().filter(|_| kept.is_some()),
            kept,
            fault: self.fault.clone(),
        }
    }
}
