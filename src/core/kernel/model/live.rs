//! The model for code cells: the tensors that they read, and how tensors that they write change the model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attune_engine::code::budget::RUN_PRODUCTS_MAX;
use attune_engine::code::{
    Axis, Charge, CodePass, FORWARD, Fault, Forward, Labels, NEIGHBOURS, OnlyChanges, PassChanges, PassTensors,
    RunnableModel, Shape, Tensor, VECTORS, Variable, WRITE,
};
use attune_engine::messages::nearest;
use attune_engine::numerics::attention::{HeadMode, Mask, SecondHead};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::cost::forward_multiplications;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{Activations, AttentionModel};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::table::{Table, TableRef};
use attune_engine::numerics::vectors::{cosine, highest};
use attune_engine::quantity::Quantity;
use attune_engine::vectors::expression::Expression;
use attune_engine::vectors::{Vectors, unknown};

use crate::kernel::model::LessonModel;
use crate::kernel::model::beside::Opened;
use crate::kernel::notebook::execution::{LiveModel, Versions};
use crate::kernel::notebook::live::{Follows, Live, LiveName, live_names};
use crate::kernel::notebook::live_text::Spoken;
use crate::kernel::sentence_pass::interventions::{
    EDGES_MAX, are_none, check_exchange, check_gain, check_mask, check_temperature, for_any_sentence, none, shape_of,
    with_first_sight,
};
use crate::kernel::sentence_pass::passes::Passes;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use crate::kernel::targets::{Targets, words_max};
use crate::kernel::training::stop::Stopped;
use crate::kernel::values::sentence::{Answers, answers, cannot_generate_words, check_generates, token_labels};
use crate::kernel::values::space::StaticSpace;
use crate::lesson::Lesson;
use crate::lesson::vector_files::open_for_code;

/// Counter of the changes of the tensors that code reads.
#[derive(Default)]
pub struct Watch {
    versions: Versions,
    seen: Option<Seen>,
}

/// The state at the last check. It holds references, so that no new value can have the address of an old one.
struct Seen {
    vectors: Arc<Table<f32>>,
    parameters: Arc<Parameters<f32>>,
    interventions: Arc<Interventions<f32>>,
    sentence: Sentence,
    made_of: Arc<Lesson>,
}

impl Watch {
    /// Returns whether the sentence or the model's lesson has changed since the last check, so that tensors may have
    /// other shapes.
    pub fn is_other_sentence(&self, model: &LessonModel) -> bool {
        let is_same =
            |seen: &Seen| seen.sentence == *model.pass.sentence() && Arc::ptr_eq(&seen.made_of, &model.origin.lesson);
        !self.seen.as_ref().is_some_and(is_same)
    }

    /// Checks for changes, and returns the present versions.
    pub fn look(&mut self, model: &LessonModel) -> Versions {
        let parameters = model.training.live();
        let interventions = model.pass.interventions();
        let sentence = model.pass.sentence();
        let vectors = &model.space.vectors;
        let (is_same_space, is_same_model, is_same_pass) = self.seen.as_ref().map_or((false, false, false), |seen| {
            let is_same_space = Arc::ptr_eq(&seen.vectors, vectors);
            let is_same_model = is_same_space && Arc::ptr_eq(&seen.parameters, parameters);
            let is_same_rest = Arc::ptr_eq(&seen.interventions, interventions) && seen.sentence == *sentence;
            (is_same_space, is_same_model, is_same_model && is_same_rest)
        });
        self.versions.space += u64::from(!is_same_space);
        self.versions.parameters += u64::from(!is_same_model);
        self.versions.forward += u64::from(!is_same_pass);
        if !is_same_pass {
            self.seen = Some(Seen {
                vectors: vectors.clone(),
                parameters: parameters.clone(),
                interventions: interventions.clone(),
                sentence: sentence.clone(),
                made_of: model.origin.lesson.clone(),
            });
        }
        self.versions
    }
}

/// A model that one cell reads and writes.
pub struct Watched<'a> {
    pub model: &'a mut LessonModel,
    pub watch: &'a mut Watch,
    pub names: Arc<[LiveName]>,
}

impl LessonModel {
    /// Returns the names of the model's tensors.
    pub fn live_names(&self) -> Arc<[LiveName]> {
        live_names(&self.live()).into()
    }
}

