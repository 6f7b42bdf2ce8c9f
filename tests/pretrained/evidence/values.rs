//! Every number against PyTorch in float64, `oracle/evidence`, on the two models that come with the course.

use attune_core::kernel::Kernel;
use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::evidence::map::MapRequest;
use attune_engine::numerics::evidence::maps::Receiver;
use attune_engine::numerics::evidence::score::ScoreAt;
use attune_engine::numerics::model::onward::Projected;
use attune_view::export::evidence::{map_json, score_json, tables_json, texts_json, words_json};
use serde_json::Value;

use crate::common::close::{Tolerance, is_each_close};
use crate::common::numerics::json::{list, number, parse, size};
use crate::common::top::at;
use crate::opened::{opened, running};

const GOES_ON: &(dyn Fn(usize, usize) -> bool + Sync) = &|_, _| true;

/// A model that comes with the course: its folder, what the oracle says of it, and its texts.
const MODELS: [(&str, &str, &str); 2] = [
    ("lessons/frame", include_str!("../oracle/evidence/frame.json"), include_str!("../oracle/evidence/frame.txt")),
    ("lessons/writer", include_str!("../oracle/evidence/writer.json"), include_str!("../oracle/evidence/writer.txt")),
];

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Compares all that is expected with what is found, number by number.
fn compare(name: &str, found: &Value, expected: &Value, tolerance: Tolerance) {
    match expected {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            let found = found.get(key).unwrap_or_else(|| panic!("{name}: there is no {key}"));
            compare(&format!("{name}.{key}"), found, value, tolerance);
        }),
        Value::Array(values) => {
            assert_eq!(list(found).len(), values.len(), "{name}");
            let pairs = list(found).iter().zip(values).enumerate();
            pairs.for_each(|(at, (found, value))| compare(&format!("{name}[{at}]"), found, value, tolerance));
        }
        Value::Number(_) => {
            is_each_close(number(found), number(expected), tolerance).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
        _ => assert_eq!(found, expected, "{name}"),
    }
}

/// Reads `6.1` or `6.1:v`.
fn head_at(name: &str) -> (usize, usize, Option<Projected>) {
    let (head, part) = name.split_once(':').unwrap_or((name, ""));
    let (layer, head) = head.split_once('.').expect("a layer and a head");
    let index = |text: &str| text.parse::<usize>().expect("a number") - 1;
    let part = match part {
        "q" => Some(Projected::Query),
        "k" => Some(Projected::Key),
        "v" => Some(Projected::Value),
        _ => None,
    };
    (index(layer), index(head), part)
}

fn each_sentence(mut work: impl FnMut(&str, &Kernel, &Value)) {
    for (folder, oracle, _) in MODELS {
        let kernel = running(&opened(&at(folder)));
        let oracle = parse(oracle);
        list(&oracle["sentences"]).iter().for_each(|sentence| work(folder, &kernel, sentence));
    }
}

fn asked(of: &Value) -> AskedAnswer {
    AskedAnswer { answer: Some(text(&of["answer"])), against: Some(text(&of["against"])), at: None }
}

#[test]
fn maps_and_paths_are_those_of_pytorch() {
    each_sentence(|folder, kernel, sentence| {
        let Some(expected) = sentence.get("map") else { return };
        let evidence = kernel.evidence().expect("a model");
        let paths = &sentence["paths"];
        let (block, head, part) = head_at(&text(&paths["into"]));
        let into = Receiver::Head { block, head, part: part.expect("a part") };
        for (key, into, direct) in [("heads", into, false), ("direct", into, true), ("answer", Receiver::Answer, false)]
        {
            let request = MapRequest {
                sentence: text(&sentence["sentence"]),
                second: Some(text(&sentence["second"])),
                asked: asked(expected),
                into: Some(into),
                direct,
            };
            let found = map_json(&evidence.maps(&request, GOES_ON).expect("maps"));
            compare(&format!("{folder}, {key}"), &found["paths"], &paths[key], Tolerance::SINGLE_NORMS);
            compare(folder, &found, expected, Tolerance::SINGLE_NORMS);
        }
    });
}

#[test]
fn splits_of_scores_are_those_of_pytorch() {
    each_sentence(|folder, kernel, sentence| {
        for expected in sentence.get("scores").map_or(&[][..], |scores| list(scores)) {
            let of = text(&expected["score_of"]);
            let (head, tokens) = of.split_once(':').expect("a head and tokens");
            let (query, key) = tokens.split_once('-').expect("two tokens");
            let (block, head, _) = head_at(head);
            let [query, key] = [query, key].map(|token| token.parse::<usize>().expect("a number") - 1);
            let at = ScoreAt { block, head, query, key };
            let evidence = kernel.evidence().expect("a model");
            let found = score_json(&evidence.score(&text(&sentence["sentence"]), at).expect("a score"));
            for key in ["score", "weight", "sources", "key_sources", "pairs", "relative"] {
                compare(&format!("{folder} {of}.{key}"), &found[key], &expected[key], Tolerance::SINGLE_SUMS);
            }
            for key in ["query_words", "key_words"] {
                let named = |source: &Value| {
                    let of = list(&found[key]).iter().find(|word| word[0] == *source);
                    of.unwrap_or_else(|| panic!("{folder} {of:?}: no {source}"))
                };
                for word in list(&expected[key]) {
                    compare(&format!("{folder} {of}.{key}"), named(&word[0]), word, Tolerance::SINGLE_SUMS);
                }
            }
        }
    });
}

