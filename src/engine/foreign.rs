//! Recognition, by their first bytes, of files of another kind than expected, with advice on what to do. A file that a
//! person names is checked here before it is reported as damaged.

use crate::files::without_mark;
use crate::pretrained::refusal::Refusal;

/// Number of bytes at the start of a file that are enough to recognise it.
pub const HEAD_BYTES: usize = 1 << 12;

/// A kind of file that is recognised by its first bytes.
#[derive(Debug)]
pub struct Foreign {
    /// Name of the kind, such as "a Git LFS pointer".
    pub what: &'static str,
    pub advice: &'static str,
    /// Whether [`vectors`](crate::vectors) reads such files, or a file that they contain.
    pub may_have_vectors: bool,
    is: fn(&[u8]) -> bool,
}

impl Foreign {
    /// Returns the refusal of a file of this kind where `expected` was expected.
    pub fn refusal(&self, expected: impl Into<String>) -> Refusal {
        Refusal::new(self.what, expected, self.advice)
    }
}

/// Returns the kind of a file with these first bytes. Returns `None` for plain text, safetensors, or an unknown kind.
pub fn recognise(head: &[u8]) -> Option<&'static Foreign> {
    FOREIGN.iter().find(|kind| (kind.is)(head))
}

/// Advice on a file packed around the one that is asked for.
pub const UNPACK: &str = "unpack it, and open the file that is in it";
const OPEN_SAFETENSORS: &str =
    "open the folder of the same model with config.json, model.safetensors and tokenizer.json";
const CHECK_PATH: &str = "check the path of the file";

const fn foreign(is: fn(&[u8]) -> bool, what: &'static str, advice: &'static str) -> Foreign {
    Foreign { what, advice, may_have_vectors: false, is }
}

const fn with_vectors(is: fn(&[u8]) -> bool, what: &'static str, advice: &'static str) -> Foreign {
    Foreign { what, advice, may_have_vectors: true, is }
}

