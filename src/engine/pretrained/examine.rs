//! A model's folder, looked at from all sides: its files, its tokenizer against its tensors, a pass of its own through
//! the engine, and published numbers where it is a model that others have computed with.

use super::folder::ModelFolder;
use super::known::of_sha256;
use super::load::Pretrained;
use super::refusal::quoted;
use crate::numerics::model::activations::Interventions;
use crate::numerics::model::{Activations, Sequences};

/// Findings, a line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub good: Vec<String>,
    pub faults: Vec<String>,
}

impl Findings {
    fn push(&mut self, found: Result<String, String>) {
        match found {
            Ok(line) => self.good.push(line),
            Err(line) => self.faults.push(line),
        }
    }
}

/// Examines a model that was read from this folder.
pub fn examine(folder: &ModelFolder, read: &Pretrained) -> Findings {
    let mut findings = Findings::default();
    findings.good.extend(read.files.iter().map(ToString::to_string));
    match folder.tokenizer_files() {
        Ok(files) => findings.good.extend(files.iter().map(ToString::to_string)),
        Err(refusal) => findings.faults.push(refusal.to_string()),
    }
    findings.good.push(read.config.to_string());
    findings.good.push(tensors(read));
    findings.good.push(tokenizer(folder));
    findings.push(pass(read));
    if let Some((known, file)) = read.files.iter().find_map(|file| Some((of_sha256(&file.sha256)?, file))) {
        let compared = known.compare(read);
        let is = |line: String| format!("{}: this is {}: {line}", file.name, known.name);
        findings.push(compared.map(is).map_err(is));
    }
    findings
}

/// Every tensor of the engine has its shape in the files, or the model would not have been read.
fn tensors(read: &Pretrained) -> String {
    let skipped = &read.origins.skipped;
    let used = read.origins.of.values().map(|origin| &origin.tensor).collect::<std::collections::BTreeSet<_>>().len();
    let names: Vec<String> = skipped.iter().map(|name| quoted(name)).collect();
    let left = if names.is_empty() { String::new() } else { format!("; not used: {}", names.join(", ")) };
    let head = if read.has_head { "" } else { "; no readout: it cannot name words" };
    format!("{used} tensors, all of the shapes of the config{left}{head}")
}

/// The tokenizer's pieces against the rows of the table.
fn tokenizer(folder: &ModelFolder) -> String {
    let rows = folder.config.vocabulary;
    let Some(tokenizer) = &folder.tokenizer else { return "no tokenizer: token ids stand for words".to_owned() };
    let nameless = (0..rows as u32).filter(|id| tokenizer.piece(*id).is_none()).count();
    let without = if nameless == 0 { String::new() } else { format!("; {nameless} rows have no piece") };
    format!("{} pieces of the tokenizer for {rows} rows of the table{without}", tokenizer.len())
}

/// A pass over words from all of the table: rows of weights sum to 1, no word sees what it must not, all numbers are
/// finite, and a second pass has the same bits.
fn pass(read: &Pretrained) -> Result<String, String> {
    /// Words of the pass.
    const TOKENS: usize = 16;
    /// How far a sum of weights may be from 1: roundings of a longer row.
    const TOLERANCE: f32 = 1e-5;
    let (rows, tokens) = (read.config.vocabulary, TOKENS.min(read.config.positions));
    let ids: Vec<usize> = (0..tokens).map(|i| i * rows / tokens).collect();
    let (model, sentence) = (read.model(), Sequences::one(&ids));
    let run = || Activations::of(&model, &read.parameters, &sentence, None, &Interventions::default());
    let first = run();
    let logits = model.logits_of(&read.parameters, &first.output);
    let layers = (1..).map(|layer| format!("the output of layer {layer}")).zip(&first.blocks);
    let layers = layers.map(|(name, block)| (name, block.output.flat()));
    let last = [("the final output", first.output.flat()), ("a logit", logits.flat())];
    let mut all = layers.chain(last.map(|(name, numbers)| (name.to_owned(), numbers)));
    if let Some((name, _)) = all.find(|(_, numbers)| !numbers.iter().all(|x| x.is_finite())) {
        return Err(failed(&format!("{name} is not finite")));
    }
    let per_layer = first.blocks.first().map_or(1, |block| block.heads.len().max(1));
    let place = |head: usize| format!("layer {}, head {}", head / per_layer + 1, head % per_layer + 1);
    let mut worst = 0f32;
    for (head, of) in first.heads().enumerate() {
        for query in 0..tokens {
            let row = of.weights.row(query);
            let off = (row.iter().sum::<f32>() - 1.0).abs();
            if off.is_nan() || off > TOLERANCE {
                return Err(failed(&format!(
                    "{}: the attention weights of token {} sum to 1 only within {off:.1e}",
                    place(head),
                    query + 1
                )));
            }
            let ahead = row[query + 1..].iter().any(|&weight| weight != 0.0);
            if read.config.causal && ahead {
                return Err(failed(&format!("{}: token {} looks at a later one", place(head), query + 1)));
            }
            worst = worst.max(off);
        }
    }
    if run() != first {
        return Err(failed("two passes gave different numbers"));
    }
    let heads = first.heads().count();
    Ok(format!(
        "self-test: {tokens} tokens through {heads} heads: weights sum to 1 within {worst:.1e}, all numbers finite, \
         two passes identical"
    ))
}

fn failed(why: &str) -> String {
    format!("self-test: {why}; download the model again, and report it if this happens again")
}
