//! SentencePiece's own file, a protobuf message: `source.spm` and `target.spm` of Marian, `spiece.model` of T5.
//!
//! The messages have only the fields that a text's pieces depend on; others are skipped. The names and numbers are
//! those of `sentencepiece_model.proto`.

use std::collections::HashSet;

use prost::{Enumeration, Message};

use super::super::refuse::{Read, UNIGRAM_BYTES_MAX, UNIGRAM_PIECE_BYTES_MAX};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

/// Largest size of such a file in bytes; the largest of known models have 5 MB.
pub const BYTES_MAX: usize = 32 << 20;
/// Largest number of pieces; the largest of known models have 256,000.
const PIECES_MAX: usize = 1 << 19;

/// Advice if a file is intact but not supported.
const WRITE_IDS: &str = "attune reads only SentencePiece's Unigram models without these options: write token ids";

#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    #[prost(message, repeated, tag = "1")]
    pub pieces: Vec<PieceProto>,
    #[prost(message, optional, tag = "2")]
    trainer_spec: Option<TrainerSpec>,
    #[prost(message, optional, tag = "3")]
    normalizer_spec: Option<NormalizerSpec>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PieceProto {
    #[prost(string, tag = "1")]
    pub piece: String,
    #[prost(float, tag = "2")]
    pub score: f32,
    #[prost(enumeration = "Kind", optional, tag = "3")]
    kind: Option<i32>,
}

/// The kind of a piece. A piece without this field has the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum Kind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}

#[derive(Clone, PartialEq, Message)]
struct TrainerSpec {
    #[prost(enumeration = "ModelType", optional, tag = "3")]
    model_type: Option<i32>,
    #[prost(bool, tag = "24")]
    treat_whitespace_as_suffix: bool,
    #[prost(bool, tag = "35")]
    byte_fallback: bool,
}

/// The algorithm of a file. A file without this field has the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
enum ModelType {
    Unigram = 1,
    Bpe = 2,
    Word = 3,
    Char = 4,
}

#[derive(Clone, PartialEq, Message)]
pub struct NormalizerSpec {
    #[prost(bytes = "vec", tag = "2")]
    pub precompiled_charsmap: Vec<u8>,
    #[prost(bool, optional, tag = "3", default = "true")]
    pub add_dummy_prefix: Option<bool>,
    #[prost(bool, optional, tag = "4", default = "true")]
    pub remove_extra_whitespaces: Option<bool>,
    #[prost(bool, optional, tag = "5", default = "true")]
    pub escape_whitespaces: Option<bool>,
}

/// A form of the file whose pieces have no fields and so take no memory, in which they are counted first.
mod counted {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    pub struct ModelProto {
        #[prost(message, repeated, tag = "1")]
        pub pieces: Vec<PieceProto>,
    }

    #[derive(Clone, Copy, PartialEq, Message)]
    pub struct PieceProto {}
}

/// Reads a file, and refuses what is damaged or not supported.
pub fn read(bytes: &[u8]) -> Read<ModelProto> {
    if bytes.len() > BYTES_MAX {
        let found = format!("{} MiB", bytes.len() >> 20);
        return Err(Refusal::new(found, format!("at most {} MiB", BYTES_MAX >> 20), FETCH_AGAIN));
    }
    let count = decoded::<counted::ModelProto>(bytes)?.pieces.len();
    if count > PIECES_MAX {
        return Err(Refusal::new(format!("{count} pieces"), format!("at most {PIECES_MAX}"), FETCH_AGAIN));
    }
    let model: ModelProto = decoded(bytes)?;
    // This is the last part that is read, so a file without it was cut off between two fields.
    if model.normalizer_spec.is_none() {
        return Err(Refusal::new("no `normalizer_spec`", "this part behind the pieces", FETCH_AGAIN));
    }
    check_trainer(&model.trainer_spec.clone().unwrap_or_default())?;
    check_pieces(&model.pieces)?;
    Ok(model)
}

