//! A recording as a trace: its tensors under the names that the trace of a model has.

use std::collections::BTreeMap;
use std::io::{self, Write};

use attune_engine::numerics::Matrix;
use attune_engine::pretrained::Refusal;
use attune_engine::pretrained::safetensors::FileTensor;
use attune_engine::recording::about::Grid;
use attune_engine::recording::parts::{Part, Side};
use attune_engine::recording::{Attention, RecordedText, Recording, mixes};
use serde_json::{Map, Value, json};

use crate::export::trace::tensor;

/// The reason why a recording has no trace.
#[derive(Debug)]
pub enum NoTrace {
    Refused(Refusal),
    Unwritten(io::Error),
}

impl From<io::Error> for NoTrace {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

impl From<serde_json::Error> for NoTrace {
    fn from(error: serde_json::Error) -> Self {
        Self::Unwritten(error.into())
    }
}

impl From<Refusal> for NoTrace {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Writes one text of a recording as a JSON object. What was not recorded is left out.
///
/// # Errors
/// If it cannot be written, or its numbers cannot be read.
pub fn write(recording: &Recording, text: &RecordedText, file: &str, mut to: impl Write) -> Result<(), NoTrace> {
    let writer = Writer { recording, text };
    let mut map = writer.about(file)?;
    map.insert("config".to_owned(), json!({ "blocks": writer.blocks()? }));
    // Tensors are written one at a time, because all of them together may not fit into memory.
    let head = Value::Object(map).to_string();
    to.write_all(&head.as_bytes()[..head.len() - 1])?;
    to.write_all(b",\"tensors\":{")?;
    writer.tensors(&mut Tensors { to: &mut to, is_first: true })?;
    to.write_all(b"}}")?;
    Ok(())
}

/// A writer of the entries of a JSON object.
struct Tensors<'a> {
    to: &'a mut dyn Write,
    is_first: bool,
}

impl Tensors<'_> {
    fn add(&mut self, name: &str, matrix: &Matrix<f32>) -> Result<(), NoTrace> {
        if !std::mem::replace(&mut self.is_first, false) {
            self.to.write_all(b",")?;
        }
        serde_json::to_writer(&mut *self.to, name)?;
        self.to.write_all(b":")?;
        serde_json::to_writer(&mut *self.to, &tensor(matrix))?;
        Ok(())
    }
}

struct Writer<'a> {
    recording: &'a Recording,
    text: &'a RecordedText,
}

