//! The steps that normalize a text and split it into words, read from a file and run within bounds.
//!
//! Each step is the crate's, which also reads it. Files are bounded here: steps are few, a text that grows out of
//! proportion is an error, and regular expressions are [`BoundedPattern`]s.

use std::sync::OnceLock;
use std::time::Instant;

use data_encoding::BASE64;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokenizers::normalizers::Precompiled;
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::tokenizer::pattern::Invert;
use tokenizers::{
    NormalizedString, Normalizer, NormalizerWrapper, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
    PreTokenizerWrapper, SplitDelimiterBehavior,
};

use super::json::STEPS_MAX;
use super::pattern::{BoundedPattern, TIME_MAX};
use super::refuse::{Read, SAVE_AGAIN, damaged, missing, refuse};
use crate::panics::quietly;
use crate::pretrained::refusal::quoted;

/// Largest factor by which all steps together may lengthen a text, in addition to a fixed number of bytes.
const GROWTH_MAX: usize = 64;
const GROWTH_BYTES: usize = 1 << 16;
/// Largest text that a step may make, in bytes. The crate needs some forty bytes of memory for each of them.
const MADE_BYTES_MAX: usize = 5 << 20;
/// Largest factor by which a text may be longer after a step, in addition to a fixed number of bytes. It is smaller
/// than [`GROWTH_MAX`], which bounds the worst case, because no text is the worst case of every step.
const LONGER_MAX: usize = 8;
/// Largest size of SentencePiece's table of characters in bytes; that of XLM-R has 240,000.
pub const CHARSMAP_BYTES_MAX: usize = 4 << 20;

/// Pattern of a word in the tokenizers that attune writes for other programs, with models of lessons; text that does
/// not match is dropped.
pub const WORDS: &str = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'+[\p{L}\p{M}\p{N}]+)*";

/// The bounds of all steps on a text: the largest size that a step could make of it, the largest size after a step, and
/// the time at which all must end.
pub struct Bounds {
    bytes: usize,
    after: usize,
    end: Instant,
}

impl Bounds {
    /// Returns the bounds, starting now, for texts of the given number of bytes in all.
    pub fn of(bytes: usize) -> Self {
        let times = |factor: usize| bytes.saturating_mul(factor).saturating_add(GROWTH_BYTES);
        let end = Instant::now() + TIME_MAX;
        Self { bytes: times(GROWTH_MAX).min(MADE_BYTES_MAX), after: times(LONGER_MAX), end }
    }

    /// Refuses a step that could lengthen a text of `bytes` bytes too much.
    ///
    /// # Errors
    /// A message for the learner, if it could.
    pub fn check(&self, bytes: usize, growth: usize) -> Result<(), String> {
        within(bytes.saturating_mul(growth), self.bytes)
    }

    /// Refuses a text that a step has lengthened too much.
    fn check_after(&self, bytes: usize) -> Result<(), String> {
        within(bytes, self.after)
    }
}

fn within(bytes: usize, most: usize) -> Result<(), String> {
    match bytes <= most {
        true => Ok(()),
        false => Err(format!("the tokenizer's steps make more than {most} bytes of this text; write a shorter one")),
    }
}

/// A step of a pipeline in the form of the file.
struct StepJson {
    kind: String,
    fields: Map<String, Value>,
    place: String,
}

/// Reads the steps of a pipeline, including those of nested lists, in order.
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
        // The number of steps is limited, because each step copies the text.
        let found = format!("step {}", STEPS_MAX + 1);
        return refuse(place, found, format!("at most {STEPS_MAX} steps"), SAVE_AGAIN);
    }
    into.push(StepJson { kind, fields, place: place.to_owned() });
    Ok(())
}

impl StepJson {
    /// Reads the step as a type of the crate.
    fn read<T: DeserializeOwned>(mut self) -> Read<T> {
        self.fill();
        let step = Value::Object(self.fields);
        // The crate panics in cases where it could return an error.
        let read = quietly(|| serde_json::from_value(step)).map(|read| read.map_err(|error| error.to_string()));
        read.flatten().or_else(|error| {
            let found = format!("the step {}, which cannot be read ({}),", quoted(&self.kind), quoted(&error));
            refuse(&self.place, found, "a step of Hugging Face's tokenizers 0.23", SAVE_AGAIN)
        })
    }

