//! The steps that make a text alike and split it into words, read from a file and run within bounds.
//!
//! Each is the crate's own, as it reads itself. What a file may ask of them is bounded here: steps are few, a text that
//! would grow beyond all reason is an error, and regular expressions are [`BoundedPattern`]s.

use std::sync::OnceLock;
use std::time::Instant;

use data_encoding::BASE64;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokenizers::normalizers::Precompiled;
use tokenizers::tokenizer::pattern::Invert;
use tokenizers::{
    NormalizedString, Normalizer, NormalizerWrapper, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
    PreTokenizerWrapper, SplitDelimiterBehavior,
};

use super::json::STEPS_MAX;
use super::pattern::{BoundedPattern, TIME_MAX};
use super::read::{Read, SAVE_AGAIN, damaged, missing, refuse};
use crate::panics::quietly;
use crate::pretrained::refusal::quoted;

/// Times that all steps together may make a text longer, which may be longer by so many bytes anyway.
const GROWTH_MAX: usize = 64;
const GROWTH_BYTES: usize = 1 << 16;
/// Bytes of SentencePiece's table of characters; XLM-R's has 240,000.
const CHARSMAP_BYTES_MAX: usize = 4 << 20;

/// The words of models that attune trained and wrote, as other programs find them: what does not match is dropped.
pub const WORDS: &str = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'+[\p{L}\p{M}\p{N}]+)*";

/// How much the steps may make of a text, and until when.
pub struct Bounds {
    bytes: usize,
    end: Instant,
}

impl Bounds {
    /// The bounds for texts of so many bytes in all, from now on.
    pub fn of(bytes: usize) -> Self {
        Self { bytes: bytes.saturating_mul(GROWTH_MAX).saturating_add(GROWTH_BYTES), end: Instant::now() + TIME_MAX }
    }

    /// Refuses a step that could make too much of so many bytes.
    fn check(&self, bytes: usize, growth: usize) -> Result<(), String> {
        if bytes.saturating_mul(growth) <= self.bytes {
            return Ok(());
        }
        Err(format!("the tokenizer's steps make this text more than {GROWTH_MAX} times longer; write a shorter one"))
    }
}

/// A step of a pipeline as the file has it.
struct StepJson {
    kind: String,
    fields: Map<String, Value>,
    place: String,
}

/// Reads the steps of a pipeline, those of lists within one another in their order.
fn steps(pipeline: Option<Value>, list: &str, place: &str) -> Read<Vec<StepJson>> {
    let mut steps = Vec::new();
    pipeline.map_or(Ok(()), |pipeline| push_steps(pipeline, list, place, &mut steps))?;
    Ok(steps)
}

fn push_steps(step: Value, list: &str, place: &str, into: &mut Vec<StepJson>) -> Read<()> {
    let Value::Object(mut fields) = step else { return damaged(place, "another value", "an object with a `type`") };
    let Some(Value::String(kind)) = fields.get("type").cloned() else { return missing(place, "type") };
    if kind == "Sequence" {
        let Some(Value::Array(all)) = fields.remove(list) else { return missing(place, list) };
        let mut numbered = all.into_iter().enumerate();
        return numbered
            .try_for_each(|(number, step)| push_steps(step, list, &format!("{place}.{list}[{number}]"), into));
    }
    if into.len() == STEPS_MAX {
        // Each makes the text anew.
        let found = format!("step {}", STEPS_MAX + 1);
        return refuse(place, found, format!("at most {STEPS_MAX} steps"), SAVE_AGAIN);
    }
    into.push(StepJson { kind, fields, place: place.to_owned() });
    Ok(())
}

impl StepJson {
    /// The step as the crate reads it.
    fn read<T: DeserializeOwned>(mut self) -> Read<T> {
        self.fill();
        let step = Value::Object(self.fields);
        // It panics where it could return an error.
        let read = quietly(|| serde_json::from_value(step)).map(|read| read.map_err(|error| error.to_string()));
        read.flatten().or_else(|error| {
            let found = format!("the step {}, which cannot be read ({}),", quoted(&self.kind), quoted(&error));
            refuse(&self.place, found, "a step of Hugging Face's tokenizers 0.23", SAVE_AGAIN)
        })
    }

