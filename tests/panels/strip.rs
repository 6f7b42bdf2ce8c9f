//! The sentence over the stage, by the labels of its words and by keys.

use std::path::Path;
use std::sync::Arc;

use attune::app::panels::{Panel, PanelContext};
use attune::app::stage::gauge::{Gauge, GaugeModel};
use attune::app::stage::second::SecondLine;
use attune::app::stage::sentence::{Strip, StripOptions, StripState, keys, strip_id};
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson;
use attune_core::lesson::schema::AxisEnds;
use attune_view::view_model::grid::PatchPicture;
use attune_view::view_model::sentence_arcs::{Direction, Pair, SentenceArcs, WordAt};
use attune_view::view_model::stage::StageModel;
use egui::{Event, Key, Modifiers, Pos2, Rect, Ui, UiBuilder, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{changed, form, small};
use crate::common::recorded::recording_of;
use crate::common::top::at;
use crate::live::PanelHarness;
use crate::pointer::{click, press};

const SIZE: Vec2 = Vec2::new(640.0, 600.0);
/// A place clear of the strip.
const ELSEWHERE: Pos2 = Pos2::new(320.0, 500.0);

/// The strip as the stage's tab has it, over a field that somebody may write in.
struct Line {
    state: StripState,
    options: StripOptions,
    written: String,
}

impl Default for Line {
    fn default() -> Self {
        let options = StripOptions { is_open: true, reduced_motion: false };
        Line { state: StripState::default(), options, written: String::new() }
    }
}

impl Panel for Line {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<SentenceArcs>()?;
        keys(ui.ctx(), Some(&model), &mut self.state, &mut cx.view);
        let area = ui.available_rect_before_wrap();
        let picture = cx.models.get::<PatchPicture>();
        let strip = Strip::of(ui, &model, area.size(), self.options)?.with_picture(picture.as_deref());
        let rect = Rect::from_min_size(area.min, Vec2::new(area.width(), strip.height()));
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| strip.ui(ui, &mut self.state, &mut cx.view));
        let under = area.with_min_y(rect.bottom());
        if let Some(model) = cx.models.get::<GaugeModel>() {
            let gauge = Gauge::of(&model, cx.view.selection, cx.view.highlight);
            let rect = under.with_max_y(under.top() + gauge.height());
            ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| gauge.ui(ui, 1.0, cx.view.hover));
        }
        let below = area.with_min_y(rect.bottom() + 120.0);
        ui.scope_builder(UiBuilder::new().max_rect(below), |ui| ui.text_edit_singleline(&mut self.written));
        Some(())
    }
}

fn line() -> PanelHarness<Line> {
    PanelHarness::new(small(), SIZE, Line::default())
}

fn word(bench: &PanelHarness<Line>, word: &str) -> Rect {
    bench.get_by_label_contains(&format!("Word {word}: ")).rect()
}

fn point_at(bench: &mut PanelHarness<Line>, at: Pos2) {
    bench.event(Event::PointerMoved(at));
    bench.run_steps(3);
}

fn says(bench: &PanelHarness<Line>, words: &str) -> bool {
    bench.query_all_by_label_contains(&format!("Sentence: {words}")).next().is_some()
}

fn type_key(bench: &mut PanelHarness<Line>, key: Key) {
    bench.key_press(key);
    bench.run_steps(3);
}

