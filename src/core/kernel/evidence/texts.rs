//! All heads over a file of texts, a sentence on each line. The file is read whole, and the texts run one after the other;
//! of each pass only the measures stay.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use attune_engine::files::text_without_mark;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::evidence::corpus::{Corpus, HeadOverTexts, TextSums};
use attune_engine::numerics::parallel::{available, map};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::{ModelPiece, Origin};

use super::{ENDED, Evidence, Progressed, Ran, quoted};
use crate::kernel::sentence_pass::sentence::{Sentence, TEXT_BYTES_MAX, of_pieces};
use crate::lesson::limits::pieces_max;
use crate::lesson::text::tokenize;

/// Greatest size of a file of texts in bytes.
pub const FILE_BYTES_MAX: u64 = 256 << 20;
/// Greatest memory of the measures in bytes; further texts are left out and counted.
const MEASURES_BYTES_MAX: usize = 1 << 30;
/// Texts that run before the measures are added up.
const AT_ONCE: usize = 64;

/// A head over the texts.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadTexts {
    pub layer: usize,
    pub head: usize,
    pub measures: HeadOverTexts,
}

/// All heads over a file of texts.
#[derive(Clone, Debug)]
pub struct Texts {
    /// Texts that were measured, and their tokens.
    pub texts: usize,
    pub tokens: usize,
    /// Texts that were longer than the model reads.
    pub cut: usize,
    /// Lines of one token.
    pub short: usize,
    /// Lines that could not be read, with the reason for the first.
    pub unread: usize,
    pub why_unread: Option<String>,
    /// Texts that were left out because the measures would have taken too much memory.
    pub left_out: usize,
    pub heads: Vec<HeadTexts>,
    /// Places of the measured texts in the file.
    places: Vec<Range<usize>>,
}

/// The tokens of a text and the weights of its heads.
#[derive(Clone, Debug)]
pub struct ShownText {
    pub tokens: Vec<String>,
    /// The weights (T, T) of each head, layer by layer.
    pub weights: Vec<Matrix<f32>>,
}

/// What became of a line.
enum Line {
    Measured { place: Range<usize>, sums: Box<TextSums>, is_cut: bool },
    Short,
    Unread(String),
}

/// Decodes a file of texts.
///
/// # Errors
/// In words for the learner, with the line, if it is not UTF-8.
pub fn decoded(bytes: &[u8]) -> Result<&str, String> {
    const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
    if UTF_16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err("the file is UTF-16 text; save it as UTF-8".to_owned());
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        format!("line {line} is not UTF-8 text; save the file as UTF-8")
    })?;
    Ok(text_without_mark(text))
}

/// Returns the places of the lines that are not empty.
fn lines(text: &str) -> Vec<Range<usize>> {
    let begin = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| begin(line)..begin(line) + line.len()).collect()
}

impl Evidence<'_> {
    /// Measures all heads over the lines of a text.
    ///
    /// # Errors
    /// In words for the learner, if no line can be measured, or the work was ended.
    pub fn texts(&self, text: &str, progressed: Progressed<'_>) -> Result<Texts, String> {
        let lines = lines(text);
        let (mut corpus, done) = (Corpus::default(), AtomicUsize::new(0));
        let mut found = Texts {
            texts: 0,
            tokens: 0,
            cut: 0,
            short: 0,
            unread: 0,
            why_unread: None,
            left_out: 0,
            heads: Vec::new(),
            places: Vec::new(),
        };
        for part in lines.chunks(AT_ONCE) {
            let measured = map(part, available(), |place| {
                let goes_on = progressed(done.fetch_add(1, Ordering::Relaxed) + 1, lines.len());
                goes_on.then(|| self.line(text, place.clone()))
            });
            for line in measured {
                found.add(line.ok_or(ENDED)?, &mut corpus);
            }
        }
        if corpus.texts() == 0 {
            let why = found.why_unread.map_or(String::new(), |why| format!(": {why}"));
            return Err(format!("the file has no sentence of two or more tokens that the model reads{why}"));
        }
        let name = |word: Option<usize>| self.word(word);
        let of_head = |(number, (layer, head)): (usize, (usize, usize))| HeadTexts {
            layer,
            head,
            measures: corpus.head(number, &name),
        };
        let blocks = self.model.architecture.blocks.iter().enumerate();
        let heads = blocks.flat_map(|(layer, block)| (0..block.attention.heads).map(move |head| (layer, head)));
        found.heads = heads.enumerate().map(of_head).collect();
        (found.texts, found.tokens) = (corpus.texts(), corpus.tokens());
        Ok(found)
    }

    /// Runs a measured text again.
    pub fn shown(&self, text: &str, of: &Texts, number: usize) -> Result<ShownText, String> {
        let (ran, _) = self.run_line(&text[of.places[number].clone()])?;
        let weights = ran.activations.heads().map(|head| head.weights.clone()).collect();
        Ok(ShownText { tokens: ran.texts(), weights })
    }

    fn line(&self, text: &str, place: Range<usize>) -> Line {
        match self.run_line(&text[place.clone()]) {
            Err(why) => {
                let line = 1 + text[..place.start].matches('\n').count();
                Line::Unread(format!("line {line}: {}", quoted(&why)))
            }
            Ok((ran, _)) if ran.tokens.len() < 2 => Line::Short,
            Ok((ran, is_cut)) => {
                let words: Vec<Option<usize>> = ran.tokens.iter().map(|token| token.word).collect();
                let sums = TextSums::of(&words, ran.activations.heads().map(|head| &head.weights));
                Line::Measured { place, sums: Box::new(sums), is_cut }
            }
        }
    }

    /// Runs as much of a line as the model reads; also returns whether it was cut.
    fn run_line(&self, line: &str) -> Result<(Ran, bool), String> {
        let (sentence, is_cut) = match self.folder() {
            Some(folder) => self.pieces_of_line(line, folder)?,
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

    /// Reads a line by a model's tokenizer. Of a line that is too long, the end is cut before the pieces that the tokenizer
    /// adds behind it.
    fn pieces_of_line(&self, line: &str, folder: &ModelFolder) -> Result<(Sentence, bool), String> {
        let most = pieces_max(&self.model.architecture, folder.config.vocabulary);
        let bytes = line.floor_char_boundary(TEXT_BYTES_MAX);
        let line_read = &line[..bytes];
        let mut pieces = folder.pieces(line_read)?;
        let is_cut = pieces.len() > most || bytes < line.len();
        if pieces.len() > most {
            let is_added = |piece: &&ModelPiece| piece.origin == Origin::Added;
            let behind = pieces.iter().rev().take_while(is_added).count().min(most - 1);
            pieces.drain(most - behind..pieces.len() - behind);
        }
        Ok((of_pieces(line_read, line_read, pieces), is_cut))
    }
}

impl Texts {
    fn add(&mut self, line: Line, corpus: &mut Corpus) {
        match line {
            Line::Short => self.short += 1,
            Line::Unread(why) => {
                self.unread += 1;
                self.why_unread.get_or_insert(why);
            }
            Line::Measured { .. } if corpus.bytes() > MEASURES_BYTES_MAX => self.left_out += 1,
            Line::Measured { place, sums, is_cut } => {
                corpus.add(&sums);
                self.places.push(place);
                self.cut += usize::from(is_cut);
            }
        }
    }
}
