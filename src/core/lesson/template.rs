//! Templates: words with `{slot}`s, each of which one word of a list fills.

use super::text::{is_word_char, tokenize};

/// One word of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Word(String),
    /// The name of a slot or a group.
    Slot(String),
}

/// Why a template cannot be read; the text is the part at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A `{` without its `}`.
    Unclosed(String),
    /// A `}` without its `{`.
    Unopened(String),
    /// Letters touch a slot: `{fruit}s`.
    Touching(String),
    /// `{}`
    Unnamed,
}

/// The words and slots of a template, in order. Each becomes exactly one word of the sentence.
pub fn pieces(template: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (literal, from_open) = rest.split_at(open);
        push_words(literal, &mut pieces)?;
        let unclosed = || TemplateError::Unclosed(from_open.to_owned());
        let close = from_open.find('}').ok_or_else(unclosed)?;
        let inside = &from_open[1..close];
        if inside.contains('{') {
            return Err(unclosed());
        }
        let name = inside.trim();
        if name.is_empty() {
            return Err(TemplateError::Unnamed);
        }
        rest = &from_open[close + 1..];
        if literal.ends_with(is_word_char) || rest.starts_with(is_word_char) || rest.starts_with('{') {
            return Err(TemplateError::Touching(from_open[..=close].to_owned()));
        }
        pieces.push(Piece::Slot(name.to_owned()));
    }
    push_words(rest, &mut pieces)?;
    Ok(pieces)
}

fn push_words(literal: &str, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
    if let Some(close) = literal.find('}') {
        return Err(TemplateError::Unopened(literal[..=close].to_owned()));
    }
    pieces.extend(tokenize(literal).into_iter().map(Piece::Word));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_slots() {
        let word = |w: &str| Piece::Word(w.to_owned());
        let slot = |s: &str| Piece::Slot(s.to_owned());
        assert_eq!(
            pieces("She {eat} a { fruit }, then left."),
            Ok(vec![word("she"), slot("eat"), word("a"), slot("fruit"), word("then"), word("left")])
        );
        assert_eq!(pieces(""), Ok(vec![]));
        assert_eq!(pieces("a {b"), Err(TemplateError::Unclosed("{b".into())));
        assert_eq!(pieces("a {b {c}"), Err(TemplateError::Unclosed("{b {c}".into())));
        assert_eq!(pieces("a b}"), Err(TemplateError::Unopened("a b}".into())));
        assert_eq!(pieces("a {b}s"), Err(TemplateError::Touching("{b}".into())));
        assert_eq!(pieces("{a}{b}"), Err(TemplateError::Touching("{a}".into())));
        assert_eq!(pieces("a { }"), Err(TemplateError::Unnamed));
    }
}