    /// Fills in fields that older files lack and the crate requires.
    fn fill(&mut self) {
        let usual = match self.kind.as_str() {
            "BertNormalizer" => json!({ "clean_text": true, "handle_chinese_chars": true, "lowercase": true }),
            "Strip" => json!({ "strip_left": true, "strip_right": true }),
            "ByteLevel" => json!({ "add_prefix_space": true, "trim_offsets": true }),
            // The newer field follows from the older one.
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

    /// Returns the regular expression that the step searches for, if there is one.
    fn regex(&self) -> Read<Option<BoundedPattern>> {
        let regex = self.fields.get("pattern").and_then(|pattern| pattern.get("Regex")?.as_str());
        regex.map(|regex| BoundedPattern::read(regex, &self.place)).transpose()
    }

    fn text(&self, field: &str) -> Read<&str> {
        match self.fields.get(field).and_then(Value::as_str) {
            Some(text) => Ok(text),
            None => missing(&self.place, field),
        }
    }
}

/// A step of a normalizer.
#[derive(Clone, Debug)]
enum NormaliserStep {
    OfCrate(NormalizerWrapper),
    Replace(BoundedPattern, String),
}

/// The steps of a normalizer, each with the largest number of bytes that it makes of one byte.
#[derive(Clone, Debug, Default)]
pub struct Normaliser(Vec<(NormaliserStep, usize)>);

impl Normaliser {
    pub fn read(pipeline: Option<Value>) -> Read<Self> {
        let steps = steps(pipeline, "normalizers", "normalizer")?;
        steps.into_iter().map(normaliser_step).collect::<Read<_>>().map(Self)
    }

    /// Applies all steps to a text.
    ///
    /// # Errors
    /// A message, if a step lengthens it too much, or fails.
    pub fn normalized(&self, text: &str, bounds: &Bounds) -> Result<String, String> {
        let mut text = NormalizedString::from(text);
        self.run(&mut text, bounds).map(|()| text.get().to_owned())
    }

    fn run(&self, text: &mut NormalizedString, bounds: &Bounds) -> Result<(), String> {
        self.0.iter().try_for_each(|(step, growth)| {
            bounds.check(text.get().len(), *growth)?;
            step.run(text, bounds)?;
            bounds.check_after(text.get().len())
        })
    }

    /// Returns the normalizer in the form that the crate needs, within the given bounds; it stores the first fault.
    pub fn within<'a>(&'a self, bounds: &'a Bounds) -> BoundedNormaliser<'a> {
        BoundedNormaliser { steps: self, bounds, fault: OnceLock::new() }
    }

    /// Returns whether this is the normalizer of uncased BERT: without capitals, accents and control characters, and
    /// with Chinese characters treated like other letters.
    pub fn is_uncased_bert(&self) -> bool {
        let [(NormaliserStep::OfCrate(NormalizerWrapper::BertNormalizer(step)), _)] = &self.0[..] else { return false };
        step.clean_text && !step.handle_chinese_chars && step.strip_accents.unwrap_or(step.lowercase) && step.lowercase
    }

    /// Returns whether a step makes one character of several.
    pub fn composes(&self) -> bool {
        use NormalizerWrapper as Step;
        self.of_crate().any(|step| matches!(step, Step::NFC(_) | Step::NFKC(_) | Step::Precompiled(_)))
    }

    /// Returns whether a step puts a text before the whole text.
    pub fn prepends(&self) -> bool {
        self.of_crate().any(|step| matches!(step, NormalizerWrapper::Prepend(_)))
    }

    /// Returns whether a step replaces each character by the characters of its bytes.
    pub fn spells_bytes(&self) -> bool {
        self.of_crate().any(|step| matches!(step, NormalizerWrapper::ByteLevel(_)))
    }

    /// Returns the character that replaces a space, if there is one.
    pub fn blank(&self) -> Option<char> {
        // Each step that replaces texts is tried on a single space; the first that changes it gives the character.
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
            // The crate panics if SentencePiece's table is damaged.
            Self::OfCrate(step) => quietly(|| step.normalize(text))
                .unwrap_or_else(|panic| Err(format!("the tokenizer's normalizer fails on this text ({panic})").into())),
            Self::Replace(pattern, content) => text.replace(pattern.until(bounds.end), content),
        };
        run.map_err(|error| error.to_string())
    }
}

/// A normalizer in the form that the crate needs, which ignores faults.
pub struct BoundedNormaliser<'a> {
    steps: &'a Normaliser,
    bounds: &'a Bounds,
    fault: OnceLock<String>,
}

