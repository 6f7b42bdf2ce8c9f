//! Sources as the tests of the structure and of the budget read them: code without comments and inline tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the module of a file's own tests begins.
const INLINE_TESTS: &str = "#[cfg(test)]\nmod ";

/// Returns the files of a folder and of those within that have this ending, in order, each by its path from `root`.
pub fn files(root: &Path, folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("a folder of sources").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == ending) {
                found.push(path.strip_prefix(root).expect("it is below the root").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Splits a Rust source into its code and the code of its inline tests.
pub fn code_and_tests(source: &str) -> (String, String) {
    let (mut code, mut tests) = (without_comments(source), String::new());
    while let Some(begin) = code.find(INLINE_TESTS) {
        let end = code[begin..].find("\n}").map_or(code.len(), |end| begin + end + "\n}".len());
        tests.push_str(&code[begin..end]);
        code.replace_range(begin..end, "");
    }
    (code, tests)
}

/// Returns the number of lines that are not blank.
pub fn lines(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Removes the comments of a Rust source; those of other languages with the same comments too.
pub fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else {
            let length = literal(rest, code.chars().next_back()).unwrap_or(first.len_utf8());
            code.push_str(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    code
}

/// Returns the length of the comment that a text begins with; comments may stand within each other.
fn block_comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += "/*".len();
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += "*/".len();
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Returns the length of the string or character that a text begins with, if it does; `before` is what stands before
/// it.
fn literal(text: &str, before: Option<char>) -> Option<usize> {
    let is_within_a_name = before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    if text.starts_with('"') {
        return Some(quoted(text, '"'));
    }
    if let Some(raw) = text.strip_prefix('r').filter(|_| !is_within_a_name || before == Some('b')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = "r".len() + hashes + "\"".len();
            return Some(text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len()));
        }
    }
    let mut letters = text.strip_prefix('\'')?.chars();
    let is_character = letters.next()? == '\\' || letters.next() == Some('\'');
    is_character.then(|| quoted(text, '\''))
}

/// Returns the length of a literal between two marks.
fn quoted(text: &str, mark: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if letter == mark && !is_escaped {
            return at + mark.len_utf8();
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}

/// Returns the strings of a Rust code, without their marks.
pub fn strings(code: &str) -> Vec<&str> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(first) = code[at..].chars().next() {
        let length = literal(&code[at..], code[..at].chars().next_back());
        if let Some(length) = length
            && first != '\''
        {
            found.push(code[at..at + length].trim_start_matches(['r', '#']).trim_end_matches('#').trim_matches('"'));
        }
        at += length.unwrap_or(first.len_utf8());
    }
    found
}

/// Removes what stands within the strings and characters of a Rust code.
pub fn without_strings(code: &str) -> String {
    let (mut left, mut at) = (String::with_capacity(code.len()), 0);
    while let Some(first) = code[at..].chars().next() {
        let length = literal(&code[at..], code[..at].chars().next_back());
        if length.is_some() {
            left.push_str("\"\"")
        } else {
            left.push(first)
        }
        at += length.unwrap_or(first.len_utf8());
    }
    left
}

#[test]
fn comments_and_inline_tests_are_no_code() {
    let source = "//! A module.\nfn f() -> &'static str { // why\n    /* a /* nested */ one */ \"// no comment\"\n}\n\nconst C: char = '\"'; // \
                  \"\nconst R: &str = r#\"\"//\"#;\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n";
    let (code, tests) = code_and_tests(source);
    assert_eq!(lines(&code), 5, "{code}");
    assert_eq!(lines(&tests), 4, "{tests}");
    assert_eq!(strings(&code), ["// no comment", "//"]);
    assert_eq!(without_strings("f('\"', \"a(\") < r#\"\"\"#"), "f(\"\", \"\") < \"\"");
}
