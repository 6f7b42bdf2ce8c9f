//! Texts into the pieces that a pretrained model reads: BERT's WordPiece and GPT-2's byte pairs, with the bytes and the
//! word of each piece.
//!
//! A text goes through five steps, each a file here: pieces that are never cut are taken out (`added`), BERT's
//! normaliser makes the rest alike (`normalise`), it is split into words (`split`), words are cut into pieces
//! (`word_piece`, `byte_pair`), and the tokenizer's own pieces are put around them (`template`). Between the
//! steps every character knows the bytes that it came from (`text_char`).
//!
//! Ids are those of Hugging Face's `tokenizers` 0.23.3, whose files these are; `tests/pretrained` compares. What it
//! does besides is not done: texts are neither truncated nor padded, whatever the file says of it.

mod added;
mod byte_level;
mod byte_pair;
pub mod encoding;
mod json;
mod normalise;
mod older;
mod read;
mod split;
mod template;
mod text_char;
mod trie;
mod vocabulary;
mod word_piece;
pub mod write;

pub use encoding::{Encoding, Origin, Piece, Word};

use std::ops::Range;

use added::{AddedTokens, Stretch};
use byte_pair::BytePair;
use normalise::BertNormaliser;
use split::Splitter;
use template::{Template, TemplatePart};
use text_char::{TextChar, text_chars};
use vocabulary::Vocabulary;
use word_piece::{Cut, WordPiece};

use super::Refusal;

/// The texts of the files that make a tokenizer.
#[derive(Clone, Copy, Debug)]
pub enum TokenizerFiles<'a> {
    /// `tokenizer.json`, which has everything.
    Json(&'a str),
    /// `vocab.txt` of BERT's family, with `tokenizer_config.json` if there is one.
    WordPiece { vocab: &'a str, config: Option<&'a str> },
    /// `vocab.json` and `merges.txt` of GPT-2's, with `tokenizer_config.json` if there is one.
    BytePair { vocab: &'a str, merges: &'a str, config: Option<&'a str> },
}

/// A tokenizer of a pretrained model.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
    /// Tokens found in the text as it is.
    added: AddedTokens,
    normalisers: Vec<BertNormaliser>,
    /// Tokens found in the normalised text.
    added_normalised: AddedTokens,
    splitters: Vec<Splitter>,
    model: Model,
    template: Template,
    spelling: Spelling,
}

/// How words are cut.
#[derive(Clone, Debug)]
enum Model {
    WordPiece(WordPiece),
    BytePair(BytePair),
}

/// How pieces are written in the vocabulary.
#[derive(Clone, Debug)]
enum Spelling {
    /// Pieces that continue a word begin with this.
    Prefixed(String),
    /// Each character is a byte.
    Bytes,
    Plain,
}

impl Tokenizer {
    /// Reads a tokenizer from the texts of its files.
    ///
    /// # Errors
    /// If a file is no such file, or asks for what is not supported; its name is said.
    pub fn read(files: TokenizerFiles<'_>) -> Result<Self, Refusal> {
        match files {
            TokenizerFiles::Json(text) => read::tokenizer(text),
            TokenizerFiles::WordPiece { vocab, config } => older::word_piece(vocab, config),
            TokenizerFiles::BytePair { vocab, merges, config } => older::byte_pair(vocab, merges, config),
        }
    }

    /// The pieces of a text, with those that the tokenizer adds.
    pub fn encode(&self, text: &str) -> Encoding {
        self.assembled(&self.template.single, [text, ""])
    }

    /// The pieces of two texts, one behind the other; none where the model has no pairs ([`Self::has_pairs`]).
    pub fn encode_pair(&self, first: &str, second: &str) -> Option<Encoding> {
        self.template.pair.as_deref().map(|parts| self.assembled(parts, [first, second]))
    }

    /// Says if two texts may be given at once.
    pub fn has_pairs(&self) -> bool {
        self.template.pair.is_some()
    }

    /// Token types that it gives: to a text, and to a pair of texts where the model reads pairs.
    pub fn segments(&self, reads_pairs: bool) -> usize {
        let pair = self.template.pair.iter().filter(|_| reads_pairs).flatten();
        let segment = |part: &TemplatePart| match part {
            TemplatePart::Added { segment, .. } | TemplatePart::Text { segment, .. } => *segment,
        };
        self.template.single.iter().chain(pair).map(segment).max().unwrap_or(0).saturating_add(1)
    }

