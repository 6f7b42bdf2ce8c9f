//! Markdown written anew from what was read, so that every reader finds the same in it.
//!
//! A lesson's own spelling may mean another thing to another reader: where one has no maths, `$` hides nothing. What is
//! written is therefore read again, with and without the extensions, and stands only if it holds no tag, and no link or
//! picture but those that were meant.

use std::collections::BTreeSet;

use attune_core::lesson::text::markdown_options;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};
use pulldown_cmark_to_cmark::{Options as Spelling, cmark_with_options};

/// Lists and quotations within each other; what is deeper, nobody reads, and each costs room on every line.
const NESTED_MAX: usize = 24;

/// Stands for `<` until the text is spelt: as an entity, no reader, however careless, takes it for a tag. The character
/// is for private use; a text that has it shows `<`.
const LESS_THAN: char = '\u{10fffd}';

/// The events as Markdown; `None` where no spelling of them means the same to every reader.
pub fn restated(events: &[Event<'_>]) -> Option<String> {
    if deepest(events) > NESTED_MAX {
        return None;
    }
    let events = portable(events);
    let spelling = Spelling { list_token: '-', code_block_token_count: 3, ..Spelling::default() };
    let mut text = String::new();
    cmark_with_options(&events, &mut text, markdown_options(), spelling).ok()?;
    let text = without_margin(&text.replace(LESS_THAN, "&lt;"));
    holds_only(&text, &Addresses::of(events.iter())?).then_some(text)
}

/// The text without the empty first line and the space before each `>` that the crate gives a quotation.
fn without_margin(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix("> \n") {
        Some(quoted) if quoted.lines().all(|line| line.starts_with(" >")) => {
            quoted.lines().map(|line| line[1..].trim_end()).collect::<Vec<_>>().join("\n")
        }
        _ => text.to_owned(),
    }
}

/// The words of the events, without markup.
pub fn plain_words(events: &[Event<'_>]) -> String {
    let mut words = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                words.push_str(text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) if !words.ends_with('\n') => words.push('\n'),
            _ => {}
        }
    }
    words
}

fn deepest(events: &[Event<'_>]) -> usize {
    let mut depth = 0_usize;
    let depths = events.iter().map(|event| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    depths.max().unwrap_or(0)
}

/// The events as each reader can spell them.
fn portable<'a>(events: &'a [Event<'_>]) -> Vec<Event<'a>> {
    let mut portable = Vec::with_capacity(events.len());
    // The text of a block of code.
    let mut block: Option<String> = None;
    for event in events {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                portable.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language(kind)))));
                block = Some(String::new());
            }
            Event::Text(text) if block.is_some() => block.iter_mut().for_each(|block| block.push_str(text)),
            Event::End(TagEnd::CodeBlock) => {
                // Without the last line's end, the fence would stay open.
                let code = block.take().unwrap_or_default();
                portable.extend([Event::Text(format!("{}\n", code.trim_end_matches('\n')).into()), event.clone()]);
            }
            Event::Text(text) if text.contains(['\n', '<']) => {
                let text = text.replace('<', LESS_THAN.encode_utf8(&mut [0; 4]));
                // Only a break parts lines, and none begins or ends with spaces.
                let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
                portable.push(Event::Text(first.to_owned().into()));
                let rest = rest.lines().map(str::trim).filter(|line| !line.is_empty());
                portable.extend(rest.flat_map(|line| [Event::SoftBreak, Event::Text(line.to_owned().into())]));
            }
            Event::InlineMath(latex) => {
                portable.push(formula(latex).map_or_else(|| code(latex), Event::InlineMath));
            }
            Event::DisplayMath(latex) => {
                portable.push(formula(latex).map_or_else(|| code(latex), Event::DisplayMath));
            }
            event => portable.push(event.clone()),
        }
    }
    portable
}

/// The language of a block of code, as a fence can name it.
fn language(kind: &CodeBlockKind<'_>) -> CowStr<'static> {
    let CodeBlockKind::Fenced(info) = kind else { return "".into() };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+');
    info.chars().take_while(|c| is_plain(*c)).collect::<String>().into()
}

fn code<'a>(latex: &str) -> Event<'a> {
    Event::Code(latex.split_whitespace().collect::<Vec<_>>().join(" ").into())
}

/// The formula with nothing in it that a reader without maths may take for a tag or a link: a space parts it, which
/// maths does not mind. `None` where it has a character that begins code.
fn formula<'a>(latex: &str) -> Option<CowStr<'a>> {
    if latex.contains('`') {
        return None;
    }
    let mut parted = String::with_capacity(latex.len());
    let mut chars = latex.chars().peekable();
    while let Some(c) = chars.next() {
        parted.push(c);
        let is_markup = match (c, chars.peek()) {
            ('<', Some(next)) => next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'),
            (']', Some(next)) => matches!(next, '(' | '[' | ':'),
            _ => false,
        };
        if is_markup {
            parted.push(' ');
        }
    }
    Some(parted.into())
}

/// Links and pictures of a text.
#[derive(Default)]
struct Addresses {
    links: BTreeSet<String>,
    pictures: BTreeSet<String>,
}

impl Addresses {
    /// `None` where a tag stands among the events.
    fn of<'a, 'e: 'a>(events: impl Iterator<Item = &'a Event<'e>>) -> Option<Self> {
        let mut addresses = Self::default();
        for event in events {
            match event {
                Event::Html(_) | Event::InlineHtml(_) => return None,
                Event::Start(Tag::Link { dest_url, .. }) => _ = addresses.links.insert(dest_url.to_string()),
                Event::Start(Tag::Image { dest_url, .. }) => _ = addresses.pictures.insert(dest_url.to_string()),
                _ => {}
            }
        }
        Some(addresses)
    }
}

/// Whether each kind of reader finds nothing in the text but words and these addresses.
fn holds_only(text: &str, meant: &Addresses) -> bool {
    let readers = [Options::empty(), markdown_options(), markdown_options() - Options::ENABLE_MATH];
    readers.into_iter().all(|reader| {
        let events: Vec<Event<'_>> = Parser::new_ext(text, reader).collect();
        let found = Addresses::of(events.iter());
        found.is_some_and(|found| found.links.is_subset(&meant.links) && found.pictures.is_subset(&meant.pictures))
    })
}
