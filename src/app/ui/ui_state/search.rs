//! The words that are highlighted and searched for on the stage, and the visibility of each point.

use std::collections::HashSet;
use std::sync::Arc;

use attune_core::pattern;
use attune_engine::numerics::parallel;
use attune_view::view_model::features::{Feature, Features, Levels};
use attune_view::view_model::stage::{Goal, StageModel, TokenPoint, WordPoint};

/// A text to search for; a blank text finds nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub text: String,
    /// Whether the text is a regular expression instead of a part of a word.
    pub is_pattern: bool,
}

/// A point on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hit {
    /// A word, by its index in the model's words.
    Word(usize),
    /// A word of the sentence, by its position.
    Token(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Highlight {
    /// The words that a stage cell, or the axis of a real model, highlights; empty for all words.
    pub lit: Vec<String>,
    /// The id of the stage cell that was shown last.
    pub shown_cell: Option<String>,
    /// The number of times that a stage cell was shown. Each time, the camera returns to its home position.
    pub shows: usize,
    /// Whether rings mark the points' positions before the lesson was trained again.
    pub old_ghosts: bool,
    /// The search on the stage.
    pub search: Search,
    /// The index of the found point that was looked at last.
    pub looked_at: Option<usize>,
    /// The points within a lasso, which count as found while no text is searched.
    pub enclosed: Arc<[Hit]>,
    /// Whether the next drag on the stage draws a lasso.
    pub draws_lasso: bool,
    /// Whether only found points are shown or, without a search, only the sentence and the words near its query.
    pub isolated: bool,
    /// Whether the pieces of a word are shown separately instead of as one word.
    pub pieces: bool,
    /// The feature that sets the colours of a file's points; `None` to colour them by group.
    pub color_by: Option<Feature>,
    /// The feature that sets the sizes of a file's points; `None` for one size.
    pub size_by: Option<Feature>,
}

impl Default for Highlight {
    fn default() -> Self {
        Highlight {
            lit: Vec::new(),
            shown_cell: None,
            shows: 0,
            old_ghosts: true,
            search: Search::default(),
            looked_at: None,
            enclosed: Arc::default(),
            draws_lasso: false,
            isolated: false,
            pieces: false,
            color_by: None,
            size_by: None,
        }
    }
}

impl Highlight {
    /// Highlights the words of a stage cell, and shows all points again.
    pub fn show(&mut self, cell: &str, words: &[String]) {
        self.widen();
        (self.lit, self.shown_cell) = (words.to_vec(), Some(cell.to_owned()));
        self.shows = self.shows.wrapping_add(1);
    }

    /// Returns whether there is a search or a lasso, or some points are hidden.
    pub fn is_narrowed(&self) -> bool {
        !self.search.text.is_empty() || !self.enclosed.is_empty() || self.draws_lasso || self.isolated
    }

    /// Shows all points again, without a search or a lasso.
    pub fn widen(&mut self) {
        self.enclose(Vec::new());
        self.isolated = false;
    }

    /// Makes the points within a lasso the found ones, and clears the search.
    pub fn enclose(&mut self, points: Vec<Hit>) {
        (self.search.text, self.looked_at) = (String::new(), None);
        (self.enclosed, self.draws_lasso) = (points.into(), false);
    }
}

/// The found points, those in the sentence first; or the error in the pattern.
pub type SearchResult = Result<Vec<Hit>, String>;

/// A function that returns whether a word matches.
type Matcher = Box<dyn Fn(&str) -> bool + Sync>;

impl Search {
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Finds the matching points, ignoring upper and lower case; returns `None` if the search is blank.
    pub fn find(&self, stage: &StageModel) -> Option<SearchResult> {
        (!self.is_blank()).then(|| self.matcher().map(|matches| points(stage, matches)))
    }

    fn matcher(&self) -> Result<Matcher, String> {
        let text = self.text.trim();
        if self.is_pattern {
            let pattern = pattern::read(text)?;
            return Ok(Box::new(move |word| pattern.is_match(word)));
        }
        let part = text.to_lowercase();
        // Most of hundreds of thousands of words are in lower case already, so they need no conversion.
        let is_small = |word: &str| word.as_bytes().iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        Ok(Box::new(move |word| match is_small(word) {
            true => word.contains(&part),
            false => word.to_lowercase().contains(&part),
        }))
    }
}

fn points(stage: &StageModel, matches: impl Fn(&str) -> bool + Sync) -> Vec<Hit> {
    /// The number of words that one thread searches at a time.
    const AT_A_TIME: usize = 10_000;
    let tokens = stage.tokens.iter().filter(|token| matches(&token.text)).map(|token| Hit::Token(token.position));
    let parts: Vec<(usize, &[WordPoint])> = (0..).step_by(AT_A_TIME).zip(stage.words.chunks(AT_A_TIME)).collect();
    let words = parallel::map(&parts, parallel::available(), |(first, words)| {
        let mut found = Vec::new();
        for (index, word) in (*first..).zip(*words) {
            // A word of the sentence is found at its position there.
            if matches(&word.text) && !stage.is_in_sentence(index) {
                found.push(Hit::Word(index));
            }
        }
        found
    });
    tokens.chain(words.into_iter().flatten()).collect()
}

/// The prominence with which a point is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    #[default]
    Lit,
    /// A word of a group that is not chosen but shown for orientation.
    Landmark,
    Faded,
    Hidden,
}

