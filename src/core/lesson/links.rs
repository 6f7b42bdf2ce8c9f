//! Links with actions in Markdown: `[look at *phone*](attune:word/phone)`. The same enum is used by the lesson's check,
//! by the window, which performs the action, and by the exports, which write only the words of the link.

use attune_engine::messages::nearest;

use crate::lesson::reading::issue::one_of;
use crate::lesson::schema::panels::PanelName;

/// The scheme of the links' addresses.
pub const SCHEME: &str = "attune:";

/// The action of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum TextLink {
    Panel(PanelName),
    /// Chooses a word of the sentence on the stage; `apple1` is the first of several.
    Word(String),
    /// Chooses a head, counted from 1 as in the window.
    Head(usize),
    /// Chooses a head and opens its map in the panel *Attention*.
    Attention(usize),
    /// Puts a text on the stage.
    Sentence(String),
    /// Sets the time of the stage, from 0 to 1.
    Time(f32),
    /// Opens a learned tensor at one of its entries, counted from 0.
    Weight {
        tensor: String,
        row: usize,
        col: usize,
    },
    /// Scrolls to a cell of the lesson.
    Cell(String),
    /// Opens another lesson of the folder.
    Lesson(String),
    /// Opens another lesson of the folder at one of its cells, with the sentence that the cell speaks of and, if the
    /// link names one, at a step of the walk.
    Place {
        lesson: String,
        cell: String,
        at: Option<StepLink>,
    },
    /// Opens a file of vectors in the folder.
    File(String),
}

/// The number of steps in a layer of the walk through attention, from `embed` to `contextual`.
pub const STEPS: usize = 8;

/// A step of the walk through attention, as a link names it: `?step=5&head=2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLink {
    /// The step, counted from 1 as on the time line.
    pub step: usize,
    /// The head, counted from 1 over all layers; `None` for the one that the walk shows by itself.
    pub head: Option<usize>,
}

impl StepLink {
    /// Reads a step as a link writes it: `step=5&head=2`.
    fn read(written: &str) -> Result<Self, LinkFlaw> {
        let flaw = || {
            LinkFlaw::new(
                format!("a link to ?{written}"),
                format!("?step=, from 1 to {STEPS}, and &head=, from 1, if it is needed"),
            )
        };
        let (step, head) = match written.split_once("&head=") {
            Some((step, head)) => (step, Some(head.parse().ok().filter(|head| *head > 0).ok_or_else(flaw)?)),
            None => (written, None),
        };
        let step = step.strip_prefix("step=").and_then(|step| step.parse().ok());
        let step = step.filter(|step| (1..=STEPS).contains(step)).ok_or_else(flaw)?;
        Ok(Self { step, head })
    }
}

/// Equality is total, because a time is a number from 0 to 1 and never NaN.
impl Eq for TextLink {}

/// A problem with a link, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkFlaw {
    pub words: String,
    pub expected: String,
    pub nearest: Option<String>,
}

impl LinkFlaw {
    fn new(words: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { words: words.into(), expected: expected.into(), nearest: None }
    }

    fn near<'c>(mut self, name: &str, names: impl IntoIterator<Item = &'c str>) -> Self {
        self.nearest = nearest(name, names).map(str::to_owned);
        self
    }

    /// Returns the whole problem in one line.
    pub fn line(&self) -> String {
        let hint = self.nearest.as_ref().map_or(String::new(), |near| format!("; did you mean {near}?"));
        format!("{}; expected {}{hint}", self.words, self.expected)
    }
}

const KINDS: &[&str] = &["panel", "word", "head", "attention", "sentence", "time", "cell", "lesson", "file"];
const EXAMPLES: &str = "attune:panel/Weights, attune:word/apple1, attune:head/2, attune:attention/2, attune:sentence/TEXT, \
                        attune:time/1, attune:W_K[10,4], attune:cell/ID, attune:lesson/ID, attune:lesson/ID/CELL, attune:lesson/ID/CELL?step=5&head=2 or attune:file/NAME";

impl TextLink {
    /// Reads the action of an address, or returns `None` if the address has another scheme.
    pub fn read(address: &str) -> Option<Result<Self, LinkFlaw>> {
        let (scheme, rest) = address.split_at_checked(SCHEME.len())?;
        scheme.eq_ignore_ascii_case(SCHEME).then(|| Self::read_rest(rest))
    }

