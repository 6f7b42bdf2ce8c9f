//! Controls of a sheet, as plain data: each has a name, an explanation, a state and a request. The window draws them;
//! exports, in which nobody can use them, leave them out.

use std::sync::Arc;

use attune_core::kernel::command::{Axis, AxisCommand, Command};
use attune_core::kernel::evidence::AskedAnswer;

use super::chosen::Choice;
use super::words::Text;
use crate::view_model::attention::{HeadMap, Reading, Sinks, tsv};
use crate::view_model::heads::AllHeads;

/// The request that a control makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Command(Command),
    /// A change of what the viewer has chosen.
    Choose(Choice),
    /// A head that is shown alone in *Attention*, which comes to the front.
    OpenHead(usize),
    /// A dialog for a file of texts, over which all heads are measured.
    ChooseTexts,
    /// A text that is put on the stage, with a head to choose.
    OpenText {
        text: String,
        head: usize,
    },
}

/// A control, or words among controls.
#[derive(Clone, Debug)]
pub enum Control {
    Words(Text),
    Separator,
    Button(Button),
    /// A button that opens further controls.
    Menu(Menu),
    Aside(Aside),
    Form(Form),
    /// A button that copies numbers for a spreadsheet.
    Copy(Copy),
    /// Buttons that make the cells of maps larger and smaller.
    Zoom,
    /// The sinks of the sentence.
    Sinks(Sinks),
    Shared(Shared),
}

impl Control {
    /// Returns the control's [`Aside`], whose controls become a menu if the panel is narrow; `None` for any other
    /// control.
    pub fn aside(&self) -> Option<&Aside> {
        if let Self::Aside(aside) = self { Some(aside) } else { None }
    }

    /// Returns the button that copies numbers, if the control is one or contains one.
    pub fn copy(&self) -> Option<&Copy> {
        match self {
            Self::Copy(copy) => Some(copy),
            Self::Aside(aside) => aside.controls.iter().find_map(Self::copy),
            _ => None,
        }
    }
}

/// A control that several parts of the window share, with its own words and key.
#[derive(Clone, Debug)]
pub enum Shared {
    Map,
    /// The switch for the norm through which the picture is drawn.
    RawStates {
        is_on: bool,
    },
    /// The two switches for reading attention.
    Reading(Sinks),
}

/// A button, or one of several options.
#[derive(Clone, Debug)]
pub struct Button {
    pub label: String,
    /// The name for screen readers, if the label alone does not tell it; otherwise empty.
    pub name: String,
    pub hint: String,
    pub look: Look,
    /// The hue of a head in which the label is written; `None` for the usual colour.
    pub hue: Option<usize>,
    pub asks: Ask,
}

/// The look and the state of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Button {
        is_enabled: bool,
    },
    Small {
        is_enabled: bool,
    },
    /// An option, which is lit while it is on.
    Option {
        is_on: bool,
    },
}

impl Button {
    pub fn new(label: impl Into<String>, hint: impl Into<String>, asks: Ask) -> Self {
        let (label, hint) = (label.into(), hint.into());
        Self { label, name: String::new(), hint, look: Look::Button { is_enabled: true }, hue: None, asks }
    }

    /// Creates an option that makes a choice, lit if `is_on`.
    pub fn option(label: impl Into<String>, hint: impl Into<String>, is_on: bool, chooses: Choice) -> Self {
        Self { look: Look::Option { is_on }, ..Self::new(label, hint, Ask::Choose(chooses)) }
    }

    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    #[must_use]
    pub fn enabled(self, is_enabled: bool) -> Self {
        Self { look: Look::Button { is_enabled }, ..self }
    }

    /// Returns the name for screen readers.
    pub fn spoken(&self) -> &str {
        if self.name.is_empty() { &self.label } else { &self.name }
    }
}

/// A button with a list of controls.
#[derive(Clone, Debug)]
pub struct Menu {
    pub label: String,
    /// The name for screen readers; if it is empty, the label is used.
    pub name: String,
    pub hint: String,
    /// The width of a list that shows the chosen option; `None` for a button that opens controls.
    pub width: Option<f32>,
    pub controls: Vec<Control>,
}

impl Menu {
    /// Creates a button that opens controls.
    pub fn button(label: impl Into<String>, hint: impl Into<String>, controls: Vec<Control>) -> Self {
        let (label, name, hint) = (label.into(), String::new(), hint.into());
        Self { label, name, hint, width: None, controls }
    }
}

/// Controls that become a menu if the panel is narrow; all such controls of a row are in the same menu.
#[derive(Clone, Debug)]
pub struct Aside {
    pub label: &'static str,
    pub hint: &'static str,
    pub controls: Vec<Control>,
}

/// Fields for texts, which a button sends together.
#[derive(Clone, Debug)]
pub struct Form {
    pub fields: Vec<Field>,
    /// Words between two fields.
    pub between: &'static str,
    /// The label, the name and the explanation of the button that sends the texts.
    pub button: [String; 3],
    pub fills: Filled,
}

/// A field for a text, which offers some texts to choose from.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    /// The text that an empty field shows.
    pub placeholder: &'static str,
    pub hint: &'static str,
    pub text: String,
    pub offers: Vec<String>,
    /// The explanation of the offered texts.
    pub about_offers: &'static str,
}

/// The request for which a form collects texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    Axis(Axis),
    /// The answer and the foil of evidence. An empty field leaves the choice to the model.
    Answers,
}

impl Filled {
    /// Returns the request with these texts; `None` if a field that must be filled is empty.
    pub fn asks(self, texts: &[String]) -> Option<Ask> {
        let texts: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        match (self, texts.as_slice()) {
            (Self::Answers, [answer, against]) => {
                let named = |text: &String| (!text.is_empty()).then(|| text.clone());
                let asked = AskedAnswer { answer: named(answer), against: named(against), at: None };
                Some(Ask::Command(Command::Answers(asked)))
            }
            (_, texts) if texts.iter().any(String::is_empty) => None,
            (Self::Axis(axis), [from, to]) => {
                let (from, to) = (from.clone(), to.clone());
                Some(Ask::Command(Command::Axes(AxisCommand::Set { axis, from, to })))
            }
            (Self::Axis(_) | Self::Answers, _) => None,
        }
    }
}

/// A button that copies numbers, whose text is made only when it is pressed.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The words that complete the label "Copy …".
    pub what: String,
    pub numbers: Copied,
}

/// The source of copied numbers.
#[derive(Clone, Debug)]
pub enum Copied {
    Attention {
        maps: Vec<HeadMap>,
        reading: Reading,
    },
    /// All measures of all heads.
    Heads(Arc<AllHeads>),
}

impl Copied {
    /// Writes the numbers for a spreadsheet, with all of their digits.
    pub fn tsv(&self) -> String {
        match self {
            Self::Heads(heads) => heads.tsv(),
            Self::Attention { maps, reading } => tsv(&maps.iter().collect::<Vec<_>>(), *reading),
        }
    }
}