/// The visibility of each point on the stage. By default all points are lit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Emphasis {
    pub found: Option<SearchResult>,
    is_isolated: bool,
    is_of_step: bool,
    tokens: Vec<Visibility>,
    words: ShownWords,
    /// The stage cell's lines between words, as pairs of word indices.
    lines: Vec<[usize; 2]>,
    /// The goals that the stage cell sets.
    pub goals: Vec<Goal>,
    /// Colours and sizes by features of a file's rows.
    pub by_feature: ByFeature,
}

/// The features of a file's rows, and the levels of those that set the colours and sizes of points. All are `None` for
/// a lesson.
#[derive(Clone, Debug, Default)]
pub struct ByFeature {
    pub features: Option<Arc<Features>>,
    pub colors: Option<Arc<Levels>>,
    pub sizes: Option<Arc<Levels>>,
}

impl ByFeature {
    /// Returns the features with the chosen levels. A feature that this file lacks is ignored.
    pub fn of(features: Option<Arc<Features>>, highlight: &Highlight) -> Self {
        let Some(all) = &features else { return Self::default() };
        let colors = highlight.color_by.as_ref().and_then(|feature| all.colors(feature));
        let sizes = highlight.size_by.as_ref().and_then(|feature| all.sizes(feature));
        Self { features, colors, sizes }
    }

    /// Returns the values that a word's colour and size stand for, such as `part: noun`.
    pub fn entries(&self, word: usize) -> Vec<String> {
        let Some(all) = &self.features else { return Vec::new() };
        let shown = [&self.colors, &self.sizes].into_iter().flatten().map(|levels| &levels.feature);
        let entry = |feature: &Feature| Some(format!("{}: {}", feature.name(), all.entry(feature, word)?));
        let mut entries: Vec<String> = shown.filter_map(entry).collect();
        entries.dedup();
        entries
    }
}

impl PartialEq for ByFeature {
    /// Compares levels by address, because equal levels are shared.
    fn eq(&self, other: &Self) -> bool {
        let is_same = |a: &Option<Arc<Levels>>, b: &Option<Arc<Levels>>| {
            a.as_ref().map(Arc::as_ptr) == b.as_ref().map(Arc::as_ptr)
        };
        self.features == other.features && is_same(&self.colors, &other.colors) && is_same(&self.sizes, &other.sizes)
    }
}

/// The visibility of the vocabulary's words. Most words have the same one, so only the others are listed.
#[derive(Clone, Debug, Default, PartialEq)]
struct ShownWords {
    most: Visibility,
    /// The words with another visibility, in the order of the vocabulary.
    others: Vec<(usize, Visibility)>,
}

impl ShownWords {
    fn of(most: Visibility, words: impl Iterator<Item = usize>, show: impl Fn(usize) -> Visibility) -> Self {
        let mut others = Vec::new();
        for word in words {
            let shown = show(word);
            if shown != most {
                others.push((word, shown));
            }
        }
        others.sort_unstable_by_key(|(word, _)| *word);
        others.dedup_by_key(|(word, _)| *word);
        Self { most, others }
    }
}

