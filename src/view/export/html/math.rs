//! LaTeX as MathML.

use std::thread;

use attune_engine::panics::quietly;
use math_core::{LatexToMathML, MathDisplay};

use super::mathml::is_formula;
use crate::export::escape;

/// Longer formulas are shown as source.
const FORMULA_BYTES_MAX: usize = 2048;
/// Enough for the deepest nesting that fits in so many bytes; only what is used is taken.
const STACK_BYTES: usize = 128 << 20;

/// The formula as markup, or its source where it cannot be set: where the converter lets a text of it become more than
/// mathematics, too.
pub fn mathml(latex: &str, is_display: bool) -> String {
    set(latex, is_display).filter(|markup| is_formula(markup)).unwrap_or_else(|| {
        let kind = if is_display { "source display" } else { "source" };
        format!("<code class=\"{kind}\">{}</code>", escape::html(latex.trim()))
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
    // The crate goes down once for each bracket: on a thread of its own, where there is room.
    thread::scope(|scope| {
        thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, convert).ok()?.join().ok()?
    })
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

    /// The commands that take a text or a name, each with what it could become on a page.
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
}