    /// Returns the action in words, for a tooltip.
    pub fn says(&self) -> String {
        match self {
            Self::Panel(panel) => format!("Open the panel {}", panel.title()),
            Self::Word(word) => format!("Choose “{word}” in the sentence"),
            Self::Head(head) => format!("Choose head {head}"),
            Self::Attention(_) => "Open this head in Attention".to_owned(),
            Self::Sentence(_) => "Put this on the stage".to_owned(),
            Self::Time(0.0) => "Show the static vectors".to_owned(),
            Self::Time(1.0) => "Show the contextual vectors".to_owned(),
            Self::Time(time) => format!("Set the time of the stage to {time}"),
            Self::Weight { tensor, row, col } => format!("Show {tensor}[{row},{col}] in Weights"),
            Self::Cell(id) => format!("Go to the cell {id}"),
            Self::Lesson(id) => format!("Open the lesson {id}"),
            Self::Place { lesson, cell, at: None } => format!("Open the lesson {lesson} at the cell {cell}"),
            Self::Place { lesson, cell, at: Some(at) } => {
                format!("Open the lesson {lesson} at the cell {cell}, step {}", at.step)
            }
            Self::File(name) => format!("Open {name}"),
        }
    }

    fn read_rest(rest: &str) -> Result<Self, LinkFlaw> {
        let Some((kind, name)) = rest.split_once('/') else {
            return entry(rest).ok_or_else(|| LinkFlaw::new(format!("a link to {rest:?}"), EXAMPLES));
        };
        let name = name.trim();
        let number = |expected| name.parse().map_err(|_| LinkFlaw::new(format!("{kind} {name:?}"), expected));
        match kind {
            _ if name.is_empty() => Err(LinkFlaw::new(format!("a link to a {kind} without its name"), EXAMPLES)),
            "panel" => PanelName::named(name).map(Self::Panel).ok_or_else(|| no_panel(name)),
            "word" => Ok(Self::Word(plain_digits(name))),
            "head" => Ok(Self::Head(number("the number of a head, from 1")?)),
            "attention" => Ok(Self::Attention(number("the number of a head, from 1")?)),
            "sentence" => Ok(Self::Sentence(name.to_owned())),
            "time" => {
                let time = name.parse().ok().filter(|time| (0.0..=1.0).contains(time));
                time.map(Self::Time).ok_or_else(|| LinkFlaw::new(format!("time {name:?}"), "a number from 0 to 1"))
            }
            "cell" => Ok(Self::Cell(name.to_owned())),
            "lesson" => match name.split_once('/') {
                Some((lesson, place)) => {
                    let (cell, at) = match place.split_once('?') {
                        Some((cell, step)) => (cell, Some(StepLink::read(step)?)),
                        None => (place, None),
                    };
                    Ok(Self::Place { lesson: lesson.trim().to_owned(), cell: cell.trim().to_owned(), at })
                }
                None => Ok(Self::Lesson(name.to_owned())),
            },
            "file" => Ok(Self::File(name.to_owned())),
            _ => Err(LinkFlaw::new(format!("a link to a {kind:?}"), EXAMPLES).near(kind, KINDS.iter().copied())),
        }
    }
}

fn no_panel(name: &str) -> LinkFlaw {
    let flaw = LinkFlaw::new(format!("there is no panel {name:?}"), one_of(&PanelName::ALL.map(PanelName::title)));
    LinkFlaw { nearest: PanelName::nearest(name).map(|panel| panel.title().to_owned()), ..flaw }
}

/// Reads an entry such as `W_K[10,4]`, or `b_Q[3]` of a tensor with one row.
fn entry(written: &str) -> Option<TextLink> {
    let (tensor, index) = written.strip_suffix(']')?.split_once('[')?;
    let place = |text: &str| text.trim().parse().ok();
    let (row, col) = match index.split_once(',') {
        Some((row, col)) => (place(row)?, place(col)?),
        None => (0, place(index)?),
    };
    Some(TextLink::Weight { tensor: tensor.trim().to_owned(), row, col })
}

