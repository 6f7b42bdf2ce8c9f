//! The marks of Markdown, for its colours while it is written: what is said, and the signs around it.

use std::ops::Range;

use attune_core::lesson::text::markdown_options;
use pulldown_cmark::{Event, Parser, Tag};

/// Kinds of pieces of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Plain,
    Heading,
    Emphasis,
    Strong,
    Code,
    Maths,
    Link,
    /// `#`, `*`, `-`, addresses: what is not read out.
    Sign,
}

/// The pieces of any text, in order and without gaps.
pub fn marks(source: &str) -> Vec<(Range<usize>, Mark)> {
    let mut pieces = Pieces { found: Vec::new(), end: 0 };
    let mut around = vec![Mark::Plain];
    for (event, range) in Parser::new_ext(source, markdown_options()).into_offset_iter() {
        let here = around.last().copied().unwrap_or(Mark::Plain);
        match event {
            Event::Start(tag) => around.push(of_tag(&tag, here)),
            Event::End(_) => _ = around.pop(),
            Event::Text(_) => pieces.push(range, here),
            Event::Code(_) => pieces.push(range, Mark::Code),
            Event::InlineMath(_) | Event::DisplayMath(_) => pieces.push(range, Mark::Maths),
            _ => {}
        }
    }
    pieces.push(source.len()..source.len(), Mark::Plain);
    pieces.found
}

fn of_tag(tag: &Tag, around: Mark) -> Mark {
    match tag {
        Tag::Heading { .. } => Mark::Heading,
        Tag::CodeBlock(_) => Mark::Code,
        Tag::Link { .. } | Tag::Image { .. } => Mark::Link,
        Tag::Strong if around == Mark::Plain => Mark::Strong,
        Tag::Emphasis if around == Mark::Plain => Mark::Emphasis,
        _ => around,
    }
}

struct Pieces {
    found: Vec<(Range<usize>, Mark)>,
    /// End of the last piece.
    end: usize,
}

impl Pieces {
    /// Adds a piece, and marks the characters before it as signs.
    fn push(&mut self, range: Range<usize>, mark: Mark) {
        let start = range.start.max(self.end);
        self.join(self.end..start, Mark::Sign);
        self.join(start..range.end.max(start), mark);
    }

    fn join(&mut self, range: Range<usize>, mark: Mark) {
        self.end = range.end;
        match self.found.last_mut() {
            _ if range.is_empty() => {}
            Some((last, same)) if *same == mark => last.end = range.end,
            _ => self.found.push((range, mark)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(source: &str) -> Vec<(&str, Mark)> {
        marks(source).into_iter().map(|(range, mark)| (&source[range], mark)).collect()
    }

    #[test]
    fn what_is_said_and_the_signs_around_it() {
        assert_eq!(
            told("# Two *words*\n"),
            [
                ("# ", Mark::Sign),
                ("Two ", Mark::Heading),
                ("*", Mark::Sign),
                ("words", Mark::Heading),
                ("*\n", Mark::Sign)
            ]
        );
        assert_eq!(
            told("a **b** `c` $x_i$"),
            [
                ("a ", Mark::Plain),
                ("**", Mark::Sign),
                ("b", Mark::Strong),
                ("**", Mark::Sign),
                (" ", Mark::Plain),
                ("`c`", Mark::Code),
                (" ", Mark::Plain),
                ("$x_i$", Mark::Maths)
            ]
        );
        assert_eq!(told("[a](b)"), [("[", Mark::Sign), ("a", Mark::Link), ("](b)", Mark::Sign)]);
        assert_eq!(
            told("- *a*\n- b"),
            [("- *", Mark::Sign), ("a", Mark::Emphasis), ("*\n- ", Mark::Sign), ("b", Mark::Plain)]
        );
        assert_eq!(
            told("```rhai\nlet a;\n```"),
            [("```rhai\n", Mark::Sign), ("let a;\n", Mark::Code), ("```", Mark::Sign)]
        );
    }

    #[test]
    fn a_deep_text_is_marked_at_once() {
        for deep in ["**", "> ", "- ", "[", "$"] {
            marks(&deep.repeat(20_000));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_covered(source in "[ a#*_`$>é\\\\\\[\\]()|\n-]{0,60}") {
            let mut end = 0;
            for (range, _) in marks(&source) {
                prop_assert_eq!(range.start, end);
                prop_assert!(source.get(range.clone()).is_some() && !range.is_empty());
                end = range.end;
            }
            prop_assert_eq!(end, source.len());
        }
    }
}
