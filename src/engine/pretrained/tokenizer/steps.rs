//! The steps that make a text alike and split it into words, read from a file and kept within bounds.
//!
//! Each is the crate's own. What a file may ask of them is not: steps that make a text longer can follow one another, and a
//! pattern can take hours. So steps are few, a text that grows beyond all reason is left as far as it is, and patterns are
//! those of known models.

use data_encoding::BASE64;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::normalizers::{
    BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, Prepend, Replace, Strip, StripAccents,
};
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::punctuation::Punctuation;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::pre_tokenizers::whitespace::{Whitespace, WhitespaceSplit};
use tokenizers::{NormalizedString, Normalizer, NormalizerWrapper, PreTokenizerWrapper, SplitDelimiterBehavior};

use super::json::{List, PatternJson, STEPS_MAX, StepJson};
use super::read::{OTHER_KIND, Read, damaged, missing, refuse, unsupported};
use crate::panics::quietly;
use crate::pretrained::refusal::quoted;

/// The words of models that attune trained and wrote, as other programs find them: what does not match is dropped.
pub const WORDS: &str = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'+[\p{L}\p{M}\p{N}]+)*";

/// The patterns of known models: attune's own, Llama 3's (and OLMo 2's), Qwen's, and SentencePiece's runs of blanks.
const PATTERNS: [&str; 4] = [
    WORDS,
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    " {2,}",
];

/// Times that all steps together may make a text longer, which may be longer by so many bytes anyway.
const GROWTH_MAX: usize = 64;
const GROWTH_BYTES: usize = 1 << 16;
/// Characters that a step puts before a text.
const PREPENDED_MAX: usize = 16;
/// Bytes of SentencePiece's table of characters; XLM-R's has 240,000.
const CHARSMAP_BYTES_MAX: usize = 4 << 20;

/// The steps of a normaliser, each with the most bytes that it makes of one.
#[derive(Clone, Debug, Default)]
pub struct Normaliser(Vec<(NormalizerWrapper, usize)>);

impl Normalizer for Normaliser {
    /// A step that panics, as SentencePiece's table can if it is damaged, has not begun to change the text: it stays.
    fn normalize(&self, text: &mut NormalizedString) -> tokenizers::Result<()> {
        let most = text.get_original().len().saturating_mul(GROWTH_MAX) + GROWTH_BYTES;
        let fits = |text: &NormalizedString, growth: usize| text.get().len().saturating_mul(growth) <= most;
        self.0.iter().try_for_each(|(step, growth)| match fits(text, *growth) {
            true => quietly(|| step.normalize(text)).unwrap_or(Ok(())),
            false => Ok(()),
        })
    }
}

impl Normaliser {
    pub fn read(step: Option<&StepJson>) -> Read<Self> {
        let mut read = Self::default();
        step.map_or(Ok(()), |step| read.push(step, "normalizer"))?;
        Ok(read)
    }

    /// A text as it is after all steps.
    pub fn normalized(&self, text: &str) -> String {
        let mut text = NormalizedString::from(text);
        // No step of these fails.
        let _ = self.normalize(&mut text);
        text.get().to_owned()
    }

    /// Says if it is BERT's without capitals, accents and control characters, in which Chinese characters are letters.
    pub fn is_uncased_bert(&self) -> bool {
        let [(NormalizerWrapper::BertNormalizer(step), _)] = &self.0[..] else { return false };
        step.clean_text && !step.handle_chinese_chars && step.strip_accents.unwrap_or(step.lowercase) && step.lowercase
    }

    /// Says if it makes one character of several.
    pub fn composes(&self) -> bool {
        use NormalizerWrapper as Step;
        self.0.iter().any(|(step, _)| matches!(step, Step::NFC(_) | Step::NFKC(_) | Step::Precompiled(_)))
    }

    /// The character that stands for a blank, where that is not the blank.
    pub fn blank(&self) -> Option<char> {
        self.0.iter().find_map(|(step, _)| match step {
            NormalizerWrapper::Replace(replace) => replace.content.chars().next().filter(|_| replaces_blank(replace)),
            _ => None,
        })
    }

