//! The files of each crate in order: no large circles of files, and few arrows that run up inside a folder.
//!
//! An arrow leads from a file to one whose names it uses, by a `use` or a path in its code; a name that a file only
//! passes on (`pub use`) is an arrow to where it is made. In a folder, the files and folders directly within are its
//! rooms. Rooms can be put one above the other so that most arrows run down: those that then still run up are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{code_and_tests, files};

/// The crates by their folders, each with the most circles of more than [`CIRCLE_MAX`] files that it may have. Lower a
/// number when circles are cut.
const CRATES: &[(&str, usize)] = &[
    ("src/engine", 0),
    ("src/core", 0),
    ("src/view", 0),
    ("src/app/ui", 0),
    ("src/app/panels", 0),
    ("src/app/stage", 0),
    ("src", 0),
];

/// Files of a circle that a reader can keep in mind.
const CIRCLE_MAX: usize = 3;

/// Share of a folder's arrows that may run up, in percent ...
const UP_MAX: usize = 5;

/// ... but for these folders: the most arrows that run up in each. Lower a number when arrows are turned.
const UP: &[(&str, usize)] = &[("src/core/kernel/saved_work", 1), ("src/view", 1)];

/// Rooms in a circle whose best order is looked for among all; a larger circle counts with all of its arrows.
const ORDERED_MAX: usize = 16;

/// The files of one crate, with the arrows between them.
struct Tree {
    /// Paths from the crate's folder.
    files: Vec<PathBuf>,
    arrows: BTreeMap<usize, BTreeSet<usize>>,
}

impl Tree {
    fn of(sources: &[(PathBuf, String)]) -> Self {
        let modules: Vec<Vec<String>> = sources.iter().map(|(path, _)| module_of(path)).collect();
        let places: BTreeMap<&[String], usize> =
            modules.iter().enumerate().map(|(file, module)| (&module[..], file)).collect();
        let named: Vec<Vec<UsedPath>> = sources.iter().map(|(_, source)| paths(&code_and_tests(source).0)).collect();
        let absolute = |file: usize, path: &UsedPath| absolute(&modules[file], &path.names, &places);
        let passed_on: BTreeMap<(usize, String), Vec<String>> = (0..sources.len())
            .flat_map(|file| named[file].iter().filter(|path| path.is_passed_on).map(move |path| (file, path)))
            .filter_map(|(file, path)| Some(((file, path.names.last()?.clone()), absolute(file, path)?)))
            .collect();
        let mut arrows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (file, paths) in named.iter().enumerate() {
            let own = paths.iter().filter(|path| !path.is_passed_on).filter_map(|path| absolute(file, path));
            let to = own.filter_map(|path| resolve(path, &places, &passed_on)).filter(|to| *to != file);
            arrows.entry(file).or_default().extend(to);
        }
        Self { files: sources.iter().map(|(path, _)| path.clone()).collect(), arrows }
    }

    /// Returns the circles of more than [`CIRCLE_MAX`] files.
    fn circles(&self) -> Vec<Vec<String>> {
        let large = circles(&self.arrows).into_iter().filter(|circle| circle.len() > CIRCLE_MAX);
        large.map(|circle| circle.iter().map(|&file| self.files[file].display().to_string()).collect()).collect()
    }

    /// Returns the folders with the number of arrows between the rooms of each, and of those that run up.
    fn folders(&self) -> BTreeMap<PathBuf, (usize, usize)> {
        let folders: BTreeSet<&Path> = self.files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let counted = folders.into_iter().map(|folder| {
            let mut rooms: Vec<&Path> = Vec::new();
            let mut room = |file: usize| -> Option<usize> {
                let name = Path::new(self.files[file].strip_prefix(folder).ok()?.components().next()?.as_os_str());
                let known = rooms.iter().position(|room| *room == name);
                Some(known.unwrap_or_else(|| {
                    rooms.push(name);
                    rooms.len() - 1
                }))
            };
            let mut arrows: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for (&from, targets) in &self.arrows {
                for &to in targets {
                    if let (Some(from), Some(to)) = (room(from), room(to))
                        && from != to
                    {
                        arrows.entry(from).or_default().insert(to);
                    }
                }
            }
            let all = arrows.values().map(BTreeSet::len).sum();
            let up = circles(&arrows).iter().map(|circle| upward(circle, &arrows)).sum();
            (folder.to_owned(), (all, up))
        });
        counted.collect()
    }
}

/// A path that a file names.
struct UsedPath {
    names: Vec<String>,
    /// It stands in a `pub use`.
    is_passed_on: bool,
}

