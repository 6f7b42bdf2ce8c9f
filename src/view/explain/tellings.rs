//! The sentences on a query and a key in a head, from their vectors to the word's move. They have clauses for all
//! settings of the forward pass, so that a live page can choose the right ones after a setting is changed.

use attune_core::kernel::snapshot::ModelSnapshot;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask};
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::quantity::{Entry, Quantity};
use serde::Serialize;

use super::clauses::Fact::*;
use super::clauses::{Clause, Fact, Largest, Slot, Telling, Test, rounded};
use super::reader::{EntryReader, HeadParts, part_index};
use super::rule::{Bound, Expr, Fold, Number, Over, Setting, at, at_head};
use super::sentences::*;
use super::walk::distance;
use crate::view_model::answers::{Asked, told_answer};
use crate::view_model::axes::percent;
use crate::view_model::labels::at_distance;
use crate::view_model::quoted;

/// The largest number of weights that a sentence names.
const NAMED: usize = 3;
/// The least length that is not written as 0 with three decimals.
const LEAST_LENGTH: f32 = 0.0005;

// Placeholders for words of the sentence, which are filled in when a clause is written out.
const QUERY: &str = "{query}";
const KEY: &str = "{key}";
const MASK: &str = "{mask}";

/// The part of a head that an intervention changes: its weights, or the sum that it adds.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    Weights,
    Sum,
}

