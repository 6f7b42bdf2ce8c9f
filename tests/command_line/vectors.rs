//! `attune check` and `attune neighbours` on files of word vectors.

use crate::common::top::at;
use crate::program::said;

fn fixture(name: &str) -> String {
    at(format!("tests/fixtures/vectors/{name}")).display().to_string()
}

#[test]
fn a_file_of_vectors_is_checked() {
    let path = fixture("spaced.bin");
    let (code, text) = said(&["check", &path]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("ok, 14 vectors of 5 numbers (word2vec, binary, F32); 0 rows left out"), "{text}");
    assert!(text.contains("2 words with blanks in them (byte "), "{text}");
    let (code, text) = said(&["check", &fixture("pickled.npy")]);
    assert!(code == Some(1) && text.contains("pickled Python objects") && text.contains("np.save"), "{text}");
}

#[test]
fn neighbours_are_printed_as_text_and_as_json() {
    let path = fixture("plain.bin");
    let (code, text) = said(&["neighbours", &path, "king - man + woman", "--count", "3", "--quiet"]);
    assert!(code == Some(0) && text.lines().count() == 3 && !text.contains("king"), "{text}");
    let (code, text) = said(&["neighbours", &path, "king", "--with-words", "--json", "--count", "1", "--quiet"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(code == Some(0) && answer["neighbours"][0]["word"] == "king", "{text}");
    let (code, text) = said(&["neighbours", &path, "kin"]);
    assert!(code == Some(2) && text.contains("did you mean `king`"), "{text}");
}