#[test]
fn a_word_under_the_pointer_says_whom_it_looks_at_and_a_click_keeps_it() {
    let mut bench = line();
    assert!(says(&bench, "the seal sank while a duck swam"), "nobody is chosen by accident");
    let seal = word(&bench, "seal").center();
    point_at(&mut bench, seal);
    assert!(says(&bench, "seal looks most at "));
    for heading in ["seal looks at", "seal is seen by"] {
        assert!(bench.query_by_label(heading).is_some(), "the card has no list under “{heading}”");
    }
    assert_eq!((bench.view().hover.at(), bench.view().hover.word()), (Some(WordAt::in_sentence(1)), Some("seal")));
    click(&mut bench, "Arcs from the words that look at the chosen word");
    assert_eq!(bench.panel().state.direction, Direction::SeenBy);
    press(&mut bench, seal, egui::PointerButton::Primary);
    point_at(&mut bench, ELSEWHERE);
    assert!(says(&bench, "seal is seen most by ") && bench.view().selection.query == Some(1));
    press(&mut bench, seal, egui::PointerButton::Primary);
    assert_eq!(bench.view().selection.query, Some(1), "a second click lets nothing go");
    let beside = Pos2::new(seal.x, seal.y - 40.0);
    let ground = bench.get_by_label_contains("Sentence: ").rect();
    press(&mut bench, Pos2::new(ground.left() + 2.0, beside.y), egui::PointerButton::Primary);
    assert_eq!(bench.view().selection.query, None);
}

#[test]
fn words_that_the_lesson_speaks_of_have_arcs_before_one_is_chosen_where_attention_is_open() {
    let mut bench = line();
    bench.view_mut().highlight.lit = vec!["duck".to_owned()];
    bench.run_steps(2);
    assert!(says(&bench, "duck looks most at ") && bench.view().selection.query.is_none());
    let options = StripOptions { is_open: false, reduced_motion: true };
    let mut early = PanelHarness::new(small(), SIZE, Line { options, ..Line::default() });
    early.view_mut().highlight.lit = vec!["duck".to_owned()];
    early.run_steps(2);
    assert!(says(&early, "the seal sank while a duck swam"));
    let seal = word(&early, "seal").center();
    point_at(&mut early, seal);
    assert!(says(&early, "seal looks most at "), "who points at a word sees its arcs");
}

#[test]
fn keys_lead_from_word_to_word_and_head_to_head_but_not_while_somebody_writes() {
    let mut bench = line();
    let seal = word(&bench, "seal").center();
    press(&mut bench, seal, egui::PointerButton::Primary);
    point_at(&mut bench, ELSEWHERE);
    assert_eq!(bench.ctx.memory(|memory| memory.focused()), Some(strip_id()), "a click gives it the keyboard");
    type_key(&mut bench, Key::ArrowRight);
    type_key(&mut bench, Key::ArrowRight);
    assert_eq!(bench.view().selection.query, Some(3));
    (0..9).for_each(|_| type_key(&mut bench, Key::ArrowLeft));
    assert_eq!(bench.view().selection.query, Some(0), "it stops at the end");
    let heads = [Key::ArrowDown, Key::ArrowDown, Key::ArrowDown, Key::ArrowUp, Key::ArrowUp].map(|key| {
        type_key(&mut bench, key);
        bench.view().selection.shown_head()
    });
    assert_eq!(heads, [Some(0), Some(1), Some(1), Some(0), None]);
    type_key(&mut bench, Key::R);
    assert_eq!(bench.panel().state.direction, Direction::SeenBy);
    let field = bench.get_by_role(egui::accesskit::Role::TextInput).rect().center();
    press(&mut bench, field, egui::PointerButton::Primary);
    bench.event(Event::Text("r".to_owned()));
    type_key(&mut bench, Key::R);
    point_at(&mut bench, seal);
    type_key(&mut bench, Key::ArrowRight);
    let panel = bench.panel();
    assert_eq!((panel.written.as_str(), panel.state.direction), ("r", Direction::SeenBy));
    assert_eq!(bench.view().selection.query, Some(0));
}

#[test]
fn an_arc_that_is_pointed_at_is_a_pair_and_a_click_follows_it() {
    let mut bench = line();
    bench.view_mut().selection.show_head(Some(1));
    bench.view_mut().selection.choose_query(Some(0));
    bench.run_steps(2);
    let (from, to) = (word(&bench, "the"), word(&bench, "swam"));
    // Over the middle of the longest arc.
    let x = (from.center().x + to.center().x) / 2.0;
    let found = (4..60).find_map(|up| {
        let at = Pos2::new(x, from.top() - up as f32);
        point_at(&mut bench, at);
        bench.view().hover.pair().map(|pair| (at, pair))
    });
    let (at, pair) = found.expect("an arc");
    assert!(pair.head == 1 && pair.query == 0, "{pair:?}");
    press(&mut bench, at, egui::PointerButton::Primary);
    let selection = bench.view().selection;
    let Pair { head, query, key } = pair;
    assert_eq!((selection.head, selection.query, selection.key), (head, Some(query), Some(key)));
}

