//! The names that a code cell sees: the language's, the model's, and those of the cells above.

use std::iter::Peekable;
use std::sync::{Arc, LazyLock};

use crate::code::{Axis, Help, REFERENCE, Tensor};

use super::highlight::{KEYWORDS, Kind, Span};

/// Kinds of names, in the order in which they are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// Defined by this cell or one above.
    Variable,
    /// A tensor of the model.
    Tensor,
    Function,
    Keyword,
    /// The entry of an axis.
    Word,
}

impl NameKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::Tensor => "tensor",
            Self::Function => "function",
            Self::Keyword => "keyword",
            Self::Word => "word",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub name: String,
    pub kind: NameKind,
    /// Shape or value, or how it is called.
    pub detail: String,
    /// One line, or nothing.
    pub meaning: String,
    /// LaTeX, or nothing.
    pub equation: String,
    pub axes: Vec<Axis>,
}

impl Name {
    pub fn plain(name: impl Into<String>, kind: NameKind, detail: impl Into<String>) -> Self {
        let (name, detail) = (name.into(), detail.into());
        Self { name, kind, detail, meaning: String::new(), equation: String::new(), axes: Vec::new() }
    }

    /// A tensor of the model.
    pub fn tensor(name: impl Into<String>, tensor: &Tensor, meaning: impl Into<String>) -> Self {
        let meaning = meaning.into();
        let shape = tensor.shape().to_string();
        Self { axes: tensor.axes().to_vec(), meaning, ..Self::plain(name, NameKind::Tensor, shape) }
    }

    /// A function of a cell above.
    pub fn function(name: impl Into<String>, call: impl Into<String>) -> Self {
        Self::plain(name, NameKind::Function, call)
    }

    fn reference(help: &Help) -> Self {
        let (meaning, equation) = (help.meaning.to_owned(), help.equation.to_owned());
        Self { meaning, equation, ..Self::plain(help.name, NameKind::Function, help.call) }
    }
}

/// Names in the order in which they are defined. All cells of a notebook share them, and each sees those
/// above it, so that a thousand cells cost one list.
#[derive(Debug, Default)]
pub struct Names {
    all: Vec<Name>,
    /// Places in `all`, by name; of one name in order.
    by_name: Vec<usize>,
}

impl Names {
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        let all: Vec<Name> = names.into_iter().collect();
        let mut by_name: Vec<usize> = (0..all.len()).collect();
        by_name.sort_by(|&a, &b| (&all[a].name, a).cmp(&(&all[b].name, b)));
        Self { all, by_name }
    }

    /// The last one of that name among the first `seen`.
    fn find(&self, name: &str, seen: usize) -> Option<&Name> {
        let behind = self.by_name.partition_point(|&at| (self.all[at].name.as_str(), at) < (name, seen));
        let found = &self.all[*self.by_name.get(behind.checked_sub(1)?)?];
        (found.name == name).then_some(found)
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// Names that one cell sees; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    names: Arc<Names>,
    /// The first of them, up to the given number.
    seen: usize,
}

impl Scope {
    /// Names in order; where one stands twice, the later is seen.
    pub fn new(names: impl IntoIterator<Item = Name>) -> Self {
        let names = Arc::new(Names::new(names));
        Self { seen: names.all.len(), names }
    }

    /// The first of `names`, up to the given number.
    pub fn of(names: Arc<Names>, seen: usize) -> Self {
        Self { names, seen }
    }

    /// Found without looking at the names: what follows from the one follows from the other.
    pub fn is(&self, other: &Scope) -> bool {
        Arc::ptr_eq(&self.names, &other.names) && self.seen == other.seen
    }

    pub fn find(&self, name: &str) -> Option<&Name> {
        let of_language = || {
            let at = LANGUAGE.binary_search_by(|known| known.name.as_str().cmp(name)).ok()?;
            Some(&LANGUAGE[at])
        };
        self.names.find(name, self.seen).or_else(of_language)
    }

    /// Every name once, by name; of two the one that hides the other.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        let seen = self.names.by_name.iter().filter(|at| **at < self.seen).map(|&at| &self.names.all[at]);
        let mut own = Latest(seen.peekable()).peekable();
        let mut language = LANGUAGE.iter().peekable();
        std::iter::from_fn(move || match (own.peek(), language.peek()) {
            (Some(a), Some(b)) if a.name > b.name => language.next(),
            (Some(a), Some(b)) if a.name == b.name => {
                language.next();
                own.next()
            }
            (Some(_), _) => own.next(),
            (None, _) => language.next(),
        })
    }
}

