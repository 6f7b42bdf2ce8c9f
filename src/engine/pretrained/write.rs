//! A model written as the folder of a pretrained one: what [`load`](super::load) reads, and what
//! transformers opens. Names and layouts are those of the [reader](super::names).

use super::cache::{CONFIG, WEIGHTS};
use super::config::{Config, Family};
use super::folder::{TOKENIZER, TOKENIZER_CONFIG};
use super::load::{architecture, wanted};
use super::safetensors::file;
use super::tokenizer::write::{Cut, MASK, NewTokenizer, UNKNOWN};
use crate::numerics::model::Readout;
use crate::numerics::params::TensorId;

/// A file of a folder, by its name.
pub type NewFile = (&'static str, Vec<u8>);

impl Family {
    /// The pieces behind the words of a vocabulary: one for a word that is none of it, and one that hides a word, where
    /// the family guesses hidden words.
    pub fn special_pieces(self) -> &'static [&'static str] {
        match self {
            Self::Bert | Self::DistilBert => &[UNKNOWN, MASK],
            _ => &[UNKNOWN],
        }
    }
}

/// The tokenizer of a lesson's words.
pub fn of_words(words: &[String], family: Family) -> NewTokenizer<'_> {
    NewTokenizer { own: words, special: family.special_pieces(), cut: Cut::Words }
}

impl NewTokenizer<'_> {
    /// Its files, beside a model that reads so many tokens.
    pub fn files(&self, tokens_max: usize) -> Vec<NewFile> {
        vec![(TOKENIZER, self.to_json().into_bytes()), (TOKENIZER_CONFIG, self.config(tokens_max).into_bytes())]
    }
}

/// The files of a folder with a model, but for its tokenizer's. `entry` is an entry of a tensor in the shapes of the
/// config.
pub fn files(config: &Config, readout: Readout, entry: impl Fn(TensorId, usize, usize) -> f32) -> Vec<NewFile> {
    let tensors = config.tensors(&wanted(config, &architecture(config, readout)), entry);
    let tensors = tensors.iter().map(|(name, tensor)| (name.clone(), (&tensor.shape[..], &tensor.numbers[..])));
    vec![(CONFIG, config.to_json().into_bytes()), (WEIGHTS, file(&tensors.collect()))]
}
