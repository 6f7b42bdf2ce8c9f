//! Patch maps, ablation maps and paths of a sentence.

use attune_engine::numerics::evidence::maps::{Change, Receiver, Setting};
use attune_engine::numerics::evidence::{Asked, Question};
use attune_engine::numerics::model::activations::Activations;

use super::{AskedAnswer, Ended, Evidence, Progressed, Ran};

/// Smallest difference between the logit differences of two sentences by which a map divides.
const LEAST_DIFFERENCE: f64 = 0.01;
/// Smallest difference between two probabilities by which a map divides; below it, only rounding errors are left.
const LEAST_PROBABILITY: f64 = 1e-6;

/// Advice for a model that reads a source, for which there are no maps.
pub(super) const NO_MAP: &str = "maps are there for models with one sentence: measure its heads over a list with attune heads MODEL \
     TEXTFILE, and change a head or a vector with attune trace --head or --patch";

/// A request for maps.
#[derive(Clone, Debug, PartialEq)]
pub struct MapRequest {
    pub sentence: String,
    /// Sentence whose values are put into the first one. Without it, heads are only switched off or set to their mean.
    pub second: Option<String>,
    pub asked: AskedAnswer,
    /// End of the paths, or `None` if no paths are asked for.
    pub into: Option<Receiver>,
    /// Whether the feed-forward layers keep the values that they have in the sentence.
    pub direct: bool,
}

/// A grid of values by layer, and by token or head; `None` where there is no value.
pub type Grid = Vec<Vec<Option<f64>>>;

/// Maps of one number of an answer: its logit difference or its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberMaps {
    pub sentence: f64,
    pub second: Option<f64>,
    /// Shares of the way from the number in the sentence to that in the second; `None` without a second sentence.
    pub words: Option<Grid>,
    pub heads: Option<Grid>,
    /// Changes of the number when a head is switched off.
    pub off: Grid,
    pub mean: Grid,
}

/// The maps of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Maps {
    pub tokens: Vec<String>,
    pub second_tokens: Option<Vec<String>>,
    pub place: usize,
    pub answer: String,
    pub against: String,
    pub difference: NumberMaps,
    pub probability: NumberMaps,
    /// Shares of the way by the layer and the head of the sender, or `None` if no paths were asked for.
    pub paths: Option<Grid>,
}

