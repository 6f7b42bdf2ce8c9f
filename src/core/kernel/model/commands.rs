//! Commands of a lesson's model, applied: interventions, weights, sentences, senses, axes and training.
//!
//! The axes of the picture are always one linear map for everything that is on the stage, so that arrows add up
//! whatever they are.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::messages::counted;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::params::{Parameters, TensorId, TensorName};
use attune_engine::numerics::projection::{AXES, Projection};
use attune_engine::numerics::rng::{Stream, part};
use attune_engine::numerics::shares::{COVARIANCE_WIDTH_MAX, Spread};
use rand::RngExt;

use crate::kernel::command::{
    AxisCommand, Brush, InterventionCommand, SenseCommand, SenseList, SenseSentence, SentenceCommand, TrainingCommand,
    WeightCommand,
};
use crate::kernel::model::{Drag, LessonModel, SenseDrag, UndoPart};
use crate::kernel::sentence_pass::axes::Layers;
use crate::kernel::sentence_pass::interventions::{self, check_mask, check_temperature};
use crate::kernel::sentence_pass::senses::{check_count, check_sense, check_text, one_line};
use crate::kernel::sentence_pass::sentence::Sentence;
use crate::kernel::snapshot::space::{Axis, Basis, ChosenAxis, WordGroup, index_of};
use crate::kernel::static_embedding::{basis_vectors, matched, own_spread};
use crate::kernel::training::weights::Comparison;
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(super) fn apply_to_interventions(
        &mut self,
        command: InterventionCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        match command {
            InterventionCommand::SetHead { head, mode } => {
                let gain = matches!(mode, HeadMode::Gain(_)).then_some(Drag::Gain(head));
                self.check_head(head)?;
                self.set_heads(head..head + 1, &mode, gain.is_some() && last == gain)?;
                self.last_drag = gain;
            }
            InterventionCommand::SetHeads { heads, mode } => self.set_heads(heads, &mode, false)?,
            InterventionCommand::Solo(solo) => self.solo(solo)?,
            InterventionCommand::SetTemperature(temperature) => {
                temperature.map_or(Ok(()), check_temperature)?;
                let label = temperature.map_or("temperature of the lesson".to_owned(), |t| format!("temperature {t}"));
                let goes_on = last == Some(Drag::Temperature);
                self.intervene(&label, goes_on, |changed| changed.temperature = temperature);
                self.last_drag = Some(Drag::Temperature);
            }
            InterventionCommand::SetScale(scale) => {
                let label = scale.map_or("scale of the lesson", |on| if on { "scale on" } else { "scale off" });
                self.intervene(label, false, |changed| changed.scale = scale);
            }
            InterventionCommand::ToggleMask { query, key } => {
                let architecture = &self.training.network().architecture;
                let (now, tokens) = (self.pass.interventions(), self.pass.tokens().len());
                let mask = interventions::toggled(architecture, now, tokens, query, key)?;
                self.intervene("mask", false, |changed| changed.mask = mask);
            }
            InterventionCommand::SetMask(mask) => {
                mask.as_ref().map_or(Ok(()), |mask| check_mask(mask, self.pass.tokens().len()))?;
                self.intervene("mask", false, |changed| changed.mask = mask);
            }
            InterventionCommand::ResetMask => {
                self.intervene("reset of the mask", false, |changed| changed.mask = None);
            }
            InterventionCommand::SetEdge { edge, is_removed } => {
                self.check_head(edge.head)?;
                self.pass.check_edge(&self.training.network().architecture, edge)?;
                let edges = interventions::with_edge(&self.pass.interventions().edges, edge, is_removed)?;
                let label = if is_removed { "removal of an edge" } else { "return of an edge" };
                self.intervene(label, false, |changed| changed.edges = edges);
            }
            InterventionCommand::SetPatch(patch) => {
                let patch = patch.map(|patch| self.pass.patch(patch, &self.cache, &self.training)).transpose()?;
                let label = if patch.is_some() { "patch" } else { "end of the patch" };
                self.intervene(label, false, |changed| changed.patch = patch);
            }
            InterventionCommand::Reset => {
                let none = interventions::none(&lesson.model.architecture);
                self.intervene("reset of the interventions", false, |changed| *changed = none);
            }
        }
        Ok(())
    }

    /// Changes the interventions; `goes_on` as in [`Self::change_model`].
    pub(in crate::kernel) fn intervene(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Interventions<f32>),
    ) {
        let mut changed = Interventions::clone(self.pass.interventions());
        change(&mut changed);
        if changed != **self.pass.interventions() {
            let before = self.pass.set_interventions(Arc::new(changed));
            self.remember(label, goes_on, UndoPart::Interventions(before));
        }
    }

    fn set_heads(&mut self, heads: Range<usize>, mode: &HeadMode<f32>, goes_on: bool) -> Result<(), String> {
        if heads.is_empty() {
            return Err("there is no head to set".to_owned());
        }
        self.check_head(heads.end - 1)?;
        let label = format!("{} {}", self.heads_label(&heads), mode.words().name);
        let modes = heads.clone().map(|head| self.pass.mode(mode.clone(), head, &self.cache, &self.training));
        let modes = modes.collect::<Result<Vec<_>, _>>()?;
        self.intervene(&label, goes_on, |changed| changed.heads[heads].clone_from_slice(&modes));
        Ok(())
    }

    /// `head 3`; `layer 2, head 3`; `layer 2, all heads`; `layer 1, head 2 to layer 2, head 1`.
    fn heads_label(&self, heads: &Range<usize>) -> String {
        let architecture = &self.training.network().architecture;
        let name = |head: usize| architecture.head_name(head);
        let (block, ..) = architecture.head(heads.start);
        if heads.len() == 1 {
            name(heads.start)
        } else if *heads == architecture.heads_of(block) {
            let block = architecture.block_name(block);
            if block.is_empty() { "all heads".to_owned() } else { format!("{block}, all heads") }
        } else {
            format!("{} to {}", name(heads.start), name(heads.end - 1))
        }
    }

    fn solo(&mut self, solo: Option<usize>) -> Result<(), String> {
        solo.map_or(Ok(()), |head| self.check_head(head))?;
        let label =
            solo.map_or("all heads on".to_owned(), |head| format!("only {} on", self.heads_label(&(head..head + 1))));
        self.intervene(&label, false, |changed| {
            for (head, mode) in changed.heads.iter_mut().enumerate() {
                *mode = if solo.is_none_or(|solo| solo == head) { HeadMode::Live } else { HeadMode::Off };
            }
        });
        Ok(())
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.pass.interventions().heads.len();
        if head < heads {
            Ok(())
        } else {
            Err(format!("there is no head {}; the model has {heads}", head.saturating_add(1)))
        }
    }
}

