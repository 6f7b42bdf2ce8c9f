//! The numbers in the formula of each quantity: of a head, and of what is learned and what is read off the vectors, and of a
//! block around its heads: what goes in, the norms, what is added, and what comes out.

use std::ops::Range;

use attune_core::kernel::snapshot::StaticSpace;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{AttentionConfig, HeadMode};
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::contributions::{BlockPart, HeldNorm};
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::model::activations::Patch;
use attune_engine::numerics::norm::{NormForm, NormKind};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::projection::Lens;
use attune_engine::quantity::{Entry, Quantity, StagePoint};

use super::formulas::{Factor, Operand, ProductTerm, Worked, constant, sum};
use super::reader::{EntryReader, part_index};

/// The divisor of the products of a head: `√d_k · c · τ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Divisors {
    /// `d_k`, where its root is one of them.
    pub key_width: Option<usize>,
    /// `c`, the divisor that the model has for this layer.
    pub own: f64,
    pub temperature: f64,
}

impl Divisors {
    /// The root's argument, `c` and `τ`, without those that are 1.
    pub fn parts(self) -> (Option<usize>, Option<f64>, Option<f64>) {
        let unless_one = |x: f64| (x != 1.0).then_some(x);
        (self.key_width, unless_one(self.own), unless_one(self.temperature))
    }

    /// Those of a score before its bound, and those after it: the temperature divides what the bound holds.
    pub fn at_the_bound(self) -> [Self; 2] {
        [Self { temperature: 1.0, ..self }, Self { key_width: None, own: 1.0, ..self }]
    }

    /// With the numbers: `√3 · 0.5`.
    pub fn text(self) -> String {
        let (key_width, own, temperature) = self.parts();
        let numbers = [own, temperature].map(|x| x.map(|x| x.to_string()));
        let all = [key_width.map(|width| format!("√{width}"))].into_iter().chain(numbers).flatten();
        let all: Vec<String> = all.collect();
        if all.is_empty() { "1".to_owned() } else { all.join(" · ") }
    }

