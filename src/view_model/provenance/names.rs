//! How entries are called: by words, by numbers, and what each is.

use super::teller::Teller;
use super::{Entry, Place};
use crate::kernel::notebook::live::{distance_label, head_label};
use crate::kernel::token_labels::subscript;
use crate::numerics::params::{TensorId, TensorName};
use crate::view_model::weights::{at_distance, distance_of};
use crate::view_model::{axes, quoted};

/// A symbol with where it lies: of a head `(symbol, block, number in the block)`.
fn of_head(symbol: &str, block: usize, own: usize) -> String {
    format!("{}{}", of_block(symbol, block), subscript(own + 1))
}

/// As the weights' symbols carry their block.
fn of_block(symbol: &str, block: usize) -> String {
    let weights = TensorId { block, name: TensorName::QueryWeights }.to_string();
    format!("{symbol}{}", weights.trim_start_matches("W_Q"))
}

fn code_of_block(symbol: &str, block: usize) -> String {
    if block > 0 { format!("{symbol}_{}", block + 1) } else { symbol.to_owned() }
}

impl Teller<'_> {
    fn token_of(&self, block: usize, token: usize) -> String {
        let words = self.labels.queries(self.first_head(block));
        words.get(token).cloned().unwrap_or_else(|| token.to_string())
    }

    pub fn query_word(&self, head: usize, query: usize) -> String {
        self.labels.queries(head).get(query).cloned().unwrap_or_else(|| query.to_string())
    }

    pub fn key_word(&self, head: usize, key: usize) -> String {
        self.labels.keys(head).get(key).cloned().unwrap_or_else(|| key.to_string())
    }

    fn vocabulary(&self, word: usize) -> &str {
        self.space.vocabulary.get(word).map_or("", String::as_str)
    }

    /// A word of a pair within a formula, whose place the other half gives.
    pub fn token_at(&self, of: Place) -> String {
        match of {
            Place::Word(word) => self.vocabulary(word).to_owned(),
            Place::Static(token) | Place::Contextual(token) => {
                self.labels.tokens.get(token).cloned().unwrap_or_else(|| token.to_string())
            }
        }
    }

    fn class(&self, class: usize) -> &str {
        self.model.classes.get(class).map_or("", String::as_str)
    }

    fn block_of(&self, head: usize) -> (usize, usize) {
        self.head(head).map_or((0, head), |parts| (parts.block, parts.own))
    }

    /// The tensor's symbol, with its block and head: `A₁`.
    pub fn symbol(&self, entry: Entry) -> String {
        use Entry::*;
        let head = |symbol: &str, head: usize| {
            let (block, own) = self.block_of(head);
            of_head(symbol, block, own)
        };
        match entry {
            Static { .. } => "E".to_owned(),
            Position { .. } => "P".to_owned(),
            Parameter { tensor, .. } => tensor.to_string(),
            Input { block, .. } => of_block("X", block),
            Normed { block, .. } => of_block("Norm X", block),
            Query { head: h, .. } => head("Q", h),
            Key { head: h, .. } => head("K", h),
            Value { head: h, .. } => head("V", h),
            Product { head: h, .. } => format!("{} Kᵀ", head("Q", h)),
            Scale { .. } => "scale".to_owned(),
            DistanceBias { head: h, .. } => head("B", h),
            Score { head: h, .. } => head("S", h),
            Exponential { .. } => "exp".to_owned(),
            RowSum { .. } => "Σ exp".to_owned(),
            Weight { head: h, .. } => head("A", h),
            Mix { head: h, .. } => head("M", h),
            Gain { head: h } => head("gain", h),
            Term { head: h, .. } => format!("α {} W_O", head("V", h)),
            TermLength { head: h, .. } => format!("‖α {} W_O‖", head("V", h)),
            WordLength { block, .. } => format!("‖Σ_h α {} W_O‖", of_block("V", block)),
            HeadLength { head: h, .. } => format!("‖{} W_O‖", head("M", h)),
            BiasLength { block } => format!("‖{}‖", of_block("b_O", block)),
            MoveLength { block, .. } => format!("‖{}‖", of_block("Δ", block)),
            Summed { block, .. } => format!("{} + Δ", of_block("X", block)),
            Output { block, .. } if block == self.last_block() => "Y".to_owned(),
            Output { block, .. } => of_block("Y", block),
            Coordinate { .. } => "point".to_owned(),
            Cosine { .. } => "cosine".to_owned(),
            Distance { .. } => "distance".to_owned(),
            Logit { .. } => "Z".to_owned(),
            Probability { .. } => "softmax Z".to_owned(),
        }
    }

    /// By words.
    pub fn name(&self, entry: Entry) -> String {
        use Entry::*;
        let symbol = self.symbol(entry);
        let index = match entry {
            Static { word, dim } => format!("[{:?}, {dim}]", self.vocabulary(word)),
            Position { place, dim } => format!("[{place}, {dim}]"),
            Parameter { tensor, row, col } => match self.model.parameters.spec(tensor) {
                Some(_) if tensor.name == TensorName::Embedding => format!("[{:?}, {col}]", self.vocabulary(row)),
                Some(spec) if tensor.name == TensorName::DistanceBias => {
                    let distance = distance_label(distance_of(col, spec.cols));
                    let head = if spec.rows > 1 { format!("{:?}, ", head_label(row)) } else { String::new() };
                    format!("[{head}{distance:?}]")
                }
                Some(spec) if spec.rows == 1 => format!("[{col}]"),
                _ => format!("[{row}, {col}]"),
            },
            Input { block, token, dim }
            | Normed { block, token, dim }
            | Summed { block, token, dim }
            | Output { block, token, dim } => format!("[{:?}, {dim}]", self.token_of(block, token)),
            Query { head, token, dim } | Mix { head, token, dim } => {
                format!("[{:?}, {dim}]", self.query_word(head, token))
            }
            Key { head, token, dim } | Value { head, token, dim } => {
                format!("[{:?}, {dim}]", self.key_word(head, token))
            }
            Product { head, query, key }
            | DistanceBias { head, query, key }
            | Score { head, query, key }
            | Exponential { head, query, key }
            | Weight { head, query, key }
            | TermLength { head, query, key } => {
                format!("[{:?}, {:?}]", self.query_word(head, query), self.key_word(head, key))
            }
            Term { head, query, key, dim } => {
                format!("[{:?}, {:?}, {dim}]", self.query_word(head, query), self.key_word(head, key))
            }
            WordLength { block, query, key } => {
                let head = self.first_head(block);
                format!("[{:?}, {:?}]", self.query_word(head, query), self.key_word(head, key))
            }
            RowSum { head, query } | HeadLength { head, query } => format!("[{:?}]", self.query_word(head, query)),
            MoveLength { block, query } => format!("[{:?}]", self.token_of(block, query)),
            Scale { .. } | Gain { .. } | BiasLength { .. } => String::new(),
            Coordinate { of, axis } => {
                let axis = axes::names(self.space).into_iter().nth(axis).unwrap_or_default();
                format!("[{:?}, {axis}]", self.token_at(of))
            }
            Cosine { of, word } | Distance { of, word } => {
                format!("[{:?}, {:?}]", self.token_at(of), self.vocabulary(word))
            }
            Logit { row, class } | Probability { row, class } => format!("[{row}, {:?}]", self.class(class)),
        };
        format!("{symbol}{index}")
    }

    /// By numbers, as code calls it where it can; empty where there is no tensor of it.
    pub fn place(&self, entry: Entry) -> String {
        use Entry::*;
        let head = |symbol: &str, h: usize, rest: [usize; 2]| {
            let (block, own) = self.block_of(h);
            format!("{}[{own}, {}, {}]", code_of_block(symbol, block), rest[0], rest[1])
        };
        match entry {
            Static { word, dim } => format!("E[{word}, {dim}]"),
            Parameter { tensor, row, col } => match self.model.parameters.spec(tensor) {
                Some(spec) if spec.rows == 1 => format!("{}[{col}]", tensor.code_name()),
                _ => format!("{}[{row}, {col}]", tensor.code_name()),
            },
            Input { block: 0, token, dim } => format!("X[{token}, {dim}]"),
            Output { block, token, dim } if block == self.last_block() => format!("Y[{token}, {dim}]"),
            Query { head: h, token, dim } => head("Q", h, [token, dim]),
            Key { head: h, token, dim } => head("K", h, [token, dim]),
            Value { head: h, token, dim } => head("V", h, [token, dim]),
            Score { head: h, query, key } => head("S", h, [query, key]),
            Weight { head: h, query, key } => head("A", h, [query, key]),
            Mix { head: h, token, dim } => head("M", h, [token, dim]),
            Logit { row, class } => format!("Z[{row}, {class}]"),
            _ => String::new(),
        }
    }

    /// Within a formula.
    pub fn short(&self, entry: Entry) -> String {
        use Entry::*;
        match entry {
            Input { dim, .. } => format!("x[{dim}]"),
            Normed { dim, .. } => format!("n[{dim}]"),
            Query { dim, .. } => format!("q[{dim}]"),
            Key { dim, .. } => format!("k[{dim}]"),
            Value { dim, .. } => format!("v[{dim}]"),
            Mix { dim, .. } => format!("m[{dim}]"),
            Summed { dim, .. } => format!("a[{dim}]"),
            Output { dim, .. } => format!("y[{dim}]"),
            Product { .. } => "q·k".to_owned(),
            DistanceBias { head, key, .. } => format!("b({})", self.key_word(head, key)),
            Score { head, key, .. } => format!("s({})", self.key_word(head, key)),
            Exponential { head, key, .. } => format!("exp({})", self.key_word(head, key)),
            RowSum { .. } => "Σ".to_owned(),
            Weight { head, key, .. } => format!("α({})", self.key_word(head, key)),
            Term { head, key, .. } => {
                let title = self.labels.title(head).to_lowercase();
                format!("{} in {title}", self.key_word(head, key))
            }
            Logit { class, .. } => format!("z({})", self.class(class)),
            _ => self.name(entry),
        }
    }

    /// Steps from a head's products to its scores, in words.
    fn score_parts(&self, head: usize) -> &'static str {
        let has_distances = self.head(head).is_some_and(|parts| parts.config.attention.distances.is_some());
        if has_distances { "scaled, with what distance adds, and masked" } else { "scaled and masked" }
    }

    /// Meaning of a weight: its tensor's, or its own in `B`.
    fn weight_meaning(&self, tensor: TensorId, row: usize, col: usize) -> String {
        match self.model.parameters.spec(tensor) {
            Some(spec) if tensor.name == TensorName::DistanceBias => {
                let head = self.labels.title(self.first_head(tensor.block) + row).to_lowercase();
                format!("how much {head} favours {}", at_distance(distance_of(col, spec.cols)))
            }
            _ => tensor.name.meaning().to_owned(),
        }
    }

    pub fn meaning(&self, entry: Entry) -> String {
        use Entry::*;
        let title = |head: usize| self.labels.title(head).to_lowercase();
        match entry {
            Static { word, dim } => format!("entry {dim} of the static vector of {}", quoted(self.vocabulary(word))),
            Position { place, dim } => format!("entry {dim} of what the place {} adds", place + 1),
            Parameter { tensor, row, col } => format!("a learned weight: {}", self.weight_meaning(tensor, row, col)),
            Input { block, token, dim } => {
                format!("entry {dim} of what goes in as {}", quoted(&self.token_of(block, token)))
            }
            Normed { block, token, dim } => {
                format!("entry {dim} of {} behind the norm", quoted(&self.token_of(block, token)))
            }
            Query { head, token, dim } => {
                format!("entry {dim} of the query of {} in {}", quoted(&self.query_word(head, token)), title(head))
            }
            Key { head, token, dim } => {
                format!("entry {dim} of the key of {} in {}", quoted(&self.key_word(head, token)), title(head))
            }
            Value { head, token, dim } => {
                format!("entry {dim} of the value of {} in {}", quoted(&self.key_word(head, token)), title(head))
            }
            Product { head, query, key } => format!(
                "raw score: the query of {} meets the key of {} in {}",
                quoted(&self.query_word(head, query)),
                quoted(&self.key_word(head, key)),
                title(head)
            ),
            Scale { head } => format!("what the raw scores of {} are multiplied with", title(head)),
            DistanceBias { head, query, key } => format!(
                "what {} adds to the score of {} for {}: it is {}",
                title(head),
                quoted(&self.key_word(head, key)),
                quoted(&self.query_word(head, query)),
                at_distance(key as isize - query as isize)
            ),
            Score { head, query, key } => format!(
                "score of {} for {}, {}, in {}",
                quoted(&self.key_word(head, key)),
                quoted(&self.query_word(head, query)),
                self.score_parts(head),
                title(head)
            ),
            Gain { head } => format!("how often the mix of {} counts", title(head)),
            Exponential { head, key, .. } => {
                format!("the score of {} through exp, less the row's largest", quoted(&self.key_word(head, key)))
            }
            RowSum { head, query } => {
                format!("the sum that divides the row of {}", quoted(&self.query_word(head, query)))
            }
            Weight { head, query, key } => format!(
                "attention weight: how much {} looks at {} in {}",
                quoted(&self.query_word(head, query)),
                quoted(&self.key_word(head, key)),
                title(head)
            ),
            Mix { head, token, dim } => {
                format!(
                    "entry {dim} of the mix of values for {} in {}",
                    quoted(&self.query_word(head, token)),
                    title(head)
                )
            }
            Term { head, query, key, dim } => format!(
                "entry {dim} of what {} adds to {} through {}",
                quoted(&self.key_word(head, key)),
                quoted(&self.query_word(head, query)),
                title(head)
            ),
            TermLength { head, query, key } => format!(
                "length of what {} adds to {} through {}",
                quoted(&self.key_word(head, key)),
                quoted(&self.query_word(head, query)),
                title(head)
            ),
            WordLength { block, query, key } => {
                let head = self.first_head(block);
                let (key, query) = (quoted(&self.key_word(head, key)), quoted(&self.query_word(head, query)));
                format!("length of what {key} adds to {query} through all heads")
            }
            HeadLength { head, query } => {
                format!("length of what {} adds to {}", title(head), quoted(&self.query_word(head, query)))
            }
            BiasLength { .. } => "length of what is added to every word alike".to_owned(),
            MoveLength { block, query } => format!("how far attention moves {}", quoted(&self.token_of(block, query))),
            Summed { block, token, dim } => {
                format!("entry {dim} of {} with what the heads add", quoted(&self.token_of(block, token)))
            }
            Output { block, token, dim } if block == self.last_block() => {
                format!("entry {dim} of the contextual vector of {}", quoted(&self.token_of(block, token)))
            }
            Output { block, token, dim } => {
                format!("entry {dim} of what {} hands to the next layer", quoted(&self.token_of(block, token)))
            }
            Coordinate { of, axis } => {
                let axis = axes::names(self.space).into_iter().nth(axis).unwrap_or_default();
                let which = match of {
                    Place::Word(_) => "",
                    Place::Static(_) => ", before attention,",
                    Place::Contextual(_) => ", after attention,",
                };
                format!("where {}{which} stands along {axis}", quoted(&self.token_at(of)))
            }
            Cosine { of, word } => format!(
                "cosine of the angle between {} {} and the static vector of {}",
                quoted(&self.token_at(of)),
                when(of),
                quoted(self.vocabulary(word))
            ),
            Distance { of, word } => format!(
                "distance from {} {} to the static vector of {}",
                quoted(&self.token_at(of)),
                when(of),
                quoted(self.vocabulary(word))
            ),
            Logit { class, .. } => {
                format!("how strongly the model answers {}, before softmax", quoted(self.class(class)))
            }
            Probability { class, .. } => format!("how likely the model holds {}", quoted(self.class(class))),
        }
    }
}

fn when(of: Place) -> &'static str {
    match of {
        Place::Word(_) | Place::Static(_) => "before attention",
        Place::Contextual(_) => "after attention",
    }
}
