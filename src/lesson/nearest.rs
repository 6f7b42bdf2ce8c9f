//! The valid name that is most like a wrong one.

use super::limits::WORD_CHARS_MAX;

/// The candidate with the fewest typing mistakes between it and `name`, if it is near enough to be
/// what was meant. Of equally near ones the first.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted = name.to_lowercase();
    let chars = wanted.chars().take(WORD_CHARS_MAX + 1).count();
    // Nobody mistypes a very long name into a valid one, and the distance would cost its square.
    if chars > WORD_CHARS_MAX {
        return None;
    }
    let allowed = chars.div_ceil(3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len() > 4 * WORD_CHARS_MAX || candidate.chars().count().abs_diff(chars) > allowed {
            continue;
        }
        let distance = strsim::osa_distance(&wanted, &candidate.to_lowercase());
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant() {
        let names = ["sentences", "seed", "cells"];
        assert_eq!(nearest("sentenses", names), Some("sentences"));
        assert_eq!(nearest("cell", names), Some("cells"));
        assert_eq!(nearest("Seed", names), Some("seed"));
        assert_eq!(nearest("unrelated", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }
}