    /// Fills fields in that older files lack and the crate asks for.
    fn fill(&mut self) {
        let usual = match self.kind.as_str() {
            "BertNormalizer" => json!({ "clean_text": true, "handle_chinese_chars": true, "lowercase": true }),
            "Strip" => json!({ "strip_left": true, "strip_right": true }),
            "ByteLevel" => json!({ "add_prefix_space": true, "trim_offsets": true }),
            // The newer field, by the older one.
            "Metaspace" if self.fields.get("add_prefix_space") == Some(&Value::Bool(false)) => {
                self.fields.insert("prepend_scheme".to_owned(), "never".into());
                json!({ "replacement": "▁" })
            }
            "Metaspace" => json!({ "replacement": "▁", "prepend_scheme": "always" }),
            "Digits" => json!({ "individual_digits": false }),
            "Punctuation" => json!({ "behavior": "Isolated" }),
            "Split" => json!({ "invert": false }),
            _ => return,
        };
        let Value::Object(usual) = usual else { return };
        for (field, value) in usual {
            if self.fields.get(&field).is_none_or(Value::is_null) {
                self.fields.insert(field, value);
            }
        }
    }

    /// The regular expression that it looks for, if it looks for one.
    fn regex(&self) -> Read<Option<BoundedPattern>> {
        let regex = self.fields.get("pattern").and_then(|pattern| pattern.get("Regex")?.as_str());
        regex.map(|regex| BoundedPattern::read(regex, &self.place)).transpose()
    }

    /// The text of a field.
    fn text(&self, field: &str) -> Read<&str> {
        match self.fields.get(field).and_then(Value::as_str) {
            Some(text) => Ok(text),
            None => missing(&self.place, field),
        }
    }
}

/// A step of a normaliser.
#[derive(Clone, Debug)]
enum NormaliserStep {
    OfCrate(NormalizerWrapper),
    Replace(BoundedPattern, String),
}

/// The steps of a normaliser, each with the most bytes that it makes of one.
#[derive(Clone, Debug, Default)]
pub struct Normaliser(Vec<(NormaliserStep, usize)>);

impl Normaliser {
    pub fn read(pipeline: Option<Value>) -> Read<Self> {
        let steps = steps(pipeline, "normalizers", "normalizer")?;
        steps.into_iter().map(normaliser_step).collect::<Read<_>>().map(Self)
    }

    /// A text as it is after all steps.
    ///
    /// # Errors
    /// In words, if a step makes too much of it, or fails.
    pub fn normalized(&self, text: &str, bounds: &Bounds) -> Result<String, String> {
        let mut text = NormalizedString::from(text);
        self.run(&mut text, bounds).map(|()| text.get().to_owned())
    }

    fn run(&self, text: &mut NormalizedString, bounds: &Bounds) -> Result<(), String> {
        self.0.iter().try_for_each(|(step, growth)| {
            bounds.check(text.get().len(), *growth)?;
            step.run(text, bounds)
        })
    }

    /// The same as a step of the crate, which keeps the first fault.
    pub fn within<'a>(&'a self, bounds: &'a Bounds) -> BoundedNormaliser<'a> {
        BoundedNormaliser { steps: self, bounds, fault: OnceLock::new() }
    }

    /// Says if it is BERT's without capitals, accents and control characters, in which Chinese characters are letters.
    pub fn is_uncased_bert(&self) -> bool {
        let [(NormaliserStep::OfCrate(NormalizerWrapper::BertNormalizer(step)), _)] = &self.0[..] else { return false };
        step.clean_text && !step.handle_chinese_chars && step.strip_accents.unwrap_or(step.lowercase) && step.lowercase
    }

    /// Says if it makes one character of several.
    pub fn composes(&self) -> bool {
        use NormalizerWrapper as Step;
        self.of_crate().any(|step| matches!(step, Step::NFC(_) | Step::NFKC(_) | Step::Precompiled(_)))
    }

    /// Says if each character becomes the bytes that it has.
    pub fn spells_bytes(&self) -> bool {
        self.of_crate().any(|step| matches!(step, NormalizerWrapper::ByteLevel(_)))
    }

    /// The character that stands for a blank, where that is not the blank.
    pub fn blank(&self) -> Option<char> {
        // What becomes of a blank alone, by the steps that put texts in the place of others.
        self.0.iter().find_map(|(step, _)| {
            let (NormaliserStep::OfCrate(NormalizerWrapper::Replace(_)) | NormaliserStep::Replace(..)) = step else {
                return None;
            };
            let blank = Self(vec![(step.clone(), 1)]).normalized(" ", &Bounds::of(1)).ok()?;
            blank.chars().next().filter(|_| blank != " ")
        })
    }

