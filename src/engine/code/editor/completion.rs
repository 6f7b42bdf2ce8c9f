//! Which of the names in scope of a code cell are meant by what is typed.

use std::ops::Range;

use crate::code::Axis;

use super::highlight::{Kind, Span, highlight, is_name, is_open};
use super::scope::{Name, NameKind, Scope, definitions};

/// A name that may be meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    pub name: Name,
    /// Bytes of the text that it replaces.
    pub replaces: Range<usize>,
    pub insert: String,
    /// Bytes of `insert` before the caret.
    pub caret: usize,
}

/// The names that the text before the caret may mean, the likeliest first.
pub fn completions(source: &str, caret: usize, scope: &Scope) -> Vec<Completion> {
    if !source.is_char_boundary(caret) {
        return Vec::new();
    }
    let spans = highlight(source);
    let touched = spans.iter().position(|span| span.range.start < caret && caret <= span.range.end);
    let goes_on = |span: &Span| span.range.end > caret || is_word(span) || is_open(source, span);
    let within = touched.map(|i| (i, &spans[i])).filter(|(_, span)| goes_on(span));
    match within {
        Some((i, span)) if span.kind == Kind::Text => words(source, caret, &spans, i, scope),
        Some((_, span)) if matches!(span.kind, Kind::Comment | Kind::Number) => Vec::new(),
        Some((i, span)) if is_word(span) => {
            let candidates =
                if follows_dot(source, &spans, i) { members() } else { in_scope(source, &spans, i, scope) };
            let typed = &source[span.range.start..caret];
            ranked(candidates, typed).map(|name| call(name, span.range.clone(), source)).collect()
        }
        _ => {
            let next = spans.iter().position(|span| span.range.start >= caret).unwrap_or(spans.len());
            let is_member = touched.is_some() && follows_dot(source, &spans, next);
            let candidates = if is_member { members() } else { in_scope(source, &spans, next, scope) };
            ranked(candidates, "").map(|name| call(name, caret..caret, source)).collect()
        }
    }
}

fn is_word(span: &Span) -> bool {
    matches!(span.kind, Kind::Name | Kind::Keyword | Kind::Number | Kind::Comment)
}

fn follows_dot(source: &str, spans: &[Span], i: usize) -> bool {
    let before = i.checked_sub(1).map(|i| &source[spans[i].range.clone()]);
    matches!(before, Some("." | "?."))
}

/// Names that may stand after a dot.
fn members() -> Vec<Name> {
    let turned = "Rows become columns.".to_owned();
    let equation = r"(A^\top)_{ij} = A_{ji}".to_owned();
    vec![Name { meaning: turned, equation, ..Name::plain("T", NameKind::Variable, "transposed") }]
}

/// The scope, and what the cell itself defines before span `i`.
fn in_scope(source: &str, spans: &[Span], i: usize, scope: &Scope) -> Vec<Name> {
    let mut own: Vec<Name> = Vec::new();
    for definition in definitions(source, &spans[..i.min(spans.len())]).into_iter().filter(|found| found.is_whole) {
        own.retain(|known| known.name != definition.name.name);
        own.push(definition.name);
    }
    let hides = |known: &&Name| !own.iter().any(|name| name.name == known.name);
    let given: Vec<Name> = scope.names().filter(hides).cloned().collect();
    own.into_iter().chain(given).collect()
}

/// Those that `typed` may mean: first those that start with it, then those that have its letters in order.
fn ranked(names: Vec<Name>, typed: &str) -> impl Iterator<Item = Name> {
    let mut found: Vec<(usize, Name)> =
        names.into_iter().filter_map(|name| likeness(&name.name, typed).map(|rank| (rank, name))).collect();
    found.sort_by(|(a_rank, a), (b_rank, b)| (a_rank, a.kind, &a.name).cmp(&(b_rank, b.kind, &b.name)));
    found.into_iter().map(|(_, name)| name)
}

/// Less is more alike.
fn likeness(name: &str, typed: &str) -> Option<usize> {
    let (lower, typed_lower) = (name.to_lowercase(), typed.to_lowercase());
    if name.starts_with(typed) {
        return Some(0);
    }
    if lower.starts_with(&typed_lower) {
        return Some(1);
    }
    let mut letters = lower.chars();
    typed_lower.chars().all(|letter| letters.any(|other| other == letter)).then_some(2)
}

/// A function brings its parentheses, unless they are there.
fn call(name: Name, replaces: Range<usize>, source: &str) -> Completion {
    let has_parentheses = source[replaces.end..].trim_start().starts_with('(');
    let mut insert = name.name.clone();
    let mut caret = insert.len();
    if name.kind == NameKind::Function && !has_parentheses {
        insert.push_str("()");
        caret += if name.detail.ends_with("()") { 2 } else { 1 };
    }
    Completion { name, replaces, insert, caret }
}