impl LiveModel for Watched<'_> {
    fn live(&self) -> Live {
        self.model.live()
    }

    fn write(&mut self, written: &[Variable], live: &Live, label: &str) -> Result<(), String> {
        let (parameters, interventions) = with_written(written, live, &self.names)?;
        let now = self.model.training.live();
        // Writing a tensor with its old values is not a change.
        let parameters = parameters.filter(|parameters| !now.changed_to(parameters).is_empty());
        self.model.as_one(label, |model| {
            if let Some(parameters) = parameters {
                model.edit(label, |now| *now = parameters)?;
            }
            model.intervene(label, |now| *now = interventions);
            Ok(())
        })
    }

    fn versions(&mut self) -> Versions {
        self.watch.look(self.model)
    }
}

impl LessonModel {
    /// Returns whether this sentence is on the stage.
    pub(crate) fn shows(&self, spoken: &Spoken) -> bool {
        let Sentence { index, text, .. } = self.pass.sentence();
        match spoken {
            Spoken::Lesson(sentence) => *index == Some(*sentence),
            Spoken::Text(spoken) => text.as_ref().is_some_and(|shown| *shown.text == **spoken),
        }
    }

    /// Returns whether a sentence of the lesson is on the stage.
    pub(crate) fn shows_lesson(&self) -> bool {
        self.pass.sentence().index.is_some()
    }

    /// Returns the tensors of the sentence on the stage.
    pub(crate) fn live(&self) -> Live {
        live(self, self.training.live(), self.pass.interventions())
    }

    /// Returns the tensors of the sentence that a text is about, or `None` if the model cannot read it.
    pub(crate) fn live_of(&self, spoken: &Spoken) -> Option<Live> {
        let lesson = &self.origin.lesson;
        let sentence = match spoken {
            Spoken::Lesson(sentence) => Sentence::of_lesson(lesson, &self.space.vocabulary, *sentence).ok()?,
            Spoken::Text(text) => Sentence::read(text, lesson, &self.space.vocabulary).ok()?,
        };
        let (frame, interventions) = self.pass.beside(sentence);
        Some(of_frame(self, &Passes::default(), &frame, self.training.live(), &Arc::new(interventions)))
    }

    /// Returns the tensors of the sentence that a question is about, or those of the sentence on the stage if the model
    /// cannot read it.
    pub(crate) fn live_with(&self, spoken: &Spoken) -> Live {
        self.live_of(spoken).unwrap_or_else(|| self.live())
    }

    /// Returns whether the model certainly computes the same as `untouched`: it has the same recipe, shares its
    /// parameters and has no interventions.
    pub(crate) fn is_same_as(&self, untouched: &Self) -> bool {
        let is_same_recipe = self.origin.recipe == untouched.origin.recipe;
        is_same_recipe
            && Arc::ptr_eq(self.training.live(), untouched.training.live())
            && are_none(self.pass.interventions())
    }

    /// Returns whether the model is the lesson's own: trained with the lesson's settings to the last step or a stop
    /// rule, and without any change.
    pub(crate) fn is_as_given(&self) -> bool {
        let (training, model) = (&self.training, self.training.model());
        let is_at_its_end = matches!(training.stopped(), Some(Stopped::LastStep | Stopped::Rule(_)));
        let is_trained = is_at_its_end && model.replay().is_none() && model.run.changes().iter().next().is_none();
        is_trained && self.origin.recipe.is_default() && !model.is_edited() && are_none(self.pass.interventions())
    }

    /// Returns the index of a block's first head, counted over all blocks.
    pub(crate) fn first_head(&self, block: usize) -> usize {
        self.training.network().architecture.heads_of(block).start
    }
}

/// A model on which answers are tried: writing to it changes nothing else.
pub struct Trial<'a> {
    model: &'a LessonModel,
    names: Arc<[LiveName]>,
    parameters: Arc<Parameters<f32>>,
    interventions: Arc<Interventions<f32>>,
}

impl<'a> Trial<'a> {
    pub fn of(model: &'a LessonModel, names: Arc<[LiveName]>) -> Self {
        let parameters = model.training.live().clone();
        Self { names, parameters, interventions: model.pass.interventions().clone(), model }
    }
}

