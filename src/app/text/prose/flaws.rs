//! Text that looks like a formula but is none: Markdown silently reads `$x_{i$` as words.

use std::ops::Range;
use std::sync::Arc;

use super::document::{Run, Style};

/// The runs with such places in runs of their own, each with what is wrong.
pub fn with_flaws(runs: Vec<Run>) -> Vec<Run> {
    let mut checked = Vec::with_capacity(runs.len());
    for run in runs {
        match run {
            Run::Text(text, style) if !style.code && text.contains('$') => split(&text, &style, &mut checked),
            run => checked.push(run),
        }
    }
    checked
}

fn split(text: &str, style: &Style, out: &mut Vec<Run>) {
    let mut push = |range: Range<usize>, flaw: Option<Arc<str>>| {
        if !range.is_empty() {
            out.push(Run::Text(text[range].to_owned(), Style { flaw, ..style.clone() }));
        }
    };
    let mut end = 0;
    while let Some((range, why)) = next(text, end) {
        push(end..range.start, None);
        end = range.end;
        push(range, Some(why.into()));
    }
    push(end..text.len(), None);
}

/// The first flaw from byte `from` on.
fn next(text: &str, from: usize) -> Option<(Range<usize>, &'static str)> {
    let mut dollars = text[from..].match_indices('$').map(|(at, _)| from + at).peekable();
    while let Some(open) = dollars.next() {
        let signs = if dollars.next_if_eq(&(open + 1)).is_some() { 2 } else { 1 };
        let &close = dollars.peek()?;
        let inner = &text[open + signs..close];
        let is_display = signs == 2;
        let closes = if is_display { text[close..].starts_with("$$") } else { !text[close..].starts_with("$$") };
        // As of formulas: no space within the signs, and no number behind them, which would be a price.
        let is_price = text[close + 1..].starts_with(|c: char| c.is_ascii_digit());
        let is_tight = !inner.starts_with(char::is_whitespace) && !inner.ends_with(char::is_whitespace) && !is_price;
        if closes
            && !inner.is_empty()
            && (is_display || is_tight)
            && let Some(why) = unbalanced(inner)
        {
            return Some((open..close + signs, why));
        }
    }
    None
}

fn unbalanced(formula: &str) -> Option<&'static str> {
    let mut depth = 0_usize;
    for c in formula.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some("No formula: a } has no { before it"),
            '}' => depth -= 1,
            _ => {}
        }
    }
    (depth > 0).then_some("No formula: a { has no } behind it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaws(text: &str) -> Vec<String> {
        let runs = with_flaws(vec![Run::Text(text.to_owned(), Style::default())]);
        let whole: String =
            runs.iter().map(|run| if let Run::Text(text, _) = run { text.as_str() } else { "" }).collect();
        assert_eq!(whole, text, "nothing is lost");
        let flawed = |run: &Run| matches!(run, Run::Text(_, style) if style.flaw.is_some());
        runs.iter()
            .filter(|run| flawed(run))
            .map(|run| format!("{run:?}").split('"').nth(1).unwrap_or("").to_owned())
            .collect()
    }

    #[test]
    fn a_brace_without_its_partner_is_found() {
        assert_eq!(flaws("so $x_{i$ is one, and $y}$, and $$z^{2$$"), ["$x_{i$", "$y}$", "$$z^{2$$"]);
    }

    #[test]
    fn prices_and_whole_formulas_are_left_alone() {
        for text in ["from $5 {a to $6", "a {b} $ c", "$", "$$", "$$$", "$ {", "{a $5} to $6"] {
            assert_eq!(flaws(text), Vec::<String>::new(), "{text}");
        }
    }
}
