//! Recordings that tests make of a few tensors.

use std::fs;
use std::path::PathBuf;

use attune_engine::pretrained::safetensors::write_with;

use super::folder::Folder;

/// A tensor's name, its shape and the number that all its entries are.
pub type Even<'a> = (&'a str, &'a [usize], f32);

/// Writes a recording with these entries of metadata.
pub fn recording(folder: &Folder, entries: &[(&str, &str)], tensors: &[Even<'_>]) -> PathBuf {
    let numbers: Vec<Vec<f32>> =
        tensors.iter().map(|(_, shape, number)| vec![*number; shape.iter().product()]).collect();
    let parts =
        tensors.iter().zip(&numbers).map(|((name, shape, _), numbers)| ((*name).to_owned(), (*shape, &numbers[..])));
    let entries = [("attune", "recording 1")].iter().chain(entries);
    let about = entries.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let path = folder.join("run.safetensors");
    let mut file = fs::File::create(&path).expect("a file");
    write_with(&about, &parts.collect(), &mut file).expect("it is written");
    path
}

/// Writes as many tokens as an entry of metadata.
pub fn tokens(count: usize) -> String {
    format!("{:?}", (0..count).map(|token| format!("w{token}")).collect::<Vec<_>>())
}
