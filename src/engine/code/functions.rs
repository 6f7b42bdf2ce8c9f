//! The functions of code cells.

use rand::RngExt;
use rhai::{
    Array, Dynamic, Engine, EvalAltResult, FuncRegistration, INT, Identifier, ImmutableString, Map, NativeCallContext,
    Variant, format_map_as_json,
};

use crate::code::budget::{
    Budget, IMAGE_PATH_BYTES_MAX, LINE_NAME_CHARS_MAX, PLOT_LINES_MAX, RANKED_MAX, STRING_BYTES_MAX,
};
use crate::code::fault::Fault;
use crate::code::index::Whole;
use crate::code::tensor::{Tensor, cost};
use crate::code::value::{Output, Plot, PlotLine, Ranking, extent, in_text, number, type_name};
use crate::messages::nearest;
use crate::numerics::rng::{Stream, part};
use crate::numerics::softmax::softmax_forward;
use crate::numerics::vectors::{cosine, norm};

/// The result of a function. A [`Fault`] becomes a Rhai error, to which Rhai adds the place of the call.
pub(super) type Answer<T> = Result<T, Box<EvalAltResult>>;

/// Registers all functions. Each charges the budget before it makes a tensor.
pub fn register(engine: &mut Engine, budget: &Budget, seed: u64) {
    engine.register_type_with_name::<Tensor>("tensor").register_type_with_name::<Whole>("..");
    engine.register_type_with_name::<Ranking>("ranking");
    engine.register_fn("to_string", |ranking: &mut Ranking| ranking.to_string());
    register_operators(engine, budget);
    register_makers(engine, budget, seed);
    register_entrywise(engine, budget);
    register_rows(engine, budget);
    register_outputs(engine, budget);
    register_texts(engine, budget);
    let paid = budget.clone();
    engine.register_fn("expect", move |found: Dynamic, expected: Dynamic, tolerance: Dynamic| -> Answer<Dynamic> {
        check_expected(&found, &expected, &tolerance, &paid)?;
        Ok(found)
    });
}

/// Registers a function of one tensor, whose cost is charged first.
fn register_of_tensor<T: Variant + Clone>(
    engine: &mut Engine,
    budget: &Budget,
    name: &str,
    f: impl Fn(&Tensor) -> Result<T, Fault> + Send + Sync + 'static,
) {
    let paid = budget.clone();
    engine.register_fn(name, move |x: Tensor| -> Answer<T> {
        paid.pay(x.cost())?;
        Ok(f(&x)?)
    });
}

/// Replaces Rhai's functions that make texts, which check the size of the result only after it is made, and its
/// `to_int`.
fn register_texts(engine: &mut Engine, budget: &Budget) {
    fn replace(text: &mut ImmutableString, old: &str, new: &str) -> Answer<()> {
        let count = text.matches(old).count();
        let len = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
        if len > STRING_BYTES_MAX {
            let fault = Fault::new(format!("replace: the result has {len} bytes"));
            return Err(fault.hint(format!("a text has at most {STRING_BYTES_MAX}")).into());
        }
        *text = text.replace(old, new).into();
        Ok(())
    }
    engine.register_fn("replace", replace);
    engine.register_fn("replace", |text: &mut ImmutableString, old: char, new: &str| {
        replace(text, old.encode_utf8(&mut [0; 4]), new)
    });
    engine.register_fn("to_int", |x: f64| -> Answer<INT> { Ok(whole(x)?) });
    for name in ["print", "to_string", "debug", "to_debug"] {
        engine.register_fn(name, |number: f64| in_text(number, 0.0));
        let watch = budget.clone();
        let of_list = move |context: NativeCallContext, list: &mut Array| {
            if !fits(list.iter(), &watch) {
                list.clear();
                return String::new();
            }
            let largest = extent(list);
            let parts = list.iter_mut().map(|part| match part.as_float() {
                Ok(number) => in_text(number, largest).into(),
                Err(_) => text_within(&context, part),
            });
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        };
        FuncRegistration::new(name).with_purity(true).register_into_engine(engine, of_list);
        let watch = budget.clone();
        let of_map = move |context: NativeCallContext, map: &mut Map| {
            if !fits_map(map, &watch) {
                map.clear();
                return String::new();
            }
            let part = |(key, part): (&Identifier, &mut Dynamic)| format!("{key:?}: {}", text_within(&context, part));
            format!("#{{{}}}", map.iter_mut().map(part).collect::<Vec<_>>().join(", "))
        };
        FuncRegistration::new(name).with_purity(true).register_into_engine(engine, of_map);
    }
    let watch = budget.clone();
    let to_json = move |map: &mut Map| {
        if fits_map(map, &watch) {
            return format_map_as_json(map);
        }
        map.clear();
        String::new()
    };
    FuncRegistration::new("to_json").with_purity(true).register_into_engine(engine, to_json);
}

