//! Static vectors, trained or given.

use attune_core::lesson::parse;

use super::{GOOD, cases, check, check_all};

/// A vector for each word of the good lesson, and for one more.
const GIVEN: &str = r#"Given({ "she": [0.1, 1], "ate": [0, 1.5], "eats": [0, 0], "a": [1, 1], "an": [1, 1], "banana": [2, -1],
        "orange": [2, -2], "after": [0, 1e-3], "lunch": [3, 3], "the": [1, 0], "was": [0, 1], "sweet": [2, 1], "sold": [4, 4],
        "google": [-1, 2], "microsoft": [-1, 3], "phone": [-2, 2], "apple": [1, 2], "while": [0, 2], "pear": [2, -3] })"#;

#[test]
fn static_embedding() {
    let embedding = "SkipGram(dim: 16)";
    check(embedding, "SkipGram(dim: 16, subsample: 0.001, share_negatives: true)", "no issues");
    check(
        embedding,
        "Cbow(dim: 16, window: 2, negatives: 7, epochs: 3, learning_rate: 0.1, subsample: 1)",
        "no issues",
    );
    check(
        embedding,
        "SkipGram(dim: 16, subsample: 0, share_negatives: 3)",
        "a.ron:18:52: subsample: found the number 0; expected a share of the corpus, above 0 and at most 1\n\
         a.ron:18:72: share_negatives: found the number 3; expected true or false",
    );
    check(
        embedding,
        "Cbow(dim: 16, share_negatives: true)",
        "a.ron:18:37: unknown field \"share_negatives\" in Cbow; expected dim, window, negatives, epochs, learning_rate or subsample",
    );
    check(
        embedding,
        "SkipGramm(dim: 16)",
        r#"a.ron:18:23: static_embedding: unknown name SkipGramm; expected SkipGram, Cbow, Given or File; did you mean "SkipGram"?"#,
    );
    check(
        embedding,
        "Cbow(dim: 16, window: 16, negatives: 64, epochs: 1000)",
        "a.ron:18:23: static_embedding: the training needs 6.1e10 multiplications; expected at most 5e10: fewer sentences, epochs or negatives, or a smaller window or dim",
    );
}

#[test]
fn given_vectors() {
    let check_given = |from: &str, to: &str, expected: &str| {
        assert_eq!(GIVEN.matches(from).count(), 1, "{from} must stand once in the table");
        check("SkipGram(dim: 16)", &GIVEN.replacen(from, to, 1), expected);
    };
    for (change, issues) in cases(
        r#"
        Given => Given
            no issues
        "a": [1, 1], "an": [1, 1], "banana": [2, -1] => "a": [1, 1], "bananas": [2, -1]
            a.ron:18:23: static_embedding: no vector for "an", a word of the corpus
            a.ron:18:23: static_embedding: no vector for "banana", a word of the corpus; did you mean "bananas"?
        [2, -2], "after": [0, 1e-3] => [2], "after": [0, 1, 2]
            a.ron:19:19: static_embedding: a vector of 1 number; expected 2, as in the first vector
            a.ron:19:33: static_embedding: a vector of 3 numbers; expected 2, as in the first vector
        "she": [0.1, 1] => "She": [inf, 1e39], "she": "none"
            a.ron:18:39: static_embedding: found the number inf; expected a number
            a.ron:18:44: static_embedding: found the number 1e39; expected a number
            a.ron:18:51: static_embedding: word "she" appears twice
            a.ron:18:58: static_embedding: found the text "none"; expected a list, such as [ … ]
        "pear" => "two pears"
            a.ron:20:102: static_embedding: "two pears" is not one word; expected one word of at most 40 characters
    "#,
    ) {
        let (from, to) = change.split_once(" => ").expect("a change");
        check_given(from, to, &issues);
    }
    check_all(
        r#"
        SkipGram(dim: 16) => Given({})
            a.ron:18:29: static_embedding: no vectors; expected one for each word of the corpus
        SkipGram(dim: 16) => Given({ "a": [1], "an": [2] })
            a.ron:18:36: static_embedding: a vector of 1 number; expected at least 2
            a.ron:18:47: static_embedding: a vector of 1 number; expected at least 2
        SkipGram(dim: 16) => Given(dim: 3)
            a.ron:18:23: static_embedding: found Given(dim: 3); expected Given({ "word": [number, …], … })
    "#,
    );
}

/// Words of a given table are words of the lesson, whether the corpus has them or not.
#[test]
fn a_sentence_may_use_any_given_word() {
    let good = GOOD.replacen("SkipGram(dim: 16)", GIVEN, 1).replacen("she ate an apple", "she ate an pear", 1);
    let lesson = parse("a.ron", &good).expect("no issues");
    assert_eq!(lesson.static_embedding.dim(), 2);
    assert_eq!(lesson.vocabulary().last().map(String::as_str), Some("pear"));
}