impl Emphasis {
    /// Returns the visibility of all points, given the highlights and the search. `near` are the words near the query.
    pub fn of(stage: &StageModel, highlight: &Highlight, near: &[&str]) -> Emphasis {
        let found = highlight.found(stage);
        let rule = highlight.rule(near);
        let show = |word: usize| {
            let of_word = |rule: &Rule| {
                let point = &stage.words[word];
                rule(&point.text, point.group.is_some(), stage.is_in_sentence(word))
            };
            rule.as_ref().map_or(Visibility::Lit, of_word)
        };
        let words = if stage.hides_table {
            // The table of a pretrained model would hide the sentence, so only words that are found or near are shown.
            let hits = found.iter().flatten().flatten();
            let is_found = hits.filter_map(|hit| if let Hit::Word(word) = hit { Some(*word) } else { None });
            let near = near.iter().flat_map(|text| stage.words.find(text)).copied();
            ShownWords::of(Visibility::Hidden, stage.in_sentence.iter().copied().chain(is_found).chain(near), show)
        } else if let Some(Ok(hits)) = &found {
            let of_hit = |hit: &Hit| match hit {
                Hit::Word(word) => Some(*word),
                // The static point of a word of the sentence.
                Hit::Token(token) => stage.tokens.get(*token)?.word,
            };
            let is_kept = |word: &usize| !highlight.has_lasso() && show(*word) == Visibility::Lit;
            let in_sentence = stage.in_sentence.iter().copied().filter(is_kept);
            ShownWords::of(highlight.other(), hits.iter().filter_map(of_hit).chain(in_sentence), |_| Visibility::Lit)
        } else if rule.is_some() {
            ShownWords::of(highlight.other(), 0..stage.words.len(), show)
        } else {
            ShownWords::default()
        };
        let (is_isolated, tokens) = match &rule {
            _ if highlight.has_lasso() => {
                let hits: HashSet<&Hit> = highlight.enclosed.iter().collect();
                let is_hit = |token: &TokenPoint| hits.contains(&Hit::Token(token.position));
                let other = highlight.other();
                let shown = stage.tokens.iter().map(|token| if is_hit(token) { Visibility::Lit } else { other });
                (highlight.isolated, shown.collect())
            }
            Some(rule) => {
                let tokens = stage.tokens.iter().map(|token| rule(&token.text, token.group.is_some(), true));
                (highlight.isolated, tokens.collect())
            }
            None => (false, Vec::new()),
        };
        Emphasis { found, is_isolated, tokens, words, ..Self::default() }
    }

    /// Adds lines between words.
    #[must_use]
    pub fn with_lines(self, lines: Vec<[usize; 2]>) -> Self {
        Self { lines, ..self }
    }

    /// Returns the lines between two visible words.
    pub fn lines(&self) -> impl Iterator<Item = [usize; 2]> {
        let is_seen = |line: &[usize; 2]| line.iter().all(|word| self.word(*word) != Visibility::Hidden);
        self.lines.iter().copied().filter(is_seen)
    }

    /// Adapts the visibility to a step of a walk: the words that the step is about are lit, and everything else fades.
    /// A search takes precedence.
    #[must_use]
    pub fn of_step(mut self, stage: &StageModel, is_about: impl Fn(usize) -> bool) -> Self {
        if self.is_searched() || self.is_isolated {
            return self;
        }
        let shown = |is_lit| if is_lit { Visibility::Lit } else { Visibility::Faded };
        self.is_of_step = true;
        self.tokens = (0..stage.tokens.len()).map(|position| shown(is_about(position))).collect();
        let most = if stage.hides_table { Visibility::Hidden } else { Visibility::Faded };
        self.words = ShownWords::of(most, stage.in_sentence.iter().copied(), |_| Visibility::Faded);
        self
    }

    /// Hides the later pieces of words if the first piece is shown for the whole word.
    #[must_use]
    pub fn without_parts(mut self, stage: &StageModel) -> Self {
        if stage.is_of_words {
            let shown =
                |token: &TokenPoint| if token.is_part { Visibility::Hidden } else { self.token(token.position) };
            self.tokens = stage.tokens.iter().map(shown).collect();
        }
        self
    }

    pub fn token(&self, position: usize) -> Visibility {
        self.tokens.get(position).copied().unwrap_or_default()
    }

    pub fn word(&self, index: usize) -> Visibility {
        let ShownWords { most, others } = &self.words;
        others.binary_search_by_key(&index, |(word, _)| *word).map_or(*most, |at| others[at].1)
    }

