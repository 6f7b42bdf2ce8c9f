//! LaTeX as MathML, and the grammar of the MathML that a page may contain: elements, attributes and texts of formulas.
//! Output that the converter did not escape correctly is outside of this grammar.

use std::thread;

use attune_engine::panics::quietly;
use math_core::{LatexToMathML, MathDisplay};

use crate::export::escaped;

/// The largest length of a formula, in bytes; longer ones are shown as source.
const FORMULA_BYTES_MAX: usize = 2048;
/// The stack size for the deepest nesting that fits into `FORMULA_BYTES_MAX`. Memory is taken only for the part of the
/// stack that is used.
const STACK_BYTES: usize = 128 << 20;

/// Converts a formula to MathML, or shows its source if it cannot be converted or if the converter's output does not
/// follow the grammar in this file.
pub fn mathml(latex: &str, is_display: bool) -> String {
    set(latex, is_display).filter(|markup| is_formula(markup)).unwrap_or_else(|| {
        let kind = if is_display { "source display" } else { "source" };
        format!("<code class=\"{kind}\">{}</code>", escaped(latex.trim()))
    })
}

fn set(latex: &str, is_display: bool) -> Option<String> {
    if latex.len() > FORMULA_BYTES_MAX {
        return None;
    }
    let display = if is_display { MathDisplay::Block } else { MathDisplay::Inline };
    let convert = || {
        let converter = LatexToMathML::new(Default::default()).ok()?;
        Some(converter.convert_with_local_state(latex, display).ok()?.mathml)
    };
    let convert = || quietly(convert).ok()?;
    // The crate recurses once for each bracket, so it runs on a thread with a large stack.
    thread::scope(|scope| {
        thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, convert).ok()?.join().ok()?
    })
}

/// Elements that contain elements.
const LAYOUT: &[&str] = &[
    "math",
    "menclose",
    "merror",
    "mfrac",
    "mmultiscripts",
    "mover",
    "mpadded",
    "mphantom",
    "mroot",
    "mrow",
    "msqrt",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtr",
    "munder",
    "munderover",
];
/// Elements that contain only text.
const TOKENS: &[&str] = &["mi", "mn", "mo"];
/// The element that contains text and [`PHRASES`].
const WORDS: &str = "mtext";
const PHRASES: &[&str] = &["b", "code", "em", "i", "s", "span", "u"];
/// Elements without content.
const EMPTY: &[&str] = &["mprescripts", "mspace"];

const ATTRIBUTES: &[&str] = &[
    "accent",
    "accentunder",
    "class",
    "display",
    "displaystyle",
    "form",
    "height",
    "largeop",
    "linethickness",
    "lspace",
    "mathvariant",
    "maxsize",
    "minsize",
    "movablelimits",
    "notation",
    "rspace",
    "scriptlevel",
    "stretchy",
    "style",
    "symmetric",
    "width",
];
const ENTITIES: &[&str] = &["lt;", "gt;", "amp;", "quot;", "#39;"];

/// Returns whether the markup is one complete formula of this grammar.
pub fn is_formula(markup: &str) -> bool {
    reads(markup).is_some()
}

fn reads(markup: &str) -> Option<()> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = markup;
    while let Some((text, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>')?;
        (is_text(text) && (text.trim().is_empty() || open.last().is_some_and(|name| has_text(name)))).then_some(())?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            (open.pop()? == name).then_some(())?;
        } else {
            let whole = tag.strip_suffix('/');
            let (name, attributes) = whole.unwrap_or(tag).split_once(' ').unwrap_or((whole.unwrap_or(tag), ""));
            let is_empty = EMPTY.contains(&name);
            let fits = is_within(name, open.last().copied()) && are_attributes(attributes);
            (fits && is_empty == whole.is_some()).then_some(())?;
            if !is_empty {
                open.push(name);
            }
        }
        if open.is_empty() {
            break;
        }
    }
    (open.is_empty() && rest.is_empty() && !markup.is_empty()).then_some(())
}

fn has_text(element: &str) -> bool {
    element == WORDS || TOKENS.contains(&element) || PHRASES.contains(&element)
}

/// Returns whether an element may be a child of `parent`, or the formula itself if that is `None`.
fn is_within(name: &str, parent: Option<&str>) -> bool {
    match parent {
        None => name == "math",
        Some(parent) if PHRASES.contains(&name) => parent == WORDS || PHRASES.contains(&parent),
        Some(parent) => {
            LAYOUT.contains(&parent) && name != "math" && [LAYOUT, TOKENS, EMPTY, &[WORDS]].concat().contains(&name)
        }
    }
}

