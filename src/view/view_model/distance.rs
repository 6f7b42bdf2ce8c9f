//! Distances from a query to a key, in words.

/// Distance from a query to a key that a column of `B` is for; below 0 where the key stands to the left.
pub fn distance_of(col: usize, cols: usize) -> isize {
    col as isize - cols as isize / 2
}

/// Names the key at a distance from its query: `a word 1 place to the left`.
pub fn at_distance(distance: isize) -> String {
    let side = if distance < 0 { "left" } else { "right" };
    match distance.unsigned_abs() {
        0 => "the word itself".to_owned(),
        1 => format!("a word 1 place to the {side}"),
        places => format!("a word {places} places to the {side}"),
    }
}
