//! Evidence on a lesson's model or a pretrained one. The mathematics is in [`attune_engine::numerics::evidence`]; this
//! folder reads the sentences and words of a question, and runs the computation.
//!
//! | file | job |
//! |---|---|
//! | [`job`] | a question that is answered on a thread of its own |
//! | [`live`] | the map of the sentence on the stage, which fills while it is computed |
//! | [`map`] | patch maps, ablation maps, path patching |
//! | [`score`] | one score as a sum of pairs |
//! | [`words`] | ten measures of which word mattered |
//! | [`texts`] | all heads over a file of texts |
//! | [`over_texts`] | measures over texts in the window, which are kept with the work |
//! | [`tables`] | what a head compares and writes, and which heads compose |

pub mod job;
pub mod live;
pub mod map;
pub mod over_texts;
pub mod score;
pub mod tables;
pub mod texts;
pub mod words;

use std::sync::Arc;

use attune_engine::numerics::evidence::Question;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::vectors::highest;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::tokenizer::{ModelPiece, Origin};
use serde::{Deserialize, Serialize};

use crate::kernel::sentence_pass::axes::Layers;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use crate::kernel::targets::Targets;
use crate::kernel::values::sentence::Token;
use crate::kernel::values::space::StaticSpace;
use crate::lesson::issue::{printable, shorten};
use crate::lesson::schema::{Lesson, Objective};

/// Function that is told the number of steps done and the number of all steps, and returns whether the work goes on.
pub type Progressed<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Message for an answer and a foil that are the same.
const ITSELF: &str = "the answer is compared with itself: choose another foil";

/// The end of work that a [`Progressed`] stopped before it was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

impl From<Ended> for String {
    fn from(_: Ended) -> Self {
        "stopped before it was complete".to_owned()
    }
}

/// The answer that a question is about, as a person names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AskedAnswer {
    /// The answer, and its foil, which is the word that it is compared with. `None` stands for a word of the model's
    /// choice.
    pub answer: Option<String>,
    pub against: Option<String>,
    /// Position of the token at which the model answers, or `None` for the model's own choice.
    #[serde(skip)]
    pub at: Option<usize>,
}

/// A trained model to which questions are put.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    pub(crate) lesson: &'a Lesson,
    pub(crate) model: &'a AttentionModel<f32>,
    pub(crate) parameters: &'a Arc<Parameters<f32>>,
    pub(crate) space: &'a StaticSpace,
    /// Names of the classes.
    pub(crate) classes: &'a Arc<[String]>,
    /// Maker of the targets, for a model that reads a source.
    pub(crate) targets: Option<&'a Targets>,
}

/// A sentence with the activations of its forward pass.
struct Ran {
    tokens: Vec<Token>,
    /// The tokens of the source, if the model reads one.
    source: Option<Vec<Token>>,
    input: Sequences,
    activations: Activations<f32>,
}

impl Ran {
    fn texts(&self) -> Vec<String> {
        self.tokens.iter().map(|token| token.text.clone()).collect()
    }
}

