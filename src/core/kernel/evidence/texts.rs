//! Measures of all heads over a file of texts. Each line has a sentence or, for a model that reads a source, a source
//! or a pair `source ||| target`. The file is read whole, and the texts run some at a time; of each pass, only the
//! measures are kept.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use attune_engine::files::{self, text_without_mark};
use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::evidence::Watch;
use attune_engine::numerics::evidence::corpus::{Corpus, HeadOverTexts, HeadTowers, TextSums, TextWords};
use attune_engine::numerics::head_measures::{MeasuredToken, alignment};
use attune_engine::numerics::model::Tower;
use attune_engine::numerics::parallel::{available, map};
use attune_engine::pretrained::folder::{ModelFolder, PAIR};
use attune_engine::pretrained::tokenizer::{ModelPiece, Origin};
use serde::{Deserialize, Serialize};

use super::{Ended, Evidence, Progressed, Ran, quoted};
use crate::kernel::sentence_pass::sentence::{Sentence, TEXT_BYTES_MAX, of_pieces, target_of_pieces};
use crate::kernel::targets::Targets;
use crate::kernel::values::Progress;
use crate::kernel::values::sentence::Token;
use crate::lesson::limits::pieces_max;
use crate::lesson::text::tokenize;

/// Greatest size of a file of texts in bytes.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Greatest memory of the measures in bytes; further texts are left out and counted.
const MEASURES_BYTES_MAX: usize = 1 << 30;
/// Greatest number of bytes that are kept of a shown line, which is more than a model reads.
const KEPT_BYTES: usize = 4096;
/// Number of texts that run before their measures are added up.
const AT_ONCE: usize = 64;

/// A head with its measures over the texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadTexts {
    /// Layer of the head, and its number there. In a model that reads a source, layers are counted over all blocks,
    /// beginning with those of the source.
    pub layer: usize,
    pub head: usize,
    pub towers: HeadTowers,
    /// The head in words: `layer 2, head 1`.
    pub name: String,
    pub measures: HeadOverTexts,
}

/// Measures of all heads over a file of texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Texts {
    /// Number of texts that were measured, and number of their tokens.
    pub texts: usize,
    pub tokens: usize,
    /// Number of texts that were cut, because the model does not read longer ones.
    pub cut: usize,
    /// Number of lines that were left out, because they or their source have fewer than two tokens.
    pub short: usize,
    /// Number of lines that could not be read, with the reason for the first.
    pub unread: usize,
    pub why_unread: Option<String>,
    /// Number of lines that were left out because the measures would have taken too much memory.
    pub left_out: usize,
    pub heads: Vec<HeadTexts>,
    /// Share of the attention that the aligned word would have if all words of the source had the same weight; `None`
    /// without a source.
    pub even: Option<f64>,
    /// Byte ranges of the measured texts in the file; empty once the shown lines have been taken.
    #[serde(skip)]
    places: Vec<Range<usize>>,
}

/// The tokens of a text and the weights of its heads.
#[derive(Clone, Debug)]
pub struct ShownText {
    pub tokens: Vec<String>,
    /// The tokens of the source; empty without one.
    pub source: Vec<String>,
    /// The weights (T, T_k) of each head, layer by layer.
    pub weights: Vec<Matrix<f32>>,
}

impl ShownText {
    pub fn tokens_of(&self, tower: Tower) -> &[String] {
        match tower {
            Tower::Source => &self.source,
            Tower::Sentence => &self.tokens,
        }
    }
}

/// Result of running one line.
enum Line {
    Measured { place: Range<usize>, sums: Box<TextSums>, is_cut: bool },
    Short,
    Unread { place: Range<usize>, why: String },
}

/// Decodes a file of texts.
///
/// # Errors
/// A message for the learner if the file is not UTF-8. The message names the line, unless the file is UTF-16.
fn decoded(bytes: &[u8]) -> Result<&str, String> {
    const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
    if UTF_16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err("the file is UTF-16 text; save it as UTF-8".to_owned());
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = line_after(&bytes[..error.valid_up_to()]);
        format!("line {line} is not UTF-8 text; save the file as UTF-8")
    })?;
    Ok(text_without_mark(text))
}

