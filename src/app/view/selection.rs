//! Selection in the sentence: a query, a head, a key, the arrows of a move.

use attune_view::explain::path::By;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::sinks::Reading;

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
    /// The map and the sentence show this head alone, or all of them; none: as [`Self::set_heads`] says.
    pub is_head_alone: Option<bool>,
    /// The model has so many heads that all of them at once cannot be told apart.
    has_many_heads: bool,
    /// The key of the worked product; none: the one with the largest weight.
    pub key: Option<usize>,
    /// A position in the second sentence: with the query, the pair that is compared.
    pub second: Option<usize>,
    /// The point of a word in one of several sentences that was clicked.
    pub sense: Option<usize>,
    /// Parts that the arrows of a move stand for, where the learner chose them.
    pub by: Option<By>,
    /// How attention is read, in every map and in the sentence.
    pub reading: Reading,
    /// The chosen word and its occurrence while the sentence has no such occurrence.
    missed: Option<(String, usize)>,
}

impl Selection {
    /// Makes another word the query; its key is again the one with the largest weight.
    pub fn choose_query(&mut self, query: Option<usize>) {
        (self.query, self.key) = (query, None);
        (self.by_default, self.missed) = (None, None);
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

    /// The one head that the map and the sentence show; none: all.
    pub fn shown_head(&self) -> Option<usize> {
        self.is_head_alone.unwrap_or(self.has_many_heads).then_some(self.head)
    }

    /// Shows one head alone, which the walk then goes through too, or all of them.
    pub fn show_head(&mut self, head: Option<usize>) {
        self.is_head_alone = Some(head.is_some());
        match head {
            Some(head) if head != self.head => self.choose_head(head),
            Some(_) => self.is_head_chosen = true,
            None => {}
        }
    }

    /// Follows another sentence: the chosen word stays chosen by its name and occurrence, and is chosen again where it
    /// was missing for a while, such as while a sentence is typed.
    pub fn follow(&mut self, before: &[&str], now: &[&str]) {
        if before == now {
            return;
        }
        let chosen = self.chosen_query().and_then(|query| nth(before, query));
        let is_of = |missed: &(String, usize)| chosen.as_ref().is_none_or(|(word, _)| *word == missed.0);
        let wanted = self.missed.take().filter(is_of).or(chosen);
        let found = wanted.as_ref().and_then(|(word, occurrence)| place(now, word, *occurrence));
        self.choose_query(found);
        self.missed = wanted.filter(|wanted| found.and_then(|found| nth(now, found)).as_ref() != Some(wanted));
    }

    /// Takes back a word and a head, as far as there are so many tokens and heads now. A word that was chosen meanwhile
    /// stays.
    pub fn restore(&mut self, saved: &SavedView, tokens: usize, heads: usize) {
        if self.chosen_query().is_none() && saved.query.is_some() {
            self.choose_query(saved.query);
        }
        self.keep_query_below(tokens);
        if let Some(head) = saved.head.filter(|head| *head < heads) {
            self.choose_head(head);
            self.is_head_alone = Some(saved.is_head_alone);
        }
    }

    /// Follows the model: a head that it does not have is dropped. Of many heads one is shown alone, until the learner asks
    /// for all.
    pub fn set_heads(&mut self, heads: usize) {
        const FEW: usize = 8;
        self.has_many_heads = heads > FEW;
        if self.head >= heads {
            self.follow_head(0);
        }
    }

    /// Drops a query that the sentence no longer has.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
    }
}

/// A word and which of its occurrences it is.
fn nth(words: &[&str], position: usize) -> Option<(String, usize)> {
    let word = words.get(position)?;
    Some(((*word).to_owned(), words[..position].iter().filter(|other| *other == word).count()))
}

/// Position of an occurrence of a word, or of the last one there is.
fn place(words: &[&str], word: &str, occurrence: usize) -> Option<usize> {
    words
        .iter()
        .enumerate()
        .filter(|(_, other)| **other == word)
        .map(|(position, _)| position)
        .take(occurrence + 1)
        .last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(sentence: &str) -> Vec<&str> {
        sentence.split(' ').collect()
    }

    #[test]
    fn the_chosen_word_stays_chosen_in_another_sentence() {
        let first = split("apple launched a phone while i ate an apple");
        let mut selection = Selection { query: Some(8), ..Selection::default() };
        let mut shows = |sentences: &[&str]| {
            let mut before = first.clone();
            for sentence in sentences {
                let now = split(sentence);
                selection.follow(&before, &now);
                before = now;
            }
            selection.follow(&before, &first);
            selection.query
        };
        assert_eq!(shows(&["the apple fell and google launched an apple"]), Some(8));
        // Letter by letter: for a while, the word is not there.
        assert_eq!(shows(&["i", "i ate", "i ate an apple", "i ate an apple and a pear"]), Some(8));
        assert_eq!(shows(&["google fell"]), Some(8));
    }

    #[test]
    fn an_occurrence_is_followed_by_its_number_or_else_the_last_there_is() {
        let (before, now) = (split("the cat saw the dog"), split("a dog and the cat and the cat"));
        let followed = |query| {
            let mut selection = Selection { query: Some(query), ..Selection::default() };
            selection.follow(&before, &now);
            selection.query
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(followed), [Some(3), Some(4), None, Some(6), Some(1), None]);
    }

    #[test]
    fn a_word_that_nobody_chose_is_not_chosen_by_another_sentence() {
        let mut selection = Selection::default();
        selection.follow(&["a", "b"], &["b", "a"]);
        assert_eq!(selection.query, None);
        selection.query = Some(0);
        selection.follow(&["a", "b"], &["b"]);
        assert_eq!(selection.query, None);
        selection.choose_query(None);
        selection.follow(&["b"], &["a"]);
        assert_eq!(selection.query, None, "it was let go meanwhile");
    }
}
