//! The code editor, driven by the keyboard alone.
use std::cell::RefCell;
use std::rc::Rc;

use attune::app::actions::NotebookAction;
use attune::app::text::code_text::Language;
use attune::app::text::editor::{Asked, EditorModel, EditorState, editor_id, editor_ui};
use attune::app::theme::{self, fonts};
use attune_engine::code::editor::scope::{CompletionScope, Name};
use attune_engine::code::{Axis, Fault, Labels, LineColumn, Tensor};
use egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const SIZE: Vec2 = Vec2::new(420.0, 400.0);

/// The state that an editor was left in.
#[derive(Default)]
struct Seen {
    text: String,
    keys: Vec<Asked>,
    caret: usize,
    focused: bool,
}

struct Bench {
    harness: Harness<'static>,
    seen: Rc<RefCell<Seen>>,
}

impl Bench {
    /// An editor of `text` that has the keyboard, its caret at the end.
    fn new(text: &str) -> Self {
        Self::with(text, None)
    }

    fn with(text: &str, fault: Option<Fault>) -> Self {
        Self::of(text, fault, true)
    }

    fn of(text: &str, fault: Option<Fault>, is_code: bool) -> Self {
        let seen = Rc::new(RefCell::new(Seen { text: text.to_owned(), ..Seen::default() }));
        let (inner, ran) = (seen.clone(), text.to_owned());
        let words: Labels = ["bank", "river"].map(str::to_owned).into();
        let weights = Tensor::new(vec![Axis::labelled(words.clone()), Axis::labelled(words)], vec![0.0; 4]);
        let scope = CompletionScope::new([Name::tensor("A", &weights, "Attention weights.")]);
        let (mut state, mut frame) = (EditorState::default(), 0);
        let mut harness = Harness::builder().with_size(SIZE).build_ui(move |ui| {
            frame += 1;
            if frame == 1 {
                ui.ctx().set_fonts(fonts::definitions());
                theme::apply(ui.ctx());
                return;
            }
            if frame == 2 {
                let id = editor_id(ui);
                ui.memory_mut(|memory| memory.request_focus(id));
            }
            let fault = fault.as_ref().map(|fault| (fault, ran.as_str()));
            let language = if is_code { Language::Code(&scope) } else { Language::Markdown };
            let model = EditorModel { name: "Code of cell one", language, fault, hint: "", editable: true };
            let seen = &mut *inner.borrow_mut();
            let shown = editor_ui(ui, &mut seen.text, &model, &mut state);
            seen.keys.extend(shown.asked);
            (seen.caret, seen.focused) = (shown.caret, shown.focused);
        });
        harness.run_steps(4);
        Self { harness, seen }
    }

    fn typed(&mut self, text: &str) {
        for c in text.chars() {
            self.harness.event(egui::Event::Text(c.to_string()));
        }
        self.settle();
    }

    fn press(&mut self, modifiers: Modifiers, key: Key) {
        self.harness.key_press_modifiers(modifiers, key);
        self.settle();
    }

    fn settle(&mut self) {
        self.harness.run_steps(8);
    }

    fn text(&self) -> String {
        self.seen.borrow().text.clone()
    }

    fn has(&self, label: &str) -> bool {
        self.harness.query_by_label(label).is_some()
    }
}

#[test]
fn what_is_typed_stands_there_with_its_brackets_and_levels() {
    let mut bench = Bench::new("");
    bench.typed("fn f(x) {");
    bench.press(Modifiers::NONE, Key::Enter);
    bench.typed("softmax(x)");
    assert_eq!(bench.text(), "fn f(x) {\n    softmax(x)\n}");
    assert!(bench.has("Code of cell one"));
}

#[test]
fn keys_of_one_frame_keep_their_order() {
    let mut bench = Bench::new("");
    let key =
        |key| egui::Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers: Modifiers::NONE };
    let text = |text: &str| egui::Event::Text(text.to_owned());
    for event in [text("a"), key(Key::Enter), text("b"), text("("), text("c"), text(")"), key(Key::Enter), text("d")] {
        bench.harness.input_mut().events.push(event);
    }
    bench.settle();
    assert_eq!(bench.text(), "a\nb(c)\nd");
}

