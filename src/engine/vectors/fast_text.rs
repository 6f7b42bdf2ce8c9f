//! fastText's own binary format, `.bin`: settings, the dictionary, and the rows from which the vectors of words are
//! computed.
//!
//! The vector of a word is the mean of its own row and the rows of its character n-grams (Bojanowski et al. 2017). The
//! row of an n-gram is given by its hash, and several n-grams may share it. These rows come after those of the words,
//! and a real file has two million of them. They are read in parts, and each part is added to the words whose n-grams
//! it contains.

use super::numbers::Numbers;
use super::source::Source;
use super::{Builder, Format, Place, Vectors, WIDTH_MAX, Watch};
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted};

/// Magic number at the start of a file.
const MAGIC: i32 = 793_712_314;
/// Newest supported version of the format, which fastText has used since 2017.
const VERSION: i32 = 12;
/// Version whose classifiers have no n-grams, whatever their settings are.
const VERSION_BEFORE_SUBWORDS: i32 = 11;
const CLASSIFIER: i32 = 3;
/// Length of the longest word in bytes; fastText cuts longer ones.
const WORD_BYTES_MAX: usize = 1 << 16;
/// Length of the longest n-gram that is accepted. It is bounded, because a word has about as many n-grams of each
/// length as characters.
const GRAM_MAX: i32 = 64;
/// Largest number of numbers of n-gram rows that are held in memory at once.
const PART_NUMBERS: usize = 32 << 20;
/// Word that stands for the end of a line and has no n-grams.
const END_OF_LINE: &[u8] = b"</s>";

/// Settings for n-grams.
#[derive(Clone, Copy)]
struct Grams {
    shortest: usize,
    longest: usize,
    /// Number of rows that all n-grams share.
    buckets: u32,
}

/// Reads a model.
///
/// # Errors
/// If it is quantised, damaged or of a newer version, or reading was stopped.
pub fn read(mut source: Source, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let (width, grams) = settings(&mut source)?;
    let words = dictionary(&mut source)?;
    let rows = matrix(&mut source, width)?;
    let needed = words.len() as u64 + if grams.longest > 0 { u64::from(grams.buckets) } else { 0 };
    if rows < needed {
        let found = format!("{rows} rows for {} words and {} n-grams", words.len(), grams.buckets);
        return Err(Refusal::new(found, format!("{needed} rows"), FETCH_AGAIN).into());
    }
    // The sums of all words, which become the rows, are counted before they are allocated.
    let mut builder = Builder::new(width, &source, watch);
    let bytes_of_words: usize = words.iter().map(|word| word.len() + size_of::<Box<[u8]>>()).sum();
    let sum_bytes = (words.len() * width * Numbers::F32.size) as u64;
    builder.take(sum_bytes.saturating_add(bytes_of_words as u64), &source)?;
    let mut sums: Vec<f32> = Vec::new();
    let mut counts = vec![1_u32; words.len()];
    let part = (PART_NUMBERS / width).max(1);
    let mut done = 0_usize;
    while (done as u64) < rows {
        let count = usize::try_from(rows - done as u64).unwrap_or(part).min(part);
        let numbers = part_of(&mut source, count * width, &mut builder)?;
        if done < words.len() {
            sums.extend_from_slice(&numbers[..count.min(words.len() - done) * width]);
        }
        add_grams(&words, grams, (done, &numbers, width), &mut sums, &mut counts);
        done += count;
    }
    builder.reserve(words.len() as u64)?;
    for (row, word) in words.iter().enumerate() {
        let scale = 1.0 / counts[row] as f32;
        builder.room().extend(sums[row * width..][..width].iter().map(|x| x * scale));
        builder.push(word, Place::Row(row as u64), &source)?;
    }
    builder.finish(Format::FastText, "F32", &source)
}

/// Reads the settings; returns the width and the settings for n-grams.
fn settings(source: &mut Source) -> Result<(usize, Grams), Refusal> {
    let damaged = |found: String| Refusal::new(found, "the settings of a fastText model", FETCH_AGAIN);
    let [magic, version] = [whole(source)?, whole(source)?];
    if magic != MAGIC || !(1..=VERSION).contains(&version) {
        let advice = "save its vectors as text with fastText's print-word-vectors, or open the .vec beside it";
        let found = format!("version {version} of fastText's format");
        return Err(Refusal::new(found, format!("at most version {VERSION}"), advice));
    }
    // Width, window, epochs, minimal count, negatives, n-grams of words, loss, model, buckets, shortest and longest
    // n-gram, and the rate of updates.
    let mut fields = [0; 12];
    for field in &mut fields {
        *field = whole(source)?;
    }
    // The sampling threshold.
    take::<8>(source)?;
    let [width, .., model, buckets, shortest, longest, _] = fields;
    let is_width = usize::try_from(width).is_ok_and(|width| (1..=WIDTH_MAX).contains(&width));
    let Some(rows) = u32::try_from(buckets).ok().filter(|_| is_width && longest <= GRAM_MAX) else {
        return Err(damaged(format!("vectors of {width} numbers, and {buckets} rows for n-grams of up to {longest}")));
    };
    let has_none = rows == 0 || version == VERSION_BEFORE_SUBWORDS && model == CLASSIFIER;
    let longest = if has_none { 0 } else { usize::try_from(longest).unwrap_or_default() };
    let shortest = usize::try_from(shortest).unwrap_or_default();
    Ok((width as usize, Grams { shortest, longest, buckets: rows }))
}

