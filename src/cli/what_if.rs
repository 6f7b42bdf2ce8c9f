//! Options that change a pass of the model: a head, an edge of attention, a vector of another sentence, the temperature.

use std::fmt;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::issue::printable;
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::Patch;

use super::fault::Fault;

#[derive(Debug, clap::Args)]
pub struct WhatIfArgs {
    /// Set a head, such as 2.3=off for head 3 of layer 2, or several with commas: off, mean, uniform, or a number that its
    /// output is multiplied by. The layers of a source come first.
    #[arg(long, value_name = "LAYER.HEAD=SETTING", value_delimiter = ',', allow_hyphen_values = true, value_parser = head_change)]
    pub head: Vec<(HeadAt, HeadMode<f32>)>,
    /// Remove a head's look from one token to another, such as 2.3:5-1 for the fifth token's look at the first, or several
    /// with commas. The rest of the row is made to sum to 1; a row with nothing left is 0.
    #[arg(long, value_name = "LAYER.HEAD:QUERY-KEY", value_delimiter = ',', allow_hyphen_values = true, value_parser = removed_edge)]
    pub without: Vec<(HeadAt, (usize, usize))>,
    /// Patch in a vector of the second sentence, such as 2:5=4: before layer 2, the fifth token gets the vector of the second
    /// sentence's fourth token (activation patching).
    #[arg(long, value_name = "LAYER:TOKEN=FROM", requires = "second", allow_hyphen_values = true, value_parser = patch)]
    pub patch: Option<Patch<f32>>,
    /// The sentence that a patch is taken from.
    #[arg(long, value_name = "SENTENCE", requires = "patch", allow_hyphen_values = true)]
    pub second: Option<String>,
    /// Divide attention scores by this, in place of the temperature of the lesson or model.
    #[arg(long, allow_hyphen_values = true)]
    pub temperature: Option<f64>,
}

/// A head by its layer and its number there, both from 1: `2.3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeadAt {
    layer: usize,
    head: usize,
}

/// A number from 1, as an index.
fn index(text: &str) -> Option<usize> {
    text.trim().parse::<usize>().ok()?.checked_sub(1)
}

fn two(text: &str, between: char) -> Option<(usize, usize)> {
    let (first, second) = text.split_once(between)?;
    Some((index(first)?, index(second)?))
}

/// A head and what stands behind it, such as `2.3=off`.
fn after_head(text: &str, between: char) -> Option<(HeadAt, &str)> {
    let (at, rest) = text.split_once(between)?;
    two(at, '.').map(|(layer, head)| (HeadAt { layer, head }, rest.trim()))
}

fn head_change(text: &str) -> Result<(HeadAt, HeadMode<f32>), String> {
    let read = after_head(text, '=').and_then(|(at, mode)| Some((at, mode.parse().ok()?)));
    read.ok_or_else(|| "expected a layer, a head and a setting, such as 2.3=off or 2.3=0.5".to_owned())
}

/// A head, a query and a key; tokens are counted with those that the tokenizer added.
fn removed_edge(text: &str) -> Result<(HeadAt, (usize, usize)), String> {
    let read = after_head(text, ':').and_then(|(at, edge)| Some((at, two(edge, '-')?)));
    read.ok_or_else(|| "expected a layer, a head and two tokens, such as 2.3:5-1".to_owned())
}

fn patch(text: &str) -> Result<Patch<f32>, String> {
    let read = || {
        let (layer, places) = text.split_once(':')?;
        let (position, from) = two(places, '=')?;
        Some(Patch { block: index(layer)?, position, from, vector: None })
    };
    read().ok_or_else(|| "expected a layer and two tokens, such as 2:5=4".to_owned())
}

impl fmt::Display for HeadAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.layer.saturating_add(1), self.head.saturating_add(1))
    }
}

impl HeadAt {
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
        let interventions = |command: Result<InterventionCommand, String>| command.map(Command::Interventions);
        let heads = self.head.iter().map(|(at, mode)| {
            let set = |head| InterventionCommand::SetHead { head, mode: mode.clone() };
            (format!("--head {at}"), interventions(at.of(model).map(set)))
        });
        let temperature = self.temperature.map(|temperature| {
            let set = InterventionCommand::SetTemperature(Some(temperature));
            ("--temperature".to_owned(), interventions(Ok(set)))
        });
        let edges = self.without.iter().map(|&(at, (query, key))| {
            let remove = |head| InterventionCommand::SetEdge { edge: Edge { head, query, key }, is_removed: true };
            let option = format!("--without {at}:{}-{}", query.saturating_add(1), key.saturating_add(1));
            (option, interventions(at.of(model).map(remove)))
        });
        let second = self.second.clone().map(|second| {
            let set = SentenceCommand::SetSecond(Some(second));
            ("--second".to_owned(), Ok(Command::Sentence(set)))
        });
        let patch = self.patch.clone().map(|patch| {
            let set = InterventionCommand::SetPatch(Some(patch));
            ("--patch".to_owned(), interventions(Ok(set)))
        });
        heads.chain(temperature).chain(edges).chain(second).chain(patch).collect()
    }
}