impl BoundedNormaliser<'_> {
    /// Returns the first fault of a step, if there was one.
    ///
    /// # Errors
    /// The message of that fault.
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

/// Reads a step of a normalizer. Also returns the largest number of bytes that it can make of one byte.
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
        // An empty text is found between all characters.
        Step::Replace(replace) if searched == 0 => replace.content.len() + 1,
        Step::Replace(replace) => replace.content.len().div_ceil(searched).max(1),
        _ => 1,
    };
    Ok((NormaliserStep::OfCrate(read), growth))
}

/// Reads SentencePiece's table of characters. Also returns the largest number of bytes that it can make of one byte.
fn precompiled(step: &StepJson) -> Read<(Precompiled, usize)> {
    let written = step.text("precompiled_charsmap")?;
    let table = BASE64.decode(written.as_bytes()).ok().filter(|table| table.len() <= CHARSMAP_BYTES_MAX);
    // The table is the length of the tree in bytes, the tree, and the texts, each followed by a zero byte.
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

/// The steps that split a text into words, each with the largest number of bytes that it makes of one byte.
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
    /// A message, if a step lengthens it too much, takes too long, or fails.
    pub fn run(&self, words: &mut PreTokenizedString, bounds: &Bounds) -> Result<(), String> {
        self.0.iter().try_for_each(|(splitter, growth)| {
            if *growth > 1 {
                let parts = words.get_splits(OffsetReferential::Original, OffsetType::None);
                bounds.check(parts.iter().map(|(part, ..)| part.len()).sum(), *growth)?;
            }
            splitter.run(words, bounds).map_err(|error| error.to_string())
        })
    }

    /// Returns whether a step converts words to the characters of their bytes.
    pub fn spell_bytes(&self) -> bool {
        self.of_crate().any(|splitter| matches!(splitter, PreTokenizerWrapper::ByteLevel(_)))
    }

    /// Returns whether the only step is BERT's.
    pub fn are_bert(&self) -> bool {
        matches!(self.0[..], [(Splitter::OfCrate(PreTokenizerWrapper::BertPreTokenizer(_)), _)])
    }

    /// Returns the character that stands for a space in SentencePiece.
    pub fn blank(&self) -> Option<char> {
        self.of_crate().find_map(|splitter| match splitter {
            PreTokenizerWrapper::Metaspace(blank) => Some(blank.get_replacement()),
            _ => None,
        })
    }

    /// Returns whether a space is put before the text.
    pub fn prepend(&self) -> bool {
        self.of_crate().any(|splitter| {
            matches!(splitter, PreTokenizerWrapper::Metaspace(blank) if blank.get_prepend_scheme() != PrependScheme::Never)
        })
    }

    /// Returns whether spaces belong to no word.
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

/// Reads a step that splits a text. Also returns the largest number of bytes that it can make of one byte.
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
        // Two bytes for one, and a space before each word.
        PreTokenizerWrapper::ByteLevel(_) => 4,
        // Three bytes for a space, and also before each word.
        PreTokenizerWrapper::Metaspace(_) => 6,
        _ => 1,
    };
    Ok((Splitter::OfCrate(read), growth))
}
