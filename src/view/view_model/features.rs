//! Features of the rows of a file of vectors, which set the colours and sizes of points: the frequency rank, and the
//! columns of the metadata. The level of every row is computed once for each feature, so that a frame with very many
//! points only looks up one byte for each.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::issue::shorten;
use attune_core::lesson::schema::{GivenSource, StaticEmbedding};
use attune_engine::messages::nearest;
use attune_engine::vectors::Column;
use serde::{Deserialize, Serialize};

use super::quoted;

/// A feature of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Feature {
    /// The position of the row in the file, which is the rank by frequency in most files.
    Rank,
    /// The column with this name.
    Column(String),
}

impl Feature {
    pub const RANK: &str = "rank";

    pub fn name(&self) -> &str {
        match self {
            Self::Rank => Self::RANK,
            Self::Column(name) => name,
        }
    }
}

/// The meaning of a feature's levels. Level 0 stands for a missing entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A scale with a level for each value, the most frequent first. If there are more than `VALUES_MAX` values,
    /// `others` is the number of those that share the last level.
    Values { names: Vec<String>, others: usize },
    /// A scale from the least number to the greatest, both as written in the file.
    Numbers { least: String, greatest: String, is_logarithmic: bool },
}

/// The largest number of levels for values.
const VALUES_MAX: usize = 8;
/// The least and the greatest level of numbers.
const NUMBER_LEVELS: (u8, u8) = (1, u8::MAX);

impl Scale {
    /// Returns the number of levels, including level 0.
    pub fn levels(&self) -> usize {
        match self {
            Self::Values { names, others } => 1 + names.len() + usize::from(*others > 0),
            Self::Numbers { .. } => 1 + usize::from(NUMBER_LEVELS.1),
        }
    }

    /// Returns the position of a level on a scale of numbers, from 0 for the least number to 1 for the greatest.
    pub fn share(level: u8) -> f32 {
        let (least, greatest) = NUMBER_LEVELS;
        f32::from(level.max(least) - least) / f32::from(greatest - least)
    }

    /// Returns a text such as `1 to 9000, logarithmic`; empty for a scale of values.
    pub fn range(&self) -> String {
        let Self::Numbers { least, greatest, is_logarithmic } = self else { return String::new() };
        format!("{least} to {greatest}{}", if *is_logarithmic { ", logarithmic" } else { "" })
    }
}

/// The levels of one feature, for all rows.
#[derive(Debug, PartialEq)]
pub struct Levels {
    pub feature: Feature,
    pub scale: Scale,
    /// The level of each row; 0 for a row without an entry.
    of_rows: Vec<u8>,
    /// The mean of [`Scale::share`] over all rows.
    pub mean_share: f32,
}

impl Levels {
    fn new(feature: Feature, scale: Scale, of_rows: Vec<u8>) -> Self {
        let sum: f64 = of_rows.iter().map(|level| f64::from(Scale::share(*level))).sum();
        let mean_share = (sum / of_rows.len().max(1) as f64) as f32;
        Self { feature, scale, of_rows, mean_share }
    }

    pub fn of(&self, row: usize) -> u8 {
        self.of_rows.get(row).copied().unwrap_or_default()
    }

    /// Returns the levels of ranks, with the greatest level for the first row. The scale is logarithmic, because most
    /// files list words by frequency.
    fn of_ranks(rows: usize) -> Self {
        let whole = (rows.max(2) as f64).ln();
        let level = |row: usize| number_level(1.0 - ((row + 1) as f64).ln() / whole);
        let scale = Scale::Numbers { least: rows.to_string(), greatest: "1".to_owned(), is_logarithmic: true };
        Self::new(Feature::Rank, scale, (0..rows).map(level).collect())
    }