fn decoded<T: Message + Default>(bytes: &[u8]) -> Read<T> {
    T::decode(bytes).map_err(|error| {
        let found = format!("bytes that are no protobuf message of SentencePiece ({})", quoted(&error.to_string()));
        Refusal::new(found, "a SentencePiece model", FETCH_AGAIN)
    })
}

/// Refuses algorithms other than Unigram, and options that change the pieces of a text.
fn check_trainer(trainer: &TrainerSpec) -> Read<()> {
    let found = match trainer.model_type() {
        ModelType::Bpe => "the model type BPE",
        ModelType::Word => "the model type WORD",
        ModelType::Char => "the model type CHAR",
        ModelType::Unigram if trainer.byte_fallback => "`byte_fallback`, by which unknown characters become bytes",
        ModelType::Unigram if trainer.treat_whitespace_as_suffix => {
            "`treat_whitespace_as_suffix`, by which words end with a blank"
        }
        ModelType::Unigram => return Ok(()),
    };
    Err(Refusal::new(found, "the model type UNIGRAM alone", WRITE_IDS))
}

fn check_pieces(pieces: &[PieceProto]) -> Read<()> {
    let mut texts = HashSet::with_capacity(pieces.len());
    let mut bytes = 0;
    for (number, piece) in pieces.iter().enumerate() {
        piece.check(number)?;
        bytes += piece.piece.len();
        if !texts.insert(piece.piece.as_str()) {
            let found = format!("the piece {} again at `pieces[{number}]`", quoted(&piece.piece));
            return Err(Refusal::new(found, "each piece once", FETCH_AGAIN));
        }
    }
    if bytes > UNIGRAM_BYTES_MAX {
        let expected = format!("at most {UNIGRAM_BYTES_MAX} bytes");
        return Err(Refusal::new(format!("pieces of {bytes} bytes in all"), expected, FETCH_AGAIN));
    }
    if !pieces.iter().any(PieceProto::is_normal) {
        return Err(Refusal::new("no piece of the type NORMAL", "pieces that texts are cut into", FETCH_AGAIN));
    }
    Ok(())
}

impl PieceProto {
    /// Returns whether the piece may be a part of a text, and is not a special one.
    pub fn is_normal(&self) -> bool {
        self.kind() == Kind::Normal
    }

    fn check(&self, number: usize) -> Read<()> {
        let at = |what: &str| format!("{what} at `pieces[{number}]`");
        let Self { piece, score, .. } = self;
        let kind = match self.kind() {
            Kind::UserDefined => Some("USER_DEFINED"),
            Kind::Byte => Some("BYTE, of byte fallback,"),
            Kind::Normal | Kind::Unknown | Kind::Control | Kind::Unused => None,
        };
        if let Some(kind) = kind {
            let found = at(&format!("the piece {} of the type {kind}", quoted(piece)));
            return Err(Refusal::new(found, "pieces of the types NORMAL, UNKNOWN, CONTROL and UNUSED", WRITE_IDS));
        }
        if !score.is_finite() {
            let found = at(&format!("the score {score} of the piece {}", quoted(piece)));
            return Err(Refusal::new(found, "a finite number", FETCH_AGAIN));
        }
        if piece.is_empty() || piece.len() > UNIGRAM_PIECE_BYTES_MAX {
            let found = at(&format!("a piece of {} bytes, {}", piece.len(), quoted(piece)));
            return Err(Refusal::new(found, format!("1 to {UNIGRAM_PIECE_BYTES_MAX} bytes"), FETCH_AGAIN));
        }
        Ok(())
    }
}

impl ModelProto {
    /// Returns the settings of the normaliser; every file that [`read`] accepts has them.
    pub fn normaliser(&self) -> NormalizerSpec {
        self.normalizer_spec.clone().unwrap_or_default()
    }
}
