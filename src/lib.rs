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
//!   lesson/       RON text -> checked values, every issue with its place  start at mod.rs, load.rs
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
//! `view/export/live_page/page/engine.js`. A mode in `NAMED` is offered by *Intervene* and `attune trace`; its name in
//! code is in `engine/code/changes.rs` and `view/view_model/as_code.rs`. The compiler does not ask for lists of modes
//! (`matches!`): `takes_gain` and `replaces_weights` beside it, `core/kernel/snapshot/scores.rs` and
//! `view/export/recording/file.rs`. Any other change of a pass is a field of
//! [`Interventions`](attune_engine::numerics::model::activations::Interventions), a command in `core/kernel/command.rs`
//! that is applied in `core/kernel/model/commands/interventions.rs`, a row of `INTERVENTIONS` in
//! `core/kernel/sentence_pass/interventions.rs`, and an entry of the trace in `view/export/trace.rs`. It acts in
//! `engine/numerics/model/activations.rs`, and on a page in `view/export/live_page/page/engine.js` (with `data.js`).
//! The rule of a number that it changes is in `view/explain/rules`, its control in `view/view_model/what_if.rs` and
//! `app/panels/intervene.rs`, its name in code in `engine/code/changes.rs`, and its option in `cli/args.rs`. The
//! compiler asks for the places where `Interventions` is taken apart. It does not ask for those that read single
//! fields: `for_any_sentence` beside `INTERVENTIONS`, `is_of_sentence` in `core/kernel/command.rs`; `effects.rs`,
//! `retraining.rs` and `only` of `live.rs` in `core/kernel/model`; `set_second` in `core/kernel/sentence_pass/mod.rs`;
//! and `nothing` in `view/export/live_page/page/state.js`.
//!
//! A quantity is a line of `quantities!` in `engine/quantity/mod.rs`, an arm of `computed_rule` in
//! `view/explain/rules/mod.rs`, and its rule in the file of its subject beside it. The window's formula, card and
//! provenance follow from the rule, and so does the value if nothing stores the number. A rule may use only the
//! operations of `Function` and `Fold` in `view/explain/rule.rs`; a new one also needs `print.rs` and `lines.rs` there,
//! and `view/export/live_page/page/rules.js`. The number is shown where something names it, such as a step of the walk
//! in its `rows`, with a label in `row` there (`view/explain/walk.rs`; without one it is called `y`, and the compiler
//! does not ask). A number of one entry is a quantity; one number of a whole head is a measure. A sentence is added in
//! `view/explain/sentences.rs`, or in `tellings.rs` for a query and a key in a head. If a snapshot stores the number,
//! `view/explain/reader.rs` reads it: a matrix of the activations is a field in `engine/numerics/model/activations.rs`,
//! with an arm of `Quantity::matrix` in `engine/quantity/mod.rs` and its name in `EntryReader::stored`; any other
//! matrix, an arm of `stored`; a single number, an arm of `EntryReader::value`. `RecordedPass::has` in
//! `core/kernel/sentence_pass/recorded.rs` says whether a recording has it, and `missing` in `view/view_model/needs.rs`
//! what is lacking (the compiler does not ask for the latter); a number that the file itself has needs an arm of
//! `recorded_rule` beside `computed_rule`, and of `is_of_file` in `sentences.rs`. The names `trace` (blocks and heads
//! only) and `code` give it to the trace, and to code cells and *Variables*, if `Quantity::matrix` has it; code reads
//! the few others in `core/kernel/notebook/live.rs`, and the trace in `matrices` of `view/export/trace.rs`, whose table
//! in `trace.md` is written by hand. A live page has cards of only a few quantities of a head: a new one is a row of
//! `WHOLE` in `view/explain/cards.rs`, an arm of `rules_of` there, and a telling in `tellings.rs`; each quantity that
//! its rule names must be in `reading` of `view/export/live_page/page/engine.js`.
//!
//! A panel has its name, and what it shows of a pass, in `core/lesson/schema/panels.rs` (at the end, because keys go by
//! this order), and its sheet in a file of `view/panels` with a row in `view/panels/mod.rs`. The sheet is made of
//! models in `view/view_model`, which its `mod.rs` lists in `models!`, and of the viewer's choices in
//! `view/sheet/chosen.rs`. Exports draw the sheet, and so does the window, at the lower right. Only a panel that lies
//! elsewhere, or that the window draws in its own way, has a row in `registry` in `app/panels/lib.rs`.
//!
//! A family of models is a variant and a row in `engine/pretrained/families/mod.rs` (take its name out of `OTHERS`
//! there), a function from its config to the engine's shape in `decoders.rs`, `plain.rs` or `translators.rs` beside it,
//! and the names of its tensors in `engine/pretrained/names/tables.rs`. `read_tokenizer` in
//! `engine/pretrained/folder.rs` decides from which files a tokenizer is read: `tokenizer.json`, older files of BERT's
//! and GPT-2's kind (`tokenizer/older.rs`), or SentencePiece's (`tokenizer/spm.rs`), the latter only for the families
//! that it names. What the shape cannot express is a new layer type. A part of a recording is a variant of `Part` in
//! `engine/recording/parts.rs`; `core/kernel/sentence_pass/recorded.rs` makes a pass of the parts,
//! `view/export/recording` writes them, and `docs/record.py` is the recorder that `attune manual record` prints.
//!
//! There are three lists of measures, and each is a macro `measures!`. A measure of heads in the sentence that is shown
//! is a row in `engine/numerics/head_measures.rs`, with its pairs in `HeadPatterns`. One that is not a share of pairs
//! has its formula in `HeadPatterns::measure`, and every measure is looked up in `is_share`, `counts_pairs`,
//! `is_within_one_sentence` and `is_between_two_sentences`, for which the compiler does not ask. A measure of heads
//! over a file of texts is a row in `engine/numerics/evidence/corpus.rs`, with the sums that it needs in `HeadSums`,
//! each computed in `within`, `between` or `of_any` and added in `HeadSums::add` (a sum that is forgotten there stays
//! 0); the compiler then asks for its formula there, its name in a table (`view/export/evidence/heads.rs`) and its
//! range in a claim (`core/lesson/read/claims.rs`). Both know a token only by its row of the vocabulary, the first also
//! by whether the tokenizer added it. A measure that needs more, such as which tokens are nouns, extends
//! `MeasuredToken` (filled in `core/kernel/values/sentence.rs` and `core/kernel/sentence_pass/recorded_check.rs`) or
//! `TextWords` (filled in `core/kernel/evidence/texts.rs`). A measure of which word mattered is a row in
//! `engine/numerics/evidence/words.rs`, and its values in `word_table` there, in the order of the rows; panels, arcs
//! and `attune words` then have it. The commands `map`, `score`, `words` and `heads` are functions of
//! `core/kernel/evidence`, written by `view/export/evidence`.
//!
//! An export format is a variant and a row of `FORMATS` in `view/export/format.rs`, and a file beside it that `file.rs`
//! calls. If it has no cells, `Format::is_page` says so, and `write_answered` calls it instead of `write_page`. A
//! format of word vectors is a variant in `engine/vectors/mod.rs`, where it is written, with a row of `FORMATS`. A
//! format that is a folder is a variant of `ExportTo`, which `cli/export.rs` writes.
//!
//! A kind of cell is a variant of `CellKind` in `core/lesson/schema/cells.rs`, read in `core/lesson/read/cells.rs`. A
//! question or task is such a kind, with an `Answer` and a `CellCode` in `core/kernel/notebook/document.rs` and a
//! `Verdict` in `core/kernel/notebook/snapshot.rs`. A question with choices, also one whose numbers are drawn, needs no
//! code: it is a `Predict` in a lesson. A fact that a claim can measure is a variant of
//! [`Fact`](attune_core::lesson::schema::Fact), read in `core/lesson/read/claims.rs` and measured in
//! `core/kernel/check`.
//!
//! A key is a row of a table in `app/ui/actions/table.rs` (window, stage, sentence or notebook) and an arm where the
//! actions of that table are performed: `app/shell/perform.rs`, `app/stage/bar.rs`, `app/stage/sentence/mod.rs` or
//! `app/panels/notebook/frame.rs`.
//!
//! `CONTRIBUTING.md` has recipes for these, with the tests. Paths are from `src/`, but `docs/` and `CONTRIBUTING.md`
//! lie at the root.
//!
//! A live page computes its pass again, in `view/export/live_page/page/engine.js`, and works out its cards in
//! `rules.js` and `provenance.js` there; `live_page/mod.rs` and `numbers.rs` give it its data, and
//! `tests/export/engines.rs` compares it with the definition. The page of a recording computes nothing (`given.rs`,
//! `given.js`). A lesson is parsed by `core/lesson/load.rs`: text becomes a tree in `reading/`, and the tree becomes
//! the values of `schema/` in `read/`.
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
//! 5. The window never waits for training, which runs on a thread of its own and can be paused,
//!    stepped and reset.
//! 6. A lesson file is read and never written. What the learner does is [`Saved`](attune_core::kernel::Saved) beside
//!    it, and no saved state can make the program panic, hang or eat the memory.
//! 7. Static and contextual points of every training step are shown in one linear basis, so that motion
//!    means something.
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
