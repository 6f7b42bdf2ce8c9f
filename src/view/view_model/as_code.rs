//! The code cell that does the same as a change of *Intervene*, or as one of its maps: a call of `forward` with the
//! changes written in full. It computes the same numbers whatever the learner changes later.

use attune_core::kernel::evidence::live::SentenceMap;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot};
use attune_engine::code::budget::RUN_PRODUCTS_MAX;
use attune_engine::numerics::attention::{HeadMode, Mask, MaskBase};
use attune_engine::numerics::model::activations::{Interventions, Patch};
use attune_engine::numerics::model::cost::forward_multiplications;

/// A kind of map of a sentence. Its cells stand for the vector of each token before each layer, for each head, or for
/// each path into a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    Words,
    Heads,
    /// Paths into a head, which no code cell computes.
    Paths,
}

/// Returns the code of a cell that runs the pass with the learner's changes, after comments that describe them; `None`
/// if nothing is changed.
pub fn changes(model: &ModelSnapshot, said: &[String]) -> Option<String> {
    let second = model.second.as_ref().map(|second| &*second.other);
    let written = written(&model.interventions, second);
    if written.is_empty() {
        return None;
    }
    let about: String = said.iter().map(|line| format!("// {line}\n")).collect();
    Some(format!("{about}let pass = forward({}, #{{ {} }});\npass.Y\n", text(&model.sentence), written.join(", ")))
}

/// Returns the code of a cell that computes a map as a matrix with a row for each layer; `None` for paths.
pub fn map(model: &ModelSnapshot, map: &SentenceMap, kind: MapKind) -> Option<String> {
    let SentenceMap { place, answer, against, classes: [a, b], .. } = map;
    // An answer for the whole sentence has one row of logits.
    let row = if model.sentence.answers.logits.rows() == 1 { 0 } else { *place };
    let answered = |pass: &str| format!("{pass}.Z[{row}, {a}] - {pass}.Z[{row}, {b}]");
    let second = model.second.as_ref().map(|second| text(&second.other));
    let layers = model.architecture.blocks.len();
    let heads: Vec<usize> = model.architecture.blocks.iter().map(|block| block.attention.heads).collect();
    let firsts: Vec<usize> = (0..layers).map(|layer| heads[..layer].iter().sum()).collect();
    let (change, places, what) = match kind {
        MapKind::Words => (
            "patch: #{ layer: layer, position: place, from: place, second: second }",
            vec![model.sentence.tokens.len(); layers],
            "each vector of the second sentence",
        ),
        MapKind::Heads if second.is_some() => {
            ("patch: #{ head: firsts[layer] + place, second: second }", heads, "each head of the second sentence")
        }
        MapKind::Heads => ("off: [firsts[layer] + place]", heads, "each head off"),
        MapKind::Paths => return None,
    };
    let first = first_layer(model, &places);
    let mut code = format!("// {answer} against {against}, with {what}: a row for each layer\n");
    if first > 0 {
        code.push_str(&format!("// from layer {} on, because one cell cannot compute more\n", first + 1));
    }
    code.push_str(&format!("let sentence = {};\n", text(&model.sentence)));
    let (ends, value) = match &second {
        Some(second) => (
            format!(
                "let second = {second};\nlet own = forward(sentence);\nlet other = forward(second);\nlet low = {};\n\
                 let high = {};\n",
                answered("own"),
                answered("other")
            ),
            format!("({} - low) / (high - low)", answered("pass")),
        ),
        None => (
            format!("let own = forward(sentence);\nlet low = {};\n", answered("own")),
            format!("{} - low", answered("pass")),
        ),
    };
    // An empty map of changes keeps the learner's own changes out.
    code.push_str(&ends.replace("(sentence)", "(sentence, #{})").replace("(second)", "(second, #{})"));
    if kind == MapKind::Heads {
        code.push_str(&format!("let firsts = {firsts:?};\n"));
    }
    code.push_str(&format!(
        "let places = {places:?};\nlet rows = [];\nfor layer in {first}..{layers} {{\n    let row = [];\n    for place in 0..places[layer] {{\n        \
         let pass = forward(sentence, #{{ {change} }});\n        row.push({value});\n    }}\n    rows.push(row);\n}}\n\
         matrix(rows)\n"
    ));
    Some(code)
}