impl EntryReader<'_> {
    /// Returns the sentences about an entry of a head, or about the move of a token; `None` for any other entry.
    pub(super) fn telling(&self, entry: Entry) -> Option<Telling> {
        let Entry { quantity, owner, index: [i, _, k] } = entry;
        let number = owner.number();
        let happens = |happens: Vec<Clause>| Telling { happens, ..Telling::default() };
        Some(match quantity {
            Quantity::Query | Quantity::Key | Quantity::Value => self.on_projection(number, quantity)?,
            Quantity::Product => self.on_product(number)?,
            Quantity::Scale => {
                let divided = on_divisors(&self.divisors(number)?);
                happens([divided, vec![self.unscaled(number)?], self.on_changed_scale(number)?].concat())
            }
            Quantity::DistanceBias => happens(self.on_changed_temperature(number)?),
            Quantity::Score => self.on_score(number, i)?,
            Quantity::Exponential => {
                let is_empty = || Test::Equal(at_head(Quantity::RowSum, number, "i"), 0.0);
                let mut all = vec![Clause::new(sees_nothing(QUERY)).when(is_empty())];
                let hidden = on_hidden().into_iter().map(|clause| clause.when(Hidden).unless(is_empty()));
                all.extend(hidden);
                happens(all)
            }
            Quantity::Weight => self.on_weights(number)?,
            Quantity::Mix => self.on_mix(number)?,
            Quantity::Term if !self.head(number)?.config.attention.output && self.value_column(number, k).is_none() => {
                happens(vec![Clause::new(of_another_head(self.labels.title(number)))])
            }
            Quantity::Term | Quantity::HeadArrowLength => happens(self.on_mode(number, Effect::Sum)?),
            Quantity::TermLength => {
                let is_off = Test::Equal(self.gain_of(number)?, 0.0);
                let adds = Clause::new(adds(KEY)).unless(is_off.clone());
                let adds = self.head(number)?.config.attention.output.then_some(adds);
                let off = Clause::new(off(self.labels.title(number))).when(is_off);
                happens(adds.into_iter().chain([off]).collect())
            }
            Quantity::HeadLength => self.on_head_length(number)?,
            Quantity::MoveLength => self.on_move(number)?,
            _ => return None,
        })
    }

    fn on_projection(&self, head: usize, quantity: Quantity) -> Option<Telling> {
        let parts = self.head(head)?;
        let (key_width, value_width) = (parts.activations.query.cols(), parts.activations.value.cols());
        let attention = &parts.config.attention;
        if !attention.projected {
            let happens = vec![Clause::new(nothing_learned())];
            return Some(Telling { happens, result: vec![Clause::new(own_roles(key_width))], notes: Vec::new() });
        }
        let sharers = attention.sharers(parts.own);
        let happens = [
            Some(offers(key_width, value_width)),
            (sharers.len() > 1).then(|| heads_share(sharers.start + 1, sharers.end)),
            attention.query_key_norm.map(|_| queries_normed()),
            attention.rotary.map(|_| places_turn_them()),
        ];
        let asked = (quantity == Quantity::Query).then(|| Clause::new(asks(QUERY, key_width)));
        let copied = Clause::new(second(self.labels.title(head))).when(Second);
        Some(Telling {
            happens: happens.into_iter().flatten().map(Clause::new).collect(),
            result: asked.into_iter().collect(),
            notes: (quantity == Quantity::Value).then_some(copied).into_iter().collect(),
        })
    }

    fn on_product(&self, head: usize) -> Option<Telling> {
        let keys = self.head(head)?.activations.scores.cols();
        let product = |key: char| at_head(Quantity::Product, head, &format!("i{key}"));
        let largest = || product('k').over(Fold::Largest, 'k', keys);
        let is_largest = Test::Equal(largest() - product('j'), 0.0);
        let one = || Slot::Rounded(product('j'));
        let other = Largest {
            over: Over { fold: Fold::Largest, letter: 'j', count: keys, of: Box::new(product('j')), named: 0 },
            most: 1,
            each: Clause::new(KEY),
            between: "",
            rest: "",
        };
        let result = vec![
            Clause::new(product_is_largest(QUERY, KEY, "{product}")).when(is_largest.clone()).slot("product", one()),
            Clause::new(product_is(QUERY, KEY, "{product}", "{largest}", "{other}"))
                .unless(is_largest)
                .slot("product", one())
                .slot("largest", Slot::Rounded(largest()))
                .slot("other", Slot::Largest(Box::new(other))),
        ];
        let mut happens = vec![Clause::new(meets())];
        if self.head(head)?.arithmetic.distances.is_some() {
            happens.push(Clause::new(distance_follows()));
        }
        Some(Telling { happens, result, notes: Vec::new() })
    }

    /// Says how products become scores, in the order of the forward pass: a cap is applied before the division by the
    /// temperature.
    fn on_scaling(&self, head: usize) -> Option<Vec<Clause>> {
        let divisors = self.divisors(head)?;
        Some(match self.head(head)?.config.attention.score_cap {
            None => [on_divisors(&divisors), vec![self.unscaled(head)?]].concat(),
            Some(cap) => {
                let held = vec![Clause::new(held_below(cap))];
                [on_divisors(&divisors[..1]), held, on_divisors(&divisors[1..])].concat()
            }
        })
    }

    /// Says that nothing divides the scores, on the condition that all divisors are neutral.
    fn unscaled(&self, head: usize) -> Option<Clause> {
        let divisors = self.divisors(head)?;
        let factors = divisors.iter().flat_map(factors_of);
        Some(factors.fold(Clause::new(not_scaled()), |clause, factor| clause.when(is_neutral(factor))))
    }

    fn on_changed_temperature(&self, head: usize) -> Option<Vec<Clause>> {
        let own = self.head(head)?.config.attention.temperature;
        let [_, temperature] = self.divisors(head)?;
        let clause = Clause::new(temperature_set("{set}", own)).unless(Test::Equal(temperature.clone(), own));
        Some(vec![clause.slot("set", Slot::Exact(temperature))])
    }

    fn on_changed_scale(&self, head: usize) -> Option<Vec<Clause>> {
        let parts = self.head(head)?;
        let is_scaled = parts.config.attention.scale;
        let own = if is_scaled { parts.activations.query.cols() as f64 } else { 1.0 };
        let turned = Clause::new(scaling_turned(if is_scaled { "off" } else { "on" }));
        let turned = turned.unless(Test::Equal(self.key_width(head)?, own));
        Some(self.on_changed_temperature(head)?.into_iter().chain([turned]).collect())
    }

    fn on_score(&self, head: usize, query: usize) -> Option<Telling> {
        let parts = self.head(head)?;
        let mut happens = self.on_scaling(head)?;
        if parts.arithmetic.distances.is_some() {
            let bias = || at_head(Quantity::DistanceBias, head, "ij");
            let (name, is_less) = (format!("Head {}", parts.own + 1), Test::Below(bias(), 0.0));
            let size = Expr::from(Number::plain(-1.0)) * bias();
            let less = Clause::new(distance_takes_off(&name, "{bias}", "{distance}")).when(is_less.clone());
            let more = Clause::new(distance_adds(&name, "{bias}", "{distance}")).unless(is_less);
            happens.push(less.slot("bias", Slot::Rounded(size)));
            happens.push(more.slot("bias", Slot::Rounded(bias())));
        }
        let score = Slot::Rounded(at_head(Quantity::Score, head, "ij"));
        let result = vec![Clause::new(comes_to(QUERY, KEY, "{score}")).unless(Hidden).slot("score", score)];
        let scores = parts.activations.scores.row(query);
        let count = scores.iter().filter(|score| **score == f32::NEG_INFINITY).count();
        let hidden = || Expr::from(Number::plain(count as f64).set_by(Setting::Unseen));
        let is = |count: f64| Test::Equal(hidden(), count);
        let mut notes = vec![
            Clause::new(none_hidden()).when(is(0.0)),
            Clause::new(one_hidden()).when(is(1.0)),
            Clause::new(some_hidden("{count}")).unless(is(0.0)).unless(is(1.0)).slot("count", Slot::Exact(hidden())),
        ];
        // In some modes of a head the weight of a hidden key is not 0.
        let by_scores = |clause: Clause| clause.when(Hidden).unless(Mean).unless(Frozen);
        notes.extend(on_hidden().into_iter().map(by_scores));
        let causes = || {
            [
                Clause::new(removed_score(QUERY, KEY)).when(Removed),
                Clause::new(hidden_score(QUERY, KEY, MASK)).unless(Removed),
            ]
        };
        notes.extend([Mean, Frozen].into_iter().flat_map(|mode| causes().map(|clause| clause.when(Hidden).when(mode))));
        notes.extend(self.on_changed_scale(head)?);
        Some(Telling { happens, result, notes })
    }

    fn on_weights(&self, head: usize) -> Option<Telling> {
        let keys = self.head(head)?.activations.scores.cols();
        let largest = at_head(Quantity::Score, head, "ik").over(Fold::Largest, 'k', keys);
        let by_softmax = |clause: Clause| clause.unless(Uniform).unless(Mean).unless(Frozen).unless(SeesNothing);
        let happens = Clause::new(softmax("{largest}", "{total}"))
            .slot("largest", Slot::Rounded(largest))
            .slot("total", Slot::Rounded(at_head(Quantity::RowSum, head, "i")));
        let strongest = self.strongest(head, "{key} {weight}", ", ", "")?;
        let result = Clause::new(looks_at(QUERY, "{strongest}")).unless(SeesNothing).slot("strongest", strongest);
        let [removed, hidden] = on_hidden();
        let mut notes = vec![
            Clause::new(sees_nothing(QUERY)).when(SeesNothing),
            removed.unless(Mean).unless(SeesNothing),
            hidden.when(Hidden).unless(Mean).unless(Frozen).unless(SeesNothing),
            Clause::new(frozen_without(self.labels.title(head))).when(Frozen).unless(Second).when(LacksEdges),
        ];
        notes.extend(self.on_mode(head, Effect::Weights)?.into_iter().map(|clause| clause.unless(SeesNothing)));
        Some(Telling { happens: vec![by_softmax(happens)], result: vec![result], notes })
    }

    /// Builds a slot that names the keys with the largest weights of a query.
    fn strongest(&self, head: usize, each: &str, between: &'static str, rest: &'static str) -> Option<Slot> {
        let count = self.head(head)?.activations.weights.cols();
        let weight = || at_head(Quantity::Weight, head, "ij");
        let over = Over { fold: Fold::Sum, letter: 'j', count, of: Box::new(weight()), named: NAMED };
        let each = Clause::new(each).slot("weight", Slot::Rounded(weight()));
        Some(Slot::Largest(Box::new(Largest { over, most: NAMED, each, between, rest })))
    }

    /// Says how the learner changed a head, if the change affects its weights or, for `Effect::Sum`, what it adds.
    fn on_mode(&self, head: usize, effect: Effect) -> Option<Vec<Clause>> {
        let (title, gain) = (self.labels.title(head), self.gain_of(head)?);
        let (is_off, is_whole) = (Test::Equal(gain.clone(), 0.0), Test::Equal(gain.clone(), 1.0));
        let mut all = vec![Clause::new(mean(&title)).when(Mean), Clause::new(second(&title)).when(Second)];
        match effect {
            Effect::Weights => all.extend([
                Clause::new(uniform(&title)).when(Uniform),
                Clause::new(frozen(&title)).when(Frozen).unless(Second).unless(LacksEdges),
                Clause::new(unused(&title)).when(is_off),
            ]),
            Effect::Sum => all.extend([
                Clause::new(off(&title)).when(is_off.clone()),
                Clause::new(gained(title.to_lowercase(), "{gain}"))
                    .unless(is_off)
                    .unless(is_whole)
                    .slot("gain", Slot::Exact(gain)),
            ]),
        }
        Some(all)
    }

    /// Builds the factor by which a head's mix is multiplied.
    fn gain_of(&self, head: usize) -> Option<Expr> {
        let gain = self.head(head)?.mode.gain();
        Some(Number::plain(gain.into()).set_by(Setting::Gain).into())
    }

    fn on_mix(&self, head: usize) -> Option<Telling> {
        let terms = || self.strongest(head, "{weight} v({key})", " + ", " + …");
        let gain = self.gain_of(head)?;
        let (is_off, is_whole) = (Test::Equal(gain.clone(), 0.0), Test::Equal(gain.clone(), 1.0));
        let result = vec![
            Clause::new(mix_is(QUERY, "0")).when(is_off.clone()),
            Clause::new(mix_is(QUERY, "{terms}")).when(is_whole.clone()).slot("terms", terms()?),
            Clause::new(mix_is(QUERY, "{gain} · ({terms})"))
                .unless(is_off)
                .unless(is_whole)
                .slot("gain", Slot::Exact(gain))
                .slot("terms", terms()?),
        ];
        let happens = vec![Clause::new(mixes(self.head(head)?.activations.mix.cols()))];
        Some(Telling { happens, result, notes: self.on_mode(head, Effect::Sum)? })
    }

    fn on_head_length(&self, head: usize) -> Option<Telling> {
        let HeadParts { block, own, config, .. } = self.head(head)?;
        let heads = self.heads_of(block);
        let of_head = |text: String, head: usize| {
            Clause::new(text).slot("length", Slot::Rounded(at_head(Quantity::HeadLength, head, "i")))
        };
        // Without a residual connection, what the heads add takes the place of the word's vector.
        let say = if config.residual { adds_arrow } else { brings_vector };
        let others = heads.clone().filter(|other| *other != head).take(NAMED - 1);
        let others = others.map(|other| of_head(another_head(other - heads.start + 1, "{length}"), other));
        let result = [of_head(say(own + 1, QUERY, "{length}"), head)].into_iter().chain(others).collect();
        let has_output = config.attention.output;
        let happens = if has_output { projects(self.width()) } else { concatenates() };
        let sum = (has_output && heads.len() > 1).then(|| heads_add_up(heads.len()));
        let happens = [Some(happens), sum].into_iter().flatten().map(Clause::new).collect();
        Some(Telling { happens, result, notes: self.on_mode(head, Effect::Sum)? })
    }
}