/// A shake moves no entry further: beyond it nothing is left of what was trained.
pub const PERTURBATION_MAX: f32 = 10.0;

/// A tensor, a row and a column.
type Entry = (TensorId, usize, usize);

impl LessonModel {
    pub(super) fn apply_to_weights(&mut self, command: WeightCommand, last: Option<Drag>) -> Result<(), String> {
        match command {
            WeightCommand::Put(entries) => {
                let indexed = entries.indexed(self.training.live())?;
                self.set_entries(&format!("weights of {}", entries.name), false, &indexed)
            }
            WeightCommand::Set { tensor, row, col, value } => {
                let drag = Drag::Entry(tensor, row, col);
                self.set_weight((tensor, row, col), value, last == Some(drag))?;
                self.last_drag = Some(drag);
                Ok(())
            }
            WeightCommand::Paint { tensor, entries, brush, stroke } => {
                let drag = Drag::Stroke(stroke);
                self.paint(tensor, &entries, brush, last == Some(drag))?;
                self.last_drag = Some(drag);
                Ok(())
            }
            WeightCommand::Perturb { tensor, scale, draw } => self.perturb(tensor, scale, draw),
            WeightCommand::Reset { tensor, row, col } => {
                let index = self.index((tensor, row, col))?;
                let trained = self.training.model().trained().at(index);
                self.set_weight((tensor, row, col), trained, false)
            }
            WeightCommand::ResetTensor(tensor) => self.reset_tensor(tensor),
            WeightCommand::ResetAll if !self.training.model().is_edited() => Ok(()),
            WeightCommand::ResetAll => self.change_model("reset of all weights", false, |training, _| {
                training.discard_edits();
                Ok(())
            }),
        }
    }

