//! Hostile Markdown through every export: no tag, link or picture but those that the text names.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::Snapshot;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::snapshot::{CellSnapshot, Verdict};
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::text::markdown_options;
use attune_engine::code::Output;
use attune_view::export::Pictures;
use attune_view::export::page::is_safe_link;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::hostile::check_page;
use crate::{NOTEBOOK_RUN, as_html, as_ipynb, as_md};

/// Text that reaches for a network or a script, in every construct that may hide it from one reader and show it to
/// another.
pub fn hostile() -> impl Strategy<Value = String> {
    let core = prop_oneof![
        Just("<img src=x onerror=alert(1)>"),
        Just("<script>alert(1)</script>"),
        Just("![t](https://evil.example/t.png)"),
        Just("![t][r]"),
        Just("[x](javascript:alert(1))"),
        Just("[x](https://named.example/)"),
        Just("[x][r] [r] [r][]"),
        Just("\n\n[r]: javascript:alert(2)\n\n"),
        Just("\n\n[r]: https://evil.example/ 'title'\n\n"),
        Just("<javascript:alert(3)>"),
        Just("<https://named.example/a?b=\"c\"&d>"),
        Just("<a@b.example>"),
        Just("<b onclick=x>"),
        Just("{{ 1 }}"),
        Just("words"),
        Just("*em* **strong** ~~gone~~ `code`"),
        Just("&lt;img src=x&gt; &#60;b&#62; &amp;lt;"),
        Just("$\\operatorname{<script>}$"),
        Just("$$\\operatorname*{</math><iframe/srcdoc=\\&\\#45;>}$$"),
    ];
    let piece = prop_oneof![
        6 => core.prop_map(str::to_owned),
        2 => prop_oneof![
            Just("\n"), Just("\n\n"), Just(" "), Just("    "), Just("\t"), Just("\\"), Just("|"), Just("---\n"), Just("# "), Just("- "),
            Just("1. "), Just("> "), Just("===\n"), Just("|a|b|\n|-|-|\n|"), Just("- [ ] "), Just("\u{10fffd}"), Just("\u{f0000}"),
            Just("]("), Just("]["), Just("["), Just("]: "), Just("!["), Just(")"), Just("*"), Just("_"), Just("~"), Just("&"), Just(";"),
        ].prop_map(str::to_owned),
        3 => prop_oneof![
            Just("<div>\n"), Just("</div>\n"), Just("<!--"), Just("-->"), Just("<?php "), Just("?>"), Just("<![CDATA["), Just("]]>"),
            Just("<!DOCTYPE x"), Just("<pre>\n"), Just("</pre>"), Just("<script>\n"), Just("</script>"), Just("<style>\n"), Just("</style>"),
            Just("<textarea>\n"), Just("</textarea>"), Just("<i title=\""), Just("\">"), Just("<i title='"), Just("'>"), Just("<"), Just(">"),
            Just("$"), Just("$$"), Just("`"), Just("```"), Just("```\n"), Just("~~~\n"), Just("{{"), Just("}}"), Just("<svg/onload=x>"),
        ].prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 1..24).prop_map(|pieces| pieces.concat())
}

/// The notebook with this text in every field that a lesson, a learner or an output can fill.
fn with(text: &str) -> Snapshot {
    let mut snapshot = NOTEBOOK_RUN.clone();
    Arc::make_mut(&mut snapshot.lesson).title = text.to_owned();
    for shown in &mut Arc::make_mut(&mut snapshot.notebook).cells {
        fill(shown, text);
    }
    snapshot
}

fn fill(shown: &mut CellSnapshot, text: &str) {
    let cell = Arc::make_mut(&mut shown.cell);
    let has_conflict = cell.is_text() || cell.is_code();
    cell.conflict = has_conflict.then(|| text.into());
    cell.text = text.into();
    let mut kind = (*cell.kind).clone();
    match &mut kind {
        CellKind::Text { .. } | CellKind::Code { .. } => {}
        CellKind::Stage { caption, words, .. } => (*caption, *words) = (text.to_owned(), vec![text.to_owned()]),
        CellKind::Slider(slider) => slider.caption = text.to_owned(),
        CellKind::Plot { caption, .. } | CellKind::Gate { caption, .. } => *caption = text.to_owned(),
        CellKind::Predict(predict) => {
            predict.ask = text.into();
            predict.explain = text.into();
            predict.choices = vec![text.into(), text.into()];
            cell.answer = Answer::Predict { chosen: Some(0), is_locked: true };
        }
        CellKind::Exercise(exercise) => {
            exercise.ask = text.into();
            exercise.hints = vec![text.into()];
            exercise.solution = text.to_owned();
        }
    }
    cell.kind = kind.into();
    if let Some(run) = &mut shown.run {
        let run = Arc::make_mut(run);
        run.outputs = vec![
            Output::Text(text.into()),
            Output::Image(text.into()),
            Output::Ranking([(text.to_owned(), 1.0)].into()),
        ]
        .into();
        if let Some(Verdict::Exercise { feedback, .. }) = &mut run.verdict {
            *feedback = Some(text.into());
        }
    }
}