/// The sentences on a word's whole move in a layer.
impl EntryReader<'_> {
    fn on_move(&self, block: usize) -> Option<Telling> {
        let blocks = self.sentence.activations.blocks.len();
        let is_last = block + 1 == blocks;
        let moves = || self.on_distance(block, blocks > 1);
        let mut happens = Vec::new();
        let mut result: Vec<Clause> = moves().into();
        if is_last {
            let ended = || moves().map(Clause::ended);
            happens.extend(ended().map(|clause| clause.when(Answers)));
            result = result.into_iter().map(|clause| clause.unless(Answers)).collect();
            if !self.leaves_statics() {
                happens.extend(ended().map(|clause| clause.unless(Answers).when(Neighbours)));
                happens.extend(on_nearest("It").map(|clause| clause.ended().when(Answers)));
                result = result.into_iter().map(|clause| clause.unless(Neighbours)).collect();
                result.extend(on_nearest(QUERY).map(|clause| clause.unless(Answers)));
            }
            result.extend(Asked::of(self.model).map(on_answer));
        } else {
            let to = if self.feeds_cross_attention(block) { "cross-attention" } else { "layer above" };
            happens.push(Clause::new(goes_on(to)));
        }
        let norms = match self.norms_after(block) {
            0 => None,
            1 => Some(norm_rescales()),
            _ => Some(norms_rescale()),
        };
        let notes = norms.map(Clause::new).into_iter().chain(self.on_feed_forward(block)).collect();
        Some(Telling { happens, result, notes })
    }

    /// Says how far a layer moves a token, with a clause for a token that stays in place.
    fn on_distance(&self, block: usize, is_one_of_several: bool) -> [Clause; 2] {
        // The distance between input and output, which is the move even without a residual connection.
        let at_word = |quantity: Quantity| at(quantity.of_block(block, [0, 0]), "id");
        let length = || (at_word(Quantity::Output) - at_word(Quantity::Input)).length('d', self.width());
        let is_at_rest = Test::Below(length(), LEAST_LENGTH.into());
        let layer = if is_one_of_several { " in this layer" } else { "" };
        let text = |text: String| Clause::new(text + layer);
        [
            text(stays_in_place(QUERY)).when(is_at_rest.clone()),
            text(moves_by(QUERY, "{length}")).unless(is_at_rest).slot("length", Slot::Rounded(length())),
        ]
    }

    fn on_feed_forward(&self, block: usize) -> Option<Clause> {
        let part = BlockPart::FeedForward;
        self.sentence.moves.get(block)?.parts.iter().find(|moves| moves.part == part)?;
        let verb = if self.config(block)?.residual {
            "adds an arrow"
        } else {
            "replaces the word's vector, which \
            moves the word by an arrow"
        };
        let length = at(Quantity::PartLength.of_block(block, [part_index(part), 0]), "_i");
        let feeds = Clause::new(format!("The feed-forward layer {verb} of length {{length}}."));
        Some(feeds.slot("length", Slot::Rounded(length)))
    }

    /// Says what pulls a token back; `None` unless the arrow of a head is longer than the token's whole move.
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
        (is_sum_of_heads && length > moved + LEAST_LENGTH)
            .then(|| pulled_back(parts.own + 1, rounded(length.into()), others))
    }

    /// Returns whether cross-attention takes the outputs of a block as keys, values or queries.
    fn feeds_cross_attention(&self, block: usize) -> bool {
        let architecture = &self.model.architecture;
        let mut next = architecture.numbered_blocks().filter(|(number, _)| *number == block + 1);
        architecture.source_blocks.len() == block + 1 || next.any(|(_, block)| block.attends_to_source())
    }
}