/// Reads the words of the dictionary, and skips the labels after them, which have no rows.
fn dictionary(source: &mut Source) -> Result<Vec<Box<[u8]>>, Refusal> {
    let damaged = |found: String| Refusal::new(found, "the dictionary of a fastText model", FETCH_AGAIN);
    let [size, words, labels] = [whole(source)?, whole(source)?, whole(source)?];
    take::<8>(source)?;
    let pruned = i64::from_le_bytes(take(source)?);
    if words < 0 || labels < 0 || words.checked_add(labels) != Some(size) || size == 0 {
        return Err(damaged(format!("{size} entries, of which {words} are words and {labels} labels")));
    }
    if pruned >= 0 {
        return Err(quantised());
    }
    let mut found: Vec<Box<[u8]>> = Vec::new();
    for entry in 0..size {
        let head = source.peek(WORD_BYTES_MAX)?;
        let end = memchr::memchr(0, head).ok_or_else(|| damaged(format!("no end of the word {entry} of {size}")))?;
        let word: Box<[u8]> = head[..end].into();
        source.pass(end + 1);
        take::<8>(source)?;
        let [kind] = take(source)?;
        if (kind != 0) != (entry >= words) {
            return Err(damaged(format!("{} as an entry of the kind {kind}", quoted(&String::from_utf8_lossy(&word)))));
        }
        if entry < words {
            found.push(word);
        }
    }
    Ok(found)
}

/// Reads the header of the matrix and returns its number of rows.
fn matrix(source: &mut Source, width: usize) -> Result<u64, Refusal> {
    let [is_quantised] = take(source)?;
    if is_quantised != 0 {
        return Err(quantised());
    }
    let [rows, cols] = [i64::from_le_bytes(take(source)?), i64::from_le_bytes(take(source)?)];
    let rows = u64::try_from(rows).ok().filter(|_| cols == width as i64);
    let bytes = rows.and_then(|rows| rows.checked_mul((width * Numbers::F32.size) as u64));
    let is_there = |bytes: &u64| source.left().is_none_or(|left| *bytes <= left);
    match rows.filter(|_| bytes.as_ref().is_some_and(is_there)) {
        Some(rows) => Ok(rows),
        None => {
            let found = format!("a table of {} by {cols} numbers", rows.unwrap_or_default());
            Err(Refusal::new(found, format!("rows of {width} numbers, all in the file"), FETCH_AGAIN))
        }
    }
}

fn quantised() -> Refusal {
    let advice = "open the .bin that it was made from, or save its vectors as text with fastText's print-word-vectors";
    Refusal::new("a fastText model with quantised vectors (.ftz)", "vectors as they were trained (.bin)", advice)
}

/// Reads the next `count` numbers of the matrix.
fn part_of(source: &mut Source, count: usize, builder: &mut Builder<'_>) -> Result<Vec<f32>, LoadStopped> {
    const AT_ONCE: usize = 1 << 20;
    let mut numbers = Vec::new();
    while numbers.len() < count {
        let bytes = source.peek(AT_ONCE.min((count - numbers.len()) * Numbers::F32.size))?;
        let length = bytes.len() / Numbers::F32.size * Numbers::F32.size;
        if length == 0 {
            let found = format!("the end of the file at byte {}", source.passed());
            return Err(Refusal::new(found, "all rows of the model", FETCH_AGAIN).into());
        }
        Numbers::F32.widen(&bytes[..length], &mut numbers);
        source.pass(length);
        builder.call_watch(source)?;
    }
    Ok(numbers)
}

/// Adds the rows of a part of the matrix, from its row `first` on, to the words with the corresponding n-grams.
fn add_grams(
    words: &[Box<[u8]>],
    grams: Grams,
    (first, numbers, width): (usize, &[f32], usize),
    sums: &mut [f32],
    counts: &mut [u32],
) {
    let end = first + numbers.len() / width;
    if grams.longest == 0 || end <= words.len() {
        return;
    }
    for ((word, sum), count) in words.iter().zip(sums.chunks_exact_mut(width)).zip(counts) {
        each_gram(word, grams, &mut |bucket| {
            let row = words.len() + bucket as usize;
            if (first..end).contains(&row) {
                let gram = &numbers[(row - first) * width..][..width];
                sum.iter_mut().zip(gram).for_each(|(sum, x)| *sum += x);
                *count += 1;
            }
        });
    }
}

/// Calls `each` with the bucket of every n-gram of a word, which is first enclosed in `<` and `>`.
fn each_gram(word: &[u8], grams: Grams, each: &mut dyn FnMut(u32)) {
    if word == END_OF_LINE {
        return;
    }
    let word = [b"<", word, b">"].concat();
    let goes_on = |at: usize| word.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    for from in (0..word.len()).filter(|from| !goes_on(*from)) {
        let mut end = from;
        for length in 1..=grams.longest {
            if end == word.len() {
                break;
            }
            end += 1;
            while goes_on(end) {
                end += 1;
            }
            // The marks `<` and `>` alone are not n-grams.
            let is_edge = length == 1 && (from == 0 || end == word.len());
            if length >= grams.shortest && !is_edge {
                each(hash(&word[from..end]) % grams.buckets);
            }
        }
    }
}

/// Computes FNV-1a with signed bytes, as fastText does.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(2_166_136_261, |hash, byte| {
        (hash ^ i32::from(byte.cast_signed()).cast_unsigned()).wrapping_mul(16_777_619)
    })
}

fn whole(source: &mut Source) -> Result<i32, Refusal> {
    Ok(i32::from_le_bytes(take(source)?))
}

fn take<const N: usize>(source: &mut Source) -> Result<[u8; N], Refusal> {
    let at = source.passed();
    let bytes = source.peek(N)?.first_chunk().copied();
    let bytes = bytes.ok_or_else(|| {
        Refusal::new(format!("the end of the file at byte {at}"), "the rest of a fastText model", FETCH_AGAIN)
    })?;
    source.pass(N);
    Ok(bytes)
}