    /// Returns the words that are not hidden, each with its visibility, in the order of the vocabulary.
    pub fn shown_words<'a>(&'a self, stage: &StageModel) -> Box<dyn Iterator<Item = (usize, Visibility)> + 'a> {
        let ShownWords { most, others } = &self.words;
        let mut rest = others.iter().copied().peekable();
        if *most == Visibility::Hidden {
            return Box::new(rest);
        }
        // Both lists are in the same order, so no look-up per word is needed.
        let all =
            (0..stage.words.len()).map(move |word| rest.next_if(|other| other.0 == word).unwrap_or((word, *most)));
        Box::new(all.filter(|(_, shown)| *shown != Visibility::Hidden))
    }

    /// Returns whether a word of this visibility is lit while most words are not.
    pub fn is_chosen(&self, shown: Visibility) -> bool {
        self.words.most != Visibility::Lit && shown == Visibility::Lit
    }

    /// Returns whether this is the visibility of a step, in which everything that the step is not about is quiet.
    pub fn is_of_step(&self) -> bool {
        self.is_of_step
    }

    /// Returns whether some points may be hidden.
    pub fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    /// Returns whether there is a search with a valid pattern, or a lasso.
    pub fn is_searched(&self) -> bool {
        self.found.as_ref().is_some_and(Result::is_ok)
    }

    /// Returns the found points; none if there is no search or its pattern is invalid.
    pub fn matches(&self) -> &[Hit] {
        self.found.as_ref().and_then(|found| found.as_deref().ok()).unwrap_or_default()
    }
}

type Rule<'a> = Box<dyn Fn(&str, bool, bool) -> Visibility + 'a>;

impl Highlight {
    /// Returns the points that match the text, or else those within a lasso.
    fn found(&self, stage: &StageModel) -> Option<SearchResult> {
        // After training again, there may be fewer points.
        let is_there = |hit: &&Hit| match hit {
            Hit::Word(word) => *word < stage.words.len(),
            Hit::Token(token) => *token < stage.tokens.len(),
        };
        let enclosed = || Ok(self.enclosed.iter().filter(is_there).copied().collect());
        self.search.find(stage).or_else(|| self.has_lasso().then(enclosed))
    }

    /// Returns whether a lasso decides what is found.
    fn has_lasso(&self) -> bool {
        self.search.is_blank() && !self.enclosed.is_empty()
    }

    /// Returns the visibility of points that are not found.
    fn other(&self) -> Visibility {
        if self.isolated { Visibility::Hidden } else { Visibility::Faded }
    }

