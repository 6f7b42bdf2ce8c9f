//! Word pieces learned from word frequencies: byte-pair merges (Sennrich, Haddow & Birch 2016, arXiv 1508.07909),
//! written in WordPiece's form, in which a piece inside a word begins with `##`.

use std::collections::BTreeMap;

use super::grammar::is_mark;

const GOES_ON: &str = "##";

/// Common punctuation marks outside ASCII.
const MARKS: [&str; 7] = ["\u{2018}", "\u{2019}", "\u{201c}", "\u{201d}", "\u{2013}", "\u{2014}", "\u{2026}"];

/// Returns punctuation marks, digits, letters and a number of merged pieces, in an order that depends only on the
/// words. Everything that can be typed on a keyboard consists of these pieces.
pub fn learn(counts: &BTreeMap<String, usize>, merges: usize) -> Vec<String> {
    let marks = ('!'..='~').filter(char::is_ascii_punctuation).map(String::from);
    let letters = ('0'..='9').chain('a'..='z').flat_map(|letter| [letter.to_string(), format!("{GOES_ON}{letter}")]);
    let mut pieces: Vec<String> = marks.chain(MARKS.map(str::to_owned)).chain(letters).collect();
    let words = counts.iter().filter(|(word, _)| !is_mark(word));
    let mut words: Vec<(Vec<String>, usize)> = words.map(|(word, count)| (cut(word), *count)).collect();
    for _ in 0..merges {
        let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (word, count) in &words {
            for pair in word.windows(2) {
                *pairs.entry((&pair[0], &pair[1])).or_default() += count;
            }
        }
        // Of equally frequent pairs, the first in alphabetical order is merged.
        let Some((pair, _)) = pairs.into_iter().rev().max_by_key(|(_, count)| *count) else { break };
        let (first, second) = (pair.0.to_owned(), pair.1.to_owned());
        let merged = format!("{first}{}", second.trim_start_matches(GOES_ON));
        for (word, _) in &mut words {
            let mut at = 0;
            while at + 1 < word.len() {
                if word[at] == first && word[at + 1] == second {
                    word[at].clone_from(&merged);
                    word.remove(at + 1);
                }
                at += 1;
            }
        }
        if !pieces.contains(&merged) {
            pieces.push(merged);
        }
    }
    pieces
}

fn cut(word: &str) -> Vec<String> {
    let letters = word.chars().enumerate();
    letters.map(|(at, letter)| if at == 0 { letter.to_string() } else { format!("{GOES_ON}{letter}") }).collect()
}
