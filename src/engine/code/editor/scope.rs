//! The names that a code cell sees (of the language, the model, and the cells above), and which of them may complete
//! the typed text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use super::highlight::{KEYWORDS, Span, SpanKind, highlight, is_name, is_open};
use crate::code::{Axis, Help, REFERENCE, Tensor};
use crate::messages::named;

named! {
    /// Kinds of names, in the order in which completion offers them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum NameKind {
        /// A variable that this cell or one above defines.
        Variable = "variable",
        /// A tensor of the model.
        Tensor = "tensor",
        Function = "function",
        Keyword = "keyword",
        /// The word that names an entry of an axis.
        Word = "word",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub name: String,
    pub kind: NameKind,
    /// Shape, value, or how the function is called.
    pub detail: String,
    /// Meaning in one line, or empty.
    pub meaning: String,
    /// Equation in LaTeX, or empty.
    pub equation: String,
    pub axes: Vec<Axis>,
}

impl Name {
    pub fn plain(name: impl Into<String>, kind: NameKind, detail: impl Into<String>) -> Self {
        let (name, detail) = (name.into(), detail.into());
        Self { name, kind, detail, meaning: String::new(), equation: String::new(), axes: Vec::new() }
    }

    /// Makes the name of a tensor of the model.
    pub fn tensor(name: impl Into<String>, tensor: &Tensor, meaning: impl Into<String>) -> Self {
        let meaning = meaning.into();
        let shape = tensor.shape().to_string();
        Self { axes: tensor.axes().to_vec(), meaning, ..Self::plain(name, NameKind::Tensor, shape) }
    }

    /// Makes the name of a function that a cell above defines.
    pub fn function(name: impl Into<String>, call: impl Into<String>) -> Self {
        Self::plain(name, NameKind::Function, call)
    }

    fn reference(help: &Help) -> Self {
        let (meaning, equation) = (help.meaning.to_owned(), help.equation.to_owned());
        Self { meaning, equation, ..Self::plain(help.name, NameKind::Function, help.call) }
    }
}

/// Names in the order of their definitions. All cells of a notebook share them, and each sees those above it, so that a
/// thousand cells need one list only.
#[derive(Debug, Default)]
pub struct NotebookNames {
    all: Vec<Name>,
    /// Indices into `all`, sorted by name; indices of equal names stay in order.
    by_name: Vec<usize>,
}

impl NotebookNames {
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        let all: Vec<Name> = names.into_iter().collect();
        let mut by_name: Vec<usize> = (0..all.len()).collect();
        by_name.sort_by(|&a, &b| (&all[a].name, a).cmp(&(&all[b].name, b)));
        Self { all, by_name }
    }

    /// Returns the last name equal to `name` among the first `visible_count`, or `None` if there is none.
    fn find(&self, name: &str, visible_count: usize) -> Option<&Name> {
        let behind = self.by_name.partition_point(|&at| (self.all[at].name.as_str(), at) < (name, visible_count));
        let found = &self.all[*self.by_name.get(behind.checked_sub(1)?)?];
        (found.name == name).then_some(found)
    }
}

impl PartialEq for NotebookNames {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// The names that one cell sees; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct CompletionScope {
    names: Arc<NotebookNames>,
    /// Number of leading names that the cell sees.
    visible_count: usize,
}

impl CompletionScope {
    /// Makes a scope of all these names. Of equal names the last one is visible.
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        let names = Arc::new(NotebookNames::new(names));
        Self { visible_count: names.all.len(), names }
    }

    /// Makes a scope of the first `visible_count` names.
    pub fn of(names: Arc<NotebookNames>, visible_count: usize) -> Self {
        Self { names, visible_count }
    }

    /// Returns whether both are the same part of the same list, without comparing the names.
    pub fn is(&self, other: &CompletionScope) -> bool {
        Arc::ptr_eq(&self.names, &other.names) && self.visible_count == other.visible_count
    }

    pub fn find(&self, name: &str) -> Option<&Name> {
        let of_language = || {
            let at = LANGUAGE.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
            Some(&LANGUAGE[at])
        };
        self.names.find(name, self.visible_count).or_else(of_language)
    }

    /// Returns every visible name once, sorted by name. A later name hides an equal earlier one.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let all = LANGUAGE.iter().chain(self.names.all.iter().take(self.visible_count));
        all.map(|name| (name.name.as_str(), name)).collect::<BTreeMap<_, _>>().into_values()
    }
}

/// Names of the language, sorted, which every cell sees.
static LANGUAGE: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let keywords = KEYWORDS.iter().map(|keyword| Name::plain(*keyword, NameKind::Keyword, ""));
    let mut all: Vec<Name> = keywords.chain(REFERENCE.iter().map(Name::reference)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
});