impl LiveModel for Trial<'_> {
    fn live(&self) -> Live {
        live(self.model, &self.parameters, &self.interventions)
    }

    fn write(&mut self, written: &[Variable], live: &Live, _label: &str) -> Result<(), String> {
        let (parameters, interventions) = with_written(written, live, &self.names)?;
        self.parameters = parameters.map_or(self.parameters.clone(), Arc::new);
        self.interventions = Arc::new(interventions);
        Ok(())
    }

    fn versions(&mut self) -> Versions {
        Versions::default()
    }
}

fn live(model: &LessonModel, parameters: &Arc<Parameters<f32>>, interventions: &Arc<Interventions<f32>>) -> Live {
    of_frame(model, &model.cache.passes.stage, model.pass.frame(), parameters, interventions)
}

fn of_frame(
    model: &LessonModel,
    passes: &Passes,
    frame: &Arc<SentenceFrame>,
    parameters: &Arc<Parameters<f32>>,
    interventions: &Arc<Interventions<f32>>,
) -> Live {
    let runner = Runner::of(model, parameters, interventions);
    let pass = passes.forward(frame, &runner.network, (parameters, interventions));
    let answers = pass.answers(&runner.network).clone();
    let live = runner.live(frame, interventions.clone(), pass.activations.clone(), answers);
    Live { model: Some(RunnableModel(Arc::new(runner))), ..live }
}

/// Returns the parameters, if a cell wrote to them, and the interventions after a cell has run.
///
/// # Errors
/// A message for the learner if something written has another size or is not finite.
fn with_written(
    written: &[Variable],
    live: &Live,
    names: &[LiveName],
) -> Result<(Option<Parameters<f32>>, Interventions<f32>), String> {
    let mut parameters: Option<Parameters<f32>> = None;
    let mut interventions = Interventions::clone(&live.interventions);
    for variable in written {
        let name = &variable.name;
        let Some(known) = names.iter().find(|known| known.name == *name) else { continue };
        match (known.tensor.quantity, known.tensor.parameter()) {
            (_, Some(id)) => {
                let parameters = parameters.get_or_insert_with(|| Parameters::clone(&live.parameters));
                let entries = entries(variable, known)?;
                let narrow = |x: &f64| Some(*x as f32).filter(|x| x.is_finite());
                let values: Option<Vec<f32>> = entries.iter().map(narrow).collect();
                let values =
                    values.ok_or_else(|| format!("`{name}` would have an entry that is not a finite number"))?;
                parameters.set_row_major(id, &values);
            }
            (Quantity::Temperature, _) => {
                let temperature = variable.as_number().ok_or("`temperature` must stay a number")?;
                check_temperature(temperature)?;
                interventions.temperature = Some(temperature);
            }
            (Quantity::Visible, _) => {
                entries(variable, known)?;
                interventions.mask = variable.as_tensor().and_then(|visible| mask_of(live, &visible));
            }
            _ => {}
        }
    }
    Ok((parameters, interventions))
}

/// Returns the mask that a written `visible` results in, or `None` if it is the lesson's.
fn mask_of(live: &Live, visible: &Tensor) -> Option<Mask> {
    let count = live.tokens.len();
    let sees = |query: usize, key: usize| visible.entries()[query * count + key] != 0.0;
    with_first_sight(&live.architecture, &live.interventions, count, sees)
}

/// Returns the entries of a tensor that a cell wrote, if it has its old shape.
fn entries(variable: &Variable, known: &LiveName) -> Result<Vec<f64>, String> {
    let name = &variable.name;
    let tensor = variable.as_tensor().ok_or_else(|| format!("`{name}` must stay a tensor"))?;
    let lens = |axes: &[Axis]| axes.iter().map(|axis| axis.len).collect::<Vec<_>>();
    if lens(tensor.axes()) != lens(&known.axes) {
        return Err(format!("`{name}` must keep its shape {}; it would have {}", Shape(&known.axes), tensor.shape()));
    }
    Ok(tensor.entries().to_vec())
}

