//! Formulas of a lesson whose words reach for markup: on a page they are mathematics, or their own source.

use attune_view::export::escape;
use attune_view::export::html::math::mathml;
use proptest::prelude::*;

use super::{Attack, Outcome, drawn};

/// Commands that take a text, a name, a length or a colour, and others for depth.
const COMMANDS: &[&str] = &[
    "",
    "operatorname",
    "operatorname*",
    "text",
    "mathrm",
    "mathbf",
    "mathbb",
    "textbf",
    "textit",
    "texttt",
    "mbox",
    "tag",
    "tag*",
    "label",
    "ref",
    "eqref",
    "href",
    "url",
    "class",
    "cssId",
    "htmlStyle",
    "color",
    "textcolor",
    "colorbox",
    "hspace",
    "rule",
    "genfrac",
    "hat",
    "overset",
    "underset",
    "sqrt",
    "frac",
    "begin",
    "end",
    "left",
    "right",
    "mathop",
    "mathbin",
    "not",
    "char",
    "unicode",
    "ce",
    "def",
    "newcommand",
    "phantom",
    "boxed",
    "cancel",
];
const BODIES: &[&str] = &[
    "<script>",
    "</math>",
    "<img/src=x>",
    "<iframe/srcdoc=x>",
    "<a/href=javascript:x>",
    "<style>",
    "<textarea>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<?x",
    "</mo>",
    "<mi>x</mi>",
    "<mtext>",
    "&lt;",
    r"\&lt;",
    r"\&\#60;",
    r"\&\#45;",
    r"\&\#x3c;",
    "&amp;",
    "\"onclick=\"x",
    "'",
    "url(//evil.example)",
    "red;background:red",
    "x",
    "1",
    "<",
    ">",
    "&",
    "#1",
    "%",
    "~",
    "^2",
    "_i",
    " ",
    r"\ ",
    r"\\",
    r"\lt ",
    r"\gt ",
    r"\quad",
    "aligned",
    "matrix",
    "é\u{301}",
    "\u{202e}",
];

/// A command with what is in its braces, and what follows it.
#[derive(Clone, Debug)]
pub struct Part(String);

/// A formula.
#[derive(Clone, Debug)]
pub struct Formula {
    parts: Vec<Part>,
    is_display: bool,
}

fn part() -> impl Strategy<Value = Part> {
    let body = || prop::collection::vec(prop::sample::select(BODIES), 0..5).prop_map(|bodies| bodies.concat());
    let command = || prop::sample::select(COMMANDS);
    let written = move |(command, body, next, is_braced): (&str, String, String, bool)| {
        let slash = if command.is_empty() { "" } else { "\\" };
        let (open, close) = if is_braced { ("{", "}") } else { ("", " ") };
        format!("{slash}{command}{open}{body}{close}{next}")
    };
    let one = (command(), body(), body(), prop::bool::weighted(0.9)).prop_map(written);
    // A command within another's braces.
    let nested = (command(), one.clone(), body(), Just(true)).prop_map(written);
    prop_oneof![3 => one, 1 => nested].prop_map(Part)
}

impl Attack for Formula {
    type Part = Part;

    fn of(seed: u64) -> Self {
        let (parts, is_display) = drawn(seed, (prop::collection::vec(part(), 1..4), any::<bool>()));
        Self { parts, is_display }
    }

    fn run(&self) -> Outcome {
        let latex = self.told();
        let markup = mathml(&latex, self.is_display);
        let kind = if self.is_display { "source display" } else { "source" };
        if markup == format!("<code class=\"{kind}\">{}</code>", escape::html(latex.trim())) {
            return Ok("shown as its source");
        }
        check(&markup).map(|()| "set").map_err(|why| format!("{why} in {markup}"))
    }

    fn parts(&mut self) -> &mut Vec<Part> {
        &mut self.parts
    }

    fn told(&self) -> String {
        self.parts.iter().map(|part| part.0.as_str()).collect()
    }
}

/// What a browser finds in the markup of a formula: elements of mathematics, no attribute that runs or fetches anything,
/// and no character by its number.
fn check(markup: &str) -> Result<(), String> {
    const ELEMENTS: &str = "math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow \
                            mspace msqrt msub msubsup msup mtable mtd mtext mtr munder munderover b code em i s span u";
    let mut depth = 0_i64;
    for tag in markup.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').ok_or("a tag without an end")?;
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if !ELEMENTS.split_whitespace().any(|known| known == name) {
            return Err(format!("<{tag}>"));
        }
        let outside: String = tag.split('"').step_by(2).collect();
        let within: String = tag.split('"').skip(1).step_by(2).collect();
        let is_bad = ["on", "href", "src", "id", "action"].iter().any(|name| outside.contains(&format!(" {name}")));
        if is_bad || within.contains(['(', '&', '\'', '\\']) || outside.contains(['\'', '`']) {
            return Err(format!("<{tag}>"));
        }
        let mut entities = text.split('&').skip(1);
        let is_known = |rest: &str| ["lt;", "gt;", "amp;", "quot;", "#39;"].iter().any(|known| rest.starts_with(known));
        if !entities.all(is_known) {
            return Err(format!("an entity in {text:?}"));
        }
        depth += if tag.starts_with('/') { -1 } else { i64::from(!tag.ends_with('/')) };
        if depth < 0 {
            return Err("an end without a beginning".to_owned());
        }
    }
    let is_whole = depth == 0 && markup.starts_with("<math") && markup.matches("<math").count() == 1;
    if is_whole { Ok(()) } else { Err("not one formula".to_owned()) }
}