    fn push(&mut self, step: &StepJson, place: &str) -> Read<()> {
        const SUPPORTED: &str = "BertNormalizer or Lowercase or NFC or NFD or NFKC or NFKD or Nmt or Precompiled or Prepend or \
                                 Replace or Sequence or Strip or StripAccents";
        let is_said = |field: Option<bool>| field.unwrap_or(true);
        let (read, growth): (NormalizerWrapper, usize) = match step.kind.as_str() {
            "BertNormalizer" => {
                let [clean, chinese, lower] = [step.clean_text, step.handle_chinese_chars, step.lowercase].map(is_said);
                (BertNormalizer::new(clean, chinese, step.strip_accents, lower).into(), 12)
            }
            "Lowercase" => (Lowercase.into(), 2),
            "NFC" => (NFC.into(), 3),
            "NFD" => (NFD.into(), 3),
            "NFKC" => (NFKC.into(), 11),
            "NFKD" => (NFKD.into(), 11),
            "Nmt" => (Nmt.into(), 1),
            "Strip" => (Strip::new(is_said(step.strip_left), is_said(step.strip_right)).into(), 1),
            "StripAccents" => (StripAccents.into(), 1),
            "Prepend" => (prepend(step, place)?, 1),
            "Replace" => replace(step, place)?,
            "Precompiled" => precompiled(step, place)?,
            "Sequence" => {
                return each(&step.normalizers, "normalizers", place, |step, place| self.push(step, place));
            }
            other => return unsupported(place, other, SUPPORTED),
        };
        if growth > GROWTH_MAX {
            let found = format!("a step that makes a text {growth} times longer");
            return refuse(place, found, format!("at most {GROWTH_MAX} times"), OTHER_KIND);
        }
        push_step((read, growth), place, &mut self.0)
    }
}

fn replaces_blank(replace: &Replace) -> bool {
    // The crate keeps the pattern to itself; a blank alone shows what becomes of it.
    let mut blank = NormalizedString::from(" ");
    replace.normalize(&mut blank).is_ok() && blank.get() != " " && blank.get() == replace.content
}

fn prepend(step: &StepJson, place: &str) -> Read<NormalizerWrapper> {
    match step.prepend.clone() {
        Some(text) if text.chars().count() <= PREPENDED_MAX => Ok(Prepend::new(text).into()),
        Some(_) => refuse(place, "a long text", format!("at most {PREPENDED_MAX} characters"), OTHER_KIND),
        None => missing(place, "prepend"),
    }
}

/// A step that puts a text in the place of others, and how many bytes it puts for one.
fn replace(step: &StepJson, place: &str) -> Read<(NormalizerWrapper, usize)> {
    let Some(content) = &step.content else { return missing(place, "content") };
    let (pattern, least) = match pattern(step, place)? {
        PatternJson::String(text) => (ReplacePattern::String(text.clone()), text.len()),
        PatternJson::Regex(regex) => (ReplacePattern::Regex(regex.clone()), 1),
    };
    match Replace::new(pattern, content.as_str()) {
        Ok(replace) => Ok((replace.into(), content.len().div_ceil(least).max(1))),
        Err(error) => damaged(place, error.to_string(), "a pattern"),
    }
}

/// SentencePiece's table of characters, and the most bytes that one of them becomes.
fn precompiled(step: &StepJson, place: &str) -> Read<(NormalizerWrapper, usize)> {
    let Some(written) = &step.precompiled_charsmap else { return missing(place, "precompiled_charsmap") };
    let table = BASE64.decode(written.as_bytes()).ok().filter(|table| table.len() <= CHARSMAP_BYTES_MAX);
    // The length of a tree in bytes, the tree, and texts with a zero behind each.
    let texts = table.as_deref().and_then(|table| {
        let (length, rest) = table.split_first_chunk()?;
        rest.get(u32::from_le_bytes(*length) as usize / size_of::<u32>() * size_of::<u32>()..)
    });
    let longest = texts.into_iter().flat_map(|texts| texts.split(|byte| *byte == 0)).map(<[u8]>::len).max();
    match table.as_deref().zip(longest).map(|(table, longest)| (Precompiled::from(table), longest)) {
        Some((Ok(table), longest)) => Ok((table.into(), longest.max(1))),
        _ => damaged(place, "another `precompiled_charsmap`", "SentencePiece's table of characters, in Base64"),
    }
}