/// Returns the layer with which a map begins, so that a single cell can compute the map from there to the last layer.
/// The cost decreases towards the last layer, because a pass with a change begins at the changed layer.
fn first_layer(model: &ModelSnapshot, places: &[usize]) -> usize {
    let (layers, tokens) = (places.len(), model.sentence.tokens.len());
    let cost = forward_multiplications(&model.architecture, model.classes.len(), tokens, tokens);
    let of_layer = |layer: usize| cost * (layers - layer) as f64 / layers as f64 * places[layer] as f64;
    // The unchanged passes of both sentences come first.
    let mut left = RUN_PRODUCTS_MAX as f64 - 2.0 * cost;
    let fits = |layer: &usize| {
        left -= of_layer(*layer);
        left >= 0.0
    };
    let last = layers.saturating_sub(1);
    (0..layers).rev().take_while(fits).last().unwrap_or(last)
}

/// Returns a sentence as a string literal of code.
fn text(sentence: &SentenceSnapshot) -> String {
    let mut quoted = String::from("\"");
    for sign in sentence.written().chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(sign),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the changes as entries of an object map in code.
fn written(changes: &Interventions<f32>, second: Option<&SentenceSnapshot>) -> Vec<String> {
    let Interventions { temperature, scale, heads, mask, edges, patch } = changes;
    let mut entries = Vec::new();
    for (name, mode) in [("off", HeadMode::Off), ("mean", HeadMode::Mean), ("uniform", HeadMode::Uniform)] {
        let of_mode: Vec<usize> = (0..heads.len()).filter(|head| heads[*head] == mode).collect();
        entries.extend((!of_mode.is_empty()).then(|| format!("{name}: {of_mode:?}")));
    }
    let with_value = |name: &str, value: &dyn Fn(&HeadMode<f32>) -> Option<String>| {
        let pair = |(head, mode)| Some(format!("[{head}, {}]", value(mode)?));
        let pairs: Vec<String> = heads.iter().enumerate().filter_map(pair).collect();
        (!pairs.is_empty()).then(|| format!("{name}: [{}]", pairs.join(", ")))
    };
    entries.extend(with_value("gain", &|mode| {
        if let HeadMode::Gain(gain) = mode { Some(format!("{gain:?}")) } else { None }
    }));
    entries.extend(with_value("frozen", &|mode| match mode {
        HeadMode::Frozen(Some(weights)) => {
            Some(matrix((0..weights.rows()).map(|row| weights.row(row).iter().map(|x| format!("{x:?}")).collect())))
        }
        _ => None,
    }));
    entries.extend(temperature.map(|temperature| format!("temperature: {temperature:?}")));
    entries.extend(scale.map(|scale| format!("scale: {scale}")));
    entries.extend(mask.as_ref().map(masked));
    let edges: Vec<String> =
        edges.iter().map(|edge| format!("[{}, {}, {}]", edge.head, edge.query, edge.key)).collect();
    entries.extend((!edges.is_empty()).then(|| format!("without: [{}]", edges.join(", "))));
    let taken: Vec<usize> = (0..heads.len()).filter(|head| matches!(heads[*head], HeadMode::Second(_))).collect();
    let vector = patch
        .as_ref()
        .map(|Patch { block, position, from, .. }| format!("layer: {block}, position: {position}, from: {from}, "));
    let taken = (!taken.is_empty()).then(|| format!("heads: {taken:?}, "));
    if let (true, Some(second)) = (vector.is_some() || taken.is_some(), second) {
        let [vector, taken] = [vector, taken].map(Option::unwrap_or_default);
        entries.push(format!("patch: #{{ {vector}{taken}second: {} }}", text(second)));
    }
    entries
}

fn masked(mask: &Mask) -> String {
    let table = match mask {
        Mask::None => return "mask: \"none\"".to_owned(),
        Mask::Causal => return "mask: \"causal\"".to_owned(),
        Mask::Custom(table) => table,
    };
    let row = |row: &[bool]| row.iter().map(|sees| u8::from(*sees).to_string()).collect();
    let base = match mask.base() {
        MaskBase::Layers => "",
        MaskBase::None => ", base: \"none\"",
        MaskBase::Causal => ", base: \"causal\"",
        MaskBase::Hidden => ", base: \"hidden\"",
    };
    format!("mask: {}{base}", matrix(table.rows().map(row)))
}

fn matrix(rows: impl Iterator<Item = Vec<String>>) -> String {
    let rows: Vec<String> = rows.map(|row| format!("[{}]", row.join(", "))).collect();
    format!("matrix([{}])", rows.join(", "))
}
