//! Models of small files and large products: layers, heads, pieces and words, each within its bound.

use std::io;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_engine::pretrained::config::Config;
use attune_view::export::trace;
use proptest::prelude::*;

use super::{Attack, Outcome, drawn};
use crate::common::models::{adding, shape, zeros};

/// Numbers of a model: larger ones take long to write, and may take long to read.
const PARAMETERS_MAX: usize = 4_000_000;
/// Memory over that of the weights, as they are written and as they are read.
const OVER_FILES_MAX: usize = 1_200_000_000;

/// A model, and how many pieces it is to read.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Width, layers, heads, hidden units, positions and pieces.
    sizes: [usize; 6],
    /// Pieces that its tokenizer adds; none: it has no tokenizer.
    added: Option<usize>,
    ids: Vec<usize>,
}

impl Shape {
    fn parameters(&self) -> usize {
        let [width, layers, _, hidden, positions, vocabulary] = self.sizes;
        layers * (4 * width * width + 2 * width * hidden) + (positions + vocabulary) * width
    }

    fn config(&self) -> Config {
        shape(self.sizes)
    }

    fn run_in(&self, folder: &std::path::Path) -> Outcome {
        let lesson = match lesson::read(folder) {
            Ok(lesson) => Arc::new(lesson),
            Err(issues) => return if issues.is_empty() { Err("no issue".to_owned()) } else { Ok("refused") },
        };
        let mut kernel = Kernel::embedded(lesson);
        if let Some(fault) = kernel.snapshot().fault {
            return Err(fault.words);
        }
        let asked = SentenceCommand::Ids(self.ids.iter().map(|id| id % self.sizes[5]).collect());
        kernel.apply(Command::Sentence(asked));
        let snapshot = kernel.snapshot();
        trace::write(&snapshot, io::sink()).map_err(|error| error.to_string())?;
        match snapshot.notice {
            None => Ok("shown"),
            Some(said) if said.contains("at most") => Ok("too many pieces"),
            Some(said) => Err(format!("it says {said}")),
        }
    }
}

impl Attack for Shape {
    type Part = usize;

    fn of(seed: u64) -> Self {
        let size = |most: u32| (0..=most).prop_map(|exponent| 1_usize << exponent);
        let vocabulary = prop_oneof![6 => Just(20), 1 => Just(100_000), 1 => Just(1_000_000)];
        let sizes = (size(9), size(7), size(8), size(6), prop_oneof![Just(128), Just(512), Just(3)], vocabulary);
        let sizes = sizes.prop_map(|(width, layers, heads, hidden, positions, vocabulary)| {
            [width, layers, heads.min(width), hidden, positions, vocabulary]
        });
        let count = prop::sample::select(vec![1_usize, 40, 100, 128, 129]);
        let ids = count.prop_flat_map(|count| prop::collection::vec(0..20_usize, count));
        let added = prop_oneof![2 => Just(None), 1 => Just(Some(2)), 1 => Just(Some(100)), 1 => Just(Some(192))];
        let shape = (sizes, added, ids).prop_map(|(sizes, added, ids)| Self { sizes, added, ids });
        drawn(seed, shape.prop_filter("a model that is soon written", |shape| shape.parameters() <= PARAMETERS_MAX))
    }

    fn run(&self) -> Outcome {
        let folder = zeros(&self.config(), self.added.map(adding).as_ref());
        self.run_in(&folder.0)
    }

    fn parts(&mut self) -> &mut Vec<usize> {
        &mut self.ids
    }

    fn told(&self) -> String {
        format!("{} ids; {:?}, {:?} added", self.ids.len(), self.sizes, self.added)
    }

    fn bytes_max(&self) -> usize {
        // Numbers as they are written, in the file's bytes, as they are read, and packed.
        OVER_FILES_MAX + 5 * size_of::<f32>() * self.parameters()
    }
}