/// `A["ba`: the words of the axis.
fn words(source: &str, caret: usize, spans: &[Span], i: usize, scope: &Scope) -> Vec<Completion> {
    let Some(labels) = axis_of(source, spans, i, scope).and_then(|axis| axis.labels.as_ref()) else {
        return Vec::new();
    };
    let start = spans[i].range.start + 1;
    let Some(typed) = source.get(start..caret) else { return Vec::new() };
    // A string that is not closed runs on to the end of the line, over what is no part of the word.
    let end = source[caret..].find(|c| !is_name(c)).map_or(source.len(), |len| caret + len);
    let closed = source[end..].starts_with('"');
    let mut seen = std::collections::BTreeSet::new();
    let names = labels.iter().filter(|label| seen.insert(*label));
    let names = names.map(|label| Name::plain(label, NameKind::Word, "")).collect();
    ranked(names, typed)
        .map(|name| {
            let insert = if closed { name.name.clone() } else { format!("{}\"", name.name) };
            let caret = name.name.len() + 1;
            let caret = if closed { caret - 1 } else { caret };
            Completion { name, replaces: start..end, insert, caret }
        })
        .collect()
}

/// Which axis span `i` indexes, if it does.
fn axis_of<'a>(source: &str, spans: &[Span], i: usize, scope: &'a Scope) -> Option<&'a Axis> {
    let text = |span: &Span| &source[span.range.clone()];
    if !text(&spans[i]).starts_with('"') {
        return None;
    }
    let (mut depth, mut axis) = (0_usize, 0);
    for (at, span) in spans[..i].iter().enumerate().rev() {
        match text(span) {
            ")" | "]" | "}" => depth += 1,
            "[" if depth == 0 => {
                let name = spans.get(at.checked_sub(1)?)?;
                return scope.find(text(name))?.axes.get(axis);
            }
            "(" | "{" | "#{" if depth == 0 => return None,
            "(" | "[" | "{" | "#{" | "${" => depth = depth.saturating_sub(1),
            "," if depth == 0 => axis += 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Tensor;

    fn scope() -> Scope {
        let words: crate::code::Labels = ["bank", "of", "river"].map(str::to_owned).into();
        let axis = Axis::labelled(words);
        let weights = Tensor::new(vec![axis.clone(), axis], vec![0.0; 9]);
        Scope::new([
            Name::tensor("A", &weights, "Attention weights."),
            Name::tensor("W_Q", &Tensor::matrix(2, 3, vec![0.0; 6]), ""),
            Name::plain("sharp", NameKind::Variable, "= 2.5"),
        ])
    }

    /// Names that are offered at `|`.
    fn offered(text: &str) -> Vec<String> {
        let caret = text.find('|').unwrap();
        let source = text.replacen('|', "", 1);
        completions(&source, caret, &scope()).into_iter().map(|found| found.name.name).collect()
    }

    /// The text after the first is accepted, with the caret as `|`.
    fn accepted(text: &str) -> String {
        let caret = text.find('|').unwrap();
        let mut source = text.replacen('|', "", 1);
        let first = completions(&source, caret, &scope()).remove(0);
        source.replace_range(first.replaces.clone(), &first.insert);
        source.insert(first.replaces.start + first.caret, '|');
        source
    }

    #[test]
    fn what_starts_with_it_comes_before_what_contains_its_letters() {
        assert_eq!(offered("so|"), ["softmax", "show"].map(str::to_owned));
        assert_eq!(offered("w|")[..2], ["while", "W_Q"]);
        assert_eq!(offered("sh|"), ["sharp", "shape", "show", "switch"]);
        assert_eq!(offered("zzz|"), Vec::<String>::new());
    }

    #[test]
    fn everything_is_offered_where_nothing_is_typed() {
        let all = offered("let a = |");
        assert_eq!(all[..3], ["sharp", "A", "W_Q"]);
        assert!(all.contains(&"softmax".to_owned()) && all.contains(&"while".to_owned()));
    }

    #[test]
    fn the_cells_own_names_are_offered_from_their_definition_on() {
        assert_eq!(offered("let scores = 1; sco|")[0], "scores");
        assert!(!offered("sco|; let scores = 1;").contains(&"scores".to_owned()));
        let source = "fn twice(x) { x + x } twi";
        let found = &completions(source, source.len(), &scope())[0];
        assert_eq!((found.name.kind, found.name.detail.as_str()), (NameKind::Function, "twice(x)"));
    }

    #[test]
    fn behind_a_dot_stands_a_member() {
        assert_eq!(offered("W_Q.|"), ["T"]);
        assert_eq!(offered("W_Q.T|"), ["T"]);
        assert!(offered("1..|").len() > 1, "a range is no dot");
    }

    #[test]
    fn within_an_index_stand_the_words_of_the_axis() {
        assert_eq!(offered("A[\"|\"]"), ["bank", "of", "river"]);
        assert_eq!(offered("A[\"bank\", \"r|"), ["river"]);
        assert_eq!(offered("W_Q[\"|\"]"), Vec::<String>::new());
        assert_eq!(offered("show(\"|\")"), Vec::<String>::new());
        assert_eq!(accepted("A[\"bank\", \"r|"), "A[\"bank\", \"river\"|");
        assert_eq!(accepted("A[\"r|\"]"), "A[\"river|\"]");
    }

    #[test]
    fn comments_and_numbers_complete_nothing() {
        for text in ["// so|", "/* so| */", "12|", "\"so|\""] {
            assert_eq!(offered(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_function_brings_its_parentheses() {
        assert_eq!(accepted("let p = softm|;"), "let p = softmax(|);");
        assert_eq!(accepted("softm|(S)"), "softmax|(S)");
        assert_eq!(accepted("sh|"), "sharp|");
    }
}
