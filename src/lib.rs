//! **attune**: a literate workspace for learning self-attention.
//!
//! A lesson is one RON file. The kernel trains the lesson's tiny models; the window shows the lesson
//! as a notebook beside a 3D stage, on which every word moves from its *static* position (word2vec)
//! to its *contextual* one (attention); and every weight is a slider.
//!
//! # The map
//!
//! Seven crates under `src/`. Each depends only on those above it in this list, and panels and stage do not depend on
//! each other; the compiler enforces this.
//!
//! ```text
//! engine/  attune-engine
//!   numerics/     pure maths on faer: forward beside backward          start at reference/mod.rs
//!   quantity/     the catalogue: names and meanings of all numbers     start at mod.rs
//!   code/         the language of code cells, in a sandbox             start at mod.rs
//!   pretrained/   model folders -> architecture and parameters         start at mod.rs
//!   vectors/      files of word vectors -> rows, and answers about them start at mod.rs
//!   recording/    what any model did on a text, and whether it agrees   start at mod.rs
//! core/    attune-core
//!   lesson/       RON text -> checked values, every issue with place   start at schema/mod.rs
//!   kernel/       the running lesson: commands in, snapshots out       start at kernel.rs
//!   store/        where the learner's work is kept: values in files    start at mod.rs
//! view/    attune-view
//!   view_model/   snapshot -> what each panel and the stage shows      start at stage.rs
//!   sheet/        what a panel shows, as plain data                    start at mod.rs
//!   panels/       models of a snapshot -> the sheet of each panel      start at mod.rs
//!   explain/      a number's rule -> formula, card and sentence; walk  start at mod.rs, rules/mod.rs
//!   export/       snapshot -> notebook, page or vectors as files       start at mod.rs
//! app/     the window, the only folder that names Bevy or egui           [feature "app"]
//!   ui/      attune-ui, what all share: theme, actions, ui_state,      start at lib.rs, link.rs
//!            widgets, text
//!   panels/  attune-panels: one file or folder a panel, without Bevy   start at lib.rs
//!   stage/   attune-stage: the 3D view                                 start at lib.rs, geometry.rs
//! attune: the program
//!   app/          what is left of the window: shell, dock, work        start at mod.rs
//!   cli/          arguments in, exit code out
//!   built_in.rs   the course that is in the program itself
//! ```
//!
//! Begin with [`attune_engine::numerics::reference`], which is all of the mathematics in plain loops: attention, the block,
//! the model, word2vec and their gradients, written as in the papers. The engine computes the same numbers faster.
//!
//! The changes that a learner can make to a pass, including the modes of heads, are
//! [`Interventions`](attune_engine::numerics::model::activations::Interventions) and
//! [`HeadMode`](attune_engine::numerics::attention::HeadMode) (`engine/numerics/attention/head.rs`): commands, saved work,
//! traces and pages use these types as they are; a new mode has a sentence in `view/explain/sentences.rs` and a line in the
//! page's `engine.js` beside. A quantity is a line of the catalogue in `engine/quantity` and a rule in `view/explain/rules`:
//! its formula, the numbers of its card, the way back and the live page's equation are all derived from that rule. A family
//! of models is an entry of `engine/pretrained/families`, with the names of its tensors in `engine/pretrained/names`. A fact
//! that claims can be about is a variant of [`Fact`](attune_core::lesson::schema::Fact), read in `core/lesson/read/claims.rs`
//! and measured in `core/kernel/check`. A panel has its name in `core/lesson/schema/panels.rs` and its sheet in a row of
//! `view/panels/mod.rs`, which window and exports draw; one that is a picture of its own has a row in `app/panels/lib.rs`.
//! `CONTRIBUTING.md` has recipes.
//!
//! `docs/slider-to-point.md` follows one number from a weight's slider to a point on the stage, file by file.
//!
//! Four boundaries, each a plain type: [`Lesson`](attune_core::lesson::Lesson) (text becomes values),
//! [`Command`](attune_core::kernel::Command) (the only way to change anything), [`Snapshot`](attune_core::kernel::Snapshot)
//! (immutable, complete, cheap to clone) and the view models (meaning becomes shapes and text).
//!
//! # Invariants
//!
//! 1. `numerics` performs no IO and reads no clock; every random draw has a named, seeded stream.
//! 2. No lesson file can make the program panic, hang or eat the memory.
//! 3. Nothing changes a kernel except a command. The same lesson, seed and commands give the same
//!    snapshots, bit for bit in one build.
//! 4. Every number on the screen is an entry of a snapshot. Nothing is faked, rounded into a lie, or
//!    computed twice.
//! 5. The window never waits for training: it runs on a thread of its own, and can be paused,
//!    stepped and reset.
//! 6. A lesson file is read and never written. What the learner does is [`Saved`](attune_core::kernel::Saved) beside it,
//!    and no saved state can make the program panic, hang or eat the memory.
//! 7. One linear basis for static, contextual and every training step, so that motion means
//!    something.
//!
//! # From Rust
//!
//! ```
//! use std::sync::Arc;
//! use attune_core::kernel::command::SentenceCommand;
//! use attune_core::kernel::{Command, Kernel};
//!
//! # let text = include_str!("../tests/fixtures/small.ron");
//! let lesson = attune_core::lesson::parse("small.ron", text).expect("the lesson has no issues");
//! let mut kernel = Kernel::trained(Arc::new(lesson));
//! kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank".to_owned())));
//! let model = kernel.snapshot().model.expect("it is trained");
//! let weights = &model.sentence.activations.blocks[0].heads[0].weights;
//! assert!((weights.row(1).iter().sum::<f32>() - 1.0).abs() < 1e-6);
//! ```

#[cfg(feature = "app")]
pub mod app;
pub mod built_in;
pub mod cli;
#[cfg(test)]
#[path = "../tests/common/close.rs"]
mod close;
