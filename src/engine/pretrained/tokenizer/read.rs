//! Reading of `tokenizer.json`, part by part: what the crate `tokenizers` supports is read, and the rest refused with
//! its name and place.

use std::collections::{BTreeMap, HashSet};

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::models::unigram::Unigram;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::{AddedToken, AddedVocabulary, ModelWrapper};

use super::json::{
    AddedTokenJson, ID_END, JsonEntries, List, ModelJson, Pair, PiecesJson, PostProcessorJson, TokenizerJson, bad_json,
};
use super::pipeline::Pipeline;
use super::refuse::{Read, SAVE_AGAIN, UNIGRAM_BYTES_MAX, UNIGRAM_PIECE_BYTES_MAX, damaged, missing, refuse};
use super::sentencepiece::SentencePiece;
use super::spelling::Spelling;
use super::steps::{Bounds, Normaliser, Splitters};
use super::template::Template;
use super::{PieceModel, Tokenizer};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};
use crate::pretrained::texts::TOKENIZER;

/// Largest size of a tokenizer file in bytes; those of known models have up to 35 MB.
const FILE_BYTES_MAX: usize = 64 << 20;

/// Length of the longest piece in bytes; known models have up to 256. This bounds the time that a text takes.
const PIECE_BYTES_MAX: usize = 1 << 10;
/// Largest total size in bytes of the pieces that are never split. Each byte is a state of the automaton that searches
/// for them.
const ADDED_BYTES_MAX: usize = 1 << 20;

/// Default length of a word in characters above which BERT treats it as unknown.
const WORD_CHARS: usize = 100;

/// Prefix of BERT's pieces that continue words.
const PREFIX: &str = "##";

/// Description of a vocabulary in messages.
pub const IDS_EXPECTED: &str = "an object of pieces and their ids";
const SCORES_EXPECTED: &str = "a list of pieces and their scores";

/// Refuses a file that is too large to be a tokenizer's.
pub fn check_size(text: &str) -> Read<()> {
    match text.len() {
        size if size <= FILE_BYTES_MAX => Ok(()),
        size => {
            let expected = format!("at most {} MiB for a tokenizer's file", FILE_BYTES_MAX >> 20);
            Err(Refusal::new(format!("{} MiB", size >> 20), expected, FETCH_AGAIN))
        }
    }
}

/// Reads `tokenizer.json`.
pub fn tokenizer(text: &str) -> Read<Tokenizer> {
    let read = || {
        check_size(text)?;
        of_json(serde_json::from_str(text).map_err(|error| bad_json(&error))?)
    };
    read().map_err(|refusal: Refusal| refusal.in_file(TOKENIZER))
}

/// Makes the tokenizer that a file describes.
pub fn of_json(json: TokenizerJson) -> Read<Tokenizer> {
    let normaliser = Normaliser::read(json.normalizer)?;
    let splitters = Splitters::read(json.pre_tokenizer)?;
    let (pieces, model) = read_model(json.model)?;
    let spelling = Spelling::of(&model, &normaliser, &splitters);
    let model = PieceModel::Pipeline(Pipeline { normaliser, splitters, model });
    let added = json.added_tokens.map(|list| list.0).unwrap_or_default();
    assembled(pieces, model, spelling, added, json.post_processor.as_ref())
}

/// Makes the tokenizer whose pieces are in the files of SentencePiece.
pub fn of_sentence_piece(
    model: SentencePiece,
    ids: &[(String, u32)],
    added: Vec<AddedTokenJson>,
    post_processor: Option<&PostProcessorJson>,
) -> Read<Tokenizer> {
    let mut pieces = Pieces::default();
    ids.iter().try_for_each(|(piece, id)| pieces.insert(piece, *id))?;
    assembled(pieces, PieceModel::SentencePiece(model), Spelling::of_sentence_piece(), added, post_processor)
}

fn assembled(
    mut pieces: Pieces,
    model: PieceModel,
    spelling: Spelling,
    added: Vec<AddedTokenJson>,
    post_processor: Option<&PostProcessorJson>,
) -> Read<Tokenizer> {
    let (added, special) = read_added(added, &mut pieces, &model)?;
    let has = |id: u32| pieces.0.get(id as usize).is_some_and(Option::is_some);
    let template = Template::read(post_processor, &has)?;
    Ok(Tokenizer { pieces: pieces.0, added, special, model, template, target_template: None, spelling })
}

/// Pieces by id; ids may have gaps.
#[derive(Default)]
struct Pieces(Vec<Option<Box<str>>>);

impl Pieces {
    /// Adds a piece, unless its id is already taken. In old files some pieces have several ids.
    fn insert(&mut self, piece: &str, id: u32) -> Read<()> {
        check_piece(piece, id)?;
        let at = id as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at].get_or_insert_with(|| piece.into());
        Ok(())
    }
}

