//! The axes of the picture: the lesson's own, fitted again, or chosen by the learner. Always one linear
//! map for everything that is on the stage, so that arrows add up whatever the axes are.

use std::sync::Arc;

use crate::kernel::command::AxisCommand;
use crate::kernel::data::space::{Axis, Basis, ChosenAxis, StaticSpace};
use crate::kernel::data::word_group::WordGroup;
use crate::kernel::model::{LessonModel, ScenePart};
use crate::kernel::persist::saved::SavedBasis;
use crate::kernel::vectors::basis_vectors;
use crate::lesson::schema::Lesson;
use crate::numerics::Matrix;
use crate::numerics::projection::{AXES, Projection};
use crate::numerics::spread::Spread;

impl Basis {
    /// The map to the axes.
    fn projection(&self, lesson: &Lesson, space: &StaticSpace) -> Result<Projection, String> {
        if *self == space.own_basis {
            return Ok(space.own_projection.clone());
        }
        let own;
        let spread = match &self.fitted {
            Some(fitted) => &**fitted,
            None => {
                own = Spread::of(&basis_vectors(lesson, &space.vocabulary, &space.vectors));
                &own
            }
        };
        self.projection_of(spread, &space.vectors)
    }
}

impl LessonModel {
    pub(super) fn apply_to_axes(&mut self, command: AxisCommand, lesson: &Lesson) -> Result<(), String> {
        match command {
            AxisCommand::Refit => self.refit(lesson),
            AxisCommand::Set { axis, from, to } => self.set_axis(axis, Some((&from, &to)), lesson),
            AxisCommand::Reset(axis) => self.set_axis(axis, None, lesson),
            AxisCommand::ResetAll => self.choose("reset of the axes", self.space.own_basis.clone(), lesson),
        }
    }

    fn refit(&mut self, lesson: &Lesson) -> Result<(), String> {
        let width = self.space.vectors.cols();
        if width <= AXES {
            return Err(format!("the vectors have {}: the picture shows them as they are", dimensions(width)));
        }
        let words = basis_vectors(lesson, &self.space.vocabulary, &self.space.vectors);
        let (network, live) = (&self.training.trainer().model, self.training.model().live());
        let outputs = self.scene.outputs(network, live);
        let rows: Vec<&[f32]> = (0..words.rows())
            .map(|row| words.row(row))
            .chain(outputs.iter().flat_map(|output| (0..output.rows()).map(|row| output.row(row))))
            .collect();
        if !rows.iter().all(|row| row.iter().all(|x| x.is_finite())) {
            return Err("some points are not finite: no axes fit them".to_owned());
        }
        let spread = Spread::of(&Matrix::from_fn(rows.len(), width, |i, j| rows[i][j]));
        // Numbers whose squares are too large make no basis, and could not be kept.
        let spread = Spread::from_packed(spread.mean().to_vec(), &spread.packed())
            .ok_or_else(|| "some points are too far away: no axes fit them".to_owned())?;
        let basis = Basis { fitted: Some(Arc::new(spread)), chosen: self.space.basis.chosen.clone() };
        self.choose("refit of the axes", basis, lesson)
    }

    /// `None`: as the lesson has it.
    fn set_axis(&mut self, axis: Axis, words: Option<(&str, &str)>, lesson: &Lesson) -> Result<(), String> {
        let mut basis = self.space.basis.clone();
        let letter = axis.letter();
        let (chosen, label) = match words {
            Some(words) => {
                let chosen = self.chosen_axis(axis, words, lesson)?;
                let label = format!("axis {letter}: {} → {}", chosen.from.text, chosen.to.text);
                (Some(chosen), label)
            }
            None => (self.space.own_basis.chosen[axis.index()].clone(), format!("reset of axis {letter}")),
        };
        basis.chosen[axis.index()] = chosen;
        self.choose(&label, basis, lesson)
    }