    /// Returns a function that gives the visibility of a word. Its arguments are the word, whether it has a group, and
    /// whether it is in the sentence. Returns `None` if all words are lit.
    fn rule<'a>(&'a self, near: &'a [&'a str]) -> Option<Rule<'a>> {
        let lit = move |word: &str, is_grouped: bool| {
            let is_lit = self.lit.is_empty() || self.lit.iter().any(|lit| lit == word);
            match (is_lit, is_grouped) {
                (true, _) => Visibility::Lit,
                (_, true) => Visibility::Landmark,
                _ => Visibility::Faded,
            }
        };
        // While the pattern is invalid, such as when it is half typed, nothing changes.
        let matches = if self.search.is_blank() { None } else { self.search.matcher().ok() };
        let other = self.other();
        match matches {
            Some(matches) => Some(Box::new(move |word, _, _| if matches(word) { Visibility::Lit } else { other })),
            None if self.isolated && self.search.is_blank() => {
                let is_kept = move |word: &str, in_sentence| in_sentence || near.contains(&word);
                Some(Box::new(move |word, grouped, there| match is_kept(word, there) {
                    true => lit(word, grouped),
                    false => Visibility::Hidden,
                }))
            }
            None => {
                (!self.lit.is_empty()).then(|| Box::new(move |word: &str, grouped, _| lit(word, grouped)) as Rule<'a>)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> StageModel {
        let word = |text: &str| WordPoint { text: text.to_owned(), group: None, at: [0.0; 3] };
        let token = |position, text: &str| TokenPoint::moving(text.to_owned(), position, [0.0; 3], [0.0; 3]);
        StageModel {
            words: ["bank", "Banker", "river", "Ärger"].map(word).to_vec().into(),
            in_sentence: [0, 2].into(),
            tokens: vec![token(0, "bank"), token(1, "river"), token(2, "bank")],
            origin: "trained",
            radius: 1.0,
            ..StageModel::default()
        }
    }

    #[test]
    fn the_table_of_a_pretrained_model_is_shown_as_far_as_it_is_asked_for() {
        let mut stage = stage();
        let other = stage.words[3].clone();
        const WORDS: usize = 700;
        let mut words = stage.words.to_vec();
        words.resize(WORDS + 1, other);
        stage.words = words.into();
        stage.hides_table = true;
        let shown = |text: &str, near: &[&str]| {
            let search = search(text, false);
            let emphasis = Emphasis::of(&stage, &Highlight { search, ..Highlight::default() }, near);
            let emphasis = emphasis.of_step(&stage, |_| true);
            (0..stage.words.len()).filter(|word| emphasis.word(*word) != Visibility::Hidden).count()
        };
        assert_eq!(shown("", &[]), 2, "the sentence's own");
        assert_eq!(shown("bank", &[]), 3, "with the one that is found beside them");
        assert_eq!(shown("ärger", &[]), WORDS, "whatever is found");
    }

    fn search(text: &str, is_pattern: bool) -> Search {
        Search { text: text.to_owned(), is_pattern }
    }

    fn emphasis(search: &Search, is_isolated: bool, lit: &[String], near: &[&str]) -> String {
        let stage = stage();
        let (search, lit) = (search.clone(), lit.to_vec());
        let highlight = Highlight { search, isolated: is_isolated, lit, ..Highlight::default() };
        let emphasis = Emphasis::of(&stage, &highlight, near);
        let sign = |shown| match shown {
            Visibility::Lit => '*',
            Visibility::Landmark => 'o',
            Visibility::Faded => '.',
            Visibility::Hidden => ' ',
        };
        let tokens = (0..stage.tokens.len()).map(|i| sign(emphasis.token(i)));
        let words = (0..stage.words.len()).map(|i| sign(emphasis.word(i)));
        tokens.chain(['|']).chain(words).collect()
    }

    #[test]
    fn a_part_of_a_word_is_found_in_any_case() {
        let found = |text, is_pattern| search(text, is_pattern).find(&stage());
        assert_eq!(found("BANK", false), Some(Ok(vec![Hit::Token(0), Hit::Token(2), Hit::Word(1)])));
        assert_eq!(found(" är", false), Some(Ok(vec![Hit::Word(3)])));
        assert_eq!(found("a.k", false), Some(Ok(Vec::new())), "a dot is a dot");
        assert_eq!(found("  ", false), None);
    }

    #[test]
    fn a_pattern_is_a_regular_expression() {
        let found = |text| search(text, true).find(&stage());
        assert_eq!(found("^r|ER$"), Some(Ok(vec![Hit::Token(1), Hit::Word(1), Hit::Word(3)])));
        assert_eq!(found(r"^\w{5}$"), Some(Ok(vec![Hit::Token(1), Hit::Word(3)])), "an umlaut is a letter");
        assert_eq!(found("a("), Some(Err("unclosed group, at character 2".to_owned())));
        assert_eq!(
            found("[z-a]").and_then(Result::err).as_deref(),
            Some("invalid character class range, the start must be <= the end, at character 2")
        );
        assert_eq!(found("(a{1000}){1000}"), Some(Err("it repeats too much".to_owned())));
        assert!(found(&"(".repeat(10_000)).is_some_and(|found| found.is_err()));
    }

    #[test]
    fn what_is_found_is_lit_and_the_others_are_faded_or_hidden() {
        let river = search("river", false);
        assert_eq!(emphasis(&river, false, &[], &[]), ".*.|..*.");
        assert_eq!(emphasis(&river, true, &[], &[]), " * |  * ");
        assert_eq!(emphasis(&search("no such word", false), true, &[], &[]), "   |    ");
    }

    #[test]
    fn without_a_search_the_sentence_and_its_neighbours_are_isolated() {
        let none = Search::default();
        assert_eq!(emphasis(&none, false, &[], &[]), "***|****");
        assert_eq!(emphasis(&none, true, &[], &["Ärger"]), "***|* **");
        assert_eq!(emphasis(&none, true, &["river".to_owned()], &[]), ".*.|. * ");
    }

    #[test]
    fn a_wrong_pattern_changes_nothing() {
        let wrong = search("[", true);
        assert_eq!(emphasis(&wrong, true, &[], &[]), "***|****");
        assert_eq!(emphasis(&wrong, false, &["bank".to_owned()], &[]), "*.*|*...");
    }

    #[test]
    fn a_group_stays_bright_beside_the_words_that_a_cell_lights() {
        let mut stage = stage();
        let mut words = stage.words.to_vec();
        words[1].group = Some(0);
        stage.words = words.into();
        let lit = ["river".to_owned()];
        let highlight = Highlight { lit: lit.to_vec(), ..Highlight::default() };
        let shown = Emphasis::of(&stage, &highlight, &[]);
        let words: Vec<Visibility> = (0..4).map(|index| shown.word(index)).collect();
        assert_eq!(words, [Visibility::Faded, Visibility::Landmark, Visibility::Lit, Visibility::Faded]);
    }
}