    /// The letters of a formula, in LaTeX; empty where nothing divides.
    pub fn symbols(self) -> String {
        let (key_width, own, temperature) = self.parts();
        let letters = [
            own.map(|own| own.to_string()),
            temperature.map(|_| "\\tau".to_owned()),
            key_width.map(|_| "\\sqrt{d_k}".to_owned()),
        ];
        letters.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

impl EntryReader<'_> {
    /// The numbers from which an entry is computed, in the formula's form.
    pub fn worked(&self, entry: Entry) -> Option<Worked> {
        use Quantity::*;
        if let Some(normed) = self.norm_before(entry) {
            return self.normed(&normed, entry);
        }
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        Some(match quantity {
            Parameter(name) => Worked::Given(self.earlier_weights(name.of_block(number), i, j)?),
            Static | Position | Gain => Worked::Given(Vec::new()),
            Embedded => Worked::Sum(self.embeddings(self.first_block(), i, j)?),
            Input => self.input(number, i, j)?,
            Query => self.projected(entry, [TensorName::QueryWeights, TensorName::QueryBias])?,
            Key => self.projected(entry, [TensorName::KeyWeights, TensorName::KeyBias])?,
            Value => self.projected(entry, [TensorName::ValueWeights, TensorName::ValueBias])?,
            Product => {
                let width = self.head(number)?.activations.query.cols();
                let factors = |dim| [Query.of_head(number, [i, dim]), Key.of_head(number, [j, dim])];
                Worked::Sum((0..width).map(|dim| self.product(factors(dim))).collect::<Option<_>>()?)
            }
            Scale => Worked::Scale(self.divisors(number)?),
            DistanceBias => Worked::Sum(vec![self.distance_term(number, i, j)?]),
            Score => self.score(number, i, j)?,
            Exponential => self.exponential(number, i, j)?,
            RowSum => {
                let keys = self.head(number)?.activations.scores.cols();
                sum(self.operands(keys, |key| Exponential.of_head(number, [i, key]))?)
            }
            Weight => self.weight(number, i, j)?,
            Mix => self.mix(number, i, j)?,
            Term => self.term(number, i, j, k)?,
            Arrow => self.arrow(number, i, j, k)?,
            TermLength => self.length(|dim| vec![self.term_entry(number, [i, j, dim])])?,
            WordLength => {
                let heads = self.heads_of(number);
                self.length(|dim| heads.clone().map(|head| self.term_entry(head, [i, j, dim])).collect())?
            }
            HeadLength | HeadArrowLength => {
                let keys = self.head(number)?.activations.weights.cols();
                let term = |key, dim| match quantity {
                    HeadLength => Term.of_head(number, [i, key, dim]),
                    _ => self.term_entry(number, [i, key, dim]),
                };
                self.length(|dim| (0..keys).map(|key| term(key, dim)).collect())?
            }
            Part => Worked::Sum(self.part_terms(number, i, [j, k])?),
            PartLength => {
                let part = self.part(number, i)?;
                self.length(|dim| vec![self.part_entry(number, part, j, dim)])?
            }
            MoveLength => self.length(|dim| self.move_of(number, i, dim))?,
            Summed => sum(self.summed(number, i, j)?),
            Joined => Worked::Sum(self.joined(number, i, j)?),
            Output => sum(self.output(number, i, j)?),
            Logit => self.logit(i, j)?,
            Probability => self.softmax(i, j)?,
            Coordinate => self.coordinate(owner.point()?, i)?,
            Cosine => Worked::Cosine(self.pairs(owner.point()?, i)?),
            Distance => Worked::Distance(self.pairs(owner.point()?, i)?),
            // Made by a norm, and told above.
            Final | Normed | Attended | Visible | Temperature => return None,
        })
    }

    /// A product of entries; `None` if one is missing.
    fn product<const N: usize>(&self, entries: [Entry; N]) -> Option<ProductTerm> {
        let factors: Option<Vec<Operand>> = entries.into_iter().map(|entry| self.operand(entry)).collect();
        Some(ProductTerm::of(factors?))
    }

    /// The length of a vector, each entry of which is a sum of entries.
    fn length(&self, sums: impl Fn(usize) -> Vec<Entry>) -> Option<Worked> {
        let row = |dim| sums(dim).into_iter().map(|entry| self.operand(entry)).collect::<Option<Vec<Operand>>>();
        Some(Worked::Length((0..self.width()).map(row).collect::<Option<_>>()?))
    }

    fn projected(&self, entry: Entry, [w, b]: [TensorName; 2]) -> Option<Worked> {
        let (head, [token, dim, _]) = (entry.owner.number(), entry.index);
        let parts = self.head(head)?;
        let of_keys = entry.quantity != Quantity::Query;
        let attention = &parts.config.attention;
        if of_keys_or_queries(entry.quantity) && (attention.rotary.is_some() || attention.query_key_norm.is_some()) {
            return self.placed(entry, attention);
        }
        let columns = match entry.quantity {
            Quantity::Query => attention.query_columns(parts.own),
            Quantity::Value => attention.value_columns(parts.own),
            _ => attention.key_columns(parts.own),
        };
        let col = columns.start + dim;
        if !attention.projected {
            return Some(sum(vec![self.operand(self.read(head, token, col, of_keys)?)?]));
        }
        let tensor = w.of_block(parts.block);
        let term = |row| self.product([self.read(head, token, row, of_keys)?, Entry::parameter(tensor, row, col)]);
        let mut terms = (0..self.width()).map(term).collect::<Option<Vec<ProductTerm>>>()?;
        let bias = self.operand(Entry::parameter(b.of_block(parts.block), 0, col)).filter(|_| attention.bias);
        terms.extend(bias.map(|bias| ProductTerm::of([bias])));
        Some(Worked::Sum(terms))
    }

    /// An entry of a query or key that its place turned: `x_i cos − x_{i+r/2} sin` of the two columns that turn together, which
    /// are the turned entries turned back.
    fn placed(&self, entry: Entry, attention: &AttentionConfig) -> Option<Worked> {
        let [token, dim, _] = entry.index;
        let head = self.head(entry.owner.number())?.activations;
        let row = if entry.quantity == Quantity::Query { head.query.row(token) } else { head.key.row(token) };
        let Some(rotary) = attention.rotary.filter(|rotary| dim < rotary.width) else {
            return Some(Worked::Given(Vec::new()));
        };
        let half = rotary.width / 2;
        let (first, second) = (dim % half, dim % half + half);
        let (sine, cosine) = (token as f64 * rotary.frequencies()[first]).sin_cos();
        let [x, y] = [row[first], row[second]].map(f64::from);
        let before = [(first, x * cosine + y * sine), (second, y * cosine - x * sine)];
        let factors = if dim < half { [("cos", cosine), ("−sin", -sine)] } else { [("sin", sine), ("cos", cosine)] };
        let term = |((col, value), (name, factor)): ((usize, f64), (&str, f64))| {
            let before = constant(&format!("[{col}] before its rotation"), value as f32);
            ProductTerm::of([before, constant(name, factor as f32)])
        };
        Some(Worked::Sum(before.into_iter().zip(factors).map(term).collect()))
    }

    /// Entry that a head reads: of its input, after its norm where it norms first, or of the source's last vectors.
    fn read(&self, head: usize, token: usize, dim: usize, of_keys: bool) -> Option<Entry> {
        let parts = self.head(head)?;
        if of_keys && parts.config.attends_to_source() {
            let block = self.model.architecture.source_blocks.len().checked_sub(1)?;
            return Some(Quantity::Output.of_block(block, [token, dim]));
        }
        let quantity = if parts.config.norms_first() { Quantity::Normed } else { Quantity::Input };
        Some(quantity.of_block(parts.block, [token, dim]))
    }

    /// The factors of the divisor of a head, each with its name.
    pub fn divisors(&self, head: usize) -> Option<Divisors> {
        let parts = self.head(head)?;
        let (attention, changed) = (&parts.config.attention, &self.model.interventions);
        let is_scaled = changed.scale.unwrap_or(attention.scale);
        Some(Divisors {
            key_width: is_scaled.then(|| parts.activations.query.cols()),
            own: attention.score_divisor,
            temperature: changed.temperature_of(parts.config),
        })
    }

    /// `B[h, j − i] · 1/τ`; `None` where distances do not count.
    fn distance_term(&self, head: usize, query: usize, key: usize) -> Option<ProductTerm> {
        let parts = self.head(head).filter(|parts| parts.has(query, key))?;
        let col = (parts.config.attention.distances? + key).checked_sub(query + 1)?;
        let bias = self.operand(Entry::parameter(TensorName::DistanceBias.of_block(parts.block), parts.own, col))?;
        let (.., temperature) = self.divisors(head)?.parts();
        let share = temperature.map(|temperature| constant("1/τ", (1.0 / temperature) as f32));
        Some(ProductTerm::of([Some(bias), share].into_iter().flatten()))
    }

    /// Whether a query does not see a key.
    pub fn is_hidden(&self, head: usize, query: usize, key: usize) -> bool {
        self.value(Quantity::Score.of_head(head, [query, key])) == Some(f32::NEG_INFINITY)
    }

    fn score(&self, head: usize, query: usize, key: usize) -> Option<Worked> {
        let product = Quantity::Product.of_head(head, [query, key]);
        if self.is_hidden(head, query, key) {
            return Some(Worked::Given(vec![self.operand(product)?]));
        }
        let scaled = self.product([Quantity::Scale.of_head(head, []), product])?;
        if let Some(cap) = self.head(head)?.config.attention.score_cap {
            let cap = (cap / self.divisors(head)?.temperature) as f32;
            return Some(Worked::Bounded { sum: vec![scaled], cap, added: self.distance_term(head, query, key) });
        }
        Some(Worked::Sum([Some(scaled), self.distance_term(head, query, key)].into_iter().flatten().collect()))
    }

    fn exponential(&self, head: usize, query: usize, key: usize) -> Option<Worked> {
        let score = self.operand(Quantity::Score.of_head(head, [query, key]))?;
        let scores = self.head(head)?.activations.scores.row(query);
        let largest = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
        let largest = self.operand(Quantity::Score.of_head(head, [query, largest]))?;
        if largest.value == f32::NEG_INFINITY {
            return Some(Worked::Given(vec![score]));
        }
        let largest = Operand { label: format!("max {}", largest.label), ..largest };
        Some(Worked::Exponential { score, largest })
    }

    fn weight(&self, head: usize, query: usize, key: usize) -> Option<Worked> {
        let parts = self.head(head)?;
        let is_hidden = self.is_hidden(head, query, key);
        Some(match parts.mode {
            HeadMode::Uniform if !is_hidden => {
                let scores = parts.activations.scores.row(query);
                Worked::Share(scores.iter().filter(|score| **score > f32::NEG_INFINITY).count())
            }
            HeadMode::Uniform | HeadMode::Frozen(_) | HeadMode::Mean => Worked::Given(Vec::new()),
            _ => {
                let over = self.operand(Quantity::Exponential.of_head(head, [query, key]))?;
                let under = self.operand(Quantity::RowSum.of_head(head, [query]))?;
                if under.value == 0.0 { Worked::Given(vec![over]) } else { Worked::Quotient { over, under } }
            }
        })
    }

    /// A factor of what a head mixes, where the learner gave it one.
    fn gain(&self, head: usize) -> Option<Operand> {
        let has_gain = self.head(head)?.mode.gain() != 1.0;
        self.operand(Quantity::Gain.of_head(head, [])).filter(|_| has_gain)
    }

    /// The product of entries and of the head's gain; nothing of a head that is off.
    fn gained(&self, head: usize, products: impl Iterator<Item = Option<ProductTerm>>) -> Option<Worked> {
        if self.is_off(head) {
            return Some(Worked::Given(Vec::new()));
        }
        let gained = |product: Option<ProductTerm>| {
            let mut product = product?;
            product.0.extend(self.gain(head).map(Factor::One));
            Some(product)
        };
        Some(Worked::Sum(products.map(gained).collect::<Option<_>>()?))
    }

    fn mix(&self, head: usize, token: usize, dim: usize) -> Option<Worked> {
        let keys = self.head(head)?.activations.weights.cols();
        let of_key = |key| {
            self.product([Quantity::Weight.of_head(head, [token, key]), Quantity::Value.of_head(head, [key, dim])])
        };
        self.gained(head, (0..keys).map(of_key))
    }

    /// The column of a head's values that a dimension is made of; `None` where the dimension is another head's.
    pub fn value_column(&self, head: usize, dim: usize) -> Option<usize> {
        let parts = self.head(head)?;
        let columns = parts.config.attention.mix_columns(parts.own);
        columns.contains(&dim).then(|| dim - columns.start)
    }

    fn term(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Worked> {
        let parts = self.head(head)?;
        let attention = &parts.config.attention;
        let weight = Quantity::Weight.of_head(head, [query, key]);
        let value = |col| Quantity::Value.of_head(head, [key, col]);
        if !attention.output {
            // Each dimension belongs to one head: the others add nothing.
            let Some(col) = self.value_column(head, dim) else { return Some(Worked::Given(Vec::new())) };
            return self.gained(head, [self.product([weight, value(col)])].into_iter());
        }
        let (tensor, columns) = (TensorName::OutputWeights.of_block(parts.block), attention.mix_columns(parts.own));
        let of_col =
            |col: usize| self.product([weight, value(col), Entry::parameter(tensor, columns.start + col, dim)]);
        self.gained(head, (0..columns.len()).map(of_col))
    }
}

/// Logits that the softmax of one of them names: more than any view lists.
const LOGITS_NAMED: usize = 64;

/// Whether a quantity is one that places turn.
fn of_keys_or_queries(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Query | Quantity::Key)
}

/// Numbers that are learned, and those read off the vectors: points, neighbours and answers.
impl EntryReader<'_> {
    /// Values that a learned weight had before: as training left it, and as it began.
    fn earlier_weights(&self, tensor: TensorId, row: usize, col: usize) -> Option<Vec<Operand>> {
        let value = self.model.parameters.entry(tensor, row, col)?;
        let trained = self.model.trained.entry(tensor, row, col)?;
        let start = self.model.start.entry(tensor, row, col)?;
        let (is_read, is_trained) = (self.model.pretrained.is_some(), self.model.weights_origin() == "trained");
        let name = match (is_read, is_trained) {
            (true, _) => "in the file",
            (_, true) => "as training left it",
            (_, false) => "before your change",
        };
        let changed = (value != trained).then(|| constant(name, trained));
        let begun = (is_trained && !is_read).then(|| constant("before training", start));
        Some(changed.into_iter().chain(begun).collect())
    }