    /// Returns the levels of the most frequent values; all other values share one level.
    fn of_values(column: &Column) -> Self {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        column
            .entries
            .iter()
            .filter(|entry| !entry.is_empty())
            .for_each(|entry| *counts.entry(entry).or_default() += 1);
        let mut values: Vec<(&str, usize)> = counts.into_iter().collect();
        values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let own = if values.len() > VALUES_MAX { VALUES_MAX - 1 } else { values.len() };
        let levels: HashMap<&str, u8> =
            values[..own].iter().zip(1..).map(|((value, _), level)| (*value, level)).collect();
        let level = |entry: &String| match entry.is_empty() {
            true => 0,
            false => levels.get(entry.as_str()).copied().unwrap_or(own as u8 + 1),
        };
        let names = values[..own].iter().map(|(value, _)| (*value).to_owned()).collect();
        let scale = Scale::Values { names, others: values.len() - own };
        Self::new(column.into(), scale, column.entries.iter().map(level).collect())
    }

    /// Returns the levels of numbers; `None` if an entry is neither empty nor a number, or if no number is finite.
    fn of_numbers(column: &Column) -> Option<Self> {
        /// The ratio between the greatest and the least number beyond which the scale is logarithmic, if all numbers
        /// are positive.
        const WIDE: f64 = 100.0;
        let number = |entry: &String| if entry.is_empty() { Some(f64::NAN) } else { entry.trim().parse().ok() };
        let numbers: Vec<f64> = column.entries.iter().map(number).collect::<Option<_>>()?;
        let finite = || (0..numbers.len()).filter(|&row| numbers[row].is_finite());
        let least = finite().min_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))?;
        let greatest = finite().max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))?;
        let (from, to) = (numbers[least], numbers[greatest]);
        let is_logarithmic = from > 0.0 && to / from > WIDE;
        let place = |x: f64| if is_logarithmic { x.ln() } else { x };
        let (start, end) = (place(from), place(to));
        // Computed with halves, because the difference of two very large numbers would be infinite.
        let share = |x: f64| if start < end { (place(x) / 2.0 - start / 2.0) / (end / 2.0 - start / 2.0) } else { 0.5 };
        let level = |x: &f64| if x.is_finite() { number_level(share(*x)) } else { 0 };
        let written = |row: usize| column.entries[row].trim().to_owned();
        let scale = Scale::Numbers { least: written(least), greatest: written(greatest), is_logarithmic };
        Some(Self::new(column.into(), scale, numbers.iter().map(level).collect()))
    }
}

impl From<&Column> for Feature {
    fn from(column: &Column) -> Self {
        Self::Column(column.name.clone())
    }
}

fn number_level(share: f64) -> u8 {
    let (least, greatest) = NUMBER_LEVELS;
    least + (share.clamp(0.0, 1.0) * f64::from(greatest - least)).round() as u8
}

/// The features of the rows of a file of vectors. Clones share the data.
#[derive(Clone, Debug)]
pub struct Features(Arc<Table>);

#[derive(Debug)]
struct Table {
    rows: usize,
    columns: Arc<[Column]>,
    /// The levels computed so far: of the rank, and then of each column.
    made: Box<[Made]>,
}

#[derive(Debug, Default)]
struct Made {
    colors: OnceLock<Option<Arc<Levels>>>,
    /// The levels of sizes; `None` if the column does not consist of numbers.
    sizes: OnceLock<Option<Arc<Levels>>>,
}

impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Features {
    /// Returns the features of a file of vectors that is opened by itself; `None` for any other lesson. Returns
    /// `before` if it has the same number of rows and the same columns.
    pub(super) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let StaticEmbedding::Given(given) = &snapshot.lesson.static_embedding else { return None };
        let columns = match &given.source {
            GivenSource::WholeFile(columns) => columns.clone(),
            GivenSource::FirstRows => Arc::default(),
            GivenSource::Lesson | GivenSource::File(_) => return None,
        };
        let is_same = |known: &&Self| known.0.rows == given.words.len() && Arc::ptr_eq(&known.0.columns, &columns);
        Some(before.filter(is_same).cloned().unwrap_or_else(|| Self::new(given.words.len(), columns)))
    }

    pub fn new(rows: usize, columns: Arc<[Column]>) -> Self {
        let made = (0..=columns.len()).map(|_| Made::default()).collect();
        Self(Arc::new(Table { rows, columns, made }))
    }

    /// Returns the rank, and the columns in the order of the file.
    pub fn all(&self) -> impl Iterator<Item = Feature> {
        std::iter::once(Feature::Rank).chain(self.0.columns.iter().map(Feature::from))
    }

    /// Returns the features that consist of numbers, and so can set sizes.
    pub fn of_numbers(&self) -> impl Iterator<Item = Feature> {
        self.all().filter(|feature| self.sizes(feature).is_some())
    }

    /// Returns the column of a feature, which is `None` for the rank, and its levels; `None` for a column that the file
    /// does not have.
    fn find(&self, feature: &Feature) -> Option<(Option<&Column>, &Made)> {
        let Table { columns, made, .. } = &*self.0;
        let Feature::Column(name) = feature else { return Some((None, &made[0])) };
        let at = columns.iter().position(|column| column.name == *name)?;
        Some((Some(&columns[at]), &made[1 + at]))
    }

    /// Returns the entry of a row: its rank, counted from 1, or the text in the column; `None` if the row has none.
    pub fn entry(&self, feature: &Feature, row: usize) -> Option<String> {
        match self.find(feature)?.0 {
            None => Some((row + 1).to_string()),
            Some(column) => column.entries.get(row).filter(|entry| !entry.is_empty()).map(|entry| shorten(entry)),
        }
    }

    /// Returns the levels for sizes; `None` if the feature does not consist of numbers, or if the file does not have
    /// it.
    pub fn sizes(&self, feature: &Feature) -> Option<Arc<Levels>> {
        let (column, made) = self.find(feature)?;
        let levels = || match column {
            None => Some(Arc::new(Levels::of_ranks(self.0.rows))),
            Some(column) => Levels::of_numbers(column).map(Arc::new),
        };
        made.sizes.get_or_init(levels).clone()
    }

    /// Returns the levels for colours; `None` if the file does not have the feature. If there are only a few different
    /// values, each has a colour of its own, even if they are numbers.
    pub fn colors(&self, feature: &Feature) -> Option<Arc<Levels>> {
        let (column, made) = self.find(feature)?;
        let levels = || {
            let sizes = self.sizes(feature);
            let is_few = |values: &Levels| matches!(values.scale, Scale::Values { others: 0, .. });
            let values = column.map(Levels::of_values).filter(|values| is_few(values) || sizes.is_none());
            values.map(Arc::new).or(sizes)
        };
        made.colors.get_or_init(levels).clone()
    }

    /// Finds a feature by name; for `sizes`, only among those that consist of numbers.
    ///
    /// # Errors
    /// If there is none; the message lists the columns.
    pub fn named(&self, name: &str, sizes: bool) -> Result<Feature, String> {
        let all: Vec<Feature> = if sizes { self.of_numbers().collect() } else { self.all().collect() };
        // A column with the name of the rank takes precedence.
        if let Some(feature) = all.iter().rev().find(|feature| feature.name() == name) {
            return Ok(feature.clone());
        }
        let names: Vec<&str> = all.iter().map(Feature::name).collect();
        let near =
            nearest(name, names.iter().copied()).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let kind = if sizes { "column of numbers" } else { "column" };
        let names: Vec<String> = names.into_iter().map(quoted).collect();
        Err(format!("the file has no {kind} {name:?}; it has {}{near}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, entries: &[&str]) -> Column {
        Column { name: name.to_owned(), entries: entries.iter().map(|entry| (*entry).to_owned()).collect() }
    }

    fn features(columns: Vec<Column>) -> Features {
        Features::new(columns.first().map_or(0, |column| column.entries.len()), columns.into())
    }

    fn levels(levels: &Levels) -> Vec<u8> {
        (0..levels.of_rows.len()).map(|row| levels.of(row)).collect()
    }

    fn of(name: &str) -> Feature {
        Feature::Column(name.to_owned())
    }

    #[test]
    fn few_values_have_a_colour_each_and_many_share_the_last() {
        let few = features(vec![column("part", &["verb", "noun", "", "noun"])]);
        let entries = [(&of("part"), 1), (&of("part"), 2), (&Feature::Rank, 1)].map(|(of, row)| few.entry(of, row));
        assert_eq!(entries, [Some("noun".to_owned()), None, Some("2".to_owned())]);
        let colors = few.colors(&of("part")).expect("a column");
        assert_eq!(levels(&colors), [2, 1, 0, 1], "the most frequent first, and nothing for no entry");
        assert_eq!(colors.scale, Scale::Values { names: vec!["noun".to_owned(), "verb".to_owned()], others: 0 });
        let names: Vec<String> = (0..VALUES_MAX + 3).map(|value| format!("v{value:02}")).collect();
        let entries: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = features(vec![column("part", &entries)]).colors(&of("part")).expect("a column");
        assert_eq!(levels(&many), [1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8]);
        assert!(matches!(&many.scale, Scale::Values { names, others: 4 } if names.len() == VALUES_MAX - 1));
        assert_eq!(many.scale.levels(), VALUES_MAX + 1);
    }

    #[test]
    fn numbers_are_a_scale_from_the_least_to_the_greatest() {
        let numbers: Vec<String> = (0..=10).map(|x| (x * 10 - 50).to_string()).collect();
        let mut entries: Vec<&str> = numbers.iter().map(String::as_str).collect();
        entries.extend(["", "inf"]);
        let all = features(vec![column("x", &entries), column("tag", &["a"; 13])]);
        let sizes = all.sizes(&of("x")).expect("numbers");
        assert_eq!(levels(&sizes), [1, 26, 52, 77, 103, 128, 153, 179, 204, 230, 255, 0, 0]);
        assert_eq!(sizes.scale.range(), "-50 to 50");
        assert_eq!(all.colors(&of("x")), Some(sizes), "many numbers are a ramp");
        assert_eq!(all.sizes(&of("tag")), None);
        assert_eq!(all.of_numbers().collect::<Vec<_>>(), [Feature::Rank, of("x")]);
        let wide = features(vec![column("count", &["1", "100", "10000"])]).sizes(&of("count")).expect("numbers");
        assert_eq!((levels(&wide), wide.scale.range()), (vec![1, 128, 255], "1 to 10000, logarithmic".to_owned()));
        let extreme = features(vec![column("x", &["-1.7e308", "1.7e308", "0"])]).sizes(&of("x")).expect("numbers");
        assert_eq!(levels(&extreme), [1, 255, 128]);
    }

    #[test]
    fn few_numbers_are_colours_of_their_own_and_sizes_of_a_scale() {
        let clusters = features(vec![column("cluster", &["0", "2", "1", "2"])]);
        let (colors, sizes) = (clusters.colors(&of("cluster")), clusters.sizes(&of("cluster")));
        assert_eq!(
            (levels(&colors.expect("values")), levels(&sizes.expect("numbers"))),
            (vec![2, 1, 3, 1], vec![1, 255, 128, 255])
        );
    }

    #[test]
    fn the_first_row_has_the_greatest_rank_and_the_last_the_least() {
        let ranks = Features::new(1000, Arc::default()).colors(&Feature::Rank).expect("the rank");
        assert_eq!([0, 9, 99, 999].map(|row| ranks.of(row)), [255, 170, 86, 1]);
        assert_eq!(ranks.scale.range(), "1000 to 1, logarithmic");
        assert_eq!(Features::new(1, Arc::default()).colors(&Feature::Rank).expect("the rank").of(0), 255);
    }

    #[test]
    fn an_unknown_name_is_told_those_that_there_are() {
        let all = features(vec![column("part", &["a", "b"]), column("count", &["1", "2"])]);
        assert_eq!((all.named("count", true), all.named("rank", false)), (Ok(of("count")), Ok(Feature::Rank)));
        let error = all.named("cuont", false).expect_err("no such column");
        assert_eq!(error, "the file has no column \"cuont\"; it has “rank”, “part”, “count”; did you mean \"count\"?");
        let error = all.named("part", true).expect_err("no numbers");
        assert!(error.starts_with("the file has no column of numbers \"part\"; it has “rank”, “count”"), "{error}");
        let own = features(vec![column("rank", &["a", "b"])]);
        assert_eq!(own.named("rank", false), Ok(of("rank")), "the column of that name");
    }
}