/// Refuses a piece or id that exceeds its bound.
pub fn check_piece(piece: &str, id: u32) -> Read<()> {
    if id >= ID_END {
        let found = format!("the id {id} of {}", quoted(piece));
        return Err(Refusal::new(found, format!("ids below {ID_END}"), FETCH_AGAIN));
    }
    if piece.len() > PIECE_BYTES_MAX {
        let found = format!("a piece of {} bytes, {}", piece.len(), quoted(piece));
        return Err(Refusal::new(found, format!("at most {PIECE_BYTES_MAX} bytes"), FETCH_AGAIN));
    }
    Ok(())
}

/// Builds the matcher of the pieces that are never split, and returns it with the ids of those that are special. All of
/// them are added to `pieces`; one that is in the model's vocabulary keeps its id there.
fn read_added(
    tokens: Vec<AddedTokenJson>,
    pieces: &mut Pieces,
    model: &PieceModel,
) -> Read<(AddedVocabulary, HashSet<u32>)> {
    let without = Normaliser::default();
    let normaliser = if let PieceModel::Pipeline(pipeline) = model { &pipeline.normaliser } else { &without };
    let bytes: usize = tokens.iter().map(|token| token.content.len()).sum();
    if bytes > ADDED_BYTES_MAX {
        return damaged("added_tokens", format!("{bytes} bytes of pieces"), format!("at most {ADDED_BYTES_MAX}"));
    }
    let bounds = Bounds::of(bytes);
    let mut ids = Vocab::default();
    let mut specials = HashSet::new();
    // The crate refuses two tokens with the same text. Here the later one is used, and a token with an empty text never
    // matches.
    let mut added: BTreeMap<(bool, String), AddedToken> = BTreeMap::new();
    for AddedTokenJson { id, content, single_word, lstrip, rstrip, normalized, special } in tokens {
        let known = model.id_of(&content).or_else(|| ids.get(&content).copied());
        let Some(id) = known.or(id) else { return missing(&format!("added_tokens: {content}"), "id") };
        pieces.insert(&content, id)?;
        ids.insert(content.clone(), id);
        if special {
            specials.insert(id);
        }
        let found_by = if normalized { normaliser.normalized(&content, &bounds) } else { Ok(content.clone()) };
        let found_by = found_by.or_else(|why| damaged("added_tokens", why, "texts that the normalizer can read"))?;
        if !found_by.is_empty() {
            let token = AddedToken { single_word, lstrip, rstrip, normalized, special: false, content };
            added.insert((normalized, found_by), token);
        }
    }
    let mut vocabulary = AddedVocabulary::new();
    // The ids of the file are used, whereas the crate would continue the ids of the model.
    let built = WordLevel::builder().vocab(ids).unk_token(String::new()).build();
    let normaliser = normaliser.within(&bounds);
    let built = built.and_then(|numbers| vocabulary.add_tokens(added.into_values(), &numbers, Some(&normaliser)));
    let built = built.and_then(|_| normaliser.finish().map_err(Into::into));
    built
        .map(|()| (vocabulary, specials))
        .or_else(|error| damaged("added_tokens", error.to_string(), "pieces that are never cut"))
}

fn read_model(mut json: ModelJson) -> Read<(Pieces, ModelWrapper)> {
    // Old files do not name their model.
    let kind = json.kind.take().unwrap_or_else(|| {
        let kind = match (&json.merges, &json.vocab) {
            (Some(_), _) => "BPE",
            (None, PiecesJson::Scores(_)) => "Unigram",
            (None, PiecesJson::Ids(_)) => "WordPiece",
        };
        kind.to_owned()
    });
    match kind.as_str() {
        "WordPiece" => read_word_piece(json),
        "WordLevel" => read_word_level(json),
        "BPE" => read_byte_pair(json),
        "Unigram" => read_unigram(json),
        other => {
            let found = format!("the type {}", quoted(other));
            refuse("model", found, "WordPiece, WordLevel, BPE or Unigram", SAVE_AGAIN)
        }
    }
}

/// Returns the model that the crate built, whose sizes were checked before.
fn built<M: Into<ModelWrapper>>(model: tokenizers::Result<M>) -> Read<ModelWrapper> {
    model.map(Into::into).or_else(|error| damaged("model", error.to_string(), "a consistent vocabulary"))
}