/// Facts and words of a snapshot that clauses refer to.
impl EntryReader<'_> {
    pub(super) fn is_fact(&self, fact: Fact, head: usize, bound: &Bound) -> bool {
        let (query, key) = (bound.get('i'), bound.get('j'));
        let mode = self.head(head).map(|parts| parts.mode);
        match fact {
            Hidden => self.is_hidden(head, query, key),
            Removed => self.model.interventions.edges.contains(&Edge { head, query, key }),
            LacksEdges => self.has_removed_edge(head, query),
            Uniform => matches!(mode, Some(HeadMode::Uniform)),
            Mean => matches!(mode, Some(HeadMode::Mean)),
            Frozen => mode.is_some_and(HeadMode::has_given_weights),
            Second => matches!(mode, Some(HeadMode::Second(_))),
            SeesNothing => {
                let is_by_hand = mode.is_some_and(HeadMode::replaces_weights);
                !is_by_hand && self.head(head).is_some_and(|parts| parts.arithmetic.sums.get(query) == Some(&0.0))
            }
            Answers => told_answer(self.model, query).is_some(),
            Neighbours => self.nearest(query).is_some(),
            NearBefore => self.nearest(query).is_some_and(|[before, _]| before.cosine >= NEAR),
            NearNow => self.nearest(query).is_some_and(|[_, now]| now.cosine >= NEAR),
            SameNearest => self.nearest(query).is_some_and(|[before, now]| before.word == now.word),
            OwnNearest => self.is_nearest_to_itself(query),
        }
    }

    /// Returns the text for a name in a clause; `None` if there is no such name, or if the snapshot lacks the word.
    pub(super) fn word_of(&self, name: &str, head: usize, bound: &Bound) -> Option<String> {
        let (query, key) = (bound.get('i'), bound.get('j'));
        let [before, now] = if let Some(nearest) = self.nearest(query) { nearest.map(Some) } else { [None; 2] };
        let vocabulary = |word: usize| quoted(&self.space.vocabulary[word]);
        Some(match name {
            "query" => self.query_said(head, query),
            "key" => self.key_said(head, key),
            "mask" => self.hidden_by(head, query, key)?.to_owned(),
            "word" => quoted(&self.sentence.tokens.get(query)?.text),
            "distance" => at_distance(self.head(head)?.config.attention.distances, query, key),
            "answer" if self.keeps_answers() => "?".to_owned(),
            "answer" => {
                let (_, answer) = told_answer(self.model, query)?;
                format!("{} {}", quoted(&self.model.classes[answer.class]), percent(answer.probability))
            }
            "before" => vocabulary(before?.word),
            "now" => vocabulary(now?.word),
            "cosineBefore" => format!("{:.3}", before?.cosine),
            "cosineNow" => format!("{:.3}", now?.cosine),
            _ => return None,
        })
    }

    /// Names what hides a key from a query; `None` if the learner removed the edge.
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
}

