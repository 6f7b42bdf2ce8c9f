//! Selection in the sentence: a query, a head, a key, the arrows of a move.

use crate::view_model::path::By;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The selected token, a position in the sentence: the query whose row is lit.
    pub query: Option<usize>,
    /// The head of the walk, counted over all blocks.
    pub head: usize,
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
        (self.query, self.key) = (query, None);
    }

    /// Makes another head the head of the walk; its key is again the one with the largest weight.
    pub fn choose_head(&mut self, head: usize) {
        (self.head, self.key) = (head, None);
    }

    /// Drops a head that the model does not have.
    pub fn keep_head_below(&mut self, heads: usize) {
        if self.head >= heads {
            self.choose_head(0);
        }
    }

    /// Drops a query and a key that the sentence no longer has.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
        self.key = self.key.filter(|key| *key < tokens);
    }
}