    fn index(&self, (tensor, row, col): Entry) -> Result<usize, String> {
        let index = self.training.live().index(tensor, row, col);
        index.ok_or_else(|| format!("the model has no {tensor}[{row}, {col}]"))
    }

    fn set_weight(&mut self, entry: Entry, value: f32, goes_on: bool) -> Result<(), String> {
        let index = self.index(entry)?;
        let (tensor, row, col) = entry;
        if !value.is_finite() {
            return Err(format!("{tensor}[{row}, {col}] cannot be {value}, because a weight must be a finite number"));
        }
        self.set_entries(&format!("{tensor}[{row}, {col}]"), goes_on, &[(index, value)])
    }

    /// Sets entries, unless each has these bits already.
    fn set_entries(&mut self, label: &str, goes_on: bool, entries: &[(usize, f32)]) -> Result<(), String> {
        let live = self.training.live();
        if entries.iter().all(|&(index, value)| live.at(index).to_bits() == value.to_bits()) {
            return Ok(());
        }
        self.edit(label, goes_on, |live| entries.iter().for_each(|&(index, value)| live.set_at(index, value)))
    }

    fn reset_tensor(&mut self, tensor: TensorId) -> Result<(), String> {
        let model = self.training.model();
        if model.live().spec(tensor).is_none() {
            return Err(format!("the model has no {tensor}"));
        }
        if model.live().has_same(tensor, model.trained()) {
            return Ok(());
        }
        let (trained, label) = (model.trained().clone(), format!("reset of {tensor}"));
        self.edit(&label, false, |live| live.take(tensor, &trained))
    }

    pub(in crate::kernel) fn edit(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Parameters<f32>),
    ) -> Result<(), String> {
        let mut live = Parameters::clone(self.training.live());
        change(&mut live);
        self.change_model(label, goes_on, |training, _| training.edit(live))
    }

    /// `goes_on`: it is more of the same stroke, and undoes together with it.
    fn paint(
        &mut self,
        tensor: TensorId,
        entries: &[(usize, usize)],
        brush: Brush,
        goes_on: bool,
    ) -> Result<(), String> {
        let places: Vec<usize> =
            entries.iter().map(|&(row, col)| self.index((tensor, row, col))).collect::<Result<_, _>>()?;
        let live = self.training.live();
        let painted = |index: usize| match brush {
            Brush::Set(value) => value,
            Brush::Add(value) => live.at(index) + value,
        };
        let changed: Vec<(usize, f32)> = places.into_iter().map(|index| (index, painted(index))).collect();
        if changed.iter().any(|(_, value)| !value.is_finite()) {
            return Err(format!("the brush would leave {tensor} with an entry that is not a finite number"));
        }
        self.set_entries(&format!("painting of {tensor}"), goes_on, &changed)
    }

    fn perturb(&mut self, tensor: TensorId, scale: f32, draw: u64) -> Result<(), String> {
        let live = self.training.live();
        let Some(place) = live.specs().iter().position(|spec| spec.id == tensor) else {
            return Err(format!("the model has no {tensor}"));
        };
        if !(scale > 0.0 && scale <= PERTURBATION_MAX) {
            return Err(format!("the noise of a shake must be above 0 and at most {PERTURBATION_MAX}, not {scale}"));
        }
        // Each tensor draws for itself.
        let mut rng = part(draw, Stream::Perturbation, place);
        let shaken: Vec<f32> =
            live.row_major(tensor).iter().map(|value| value + rng.random_range(-scale..=scale)).collect();
        if !shaken.iter().all(|value| value.is_finite()) {
            return Err(format!("{tensor} has entries that are too large to be shaken"));
        }
        self.edit(&format!("shake of {tensor} by ±{scale}"), false, |live| {
            live.set_row_major(tensor, &shaken);
        })
    }
}

