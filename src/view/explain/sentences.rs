//! The sentences that explain attention, each written once: the walk, the card of a number and the live page say them.
//!
//! The catalogue comes first, such as [`softmax`]; then the choice of sentences for an entry, with its words and numbers.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Range;

use attune_core::kernel::snapshot::{Neighbour, Neighbours};
use attune_core::lesson::schema::{GivenSource, StaticEmbedding};
use attune_engine::numerics::attention::{Edge, HeadMode, Mask};
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Quantity};

use super::lines::by_size;
use super::reader::{EntryReader, HeadParts};
use super::rule::{Expr, Setting};
use super::walk::distance;
use crate::view_model::answers::{Asked, keepers, said, told_answer};
use crate::view_model::axes::{self, StageShares, percent, seen_through};
use crate::view_model::labels::{at_distance, strongest};
use crate::view_model::quoted;
use crate::view_model::what_if::said_patch;

/// Declares sentences: the name of each, its slots, and its words.
macro_rules! sentences {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*) = $text:literal;)*) => {
        $($(#[$doc])* pub fn $name($($part: impl Display),*) -> String { format!($text) })*

        /// Returns all sentences by their names, with their slots in braces, which the live page fills.
        pub fn templates() -> BTreeMap<&'static str, String> {
            [$((stringify!($name), $name($(concat!("{", stringify!($part), "}")),*))),*].into()
        }
    };
}

