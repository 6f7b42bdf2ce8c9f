//! Vectors as the Embedding Projector reads them.

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_engine::vectors::text::write_metadata;
use attune_engine::vectors::{Format, Table, write};
use attune_view::export::vectors::{self, TableRows, at_sentence};

use crate::{NOTEBOOK, run};

fn table(rows: TableRows) -> Table<'static> {
    vectors::of(&run(NOTEBOOK).snapshot(), rows).expect("a model")
}

/// As the Projector does it: vectors without a header, and what they are with one.
fn read() -> (Vec<Vec<f32>>, Vec<Vec<String>>) {
    let (table, mut vectors, mut metadata) = (table(TableRows::Both), Vec::new(), Vec::new());
    write(&table, Format::Tsv, &mut vectors).expect("they are written");
    write_metadata(&table, &mut metadata).expect("they are written");
    let [vectors, metadata] = [vectors, metadata].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"));
    let vectors: Vec<Vec<f32>> = vectors.lines().map(|line| line.split('\t').map(number).collect()).collect();
    let metadata: Vec<Vec<String>> =
        metadata.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    assert_eq!((vectors.len(), vectors[0].len()), (table.rows.rows(), table.rows.cols()));
    (vectors, metadata)
}

#[test]
fn a_line_for_each_vector_under_one_header() {
    let (vectors, metadata) = read();
    assert_eq!(metadata[0], ["label", "word", "kind", "sentence", "position", "group", "__seq_next__"]);
    assert_eq!(metadata.len(), vectors.len() + 1);
    assert!(metadata.iter().all(|row| row.len() == 7) && vectors.iter().all(|row| row.len() == vectors[0].len()));
}

#[test]
fn each_token_goes_from_its_static_to_its_contextual_vector() {
    let (vectors, metadata) = read();
    let snapshot = run(NOTEBOOK).snapshot();
    let rows = &metadata[1..];
    let seal = rows.iter().position(|row| row[0] == "seal" && row[2] == "static in a sentence").unwrap();
    assert_eq!(rows[seal][3..], ["the seal sank while a duck swam", "2", "", (seal + 1).to_string().as_str()]);
    assert_eq!(rows[seal + 1][..3], ["seal", "seal", "contextual"]);
    let word = rows.iter().position(|row| row[1] == "seal" && row[2] == "static").unwrap();
    assert_eq!(vectors[seal], vectors[word], "every digit");
    assert_eq!(vectors[seal + 1], snapshot.model.unwrap().sentence.activations.output.row(1));
    for (i, row) in rows.iter().enumerate() {
        let next: Option<usize> = row[6].parse().ok();
        assert_eq!(next, (row[2] == "static in a sentence").then_some(i + 1));
    }
    assert_eq!(rows.iter().find(|row| row[1] == "duck").unwrap()[5], "animal");
}

#[test]
fn every_layer_of_a_token_has_a_row_and_a_name_of_its_own() {
    let (layers, contextual, words) =
        (table(TableRows::Layers), table(TableRows::Contextual), table(TableRows::Static));
    let model = run(NOTEBOOK).snapshot().model.expect("a model");
    let of_token = model.architecture.blocks.len() + 1 + usize::from(model.architecture.final_norm);
    assert_eq!(layers.words.len(), of_token * contextual.words.len());
    for (token, word) in contextual.words.iter().enumerate() {
        let last = (token + 1) * of_token - 1;
        assert_eq!(*layers.words[last], format!("{word}:{}", of_token - 1));
        assert_eq!(layers.rows.row(last), contextual.rows.row(token), "{word}");
    }
    let unique: std::collections::HashSet<_> = layers.words.iter().chain(contextual.words.iter()).collect();
    assert_eq!(unique.len(), layers.words.len() + contextual.words.len());
    assert_eq!(
        *words.words,
        *run(NOTEBOOK)
            .snapshot()
            .space
            .expect("words")
            .vocabulary
            .iter()
            .map(|w| w.as_str().into())
            .collect::<Vec<Box<str>>>()
    );
    assert!(contextual.words.contains(&"seal@1.2".into()), "{:?}", contextual.words);
}

#[test]
fn another_sentence_is_as_the_kernel_shows_it() {
    let mut kernel = run(NOTEBOOK);
    let other = at_sentence(&kernel.snapshot(), 1).unwrap().model.unwrap().sentence;
    kernel.apply(Command::Sentence(SentenceCommand::Select(1)));
    let shown = kernel.snapshot().model.unwrap().sentence;
    assert_eq!(
        (&other.tokens, &other.activations, &other.answers),
        (&shown.tokens, &shown.activations, &shown.answers)
    );
    assert_eq!((&other.start, &other.end), (&shown.start, &shown.end));
    assert!(at_sentence(&kernel.snapshot(), 99).is_none());
}
