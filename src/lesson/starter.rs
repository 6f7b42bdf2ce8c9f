//! The lessons that `attune new` writes: a small, working and commented one, or a copy of another.

use super::limits::ID_CHARS_MAX;

const STARTER: &str = include_str!("starter.ron");

/// The starter lesson for a file of this name.
pub fn of_name(name: &str) -> String {
    STARTER.replace("id: \"NAME\"", &format!("id: \"{}\"", id(name))).replace("NAME.ron", &format!("{name}.ron"))
}

/// Another lesson's text for a file of this name: with an id of its own, so that work on the two is kept apart.
pub fn copy_of(text: &str, name: &str) -> String {
    // The first field of this name is the lesson's; those of cells come later.
    let Some((before, rest)) = text.split_once("id: \"") else { return text.to_owned() };
    let Some((_, after)) = rest.split_once('"') else { return text.to_owned() };
    format!("{before}id: \"{}\"{after}", id(name))
}

/// The id of a file's name: small letters, digits, `-` and `_` stay, anything else becomes `_`.
fn id(name: &str) -> String {
    let is_of_an_id = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    let lower = name.to_lowercase();
    let id: String =
        lower.chars().take(ID_CHARS_MAX).map(|letter| if is_of_an_id(letter) { letter } else { '_' }).collect();
    if id.is_empty() { "lesson".to_owned() } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::parse;

    #[test]
    fn whatever_the_file_is_called_the_lesson_has_no_issues() {
        let long = "x".repeat(500);
        for (name, id) in
            [("swim", "swim"), ("My Lesson ä", "my_lesson__"), ("", "lesson"), (&*long, &long[..ID_CHARS_MAX])]
        {
            let lesson = parse("new.ron", &of_name(name)).unwrap_or_else(|issues| panic!("{name:?}: {issues:?}"));
            assert_eq!(lesson.id, id);
        }
    }
}
