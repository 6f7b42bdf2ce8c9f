//! The pieces of a tokenizer and their ids.

use std::collections::HashMap;
use std::sync::Arc;

use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

/// Ids lie below this: a table of word vectors with more rows is no model that is opened here.
pub const ID_END: u32 = 1 << 20;

/// Pieces are no longer than this, in bytes; those of known models have up to 256. It bounds the time that a text
/// takes.
pub const PIECE_BYTES_MAX: usize = 1 << 10;

/// Each piece with its id. Ids may have gaps, and some pieces of old files have several.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    ids: HashMap<Arc<str>, u32>,
    pieces: Vec<Option<Arc<str>>>,
}

impl Vocabulary {
    /// Adds a piece. A piece that is there already moves to the new id; an id that is taken keeps its piece.
    ///
    /// # Errors
    /// If the id or the piece is beyond the bounds.
    pub fn insert(&mut self, piece: &str, id: u32) -> Result<(), Refusal> {
        if id >= ID_END {
            let found = format!("the id {id} of {}", quoted(piece));
            return Err(Refusal::new(found, format!("ids below {ID_END}"), FETCH_AGAIN));
        }
        if piece.len() > PIECE_BYTES_MAX {
            let found = format!("a piece of {} bytes, {}", piece.len(), quoted(piece));
            return Err(Refusal::new(found, format!("at most {PIECE_BYTES_MAX} bytes"), FETCH_AGAIN));
        }
        let at = id as usize;
        if self.pieces.len() <= at {
            self.pieces.resize(at + 1, None);
        }
        let piece: Arc<str> = piece.into();
        self.pieces[at].get_or_insert_with(|| piece.clone());
        self.ids.insert(piece, id);
        Ok(())
    }

    /// The number of rows that a table needs for these ids: the highest of them and one.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// All pieces with the ids that they are found by, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.ids.iter().map(|(piece, id)| (&**piece, *id))
    }

    pub fn id_of(&self, piece: &str) -> Option<u32> {
        self.ids.get(piece).copied()
    }

    pub fn piece(&self, id: u32) -> Option<&str> {
        self.pieces.get(id as usize)?.as_deref()
    }
}
