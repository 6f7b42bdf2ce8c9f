//! SentencePiece's tokenizers, read from its own files, as Marian and T5 have them.
//!
//! Special tokens are cut out of a text first. Each stretch between them is normalized and cut by itself; the pieces
//! have the ids of a vocabulary that both sides of a translator share.

mod charsmap;
pub mod file;
mod normaliser;
mod unigram;

use std::collections::HashMap;
use std::ops::Range;

use file::ModelProto;
use normaliser::Normaliser;
use tokenizers::{AddedVocabulary, NormalizerWrapper, OffsetReferential, OffsetType};
use unigram::Unigram;

use super::cut::{CutPiece, Side};
use super::refuse::Read;
use super::steps::Bounds;

/// The tables of a model, with the ids of their pieces.
#[derive(Debug)]
pub struct SentencePiece {
    pub source: Table,
    /// Table for targets; `None` if both sides have the same table.
    pub target: Option<Table>,
    pub ids: HashMap<String, u32>,
    /// Id of a piece or character that has no id of its own.
    pub unknown: u32,
    /// Whether a text may begin with the code of a language, such as `>>fra<<` in Marian.
    pub has_languages: bool,
}

/// The normaliser and the pieces of one file.
#[derive(Debug)]
pub struct Table {
    normaliser: Normaliser,
    unigram: Unigram,
}

impl Table {
    pub fn read(model: &ModelProto) -> Read<Self> {
        let normal = model.pieces.iter().filter(|piece| piece.is_normal());
        Ok(Self {
            normaliser: Normaliser::read(&model.normaliser())?,
            unigram: Unigram::new(normal.map(|piece| (piece.piece.as_str().into(), piece.score))),
        })
    }
}

impl SentencePiece {
    /// Returns the id of a piece, or `None` if it has none.
    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    /// Splits a text around the tokens that are never split, and each stretch between them.
    ///
    /// # Errors
    /// A message, if the text becomes too long.
    pub fn cut(&self, text: &str, added: &AddedVocabulary, side: Side) -> Result<Vec<CutPiece>, String> {
        let bounds = Bounds::of(text.len());
        let stretches = added.extract_and_normalize(None::<&NormalizerWrapper>, text);
        let mut cut = Vec::new();
        for (_, (start, end), tokens) in stretches.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            let whole = |id, end| CutPiece { word: start, id, bytes: start..end, is_spelled: true };
            if let Some(tokens) = tokens {
                cut.extend(tokens.iter().map(|token| whole(token.id, end)));
                continue;
            }
            let begin = start + self.language(&text[start..end]);
            if begin > start {
                cut.push(whole(self.id(&text[start..begin]), begin));
            }
            for (id, bytes) in self.cut_stretch(&text[begin..end], side, &bounds)? {
                let bytes = begin + bytes.start..begin + bytes.end;
                cut.push(CutPiece { word: begin, id, bytes, is_spelled: false });
            }
        }
        Ok(cut)
    }

    /// Returns the number of bytes of the code of a language at the beginning of a stretch; 0 if there is none.
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