/// The last one of those that follow each other with one name.
struct Latest<I: Iterator>(Peekable<I>);

impl<'a, I: Iterator<Item = &'a Name>> Iterator for Latest<I> {
    type Item = &'a Name;

    fn next(&mut self) -> Option<&'a Name> {
        let mut last = self.0.next()?;
        while let Some(next) = self.0.next_if(|next| next.name == last.name) {
            last = next;
        }
        Some(last)
    }
}

/// Names of the language, which every cell sees; sorted.
static LANGUAGE: LazyLock<Vec<Name>> = LazyLock::new(|| {
    let keywords = KEYWORDS.iter().map(|keyword| Name::plain(*keyword, NameKind::Keyword, ""));
    let mut all: Vec<Name> = keywords.chain(REFERENCE.iter().map(Name::reference)).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
});

/// A variable or function that a text defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub name: Name,
    /// The brackets that it stands in; the cells below see what stands in none.
    pub depth: usize,
    /// Its statement has ended: its own value does not see it yet.
    pub is_whole: bool,
}

/// Variables and functions that a text of these tokens defines, in order. Values are not known before it runs.
pub fn definitions(source: &str, spans: &[Span]) -> Vec<Definition> {
    let text = |span: &Span| &source[span.range.clone()];
    let last_end = spans.iter().rposition(|span| text(span) == ";");
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (i, pair) in spans.windows(2).enumerate() {
        let word = text(&pair[0]);
        match (pair[0].kind, word) {
            (Kind::Bracket, ")" | "]" | "}") => depth = depth.saturating_sub(1),
            (Kind::Bracket, _) => depth += 1,
            _ => {}
        }
        if pair[1].kind != Kind::Name {
            continue;
        }
        let name = text(&pair[1]);
        let (name, is_whole) = match word {
            "let" | "const" => {
                (Name::plain(name, NameKind::Variable, "of this cell"), last_end.is_some_and(|end| end > i))
            }
            // It is seen in its loop, which is deeper than what the cells below see.
            "for" => {
                let name = Name::plain(name, NameKind::Variable, "of this cell");
                found.push(Definition { name, depth: depth + 1, is_whole: true });
                continue;
            }
            "fn" => {
                let end =
                    spans[i..].iter().find(|span| text(span) == ")").map_or(pair[1].range.end, |end| end.range.end);
                (Name::function(name, &source[pair[1].range.start..end]), true)
            }
            _ => continue,
        };
        found.push(Definition { name, depth, is_whole });
    }
    found
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
        let scope = Scope::new([number("sum", 1.0)]);
        assert_eq!(scope.find("sum").map(|name| name.kind), Some(NameKind::Variable));
        assert_eq!(scope.names().filter(|name| name.name == "sum").count(), 1);
        assert_eq!(scope.find("nothing"), None);
    }

    #[test]
    fn a_cell_sees_what_stands_above_it() {
        let names = Arc::new(Names::new([number("b", 1.0), number("a", 2.0), number("b", 3.0)]));
        let seen = |count: usize| {
            let scope = Scope::of(names.clone(), count);
            let detail = |name| scope.find(name).map_or("none".to_owned(), |name| name.detail.clone());
            (detail("a"), detail("b"), scope.names().filter(|name| name.name.len() == 1).count())
        };
        let told = |a: &str, b: &str, count| (a.to_owned(), b.to_owned(), count);
        assert_eq!(seen(0), told("none", "none", 0));
        assert_eq!(seen(1), told("none", "= 1", 1));
        assert_eq!(seen(2), told("= 2", "= 1", 2));
        assert_eq!(seen(3), told("= 2", "= 3", 2));
    }

    #[test]
    fn names_come_by_name() {
        let scope = Scope::new([number("zz", 1.0), number("aa", 1.0), number("softmax", 1.0)]);
        let names: Vec<&str> = scope.names().map(|name| name.name.as_str()).collect();
        assert!(names.is_sorted() && names.len() == LANGUAGE.len() + 2, "{names:?}");
    }

    #[test]
    fn a_text_tells_what_it_defines() {
        let source = "let a = 1; fn twice(x) { let y = x; y } for i in 0..3 { } let b = [1";
        let found = definitions(source, &highlight(source));
        let told: Vec<_> = found.iter().map(|found| (found.name.name.as_str(), found.depth, found.is_whole)).collect();
        assert_eq!(told, [("a", 0, true), ("twice", 0, true), ("y", 1, true), ("i", 1, true), ("b", 0, false)]);
        assert_eq!(found[1].name.detail, "twice(x)");
    }
}
