//! Texts that nobody would write but to do harm.

use std::time::{Duration, Instant};

use attune_core::lesson::limits::{ISSUES_MAX, LESSON_BYTES_MAX};
use attune_core::lesson::parse;

use super::{GOOD, SMALL};
use crate::common::lessons::edited;

#[test]
fn no_text_makes_it_panic() {
    let sequence = edited(SMALL, &[("Label,", r#"Sequence(words: { "not": "pas" }), mask: Custom([[true]]),"#)]);
    for good in [GOOD, SMALL, &sequence] {
        any_change_is_read_or_refused(good);
    }
}

fn any_change_is_read_or_refused(good: &str) {
    // Cut at every character ...
    for (at, _) in good.char_indices() {
        assert!(parse("a.ron", &good[..at]).is_err() || good[at..].trim().is_empty(), "cut at {at}");
    }
    // ... and each character replaced by each of those that mean something.
    for (at, c) in good.char_indices() {
        for other in ['(', ')', '[', '{', '}', '"', ',', '-', '9', 'r', '#', '\\', '/', '\'', '\0', 'é', '\u{301}'] {
            let text = format!("{}{other}{}", &good[..at], &good[at + c.len_utf8()..]);
            if let Err(issues) = parse("a.ron", &text) {
                assert!(!issues.is_empty());
                for issue in issues {
                    assert!(!format!("{issue:#}").contains("RawValue"), "{issue}");
                }
            }
        }
    }
}

#[test]
fn hostile_lessons_are_refused_soon() {
    let start = Instant::now();
    let size = LESSON_BYTES_MAX as usize - GOOD.len() - 100;
    let good_with = |from: &str, to: &str| edited(GOOD, &[(from, to)]);
    let many_slots = format!("she {} {{eat}}", "{eat} ".repeat(size / 6));
    let hostile = [
        "(".repeat(size),
        "[".repeat(size) + "]".repeat(50).as_str(),
        "()".repeat(size / 2),
        "Lesson(".repeat(size / 7),
        "/*".repeat(size / 2),
        "r#".repeat(size / 2),
        "\n".repeat(size),
        good_with("seed: 7", &format!("seed: {}1{}", "[".repeat(1000), "]".repeat(1000))),
        good_with("seed: 7", &format!("seed: {}", "9".repeat(size))),
        good_with("seed: 7", &format!("seed: {}", "7,".repeat(size / 2))),
        good_with("seed: 7", &(0..size / 12).map(|i| format!("f{i}: 1,")).collect::<String>()),
        good_with("she {eat}", &many_slots),
        good_with("she {eat}", &"x".repeat(size)),
        good_with("sold a phone while", &"word ".repeat(size / 5)),
        edited(&good_with("max_tokens: 24", "max_tokens: x"), &[("sold a phone while", &"wörd ".repeat(size / 6))]),
        good_with("\"orange\"", &(0..size / 12).map(|i| format!("\"w{i}\",")).collect::<String>()),
        // A quarter of the room: RON's own reader takes most of a second for every 100,000 on a busy machine.
        good_with("probes: [", &format!("probes: [{}", "{},".repeat(size / 12))),
    ];
    for text in hostile {
        assert!(text.len() as u64 <= LESSON_BYTES_MAX);
        let before = start.elapsed();
        let issues = parse("a.ron", &text).expect_err("a hostile lesson");
        let took = start.elapsed() - before;
        assert!(issues.len() <= ISSUES_MAX + 1);
        // Far more than it takes, for slow machines; what grows with the square takes hours.
        assert!(took < Duration::from_secs(20), "{took:?}: {}", &text[..60.min(text.len())]);
    }
}