/// A variable or function that a text defines.
#[derive(Clone, Debug, PartialEq)]
pub struct NameDefinition {
    pub name: Name,
    /// Number of brackets around the definition; the cells below see the name only if this is 0.
    pub depth: usize,
    /// Whether the statement of the definition has ended. Until then a variable is not visible, so its value cannot use
    /// it.
    pub is_whole: bool,
}

/// Returns the variables and functions that a text of these tokens defines, in order. Values are not known before it
/// runs.
pub fn definitions(source: &str, spans: &[Span]) -> Vec<NameDefinition> {
    let text = |span: &Span| &source[span.range.clone()];
    let last_end = spans.iter().rposition(|span| text(span) == ";");
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (i, pair) in spans.windows(2).enumerate() {
        let word = text(&pair[0]);
        match (pair[0].kind, word) {
            (SpanKind::Bracket, ")" | "]" | "}") => depth = depth.saturating_sub(1),
            (SpanKind::Bracket, _) => depth += 1,
            _ => {}
        }
        if pair[1].kind != SpanKind::Name {
            continue;
        }
        let name = text(&pair[1]);
        let (name, is_whole) = match word {
            "let" | "const" => {
                (Name::plain(name, NameKind::Variable, "of this cell"), last_end.is_some_and(|end| end > i))
            }
            // Visible in its loop only, so its depth is greater than that of names that other cells see.
            "for" => {
                let name = Name::plain(name, NameKind::Variable, "of this cell");
                found.push(NameDefinition { name, depth: depth + 1, is_whole: true });
                continue;
            }
            "fn" => {
                let end =
                    spans[i..].iter().find(|span| text(span) == ")").map_or(pair[1].range.end, |end| end.range.end);
                (Name::function(name, &source[pair[1].range.start..end]), true)
            }
            _ => continue,
        };
        found.push(NameDefinition { name, depth, is_whole });
    }
    found
}

/// A name that completes the typed text.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    pub name: Name,
    /// Range of bytes of the text that the completion replaces.
    pub replaces: Range<usize>,
    pub insert: String,
    /// Position of the caret within `insert`, in bytes.
    pub caret: usize,
}

