//! The pages for people are true: their links lead somewhere, the files and names that they list are there, and doc
//! comments name what they describe.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::files;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The header of a table that lists files with names that stand in them. It is checked row by row.
const FILES_HEADER: &str = "| file | names |";

fn text(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_else(|why| panic!("{}: {why}", page.display()))
}

/// README, CONTRIBUTING, the pages of `docs`, and the references beside the code.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let named = [
        "README.md",
        "CONTRIBUTING.md",
        "lessons/TEACHING.md",
        "src/core/lesson/format.md",
        "src/view/export/evidence/evidence.md",
        "src/view/export/trace.md",
    ];
    named
        .iter()
        .map(|name| root.join(name))
        .chain(files(root, "docs", "md").into_iter().map(|page| root.join(page)))
        .collect()
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn links_lead_to_files() {
    let mut links = 0;
    for page in pages() {
        let text = text(&page);
        // Between fences stand examples, which have their own folder.
        let prose: String = text.split("```").step_by(2).collect();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in
            targets.filter(|link| !link.contains("://") && !link.starts_with(['#']) && !link.starts_with("attune:"))
        {
            let file = page.with_file_name("").join(link.split('#').next().unwrap_or_default());
            assert!(file.exists(), "{} points at {link}, which is not there", page.display());
            links += 1;
        }
    }
    assert!(links > 20, "{links} links");
}

/// A row of such a table has a path, and names that stand in that file. A path with `NAME` in it is a file to be
/// made; its folder is there.
#[test]
fn listed_files_have_the_names_that_are_listed() {
    let mut rows = 0;
    for page in pages() {
        let text = text(&page);
        let mut in_table = false;
        for line in text.lines() {
            in_table = line.starts_with(FILES_HEADER) || (in_table && line.starts_with('|'));
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let Some(path) = quoted(cells[0]).next().filter(|_| in_table) else { continue };
            let file = Path::new(ROOT).join(path);
            if path.contains("NAME") {
                let folder = file.parent().expect("a folder");
                assert!(folder.is_dir(), "{}: no folder for {path}", page.display());
                continue;
            }
            let source = fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}: no file {path}", page.display()));
            for name in quoted(cells[1]) {
                assert!(source.contains(name), "{}: {name} is not in {path}", page.display());
            }
            rows += 1;
        }
    }
    assert!(rows > 20, "{rows} rows");
}

/// A doc comment begins with a noun or a verb, not with a word that leaves its subject open.
#[test]
fn doc_comments_name_their_subject() {
    const HEADLESS: [&str; 5] = ["Of", "What", "Nor", "It", "And so"];
    /// Lines whose subject is clear all the same, such as the second sentence of a comment. Read one by one.
    const MOST: usize = 8;
    let root = Path::new(ROOT);
    let sources = files(root, "src", "rs").into_iter().map(|path| root.join(path));
    let mut found = Vec::new();
    for file in sources {
        for (number, line) in text(&file).lines().enumerate() {
            let line = line.trim_start();
            let Some(words) = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! ")) else { continue };
            let begins = |word: &str| words.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ',']));
            if HEADLESS.into_iter().any(begins) {
                found.push(format!("{}:{}: {words}", file.display(), number + 1));
            }
        }
    }
    assert!(found.len() <= MOST, "{} doc lines without a subject:\n{}", found.len(), found.join("\n"));
}

/// A comment fits into the same width as code, which `rustfmt` does not see to. Rows of tables and code within a
/// comment cannot be wrapped.
#[test]
fn comments_fit_the_width_of_the_code() {
    const WIDTH: usize = 120;
    let root = Path::new(ROOT);
    let mut found = Vec::new();
    for file in ["src", "tests", "benches", "examples"].into_iter().flat_map(|folder| files(root, folder, "rs")) {
        let mut is_code = false;
        for (number, line) in text(&root.join(&file)).lines().enumerate() {
            let comment = line.trim_start().strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']));
            let Some(comment) = comment else {
                is_code = false;
                continue;
            };
            is_code ^= comment.trim_start().starts_with("```");
            let cannot_wrap = is_code || comment.trim_start().starts_with('|') || comment.starts_with("    ");
            if line.chars().count() > WIDTH && !cannot_wrap {
                found.push(format!("{}:{}", file.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "comments wider than {WIDTH} columns:\n{}", found.join("\n"));
}