#[test]
fn a_source_stands_above_and_its_words_are_seen_by_the_sentence() {
    let mut bench = PanelHarness::new(form("translation"), SIZE, Line::default());
    let model = bench.model::<SentenceArcs>();
    let cross = model.layers.iter().find(|layer| layer.queries != layer.keys).expect("one that crosses");
    bench.view_mut().selection.choose_head(cross.heads[0].head);
    bench.run_steps(2);
    let label = model.source[0].label.clone();
    let [above, below] = [&label, &model.words[1].label].map(|label| word(&bench, label));
    assert!(above.bottom() < below.top());
    press(&mut bench, above.center(), egui::PointerButton::Primary);
    point_at(&mut bench, ELSEWHERE);
    assert!(says(&bench, &format!("{label} is seen most by ")));
    assert_eq!(bench.view().selection.query, None, "it is no word of the stage");
    type_key(&mut bench, Key::ArrowRight);
    assert!(says(&bench, &format!("{} is seen most by ", model.source[1].label)));
}

#[test]
fn arcs_come_within_a_moment_and_then_nothing_moves() {
    let mut bench = PanelHarness::at_60_hz(small(), SIZE, Line::default());
    let seal = word(&bench, "seal").center();
    bench.event(Event::PointerMoved(seal));
    bench.event(Event::Key {
        key: Key::F20,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    });
    // The card comes a moment later.
    bench.run_steps(60);
    assert!(!bench.ctx.has_requested_repaint(), "it is at rest");
}

#[test]
fn the_strip_fits_every_stage() {
    for width in [240.0, 367.0, 524.0, 1100.0] {
        let bench = PanelHarness::new(small(), Vec2::new(width, 600.0), Line::default());
        let ground = bench.get_by_label_contains("Sentence: ").rect();
        assert!(ground.right() <= width && ground.height() < 180.0, "{width}: {ground:?}");
        for label in ["the", "seal", "sank", "while", "a", "duck", "swam"] {
            let rect = word(&bench, label);
            assert!(ground.contains_rect(rect), "{width} {label}: {rect:?} in {ground:?}");
        }
    }
}

#[test]
fn the_gauge_has_a_track_for_each_word_of_the_lesson_and_lights_it_everywhere() {
    let ends = || AxisEnds { from: "mineral".to_owned(), to: "animal".to_owned() };
    for width in [240.0, 367.0, 900.0] {
        let kernel = Kernel::trained(changed(|lesson| lesson.axes = vec![ends()]));
        let mut bench = PanelHarness::new(kernel, Vec2::new(width, 600.0), Line::default());
        bench.view_mut().highlight.lit = ["seal", "duck", "swam", "a", "the"].map(str::to_owned).to_vec();
        bench.run_steps(2);
        let said = bench.model::<GaugeModel>();
        let marks: Vec<Rect> = said
            .chosen(&bench.view().highlight.lit, None)
            .into_iter()
            .filter_map(|mark| Some(bench.query_by_label(&said.said(mark))?.rect()))
            .collect();
        assert_eq!(marks.len(), 4, "at most four have room");
        assert!(marks.windows(2).all(|pair| pair[0].bottom() <= pair[1].top()), "{width}: {marks:?}");
        point_at(&mut bench, marks[1].center());
        assert_eq!(bench.view().hover.at(), Some(WordAt::in_sentence(1)), "{width}");
    }
}

/// The second sentence as the stage's tab has it.
struct Second;

impl Panel for Second {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<StageModel>()?;
        let area = ui.available_rect_before_wrap();
        let line = SecondLine::of(ui, &model, cx.view.selection, cx.view.highlight, area.width())?;
        let rect = Rect::from_min_size(area.min, Vec2::new(area.width(), line.height()));
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| line.ui(ui, &mut cx.view));
        Some(())
    }
}

