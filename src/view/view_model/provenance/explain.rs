//! How each quantity is computed: the one list of formulas.

use attune_core::lesson::schema::StaticEmbedding;
use attune_engine::numerics::contributions::Part;
use attune_engine::numerics::params::TensorName;
use attune_engine::quantity::{Entry, Quantity};

use super::attention::{DISTANCE_BIAS, Effect};
use super::readings::true_space;
use super::worked::{Explanation, Worked, explained, sum};
use crate::view_model::reader::Reader;

impl Reader<'_> {
    /// The way from other numbers to this one.
    pub fn explain(&self, entry: Entry) -> Option<Explanation> {
        let Entry { quantity, owner, index: [i, j, k] } = entry;
        let number = owner.number();
        match quantity {
            Quantity::Parameter(name) => self.parameter(name.of_block(number), i, j),
            Quantity::Static => {
                let from = match self.snapshot.lesson.static_embedding {
                    StaticEmbedding::Given(_) => "The lesson gives it",
                    StaticEmbedding::Pretrained(_) => "The model's file has it",
                    _ => "word2vec trained it on the lesson's corpus",
                };
                let note = format!("{from}; it is the same wherever the word stands.");
                let entry = self.model.pretrained.as_ref().and_then(|model| model.entry(TensorName::Embedding, i, j));
                let of_file = entry.map(|entry| format!("In the file it is {entry}."));
                Some(("E".to_owned(), Worked::Given(Vec::new()), [note].into_iter().chain(of_file).collect()))
            }
            Quantity::Position => {
                let note = "A fixed wave: sine and cosine of the place, slower from entry to entry.".to_owned();
                let symbols =
                    "P_{t,2i} = \\sin\\frac{t}{10000^{2i/D}}, \\quad P_{t,2i+1} = \\cos\\frac{t}{10000^{2i/D}}";
                Some((symbols.to_owned(), Worked::Given(Vec::new()), vec![note]))
            }
            Quantity::Embedded => self.embedded(i, j),
            Quantity::Final => {
                let last = self.last_block();
                let row = self.operands(self.width(), |dim| Quantity::Output.of_block(last, [i, dim]))?;
                let worked = self.norm(row, j, 0, [TensorName::FinalNormGain, TensorName::FinalNormBias])?;
                explained("\\gamma_d \\, \\frac{y_d - \\mu}{\\sigma} + \\beta_d", worked)
            }
            Quantity::Input => self.input(number, i, j),
            Quantity::Normed => {
                let row = self.operands(self.width(), |dim| Quantity::Input.of_block(number, [i, dim]))?;
                let names = [TensorName::AttentionNormGain, TensorName::AttentionNormBias];
                let worked = self.norm(row, j, number, names)?;
                explained("n_d = \\gamma_d \\, \\frac{x_d - \\mu}{\\sigma} + \\beta_d", worked)
            }
            Quantity::Query => self.projected(entry, "q", [TensorName::QueryWeights, TensorName::QueryBias]),
            Quantity::Key => self.projected(entry, "k", [TensorName::KeyWeights, TensorName::KeyBias]),
            Quantity::Value => self.projected(entry, "v", [TensorName::ValueWeights, TensorName::ValueBias]),
            Quantity::Product => self.product(number, i, j),
            Quantity::Scale => self.scale(number),
            Quantity::DistanceBias => {
                let symbols = format!("b_{{ij}} = {DISTANCE_BIAS}");
                let notes = self.temperature_note(&self.head(number)?).into_iter().collect();
                Some((symbols, Worked::Sum(vec![self.distance_term(number, i, j)?]), notes))
            }
            Quantity::Score => self.score(number, i, j),
            Quantity::Exponential => self.exponential(number, i, j),
            Quantity::RowSum => {
                let keys = self.head(number)?.activations.scores.cols();
                let terms = self.operands(keys, |key| Quantity::Exponential.of_head(number, [i, key]))?;
                explained("\\sum_l e^{s_{il} - \\max_k s_{ik}}", sum(terms))
            }
            Quantity::Weight => self.weight(number, i, j),
            Quantity::Mix => self.mix(number, i, j),
            Quantity::Gain => explained("\\text{set by hand}", Worked::Given(Vec::new())),
            Quantity::Term => self.term(number, i, j, k),
            Quantity::Arrow => self.arrow(number, i, j, k),
            Quantity::TermLength => {
                let worked = self.length(|dim| vec![self.term_entry(number, [i, j, dim])])?;
                let symbols = match self.head(number)?.is_normed_after() {
                    true => "\\lVert L(\\alpha_{ij} \\, v_j W_O) \\rVert",
                    false => "\\lVert \\alpha_{ij} \\, v_j W_O \\rVert",
                };
                explained(symbols, worked)
            }
            Quantity::WordLength => {
                let heads = self.heads_of(number);
                let worked =
                    self.length(|dim| heads.clone().map(|head| self.term_entry(head, [i, j, dim])).collect())?;
                let symbols = match self.norms_after(number) {
                    0 => "\\lVert \\sum_h \\alpha_{ij}^h \\, v_j^h W_O^h \\rVert",
                    _ => "\\lVert \\sum_h L(\\alpha_{ij}^h \\, v_j^h W_O^h) \\rVert",
                };
                explained(symbols, worked)
            }
            Quantity::HeadLength => {
                let keys = self.head(number)?.activations.weights.cols();
                let term = |key, dim| Quantity::Term.of_head(number, [i, key, dim]);
                let worked = self.length(|dim| (0..keys).map(|key| term(key, dim)).collect())?;
                let symbols = "\\lVert \\sum_j \\alpha_{ij} \\, v_j W_O \\rVert".to_owned();
                Some((symbols, worked, self.head_notes(number, Effect::Sum)))
            }
            Quantity::HeadArrowLength => {
                let keys = self.head(number)?.activations.weights.cols();
                let term = |key, dim| self.term_entry(number, [i, key, dim]);
                let worked = self.length(|dim| (0..keys).map(|key| term(key, dim)).collect())?;
                let symbols = "\\lVert \\sum_j L(\\alpha_{ij} \\, v_j W_O) \\rVert".to_owned();
                Some((symbols, worked, self.head_notes(number, Effect::Sum)))
            }
            Quantity::Part => self.part_formula(number, i, j, k),
            Quantity::PartLength => self.part_length(number, i, j),
            Quantity::MoveLength => {
                let worked = self.length(|dim| self.move_of(number, i, dim))?;
                let symbols = match self.sentence.contributions.get(number)?.parts() {
                    [] | [Part::Bias] if self.norms_after(number) == 0 => {
                        "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\sum_h \\sum_j \\alpha_{ij}^h v_j^h W_O^h + b_O"
                    }
                    _ => "\\lVert \\Delta_i \\rVert, \\quad \\Delta_i = \\text{all arrows together}",
                };
                explained(symbols, worked)
            }
            Quantity::Summed => self.summed(number, i, j),
            Quantity::Attended => self.attended(number, i, j),
            Quantity::Joined => self.joined(number, i, j),
            Quantity::Output => self.output(number, i, j),
            Quantity::Logit => self.logit(i, j),
            Quantity::Probability => {
                let classes = self.sentence.answers.logits.cols();
                let all = self.operands(classes, |class| Quantity::Logit.of_model([i, class]))?;
                explained("p_c = \\frac{e^{z_c}}{\\sum_b e^{z_b}}", Worked::Softmax { all, at: j })
            }
            Quantity::Coordinate => self.coordinate(owner.point()?, i),
            Quantity::Cosine => {
                let symbols = "\\cos(a, b) = \\frac{a \\cdot b}{\\lVert a \\rVert \\, \\lVert b \\rVert}".to_owned();
                Some((symbols, Worked::Cosine(self.pairs(owner.point()?, i)?), true_space()))
            }
            Quantity::Distance => {
                let symbols = "\\lVert a - b \\rVert = \\sqrt{\\textstyle\\sum_d (a_d - b_d)^2}".to_owned();
                Some((symbols, Worked::Distance(self.pairs(owner.point()?, i)?), true_space()))
            }
            Quantity::Visible | Quantity::Temperature => None,
        }
    }
}
