//! The axes of the picture. They are always one linear map for everything on the stage, so that arrows add up for any
//! choice of axes.

use std::sync::Arc;

use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::projection::{AXES, Projection};
use attune_engine::numerics::spread::{COVARIANCE_WIDTH_MAX, Spread};

use crate::kernel::command::AxisCommand;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::sentence_pass::axes::Layers;
use crate::kernel::sentence_pass::meaning::has_word_of;
use crate::kernel::static_embedding::{basis_vectors, matched, own_spread};
use crate::kernel::values::meaning::Meaning;
use crate::kernel::values::space::{Axis, Basis, ChosenAxis, WordGroup};
use crate::lesson::schema::Lesson;

impl Basis {
    /// Returns the projection onto the axes.
    fn projection(&self, lesson: &Lesson, of: &LessonModel) -> Result<Projection, String> {
        let space = &*of.space;
        if *self == space.own_basis {
            return Ok(space.own_projection.clone());
        }
        let own;
        let spread = match &self.fitted {
            Some(fitted) => &**fitted,
            None => {
                let model = of.training.model();
                let pretrained = of.ground.pretrained.is_some().then(|| (of.training.network(), model.trained()));
                own = own_spread(lesson, space, pretrained, self.raw);
                &own
            }
        };
        let projection = self.projection_of(spread, space)?;
        // Axes that the learner fitted to this space are used without turning them towards the previous picture.
        Ok(if self.fitted.is_some() { projection } else { matched(projection, self, space, lesson) })
    }
}

impl LessonModel {
    pub(crate) fn apply_to_axes(&mut self, command: AxisCommand, lesson: &Lesson) -> Result<(), String> {
        match command {
            AxisCommand::Refit => self.fit(self.spread(lesson)?, self.meaning(lesson), lesson),
            AxisCommand::Fit { mean, covariance, meaning } => {
                let spread = Spread::from_packed(mean, &covariance).ok_or("their numbers do not describe axes")?;
                self.fit(Arc::new(spread), meaning.map(|meaning| *meaning), lesson)
            }
            AxisCommand::Set { axis, from, to } => self.set_axis(axis, Some((&from, &to)), lesson),
            AxisCommand::Reset(axis) => self.set_axis(axis, None, lesson),
            AxisCommand::SetRaw(raw) => self.set_raw(raw, lesson),
            AxisCommand::ResetAll => self.choose("reset of the axes", self.space.own_basis.clone(), lesson),
        }
    }

    /// Returns the spread of the vectors that are on the stage now.
    fn spread(&self, lesson: &Lesson) -> Result<Arc<Spread>, String> {
        let width = self.space.vectors.cols();
        if width > COVARIANCE_WIDTH_MAX {
            return Err(format!(
                "the vectors have {width} dimensions; axes are fitted to vectors of at most {COVARIANCE_WIDTH_MAX}, so the \
                 picture keeps its own axes"
            ));
        }
        let passes = self.pass.passes(&self.cache.passes, &self.training);
        let (model, parameters) = (self.training.network(), self.training.live());
        let layers = Layers { model, parameters, scale: self.space.scale() };
        let of_word = layers.spread_of_word(self.pass.passes_of_senses(&self.training));
        let spread = if let Some(of_word) = of_word {
            of_word
        } else if self.ground.pretrained.is_some() || self.is_recorded() {
            layers
                .spread(passes.into_iter())
                .ok_or_else(|| "there are no points to which axes could be fitted".to_owned())?
        } else if let Some(of_all) = &self.space.spread {
            Spread::clone(of_all)
        } else {
            let words = basis_vectors(lesson, &self.space.vocabulary, &self.space.vectors);
            let outputs = passes.iter().map(|(_, activations)| &*activations.output);
            Spread::of(&Matrix::stacked(width, std::iter::once(&words).chain(outputs)))
        };
        if !(spread.total().is_finite() && spread.mean().iter().all(|x| x.is_finite())) {
            return Err("some points are not finite, so no axes can be fitted to them".to_owned());
        }
        // Numbers whose squares overflow cannot form a basis, and could not be saved.
        let spread = Spread::from_packed(spread.mean().to_vec(), &spread.packed())
            .ok_or_else(|| "some points are too far away, so no axes can be fitted to them".to_owned())?;
        Ok(Arc::new(spread))
    }

    /// Measures the axis with a meaning in the sentence on the stage. Returns `None` for a model that is neither
    /// pretrained nor a recording, while senses are compared, or if the sentence has no such axis.
    fn meaning(&self, lesson: &Lesson) -> Option<Meaning> {
        let is_measured = (self.ground.pretrained.is_some() || self.is_recorded()) && !self.pass.senses().is_on();
        let (frame, activations) =
            self.pass.passes(&self.cache.passes, &self.training).into_iter().next().filter(|_| is_measured)?;
        let (model, parameters) = (self.training.network(), self.training.live());
        let meaning = Layers { model, parameters, scale: self.space.scale() }.meaning(lesson, &frame, &activations)?;
        meaning.fits(self.space.vectors.cols()).then_some(meaning)
    }

