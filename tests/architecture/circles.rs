//! Which file imports which, read off the text, and the circles that this makes.

use std::collections::{BTreeMap, BTreeSet};

/// From each file to the files that it imports from.
pub type Graph = BTreeMap<String, BTreeSet<String>>;

/// Sets of files of which each leads to each other, by way of imports. A file that does not lead back to itself is in
/// none.
pub fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = graph.keys().map(|from| (from, reachable(graph, from))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for from in graph.keys().filter(|from| reach[from].contains(from)) {
        if found.iter().any(|circle| circle.contains(from)) {
            continue;
        }
        let leads_back = |to: &&&String| reach.get(*to).is_some_and(|back| back.contains(from));
        found.push(reach[from].iter().filter(leads_back).map(|file| (*file).clone()).collect());
    }
    found
}

/// All files that imports lead to.
fn reachable<'a>(graph: &'a Graph, from: &'a String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in graph.get(next).into_iter().flatten() {
            if found.insert(to) {
                open.push(to);
            }
        }
    }
    found
}

/// The imports between files, given as paths below `src` with their texts.
///
/// A name that a module hands on by `pub use` counts as imported from the file that has it. Handing on is no import
/// itself, nor is declaring a child by `mod`; tests within a file do not count.
pub fn imports(files: &[(String, String)]) -> Graph {
    let modules: BTreeMap<Path, Module> =
        files.iter().map(|(file, text)| (module_path(file), Module::read(file, text))).collect();
    let mut graph = Graph::new();
    for (path, module) in modules.iter().filter(|(_, module)| !is_test(&modules, module)) {
        let targets = module.imports.iter().filter_map(|import| resolved(&modules, path, import, 0));
        let others = targets.filter(|target| *target != module.file);
        graph.insert(module.file.clone(), others.collect());
    }
    graph
}

/// `["kernel", "snapshot"]` of `kernel/snapshot.rs`, `["kernel"]` of `kernel/mod.rs`.
type Path = Vec<String>;

