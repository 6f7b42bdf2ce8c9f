//! Cards of a query and a key in a head: rule, formula and sentences for all settings of the forward pass, among which
//! a live page chooses as its viewer changes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use attune_core::kernel::snapshot::ModelSnapshot;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::quantity::{Entry, Owner, OwnerKind, Quantity};
use serde::Serialize;

use super::clauses::{Fact, Telling, Test};
use super::reader::EntryReader;
use super::rule::{Expr, Number, Rule, Setting};
use super::walk::Step;

/// The symbol, rules, formulas and sentences of a quantity, as a page stores them.
#[derive(Serialize)]
pub struct Card {
    symbol: String,
    /// Rules, each with the conditions under which it holds; empty for a quantity of which the page shows only the
    /// result.
    rules: Vec<(Vec<Test>, Expr)>,
    /// Indices in the page's list of formulas, each with the conditions under which the formula holds.
    formulas: Vec<(Vec<Test>, usize)>,
    #[serde(flatten)]
    telling: Telling,
}

/// The quantities whose whole card a page shows, with the steps of the walk to which they belong.
pub const WHOLE: [(Quantity, Step); 4] = [
    (Quantity::Product, Step::Score),
    (Quantity::Score, Step::Scale),
    (Quantity::Weight, Step::Softmax),
    (Quantity::TermLength, Step::Output),
];
/// The quantities whose result a page states, with the steps of the walk to which they belong.
pub const RESULTS: [(Quantity, Step); 7] = [
    (Quantity::Query, Step::Project),
    (Quantity::Product, Step::Score),
    (Quantity::Score, Step::Scale),
    (Quantity::Weight, Step::Softmax),
    (Quantity::Mix, Step::Mix),
    (Quantity::HeadLength, Step::Output),
    (Quantity::MoveLength, Step::Contextual),
];

/// Settings with which a formula is written.
#[derive(Clone, Copy)]
struct Settings {
    is_tempered: bool,
    is_scaled: bool,
    has_gain: bool,
}

impl EntryReader<'_> {
    /// Returns the cards of a head by quantity, and adds their formulas to those of the page; `None` if the head has no
    /// rule for one of the quantities.
    pub fn cards(&self, head: usize, formulas: &mut Vec<String>) -> Option<BTreeMap<String, Card>> {
        let mut cards = BTreeMap::new();
        for (quantity, _) in WHOLE {
            let mut rules = self.rules_of(quantity, head)?;
            let formulas = rules.iter().map(|(when, rule)| (when.clone(), place(rule.formula(), formulas))).collect();
            // Except for the weights, settings are numbers in the expression: the rules differ only in their formulas,
            // so the first one is enough.
            if quantity != Quantity::Weight {
                rules.truncate(1);
                rules[0].0.clear();
            }
            let rules = rules.into_iter().map(|(when, rule)| (when, rule.expression)).collect();
            let telling = self.telling(quantity.of_head(head, [0, 0]))?;
            cards.insert(key(quantity), Card { symbol: symbol(quantity), rules, formulas, telling });
        }
        for (quantity, _) in RESULTS.iter().filter(|(quantity, _)| WHOLE.iter().all(|(whole, _)| whole != quantity)) {
            let owner = match quantity.definition().owner {
                OwnerKind::Block => Owner::Block(self.head(head)?.block),
                _ => Owner::Head(head),
            };
            let entry = Entry { quantity: *quantity, owner, index: [0; 3] };
            let telling = Telling { result: self.telling(entry)?.result, ..Telling::default() };
            let card = Card { symbol: symbol(*quantity), rules: Vec::new(), formulas: Vec::new(), telling };
            cards.insert(key(*quantity), card);
        }
        Some(cards)
    }

    /// Returns the rules of a quantity for all settings, each with its conditions.
    fn rules_of(&self, quantity: Quantity, head: usize) -> Option<Vec<(Vec<Test>, Rule)>> {
        match quantity {
            Quantity::Product => Some(vec![(Vec::new(), self.product(head, 0, 0)?)]),
            Quantity::Score => self.scores_of(head),
            Quantity::Weight => Some(self.weight_rules(head, 0)?.into()),
            _ => self.lengths_of(head),
        }
    }

    fn scores_of(&self, head: usize) -> Option<Vec<(Vec<Test>, Rule)>> {
        let [_, temperature] = self.divisors(head)?;
        let mut all = Vec::new();
        for (is_tempered, is_scaled, is_hidden) in choices() {
            let when = vec![
                unless_equal(temperature.clone(), is_tempered),
                unless_equal(self.key_width(head)?, is_scaled),
                if is_hidden { Fact::Hidden.into() } else { Test::from(Fact::Hidden).negated() },
            ];
            let model = self.model_with(head, Settings { is_tempered, is_scaled, has_gain: false });
            all.push((when, self.with_model(&model).score_with(head, [0, 0], is_hidden)?));
        }
        Some(all)
    }

    fn lengths_of(&self, head: usize) -> Option<Vec<(Vec<Test>, Rule)>> {
        let gain: Expr = Number::plain(self.head(head)?.mode.gain().into()).set_by(Setting::Gain).into();
        let of = |has_gain: bool| {
            let model = self.model_with(head, Settings { is_tempered: false, is_scaled: true, has_gain });
            Some((vec![unless_equal(gain.clone(), has_gain)], self.with_model(&model).term_length(head, 0, 0)?))
        };
        Some(vec![of(false)?, of(true)?])
    }

    /// Returns the model with changes other than the learner's, so that formulas contain exactly the settings that are
    /// `true`.
    fn model_with(&self, head: usize, settings: Settings) -> ModelSnapshot {
        let mut heads = vec![HeadMode::Live; self.model.architecture.heads()];
        if settings.has_gain {
            heads[head] = HeadMode::Gain(2.0);
        }
        let temperature = Some(if settings.is_tempered { 2.0 } else { 1.0 });
        let changes = Interventions { temperature, scale: Some(settings.is_scaled), heads, ..Interventions::default() };
        ModelSnapshot { interventions: Arc::new(changes), ..self.model.clone() }
    }
}

/// Returns all combinations of three yes-or-no settings, beginning with the one in which all are `false`.
fn choices() -> impl Iterator<Item = (bool, bool, bool)> {
    (0..8).map(|bits: usize| (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0))
}

/// Returns the test that a setting differs from 1, or, if the setting does not count, the test that it equals 1.
fn unless_equal(setting: Expr, counts: bool) -> Test {
    let is_neutral = Test::Equal(setting, 1.0);
    if counts { is_neutral.negated() } else { is_neutral }
}

/// Returns the index of a formula in `all`, after adding it if it is new.
fn place(formula: String, all: &mut Vec<String>) -> usize {
    let known = all.iter().position(|known| *known == formula);
    known.unwrap_or_else(|| {
        all.push(formula);
        all.len() - 1
    })
}

/// Returns the key of a quantity in the cards of a page.
pub fn key(quantity: Quantity) -> String {
    format!("{quantity:?}")
}

/// Returns the symbol of a quantity in a line of text.
fn symbol(quantity: Quantity) -> String {
    let definition = quantity.definition();
    let short = definition.short.and_then(|short| short.split('(').next());
    short.map_or_else(|| definition.letter(), str::to_owned)
}
