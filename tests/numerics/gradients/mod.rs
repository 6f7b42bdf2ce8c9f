//! Every backward against central differences of its forward, in f64, on odd shapes.

mod arrival;
mod attention;
mod blocks;
mod effects;
mod layers;
mod long_means;
mod look_ups;
mod models;
mod word2vec;
