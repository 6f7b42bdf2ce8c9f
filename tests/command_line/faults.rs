//! Faults that show only when a lesson runs are said at their places in the file, and nothing that is printed steers a
//! terminal.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::common::folder::Folder;
use crate::program::{ended, program, said};

/// A lesson file that is gone after the test.
struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("attune-{}-{name}.ron", std::process::id()));
        fs::write(&path, text).expect("a temporary file");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The exit code, and all that is said, with the file's name as `FILE`.
fn attune(args: &[&str], file: &File) -> (Option<i32>, String) {
    let (code, said) = said(args);
    (code, said.replace(file.path(), "FILE"))
}

#[track_caller]
fn check(file: &File, expected: &str) {
    let (code, said) = attune(&["check", file.path()], file);
    assert_eq!((code, said.trim_end()), (Some(1), format!("FILE: has issues\n{expected}").as_str()));
}

fn lesson(embedding: &str, model: &str, claims: &str) -> String {
    format!(
        "Lesson(id: \"x\", title: \"X\", seed: 1, groups: {{\"g\": [\"one\"], \"h\": [\"two\"]}},\n\
         corpus: Sentences({{\"a\": [\"one two three\"], \"b\": [\"two three one\"]}}),\n\
         static_embedding: {embedding},\n\
         model: Attention(heads: 1, max_tokens: 4, {model}),\n\
         sentences: [\"one two\", \"two three\"], probes: [Probe(sentence: \"one two three\", word: \"three\", sense: \"g\")],\n\
         claims: [{claims}])"
    )
}

/// Finite vectors whose projections are not.
const HUGE: &str = r#"Given({"one": [3e38, 3e38], "two": [-3e38, 3e38], "three": [3e38, -3e38]})"#;
const PLAIN: &str = r#"Given({"one": [1, 0], "two": [0, 1], "three": [1, 1]})"#;

fn claims(facts: &[&str]) -> String {
    let claim = |(i, fact): (usize, &&str)| {
        format!("Claim(id: \"c{i}\", says: \"s\", fact: {fact}, expect: Within(value: 0.5, tolerance: 1)),")
    };
    facts.iter().enumerate().map(claim).collect()
}

#[test]
fn no_claim_holds_of_what_is_no_number() {
    let of_words =
        ["SenseAccuracy(Contextual)", "SenseMargin(Contextual)", "TokenMargin(sentence: 0, token: 0, sense: \"g\")"];
    let of_labels =
        ["LabelAccuracy", "LabelAccuracy(on: {\"one two\": \"a\"})", "Says(sentence: \"one\", answer: \"a\")"];
    let of_sequences = ["SequenceAccuracy", "Alignment(head: 2)", "ContributionError"];
    for (objective, facts) in [("MaskedWord", of_words), ("Label", of_labels), ("Sequence", of_sequences)] {
        let model = format!("objective: {objective}, steps: 0");
        let file = File::new(objective, &lesson(HUGE, &model, &claims(&facts)));
        let said = ended(attune(&["check", file.path()], &file), 1, "");
        for i in 0..facts.len() {
            let no = format!("claim \"c{i}\" does not hold: measured no finite number, expected 0.5 ± 1 (s)");
            assert!(said.contains(&no), "{objective} {i}: {said}");
        }
    }
}

#[test]
fn a_forward_pass_that_overflows_is_an_issue() {
    let file = File::new("huge", &lesson(HUGE, "objective: MaskedWord, steps: 0", ""));
    let words =
        "FILE:3:19: Q[0] of the sentence \"one two\" has an entry that is not finite; the given vectors are too large";
    check(&file, words);
    assert_eq!(attune(&["trace", file.path()], &file), (Some(1), format!("{words}\n")));

    let weights = r#"objective: MaskedWord, steps: 0, weights: {"W_Q": [[0, 0], [3e38, 3e38]], "b_Q": [[3e38, 3e38]]}"#;
    let file = File::new("weights", &lesson(PLAIN, weights, ""));
    check(
        &file,
        "FILE:4:85: Q[0] of the sentence \"one two\" has an entry that is not finite; \
         the model's initial weights are too large",
    );
    // Only the second sentence has the word.
    let far = PLAIN.replace("[1, 1]", "[0, 3e38]");
    let weights = r#"objective: MaskedWord, steps: 0, positions: None, weights: {"W_V": [[0, 0], [0, 2]]}"#;
    let file = File::new("far", &lesson(&far, weights, ""));
    let (_, said) = attune(&["check", file.path()], &file);
    assert!(said.contains("of the sentence \"two three\" has an entry that is not finite"), "{said}");
    assert_eq!(attune(&["trace", file.path(), "--sentence", "one two"], &file).0, Some(0));

    // A masked score is −∞ and no fault.
    let file = File::new("masked", &lesson(PLAIN, "objective: NextWord, steps: 0", ""));
    assert_eq!(attune(&["check", file.path()], &file).0, Some(0));
}