/// The names that links may use; `None` for names that cannot be checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkContext<'a> {
    /// Words of the sentence on the stage.
    pub tokens: Option<&'a [&'a str]>,
    pub heads: Option<usize>,
    /// Names of learned tensors as in code, with the numbers of rows and columns.
    pub weights: Option<&'a [(String, usize, usize)]>,
    pub cells: Option<&'a [&'a str]>,
    pub lessons: Option<&'a [&'a str]>,
    /// The lessons of the folder, each with the ids of its cells.
    pub lesson_cells: Option<&'a [(String, Vec<String>)]>,
}

impl LinkContext<'_> {
    /// Checks that a link leads somewhere.
    ///
    /// # Errors
    /// If the link leads nowhere.
    pub fn check(&self, link: &TextLink) -> Result<(), LinkFlaw> {
        match link {
            TextLink::Word(name) => self.tokens.map_or(Ok(()), |tokens| token_named(tokens, name).map(|_| ())),
            TextLink::Head(head) | TextLink::Attention(head) => match self.heads {
                Some(heads) if !(1..=heads).contains(head) => {
                    let expected = if heads == 1 { "1, the only one".to_owned() } else { format!("1 to {heads}") };
                    Err(LinkFlaw::new(format!("there is no head {head}"), expected))
                }
                _ => Ok(()),
            },
            TextLink::Panel(_) | TextLink::Time(_) | TextLink::Sentence(_) | TextLink::File(_) => Ok(()),
            TextLink::Weight { tensor, row, col } => {
                let Some(weights) = self.weights else { return Ok(()) };
                let Some((_, rows, cols)) = weights.iter().find(|(name, ..)| name == tensor) else {
                    let names: Vec<&str> = weights.iter().map(|(name, ..)| name.as_str()).collect();
                    return known(&names, tensor, "learned tensor");
                };
                if row < rows && col < cols {
                    return Ok(());
                }
                let expected = format!("a row below {rows} and a column below {cols}");
                Err(LinkFlaw::new(format!("{tensor} has no entry {row}, {col}"), expected))
            }
            TextLink::Cell(id) => self.cells.map_or(Ok(()), |cells| known(cells, id, "cell")),
            TextLink::Lesson(id) => self.lessons.map_or(Ok(()), |lessons| known(lessons, id, "lesson")),
            TextLink::Place { lesson, cell, .. } => {
                match self.lesson_cells.and_then(|all| all.iter().find(|(id, _)| id == lesson)) {
                    Some((_, cells)) => known(&cells.iter().map(String::as_str).collect::<Vec<_>>(), cell, "cell"),
                    None => self.check(&TextLink::Lesson(lesson.clone())),
                }
            }
        }
    }
}

fn known(names: &[&str], name: &str, what: &str) -> Result<(), LinkFlaw> {
    /// Greatest number of names that are listed; a longer list would not help.
    const LISTED: usize = 12;
    if names.contains(&name) {
        return Ok(());
    }
    let expected = if names.len() <= LISTED { one_of(names) } else { format!("the name of a {what}") };
    Err(LinkFlaw::new(format!("there is no {what} {name:?}"), expected).near(name, names.iter().copied()))
}

/// Returns the position of a word in a sentence: `phone`, or `apple1` for the first of several.
///
/// # Errors
/// If the sentence does not have the word, or has it several times.
pub fn token_named(tokens: &[&str], name: &str) -> Result<usize, LinkFlaw> {
    match tokens_named(tokens, name)[..] {
        [one] => Ok(one),
        [] => {
            let flaw =
                LinkFlaw::new(format!("{name:?} is not a word of the sentence on the stage"), "one of its words");
            Err(flaw.near(name.trim_end_matches(|c: char| c.is_ascii_digit()), tokens.iter().copied()))
        }
        [..] => {
            let count = tokens.iter().filter(|token| **token == name).count();
            let several: Vec<String> = (1..=count).map(|n| format!("{name}{n}")).collect();
            Err(LinkFlaw::new(format!("{name:?} occurs in the sentence {count} times"), one_of(&several)))
        }
    }
}

/// Returns the positions of the words that a name matches: all words with this spelling, or the one with this number,
/// as in `apple1` and `apple₁`.
pub fn tokens_named(tokens: &[&str], name: &str) -> Vec<usize> {
    let name = plain_digits(name);
    let of = |word: &str| (0..tokens.len()).filter(|&i| tokens[i] == word).collect::<Vec<_>>();
    let all = of(&name);
    if !all.is_empty() {
        return all;
    }
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[word.len()..].parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|number| of(word).get(number).copied()).into_iter().collect()
}

