//! The files of older models: `vocab.txt` of BERT's family, `vocab.json` and `merges.txt` of GPT-2's. What else a
//! tokenizer needs is in `tokenizer_config.json`, or else as `transformers` has it.

use super::added::{AddedToken, AddedTokens};
use super::byte_pair::BytePair;
use super::json::{ConfigJson, Entries, MERGES_MAX, NameJson, Pair, PieceIds};
use super::normalise::BertNormaliser;
use super::read::{
    OTHER_KIND, PIECES_EXPECTED, PREFIX, WORD_CHARS_MAX, bad_json, check_size, read_added, read_merges, read_vocabulary,
};
use super::split::Splitter;
use super::template::Template;
use super::vocabulary::{ID_END, Vocabulary};
use super::word_piece::WordPiece;
use super::{Model, Spelling, Tokenizer};
use crate::pretrained::Refusal;
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

const CONFIG: &str = "tokenizer_config.json";
const VOCAB_TXT: &str = "vocab.txt";
const VOCAB_JSON: &str = "vocab.json";
const MERGES: &str = "merges.txt";

type Read<T> = Result<T, Refusal>;

/// Reads the tokenizer of BERT's family.
pub fn word_piece(vocab: &str, config: Option<&str>) -> Read<Tokenizer> {
    let config = read_config(config, &["BertTokenizer", "ElectraTokenizer"])?;
    if config.do_basic_tokenize == Some(false) {
        let refusal = Refusal::new("`do_basic_tokenize` false", "true", OTHER_KIND);
        return Err(refusal.in_file(CONFIG));
    }
    let vocabulary = read_lines(vocab).map_err(|refusal| refusal.in_file(VOCAB_TXT))?;
    let name = |name: &Option<NameJson>, usual: &str| name.as_ref().map_or(usual, NameJson::content).to_owned();
    let id_of = |piece: &str| {
        let refusal = || Refusal::new("no such line", format!("the piece {}", quoted(piece)), FETCH_AGAIN);
        vocabulary.id_of(piece).ok_or_else(|| refusal().in_file(VOCAB_TXT))
    };
    let [unknown, start, end] =
        [name(&config.unk_token, "[UNK]"), name(&config.cls_token, "[CLS]"), name(&config.sep_token, "[SEP]")];
    let lowercase = config.do_lower_case.unwrap_or(true);
    let normaliser = BertNormaliser {
        clean_text: true,
        handle_chinese_chars: config.tokenize_chinese_chars.unwrap_or(true),
        strip_accents: config.strip_accents,
        lowercase,
    };
    let model = WordPiece::new(vocabulary.iter(), PREFIX, id_of(&unknown)?, WORD_CHARS_MAX);
    let template = Template::bert(id_of(&start)?, id_of(&end)?);
    let specials = [unknown, start, end, name(&config.pad_token, "[PAD]"), name(&config.mask_token, "[MASK]")];
    let tokenizer = Tokenizer {
        vocabulary,
        added: AddedTokens::default(),
        normalisers: vec![normaliser],
        added_normalised: AddedTokens::default(),
        splitters: vec![Splitter::Bert],
        model: Model::WordPiece(model),
        template,
        spelling: Spelling::Prefixed(PREFIX.to_owned()),
    };
    with_specials(tokenizer, config, specials)
}

/// The pieces of `vocab.txt`, a line each.
fn read_lines(vocab: &str) -> Read<Vocabulary> {
    check_size(vocab)?;
    let lines = vocab.strip_suffix('\n').unwrap_or(vocab).split('\n');
    // A line over the bound has an id that is refused.
    let lines = lines.take(ID_END as usize + 1).map(|line| line.trim_end_matches('\r').to_owned());
    read_vocabulary(lines.zip(0..).collect())
}

/// Reads the tokenizer of GPT-2's family.
pub fn byte_pair(vocab: &str, merges: &str, config: Option<&str>) -> Read<Tokenizer> {
    const END_OF_TEXT: &str = "<|endoftext|>";
    let config = read_config(config, &["GPT2Tokenizer"])?;
    let vocabulary = read_pieces(vocab).map_err(|refusal| refusal.in_file(VOCAB_JSON))?;
    let model = read_merge_lines(merges, &vocabulary).map_err(|refusal| refusal.in_file(MERGES))?;
    let name = |name: &Option<NameJson>| name.as_ref().map_or(END_OF_TEXT, NameJson::content).to_owned();
    let [start, end, unknown] = [&config.bos_token, &config.eos_token, &config.unk_token].map(name);
    let template = match (config.add_bos_token, vocabulary.id_of(&start)) {
        (Some(true), Some(start)) => Template::begun_by(start),
        (Some(true), None) => {
            let found = format!("{} at `bos_token`", quoted(&start));
            return Err(Refusal::new(found, "a piece of the vocabulary", FETCH_AGAIN).in_file(CONFIG));
        }
        _ => Template::plain(),
    };
    let tokenizer = Tokenizer {
        vocabulary,
        added: AddedTokens::default(),
        normalisers: Vec::new(),
        added_normalised: AddedTokens::default(),
        splitters: vec![Splitter::ByteLevel {
            add_prefix_space: config.add_prefix_space.unwrap_or(false),
            use_regex: true,
        }],
        model: Model::BytePair(model),
        template,
        spelling: Spelling::Bytes,
    };
    with_specials(tokenizer, config, [start, end, unknown])
}

