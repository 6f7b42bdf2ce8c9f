//! Files of vectors: those that gensim and NumPy wrote, and damaged ones. Each is read, mended with a report, or
//! refused in words; nothing panics.

#[path = "../common/engine.rs"]
mod common;

mod formats;
mod hostile;
mod other_forms;
mod written;

use std::path::{Path, PathBuf};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::alignment::turn_of;
use attune_engine::pretrained::load::LoadStopped;
use attune_engine::vectors::answers::{Measure, ends, neighbours};
use attune_engine::vectors::expression::{Expression, length};
use attune_engine::vectors::space::{Turn, compare, components, hubs, mean_cosine, shared};
use attune_engine::vectors::{Format, Vectors, read};
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/vectors").join(name)
}

fn opened(path: &Path) -> Result<Vectors, LoadStopped> {
    read(path, &mut |_| true)
}

#[track_caller]
fn good(name: &str) -> Vectors {
    opened(&fixture(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

fn answers() -> Value {
    let text = std::fs::read_to_string(fixture("answers.json")).expect("gensim's answers");
    serde_json::from_str(&text).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f32> {
    let rows = value.as_array().expect("rows");
    rows.iter().flat_map(|row| row.as_array().expect("a row")).map(|x| x.as_f64().expect("a number") as f32).collect()
}

/// Each format has the same words and bits.
#[test]
fn files_of_the_programs_that_own_the_formats_are_read_exactly() {
    let wanted = numbers(&answers()["vectors"]);
    let formats = [
        ("plain.bin", Format::Word2VecBinary),
        ("plain.vec", Format::Word2VecText),
        ("glove.txt", Format::Glove),
        ("glove.txt.gz", Format::Glove),
        ("plain.npz", Format::Npz),
    ];
    for (name, format) in formats {
        let vectors = good(name);
        assert_eq!((vectors.format, vectors.width(), vectors.len()), (format, 5, 12), "{name}");
        assert_eq!(vectors.rows.flat(), wanted, "{name}");
        assert_eq!((&*vectors.words[0], &*vectors.words[11]), ("king", "river"), "{name}");
        assert!(vectors.report.lines().is_empty(), "{name}: {:?}", vectors.report.lines());
    }
    for name in ["plain.npy", "turned.npy"] {
        let vectors = good(name);
        assert_eq!((vectors.rows.flat(), &*vectors.words[11]), (&*wanted, "11"), "{name}");
    }
}

/// gensim itself reads `New`, and then words that begin with the bytes of numbers.
#[test]
fn words_with_blanks_in_the_binary_form_are_read_whole() {
    let vectors = good("spaced.bin");
    assert_eq!((&*vectors.words[3], &*vectors.words[4], &*vectors.words[14 - 1]), ("New York", "a b c", "river"));
    assert_eq!(vectors.report.words_with_spaces.count, 2);
    assert!(vectors.report.notes.is_empty());
}

#[test]
fn neighbours_and_analogies_are_those_of_gensim() {
    let (vectors, answers) = (good("plain.bin"), answers());
    for question in ["king", "king - man + woman"] {
        let expression = Expression::parse(question, &vectors).expect("known words");
        let to = expression.direction(&vectors);
        let found = neighbours(&vectors, &to, Measure::Cosine, 5, &expression.rows());
        let wanted = answers[question].as_array().expect("neighbours");
        for (found, wanted) in found.iter().zip(wanted) {
            assert_eq!(&*vectors.words[found.row], wanted[0].as_str().expect("a word"), "{question}");
            assert_close(question, found.value, wanted[1].as_f64().expect("a cosine"), Tolerance::SINGLE);
        }
        assert_eq!(found.len(), 5);
    }
    // With the words of the question, the first answer is one of them.
    let king = neighbours(&vectors, vectors.rows.row(0), Measure::Distance, 2, &[]);
    assert_eq!((king[0].row, king[0].value), (0, 0.0));
}

#[test]
fn an_unknown_word_is_named_with_those_like_it() {
    let vectors = good("plain.bin");
    let why = Expression::parse("kin - man", &vectors).expect_err("unknown");
    assert!(why.contains("`kin` is not among the 12 words") && why.contains("`king`"), "{why}");
    for bad in ["", "king -", "king - + man", "-"] {
        assert!(Expression::parse(bad, &vectors).is_err(), "{bad:?}");
    }
}

#[test]
fn an_axis_orders_the_words_between_its_ends() {
    let vectors = good("plain.bin");
    let axis = attune_engine::vectors::answers::axis(&vectors, &[2], &[3]);
    let [low, high] = ends(&vectors, &axis, 12);
    let place = |row: usize| low.iter().position(|end| end.row == row).expect("all words are there");
    assert!(place(2) < place(3), "man stands before woman on the axis between them");
    let far = (low[0].value, high[0].value);
    assert!(far.0 < 0.0 && far.1 > 0.0, "{far:?}");
    assert!(low.iter().rev().map(|end| end.row).eq(high.iter().map(|end| end.row)), "one order from both ends");
}

#[test]
fn components_keep_the_whole_variance_and_are_orthogonal() {
    let vectors = good("plain.bin");
    let found = components(&vectors, 5).expect("finite");
    assert_close("all shares", found.shares.iter().sum::<f64>(), 1.0, Tolerance::DOUBLE_SUMS);
    assert!(found.shares.windows(2).all(|pair| pair[0] >= pair[1]));
    for i in 0..5 {
        let dot = |j| found.axes.row(i).iter().zip(found.axes.row(j)).map(|(a, b)| a * b).sum::<f32>();
        let expected: [f32; 5] = std::array::from_fn(|j| f32::from(u8::from(i == j)));
        assert_close(i, std::array::from_fn::<f32, 5, _>(dot), expected, Tolerance::SINGLE_PASS);
    }
}

#[test]
fn a_space_is_turned_onto_itself_without_a_word_moving() {
    let vectors = good("plain.bin");
    let mut other = vectors.clone();
    // A turn that exchanges axes and mirrors one.
    for row in 0..other.len() {
        other.rows.row_mut(row).reverse();
        other.rows.row_mut(row)[0] *= -1.0;
    }
    let compare = |from: &Vectors, to: &Vectors| {
        let words = from.words.iter().map(|word| &**word);
        let shared = shared(words, |word| from.row_of(word), |word| to.row_of(word));
        compare((&from.rows).into(), (&to.rows).into(), &shared)
    };
    let compared = compare(&vectors, &other).expect("one width");
    assert_eq!(compared.moved.len(), 12);
    let cosines: Vec<f64> = compared.moved.iter().map(|(_, _, cosine)| *cosine).collect();
    assert_close("no word moves", cosines, [1.0; 12], Tolerance::SINGLE);
    assert_close("their mean", compared.mean_cosine(), 1.0, Tolerance::SINGLE);
    assert!(compare(&vectors, &good("plain.npy")).is_err(), "no word is shared");
    // One word elsewhere: it moved most, and the others stay.
    other.rows.row_mut(4).iter_mut().for_each(|x| *x = -*x);
    let compared = compare(&vectors, &other).expect("one width");
    assert_eq!((compared.moved[0].0, compared.moved[0].1), (4, 4));
    assert!(compared.moved[0].2 < 0.5 && compared.mean_cosine() < 0.99, "{:?}", compared.moved);
}

/// Few words of wide vectors are turned within what they span: the turn is that of the products of all dimensions.
#[test]
fn few_wide_words_are_turned_as_by_the_products_of_all_dimensions() {
    const WORDS: usize = 12;
    const WIDTH: usize = 300;
    let rows =
        |turn: usize| Matrix::from_fn(WORDS, WIDTH, |i, j| ((i * 31 + j * (i + turn) * 17 + j * j) % 23) as f32 - 11.0);
    let (from, to) = (rows(1), rows(5));
    let shared: Vec<(usize, usize)> = (0..WORDS).map(|row| (row, row)).collect();
    let found = compare((&from).into(), (&to).into(), &shared).expect("one width");
    assert!(matches!(found.turn, Turn::OfSpan { .. }));
    let unit = |rows: &Matrix<f32>| {
        let lengths: Vec<f64> = (0..WORDS).map(|i| length(rows.row(i))).collect();
        Matrix::from_fn(WORDS, WIDTH, |i, j| f64::from(rows.get(i, j)) / lengths[i])
    };
    let (p, q) = (unit(&from), unit(&to));
    let product = |i: usize, j: usize| (0..WORDS).map(|row| p.get(row, i) * q.get(row, j)).sum();
    let whole = Turn::Whole(turn_of(&faer::Mat::from_fn(WIDTH, WIDTH, product)).expect("finite"));
    let (turned, expected) = (found.turn.turned(&p), whole.turned(&p));
    assert_close("turned", turned.flat(), expected.flat(), Tolerance::DOUBLE_SUMS);
    for &(row, _, cosine) in &found.moved {
        let exact: f64 = expected.row(row).iter().zip(q.row(row)).map(|(a, b)| a * b).sum();
        assert_close(row, cosine, exact, Tolerance::DOUBLE_SUMS);
    }
}

#[test]
fn many_words_that_are_too_wide_are_not_compared() {
    let rows = Matrix::from_fn(1100, 4096, |i, j| ((i * 7 + j * 3) % 5) as f32);
    let shared: Vec<(usize, usize)> = (0..1100).map(|row| (row, row)).collect();
    let why = compare((&rows).into(), (&rows).into(), &shared).expect_err("too much");
    assert!(why.starts_with("vectors of 4096 numbers and 1100 words in both spaces; expected at most"), "{why}");
}

#[test]
fn an_expression_without_a_word_is_told_apart_from_a_sign_without_one() {
    let vectors = good("plain.bin");
    let why = |text: &str| Expression::parse(text, &vectors).expect_err("no word");
    assert!(why("").starts_with("an empty text; write words") && why("  ").starts_with("an empty text; "));
    assert!(why("king -").contains("has a sign without a word"));
}

#[test]
fn spread_is_that_of_all_pairs() {
    let vectors = good("plain.bin");
    let mut sum = 0.0;
    for a in 0..12 {
        let near = neighbours(&vectors, vectors.rows.row(a), Measure::Cosine, 12, &[a]);
        sum += near.iter().map(|near| f64::from(near.value)).sum::<f64>();
    }
    assert_close("the mean of all pairs", mean_cosine(&vectors), sum / 132.0, Tolerance::SINGLE);
    let hubs = hubs(&vectors, 12, 3, 12);
    assert_eq!(hubs.iter().map(|hub| hub.times).sum::<usize>(), 36);
}

#[test]
fn whoever_watches_sees_the_rows_and_can_end_the_reading() {
    let mut seen = 0;
    read(&fixture("plain.bin"), &mut |progress| {
        seen = progress.words.len();
        progress.numbers.len() == seen * progress.width
    })
    .expect("read");
    assert_eq!(seen, 12);
    assert!(matches!(read(&fixture("plain.bin"), &mut |_| false), Err(LoadStopped::Cancelled)));
}