/// Reads a file of texts.
///
/// # Errors
/// A message for the learner if it cannot be read, is too large, or is not UTF-8.
pub fn read_texts(file: &Path) -> Result<String, String> {
    let bytes = files::read(file, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            format!("the file has {error}; at most {FILE_BYTES_MAX} bytes are read, so take a part of it")
        }
        _ => format!("the texts cannot be read: {error}"),
    })?;
    decoded(&bytes).map(str::to_owned)
}

/// A run that measures all heads over the lines of a text, some lines at a time.
pub struct TextsRun {
    found: Texts,
    corpus: Corpus,
    /// Byte offset in the text after the lines that are done.
    at: usize,
    done: usize,
    all: usize,
}

impl TextsRun {
    pub fn new(text: &str) -> Self {
        Self { found: Texts::default(), corpus: Corpus::default(), at: 0, done: 0, all: lines(text).count() }
    }

    pub fn progress(&self) -> Progress {
        Progress { done: self.done, of: self.all }
    }

    /// Runs the next lines, `at_once` of them in parallel, and adds up their measures in the order of the lines.
    /// Returns false once no lines or no memory are left.
    ///
    /// # Errors
    /// If `watch` ended the work.
    pub fn advance(
        &mut self,
        evidence: &Evidence<'_>,
        text: &str,
        at_once: usize,
        watch: Watch<'_>,
    ) -> Result<bool, Ended> {
        let begin = self.at;
        let next = lines(&text[begin..]).take(at_once).map(|place| place.start + begin..place.end + begin);
        let next: Vec<Range<usize>> = next.collect();
        let Some(last) = next.last() else { return Ok(false) };
        self.at = last.end;
        if self.corpus.bytes() > MEASURES_BYTES_MAX {
            self.found.left_out = self.all - self.done;
            return Ok(false);
        }
        let done = AtomicUsize::new(self.done);
        let measured = map(&next, available(), |place| {
            let goes_on = watch(done.fetch_add(1, Ordering::Relaxed) + 1);
            goes_on.then(|| evidence.line(text, place.clone()))
        });
        for line in measured {
            self.found.add(line.ok_or(Ended)?, text, &mut self.corpus);
        }
        self.done += next.len();
        Ok(true)
    }

    /// Computes the measures of all heads over the lines that were run.
    ///
    /// # Errors
    /// A message for the learner if no line could be measured.
    pub fn finish(self, evidence: &Evidence<'_>) -> Result<Texts, String> {
        let Self { mut found, corpus, .. } = self;
        if corpus.texts() == 0 {
            let why = found.why_unread.map_or(String::new(), |why| format!(": {why}"));
            return Err(format!("the file has no sentence of two or more tokens that the model reads{why}"));
        }
        let word = |word: Option<usize>| evidence.word(word);
        let architecture = &evidence.model.architecture;
        let of_head = |(number, towers): (usize, HeadTowers)| {
            let (layer, _, head) = architecture.head(number);
            let (name, measures) = (architecture.head_name(number), corpus.head(number, &word));
            HeadTexts { layer, head, towers, name, measures }
        };
        found.heads = HeadTowers::all(architecture).into_iter().enumerate().map(of_head).collect();
        (found.texts, found.tokens, found.even) = (corpus.texts(), corpus.tokens(), corpus.even());
        Ok(found)
    }
}

/// Returns the byte ranges of the lines that are not empty. They are not collected, because a large file has too many.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let begin = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(move |line| begin(line)..begin(line) + line.len())
}

/// Returns the number of the line after these bytes, as editors count lines: one ends at `\n`, `\r\n` or a lone `\r`.
fn line_after(bytes: &[u8]) -> usize {
    let is_end = |at: &usize| bytes[*at] == b'\n' || bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    1 + (0..bytes.len()).filter(is_end).count()
}