/// All kinds, of which the first that matches is used.
const FOREIGN: [Foreign; 31] = [
    foreign(
        |head| head.starts_with(b"version https://git-lfs.github.com/spec/") || head.starts_with(b"# xet version "),
        "a Git LFS pointer, a few lines that stand for a file which was not downloaded",
        "run git lfs pull in the folder of the repository, or download the file itself",
    ),
    foreign(
        is_web_page,
        "a web page, such as a server sends in place of a file",
        "open the address in a browser, do what the page asks, and download the file itself",
    ),
    foreign(
        is_answer_of_server,
        "the answer of a server that did not send the file",
        "check the name of the file, and whether you must log in or accept a licence to download it",
    ),
    foreign(|head| head.starts_with(b"GGUF"), "a GGUF model, the format of llama.cpp", OPEN_SAFETENSORS),
    foreign(
        |head| [&b"lmgg"[..], b"fmgg", b"tjgg"].iter().any(|magic| head.starts_with(magic)),
        "a GGML model, the old format of llama.cpp",
        OPEN_SAFETENSORS,
    ),
    foreign(
        is_torch,
        "a file of PyTorch's, a pickle that can run any program when it is loaded",
        "save its tensors in Python with safetensors.torch.save_file(tensors, \"model.safetensors\")",
    ),
    foreign(
        is_pickle,
        "a pickled Python object, which can run any program when it is loaded",
        "save vectors in gensim with save_word2vec_format(\"NAME.bin\", binary=True), and a model's tensors with safetensors",
    ),
    foreign(
        |head| head.starts_with(b"\x89HDF\r\n\x1a\n"),
        "an HDF5 file",
        "save its arrays in Python with safetensors or np.savez",
    ),
    foreign(
        |head| head.starts_with(b"PAR1"),
        "a Parquet file",
        "save it in Python as text with tabs: pandas.read_parquet(\"FILE\").to_csv(\"NAME.tsv\", sep=\"\\t\", index=False)",
    ),
    foreign(
        |head| head.starts_with(b"ARROW1") || head.starts_with(b"FEA1"),
        "an Arrow or Feather file",
        "save it in Python as text with tabs: pandas.read_feather(\"FILE\").to_csv(\"NAME.tsv\", sep=\"\\t\", index=False)",
    ),
    foreign(
        |head| head.starts_with(b"SQLite format 3\0"),
        "an SQLite database, as Magnitude writes it",
        "save the vectors as text, a word and its numbers in each line",
    ),
    foreign(is_onnx, "an ONNX model", OPEN_SAFETENSORS),
    foreign(|head| head.starts_with(b"MATLAB 5.0"), "a MATLAB file", "save its array in Python with np.save"),
    foreign(|head| head.starts_with(b"BZh"), "a file packed with bzip2", UNPACK),
    foreign(|head| head.starts_with(b"\xfd7zXZ\0"), "a file packed with xz", UNPACK),
    foreign(|head| head.starts_with(b"\x28\xb5\x2f\xfd"), "a file packed with zstd", UNPACK),
    foreign(|head| head.starts_with(b"7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", UNPACK),
    foreign(|head| head.starts_with(b"Rar!\x1a\x07"), "a RAR archive", UNPACK),
    foreign(|head| head.get(257..262) == Some(b"ustar"), "a tar archive", UNPACK),
    foreign(|head| head.starts_with(b"%PDF-"), "a PDF document", CHECK_PATH),
    foreign(
        |head| [&b"\x89PNG"[..], b"\xff\xd8\xff", b"GIF8"].iter().any(|magic| head.starts_with(magic)),
        "a picture",
        CHECK_PATH,
    ),
    foreign(|head| head.starts_with(b"\x7fELF") || is_windows_program(head), "a program", CHECK_PATH),
    foreign(is_utf_16, "text in UTF-16", "save the file as UTF-8 text, in an editor or with iconv -f UTF-16 -t UTF-8"),
    foreign(
        |head| head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") || is_office_zip(head),
        "a document of an office program",
        "save the sheet as CSV or TSV",
    ),
    with_vectors(|head| head.starts_with(b"\x1f\x8b"), "a file packed with gzip", "unpack it with gzip -d"),
    with_vectors(|head| head.starts_with(b"PK\x03\x04"), "a zip archive", UNPACK),
    foreign(|head| head.starts_with(b"PK\x05\x06"), "an empty zip archive", "download or pack it again"),
    with_vectors(|head| head.starts_with(b"\x93NUMPY"), "an array of NumPy's", "open it as a file of vectors"),
    with_vectors(is_fast_text, "a fastText model", "open it as a file of vectors"),
    foreign(
        |head| !head.is_empty() && head.iter().all(|byte| *byte == 0),
        "a file of zeros, such as a download that was cut off leaves",
        "download it again",
    ),
    foreign(is_key, "a file of keys or certificates", CHECK_PATH),
];

/// Returns the beginning of a file in lower case, without a byte order mark and leading white space.
fn lower(head: &[u8]) -> Vec<u8> {
    let head = without_mark(head);
    head.trim_ascii_start().iter().take(HEAD_BYTES).map(u8::to_ascii_lowercase).collect()
}

/// Recognises a web page. Vectors of a markup language may have `<html>` as their first word, so further tags are
/// required.
fn is_web_page(head: &[u8]) -> bool {
    let head = lower(head);
    let has = |tag: &[u8]| head.windows(tag.len()).any(|part| part == tag);
    let has_parts = has(b"<head") || has(b"<body") || has(b"<title") || has(b"<meta");
    head.starts_with(b"<!doctype html")
        || (head.starts_with(b"<html") || head.starts_with(b"<head")) && has_parts
        || head.starts_with(b"<?xml version=")
}

/// Recognises error messages that model hubs and file servers send as a line of plain text.
fn is_answer_of_server(head: &[u8]) -> bool {
    const ANSWERS: [&[u8]; 7] = [
        b"entry not found",
        b"repository not found",
        b"invalid username or password",
        b"invalid credentials",
        b"access to model ",
        b"404: not found",
        b"{\"error\":",
    ];
    /// Length in bytes above which a file is not taken for such a message.
    const ANSWER_BYTES_MAX: usize = 1 << 10;
    head.len() <= ANSWER_BYTES_MAX && ANSWERS.iter().any(|answer| lower(head).starts_with(answer))
}

/// Returns the name of the first file in a zip archive; empty if the bytes do not begin one.
fn first_in_zip(head: &[u8]) -> &[u8] {
    const NAME: usize = 30;
    let Some([low, high]) = head.get(26..28) else { return b"" };
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    let name = head.get(NAME..(NAME + length).min(head.len())).unwrap_or_default();
    if head.starts_with(b"PK\x03\x04") { name } else { b"" }
}

fn is_torch(head: &[u8]) -> bool {
    /// Magic number of PyTorch's older files, pickled.
    const OLD: &[u8] = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
    let name = first_in_zip(head);
    name.ends_with(b"/data.pkl") || name.ends_with(b"/.format_version") || is_pickle(head) && head[2..].starts_with(OLD)
}

/// Recognises a pickle by its first two bytes, the second of which is the version, or by the usual beginnings of files
/// in the oldest version.
fn is_pickle(head: &[u8]) -> bool {
    const OLDEST: [&[u8]; 5] = [b"(lp0\n", b"(lp1\n", b"(dp0\n", b"(dp1\n", b"ccopy_reg\n"];
    matches!(head, [0x80, 2..=5, ..]) || OLDEST.iter().any(|start| head.starts_with(start))
}

/// Recognises ONNX by the version of the format, followed by the name of the program that wrote the file.
fn is_onnx(head: &[u8]) -> bool {
    matches!(head, [0x08, 3..=20, 0x12, length, rest @ ..]
        if rest.get(..usize::from(*length)).is_some_and(|name| !name.is_empty() && name.is_ascii()))
}

fn is_windows_program(head: &[u8]) -> bool {
    head.starts_with(b"MZ") && head.get(..0x40).is_some_and(|header| header.contains(&0))
}

/// Recognises UTF-16 by a byte order mark, or by ASCII characters with a zero byte after or before each.
fn is_utf_16(head: &[u8]) -> bool {
    const LETTERS: usize = 8;
    let pairs = head.as_chunks::<2>().0.get(..LETTERS).unwrap_or_default();
    let is_letter = |byte: u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let is_each = |zero: usize| pairs.iter().all(|pair| pair[zero] == 0 && is_letter(pair[1 - zero]));
    head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") || !pairs.is_empty() && (is_each(0) || is_each(1))
}

fn is_office_zip(head: &[u8]) -> bool {
    let name = first_in_zip(head);
    name == b"[Content_Types].xml" || name == b"mimetype" || name.starts_with(b"_rels/")
}

/// Recognises fastText by its magic number and an existing version.
pub fn is_fast_text(head: &[u8]) -> bool {
    matches!(head, [0xba, 0x16, 0x4f, 0x2f, 1..=12, 0, 0, 0, ..])
}

fn is_key(head: &[u8]) -> bool {
    head.starts_with(b"-----BEGIN ") && head.windows(5).any(|part| part == b"-----")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a zip archive whose first file has this name.
    fn zip(name: &str) -> Vec<u8> {
        let length = (name.len() as u16).to_le_bytes();
        [b"PK\x03\x04", &[0; 22][..], &length, &[0, 0], name.as_bytes()].concat()
    }

    #[test]
    fn files_of_other_kinds_are_recognised_by_their_first_bytes() {
        let tar = [&[b'x'; 257][..], b"ustar\x0000"].concat();
        let zipped = [zip("model/data.pkl"), zip("[Content_Types].xml"), zip("glove.txt")];
        let kinds: [(&[u8], &str); 25] = [
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "Git LFS"),
            (b"\n\n<!DOCTYPE HTML>\n<html><head>", "web page"),
            (b"\xef\xbb\xbf<html lang=\"en\"><head><title>404</title>", "web page"),
            (b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "web page"),
            (b"Entry not found", "server"),
            (b"GGUF\x03\0\0\0", "GGUF"),
            (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80", "PyTorch"),
            (&zipped[0], "PyTorch"),
            (b"\x80\x04\x95\xaf", "pickled"),
            (b"(lp0\nS'the'\n", "pickled"),
            (b"\x89HDF\r\n\x1a\n\0", "HDF5"),
            (b"PAR1\x15", "Parquet"),
            (b"SQLite format 3\0", "SQLite"),
            (b"\x08\x07\x12\x07pytorch\x1a", "ONNX"),
            (b"BZh91AY", "bzip2"),
            (b"\xfd7zXZ\0\0", "xz"),
            (b"\x28\xb5\x2f\xfd\x04", "zstd"),
            (&tar, "tar"),
            (b"\xff\xfek\0i\0", "UTF-16"),
            (b"k\0i\0n\0g\0 \x001\0.\x002\0", "UTF-16"),
            (&zipped[1], "office"),
            (&zipped[2], "zip"),
            (b"\x1f\x8b\x08\0", "gzip"),
            (b"\xba\x16\x4f\x2f\x0c\0\0\0", "fastText"),
            (&[0; 64], "zeros"),
        ];
        for (head, words) in kinds {
            let kind = recognise(head).unwrap_or_else(|| panic!("{words} is not recognised"));
            assert!(kind.what.contains(words), "{words}: {}", kind.what);
        }
    }

    #[test]
    fn texts_vectors_and_lessons_are_no_foreign_files() {
        let own: [&[u8]; 9] = [
            b"",
            b"Lesson(id: \"apple\")",
            b"the 0.1 0.2\nof 0.3 0.4\n",
            b"3 2\nthe \0\0\0\0\0\0\0\0\n",
            b"<html> 0.1 0.2\n</s> 0.3 0.4\n",
            b"version 0.1 0.2\n",
            b"\x10\0\0\0\0\0\0\0{}              ",
            b"{\"model_type\": \"bert\"}",
            b"access 0.1 0.2\nerror 1 2\n",
        ];
        for head in own {
            assert!(recognise(head).is_none(), "{:?}", String::from_utf8_lossy(head));
        }
    }
}
