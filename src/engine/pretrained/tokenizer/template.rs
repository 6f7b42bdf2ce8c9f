//! The template by which a tokenizer adds pieces: `[CLS] A [SEP]`, and `[CLS] A [SEP] B [SEP]` for a pair of texts.
//!
//! The crate's own implementation is not used, because it does not keep the place of an added piece and the text that
//! it belongs to.

use serde::Serialize;

use super::json::{JsonEntries, PostProcessorJson, SpecialJson, TemplatePartJson};
use super::refuse::{Read, SAVE_AGAIN, damaged, missing, refuse};
use crate::pretrained::refusal::quoted;

/// A part of a template: pieces or a text, with the segment that it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum TemplatePart {
    /// Pieces that the tokenizer adds, by their ids.
    Added { ids: Vec<u32>, segment: usize },
    /// A text, by its number.
    Text { text: usize, segment: usize },
}

/// The order of the texts and the added pieces in an encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pub single: Vec<TemplatePart>,
    /// Template of a pair of texts; `None` if the model has no pairs.
    pub pair: Option<Vec<TemplatePart>>,
}

fn added(id: u32, segment: usize) -> TemplatePart {
    TemplatePart::Added { ids: vec![id], segment }
}

impl Template {
    /// Returns the template of a text without added pieces, as in GPT-2.
    pub fn plain() -> Self {
        Self { single: vec![TemplatePart::Text { text: 0, segment: 0 }], pair: None }
    }

    /// Returns BERT's template, in which the second text and its end are the second segment.
    fn bert([start, end]: [u32; 2]) -> Self {
        Self::between(start, end, vec![TemplatePart::Text { text: 1, segment: 1 }, added(end, 1)])
    }

    /// Returns RoBERTa's template, which has two ends between the texts, and one segment.
    fn roberta([start, end]: [u32; 2]) -> Self {
        Self::between(start, end, vec![added(end, 0), TemplatePart::Text { text: 1, segment: 0 }, added(end, 0)])
    }

    /// Returns the template of a text between a start and an end, followed by `second` in a pair.
    fn between(start: u32, end: u32, second: Vec<TemplatePart>) -> Self {
        let single = vec![added(start, 0), TemplatePart::Text { text: 0, segment: 0 }, added(end, 0)];
        Self { pair: Some([single.clone(), second].concat()), single }
    }

    /// Returns the template of a target: `language` replaces each added piece except `end`.
    pub fn with_language(&self, language: u32, end: Option<u32>) -> Self {
        let changed = |id: &u32| if Some(*id) == end { *id } else { language };
        let part = |part: &TemplatePart| match part {
            TemplatePart::Added { ids, segment } => {
                TemplatePart::Added { ids: ids.iter().map(changed).collect(), segment: *segment }
            }
            TemplatePart::Text { .. } => part.clone(),
        };
        Self { single: self.single.iter().map(part).collect(), pair: None }
    }

    /// Returns the parts of the template of a single text up to the text, which is included.
    pub fn until_text(&self) -> &[TemplatePart] {
        let text = self.single.iter().position(|part| matches!(part, TemplatePart::Text { .. }));
        text.map_or(&self.single, |text| &self.single[..=text])
    }

    /// Reads the post-processor that adds pieces, if there is one. `has` returns whether an id has a piece.
    pub fn read(step: Option<&PostProcessorJson>, has: &dyn Fn(u32) -> bool) -> Read<Self> {
        let mut template = None;
        if let Some(step) = step {
            read_step(step, "post_processor", has, &mut template)?;
        }
        Ok(template.unwrap_or_else(Self::plain))
    }
}