/// Replaces subscript digits with plain ones.
fn plain_digits(name: &str) -> String {
    const ZERO: u32 = '₀' as u32;
    let plain = |c: char| match (c as u32).checked_sub(ZERO) {
        Some(digit @ 0..=9) => char::from_digit(digit, 10).unwrap_or(c),
        _ => c,
    };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: LinkContext<'_> = LinkContext {
        tokens: Some(&["apple", "sold", "apple", "phone"]),
        heads: Some(2),
        weights: None,
        cells: Some(&["intro", "move"]),
        lessons: None,
        lesson_cells: None,
    };

    #[track_caller]
    fn check(address: &str, expected: Result<TextLink, &str>) {
        let read = TextLink::read(address).expect("the scheme");
        let checked = read.and_then(|link| CONTEXT.check(&link).map(|()| link));
        assert_eq!(checked.map_err(|flaw| flaw.line()), expected.map_err(str::to_owned), "{address}");
    }

    #[test]
    fn what_each_address_does() {
        check("attune:panel/Weights", Ok(TextLink::Panel(PanelName::Weights)));
        check("attune:word/apple₂", Ok(TextLink::Word("apple2".to_owned())));
        check("ATTUNE:word/phone", Ok(TextLink::Word("phone".to_owned())));
        check("attune:head/2", Ok(TextLink::Head(2)));
        check("attune:attention/2", Ok(TextLink::Attention(2)));
        check("attune:sentence/apple sold/a phone", Ok(TextLink::Sentence("apple sold/a phone".to_owned())));
        check("attune:time/0.5", Ok(TextLink::Time(0.5)));
        check("attune:W_K[10, 4]", Ok(TextLink::Weight { tensor: "W_K".to_owned(), row: 10, col: 4 }));
        check("attune:cell/move", Ok(TextLink::Cell("move".to_owned())));
        check("attune:lesson/bank", Ok(TextLink::Lesson("bank".to_owned())));
        let place = |at| TextLink::Place { lesson: "bank".to_owned(), cell: "pushes".to_owned(), at };
        check("attune:lesson/bank/pushes", Ok(place(None)));
        check("attune:lesson/bank/pushes?step=8", Ok(place(Some(StepLink { step: 8, head: None }))));
        check("attune:lesson/bank/pushes?step=5&head=2", Ok(place(Some(StepLink { step: 5, head: Some(2) }))));
        check("attune:file/excerpt.vec", Ok(TextLink::File("excerpt.vec".to_owned())));
        assert_eq!(TextLink::read("https://attune:x"), None);
    }

    #[test]
    fn what_leads_nowhere_names_the_nearest() {
        let all = "expected Notebook, Stage, Attention, Step, Intervene, Meaning, Weights, Train, Answers, Variables, All heads or Axes";
        check("attune:panel/Weigths", Err(&format!("there is no panel \"Weigths\"; {all}; did you mean Weights?")));
        check("attune:word/apple", Err("\"apple\" occurs in the sentence 2 times; expected apple1 or apple2"));
        check(
            "attune:word/phonne",
            Err(
                "\"phonne\" is not a word of the sentence on the stage; expected one of its words; did you mean phone?",
            ),
        );
        check("attune:head/3", Err("there is no head 3; expected 1 to 2"));
        check("attune:head/0", Err("there is no head 0; expected 1 to 2"));
        check("attune:attention/3", Err("there is no head 3; expected 1 to 2"));
        check("attune:time/2", Err("time \"2\"; expected a number from 0 to 1"));
        check("attune:cell/mov", Err("there is no cell \"mov\"; expected intro or move; did you mean move?"));
        check("attune:panels/Axes", Err(&format!("a link to a \"panels\"; expected {EXAMPLES}; did you mean panel?")));
        for written in
            ["step=9", "step=0", "step=", "", "head=2", "step=5&head=0", "step=5&head=two", "step=5&head=2&head=2"]
        {
            let steps = "?step=, from 1 to 8, and &head=, from 1, if it is needed";
            check(
                &format!("attune:lesson/bank/pushes?{written}"),
                Err(&format!("a link to ?{written}; expected {steps}")),
            );
        }
        check("attune:W_K", Err(&format!("a link to \"W_K\"; expected {EXAMPLES}")));
    }
}