/// Returns the text of a value as Rhai writes it within a list.
fn text_within(context: &NativeCallContext, value: &mut Dynamic) -> ImmutableString {
    let text = context.call_native_fn_raw("to_debug", true, &mut [value]);
    text.ok().and_then(|text| text.into_immutable_string().ok()).unwrap_or_default()
}

/// Returns whether a list is short enough to be written as a text, and ends the run if it is not. The caller then
/// empties the list, because Rhai writes all of it even after a fault.
fn fits<'a>(mut parts: impl Iterator<Item = &'a Dynamic>, budget: &Budget) -> bool {
    let mut left = STRING_BYTES_MAX;
    if budget.ended().is_none() && !parts.all(|part| takes(part, &mut left)) {
        budget.end(too_long());
    }
    budget.ended().is_none()
}

fn fits_map(map: &Map, budget: &Budget) -> bool {
    let keys: usize = map.keys().map(|key| key.len()).sum();
    if keys > STRING_BYTES_MAX {
        budget.end(too_long());
    }
    keys <= STRING_BYTES_MAX && fits(map.values(), budget)
}

fn too_long() -> Fault {
    let message = format!("a list that takes more than {STRING_BYTES_MAX} bytes to write cannot be made into a text");
    Fault::new(message).hint("write only parts of the list")
}

/// Subtracts from `left` the least number of bytes that the text of a value can have: the bytes of all strings and keys
/// in it, and one byte for each value. Returns false if fewer are left.
fn takes(value: &Dynamic, left: &mut usize) -> bool {
    let own = value.read_lock::<ImmutableString>().map_or(1, |text| text.len() + 1);
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    if let Some(list) = value.read_lock::<Array>() {
        return list.iter().all(|part| takes(part, left));
    }
    let Some(map) = value.read_lock::<Map>() else { return true };
    map.iter().all(|(key, part)| {
        *left = left.saturating_sub(key.len());
        takes(part, left)
    })
}

/// Hint for a number that is NaN.
const NO_NUMBER: &str = "NaN comes from calculations without a result, such as 0.0 / 0.0 or sqrt(-1.0)";

/// Converts a number without a fraction to a whole number.
fn whole(x: f64) -> Result<INT, Fault> {
    // INT::MAX is not exact as a double; it becomes 2^63, the first number that is too large.
    let limits = INT::MIN as f64..INT::MAX as f64;
    if limits.contains(&x) {
        return Ok(x as INT);
    }
    if x.is_nan() {
        return Err(Fault::new("to_int: NaN cannot become a whole number").hint(NO_NUMBER));
    }
    let fault = Fault::new(format!("to_int: {x:e} is too large for a whole number"));
    Err(fault.hint(format!("whole numbers go from {:.1e} to {:.1e}", limits.start, limits.end)))
}

