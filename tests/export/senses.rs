//! A list of sentences as a file.

use std::fs;

use attune_core::kernel::command::{SenseList, SenseSentence};
use attune_view::export::work_file::{read_senses, write_senses};

use crate::common::folder::Folder;

#[test]
fn a_list_comes_back_from_its_file_and_other_files_are_refused_with_words() {
    let folder = Folder::new("senses");
    let sentence = |text: &str, sense| SenseSentence { text: text.to_owned(), sense };
    let sentences = vec![sentence("the bank of the river", Some('A')), sentence("eine Bank für Geld", None)];
    let list = SenseList { word: "bank".to_owned(), sentences: sentences.clone() };
    let file = folder.join("bank.txt");
    write_senses(&list, &file).expect("it is written");
    assert_eq!(read_senses(&file), Ok(sentences));
    let refused = |bytes: &[u8], words: &str| {
        fs::write(&file, bytes).expect("a file");
        let why = read_senses(&file).expect_err("a refusal");
        assert!(why.starts_with("bank.txt") && why.contains(words), "{why}");
    };
    refused(b"", "no sentence");
    refused(&[0xff, 0xfe, 0x41], "UTF-8");
    refused(&b"a bank\n".repeat(201), "at most 200");
    refused(&vec![b'x'; 3 << 20], "more than 2 MiB");
    let why = read_senses(&folder.join("none.txt")).expect_err("a refusal");
    assert!(why.starts_with("none.txt cannot be read"), "{why}");
    let why = write_senses(&list, &folder.join("")).expect_err("a refusal");
    assert!(why.contains("folder"), "{why}");
}