/// The pattern of a step: a text, or one that known models have.
fn pattern<'a>(step: &'a StepJson, place: &str) -> Read<&'a PatternJson> {
    match &step.pattern {
        Some(PatternJson::String(text)) if text.is_empty() => damaged(place, "an empty pattern", "a text to look for"),
        Some(PatternJson::Regex(regex)) if !PATTERNS.contains(&regex.as_str()) => {
            let found = format!("the pattern {}", quoted(regex));
            refuse(place, found, "that of Llama 3, of Qwen, or of a model that attune wrote", OTHER_KIND)
        }
        Some(pattern) => Ok(pattern),
        None => missing(place, "pattern"),
    }
}

/// Reads the steps that split a text into words.
pub fn splitters(step: Option<&StepJson>) -> Read<Vec<PreTokenizerWrapper>> {
    let mut splitters = Vec::new();
    step.map_or(Ok(()), |step| push_splitter(step, "pre_tokenizer", &mut splitters))?;
    Ok(splitters)
}

fn push_splitter(step: &StepJson, place: &str, into: &mut Vec<PreTokenizerWrapper>) -> Read<()> {
    const SUPPORTED: &str = "BertPreTokenizer or ByteLevel or Digits or Metaspace or Punctuation or Sequence or Split or \
                             Whitespace or WhitespaceSplit";
    let read = match step.kind.as_str() {
        "BertPreTokenizer" => BertPreTokenizer.into(),
        "ByteLevel" if spells_bytes(into) => {
            // It would spell the bytes of bytes, twice as many each time.
            return refuse(place, "a second step that spells bytes", "one", OTHER_KIND);
        }
        // Offsets are trimmed nowhere: a piece has the blank before it.
        "ByteLevel" => {
            ByteLevel::new(step.add_prefix_space.unwrap_or(true), false, step.use_regex.unwrap_or(true)).into()
        }
        "Digits" => Digits::new(step.individual_digits.unwrap_or(false)).into(),
        "Metaspace" => {
            let scheme = match (step.prepend_scheme, step.add_prefix_space) {
                (_, Some(false)) => PrependScheme::Never,
                (scheme, _) => scheme.unwrap_or(PrependScheme::Always),
            };
            Metaspace::new(step.replacement.unwrap_or('▁'), scheme, step.split.unwrap_or(true)).into()
        }
        "Punctuation" => Punctuation::new(step.behavior.unwrap_or(SplitDelimiterBehavior::Isolated)).into(),
        "Split" => split(step, place)?,
        "Whitespace" => Whitespace.into(),
        "WhitespaceSplit" => WhitespaceSplit.into(),
        "Sequence" => {
            return each(&step.pretokenizers, "pretokenizers", place, |step, place| push_splitter(step, place, into));
        }
        other => return unsupported(place, other, SUPPORTED),
    };
    push_step(read, place, into)
}

fn split(step: &StepJson, place: &str) -> Read<PreTokenizerWrapper> {
    let pattern = match pattern(step, place)? {
        PatternJson::String(text) => SplitPattern::String(text.clone()),
        PatternJson::Regex(regex) => SplitPattern::Regex(regex.clone()),
    };
    let Some(behavior) = step.behavior else { return missing(place, "behavior") };
    match Split::new(pattern, behavior, step.invert.unwrap_or(false)) {
        Ok(split) => Ok(split.into()),
        Err(error) => damaged(place, error.to_string(), "a pattern"),
    }
}

/// Says if the words are spelled by their bytes.
pub fn spells_bytes(splitters: &[PreTokenizerWrapper]) -> bool {
    splitters.iter().any(|splitter| matches!(splitter, PreTokenizerWrapper::ByteLevel(_)))
}

/// The steps of a list, each with its place.
fn each(
    list: &Option<List<StepJson, STEPS_MAX>>,
    name: &str,
    place: &str,
    mut push: impl FnMut(&StepJson, &str) -> Read<()>,
) -> Read<()> {
    let Some(steps) = list else { return missing(place, name) };
    steps.0.iter().enumerate().try_for_each(|(number, step)| push(step, &format!("{place}.{name}[{number}]")))
}

/// Takes a step of a pipeline, which has few of them however its lists nest: each makes the text anew.
fn push_step<T>(step: T, place: &str, into: &mut Vec<T>) -> Read<()> {
    if into.len() == STEPS_MAX {
        return refuse(place, format!("step {}", STEPS_MAX + 1), format!("at most {STEPS_MAX} steps"), OTHER_KIND);
    }
    into.push(step);
    Ok(())
}
