//! Lessons that take their static vectors from a file, and the lesson that opens on a file.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::check::rehearse;
use attune_core::lesson::pictures::within;
use attune_core::lesson::vector_files::{is_file_of_vectors, lesson_of};
use attune_core::lesson::{Lesson, LessonIssue, parse};

use attune_engine::code::budget::TIME_MAX;
use attune_engine::vectors::{Format, Vectors, write};

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::lessons::of_file;
use crate::common::top::at;

const LESSON: &str = r#"Lesson(
    id: "from-a-file", title: "From a file", seed: 1,
    groups: {"fruit": ["apple", "pear"]},
    corpus: Sentences(["king woman", "queen man"]),
    static_embedding: File("glove.txt"),
    model: Attention(heads: 1, objective: MaskedWord, steps: 2),
    sentences: ["king queen river"],
)"#;

/// A file of the fixtures.
fn vectors(name: &str) -> Vectors {
    attune_engine::vectors::read(&at("tests/fixtures/vectors").join(name), &mut |_| true).expect("vectors")
}

/// A lesson beside the files of vectors.
fn beside(text: &str) -> Result<Lesson, Vec<LessonIssue>> {
    parse(&at("tests/fixtures/vectors/lesson.ron").display().to_string(), text)
}

/// The one issue of the lesson with a change, from its place on.
#[track_caller]
fn issue(from: &str, to: &str) -> String {
    assert!(LESSON.contains(from), "{from}");
    let issues = beside(&LESSON.replace(from, to)).expect_err("an issue");
    assert_eq!(issues.len(), 1, "{issues:#?}");
    issues[0].to_string().rsplit_once("lesson.ron:").expect("its file").1.to_owned()
}

#[test]
fn a_lesson_has_the_rows_of_the_words_that_it_names() {
    let lesson = beside(LESSON).unwrap_or_else(|issues| panic!("{issues:#?}"));
    assert_eq!(*lesson.vocabulary(), ["king", "woman", "queen", "man", "apple", "pear", "river"]);
    assert_eq!(lesson.static_embedding.dim(), 5);
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    let space = snapshot.space.expect("a space");
    let file = vectors("glove.txt");
    for (row, word) in space.vocabulary.iter().enumerate() {
        let own = file.row_of(word).expect("a word of the file");
        assert_eq!(*space.vectors.row(row), *file.rows.row(own), "{word}");
    }
    assert_eq!(snapshot.model.expect("a model").training.progress.done, 2, "attention is trained on top");
}

#[test]
fn a_word_that_is_not_in_the_file_is_named_with_the_nearest() {
    assert_eq!(
        issue("queen man", "queeen man"),
        "5:23: static_embedding: no vector for \"queeen\", a word of the corpus; did you mean \"queen\"?"
    );
    assert_eq!(
        issue("king queen river", "king queen rivers"),
        "7:29: sentences: word \"rivers\" is neither in the corpus nor in the file of vectors; did you mean \"river\"?"
    );
}

#[test]
fn a_file_is_beside_the_lesson_and_has_vectors() {
    assert!(issue("glove.txt", "no.txt").starts_with("5:28: static_embedding: no.txt: found "));
    assert!(issue("glove.txt", "pickled.npy").contains("static_embedding: pickled.npy: "));
    for outside in ["../saved/README.md", "/etc/hostname", ""] {
        let found = issue("glove.txt", outside);
        assert!(
            found.ends_with("expected the name of a file in the lesson's folder, such as \"glove.txt\""),
            "{found}"
        );
        assert!(found.contains("is not the name of a file beside the lesson"), "{found}");
    }
}

