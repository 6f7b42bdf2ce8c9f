//! Detection of quantised weights by the names and number types of their tensors, before shapes are compared.

use serde_json::Value;

use super::refusal::Refusal;
use super::safetensors::{Dtype, FileTensor, READ};

/// Endings of the names of tensors that accompany or replace quantised weights, and the method that uses them.
const ENDS: [(&str, &str); 18] = [
    (".absmax", "bitsandbytes"),
    (".quant_map", "bitsandbytes"),
    (".nested_absmax", "bitsandbytes"),
    (".SCB", "bitsandbytes"),
    (".qweight", "GPTQ or AWQ"),
    (".qzeros", "GPTQ or AWQ"),
    (".g_idx", "GPTQ"),
    (".scales", "MLX, GPTQ or AWQ"),
    (".weight_packed", "compressed-tensors"),
    (".weight_scale", "compressed-tensors or FP8"),
    (".weight_scale_inv", "FP8"),
    (".weight_scale_2", "NVFP4"),
    (".weight_scales", "EETQ"),
    (".W_q", "HQQ"),
    ("._data", "Quanto"),
    (".codebooks", "AQLM"),
    ("_blocks", "MXFP4"),
    (".qscale_weight", "FBGEMM"),
];
/// Ending of the name of a matrix; masks and counters have other names.
const WEIGHT: &str = ".weight";

/// Returns the refusal of files with quantised weights, or `None` if there are none. `config` returns the text of their
/// config.
pub(super) fn refusal<'a>(
    mut tensors: impl Iterator<Item = &'a FileTensor>,
    config: impl FnOnce() -> Option<String>,
) -> Option<Refusal> {
    let found = |tensor: &'a FileTensor| Some((tensor, method_of(tensor)?));
    let (tensor, method) = tensors.find_map(found)?;
    let method = config().and_then(|text| method_in(&text)).unwrap_or_else(|| method.to_owned());
    let found =
        if method.is_empty() { "quantised weights".to_owned() } else { format!("quantised weights ({method})") };
    let expected = format!("weights that were not rounded: {}", READ.map(|dtype| dtype.to_string()).join(", "));
    Some(Refusal::new(found, expected, "open the original model, from which this one was made").of_tensor(&tensor.name))
}

/// Returns the method by which a tensor was quantised: an empty text if its name does not tell, `None` if it was not
/// quantised.
fn method_of(tensor: &FileTensor) -> Option<&'static str> {
    let named = ENDS.iter().find(|(end, _)| tensor.name.ends_with(end));
    let is_short = tensor.dtype.bitsize() <= 8 && tensor.dtype != Dtype::BOOL;
    let is_rounded = tensor.name.ends_with(WEIGHT) && is_short;
    named.map(|(_, method)| *method).or(is_rounded.then_some(""))
}

/// Returns the method that a config names, with the number of bits.
fn method_in(config: &str) -> Option<String> {
    /// Longest accepted name of a method in a config.
    const NAME_CHARS_MAX: usize = 40;
    const OWN: [(&str, &str); 3] = [("gptq", "GPTQ"), ("awq", "AWQ"), ("fp8", "FP8")];
    let config: Value = serde_json::from_str(config).ok()?;
    let of_mlx = config.get("quantization").filter(|fields| fields.is_object());
    let fields = config.get("quantization_config").filter(|fields| fields.is_object()).or(of_mlx)?;
    let method = match fields.get("quant_method").and_then(Value::as_str) {
        Some(name) => OWN.iter().find(|(own, _)| *own == name).map_or(name, |(_, name)| name),
        None => of_mlx.map(|_| "MLX")?,
    };
    let is_on = |key| fields.get(key).and_then(Value::as_bool) == Some(true);
    let bits = match fields.get("bits").and_then(Value::as_u64) {
        Some(bits) => Some(bits),
        None if is_on("load_in_4bit") => Some(4),
        None if is_on("load_in_8bit") => Some(8),
        None => None,
    };
    let method: String = method.chars().filter(|sign| !sign.is_control()).take(NAME_CHARS_MAX).collect();
    Some(bits.map_or(method.clone(), |bits| format!("{method}, {bits} bits")))
}
