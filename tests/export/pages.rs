//! HTML and Markdown say what the notebook says.

use attune_view::export::Pictures;

use crate::{NOTEBOOK, as_html, as_md, run, with_cells};

#[test]
fn a_page_says_what_the_notebook_says() {
    let snapshot = run(NOTEBOOK).snapshot();
    let page = as_html(&snapshot, &Pictures::of_lesson("x.ron".as_ref(), "No one drew it."));
    for said in [
        "<title>Sinking and swimming</title>",
        "<h1 id=\"section-1\">Sinking and swimming</h1>",
        "<math>",
        "<span class=\"k\">let</span> a",
        "<pre title=\"4\">4</pre>",
        "cannot multiply (17, 6) by (17, 6)",
        "<polyline",
        "much = 1</code>",
        "The stage: “the seal sank while a duck swam” with the contextual vectors, with seal highlighted",
        "No one drew it.",
        "<figcaption>The same word</figcaption>",
        "<summary>Hint 2 of 2</summary>",
    ] {
        assert!(page.contains(said), "no {said} in:\n{page}");
    }
    assert!(!page.contains("There are two."), "the answer is for who has predicted");
}

#[test]
fn the_outline_leads_to_the_headings() {
    let cells =
        r#####"Text(id: "a", md: "# One\n\n## Two *and* `three` $x$"), Text(id: "b", md: "#### Deep\n\n# One")"#####;
    let page = as_html(&with_cells(cells).snapshot(), &Pictures::default());
    assert!(page.contains("<li class=\"level-2\"><a href=\"#section-2\">Two and three x</a></li>"), "{page}");
    assert!(page.contains("<h1 id=\"section-4\">One</h1>") && page.contains("href=\"#section-4\""), "{page}");
    assert!(!page.contains("href=\"#section-3\""), "deep headings stand in no outline");
}

#[test]
fn a_title_that_no_cell_says_is_said() {
    let snapshot = with_cells(r#"Text(id: "a", md: "Words.")"#).snapshot();
    assert!(as_html(&snapshot, &Pictures::default()).contains("<h1>Sinking and swimming</h1>"));
    assert!(as_md(&snapshot, &Pictures::default()).starts_with("# Sinking and swimming\n\nWords.\n"));
}

#[test]
fn a_title_below_the_opening_picture_stands_once() {
    let cells = r##"Stage(id: "see", caption: "Seen first"), Text(id: "a", md: "# Sinking and swimming\n\nWords.")"##;
    let snapshot = with_cells(cells).snapshot();
    let md = as_md(&snapshot, &Pictures::default());
    assert_eq!(md.matches("# Sinking and swimming").count(), 1, "{md}");
    let html = as_html(&snapshot, &Pictures::default());
    assert_eq!(html.matches("Sinking and swimming</h1>").count(), 1, "{html}");
    // A text that begins otherwise does not say it.
    let cells = r##"Stage(id: "see", caption: "Seen first"), Text(id: "a", md: "Words.\n\n# Late")"##;
    assert!(as_md(&with_cells(cells).snapshot(), &Pictures::default()).starts_with("# Sinking and swimming\n\n"));
}

#[test]
fn pages_carry_the_values_of_live_text() {
    let cells = r##"Text(id: "a", md: "Four is {{ 1.5 + 2.5 | .1 }}, [here](attune:panel/Weights); {{ nothing }}.")"##;
    let snapshot = with_cells(cells).snapshot();
    let md = as_md(&snapshot, &Pictures::default());
    assert!(md.contains("Four is 4.0, here; ⚠"), "{md}");
    let html = as_html(&snapshot, &Pictures::default());
    assert!(html.contains("Four is 4.0, here; ⚠"), "{html}");
    let ipynb = crate::as_ipynb(&snapshot, &Pictures::default()).to_string();
    assert!(ipynb.contains("Four is 4.0, here; ⚠"), "{ipynb}");
}

#[test]
fn markdown_keeps_the_lessons_own() {
    let md = "|A|B|\n|-|-|\n|1|$x_1$|\n\n> *quote* with **words**\n\n1. one\n   - two\n\n$$\\frac{a}{b}$$\n\n```\nlet a = b<c>;\n```";
    let snapshot = with_cells(&format!("Text(id: \"a\", md: r#\"# T\n\n{md}\"#)")).snapshot();
    assert_eq!(as_md(&snapshot, &Pictures::default()), format!("# T\n\n{md}\n"));
}

#[test]
fn the_same_snapshot_is_the_same_file() {
    let write = || as_html(&run(NOTEBOOK).snapshot(), &Pictures::default());
    assert_eq!(write(), write());
}

/// The first of a cell, over the end of a line too; headings, links, code and names of controls are left alone, and
/// nothing is markup.
#[test]
fn a_term_says_what_it_means() {
    let glossary = r#"Glossary([
        Term(name: "dot product", also: ["dot products"], shape: "<number>", meaning: "Entry *times* \"entry\".", lesson: "a"),
    ])"#;
    let glossary = attune_core::lesson::glossary::parse("g", glossary, None).expect("no issues");
    let cells = r#####"
        Text(id: "a", md: "# A dot product\n\nA [dot product](https://x.org), the *Dot product* panel, `dot product` & **dot\nproduct**. Dot products."),
        Text(id: "b", md: "Dot products <b>.")
    "#####;
    let snapshot = with_cells(cells).snapshot();
    let page = crate::text(|to| {
        attune_view::export::web_page::write(&snapshot, &Pictures::default(), Some(&glossary), to)
            .expect("it is written")
    });
    let abbr = "<abbr class=\"term\" title=\"Entry times &quot;entry&quot;. Shape: &lt;number&gt;.\">";
    assert_eq!(page.matches(abbr).count(), 2, "{page}");
    assert!(page.contains(&format!("&amp; <strong>{abbr}dot\nproduct</abbr></strong>. Dot products.")), "{page}");
    assert!(page.contains("the <em>Dot product</em> panel"), "{page}");
    assert!(page.contains(&format!("<p>{abbr}Dot products</abbr> &lt;b&gt;.</p>")), "{page}");
    assert!(!as_html(&snapshot, &Pictures::default()).contains("<abbr"));
}