/// The inputs of a forward pass other than the sentence, with the latest passes.
pub struct Runner {
    lesson: Arc<Lesson>,
    space: Arc<StaticSpace>,
    classes: Labels,
    targets: Option<Arc<Targets>>,
    network: AttentionModel<f32>,
    parameters: Arc<Parameters<f32>>,
    interventions: Arc<Interventions<f32>>,
    /// The latest passes, the newest first, because a text with many numbers reads the same few again and again.
    passes: Mutex<VecDeque<(PassChanges, CodePass)>>,
    /// The latest unchanged passes, from which passes with the changes of code continue.
    unchanged: Mutex<VecDeque<(String, Arc<Unchanged>)>>,
}

/// Models that cells have opened from folders beside lessons. They are kept, because cells run again after each change.
static BESIDE: Opened<Runner> = Opened::empty();

/// Number of unchanged passes that a runner keeps: those of a sentence and a second one.
const UNCHANGED_KEPT: usize = 2;
/// Number of passes that a runner keeps.
const PASSES_KEPT: usize = 4;
/// Greatest number of multiplications of a pass that is kept, such that one run could compute all kept passes together.
/// A longer pass has large tensors and is not kept.
pub const KEPT_PRODUCTS_MAX: u64 = RUN_PRODUCTS_MAX / PASSES_KEPT as u64;

impl Runner {
    pub fn of(model: &LessonModel, parameters: &Arc<Parameters<f32>>, interventions: &Arc<Interventions<f32>>) -> Self {
        Self {
            lesson: model.origin.lesson.clone(),
            space: model.space.clone(),
            classes: model.classes.clone(),
            targets: model.pass.targets().cloned(),
            network: model.training.network().clone(),
            parameters: parameters.clone(),
            interventions: interventions.clone(),
            passes: Mutex::default(),
            unchanged: Mutex::default(),
        }
    }

    /// Returns the tensors of a pass, without the model.
    fn live(
        &self,
        frame: &SentenceFrame,
        interventions: Arc<Interventions<f32>>,
        activations: Activations<f32>,
        answers: Arc<Answers>,
    ) -> Live {
        Live {
            space: self.space.clone(),
            architecture: self.network.architecture.clone(),
            parameters: self.parameters.clone(),
            interventions,
            activations,
            answers,
            classes: self.classes.clone(),
            tokens: token_labels(frame.tokens()).into(),
            source: frame.source_tokens().map(|tokens| token_labels(tokens).into()),
            recorded: frame.recorded().cloned(),
            model: None,
        }
    }

    fn passes(&self) -> MutexGuard<'_, VecDeque<(PassChanges, CodePass)>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the learner's interventions that apply to any sentence, with the heads `off` switched off as well.
    fn without(&self, off: &[usize]) -> Result<Interventions<f32>, Fault> {
        let mut interventions = for_any_sentence(&self.interventions);
        interventions.heads.resize(self.network.architecture.heads(), HeadMode::Live);
        for &head in off {
            self.check_head(head)?;
            interventions.heads[head] = HeadMode::Off;
        }
        Ok(interventions)
    }
}

/// Returns the fault of code that asks for a pass which cannot be computed.
fn refused(why: String) -> Fault {
    Fault::new(format!("{FORWARD}: {why}"))
}

/// A sentence with its forward pass without interventions.
struct Unchanged {
    frame: SentenceFrame,
    activations: Activations<f32>,
    /// Number of multiplications of the pass.
    cost: u64,
}

/// The unchanged pass of a sentence, the tensors of its pass with changes, and these changes.
type ChangedPass = (Arc<Unchanged>, Activations<f32>, Interventions<f32>);

impl Runner {
    /// Prepares a sentence, and returns it with the number of multiplications of its forward pass.
    fn frame(&self, sentence: &str) -> Result<(SentenceFrame, u64), Fault> {
        let read = Sentence::read(sentence, &self.lesson, &self.space.vocabulary);
        let read = read.map_err(refused)?;
        let frame = SentenceFrame::without_points(read, &self.space, self.targets.as_deref());
        let tokens = frame.tokens().len();
        let cost = forward_multiplications(&self.network.architecture, self.classes.len(), tokens, tokens) as u64;
        Ok((frame, cost))
    }

