//! How long a token is, by what stands at its start.

/// `/* /* */ */` is one comment.
pub(super) fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        let inner = &rest[at..];
        let Some(next) = inner.find(['/', '*']) else { return rest.len() };
        at += next;
        if rest[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
}

/// To the closing quote, or to the end of a line that does not say `\` to go on.
pub(super) fn string(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        match (c, chars.peek().map(|(_, next)| *next)) {
            ('\\', Some(_)) | ('"', Some('"')) => _ = chars.next(),
            ('"', _) => return i + 1,
            ('\n', _) => return i,
            _ => {}
        }
    }
    rest.len()
}

/// `'a'` or `'\n'`; an apostrophe alone is none.
pub(super) fn character(rest: &str) -> Option<usize> {
    let line = rest.lines().next().unwrap_or_default();
    let mut escaped = false;
    for (i, c) in line.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => return Some(i + 1),
            _ => {}
        }
    }
    None
}

/// `#"…"#`, with as many `#` behind as before.
pub(super) fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    let (marks, inner) = rest.split_at(hashes);
    let inner = inner.strip_prefix('"').filter(|_| hashes > 0)?;
    let end = inner.find(&format!("\"{marks}"));
    Some(end.map_or(rest.len(), |end| hashes + 1 + end + 1 + hashes))
}

pub(super) fn number(rest: &str) -> usize {
    let digits = |text: &str, is: fn(char) -> bool| text.find(|c| !is(c) && c != '_').unwrap_or(text.len());
    if ["0x", "0o", "0b", "0X", "0O", "0B"].iter().any(|radix| rest.starts_with(radix)) {
        return 2 + digits(&rest[2..], |c| c.is_ascii_hexdigit());
    }
    let decimal = |text: &str| digits(text, |c| c.is_ascii_digit());
    let mut len = decimal(rest);
    // `1..3` is a range and `1.abs()` a call.
    let mut behind = rest[len..].chars();
    if behind.next() == Some('.') && !behind.next().is_some_and(|c| c == '.' || c.is_alphabetic() || c == '_') {
        len += 1 + decimal(&rest[len + 1..]);
    }
    let exponent = &rest[len..];
    if exponent.starts_with(['e', 'E']) {
        let sign = usize::from(exponent[1..].starts_with(['+', '-']));
        if exponent[1 + sign..].starts_with(|c: char| c.is_ascii_digit()) {
            len += 1 + sign + decimal(&exponent[1 + sign..]);
        }
    }
    len
}

/// The longest operator at the start.
pub(super) fn operator(rest: &str) -> Option<usize> {
    const LONG: [&str; 28] = [
        "**=", "..=", "<<=", ">>=", "===", "!==", "**", "..", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=",
        "/=", "%=", "&=", "|=", "^=", "&&", "||", "=>", "??", "?.", "::",
    ];
    LONG.iter().find(|operator| rest.starts_with(**operator)).map(|operator| operator.len())
}
