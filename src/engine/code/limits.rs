//! The limits of code cells, as numbers, which the [`budget`](super::budget), the engine and the functions enforce.

use std::time::Duration;

/// Largest number of Rhai operations of one run.
pub const OPERATIONS_MAX: u64 = 5_000_000;
/// Largest number of entries of one tensor: a table of 1000 by 1000.
pub const TENSOR_ENTRIES_MAX: usize = 1_000_000;
/// Largest number of entries of all tensors together that one run makes.
pub const RUN_ENTRIES_MAX: usize = 50_000_000;
/// Largest number of multiplications in all matrix products and model passes of one run: as many as all patches of a
/// sentence take in a small model.
pub const RUN_PRODUCTS_MAX: u64 = 4_000_000_000;
/// Largest size of the outputs of one run, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 8 << 20;
/// Largest number of outputs of one run.
pub const OUTPUTS_MAX: usize = 200;
/// Largest number of words in a list of words with similarities.
pub const RANKED_MAX: usize = 1000;
/// Longest path of a picture, in bytes.
pub const IMAGE_PATH_BYTES_MAX: usize = 400;
/// Longest name of a line of a plot, in characters.
pub const LINE_NAME_CHARS_MAX: usize = 40;
/// Largest number of lines of one plot.
pub const PLOT_LINES_MAX: usize = 100;
/// Longest time that a cell may run, with all its parts. The work after a run takes a second at most, so a cell is done
/// within 5 s.
pub const TIME_MAX: Duration = Duration::from_secs(4);
/// Longest time for the expressions within one text. It is short because many texts are evaluated after each change.
pub const TEXT_TIME_MAX: Duration = Duration::from_secs(1);
/// Largest memory of one cell, whatever it is used for.
pub const RUN_BYTES_MAX: usize = 320 << 20;
/// Largest memory of the variables and outputs of all cells.
pub const KEPT_BYTES_MAX: usize = 512 << 20;
pub const CALL_LEVELS_MAX: usize = 48;
pub const EXPRESSION_DEPTH_MAX: usize = 64;
/// Stack size of a run. Functions and expressions of the greatest depth take 5 MB of it, nested lists 20 MB.
pub const STACK_BYTES: usize = 64 << 20;
/// Largest sizes of a text, a list and a map, including all that they contain. Every variable of every call may have
/// this size.
pub const STRING_BYTES_MAX: usize = 1 << 17;
pub const ARRAY_ENTRIES_MAX: usize = 10_000;
pub const MAP_ENTRIES_MAX: usize = 1000;
/// Largest depth of nested lists that a cell may define.
pub const NESTING_MAX: usize = 32;
/// Largest numbers of variables and functions of one scope.
pub const VARIABLES_MAX: usize = 128;
pub const FUNCTIONS_MAX: usize = 200;
/// Longest text of a cell, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;