fn module_path(file: &str) -> Path {
    let whole = file.trim_end_matches(".rs");
    let whole = whole.strip_suffix("/mod").unwrap_or(whole);
    whole.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// The names of other modules in a file.
#[derive(Default)]
struct Module {
    file: String,
    /// Paths as they are written, by `use` or within the code.
    imports: Vec<Path>,
    /// Names that it hands on, each with the path that it has them from; `*` for all of that module's.
    hands_on: Vec<(String, Path)>,
    /// Children that exist in tests only.
    test_children: Vec<String>,
}

fn is_test(modules: &BTreeMap<Path, Module>, module: &Module) -> bool {
    let path = module_path(&module.file);
    let Some((name, parent)) = path.split_last() else { return false };
    modules.get(parent).is_some_and(|parent| parent.test_children.contains(name))
}

/// The file that has what a path names, if it is one of these.
fn resolved(modules: &BTreeMap<Path, Module>, from: &Path, path: &Path, depth: usize) -> Option<String> {
    /// A chain of modules that hand a name on is never longer.
    const DEPTH_MAX: usize = 8;
    if depth > DEPTH_MAX {
        return None;
    }
    let mut segments = path.iter().peekable();
    let mut at = from.clone();
    let mut is_relative = true;
    while let Some(segment) = segments.next_if(|segment| ["crate", "self", "super"].contains(&segment.as_str())) {
        match segment.as_str() {
            "crate" => at.clear(),
            "super" => _ = at.pop(),
            _ => {}
        }
        is_relative = false;
    }
    let child = |at: &Path, name: &String| -> Path { at.iter().chain([name]).cloned().collect() };
    // A path that begins with a name is one of the module's own children, or lies outside.
    if is_relative && !segments.peek().is_some_and(|name| modules.contains_key(&child(&at, name))) {
        return None;
    }
    for name in segments {
        let below = child(&at, name);
        if modules.contains_key(&below) {
            at = below;
            continue;
        }
        let module = modules.get(&at)?;
        let handed = module.hands_on.iter().find(|(handed, _)| handed == name);
        return match handed {
            Some((_, from)) => resolved(modules, &at, from, depth + 1).or_else(|| Some(module.file.clone())),
            None => Some(module.file.clone()),
        };
    }
    modules.get(&at).map(|module| module.file.clone())
}

impl Module {
    fn read(file: &str, text: &str) -> Self {
        let tokens = tokens(text);
        let mut module = Self { file: file.to_owned(), ..Self::default() };
        let mut rest = &tokens[..];
        let mut before = "";
        while let Some((token, after)) = rest.split_first() {
            let is_attribute = *token == "#" && after.first() == Some(&"[");
            rest = if is_attribute {
                module.after_attribute(rest)
            } else if *token == "pub" || *token == "use" {
                module.after_use(rest)
            } else if before != "::" && after.first() == Some(&"::") && is_name(token) {
                let (path, after) = path(rest);
                module.imports.push(path);
                after
            } else {
                after
            };
            before = token;
        }
        module
    }

    /// Leaves out an attribute, and behind `#[cfg(test)]` the module that it stands at.
    fn after_attribute<'a>(&mut self, tokens: &'a [&'a str]) -> &'a [&'a str] {
        let (attribute, rest) = tokens.split_at(1 + balanced(&tokens[1..]));
        if attribute.get(2) != Some(&"cfg") || !attribute.contains(&"test") || rest.first() != Some(&"mod") {
            return rest;
        }
        match rest {
            [_, name, ";", rest @ ..] => {
                self.test_children.push((*name).to_owned());
                rest
            }
            [_, _, block @ ..] => &block[balanced(block)..],
            _ => rest,
        }
    }

    /// Reads `use …;`, `pub use …;` or `pub(…) use …;`; passes over another `pub`.
    fn after_use<'a>(&mut self, tokens: &'a [&'a str]) -> &'a [&'a str] {
        let is_public = tokens[0] == "pub";
        let mut rest = if is_public { &tokens[1..] } else { tokens };
        if is_public && rest.first() == Some(&"(") {
            rest = &rest[balanced(rest)..];
        }
        if rest.first() != Some(&"use") {
            return rest;
        }
        let end = rest.iter().position(|token| *token == ";").unwrap_or(rest.len());
        let mut leaves = Vec::new();
        tree(&rest[1..end], &Path::new(), &mut leaves);
        for (name, path) in leaves {
            if is_public {
                self.hands_on.push((name, path));
            } else {
                self.imports.push(path);
            }
        }
        &rest[end..]
    }
}

/// The names that a tree of `use` brings, each with its path.
fn tree(tokens: &[&str], before: &Path, leaves: &mut Vec<(String, Path)>) {
    let mut rest = tokens;
    while !rest.is_empty() {
        // One branch, up to a comma outside of braces.
        let mut end = 0;
        while end < rest.len() && rest[end] != "," {
            end += if rest[end] == "{" { balanced(&rest[end..]) } else { 1 };
        }
        let mut at = before.clone();
        let (mut branch, mut name) = (&rest[..end], None);
        while let Some((token, after)) = branch.split_first() {
            branch = after;
            match *token {
                "{" => {
                    tree(&after[..after.len() - 1], &at, leaves);
                    (branch, name) = (&[], None);
                }
                "as" => {
                    name = after.first().map(|alias| (*alias).to_owned());
                    branch = &[];
                }
                "::" => {}
                "self" if !at.is_empty() => name = at.last().cloned(),
                "*" => name = Some("*".to_owned()),
                segment => {
                    at.push(segment.to_owned());
                    name = Some(segment.to_owned());
                }
            }
        }
        leaves.extend(name.map(|name| (name, at)));
        rest = rest.get(end + 1..).unwrap_or_default();
    }
}

/// A path at the start of some tokens, and what is behind it.
fn path<'a>(tokens: &'a [&'a str]) -> (Path, &'a [&'a str]) {
    let mut path = vec![tokens[0].to_owned()];
    let mut rest = &tokens[1..];
    while let ["::", name, after @ ..] = rest {
        if !is_name(name) {
            break;
        }
        path.push((*name).to_owned());
        rest = after;
    }
    (path, rest)
}

/// How many tokens a bracket at the start and all up to its partner are.
fn balanced(tokens: &[&str]) -> usize {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single signs; comments, the contents of strings, and characters are left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else if rest.starts_with("r\"") || rest.starts_with("r#") {
            raw_string_length(rest)
        } else if first == '\'' {
            character_length(rest)
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(&rest[..length]);
            length
        } else if rest.starts_with("::") {
            found.push("::");
            2
        } else {
            if !first.is_whitespace() {
                found.push(&rest[..first.len_utf8()]);
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// `r"…"`, `r#"…"#` and so on; `r#name` is a name.
fn raw_string_length(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|c| *c == '#').count();
    if text.as_bytes().get(1 + hashes) != Some(&b'"') {
        return 1 + hashes;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    text[2 + hashes..].find(&end).map_or(text.len(), |at| 2 + hashes + at + end.len())
}

/// A character, or the apostrophe of a lifetime.
fn character_length(text: &str) -> usize {
    let inside = &text[1..];
    if let Some(escape) = inside.strip_prefix('\\') {
        let after = escape.chars().next().map_or(0, char::len_utf8);
        return escape[after..].find('\'').map_or(text.len(), |end| 2 + after + end + 1);
    }
    let width = inside.chars().next().map_or(0, char::len_utf8);
    if inside[width..].starts_with('\'') { 1 + width + 1 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        edges.iter().map(|(from, to)| ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect())).collect()
    }

    fn names(circles: &[BTreeSet<String>]) -> Vec<Vec<&str>> {
        circles.iter().map(|circle| circle.iter().map(String::as_str).collect()).collect()
    }

    #[test]
    fn a_circle_is_what_leads_back_and_nothing_else() {
        // a → b → c → a with d hanging off it, e ⇄ f, and g alone.
        let graph = graph(&[
            ("a", &["b"]),
            ("b", &["c", "d"]),
            ("c", &["a"]),
            ("d", &["e"]),
            ("e", &["f"]),
            ("f", &["e"]),
            ("g", &["a"]),
        ]);
        assert_eq!(names(&circles(&graph)), [vec!["a", "b", "c"], vec!["e", "f"]]);
        assert!(circles(&self::graph(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    }

    #[test]
    fn two_circles_with_a_file_in_common_are_one() {
        let graph = graph(&[("a", &["b"]), ("b", &["a", "c"]), ("c", &["b"])]);
        assert_eq!(names(&circles(&graph)), [["a", "b", "c"]]);
    }

    fn imported(files: &[(&str, &str)], from: &str) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        imports(&files)[from].iter().cloned().collect()
    }

    #[test]
    fn a_name_that_is_handed_on_comes_from_the_file_that_has_it() {
        let files = [
            ("kernel/mod.rs", "mod one;\npub mod two;\npub use one::{First, Second as Other};\npub struct Own;"),
            ("kernel/one.rs", "pub struct First; pub struct Second;"),
            ("kernel/two.rs", "use crate::kernel::{First, two::Self_};\nuse super::Other;"),
            ("kernel/three.rs", "use super::Own;\nfn f() -> crate::kernel::two::Two { todo() }"),
        ];
        assert_eq!(imported(&files, "kernel/two.rs"), ["kernel/one.rs"]);
        assert_eq!(imported(&files, "kernel/three.rs"), ["kernel/mod.rs", "kernel/two.rs"]);
        assert_eq!(imported(&files, "kernel/mod.rs"), [""; 0], "declaring and handing on are no imports");
    }

    #[test]
    fn comments_strings_tests_and_other_crates_do_not_count() {
        let text = r##"
            //! See [`crate::kernel::two`].
            use std::sync::Arc;
            const TEXT: &str = "use crate::kernel::two;"; // crate::kernel::two
            const RAW: &str = r#"crate::kernel::two"#;
            const SIGN: char = '"';
            fn f<'a>(x: &'a str) -> [char; 2] { ['\'', 'x'] }
            #[cfg(test)]
            mod tests { use crate::kernel::two::Two; }
        "##;
        let files = [("kernel/one.rs", text), ("kernel/two.rs", "pub struct Two;")];
        assert_eq!(imported(&files, "kernel/one.rs"), [""; 0]);
    }

    #[test]
    fn a_parent_that_uses_its_child_imports_it() {
        let files = [
            ("kernel/mod.rs", "mod one;\nfn f() { one::first() }"),
            ("kernel/one.rs", "use super::{self as kernel};\npub fn first() {}"),
        ];
        assert_eq!(imported(&files, "kernel/mod.rs"), ["kernel/one.rs"]);
        assert_eq!(imported(&files, "kernel/one.rs"), ["kernel/mod.rs"]);
    }
}
