//! Prints the pieces of texts: `cargo run --no-default-features --example tokens -- tokenizer.json < texts`, where each
//! line of the input is a text as a JSON string. Each line of the output has its pieces, as `[id, first byte, end,
//! word]`, for comparison with other tokenizers on thousands of texts.

use std::io::{self, BufWriter, Write};

use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("the path of a tokenizer.json is missing")?;
    let tokenizer = Tokenizer::read(TokenizerFiles::Json(&std::fs::read_to_string(path)?))?;
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let pieces = tokenizer.encode(&text)?.pieces;
        let rows: Vec<_> = pieces.iter().map(|p| (p.id, p.bytes.start, p.bytes.end, p.word)).collect();
        writeln!(out, "{}", serde_json::to_string(&rows)?)?;
    }
    Ok(())
}
