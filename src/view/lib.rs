//! The content of the panels and of the stage, made from snapshots without a window, and the files that are exported.
//!
//! | module | job | start at |
//! |---|---|---|
//! | [`view_model`] | a snapshot -> what each panel and the stage shows | [`view_model::stage`] |
//! | [`sheet`] | what a panel shows, as plain data: text, maps, tables, bars, plots | [`sheet`] |
//! | [`panels`] | the models of a snapshot -> the sheet of each panel | [`panels`] |
//! | [`explain`] | a number -> its rule, and from it the formula, the numbers in it and the way back; its sentence; the walk | [`explain::rules`] |
//! | [`export`] | a snapshot -> notebook, page, vectors or model as files | [`export`] |

pub mod explain;
pub mod export;
pub mod panels;
pub mod sheet;
pub mod view_model;
