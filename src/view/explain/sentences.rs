//! The sentences that explain attention, each written once: the walk, the card of a number and the live page say them.
//!
//! The catalogue comes first, such as [`softmax`]; then the choice of sentences for an entry, with its words and
//! numbers.

use std::fmt::Display;
use std::ops::Range;

use attune_core::kernel::snapshot::{Neighbour, Neighbours};
use attune_core::lesson::schema::{GivenSource, StaticEmbedding};
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Entry, Owner, Quantity};

use super::clauses::Clause;
use super::reader::EntryReader;
use super::rule::{Bound, Expr};
use super::tellings::Rest;
use crate::view_model::answers::{keepers, said};
use crate::view_model::axes::{self, StageShares, percent, seen_through};
use crate::view_model::quoted;
use crate::view_model::what_if::said_patch;

/// Declares the sentences as functions, from their names, parameters and texts. An argument may be a name in braces,
/// which becomes a slot of a [`Clause`].
macro_rules! sentences {
    ($($(#[$doc:meta])* $name:ident($($part:ident),*) = $text:literal;)*) => {
        $($(#[$doc])* pub fn $name($($part: impl Display),*) -> String { format!($text) })*
    };
}

sentences! {
    // Input of a block.
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

    // All layers together.
    end_apart(first, last, distance) = "The layers leave {first} and {last} {distance} apart";

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
    distance_follows() = "The next step adds a number for the distance, which may change the order.";
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

    // Hidden keys and masks.
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
    second(head) =
        "{head} adds what it added in the second sentence: its weights and its values are those that it had there.";
    mean(head) =
        "{head} adds the same vector to every word, the mean of its outputs over the sentence. Each row of its \
         weights is therefore the mean of all rows.";
    unused(head) = "{head} is off, so its weights are not used.";

    // Output of a head.
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

    // Output of a block.
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

/// The least cosine with which a word counts as a neighbour; a smaller one may be chance.
pub(super) const NEAR: f32 = 0.01;

/// The sentences about an entry, with their numbers.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub happens: Vec<String>,
    /// The result, in one line without a full stop.
    pub result: Option<String>,
    /// Sentences on what is special about this entry.
    pub notes: Vec<String>,
}

impl Said {
    /// Returns all sentences: what happens, the result with a full stop, and the notes.
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
        let Some(telling) = self.telling(entry) else {
            return Said { happens: self.on_others(entry).unwrap_or_default(), ..Said::default() };
        };
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        let head = if let Owner::Head(head) = owner { head } else { self.first_head(owner.number()) };
        let spoken = |clauses: &[Clause]| self.spoken(clauses, head, &Bound::of_pair(i, j));
        let result = spoken(&telling.result).concat();
        let mut notes = spoken(&telling.notes);
        if quantity == Quantity::MoveLength {
            notes.extend(self.repeated(owner.number(), i));
        }
        Said { happens: spoken(&telling.happens), result: Some(result).filter(|result| !result.is_empty()), notes }
    }

    /// Says which word of the vocabulary the model's answer repeats; `None` if the answer itself is told, or must not
    /// be told.
    fn repeated(&self, block: usize, query: usize) -> Option<String> {
        let is_told = block != self.last_block() || self.answers(query).is_some() || self.keeps_answers();
        if is_told { None } else { said(self.model, query) }
    }

    /// Says the model's answer at a word in one line; `None` if it may not be told, or if it is just the word itself.
    pub(super) fn answers(&self, query: usize) -> Option<String> {
        self.at_rest(&Rest::of(self.model).answer?, query)
    }

    /// Fills a clause about a word outside the steps of the walk; `None` if its conditions do not hold.
    pub(super) fn at_rest(&self, clause: &Clause, query: usize) -> Option<String> {
        self.spoken(std::slice::from_ref(clause), self.first_head(self.last_block()), &Bound::of_pair(query, 0)).pop()
    }

    /// Returns the sentences about an entry that has no [`Telling`](super::clauses::Telling).
    fn on_others(&self, entry: Entry) -> Option<Vec<String>> {
        use Quantity::*;
        let Entry { quantity, owner, index: [i, j, _] } = entry;
        let number = owner.number();
        Some(match quantity {
            Parameter(name) => self.on_weight(name.of_block(number), i, j)?,
            Static => self.on_static(i, j),
            Position => vec![position()],
            Embedded | Input => self.on_input(number, i),
            Arrow => vec![norm_is_held()],
            Part => self.on_part(number, self.part(number, i)?)?,
            Summed => {
                let replaced = (!self.config(number)?.residual).then(no_residual);
                let of_head = |head| self.said(Quantity::HeadArrowLength.of_head(head, [i])).happens;
                replaced.into_iter().chain(self.heads_of(number).flat_map(of_head)).collect()
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

    /// Returns whether a recording's file contains the number of an entry, so that attune did not compute it.
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

    /// Returns the quoted word of a query, for use in a sentence.
    pub(super) fn query_said(&self, head: usize, query: usize) -> String {
        quoted(&self.query_word(head, query))
    }

    pub(super) fn key_said(&self, head: usize, key: usize) -> String {
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

/// Words that are nearest to a token, and whether answers may be told.
impl EntryReader<'_> {
    pub(super) fn keeps_answers(&self) -> bool {
        keepers(self.snapshot).next().is_some()
    }

    /// Returns whether the vocabulary word nearest to a token's contextual vector is the token's own word.
    pub(super) fn is_nearest_to_itself(&self, query: usize) -> bool {
        let own = self.sentence.tokens.get(query).and_then(|token| token.word);
        let now = nearest(&self.sentence.contextual_neighbours, query);
        now.is_some_and(|now| Some(now.word) == own && now.cosine >= NEAR)
    }

    /// Returns the quoted word nearest to a token's vector, with their cosine; `None` if the cosine is below `NEAR`.
    pub(super) fn near(&self, all: &[Neighbours], query: usize) -> Option<(String, f32)> {
        let near = nearest(all, query).filter(|near| near.cosine >= NEAR)?;
        Some((quoted(&self.space.vocabulary[near.word]), near.cosine))
    }

    /// Returns whether contextual vectors lie far from the static ones, as in pretrained models and recordings. The
    /// nearest static vector then says nothing about a word's meaning (Ethayarajh 2019).
    pub(super) fn leaves_statics(&self) -> bool {
        let made_of = &self.model.made_of.static_embedding;
        made_of.is_pretrained() || made_of.recording().is_some()
    }

    /// Returns the words that are nearest to a token before and after attention; `None` if one of them is unknown.
    pub(super) fn nearest(&self, query: usize) -> Option<[&Neighbour; 2]> {
        let of = |all| nearest(all, query);
        Some([of(&self.sentence.static_neighbours)?, of(&self.sentence.contextual_neighbours)?])
    }
}

/// Says where a model's files contain a number.
fn origin(entry: impl Display) -> String {
    format!("Its place in the files: {entry}.")
}

fn nearest(all: &[Neighbours], query: usize) -> Option<&Neighbour> {
    all.get(query)?.by_cosine.first()
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