fn register_operators(engine: &mut Engine, budget: &Budget) {
    type Op = fn(f64, f64) -> f64;
    let operators: [(&str, &str, Op); 6] = [
        ("+", "add", |a, b| a + b),
        ("-", "subtract", |a, b| a - b),
        ("*", "multiply", |a, b| a * b),
        ("/", "divide", |a, b| a / b),
        ("**", "raise", f64::powf),
        ("%", "divide", |a, b| a % b),
    ];
    for (operator, verb, op) in operators {
        let paid = budget.clone();
        engine.register_fn(operator, move |a: Tensor, b: Tensor| -> Answer<Tensor> {
            let axes = a.common_axes(verb, &b)?;
            paid.pay(cost(axes.iter().map(|axis| axis.len)))?;
            Ok(a.zip(&b, axes, op))
        });
        macro_rules! with_numbers {
            ($($number:ty),*) => {$(
                let paid = budget.clone();
                engine.register_fn(operator, move |a: Tensor, b: $number| -> Answer<Tensor> {
                    paid.pay(a.cost())?;
                    Ok(a.map(|a| op(a, b as f64)))
                });
                let paid = budget.clone();
                engine.register_fn(operator, move |a: $number, b: Tensor| -> Answer<Tensor> {
                    paid.pay(b.cost())?;
                    Ok(b.map(|b| op(a as f64, b)))
                });
            )*};
        }
        with_numbers!(f64, INT);
    }
    register_of_tensor(engine, budget, "-", |a| Ok(a.map(|a| -a)));
    engine.register_fn("==", |a: Tensor, b: Tensor| a == b).register_fn("!=", |a: Tensor, b: Tensor| a != b);

    for name in ["@", "dot"] {
        let paid = budget.clone();
        engine.register_fn(name, move |a: Tensor, b: Tensor| -> Answer<Dynamic> {
            let axes = a.product_axes(&b)?;
            paid.pay(cost(axes.iter().map(|axis| axis.len)))?;
            paid.work(a.product_work(&b))?;
            // A large product takes seconds.
            let entries = a.product(&b, || paid.check())?;
            Ok(Tensor::new(axes, entries).into_dynamic())
        });
    }
    let paid = budget.clone();
    engine.register_get("T", move |a: &mut Tensor| -> Answer<Tensor> {
        paid.pay(a.cost())?;
        Ok(a.transposed())
    });

    let paid = budget.clone();
    engine.register_indexer_get(move |tensor: &mut Tensor, at: Dynamic| -> Answer<Dynamic> {
        Ok(tensor.get(&at, &paid)?)
    });
    let paid = budget.clone();
    engine.register_indexer_set(move |tensor: &mut Tensor, at: Dynamic, x: Dynamic| -> Answer<()> {
        Ok(tensor.set(&at, &x, &paid)?)
    });
    // `i, j` in an index becomes a list, and each further comma adds an entry to the list.
    engine.register_fn(super::syntax::PAIR, |a: Dynamic, b: Dynamic| -> Dynamic {
        let mut indices = a.clone().try_cast::<Array>().unwrap_or_else(|| vec![a]);
        indices.push(b);
        Dynamic::from(indices)
    });
}

pub(super) fn count(name: &str, n: INT) -> Result<usize, Fault> {
    usize::try_from(n)
        .map_err(|_| Fault::new(format!("{name}: {n} is not a count")).hint("use 0 or a larger whole number"))
}

/// Checks the numbers of rows and columns of a matrix that is to be made, charges for it, and returns them.
fn sides(name: &str, rows: INT, cols: INT, budget: &Budget) -> Result<[usize; 2], Fault> {
    let sides = [count(name, rows)?, count(name, cols)?];
    budget.pay(cost(sides))?;
    Ok(sides)
}

fn register_makers(engine: &mut Engine, budget: &Budget, seed: u64) {
    for (name, entry) in [("zeros", 0.0), ("ones", 1.0)] {
        let paid = budget.clone();
        engine.register_fn(name, move |rows: INT, cols: INT| -> Answer<Tensor> {
            let [rows, cols] = sides(name, rows, cols, &paid)?;
            Ok(Tensor::matrix(rows, cols, vec![entry; rows * cols]))
        });
        let paid = budget.clone();
        engine.register_fn(name, move |len: INT| -> Answer<Tensor> {
            let len = count(name, len)?;
            paid.pay(len)?;
            Ok(Tensor::vector(vec![entry; len]))
        });
    }
    let paid = budget.clone();
    engine.register_fn("eye", move |n: INT| -> Answer<Tensor> {
        let [n, _] = sides("eye", n, n, &paid)?;
        Ok(Tensor::matrix(n, n, (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect()))
    });
    let paid = budget.clone();
    engine.register_fn("random", move |rows: INT, cols: INT| -> Answer<Tensor> {
        let [rows, cols] = sides("random", rows, cols, &paid)?;
        let mut rng = part(seed, Stream::CodeCells, paid.next_draw());
        Ok(Tensor::matrix(rows, cols, (0..rows * cols).map(|_| rng.random_range(-1.0..1.0)).collect()))
    });
    let paid = budget.clone();
    engine.register_fn("matrix", move |rows: Array| -> Answer<Tensor> {
        paid.pay(rows.iter().map(len_of).fold(rows.len(), usize::saturating_add))?;
        Ok(matrix(&rows)?)
    });
    let paid = budget.clone();
    engine.register_fn("vector", move |entries: Array| -> Answer<Tensor> {
        paid.pay(entries.len())?;
        Ok(Tensor::vector(numbers("vector", &Dynamic::from(entries))?))
    });
}

fn matrix(rows: &[Dynamic]) -> Result<Tensor, Fault> {
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| numbers("matrix", row)).collect::<Result<_, _>>()?;
    let cols = rows.first().map_or(0, Vec::len);
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != cols) {
        let message = format!("matrix: row {i} has length {}, row 0 has length {cols}", row.len());
        return Err(Fault::new(message).hint("all rows must have the same length"));
    }
    Ok(Tensor::matrix(rows.len(), cols, rows.into_iter().flatten().collect()))
}