/// The pieces of `vocab.json`.
fn read_pieces(vocab: &str) -> Read<Vocabulary> {
    check_size(vocab)?;
    let pieces: PieceIds = serde_json::from_str(vocab).map_err(|error| bad_json(&error))?;
    match pieces.0 {
        Some(Entries(entries)) => read_vocabulary(entries),
        None => Err(Refusal::new("a list", PIECES_EXPECTED, FETCH_AGAIN)),
    }
}

/// The merges of `merges.txt`, a line each.
fn read_merge_lines(merges: &str, vocabulary: &Vocabulary) -> Read<BytePair> {
    check_size(merges)?;
    let line_of = |number: usize| format!("line {}", number + 1);
    let mut numbers = Vec::new();
    let mut pairs = Vec::new();
    for (number, line) in merges.split('\n').enumerate() {
        let line = line.trim_end_matches('\r');
        if line.is_empty() || line.starts_with("#version") {
            continue;
        }
        if pairs.len() == MERGES_MAX {
            return Err(Refusal::new(format!("more than {MERGES_MAX} merges"), "fewer", FETCH_AGAIN));
        }
        let Some(pair) = Pair::read(line) else {
            let found = format!("{} in {}", quoted(line), line_of(number));
            return Err(Refusal::new(found, "two pieces with a blank between them", FETCH_AGAIN));
        };
        pairs.push(pair);
        numbers.push(number);
    }
    read_merges(vocabulary, pairs, |pair| line_of(numbers[pair]))
}

/// Reads `tokenizer_config.json`, and refuses that of another class of tokenizers, some of whose files have the same
/// names. `DistilBertTokenizerFast` is `BertTokenizer`.
fn read_config(text: Option<&str>, classes: &[&str]) -> Read<ConfigJson> {
    /// A part of it is read twice over, and its size is that of a list of names.
    const CONFIG_BYTES_MAX: usize = 4 << 20;
    let Some(text) = text else { return Ok(ConfigJson::default()) };
    let refuse = |found, expected, advice| Err(Refusal::new(found, expected, advice).in_file(CONFIG));
    if text.len() > CONFIG_BYTES_MAX {
        let expected = format!("at most {} MiB", CONFIG_BYTES_MAX >> 20);
        return refuse(format!("{} MiB", text.len() >> 20), expected, FETCH_AGAIN);
    }
    let config: ConfigJson = serde_json::from_str(text).map_err(|error| bad_json(&error).in_file(CONFIG))?;
    let class = config.tokenizer_class.as_deref().map(|class| class.strip_suffix("Fast").unwrap_or(class));
    match class.filter(|class| classes.iter().all(|name| !class.ends_with(name))) {
        None => Ok(config),
        Some(class) => refuse(format!("the class {}", quoted(class)), classes.join(" or "), OTHER_KIND),
    }
}

/// The tokenizer with the tokens that its configuration adds, and with these names as far as they are pieces.
fn with_specials<const N: usize>(mut tokenizer: Tokenizer, config: ConfigJson, names: [String; N]) -> Read<Tokenizer> {
    let mut added: Vec<AddedToken> = Vec::new();
    for (id, mut token) in config.added_tokens_decoder.map(|Entries(entries)| entries).unwrap_or_default() {
        let unfit = || Refusal::new(quoted(&id), "an id at `added_tokens_decoder`", FETCH_AGAIN);
        let read = id.parse().map_err(|_| unfit()).and_then(|id| {
            token.id = Some(id);
            read_added(token, &mut tokenizer.vocabulary)
        });
        added.push(read.map_err(|refusal| refusal.in_file(CONFIG))?);
    }
    for name in names {
        let is_new = added.iter().all(|token| token.content != name);
        if let Some(id) = tokenizer.vocabulary.id_of(&name).filter(|_| is_new) {
            added.push(AddedToken::special(&name, id));
        }
    }
    Ok(tokenizer.with_added(added))
}
