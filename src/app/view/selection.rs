//! Selection in the sentence: a query, a head, a key, the arrows of a move.

use crate::view_model::path::By;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The selected token, a position in the sentence: the query whose row is lit.
    pub query: Option<usize>,
    /// The query is the walk's own choice: the word that the lesson speaks of, or that moves most.
    pub by_default: Option<usize>,
    /// The head of the walk, counted over all blocks.
    pub head: usize,
    /// The learner chose the head; else it is the one that moves the query most.
    pub is_head_chosen: bool,
    /// The key of the worked product; none: the one with the largest weight.
    pub key: Option<usize>,
    /// A position in the second sentence: with the query, the pair that is compared.
    pub second: Option<usize>,
    /// Quantity that the arrows of a move stand for.
    pub by: By,
}

impl Selection {
    /// Makes another word the query; its key is again the one with the largest weight.
    pub fn choose_query(&mut self, query: Option<usize>) {
        (self.query, self.key, self.by_default) = (query, None, None);
    }

    /// Chooses a word, or no word any more; one that the walk chose by itself stays, and is the learner's now.
    pub fn toggle_query(&mut self, query: usize) {
        let is_chosen = self.query == Some(query) && self.by_default != Some(query);
        self.choose_query((!is_chosen).then_some(query));
    }

    /// Follows a word that nobody chose.
    pub fn follow_by_default(&mut self, query: Option<usize>) {
        (self.query, self.key, self.by_default) = (query, None, query);
    }

    /// The query that the learner chose.
    pub fn chosen_query(&self) -> Option<usize> {
        self.query.filter(|query| self.by_default != Some(*query))
    }

    /// Makes another head the head of the walk; its key is again the one with the largest weight.
    pub fn choose_head(&mut self, head: usize) {
        (self.head, self.key, self.is_head_chosen) = (head, None, true);
    }

    /// Follows a head that nobody chose.
    pub fn follow_head(&mut self, head: usize) {
        (self.head, self.key, self.is_head_chosen) = (head, None, false);
    }

    /// Drops a head that the model does not have.
    pub fn keep_head_below(&mut self, heads: usize) {
        if self.head >= heads {
            self.follow_head(0);
        }
    }

    /// Drops a query that the sentence no longer has.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
    }
}
