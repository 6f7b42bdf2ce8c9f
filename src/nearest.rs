//! The valid name that is most like a wrong one.

/// Nobody mistypes a longer name into a valid one, and the distance would cost its square.
const CHARS_MAX: usize = 40;

/// The candidate with the fewest typing mistakes between it and `name`, if it is near enough to be
/// what was meant. Of equally near ones the first.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(CHARS_MAX + 1).collect();
    if wanted.len() > CHARS_MAX {
        return None;
    }
    // The most mistakes that would make a candidate the nearest.
    let mut allowed = wanted.len().div_ceil(3);
    let mut best = None;
    let mut lower = Vec::new();
    for candidate in candidates {
        lower.clear();
        lower.extend(candidate.chars().flat_map(char::to_lowercase).take(CHARS_MAX + allowed + 1));
        let Some(distance) = distance_within(&wanted, &lower, allowed) else { continue };
        best = Some(candidate);
        match distance.checked_sub(1) {
            Some(fewer) => allowed = fewer,
            None => break,
        }
    }
    best
}

/// The candidates that are near enough to be what was meant, at most `count`, the nearest first; of equally
/// near ones the first.
pub fn nearest_few<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>, count: usize) -> Vec<&'c str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(CHARS_MAX + 1).collect();
    if wanted.len() > CHARS_MAX {
        return Vec::new();
    }
    let allowed = wanted.len().div_ceil(3);
    let near = candidates.into_iter().filter_map(|candidate| {
        let lower: Vec<char> = candidate.chars().flat_map(char::to_lowercase).take(CHARS_MAX + allowed + 1).collect();
        Some((distance_within(&wanted, &lower, allowed)?, candidate))
    });
    let mut near: Vec<(usize, &str)> = near.collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// Typing mistakes between two words, if there are at most so many: a letter too many, too few,
/// wrong, or two neighbours exchanged (optimal string alignment). What lies further than the limit
/// off the diagonal of the table has more and is left out.
fn distance_within(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let far = limit + 1;
    // Rows i − 2, i − 1 and i of the table.
    let mut rows = [vec![far; b.len() + 1], (0..=b.len()).collect(), vec![far; b.len() + 1]];
    for i in 1..=a.len() {
        let [before_last, last, row] = &mut rows;
        row.fill(far);
        if i <= limit {
            row[0] = i;
        }
        let mut least = row[0];
        for j in i.saturating_sub(limit).max(1)..=(i + limit).min(b.len()) {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut distance = (last[j - 1] + same).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                distance = distance.min(before_last[j - 2] + 1);
            }
            row[j] = distance.min(far);
            least = least.min(row[j]);
        }
        if least > limit {
            return None;
        }
        rows.rotate_left(1);
    }
    Some(rows[1][b.len()]).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["sentences", "seed", "cells"];
        assert_eq!(nearest("sentenses", names), Some("sentences"));
        assert_eq!(nearest("cell", names), Some("cells"));
        assert_eq!(nearest("Seed", names), Some("seed"));
        assert_eq!(nearest("unrelated", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
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

    /// The whole table, as in a textbook.
    fn distance(a: &[char], b: &[char]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i * j == 0 {
                    i + j
                } else {
                    let wrong = usize::from(a[i - 1] != b[j - 1]);
                    (table[i - 1][j - 1] + wrong).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
                };
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    table[i][j] = table[i][j].min(table[i - 2][j - 2] + 1);
                }
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn the_distance_is_exact_up_to_its_limit() {
        // All words of up to four letters of two kinds.
        let words: Vec<Vec<char>> = (0..5u32)
            .flat_map(|length| (0..1u32 << length).map(move |bits| (0..length).map(move |i| bits >> i & 1)))
            .map(|bits| bits.map(|bit| if bit == 0 { 'a' } else { 'b' }).collect())
            .collect();
        for a in &words {
            for b in &words {
                for limit in 0..5 {
                    let expected = Some(distance(a, b)).filter(|distance| *distance <= limit);
                    assert_eq!(distance_within(a, b, limit), expected, "{a:?} {b:?} {limit}");
                }
            }
        }
    }
}