/// Says why the weight of a hidden key is 0: the learner removed the edge, or a mask hides the key.
fn on_hidden() -> [Clause; 2] {
    [Clause::new(removed(QUERY, KEY)).when(Removed), Clause::new(hidden(QUERY, KEY, MASK)).unless(Removed)]
}

/// Says which words a token is nearest to before and after attention, with a clause for each case.
fn on_nearest(word: &str) -> [Clause; 6] {
    let [before, now, cosine_before, cosine] = ["{before}", "{now}", "{cosineBefore}", "{cosineNow}"];
    let moved = |text: String| Clause::new(text).unless(OwnNearest);
    let clauses = [
        Clause::new(nearest_is_own(word, cosine)).when(OwnNearest),
        moved(nearest_stays(word, now, cosine_before, cosine)).when(SameNearest).when(NearBefore).when(NearNow),
        moved(nearest_changes(word, before, now, cosine)).unless(SameNearest).when(NearBefore).when(NearNow),
        moved(nearest_comes(word, now, cosine)).unless(NearBefore).when(NearNow),
        moved(nearest_goes(word, before)).when(NearBefore).unless(NearNow),
        moved(nearest_none(word)).unless(NearBefore).unless(NearNow),
    ];
    clauses.map(|clause| clause.when(Neighbours))
}