/// Returns the module of a file: `a/b.rs` is `a::b`, and `a/mod.rs` is `a`.
fn module_of(file: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        file.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// Returns the paths of all uses in a code, and all others that begin at the crate, here or above.
fn paths(code: &str) -> Vec<UsedPath> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let statement = line.trim_start();
        let is_passed_on = statement.starts_with("pub");
        let visible = match statement.strip_prefix("pub(").and_then(|visible| visible.split_once(')')) {
            Some((_, visible)) => visible,
            None => statement.strip_prefix("pub ").unwrap_or(statement),
        };
        let Some(tree) = visible.trim_start().strip_prefix("use ") else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            tree.push_str(lines.next().unwrap_or(";"));
        }
        let mut of_tree = Vec::new();
        leaves(tree.split(';').next().unwrap_or_default(), &[], &mut of_tree);
        found.extend(of_tree.into_iter().map(|names| UsedPath { names, is_passed_on }));
    }
    let words = rest.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    let is_path = |word: &&str| ["crate::", "self::", "super::"].iter().any(|root| word.starts_with(root));
    // `pub(in crate::a)` says who may see a thing; it uses nothing.
    let visible = rest.matches("(in crate").count();
    let written: Vec<&str> = words.filter(is_path).collect();
    debug_assert!(visible <= written.len());
    let seen_by: BTreeSet<&str> = rest.split("(in ").skip(1).filter_map(|path| path.split(')').next()).collect();
    let used = written.into_iter().filter(|path| !seen_by.contains(path));
    found.extend(used.map(|path| {
        let names = path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        UsedPath { names, is_passed_on: false }
    }));
    found
}

