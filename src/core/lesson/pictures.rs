//! The pictures in the texts of a lesson, which must be files in the lesson's folder. Window and exports apply the same
//! rules.
//!
//! Only PNG and JPEG are allowed. Every program that shows an export can show these two; an animated GIF would distract
//! from the text beside it, and each further format would need another decoder for files from untrusted sources.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use attune_engine::files;

use crate::lesson::reading::file::folder_of;

/// Greatest size of a picture's file, in bytes.
pub const FILE_BYTES_MAX: u64 = 8 << 20;
/// Greatest length of a side, in pixels.
pub const SIDE_MAX: u32 = 4096;
/// Greatest number of pixels of all pictures of a lesson together, which take 128 MiB once they are decoded.
pub const PIXELS_MAX: u64 = 32 << 20;
/// Greatest number of different paths that are looked up; further ones are refused.
pub const FILES_MAX: usize = 256;
/// Number of leading bytes of a file that must contain the picture's size. Cameras write much other data before it.
const HEADER_BYTES_MAX: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    Png,
    Jpeg,
}

impl PictureFormat {
    /// Returns the format by the content of a file, whatever its name, or `None` if it is neither PNG nor JPEG.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            _ => None,
        }
    }

    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
        }
    }

    /// Returns the usual extension of the name of a file in this format.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    /// Reads width and height from the first bytes of a file, or returns `None` if they do not contain them.
    fn size(self, bytes: &[u8]) -> Option<(u32, u32)> {
        match self {
            // Width and height are the first fields of the first chunk.
            Self::Png => Some((
                u32::from_be_bytes(*bytes.get(16..)?.first_chunk()?),
                u32::from_be_bytes(*bytes.get(20..)?.first_chunk()?),
            )),
            Self::Jpeg => jpeg_size(bytes),
        }
    }
}

/// Reads width and height from the first frame segment of a JPEG file, or returns `None` if there is none.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let mut at = 2;
    loop {
        match *bytes.get(at..)? {
            // Padding between segments.
            [0xff, 0xff, ..] => at += 1,
            // Markers that stand alone: TEM, and those that restart or begin a picture.
            [0xff, 0x01 | 0xd0..=0xd8, ..] => at += 2,
            // Within their range, these three markers are not frames.
            [0xff, 0xc0..=0xcf, ..] if !matches!(bytes[at + 1], 0xc4 | 0xc8 | 0xcc) => {
                return Some((number(at + 7)?.into(), number(at + 5)?.into()));
            }
            // The length of a segment includes its own two bytes.
            [0xff, ..] => at += 2 + usize::from(number(at + 2)?).max(2),
            _ => return None,
        }
    }
}

/// A picture that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub file: PathBuf,
    pub format: PictureFormat,
    /// Width and height in pixels.
    pub size: (u32, u32),
}

impl Picture {
    /// Reads the whole file.
    ///
    /// # Errors
    /// A message if it cannot be read, or has grown since it was found.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        files::read(&self.file, FILE_BYTES_MAX).map_err(|error| words(&error))
    }
}

/// The folder of a lesson, and the pictures in it that have been looked up.
#[derive(Debug, Default)]
pub struct PictureFolder {
    path: Option<PathBuf>,
    found: HashMap<String, Result<Picture, String>>,
    pixels: u64,
}

impl PictureFolder {
    /// Returns the folder of a lesson's file, in which nothing has been looked up yet.
    pub fn of(lesson: &Path) -> Self {
        Self { path: Some(folder_of(lesson).to_owned()), ..Self::default() }
    }

    /// Returns the picture at a path that a text names. Each path is looked up once.
    ///
    /// # Errors
    /// A message if there is no picture that may be shown.
    pub fn find(&mut self, path: &str) -> Result<Picture, String> {
        if let Some(found) = self.found.get(path) {
            return found.clone();
        }
        if self.found.len() >= FILES_MAX {
            return Err(format!("a lesson shows {FILES_MAX} pictures at most"));
        }
        let found = within(self.path.as_deref(), path).and_then(measure).and_then(|picture| self.admit(picture));
        self.found.insert(path.to_owned(), found.clone());
        found
    }

    fn admit(&mut self, picture: Picture) -> Result<Picture, String> {
        let (width, height) = picture.size;
        let pixels = self.pixels + u64::from(width) * u64::from(height);
        if pixels > PIXELS_MAX {
            return Err("the lesson's pictures together are too large".to_owned());
        }
        self.pixels = pixels;
        Ok(picture)
    }
}

/// Returns the file at `path` if it is inside a lesson's folder, even after all links are followed.
///
/// # Errors
/// A message if the path leads elsewhere or there is no file.
pub fn within(folder: Option<&Path>, path: &str) -> Result<PathBuf, String> {
    let folder = folder.ok_or("this lesson has no folder")?;
    // Addresses contain a colon, and so do names of drives and streams.
    if path.contains(':') {
        return Err("files come from the lesson's folder, not from the network".to_owned());
    }
    let outside = || "outside the lesson's folder".to_owned();
    let is_plain = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || path.contains(['\\', '\0']) || !Path::new(path).components().all(is_plain) {
        return Err(outside());
    }
    // If the path of a lesson names no folder, the folder is empty and stands for the current one.
    let folder = Path::new(".").join(folder).canonicalize().map_err(|error| words(&error))?;
    let file = folder.join(path).canonicalize().map_err(|error| words(&error))?;
    if file.starts_with(&folder) { Ok(file) } else { Err(outside()) }
}

/// Reads format and size from the first bytes of a file.
fn measure(file: PathBuf) -> Result<Picture, String> {
    let (reader, length) = files::open(&file).map_err(|error| words(&error))?;
    if length > FILE_BYTES_MAX {
        return Err(too_large());
    }
    let mut header = Vec::new();
    reader.take(HEADER_BYTES_MAX).read_to_end(&mut header).map_err(|error| words(&error))?;
    let format = PictureFormat::of(&header).ok_or("neither PNG nor JPEG")?;
    let (width, height) = format.size(&header).ok_or("damaged, because it does not say how large it is")?;
    if width > SIDE_MAX || height > SIDE_MAX || width == 0 || height == 0 {
        return Err(format!("{width}×{height} pixels; at most {SIDE_MAX} per side are allowed"));
    }
    Ok(Picture { file, format, size: (width, height) })
}

fn too_large() -> String {
    format!("larger than {} MiB", FILE_BYTES_MAX >> 20)
}

fn words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file in the lesson's folder".to_owned(),
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => "this is not a file".to_owned(),
        ErrorKind::FileTooLarge => too_large(),
        _ => format!("cannot be read: {error}"),
    }
}