impl Writer<'_> {
    fn about(&self, file: &str) -> Result<Map<String, Value>, NoTrace> {
        let about = &self.text.about;
        let mut map = Map::new();
        let mut add = |name: &str, value: Value| _ = map.insert(name.to_owned(), value);
        add("recording", json!(about.model.as_deref().unwrap_or(file)));
        if let Some(text) = &about.text {
            add("text", json!(text));
        }
        add("tokens", json!(about.tokens));
        if let Some(source) = &about.source_tokens {
            add("source", json!(source));
            add("source_special", json!(about.source_special));
        }
        add("special", json!(about.special));
        if let Some(words) = &about.words {
            add("words", json!(words));
        }
        if let Some(Grid { rows, columns }) = about.grid {
            add("grid", json!([rows, columns]));
        }
        if let Some(classes) = &about.classes {
            add("classes", json!(classes));
        }
        if let Some(changed) = &about.changed {
            add("changed", json!(changed));
        }
        let mut deviation = Map::new();
        for attention in &self.text.attentions {
            let found = self.recording.check(self.text, attention)?;
            if let Some(found) = found.deviation {
                let numbers = json!({ "largest": found.largest, "rows": found.row });
                deviation.insert(attention.weights().name.clone(), numbers);
            }
        }
        add("deviation", Value::Object(deviation));
        Ok(map)
    }

    /// Returns the properties of each attention that were recorded.
    fn blocks(&self) -> Result<Vec<Value>, Refusal> {
        self.text.attentions.iter().map(|attention| self.block(attention)).collect()
    }

    fn block(&self, attention: &Attention) -> Result<Value, Refusal> {
        let mut map = Map::new();
        let mut add = |name: &str, value: Value| _ = map.insert(name.to_owned(), value);
        add("attention", json!(attention.weights().name));
        add("heads", json!(attention.heads));
        if let Some(heads) = attention.key_value_heads() {
            add("key_value_heads", json!(heads));
        }
        add("attends_to", json!(if attention.side == Side::Cross { "source" } else { "own sentence" }));
        if let Some(query) = attention.part(Part::Queries) {
            add("d_k", json!(query.shape[2]));
        }
        let each = |number: &dyn Fn(usize) -> Result<Option<f64>, Refusal>| {
            (0..attention.heads).map(number).collect::<Result<Option<Vec<f64>>, _>>()
        };
        if let Some(scales) = each(&|head| self.recording.scale(attention, head))? {
            add("scale", one_or_all(&scales));
        }
        if let Some(caps) = each(&|head| self.recording.cap(attention, head))? {
            add("score_cap", one_or_all(&caps));
        }
        Ok(Value::Object(map))
    }

    fn tensors(&self, to: &mut Tensors<'_>) -> Result<(), NoTrace> {
        let mut head = 0;
        for (block, attention) in self.text.attentions.iter().enumerate() {
            let [input, output] = self.around(attention);
            if let Some((_, state)) = input {
                to.add(&format!("input[block {block}]"), &self.recording.matrix(state, 0)?)?;
            }
            if let Some((layer, state)) = output
                && let Some(name) = self.name_of_output(attention.side, *layer, block)
            {
                to.add(&name, &self.recording.matrix(state, 0)?)?;
            }
            let visible = if attention.has_scores() { self.recording.visible(attention)? } else { Vec::new() };
            for own in 0..attention.heads {
                self.head((attention, &visible), own, head, to)?;
                head += 1;
            }
        }
        if let Some(logits) = &self.text.logits {
            to.add("logits", &self.recording.matrix(logits, 0)?)?;
        }
        Ok(())
    }

    /// Returns the hidden states before and after an attention's layer; `None` for one that was not recorded, or if the
    /// layer's other attention comes between.
    fn around(&self, attention: &Attention) -> [Option<(&usize, &FileTensor)>; 2] {
        let states = self.states(attention.side);
        let has = |side: Side| self.text.attentions.iter().any(|one| (one.side, one.layer) == (side, attention.layer));
        let is_first = attention.side != Side::Cross || !has(Side::Decoder);
        let is_last = attention.side != Side::Decoder || !has(Side::Cross);
        let of = |layer: usize, is_of_block: bool| states.get_key_value(&layer).filter(|_| is_of_block);
        [of(attention.layer, is_first), of(attention.layer + 1, is_last)]
    }

    fn states(&self, side: Side) -> &BTreeMap<usize, FileTensor> {
        if side == Side::Encoder { &self.text.source_states } else { &self.text.states }
    }

    /// Returns the name of the state after a layer. The last state is called `output` if the model's final norm was
    /// applied to it; in that case, the last state of an encoder has no name, and the result is `None`.
    fn name_of_output(&self, side: Side, layer: usize, block: usize) -> Option<String> {
        let about = &self.text.about;
        let is_last = self.states(side).keys().next_back() == Some(&layer);
        match side {
            Side::Encoder if is_last && about.source_final_norm_applied => None,
            Side::Own | Side::Decoder | Side::Cross if is_last && about.final_norm_applied => Some("output".to_owned()),
            _ => Some(format!("output[block {block}]")),
        }
    }

    /// Writes the tensors of a head, which has the index `own` within its attention and `number` among all heads.
    fn head(
        &self,
        (attention, visible): (&Attention, &[bool]),
        own: usize,
        number: usize,
        to: &mut Tensors<'_>,
    ) -> Result<(), NoTrace> {
        let matrix = |part: Part| {
            let Some(tensor) = attention.part(part) else { return Ok(None) };
            let group = attention.heads / tensor.shape[0];
            self.recording.matrix(tensor, own / group).map(Some)
        };
        let value = matrix(Part::Values)?;
        for (name, part) in [("Q", Part::Queries), ("K", Part::Keys)] {
            if let Some(tensor) = matrix(part)? {
                to.add(&format!("{name}[{number}]"), &tensor)?;
            }
        }
        if let Some(scores) = self.recording.scores(attention, own, visible)? {
            to.add(&format!("scores[{number}]"), &scores)?;
        }
        let weights = self.recording.matrix(attention.weights(), own)?;
        to.add(&format!("weights[{number}]"), &weights)?;
        if let Some(value) = value {
            to.add(&format!("V[{number}]"), &value)?;
            to.add(&format!("mix[{number}]"), &mixes(&weights, &value))?;
        }
        Ok(())
    }
}

/// Returns one number if all are equal, or else all of them.
fn one_or_all(numbers: &[f64]) -> Value {
    match numbers {
        [first, rest @ ..] if rest.iter().all(|number| number == first) => json!(first),
        all => json!(all),
    }
}