/// Returns the length of a tensor or a list; 0 for any other value.
fn len_of(list: &Dynamic) -> usize {
    let of_tensor = list.read_lock::<Tensor>().map(|tensor| tensor.len());
    of_tensor.or_else(|| list.read_lock::<Array>().map(|list| list.len())).unwrap_or(0)
}

/// Reads a list of numbers or a vector.
fn numbers(name: &str, list: &Dynamic) -> Result<Vec<f64>, Fault> {
    if let Some(tensor) = list.read_lock::<Tensor>().filter(|tensor| tensor.rank() == 1) {
        return Ok(tensor.entries().to_vec());
    }
    let Some(list) = list.read_lock::<Array>() else {
        return Err(Fault::new(format!("{name}: expected a list of numbers, not {}", type_name(list))));
    };
    let entries = list
        .iter()
        .map(|entry| number(entry).ok_or_else(|| Fault::new(format!("{name}: {} is not a number", type_name(entry)))));
    entries.collect()
}

fn register_entrywise(engine: &mut Engine, budget: &Budget) {
    type Entry = fn(f64) -> f64;
    let functions: [(&str, Entry); 6] = [
        ("exp", f64::exp),
        ("log", f64::ln),
        ("sqrt", f64::sqrt),
        ("abs", f64::abs),
        ("tanh", f64::tanh),
        ("relu", |x| if x < 0.0 { 0.0 } else { x }),
    ];
    for (name, f) in functions {
        register_of_tensor(engine, budget, name, move |x| Ok(x.map(f)));
        engine.register_fn(name, move |x: f64| f(x)).register_fn(name, move |x: INT| f(x as f64));
    }
    let paid = budget.clone();
    engine.register_fn("round", move |x: Tensor, digits: INT| -> Answer<Tensor> {
        paid.pay(x.cost())?;
        Ok(x.map(|x| rounded(x, digits)))
    });
    engine.register_fn("round", rounded);
}

/// Rounds a number to the given number of digits after the decimal point, or before it if they are negative.
fn rounded(x: f64, digits: INT) -> f64 {
    /// Exponent of the largest power of ten that is a double.
    const DIGITS_MAX: INT = 308;
    /// Magnitude from which all doubles are whole.
    const WHOLE: f64 = (1_u64 << (f64::MANTISSA_DIGITS - 1)) as f64;
    let scale = 10f64.powi(digits.clamp(-DIGITS_MAX, DIGITS_MAX).unsigned_abs() as i32);
    let scaled = if digits < 0 { x / scale } else { x * scale };
    match scaled.abs() < WHOLE {
        // The number has no such digit, or is not finite.
        false => x,
        true if digits < 0 => scaled.round() * scale,
        true => scaled.round() / scale,
    }
}

fn register_rows(engine: &mut Engine, budget: &Budget) {
    type OfRow = fn(&[f64]) -> f64;
    let functions: [(&str, OfRow); 5] = [
        ("sum", |row| row.iter().fold(0.0, |sum, x| sum + x)),
        ("mean", |row| row.iter().sum::<f64>() / row.len() as f64),
        ("max", |row| row.iter().copied().fold(f64::NEG_INFINITY, larger)),
        ("min", |row| -row.iter().map(|x| -x).fold(f64::NEG_INFINITY, larger)),
        ("norm", norm),
    ];
    type OfTwo = fn(f64, f64) -> f64;
    for (name, of_two) in [("max", larger as OfTwo), ("min", |a, b| -larger(-a, -b))] {
        engine
            .register_fn(name, move |a: f64, b: f64| of_two(a, b))
            .register_fn(name, move |a: INT, b: f64| of_two(a as f64, b))
            .register_fn(name, move |a: f64, b: INT| of_two(a, b as f64));
    }
    for (name, f) in functions {
        register_of_tensor(engine, budget, name, move |x| Ok(x.reduce(f).into_dynamic()));
    }
    register_of_tensor(engine, budget, "softmax", |x| {
        let mut entries = x.entries().to_vec();
        entries.chunks_mut(x.last_axis().len.max(1)).for_each(softmax_forward);
        Ok(x.with(entries))
    });
    register_of_tensor(engine, budget, "mask", |x| {
        let (cols, rank) = (x.last_axis().len.max(1), x.rank());
        let rows = if rank > 1 { x.axes()[rank - 2].len.max(1) } else { 1 };
        let hidden = |i: usize| i % cols > i / cols % rows;
        let entries = x.entries().iter().enumerate();
        Ok(x.with(entries.map(|(i, &x)| if hidden(i) { f64::NEG_INFINITY } else { x }).collect()))
    });
    register_of_tensor(engine, budget, "argmax", argmax);
    let paid = budget.clone();
    engine.register_fn("cosine", move |a: Tensor, b: Tensor| -> Answer<f64> {
        paid.pay(a.cost() + b.cost())?;
        if a.rank() == 1 && b.rank() == 1 && a.len() == b.len() {
            return Ok(cosine(a.entries(), b.entries()));
        }
        let message = format!("cosine: expected two vectors of the same length, not {} and {}", a.shape(), b.shape());
        Err(Fault::new(message).hint("choose rows, as in cosine(E[\"apple\"], E[\"google\"])").into())
    });
    let paid = budget.clone();
    engine.register_fn("nearest", move |table: Tensor, to: Tensor, n: INT| -> Answer<Ranking> {
        let n = count("nearest", n)?;
        paid.pay(table.cost())?;
        Ok(rank(&table, &to, n)?)
    });
    engine.register_fn("shape", |x: Tensor| -> Array {
        x.axes().iter().map(|axis| Dynamic::from(axis.len as INT)).collect()
    });
}

