//! The pictures of a page: those of the stage, and those that lie in the lesson's folder.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use attune_core::lesson::pictures::{Folder, Format};

/// Pictures of a page.
#[derive(Default)]
pub struct Pictures {
    stages: BTreeMap<String, StagePicture>,
    /// Why a stage cell has no picture, if it has none.
    pub why_no_stage: String,
    folder: RefCell<Folder>,
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
    pub format: Format,
}

/// Bytes of all the folder's pictures that a page shows; one that it shows twice, it holds twice.
const PAGE_BYTES_MAX: u64 = 64 << 20;

impl Pictures {
    /// Those in the folder of a lesson, and none of the stage for this reason.
    pub fn of_lesson(file: &Path, why_no_stage: impl Into<String>) -> Self {
        Self { folder: Folder::of(file).into(), why_no_stage: why_no_stage.into(), ..Self::default() }
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
    /// In words, if there is none, or none that a page may show.
    pub fn image(&self, url: &str) -> Result<Image, String> {
        let picture = self.folder.borrow_mut().find(url)?;
        let bytes = picture.read()?;
        let read = self.read.get() + bytes.len() as u64;
        if read > PAGE_BYTES_MAX {
            return Err(format!("a page holds {} MiB of pictures at most", PAGE_BYTES_MAX >> 20));
        }
        self.read.set(read);
        Ok(Image { bytes, format: picture.format })
    }
}