impl LessonModel {
    pub(super) fn apply_to_sentences(
        &mut self,
        command: SentenceCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        let sentence = match command {
            SentenceCommand::Select(index) => {
                let count = lesson.sentences.len();
                Sentence::of_lesson(lesson, &self.words, index).ok_or_else(|| {
                    format!("there is no sentence {}; the lesson has {count}", index.saturating_add(1))
                })?
            }
            SentenceCommand::Set(text) => self.read(&text, lesson)?,
            SentenceCommand::Ids(ids) => Sentence::of_ids(&ids, lesson, &self.words)?,
            SentenceCommand::Words(words) => self.of_words(&words, lesson)?,
            SentenceCommand::Type(text) => return self.type_text(&text, last == Some(Drag::Sentence), lesson),
            SentenceCommand::SetSecond(text) => return self.set_second(text, last == Some(Drag::Second), lesson),
            SentenceCommand::Generate { count, choice } => {
                return self.pass.generate(count, choice, lesson, &self.training);
            }
        };
        self.show(sentence, false);
        Ok(())
    }

    /// `goes_on`: the last command was typing too.
    fn type_text(&mut self, text: &str, goes_on: bool, lesson: &Lesson) -> Result<(), String> {
        // One that cannot be read yet is on its way to another that can.
        self.last_drag = goes_on.then_some(Drag::Sentence);
        if self.show(self.read(text, lesson)?, goes_on) {
            self.last_drag = Some(Drag::Sentence);
        }
        Ok(())
    }

    fn of_words(&self, words: &[String], lesson: &Lesson) -> Result<Sentence, String> {
        if self.pretrained.is_none() {
            return self.read(&words.join(" "), lesson);
        }
        let index = index_of(&self.words);
        // One that the model does not have is refused as a token that no model has.
        let id = |word: &String| index.get(word.as_str()).copied().unwrap_or(self.words.len());
        Sentence::of_ids(&words.iter().map(id).collect::<Vec<_>>(), lesson, &self.words)
    }

    /// True if it is another one; `goes_on` as in [`Self::change_model`].
    fn show(&mut self, sentence: Sentence, goes_on: bool) -> bool {
        if sentence == *self.pass.sentence() {
            return false;
        }
        let before = self.pass.show(sentence);
        self.remember("choice of the sentence", goes_on, UndoPart::Sentence(before));
        true
    }

    /// A learner's words as a sentence, which may be one of the lesson's.
    fn read(&self, text: &str, lesson: &Lesson) -> Result<Sentence, String> {
        Sentence::read(text, lesson, &self.words)
    }

    /// `goes_on`: the last command set one too.
    fn set_second(&mut self, text: Option<String>, goes_on: bool, lesson: &Lesson) -> Result<(), String> {
        let sentence = text.map(|text| self.read(&text, lesson)).transpose()?;
        let (was, is) = (self.pass.second().is_some(), sentence.is_some());
        let is_other = sentence.as_ref() != self.pass.second();
        if is_other {
            let before = self.pass.set_second(sentence);
            let label = if is { "second sentence" } else { "end of the comparison" };
            self.remember(label, goes_on, UndoPart::Second(before));
        }
        // What begins the comparison, or ends it, undoes by itself.
        self.last_drag = (was && is && (is_other || goes_on)).then_some(Drag::Second);
        Ok(())
    }
}