/// Returns the larger number, or NaN if either is NaN, so that a NaN is not hidden.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// Returns the word or index of a vector's largest entry, or a list of them for the rows of a matrix. The first of
/// equal entries counts. Returns a fault if there are no entries or one is NaN.
fn argmax(x: &Tensor) -> Result<Dynamic, Fault> {
    let axis = x.last_axis();
    if axis.len == 0 {
        return Err(Fault::new("argmax: there are no entries"));
    }
    if x.entries().iter().any(|entry| entry.is_nan()) {
        return Err(Fault::new("argmax: an entry is NaN, so none is the largest").hint(NO_NUMBER));
    }
    let of_row = |row: &[f64]| {
        let place = (0..row.len()).reduce(|best, i| if row[i] > row[best] { i } else { best }).unwrap_or(0);
        match &axis.labels {
            Some(labels) => Dynamic::from(labels[place].clone()),
            None => Dynamic::from(place as INT),
        }
    };
    let mut answers: Array = x.rows().map(of_row).collect();
    Ok(if x.rank() == 1 { answers.swap_remove(0) } else { Dynamic::from(answers) })
}

fn rank(table: &Tensor, to: &Tensor, n: usize) -> Result<Ranking, Fault> {
    if table.rank() != 2 || to.rank() != 1 || table.axes()[1].len != to.len() {
        let message = format!("nearest: cannot look for {} among the rows of {}", to.shape(), table.shape());
        return Err(Fault::new(message).hint(
            "give a matrix, a vector as long as its rows, and the number of rows to \
            find",
        ));
    }
    let rows = &table.axes()[0];
    if n.min(rows.len) > RANKED_MAX {
        return Err(Fault::new(format!("nearest: {n} rows are too many")).hint(format!("ask for at most {RANKED_MAX}")));
    }
    let mut all: Vec<(usize, f64)> = table.rows().map(|row| cosine(row, to.entries())).enumerate().collect();
    // A cosine that is NaN sorts last.
    let key = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
    all.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)));
    Ok(Ranking(all.into_iter().take(n).map(|(i, similarity)| (rows.name(i), similarity)).collect()))
}

fn show_with_caption(budget: &Budget, caption: &str, value: &Dynamic) -> Result<(), Fault> {
    match Output::of(value)? {
        Some(Output::Table { tensor, .. }) => budget.show(Output::Table { caption: caption.into(), tensor }),
        Some(ranking @ Output::Ranking(_)) => {
            budget.show(Output::Text(caption.into()))?;
            budget.show(ranking)
        }
        Some(Output::Text(text)) => budget.show(Output::Text(format!("{caption}: {text}").into())),
        _ => budget.show(Output::Text(format!("{caption}: {value}").into())),
    }
}

