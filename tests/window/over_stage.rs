//! What lies over the picture of the stage: the numbers under the words of the sentence, and the list of words for a
//! sentence that is written.

use attune::app::actions::{ActionTable, WindowAction};
use attune_view::explain::walk::Step;
use egui::{Event, Pos2, Rect, Vec2, vec2};

use crate::keys::Bench;

/// Inside the frame that shows the keyboard's focus.
const FRAME: f32 = 2.0;

/// The sentence over the stage, and not the field with the lesson's sentences.
fn strip(bench: &Bench) -> Rect {
    let is_strip = |name: &str| name.starts_with("Sentence: ") && !name.ends_with("the lesson's sentences");
    bench.bounds(is_strip).expect("the sentence")
}

fn word(bench: &Bench, word: &str) -> Rect {
    bench.bounds(|name| name.starts_with(&format!("Word {word}: "))).expect("a word of the sentence")
}

/// The numbers and letters under the words, from left to right.
fn numbers(bench: &Bench) -> Vec<String> {
    let (strip, words) = (strip(bench), word(bench, "seal"));
    let under = Rect::from_x_y_ranges(strip.x_range(), words.bottom() - FRAME..=strip.bottom() + FRAME);
    let texts = bench.texts();
    let mut numbers: Vec<&(&str, Rect)> = texts.iter().filter(|(_, at)| under.contains(at.center())).collect();
    for (text, at) in &numbers {
        assert!(at.bottom() + FRAME <= strip.bottom(), "{text} at {at} runs into the frame of {strip}");
    }
    numbers.sort_by(|a, b| a.1.left().total_cmp(&b.1.left()));
    numbers.into_iter().map(|(text, _)| (*text).to_owned()).collect()
}

fn point_at(bench: &mut Bench, at: Pos2) {
    bench.frame(vec![Event::PointerMoved(at)]);
    bench.rest();
}

#[test]
fn the_numbers_under_the_words_are_those_of_the_step_wherever_the_pointer_is() {
    let mut bench = Bench::open("over-numbers");
    // A panel about attention.
    bench.show_panel(2);
    bench.view().selection.choose_query(Some(1));
    bench.rest();
    let away = Pos2::new(800.0, 2.0);
    let is_number = |text: &String| text.chars().any(|letter| letter.is_ascii_digit());
    for (place, step) in Step::ALL.into_iter().enumerate() {
        bench.view().walk.set(place as f32);
        point_at(&mut bench, away);
        let of_step = numbers(&bench);
        match step {
            Step::Embed => assert_eq!(of_step, [""; 0], "no word looks at another yet"),
            Step::Project => assert!(!of_step.is_empty() && !of_step.iter().any(is_number), "{of_step:?}"),
            Step::Score | Step::Scale => {
                assert!(of_step.iter().all(|text| !text.contains('%')) && of_step.iter().any(is_number), "{of_step:?}");
            }
            _ => assert!(!of_step.is_empty() && of_step.iter().all(|text| text.contains('%')), "{of_step:?}"),
        }
        for word in ["the", "seal", "duck", "swam"] {
            let at = self::word(&bench, word).center();
            point_at(&mut bench, at);
            assert_eq!(numbers(&bench), of_step, "{step:?}, the pointer on “{word}”");
        }
        if step > Step::Embed {
            let other = word(&bench, "duck").center();
            bench.click(other, egui::PointerButton::Primary);
            bench.rest();
            let clicked = numbers(&bench);
            point_at(&mut bench, away);
            assert_eq!(numbers(&bench), clicked, "{step:?}, the word under the pointer was clicked");
            bench.view().selection.choose_query(Some(1));
            bench.rest();
        }
    }
}

#[test]
fn the_words_at_their_static_points_have_no_numbers_and_those_of_all_heads_sum_to_a_whole() {
    let mut bench = Bench::open("over-means");
    bench.show_panel(2);
    bench.view().selection.choose_query(Some(1));
    bench.view().walk.set_time(0.0);
    bench.rest();
    let at = word(&bench, "duck").center();
    for at in [Pos2::new(800.0, 2.0), at] {
        point_at(&mut bench, at);
        assert_eq!(numbers(&bench), [""; 0]);
    }
    bench.view().walk.set_time(1.0);
    for at in [Pos2::new(800.0, 2.0), at] {
        point_at(&mut bench, at);
        let shares = numbers(&bench);
        let share = |text: &String| text.trim_end_matches(" %").parse::<f32>().expect("a share");
        let sum: f32 = shares.iter().map(share).sum();
        assert!(sum > 10.0 && sum <= 100.0 + shares.len() as f32 / 2.0, "{shares:?}");
    }
}

#[test]
fn the_list_of_a_sentence_that_is_written_covers_neither_the_sentence_nor_the_gauge() {
    for size in [vec2(1280.0, 720.0), vec2(900.0, 600.0), vec2(1600.0, 1000.0)] {
        let mut bench = Bench::open("over-list");
        bench.size = size;
        bench.rest();
        bench.press(WindowAction::WriteSentence.row().keys[0]);
        for letter in "the seal s".chars() {
            bench.frame(vec![Event::Text(letter.to_string())]);
        }
        bench.rest();
        let sentence = strip(&bench);
        let chip = bench.bounds(|name| name.starts_with("Case and punctuation")).expect("the list");
        let list = chip.expand2(Vec2::new(4.0, 60.0)).intersect(Rect::everything_below(30.0));
        assert!(!list.intersects(sentence), "{size}: {list} over {sentence}");
        assert!(chip.right() <= size.x && chip.bottom() <= size.y, "{size}: {chip}");
    }
}