/// Returns the names that may complete the text before the caret, most likely first.
pub fn completions(source: &str, caret: usize, scope: &CompletionScope) -> Vec<Completion> {
    if !source.is_char_boundary(caret) {
        return Vec::new();
    }
    let spans = highlight(source);
    let touched = spans.iter().position(|span| span.range.start < caret && caret <= span.range.end);
    let goes_on = |span: &Span| span.range.end > caret || is_word(span) || is_open(source, span);
    let within = touched.map(|i| (i, &spans[i])).filter(|(_, span)| goes_on(span));
    match within {
        Some((i, span)) if span.kind == SpanKind::Text => words(source, caret, &spans, i, scope),
        Some((_, span)) if matches!(span.kind, SpanKind::Comment | SpanKind::Number) => Vec::new(),
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
    matches!(span.kind, SpanKind::Name | SpanKind::Keyword | SpanKind::Number | SpanKind::Comment)
}

fn follows_dot(source: &str, spans: &[Span], i: usize) -> bool {
    let before = i.checked_sub(1).map(|i| &source[spans[i].range.clone()]);
    matches!(before, Some("." | "?."))
}

/// Returns the names that may follow a dot: only `T`, the transpose.
fn members() -> Vec<Name> {
    let turned = "Rows become columns.".to_owned();
    let equation = r"(A^\top)_{ij} = A_{ji}".to_owned();
    vec![Name { meaning: turned, equation, ..Name::plain("T", NameKind::Variable, "transposed") }]
}

/// Returns the names of the scope, and those that the cell itself defines before span `i`.
fn in_scope(source: &str, spans: &[Span], i: usize, scope: &CompletionScope) -> Vec<Name> {
    let mut own: Vec<Name> = Vec::new();
    for definition in definitions(source, &spans[..i.min(spans.len())]).into_iter().filter(|found| found.is_whole) {
        own.retain(|earlier| earlier.name != definition.name.name);
        own.push(definition.name);
    }
    let is_visible = |name: &&Name| !own.iter().any(|own| own.name == name.name);
    let visible: Vec<Name> = scope.names().filter(is_visible).cloned().collect();
    own.into_iter().chain(visible).collect()
}

/// Returns the names that match `typed`: first those that start with it, then those that contain its letters in order.
fn ranked(names: Vec<Name>, typed: &str) -> impl Iterator<Item = Name> {
    let mut found: Vec<(usize, Name)> =
        names.into_iter().filter_map(|name| likeness(&name.name, typed).map(|rank| (rank, name))).collect();
    found.sort_by(|(a_rank, a), (b_rank, b)| (a_rank, a.kind, &a.name).cmp(&(b_rank, b.kind, &b.name)));
    found.into_iter().map(|(_, name)| name)
}

/// Returns how well a name matches, where less is better, or `None` if it does not.
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

/// Completes a name; a function is inserted with parentheses unless they are already there.
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

/// Completes a string that is an index, such as `A["ba`, to the words of the axis.
fn words(source: &str, caret: usize, spans: &[Span], i: usize, scope: &CompletionScope) -> Vec<Completion> {
    let Some(labels) = axis_of(source, spans, i, scope).and_then(|axis| axis.labels.as_ref()) else {
        return Vec::new();
    };
    let start = spans[i].range.start + 1;
    let Some(typed) = source.get(start..caret) else { return Vec::new() };
    // An unclosed string runs to the end of the line, beyond the word.
    let end = source[caret..].find(|c| !is_name(c)).map_or(source.len(), |len| caret + len);
    let closed = source[end..].starts_with('"');
    let mut distinct = BTreeSet::new();
    let names = labels.iter().filter(|label| distinct.insert(*label));
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

/// Returns the axis that span `i` selects from, if it is a string within the index of a tensor in scope; otherwise
/// `None`.
fn axis_of<'a>(source: &str, spans: &[Span], i: usize, scope: &'a CompletionScope) -> Option<&'a Axis> {
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
    use crate::code::editor::highlight::highlight;

    fn number(name: &str, value: f64) -> Name {
        Name::plain(name, NameKind::Variable, format!("= {value}"))
    }

    #[test]
    fn a_name_hides_what_it_shadows() {
        let scope = CompletionScope::new([number("sum", 1.0)]);
        assert_eq!(scope.find("sum").map(|name| name.kind), Some(NameKind::Variable));
        assert_eq!(scope.names().filter(|name| name.name == "sum").count(), 1);
        assert_eq!(scope.find("nothing"), None);
    }

    #[test]
    fn a_cell_sees_what_stands_above_it() {
        let names = Arc::new(NotebookNames::new([number("b", 1.0), number("a", 2.0), number("b", 3.0)]));
        let lookups = |count: usize| {
            let scope = CompletionScope::of(names.clone(), count);
            let detail = |name| scope.find(name).map_or("none".to_owned(), |name| name.detail.clone());
            (detail("a"), detail("b"), scope.names().filter(|name| name.name.len() == 1).count())
        };
        let expected = |a: &str, b: &str, count| (a.to_owned(), b.to_owned(), count);
        assert_eq!(lookups(0), expected("none", "none", 0));
        assert_eq!(lookups(1), expected("none", "= 1", 1));
        assert_eq!(lookups(2), expected("= 2", "= 1", 2));
        assert_eq!(lookups(3), expected("= 2", "= 3", 2));
    }

    #[test]
    fn names_come_by_name() {
        let scope = CompletionScope::new([number("zz", 1.0), number("aa", 1.0), number("softmax", 1.0)]);
        let names: Vec<&str> = scope.names().map(|name| name.name.as_str()).collect();
        assert!(names.is_sorted() && names.len() == LANGUAGE.len() + 2, "{names:?}");
    }

    #[test]
    fn a_text_tells_what_it_defines() {
        let source = "let a = 1; fn twice(x) { let y = x; y } for i in 0..3 { } let b = [1";
        let found = definitions(source, &highlight(source));
        let summary: Vec<_> =
            found.iter().map(|found| (found.name.name.as_str(), found.depth, found.is_whole)).collect();
        assert_eq!(summary, [("a", 0, true), ("twice", 0, true), ("y", 1, true), ("i", 1, true), ("b", 0, false)]);
        assert_eq!(found[1].name.detail, "twice(x)");
    }
}

#[cfg(test)]
mod completion_tests {
    use super::*;
    use crate::code::Tensor;

    fn scope() -> CompletionScope {
        let words: crate::code::Labels = ["bank", "of", "river"].map(str::to_owned).into();
        let axis = Axis::labelled(words);
        let weights = Tensor::new(vec![axis.clone(), axis], vec![0.0; 9]);
        CompletionScope::new([
            Name::tensor("A", &weights, "Attention weights."),
            Name::tensor("W_Q", &Tensor::matrix(2, 3, vec![0.0; 6]), ""),
            Name::plain("sharp", NameKind::Variable, "= 2.5"),
        ])
    }

    /// Returns the names that are offered at `|`.
    fn offered(text: &str) -> Vec<String> {
        let caret = text.find('|').unwrap();
        let source = text.replacen('|', "", 1);
        completions(&source, caret, &scope()).into_iter().map(|found| found.name.name).collect()
    }

    /// Returns the text after the first completion is accepted, with the caret as `|`.
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
        assert_eq!(offered("w|")[..3], ["write", "while", "W_Q"]);
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