impl Evidence<'_> {
    /// Computes the maps that are asked for.
    ///
    /// # Errors
    /// A message for the learner if the model reads a source, if the sentences do not fit each other or the question,
    /// or if the work was ended.
    pub fn maps(&self, request: &MapRequest, progressed: Progressed<'_>) -> Result<Maps, String> {
        self.check_no_source(NO_MAP)?;
        let ran = self.run(&request.sentence).map_err(|why| format!("--sentence: {why}"))?;
        let second = request.second.as_deref().map(|second| self.run(second)).transpose();
        let second = second.map_err(|why| format!("--second: {why}"))?;
        let setting = self.setting(&ran, second.as_ref(), &request.asked)?;
        let into = request.into.map(|receiver| self.receiver(receiver, second.as_ref())).transpose()?;
        let senders: Vec<(usize, usize)> = into.map_or_else(Vec::new, |into| self.senders(into));
        let changes = setting.changes();
        let steps = changes.len() + senders.len();
        let low = setting.ask(&ran.activations.output);
        let high = second.as_ref().map(|second| setting.ask(&second.activations.output));
        self.check_apart(setting.question, low.difference, high.map(|high| high.difference))
            .map_err(|why| format!("{why}; give other words with --answer and --against"))?;
        let found = setting.answers(&changes, &|done| progressed(done, steps)).ok_or(Ended)?;
        let paths = into.map(|into| {
            let before = changes.len();
            let found = setting.paths(&senders, (into, request.direct), &|done| progressed(before + done, steps));
            found.ok_or(Ended)
        });
        let paths = paths.transpose()?.map(|paths| {
            let share = share(low.difference, high.map(|high| high.difference), LEAST_DIFFERENCE);
            by_layer(&senders, paths.into_iter().map(|asked| share(asked.difference)))
        });
        let maps = |number: fn(&Asked) -> f64, least: f64| {
            number_maps(&changes, &found, [number(&low), high.as_ref().map_or(f64::NAN, number)], number, least)
        };
        Ok(Maps {
            tokens: ran.texts(),
            second_tokens: second.as_ref().map(Ran::texts),
            place: setting.question.place,
            answer: self.named(setting.question.answer),
            against: self.named(setting.question.against),
            difference: maps(|asked| asked.difference, LEAST_DIFFERENCE),
            probability: maps(|asked| asked.probability, LEAST_PROBABILITY),
            paths,
        })
    }

    /// Checks that the logit differences of the two sentences are far enough apart to divide by.
    pub(super) fn check_apart(&self, question: Question, low: f64, high: Option<f64>) -> Result<(), String> {
        let Some(high) = high.filter(|high| (high - low).abs() < LEAST_DIFFERENCE) else { return Ok(()) };
        let [answer, against] = [question.answer, question.against].map(|class| self.named(class));
        Err(format!(
            "both sentences answer alike: {answer} against {against} is {low:.3} in the sentence and {high:.3} in the second"
        ))
    }

    /// Completes the question and combines it with the passes of both sentences. Returns an error if the sentences
    /// differ in length or the question does not fit them.
    fn setting<'s>(
        &'s self,
        ran: &'s Ran,
        second: Option<&'s Ran>,
        asked: &AskedAnswer,
    ) -> Result<Setting<'s>, String> {
        if let Some(other) = second.filter(|other| other.tokens.len() != ran.tokens.len()) {
            let (own, other) = (ran.tokens.len(), other.tokens.len());
            return Err(format!(
                "--second: the sentence has {other} tokens, but the first has {own}; a patch pairs tokens by place, so \
                 write two sentences with the same number of tokens"
            ));
        }
        let place = self.asked_place(&ran.tokens, asked)?;
        let own = self.likeliest(ran, place, 2);
        let (usual, same) = match second {
            Some(second) => (
                [self.likeliest(second, place, 1)[0], own[0]],
                "both sentences have the same answer: give --answer and --against",
            ),
            None => ([own[0], own[own.len() - 1]], "the answer is compared with itself: give --answer and --against"),
        };
        let usual = if second.is_none() { self.beside_named(asked, usual)? } else { usual };
        let question = self.question(asked, place, usual, same)?;
        let activations = |ran: &'s Ran| -> &'s Activations<f32> { &ran.activations };
        Ok(Setting {
            model: self.model,
            parameters: self.parameters,
            sentence: &ran.input,
            own: &ran.activations,
            second: second.map(activations),
            question,
        })
    }

    /// Checks that there is a second sentence and, if paths end in a head, that this head exists.
    fn receiver(&self, receiver: Receiver, second: Option<&Ran>) -> Result<Receiver, String> {
        if second.is_none() {
            return Err("--into: a path brings values of a second sentence; give --second".to_owned());
        }
        if let Receiver::Head { block, head, .. } = receiver {
            self.model.architecture.head_in(block, head).map_err(|why| format!("--into: {why}"))?;
        }
        Ok(receiver)
    }

    /// Returns all heads before the end of a path.
    pub(super) fn senders(&self, into: Receiver) -> Vec<(usize, usize)> {
        let blocks = &self.model.architecture.blocks;
        let until = match into {
            Receiver::Answer => blocks.len(),
            Receiver::Head { block, .. } => block,
        };
        let heads = |block: usize| (0..blocks[block].attention.heads).map(move |head| (block, head));
        (0..until).flat_map(heads).collect()
    }
}

/// Returns a function for the share of the way from `low` to `high` at which a number lies. The share is `None` if
/// there is no `high`, or if the two differ by less than `least`.
pub(super) fn share(low: f64, high: Option<f64>, least: f64) -> impl Fn(f64) -> Option<f64> {
    move |number| {
        let way = high? - low;
        (way.abs() >= least).then(|| (number - low) / way)
    }
}

/// Collects values in one row for each layer. `places` are layers and numbers, in ascending order.
pub(super) fn by_layer(places: &[(usize, usize)], values: impl Iterator<Item = Option<f64>>) -> Grid {
    let mut grid = Grid::new();
    for ((layer, _), value) in places.iter().zip(values) {
        grid.resize_with(layer + 1, Vec::new);
        grid[*layer].push(value);
    }
    grid
}

/// Collects one number of the answers to changes into maps, as far as they are computed. `high` is NaN without a second
/// sentence.
pub(super) fn number_maps(
    changes: &[Change],
    found: &[Asked],
    [low, high]: [f64; 2],
    number: fn(&Asked) -> f64,
    least: f64,
) -> NumberMaps {
    let grid = |place: fn(&Change) -> Option<(usize, usize)>, value: &dyn Fn(f64) -> Option<f64>| {
        let (places, values): (Vec<_>, Vec<_>) = changes
            .iter()
            .zip(found)
            .filter_map(|(change, asked)| Some((place(change)?, value(number(asked)))))
            .unzip();
        by_layer(&places, values.into_iter())
    };
    let (shared, changed) = (share(low, Some(high), least), |number: f64| Some(number - low));
    let words = grid(|change| matches!(change, Change::Word { .. }).then(|| change.place()), &shared);
    let heads = grid(|change| matches!(change, Change::Head { .. }).then(|| change.place()), &shared);
    let is_there = !high.is_nan();
    NumberMaps {
        sentence: low,
        second: is_there.then_some(high),
        words: is_there.then_some(words),
        heads: is_there.then_some(heads),
        off: grid(|change| matches!(change, Change::Off { .. }).then(|| change.place()), &changed),
        mean: grid(|change| matches!(change, Change::Mean { .. }).then(|| change.place()), &changed),
    }
}