fn read_word_piece(json: ModelJson) -> Read<(Pieces, ModelWrapper)> {
    let (pieces, ids) = read_ids(json.vocab)?;
    let unknown = json.unk_token.unwrap_or_else(|| "[UNK]".to_owned());
    let chars = json.max_input_chars_per_word.map_or(WORD_CHARS, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let model = WordPiece::builder().vocab(ids).unk_token(unknown).max_input_chars_per_word(chars);
    let prefix = json.continuing_subword_prefix.unwrap_or_else(|| PREFIX.to_owned());
    Ok((pieces, built(model.continuing_subword_prefix(prefix).build())?))
}

fn read_word_level(json: ModelJson) -> Read<(Pieces, ModelWrapper)> {
    let (pieces, ids) = read_ids(json.vocab)?;
    let unknown = json.unk_token.unwrap_or_else(|| "<unk>".to_owned());
    Ok((pieces, built(WordLevel::builder().vocab(ids).unk_token(unknown).build())?))
}

/// Reads byte pairs. Dropout, which is for training, is ignored, so that a text always has the same pieces.
fn read_byte_pair(json: ModelJson) -> Read<(Pieces, ModelWrapper)> {
    let (pieces, ids) = read_ids(json.vocab)?;
    let [unknown, prefix, suffix] = [json.unk_token, json.continuing_subword_prefix, json.end_of_word_suffix]
        .map(|text| text.filter(|text| !text.is_empty()));
    let merges = json.merges.map(|list| list.0).unwrap_or_default();
    let prefix_bytes = prefix.as_ref().map_or(0, String::len);
    let place = |number| format!("model.merges[{number}]");
    check_merges(&merges, prefix_bytes, |piece| ids.contains_key(piece), place)?;
    let merges = merges.into_iter().map(|Pair(left, right)| (left, right)).collect();
    let [fuses, falls_back, ignores] =
        [json.fuse_unk, json.byte_fallback, json.ignore_merges].map(|flag| flag.unwrap_or(false));
    let model = BPE::builder().vocab_and_merges(ids, merges);
    // The cache of the crate is not used, because it outlives the model on every thread.
    let model = model.cache_capacity(0).fuse_unk(fuses).byte_fallback(falls_back).ignore_merges(ignores);
    let model = if let Some(unknown) = unknown { model.unk_token(unknown) } else { model };
    let model = if let Some(prefix) = prefix { model.continuing_subword_prefix(prefix) } else { model };
    let model = if let Some(suffix) = suffix { model.end_of_word_suffix(suffix) } else { model };
    Ok((pieces, built(model.build())?))
}

fn read_unigram(json: ModelJson) -> Read<(Pieces, ModelWrapper)> {
    let PiecesJson::Scores(List(scores)) = json.vocab else {
        return damaged("model.vocab", "an object", SCORES_EXPECTED);
    };
    let mut pieces = Pieces::default();
    for ((piece, _), id) in scores.iter().zip(0..) {
        pieces.insert(piece, id)?;
    }
    let longest = scores.iter().map(|(piece, _)| piece.len()).max().unwrap_or(0);
    let all: usize = scores.iter().map(|(piece, _)| piece.len()).sum();
    if longest > UNIGRAM_PIECE_BYTES_MAX || all > UNIGRAM_BYTES_MAX {
        let found = format!("pieces of up to {longest} bytes, and {all} in all");
        let expected = format!("at most {UNIGRAM_PIECE_BYTES_MAX}, and {UNIGRAM_BYTES_MAX} in all");
        return damaged("model.vocab", found, expected);
    }
    Ok((pieces, built(Unigram::from(scores, json.unk_id, json.byte_fallback == Some(true)))?))
}

/// Returns the pieces of a file with their ids. A repeated piece has its last id.
fn read_ids(pieces: PiecesJson) -> Read<(Pieces, Vocab)> {
    let PiecesJson::Ids(JsonEntries(entries)) = pieces else { return damaged("model.vocab", "a list", IDS_EXPECTED) };
    let mut pieces = Pieces::default();
    entries.iter().try_for_each(|(piece, id)| pieces.insert(piece, *id))?;
    match entries.is_empty() {
        true => Err(Refusal::new("no pieces", "some", FETCH_AGAIN)),
        false => Ok((pieces, entries.into_iter().collect())),
    }
}

/// Refuses merges whose parts or result are not pieces, and names their index in the file. The result is the
/// first part followed by the second without its prefix, which is `prefix_bytes` long.
pub fn check_merges(
    merges: &[Pair],
    prefix_bytes: usize,
    has: impl Fn(&str) -> bool,
    place: impl Fn(usize) -> String,
) -> Read<()> {
    let mut merged = String::new();
    for (number, Pair(left, right)) in merges.iter().enumerate() {
        let Some(behind) = right.get(prefix_bytes..) else {
            return damaged(&place(number), quoted(right), "a piece with the prefix of pieces within a word");
        };
        merged.clear();
        merged.extend([left.as_str(), behind]);
        if let Some(piece) = [left, right, &merged].into_iter().find(|piece| !has(piece)) {
            return damaged(&place(number), quoted(piece), "a piece of the vocabulary");
        }
    }
    Ok(())
}