impl Evidence<'_> {
    /// Measures all heads over the lines of a text.
    ///
    /// # Errors
    /// A message for the learner if no line can be measured, or the work was ended.
    pub fn texts(&self, text: &str, progressed: Progressed<'_>) -> Result<Texts, String> {
        self.run_texts(text, progressed)?
    }

    /// Measures the lines, or returns that the work was stopped; the inner result is that of [`TextsRun::finish`].
    fn run_texts(&self, text: &str, progressed: Progressed<'_>) -> Result<Result<Texts, String>, Ended> {
        let mut run = TextsRun::new(text);
        let all = run.all;
        while run.advance(self, text, AT_ONCE, &|done| progressed(done, all))? {}
        Ok(run.finish(self))
    }

    /// Measures all heads over the lines of a text, within a time.
    ///
    /// # Errors
    /// A message for the learner if no line can be measured, or not all of them in this time.
    pub fn texts_within(&self, text: &str, most: Duration) -> Result<Texts, String> {
        let (begun, reached) = (Instant::now(), AtomicUsize::new(0));
        let goes_on = |done: usize, _: usize| {
            let is_in_time = begun.elapsed() < most;
            if is_in_time {
                reached.fetch_max(done, Ordering::Relaxed);
            }
            is_in_time
        };
        self.run_texts(text, &goes_on).unwrap_or_else(|Ended| {
            let (reached, all) = (reached.into_inner(), counted(lines(text).count(), "line"));
            let seconds = most.as_secs();
            Err(format!(
                "after {seconds} s only {reached} of {all} are measured; take a part of the file, or raise the limit with \
                 --within SECONDS"
            ))
        })
    }

    /// Runs the measured text with this number again.
    ///
    /// # Errors
    /// A message for the learner if the text cannot be read.
    ///
    /// # Panics
    /// If `of` has no place of such a text.
    pub fn shown(&self, text: &str, of: &Texts, number: usize) -> Result<ShownText, String> {
        self.shown_line(&text[of.places[number].clone()])
    }

    /// Runs a line, and returns its tokens with the weights of all heads.
    ///
    /// # Errors
    /// A message for the learner if the line cannot be read.
    pub fn shown_line(&self, line: &str) -> Result<ShownText, String> {
        let (ran, _) = self.run_line(line)?;
        let weights = ran.activations.heads().map(|head| head.weights.clone()).collect();
        let source = ran.source.iter().flatten().map(|token| token.text.clone()).collect();
        Ok(ShownText { tokens: ran.texts(), source, weights })
    }

    fn line(&self, text: &str, place: Range<usize>) -> Line {
        match self.run_line(&text[place.clone()]) {
            Err(why) => Line::Unread { place, why },
            Ok((ran, _)) if ran.tokens.len() < 2 || ran.source.as_ref().is_some_and(|source| source.len() < 2) => {
                Line::Short
            }
            Ok((ran, is_cut)) => Line::Measured { place, sums: Box::new(self.sums(&ran)), is_cut },
        }
    }

    /// Measures the heads of a pass.
    fn sums(&self, ran: &Ran) -> TextSums {
        let words = |tokens: &[Token]| tokens.iter().map(|token| token.word).collect::<Vec<_>>();
        let (sentence, source) = (words(&ran.tokens), words(ran.source.as_deref().unwrap_or_default()));
        let towers = HeadTowers::all(&self.model.architecture);
        let heads = || towers.iter().copied().zip(ran.activations.heads().map(|head| &head.weights));
        let aligned: Vec<usize> = match self.targets.and_then(Targets::rule) {
            Some(rule) => (0..sentence.len()).map(|token| rule.order.source_of(token, source.len())).collect(),
            None => {
                let keys: Vec<MeasuredToken> = ran.source.iter().flatten().map(Token::measured).collect();
                alignment(heads().filter(|(towers, _)| !towers.is_within()).map(|(_, weights)| weights), &keys)
            }
        };
        TextSums::of(TextWords { sentence: &sentence, source: &source, aligned: &aligned }, heads())
    }

    /// Runs as much of a line as the model reads, and also returns whether the line was cut.
    fn run_line(&self, line: &str) -> Result<(Ran, bool), String> {
        let (sentence, is_cut) = match self.folder() {
            Some(folder) => self.read_line(line, folder)?,
            None => {
                let most = self.model.architecture.max_tokens;
                let words = tokenize(line);
                let read =
                    Sentence::read(&words[..words.len().min(most)].join(" "), self.lesson, &self.space.vocabulary)?;
                (read, words.len() > most)
            }
        };
        Ok((self.run_sentence(sentence), is_cut))
    }

    /// Reads a line with the model's tokenizer: a sentence, or a source with its target after [`PAIR`]. Parts that are
    /// too long are cut. Also returns whether one was cut.
    fn read_line(&self, line: &str, folder: &ModelFolder) -> Result<(Sentence, bool), String> {
        let most = pieces_max(&self.model.architecture, folder.config.vocabulary);
        let (source, target) = folder.source_and_target(line)?;
        if source.is_empty() {
            return Err(format!("there is no source before {PAIR}"));
        }
        let (source, is_cut) = first_bytes(source);
        let mut pieces = folder.pieces(source)?;
        let is_cut = cut_pieces(&mut pieces, most) || is_cut;
        let read = of_pieces(source, source, pieces);
        let Some((target, is_target_cut)) = target.filter(|target| !target.is_empty()).map(first_bytes) else {
            return Ok((read, is_cut));
        };
        let mut pieces = folder.target_pieces(target).map_err(|why| format!("the target: {why}"))?;
        // The start token before the pieces takes one place.
        let is_target_cut = cut_pieces(&mut pieces, most - 1) || is_target_cut;
        let target = target_of_pieces(target, target, pieces, folder);
        Ok((Sentence { target: Some(target.into()), ..read }, is_cut || is_target_cut))
    }
}