sentences! {
    // What goes in.
    begins(query, width) =
        "{query} begins as its static vector of {width} numbers, the same in every sentence.";
    begins_in_place(query, width, place) =
        "{query} begins as its static vector of {width} numbers, the same in every sentence. The vector of the \
         {place} position is added to it.";
    no_word() = "There is no word here yet, so the static vector is zero.";
    comes_from_below(query, width) =
        "For {query}, the input here is the output of the layer below, a vector of {width} numbers.";
    position() = "This number is fixed, not learned: it is a sine or cosine of the position. The waves get slower \
        from one pair of entries to the next.";

    recorded() = "This number was recorded, and not computed here.";
    recorded_numbers() = "These numbers were recorded, and not computed here.";

    // Queries, keys and values.
    nothing_learned() = "Nothing is learned here.";
    own_roles(width) = "The query, the key and the value of each word are {width} numbers of its vector";
    asks(query, width) = "The query of {query} has {width} numbers";
    offers(key_width, value_width) =
        "Each word has a key of {key_width} numbers, with which queries are compared, and gives a value of {value_width} numbers to the words that look at it.";
    heads_share(first, last) = "Heads {first} to {last} of the layer share keys and values.";
    queries_normed() = "A norm is applied to the queries and keys, so that all have about the same length.";
    places_turn_them() = "Then each query and key is rotated by an angle that grows with its position in the sentence.";

    // Scores.
    places_turn() =
        "Each clock shows one pair of entries, with a coloured hand for the query and a grey hand for the key. Each \
         word's position has turned the word's hand, so what a clock adds to the product depends on how far apart \
         the two words are.";
    held_below(cap) = "The model keeps each score s between −{cap} and {cap} by replacing it with {cap} · tanh(s / \
        {cap}).";
    meets() = "The query is compared with each key: their entries are multiplied in pairs, and the products are added.";
    product_is_largest(query, key, product) = "q({query}) · k({key}) = {product}, the largest";
    product_is(query, key, product, largest, other) =
        "q({query}) · k({key}) = {product}; the largest is {largest}, with {other}";
    divided_as_wide(divisors) = "Wide vectors give large scores, so divide by {divisors}.";
    divided(divisors) = "Divide by {divisors}.";
    by_root(width) = "√{width}";
    by_own(divisor) = "{divisor}, the divisor of this layer";
    by_temperature(temperature) = "the temperature, {temperature}";
    not_scaled() = "These scores are not scaled.";
    distance_adds(head, bias, at) = "{head} adds {bias} to the score of {at}.";
    distance_takes_off(head, bias, at) = "{head} subtracts {bias} from the score of {at}.";
    comes_to(query, key, score) = "{query} gives {key} the score {score}";
    temperature_set(set, own) = "The temperature was set to {set}; in the lesson it is {own}.";
    scaling_turned(to) = "Scaling was turned {to}.";

    // Who sees whom.
    none_hidden() = "No word is hidden.";
    one_hidden() = "One word is hidden: its score is −∞.";
    some_hidden(count) = "{count} words are hidden: their scores are −∞.";
    hidden(query, key, mask) = "{query} does not see {key}, which {mask} hides, so the weight is exactly 0.";
    removed(query, key) =
        "You removed this edge: {query} does not look at {key} in this head, so the weight is exactly 0.";
    hidden_score(query, key, mask) = "{query} does not see {key}, which {mask} hides, so the score is −∞.";
    removed_score(query, key) =
        "You removed this edge: {query} does not look at {key} in this head, so the score is −∞.";
    sees_nothing(query) = "{query} sees no word at all, so all its weights are 0.";

    // Weights.
    softmax(largest, total) =
        "Subtract the largest score, {largest}, from each score, exponentiate, and divide by the total, {total}. The \
         weights sum to 1.";
    looks_at(query, strongest) = "{query} looks at {strongest}";
    uniform(head) = "{head} is set to give every visible word the same weight, so its scores do not count.";
    frozen(head) = "{head} is frozen, so its weights stay as they were, whatever the scores are.";
    frozen_without(head) =
        "{head} is frozen: its weights stay as they were, whatever the scores are. The weights of the removed edges are \
         shared out among the others, in proportion.";
    mean(head) =
        "{head} adds the same vector to every word, the mean of its outputs over the sentence. Each row of its \
         weights is therefore the mean of all rows.";
    unused(head) = "{head} is off, so its weights are not used.";

    // What a head adds.
    mixes(width) = "Multiply each value by its weight, and add up the results. The sum is the mix, a vector of \
        {width} numbers.";
    mix_is(query, terms) = "mix({query}) = {terms}";
    off(head) = "{head} is off, so it mixes nothing and adds nothing.";
    gained(head, gain) = "The output of {head} is multiplied by {gain}.";
    adds(key) = "The value of {key}, times its weight, times this head's rows of W_O.";
    of_another_head(head) = "{head} adds nothing here: this entry belongs to another head.";
    projects(width) = "W_O projects the mix back to {width} numbers.";
    concatenates() = "The outputs of the heads are concatenated.";
    adds_arrow(head, query, length) = "Head {head} adds an arrow of length {length} to {query}";
    brings_vector(head, query, length) = "Head {head} gives {query} a vector of length {length}";
    another_head(head, length) = ", head {head} one of {length}";
    heads_add_up(heads) = "Each head's mix is multiplied by its own rows of W_O, and the outputs of the {heads} \
        heads are added.";
    no_residual() = "This layer has no residual connection, so its input is not added.";

    // What comes out.
    norm_is_held() =
        "The norm's divisor is computed from the whole sum and then held fixed. That makes the norm linear, so it can \
         be applied to each term separately (Kobayashi et al. 2021).";
    arrows_add_up() =
        "With the norm's divisor held fixed, the norm can be applied to every arrow separately, so the walk's \
         arrows end exactly at the output.";
    feed_forward() = "The feed-forward layer works on each word separately. In the formula, h is the vector of the \
        layer's hidden units.";
    feed_forward_adds() =
        "The feed-forward layer adds the difference between the vector after it and the vector before it.";
    feed_forward_replaces() = "Without a residual connection, the layer's output replaces its input.";
    norm_rescales() =
        "The norm divides every arrow by the same number, computed from the whole sum. A layer norm also shifts \
         the word.";
    norms_rescale() =
        "Each norm divides every arrow by one number, computed from the whole sum. Layer norms also shift the word.";
    pulled_back(head, length, others) = "By itself, head {head} would move the word by {length}; {others} the word \
        back.";
    readout_not_kept() = "The intermediate numbers of the readout's hidden layer are not stored.";
    stays_in_place(word) = "{word} stays where it is";
    moves_by(word, length) = "{word} moves by {length}";
    goes_on(to) = "The word's vector goes on to the {to}.";
    nearest_at_start(word, nearest, cosine) = "{word} is nearest to {nearest} (cosine {cosine})";
    nearest_is_own(word, cosine) = "{word} is still nearest to its own static vector (cosine {cosine})";
    nearest_stays(word, nearest, before, now) =
        "{word} is nearest to {nearest}, both before attention (cosine {before}) and after it (cosine {now})";
    nearest_changes(word, before, now, cosine) =
        "{word} is now nearest to {now} (cosine {cosine}), and no longer to {before}";
    nearest_comes(word, now, cosine) = "{word} is now nearest to {now} (cosine {cosine}); before, it was near no word";
    nearest_goes(word, before) = "{word} now has no close neighbour; before, it was nearest to {before}";
    nearest_none(word) = "{word} had no close neighbour before attention and has none after it";
    nearest_now(word, nearest) = "{word} is now nearest to {nearest}";
    another_now(word, nearest) = ", {word} to {nearest}";
    answers_at(word, answer) = "{word} → {answer}";
    answers_after(word, answer) = "After {word}: {answer}";
    answers_all(answer) = "The sentence → {answer}";
    true_space() = "Measured in the true space of all dimensions, not in the picture.";
}

