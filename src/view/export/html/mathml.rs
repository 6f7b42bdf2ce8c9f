//! The grammar of the MathML that a page may have: elements, attributes and texts that set mathematics. Whatever the
//! converter of formulas does not escape is outside of this grammar.

/// Elements that hold elements.
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
/// Elements that hold text alone.
const TOKENS: &[&str] = &["mi", "mn", "mo"];
/// The element that holds text and [`PHRASES`].
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

/// Whether the markup is one whole formula of this grammar.
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

/// Whether an element may be in this one, or be the formula itself.
fn is_within(name: &str, parent: Option<&str>) -> bool {
    match parent {
        None => name == "math",
        Some(parent) if PHRASES.contains(&name) => parent == WORDS || PHRASES.contains(&parent),
        Some(parent) => {
            LAYOUT.contains(&parent) && name != "math" && [LAYOUT, TOKENS, EMPTY, &[WORDS]].concat().contains(&name)
        }
    }
}

/// Whether these are `name="value"` with a blank between them, each value of words and lengths.
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

/// Whether nothing in a text is markup.
fn is_text(text: &str) -> bool {
    let mut entities = text.split('&').skip(1);
    !text.contains('>') && entities.all(|rest| ENTITIES.iter().any(|entity| rest.starts_with(entity)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