#[test]
fn the_notebooks_keys_are_told_and_not_typed() {
    let mut bench = Bench::new("let a = 1;");
    bench.press(Modifiers::SHIFT, Key::Enter);
    bench.press(Modifiers::COMMAND, Key::Enter);
    bench.press(Modifiers::ALT, Key::Enter);
    bench.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::Minus);
    assert!(bench.seen.borrow().focused);
    bench.press(Modifiers::NONE, Key::Escape);
    let seen = bench.seen.borrow();
    use NotebookAction::{Leave, Run, RunAndGoOn, RunAndInsert, Split};
    let expected = [RunAndGoOn, Run, RunAndInsert, Split, Leave].map(|action| Asked { action, caret: 10 });
    assert_eq!(seen.keys, expected);
    assert_eq!(seen.text, "let a = 1;");
    assert!(!seen.focused);
}

#[test]
fn names_are_completed_by_the_keyboard_alone() {
    let mut bench = Bench::new("let p = ");
    bench.typed("so");
    bench.press(Modifiers::CTRL, Key::Space);
    assert!(bench.has("softmax, function softmax(S)") && bench.has("show, function show(\"caption\", X)"));
    bench.press(Modifiers::NONE, Key::ArrowDown);
    bench.press(Modifiers::NONE, Key::ArrowUp);
    bench.press(Modifiers::NONE, Key::Enter);
    assert_eq!(bench.text(), "let p = softmax()");
    bench.typed("A");
    assert_eq!(bench.text(), "let p = softmax(A)");
    assert!(!bench.has("softmax, function softmax(S)"));
}

#[test]
fn typing_filters_and_escape_leaves_the_list_alone() {
    let mut bench = Bench::new("s");
    bench.press(Modifiers::CTRL, Key::Space);
    assert!(bench.has("sum, function sum(X)"));
    bench.typed("of");
    assert!(bench.has("softmax, function softmax(S)") && !bench.has("sum, function sum(X)"));
    bench.press(Modifiers::NONE, Key::Escape);
    assert!(!bench.has("softmax, function softmax(S)"));
    assert!(bench.seen.borrow().focused && bench.seen.borrow().keys.is_empty());
    bench.press(Modifiers::NONE, Key::Tab);
    assert_eq!(bench.text(), "softmax()", "there is but one");
}

#[test]
fn a_click_takes_a_name_and_gives_the_keyboard_back() {
    let mut bench = Bench::new("so");
    bench.press(Modifiers::CTRL, Key::Space);
    bench.harness.get_by_label("softmax, function softmax(S)").click();
    bench.settle();
    assert_eq!(bench.text(), "softmax()");
    bench.typed("A");
    assert_eq!(bench.text(), "softmax(A)");
}

#[test]
fn words_are_completed_within_an_index() {
    let mut bench = Bench::new("A[\"ri");
    bench.press(Modifiers::CTRL, Key::Space);
    bench.press(Modifiers::NONE, Key::Tab);
    assert_eq!(bench.text(), "A[\"river\"");
}

#[test]
fn tab_indents_and_comments_come_and_go() {
    let mut bench = Bench::new("a;\nb");
    bench.press(Modifiers::COMMAND, Key::A);
    bench.press(Modifiers::NONE, Key::Tab);
    assert_eq!(bench.text(), "    a;\n    b");
    bench.press(Modifiers::SHIFT, Key::Tab);
    bench.press(Modifiers::COMMAND, Key::Slash);
    assert_eq!(bench.text(), "// a;\n// b");
    bench.press(Modifiers::COMMAND, Key::Slash);
    assert_eq!(bench.text(), "a;\nb");
}

#[test]
fn undo_takes_back_what_a_key_did() {
    let mut bench = Bench::new("a");
    bench.press(Modifiers::COMMAND, Key::Slash);
    assert_eq!(bench.text(), "// a");
    bench.press(Modifiers::COMMAND, Key::Z);
    assert_eq!(bench.text(), "a");
}

#[test]
fn a_fault_is_marked_until_the_text_is_another() {
    let fault = Fault::new("there is no variable `b` here").hint("is it `a`?");
    let fault = fault.at(Some(LineColumn { line: 2, column: 5 }));
    let mut bench = Bench::with("let a = 1;\na + b", Some(fault));
    let label = "Error at 2:5: there is no variable `b` here; is it `a`?";
    let mark = bench.harness.get_by_label(label).rect();
    let editor = bench.harness.get_by_label("Code of cell one").rect();
    assert!(editor.contains_rect(mark) && mark.top() > editor.center().y - 1.0, "{mark:?} in {editor:?}");
    bench.typed(";");
    assert!(!bench.has(label));
}