impl LessonModel {
    pub(super) fn apply_to_senses(
        &mut self,
        command: SenseCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        let (before, was_on) = (self.pass.senses().list().clone(), self.pass.senses().is_on());
        let mut list = SenseList::clone(&before);
        let count = list.sentences.len();
        let missing = |index: usize| format!("there is no sentence {}; the list has {count}", index.saturating_add(1));
        let (mut is_on, mut written) = (was_on, None);
        let label = match command {
            SenseCommand::Show(shows) => {
                is_on = shows;
                if shows { "senses of a word" } else { "end of the senses" }.to_owned()
            }
            SenseCommand::SetWord(word) => {
                check_text(&word)?;
                list.word = one_line(&word);
                written = Some(SenseDrag::Word);
                "word of the senses".to_owned()
            }
            SenseCommand::SetText { index, text } => {
                check_text(&text)?;
                if index == count {
                    list.sentences.push(SenseSentence::default());
                    check_count(list.sentences.len())?;
                }
                list.sentences.get_mut(index).ok_or_else(|| missing(index))?.text = one_line(&text);
                written = Some(SenseDrag::Text(index));
                format!("sentence {} of the senses", index + 1)
            }
            SenseCommand::SetSense { index, sense } => {
                sense.map_or(Ok(()), check_sense)?;
                list.sentences.get_mut(index).ok_or_else(|| missing(index))?.sense = sense;
                format!("sense of sentence {}", index + 1)
            }
            SenseCommand::Insert(index) if index > count => return Err(missing(index)),
            SenseCommand::Insert(index) => {
                list.sentences.insert(index, SenseSentence::default());
                check_count(list.sentences.len())?;
                format!("new sentence {} of the senses", index + 1)
            }
            SenseCommand::Remove(index) if index >= count => return Err(missing(index)),
            SenseCommand::Remove(index) => {
                list.sentences.remove(index);
                format!("removal of sentence {} of the senses", index + 1)
            }
            SenseCommand::Replace(other) => {
                list = other.checked()?;
                "list of the senses".to_owned()
            }
        };
        let drag = written.map(Drag::Sense);
        let goes_on = drag.is_some() && last == drag;
        self.last_drag = drag.filter(|_| goes_on);
        if (&list, is_on) == (&*before, was_on) {
            return Ok(());
        }
        let list = if list == *before { before } else { Arc::new(list) };
        let before = self.pass.set_senses((list, is_on));
        self.pass.read_senses(lesson);
        self.remember(label, goes_on, UndoPart::Senses(before));
        self.last_drag = drag;
        Ok(())
    }

    /// The senses are yet to be measured, and nothing trains.
    pub fn has_senses_pending(&self) -> bool {
        let Self { training, pass, cache, .. } = self;
        !training.is_busy() && pass.senses().is_pending(&cache.senses.borrow(), &pass.sense_model(training))
    }

    /// Does the next piece of that work.
    pub fn measure_senses(&self) {
        let Self { training, pass, cache, .. } = self;
        pass.senses().advance(&mut cache.senses.borrow_mut(), &pass.sense_model(training));
    }
}

impl Basis {
    /// The map to the axes.
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
                let pretrained = of.pretrained.is_some().then(|| (of.training.network(), &**model.trained()));
                own = own_spread(lesson, space, pretrained, self.raw);
                &own
            }
        };
        let projection = self.projection_of(spread, space)?;
        // What the learner fitted to this space is seen as it was fitted.
        Ok(if self.fitted.is_some() { projection } else { matched(projection, self, space, lesson) })
    }
}

