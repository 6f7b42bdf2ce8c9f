//! **attune**: a literate workspace for learning self-attention.
//!
//! A lesson is one RON file. The kernel trains the lesson's tiny models; the window shows the lesson
//! as a notebook beside a 3D stage, on which every word moves from its *static* position (word2vec)
//! to its *contextual* one (attention); and every weight is a slider.
//!
//! # The map
//!
//! There are seven crates: six under `src/`, and the program itself at the root. Each depends only on those above it in
//! this list, and panels and stage do not depend on each other; the compiler enforces this.
//!
//! ```text
//! engine/  attune-engine
//!   numerics/     pure maths on faer: forward beside backward          start at reference/mod.rs
//!   quantity/     the catalogue: names and meanings of all numbers     start at mod.rs
//!   code/         the language of code cells, in a sandbox             start at mod.rs
//!   pretrained/   model folders -> architecture and parameters         start at mod.rs
//!   vectors/      files of word vectors -> rows; nearest words         start at mod.rs
//!   recording/    recordings of any model -> tokens and tensors, and   start at parts.rs, mod.rs
//!                 whether these agree with each other
//! core/    attune-core
//!   lesson/       RON text -> checked values, every issue with its place  start at schema/mod.rs
//!   kernel/       the running lesson: commands in, snapshots out       start at kernel.rs
//!   store/        where the learner's work is kept: values in files    start at mod.rs
//! view/    attune-view
//!   view_model/   snapshot -> view models, the content of the views    start at stage.rs
//!   sheet/        the items that a panel's sheet is made of            start at mod.rs
//!   panels/       view models -> the sheet of each panel               start at mod.rs
//!   explain/      a number's rule -> formula, worked numbers and       start at mod.rs, rules/mod.rs
//!                 sentence; the steps of attention
//!   export/       snapshot -> notebook, page or vectors as files       start at format.rs, mod.rs
//! app/     the window, the only folder that names Bevy or egui           [feature "app"]
//!   ui/      attune-ui, what they all share: theme, actions, ui_state, start at lib.rs, link.rs
//!            widgets, text
//!   panels/  attune-panels: draws every sheet, and the panels that     start at lib.rs
//!            the window draws in its own way; without Bevy
//!   stage/   attune-stage: the 3D view                                 start at lib.rs, geometry.rs
//! attune: the program
//!   app/          the rest of the window: shell, dock, work            start at mod.rs
//!   cli/          arguments in, exit code out
//!   built_in.rs   the course that is in the program itself
//! ```
//!
//! Begin with [`attune_engine::numerics::reference`], which is all of the mathematics in plain loops: attention, the
//! block, the model, word2vec and their gradients, written as in the papers. The engine computes the same numbers
//! faster.
//!
//! A mode of a head is a variant of [`HeadMode`](attune_engine::numerics::attention::HeadMode)
//! (`engine/numerics/attention/head.rs`), which commands, saved work and pages use as it is; the rule of its weights is
//! in `view/explain/rules/head.rs`, what is said of it in `view/explain/tellings.rs`, and its arithmetic on a page in
//! `view/export/live_page/page/engine.js`. Any other change of a pass is a field of
//! [`Interventions`](attune_engine::numerics::model::activations::Interventions), a command in `core/kernel/command.rs`
//! that is applied in `core/kernel/model/commands/interventions.rs`, a row of `INTERVENTIONS` in
//! `core/kernel/sentence_pass/interventions.rs`, and an entry of the trace in `view/export/trace.rs`.
//!
//! A quantity is a line of `quantities!` in `engine/quantity/mod.rs`, an arm of `computed_rule` in
//! `view/explain/rules/mod.rs`, and its rule in the file of its subject beside it. Formula, card and provenance are
//! derived from the rule; a sentence is added in `view/explain/sentences.rs`, or in `tellings.rs` for a query and a key
//! in a head, and a page gets all of them as data (`view/explain/cards.rs`). A number that a pass stores also needs an
//! arm of `Quantity::matrix` and one of `EntryReader::stored` in `view/explain/reader.rs`; `RecordedPass::has` in
//! `core/kernel/sentence_pass/recorded.rs` says whether a recording has it. Its name in the catalogue puts it into the
//! trace (`trace`) and into code cells and *Variables* (`code`).
//!
//! A family of models is a variant and a row in `engine/pretrained/families/mod.rs`, a function from its config to the
//! engine's shape beside it, and the names of its tensors in `engine/pretrained/names/tables.rs`. A part of a recording
//! is a variant of `Part` in `engine/recording/parts.rs`; `core/kernel/sentence_pass/recorded.rs` makes a pass of the
//! parts, `view/export/recording` writes them, and `docs/record.py` is the recorder that `attune manual record` prints.
//!
//! A fact that a claim can measure is a variant of [`Fact`](attune_core::lesson::schema::Fact), read in
//! `core/lesson/read/claims.rs` and measured in `core/kernel/check`. A panel has its name, and what it shows of a pass,
//! in `core/lesson/schema/panels.rs`, and its sheet in a file of `view/panels` with a row in `view/panels/mod.rs`. The
//! exports draw the sheet, and so does the window, unless the panel's row in `app/panels/lib.rs` says that it draws
//! itself; the row also says in which region a panel lies. An export format is a row of `FORMATS` in
//! `view/export/format.rs`, and a file beside it that `file.rs` calls; a format of word vectors is written in
//! `engine/vectors`. `CONTRIBUTING.md` has recipes.
//!
//! There are three lists of measures, and each is a macro `measures!`. A measure of heads in the sentence that is shown
//! is a row in `engine/numerics/head_measures.rs`, with the pairs that it counts. A measure of heads over a file of
//! texts is a row in `engine/numerics/evidence/corpus.rs`; the compiler then asks for its formula there, its name in a
//! table (`view/export/evidence/heads.rs`) and its range in a claim (`core/lesson/read/claims.rs`). A measure of which
//! word mattered is a row in `engine/numerics/evidence/words.rs`. The commands `map`, `score`, `words` and `heads` are
//! functions of `core/kernel/evidence`, written by `view/export/evidence`.
//!
//! `docs/slider-to-point.md` follows one number from a weight's slider to a point on the stage, file by file.
//!
//! There are four boundaries of plain types: [`Lesson`](attune_core::lesson::Lesson) (text becomes values),
//! [`Command`](attune_core::kernel::Command) (the only way to change anything),
//! [`Snapshot`](attune_core::kernel::Snapshot) (immutable, complete, cheap to clone) and the view models (meaning
//! becomes shapes and text).
//!
//! # Invariants
//!
//! 1. `numerics` performs no IO and reads no clock; every random draw has a named, seeded stream.
//! 2. No lesson file can make the program panic, hang or eat the memory.
//! 3. Nothing changes a kernel except a command. The same lesson, seed and commands give the same
//!    snapshots, bit for bit in one build.
//! 4. Every number on the screen is an entry of a snapshot. Nothing is faked, rounded so that it misleads,
//!    or computed twice.
//! 5. The window never waits for training: it runs on a thread of its own, and can be paused,
//!    stepped and reset.
//! 6. A lesson file is read and never written. What the learner does is [`Saved`](attune_core::kernel::Saved) beside
//!    it, and no saved state can make the program panic, hang or eat the memory.
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
