//! Tables of the words that heads compare and write, from their weights alone, and the composition of heads.

use attune_engine::numerics::evidence::tables::{COMPOSITION_WORK_MAX, Composition, HeadTables};

use super::{Ended, Evidence, Progressed};

/// Number of words that a table lists for each word.
const LISTED: usize = 6;

/// A word with the words that a table lists for it, each with its number.
pub type Row = (String, Vec<(String, f64)>);

/// The tables of a head: for each word, the words that the head looks at and the words that it writes.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadTable {
    pub layer: usize,
    pub head: usize,
    pub looks_at: Vec<Row>,
    pub writes: Vec<Row>,
}

/// The tables of some heads, and the composition of heads.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// Mean composition of unrelated heads, `1/√D`.
    pub chance: f64,
    pub composition: Vec<Composition>,
    /// Whether `composition` has all pairs of heads, and not only the pairs with one of the heads asked for.
    pub is_whole: bool,
    pub copying: Option<Vec<Vec<f64>>>,
    /// Whether the numbers of `writes` are logits up to a factor; otherwise they are cosines.
    pub are_logits: bool,
    pub tables: Vec<HeadTable>,
}

/// The tables of a head on the stage, for the words of its sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownTables {
    /// Number of the head, counted over all blocks.
    pub head: usize,
    pub tables: Tables,
}

impl Evidence<'_> {
    /// Computes the tables of some heads for some words.
    ///
    /// # Errors
    /// A message for the learner if there is no such head or word, or the work was ended.
    pub fn tables(
        &self,
        heads: &[(usize, usize)],
        words: &[String],
        progressed: Progressed<'_>,
    ) -> Result<Tables, String> {
        self.check_no_source(
            "tables of heads are there for models with one sentence: measure its heads over a list with attune heads MODEL \
             TEXTFILE",
        )?;
        for (block, head) in heads {
            self.model.architecture.head_in(*block, *head).map_err(|why| format!("--head: {why}"))?;
        }
        let row = |word: &String| Ok((word.clone(), self.row("--words", word)?));
        let words = words.iter().map(row).collect::<Result<Vec<_>, String>>()?;
        self.tables_of_rows(heads, &words, progressed)
    }

    /// Computes the tables of some heads for rows of the vocabulary, each with a name.
    ///
    /// # Errors
    /// A message for the learner if the work was ended.
    pub fn tables_of_rows(
        &self,
        heads: &[(usize, usize)],
        words: &[(String, usize)],
        progressed: Progressed<'_>,
    ) -> Result<Tables, String> {
        let tables = HeadTables { model: self.model, parameters: self.parameters };
        let rows: Vec<usize> = words.iter().map(|(_, row)| *row).collect();
        let all = self.model.architecture.heads();
        let is_whole = tables.composition_work() <= COMPOSITION_WORK_MAX;
        let only = (!is_whole).then_some(heads);
        let composition = tables.composition(only, &|done| progressed(done, all)).ok_or(Ended)?;
        let names = |listed: Vec<Vec<(usize, f64)>>, name: &dyn Fn(usize) -> String| {
            let of_word = |((word, _), listed): (&(String, usize), Vec<(usize, f64)>)| {
                (word.clone(), listed.into_iter().map(|(at, value)| (name(at), value)).collect())
            };
            words.iter().zip(listed).map(of_word).collect::<Vec<Row>>()
        };
        let are_logits = tables.has_linear_readout();
        let of_word = |word: usize| self.word(Some(word));
        let of_output = |at: usize| if are_logits { self.named(at) } else { self.word(Some(at)) };
        let table = |&(layer, head): &(usize, usize)| HeadTable {
            layer,
            head,
            looks_at: names(tables.looks_at((layer, head), &rows, LISTED), &of_word),
            writes: names(tables.writes((layer, head), &rows, LISTED), &of_output),
        };
        Ok(Tables {
            chance: 1.0 / (self.model.architecture.width as f64).sqrt(),
            composition,
            is_whole,
            copying: tables.copying(),
            are_logits,
            // Without words, there is only the composition.
            tables: heads.iter().filter(|_| !rows.is_empty()).map(table).collect(),
        })
    }

    /// Returns the row of the vocabulary of a word that a person names.
    fn row(&self, option: &str, name: &str) -> Result<usize, String> {
        match self.folder() {
            Some(_) => self.class(option, name),
            None => self.space.row_of(name).ok_or_else(|| format!("{option}: {}", self.space.unknown(name))),
        }
    }
}
