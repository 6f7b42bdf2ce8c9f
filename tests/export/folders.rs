//! The live pages of what is no lesson: files of vectors in every format, model folders, and pairs of sentences.

use std::fs;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use serde_json::{Value, json};

use crate::common::chromium::ask;
use crate::common::folder::Folder;
use crate::common::top::at;
use crate::web::{NUMBERS, SIZE, as_web, check};

/// Files of word vectors that can be opened.
const FILES: [&str; 8] =
    ["glove.txt", "glove.txt.gz", "plain.bin", "plain.npy", "plain.npz", "plain.vec", "spaced.bin", "turned.npy"];

/// Words that a page must write and never run, and vectors that are no usual ones.
const HOSTILE: &str = "<script>attacked=1</script> 1 0 0\n</script><img/src=x/onerror=attacked=1> 0 1 0\n__proto__ 0 0 1\n\
    constructor 1 1 0\n\u{202e}abc 0 1 1\n{{7*7}} 1 0 1\n& 3e38 0 0\n\" 0 0 0\n";

/// A page that has run: its script has no fault, words are text, and every tab can be opened.
const STATE: &str = r"
    await new Promise((rest) => window.setTimeout(rest, 200));
    const tabs = [...document.querySelectorAll('#lab [role=tab]')].filter((tab) => tab.offsetParent !== null);
    tabs.forEach((tab) => tab.click());
    ['time-static', 'time-on', 'time-on', 'time-contextual', 'lab-reset'].forEach((id) => document.getElementById(id).click());
    await new Promise((rest) => window.setTimeout(rest, 200));
    return {
        isLive: document.documentElement.classList.contains('live'),
        isShown: !document.querySelector('#lab').hidden,
        words: document.querySelectorAll('#lab-sentence button').length > 0,
        points: document.querySelector('#lab-stage').width > 0,
        attacked: window.attacked || 0,
        scripts: document.scripts.length,
        bad: /NaN|undefined/.test(document.querySelector('#lab').textContent),
    };
";

fn opened(path: &std::path::Path) -> Kernel {
    let lesson = lesson::read(path).unwrap_or_else(|issues| panic!("{}: {issues:?}", path.display()));
    let mut kernel = Kernel::trained(Arc::new(lesson));
    kernel.settle();
    kernel
}

#[test]
fn the_page_of_every_file_of_vectors_runs() {
    let folder = Folder::new("vectors");
    let vectors = [("hostile.vec", HOSTILE), ("two.txt", "a 1 0 2\nb 0 1 1\n"), ("one.vec", "word 1 2\n")];
    let mut files: Vec<_> = FILES.iter().map(|file| at("tests/fixtures/vectors").join(file)).collect();
    for (name, text) in vectors {
        fs::write(folder.join(name), text).expect("a file");
        files.push(folder.join(name));
    }
    files.push(at("lessons/excerpt.vec"));
    let name = |file: &std::path::Path| format!("{}.html", file.file_name().expect("a name").display());
    let kernels: Vec<(String, Kernel)> = files.iter().map(|file| (name(file), opened(file))).collect();
    let pages: Vec<(String, String)> =
        kernels.iter().map(|(name, kernel)| (name.clone(), as_web(&kernel.snapshot()))).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let addresses: Vec<String> = kernels.iter().map(|(name, _)| name.clone()).collect();
    let Some(answers) = ask(&pages, &addresses, STATE, SIZE) else { return };
    // The scripts of a page are its code, the model's vectors and parameters, and its own data.
    let wanted = json!({
        "isLive": true, "isShown": true, "words": true, "points": true, "attacked": 0, "scripts": 4, "bad": false,
    });
    for (address, answer) in addresses.iter().zip(&answers) {
        assert_eq!(*answer, wanted, "{address}");
    }
    let numbers: Vec<String> = addresses.iter().map(|address| format!("{address}#numbers")).collect();
    let Some(answers) = ask(&pages, &numbers, NUMBERS, SIZE) else { return };
    for ((name, kernel), answer) in kernels.iter().zip(&answers).filter(|((name, _), _)| !name.starts_with("hostile")) {
        check(name, answer, &kernel.snapshot(), 1e-4);
    }
}

/// A pair of sentences, which the page can read too: the second text has vectors of its own.
#[test]
fn the_page_of_a_model_folder_has_the_programs_numbers_of_a_pair() {
    let (folder, fixtures) = (Folder::new("pair"), at("tests/fixtures/pretrained"));
    for file in ["config.json", "model.safetensors"] {
        fs::copy(fixtures.join("bert-default").join(file), folder.join(file)).expect("a copy");
    }
    // The page's own tokenizer has Chinese characters as letters of a word.
    let tokenizer = fs::read_to_string(fixtures.join("bert_tokenizer.json")).expect("a tokenizer");
    let tokenizer = tokenizer.replace(r#""handle_chinese_chars": true"#, r#""handle_chinese_chars": false"#);
    fs::write(folder.join("tokenizer.json"), tokenizer).expect("a file");
    let mut kernel = opened(&folder.0);
    let mut answers: Vec<Value> = Vec::new();
    let mut kernels = Vec::new();
    for sentence in ["the bank", "the bank ||| of the river", "||| the"] {
        kernel.apply(Command::Sentence(SentenceCommand::Set(sentence.to_owned())));
        kernel.settle();
        let snapshot = kernel.snapshot();
        assert_eq!(snapshot.notice, None, "{sentence}");
        let page = as_web(&snapshot);
        let typed = format!("pair.html#numbers&sentence={}", sentence.replace('|', "%7C").replace(' ', "+"));
        let asked = ["pair.html#numbers".to_owned(), typed];
        let Some(found) = ask(&[("pair.html", &page)], &asked, NUMBERS, SIZE) else { return };
        answers.extend(found);
        kernels.push((sentence, snapshot));
    }
    for ((sentence, snapshot), pages) in kernels.iter().zip(answers.chunks(2)) {
        for page in pages {
            check(sentence, page, snapshot, 1e-4);
        }
    }
}