    /// An entry of the vector behind a point; none for the zero vector.
    fn vector(&self, of: StagePoint, dim: usize) -> Option<Entry> {
        match of {
            StagePoint::Word(word) => Some(self.static_entry(word, dim)),
            StagePoint::Static(token) => Some(self.static_entry(self.sentence.tokens.get(token)?.word?, dim)),
            StagePoint::After(token, block) if self.is_of_source(block) => self.vector(StagePoint::Static(token), dim),
            StagePoint::After(token, block) => Some(Quantity::Output.of_block(block, [token, dim])),
            StagePoint::Contextual(token) => Some(self.contextual(token, dim)),
        }
    }

    /// The norm that the vector behind a point is seen through, in the picture.
    pub fn lens_of(&self, of: StagePoint) -> Option<Lens> {
        let scale = self.space.scale()?;
        match of {
            StagePoint::Word(_) | StagePoint::Static(_) => Some(scale.lens.clone()),
            StagePoint::After(..) => scale.lens_of_layers(&self.model.architecture, &self.model.parameters),
            // It is behind the last norm already, unless the picture is without it.
            StagePoint::Contextual(_) => None,
        }
    }

    /// A vector as the picture has it, before the axes: by its entries, or behind the norm that it is seen through.
    fn in_the_picture(&self, of: StagePoint) -> Option<Vec<Operand>> {
        let width = self.width();
        if let StagePoint::Contextual(token) = of
            && self.lens_of(StagePoint::After(token, self.last_block())).is_none()
        {
            return self.operands(width, |dim| Quantity::Output.of_block(self.last_block(), [token, dim]));
        }
        let own = (0..width).map(|dim| self.vector_operand(of, dim)).collect::<Option<Vec<Operand>>>()?;
        let Some(lens) = self.lens_of(of) else { return Some(own) };
        let seen = lens.see(&Matrix::from_row_major(1, width, own.iter().map(|operand| operand.value).collect()));
        Some(seen.row(0).iter().enumerate().map(|(dim, &x)| constant(&format!("norm(x)[{dim}]"), x)).collect())
    }