    fn of_crate(&self) -> impl Iterator<Item = &NormalizerWrapper> {
        self.0.iter().filter_map(|(step, _)| match step {
            NormaliserStep::OfCrate(step) => Some(step),
            NormaliserStep::Replace(..) => None,
        })
    }
}

impl NormaliserStep {
    fn run(&self, text: &mut NormalizedString, bounds: &Bounds) -> Result<(), String> {
        let run = match self {
            // SentencePiece's table panics if it is damaged.
            Self::OfCrate(step) => quietly(|| step.normalize(text))
                .unwrap_or_else(|panic| Err(format!("the tokenizer's normalizer fails on this text ({panic})").into())),
            Self::Replace(pattern, content) => text.replace(pattern.until(bounds.end), content),
        };
        run.map_err(|error| error.to_string())
    }
}

/// A normaliser for the crate, which takes no notice of faults.
pub struct BoundedNormaliser<'a> {
    steps: &'a Normaliser,
    bounds: &'a Bounds,
    fault: OnceLock<String>,
}

impl BoundedNormaliser<'_> {
    /// # Errors
    /// In words: the first fault of a step.
    pub fn finish(self) -> Result<(), String> {
        self.fault.into_inner().map_or(Ok(()), Err)
    }
}

impl Normalizer for BoundedNormaliser<'_> {
    fn normalize(&self, text: &mut NormalizedString) -> tokenizers::Result<()> {
        if let Err(fault) = self.steps.run(text, self.bounds) {
            self.fault.get_or_init(|| fault);
        }
        Ok(())
    }
}

/// Reads a step of a normaliser, and how many bytes it makes of one at most.
fn normaliser_step(step: StepJson) -> Read<(NormaliserStep, usize)> {
    use NormalizerWrapper as Step;
    if step.kind == "Precompiled" {
        let (table, longest) = precompiled(&step)?;
        return Ok((NormaliserStep::OfCrate(table.into()), longest));
    }
    if let Some(pattern) = step.regex()?.filter(|_| step.kind == "Replace") {
        let content = step.text("content")?.to_owned();
        let growth = content.len() + 1;
        return Ok((NormaliserStep::Replace(pattern, content), growth));
    }
    let searched = step.fields.get("pattern").and_then(|pattern| pattern.get("String")?.as_str()).map_or(0, str::len);
    let read = step.read()?;
    let growth = match &read {
        Step::BertNormalizer(_) => 12,
        Step::Lowercase(_) | Step::ByteLevel(_) => 2,
        Step::NFC(_) | Step::NFD(_) => 3,
        Step::NFKC(_) | Step::NFKD(_) => 11,
        Step::Prepend(prepend) => prepend.prepend.len() + 1,
        // An empty text is found between all others.
        Step::Replace(replace) if searched == 0 => replace.content.len() + 1,
        Step::Replace(replace) => replace.content.len().div_ceil(searched).max(1),
        _ => 1,
    };
    Ok((NormaliserStep::OfCrate(read), growth))
}

/// SentencePiece's table of characters, and the most bytes that one of them becomes.
fn precompiled(step: &StepJson) -> Read<(Precompiled, usize)> {
    let written = step.text("precompiled_charsmap")?;
    let table = BASE64.decode(written.as_bytes()).ok().filter(|table| table.len() <= CHARSMAP_BYTES_MAX);
    // The length of a tree in bytes, the tree, and texts with a zero behind each.
    let texts = table.as_deref().and_then(|table| {
        let (length, rest) = table.split_first_chunk()?;
        rest.get(u32::from_le_bytes(*length) as usize / size_of::<u32>() * size_of::<u32>()..)
    });
    let longest = texts.into_iter().flat_map(|texts| texts.split(|byte| *byte == 0)).map(<[u8]>::len).max();
    match table.as_deref().zip(longest).map(|(table, longest)| (Precompiled::from(table), longest)) {
        Some((Ok(table), longest)) => Ok((table, longest.max(1))),
        _ => damaged(&step.place, "another `precompiled_charsmap`", "SentencePiece's table of characters, in Base64"),
    }
}

