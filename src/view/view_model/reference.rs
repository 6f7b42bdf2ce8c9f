//! The reference of the language: the functions that a search finds.

use attune_engine::code::{Help, REFERENCE};

/// Those whose name or meaning has every word of the search; names first. All for an empty one.
pub fn found(search: &str) -> Vec<&'static Help> {
    let search = search.to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let (named, others): (Vec<&Help>, Vec<&Help>) = REFERENCE.iter().partition(|help| has(help.name));
    let meant = others.into_iter().filter(|help| has(&format!("{} {}", help.call, help.meaning)));
    named.into_iter().chain(meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_names_before_meanings() {
        let names = |search| found(search).iter().map(|help| help.name).collect::<Vec<_>>();
        assert_eq!(names("").len(), REFERENCE.len());
        assert_eq!(names("cos"), ["cosine", "nearest"]);
        assert_eq!(names("Into weights"), ["softmax"]);
        assert_eq!(names("no such thing"), Vec::<&str>::new());
    }
}