fn read_step(
    step: &PostProcessorJson,
    place: &str,
    has: &dyn Fn(u32) -> bool,
    into: &mut Option<Template>,
) -> Read<()> {
    let ends = || match (&step.cls, &step.sep) {
        (Some((_, start)), Some((_, end))) => {
            [*start, *end].iter().try_for_each(|id| check_id(*id, has, place))?;
            Ok([*start, *end])
        }
        (None, _) => missing(place, "cls"),
        (_, None) => missing(place, "sep"),
    };
    let template =
        match step.kind.as_str() {
            // This step only sets the form of offsets, which does not change here.
            "ByteLevel" => return Ok(()),
            "BertProcessing" => Template::bert(ends()?),
            "RobertaProcessing" => Template::roberta(ends()?),
            "TemplateProcessing" => read_parts(step, place, has)?,
            "Sequence" => {
                let Some(steps) = &step.processors else { return missing(place, "processors") };
                return steps.0.iter().enumerate().try_for_each(|(number, step)| {
                    read_step(step, &format!("{place}.processors[{number}]"), has, into)
                });
            }
            other => {
                let supported = "TemplateProcessing or BertProcessing or RobertaProcessing or ByteLevel or Sequence";
                return refuse(place, format!("the type {}", quoted(other)), supported, SAVE_AGAIN);
            }
        };
    match into.replace(template) {
        None => Ok(()),
        Some(_) => refuse(place, "a second step that adds pieces", "one", SAVE_AGAIN),
    }
}

fn check_id(id: u32, has: &dyn Fn(u32) -> bool, place: &str) -> Read<()> {
    if has(id) { Ok(()) } else { damaged(place, format!("the id {id}"), "an id of the vocabulary") }
}

fn read_parts(step: &PostProcessorJson, place: &str, has: &dyn Fn(u32) -> bool) -> Read<Template> {
    let specials = step.special_tokens.as_ref().map(|JsonEntries(entries)| entries.as_slice()).unwrap_or_default();
    let Some(single) = &step.single else { return missing(place, "single") };
    let place = |field: &str| format!("{place}.{field}");
    let single = parts_of(&single.0, specials, &place("single"), has)?;
    if texts_of(&single) != [0] {
        return damaged(&place("single"), "other sequences", "the sequence A once");
    }
    let pair = step.pair.as_ref().filter(|pair| !pair.0.is_empty());
    let pair = pair.map(|pair| parts_of(&pair.0, specials, &place("pair"), has)).transpose()?;
    // If the second text came first, the ranges of the pieces would go back.
    let pair = pair.filter(|pair| texts_of(pair) != [1, 0]);
    if pair.as_ref().is_some_and(|pair| texts_of(pair) != [0, 1]) {
        return damaged(&place("pair"), "other sequences", "the sequences A and B once, in this order");
    }
    Ok(Template { single, pair })
}

fn texts_of(parts: &[TemplatePart]) -> Vec<usize> {
    let text = |part: &TemplatePart| match part {
        TemplatePart::Text { text, .. } => Some(*text),
        TemplatePart::Added { .. } => None,
    };
    parts.iter().filter_map(text).collect()
}

fn parts_of(
    parts: &[TemplatePartJson],
    specials: &[(String, SpecialJson)],
    place: &str,
    has: &dyn Fn(u32) -> bool,
) -> Read<Vec<TemplatePart>> {
    let part = |part: &TemplatePartJson| match part {
        TemplatePartJson::Sequence { id, type_id } => {
            let segment = *type_id as usize;
            match id.as_str() {
                "A" => Ok(TemplatePart::Text { text: 0, segment }),
                "B" => Ok(TemplatePart::Text { text: 1, segment }),
                other => damaged(place, format!("the sequence {}", quoted(other)), "A or B"),
            }
        }
        TemplatePartJson::SpecialToken { id, type_id } => {
            let Some((_, special)) = specials.iter().find(|(name, _)| name == id) else {
                return damaged(place, format!("the special token {}", quoted(id)), "one of `special_tokens`");
            };
            special.ids.0.iter().try_for_each(|id| check_id(*id, has, place))?;
            Ok(TemplatePart::Added { ids: special.ids.0.clone(), segment: *type_id as usize })
        }
    };
    parts.iter().map(part).collect()
}