    /// Returns a sentence with its unchanged pass. The pass is kept, because code that computes a map asks for it at
    /// each place of the map.
    fn unchanged(&self, sentence: &str, charge: Charge<'_>) -> Result<Arc<Unchanged>, Fault> {
        let kept = || self.unchanged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept().iter().find(|(of, _)| of == sentence) {
            return Ok(found.clone());
        }
        let (frame, cost) = self.frame(sentence)?;
        charge(cost)?;
        let activations = frame.activations(&self.network, &self.parameters, &none(&self.network.architecture));
        let found = Arc::new(Unchanged { frame, activations, cost });
        if cost <= KEPT_PRODUCTS_MAX {
            let mut kept = kept();
            kept.truncate(UNCHANGED_KEPT - 1);
            kept.push_front((sentence.to_owned(), found.clone()));
        }
        Ok(found)
    }

    /// Charges for the part of a pass that begins with a block; `cost` is the cost of the whole pass.
    fn charge_from(&self, block: usize, cost: u64, charge: Charge<'_>) -> Result<(), Fault> {
        let blocks = self.network.architecture.numbered_blocks().count().max(1) as u64;
        charge(cost / blocks * (blocks - (block as u64).min(blocks)))
    }

    /// Runs a sentence with the changes of the code and no others, beginning with the first block that they change.
    fn with_only(&self, sentence: &str, changes: &OnlyChanges, charge: Charge<'_>) -> Result<ChangedPass, Fault> {
        let own = self.unchanged(sentence, charge)?;
        let interventions = self.only(changes, &own.frame, charge)?;
        let architecture = &self.network.architecture;
        let Interventions { temperature, scale, heads, mask, edges, patch } = &interventions;
        let changed = (0..heads.len()).filter(|head| heads[*head] != HeadMode::Live);
        let of_heads = changed.chain(edges.iter().map(|edge| edge.head)).map(|head| architecture.head(head).0);
        let whole = (temperature.is_some() || scale.is_some() || mask.is_some()).then_some(0);
        let Some(first) = of_heads.chain(whole).chain(patch.iter().map(|patch| patch.block)).min() else {
            return Ok((own.clone(), own.activations.clone(), interventions));
        };
        self.charge_from(first, own.cost, charge)?;
        let (input, source) = (own.frame.input(), own.frame.source());
        let activations = own.activations.again(first, &self.network, &self.parameters, input, source, &interventions);
        Ok((own, activations, interventions))
    }

    /// Checks the changes that code asks for, and returns interventions with these changes only. A patch gets its
    /// vector from the second sentence's pass.
    fn only(
        &self,
        changes: &OnlyChanges,
        frame: &SentenceFrame,
        charge: Charge<'_>,
    ) -> Result<Interventions<f32>, Fault> {
        let mut found = Interventions { heads: none(&self.network.architecture).heads, ..changes.others.clone() };
        for (head, mode) in &changes.heads {
            self.check_head(*head)?;
            self.check_mode(*head, mode, frame).map_err(refused)?;
            found.heads[*head] = match (mode, &changes.second) {
                (HeadMode::Second(None), Some(second)) => {
                    let other = self.unchanged(second, charge)?;
                    check_exchange(&self.network.architecture, *head, [frame, &other.frame]).map_err(refused)?;
                    HeadMode::Second(other.activations.heads().nth(*head).map(|head| Arc::new(SecondHead::of(head))))
                }
                _ => mode.clone(),
            };
        }
        found.temperature.map_or(Ok(()), check_temperature).map_err(refused)?;
        found.mask.as_ref().map_or(Ok(()), |mask| check_mask(mask, frame.tokens().len())).map_err(refused)?;
        found.edges.iter().try_for_each(|edge| self.check_head(edge.head))?;
        if found.edges.len() > EDGES_MAX {
            return Err(refused(format!("at most {EDGES_MAX} edges can be removed")));
        }
        if let (Some(patch), Some(second)) = (&mut found.patch, &changes.second) {
            let (tower, other) = (self.network.architecture.tower_of(patch.block), self.unchanged(second, charge)?);
            let block = other.activations.blocks.get(patch.block);
            let block = block.ok_or_else(|| refused(format!("there is no layer {}", patch.block)))?;
            let counts = [frame.tokens_of(tower).len(), block.input.rows()];
            if patch.position >= counts[0] || patch.from >= counts[1] {
                return Err(refused(format!("the sentences have {} and {} tokens", counts[0], counts[1])));
            }
            patch.vector = Some(block.input.row(patch.from).into());
        }
        Ok(found)
    }

