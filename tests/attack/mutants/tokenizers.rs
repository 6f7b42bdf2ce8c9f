//! Tokenizers whose steps nest, double and repeat, on texts of every length.

use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Attack, Outcome, drawn};

/// Memory over the size of the file and of the text.
const BYTES_MAX: usize = 256 << 20;

/// A step of a pipeline.
#[derive(Clone, Debug)]
pub enum Step {
    One(Value),
    /// So many times the same, in a list.
    List(Box<Step>, usize),
}

impl Step {
    fn json(&self, list: &str) -> Value {
        match self {
            Self::One(step) => step.clone(),
            Self::List(step, count) => json!({ "type": "Sequence", list: vec![step.json(list); *count] }),
        }
    }
}

#[derive(Clone, Debug)]
pub struct NestedTokenizer {
    normalisers: Vec<Step>,
    splitters: Vec<Step>,
    added: usize,
    text: (&'static str, usize),
}

fn steps(of: Vec<Value>) -> impl Strategy<Value = Vec<Step>> {
    let one = prop::sample::select(of).prop_map(Step::One);
    let nested = one.prop_recursive(3, 4, 1, |inner| {
        (inner, 0..17_usize).prop_map(|(inner, count)| Step::List(Box::new(inner), count))
    });
    prop::collection::vec(nested, 0..4)
}

impl Attack for NestedTokenizer {
    type Part = Step;

    fn of(seed: u64) -> Self {
        let bert = |strip: bool| json!({ "type": "BertNormalizer", "strip_accents": strip });
        let byte_level = |regex: bool| json!({ "type": "ByteLevel", "use_regex": regex });
        let replace = |from: &str, to: &str, times: usize| json!({ "type": "Replace", "pattern": { "String": from }, "content": to.repeat(times) });
        let plain = |kind: &str| json!({ "type": kind });
        let kinds = ["NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "Strip", "StripAccents"].map(plain);
        let longer = [replace("a", "a", 64), replace("a", "ﷺ", 3), json!({ "type": "Prepend", "prepend": "▁▁" })];
        let normalisers = [vec![bert(true), bert(false)], kinds.to_vec(), longer.to_vec()].concat();
        let bytes = vec![plain("BertPreTokenizer"), byte_level(true), byte_level(false)];
        let kinds = ["Digits", "Metaspace", "Punctuation", "Whitespace", "WhitespaceSplit"].map(plain);
        let splitters = [bytes, kinds.to_vec()].concat();
        let texts = prop::sample::select(vec!["a", "é", "你", "a ", "👩‍👩‍👧‍👦", "\u{301}", " ", "a.", "ﷺ"]);
        let lengths = prop::sample::select(vec![0, 1, 100, 20_000]);
        let all = (steps(normalisers), steps(splitters), 0..70_usize, (texts, lengths));
        let (normalisers, splitters, added, text) = drawn(seed, all);
        Self { normalisers, splitters, added, text }
    }

    fn run(&self) -> Outcome {
        let list = |steps: &[Step], list: &str| {
            let all: Vec<Value> = steps.iter().map(|step| step.json(list)).collect();
            json!({ "type": "Sequence", list: all })
        };
        let parts = vec![json!({ "SpecialToken": { "id": "x", "type_id": 0 } }); self.added];
        let single = [parts, vec![json!({ "Sequence": { "id": "A", "type_id": 0 } })]].concat();
        let json = json!({
            "normalizer": list(&self.normalisers, "normalizers"),
            "pre_tokenizer": list(&self.splitters, "pretokenizers"),
            "post_processor": {
                "type": "TemplateProcessing", "single": single,
                "special_tokens": { "x": { "id": "x", "ids": vec![1; 64], "tokens": [] } },
            },
            "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": { "[UNK]": 0, "a": 1, "##a": 2 } },
        });
        match Tokenizer::read(TokenizerFiles::Json(&json.to_string())) {
            Ok(tokenizer) => {
                let text = self.text.0.repeat(self.text.1);
                let pieces = tokenizer.encode(&text).pieces;
                let is_within = pieces.iter().all(|piece| text.get(piece.bytes.clone()).is_some());
                if is_within { Ok("read") } else { Err("a piece is no part of the text".to_owned()) }
            }
            Err(refusal) => {
                let said = refusal.to_string();
                if (20..1200).contains(&said.len()) { Ok("refused") } else { Err(format!("it says {said:?}")) }
            }
        }
    }

    fn parts(&mut self) -> &mut Vec<Step> {
        if self.normalisers.is_empty() { &mut self.splitters } else { &mut self.normalisers }
    }

    fn told(&self) -> String {
        let Self { normalisers, splitters, added, text: (text, times) } = self;
        format!("{normalisers:?}\n{splitters:?}\n{added} added, {times} times {text:?}")
    }

    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }
}