    fn vector_operand(&self, of: StagePoint, dim: usize) -> Option<Operand> {
        match self.vector(of, dim) {
            Some(entry) => self.operand(entry),
            None => Some(constant("0", 0.0)),
        }
    }

    fn coordinate(&self, of: StagePoint, axis: usize) -> Option<Worked> {
        let projection = &self.space.projection;
        let (mean, direction) = (projection.mean(), projection.axis(axis));
        let term = |(dim, x): (usize, Operand)| {
            let less = constant(&format!("mean[{dim}]"), mean[dim]);
            let along = constant(&format!("axis[{dim}]"), direction[dim]);
            let x = if mean[dim] == 0.0 { Factor::One(x) } else { Factor::Less(x, less) };
            ProductTerm(vec![x, Factor::One(along)])
        };
        Some(Worked::Sum(self.in_the_picture(of)?.into_iter().enumerate().map(term).collect()))
    }

    fn pairs(&self, of: StagePoint, word: usize) -> Option<Vec<(Operand, Operand)>> {
        let StaticSpace { vectors, .. } = self.space;
        let seen = match of {
            StagePoint::After(..) => self.in_the_picture(of)?,
            _ => (0..vectors.cols()).map(|dim| self.vector_operand(of, dim)).collect::<Option<Vec<Operand>>>()?,
        };
        let word = |dim| self.operand(self.static_entry(word, dim));
        seen.into_iter().enumerate().map(|(dim, x)| Some((x, word(dim)?))).collect()
    }

