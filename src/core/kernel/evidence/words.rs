//! Measures of which word of a sentence mattered for an answer.

use std::collections::BTreeMap;

use attune_engine::numerics::evidence::Question;
use attune_engine::numerics::evidence::maps::Setting;
use attune_engine::numerics::evidence::words::{WordMeasure, WordTable, spearman, steps, word_table};
use attune_engine::numerics::model::Pooling;

use super::{AskedAnswer, Ended, Evidence, Progressed, Ran};
use crate::kernel::sentence_pass::sentence::SentenceFrame;

/// Message for a model that answers from the mean of all words, so that no word can be measured.
pub const MEAN_ANSWER: &str =
    "this model answers from the mean of all words, so there is no place whose attention could be measured";

/// Measures of how much each word of a sentence mattered for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// Tokens that the answer's place sees.
    pub tokens: Vec<String>,
    pub place: usize,
    pub answer: String,
    pub against: String,
    pub table: WordTable,
    /// Places of the tokens whose ranks are compared: those that the tokenizer did not add.
    pub ranked: Vec<usize>,
    /// Rank correlation of each pair of measures; `None` if one of the two is constant.
    pub spearman: Vec<Vec<Option<f64>>>,
}

impl Words {
    /// Returns the words that at least one measure ranks first by absolute value, each with these measures.
    pub fn firsts(&self) -> Vec<(usize, Vec<WordMeasure>)> {
        let mut firsts: BTreeMap<usize, Vec<WordMeasure>> = BTreeMap::new();
        for (measure, values) in &self.table.measures {
            let first = self.ranked.iter().copied().max_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs()));
            if let Some(first) = first {
                firsts.entry(first).or_default().push(*measure);
            }
        }
        firsts.into_iter().collect()
    }
}

/// An answer for the sentence on the stage, which a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownAnswer {
    /// Position of the token at which the model answers; `None` for the place at which it answers by default.
    pub at: Option<usize>,
    /// The index of the answer among the classes, or `None` for the likeliest. An answer that the learner has chosen
    /// for all evidence replaces it.
    pub answer: Option<usize>,
}

impl Evidence<'_> {
    /// Measures how much each word of a sentence mattered for an answer.
    ///
    /// # Errors
    /// A message for the learner if the sentence does not fit the question, or the work was ended.
    pub fn words(&self, sentence: &str, asked: &AskedAnswer, progressed: Progressed<'_>) -> Result<Words, String> {
        self.check_no_source(
            "the measures of words are there for models with one sentence: measure on which word of the source each head \
             aligns with attune heads MODEL TEXTFILE",
        )?;
        self.answers_at_a_place()?;
        let ran = self.run(sentence).map_err(|why| format!("--sentence: {why}"))?;
        let place = self.asked_place(&ran.tokens, asked)?;
        let likeliest = self.likeliest(&ran, place, 2);
        let usual = [likeliest[0], likeliest[likeliest.len() - 1]];
        let usual = self.beside_named(asked, usual)?;
        let same = "the answer is compared with itself: give --answer and --against";
        let question = self.question(asked, place, usual, same)?;
        self.measured(&ran, question, progressed)
    }

    /// Measures how much each word of the sentence on the stage mattered for an answer. `named` has the answer and the
    /// foil that the learner has chosen.
    ///
    /// # Errors
    /// A message for the learner if the model does not answer at a token, if it has only one answer, or if the work was
    /// ended.
    pub fn words_shown(
        &self,
        frame: &SentenceFrame,
        asked: ShownAnswer,
        named: &AskedAnswer,
        progressed: Progressed<'_>,
    ) -> Result<Words, String> {
        self.answers_at_a_place()?;
        let ran = self.run_frame(frame);
        let place = self.place(&ran.tokens, asked.at)?;
        let [answer, foil] = self.named_pair(named)?;
        let explained = asked.answer.filter(|class| *class < self.classes.len() && Some(*class) != foil);
        let [answer, against] = self.shown_pair([answer.or(explained), foil], place, (frame, &ran), None)?;
        self.measured(&ran, Question { place, answer, against }, progressed)
    }

    /// Checks that the model answers at a token, and not from the mean of all.
    fn answers_at_a_place(&self) -> Result<(), String> {
        if self.model.architecture.pooling == Pooling::Mean {
            return Err(MEAN_ANSWER.to_owned());
        }
        Ok(())
    }

    fn measured(&self, ran: &Ran, question: Question, progressed: Progressed<'_>) -> Result<Words, String> {
        let setting = Setting {
            model: self.model,
            parameters: self.parameters,
            sentence: &ran.input,
            own: &ran.activations,
            second: None,
            question,
        };
        let all = steps(ran.tokens.len(), ran.activations.blocks.len());
        let table = word_table(&setting, &|done| progressed(done, all)).ok_or(Ended)?;
        let seen = table.measures.first().map_or(0, |(_, values)| values.len());
        let is_own = |place: &usize| !ran.tokens[*place].piece.as_ref().is_some_and(|piece| piece.is_added);
        let ranked: Vec<usize> = (0..seen).filter(is_own).collect();
        let with_each = |a: &[f64]| table.measures.iter().map(|(_, b)| spearman(a, b, &ranked)).collect();
        Ok(Words {
            tokens: ran.texts().into_iter().take(seen).collect(),
            place: question.place,
            answer: self.named(question.answer),
            against: self.named(question.against),
            spearman: table.measures.iter().map(|(_, a)| with_each(a)).collect(),
            ranked,
            table,
        })
    }
}
