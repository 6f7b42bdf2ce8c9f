//! A hostile lesson, a hostile output: text, and never markup, a script or a way to the network.

use std::collections::BTreeSet;

use attune_core::kernel::Snapshot;
use attune_view::export::{Pictures, escaped};

use crate::{as_html, as_ipynb, as_md, markup, with_cells};

pub const CELLS: &str = r####"
    Text(id: "words", md: r###"# <script>alert(1)</script> & co

<script>alert(2)</script> and <img src=x onerror=alert(3)> and <b onclick=x>bold</b>

<div onmouseover="x">

[one](javascript:alert(4)) [two](JaVaScRiPt:alert(5)) <javascript:alert(6)> [three](data:text/html;base64,x)
[four][ref] [ref] [web](https://example.org/?a=1&b="2") <https://example.org/>

[ref]: javascript:alert(7)

![a](javascript:alert(8)) ![b](https://example.org/x.png) ![<img src=x>](../../../etc/passwd) ![c](/etc/passwd)

$\operatorname{<script>}$ and $$\operatorname*{</math><iframe/srcdoc=\&\#45;>}$$ and $\operatorname{<img/src=x>}$

$</math><script>alert(9)</script>$ and $a<b$ and `<script>alert(10)</script>`

```rhai" onload="x
"</code></pre><script>alert(11)</script>"
```

</style></title><svg onload=alert(12)><!-- <![CDATA[ <?php
"###),
    Code(id: "shows", src: r##"show("</pre><script>alert(13)</script>"); "<img src=x onerror=y> ```""##),
    Code(id: "fault", src: "throw `<script>alert(14)</script>`", fails: true),
    Plot(id: "plot", caption: "<script>alert(15)</script>", src: "plot(vector([0, 1]), #{\"</svg><script>\": vector([1, 2])})"),
    Predict(id: "guess", ask: "<script>", choices: ["<script>x</script>", "*two* [x](javascript:x)"], answer: "0"),
    Gate(id: "gate", caption: "<script>", needs: ["guess"]),
"####;

fn hostile() -> Snapshot {
    with_cells(CELLS).snapshot()
}

/// Every tag of a page, with its attributes.
fn tags(page: &str) -> Vec<&str> {
    let style = page.find("<style>").expect("a style")..page.find("</style>").expect("its end");
    let rest = [&page[..style.start], &page[style.end..]];
    let tag = |start: &'_ str| start.find('>').map_or(start.len(), |end| end);
    rest.into_iter()
        .flat_map(|text| text.split('<').skip(1).map(|start| &start[..tag(start)]).collect::<Vec<_>>())
        .collect()
}

/// Holds a page to the tags of the export, and its links to those that are named.
pub fn check_page(page: &str, named: &BTreeSet<String>) -> Result<(), String> {
    let known = "!DOCTYPE html head meta title style body nav ol ul li a main section h1 h2 h3 h4 h5 h6 p em strong del code pre div \
                 span figure figcaption blockquote table caption thead tbody tr th td input br hr footer small details summary \
                 svg line text polyline circle g rect path i math mi mo mn mrow msub msup msubsup mtext mspace mfrac merror menclose mstyle \
                 munder mover munderover mpadded";
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if !known.split_whitespace().any(|known| known == name) {
            return Err(format!("<{tag}> in\n{page}"));
        }
        // What stands in an attribute's value is no attribute.
        let attributes: String = tag.split('"').step_by(2).collect();
        if attributes.contains(" on") || attributes.contains("srcdoc") {
            return Err(format!("<{tag}> in\n{page}"));
        }
        for url in ["href=\"", "src=\""].iter().filter_map(|attribute| tag.split(attribute).nth(1)) {
            let url = url.split('"').next().unwrap_or_default();
            let is_named = named.iter().any(|named| escaped(named) == url);
            if !url.starts_with('#') && !is_named {
                return Err(format!("<{tag}>, which nobody names"));
            }
        }
    }
    Ok(())
}

#[test]
fn a_page_has_only_tags_of_its_own() {
    let page = as_html(&hostile(), &Pictures::default());
    let named = ["https://example.org/?a=1&b=\"2\"", "https://example.org/"].map(str::to_owned);
    assert_eq!(check_page(&page, &named.into()), Ok(()));
    assert!(page.contains("&lt;script&gt;alert(2)&lt;/script&gt;"), "raw HTML is shown as text");
    assert!(page.contains("href=\"https://example.org/?a=1&amp;b=&quot;2&quot;\""), "links to the web stay");
}

#[test]
fn a_page_lets_nothing_run_and_fetches_nothing() {
    let page = as_html(&hostile(), &Pictures::default());
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'; img-src data:;"));
    assert!(
        !tags(&page)
            .iter()
            .any(|tag| tag.starts_with("script") || tag.starts_with("link") || tag.starts_with("iframe"))
    );
}

/// Markdown that is no more than text, with the links of the lesson.
fn check_markdown(text: &str) {
    let named = [
        "https://example.org/?a=1&b=",
        "https://example.org/?a=1&b=%222%22",
        "https://example.org/?a=1&b=\"2\"",
        "https://example.org/",
    ];
    assert!(markup::check_markdown(text, &named.map(str::to_owned).into()).is_ok(), "{text}");
}

#[test]
fn markdown_stays_text() {
    let text = as_md(&hostile(), &Pictures::default());
    check_markdown(&text);
    assert!(text.contains("[web](https://example.org/") && text.contains("<https://example.org/>"), "{text}");
    assert!(text.contains("$a< b$"), "maths has no entities: {text}");
    assert!(text.contains("`<script>alert(10)</script>`"), "code is as it was: {text}");
}

#[test]
fn a_notebook_stays_text() {
    let notebook = as_ipynb(&hostile(), &Pictures::default());
    for cell in notebook["cells"].as_array().unwrap() {
        let source: String = cell["source"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        if cell["cell_type"] == "markdown" {
            check_markdown(&source);
        }
        for output in cell["outputs"].as_array().into_iter().flatten() {
            for mime in ["text/html", "image/svg+xml"] {
                let markup = output["data"][mime].to_string();
                assert!(!markup.contains("<script"), "{markup}");
            }
        }
    }
}

/// A fence of the export holds what would close it.
#[test]
fn code_does_not_leave_its_fence() {
    let cells = r###"Code(id: "a", src: "// ```` \n// ```\n1"), Code(id: "b", src: r#""```\n<script>``""#)"###;
    let text = as_md(&with_cells(cells).snapshot(), &Pictures::default());
    assert!(text.contains("`````rhai\n// ```` \n// ```\n1\n`````"), "{text}");
    check_markdown(&text);
}