    fn check_head(&self, head: usize) -> Result<(), Fault> {
        let heads = self.network.architecture.heads();
        if head < heads {
            return Ok(());
        }
        let fault = Fault::new(format!("{FORWARD}: there is no head {head}"));
        Err(fault.hint(format!("use numbers from 0 to {}", heads.saturating_sub(1))))
    }

    /// Checks that a gain is in its range and frozen weights fit the sentence.
    fn check_mode(&self, head: usize, mode: &HeadMode<f32>, frame: &SentenceFrame) -> Result<(), String> {
        let size = shape_of(&self.network.architecture, head, frame);
        match mode {
            HeadMode::Gain(gain) => check_gain(*gain),
            HeadMode::Frozen(Some(weights)) if (weights.rows(), weights.cols()) != size => Err(format!(
                "frozen weights of {} by {} do not fit head {head}, which has {} by {}",
                weights.rows(),
                weights.cols(),
                size.0,
                size.1
            )),
            _ => Ok(()),
        }
    }
}

impl Forward for Runner {
    fn pass(&self, sentence: &str, changes: &PassChanges, charge: Charge<'_>) -> Result<CodePass, Fault> {
        let is_it = |(others, pass): &&(PassChanges, CodePass)| others == changes && *pass.sentence == *sentence;
        if let Some((_, pass)) = self.passes().iter().find(is_it) {
            return Ok(pass.clone());
        }
        let (network, parameters) = (&self.network, &self.parameters);
        let live = |frame: &SentenceFrame, activations: Activations<f32>, interventions: Interventions<f32>| {
            let answers = Arc::new(answers(network, parameters, &activations.output));
            self.live(frame, Arc::new(interventions), activations, answers)
        };
        let (live, cost) = match changes {
            PassChanges::Without(off) => {
                let (frame, cost) = self.frame(sentence)?;
                charge(cost)?;
                let interventions = self.without(off)?;
                let activations = frame.activations(network, parameters, &interventions);
                (live(&frame, activations, interventions), cost)
            }
            PassChanges::Only(only) => {
                let (own, activations, interventions) = self.with_only(sentence, only, charge)?;
                (live(&own.frame, activations, interventions), own.cost)
            }
        };
        let names = live_names(&live);
        let pass = CodePass { sentence: sentence.into(), tensors: Arc::new(ReadPass { names, live }) };
        if cost <= KEPT_PRODUCTS_MAX {
            let mut passes = self.passes();
            passes.truncate(PASSES_KEPT - 1);
            passes.push_front((changes.clone(), pass.clone()));
        }
        Ok(pass)
    }

    fn vectors(&self, words: &[String]) -> Result<Tensor, Fault> {
        let row = |word: &String| {
            let row = self.row_of(word);
            row.ok_or_else(|| Fault::new(format!("{VECTORS}: {}", self.unknown(word))))
        };
        let rows: Vec<usize> = words.iter().map(row).collect::<Result<_, _>>()?;
        let found = self.table().gathered(rows.into_iter());
        let axes = vec![Axis::labelled(words.into()), Axis::plain(found.cols())];
        Ok(Tensor::new(axes, found.flat().iter().map(|&x| f64::from(x)).collect()))
    }

    fn write(&self, sentence: &str, beams: usize, charge: Charge<'_>) -> Result<String, Fault> {
        let refused = |why: String| Fault::new(format!("{WRITE}: {why}"));
        check_generates(&self.lesson.model.objective).map_err(refused)?;
        let read = Sentence::read(sentence, &self.lesson, &self.space.vocabulary).map_err(refused)?;
        let (prompt, source) = read.begun(self.targets.is_some());
        let most = words_max(&self.network, source.map_or(0, <[usize]>::len));
        let tokens = source.map_or(0, <[usize]>::len).max(prompt.len() + most);
        let cost = forward_multiplications(&self.network.architecture, self.classes.len(), tokens, tokens) as u64;
        charge(cost.saturating_mul(beams as u64))?;
        let choice = if beams == 1 { NextWordChoice::Greedy } else { NextWordChoice::Beams(beams) };
        // Neither choice draws anything.
        let rng = &mut stream(0, Stream::Generation);
        let words = self.network.generate(&self.parameters, &prompt, source, most, choice, rng);
        let words = words.map_err(|why| refused(cannot_generate_words(why)))?;
        Ok(match self.lesson.static_embedding.pretrained() {
            Some(folder) => folder.decoded(&words.iter().map(|id| *id as u32).collect::<Vec<_>>()),
            None => words.iter().map(|word| &*self.space.vocabulary[*word]).collect::<Vec<_>>().join(" "),
        })
    }

