//! SentencePiece's Unigram (Kudo 2018, arXiv 1804.10959): of all ways to cut a text, the one whose pieces have the
//! largest sum of scores.
//!
//! The crate's `Unigram` is not used. Its tree has a table for each byte, some 30 MB for the 32,000 pieces of one side
//! of a translator. And it adds in double precision, where SentencePiece rounds each sum to single precision, which
//! decides between ways that are almost equal.

use std::ops::Range;

/// Difference between the lowest score of a piece and the score of an unknown character.
const UNKNOWN_BELOW: f32 = 10.0;

/// The pieces into which texts are cut, with their scores.
#[derive(Debug)]
pub struct Unigram {
    /// Pieces with their scores, in the order of their bytes.
    pieces: Vec<(Box<str>, f32)>,
    /// Score of a character that is no piece.
    unknown: f32,
}

/// The best way to cut the beginning of a text up to some byte.
#[derive(Clone, Copy, Default)]
struct Best {
    score: f32,
    /// Start of its last piece; `None` if no way is known so far.
    start: Option<usize>,
    is_unknown: bool,
}

impl Best {
    /// Replaces the way by another if that has a higher score.
    fn offer(&mut self, score: f32, start: usize, is_unknown: bool) {
        if self.start.is_none() || score > self.score {
            *self = Self { score, start: Some(start), is_unknown };
        }
    }
}

impl Unigram {
    pub fn new(pieces: impl Iterator<Item = (Box<str>, f32)>) -> Self {
        let mut pieces: Vec<_> = pieces.collect();
        pieces.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let lowest = pieces.iter().map(|(_, score)| *score).fold(f32::INFINITY, f32::min);
        Self { pieces, unknown: lowest - UNKNOWN_BELOW }
    }

    /// Cuts a text into pieces. Neighbouring unknown characters become one piece.
    pub fn cut(&self, text: &str) -> Vec<Range<usize>> {
        let best = self.best_ways(text);
        let mut cut: Vec<(Range<usize>, bool)> = Vec::new();
        let mut end = text.len();
        while let Best { start: Some(start), is_unknown, .. } = best[end] {
            match cut.last_mut() {
                Some((next, true)) if is_unknown => next.start = start,
                _ => cut.push((start..end, is_unknown)),
            }
            end = start;
        }
        cut.into_iter().map(|(piece, _)| piece).rev().collect()
    }

    /// Returns the best way to cut a text up to each byte.
    fn best_ways(&self, text: &str) -> Vec<Best> {
        let mut best = vec![Best::default(); text.len() + 1];
        for (start, letter) in text.char_indices() {
            let before = best[start].score;
            let next = start + letter.len_utf8();
            let mut is_piece = false;
            for (length, score) in self.prefixes(&text.as_bytes()[start..]) {
                best[start + length].offer(score + before, start, false);
                is_piece |= start + length == next;
            }
            if !is_piece {
                best[next].offer(self.unknown + before, start, true);
            }
        }
        best
    }

    /// Returns the lengths and scores of all pieces with which a text begins, the shortest first.
    fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = (usize, f32)> {
        let mut alike = &self.pieces[..];
        let narrowed = text.iter().enumerate().map_while(move |(at, byte)| {
            // All remaining pieces begin with the bytes before, and are longer.
            let next = |piece: &(Box<str>, f32)| piece.0.as_bytes()[at];
            let start = alike.partition_point(|piece| next(piece) < *byte);
            let count = alike[start..].partition_point(|piece| next(piece) == *byte);
            alike = &alike[start..start + count];
            let (piece, score) = alike.first()?;
            if piece.len() > at + 1 {
                return Some(None);
            }
            alike = &alike[1..];
            Some(Some((at + 1, *score)))
        });
        narrowed.flatten()
    }
}