/// The most weights that a sentence names.
const NAMED: usize = 3;
/// The least cosine of a neighbour: a smaller one is no more than chance.
const NEAR: f32 = 0.01;
/// The least length that is not written as 0.
const LEAST_LENGTH: f32 = 0.0005;

/// The part of a head that an intervention changes: its weights, or the sum that it adds.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    Weights,
    Sum,
}

/// The sentences on an entry.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub happens: Vec<String>,
    /// Its outcome in one line, without a full stop.
    pub result: Option<String>,
    /// Sentences on what is special about this entry.
    pub notes: Vec<String>,
}

impl Said {
    /// Returns all sentences in their order.
    fn all(self) -> Vec<String> {
        let result = self.result.map(|result| result + ".");
        self.happens.into_iter().chain(result).chain(self.notes).collect()
    }

    /// Returns all sentences except the result.
    pub fn without_result(&self) -> impl Iterator<Item = &str> {
        self.happens.iter().chain(&self.notes).map(String::as_str)
    }
}

impl EntryReader<'_> {
    /// Returns the sentences that explain an entry: what happens, its result, and what is special about it.
    pub fn sentences(&self, entry: Entry) -> Vec<String> {
        self.said(entry).all()
    }

    pub fn said(&self, entry: Entry) -> Said {
        if !self.is_known(entry) {
            return Said::default();
        }
        if self.is_of_file(entry) {
            return Said { happens: vec![recorded()], ..Said::default() };
        }
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        let number = owner.number();
        let said = match quantity {
            Quantity::Query => self.on_projection(number, Some(i)),
            Quantity::Key | Quantity::Value => self.on_projection(number, None),
            Quantity::Product => self.on_product(number, i, j),
            Quantity::Score => self.on_score(number, i, j),
            Quantity::Weight => self.on_weights(number, i, j),
            Quantity::Mix => self.on_mix(number, i),
            Quantity::HeadLength => self.on_head(number, i),
            Quantity::MoveLength => self.on_move(number, i),
            _ => self.on_others(entry).map(|happens| Said { happens, ..Said::default() }),
        };
        said.unwrap_or_default()
    }

    /// Returns the sentences on an entry that is not the result of a step of the walk.
    fn on_others(&self, entry: Entry) -> Option<Vec<String>> {
        use Quantity::*;
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        Some(match quantity {
            Parameter(name) => self.on_weight(name.of_block(number), i, j)?,
            Static => self.on_static(i, j),
            Position => vec![position()],
            Embedded | Input => self.on_input(number, i),
            Scale => {
                let divided = on_divisors(&self.divisors(number)?).unwrap_or_else(not_scaled);
                [vec![divided], self.on_changed_scale(number)?].concat()
            }
            DistanceBias => self.on_changed_temperature(number)?,
            Exponential => self.on_exponential(number, i, j)?,
            Term if !self.head(number)?.config.attention.output && self.value_column(number, k).is_none() => {
                vec![of_another_head(self.labels.title(number))]
            }
            Term | HeadArrowLength => self.on_mode(number, Effect::Sum),
            Arrow => vec![norm_is_held()],
            TermLength if self.head(number)?.config.attention.output => vec![adds(self.key_said(number, j))],
            Part => self.on_part(number, self.part(number, i)?)?,
            Summed => {
                let changed = self.heads_of(number).flat_map(|head| self.on_mode(head, Effect::Sum));
                let replaced = (!self.config(number)?.residual).then(no_residual);
                replaced.into_iter().chain(changed).collect()
            }
            Joined => vec![feed_forward()],
            Output if self.norms_after(number) > 0 => vec![arrows_add_up()],
            Output if self.config(number)?.feed_forward.is_some() => vec![feed_forward()],
            Logit if self.evaluated(&self.rule_of(entry)?).is_none() => vec![readout_not_kept()],
            Coordinate => self.on_axis(i)?,
            Cosine | Distance => vec![true_space()],
            _ => Vec::new(),
        })
    }

    /// Whether a number of a recording stands in its file.
    pub(super) fn is_of_file(&self, entry: Entry) -> bool {
        use Quantity::*;
        if self.model.recorded.is_none() {
            return false;
        }
        match entry.quantity {
            Scale => self.rule_of(entry).is_some_and(|rule| matches!(rule.expression, Expr::Given(_))),
            Query | Key | Value | DistanceBias | Static | Input | Output | Final | Logit => true,
            Weight => !self.follows_from_scores(entry),
            _ => false,
        }
    }

    /// Names a query within a sentence.
    fn query_said(&self, head: usize, query: usize) -> String {
        quoted(&self.query_word(head, query))
    }

    fn key_said(&self, head: usize, key: usize) -> String {
        quoted(&self.key_word(head, key))
    }

    fn on_weight(&self, tensor: TensorId, row: usize, col: usize) -> Option<Vec<String>> {
        let is_own = self.model.parameters.entry(tensor, row, col)? == self.model.trained.entry(tensor, row, col)?;
        let is_trained = self.model.weights_origin() == "trained";
        let is_given = self.model.made_of.model.weights.iter().any(|(given, _)| *given == tensor);
        let in_file = self.model.pretrained.as_ref().map(|model| model.entry(tensor, row, col));
        let is_in_file = in_file.as_ref().is_some_and(Option::is_some);
        let history = match (is_own, self.model.training.step_shown()) {
            (false, _) if is_in_file => "You changed this weight. The model's files have another value.",
            (true, _) if is_in_file => "This weight was read from the model's files.",
            (false, _) if in_file.is_some() => "You changed this weight. The model's files do not have it.",
            (true, _) if in_file.is_some() => "The model's files do not have this weight; its value is 0.",
            (false, _) if !is_trained => "You changed this weight.",
            (false, _) => "You changed this weight. Training had given it another value.",
            (true, 0) if is_given && is_trained => "Training has not begun; this is the value that the lesson gives.",
            (true, 0) if is_given => "The lesson gives this value.",
            (true, 0) if !is_trained => "This weight is not trained; it has its initial value.",
            (true, 0) => "Training has not begun; the weight has its initial value.",
            (true, steps) => &format!("This is its value after training step {steps}."),
        };
        let of_file = in_file.flatten().map(origin);
        Some([Some(history.to_owned()), of_file].into_iter().flatten().collect())
    }

    fn on_static(&self, word: usize, dim: usize) -> Vec<String> {
        let from = match &self.snapshot.lesson.static_embedding {
            StaticEmbedding::Given(given) => match given.source {
                GivenSource::Lesson => "The lesson gives this number",
                GivenSource::File(_) | GivenSource::WholeFile(_) | GivenSource::FirstRows => {
                    "This number is from the file of vectors"
                }
            },
            StaticEmbedding::Pretrained(_) => "This number is from the model's file",
            StaticEmbedding::Recording(_) => "This number is from the recording",
            _ => "word2vec learned this number from the lesson's corpus",
        };
        let entry = self.model.pretrained.as_ref().and_then(|model| model.entry(TensorName::Embedding, word, dim));
        let of_file = entry.map(origin);
        let from = format!("{from}; it is the same in every sentence.");
        [Some(from), of_file].into_iter().flatten().collect()
    }

    fn on_input(&self, block: usize, token: usize) -> Vec<String> {
        let query = self.query_said(self.first_head(block), token);
        let architecture = &self.model.architecture;
        vec![match self.patch_of(block, token) {
            Some(patch) => said_patch(self.model, patch),
            None if !self.is_first(block) => comes_from_below(query, architecture.width),
            None if self.word(block, token).is_none() => no_word(),
            None if architecture.positions == Positions::None => begins(query, architecture.width),
            None => begins_in_place(query, architecture.width, ordinal(token + 1)),
        }]
    }

    fn on_projection(&self, head: usize, query: Option<usize>) -> Option<Said> {
        let parts = self.head(head)?;
        let (key_width, value_width) = (parts.activations.query.cols(), parts.activations.value.cols());
        if !parts.config.attention.projected {
            let result = Some(own_roles(key_width));
            return Some(Said { happens: vec![nothing_learned()], result, ..Said::default() });
        }
        let mut happens = vec![offers(key_width, value_width)];
        let attention = &parts.config.attention;
        let sharers = attention.sharers(parts.own);
        happens.extend((sharers.len() > 1).then(|| heads_share(sharers.start + 1, sharers.end)));
        happens.extend(attention.query_key_norm.map(|_| queries_normed()));
        happens.extend(attention.rotary.map(|_| places_turn_them()));
        let result = query.map(|query| asks(self.query_said(head, query), key_width));
        Some(Said { happens, result, ..Said::default() })
    }

    fn on_product(&self, head: usize, query: usize, key: usize) -> Option<Said> {
        let products = self.head(head)?.arithmetic.products.row(query);
        let (largest, most) = strongest(products.iter().copied());
        let (query_said, key_said) = (self.query_said(head, query), self.key_said(head, key));
        let product = written(*products.get(key)?);
        let result = match largest == key {
            true => product_is_largest(query_said, key_said, product),
            false => product_is(query_said, key_said, product, written(most), self.key_said(head, largest)),
        };
        Some(Said { happens: vec![meets()], result: Some(result), ..Said::default() })
    }

    /// Says what turns products into scores, in order: a bound holds before the temperature divides.
    fn on_scaling(&self, head: usize) -> Option<Vec<String>> {
        let divisors = self.divisors(head)?;
        let steps = match self.head(head)?.config.attention.score_cap {
            None => vec![on_divisors(&divisors)],
            Some(cap) => vec![on_divisors(&divisors[..1]), Some(held_below(cap)), on_divisors(&divisors[1..])],
        };
        let steps: Vec<String> = steps.into_iter().flatten().collect();
        Some(if steps.is_empty() { vec![not_scaled()] } else { steps })
    }

    fn on_changed_temperature(&self, head: usize) -> Option<Vec<String>> {
        let own = self.head(head)?.config.attention.temperature;
        Some(self.model.interventions.temperature.map(|set| temperature_set(set, own)).into_iter().collect())
    }

    fn on_changed_scale(&self, head: usize) -> Option<Vec<String>> {
        let own = self.head(head)?.config.attention.scale;
        let turned = self.model.interventions.scale.filter(|is_on| *is_on != own);
        let turned = turned.map(|is_on| scaling_turned(if is_on { "on" } else { "off" }));
        Some(self.on_changed_temperature(head)?.into_iter().chain(turned).collect())
    }

    fn on_score(&self, head: usize, query: usize, key: usize) -> Option<Said> {
        let parts = self.head(head)?;
        let scores = parts.activations.scores.row(query);
        let mut happens = self.on_scaling(head)?;
        let distances = parts.arithmetic.distances.as_ref();
        happens.extend(distances.map(|distances| {
            let (name, bias) = (format!("Head {}", parts.own + 1), distances.get(query, key));
            let say = if bias < 0.0 { distance_takes_off } else { distance_adds };
            say(name, written(bias.abs()), at_distance(parts.config.attention.distances, query, key))
        }));
        let is_hidden = self.is_hidden(head, query, key);
        let (query_said, key_said) = (self.query_said(head, query), self.key_said(head, key));
        let result = (!is_hidden).then(|| comes_to(query_said, key_said, written(scores[key])));
        let mut notes = vec![match scores.iter().filter(|score| **score == f32::NEG_INFINITY).count() {
            0 => none_hidden(),
            1 => one_hidden(),
            count => some_hidden(count),
        }];
        notes.extend(is_hidden.then(|| self.on_hidden_score(head, query, key)));
        notes.extend(self.on_changed_scale(head)?);
        Some(Said { happens, result, notes })
    }

    /// Says why the weight of a hidden key is 0.
    fn on_hidden(&self, head: usize, query: usize, key: usize) -> String {
        let (query_said, key_said) = (self.query_said(head, query), self.key_said(head, key));
        match self.hidden_by(head, query, key) {
            None => removed(query_said, key_said),
            Some(mask) => hidden(query_said, key_said, mask),
        }
    }

    /// Says why its score is −∞, for in some modes of a head its weight is not 0.
    fn on_hidden_score(&self, head: usize, query: usize, key: usize) -> String {
        if self.head(head).is_some_and(|parts| !matches!(parts.mode, HeadMode::Frozen(_) | HeadMode::Mean)) {
            return self.on_hidden(head, query, key);
        }
        let (query_said, key_said) = (self.query_said(head, query), self.key_said(head, key));
        match self.hidden_by(head, query, key) {
            None => removed_score(query_said, key_said),
            Some(mask) => hidden_score(query_said, key_said, mask),
        }
    }

    /// Names what hides a key from a query; `None` where the edge was removed.
    fn hidden_by(&self, head: usize, query: usize, key: usize) -> Option<&'static str> {
        let interventions = &self.model.interventions;
        if interventions.edges.contains(&Edge { head, query, key }) {
            return None;
        }
        let parts = self.head(head)?;
        let takes_mask = !self.is_of_source(parts.block) && !parts.config.attends_to_source();
        let attention = &parts.config.attention;
        let by_itself = if attention.mask.sees(query, key) { "the window" } else { "the mask" };
        Some(match interventions.mask.as_ref().filter(|_| takes_mask) {
            Some(Mask::Custom(_)) if attention.sees(query, key) => "your mask",
            Some(Mask::Custom(_)) | None => by_itself,
            Some(mask) if mask.sees(query, key) => "the window",
            Some(_) => "your mask",
        })
    }

    fn on_exponential(&self, head: usize, query: usize, key: usize) -> Option<Vec<String>> {
        if self.head(head)?.arithmetic.sums[query] == 0.0 {
            return Some(vec![sees_nothing(self.query_said(head, query))]);
        }
        let is_hidden = self.is_hidden(head, query, key);
        Some(is_hidden.then(|| self.on_hidden(head, query, key)).into_iter().collect())
    }

    fn on_weights(&self, head: usize, query: usize, key: usize) -> Option<Said> {
        let parts = self.head(head)?;
        let (largest, total) = (parts.arithmetic.largest[query], parts.arithmetic.sums[query]);
        let is_by_hand = matches!(parts.mode, HeadMode::Uniform | HeadMode::Frozen(_) | HeadMode::Mean);
        if total == 0.0 && !is_by_hand {
            return Some(Said { notes: vec![sees_nothing(self.query_said(head, query))], ..Said::default() });
        }
        let happens = (!is_by_hand).then(|| softmax(written(largest), written(total))).into_iter().collect();
        let result = self.strongest(head, query, |key, weight| format!("{key} {weight:.3}"))?.join(", ");
        let result = Some(looks_at(self.query_said(head, query), result));
        let mut notes = Vec::new();
        let is_zero = match parts.mode {
            HeadMode::Mean => false,
            HeadMode::Frozen(_) => self.model.interventions.edges.contains(&Edge { head, query, key }),
            _ => self.is_hidden(head, query, key),
        };
        notes.extend(is_zero.then(|| self.on_hidden(head, query, key)));
        match parts.mode {
            HeadMode::Frozen(_) if self.has_removed_edge(head, query) => {
                notes.push(frozen_without(self.labels.title(head)));
            }
            _ => notes.extend(self.on_mode(head, Effect::Weights)),
        }
        Some(Said { happens, result, notes })
    }

    /// Names the keys with the largest weights of a query, each with its weight: `“phone” 0.320`.
    fn strongest(&self, head: usize, query: usize, say: impl Fn(String, f32) -> String) -> Option<Vec<String>> {
        let weights = self.head(head)?.activations.weights.row(query);
        let keys = by_size(weights.len(), |key| weights[key].into());
        Some(keys.into_iter().take(NAMED).map(|key| say(self.key_said(head, key), weights[key])).collect())
    }

    /// Says how the learner changed a head, if that has this effect.
    fn on_mode(&self, head: usize, effect: Effect) -> Vec<String> {
        let Some(parts) = self.head(head) else { return Vec::new() };
        let title = self.labels.title(head);
        let sentence = match (parts.mode, effect, parts.mode.gain()) {
            (HeadMode::Mean, ..) => Some(mean(title)),
            (HeadMode::Uniform, Effect::Weights, _) => Some(uniform(title)),
            (HeadMode::Frozen(_), Effect::Weights, _) => Some(frozen(title)),
            (_, Effect::Weights, 0.0) => Some(unused(title)),
            (_, Effect::Sum, 0.0) => Some(off(title)),
            (_, Effect::Sum, gain) if gain != 1.0 => Some(gained(title.to_lowercase(), gain)),
            _ => None,
        };
        sentence.into_iter().collect()
    }

    fn on_mix(&self, head: usize, query: usize) -> Option<Said> {
        let HeadParts { activations, mode, .. } = self.head(head)?;
        let mut terms = self.strongest(head, query, |key, weight| format!("{weight:.3} v({key})"))?;
        terms.extend((activations.weights.cols() > NAMED).then(|| "…".to_owned()));
        let sum = terms.join(" + ");
        let mix = match mode.gain() {
            0.0 => "0".to_owned(),
            1.0 => sum,
            gain => format!("{gain} · ({sum})"),
        };
        let result = Some(mix_is(self.query_said(head, query), mix));
        Some(Said { happens: vec![mixes(activations.mix.cols())], result, notes: self.on_mode(head, Effect::Sum) })
    }

    fn on_head(&self, head: usize, query: usize) -> Option<Said> {
        let parts = self.head(head)?;
        let lengths = &self.sentence.contributions[parts.block].head_lengths;
        let length = |own: usize| lengths.get(own)?.get(query).copied();
        // Without a residual nothing is added to the word: what the heads bring takes its place.
        let say = if parts.config.residual { adds_arrow } else { brings_vector };
        let mut result = say(parts.own + 1, self.query_said(head, query), written(length(parts.own)?));
        let others = (0..lengths.len()).filter(|own| *own != parts.own);
        let others = others.filter_map(|own| Some(another_head(own + 1, written(length(own)?))));
        result.extend(others.take(NAMED - 1));
        let mut happens = vec![match parts.config.attention.output {
            true => projects(self.width()),
            false => concatenates(),
        }];
        happens.extend((parts.config.attention.output && lengths.len() > 1).then(|| heads_add_up(lengths.len())));
        Some(Said { happens, result: Some(result), notes: self.on_mode(head, Effect::Sum) })
    }

    fn on_part(&self, block: usize, part: BlockPart) -> Option<Vec<String>> {
        let norms = self.norms_after(block);
        let mut sentences = Vec::new();
        if part == BlockPart::FeedForward {
            sentences.push(if norms > 0 { feed_forward_adds() } else { feed_forward() });
            sentences.extend((norms == 0 && !self.config(block)?.residual).then(feed_forward_replaces));
        }
        sentences.extend((norms > self.norms_before(block, part)).then(norm_is_held));
        Some(sentences)
    }

    fn on_axis(&self, axis: usize) -> Option<Vec<String>> {
        let name = axes::names(self.space).into_iter().nth(axis)?;
        let share = StageShares::of(self.snapshot).by_axis().map_or_else(String::new, |(of, shares)| {
            format!(", and shows {} of the {of}' variance", percent(shares.along(axis)))
        });
        let vectors = match self.model.recorded {
            Some(_) => "the vectors of all layers",
            None => "static and contextual vectors",
        };
        let same = format!("The axis {name} is the same for {vectors}{share}.");
        let seen = self.space.scale().map(|scale| seen_through(scale.norm).to_owned());
        Some([Some(same), seen].into_iter().flatten().collect())
    }
}

