//! Small recordings that a test makes.

use std::fs;
use std::path::PathBuf;

use attune_engine::pretrained::safetensors::write_with;

use super::folder::Folder;

/// A tensor's name, its shape and its numbers.
pub type Numbers<'a> = (&'a str, &'a [usize], Vec<f32>);

/// A tensor's name, its shape and the number that all its entries are.
pub type Even<'a> = (&'a str, &'a [usize], f32);

/// Writes a recording with these entries of metadata.
pub fn write_recording(folder: &Folder, entries: &[(&str, &str)], tensors: &[Numbers<'_>]) -> PathBuf {
    let entries = [("attune", "recording 1")].iter().chain(entries);
    let about = entries.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let parts = tensors.iter().map(|(name, shape, numbers)| ((*name).to_owned(), (*shape, &numbers[..]))).collect();
    let path = folder.join("run.safetensors");
    let mut file = fs::File::create(&path).expect("a file");
    write_with(&about, &parts, &mut file).expect("it is written");
    path
}

/// Writes a recording whose tensors have one number each.
pub fn recording(folder: &Folder, entries: &[(&str, &str)], tensors: &[Even<'_>]) -> PathBuf {
    let numbers = |(name, shape, number): &Even<'_>| -> (String, Vec<usize>, Vec<f32>) {
        ((*name).to_owned(), shape.to_vec(), vec![*number; shape.iter().product()])
    };
    let all: Vec<_> = tensors.iter().map(numbers).collect();
    let tensors: Vec<Numbers<'_>> =
        all.iter().map(|(name, shape, numbers)| (&name[..], &shape[..], numbers.clone())).collect();
    write_recording(folder, entries, &tensors)
}

/// Writes a recording of as many tokens, into a folder of its own.
pub fn recording_of(tokens: usize, entries: &[(&str, &str)], tensors: &[Numbers<'_>]) -> (Folder, PathBuf) {
    let (folder, tokens) = (Folder::new("made-recording"), self::tokens(tokens));
    let entries: Vec<(&str, &str)> = [("tokens", &tokens[..])].into_iter().chain(entries.iter().copied()).collect();
    let path = write_recording(&folder, &entries, tensors);
    (folder, path)
}

/// Writes as many tokens as an entry of metadata.
pub fn tokens(count: usize) -> String {
    format!("{:?}", (0..count).map(|token| format!("w{token}")).collect::<Vec<_>>())
}
