//! The files of older models: `vocab.txt` of BERT's family, `vocab.json` and `merges.txt` of GPT-2's. They become the
//! `tokenizer.json` of such a model; what else that has is in `tokenizer_config.json`, or else as `transformers` has it.

use std::collections::HashSet;

use super::Tokenizer;
use super::json::{
    AddedTokenJson, ConfigJson, ID_END, JsonEntries, List, MERGES_MAX, ModelJson, NameJson, Pair, PiecesJson,
    SpecialJson, StepJson, TemplatePartJson, TokenizerJson,
};
use super::read::{IDS_EXPECTED, OTHER_KIND, Read, bad_json, check_merges, check_piece, check_size, of_json};
use crate::pretrained::Refusal;
use crate::pretrained::folder::{IDS, MERGES, PIECES, TOKENIZER_CONFIG};
use crate::pretrained::refusal::{FETCH_AGAIN, quoted};

/// A piece with its id.
type Entry = (String, u32);

/// Reads the tokenizer of BERT's family.
pub fn word_piece(vocab: &str, config: Option<&str>) -> Read<Tokenizer> {
    let config = read_config(config, &["BertTokenizer", "ElectraTokenizer"])?;
    if config.do_basic_tokenize == Some(false) {
        let refusal = Refusal::new("`do_basic_tokenize` false", "true", OTHER_KIND);
        return Err(refusal.in_file(TOKENIZER_CONFIG));
    }
    let ids = read_lines(vocab).map_err(|refusal| refusal.in_file(PIECES))?;
    let name = |name: &Option<NameJson>, usual: &str| name.as_ref().map_or(usual, NameJson::content).to_owned();
    let [unknown, start, end] =
        [name(&config.unk_token, "[UNK]"), name(&config.cls_token, "[CLS]"), name(&config.sep_token, "[SEP]")];
    let id_of = |piece: &String| {
        let refusal = || Refusal::new("no such line", format!("the piece {}", quoted(piece)), FETCH_AGAIN);
        find(&ids, piece).map(|id| (piece.clone(), id)).ok_or_else(|| refusal().in_file(PIECES))
    };
    id_of(&unknown)?;
    let normalizer = StepJson {
        handle_chinese_chars: config.tokenize_chinese_chars,
        strip_accents: config.strip_accents,
        lowercase: config.do_lower_case,
        ..step("BertNormalizer")
    };
    let post_processor = StepJson { cls: Some(id_of(&start)?), sep: Some(id_of(&end)?), ..step("BertProcessing") };
    let specials = [unknown.clone(), start, end, name(&config.pad_token, "[PAD]"), name(&config.mask_token, "[MASK]")];
    let json = TokenizerJson {
        added_tokens: Some(added(config, &ids, specials)?),
        normalizer: Some(normalizer),
        pre_tokenizer: Some(step("BertPreTokenizer")),
        post_processor: Some(post_processor),
        model: ModelJson { unk_token: Some(unknown), ..model("WordPiece", ids) },
    };
    of_json(json).map_err(|refusal| refusal.in_file(PIECES))
}

/// The pieces of `vocab.txt`, a line each.
fn read_lines(vocab: &str) -> Read<Vec<Entry>> {
    check_size(vocab)?;
    let lines = vocab.strip_suffix('\n').unwrap_or(vocab).split('\n');
    // A line over the bound has an id that is refused.
    let lines = lines.take(ID_END as usize + 1).map(|line| line.trim_end_matches('\r').to_owned());
    Ok(lines.zip(0..).collect())
}

/// Reads the tokenizer of GPT-2's family.
pub fn byte_pair(vocab: &str, merges: &str, config: Option<&str>) -> Read<Tokenizer> {
    const END_OF_TEXT: &str = "<|endoftext|>";
    let config = read_config(config, &["GPT2Tokenizer"])?;
    let ids = read_pieces(vocab).map_err(|refusal| refusal.in_file(IDS))?;
    let merges = read_merge_lines(merges, &ids).map_err(|refusal| refusal.in_file(MERGES))?;
    let name = |name: &Option<NameJson>| name.as_ref().map_or(END_OF_TEXT, NameJson::content).to_owned();
    let [start, end, unknown] = [&config.bos_token, &config.eos_token, &config.unk_token].map(name);
    let post_processor = match (config.add_bos_token, find(&ids, &start)) {
        (Some(true), Some(id)) => Some(begun_by(&start, id)),
        (Some(true), None) => {
            let found = format!("{} at `bos_token`", quoted(&start));
            return Err(Refusal::new(found, "a piece of the vocabulary", FETCH_AGAIN).in_file(TOKENIZER_CONFIG));
        }
        _ => None,
    };
    let add_prefix_space = Some(config.add_prefix_space.unwrap_or(false));
    let json = TokenizerJson {
        added_tokens: Some(added(config, &ids, [start, end, unknown])?),
        normalizer: None,
        pre_tokenizer: Some(StepJson { add_prefix_space, ..step("ByteLevel") }),
        post_processor,
        model: ModelJson { merges: Some(List(merges)), ..model("BPE", ids) },
    };
    of_json(json).map_err(|refusal| refusal.in_file(IDS))
}

