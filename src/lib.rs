//! **attune**: a literate workspace for learning self-attention.
//!
//! A lesson is one RON file. The kernel trains the lesson's tiny models; the window shows the lesson
//! as a notebook beside a 3D stage, on which every word moves from its *static* position (word2vec)
//! to its *contextual* one (attention); and every weight is a slider.
//!
//! # The map
//!
//! ```text
//! numerics/     pure maths on faer: forward beside backward          start at reference/mod.rs
//! quantity/     the catalogue: names and meanings of all numbers     start at mod.rs
//! code/         the language of code cells, in a sandbox             start at mod.rs
//! lesson/       RON text -> checked values, every issue with place   start at schema.rs
//! pretrained/   model folders -> architecture and parameters         start at mod.rs
//! kernel/       the running lesson: commands in, snapshots out       start at command.rs
//! view_model/   snapshot -> what each panel and the stage shows      start at stage.rs
//! export/       snapshot -> notebook, page or vectors as files         start at mod.rs
//! store/        where the learner's work is kept: values in files    start at mod.rs
//! app/          the window, the only folder that names Bevy or egui    start at panels/panel.rs, link.rs  [feature "app"]
//! cli/          arguments in, exit code out
//! pattern.rs    regular expressions that a learner writes
//! whole_file.rs files that are written as a whole or not at all
//! numbers.rs    numbers within JSON, exactly; nearest.rs and fnv.rs are leaves too
//! ```
//!
//! Begin with [`numerics::reference`], which is all of the mathematics in plain loops: attention, the block, the model,
//! word2vec and their gradients, as they stand in the papers. The engine computes the same numbers faster.
//!
//! `docs/slider-to-point.md` follows one number from a weight's slider to a point on the stage, file by file.
//!
//! One direction only: `numerics <- {quantity, code, pretrained} <- lesson <- kernel <- view_model <- {export, app} <- cli`,
//! and `store <- {app, cli}`. Panels and stage never import each other.
//! `tests/architecture` holds the layers to this.
//!
//! Four boundaries, each a plain type: [`Lesson`](lesson::Lesson) (text becomes values),
//! [`Command`](kernel::Command) (the only way to change anything), [`Snapshot`](kernel::Snapshot)
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
//! 6. A lesson file is read and never written. What the learner does is [`Saved`](kernel::Saved) beside it,
//!    and no saved state can make the program panic, hang or eat the memory.
//! 7. One linear basis for static, contextual and every training step, so that motion means
//!    something.
//!
//! # From Rust
//!
//! ```
//! use std::sync::Arc;
//! use attune::kernel::command::SentenceCommand;
//! use attune::kernel::{Command, Kernel};
//!
//! # let text = include_str!("../tests/fixtures/small.ron");
//! let lesson = attune::lesson::parse("small.ron", text).expect("the lesson has no issues");
//! let mut kernel = Kernel::trained(Arc::new(lesson));
//! kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank".to_owned())));
//! let model = kernel.snapshot().model.expect("it is trained");
//! let weights = &model.sentence.activations.blocks[0].heads[0].weights;
//! assert!((weights.row(1).iter().sum::<f32>() - 1.0).abs() < 1e-6);
//! ```

#[cfg(feature = "app")]
pub mod app;
pub mod cli;
pub mod code;
pub mod export;
pub mod fnv;
pub mod kernel;
pub mod lesson;
pub mod nearest;
pub mod numbers;
pub mod numerics;
pub mod panics;
pub mod pattern;
pub mod pretrained;
pub mod quantity;
pub mod store;
pub mod view_model;
pub mod whole_file;
