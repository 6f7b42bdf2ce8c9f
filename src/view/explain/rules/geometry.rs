//! Rules of the numbers that are read off the vectors: the points of the picture, and how near they are to words.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Tower;
use attune_engine::numerics::projection::Lens;
use attune_engine::quantity::{Entry, Quantity, StagePoint};

use super::super::print::print;
use super::super::reader::EntryReader;
use super::super::rule::{Bound, Expr, Number, Rule, at, vector};

impl EntryReader<'_> {
    /// Returns the entry of dimension 0 of the vector at a point; `None` if the vector is zero.
    fn vector_of(&self, of: StagePoint) -> Option<Entry> {
        match of {
            StagePoint::Word(word) => Some(self.static_entry(word, 0)),
            // A recording has no vector of the word alone, only one that includes the position.
            StagePoint::Static(token) if self.model.recorded.is_some() => {
                Some(Quantity::Input.of_block(self.first_block(), [token, 0]))
            }
            StagePoint::Static(token) => Some(self.static_entry(self.sentence.tokens.get(token)?.word?, 0)),
            StagePoint::After(token, block) if self.is_of_source(block) => self.vector_of(StagePoint::Static(token)),
            StagePoint::After(token, block) => Some(Quantity::Output.of_block(block, [token, 0])),
            StagePoint::Contextual(token) => Some(self.contextual(token, 0)),
        }
    }

    /// Returns the norm that the picture applies to the vector at a point; `None` if it applies none.
    fn lens_of(&self, of: StagePoint) -> Option<Lens> {
        let scale = self.space.scale()?;
        match of {
            StagePoint::Word(_) | StagePoint::Static(_) => Some(scale.lens.clone()),
            StagePoint::After(..) => {
                scale.lens_of_layers(Tower::Sentence, &self.model.architecture, &self.model.parameters)
            }
            // The contextual vector has passed the last norm already, unless the picture shows it without that norm.
            StagePoint::Contextual(_) => None,
        }
    }

    /// Builds the entry `d` of the vector at a point; 0 for the zero vector.
    fn entries_of(&self, of: StagePoint, latex: &str) -> Expr {
        match self.vector_of(of) {
            Some(first) => at(first, "_d").printed_along(latex, 'd'),
            None => Number::new("0", "0", 0.0).into(),
        }
    }

    /// Builds the entry `d` of the vector at a point as the picture shows it: after the norm that the picture applies,
    /// if it applies one.
    fn in_the_picture(&self, of: StagePoint, latex: &str, normed: &str) -> Option<Expr> {
        if let StagePoint::Contextual(token) = of
            && self.lens_of(StagePoint::After(token, self.last_block())).is_none()
        {
            let output = Quantity::Output.of_block(self.last_block(), [token, 0]);
            return Some(at(output, "_d").printed_along(latex, 'd'));
        }
        let own = self.entries_of(of, latex);
        let Some(lens) = self.lens_of(of) else { return Some(own) };
        let row = (0..self.width()).map(|dim| self.evaluate(&own, &Bound::default().with('d', dim)));
        let row = row.map(|x| x.map(|x| x as f32)).collect::<Option<Vec<f32>>>()?;
        let seen = lens.see(&Matrix::from_row_major(1, self.width(), row));
        Some(vector(normed, "norm(x)", 'd', seen.row(0).to_vec()))
    }

    pub(super) fn coordinate(&self, of: StagePoint, axis: usize) -> Option<Rule> {
        let projection = &self.space.projection;
        let (mean, direction) = (projection.mean(), projection.axis(axis));
        let along = vector("u", "axis", 'd', direction.to_vec());
        let x = self.in_the_picture(of, "x", "\\operatorname{Norm}(x)")?;
        let is_centred = mean.iter().all(|mean| *mean == 0.0);
        let centred = if is_centred { x } else { x - vector("\\bar{x}", "mean", 'd', mean.to_vec()) };
        let place = (centred * along).sum('d', mean.len());
        Some(Rule::new("p", place, Bound::default()).by_entry("d"))
    }

    /// Builds the vector at a point in the form in which it is compared with words, and the vector of the word.
    fn compared(&self, of: StagePoint, word: usize) -> Option<[Expr; 2]> {
        let seen = match of {
            StagePoint::After(..) => self.in_the_picture(of, "a", "a")?,
            _ => self.entries_of(of, "a"),
        };
        Some([seen, at(self.static_entry(word, 0), "_d").printed_along("b", 'd')])
    }

    pub(super) fn cosine(&self, of: StagePoint, word: usize) -> Option<Rule> {
        let [a, b] = self.compared(of, word)?;
        let width = self.width();
        let lengths = a.clone().length('d', width) * b.clone().length('d', width);
        Some(Rule::new("\\cos(a, b)", (a * b).sum('d', width) / lengths, Bound::default()))
    }

    pub(super) fn distance_between(&self, of: StagePoint, word: usize) -> Option<Rule> {
        let [a, b] = self.compared(of, word)?;
        let length = (a - b).length('d', self.width());
        Some(Rule::new(print(&length), length, Bound::default()).by_entry("d"))
    }
}