/// Returns the beginning of a text, up to `TEXT_BYTES_MAX`, and whether the text is longer.
fn first_bytes(text: &str) -> (&str, bool) {
    let bytes = text.floor_char_boundary(TEXT_BYTES_MAX);
    (&text[..bytes], bytes < text.len())
}

/// Removes the last pieces of a text that has too many, but keeps those that the tokenizer adds at its end. Returns
/// whether any were removed.
fn cut_pieces(pieces: &mut Vec<ModelPiece>, most: usize) -> bool {
    if pieces.len() <= most {
        return false;
    }
    let is_added = |piece: &&ModelPiece| piece.origin == Origin::Added;
    let behind = pieces.iter().rev().take_while(is_added).count().min(most.saturating_sub(1));
    pieces.drain(most - behind..pieces.len() - behind);
    true
}

impl Texts {
    /// Returns a summary of the texts that were read and of those that were left out.
    pub fn about(&self) -> String {
        let mut text = format!("{} of {}", counted(self.texts, "text"), counted(self.tokens, "token"));
        let left = [
            (self.cut, "cut, because the model reads no longer ones"),
            (self.short, "left out, of one token"),
            (self.unread, "left out, which the model cannot read"),
            (self.left_out, "left out, for which there was no more memory"),
        ];
        for (count, what) in left.into_iter().filter(|(count, _)| *count > 0) {
            text.push_str(&format!("; {count} {what}"));
        }
        if let Some(why) = &self.why_unread {
            text.push_str(&format!(" ({why})"));
        }
        text
    }

    /// Returns the lines that are shown for some head, by their numbers, each cut to `KEPT_BYTES`. The places of all
    /// lines are released.
    pub(super) fn take_shown_lines(&mut self, text: &str) -> BTreeMap<usize, String> {
        let places = std::mem::take(&mut self.places);
        let shown = self.heads.iter().flat_map(|head| &head.measures.texts).map(|ranked| ranked.text);
        let line = |number: usize| {
            let line = &text[places[number].clone()];
            (number, line[..line.floor_char_boundary(KEPT_BYTES)].to_owned())
        };
        shown.map(line).collect()
    }

    fn add(&mut self, line: Line, text: &str, corpus: &mut Corpus) {
        match line {
            Line::Short => self.short += 1,
            Line::Unread { place, why } => {
                self.unread += 1;
                self.why_unread.get_or_insert_with(|| {
                    let line = line_after(&text.as_bytes()[..place.start]);
                    format!("line {line}: {}", quoted(&why))
                });
            }
            Line::Measured { place, sums, is_cut } => {
                corpus.add(&sums);
                self.places.push(place);
                self.cut += usize::from(is_cut);
            }
        }
    }
}