    /// Names the largest logits alone: a model may have as many classes as words.
    fn softmax(&self, row: usize, class: usize) -> Option<Worked> {
        let all = &self.sentence.answers.logits;
        let logits = (row < all.rows()).then(|| all.row(row))?;
        let operand = |class| self.operand(Quantity::Logit.of_model([row, class]));
        let mut order: Vec<usize> = (0..logits.len()).collect();
        if order.len() > LOGITS_NAMED {
            order.select_nth_unstable_by(LOGITS_NAMED, |a, b| logits[*b].total_cmp(&logits[*a]));
        }
        let others = order.split_off(order.len().min(LOGITS_NAMED));
        order.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]));
        let most = f64::from(*logits.get(*order.first()?)?);
        let rest = others.iter().map(|&other| (f64::from(logits[other]) - most).exp()).sum();
        let largest = order.into_iter().map(operand).collect::<Option<_>>()?;
        Some(Worked::Softmax { own: operand(class)?, largest, others: others.len(), rest })
    }

    fn logit(&self, row: usize, class: usize) -> Option<Worked> {
        let architecture = &self.model.architecture;
        if architecture.readout.activation().is_some() {
            return Some(Worked::Given(Vec::new()));
        }
        let tokens = self.sentence.tokens.len();
        // Which outputs are read, and the factor of each.
        let (read, share) = match architecture.pooling {
            Pooling::Every => (row..row + 1, None),
            Pooling::Last => (tokens.checked_sub(1)?..tokens, None),
            Pooling::Mean => (0..tokens, Some(1.0 / tokens as f32)),
        };
        let weights = self.readout_of(class)?;
        let mut terms = Vec::new();
        for token in read {
            for dim in 0..architecture.width {
                let output = self.operand(self.contextual(token, dim))?;
                let weight = self.operand(weights(dim))?;
                let share = share.map(|share| constant("1/T", share));
                terms.push(ProductTerm::of([Some(output), Some(weight), share].into_iter().flatten()));
            }
        }
        if architecture.readout_bias {
            terms.push(ProductTerm::of([self.operand(Entry::parameter(TensorName::LogitBias.into(), 0, class))?]));
        }
        Some(match architecture.logit_cap {
            Some(cap) => Worked::Bounded { sum: terms, cap: cap as f32, added: None },
            None => Worked::Sum(terms),
        })
    }

    /// The weights by which a class reads the dimensions of the outputs. Its word is looked up once.
    fn readout_of(&self, class: usize) -> Option<impl Fn(usize) -> Entry> {
        let word = match self.model.architecture.readout.is_by_static_vectors() {
            false => None,
            // Pieces of a pretrained model may look alike, but all of them are classes.
            true if self.model.pretrained.is_some() => Some(class),
            true => Some(self.space.row_of(self.model.classes.get(class)?)?),
        };
        Some(move |dim| match word {
            Some(word) => self.static_entry(word, dim),
            None => Entry::parameter(TensorName::LogitWeights.into(), dim, class),
        })
    }
}

const ATTENTION_NORM: [TensorName; 2] = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
const FORWARD_NORM: [TensorName; 2] = [TensorName::ForwardNormGain, TensorName::ForwardNormBias];
const EMBEDDING_NORM: [TensorName; 2] = [TensorName::EmbeddingNormGain, TensorName::EmbeddingNormBias];
const FINAL_NORM: [TensorName; 2] = [TensorName::FinalNormGain, TensorName::FinalNormBias];
/// Divisors of an arrow by layer norms, after one norm and after several.
const DEVIATIONS: [&[&str]; 3] = [&["1/σ"], &["1/σ₁", "1/σ₂"], &["1/σ₁", "1/σ₂", "1/σ₃"]];
/// The same by RMS norms, whose divisor is `ρ`, the root of the mean square.
const ROOT_MEAN_SQUARES: [&[&str]; 3] = [&["1/ρ"], &["1/ρ₁", "1/ρ₂"], &["1/ρ₁", "1/ρ₂", "1/ρ₃"]];

/// The norm that makes an entry of a row of others.
pub struct NormBefore {
    /// Letter of the row in formulas.
    pub letter: &'static str,
    /// The row's first entry.
    row: Entry,
    /// Its gain and its shift.
    tensors: [TensorId; 2],
    pub form: NormForm,
}

impl NormBefore {
    /// `γ_d (x_d − μ) / σ + β_d`, without what its form does not have.
    pub fn formula(&self) -> String {
        let shift = if self.form.shift { " + \\beta_d" } else { "" };
        format!("{}{shift}", norm_formula(self.form, &format!("{}_d", self.letter), "\\mu"))
    }
}