/// Adds the paths of a tree of uses, `a::{b, c::d as e}`.
fn leaves(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
    let names = |path: &str| -> Vec<String> {
        let path = path.split(" as ").next().unwrap_or_default();
        let names = path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        before.iter().cloned().chain(names).collect()
    };
    let Some((path, inner)) = tree.split_once('{') else {
        found.extend(Some(names(tree)).filter(|path| path.len() > before.len()));
        return;
    };
    let before = names(path);
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    let (mut depth, mut begin) = (0, 0);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                leaves(&inner[begin..at], &before, found);
                begin = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns a path from the crate's root; `None` for one of another crate.
fn absolute(module: &[String], names: &[String], places: &BTreeMap<&[String], usize>) -> Option<Vec<String>> {
    let above = names.iter().take_while(|name| *name == "super").count();
    match names.first()?.as_str() {
        "crate" => Some(names[1..].to_vec()),
        "self" => Some([module, &names[1..]].concat()),
        "super" => Some([module.get(..module.len().checked_sub(above)?)?, &names[above..]].concat()),
        child => {
            let child = [module, &[child.to_owned()]].concat();
            places.contains_key(&child[..]).then(|| [module, names].concat())
        }
    }
}

/// Returns the file in which a path ends, past those that only pass its name on.
fn resolve(
    mut path: Vec<String>,
    places: &BTreeMap<&[String], usize>,
    passed_on: &BTreeMap<(usize, String), Vec<String>>,
) -> Option<usize> {
    /// Files through which a name is passed on, at most: a circle of them leads nowhere.
    const PASSED_ON_MAX: usize = 8;
    for _ in 0..PASSED_ON_MAX {
        let length = (0..=path.len()).rev().find(|&length| places.contains_key(&path[..length]))?;
        let file = places[&path[..length]];
        let Some(made) = path.get(length).and_then(|name| passed_on.get(&(file, name.clone()))) else {
            return Some(file);
        };
        path = [&made[..], &path[length + 1..]].concat();
    }
    None
}

/// Returns the sets of nodes that lead to each other.
fn circles(arrows: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Vec<usize>> {
    let reached = |from: usize| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(node) = next.pop() {
            next.extend(arrows.get(&node).into_iter().flatten().filter(|to| reached.insert(**to)));
        }
        reached
    };
    let all: BTreeMap<usize, BTreeSet<usize>> = arrows.keys().map(|&node| (node, reached(node))).collect();
    let circle = |&node: &usize| -> Vec<usize> {
        let leads_back = |to: &&usize| all.get(to).is_some_and(|reached| reached.contains(&node));
        all[&node].iter().filter(leads_back).copied().collect()
    };
    let circles: BTreeSet<Vec<usize>> = all.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}

/// Returns the arrows of a circle that run up in the order of its rooms in which fewest do.
fn upward(circle: &[usize], arrows: &BTreeMap<usize, BTreeSet<usize>>) -> usize {
    let to = |room: &usize| -> usize {
        let targets = arrows.get(room).into_iter().flatten();
        targets.filter_map(|to| circle.iter().position(|room| room == to)).map(|place| 1 << place).sum()
    };
    let targets: Vec<usize> = circle.iter().map(to).collect();
    if circle.len() > ORDERED_MAX {
        return targets.iter().map(|to| to.count_ones() as usize).sum();
    }
    // The fewest upward arrows with a set of rooms at the bottom, from smaller sets to larger ones.
    let mut fewest = vec![usize::MAX; 1 << circle.len()];
    fewest[0] = 0;
    for below in 0..fewest.len() {
        for (room, to) in targets.iter().enumerate().filter(|(room, _)| below >> room & 1 == 0) {
            let up = fewest[below] + (to & !below & !(1 << room)).count_ones() as usize;
            let with = below | 1 << room;
            fewest[with] = fewest[with].min(up);
        }
    }
    fewest[fewest.len() - 1]
}

/// Reads the files of a crate; folders of other crates within it are not its own.
fn tree(folder: &str) -> Tree {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let others = || CRATES.iter().map(|(other, _)| *other).filter(|other| other.len() > folder.len());
    let own = files(root, folder, "rs").into_iter().filter(|path| !others().any(|other| path.starts_with(other)));
    let sources = own.filter(|path| !path.ends_with("main.rs")).map(|path| {
        let source = fs::read_to_string(root.join(&path)).expect("UTF-8");
        (path.strip_prefix(folder).expect("it is in the folder").to_owned(), source)
    });
    Tree::of(&sources.collect::<Vec<_>>())
}

#[test]
fn no_new_circle_of_files() {
    for &(folder, allowed) in CRATES {
        let circles = tree(folder).circles();
        println!("{folder}: {} circles of more than {CIRCLE_MAX} files", circles.len());
        assert!(
            circles.len() <= allowed,
            "{folder} may have {allowed} circles of more than {CIRCLE_MAX} files; it has {}: {circles:#?}\n\
             Move what ties them into a file of its own, which neither knows.",
            circles.len(),
        );
    }
}

#[test]
fn few_arrows_run_up_in_a_folder() {
    let mut found = BTreeSet::new();
    for &(of_crate, _) in CRATES {
        for (folder, (arrows, up)) in tree(of_crate).folders() {
            let folder = Path::new(of_crate).join(folder);
            let agreed = UP.iter().find(|(agreed, _)| folder == Path::new(agreed));
            let allowed = agreed.map_or(arrows * UP_MAX / 100, |(_, up)| *up);
            if up > 0 {
                println!("{}: {up} of {arrows} arrows run up", folder.display());
            }
            assert!(up <= allowed, "{}: {up} of {arrows} arrows run up, of which {allowed} may", folder.display());
            found.insert(folder);
        }
    }
    let gone = UP.iter().find(|(folder, _)| !found.contains(Path::new(folder)));
    assert!(gone.is_none(), "{gone:?} is no folder of sources any more");
}

/// The twin of both: a made-up crate with a circle of four files, and one arrow up.
#[test]
fn a_circle_is_found_and_so_is_what_runs_up() {
    let sources = [
        ("lib.rs", "pub mod a;\npub mod b;\npub use crate::b::two::Made;\n"),
        ("a/mod.rs", "mod one;\nuse self::one::One;\nuse crate::{Made, b::two::{self, Two as Other}};"),
        ("a/one.rs", "use std::fmt;\n// use crate::b::Wrong;\npub(in crate::a) struct One;"),
        ("b/mod.rs", "pub mod two;\npub mod three;"),
        ("b/two.rs", "use super::three::Three;\npub struct Made;"),
        ("b/three.rs", "fn four() -> crate::four::Four { todo!() }"),
        ("four.rs", "use crate::a::One;\n#[cfg(test)]\nmod tests {\n    use crate::b::two::Two;\n}\n"),
    ];
    let sources = sources.map(|(path, source)| (PathBuf::from(path), source.to_owned()));
    let tree = Tree::of(&sources);
    assert_eq!(tree.circles(), [["a/mod.rs", "b/two.rs", "b/three.rs", "four.rs"]]);
    let folders = tree.folders();
    // From a to b, from b to four, and from four to a.
    assert_eq!(folders[Path::new("")], (3, 1));
    assert_eq!((folders[Path::new("a")], folders[Path::new("b")]), ((1, 0), (1, 0)));
}
