//! Files of SentencePiece that were damaged anywhere, as one side of a translator or as T5's only one; and a million
//! pieces.

use std::fmt::{self, Debug, Formatter};
use std::fs;

use attune_engine::pretrained::tokenizer::{Encoding, OlderFiles, SpecialTokens, Tokenizer, TokenizerFiles};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::models::refused;
use super::vectors::{Edit, edits};
use super::{Attack, Outcome, at_least_a_fifth, attack, lines, shares};
use crate::common::models::fixture;
use crate::peak::{alone, taken};

/// Memory for any of these files, of 240 kB each.
const BYTES_MAX: usize = 64 << 20;
/// Bytes before the table of characters: pieces, and the settings of their training.
const HEAD: usize = 2560;

const TEXTS: [&str; 5] = [
    ">>fra<< the bank of the river",
    "",
    "  a\u{7}\u{bd}\u{ff76}\u{ff9e}</s>caf\u{e9}▁ ",
    "中文\u{200d}👍\u{0}",
    "   ",
];

/// What a file is read as.
#[derive(Clone, Copy, Debug)]
enum Read {
    Source,
    Target,
    T5,
}

/// A file with some changes, in its head or anywhere.
struct MutatedFile {
    read: Read,
    is_in_head: bool,
    edits: Vec<Edit>,
}

#[test]
fn mutated_files_of_sentencepiece_are_read_or_refused_in_words() {
    let outcomes = attack::<MutatedFile>(1000, &["read", "refused"]);
    at_least_a_fifth(outcomes["read"], &outcomes);
}

#[test]
fn a_million_pieces_take_no_memory() {
    let _alone = alone();
    // Each is empty: two bytes of the file.
    let file = b"\x0a\0".repeat(1_000_000);
    let (read, taken) = taken(|| Tokenizer::read(TokenizerFiles::T5 { spiece: &file, beside: OlderFiles::default() }));
    let refusal = read.expect_err("they are too many").to_string();
    assert!(refusal.starts_with("spiece.model: found 1000000 pieces"), "{refusal}");
    assert!(taken.bytes < 1 << 20, "it takes {taken}");
}

impl Attack for MutatedFile {
    fn cases() -> impl Strategy<Value = Self> {
        let read = select(&[Read::Source, Read::Target, Read::T5][..]);
        let is_in_head = prop::bool::weighted(0.7);
        let slips = (shares(), 0..8_u8).prop_map(|(share, bit)| Edit::Flip(share, bit));
        let edits = prop_oneof![vec(slips, 1..3), vec(edits(), 1..4)];
        (read, is_in_head, edits).prop_map(|(read, is_in_head, edits)| Self { read, is_in_head, edits })
    }

    fn run(&self) -> Outcome {
        let read = |name: &str| {
            fs::read(fixture("marian-wild").join(name)).map_err(|error| format!("{name} cannot be read: {error}"))
        };
        let (whole, vocab) = (read("source.spm")?, read("vocab.json")?);
        let vocab = String::from_utf8(vocab).map_err(|error| error.to_string())?;
        let (file, behind) = if self.is_in_head { whole.split_at(HEAD) } else { (&whole[..], &[][..]) };
        let mut mutated = file.to_vec();
        self.edits.iter().for_each(|edit| edit.apply(&mut mutated));
        mutated.extend(behind);
        let beside = OlderFiles::default();
        let marian = |sides| TokenizerFiles::Marian { sides, vocab: &vocab, beside };
        let (files, name) = match self.read {
            Read::Source => (marian([&mutated[..], &whole]), "source.spm: "),
            Read::Target => (marian([&whole[..], &mutated]), "target.spm: "),
            Read::T5 => (TokenizerFiles::T5 { spiece: &mutated, beside }, "spiece.model: "),
        };
        match Tokenizer::read(files) {
            Ok(tokenizer) => held(&tokenizer),
            Err(refusal) if !refusal.to_string().starts_with(name) => Err(format!("it does not name {name}{refusal}")),
            Err(refusal) => refused(&refusal.to_string(), 1000),
        }
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }
}

impl Debug for MutatedFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, head {}{}", self.read, self.is_in_head, lines(&self.edits))
    }
}

/// The promises of a tokenizer that is read.
fn held(tokenizer: &Tokenizer) -> Outcome {
    for text in TEXTS {
        for side in [Tokenizer::encode, Tokenizer::encode_target, Tokenizer::encode_begun_target] {
            match side(tokenizer, text) {
                Ok(encoding) => check(tokenizer, &encoding, text)?,
                Err(why) => drop(refused(&why, 1000)?),
            }
        }
    }
    Ok("read")
}

/// Checks the places of pieces, and that each has a row and a text.
fn check(tokenizer: &Tokenizer, encoding: &Encoding, text: &str) -> Result<(), String> {
    let mut before = 0;
    for piece in &encoding.pieces {
        if text.get(piece.bytes.clone()).is_none() || piece.bytes.start < before {
            return Err(format!("{text:?} has a piece at {:?}, behind one at {before}", piece.bytes));
        }
        before = piece.bytes.start;
        if tokenizer.piece(piece.id).is_none() {
            return Err(format!("{text:?} has the piece {}, which there is not", piece.id));
        }
    }
    let ids: Vec<u32> = encoding.pieces.iter().map(|piece| piece.id).collect();
    tokenizer.decode(&ids, SpecialTokens::Kept);
    Ok(())
}