#[test]
fn training_that_diverges_names_the_tensor_and_the_place() {
    let file = File::new("start", &lesson(HUGE, "objective: MaskedWord, steps: 5", ""));
    check(
        &file,
        "FILE:3:19: training diverged at step 1: the loss is no longer finite: Q[0] is the first tensor that is not \
         finite; the given vectors are too large",
    );
    let steep = "objective: NextWord, steps: 500, optimiser: Sgd(momentum: 0.99),\n learning_rate: 1.0";
    let long = PLAIN.replace('1', "1e4");
    let file = File::new("steep", &lesson(&long, steep, ""));
    let said = ended(attune(&["check", file.path()], &file), 1, "FILE:5:17: training diverged at step ");
    assert!(said.contains("the model's learning_rate of 1 is too large"), "{said}");
}

#[test]
fn static_vectors_that_learn_nothing_are_an_issue() {
    let nothing = "SkipGram(dim: 4, epochs: 50,\n subsample: 1e-300)";
    let file = File::new("nothing", &lesson(nothing, "objective: MaskedWord, steps: 0", ""));
    check(&file, "FILE:4:13: the static vectors learned nothing, because a subsample of 1e-300 leaves too few words");
}

#[test]
fn two_files_have_two_ids() {
    let text = lesson(PLAIN, "objective: MaskedWord, steps: 0", "");
    let (file, other) = (File::new("one", &text), File::new("other", &text));
    let said = ended(attune(&["check", file.path(), other.path(), file.path()], &file), 1, "");
    let canonical = fs::canonicalize(file.path()).expect("it is there").display().to_string();
    let first = canonical.replace(file.path(), "FILE");
    let expected = format!("{}:1:12: id \"x\" is also the id of {first}; expected a unique id\n", other.path());
    assert!(said.ends_with(&expected), "{said}");
    assert_eq!(said.matches(": ok").count(), 2, "a file may be named twice: {said}");
}

#[test]
fn a_mistyped_command_is_met_with_the_right_one() {
    let file = File::new("chek", "");
    for args in [&["chek", "x.ron"][..], &["chek"]] {
        let (code, said) = attune(args, &file);
        assert!(matches!(code, Some(1 | 2)), "{said}");
        assert!(said.contains("there is no command \"chek\"; did you mean \"check\"?"), "{said}");
    }
    assert!(!attune(&["missing.ron"], &file).1.contains("hint"), "a lesson that is not there");
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_said_not_to_be() {
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device"));
    for args in [&["check", "tests/fixtures/small.ron"][..], &["trace", "tests/fixtures/small.ron"]] {
        let run = program().args(args).stdout(full()).output();
        let output = run.expect("the program starts");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.starts_with("error: the results cannot be written to standard output: "), "{said}");
    }
}

/// A limit on the size of files stands for a disk without room: every system has it, for every user.
#[cfg(unix)]
#[test]
fn an_export_without_room_leaves_what_was_there() {
    let folder = Folder::new("no-room");
    // A shell that lets the system end what writes too much, and one that has the system say so. Elsewhere than on
    // Linux, a program cannot know of the limit.
    let limits = ["ulimit -f 1; exec \"$@\"", "trap '' XFSZ; ulimit -f 1; exec \"$@\""];
    let limits = if cfg!(target_os = "linux") { &limits[..] } else { &limits[1..] };
    for (format, limit) in
        ["html", "ipynb", "md", "tsv"].into_iter().flat_map(|format| limits.iter().map(move |limit| (format, limit)))
    {
        let out = folder.join(format);
        fs::write(&out, "of before").expect("a file");
        let names = || fs::read_dir(&folder.0).expect("a folder").flatten().count();
        let before = names();
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", limit, "sh"]).arg(program().get_program());
        limited.args(["export", "tests/fixtures/notebook.ron", "--to", format, "-o"]).arg(&out);
        // Without a graphics adapter nothing is drawn, which takes its time.
        let output = limited.env("VK_DRIVER_FILES", "/dev/null").output().expect("a shell");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{format}: {said}");
        assert!(said.contains("File too large"), "{format}: {said}");
        assert_eq!(fs::read_to_string(&out).ok().as_deref(), Some("of before"), "{format}");
        assert_eq!(names(), before, "{format}: an unfinished file is left");
    }
}

#[cfg(unix)]
#[test]
fn file_names_are_printed_without_control_characters() {
    let file = File::new("\u{1b}[31mred", "Lesson(");
    for args in [&["check", file.path()][..], &["trace", file.path()]] {
        let said = ended(attune(args, &File::new("other", "")), 1, "");
        assert!(said.contains("\\u{1b}[31mred") && !said.contains('\u{1b}'), "{said}");
    }
}

#[test]
fn what_a_cell_says_is_printed_without_control_characters() {
    let text = include_str!("../fixtures/notebook.ron");
    let throws = r##"src: r#"throw "\x1b[31m\u202e""#"##;
    let file = File::new("escape", &text.replace(r#"src: "E @ E", fails: true"#, throws));
    let said = ended(attune(&["check", file.path()], &file), 1, "");
    assert!(said.contains(r"\u{1b}[31m\u{202e}"), "{said}");
}

#[test]
fn a_picture_that_is_missing_is_an_issue() {
    let text = include_str!("../fixtures/notebook.ron");
    let shows = r##"src: r#"image("nowhere.png")"#"##;
    let file = File::new("picture", &text.replace(r#"src: "E @ E", fails: true"#, shows));
    check(&file, "FILE:36:43: cell \"broken\": image(\"nowhere.png\"): there is no such file in the lesson's folder");
}
