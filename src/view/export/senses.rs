//! A list of sentences with one word in common, as a file that any editor writes: see [`attune_core::kernel::sentence_pass::senses`].

use std::fs::File;
use std::io::Read;
use std::path::Path;

use attune_core::kernel::sentence_pass::senses::{SenseList, SenseSentence, read_sentences};
use attune_core::whole_file;

/// By which a list is proposed as a file.
pub const EXTENSION: &str = "txt";
/// Longer files are not read: no list is so long.
const BYTES_MAX: u64 = 1 << 21;

/// # Errors
/// In words for the learner, if it cannot be read, or is no list.
pub fn read(file: &Path) -> Result<Vec<SenseSentence>, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut bytes = Vec::new();
    let opened = File::open(file).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes));
    opened.map_err(|why| format!("{name} cannot be read: {why}"))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(format!("{name} is not a list of sentences: it has more than {} MiB", BYTES_MAX >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8 text: save it as UTF-8"))?;
    read_sentences(&text).map_err(|why| format!("{name}: {why}"))
}

/// # Errors
/// In words for the learner; what was there is there still.
pub fn write(list: &SenseList, file: &Path) -> Result<(), String> {
    if let Some(why) = whole_file::no_plain_file(file) {
        return Err(why.to_owned());
    }
    whole_file::write(file, list.written().as_bytes()).map_err(|why| format!("{}: {why}", file.display()))
}
