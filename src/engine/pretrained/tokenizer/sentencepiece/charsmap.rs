//! SentencePiece's table of characters, `precompiled_charsmap`: sequences of bytes, and the texts that stand for them.
//!
//! The crate `spm_precompiled` reads such a table too, but takes the first entry at a place, where SentencePiece takes
//! the longest, and panics if a table is damaged.

use super::super::refuse::Read;
use super::super::steps::CHARSMAP_BYTES_MAX;
use crate::pretrained::Refusal;
use crate::pretrained::refusal::FETCH_AGAIN;

/// A table that replaces sequences of characters; one without entries changes nothing.
#[derive(Debug, Default)]
pub struct Charsmap {
    /// Units of the tree of all sequences, a double array in the layout of Darts-clone.
    tree: Vec<Unit>,
    /// Texts that replace the sequences, each followed by a zero.
    texts: String,
}

/// A unit of the tree: a node, or the offset of a text.
#[derive(Clone, Copy, Debug)]
struct Unit(u32);

impl Unit {
    /// Bit that is set only in the offset of a text.
    const OF_TEXT: u32 = 1 << 31;

    /// Returns the offset of a text in the texts; `None` if the unit is a node.
    fn text(self) -> Option<usize> {
        (self.0 & Self::OF_TEXT != 0).then_some((self.0 & !Self::OF_TEXT) as usize)
    }

    /// Returns whether this is the node that is reached by a byte.
    fn is_of(self, byte: u8) -> bool {
        self.0 & (Self::OF_TEXT | 0xFF) == u32::from(byte)
    }

    /// Returns the number that, combined by exclusive or with the node's index, leads to its children.
    fn offset(self) -> usize {
        ((self.0 >> 10) << ((self.0 & 0x200) >> 6)) as usize
    }

    /// Returns whether a sequence ends at this node; the offset of its text is then the first child.
    fn ends(self) -> bool {
        self.0 & 0x100 != 0
    }
}

impl Charsmap {
    /// Reads a table: the size of the tree in bytes, the tree, and the texts.
    pub fn read(bytes: &[u8]) -> Read<Self> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        if bytes.len() > CHARSMAP_BYTES_MAX {
            return Err(damaged(format!("{} bytes", bytes.len()), format!("at most {CHARSMAP_BYTES_MAX}")));
        }
        let tree = bytes.split_first_chunk().and_then(|(size, rest)| {
            let size = u32::from_le_bytes(*size) as usize;
            rest.split_at_checked(size / size_of::<u32>() * size_of::<u32>())
        });
        let Some((tree, texts)) = tree else {
            return Err(damaged("a tree that is larger than the table".to_owned(), "one within it".to_owned()));
        };
        let (units, _) = tree.as_chunks();
        let tree: Vec<Unit> = units.iter().map(|unit| Unit(u32::from_le_bytes(*unit))).collect();
        let Ok(texts) = String::from_utf8(texts.to_vec()) else {
            return Err(damaged("texts that are not UTF-8".to_owned(), "texts".to_owned()));
        };
        let is_text = |place: usize| texts.ends_with('\0') && place < texts.len() && texts.is_char_boundary(place);
        if let Some(place) = tree.iter().filter_map(|unit| unit.text()).find(|place| !is_text(*place)) {
            let expected = format!("the place of one that a zero ends, within {} bytes", texts.len());
            return Err(damaged(format!("{place} as the place of a text"), expected));
        }
        Ok(Self { tree, texts })
    }

    /// Returns the length in bytes of the longest sequence with which a text begins, and the text that replaces it;
    /// `None` if it begins with no sequence.
    pub fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let mut at = self.tree.first()?.offset();
        let mut found = None;
        for (byte, end) in text.bytes().zip(1..) {
            at ^= usize::from(byte);
            let Some(unit) = self.tree.get(at).filter(|unit| unit.is_of(byte)) else { break };
            at ^= unit.offset();
            if unit.ends() && text.is_char_boundary(end) {
                found = self.tree.get(at).and_then(|unit| unit.text()).map(|place| (end, place));
            }
        }
        let (end, place) = found?;
        Some((end, self.texts[place..].split('\0').next().unwrap_or_default()))
    }
}

fn damaged(found: String, expected: String) -> Refusal {
    Refusal::new(format!("{found} in `precompiled_charsmap`"), expected, FETCH_AGAIN)
}
