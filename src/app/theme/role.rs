//! The three roles of a vector in attention, each with one hue, in words, formulas and pictures.

use attune_engine::quantity::Quantity;
use egui::Color32;

use super::Palette;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Query,
    Key,
    Value,
}

impl Role {
    /// The role of the vectors that a quantity is of; none of a number of two of them.
    pub fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Query => Some(Self::Query),
            Quantity::Key => Some(Self::Key),
            Quantity::Value | Quantity::Mix => Some(Self::Value),
            _ => None,
        }
    }

    /// The role that a word names.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "query" | "queries" => Some(Self::Query),
            "key" | "keys" => Some(Self::Key),
            "value" | "values" => Some(Self::Value),
            _ => None,
        }
    }

    /// The role that a letter stands for, in a formula that speaks of attention.
    pub fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'q' | 'Q' => Some(Self::Query),
            'k' | 'K' => Some(Self::Key),
            'v' | 'V' => Some(Self::Value),
            _ => None,
        }
    }

    pub fn hue(self, palette: &Palette) -> Color32 {
        match self {
            Self::Query => palette.query,
            Self::Key => palette.key,
            Self::Value => palette.value,
        }
    }
}
