//! Which word of a sentence mattered for an answer.

use attune_engine::numerics::evidence::maps::Setting;
use attune_engine::numerics::evidence::words::{WordTable, spearman, steps, word_table};
use attune_engine::numerics::model::Pooling;

use super::{AskedAnswer, ENDED, Evidence, Progressed};

/// The measures of a sentence's words.
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
    /// The rank correlation of each measure with each; `None` if one is constant.
    pub spearman: Vec<Vec<Option<f64>>>,
}

impl Evidence<'_> {
    /// Computes the measures.
    ///
    /// # Errors
    /// In words for the learner, if the sentence does not fit the question, or the work was ended.
    pub fn words(&self, sentence: &str, asked: &AskedAnswer, progressed: Progressed<'_>) -> Result<Words, String> {
        self.check_no_source(
            "the measures of words are there for models with one sentence: measure on which word of the source each head \
             aligns with attune heads MODEL TEXTFILE",
        )?;
        if self.model.architecture.pooling == Pooling::Mean {
            return Err(
                "this model answers from the mean of all words, so there is no place whose attention could be \
                        measured"
                    .to_owned(),
            );
        }
        let ran = self.run(sentence).map_err(|why| format!("--sentence: {why}"))?;
        let place = self.place(&ran.tokens, asked.at).map_err(|why| format!("--sentence: {why}"))?;
        let likeliest = self.likeliest(&ran, place, 2);
        let usual = [likeliest[0], likeliest[likeliest.len() - 1]];
        let usual = self.beside_named(asked, usual)?;
        let same = "the answer is compared with itself: give --answer and --against";
        let question = self.question(asked, place, usual, same)?;
        let setting = Setting {
            model: self.model,
            parameters: self.parameters,
            sentence: &ran.input,
            own: &ran.activations,
            second: None,
            question,
        };
        let all = steps(ran.tokens.len(), ran.activations.blocks.len());
        let table = word_table(&setting, &|done| progressed(done, all)).ok_or(ENDED)?;
        let seen = table.measures.first().map_or(0, |(_, values)| values.len());
        let is_own = |place: &usize| !ran.tokens[*place].piece.as_ref().is_some_and(|piece| piece.is_added);
        let ranked: Vec<usize> = (0..seen).filter(is_own).collect();
        let with_each = |a: &[f64]| table.measures.iter().map(|(_, b)| spearman(a, b, &ranked)).collect();
        Ok(Words {
            tokens: ran.texts().into_iter().take(seen).collect(),
            place,
            answer: self.named(question.answer),
            against: self.named(question.against),
            spearman: table.measures.iter().map(|(_, a)| with_each(a)).collect(),
            ranked,
            table,
        })
    }
}