/// A step that splits a text.
#[derive(Clone, Debug)]
enum Splitter {
    OfCrate(PreTokenizerWrapper),
    Pattern { pattern: BoundedPattern, behavior: SplitDelimiterBehavior, invert: bool },
}

/// The steps that split a text into words, each with the most bytes that it makes of one.
#[derive(Clone, Debug, Default)]
pub struct Splitters(Vec<(Splitter, usize)>);

impl Splitters {
    pub fn read(pipeline: Option<Value>) -> Read<Self> {
        let steps = steps(pipeline, "pretokenizers", "pre_tokenizer")?;
        steps.into_iter().map(splitter).collect::<Read<_>>().map(Self)
    }

    /// Splits a text.
    ///
    /// # Errors
    /// In words, if a step makes too much of it, takes too long, or fails.
    pub fn run(&self, words: &mut PreTokenizedString, bounds: &Bounds) -> Result<(), String> {
        self.0.iter().try_for_each(|(splitter, growth)| {
            if *growth > 1 {
                let parts = words.get_splits(OffsetReferential::Original, OffsetType::None);
                bounds.check(parts.iter().map(|(part, ..)| part.len()).sum(), *growth)?;
            }
            splitter.run(words, bounds).map_err(|error| error.to_string())
        })
    }

    /// Says if the words are spelled by their bytes.
    pub fn spell_bytes(&self) -> bool {
        self.of_crate().any(|splitter| matches!(splitter, PreTokenizerWrapper::ByteLevel(_)))
    }

    /// Says if it is BERT's alone.
    pub fn are_bert(&self) -> bool {
        matches!(self.0[..], [(Splitter::OfCrate(PreTokenizerWrapper::BertPreTokenizer(_)), _)])
    }

    /// The character of SentencePiece's that stands for a blank.
    pub fn blank(&self) -> Option<char> {
        self.of_crate().find_map(|splitter| match splitter {
            PreTokenizerWrapper::Metaspace(blank) => Some(blank.get_replacement()),
            _ => None,
        })
    }

    /// Says if blanks are no part of any word.
    pub fn drop_blanks(&self) -> bool {
        const WORDS: &str = "a b";
        let mut words = PreTokenizedString::from(WORDS);
        let is_split = quietly(|| self.run(&mut words, &Bounds::of(WORDS.len())).is_ok()) == Ok(true);
        let parts = words.get_splits(OffsetReferential::Original, OffsetType::None);
        is_split && !parts.iter().any(|(part, ..)| part.contains(' '))
    }

    fn of_crate(&self) -> impl Iterator<Item = &PreTokenizerWrapper> {
        self.0.iter().filter_map(|(splitter, _)| match splitter {
            Splitter::OfCrate(splitter) => Some(splitter),
            Splitter::Pattern { .. } => None,
        })
    }
}

impl Splitter {
    fn run(&self, words: &mut PreTokenizedString, bounds: &Bounds) -> tokenizers::Result<()> {
        match self {
            Self::OfCrate(splitter) => splitter.pre_tokenize(words),
            Self::Pattern { pattern, behavior, invert } => {
                let pattern = pattern.until(bounds.end);
                words.split(|_, word| {
                    if *invert { word.split(Invert(pattern), *behavior) } else { word.split(pattern, *behavior) }
                })
            }
        }
    }
}

/// Reads a step that splits a text, and how many bytes it makes of one at most.
fn splitter(step: StepJson) -> Read<(Splitter, usize)> {
    if let Some(pattern) = step.regex()?.filter(|_| step.kind == "Split") {
        let Some(behavior) = step.fields.get("behavior").cloned() else { return missing(&step.place, "behavior") };
        let Ok(behavior) = serde_json::from_value(behavior.clone()) else {
            let found = format!("the behavior {}", quoted(&behavior.to_string()));
            return damaged(&step.place, found, "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
        };
        let invert = step.fields.get("invert") == Some(&Value::Bool(true));
        return Ok((Splitter::Pattern { pattern, behavior, invert }, 1));
    }
    let read = step.read()?;
    let growth = match &read {
        // Two bytes for one, and a blank before each word.
        PreTokenizerWrapper::ByteLevel(_) => 4,
        // Three bytes for a blank, and before each word.
        PreTokenizerWrapper::Metaspace(_) => 6,
        _ => 1,
    };
    Ok((Splitter::OfCrate(read), growth))
}
