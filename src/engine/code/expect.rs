//! `expect(found, expected, tolerance)`: a number, or every one of a tensor, is what it should be.

use rhai::{Array, Dynamic, Engine, EvalAltResult, NativeCallContext};

use super::budget::Budget;
use super::fault::Fault;
use super::tensor::Tensor;
use super::value::{number, type_name};

pub fn register(engine: &mut Engine, budget: &Budget) {
    let paid = budget.clone();
    engine.register_fn(
        "expect",
        move |context: NativeCallContext,
              found: Dynamic,
              expected: Dynamic,
              tolerance: Dynamic|
              -> Result<Dynamic, Box<EvalAltResult>> {
            match check(&found, &expected, &tolerance, &paid) {
                Ok(()) => Ok(found),
                Err(fault) => Err(EvalAltResult::ErrorRuntime(Dynamic::from(fault), context.call_position()).into()),
            }
        },
    );
}

/// NaN is never what is expected.
fn check(found: &Dynamic, expected: &Dynamic, tolerance: &Dynamic, paid: &Budget) -> Result<(), Fault> {
    let tolerance = number(tolerance)
        .filter(|tolerance| *tolerance >= 0.0)
        .ok_or_else(|| Fault::new("expect: the tolerance must be 0 or above").hint("as in expect(x, 0.21, 0.005)"))?;
    let (shape, found) = flat(found, paid)?;
    let (_, expected) = flat(expected, paid)?;
    if found.len() != expected.len() {
        let message = format!("expect: found {} numbers, expected {}", found.len(), expected.len());
        return Err(Fault::new(message).hint("give one for each, row by row"));
    }
    let is_near = |(found, expected): (&f64, &f64)| found == expected || (found - expected).abs() <= tolerance;
    let Some(at) = found.iter().zip(&expected).position(|pair| !is_near(pair)) else { return Ok(()) };
    let place = match shape[..] {
        [] => "it".to_owned(),
        [_, cols] => format!("entry [{}, {}]", at / cols, at % cols),
        _ => format!("entry {at}"),
    };
    let (found, expected) = (found[at], expected[at]);
    Err(Fault::new(format!("expect: {place} is {found}, and not {expected} within {tolerance}")))
}

/// All numbers, and the lengths of the axes; none for a number.
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
