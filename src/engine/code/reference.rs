//! Help on the functions of code cells.

use super::fault::Fault;
use crate::nearest::nearest;

/// One function as the reference shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Help {
    pub name: &'static str,
    pub call: &'static str,
    /// The equation, as LaTeX; empty where there is none.
    pub equation: &'static str,
    pub meaning: &'static str,
    /// A cell of its own that runs.
    pub example: &'static str,
}

impl Help {
    fn text(&self) -> String {
        let Self { call, equation, meaning, example, .. } = self;
        let equation = if equation.is_empty() { String::new() } else { format!("\n${equation}$") };
        format!("{call}{equation}\n{meaning}\nFor example: {example}")
    }

    /// The one whose text this is.
    pub fn of_text(text: &str) -> Option<&'static Self> {
        REFERENCE.iter().find(|help| text.starts_with(help.call) && *text == help.text())
    }
}

macro_rules! help {
    ($($name:literal, $call:literal, $equation:literal, $meaning:literal, $example:literal;)*) => {
        &[$(Help { name: $name, call: $call, equation: $equation, meaning: $meaning, example: $example }),*]
    };
}

/// Every function, in the order of the reference.
pub const REFERENCE: &[Help] = help! {
    "matrix", "matrix([[…], […]])", "", "A matrix, from a list of rows.", "matrix([[1, 2], [3, 4]])";
    "vector", "vector([…])", "", "A vector, from a list of numbers.", "vector([1, 2, 3])";
    "zeros", "zeros(rows, cols)", "", "Matrix of zeros; with one argument, a vector.", "zeros(2, 3)";
    "ones", "ones(rows, cols)", "", "A matrix of ones; with one length, a vector.", "ones(2, 3)";
    "eye", "eye(n)", r"I_{ij} = [i = j]", "The identity matrix.", "eye(3)";
    "random", "random(rows, cols)", r"x \sim U(-1, 1)", "A matrix of random numbers, the same in every run of the cell.", "random(2, 3)";
    "softmax", "softmax(S)", r"p_j = \frac{e^{s_j}}{\sum_k e^{s_k}}", "Turns each row into weights that sum to 1.", "softmax(vector([6, 4]))";
    "mask", "mask(S)", r"s_{ij} = -\infty \text{ for } j > i", "Hides the columns after each row's own position, as a causal mask does.", "softmax(mask(zeros(3, 3)))";
    "exp", "exp(X)", r"e^x", "The exponential of each entry.", "exp(vector([0, 1]))";
    "log", "log(X)", r"\ln x", "The natural logarithm of each entry.", "log(vector([1, 2]))";
    "sqrt", "sqrt(X)", r"\sqrt{x}", "The square root of each entry.", "sqrt(vector([4, 9]))";
    "abs", "abs(X)", r"|x|", "The absolute value of each entry.", "abs(vector([-1, 2]))";
    "tanh", "tanh(X)", r"\tanh x", "The hyperbolic tangent of each entry.", "tanh(vector([0, 1]))";
    "relu", "relu(X)", r"\max(0, x)", "Each entry, with negative ones set to 0.", "relu(vector([-1, 2]))";
    "round", "round(X, digits)", "", "Each entry, rounded to a number of digits.", "round(vector([0.12345]), 2)";
    "sum", "sum(X)", r"\sum_j x_j", "The sum of each row; for a vector, a number.", "sum(vector([1, 2, 3]))";
    "mean", "mean(X)", r"\frac{1}{n} \sum_j x_j", "The mean of each row; for a vector, a number.", "mean(vector([1, 2, 3]))";
    "max", "max(X)", r"\max_j x_j", "The largest entry of each row; for a vector, a number.", "max(vector([1, 3, 2]))";
    "min", "min(X)", r"\min_j x_j", "The smallest entry of each row; for a vector, a number.", "min(vector([1, 3, 2]))";
    "argmax", "argmax(X)", r"\arg\max_j x_j", "The position of the largest entry in each row: its word, or its index.", "argmax(vector([1, 3, 2]))";
    "norm", "norm(X)", r"\lVert x \rVert = \sqrt{\sum_j x_j^2}", "The length of each row; for a vector, a number.", "norm(vector([3, 4]))";
    "dot", "dot(a, b)", r"a \cdot b = \sum_j a_j b_j", "The dot product of two vectors, the same as a @ b.", "dot(vector([1, 2]), vector([3, 4]))";
    "cosine", "cosine(a, b)", r"\frac{a \cdot b}{\lVert a \rVert \lVert b \rVert}", "How much two vectors point the same way, from -1 to 1.", "cosine(vector([1, 0]), vector([1, 1]))";
    "nearest", "nearest(table, vector, count)", r"\cos(t_i, v)", "The rows of a table most like a vector, by cosine, with their words.", "nearest(eye(3), vector([1, 0.5, 0]), 2)";
    "expect", "expect(found, expected, tolerance)", r"|x - y| \le t", "Returns the value if every number is as expected, and otherwise stops with the place of the first difference.", "expect(softmax(vector([6, 4])), [0.8808, 0.1192], 0.0001)";
    "forward", "forward(\"sentence\", [heads])", "", "Runs the model on a sentence, without the heads in the list, if one is given; its tensors are read by their names. Heads count from 0, through all layers.", "forward(\"the cat\").A[0]";
    "shape", "shape(X)", "", "The number of entries along each axis.", "shape(zeros(2, 3))";
    "show", "show(\"caption\", X)", "", "Shows a value in the middle of a cell.", "show(\"ones\", ones(1, 2));";
    "plot", "plot(x, y, names)", "", "Draws y over x; each row of a matrix y is a line. A list of names for the lines may follow.", "plot(vector([1, 2, 3]), vector([1, 4, 9]));";
    "image", "image(\"file.png\")", "", "Shows a PNG or JPEG file from the lesson's folder.", "image(\"picture.png\");";
    "help", "help(\"name\")", "", "Explains a function.", "help(\"softmax\")";
};

/// The help of a name.
pub fn help(name: &str) -> Result<String, Fault> {
    match REFERENCE.iter().find(|help| help.name == name) {
        Some(help) => Ok(help.text()),
        None => {
            let fault = Fault::new(format!("there is no function {name:?}"));
            Err(match nearest(name, REFERENCE.iter().map(|help| help.name)) {
                Some(near) => fault.hint(format!("did you mean {near:?}?")),
                None => fault.hint("the reference lists all functions"),
            })
        }
    }
}
