//! A kernel writes a tour of its model into the notebook.

use crate::kernel::data::progress::Progress;
use crate::kernel::state::{Kernel, Phase, Undoable};
use crate::kernel::tour::Touring;

/// The state of the tour of a model.
#[derive(Default)]
pub enum Toured {
    #[default]
    NotAsked,
    /// The first piece is due as soon as there is a model with nothing else to do.
    Asked,
    Measuring(Box<Touring>),
    Written,
}

impl Toured {
    pub fn is_under_way(&self) -> bool {
        matches!(self, Self::Asked | Self::Measuring(_))
    }

    pub fn is_written(&self) -> bool {
        matches!(self, Self::Written)
    }

    pub fn progress(&self) -> Option<Progress> {
        match self {
            Self::Measuring(touring) => Some(touring.progress()),
            Self::NotAsked | Self::Asked | Self::Written => None,
        }
    }
}

impl Kernel {
    /// A tour is for a model without texts of its own, and for a notebook in which nothing is written yet.
    pub(in crate::kernel) fn ask_for_tour(&mut self) {
        let is_first = matches!(self.toured, Toured::NotAsked);
        if is_first && self.lesson.is_of_folder() && self.notebook.is_as_given(&self.lesson) {
            self.toured = Toured::Asked;
        }
    }

    /// A tour was asked for here, so that a kernel in the place of this one is to have it too.
    pub fn wants_tour(&self) -> bool {
        !matches!(self.toured, Toured::NotAsked)
    }

    /// The next piece of it.
    pub(in crate::kernel) fn tour_on(&mut self) {
        let Phase::Ready(ready) = &self.phase else { return };
        let cells = match &mut self.toured {
            Toured::Measuring(touring) => touring.advance(ready),
            toured => {
                *toured = Toured::Measuring(Box::new(Touring::new(ready)));
                None
            }
        };
        let Some(cells) = cells else { return };
        self.toured = Toured::Written;
        let is_untouched = self.notebook.is_as_given(&self.lesson);
        let before = self.notebook.insert_tour(&cells);
        // Nobody asked for the first one: undo does not take it away. Into a notebook that was changed meanwhile, or is
        // there again after its reset was undone, it comes as a change like any other, or not at all.
        if let Some(before) = before.filter(|_| !is_untouched) {
            self.remember("tour of the model".to_owned(), Undoable::Notebook(before));
        }
    }
}