/// The sentences on a word's whole move in a layer.
impl EntryReader<'_> {
    fn on_move(&self, block: usize, query: usize) -> Option<Said> {
        let (blocks, activations) = (self.sentence.activations.blocks.len(), self.block(block)?);
        let is_last = block + 1 == blocks;
        let name = self.query_said(self.first_head(block), query);
        let length = distance(activations.input.row(query), activations.output.row(query));
        let moves = match length < LEAST_LENGTH {
            true => stays_in_place(&name),
            false => moves_by(&name, written(length)),
        };
        let moves = if blocks > 1 { format!("{moves} in this layer") } else { moves };
        let answer = is_last.then(|| self.answers(query)).flatten();
        let repeats = is_last && answer.is_none() && !self.keeps_answers();
        let repeated = repeats.then(|| said(self.model, query)).flatten();
        let nearest = is_last.then(|| self.nearest_said(query, if answer.is_some() { "It" } else { &name })).flatten();
        let mut happens = Vec::new();
        let result = match (answer, nearest) {
            (Some(answer), nearest) => {
                happens.extend([Some(moves), nearest].into_iter().flatten().map(|said| said + "."));
                answer
            }
            (None, Some(nearest)) => {
                happens.push(moves + ".");
                nearest
            }
            (None, None) => {
                let to = if self.feeds_cross_attention(block) { "cross-attention" } else { "layer above" };
                happens.extend((!is_last).then(|| goes_on(to)));
                moves
            }
        };
        let norms = match self.norms_after(block) {
            0 => None,
            1 => Some(norm_rescales()),
            _ => Some(norms_rescale()),
        };
        let mut parts = self.sentence.moves[block].parts.iter();
        let verb = if self.config(block)?.residual {
            "adds an arrow"
        } else {
            "replaces the word's vector, which \
            moves the word by an arrow"
        };
        let feeds = parts
            .find(|moves| moves.part == BlockPart::FeedForward)
            .map(|moves| format!("The feed-forward layer {verb} of length {}.", written(moves.lengths[query])));
        Some(Said { happens, result: Some(result), notes: [norms, feeds, repeated].into_iter().flatten().collect() })
    }

    /// Says the model's answer at a word in one line, if the answer is not just the word itself.
    pub(super) fn answers(&self, query: usize) -> Option<String> {
        let (asked, answer) = told_answer(self.model, query)?;
        let word = self.query_said(self.first_head(self.sentence.activations.blocks.len() - 1), query);
        let said = match self.keeps_answers() {
            true => "?".to_owned(),
            false => format!("{} {}", quoted(&self.model.classes[answer.class]), percent(answer.probability)),
        };
        Some(match asked {
            Asked::Here => answers_at(word, said),
            Asked::Next => answers_after(word, said),
            Asked::Whole => answers_all(said),
        })
    }

    fn keeps_answers(&self) -> bool {
        keepers(self.snapshot).next().is_some()
    }

    /// Says what pulls a word back if the arrow of a head is longer than the word's whole move.
    pub(super) fn pulled_back(&self, head: usize, query: usize) -> Option<String> {
        let parts = self.head(head)?;
        let config = parts.config;
        let block = self.block(parts.block)?;
        let moved = distance(block.input.row(query), block.output.row(query));
        let is_sum_of_heads = config.residual && config.norm != Norm::Post && config.feed_forward.is_none();
        let length = *self.sentence.contributions[parts.block].head_lengths.get(parts.own)?.get(query)?;
        let others = match config.attention.heads {
            1 => "b_O pulls".to_owned(),
            2 => format!("head {} pulls", 2 - parts.own),
            _ => "the other heads together pull".to_owned(),
        };
        (is_sum_of_heads && length > moved + LEAST_LENGTH).then(|| pulled_back(parts.own + 1, written(length), others))
    }

    /// Says what a word is nearest to before and after attention; `None` for a word without a static vector.
    fn nearest_said(&self, query: usize, name: &str) -> Option<String> {
        if self.leaves_statics() {
            return None;
        }
        let word = |one: &Neighbour| quoted(&self.space.vocabulary[one.word]);
        let before = nearest(&self.sentence.static_neighbours, query)?;
        let now = nearest(&self.sentence.contextual_neighbours, query)?;
        let cosine = |one: &Neighbour| format!("{:.3}", one.cosine);
        if self.is_nearest_to_itself(query) {
            return Some(nearest_is_own(name, cosine(now)));
        }
        if before.word == now.word && before.cosine.min(now.cosine) >= NEAR {
            return Some(nearest_stays(name, word(now), cosine(before), cosine(now)));
        }
        Some(match (before.cosine >= NEAR, now.cosine >= NEAR) {
            (true, true) => nearest_changes(name, word(before), word(now), cosine(now)),
            (false, true) => nearest_comes(name, word(now), cosine(now)),
            (true, false) => nearest_goes(name, word(before)),
            (false, false) => nearest_none(name),
        })
    }

    /// Returns whether a word's contextual vector is nearest to its own static vector.
    pub(super) fn is_nearest_to_itself(&self, query: usize) -> bool {
        let own = self.sentence.tokens.get(query).and_then(|token| token.word);
        let now = nearest(&self.sentence.contextual_neighbours, query);
        now.is_some_and(|now| Some(now.word) == own && now.cosine >= NEAR)
    }

    /// Returns the word that is near a token's vector, before or after attention, if there is one.
    pub(super) fn near(&self, all: &[Neighbours], query: usize) -> Option<(String, f32)> {
        let near = nearest(all, query).filter(|near| near.cosine >= NEAR)?;
        Some((quoted(&self.space.vocabulary[near.word]), near.cosine))
    }

    /// Returns whether contextual vectors lie far from the table, as in pretrained models and in recordings of any. The
    /// nearest row then says nothing of a word's meaning (Ethayarajh 2019).
    pub(super) fn leaves_statics(&self) -> bool {
        let made_of = &self.model.made_of.static_embedding;
        made_of.is_pretrained() || made_of.recording().is_some()
    }

    /// Returns whether cross-attention takes the outputs of a block as keys, values or queries.
    fn feeds_cross_attention(&self, block: usize) -> bool {
        let architecture = &self.model.architecture;
        let mut next = architecture.numbered_blocks().filter(|(number, _)| *number == block + 1);
        architecture.source_blocks.len() == block + 1 || next.any(|(_, block)| block.attends_to_source())
    }
}

