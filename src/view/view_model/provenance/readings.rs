//! Formulas of what is learned and of what is read off the vectors: points, neighbours, answers.

use std::iter;

use attune_core::kernel::snapshot::StaticSpace;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::quantity::{Entry, Quantity, StagePoint, latex};

use super::worked::{Explanation, Factor, Operand, Term, Worked, constant, sum};
use crate::view_model::axes::{self, StageShares, percent, seen_through};
use crate::view_model::reader::Reader;

impl Reader<'_> {
    pub(super) fn parameter(&self, tensor: TensorId, row: usize, col: usize) -> Option<Explanation> {
        let value = self.model.parameters.entry(tensor, row, col)?;
        let trained = self.model.trained.entry(tensor, row, col)?;
        let start = self.model.start.entry(tensor, row, col)?;
        let steps = self.model.training.step_shown();
        let is_read = self.model.pretrained.is_some();
        let is_given = self.model.made_of.model.weights.iter().any(|(given, _)| *given == tensor);
        let is_trained = self.model.weights_origin() == "trained";
        let mut others = if is_read || !is_trained { Vec::new() } else { vec![constant("before training", start)] };
        if value != trained {
            let name = match (is_read, is_trained) {
                (true, _) => "in the file",
                (_, true) => "as training left it",
                (_, false) => "before your change",
            };
            others.insert(0, constant(name, trained));
        }
        let origin = self.model.pretrained.as_ref().map(|model| model.entry(tensor, row, col));
        let note = match (value == trained, steps) {
            (false, _) if origin.is_some() => "You changed this weight. The model's file has another value.".to_owned(),
            (true, _) if origin.is_some() => "It was read from the model's file.".to_owned(),
            (false, _) if !is_trained => "You changed this weight.".to_owned(),
            (false, _) => "You changed this weight. Training left another value.".to_owned(),
            (true, 0) if is_given && is_trained => "Training has not begun: the lesson gives it this value.".to_owned(),
            (true, 0) if is_given => "The lesson gives it.".to_owned(),
            (true, 0) if !is_trained => "Nothing trains it: it is as the seed drew it.".to_owned(),
            (true, 0) => "Training has not begun: it is as the seed drew it.".to_owned(),
            (true, steps) => format!("Training brought it to this value in {steps} steps."),
        };
        let of_file = origin.map(|entry| match entry {
            Some(entry) => format!("In the file it is {entry}."),
            None => "It is in no file; its value is 0.".to_owned(),
        });
        let symbols = latex(tensor.name);
        Some((symbols, Worked::Given(others), [note].into_iter().chain(of_file).collect()))
    }

    /// An entry of the vector behind a point; none for the zero vector.
    fn vector(&self, of: StagePoint, dim: usize) -> Option<Entry> {
        match of {
            StagePoint::Word(word) => Some(Quantity::Static.of_model([word, dim])),
            // Points begin at the vectors of word2vec, also where the model trains its own.
            StagePoint::Static(token) => {
                let word = self.sentence.tokens.get(token)?.word?;
                Some(Quantity::Static.of_model([word, dim]))
            }
            StagePoint::After(token, block) if self.is_of_source(block) => self.vector(StagePoint::Static(token), dim),
            StagePoint::After(token, block) => Some(Quantity::Output.of_block(block, [token, dim])),
            StagePoint::Contextual(token) => Some(self.contextual(token, dim)),
        }
    }

    /// A vector as the picture has it, before the axes: by its entries, or behind the norm that it is seen through.
    fn in_the_picture(&self, of: StagePoint) -> Option<Vec<Operand>> {
        let width = self.width();
        let (scale, parameters) = (self.space.scale(), &self.model.parameters);
        let of_layers = scale.and_then(|scale| scale.lens_of_layers(&self.model.architecture, parameters));
        let lens = match of {
            StagePoint::Word(_) | StagePoint::Static(_) => scale.map(|scale| scale.lens.clone()),
            StagePoint::After(..) => of_layers,
            // It is behind the last norm already, unless the picture is without it.
            StagePoint::Contextual(token) => {
                let last = |dim| Quantity::Output.of_block(self.last_block(), [token, dim]);
                let is_raw = of_layers.is_none();
                let entry = |dim| if is_raw { last(dim) } else { self.contextual(token, dim) };
                return self.operands(width, entry);
            }
        };
        let own = (0..width).map(|dim| self.vector_operand(of, dim)).collect::<Option<Vec<Operand>>>()?;
        let Some(lens) = lens else { return Some(own) };
        let seen = lens.see(&Matrix::from_row_major(1, width, own.iter().map(|operand| operand.value).collect()));
        Some(seen.row(0).iter().enumerate().map(|(dim, &x)| constant(&format!("norm(x)[{dim}]"), x)).collect())
    }

    fn vector_operand(&self, of: StagePoint, dim: usize) -> Option<Operand> {
        match self.vector(of, dim) {
            Some(entry) => self.operand(entry),
            None => Some(constant("0", 0.0)),
        }
    }

    pub(super) fn coordinate(&self, of: StagePoint, axis: usize) -> Option<Explanation> {
        let projection = &self.space.projection;
        let (mean, direction) = (projection.mean(), projection.axis(axis));
        let seen = self.in_the_picture(of)?;
        let term = |(dim, x): (usize, Operand)| {
            let less = constant(&format!("mean[{dim}]"), mean[dim]);
            let along = constant(&format!("axis[{dim}]"), direction[dim]);
            let x = if mean[dim] == 0.0 { Factor::One(x) } else { Factor::Less(x, less) };
            Term(vec![x, Factor::One(along)])
        };
        let terms: Vec<Term> = seen.into_iter().enumerate().map(term).collect();
        let name = axes::names(self.space).into_iter().nth(axis)?;
        let by_axis = StageShares::of(self.snapshot).by_axis();
        let share = by_axis.map_or_else(String::new, |(of, shares)| {
            format!(", and holds {} of the {of}' variance", percent(shares.along(axis)))
        });
        let note = format!("The axis {name} is the same for static and contextual places{share}.");
        Some((
            "p = \\sum_d (x_d - \\bar{x}_d) \\, u_d".to_owned(),
            Worked::Sum(terms),
            iter::once(note).chain(self.space.scale().map(|scale| seen_through(scale.norm).to_owned())).collect(),
        ))
    }

    pub(super) fn pairs(&self, of: StagePoint, word: usize) -> Option<Vec<(Operand, Operand)>> {
        let StaticSpace { vectors, .. } = self.space;
        let seen = match of {
            StagePoint::After(..) => self.in_the_picture(of)?,
            _ => (0..vectors.cols()).map(|dim| self.vector_operand(of, dim)).collect::<Option<Vec<Operand>>>()?,
        };
        let word = |dim| self.operand(Quantity::Static.of_model([word, dim]));
        seen.into_iter().enumerate().map(|(dim, x)| Some((x, word(dim)?))).collect()
    }

    pub(super) fn logit(&self, row: usize, class: usize) -> Option<Explanation> {
        let architecture = &self.model.architecture;
        let tokens = self.sentence.tokens.len();
        // Which outputs are read, and what each counts.
        let (read, share, said) = match architecture.pooling {
            Pooling::Every => (row..row + 1, None, "r = y_i"),
            Pooling::Last => (tokens.checked_sub(1)?..tokens, None, "r = y_T"),
            Pooling::Mean => (0..tokens, Some(1.0 / tokens as f32), "r = \\tfrac{1}{T} \\sum_t y_t"),
        };
        let bias = if architecture.readout_bias { " + b_c" } else { "" };
        let by = if architecture.readout.is_by_static_vectors() { "E_c" } else { "W_c" };
        if architecture.readout.activation().is_some() {
            let symbols = format!(
                "z_c = t \\cdot {by}{bias}, \\quad t = \\operatorname{{Norm}}(\\varphi(r W_T + b_T)), \\quad {said}"
            );
            let note = "The numbers of the readout's own layer are not kept.".to_owned();
            return Some((symbols, Worked::Given(Vec::new()), vec![note]));
        }
        let weights = |dim| match architecture.readout.is_by_static_vectors() {
            true => {
                // Pieces of a pretrained model may look alike, but all of them are classes.
                let is_class = |(_, word): &(usize, &String)| Some(*word) == self.model.classes.get(class);
                let word = match self.model.pretrained {
                    Some(_) => class,
                    None => self.space.vocabulary.iter().enumerate().find(is_class)?.0,
                };
                self.operand(self.static_entry(word, dim))
            }
            false => self.operand(Entry::parameter(TensorName::LogitWeights.into(), dim, class)),
        };
        let mut terms = Vec::new();
        for token in read {
            for dim in 0..architecture.width {
                let output = self.operand(self.contextual(token, dim))?;
                let share = share.map(|share| constant("1/T", share));
                terms.push(Term::of([Some(output), Some(weights(dim)?), share].into_iter().flatten()));
            }
        }
        if architecture.readout_bias {
            let entry = Entry::parameter(TensorName::LogitBias.into(), 0, class);
            let Worked::Sum(added) = sum(vec![self.operand(entry)?]) else { return None };
            terms.extend(added);
        }
        Some((format!("z_c = r \\cdot {by}{bias}, \\quad {said}"), Worked::Sum(terms), Vec::new()))
    }
}

pub fn true_space() -> Vec<String> {
    vec!["In the true space of all dimensions, not in the picture.".to_owned()]
}
