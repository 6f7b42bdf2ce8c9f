//! Numbers survive JSON, bit for bit.

use attune_engine::json::{self, numbers::LISTED_MAX};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Single {
    #[serde(with = "json::number")]
    wide: f64,
    #[serde(with = "json::number")]
    narrow: f32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Lists {
    #[serde(with = "json::numbers")]
    wide: Vec<f64>,
    #[serde(with = "json::numbers")]
    narrow: Vec<f32>,
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

fn check(wide: Vec<f64>, narrow: Vec<f32>) {
    for (wide, narrow) in wide.iter().zip(&narrow) {
        let json = serde_json::to_string(&Single { wide: *wide, narrow: *narrow }).unwrap();
        let back: Single = serde_json::from_str(&json).unwrap();
        assert!(same(back.wide, *wide) && same(back.narrow.into(), (*narrow).into()), "{json}");
    }
    let json = serde_json::to_string(&Lists { wide: wide.clone(), narrow: narrow.clone() }).unwrap();
    let back: Lists = serde_json::from_str(&json).unwrap();
    assert_eq!((back.wide.len(), back.narrow.len()), (wide.len(), narrow.len()));
    assert!(back.wide.iter().zip(&wide).all(|(a, b)| same(*a, *b)), "{json}");
    assert!(back.narrow.iter().zip(&narrow).all(|(a, b)| same((*a).into(), (*b).into())), "{json}");
}

#[test]
fn every_kind_of_number_survives() {
    // The first is the f32 whose shortest text, read as an f64, rounds to another.
    let narrow = [7.038_531e-26, 0.1, -0.0, 1.0, 16_777_217.0, f32::MIN_POSITIVE, 1e-45, f32::MAX];
    let wide =
        [5e-324, 0.1, -0.0, 1.0, 9_007_199_254_740_993.0, f64::MIN_POSITIVE, 2.225_073_858_507_201e-308, f64::MAX];
    let both = |list: &[f32]| list.iter().flat_map(|x| [*x, -x]).collect::<Vec<_>>();
    let narrow = [both(&narrow), vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -f32::NAN]].concat();
    let wide: Vec<f64> = wide.iter().flat_map(|x| [*x, -x]).collect();
    let wide = [wide, vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN]].concat();
    check(wide.clone(), narrow.clone());
    // And in long arrays, with every bit.
    let long = Lists { wide: wide.repeat(LISTED_MAX), narrow: narrow.repeat(LISTED_MAX) };
    let back: Lists = serde_json::from_str(&serde_json::to_string(&long).unwrap()).unwrap();
    assert!(back.wide.iter().zip(&long.wide).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert!(back.narrow.iter().zip(&long.narrow).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn the_texts_are_the_shortest() {
    let json = serde_json::to_string(&Single { wide: 0.1, narrow: 0.1 }).unwrap();
    assert_eq!(json, r#"{"wide":0.1,"narrow":0.1}"#);
    let json = serde_json::to_string(&Single { wide: f64::NAN, narrow: f32::NEG_INFINITY }).unwrap();
    assert_eq!(json, r#"{"wide":"NaN","narrow":"-inf"}"#);
    let long = Lists { wide: vec![], narrow: (0..30_000).map(|i| (i as f32).sin()).collect() };
    assert!(serde_json::to_string(&long).unwrap().len() < 30_000 * 16 / 3 + 100);
}

#[test]
fn what_a_hand_may_write_is_read() {
    let back: Lists = serde_json::from_str(r#"{"wide":[1,-2,3e2,"inf"],"narrow":["NaN",-0]}"#).unwrap();
    assert_eq!(back.wide, [1.0, -2.0, 300.0, f64::INFINITY]);
    assert!(back.narrow[0].is_nan());
}

#[test]
fn what_is_no_number_is_refused() {
    for text in ["1e999", "\"nan\"", "null", "[1]", "true", "\"\""] {
        let json = format!(r#"{{"wide":{text},"narrow":0}}"#);
        assert!(serde_json::from_str::<Single>(&json).is_err(), "{json}");
    }
    // A wrong prefix, no Base64, and one byte more than a number has.
    for text in ["\"f64:AAAAAA==\"", "\"f32:!\"", "\"f32:AAAAAAA=\"", "\"f32\"", "1", "{}"] {
        let json = format!(r#"{{"wide":[],"narrow":{text}}}"#);
        let error = serde_json::from_str::<Lists>(&json).unwrap_err().to_string();
        assert!(error.contains("f32:"), "{json}: {error}");
    }
}

proptest! {
    #[test]
    fn any_bits_survive(bits in prop::collection::vec(any::<u64>(), 0..2 * LISTED_MAX)) {
        let narrow = bits.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
        check(bits.into_iter().map(f64::from_bits).collect(), narrow);
    }
}