    /// The number of rows that a table needs for all ids: the highest of them and one.
    #[expect(clippy::len_without_is_empty, reason = "no tokenizer is empty")]
    pub fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// The id of a piece as the file writes it: `##ing`, `Ġbank`, `[MASK]`.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.vocabulary.id_of(piece)
    }

    /// A piece as the file writes it; none for an id that has no piece.
    pub fn piece(&self, id: u32) -> Option<&str> {
        self.vocabulary.piece(id)
    }

    /// A piece as a person reads it: `ing`, ` bank`. Control characters are escaped, and bytes that are no text are
    /// written as `\xE2`; an id that has no piece is empty.
    pub fn shown(&self, id: u32) -> String {
        let bytes = self.spelled_out(id);
        let mut shown = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            for sign in chunk.valid().chars() {
                match sign.is_control() {
                    true => shown.extend(sign.escape_default()),
                    false => shown.push(sign),
                }
            }
            shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
        }
        shown
    }

    /// The same behind other pieces: a word of BERT's has a blank before it.
    pub fn shown_behind_others(&self, id: u32) -> String {
        let begins = matches!(&self.spelling, Spelling::Prefixed(prefix) if !self.continues(id, prefix));
        format!("{}{}", if begins { " " } else { "" }, self.shown(id))
    }

    /// The text of these pieces: words of BERT's with a blank between them, GPT-2's bytes as they are. Bytes that are
    /// no text become `U+FFFD`.
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for id in ids {
            if let Spelling::Prefixed(prefix) = &self.spelling
                && !bytes.is_empty()
                && !self.continues(*id, prefix)
            {
                bytes.push(b' ');
            }
            bytes.extend(self.spelled_out(*id));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn continues(&self, id: u32, prefix: &str) -> bool {
        !prefix.is_empty() && self.piece(id).is_some_and(|piece| piece.starts_with(prefix))
    }

    /// The bytes of a piece's text.
    fn spelled_out(&self, id: u32) -> Vec<u8> {
        let piece = self.piece(id).unwrap_or_default();
        match &self.spelling {
            Spelling::Bytes => byte_level::bytes(piece),
            Spelling::Prefixed(prefix) => piece.strip_prefix(prefix.as_str()).unwrap_or(piece).into(),
            Spelling::Plain => piece.into(),
        }
    }

    fn assembled(&self, parts: &[TemplatePart], texts: [&str; 2]) -> Encoding {
        let mut encoding = Encoding::default();
        let (mut text, mut at) = (0, 0);
        for part in parts {
            match part {
                TemplatePart::Added { ids, segment } => encoding.pieces.extend(ids.iter().map(|id| Piece {
                    id: *id,
                    text,
                    bytes: at..at,
                    word: None,
                    segment: *segment,
                    origin: Origin::Added,
                })),
                TemplatePart::Text { text: next, segment } => {
                    (text, at) = (*next, texts[*next].len());
                    self.cut_text(text, texts[text], *segment, &mut encoding);
                }
            }
        }
        encoding
    }

    fn cut_text(&self, number: usize, text: &str, segment: usize, encoding: &mut Encoding) {
        let mut push_word = |cuts: &mut Vec<Cut>, origin| {
            let Some(bytes) = whole(cuts) else { return };
            let word = Some(encoding.words.len());
            encoding.words.push(Word::within(number, text, bytes));
            let piece = |(id, bytes): Cut| Piece { id, text: number, bytes, word, segment, origin };
            encoding.pieces.extend(cuts.drain(..).map(piece));
        };
        let mut cuts = Vec::new();
        for stretch in self.stretches(text) {
            match stretch {
                Stretch::Added { id, start, end } => {
                    cuts.push((id, start..end));
                    push_word(&mut cuts, Origin::Spelled);
                }
                Stretch::Text(signs) => {
                    for word in self.words(signs) {
                        match &self.model {
                            Model::WordPiece(model) => model.cut(&word, &mut cuts),
                            Model::BytePair(model) => model.cut(&word, &mut cuts),
                        }
                        push_word(&mut cuts, Origin::Text);
                    }
                }
            }
        }
    }

    /// The normalised text, with the tokens that are never cut taken out.
    fn stretches(&self, text: &str) -> Vec<Stretch> {
        let raw = self.added.split(text_chars(text));
        let normalised = raw.into_iter().flat_map(|stretch| match stretch {
            Stretch::Text(signs) => self.added_normalised.split(self.normalised(signs)),
            added @ Stretch::Added { .. } => vec![added],
        });
        normalised.collect()
    }

    fn normalised(&self, signs: Vec<TextChar>) -> Vec<TextChar> {
        self.normalisers.iter().fold(signs, |signs, normaliser| normaliser.apply(signs))
    }

    fn words(&self, signs: Vec<TextChar>) -> Vec<Vec<TextChar>> {
        self.splitters
            .iter()
            .fold(vec![signs], |words, splitter| words.into_iter().flat_map(|word| splitter.split(word)).collect())
    }
}

/// All bytes from the first piece to the last; none where there is no piece.
fn whole(cuts: &[Cut]) -> Option<Range<usize>> {
    Some(cuts.first()?.1.start..cuts.last()?.1.end)
}
