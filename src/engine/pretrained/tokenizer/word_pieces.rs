//! A tokenizer's parts for a program that cuts texts by itself, such as the scripts of a page.

use serde::Serialize;
use tokenizers::{ModelWrapper, PreTokenizerWrapper};

use super::Tokenizer;
use super::template::TemplatePart;

/// The prefix of pieces that continue a word.
const PREFIX: &str = "##";

/// BERT's cut of a text without capitals and accents: into words and marks, and each word into the longest pieces that the
/// vocabulary has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WordPieces {
    prefix: &'static str,
    /// The piece of a word that cannot be cut.
    unknown: u32,
    /// Characters of a word; a longer word is unknown.
    longest: usize,
    /// Pieces that a text spells out, which are never cut.
    spelled: Vec<String>,
    /// Pieces that the tokenizer adds before and after a text.
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Tokenizer {
    /// The parts of a tokenizer that cuts as BERT does without capitals, and `None` of any other.
    pub fn word_pieces(&self) -> Option<WordPieces> {
        let ModelWrapper::WordPiece(model) = &self.model else { return None };
        let added = self.added.get_added_tokens_decoder().values();
        let is_plain =
            added.clone().all(|piece| !(piece.single_word || piece.lstrip || piece.rstrip || piece.normalized));
        let is_bert = self.normaliser.is_uncased_bert()
            && matches!(self.splitters[..], [PreTokenizerWrapper::BertPreTokenizer(_)])
            && model.continuing_subword_prefix == PREFIX
            && is_plain;
        let mut spelled: Vec<String> = added.map(|piece| piece.content.clone()).collect();
        spelled.sort();
        let (before, after) = self.around().filter(|_| is_bert)?;
        let (unknown, longest) = (self.id_of(&model.unk_token)?, model.max_input_chars_per_word);
        Some(WordPieces { prefix: PREFIX, unknown, longest, spelled, before, after })
    }

    /// Pieces before and after a text, of a tokenizer that gives both the same token type as the text.
    fn around(&self) -> Option<(Vec<u32>, Vec<u32>)> {
        let (mut before, mut after, mut is_behind) = (Vec::new(), Vec::new(), false);
        for part in &self.template.single {
            match part {
                TemplatePart::Text { segment: 0, .. } => is_behind = true,
                TemplatePart::Added { ids, segment: 0 } => if is_behind { &mut after } else { &mut before }.extend(ids),
                TemplatePart::Text { .. } | TemplatePart::Added { .. } => return None,
            }
        }
        Some((before, after))
    }
}