fn register_outputs(engine: &mut Engine, budget: &Budget) {
    let outputs = budget.clone();
    engine.register_fn("show", move |value: Dynamic| -> Answer<()> { Ok(outputs.show_value(&value)?) });
    let outputs = budget.clone();
    engine.register_fn("show", move |caption: ImmutableString, value: Dynamic| -> Answer<()> {
        Ok(show_with_caption(&outputs, &caption, &value)?)
    });
    let outputs = budget.clone();
    let draw = move |x: Tensor, y: Tensor, names: Array, axes: Option<&[Dynamic]>| -> Answer<()> {
        Ok(outputs.show(Output::Plot(plot(&x, &y, &names, axes)?))?)
    };
    let (alone, named) = (draw.clone(), draw.clone());
    engine
        .register_fn("plot", move |x: Tensor, y: Tensor| alone(x, y, Array::new(), None))
        .register_fn("plot", move |x: Tensor, y: Tensor, names: Array| named(x, y, names, None))
        .register_fn("plot", move |x: Tensor, y: Tensor, names: Array, axes: Array| draw(x, y, names, Some(&axes)));
    let outputs = budget.clone();
    engine.register_fn("image", move |path: ImmutableString| -> Answer<()> { Ok(outputs.show(image(&path)?)?) });
    engine.register_fn("help", |name: ImmutableString| -> Answer<String> { Ok(help(&name)?) });
    let outputs = budget.clone();
    engine.on_print(move |text| _ = outputs.show(Output::Text(text.into())));
    let outputs = budget.clone();
    engine.on_debug(move |text, _, _| _ = outputs.show(Output::Text(text.into())));
}

fn image(path: &str) -> Result<Output, Fault> {
    if path.is_empty() || path.len() > IMAGE_PATH_BYTES_MAX {
        return Err(Fault::new("image: this is not the path of a file").hint("name a file in the lesson's folder"));
    }
    Ok(Output::Image(path.into()))
}

/// Makes a plot. `names` has the names of the lines; if it is empty, each line is named after its row of `y`. `axes`
/// are the names of the horizontal and the vertical axis.
fn plot(x: &Tensor, y: &Tensor, names: &[Dynamic], axes: Option<&[Dynamic]>) -> Result<Plot, Fault> {
    if x.rank() != 1 || y.rank() > 2 || y.last_axis().len != x.len() {
        let message = format!("plot: y has the shape {}, x has the shape {}", y.shape(), x.shape());
        return Err(Fault::new(message).hint("x must be a vector, y a vector or rows of the same length"));
    }
    let count = y.rows().count();
    if count > PLOT_LINES_MAX {
        let fault = Fault::new(format!("plot: {count} lines are too many to tell apart"));
        return Err(fault.hint(format!("at most {PLOT_LINES_MAX} are drawn; choose rows of y")));
    }
    let names = match names {
        [] => names_of_rows(y),
        names if names.len() != count => {
            let fault =
                Fault::new(format!("plot: the number of names is {}, but the number of lines is {count}", names.len()));
            return Err(fault.hint("give one name for each line, in a list of texts"));
        }
        names => names.iter().map(line_name).collect::<Result<_, _>>()?,
    };
    let lines = names.into_iter().zip(y.rows()).map(|(name, row)| PlotLine { name, y: row.into() }).collect();
    let axes = match axes {
        Some([x, y]) => [line_name(x)?, line_name(y)?],
        Some(axes) => {
            let fault = Fault::new(format!("plot: two axes need two names, not {}", axes.len()));
            return Err(fault.hint("name the horizontal axis, then the vertical one: [\"step\", \"loss\"]"));
        }
        None => Default::default(),
    };
    Ok(Plot { x: x.entries().into(), lines, axes })
}

fn line_name(name: &Dynamic) -> Result<String, Fault> {
    match name.read_lock::<ImmutableString>() {
        Some(name) => Ok(name.chars().take(LINE_NAME_CHARS_MAX).collect()),
        None => Err(Fault::new(format!("plot: {} is not a name", type_name(name))).hint("a name is a text")),
    }
}

/// Returns a name for each row: its label, or else its number. A single row without a label gets an empty name.
fn names_of_rows(y: &Tensor) -> Vec<String> {
    match y.axes() {
        [rows, _] if rows.labels.is_some() => (0..rows.len).map(|row| rows.name(row)).collect(),
        [rows, _] if rows.len > 1 => (0..rows.len).map(|row| format!("row {row}")).collect(),
        _ => vec![String::new()],
    }
}

// Help for the functions of code cells.

/// The entry of one function in the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Help {
    pub name: &'static str,
    pub call: &'static str,
    /// Equation in LaTeX, or an empty text.
    pub equation: &'static str,
    pub meaning: &'static str,
    /// Code of a complete cell.
    pub example: &'static str,
}

impl Help {
    fn text(&self) -> String {
        let Self { call, equation, meaning, example, .. } = self;
        let equation = if equation.is_empty() { String::new() } else { format!("\n${equation}$") };
        format!("{call}{equation}\n{meaning}\nFor example: {example}")
    }

    /// Returns the entry whose help is this text.
    pub fn of_text(text: &str) -> Option<&'static Self> {
        REFERENCE.iter().find(|help| text.starts_with(help.call) && *text == help.text())
    }
}