/// `γ_d (x_d − μ) / σ` as a form has it: an RMSNorm takes no mean off, and a gain may count from 1.
pub fn norm_formula(form: NormForm, entry: &str, mean: &str) -> String {
    let gain = if form.gain_from_one { "(1 + \\gamma_d)" } else { "\\gamma_d" };
    match form.kind {
        NormKind::Layer => format!("{gain} \\, \\frac{{{entry} - {mean}}}{{\\sigma}}"),
        NormKind::Rms => format!("{gain} \\, \\frac{{{entry}}}{{\\rho}}"),
    }
}

impl EntryReader<'_> {
    pub fn width(&self) -> usize {
        self.model.architecture.width
    }

    pub fn heads_of(&self, block: usize) -> Range<usize> {
        self.model.architecture.heads_of(block)
    }

    /// The vector that was put in the place of a block's input.
    pub fn patch_of(&self, block: usize, token: usize) -> Option<&Patch<f32>> {
        let patch = self.model.interventions.patch.as_ref();
        patch.filter(|patch| (patch.block, patch.position) == (block, token))
    }

    /// The norm that makes an entry, if one does.
    pub fn norm_before(&self, entry: Entry) -> Option<NormBefore> {
        let (block, [token, ..]) = (entry.owner.number(), entry.index);
        let config = self.config(block)?;
        let of_block = |quantity: Quantity| quantity.of_block(block, [token, 0]);
        let is_embedding = || {
            let is_of_words = self.is_first(block) && !self.is_of_source(block);
            self.model.architecture.embedding_norm && is_of_words && self.patch_of(block, token).is_none()
        };
        let (letter, row, names) = match entry.quantity {
            Quantity::Final => ("y", Quantity::Output.of_block(self.last_block(), [token, 0]), FINAL_NORM),
            Quantity::Input if is_embedding() => ("e", Quantity::Embedded.of_model([token, 0]), EMBEDDING_NORM),
            Quantity::Normed => ("x", of_block(Quantity::Input), ATTENTION_NORM),
            Quantity::Attended => ("a", of_block(Quantity::Summed), ATTENTION_NORM),
            Quantity::Output if config.has_forward_norm() && config.norm == Norm::Post => {
                ("c", of_block(Quantity::Joined), FORWARD_NORM)
            }
            Quantity::Output if config.norm == Norm::Post && config.attention_norm => {
                ("a", of_block(Quantity::Summed), ATTENTION_NORM)
            }
            _ => return None,
        };
        let tensors = names.map(|name| name.of_block(if name.is_of_a_block() { block } else { 0 }));
        let form = if names[0].is_of_a_block() { config.norm_form } else { self.model.architecture.norm_form };
        Some(NormBefore { letter, row, tensors, form })
    }

    pub(super) fn normed(&self, norm: &NormBefore, entry: Entry) -> Option<Worked> {
        let [_, at, _] = entry.index;
        let row = self.operands(self.width(), |dim| norm.row.along(dim))?;
        let [gain, shift] = norm.tensors.map(|tensor| self.operand(Entry::parameter(tensor, 0, at)));
        Some(Worked::Norm { row, at, gain: gain?, shift, form: norm.form })
    }

    pub(super) fn input(&self, block: usize, token: usize, dim: usize) -> Option<Worked> {
        if self.patch_of(block, token).is_some() {
            return Some(Worked::Given(Vec::new()));
        }
        Some(match self.is_first(block) {
            true => Worked::Sum(self.embeddings(block, token, dim)?),
            false => sum(vec![self.operand(Quantity::Output.of_block(block - 1, [token, dim]))?]),
        })
    }

    /// The sum that a token begins with: its static vector, what its place adds, and its segment.
    pub(super) fn embeddings(&self, block: usize, token: usize, dim: usize) -> Option<Vec<ProductTerm>> {
        let architecture = &self.model.architecture;
        let scale = architecture.embedding_scale.map(|scale| constant("scale", scale as f32));
        let of_word = |word| {
            Some(ProductTerm::of([self.operand(self.static_entry(word, dim))?].into_iter().chain(scale.clone())))
        };
        let mut terms = self.word(block, token).map(of_word).into_iter().collect::<Option<Vec<ProductTerm>>>()?;
        let mut entries: Vec<Entry> = Vec::new();
        entries.extend(match architecture.positions {
            Positions::None => None,
            Positions::Sinusoidal => Some(Quantity::Position.of_model([token, dim])),
            Positions::Learned => {
                let tokens =
                    if self.is_of_source(block) { self.sentence.source.as_deref()? } else { &self.sentence.tokens };
                let words: Vec<Option<usize>> = tokens.iter().map(|token| token.word).collect();
                let places: Vec<usize> = (0..words.len()).collect();
                let row = *architecture.position_rows.rows(&words, &places).get(token)?;
                Some(Entry::parameter(TensorId::from(TensorName::Positions), row, dim))
            }
        });
        if architecture.segments.is_some() {
            let piece = self.sentence.tokens.get(token).and_then(|token| token.piece.as_ref());
            let segment = piece.map_or(0, |piece| piece.segment);
            entries.push(Entry::parameter(TensorName::Segments.into(), segment, dim));
        }
        for entry in entries {
            terms.push(ProductTerm::of([self.operand(entry)?]));
        }
        Some(terms)
    }

    pub(super) fn summed(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Operand>> {
        let keys = self.sentence.contributions.get(block)?.keys();
        let input = self.config(block)?.residual.then(|| Quantity::Input.of_block(block, [token, dim]));
        let terms = self.heads_of(block).flat_map(|head| (0..keys).map(move |key| (head, key)));
        if self.config(block)?.output_norms {
            return self.summed_behind_norm(block, token, dim, input);
        }
        let terms = terms.map(|(head, key)| Quantity::Term.of_head(head, [token, key, dim]));
        let bias = self.operand(Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim));
        let entries = input.into_iter().chain(terms).map(|entry| self.operand(entry));
        entries.chain(bias.map(Some)).collect()
    }

    /// The input, and what the attention adds behind its own norm.
    fn summed_behind_norm(&self, block: usize, token: usize, dim: usize, input: Option<Entry>) -> Option<Vec<Operand>> {
        let input = input.map_or(Some(Vec::new()), |input| Some(vec![self.operand(input)?]))?;
        let before: f32 = input.iter().map(|input| input.value).sum();
        let added = self.block(block)?.summed.get(token, dim) - before;
        Some([input, vec![constant("Norm(Δ)", added)]].concat())
    }

    /// The sum with what the feed-forward layer adds, of a block that norms after it.
    pub(super) fn joined(&self, block: usize, token: usize, dim: usize) -> Option<Vec<ProductTerm>> {
        let mut terms = self.feed_forward(block, token, dim)?;
        if self.config(block)?.residual {
            terms.push(ProductTerm::of([self.operand(Quantity::Attended.of_block(block, [token, dim]))?]));
        }
        Some(terms)
    }

    pub(super) fn output(&self, block: usize, token: usize, dim: usize) -> Option<Vec<Operand>> {
        let feeds = self.config(block)?.feed_forward.is_some();
        let part = feeds.then(|| self.part_entry(block, BlockPart::FeedForward, token, dim));
        let entries = [Quantity::Summed.of_block(block, [token, dim])].into_iter().chain(part);
        entries.map(|entry| self.operand(entry)).collect()
    }

    /// `φ(… W_1 + b_1) W_2 + b_2` of one entry.
    fn feed_forward(&self, block: usize, query: usize, dim: usize) -> Option<Vec<ProductTerm>> {
        if self.config(block)?.output_norms {
            let at = self.block(block)?;
            let before = if self.config(block)?.residual { at.attended().get(query, dim) } else { 0.0 };
            return Some(vec![ProductTerm::of([constant("Norm(F)", at.joined().get(query, dim) - before)])]);
        }
        let hidden = self.block(block)?.hidden.as_ref()?.row(query);
        let term = |(unit, &hidden): (usize, &f32)| {
            let weight = self.operand(Entry::parameter(TensorName::ForwardWeights.of_block(block), unit, dim))?;
            Some(ProductTerm::of([constant(&format!("h[{unit}]"), hidden), weight]))
        };
        let mut terms = hidden.iter().enumerate().map(term).collect::<Option<Vec<ProductTerm>>>()?;
        let bias = self.operand(Entry::parameter(TensorName::ForwardBias.of_block(block), 0, dim));
        terms.extend(bias.map(|bias| ProductTerm::of([bias])));
        Some(terms)
    }
}

