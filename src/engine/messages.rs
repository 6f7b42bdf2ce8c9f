//! Parts of messages: a count with its noun, a head that does not exist, and the valid name most like a misspelt one.

use std::fmt::Display;

use strsim::osa_distance;

/// Length of the longest name that gets a suggestion, in characters. A longer name is hardly a misspelling of a valid
/// one, and the cost grows with the square of the length.
const CHARS_MAX: usize = 40;

/// Writes a count with its noun, such as `1 row` and `2 rows`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    counted_as(count, noun, &format!("{noun}s"))
}

/// Writes a count with the words that follow it, for one and for more: `1 file is`, `2 files are`.
pub fn counted_as<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, more: &str) -> String {
    format!("{count} {}", if count == N::from(1_u8) { one } else { more })
}

/// Writes the message that a model with `heads` heads has none at index `head`; the message counts heads from 1.
pub fn no_head(head: usize, heads: usize) -> String {
    format!("there is no head {}; the model has {heads}", head.saturating_add(1))
}

/// Declares an enum whose variants have names in texts and files.
macro_rules! named {
    ($(#[$about:meta])* pub enum $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        pub enum $type { $($(#[$doc])* $variant,)* }

        impl $type {
            /// All variants, in the order of their declaration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

pub(crate) use named;

/// Returns a text of at most `most` characters. If the given text is longer, the last character that is returned is
/// `…`.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Returns the candidate with the fewest typing errors between it and `name`, if it is similar enough to be what was
/// meant. Of several equally similar ones the first is returned.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let misspelt = MisspeltName::new(name)?;
    let mut best = None;
    // Once a candidate is found, only a better one counts, so that a long vocabulary is searched quickly.
    let mut limit = misspelt.limit;
    for candidate in candidates {
        let Some(distance) = misspelt.distance_within(limit, candidate) else { continue };
        best = Some(candidate);
        match distance.checked_sub(1) {
            Some(fewer) => limit = fewer,
            None => break,
        }
    }
    best
}

/// Returns at most `count` candidates that are similar enough to be what was meant, most similar first, and equally
/// similar ones in the given order.
pub fn nearest_few<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>, count: usize) -> Vec<&'c str> {
    let Some(misspelt) = MisspeltName::new(name) else { return Vec::new() };
    let near = candidates.into_iter().map(|candidate| (misspelt.distance_within(misspelt.limit, candidate), candidate));
    let mut near: Vec<(Option<usize>, &str)> = near.filter(|(distance, _)| distance.is_some()).collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// A misspelt name, in lower case.
struct MisspeltName {
    name: String,
    length: usize,
    /// Largest number of typing errors between the name and a suggestion: one for every three letters, rounded up.
    limit: usize,
}

impl MisspeltName {
    fn new(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let length = name.chars().take(CHARS_MAX + 1).count();
        (length <= CHARS_MAX).then(|| Self { name, length, limit: length.div_ceil(3) })
    }

    /// Returns the number of inserted, missing, wrong and swapped letters, or `None` if it is above `limit`. Capitals
    /// count as small letters.
    fn distance_within(&self, limit: usize, candidate: &str) -> Option<usize> {
        let candidate = candidate.to_lowercase();
        let length = candidate.chars().take(CHARS_MAX + limit + 1).count();
        if length.abs_diff(self.length) > limit {
            return None;
        }
        let distance =
            if limit == 0 { usize::from(candidate != self.name) } else { osa_distance(&self.name, &candidate) };
        (distance <= limit).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_follows_its_count() {
        assert_eq!([0, 1, 2_usize].map(|count| counted(count, "row")), ["0 rows", "1 row", "2 rows"]);
        assert_eq!([1, 2_u64].map(|count| counted_as(count, "try", "tries")), ["1 try", "2 tries"]);
    }

    #[test]
    fn a_long_text_is_cut_by_letters_and_has_a_sign() {
        let cuts = [("bank", 4), ("banks", 4), ("größer", 5), ("", 4)].map(|(text, most)| cut(text, most));
        assert_eq!(cuts, ["bank", "ban…", "größ…", ""]);
    }

    #[test]
    fn finds_what_was_meant() {
        let names = ["sentences", "seed", "cells"];
        assert_eq!(nearest("sentenses", names), Some("sentences"));
        assert_eq!(nearest("cell", names), Some("cells"));
        assert_eq!(nearest("Seed", names), Some("seed"));
        assert_eq!(nearest("esed", names), Some("seed"));
        assert_eq!(nearest("unrelated", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
        assert_eq!(nearest("seed", [&*"x".repeat(1_000_000), "seeds"]), Some("seeds"));
        assert_eq!(nearest("ab", ["ba", "ab", "AB"]), Some("ab"));
    }

    #[test]
    fn finds_all_that_may_be_meant() {
        let names = ["pears", "peer", "pear", "plum", "bear"];
        assert_eq!(nearest_few("pear", names, 3), ["pear", "pears", "peer"]);
        assert_eq!(nearest_few("pear", names, 9).len(), 4);
        assert_eq!(nearest_few("unrelated", names, 3), [""; 0]);
        assert_eq!(nearest_few(&"x".repeat(1_000_000), names, 3), [""; 0]);
    }
}