macro_rules! help {
    ($($name:literal, $call:literal, $equation:literal, $meaning:literal, $example:literal;)*) => {
        &[$(Help { name: $name, call: $call, equation: $equation, meaning: $meaning, example: $example }),*]
    };
}

/// Help for every function, in the order of the reference.
pub const REFERENCE: &[Help] = help! {
    "matrix", "matrix([[…], […]])", "", "A matrix, from a list of rows.", "matrix([[1, 2], [3, 4]])";
    "vector", "vector([…])", "", "A vector, from a list of numbers.", "vector([1, 2, 3])";
    "zeros", "zeros(rows, cols)", "", "A matrix of zeros; with one argument, a vector.", "zeros(2, 3)";
    "ones", "ones(rows, cols)", "", "A matrix of ones; with one argument, a vector.", "ones(2, 3)";
    "eye", "eye(n)", r"I_{ij} = [i = j]", "The identity matrix.", "eye(3)";
    "random", "random(rows, cols)", r"x \sim U(-1, 1)", "A matrix of random numbers, the same in every run of the cell.", "random(2, 3)";
    "softmax", "softmax(S)", r"p_j = \frac{e^{s_j}}{\sum_k e^{s_k}}", "Turns each row into weights that sum to 1.", "softmax(vector([6, 4]))";
    "mask", "mask(S)", r"s_{ij} = -\infty \text{ for } j > i", "Sets the entries after each row's own position to −∞, as a causal mask does.", "softmax(mask(zeros(3, 3)))";
    "exp", "exp(X)", r"e^x", "The exponential of each entry.", "exp(vector([0, 1]))";
    "log", "log(X)", r"\ln x", "The natural logarithm of each entry.", "log(vector([1, 2]))";
    "sqrt", "sqrt(X)", r"\sqrt{x}", "The square root of each entry.", "sqrt(vector([4, 9]))";
    "abs", "abs(X)", r"|x|", "The absolute value of each entry.", "abs(vector([-1, 2]))";
    "tanh", "tanh(X)", r"\tanh x", "The hyperbolic tangent of each entry.", "tanh(vector([0, 1]))";
    "relu", "relu(X)", r"\max(0, x)", "Sets negative entries to 0 and keeps the others.", "relu(vector([-1, 2]))";
    "round", "round(X, digits)", "", "Rounds each entry to the given number of digits.", "round(vector([0.12345]), 2)";
    "sum", "sum(X)", r"\sum_j x_j", "The sum of each row; for a vector, a number.", "sum(vector([1, 2, 3]))";
    "mean", "mean(X)", r"\frac{1}{n} \sum_j x_j", "The mean of each row; for a vector, a number.", "mean(vector([1, 2, 3]))";
    "max", "max(X)", r"\max_j x_j", "The largest entry of each row; for a vector, a number.", "max(vector([1, 3, 2]))";
    "min", "min(X)", r"\min_j x_j", "The smallest entry of each row; for a vector, a number.", "min(vector([1, 3, 2]))";
    "argmax", "argmax(X)", r"\arg\max_j x_j", "The position of the largest entry in each row: its word, or its index.", "argmax(vector([1, 3, 2]))";
    "norm", "norm(X)", r"\lVert x \rVert = \sqrt{\sum_j x_j^2}", "The length of each row; for a vector, a number.", "norm(vector([3, 4]))";
    "dot", "dot(a, b)", r"a \cdot b = \sum_j a_j b_j", "The dot product of two vectors, the same as a @ b.", "dot(vector([1, 2]), vector([3, 4]))";
    "cosine", "cosine(a, b)", r"\frac{a \cdot b}{\lVert a \rVert \lVert b \rVert}", "The cosine of the angle between two vectors, from -1 to 1; 1 means the same direction.", "cosine(vector([1, 0]), vector([1, 1]))";
    "nearest", "nearest(table, vector, count)", r"\cos(t_i, v)", "The rows of a table that are most similar to a vector, by cosine, with their words.", "nearest(eye(3), vector([1, 0.5, 0]), 2)";
    "expect", "expect(found, expected, tolerance)", r"|x - y| \le t", "Returns the value if every number is as expected, and otherwise stops and reports the first difference.", "expect(softmax(vector([6, 4])), [0.8808, 0.1192], 0.0001)";
    "forward", "forward(\"sentence\", [heads])", "", "Runs the model on a sentence. If a list of heads is given, these heads are left out; they are counted from 0, through all layers. In the place of the list, a map writes changes in full, as *Copy as code* in *Intervene* does: #{ off: [0], temperature: 0.5 }; the pass has these changes and no others. The result has the tensors of this forward pass, by their names.", "forward(\"the cat\").A[0]";
    "rate", "rate([[\"sentence\", \"right\", \"wrong\"], …])", "", "The share of sentences that the model answers right, from 0 to 1. The answer is that at `[MASK]`, or else after the last word; a number after the list names another word, counted from 0. If a wrong answer is given, the right one need only be likelier than it; otherwise it must be the likeliest of all. An answer of several words is compared word by word. The folder of another model beside the lesson may be given after the list, as also behind the arguments of `forward` and `write`.", "rate([[\"the\", \"the\"]])";
    "write", "write(\"sentence\", beams)", "", "What the model writes behind a sentence, or from a source, until it ends the sentence or has written about 20 words. With 1 beam it writes the likeliest word each time; with more, it keeps as many beginnings and takes the likeliest whole sentence.", "write(\"the\", 1)";
    "vectors", "vectors([\"word\", …])", "", "The static vectors of words, one row for each word. The words may be any words of the lesson, or of the file of vectors that the lesson reads. The name of a file of vectors in the lesson's folder may be given before the list; without a list, all rows of that file are read.", "vectors([\"the\"])";
    "neighbours", "neighbours(\"expression\", count)", "", "The words nearest to a word or to a sum of words, by cosine, leaving out these words themselves. The name of a file of vectors in the lesson's folder may be given before the expression.", "neighbours(\"the\", 2)";
    "shape", "shape(X)", "", "The number of entries along each axis.", "shape(zeros(2, 3))";
    "show", "show(\"caption\", X)", "", "Shows a value with a caption, anywhere in a cell.", "show(\"ones\", ones(1, 2));";
    "plot", "plot(x, y, names, axes)", "", "Plots y against x; each row of a matrix y is a line. A list of names for the lines may follow, and then a list of the names of the two axes.", "plot(vector([1, 2, 3]), vector([1, 4, 9]), [], [\"side\", \"area\"]);";
    "image", "image(\"file.png\")", "", "Shows a PNG or JPEG file from the lesson's folder.", "image(\"picture.png\");";
    "help", "help(\"name\")", "", "Explains a function.", "help(\"softmax\")";
};