    /// Refits the axes if the sentence has none of the words from which the first axis was measured, so that no axis is
    /// named after words of an earlier sentence. A sentence that has the words of the lesson's axis gets that axis
    /// again.
    pub(crate) fn refit_to_words(&mut self, lesson: &Lesson) -> Result<(), String> {
        let (basis, own) = (&self.space.basis, &self.space.own_basis);
        let is_there = |meaning: &Meaning| has_word_of(meaning, self.pass.frame());
        if basis.meaning().is_none_or(is_there) {
            return Ok(());
        }
        if own.meaning.as_deref().is_some_and(is_there) {
            let basis = Basis { chosen: basis.chosen.clone(), raw: basis.raw, ..own.clone() };
            return self.choose("refit of the axes", basis, lesson);
        }
        match (self.meaning(lesson), self.spread(lesson)) {
            (Some(meaning), Ok(spread)) => self.fit(spread, Some(meaning), lesson),
            _ => Ok(()),
        }
    }

    fn fit(&mut self, spread: Arc<Spread>, meaning: Option<Meaning>, lesson: &Lesson) -> Result<(), String> {
        let width = self.space.vectors.cols();
        if width <= AXES {
            return Err(format!(
                "the vectors have {}, so the picture already shows them as they are",
                counted(width, "dimension")
            ));
        }
        if spread.width() != width {
            return Err(format!(
                "they were fitted to vectors of {}, not {width}",
                counted(spread.width(), "dimension")
            ));
        }
        if meaning.as_ref().is_some_and(|meaning| !meaning.fits(width)) {
            return Err("their first axis does not fit to these vectors".to_owned());
        }
        let basis = Basis { fitted: Some(spread), meaning: meaning.map(Arc::new), ..self.space.basis.clone() };
        self.choose("refit of the axes", basis, lesson)
    }

    /// Sets an axis; `None` restores the lesson's.
    fn set_axis(&mut self, axis: Axis, words: Option<(&str, &str)>, lesson: &Lesson) -> Result<(), String> {
        let mut basis = self.space.basis.clone();
        let letter = axis.letter();
        let (chosen, label) = match words {
            Some((from, to)) => {
                let chosen = self.chosen_axis(axis, from, to, lesson)?;
                let label = format!("axis {letter}: {} → {}", chosen.from.text, chosen.to.text);
                (Some(chosen), label)
            }
            None => (self.space.own_basis.chosen[axis.index()].clone(), format!("reset of axis {letter}")),
        };
        basis.chosen[axis.index()] = chosen;
        self.choose(&label, basis, lesson)
    }

    fn chosen_axis(&self, axis: Axis, from: &str, to: &str, lesson: &Lesson) -> Result<ChosenAxis, String> {
        let dimensions = self.space.projection.dimensions();
        if axis.index() >= dimensions {
            let has = counted(dimensions, "dimension");
            return Err(format!("there is no axis {}, because the vectors have only {has}", axis.letter()));
        }
        let read = |text: &str| WordGroup::read(text, lesson, &self.space.vocabulary);
        Ok(ChosenAxis { from: read(from)?, to: read(to)? })
    }

    /// Sets whether vectors are shown as they are, or after the norm that gives all layers a common scale.
    fn set_raw(&mut self, raw: bool, lesson: &Lesson) -> Result<(), String> {
        if self.space.scale.is_none() {
            return Err(
                "the picture uses no norm of this model, so it already shows the vectors as they are".to_owned()
            );
        }
        let label = if raw { "raw vectors on the stage" } else { "vectors after the norm on the stage" };
        // An earlier fit and a measured axis belong to the other vectors, so they are dropped.
        let meaning = self.space.own_basis.meaning.clone().filter(|_| !raw);
        let basis = Basis { raw, fitted: None, meaning, chosen: self.space.basis.chosen.clone() };
        self.choose(label, basis, lesson)
    }

    fn choose(&mut self, label: &str, basis: Basis, lesson: &Lesson) -> Result<(), String> {
        if basis == self.space.basis {
            return Ok(());
        }
        let projection = basis.projection(lesson, self)?;
        let before = self.pass.rebase(&mut self.space, (basis, projection));
        self.remember(label, UndoPart::Basis(Box::new(before)));
        Ok(())
    }

    /// Transfers the axes that were chosen in another space, by their words. An axis that is undefined in this space is
    /// left out, and a clause for the learner about it is returned.
    pub(crate) fn keep_axes(&mut self, of: &Basis, lesson: &Lesson) -> Vec<String> {
        let meaning = self.space.own_basis.meaning.clone();
        let mut basis = Basis { fitted: None, meaning, ..of.clone() };
        let mut left_out = Vec::new();
        let width = self.space.vectors.cols();
        for (axis, slot) in Axis::ALL.into_iter().zip(&mut basis.chosen) {
            let Some(chosen) = slot else { continue };
            // An axis beyond the width of a narrower space could be neither seen nor reset.
            let is_there = match axis.index() < width {
                true => chosen.direction(&self.space, of.raw).map(|_| ()),
                false => Err(format!("the vectors have {} now", counted(width, "dimension"))),
            };
            if let Err(why) = is_there {
                let ChosenAxis { from, to } = chosen;
                let (letter, from, to) = (axis.letter(), &from.text, &to.text);
                left_out.push(format!("axis {letter} no longer runs from {from:?} to {to:?}: {why}"));
                *slot = None;
            }
        }
        match basis.projection(lesson, self) {
            Ok(projection) => {
                self.pass.rebase(&mut self.space, (basis, projection));
            }
            Err(why) => left_out.push(format!("the axes are reset to those of the lesson: {why}")),
        }
        left_out
    }
}