/// Returns whether a text is a list of `name="value"`, separated by blanks, whose values are words and lengths.
fn are_attributes(mut rest: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '.' | ':' | ';' | '%' | '#' | '-');
    while !rest.is_empty() {
        let Some((name, after)) = rest.split_once("=\"") else { return false };
        let Some((value, after)) = after.split_once('"') else { return false };
        let is_parted = after.is_empty() || after.starts_with(' ');
        if !(ATTRIBUTES.contains(&name) && value.chars().all(is_plain) && is_parted) {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

/// Returns whether a text contains no markup.
fn is_text(text: &str) -> bool {
    let mut entities = text.split('&').skip(1);
    !text.contains('>') && entities.all(|rest| ENTITIES.iter().any(|entity| rest.starts_with(entity)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_set() {
        let formula = mathml(r"\mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right)", true);
        assert!(formula.starts_with("<math display=\"block\">") && formula.contains("<mfrac>"), "{formula}");
        assert!(mathml("x < y", false).contains("&lt;"));
    }

    #[test]
    fn what_cannot_be_set_shows_its_source() {
        assert_eq!(mathml(r"\frac{1}", false), r#"<code class="source">\frac{1}</code>"#);
        assert_eq!(mathml(r"\nosuch<b>", true), r#"<code class="source display">\nosuch&lt;b&gt;</code>"#);
    }

    #[test]
    fn the_deepest_formula_ends() {
        let deep =
            ["{", "x^{", "x^", r"\hat ", r"\sqrt{", r"\left(", r"\frac", r"\begin{matrix}", r"\boldsymbol", r"\text{"];
        for part in deep {
            let open = part.repeat(FORMULA_BYTES_MAX / part.len());
            assert!(!mathml(&open, true).is_empty());
            let count = FORMULA_BYTES_MAX / (part.len() + 1);
            let closed = format!("{}{}", part.repeat(count), "}".repeat(count));
            assert!(!mathml(&closed, false).is_empty());
        }
    }

    /// Checks that no command that takes a text or a name lets markup through.
    #[test]
    fn a_formula_is_no_markup() {
        let commands = [
            "",
            r"\text",
            r"\operatorname",
            r"\operatorname*",
            r"\mathrm",
            r"\mathbf",
            r"\textbf",
            r"\texttt",
            r"\mbox",
            r"\tag",
            r"\label",
            r"\href",
            r"\url",
            r"\ce",
            r"\color",
            r"\textcolor",
            r"\hat",
            r"\overset",
            r"\begin",
            r"\mathop",
            r"\mathbin",
        ];
        let bodies = [
            "<script>",
            "</math><script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<img/src=x>",
            "\"onload=\"x",
            "<iframe/srcdoc=x>",
            "<style>",
            "<textarea>",
            "<!--",
            r"\&lt;script\&gt;",
            r"<iframe/srcdoc=\&\#45;>",
            "<mi>x</mi>",
            "<a/href=javascript:x>",
            r"\&\#45;",
        ];
        for (command, body) in commands.iter().flat_map(|command| bodies.map(|body| (command, body))) {
            for display in [false, true] {
                let formula = mathml(&format!("{command}{{{body}}}"), display);
                let is_source = formula
                    .strip_prefix("<code class=\"source")
                    .is_some_and(|rest| rest.matches('<').count() == 1 && rest.ends_with("</code>"));
                assert!(is_source || is_formula(&formula), "{command}{{{body}}}: {formula}");
                for tag in ["<script", "<img", "<iframe", "<style", "<textarea", "<a", "<!", "&#45;"] {
                    assert!(!formula.contains(tag), "{command}{{{body}}}: {formula}");
                }
            }
        }
    }

    #[test]
    fn formulas_are_of_the_grammar() {
        let formulas = [
            "<math><mi>x</mi><mo>&lt;</mo><mn>1</mn></math>",
            "<math display=\"block\">\n    <mfrac linethickness=\"0\"><mi>a</mi><mi>b</mi></mfrac>\n</math>",
            "<math><mtext>a <b><i>b &amp; c</i></b></mtext><mspace width=\"1em\"/></math>",
            "<math><mtable><mtr><mtd style=\"width: 50%\"></mtd></mtr></mtable></math>",
        ];
        for formula in formulas {
            assert!(is_formula(formula), "{formula}");
        }
    }

    #[test]
    fn other_markup_is_not() {
        let others = [
            "",
            "x",
            "<math>",
            "<mi>x</mi>",
            "<math></math><math></math>",
            "<math></math>x",
            "<math>x</math>",
            "<math><mo><script></mo></math>",
            "<math><mo><mi>x</mi></mo></math>",
            "<math><mo>&#45;</mo></math>",
            "<math><mo>&</mo></math>",
            "<math><mo>></mo></math>",
            "<math><mi>x</math></mi>",
            "<math><mrow/></math>",
            "<math><mspace></mspace></math>",
            "<math><a href=\"#x\">x</a></math>",
            "<math><mtext><a href=\"#x\">x</a></mtext></math>",
            "<math><mtd id=\"cells\"></mtd></math>",
            "<math><mi onclick=\"x\">x</mi></math>",
            "<math><mi style=\"background:url(//a)\">x</mi></math>",
            "<math><mi style=\"color:red\"onclick=\"x\">x</mi></math>",
            "<math><mi style='x'>x</mi></math>",
            "<math><mi/style=\"x\">x</mi></math>",
            "<math><MI>x</MI></math>",
            "<math><!-- --></math>",
        ];
        for other in others {
            assert!(!is_formula(other), "{other}");
        }
    }
}
