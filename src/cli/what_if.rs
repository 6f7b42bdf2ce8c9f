//! Options that change a pass of the model: a head, an edge of attention, a vector of another sentence, the temperature.

use std::fmt;
use std::str::FromStr;

use attune_core::kernel::command::{HeadSetting, InterventionCommand, PatchPlace, SentenceCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::issue::printable;
use attune_engine::numerics::attention::Edge;

use super::fault::Fault;

#[derive(Debug, clap::Args)]
pub struct WhatIfArgs {
    /// Set a head, such as 2.3=off for head 3 of layer 2, or several with commas: off, mean, uniform, or a number that its
    /// output is multiplied by. The layers of a source come first.
    #[arg(long, value_name = "LAYER.HEAD=SETTING", value_delimiter = ',', allow_hyphen_values = true)]
    pub head: Vec<HeadChange>,
    /// Remove a head's look from one token to another, such as 2.3:5-1 for the fifth token's look at the first, or several
    /// with commas. The rest of the row is made to sum to 1; a row with nothing left is 0.
    #[arg(long, value_name = "LAYER.HEAD:QUERY-KEY", value_delimiter = ',', allow_hyphen_values = true)]
    pub without: Vec<EdgeOut>,
    /// Patch in a vector of the second sentence, such as 2:5=4: before layer 2, the fifth token gets the vector of the second
    /// sentence's fourth token (activation patching).
    #[arg(long, value_name = "LAYER:TOKEN=FROM", requires = "second", allow_hyphen_values = true)]
    pub patch: Option<PatchAt>,
    /// The sentence that a patch is taken from.
    #[arg(long, value_name = "SENTENCE", requires = "patch", allow_hyphen_values = true)]
    pub second: Option<String>,
    /// Divide attention scores by this, in place of the temperature of the lesson or model.
    #[arg(long, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
}

/// A head by its layer and its number there, both from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadAt {
    layer: usize,
    head: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadChange {
    at: HeadAt,
    setting: HeadSetting,
}

/// Tokens are counted from 1, with those that the tokenizer added.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeOut {
    at: HeadAt,
    query: usize,
    key: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PatchAt {
    layer: usize,
    token: usize,
    from: usize,
}

/// A number from 1, as an index.
fn index(text: &str) -> Option<usize> {
    text.trim().parse::<usize>().ok()?.checked_sub(1)
}

fn two(text: &str, between: char) -> Option<(usize, usize)> {
    let (first, second) = text.split_once(between)?;
    Some((index(first)?, index(second)?))
}

impl fmt::Display for HeadAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer.saturating_add(1), self.head.saturating_add(1))
    }
}

impl HeadAt {
    fn read(text: &str) -> Option<Self> {
        two(text, '.').map(|(layer, head)| Self { layer, head })
    }

    /// The head, counted over all layers.
    fn of(self, model: &ModelSnapshot) -> Result<usize, String> {
        let layers = model.architecture.numbered_blocks().count();
        if self.layer >= layers {
            return Err(format!("there is no layer {}: the model has {layers}", self.layer.saturating_add(1)));
        }
        let heads = model.architecture.heads_of(self.layer);
        let found = heads.clone().nth(self.head);
        found.ok_or_else(|| {
            format!("there is no head {} in layer {}: it has {}", self.head + 1, self.layer + 1, heads.len())
        })
    }
}

impl FromStr for HeadChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (at, setting) = text.split_once('=')?;
            let setting = match setting.trim() {
                "off" => HeadSetting::Off,
                "mean" => HeadSetting::Mean,
                "uniform" => HeadSetting::Uniform,
                gain => HeadSetting::Gain(gain.parse().ok()?),
            };
            Some(Self { at: HeadAt::read(at)?, setting })
        };
        read().ok_or_else(|| "expected a layer, a head and a setting, such as 2.3=off or 2.3=0.5".to_owned())
    }
}

impl FromStr for EdgeOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (at, edge) = text.split_once(':')?;
            let (query, key) = two(edge, '-')?;
            Some(Self { at: HeadAt::read(at)?, query, key })
        };
        read().ok_or_else(|| "expected a layer, a head and two tokens, such as 2.3:5-1".to_owned())
    }
}

impl FromStr for PatchAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (layer, places) = text.split_once(':')?;
            let (token, from) = two(places, '=')?;
            Some(Self { layer: index(layer)?, token, from })
        };
        read().ok_or_else(|| "expected a layer and two tokens, such as 2:5=4".to_owned())
    }
}

impl WhatIfArgs {
    /// Makes the changes to a trained lesson or a model, and gives the pass with them.
    ///
    /// # Errors
    /// If one of them cannot be made; the option is named.
    pub fn apply(&self, kernel: &mut Kernel) -> Result<(), Fault> {
        let Some(model) = kernel.snapshot().model else { return Ok(()) };
        for (option, command) in self.commands(&model) {
            let refused = |why: &str| Fault::usage(format_args!("{option}: {}", printable(why)));
            kernel.apply(command.map_err(|why| refused(&why))?);
            if let Some(why) = kernel.notice() {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// The changes, each with its option as it was given. A patch is taken from a pass with the same heads and temperature;
    /// removed looks are those of the first sentence alone.
    fn commands(&self, model: &ModelSnapshot) -> Vec<(String, Result<Command, String>)> {
        let heads = self.head.iter().map(|HeadChange { at, setting }| {
            let set = |head| Command::Interventions(InterventionCommand::SetHead { head, setting: *setting });
            (format!("--head {at}"), at.of(model).map(set))
        });
        let temperature = self.temperature.map(|temperature| {
            let set = InterventionCommand::SetTemperature(Some(temperature));
            ("--temperature".to_owned(), Ok(Command::Interventions(set)))
        });
        let edges = self.without.iter().map(|EdgeOut { at, query, key }| {
            let edge = |head| Edge { head, query: *query, key: *key };
            let remove = |head| InterventionCommand::SetEdge { edge: edge(head), is_removed: true };
            let removed = at.of(model).map(|head| Command::Interventions(remove(head)));
            (format!("--without {at}:{}-{}", query.saturating_add(1), key.saturating_add(1)), removed)
        });
        let second = self.second.clone().map(|second| {
            let set = SentenceCommand::SetSecond(Some(second));
            ("--second".to_owned(), Ok(Command::Sentence(set)))
        });
        let patch = self.patch.as_ref().map(|patch| {
            let place = PatchPlace { block: patch.layer, position: patch.token, from: patch.from };
            ("--patch".to_owned(), Ok(Command::Interventions(InterventionCommand::SetPatch(Some(place)))))
        });
        heads.chain(temperature).chain(edges).chain(second).chain(patch).collect()
    }
}