    fn chosen_axis(&self, axis: Axis, (from, to): (&str, &str), lesson: &Lesson) -> Result<ChosenAxis, String> {
        let dimensions = self.space.projection.dimensions();
        if axis.index() >= dimensions {
            return Err(format!("there is no axis {}: the vectors have {dimensions} dimensions", axis.letter()));
        }
        let read = |text: &str| WordGroup::read(text, lesson, &self.space.vocabulary);
        Ok(ChosenAxis { from: read(from)?, to: read(to)? })
    }

    fn choose(&mut self, label: &str, basis: Basis, lesson: &Lesson) -> Result<(), String> {
        if basis == self.space.basis {
            return Ok(());
        }
        let projection = basis.projection(lesson, &self.space)?;
        let before = self.scene.rebase(&mut self.space, (basis, projection));
        self.changes.push((label.to_owned(), ScenePart::Basis(Box::new(before)).into()));
        Ok(())
    }

    /// The axes as they were chosen, as far as that fits.
    pub(in crate::kernel) fn put_back_basis(&mut self, saved: &SavedBasis, lesson: &Lesson, report: &mut Vec<String>) {
        let width = self.space.vectors.cols();
        let fitted = (!saved.mean.is_empty()).then(|| {
            let spread = Spread::from_packed(saved.mean.clone(), &saved.covariance);
            spread.filter(|spread| width > AXES && spread.width() == width).map(Arc::new)
        });
        if fitted == Some(None) {
            report.push("The axes are not those that you fitted: the vectors are others now.".to_owned());
        }
        let mut basis = Basis { fitted: fitted.flatten(), ..Basis::default() };
        for (letter, from, to) in &saved.axes {
            let Some(axis) = Axis::ALL.into_iter().find(|axis| axis.letter() == letter) else { continue };
            let chosen = self.chosen_axis(axis, (from, to), lesson);
            let chosen = chosen.and_then(|chosen| chosen.direction(&self.space.vectors).map(|_| chosen));
            match chosen {
                Ok(chosen) => basis.chosen[axis.index()] = Some(chosen),
                Err(why) => report.push(format!("Axis {letter} is left out: {why}.")),
            }
        }
        match basis.projection(lesson, &self.space) {
            Ok(projection) => {
                self.scene.rebase(&mut self.space, (basis, projection));
            }
            Err(why) => report.push(format!("The axes are the lesson's: {why}.")),
        }
    }

    /// The axes that were chosen in another space, from word to word. A way that is none here is left out, with
    /// words for the learner.
    pub(in crate::kernel) fn keep_axes(&mut self, of: &Basis, lesson: &Lesson) -> Vec<String> {
        let mut basis = Basis { fitted: None, chosen: of.chosen.clone() };
        let mut left_out = Vec::new();
        let width = self.space.vectors.cols();
        for (axis, slot) in Axis::ALL.into_iter().zip(&mut basis.chosen) {
            let Some(chosen) = slot else { continue };
            // An axis that a narrower space does not have could be neither seen nor reset.
            let is_there = match axis.index() < width {
                true => chosen.direction(&self.space.vectors).map(|_| ()),
                false => Err(format!("the vectors have {} now", dimensions(width))),
            };
            if let Err(why) = is_there {
                let ChosenAxis { from, to } = chosen;
                let (letter, from, to) = (axis.letter(), &from.text, &to.text);
                left_out.push(format!("axis {letter} no longer runs from {from:?} to {to:?}: {why}"));
                *slot = None;
            }
        }
        match basis.projection(lesson, &self.space) {
            Ok(projection) => {
                self.scene.rebase(&mut self.space, (basis, projection));
            }
            Err(why) => left_out.push(format!("the axes are the lesson's: {why}")),
        }
        left_out
    }
}

fn dimensions(width: usize) -> String {
    if width == 1 { "1 dimension".to_owned() } else { format!("{width} dimensions") }
}
