//! The pictures of a page: those of the stage, and those that lie in the lesson's folder.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// What a page shows beside text.
#[derive(Default)]
pub struct Pictures {
    stages: BTreeMap<String, StagePicture>,
    /// Why a stage cell has no picture, if it has none.
    pub why_no_stage: String,
    folder: Option<PathBuf>,
    /// Bytes of the folder's pictures so far.
    read: Cell<u64>,
}

/// A stage cell as PNG.
pub struct StagePicture {
    pub light: Vec<u8>,
    /// For pages that are read on a dark ground too.
    pub dark: Option<Vec<u8>>,
}

/// A picture of the lesson's folder.
pub struct Image {
    pub bytes: Vec<u8>,
    pub mime: &'static str,
    /// Of its file's name.
    pub extension: &'static str,
}

/// Bytes of one picture, and of all that a page shows.
const IMAGE_BYTES_MAX: u64 = 8 << 20;
const IMAGES_BYTES_MAX: u64 = 64 << 20;

impl Pictures {
    /// Those in the folder of a lesson, and none of the stage for this reason.
    pub fn of_lesson(file: &Path, why_no_stage: impl Into<String>) -> Self {
        let folder = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        Self { folder: folder.map(Path::to_owned), why_no_stage: why_no_stage.into(), ..Self::default() }
    }

    pub fn add_stage(&mut self, cell: impl Into<String>, picture: StagePicture) {
        self.stages.insert(cell.into(), picture);
    }

    pub fn stage(&self, cell: &str) -> Option<&StagePicture> {
        self.stages.get(cell)
    }

    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Reads the picture that a text of the lesson names.
    ///
    /// # Errors
    /// In words, if there is none, or none that a page may show: only PNG, JPEG, GIF and WebP files
    /// of the lesson's own folder are read.
    pub fn image(&self, url: &str) -> Result<Image, String> {
        let folder = self.folder.as_ref().ok_or("the lesson has no folder")?;
        let path = Path::new(url);
        if url.contains(':') || path.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir))
        {
            return Err("only pictures from the lesson's folder are shown".to_owned());
        }
        let missing = |error: std::io::Error| format!("it cannot be read: {error}");
        let found = fs::canonicalize(folder.join(path)).map_err(missing)?;
        // A link may lead out of the folder.
        if !found.starts_with(fs::canonicalize(folder).map_err(missing)?) || !found.is_file() {
            return Err("only pictures from the lesson's folder are shown".to_owned());
        }
        let room = IMAGE_BYTES_MAX.min(IMAGES_BYTES_MAX - self.read.get());
        let mut bytes = Vec::new();
        File::open(found).and_then(|file| file.take(room + 1).read_to_end(&mut bytes)).map_err(missing)?;
        if bytes.len() as u64 > room {
            let (one, all) = (IMAGE_BYTES_MAX >> 20, IMAGES_BYTES_MAX >> 20);
            return Err(format!("it is too large: at most {one} MiB, and {all} MiB for all"));
        }
        let (mime, extension) = kind(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP file")?;
        self.read.set(self.read.get() + bytes.len() as u64);
        Ok(Image { bytes, mime, extension })
    }
}

/// By what it is, not by its name.
fn kind(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(("image/png", "png")),
        [0xff, 0xd8, 0xff, ..] => Some(("image/jpeg", "jpg")),
        [b'G', b'I', b'F', b'8', ..] => Some(("image/gif", "gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(("image/webp", "webp")),
        _ => None,
    }
}