impl<'a> Evidence<'a> {
    fn folder(&self) -> Option<&'a Arc<ModelFolder>> {
        self.lesson.static_embedding.pretrained()
    }

    /// Runs the model on a sentence. Returns an error if the sentence cannot be read or a number is not finite.
    fn run(&self, text: &str) -> Result<Ran, String> {
        let sentence = Sentence::read(text, self.lesson, &self.space.vocabulary)?;
        let ran = self.run_sentence(sentence);
        match ran.activations.output.flat().iter().all(|x| x.is_finite()) {
            true => Ok(ran),
            false => Err(format!("the model's numbers for {:?} are not finite", shorten(text))),
        }
    }

    fn run_sentence(&self, sentence: Sentence) -> Ran {
        self.run_frame(&SentenceFrame::without_points(sentence, self.space, self.targets))
    }

    fn run_frame(&self, frame: &SentenceFrame) -> Ran {
        let activations = frame.activations(self.model, self.parameters, &Interventions::default());
        Ran {
            tokens: frame.tokens().to_vec(),
            source: frame.source_tokens().map(<[Token]>::to_vec),
            input: frame.input().clone(),
            activations,
        }
    }

    /// Checks that the model reads one sentence, and otherwise says what to use instead.
    fn check_no_source(&self, instead: &str) -> Result<(), String> {
        match self.model.architecture.has_source() {
            true => Err(format!("this model reads a source sentence; {instead}")),
            false => Ok(()),
        }
    }

    /// Returns the position at which the model answers. An error begins with the option that is wrong.
    fn asked_place(&self, tokens: &[Token], asked: &AskedAnswer) -> Result<usize, String> {
        let option = if asked.at.is_some() { "--at" } else { "--sentence" };
        self.place(tokens, asked.at).map_err(|why| format!("{option}: {why}"))
    }

    /// Returns the position at which the model answers. Without a given one, this is the last hidden word if the model
    /// predicts hidden words, and otherwise the last token. Returns an error if there is no such token.
    fn place(&self, tokens: &[Token], at: Option<usize>) -> Result<usize, String> {
        let count = tokens.len();
        if let Some(at) = at {
            let there = (at < count).then_some(at);
            return there
                .ok_or_else(|| format!("there is no token {}; the sentence has {count}", at.saturating_add(1)));
        }
        if !matches!(self.lesson.model.objective, Objective::MaskedWord { .. }) {
            return Ok(count - 1);
        }
        let hidden = self.folder().and_then(|folder| folder.hidden());
        let is_hidden = |token: &Token| token.word.is_some() && token.word == hidden.map(|(_, id)| id as usize);
        tokens.iter().rposition(is_hidden).ok_or_else(|| {
            let written = hidden.map_or(String::new(), |(piece, _)| format!("write {piece} for the hidden word, or "));
            format!("the sentence has no hidden word; {written}name the token at which the model answers, with --at")
        })
    }

    /// Returns the likeliest classes at a place, best first.
    fn likeliest(&self, ran: &Ran, place: usize, count: usize) -> Vec<usize> {
        highest(&self.model.logits_at(self.parameters, &ran.activations.output, place), count)
    }

    /// Returns the class of an answer that a person names. Errors begin with `option`, the option that gave the name.
    fn class(&self, option: &str, name: &str) -> Result<usize, String> {
        let named = || (0..self.classes.len()).filter(|class| self.classes[*class] == name);
        let tokenizer = self.folder().and_then(|folder| folder.tokenizer.as_ref().ok());
        let begins_word = |class: &usize| tokenizer.is_some_and(|of| of.shown(*class as u32).starts_with(' '));
        let in_spelling = || tokenizer?.id_of(name).map(|id| id as usize).filter(|class| *class < self.classes.len());
        let found = named().find(begins_word).or_else(|| named().next()).or_else(in_spelling);
        found.map_or_else(|| self.of_one_piece(option, name), Ok)
    }

    /// Returns the class of a text that the tokenizer reads as one piece, such as a word after a space.
    fn of_one_piece(&self, option: &str, name: &str) -> Result<usize, String> {
        let Some(folder) = self.folder() else {
            let unknown = match self.model.classes.candidates() {
                Some(_) => self.space.unknown(name),
                None => format!("{:?} is not among the answers {}", shorten(name), self.classes.join(", ")),
            };
            return Err(format!("{option}: {unknown}"));
        };
        let pieces = folder.pieces(name).map_err(|why| format!("{option}: {why}"))?;
        let own: Vec<&ModelPiece> = pieces.iter().filter(|piece| piece.origin != Origin::Added).collect();
        match own[..] {
            [one] => Ok(one.id as usize),
            [] => Err(format!("{option}: {:?} has no pieces", shorten(name))),
            _ => {
                let names: Vec<String> = own.iter().map(|piece| format!("{:?}", folder.shown(piece.id))).collect();
                let (name, names) = (shorten(name), names.join(", "));
                Err(format!(
                    "{option}: {name:?} is not one piece of this model, which reads it as {names}; name one piece"
                ))
            }
        }
    }

    /// Returns a class as a person reads it.
    fn named(&self, class: usize) -> String {
        self.classes[class].clone()
    }

    /// Returns a word of the vocabulary as a person reads it.
    pub fn word(&self, word: Option<usize>) -> String {
        crate::kernel::sentence_pass::sentence::token(word, self.space).text
    }

    /// Completes a question: `answer` and `against` are used where no answer and no other word is named. Returns the
    /// error `same` if the two are equal.
    fn question(
        &self,
        asked: &AskedAnswer,
        place: usize,
        [answer, against]: [usize; 2],
        same: &str,
    ) -> Result<Question, String> {
        let class = |option: &str, name: &Option<String>, usual: usize| {
            name.as_deref().map_or(Ok(usual), |name| self.class(option, name))
        };
        let question = Question {
            place,
            answer: class("--answer", &asked.answer, answer)?,
            against: class("--against", &asked.against, against)?,
        };
        if question.answer == question.against {
            return Err(same.to_owned());
        }
        Ok(question)
    }

    /// Returns the answer and the other word to use where none is named: the two likeliest classes, such that the two
    /// differ.
    fn beside_named(&self, asked: &AskedAnswer, [first, second]: [usize; 2]) -> Result<[usize; 2], String> {
        let named = |option, name: &Option<String>| name.as_deref().map(|name| self.class(option, name)).transpose();
        let answer = named("--answer", &asked.answer)?.unwrap_or(first);
        let against = named("--against", &asked.against)?;
        match against {
            None if answer == second => Ok([answer, first]),
            Some(against) if asked.answer.is_none() && against == first => Ok([second, against]),
            _ => Ok([answer, second]),
        }
    }

    /// Returns the classes that a person names, as answer and as foil.
    ///
    /// # Errors
    /// A message for the learner if the model has no such answer, or both are the same.
    pub(crate) fn named_pair(&self, asked: &AskedAnswer) -> Result<[Option<usize>; 2], String> {
        let class = |what: &str, name: &Option<String>| name.as_deref().map(|name| self.class(what, name)).transpose();
        let pair = [class("answer", &asked.answer)?, class("foil", &asked.against)?];
        match pair {
            [Some(answer), Some(foil)] if answer == foil => Err(ITSELF.to_owned()),
            pair => Ok(pair),
        }
    }

    /// Returns the answer and the foil of the sentence on the stage. If a person names none, the first of the following
    /// that fits is used. The answer is the likeliest one of the second sentence, or else of the sentence. The foil is
    /// the likeliest answer of the sentence, the other word that the picture's first axis joins with the answer, or
    /// another likely answer.
    fn shown_pair(
        &self,
        named: [Option<usize>; 2],
        place: usize,
        (frame, ran): (&SentenceFrame, &Ran),
        second: Option<&Ran>,
    ) -> Result<[usize; 2], String> {
        let of_sentence = self.likeliest(ran, place, 2);
        let first = second.map(|second| self.likeliest(second, place, 1)[0]);
        let answers: Vec<usize> = named[0].into_iter().chain(first).chain(of_sentence.iter().copied()).collect();
        let answer = answers.into_iter().find(|class| Some(*class) != named[1]).ok_or(ITSELF)?;
        let layers = Layers { model: self.model, parameters: self.parameters, scale: None };
        let candidates = layers.hidden_pair(self.lesson, frame, &ran.activations);
        let candidates = candidates.filter(|pair| pair.contains(&answer)).into_iter().flatten();
        let own = second.is_some().then_some(of_sentence[0]);
        let foils = named[1].into_iter().chain(own).chain(candidates).chain(of_sentence.iter().copied());
        let foil = foils.into_iter().find(|class| *class != answer);
        foil.map(|foil| [answer, foil])
            .ok_or_else(|| "the model has only one answer, so there is nothing to compare".to_owned())
    }

    /// Returns the block and the number there of a head that is counted over all blocks.
    ///
    /// # Errors
    /// A message for the learner if there is no such head.
    pub(crate) fn counted_head(&self, head: usize) -> Result<(usize, usize), String> {
        let architecture = &self.model.architecture;
        architecture.check_head(head)?;
        let (block, _, own) = architecture.head(head);
        Ok((block, own))
    }
}

/// Checks that a model has no source.
///
/// # Errors
/// A message for the learner if it has one.
pub(crate) fn with_one_sentence(architecture: &Architecture) -> Result<(), String> {
    if architecture.has_source() {
        return Err(
            "this model reads a source sentence; scores, words and tables are there for models with one sentence: measure \
             its heads over a list with Over texts in All heads"
                .to_owned(),
        );
    }
    Ok(())
}

/// Returns a text that may come from a file, shortened and printable, for use in a message.
fn quoted(text: &str) -> String {
    printable(&shorten(text))
}