/// Shapes drawn in the accent: the frame of the editor, and a mark on each bracket of the pair.
#[test]
fn the_pair_of_brackets_at_the_caret_is_marked() {
    let marks = |bench: &Bench| {
        let accent = theme::Palette::of(true).accent;
        let is_mark = |shape: &&egui::epaint::ClippedShape| matches!(&shape.shape, egui::Shape::Rect(rect) if rect.stroke.color == accent && rect.rect.width() < 20.0);
        bench.harness.output().shapes.iter().filter(is_mark).count()
    };
    let mut bench = Bench::new("f(a[0])");
    assert_eq!(marks(&bench), 2);
    bench.press(Modifiers::NONE, Key::Home);
    assert_eq!(marks(&bench), 0);
}

/// Painted text is cheap to type into, also when it is as long as a cell may be.
#[test]
fn a_long_text_is_typed_into() {
    let line = "let s = softmax(A @ A.T); // a line of code\n";
    let text = line.repeat(64 * 1024 / line.len());
    let mut bench = Bench::new(&text);
    bench.typed("(1");
    assert_eq!(bench.text(), format!("{text}(1)"));
}

#[test]
fn arrows_leave_the_text_from_its_ends() {
    let mut bench = Bench::new("one\ntwo");
    bench.press(Modifiers::NONE, Key::ArrowUp);
    bench.press(Modifiers::NONE, Key::ArrowUp);
    assert_eq!(bench.seen.borrow().keys, [], "first to the start of the text");
    bench.press(Modifiers::NONE, Key::ArrowUp);
    let above = Asked { action: NotebookAction::SelectAbove, caret: 0 };
    assert_eq!(bench.seen.borrow().keys, [above]);
    bench.press(Modifiers::NONE, Key::ArrowDown);
    bench.press(Modifiers::NONE, Key::ArrowDown);
    bench.press(Modifiers::NONE, Key::ArrowDown);
    assert_eq!(bench.seen.borrow().keys, [above, Asked { action: NotebookAction::SelectBelow, caret: 7 }]);
    assert!(bench.seen.borrow().focused, "the notebook says where to");
}

/// The colours of the text that is shown, piece by piece.
fn colors(bench: &Bench) -> Vec<(String, egui::Color32)> {
    let text = bench.text();
    let of = |shape: &egui::epaint::ClippedShape| match &shape.shape {
        egui::Shape::Text(shape) if shape.galley.job.text == text => Some(shape.galley.job.clone()),
        _ => None,
    };
    let job = bench.harness.output().shapes.iter().find_map(of).expect("the text is drawn");
    let piece = |section: &egui::text::LayoutSection| {
        let range = section.byte_range.start.0..section.byte_range.end.0;
        (text[range].trim().to_owned(), section.format.color)
    };
    job.sections.iter().map(piece).collect()
}

#[test]
fn names_of_the_text_itself_have_the_colours_of_what_they_are() {
    let bench = Bench::new("let mine = 1; fn twice(x) { x } twice(mine) + other + A");
    let code = &theme::Palette::of(true).code;
    let colors = colors(&bench);
    let of = |name: &str| colors.iter().filter(|(piece, _)| piece == name).map(|(_, color)| *color).collect::<Vec<_>>();
    assert_eq!(of("mine"), [code.variable; 2]);
    assert_eq!(of("twice"), [code.function; 2]);
    assert_eq!((of("A"), of("other")), (vec![code.tensor], vec![theme::Palette::of(true).ink]));
}

#[test]
fn markdown_has_its_colours_and_no_keys_of_code() {
    let mut bench = Bench::of("", None, false);
    bench.typed("# Head (");
    bench.press(Modifiers::NONE, Key::Enter);
    bench.typed("a **b** `c` $x$ {");
    bench.press(Modifiers::NONE, Key::Enter);
    assert_eq!(bench.text(), "# Head (\na **b** `c` $x$ {\n");
    let palette = theme::Palette::of(true);
    let colors = colors(&bench);
    let of = |name: &str| colors.iter().find(|(piece, _)| piece == name).map(|(_, color)| *color);
    assert_eq!(of("Head ("), Some(palette.code.keyword), "{colors:?}");
    assert_eq!(
        [of("b"), of("`c`"), of("$x$")].map(Option::unwrap),
        [palette.code.variable, palette.code.text, palette.code.number]
    );
    bench.press(Modifiers::SHIFT, Key::Enter);
    let actions: Vec<NotebookAction> = bench.seen.borrow().keys.iter().map(|asked| asked.action).collect();
    assert_eq!(actions, [NotebookAction::RunAndGoOn]);
}