#[test]
fn a_second_sentence_is_read_over_the_picture_and_a_click_compares_its_word() {
    for width in [640.0, 160.0] {
        let mut kernel = small();
        kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some("a duck sank the happy duck".to_owned()))));
        let mut bench = PanelHarness::new(kernel, Vec2::new(width, 300.0), Second);
        let words: Vec<Rect> = ["a′", "duck₁′", "sank′", "the′", "happy′", "duck₂′"]
            .map(|word| bench.get_by_label(&format!("Second sentence: {word}")).rect())
            .to_vec();
        for (place, word) in words.iter().enumerate() {
            assert!(word.left() >= 0.0 && word.right() <= width, "{word} of {width}");
            assert!(words[..place].iter().all(|other| !other.intersects(word.shrink(0.5))), "one over another");
        }
        click(&mut bench, "Second sentence: sank′");
        assert_eq!((bench.view().selection.second, bench.view().selection.query), (Some(2), Some(2)));
        assert!(bench.query_by_label_contains("sank and sank′: cosine ").is_some());
    }
}

/// The patches of a picture have the place of words: they say whom they look at, and a click chooses one.
#[test]
fn the_patches_of_a_picture_are_pointed_at_and_chosen() {
    for name in ["picture", "vit"] {
        let path = at(format!("tests/fixtures/recordings/{name}/run.safetensors"));
        let mut bench = PanelHarness::new(recorded(&path), SIZE, Line::default());
        bench.run_steps(2);
        let patch = bench.get_by_label_contains("Token 2,3: ").rect();
        let [right, below] =
            ["2,4", "3,3"].map(|other| bench.get_by_label_contains(&format!("Token {other}: ")).rect());
        assert_eq!((patch.right_top(), patch.left_bottom()), (right.left_top(), below.left_top()), "{name}");
        assert!(bench.get_by_label_contains("Token [CLS]: ").rect().right() < patch.left(), "{name}");
        press(&mut bench, patch.center(), egui::PointerButton::Primary);
        point_at(&mut bench, ELSEWHERE);
        assert!(says(&bench, "2,3 looks most at "), "{name}");
        let query = bench.view().selection.query.expect("a patch");
        assert_eq!(bench.get_by_label_contains("Token 2,3: ").rect(), patch, "{name}: nothing moves");
        type_key(&mut bench, Key::ArrowRight);
        assert_eq!(bench.view().selection.query, Some(query + 1), "{name}");
    }
}

/// Of a picture with more patches than are shown at once, those outside of the stretch are drawn, but not named.
#[test]
fn a_large_picture_keeps_its_grid() {
    let even = ("attentions.0", &[1, 145, 145][..], vec![1.0 / 145.0; 145 * 145]);
    let states = |layer: usize| (["hidden_states.0", "hidden_states.1"][layer], &[145, 4][..], states(145 * 4, layer));
    let entries = [("grid", "12x12"), ("special", "[0]")];
    let (_folder, path) = recording_of(145, &entries, &[even, states(0), states(1)]);
    let mut bench = PanelHarness::new(recorded(&path), SIZE, Line::default());
    bench.run_steps(2);
    let [first, last] = ["w1", "w127"].map(|token| bench.get_by_label_contains(&format!("Token {token}: ")).rect());
    assert!(last.top() > first.top() && bench.query_by_label_contains("Token w128: ").is_none());
    press(&mut bench, first.center(), egui::PointerButton::Primary);
    point_at(&mut bench, ELSEWHERE);
    assert!(says(&bench, "w1 looks most at "));
}

/// Makes numbers of a tensor that differ from each other.
fn states(count: usize, layer: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + layer * 31) % 101) as f32 / 101.0).collect()
}

fn recorded(path: &Path) -> Kernel {
    let lesson = lesson::read(path).expect("a recording");
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    kernel.settle();
    kernel
}