#[test]
fn a_file_opens_as_a_lesson_with_all_of_its_words() {
    for name in ["glove.txt", "plain.bin", "plain.vec", "plain.npy", "plain.npz", "glove.txt.gz", "spaced.bin"] {
        assert!(is_file_of_vectors(&at("tests/fixtures/vectors").join(name)), "{name}");
    }
    assert!(is_file_of_vectors(&at("tests/fixtures/vectors/pickled.npy")));
    for other in ["README.md", "lessons/words.ron", "tests/fixtures/vectors/answers.json", "Cargo.toml", "lessons"] {
        assert!(!is_file_of_vectors(&at(other)), "{other}");
    }
    let lesson = of_file("tests/fixtures/vectors/plain.bin");
    assert_eq!(lesson.title, "plain.bin");
    assert_eq!(lesson.summary.as_deref(), Some("12 vectors of 5 numbers (word2vec, binary, F32)"));
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    let (space, model) = (snapshot.space.expect("a space"), snapshot.model.expect("a model"));
    assert_eq!((space.vocabulary.len(), space.points.rows()), (12, 12));
    assert_eq!(model.sentence.tokens.len(), 1);
    assert_eq!(model.sentence.end, model.sentence.start, "a word alone stays where it is");
    let shown = space.shares().expect("they differ").seen(None);
    let file = vectors("plain.bin");
    let exact: f64 = attune_engine::vectors::space::components(&file, 3).expect("finite").shares.iter().sum();
    assert_close("the components of all rows", shown, exact, Tolerance::SINGLE);
}

