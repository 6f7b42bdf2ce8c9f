//! Reading of the tokenizers whose pieces are in SentencePiece's own files, with the settings in the files beside them.

use std::collections::HashMap;

use super::json::AddedTokenJson;
use super::older::{Config, Entry, MARIAN, SpecialToken, T5, read_pieces};
use super::read::of_sentence_piece;
use super::refuse::Read;
use super::sentencepiece::file::{self, ModelProto};
use super::sentencepiece::{SentencePiece, Table};
use super::{OlderFiles, Tokenizer};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::FETCH_AGAIN;
use crate::pretrained::texts::{IDS, SOURCE_SPM, SPIECE, TARGET_SPM, TOKENIZER_CONFIG};

/// Reads the tokenizer of Marian: a table for each side, and a vocabulary with the ids, which both sides share.
pub fn marian([source, target]: [&[u8]; 2], vocab: &str, beside: OlderFiles<'_>) -> Read<Tokenizer> {
    let config = Config::read(beside, &[&MARIAN])?;
    if config.json.separate_vocabs == Some(true) {
        let found = "`separate_vocabs` true, which gives each side a vocabulary of its own";
        return Err(Refusal::new(found, "one vocabulary", "write token ids").in_file(TOKENIZER_CONFIG));
    }
    let ids = read_pieces(vocab).map_err(|refusal| refusal.in_file(IDS))?;
    let [(source, _), (target, _)] = [table(source, SOURCE_SPM)?, table(target, TARGET_SPM)?];
    tokenizer(&config, Vec::new(), ids, |ids, unknown| SentencePiece {
        source,
        target: Some(target),
        ids,
        unknown,
        has_languages: true,
    })
    .map_err(|refusal| refusal.in_file(IDS))
}

/// Reads the tokenizer of T5: one table, whose order gives the ids. The extra ids come after it, the last one first.
pub fn t5(spiece: &[u8], beside: OlderFiles<'_>) -> Read<Tokenizer> {
    const EXTRA_IDS: u32 = 100;
    /// Largest number of extra ids.
    const EXTRA_IDS_MAX: u32 = 1 << 12;
    let config = Config::read(beside, &[&T5])?;
    let count = config.json.extra_ids.unwrap_or(EXTRA_IDS);
    if count > EXTRA_IDS_MAX {
        let refusal = Refusal::new(format!("{count} `extra_ids`"), format!("at most {EXTRA_IDS_MAX}"), FETCH_AGAIN);
        return Err(refusal.in_file(TOKENIZER_CONFIG));
    }
    let (source, model) = table(spiece, SPIECE)?;
    let ids: Vec<Entry> = model.pieces.into_iter().map(|piece| piece.piece).zip(0..).collect();
    let end = ids.len() as u32 + count;
    let extra = (0..count).map(|number| AddedTokenJson {
        id: Some(end - 1 - number),
        content: format!("<extra_id_{number}>"),
        special: true,
        ..AddedTokenJson::default()
    });
    tokenizer(&config, extra.collect(), ids, |ids, unknown| SentencePiece {
        source,
        target: None,
        ids,
        unknown,
        has_languages: false,
    })
    .map_err(|refusal| refusal.in_file(SPIECE))
}

/// Reads the table of a file.
fn table(bytes: &[u8], name: &str) -> Read<(Table, ModelProto)> {
    let read = || {
        let model = file::read(bytes)?;
        Ok((Table::read(&model)?, model))
    };
    read().map_err(|refusal: Refusal| refusal.in_file(name))
}

/// Makes the tokenizer of a vocabulary. Tokens that are never split are those that the files name, and `more`.
fn tokenizer(
    config: &Config,
    more: Vec<AddedTokenJson>,
    ids: Vec<Entry>,
    model: impl FnOnce(HashMap<String, u32>, u32) -> SentencePiece,
) -> Read<Tokenizer> {
    let (added, post_processor) = config.around(&ids)?;
    let is_new = |token: &AddedTokenJson| added.iter().all(|other| other.content != token.content);
    let more: Vec<_> = more.into_iter().filter(is_new).collect();
    let added = [added, more].concat();
    let id_of = ids.iter().map(|(piece, id)| (piece.as_str(), *id)).collect();
    let (_, unknown) = config.special(SpecialToken::Unknown, &id_of)?;
    of_sentence_piece(model(ids.iter().cloned().collect(), unknown), &ids, added, post_processor.as_ref())
}