impl LessonModel {
    pub(super) fn apply_to_axes(&mut self, command: AxisCommand, lesson: &Lesson) -> Result<(), String> {
        match command {
            AxisCommand::Refit => self.fit(self.spread(lesson)?, lesson),
            AxisCommand::Fit { mean, covariance } => {
                let spread = Spread::from_packed(mean, &covariance).ok_or("their numbers do not describe axes")?;
                self.fit(Arc::new(spread), lesson)
            }
            AxisCommand::Set { axis, from, to } => self.set_axis(axis, Some((&from, &to)), lesson),
            AxisCommand::Reset(axis) => self.set_axis(axis, None, lesson),
            AxisCommand::SetRaw(raw) => self.set_raw(raw, lesson),
            AxisCommand::ResetAll => self.choose("reset of the axes", self.space.own_basis.clone(), lesson),
        }
    }

    /// The spread of the vectors that are on the stage now.
    fn spread(&self, lesson: &Lesson) -> Result<Arc<Spread>, String> {
        let width = self.space.vectors.cols();
        if width > COVARIANCE_WIDTH_MAX {
            return Err(format!(
                "the vectors have {width} dimensions; axes are fitted to vectors of at most {COVARIANCE_WIDTH_MAX}, so the \
                 picture keeps its own axes"
            ));
        }
        let passes = self.pass.passes(&self.cache, &self.training);
        let (model, parameters) = (self.training.network(), self.training.live());
        let layers = Layers { model, parameters, scale: self.space.scale() };
        let of_word = layers.spread_of_word(self.pass.passes_of_senses(&self.training));
        let spread = if let Some(of_word) = of_word {
            of_word
        } else if self.pretrained.is_some() {
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
        // Numbers whose squares are too large make no basis, and could not be kept.
        let spread = Spread::from_packed(spread.mean().to_vec(), &spread.packed())
            .ok_or_else(|| "some points are too far away, so no axes can be fitted to them".to_owned())?;
        Ok(Arc::new(spread))
    }

    fn fit(&mut self, spread: Arc<Spread>, lesson: &Lesson) -> Result<(), String> {
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
        let basis = Basis { fitted: Some(spread), ..self.space.basis.clone() };
        self.choose("refit of the axes", basis, lesson)
    }

    /// `None`: as the lesson has it.
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

    /// Vectors as they are, or seen through the norm that puts all layers on one scale.
    fn set_raw(&mut self, raw: bool, lesson: &Lesson) -> Result<(), String> {
        if self.space.scale.is_none() {
            return Err(
                "the picture uses no norm of this model, so it already shows the vectors as they are".to_owned()
            );
        }
        let label = if raw { "raw vectors on the stage" } else { "vectors after the norm on the stage" };
        // What was fitted was fitted to the others.
        let basis = Basis { raw, fitted: None, chosen: self.space.basis.chosen.clone() };
        self.choose(label, basis, lesson)
    }

    fn choose(&mut self, label: &str, basis: Basis, lesson: &Lesson) -> Result<(), String> {
        if basis == self.space.basis {
            return Ok(());
        }
        let projection = basis.projection(lesson, self)?;
        let before = self.pass.rebase(&mut self.space, (basis, projection));
        self.remember(label, false, UndoPart::Basis(Box::new(before)));
        Ok(())
    }

    /// The axes that were chosen in another space, from word to word. A way that is none here is left out, with
    /// words for the learner.
    pub(in crate::kernel) fn keep_axes(&mut self, of: &Basis, lesson: &Lesson) -> Vec<String> {
        let mut basis = Basis { fitted: None, ..of.clone() };
        let mut left_out = Vec::new();
        let width = self.space.vectors.cols();
        for (axis, slot) in Axis::ALL.into_iter().zip(&mut basis.chosen) {
            let Some(chosen) = slot else { continue };
            // An axis that a narrower space does not have could be neither seen nor reset.
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

impl LessonModel {
    pub(super) fn apply_to_training(&mut self, command: TrainingCommand, last: Option<Drag>) -> Result<(), String> {
        match command {
            TrainingCommand::Play if self.training.plays_to_the_end() => Ok(()),
            TrainingCommand::Play => {
                let goal = self.training.trainer().steps();
                self.change_model("training", false, |training, _| training.play_to(goal))
            }
            TrainingCommand::Step(0) => Err("training must go forward by at least one step".to_owned()),
            TrainingCommand::Step(steps) => {
                let goal = self.training.steps_done().saturating_add(steps).min(self.training.trainer().steps());
                self.change_model(&format!("training by {steps}"), false, |training, _| training.play_to(goal))
            }
            TrainingCommand::TrainTo(step) => self.train_to(step),
            TrainingCommand::Pause => {
                self.has_changed |= self.training.is_playing();
                self.training.pause();
                Ok(())
            }
            TrainingCommand::Reset if self.training.is_at_start() => Ok(()),
            TrainingCommand::Reset => self.change_model("reset of the training", false, |training, _| {
                training.reset();
                Ok(())
            }),
            TrainingCommand::Scrub(step) => self.scrub(step, last),
            TrainingCommand::ShowLatest => self.scrub(self.training.steps_done(), last),
            TrainingCommand::Branch => {
                let label = format!("branch from step {}", self.training.model().shown().steps_done());
                self.change_model(&label, false, |training, _| training.branch())
            }
            TrainingCommand::SetLearningRate(rate) => {
                if rate != self.training.learning_rate() {
                    let label = format!("learning rate {rate}");
                    let goes_on = last == Some(Drag::LearningRate);
                    self.change_model(&label, goes_on, |training, _| training.set_learning_rate(rate))?;
                }
                self.last_drag = Some(Drag::LearningRate);
                Ok(())
            }
            TrainingCommand::Compare(with) => {
                let before = self.training.comparison().cloned();
                if before.as_ref().map(Comparison::reference) != with {
                    self.training.compare(with, &mut self.cache.steps)?;
                    self.remember("choice of a comparison", false, UndoPart::Comparison(before));
                }
                Ok(())
            }
        }
    }

    /// Shows the words where the model reads them: where it trains their table, they move with each step and each change
    /// of it, along axes that stay.
    pub(in crate::kernel) fn follow_table(&mut self) {
        if self.given.is_none() || (self.pretrained.is_some() && self.training.is_playing()) {
            // The table of a model that was read from files is too large to be shown at each step.
            return;
        }
        let live = self.training.live();
        if self.followed.as_ref().is_some_and(|followed| Arc::ptr_eq(followed, live)) {
            return;
        }
        self.followed = Some(live.clone());
        let table = live.values_of(TensorName::Embedding);
        let vectors = &self.space.vectors;
        if table != vectors.widened().flat() {
            let table = Matrix::from_row_major(vectors.rows(), vectors.cols(), table.to_vec());
            Arc::make_mut(&mut self.space).set_table(table.into());
            self.pass.set_space(&self.space);
        }
    }

    /// `None`: to the last.
    fn train_to(&mut self, step: Option<usize>) -> Result<(), String> {
        let last = self.training.trainer().steps();
        let step = step.map_or(last, |step| step.min(last));
        if self.training.stands_at(step) {
            return Ok(());
        }
        self.change_model(&format!("training to step {step}"), false, |training, _| training.train_to(step))
    }

    fn scrub(&mut self, step: usize, last: Option<Drag>) -> Result<(), String> {
        if step != self.training.step_in_sight() {
            // Weights edited at a past step are left behind with it, and undo brings them back.
            let model = self.training.model();
            let leaves_edits = model.replay().is_some() && model.is_edited();
            let goes_on = last == Some(Drag::Look) && !leaves_edits;
            self.change_model("look at another step", goes_on, |training, cache| training.scrub(step, cache))?;
        }
        self.last_drag = Some(Drag::Look);
        Ok(())
    }
}
