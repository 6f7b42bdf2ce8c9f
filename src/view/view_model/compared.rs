//! An answer to an exercise: yours, expected, and the difference, as numbers or as tables one below the other.

use std::sync::Arc;

use attune_core::kernel::notebook::snapshot::Compared;
use attune_engine::code::{Axis, Output, Tensor};

use super::output::{OutputModel, TableModel, short};

/// One case of an exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedModel {
    /// `Case 2 of 3`; empty where there is only one.
    pub name: String,
    pub is_right: bool,
    pub content: ComparedContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ComparedContent {
    Numbers(ComparedNumbers),
    Tables {
        /// The tables in the order of [`SIDES`].
        table: TableModel,
        /// The largest difference, with its sign lost.
        largest: f64,
    },
    /// Two things that no difference is taken of, such as tables of two sizes.
    Apart {
        yours: OutputModel,
        expected: OutputModel,
        /// Why there is no difference; empty where none can be thought of.
        why: String,
    },
}

/// Three numbers, or words such as `true`.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedNumbers {
    pub yours: String,
    pub expected: String,
    pub difference: String,
}

/// The three that stand beside each other.
pub const SIDES: [&str; 3] = ["yours", "expected", "difference"];

impl ComparedModel {
    pub fn all(compared: &[Compared]) -> Vec<Self> {
        let of = compared.len();
        let name = |index: usize| if of == 1 { String::new() } else { format!("Case {} of {of}", index + 1) };
        let cases = compared.iter().enumerate();
        cases.map(|(i, case)| Self { name: name(i), is_right: case.is_right, content: content(case) }).collect()
    }

    /// The difference in a word or two, for the line that stands for a case.
    pub fn summary(&self) -> String {
        match &self.content {
            ComparedContent::Numbers(numbers) => format!("difference {}", numbers.difference),
            ComparedContent::Tables { largest, .. } => format!("largest difference {}", rounded(*largest)),
            ComparedContent::Apart { why, .. } if !why.is_empty() => why.clone(),
            ComparedContent::Apart { .. } => (if self.is_right { "as expected" } else { "not as expected" }).to_owned(),
        }
    }
}

fn content(case: &Compared) -> ComparedContent {
    let apart = |why: String| ComparedContent::Apart {
        yours: OutputModel::of(&case.yours),
        expected: OutputModel::of(&case.expected),
        why,
    };
    match (&case.yours, &case.expected) {
        (Output::Number(yours), Output::Number(expected)) => ComparedContent::Numbers(ComparedNumbers {
            yours: rounded(*yours),
            expected: rounded(*expected),
            difference: signed(yours - expected),
        }),
        (Output::Number(yours), Output::Text(text)) if bound(text).is_some() => {
            let difference = bound(text).map_or_else(String::new, |bound| signed(yours - bound));
            ComparedContent::Numbers(ComparedNumbers { yours: rounded(*yours), expected: text.to_string(), difference })
        }
        (Output::Table { tensor: yours, .. }, Output::Table { tensor: expected, .. }) => {
            if yours.shape().to_string() != expected.shape().to_string() {
                return apart(format!("shape {}, expected {}", yours.shape(), expected.shape()));
            }
            stacked(yours, expected).unwrap_or_else(|| apart(String::new()))
        }
        (Output::Text(yours), Output::Text(expected)) if [yours, expected].map(is_short) == [true; 2] => {
            let difference = (if yours == expected { "none" } else { "differs" }).to_owned();
            ComparedContent::Numbers(ComparedNumbers {
                yours: yours.to_string(),
                expected: expected.to_string(),
                difference,
            })
        }
        (Output::Number(_), Output::Table { tensor, .. }) => apart(format!("one number, expected {}", tensor.shape())),
        (Output::Table { tensor, .. }, Output::Number(_)) => {
            apart(format!("shape {}, expected one number", tensor.shape()))
        }
        _ => apart(String::new()),
    }
}

/// A word that has room beside numbers.
fn is_short(text: &Arc<str>) -> bool {
    const CHARS_MAX: usize = 24;
    text.chars().count() <= CHARS_MAX && !text.contains('\n')
}

/// The three tables as one tensor; `None` where it would have more axes than a table shows.
fn stacked(yours: &Tensor, expected: &Tensor) -> Option<ComparedContent> {
    const AXES_MAX: usize = 3;
    if yours.rank() >= AXES_MAX {
        return None;
    }
    let difference: Vec<f64> = yours.entries().iter().zip(expected.entries()).map(|(a, b)| a - b).collect();
    let largest =
        difference.iter().fold(0.0_f64, |largest, x| if x.is_nan() { f64::NAN } else { largest.max(x.abs()) });
    let names: Arc<[String]> = SIDES.map(str::to_owned).into();
    let axes = std::iter::once(Axis::labelled(names)).chain(expected.axes().iter().cloned()).collect();
    let entries = [yours.entries(), expected.entries(), &difference].concat();
    let table = TableModel::of(&Arc::from(""), &Tensor::new(axes, entries));
    Some(ComparedContent::Tables { table, largest })
}

/// The number of a bound such as `> 0.5` or `at most 3`.
fn bound(text: &str) -> Option<f64> {
    let number = ["> ", "< ", "at least ", "at most "].iter().find_map(|word| text.strip_prefix(word))?;
    number.trim().parse().ok()
}

/// Four decimals: enough to see what a check with a tolerance sees.
fn rounded(number: f64) -> String {
    const SCALE: f64 = 1e4;
    let rounded = (number * SCALE).round() / SCALE;
    let is_lost = rounded == 0.0 && number != 0.0;
    short(if is_lost || !rounded.is_finite() { number } else { rounded })
}

fn signed(number: f64) -> String {
    let text = rounded(number);
    if number > 0.0 { format!("+{text}") } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(yours: Output, expected: Output) -> ComparedModel {
        ComparedModel::all(&[Compared { yours, expected, is_right: false }]).remove(0)
    }

    fn vector(entries: &[f64]) -> Output {
        Output::Table { caption: "".into(), tensor: Tensor::vector(entries.to_vec()) }
    }

    #[test]
    fn numbers_stand_beside_their_difference() {
        let numbers = |yours, expected| match compared(Output::Number(yours), expected).content {
            ComparedContent::Numbers(ComparedNumbers { yours, expected, difference }) => [yours, expected, difference],
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers(0.25, Output::Number(0.75)), ["0.25", "0.75", "−0.5"]);
        assert_eq!(numbers(1.0 / 3.0, Output::Number(0.0)), ["0.3333", "0", "+0.3333"]);
        assert_eq!(numbers(0.21, Output::Text("> 0.5".into())), ["0.21", "> 0.5", "−0.29"]);
    }

    #[test]
    fn tables_stand_one_below_the_other() {
        let model = compared(vector(&[1.0, 2.0]), vector(&[1.0, 4.0]));
        let ComparedContent::Tables { table, largest } = &model.content else { panic!("{model:?}") };
        assert_eq!(*largest, 2.0);
        assert_eq!([0, 1, 2].map(|row| table.row_name(row)), SIDES);
        assert_eq!([table.entry(0, 2, 0), table.entry(0, 2, 1)], [0.0, -2.0]);
        assert_eq!(model.summary(), "largest difference 2");
    }

    #[test]
    fn tables_of_two_sizes_say_so() {
        assert_eq!(compared(vector(&[1.0]), vector(&[1.0, 2.0])).summary(), "shape (1), expected (2)");
        let model = compared(Output::Number(1.0), vector(&[1.0, 2.0]));
        assert_eq!(model.summary(), "one number, expected (2)");
    }
}
