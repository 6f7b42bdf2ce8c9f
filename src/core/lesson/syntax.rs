//! Checks that the text is RON at all. Only here does the first mistake end the reading: after a
//! missing bracket nothing is certain.

use ron::error::Error;
use ron::value::RawValue;

use super::brackets::{closing, unclosed};
use super::issue::{Place, shorten};
use super::source::Node;

/// The one value of the file, unread but well formed; or its first mistake is reported.
pub(super) fn document<'s>(whole: Node<'s>) -> Option<&'s RawValue> {
    let report = |error: ron::error::SpannedError| {
        let place = Place { line: error.span.end.line, col: error.span.end.col };
        explain(Node { text: whole.issues.source.rest_from(place), ..whole }, &error.code);
    };
    let deserializer = ron::Deserializer::from_str(whole.text).map_err(report).ok()?;
    let start = deserializer.remainder();
    if start.is_empty() {
        return whole.issue("the file is empty").expected("a lesson: Lesson(id: …, title: …, …)").none();
    }
    // `#![enable(…)]` would change the meaning of the values but not reach those read on their own.
    let before = &whole.text[..whole.text.len() - start.len()];
    if let Some(attribute) = before.lines().find(|line| line.trim_start().starts_with("#!")) {
        let at = Node { text: attribute.trim(), ..whole };
        return at.issue("RON extensions are not supported").expected("Lesson(…) at once").none();
    }
    let read = ron::from_str::<&RawValue>(whole.text).map_err(|error| match unclosed(whole) {
        // The parser notices a missing bracket only far behind it.
        Some(open) if is_about_structure(&error.code) => {
            open.issue(format!("cannot be read as RON: this {} is not closed", shorten(open.text)))
                .expected(format!("a matching {}", closing(open.text)));
        }
        _ => report(error),
    });
    read.ok()
}

fn is_about_structure(error: &Error) -> bool {
    matches!(
        error,
        Error::Eof
            | Error::ExpectedComma
            | Error::ExpectedArrayEnd
            | Error::ExpectedMapEnd
            | Error::ExpectedMapColon
            | Error::ExpectedStructLikeEnd
            | Error::ExpectedIdentifier
            | Error::UnexpectedChar(_)
    )
}

/// Explains an error of RON's, which names types of Rust, to someone who writes a lesson.
fn explain(node: Node<'_>, error: &Error) {
    let rest = node.text.trim_start();
    let found = match rest.split_whitespace().next() {
        None => "the file ends here".to_owned(),
        Some(word) => format!("found {}", shorten(word)),
    };
    let expected = match error {
        Error::Eof => "more text: a value or a closing bracket",
        Error::ExpectedComma => "a comma between two values",
        Error::ExpectedArrayEnd => "a closing ]",
        Error::ExpectedMapColon => "a colon between name and value",
        Error::ExpectedMapEnd => "a closing }",
        Error::ExpectedStructLikeEnd | Error::ExpectedOptionEnd => "a closing )",
        Error::ExpectedStructLike | Error::ExpectedNamedStructLike(_) => "an opening (",
        Error::ExpectedIdentifier | Error::SuggestRawIdentifier(_) | Error::InvalidIdentifier(_) => {
            "a field name of letters, digits and _"
        }
        Error::ExpectedString => "text in double quotes",
        Error::ExpectedStringEnd => "a closing double quote",
        Error::ExpectedChar => "text in double quotes; single quotes hold one character",
        Error::InvalidEscape(_) => "one of the escapes \\n, \\t, \\\", \\\\ or \\u{…}; or a raw text r#\"…\"#",
        Error::ExpectedInteger
        | Error::ExpectedFloat
        | Error::FloatUnderscore
        | Error::UnderscoreAtBeginning
        | Error::IntegerOutOfBounds
        | Error::InvalidIntegerDigit { .. } => "a number",
        Error::UnclosedBlockComment => "*/ at the end of the comment",
        Error::UnclosedLineComment => "a line break after the comment",
        Error::TrailingCharacters => "the end of the file after the lesson",
        Error::ExceededRecursionLimit => "brackets nested less deeply",
        Error::ExpectedAttribute
        | Error::ExpectedAttributeEnd
        | Error::NoSuchExtension(_)
        | Error::ExpectedRawValue => "Lesson(…) at once, without RON extensions",
        Error::UnexpectedChar(_) => "a value: text, a number, a [list], a {map} or Name(…)",
        _ => "a value",
    };
    node.issue(format!("cannot be read as RON: {found}")).expected(expected);
}
