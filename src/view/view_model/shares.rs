//! How much of what is on the stage its axes show, in words: the one line of the picture that must not be wrong.

use std::sync::Arc;

use attune_core::kernel::data::shares::TokenShares;
use attune_core::kernel::snapshot::Snapshot;
use attune_engine::numerics::projection::AXES;
use attune_engine::numerics::shares::Shares;

/// Below this share the picture may mislead.
pub const LITTLE: f32 = 0.5;

/// Shares of the points of the stage and of their moves that the axes show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageShares {
    /// Of the vocabulary, where it is drawn.
    pub words: Option<Shares>,
    /// Of the tokens, static and after each layer.
    pub tokens: Arc<TokenShares>,
    /// The same with each word a point.
    of_words: Option<Arc<TokenShares>>,
    /// The layer whose own move the points show; none of points that go straight from static to contextual.
    pub layer: Option<usize>,
}

const MOVES: &str = "moves";

/// The share of a set of vectors that the axes show, with the name of the set.
pub type Shown = (&'static str, f32);

impl StageShares {
    pub fn of(snapshot: &Snapshot) -> Self {
        let is_drawn = !snapshot.lesson.static_embedding.is_pretrained();
        let words = snapshot.space.as_ref().filter(|_| is_drawn).and_then(|space| space.shares());
        let model = snapshot.model.as_ref();
        Self {
            words,
            tokens: model.map(|model| model.shares.clone()).unwrap_or_default(),
            of_words: model.and_then(|model| model.shares_of_words.clone()),
            layer: None,
        }
    }

    /// The shares of a stage whose words are one point each.
    #[must_use]
    pub fn by_words(self) -> Self {
        let tokens = self.of_words.clone().unwrap_or_else(|| self.tokens.clone());
        Self { tokens, ..self }
    }

    /// The set whose shares are given axis by axis: the vocabulary where it is drawn, else the outputs.
    pub fn by_axis(&self) -> Option<(&'static str, Shares)> {
        let outputs = || Some(("outputs", (*self.tokens.states.last()?)?));
        self.words.map(|words| ("words", words)).or_else(outputs)
    }

    /// Shares of the words and tokens where they are at a time from 0 to 1, and of the moves between; `flat_along` is the
    /// axis that a flat picture looks along.
    pub fn shown(&self, time: f32, flat_along: Option<usize>) -> Vec<Shown> {
        let TokenShares { states, moves, whole } = &*self.tokens;
        let last = states.len().saturating_sub(1);
        let (from, to, moved) = match self.layer {
            Some(layer) => (layer, layer + 1, moves.get(layer).copied().flatten()),
            None => (0, last, *whole),
        };
        let state = |stop: usize| Some((name(stop, last), states.get(stop).copied().flatten()?));
        let words = self.words.map(|words| ("words", words));
        // The words are the static vectors.
        let tokens = if time > 0.0 { state(to) } else { state(from).filter(|_| words.is_none() || from > 0) };
        let moves = moved.filter(|_| time > 0.0).map(|moved| (MOVES, moved));
        let all = words.into_iter().chain(tokens).chain(moves);
        all.map(|(name, shares)| (name, shares.seen(flat_along))).collect()
    }
}

/// The name of the tokens' vectors at a stop of their way.
fn name(stop: usize, last: usize) -> &'static str {
    match stop {
        0 => "static vectors",
        _ if stop == last => "outputs",
        _ => "states",
    }
}

/// Caption of the picture: how far it can be trusted, in as many words as there is room for, the longest first.
pub fn captions(shown: &[Shown], is_flat: bool) -> Vec<String> {
    let view = if is_flat { "2D" } else { "3D" };
    // The variance is named once: `34 % of the words' variance, 41 % of the outputs' and 60 % of the moves`.
    let of = |(at, (name, share)): (usize, &Shown)| match *name {
        MOVES => format!("{} of the {MOVES}", percent(*share)),
        name if at == 0 => format!("{} of the {name}' variance", percent(*share)),
        name => format!("{} of the {name}'", percent(*share)),
    };
    let short_of = |(name, share): &Shown| format!("{name} {}", percent(*share));
    let long = join(shown.iter().enumerate().map(of));
    let short = shown.iter().map(short_of).collect::<Vec<_>>().join(", ");
    if shown.is_empty() {
        return vec![format!("{view} is a projection. The numbers are exact."), format!("{view} is a projection.")];
    }
    if shown.iter().any(|(_, share)| *share < LITTLE) {
        return vec![
            format!("{view} shows {long}: points that look near may be far apart. The numbers are exact."),
            format!("{view} shows {long}: points that look near may be far apart."),
            format!("{view} shows {short}: points that look near may be far apart."),
            format!("{view}: {short}. Distances may mislead."),
        ];
    }
    vec![
        format!("{view} shows {long}. The numbers are exact."),
        format!("{view} shows {long}."),
        format!("{view} shows: {short}."),
    ]
}

/// `a, b and c`
fn join(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match &parts[..] {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A share in per cent; one that is nearly all, or nearly nothing, is not rounded to it.
pub fn percent(share: f32) -> String {
    const ROUNDING: f32 = 1e-5;
    let rounded = (share * 100.0).round();
    match share {
        _ if rounded == 100.0 && share < 1.0 - ROUNDING => ">99\u{a0}%".to_owned(),
        _ if rounded == 0.0 && share > ROUNDING => "<1\u{a0}%".to_owned(),
        _ => format!("{rounded:.0}\u{a0}%"),
    }
}

/// What the axes show of each set in 2D and in 3D, one line each, for the pointer.
pub fn lines(shares: &StageShares, names: &[&str]) -> Vec<String> {
    let sets = |flat_along: Option<usize>| shares.shown(1.0, flat_along);
    let flat = AXES - 1;
    let both = sets(Some(flat)).into_iter().zip(sets(None));
    let both =
        both.map(|((name, plane), (_, space))| format!("{name}: {} in 2D, {} in 3D", percent(plane), percent(space)));
    let by_axis = shares.by_axis();
    let along = names.iter().enumerate().filter_map(|(axis, name)| {
        let (of, shares) = by_axis?;
        Some(format!("{name}: {} of the {of}' variance", percent(shares.along(axis))))
    });
    along.chain(both).collect()
}