/// Names the divisors of scores that are in the rule; `None` if nothing divides.
fn on_divisors(divisors: &[Expr]) -> Option<String> {
    let mut names = Vec::new();
    divisors.iter().for_each(|divisor| names_of(divisor, &mut names));
    let is_wide = names.iter().any(|(setting, _)| *setting == Some(Setting::KeyWidth));
    let names = names.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", and by ");
    if names.is_empty() {
        return None;
    }
    Some(if is_wide { divided_as_wide(names) } else { divided(names) })
}

/// Collects the factors of a divisor, except those that change nothing.
fn names_of(divisor: &Expr, to: &mut Vec<(Option<Setting>, String)>) {
    match divisor {
        Expr::Number(number) if !divisor.is_neutral() => {
            let name = match number.setting {
                Some(Setting::KeyWidth) => by_root(number.value),
                Some(Setting::Temperature) => by_temperature(number.value),
                _ => by_own(number.value),
            };
            to.push((number.setting, name));
        }
        _ => divisor.parts().iter().for_each(|part| names_of(part, to)),
    }
}

/// Says where a number stands in a model's files.
fn origin(entry: impl Display) -> String {
    format!("Its place in the files: {entry}.")
}

fn nearest(all: &[Neighbours], query: usize) -> Option<&Neighbour> {
    all.get(query)?.by_cosine.first()
}

/// Writes a number within a sentence.
fn written(x: f32) -> String {
    format!("{x:.3}").replace('-', "−")
}

fn ordinal(n: usize) -> String {
    const TEENS: Range<usize> = 11..14;
    let ending = match n % 10 {
        _ if TEENS.contains(&(n % 100)) => "th",
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}