/// A piece before the text, such as a start that some models of GPT-2's family have.
fn begun_by(start: &str, id: u32) -> StepJson {
    let [name, sequence] = [start, "A"].map(str::to_owned);
    let single = vec![
        TemplatePartJson::SpecialToken { id: name.clone(), type_id: 0 },
        TemplatePartJson::Sequence { id: sequence, type_id: 0 },
    ];
    let special_tokens = JsonEntries(vec![(name, SpecialJson { ids: List(vec![id]) })]);
    StepJson { single: Some(List(single)), special_tokens: Some(special_tokens), ..step("TemplateProcessing") }
}

/// The pieces of `vocab.json`.
fn read_pieces(vocab: &str) -> Read<Vec<Entry>> {
    check_size(vocab)?;
    match serde_json::from_str(vocab).map_err(|error| bad_json(&error))? {
        PiecesJson::Ids(JsonEntries(entries)) => Ok(entries),
        PiecesJson::Scores(_) => Err(Refusal::new("a list", IDS_EXPECTED, FETCH_AGAIN)),
    }
}

/// The merges of `merges.txt`, a line each.
fn read_merge_lines(merges: &str, ids: &[Entry]) -> Read<Vec<Pair>> {
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
            return Err(Refusal::new(found, "two pieces with a space between them", FETCH_AGAIN));
        };
        pairs.push(pair);
        numbers.push(number);
    }
    let pieces: HashSet<&str> = ids.iter().map(|(piece, _)| piece.as_str()).collect();
    check_merges(&pairs, |piece| pieces.contains(piece), |pair| line_of(numbers[pair]))?;
    Ok(pairs)
}

fn step(kind: &str) -> StepJson {
    StepJson { kind: kind.to_owned(), ..StepJson::default() }
}

fn model(kind: &str, ids: Vec<Entry>) -> ModelJson {
    ModelJson { kind: Some(kind.to_owned()), vocab: PiecesJson::Ids(JsonEntries(ids)), ..ModelJson::default() }
}

/// The id of a piece; of one that comes again, the last.
fn find(ids: &[Entry], piece: &str) -> Option<u32> {
    ids.iter().rfind(|(other, _)| other == piece).map(|(_, id)| *id)
}

/// Reads `tokenizer_config.json`, and refuses that of another class of tokenizers, some of whose files have the same
/// names. `DistilBertTokenizerFast` is `BertTokenizer`.
fn read_config(text: Option<&str>, classes: &[&str]) -> Read<ConfigJson> {
    /// A part of it is read twice over, and its size is that of a list of names.
    const CONFIG_BYTES_MAX: usize = 4 << 20;
    let Some(text) = text else { return Ok(ConfigJson::default()) };
    let refuse = |found, expected, advice| Err(Refusal::new(found, expected, advice).in_file(TOKENIZER_CONFIG));
    if text.len() > CONFIG_BYTES_MAX {
        let expected = format!("at most {} MiB", CONFIG_BYTES_MAX >> 20);
        return refuse(format!("{} MiB", text.len() >> 20), expected, FETCH_AGAIN);
    }
    let config: ConfigJson = serde_json::from_str(text).map_err(|error| bad_json(&error).in_file(TOKENIZER_CONFIG))?;
    let class = config.tokenizer_class.as_deref().map(|class| class.strip_suffix("Fast").unwrap_or(class));
    match class.filter(|class| classes.iter().all(|name| !class.ends_with(name))) {
        None => Ok(config),
        Some(class) => refuse(format!("the class {}", quoted(class)), classes.join(" or "), OTHER_KIND),
    }
}

/// The tokens that a configuration adds, and these names as far as they are pieces.
fn added<const N: usize, const MOST: usize>(
    config: ConfigJson,
    ids: &[Entry],
    names: [String; N],
) -> Read<List<AddedTokenJson, MOST>> {
    let mut added: Vec<AddedTokenJson> = Vec::new();
    for (id, token) in config.added_tokens_decoder.map(|JsonEntries(entries)| entries).unwrap_or_default() {
        let unfit = || Refusal::new(quoted(&id), "an id at `added_tokens_decoder`", FETCH_AGAIN);
        let read = id.parse().map_err(|_| unfit()).and_then(|id| check_piece(&token.content, id).map(|()| id));
        let id = read.map_err(|refusal| refusal.in_file(TOKENIZER_CONFIG))?;
        added.push(AddedTokenJson { id: Some(id), ..token });
    }
    for name in names {
        if find(ids, &name).is_some() && added.iter().all(|token| token.content != name) {
            added.push(AddedTokenJson { content: name, ..AddedTokenJson::default() });
        }
    }
    Ok(List(added))
}
