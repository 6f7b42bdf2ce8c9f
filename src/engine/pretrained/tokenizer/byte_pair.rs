//! Byte pair encoding: a word begins as single characters, and of all pairs beside each other the one that was learned
//! first becomes one piece, again and again (Sennrich et al. 2016; the `bpe` of GPT-2's `encoder.py`).
//!
//! Pairs wait in a heap and pieces are linked, so that a word of n characters takes n log n steps.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use super::text_char::TextChar;
use super::word_piece::Cut;

/// A pair of pieces that becomes one.
#[derive(Clone, Copy, Debug)]
struct Merge {
    /// How many were learned before it.
    rank: u32,
    into: u32,
}

/// A model of characters and merges.
#[derive(Clone, Debug, Default)]
pub struct BytePair {
    /// Pieces of one character.
    pub characters: HashMap<char, u32>,
    merges: HashMap<(u32, u32), Merge>,
    /// Words that are pieces as they stand, where merges give way to them.
    pub whole: HashMap<String, u32>,
    /// The piece for characters that are none; they are dropped where there is no such piece.
    pub unknown: Option<u32>,
    /// Several unknown characters beside each other are one piece.
    pub fuse_unknown: bool,
}

/// A piece on its way, linked to those beside it.
struct Symbol {
    id: u32,
    bytes: Range<usize>,
    previous: usize,
    next: usize,
    is_merged: bool,
}

/// The link of a first or last symbol.
const NONE: usize = usize::MAX;

impl BytePair {
    /// Adds the next merge. One that is there already moves behind.
    pub fn push_merge(&mut self, pair: (u32, u32), rank: u32, into: u32) {
        self.merges.insert(pair, Merge { rank, into });
    }

    /// Cuts a word into pieces.
    pub fn cut(&self, word: &[TextChar], cuts: &mut Vec<Cut>) {
        if let ([first, .., last] | [first @ last], false) = (word, self.whole.is_empty()) {
            let text: String = word.iter().map(|sign| sign.value).collect();
            if let Some(id) = self.whole.get(&text) {
                cuts.push((*id, first.start..last.end));
                return;
            }
        }
        let mut symbols = self.symbols(word);
        self.merge_all(&mut symbols);
        cuts.extend(symbols.into_iter().filter(|symbol| !symbol.is_merged).map(|symbol| (symbol.id, symbol.bytes)));
    }

    fn symbols(&self, word: &[TextChar]) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(word.len());
        let mut after_unknown = false;
        for sign in word {
            let known = self.characters.get(&sign.value).copied();
            let fuses = known.is_none() && after_unknown && self.fuse_unknown;
            after_unknown = known.is_none();
            let at = symbols.len();
            match (known.or(self.unknown), symbols.last_mut()) {
                (Some(_), Some(last)) if fuses => last.bytes.end = sign.end,
                (Some(id), _) => {
                    let previous = at.checked_sub(1).unwrap_or(NONE);
                    symbols.push(Symbol { id, bytes: sign.start..sign.end, previous, next: at + 1, is_merged: false });
                }
                (None, _) => {}
            }
        }
        if let Some(last) = symbols.last_mut() {
            last.next = NONE;
        }
        symbols
    }

    fn merge_all(&self, symbols: &mut [Symbol]) {
        let merge_at = |symbols: &[Symbol], at: usize| {
            let left = symbols.get(at)?;
            let right = symbols.get(left.next)?;
            self.merges.get(&(left.id, right.id)).map(|merge| Reverse((merge.rank, at, merge.into)))
        };
        let mut waiting: BinaryHeap<_> = (0..symbols.len()).filter_map(|at| merge_at(symbols, at)).collect();
        while let Some(Reverse((rank, at, into))) = waiting.pop() {
            // The pair may have changed since it was put there.
            if symbols[at].is_merged || merge_at(symbols, at) != Some(Reverse((rank, at, into))) {
                continue;
            }
            let right = symbols[at].next;
            let (end, next) = (symbols[right].bytes.end, symbols[right].next);
            symbols[right].is_merged = true;
            let left = &mut symbols[at];
            (left.id, left.bytes.end, left.next) = (into, end, next);
            let previous = left.previous;
            if let Some(next) = symbols.get_mut(next) {
                next.previous = at;
            }
            waiting.extend([previous, at].into_iter().filter_map(|at| merge_at(symbols, at)));
        }
    }
}
