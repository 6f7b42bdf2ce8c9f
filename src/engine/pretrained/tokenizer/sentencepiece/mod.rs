//! SentencePiece, as Marian and T5 have it in files of its own.
//!
//! Special tokens are cut out of a text first. Each stretch between them is normalized and cut by itself; the pieces have
//! the ids of a vocabulary that both sides of a translator share.

mod charsmap;
pub mod file;
mod normaliser;
pub mod read;
mod unigram;

use std::collections::HashMap;
use std::ops::Range;

use file::ModelProto;
pub use normaliser::BLANK;
use normaliser::Normaliser;
use tokenizers::{AddedVocabulary, NormalizerWrapper, OffsetReferential, OffsetType};
use unigram::Unigram;

use super::cut::{CutPiece, Side};
use super::refuse::Read;
use super::steps::Bounds;

/// The tables of a model, with the ids of their pieces.
#[derive(Debug)]
pub struct SentencePiece {
    source: Table,
    /// Table of targets; `None` if one table is for both sides.
    target: Option<Table>,
    ids: HashMap<String, u32>,
    /// Id of what has none.
    unknown: u32,
    /// Whether a text may begin with the code of a language, such as `>>fra<<`.
    has_languages: bool,
}

/// The table of one file.
#[derive(Debug)]
struct Table {
    normaliser: Normaliser,
    unigram: Unigram,
}

impl Table {
    fn read(model: &ModelProto) -> Read<Self> {
        let normal = model.pieces.iter().filter(|piece| piece.is_normal());
        Ok(Self {
            normaliser: Normaliser::read(&model.normaliser())?,
            unigram: Unigram::new(normal.map(|piece| (piece.piece.as_str().into(), piece.score))),
        })
    }
}

impl SentencePiece {
    /// Returns the id of a piece.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    /// Returns whether it is Marian's.
    pub fn has_languages(&self) -> bool {
        self.has_languages
    }

    /// Splits a text around the tokens that are never split, and each stretch between them.
    ///
    /// # Errors
    /// A message, if the text becomes too long.
    pub fn cut(&self, text: &str, added: &AddedVocabulary, side: Side) -> Result<Vec<CutPiece>, String> {
        let bounds = Bounds::of(text.len());
        let stretches = added.extract_and_normalize(None::<&NormalizerWrapper>, text);
        let mut cut = Vec::new();
        let mut word = 0;
        for (_, (start, end), tokens) in stretches.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            if let Some(tokens) = tokens {
                cut.extend(tokens.iter().map(|token| CutPiece {
                    word,
                    id: token.id,
                    bytes: start..end,
                    is_spelled: true,
                }));
                word += 1;
                continue;
            }
            let code = start + self.language(&text[start..end]);
            if code > start {
                let id = self.id(&text[start..code]);
                cut.push(CutPiece { word, id, bytes: start..code, is_spelled: true });
                word += 1;
            }
            let pieces = self.cut_stretch(&text[code..end], side, &bounds)?.into_iter();
            cut.extend(pieces.map(|(id, bytes)| CutPiece {
                word,
                id,
                bytes: code + bytes.start..code + bytes.end,
                is_spelled: false,
            }));
            word += 1;
        }
        Ok(cut)
    }

    /// Returns the bytes of the code of a language at the beginning of a stretch.
    fn language(&self, stretch: &str) -> usize {
        const END: &str = "<<";
        let end = stretch.find(END).filter(|_| self.has_languages && stretch.starts_with(">>"));
        end.map_or(0, |end| end + END.len())
    }

    fn cut_stretch(&self, stretch: &str, side: Side, bounds: &Bounds) -> Result<Vec<(u32, Range<usize>)>, String> {
        let table = match side {
            Side::Source => &self.source,
            Side::Target => self.target.as_ref().unwrap_or(&self.source),
        };
        let normal = table.normaliser.run(stretch, bounds)?;
        let pieces = table.unigram.cut(&normal.text);
        Ok(pieces.iter().map(|piece| (self.id(&normal.text[piece.clone()]), normal.origin(piece))).collect())
    }

    fn id(&self, piece: &str) -> u32 {
        self.id_of(piece).unwrap_or(self.unknown)
    }
}