#[test]
fn measures_of_words_are_those_of_pytorch() {
    /// Measures that come from whole passes.
    const OF_PASSES: [&str; 3] = ["integrated", "cut", "blank"];
    each_sentence(|folder, kernel, sentence| {
        let expected = &sentence["words"];
        let evidence = kernel.evidence().expect("a model");
        let words = evidence.words(&text(&sentence["sentence"]), &asked(expected), GOES_ON).expect("measures");
        let written = serde_json::to_string(&words_json(&words)).expect("JSON");
        let found = parse(&written);
        let places: Vec<_> =
            words.table.measures.iter().map(|(of, _)| written.find(&format!("\"{}\"", of.name()))).collect();
        assert!(places.is_sorted(), "the measures stand in the order of the correlations: {places:?}");
        for (name, values) in expected["measures"].as_object().expect("measures") {
            let of_passes = OF_PASSES.contains(&name.as_str());
            let tolerance = if of_passes { Tolerance::SINGLE_NORMS } else { Tolerance::SINGLE_SUMS };
            compare(&format!("{folder} {name}"), &found["measures"][name], values, tolerance);
        }
        for key in ["tokens", "place", "answer", "against", "difference", "nothing", "ranked"] {
            compare(&format!("{folder} {key}"), &found[key], &expected[key], Tolerance::SINGLE_NORMS);
        }
        compare(&format!("{folder} spearman"), &found["spearman"], &expected["spearman"], Tolerance::SINGLE_NORMS);
        assert_eq!(found.get("direct_rest").is_some(), expected.get("direct_rest").is_some(), "{folder}");
        if let Some(rest) = expected.get("direct_rest") {
            compare(&format!("{folder} direct_rest"), &found["direct_rest"], rest, Tolerance::SINGLE_SUMS);
        }
        let sum: f64 = list(&found["measures"]["integrated"]).iter().map(number).sum();
        let whole = number(&found["difference"]) - number(&found["nothing"]);
        is_each_close(sum, whole, Tolerance::SINGLE_NORMS).expect("integrated gradients add up to the difference");
    });
}

#[test]
fn heads_over_texts_are_those_of_pytorch() {
    for (folder, oracle, texts) in MODELS {
        let kernel = running(&opened(&at(folder)));
        let evidence = kernel.evidence().expect("a model");
        let expected = &parse(oracle)["heads"];
        let mut found = texts_json(&evidence.texts(texts, GOES_ON).expect("texts"), &evidence);
        for key in ["n_sequences", "n_tokens", "n_intervals", "qk_distance_edges"] {
            assert_eq!(found[key], expected[key], "{folder} {key}");
        }
        for (place, expected) in list(&expected["places"]).iter().zip(list(&expected["heads"])) {
            let head = &mut found["heads"][size(place)];
            for key in ["top_key_tokens", "top_query_tokens"] {
                head[key].as_array_mut().expect("words").truncate(list(&expected[key]).len());
            }
            compare(&format!("{folder} head {place}"), head, expected, Tolerance::SINGLE_SUMS);
        }
    }
}

#[test]
fn tables_of_heads_are_those_of_pytorch() {
    /// The oracle has every so many of the pairs of heads.
    const EVERY: usize = 7;
    for (folder, oracle, _) in MODELS {
        let kernel = running(&opened(&at(folder)));
        let evidence = kernel.evidence().expect("a model");
        let oracle = parse(oracle);
        for table in list(&oracle["tables"]) {
            let (layer, head, _) = head_at(&text(&table["head"]));
            let words: Vec<String> = table["looks_at"].as_object().expect("words").keys().cloned().collect();
            let found = tables_json(&evidence.tables(&[(layer, head)], &words, GOES_ON).expect("tables"));
            compare(folder, &found["tables"][0], table, Tolerance::SINGLE_NORMS);
            let composition: Value = list(&found["composition"]).iter().step_by(EVERY).cloned().collect();
            compare(folder, &composition, &oracle["composition"], Tolerance::SINGLE_SUMS);
            match oracle.get("copying") {
                Some(copying) => compare(folder, &found["copying"], copying, Tolerance::SINGLE_NORMS),
                None => assert!(found["copying"].is_null(), "{folder}"),
            }
        }
    }
}
