//! The pictures of a lesson: files of its own folder and of nowhere else, decoded beside the window.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use egui::{ColorImage, Context, TextureHandle, TextureId, TextureOptions, Vec2, vec2};
use image::{ImageFormat, ImageReader, Limits};

/// The largest file.
pub const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The longest side, in pixels.
pub const SIDE_MAX: u32 = 4096;
/// Pixels of all pictures of a lesson together: 128 MiB.
pub const PIXELS_MAX: u64 = 32 * 1024 * 1024;
/// Different paths that are looked at; the rest is refused unseen.
pub const FILES_MAX: usize = 256;

/// Finds, checks and keeps them. A place is known at once, the pixels come when they are decoded.
#[derive(Default)]
pub struct Images {
    folder: Option<PathBuf>,
    found: HashMap<String, Result<Picture, String>>,
    pixels: u64,
    generation: u64,
    /// What other threads decoded since the last look.
    decoded: Arc<Mutex<Vec<Decoded>>>,
}

/// Path, generation and pixels.
type Decoded = (String, u64, Result<ColorImage, String>);

struct Picture {
    file: PathBuf,
    format: ImageFormat,
    size: Vec2,
    state: State,
}

enum State {
    Known,
    Decoding,
    Shown(TextureHandle),
}

impl Images {
    /// Pictures of this lesson from now on.
    pub fn open(&mut self, lesson: &Path) {
        let folder = lesson.parent().filter(|folder| !folder.as_os_str().is_empty());
        self.folder = Some(folder.unwrap_or(Path::new(".")).to_owned());
        self.look_again();
    }

    /// Files may have changed: each is looked at anew when it is next shown.
    pub fn look_again(&mut self) {
        self.found.clear();
        self.pixels = 0;
        self.generation += 1;
    }

    /// Changes when a size may have changed.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Its size in pixels, or why it is not shown.
    pub fn size(&mut self, path: &str) -> Result<Vec2, String> {
        if !self.found.contains_key(path) {
            let found = self.find(path);
            self.found.insert(path.to_owned(), found);
        }
        match self.found.get(path) {
            Some(Ok(picture)) => Ok(picture.size),
            Some(Err(why)) => Err(why.clone()),
            None => Err(String::new()),
        }
    }

    fn find(&mut self, path: &str) -> Result<Picture, String> {
        if self.found.len() >= FILES_MAX {
            return Err(format!("a lesson shows {FILES_MAX} pictures at most"));
        }
        let file = resolve(self.folder.as_deref(), path)?;
        let (format, width, height) = measure(&file)?;
        let pixels = u64::from(width) * u64::from(height);
        if self.pixels + pixels > PIXELS_MAX {
            return Err("the lesson's pictures are too large together".to_owned());
        }
        self.pixels += pixels;
        Ok(Picture { file, format, size: vec2(width as f32, height as f32), state: State::Known })
    }

    /// Its pixels, as soon as they are there.
    pub fn texture(&mut self, ctx: &Context, path: &str) -> Option<TextureId> {
        self.receive(ctx);
        let generation = self.generation;
        let picture = self.found.get_mut(path)?.as_mut().ok()?;
        match &picture.state {
            State::Shown(texture) => return Some(texture.id()),
            State::Decoding => {}
            State::Known => {
                picture.state = State::Decoding;
                let (file, format, decoded) = (picture.file.clone(), picture.format, self.decoded.clone());
                let (path, ctx) = (path.to_owned(), ctx.clone());
                std::thread::spawn(move || {
                    let pixels = decode(&file, format);
                    // A list of finished pictures is whole whatever panicked beside it.
                    decoded.lock().unwrap_or_else(PoisonError::into_inner).push((path, generation, pixels));
                    ctx.request_repaint();
                });
            }
        }
        None
    }

    fn receive(&mut self, ctx: &Context) {
        let decoded = std::mem::take(&mut *self.decoded.lock().unwrap_or_else(PoisonError::into_inner));
        for (path, generation, pixels) in decoded {
            if generation != self.generation {
                continue;
            }
            let Some(found) = self.found.get_mut(&path) else { continue };
            match (pixels, found) {
                (Ok(pixels), Ok(picture)) => {
                    picture.state = State::Shown(ctx.load_texture(&path, pixels, TextureOptions::LINEAR));
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

/// The file that `path` means, if it lies within `folder` with every link followed.
pub fn resolve(folder: Option<&Path>, path: &str) -> Result<PathBuf, String> {
    let folder = folder.ok_or("this lesson has no folder")?;
    if path.contains("://") || path.starts_with("data:") {
        return Err("pictures come from the lesson's folder, not from the network".to_owned());
    }
    let outside = || "outside the lesson's folder".to_owned();
    let plain = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || path.contains(['\\', '\0']) || !Path::new(path).components().all(plain) {
        return Err(outside());
    }
    let folder = folder.canonicalize().map_err(|error| words(&error))?;
    let file = folder.join(path).canonicalize().map_err(|error| words(&error))?;
    if file.starts_with(&folder) { Ok(file) } else { Err(outside()) }
}

fn words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file in the lesson's folder".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Its format and size, from its first bytes.
fn measure(file: &Path) -> Result<(ImageFormat, u32, u32), String> {
    let about = file.metadata().map_err(|error| words(&error))?;
    if !about.is_file() {
        return Err("this is not a file".to_owned());
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(format!("larger than {} MiB", FILE_BYTES_MAX >> 20));
    }
    let reader = BufReader::new(File::open(file).map_err(|error| words(&error))?);
    let reader = ImageReader::new(reader).with_guessed_format().map_err(|error| words(&error))?;
    let format = reader.format().filter(|format| matches!(format, ImageFormat::Png | ImageFormat::Jpeg));
    let format = format.ok_or("neither PNG nor JPEG")?;
    let (width, height) = reader.into_dimensions().map_err(|error| format!("damaged: {error}"))?;
    if width > SIDE_MAX || height > SIDE_MAX || width == 0 || height == 0 {
        return Err(format!("{width}×{height} pixels: {SIDE_MAX} a side at most"));
    }
    Ok((format, width, height))
}

fn decode(file: &Path, format: ImageFormat) -> Result<ColorImage, String> {
    let mut bytes = Vec::new();
    // The file may have grown since it was measured.
    let file = File::open(file).map_err(|error| words(&error))?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| words(&error))?;
    let mut reader = ImageReader::with_format(std::io::Cursor::new(bytes), format);
    let mut limits = Limits::default();
    (limits.max_image_width, limits.max_image_height) = (Some(SIDE_MAX), Some(SIDE_MAX));
    reader.limits(limits);
    let pixels = reader.decode().map_err(|error| format!("damaged: {error}"))?.into_rgba8();
    let size = [pixels.width() as usize, pixels.height() as usize];
    Ok(ColorImage::from_rgba_unmultiplied(size, &pixels))
}