/// Returns the help for a function.
///
/// # Errors
/// If there is no such function; the fault has the most similar name.
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

/// Checks `expect(found, expected, tolerance)`: a number, or every number of a tensor, must be within the tolerance.
/// NaN never is.
fn check_expected(found: &Dynamic, expected: &Dynamic, tolerance: &Dynamic, paid: &Budget) -> Result<(), Fault> {
    let tolerance = number(tolerance)
        .filter(|tolerance| *tolerance >= 0.0)
        .ok_or_else(|| Fault::new("expect: the tolerance must be 0 or above").hint("as in expect(x, 0.21, 0.005)"))?;
    let (shape, found) = flat(found, paid)?;
    let (_, expected) = flat(expected, paid)?;
    if found.len() != expected.len() {
        let message = format!("expect: the number of values is {}, but should be {}", found.len(), expected.len());
        return Err(Fault::new(message).hint("give one number for each entry, row by row"));
    }
    let is_near = |(found, expected): (&f64, &f64)| found == expected || (found - expected).abs() <= tolerance;
    let Some(at) = found.iter().zip(&expected).position(|pair| !is_near(pair)) else { return Ok(()) };
    let place = match shape[..] {
        [] => "it".to_owned(),
        [_, cols] => format!("entry [{}, {}]", at / cols, at % cols),
        _ => format!("entry {at}"),
    };
    let (found, expected) = (found[at], expected[at]);
    Err(Fault::new(format!("expect: {place} is {found}, but should be {expected} within {tolerance}")))
}

/// Returns the lengths of a value's axes and all its numbers, row by row. A number has no axes; nested lists have one,
/// of the length of all their numbers.
fn flat(value: &Dynamic, paid: &Budget) -> Result<(Vec<usize>, Vec<f64>), Fault> {
    if let Some(number) = number(value) {
        return Ok((Vec::new(), vec![number]));
    }
    if let Some(tensor) = value.read_lock::<Tensor>() {
        paid.pay(tensor.len())?;
        return Ok((tensor.axes().iter().map(|axis| axis.len).collect(), tensor.entries().to_vec()));
    }
    let Some(list) = value.read_lock::<Array>() else {
        let message = format!("expect: expected numbers, not {}", type_name(value));
        return Err(Fault::new(message).hint("give a number, a tensor, or a list of numbers"));
    };
    paid.pay(list.len())?;
    let mut all = Vec::new();
    for entry in list.iter() {
        all.extend(flat(entry, paid)?.1);
    }
    Ok((vec![all.len()], all))
}
