//! The split of one score of a sentence.

use attune_engine::numerics::evidence::score::{ScoreAt, SplitPass, SplitScore};

use super::Evidence;

/// An attention score of a sentence, split into its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub tokens: Vec<String>,
    pub at: ScoreAt,
    pub split: SplitScore,
}

impl Evidence<'_> {
    /// Splits the score of a query and a key into its parts.
    ///
    /// # Errors
    /// A message for the learner if the sentence has no such score.
    pub fn score(&self, sentence: &str, at: ScoreAt) -> Result<Score, String> {
        self.check_no_source(
            "scores are split in models with one sentence: see its queries, keys and weights with attune trace, and measure \
             its heads over a list with attune heads MODEL TEXTFILE",
        )?;
        let ran = self.run(sentence).map_err(|why| format!("--sentence: {why}"))?;
        self.model.architecture.head_in(at.block, at.head).map_err(|why| format!("--of: {why}"))?;
        let count = ran.tokens.len();
        if let Some(outside) = [at.query, at.key].into_iter().find(|token| *token >= count) {
            let outside = outside.saturating_add(1);
            return Err(format!("--of: there is no token {outside}; the sentence has {count}"));
        }
        let pass = SplitPass {
            model: self.model,
            parameters: self.parameters,
            sentence: &ran.input,
            activations: &ran.activations,
        };
        let split = pass.split(at).ok_or_else(|| {
            let [query, key] = [at.query, at.key].map(|token| (token + 1, ran.tokens[token].text.clone()));
            format!("--of: the query does not see this key: {} ({:?}) and {} ({:?})", query.0, query.1, key.0, key.1)
        })?;
        Ok(Score { tokens: ran.texts(), at, split })
    }
}