/// Links to the web that the text names.
fn named(text: &str) -> BTreeSet<String> {
    let events = Parser::new_ext(text, markdown_options());
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. }) if is_safe_link(&dest_url) => Some(dest_url.to_string()),
        _ => None,
    };
    events.filter_map(link).collect()
}

/// Checks that no kind of reader finds more in Markdown than words and these links.
pub fn check_markdown(text: &str, named: &BTreeSet<String>) -> Result<(), TestCaseError> {
    let own = markdown_options();
    let readers = [
        Options::empty(),
        own,
        own - Options::ENABLE_MATH,
        own | Options::ENABLE_FOOTNOTES | Options::ENABLE_GFM | Options::ENABLE_DEFINITION_LIST,
    ];
    for reader in readers {
        for event in Parser::new_ext(text, reader) {
            match event {
                Event::Html(tag) | Event::InlineHtml(tag) => {
                    prop_assert!(false, "{reader:?} finds the tag {tag:?} in\n{text}");
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    prop_assert!(named.contains(&*dest_url), "{reader:?} finds a link to {dest_url} in\n{text}");
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let is_own = ["x_files/", "attachment:"].iter().any(|own| dest_url.starts_with(own));
                    prop_assert!(is_own, "{reader:?} finds the picture {dest_url} in\n{text}");
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let (snapshot, pictures, named) = (with(text), Pictures::default(), named(text));
    check_markdown(&as_md(&snapshot, &pictures), &named)?;
    for cell in as_ipynb(&snapshot, &pictures)["cells"].as_array().into_iter().flatten() {
        let source: String = cell["source"].as_array().into_iter().flatten().filter_map(|line| line.as_str()).collect();
        if cell["cell_type"] == "markdown" {
            check_markdown(&source, &named)?;
        }
    }
    check_page(&as_html(&snapshot, &pictures), &named).map_err(TestCaseError::fail)
}

proptest! {
    #[test]
    fn hostile_text_stays_text(text in hostile()) {
        check(&text)?;
    }
}

/// The constructs of CommonMark that hold HTML, around a picture, a link that runs and a link to elsewhere; on their
/// own, in a list, in a quotation, and as what a reader with maths takes for a formula.
#[test]
fn every_construct_of_html_stays_text() {
    let inner = "![t](https://evil.example/t.png)\n[x](javascript:alert(1))\n<img src=x onerror=alert(1)>";
    let blocks = [
        ("<div>\n", "\n</div>"),
        ("<!--\n", "\n-->"),
        ("<?php\n", "\n?>"),
        ("<![CDATA[\n", "\n]]>"),
        ("<!DOCTYPE\n", "\n>"),
        ("<pre>\n", "\n</pre>"),
        ("<script>\n", "\n</script>"),
        ("<style>\n", "\n</style>"),
        ("<textarea>\n", "\n</textarea>"),
        ("<i title=\"", "\">"),
        ("<i title='", "'>"),
        ("words <!-- ", " --> words"),
        ("words <i> ", " </i>"),
        ("$", "$"),
        ("$$", "$$"),
        ("$`", "`$"),
        ("`", "`$`$"),
        ("a $x` ", " `y$ b"),
        ("| a |\n|---|\n| ", " |"),
    ];
    for (open, close) in blocks {
        let one_line = inner.replace('\n', " ");
        for inner in [inner, &one_line] {
            let text = format!("{open}{inner}{close}");
            let quoted = format!("> {}", text.replace('\n', "\n> "));
            let listed = format!("- {}", text.replace('\n', "\n  "));
            for text in [text, quoted, listed] {
                if let Err(why) = check(&text) {
                    panic!("{text}\n\n{why}");
                }
            }
        }
    }
}
