//! The cards of heads, most of which differ from those of an earlier head only in a few words and numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::explain::cards::Card;

/// A card in full, or as the difference from another one.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum CardData {
    Whole(Value),
    Like {
        /// The head whose card of the same quantity is stored in full.
        like: usize,
        /// The leaves of the JSON that differ, by their place in it.
        except: BTreeMap<usize, Value>,
    },
}

/// Returns the cards of each head; a card is stored as its differences from the earlier card from which it differs
/// least.
pub(super) fn alike(
    heads: impl Iterator<Item = BTreeMap<String, Card>>,
) -> serde_json::Result<Vec<BTreeMap<String, CardData>>> {
    let mut wholes: BTreeMap<String, Vec<(usize, Value)>> = BTreeMap::new();
    let mut data = |head: usize, (quantity, card): (String, Card)| {
        let card = serde_json::to_value(card)?;
        let wholes = wholes.entry(quantity.clone()).or_default();
        let like = wholes.iter().filter_map(|(like, whole)| Some((*like, differences(whole, &card)?)));
        let data = match like.min_by_key(|(_, except)| except.len()) {
            Some((like, except)) => CardData::Like { like, except },
            None => {
                wholes.push((head, card.clone()));
                CardData::Whole(card)
            }
        };
        Ok((quantity, data))
    };
    heads.enumerate().map(|(head, cards)| cards.into_iter().map(|card| data(head, card)).collect()).collect()
}

/// Returns the leaves of `value` that differ from those of `whole`, by their place; `None` if it has another shape.
fn differences(whole: &Value, value: &Value) -> Option<BTreeMap<usize, Value>> {
    fn visit(whole: &Value, value: &Value, leaf: &mut usize, found: &mut BTreeMap<usize, Value>) -> bool {
        match (whole, value) {
            (Value::Array(whole), Value::Array(value)) => {
                whole.len() == value.len()
                    && whole.iter().zip(value).all(|(whole, value)| visit(whole, value, leaf, found))
            }
            (Value::Object(whole), Value::Object(value)) => {
                whole.keys().eq(value.keys())
                    && whole.values().zip(value.values()).all(|(whole, value)| visit(whole, value, leaf, found))
            }
            (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => false,
            _ => {
                if whole != value {
                    found.insert(*leaf, value.clone());
                }
                *leaf += 1;
                true
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(whole, value, &mut 0, &mut found).then_some(found)
}