/// Arrows at a block's output: what its norms make of each term of the sum, and the terms that no head adds.
impl EntryReader<'_> {
    /// Norms that the terms of a block's heads go through.
    pub fn norms_after(&self, block: usize) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms().len())
    }

    /// How many of them a part does not go through.
    pub fn norms_before(&self, block: usize, part: BlockPart) -> usize {
        self.sentence.contributions.get(block).map_or(0, |contributions| contributions.norms_before(part))
    }

    /// One entry of what the norms of a block, without the first `skip`, make of a vector; `own` is the vector's entry.
    fn held(
        &self,
        block: usize,
        [query, dim]: [usize; 2],
        skip: usize,
        own: Factor,
        mut vector: Vec<f32>,
    ) -> Option<Vec<ProductTerm>> {
        let norms = self.sentence.contributions.get(block)?.norms();
        let factors = |from: usize| -> Option<Vec<Factor>> {
            let of_norm = |(number, norm): (usize, &HeldNorm<f32>)| {
                let gain = self.operand(Entry::parameter(norm.names[0].of_block(block), 0, dim))?;
                let gain = if norm.form.gain_from_one {
                    Factor::Less(gain, constant("−1", -1.0))
                } else {
                    Factor::One(gain)
                };
                let divisors = match norm.form.kind {
                    NormKind::Layer => DEVIATIONS,
                    NormKind::Rms => ROOT_MEAN_SQUARES,
                };
                let inverse = constant(divisors[norms.len() - 1][number], norm.inverse_deviation(query));
                Some([gain, Factor::One(inverse)])
            };
            let all: Option<Vec<_>> = norms.iter().enumerate().skip(from).map(of_norm).collect();
            Some(all?.into_iter().flatten().collect())
        };
        let with = |factor: Factor, from: usize| Some(ProductTerm([vec![factor], factors(from)?].concat()));
        let mut terms = vec![with(own, skip)?];
        for (number, norm) in norms.iter().enumerate().skip(skip) {
            if norm.form.kind == NormKind::Layer {
                let mean = vector.iter().map(|x| f64::from(*x)).sum::<f64>() / vector.len() as f64;
                terms.push(with(Factor::One(constant("−mean", -mean as f32)), number)?);
            }
            norm.carry(query, &mut vector);
        }
        Some(terms)
    }

    /// The arrow that a key adds to a query through a head, at the block's output.
    pub(super) fn arrow(&self, head: usize, query: usize, key: usize, dim: usize) -> Option<Worked> {
        let parts = self.head(head)?;
        let term = self.sentence.contributions[parts.block].term(self.block(parts.block)?, parts.own, query, key);
        let entry = Factor::One(self.operand(Quantity::Term.of_head(head, [query, key, dim]))?);
        Some(Worked::Sum(self.held(parts.block, [query, dim], 0, entry, term)?))
    }

    /// Entries of what a key adds to a query through a head, of the sum or, where a norm follows, at the block's output.
    pub(super) fn term_entry(&self, head: usize, index: [usize; 3]) -> Entry {
        let is_normed = self.head(head).is_some_and(|parts| parts.is_normed_after());
        (if is_normed { Quantity::Arrow } else { Quantity::Term }).of_head(head, index)
    }

    /// Entries of a term of a block's output that no head adds.
    pub(super) fn part_entry(&self, block: usize, part: BlockPart, query: usize, dim: usize) -> Entry {
        if part == BlockPart::Bias && self.norms_after(block) == 0 {
            return Entry::parameter(TensorName::OutputBias.of_block(block), 0, dim);
        }
        Quantity::Part.of_block(block, [part_index(part), query, dim])
    }

    /// Entries of all arrows of a query, of one dimension.
    pub(super) fn move_of(&self, block: usize, query: usize, dim: usize) -> Vec<Entry> {
        let Some(contributions) = self.sentence.contributions.get(block) else { return Vec::new() };
        let (heads, keys) = (self.heads_of(block), contributions.keys());
        let terms = heads
            .flat_map(|head| (0..keys).map(move |key| (head, key)))
            .map(|(head, key)| self.term_entry(head, [query, key, dim]));
        terms.chain(contributions.parts().iter().map(|part| self.part_entry(block, *part, query, dim))).collect()
    }

    /// A term of a block's output that no head adds.
    pub(super) fn part_terms(&self, block: usize, index: usize, at: [usize; 2]) -> Option<Vec<ProductTerm>> {
        let (part, norms, [query, dim]) = (self.part(block, index)?, self.norms_after(block), at);
        let activations = self.block(block)?;
        let parameter = |name: TensorName| self.operand(Entry::parameter(name.of_block(block), 0, dim));
        let normed = |name: TensorName, skip: usize| {
            let vector = self.model.parameters.values_of(name.of_block(block)).to_vec();
            self.held(block, at, skip, Factor::One(parameter(name)?), vector)
        };
        let alone = |name: TensorName| Some(vec![ProductTerm::of([parameter(name)?])]);
        let contributions = self.sentence.contributions.get(block)?;
        let skip = contributions.norms_before(part);
        let shift = contributions.norm_of(part).map(|norm| norm.names[1]);
        match part {
            BlockPart::Rescaled => {
                let own = self.operand(Quantity::Input.of_block(block, at))?;
                let vector = activations.input.row(query).to_vec();
                let mut terms = self.held(block, at, skip, Factor::One(own.clone()), vector)?;
                terms.push(ProductTerm::of([constant("−1", -1.0), own]));
                Some(terms)
            }
            BlockPart::Bias if shift.is_some() => {
                Some(vec![ProductTerm::of([constant("Norm(b_O)", contributions.part(part, activations, query)[dim])])])
            }
            BlockPart::Bias if norms > 0 => normed(TensorName::OutputBias, 0),
            BlockPart::Bias => alone(TensorName::OutputBias),
            BlockPart::Shift if norms > skip => normed(shift?, skip),
            BlockPart::Shift | BlockPart::LastShift => alone(shift?),
            BlockPart::FeedForward if norms > skip => {
                let [joined, attended] =
                    [Quantity::Joined, Quantity::Attended].map(|quantity| self.operand(quantity.of_block(block, at)));
                let rows = activations.joined().row(query).iter().zip(activations.attended().row(query));
                let vector = rows.map(|(joined, attended)| joined - attended).collect();
                self.held(block, at, skip, Factor::Less(joined?, attended?), vector)
            }
            BlockPart::FeedForward => {
                let mut terms = self.feed_forward(block, query, dim)?;
                if !self.config(block)?.residual {
                    let before = self.operand(Quantity::Summed.of_block(block, at))?;
                    terms.push(ProductTerm::of([constant("−1", -1.0), before]));
                }
                Some(terms)
            }
        }
    }
}