#[test]
fn a_table_of_model2vec_is_vectors_and_not_a_model() {
    let folder = Folder::new("model2vec");
    let vectors = vectors("plain.bin");
    let mut bytes = Vec::new();
    write(&vectors.table(), Format::Safetensors, &mut bytes).expect("written");
    std::fs::write(folder.join("model.safetensors"), bytes).expect("written");
    std::fs::write(folder.join("config.json"), r#"{"model_type": "model2vec", "normalize": true}"#).expect("written");
    let words: Vec<&str> = vectors.words.iter().map(|word| &**word).collect();
    std::fs::write(folder.join("vocab.txt"), words.join("\n")).expect("written");
    for path in [folder.0.clone(), folder.join("model.safetensors")] {
        assert!(is_file_of_vectors(&path), "{}", path.display());
        let lesson = of_file(&path);
        assert_eq!(*lesson.vocabulary(), words[..]);
    }
    assert!(!is_file_of_vectors(&at("lessons/depth")) && !is_file_of_vectors(&at("lessons/depth/model.safetensors")));
}

#[test]
fn code_asks_for_any_word_of_the_file() {
    let code = r#"sentences: ["king queen river"], cells: [
        Code(id: "rows", src: "expect(shape(vectors([\"paris\", \"france\"])), [2, 5], 0)"),
        Code(id: "near", src: "neighbours(\"king - man + woman\", 3)"),
        Code(id: "none", src: "vectors([\"london\"])", fails: true),
    ],"#;
    let lesson = beside(&LESSON.replace(r#"sentences: ["king queen river"],"#, code)).expect("no issues");
    let mut kernel = Kernel::trained(Arc::new(lesson));
    let problems = rehearse(&mut kernel, TIME_MAX);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn the_first_rows_of_a_large_file_are_shown_while_the_rest_is_read() {
    const ROWS: usize = 40_000;
    let folder = Folder::new("large");
    let row = |row: usize| {
        let numbers = (0..220).flat_map(move |i| ((row * 31 + i * 17) as f32 % 7.0 - 3.0).to_le_bytes());
        format!("word{row} ").into_bytes().into_iter().chain(numbers)
    };
    let bytes: Vec<u8> = format!("{ROWS} 220\n").into_bytes().into_iter().chain((0..ROWS).flat_map(row)).collect();
    std::fs::write(folder.join("large.bin"), bytes).expect("written");
    let mut first = Vec::new();
    let whole = lesson_of(&folder.join("large.bin"), &mut |lesson| first.push(lesson)).expect("vectors");
    assert_eq!((whole.vocabulary().len(), first.len()), (ROWS, 1));
    let (first, words) = (first.remove(0), whole.vocabulary());
    let count = first.vocabulary().len();
    assert!(count < ROWS / 2 && *first.vocabulary() == words[..count] && first.id == whole.id);
    let space = Kernel::trained(Arc::new(first)).snapshot().space.expect("a space");
    assert_eq!(space.points.rows(), count, "they have components of their own");
    let mut shown = 0;
    lesson_of(&at("tests/fixtures/vectors/plain.bin"), &mut |_| shown += 1).expect("vectors");
    assert_eq!(shown, 0, "a small file is there at once");
}

/// The lesson with cells, in a folder.
fn with_code(folder: &Folder, code: &str) -> Vec<String> {
    let cells = format!(r#"sentences: ["king queen river"], cells: [Code(id: "code", src: {code:?})],"#);
    let text = LESSON.replace(r#"sentences: ["king queen river"],"#, &cells);
    let lesson = parse(&folder.file("lesson.ron"), &text).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let mut kernel = Kernel::trained(Arc::new(lesson));
    rehearse(&mut kernel, TIME_MAX).into_iter().map(|problem| problem.words).collect()
}

#[test]
fn code_reads_a_file_beside_the_lesson_and_nothing_else() {
    let folder = Folder::new("beside");
    std::fs::copy(at("tests/fixtures/vectors/glove.txt"), folder.join("glove.txt")).expect("copied");
    std::fs::copy(at("tests/fixtures/vectors/plain.bin"), folder.join("other.bin")).expect("copied");
    let many: String = (0..110_000).map(|row| format!("w{row} 1 2 3 4 5 6 7 8 9 {row}\n")).collect();
    std::fs::write(folder.join("many.txt"), many).expect("written");
    std::fs::File::create(folder.join("large.bin")).and_then(|file| file.set_len(65 << 20)).expect("a hole");
    let good = r#"
        let all = vectors("other.bin");
        expect(shape(all), [12, 5], 0);
        expect(norm(all["king"] - vectors(["king"])[0]), 0, 1e-6);
        expect(all["king"] @ all["queen"], dot(vectors("other.bin", ["queen", "king"])[1], all["queen"]), 1e-6);
        expect(vectors("many.txt", ["w7"])[0, 9], 7, 0);
        neighbours("other.bin", "king - man + woman", 3)"#;
    assert_eq!(with_code(&folder, good), [""; 0]);
    for (code, says) in [
        (r#"vectors("no.txt")"#, "vectors: \"no.txt\": there is no such file in the lesson's folder"),
        (r#"vectors("../glove.txt")"#, "outside the lesson's folder"),
        (r#"vectors("/etc/hostname")"#, "outside the lesson's folder"),
        (r#"vectors("lesson.ron")"#, "there is no such file"),
        (r#"vectors("king")"#, "for the word, write vectors([\"king\"])"),
        (r#"vectors("many.txt")"#, "read the rows of some words, as in"),
        (r#"vectors("large.bin")"#, "more than 64 MB or 16 million numbers"),
        (r#"vectors("other.bin", ["kin"])"#, "`kin` is not among the 12 words; did you mean `king`"),
        (r#"neighbours("other.bin", "king -", 3)"#, "a sign without a word"),
    ] {
        let found = with_code(&folder, code);
        assert!(found.len() == 1 && found[0].contains(says), "{code}: {found:?}");
    }
}

#[test]
fn a_column_of_few_values_gives_the_words_their_colours() {
    let folder = Folder::new("metadata");
    let rows = (0..8).map(|row| format!("{}\t{}\t1\n", row % 3, row * row)).collect::<String>();
    let names = (0..8).map(|row| format!("w{row}\t{}\n", if row < 6 { "noun" } else { "verb" })).collect::<String>();
    std::fs::write(folder.join("vectors.tsv"), rows).expect("it is written");
    std::fs::write(folder.join("metadata.tsv"), format!("word\tclass\n{names}")).expect("it is written");
    let lesson = of_file(folder.join("vectors.tsv"));
    let groups: Vec<(&str, usize)> =
        lesson.groups.iter().map(|group| (group.name.as_str(), group.words.len())).collect();
    assert_eq!(groups, [("noun", 6), ("verb", 2)]);
    let space = Kernel::trained(Arc::new(lesson)).snapshot().space.expect("a space");
    assert_eq!(space.group_of[space.row_of("w7").expect("a word")], Some(1));
}

/// `attune check lesson.ron` in the lesson's folder.
#[test]
fn a_lesson_that_is_named_without_a_folder_has_the_files_beside_it() {
    let manifest = Path::new("Cargo.toml").canonicalize().expect("a file of the current folder");
    assert_eq!(within(Some(Path::new("")), "Cargo.toml"), Ok(manifest));
}
