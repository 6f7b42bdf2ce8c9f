//! The lesson that `attune new` writes: small, working and commented.

use super::limits::ID_CHARS_MAX;

const STARTER: &str = include_str!("starter.ron");

/// The id is made of the file's name: small letters, digits, `-` and `_` stay, anything else becomes `_`.
pub fn of_name(name: &str) -> String {
    let is_of_an_id = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    let lower = name.to_lowercase();
    let id: String =
        lower.chars().take(ID_CHARS_MAX).map(|letter| if is_of_an_id(letter) { letter } else { '_' }).collect();
    let id = if id.is_empty() { "lesson".to_owned() } else { id };
    STARTER.replace("id: \"NAME\"", &format!("id: \"{id}\"")).replace("NAME.ron", &format!("{name}.ron"))
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
