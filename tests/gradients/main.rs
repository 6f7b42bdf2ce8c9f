//! Every backward against central differences of its forward, in f64, on odd shapes.

#[path = "../common/mod.rs"]
mod common;

mod arrival;
mod attention;
mod blocks;
mod layers;
mod long_means;
mod look_ups;
mod models;
mod word2vec;
