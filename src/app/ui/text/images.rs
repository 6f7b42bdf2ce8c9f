//! The pictures of a lesson: files in its own folder only, decoded on other threads.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use attune_core::lesson::pictures::{self, PictureFolder, PictureFormat, SIDE_MAX};
use egui::{ColorImage, Context, TextureHandle, TextureId, TextureOptions, Vec2, vec2};
use image::{ImageFormat, ImageReader, Limits};

/// A cache that finds, checks and decodes pictures. A picture's size is known at once; its pixels are ready after
/// decoding.
#[derive(Default)]
pub struct Images {
    lesson: Option<PathBuf>,
    folder: PictureFolder,
    found: HashMap<String, Result<LoadedImage, String>>,
    generation: u64,
    /// The number of times that the folder was read again. Pictures decoded for an earlier epoch are discarded.
    epoch: u64,
    /// Pictures that other threads have decoded since the last check.
    decoded: Arc<Mutex<Vec<Decoded>>>,
}

/// The path, the epoch and the pixels, or the reason why they cannot be decoded.
type Decoded = (String, u64, Result<ColorImage, String>);

struct LoadedImage {
    picture: pictures::Picture,
    state: ImageState,
}

enum ImageState {
    Known,
    Decoding,
    Shown(TextureHandle),
}

impl Images {
    /// Switches to the pictures of another lesson.
    pub fn open(&mut self, lesson: &Path) {
        self.lesson = Some(lesson.to_owned());
        self.look_again();
    }

    /// Reads the folder again, because files may have changed.
    pub fn look_again(&mut self) {
        self.found.clear();
        self.folder = self.lesson.as_deref().map(PictureFolder::of).unwrap_or_default();
        self.generation += 1;
        self.epoch += 1;
    }

    /// Returns a number that changes whenever the size of a picture may have changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns a picture's size in pixels.
    ///
    /// # Errors
    /// The reason why the picture cannot be shown.
    pub fn size(&mut self, path: &str) -> Result<Vec2, String> {
        let found = match self.found.get(path) {
            Some(found) => found,
            None => {
                let found = self.folder.find(path).map(|picture| LoadedImage { picture, state: ImageState::Known });
                self.found.entry(path.to_owned()).or_insert(found)
            }
        };
        let (width, height) = found.as_ref().map_err(Clone::clone)?.picture.size;
        Ok(vec2(width as f32, height as f32))
    }

    /// Returns the texture of a picture; `None` until it is decoded, and if it cannot be shown.
    pub fn texture(&mut self, ctx: &Context, path: &str) -> Option<TextureId> {
        self.receive(ctx);
        let epoch = self.epoch;
        let picture = self.found.get_mut(path)?.as_mut().ok()?;
        match &picture.state {
            ImageState::Shown(texture) => return Some(texture.id()),
            ImageState::Decoding => {}
            ImageState::Known => {
                picture.state = ImageState::Decoding;
                let (picture, decoded) = (picture.picture.clone(), self.decoded.clone());
                let (path, ctx) = (path.to_owned(), ctx.clone());
                std::thread::spawn(move || {
                    let pixels = decode(&picture);
                    // The list stays valid even if another decoding thread panicked.
                    decoded.lock().unwrap_or_else(PoisonError::into_inner).push((path, epoch, pixels));
                    ctx.request_repaint();
                });
            }
        }
        None
    }

    fn receive(&mut self, ctx: &Context) {
        let decoded = std::mem::take(&mut *self.decoded.lock().unwrap_or_else(PoisonError::into_inner));
        for (path, epoch, pixels) in decoded {
            if epoch != self.epoch {
                continue;
            }
            let Some(found) = self.found.get_mut(&path) else { continue };
            match (pixels, found) {
                (Ok(pixels), Ok(picture)) => {
                    picture.state = ImageState::Shown(ctx.load_texture(&path, pixels, TextureOptions::LINEAR));
                }
                (Err(why), found) => {
                    *found = Err(why);
                    self.generation += 1;
                }
                (Ok(_), Err(_)) => {}
            }
        }
    }
}

fn decode(picture: &pictures::Picture) -> Result<ColorImage, String> {
    let format = match picture.format {
        PictureFormat::Png => ImageFormat::Png,
        PictureFormat::Jpeg => ImageFormat::Jpeg,
    };
    let mut reader = ImageReader::with_format(Cursor::new(picture.read()?), format);
    // The file may have changed since its size was read.
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(SIDE_MAX), Some(SIDE_MAX));
    reader.limits(limits);
    let pixels = reader.decode().map_err(|error| format!("damaged: {error}"))?.into_rgba8();
    let size = [pixels.width() as usize, pixels.height() as usize];
    Ok(ColorImage::from_rgba_unmultiplied(size, &pixels))
}
