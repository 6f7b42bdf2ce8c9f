//! Live numbers and words: what they follow, and when they are marked.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::notebook::live_text::LiveTextSnapshot;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_core::lesson::live_text::LessonText;
use attune_engine::numerics::attention::HeadMode;
use attune_view::export::markdown::{LessonProse, MarkdownPiece, restated};
use attune_view::export::page::Links;
use attune_view::view_model::notebook::{LiveStanding, LiveWord, NotebookModel};

use crate::common::lessons::{SMALL, apply, edited, kernel, run_all};

const TEXT: &str = r#"{{ A[0]["seal", "duck"] | .3 }} {{ 2 + 1 }} {{ "du" + "ck" }} {{ A[0]["seel", "duck"] }}"#;

/// The small lesson with this text before its stage cell.
fn with(text: &str) -> Kernel {
    kernel(&edited(SMALL, &[(r##"md: "# Sinking and swimming""##, &format!("md: r#\"{text}\"#"))]))
}

/// The small lesson with these cells before its stage cell.
fn with_cells_before(cells: &str) -> Kernel {
    let stage = r#"        Stage(id: "both""#;
    kernel(&edited(SMALL, &[(stage, &format!("{cells}\n{stage}"))]))
}

fn words_of(kernel: &Kernel, text: &str) -> Vec<LiveWord> {
    let model = NotebookModel::of(&kernel.snapshot(), None);
    let live = model.cells[0].live.as_ref().expect("it has expressions");
    LessonText::from(text).expressions().iter().map(|expression| live.word(expression)).collect()
}

/// The text as an export writes it in Markdown.
fn exported(text: &str, live: Option<&LiveTextSnapshot>) -> String {
    let prose = LessonProse::of(&text.into(), live);
    let event = |piece| match piece {
        MarkdownPiece::Event(event) => event,
        MarkdownPiece::Picture { .. } => panic!("no text here has a picture"),
    };
    restated(&prose.pieces(Links::NONE).map(event).collect::<Vec<_>>()).expect("it can be spelt")
}

#[test]
fn numbers_and_words_are_those_of_the_model() {
    let kernel = with(TEXT);
    let words = words_of(&kernel, TEXT);
    let model = kernel.snapshot().model.expect("it is trained");
    let weight = model.sentence.activations.blocks[0].heads[0].weights.get(1, 5);
    assert_eq!(words[0].words, format!("{weight:.3}"));
    assert_eq!((words[0].standing, words[0].entry.is_some()), (LiveStanding::Current, true));
    assert_eq!((&*words[1].words, &*words[2].words), ("3", "duck"));
    assert_eq!(words[3].standing, LiveStanding::Failed);
    assert!(words[3].notes[0].contains("did you mean \"seal\"?"), "{:?}", words[3]);
    assert!(words[3].words.starts_with("⚠ A[0]"), "what failed stands in its place");
}

#[test]
fn a_number_says_when_it_is_not_the_one_of_the_text() {
    let mut kernel = with(TEXT);
    let before = words_of(&kernel, TEXT)[0].words.clone();
    apply(&mut kernel, Command::Interventions(InterventionCommand::SetTemperature(Some(0.2))));
    let words = words_of(&kernel, TEXT);
    assert_eq!(words[0].standing, LiveStanding::Differs);
    assert!(words[0].words.ends_with(" (attention changed)") && !words[0].words.starts_with(&before), "{:?}", words[0]);
    assert_eq!(words[1].standing, LiveStanding::Current, "it reads nothing of the model");
    apply(&mut kernel, Command::Undo);
    assert_eq!(words_of(&kernel, TEXT)[0].words, before);
    // Changed, but not in this number.
    apply(&mut kernel, Command::Interventions(InterventionCommand::SetTemperature(Some(1.0))));
    assert_eq!(words_of(&kernel, TEXT)[0].standing, LiveStanding::Current);
    kernel.apply(Command::Undo);

    // Another sentence of the lesson has no duck: the number stays that of the text's own sentence.
    apply(&mut kernel, Command::Sentence(SentenceCommand::Select(1)));
    let word = &words_of(&kernel, TEXT)[0];
    assert_eq!((&word.words, word.standing, word.entry), (&before, LiveStanding::Current, None));
    assert!(word.notes[0].contains("the seal sank while a duck swam"), "{word:?}");
    // A sentence of the learner's is followed.
    apply(&mut kernel, Command::Sentence(SentenceCommand::Set("a duck and the seal".replace(" and", ""))));
    let word = &words_of(&kernel, TEXT)[0];
    assert!(word.notes[0].contains("on the stage"), "{word:?}");
    assert!(word.words.starts_with(&before) || word.words.ends_with(" (other sentence)"), "{word:?}");
}

/// A number follows what it reads: through variables, and through a retraining of the vectors too.
#[test]
fn numbers_of_the_vectors_follow_a_retraining_and_nothing_else() {
    let text = r#"{{ E["seal", 0] | .3 }} {{ long | .3 }} {{ asked | .3 }} {{ 2 + 1 }}"#;
    let cells = r##"Plot(id: "plot", caption: "a length", src: r#"let long = norm(E["seal"]); long"#),
        Code(id: "code", src: r#"let asked = 2.0 * norm(E["seal"]);"#), Text(id: "say", md: r#"TEXT"#),"##;
    let cells = cells.replace("TEXT", text);
    let mut kernel = with_cells_before(&cells);
    run_all(&mut kernel);
    let words = |kernel: &Kernel| -> Vec<LiveWord> {
        let model = NotebookModel::of(&kernel.snapshot(), None);
        let live = model.cells[3].live.as_ref().expect("live");
        LessonText::from(text).expressions().iter().map(|expression| live.word(expression)).collect()
    };
    let standings = |kernel: &Kernel| words(kernel).iter().map(|word| word.standing).collect::<Vec<_>>();
    let written = |kernel: &Kernel| words(kernel).into_iter().map(|word| word.words).collect::<Vec<_>>();
    let length = |kernel: &Kernel| {
        let space = kernel.snapshot().space.expect("a space");
        let seal = space.vocabulary.iter().position(|word| word == "seal").expect("a word");
        space.vectors.row(seal).iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt()
    };
    let own = written(&kernel);
    assert_eq!(own[1], format!("{:.3}", length(&kernel)));
    assert_eq!(standings(&kernel), [LiveStanding::Current; 4]);

    for change in
        [InterventionCommand::SetHead { head: 0, mode: HeadMode::Off }, InterventionCommand::SetTemperature(Some(0.3))]
    {
        apply(&mut kernel, Command::Interventions(change));
        assert_eq!((written(&kernel), standings(&kernel)), (own.clone(), vec![LiveStanding::Current; 4]));
        apply(&mut kernel, Command::Undo);
    }

    let retrained = Recipe { seed: Some(9), ..Recipe::default() };
    apply(&mut kernel, Command::Retrain(Box::new(retrained)));
    let now = written(&kernel);
    assert_eq!(now[1], format!("{:.3} (retrained)", length(&kernel)), "the plot runs by itself");
    assert!(now[0].ends_with(" (retrained)") && now[0] != own[0], "{now:?}");
    assert_eq!(now[2], format!("{} (older result)", own[2]), "the learner's cell waits");
    assert!(words(&kernel)[2].notes[0].contains("Cell code has not run"), "{:?}", words(&kernel)[2]);
    assert_eq!(now[3], "3");
    assert!(kernel.snapshot().notebook.cells[2].is_stale());
    run_all(&mut kernel);
    assert_eq!(written(&kernel)[2], format!("{:.3} (retrained)", 2.0 * length(&kernel)));

    apply(&mut kernel, Command::Retrain(Box::default()));
    let back = written(&kernel);
    assert_eq!(back[..2], own[..2], "the lesson's own again");
    assert!(back[2].ends_with(" (older result)"), "{back:?}");
    run_all(&mut kernel);
    assert_eq!((written(&kernel), standings(&kernel)), (own, vec![LiveStanding::Current; 4]));
}

#[test]
fn the_learners_text_follows_the_cells_above() {
    let text = "{{ much }}";
    let cells = r##"Code(id: "make", src: "let much = 6 * 7;"), Text(id: "say", md: "{{ much }}"),"##;
    let mut kernel = with_cells_before(cells);
    let word = |kernel: &Kernel| {
        let model = NotebookModel::of(&kernel.snapshot(), None);
        model.cells[2].live.as_ref().expect("live").word(&LessonText::from(text).expressions()[0])
    };
    assert!(word(&kernel).notes[0].contains("run the cell make"), "{:?}", word(&kernel));
    run_all(&mut kernel);
    assert_eq!(word(&kernel).words, "42");
    let shown = kernel.snapshot().notebook.cells[2].live.clone();
    assert_eq!(exported("so {{ much }} [x](attune:head/1)", shown.as_ref()), "so 42 x");
    let rewritten = CellCommand::SetText("let much = \"a *lot*\";".into());
    kernel.apply(Command::Notebook(NotebookCommand::Cell("make".into(), rewritten)));
    run_all(&mut kernel);
    let shown = kernel.snapshot().notebook.cells[2].live.clone();
    assert_eq!(exported(text, shown.as_ref()), "a \\*lot\\*");
}