    fn beside(&self, name: &str) -> Result<Arc<dyn Forward>, Fault> {
        let make = |model: &LessonModel, parameters: &_| Self::of(model, parameters, &Arc::default());
        let runner = BESIDE.open(self.lesson.folder.as_deref(), name, make);
        Ok(runner.map_err(|why| Fault::new(format!("the model {name:?}: {why}")))?)
    }

    fn file(&self, name: &str) -> Result<Arc<Vectors>, Fault> {
        open_for_code(self.lesson.folder.as_deref(), name).map_err(|why| {
            let fault = Fault::new(format!("{name:?}: {why}"));
            let is_word = self.row_of(name).is_some();
            if is_word { fault.hint(format!("for the word, write vectors([{name:?}])")) } else { fault }
        })
    }

    fn neighbours(&self, expression: &str, count: usize, charge: Charge<'_>) -> Result<Vec<(String, f64)>, Fault> {
        let (table, fault) = (self.table(), |why| Fault::new(format!("{NEIGHBOURS}: {why}")));
        let expression = Expression::read(expression, |word| self.row_of(word), |word| self.unknown(word));
        let expression = expression.map_err(fault)?;
        charge((table.rows() * table.cols()) as u64)?;
        let (to, own) = (expression.summed(table, true), expression.rows());
        let mut cosines: Vec<f32> = (0..table.rows()).map(|row| cosine(&table.row(row), &to)).collect();
        own.iter().for_each(|&row| cosines[row] = f32::NEG_INFINITY);
        let found = highest(&cosines, count.min(table.rows() - own.len().min(table.rows())));
        let word = |row: usize| {
            self.file().map_or_else(|| self.space.vocabulary[row].clone(), |file| file.words[row].to_string())
        };
        Ok(found.into_iter().map(|row| (word(row), f64::from(cosines[row]))).collect())
    }
}

impl Runner {
    /// Returns the file of word vectors from which the lesson takes words, if there is one.
    fn file(&self) -> Option<&Vectors> {
        self.lesson.static_embedding.file().map(|file| &**file)
    }

    /// Returns the row of a word in the file if there is one, and otherwise in the lesson's table. Returns `None` for
    /// an unknown word.
    fn row_of(&self, word: &str) -> Option<usize> {
        self.file().map_or_else(|| self.space.row_of(word), |file| file.row_of(word))
    }

    /// Returns the table in which words are looked up.
    fn table(&self) -> TableRef<'_, f32> {
        self.file().map_or_else(|| self.space.vectors.view(), |file| TableRef::from(&file.rows))
    }

    fn unknown(&self, word: &str) -> String {
        match self.file() {
            Some(file) => unknown(word, file),
            None => self.space.unknown(word),
        }
    }
}

/// A pass whose tensors are copied only when they are read.
struct ReadPass {
    live: Live,
    names: Vec<LiveName>,
}

impl PassTensors for ReadPass {
    fn tensor(&self, name: &str) -> Result<Tensor, Fault> {
        let of_pass =
            || self.names.iter().filter(|known| known.tensor.follows() == Follows::Forward && !known.axes.is_empty());
        if let Some(known) = of_pass().find(|known| known.name == name) {
            return Ok(self.live.tensor(known.tensor));
        }
        let fault = Fault::new(format!("a forward pass has no `{name}`"));
        if self.names.iter().any(|known| known.name == name) {
            return Err(fault.hint(format!("it is the same for all sentences, so write just `{name}`")));
        }
        Err(match nearest(name, of_pass().map(|known| known.name.as_str())) {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault.hint("it has the tensors of a sentence, such as A, Y and Z"),
        })
    }
}