/// The sentences about a token outside the steps of the walk.
#[derive(Serialize)]
pub struct Rest {
    /// The nearest word before attention.
    pub start: Clause,
    /// The nearest word of the first occurrence; `another` continues the sentence with that of a further occurrence.
    pub first: Clause,
    pub another: Clause,
    /// The model's answer, if the model gives any.
    pub answer: Option<Clause>,
}

impl Rest {
    pub fn of(model: &ModelSnapshot) -> Self {
        Self {
            start: Clause::new(nearest_at_start("{word}", "{before}", "{cosineBefore}")).when(NearBefore),
            first: Clause::new(nearest_now(QUERY, "{now}")),
            another: Clause::new(another_now(QUERY, "{now}")),
            answer: Asked::of(model).map(on_answer),
        }
    }
}

/// Says the model's answer at a word in one line.
fn on_answer(asked: Asked) -> Clause {
    let answer = "{answer}";
    Clause::new(match asked {
        Asked::Here => answers_at(QUERY, answer),
        Asked::Next => answers_after(QUERY, answer),
        Asked::Whole => answers_all(answer),
    })
    .when(Answers)
}

/// Says what divides the scores, with a clause for each combination of divisors that are not neutral.
fn on_divisors(divisors: &[Expr]) -> Vec<Clause> {
    let factors: Vec<&Expr> = divisors.iter().flat_map(factors_of).collect();
    let mut all = Vec::new();
    // Each bit says whether the clause mentions the factor.
    for choice in 1..1_usize << factors.len() {
        let is_chosen = |at: usize| choice & (1 << at) != 0;
        let is_fixed = |at: usize| setting_of(factors[at]).is_none();
        if (0..factors.len()).any(|at| is_fixed(at) && !is_chosen(at)) {
            continue;
        }
        let chosen = (0..factors.len()).filter(|at| is_chosen(*at));
        let names = chosen.clone().map(|at| name_of(factors[at])).collect::<Vec<_>>().join(", and by ");
        let is_wide = chosen.clone().any(|at| setting_of(factors[at]) == Some(Setting::KeyWidth));
        let mut clause = Clause::new(if is_wide { divided_as_wide(names) } else { divided(names) });
        for (at, factor) in factors.iter().enumerate().filter(|(at, _)| !is_fixed(*at)) {
            let test = is_neutral(factor);
            clause = if is_chosen(at) { clause.unless(test) } else { clause.when(test) };
        }
        for at in chosen {
            clause = clause.slot(slot_of(factors[at]), Slot::Exact(factors[at].clone()));
        }
        all.push(clause);
    }
    all
}

/// Returns the numbers whose product is the divisor.
fn factors_of(divisor: &Expr) -> Vec<&Expr> {
    if let Expr::Number(_) = divisor { vec![divisor] } else { divisor.parts().iter().flat_map(factors_of).collect() }
}

fn setting_of(factor: &Expr) -> Option<Setting> {
    if let Expr::Number(number) = factor { number.setting } else { None }
}

fn is_neutral(factor: &Expr) -> Test {
    Test::Equal(factor.clone(), 1.0)
}

/// Names the slot of a divisor.
fn slot_of(factor: &Expr) -> &'static str {
    match setting_of(factor) {
        Some(Setting::KeyWidth) => "width",
        Some(Setting::Temperature) => "temperature",
        _ => "divisor",
    }
}

fn name_of(factor: &Expr) -> String {
    match setting_of(factor) {
        Some(Setting::KeyWidth) => by_root("{width}"),
        Some(Setting::Temperature) => by_temperature("{temperature}"),
        _ => by_own("{divisor}"),
    }
}
