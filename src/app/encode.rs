//! Encoders of animations as GIF or APNG, which share one colour table, made by median cut, and store only the changed
//! part of each frame; and of still pictures as PNG with such a table.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt::Display;

use image::RgbImage;

/// A file format of animations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Gif,
    Apng,
}

/// A writer of frames, one after another. The animation loops forever.
pub struct Encoder<'a> {
    colors: ColorTable,
    size: (u32, u32),
    /// The colour indices of the previous frame, one per pixel; `None` before the first frame.
    shown: Option<Vec<u8>>,
    file: File<'a>,
}

enum File<'a> {
    Gif(gif::Encoder<&'a mut Vec<u8>>),
    Apng(Box<png::Writer<&'a mut Vec<u8>>>),
}

/// The part of a frame that is drawn over the previous one. Unchanged pixels are transparent.
struct Patch {
    at: (u32, u32),
    size: (u32, u32),
    indices: Vec<u8>,
}

fn words(why: impl Display) -> String {
    why.to_string()
}

impl<'a> Encoder<'a> {
    /// Begins a file with this number of frames.
    ///
    /// # Errors
    /// If the format does not allow a file of this size; described in words.
    pub fn begin(
        out: &'a mut Vec<u8>,
        form: Form,
        size: (u32, u32),
        frames: usize,
        colors: ColorTable,
    ) -> Result<Self, String> {
        let file = match form {
            Form::Gif => File::Gif(begin_gif(out, size, &colors)?),
            Form::Apng => File::Apng(Box::new(begin_apng(out, size, frames, &colors)?)),
        };
        Ok(Self { colors, size, shown: None, file })
    }

    /// Adds a frame with its duration in hundredths of a second.
    ///
    /// # Errors
    /// If the picture's size is not that of the file, or an APNG has all its frames already; described in words.
    pub fn add(&mut self, picture: &RgbImage, hundredths: u16) -> Result<(), String> {
        if picture.dimensions() != self.size {
            return Err(format!("a frame has {:?} pixels instead of {:?}", picture.dimensions(), self.size));
        }
        let now = self.colors.indices(picture);
        let patch = Patch::between(self.shown.as_deref(), &now, self.size);
        self.shown = Some(now);
        match &mut self.file {
            File::Gif(file) => add_to_gif(file, patch, hundredths),
            File::Apng(file) => add_to_apng(file, &patch, hundredths),
        }
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If frames of an APNG are missing; described in words.
    pub fn end(self) -> Result<(), String> {
        match self.file {
            File::Gif(file) => file.into_inner().map(|_| ()).map_err(words),
            File::Apng(file) => file.finish().map_err(words),
        }
    }
}

impl Patch {
    fn between(before: Option<&[u8]>, now: &[u8], (width, height): (u32, u32)) -> Self {
        let Some(before) = before else {
            return Self { at: (0, 0), size: (width, height), indices: now.to_vec() };
        };
        let wide = width as usize;
        let has_changed = |i: usize| before[i] != now[i];
        let (mut left, mut right, mut top, mut bottom) = (wide, 0, usize::MAX, 0);
        for i in (0..now.len()).filter(|i| has_changed(*i)) {
            let (x, y) = (i % wide, i / wide);
            (left, right) = (left.min(x), right.max(x));
            (top, bottom) = (top.min(y), bottom.max(y));
        }
        // For an unchanged frame, a single pixel is written.
        let (left, top) = if left > right { (right, bottom) } else { (left, top) };
        let index = |i: usize| if has_changed(i) { now[i] } else { ColorTable::CLEAR };
        let row = |y: usize| (left..=right).map(move |x| y * wide + x);
        let indices = (top..=bottom).flat_map(row).map(index).collect();
        Self { at: (left as u32, top as u32), size: ((right - left + 1) as u32, (bottom - top + 1) as u32), indices }
    }
}

/// Converts a width, a height or an offset in pixels to 16 bits, the most that GIF allows.
fn short(pixels: u32) -> Result<u16, String> {
    u16::try_from(pixels).map_err(|_| format!("a GIF is at most {} pixels wide and high", u16::MAX))
}

fn begin_gif<'a>(
    out: &'a mut Vec<u8>,
    (width, height): (u32, u32),
    colors: &ColorTable,
) -> Result<gif::Encoder<&'a mut Vec<u8>>, String> {
    let mut file = gif::Encoder::new(out, short(width)?, short(height)?, &colors.bytes()).map_err(words)?;
    file.set_repeat(gif::Repeat::Infinite).map_err(words)?;
    Ok(file)
}

fn add_to_gif(file: &mut gif::Encoder<&mut Vec<u8>>, patch: Patch, hundredths: u16) -> Result<(), String> {
    let ((left, top), (width, height)) = (patch.at, patch.size);
    let frame = gif::Frame {
        delay: hundredths,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(ColorTable::CLEAR),
        left: short(left)?,
        top: short(top)?,
        width: short(width)?,
        height: short(height)?,
        buffer: Cow::Owned(patch.indices),
        ..gif::Frame::default()
    };
    file.write_frame(&frame).map_err(words)
}

/// Begins a PNG file with a colour table.
fn indexed<'a>(
    out: &'a mut Vec<u8>,
    (width, height): (u32, u32),
    colors: &ColorTable,
) -> png::Encoder<'a, &'a mut Vec<u8>> {
    /// The opacity of the first colour in the table, which is transparent; all others are opaque.
    const OPACITY: [u8; 1] = [0];
    let mut file = png::Encoder::new(out, width, height);
    file.set_color(png::ColorType::Indexed);
    file.set_depth(png::BitDepth::Eight);
    file.set_compression(png::Compression::High);
    // Filters compute differences, which are meaningless between indices.
    file.set_filter(png::Filter::NoFilter);
    file.set_palette(colors.bytes());
    file.set_trns(&OPACITY[..]);
    file
}

/// Writes a still picture as PNG with a colour table, which takes about a third of the space of a PNG with all its
/// colours.
///
/// # Errors
/// If the format does not allow a file of this size; described in words.
pub fn still(picture: &RgbImage) -> Result<Vec<u8>, String> {
    let mut colors = ColorTable::of(std::slice::from_ref(picture));
    let mut out = Vec::new();
    let mut file = indexed(&mut out, picture.dimensions(), &colors).write_header().map_err(words)?;
    file.write_image_data(&colors.indices(picture)).map_err(words)?;
    file.finish().map_err(words)?;
    Ok(out)
}

fn begin_apng<'a>(
    out: &'a mut Vec<u8>,
    size: (u32, u32),
    frames: usize,
    colors: &ColorTable,
) -> Result<png::Writer<&'a mut Vec<u8>>, String> {
    const FOR_EVER: u32 = 0;
    let mut file = indexed(out, size, colors);
    file.set_animated(u32::try_from(frames).map_err(words)?, FOR_EVER).map_err(words)?;
    file.set_blend_op(png::BlendOp::Over).map_err(words)?;
    file.write_header().map_err(words)
}

fn add_to_apng(file: &mut png::Writer<&mut Vec<u8>>, patch: &Patch, hundredths: u16) -> Result<(), String> {
    const OF_A_SECOND: u16 = 100;
    let ((left, top), (width, height)) = (patch.at, patch.size);
    file.reset_frame_position().map_err(words)?;
    file.set_frame_dimension(width, height).map_err(words)?;
    file.set_frame_position(left, top).map_err(words)?;
    file.set_frame_delay(hundredths, OF_A_SECOND).map_err(words)?;
    file.write_image_data(&patch.indices).map_err(words)
}

/// The largest number of colours; one more index is reserved for transparent pixels.
const MOST: usize = 255;
/// The number of high bits of each channel that select a cell of the colour cube.
const BITS: u32 = 6;
const DROPPED: u32 = u8::BITS - BITS;

type Color = [u8; 3];

/// The number of pixels in a cell of the colour cube, and the sum of their colours.
#[derive(Clone, Copy, Default)]
struct Cell {
    count: u64,
    sum: [u64; 3],
}

impl Cell {
    fn add(&mut self, color: Color) {
        self.count += 1;
        self.sum.iter_mut().zip(color).for_each(|(sum, channel)| *sum += u64::from(channel));
    }

    fn mean(&self, channel: usize) -> u64 {
        self.sum[channel] / self.count.max(1)
    }
}

/// A colour table, with a cache of the nearest colour for each cell.
pub struct ColorTable {
    colors: Vec<Color>,
    nearest: Vec<Option<u8>>,
}

impl ColorTable {
    /// The index of transparent pixels.
    pub const CLEAR: u8 = 0;

    /// Computes at most `MOST` colours that represent the pixels of these pictures, by median cut.
    pub fn of(pictures: &[RgbImage]) -> Self {
        let mut cells = vec![Cell::default(); 1 << (3 * BITS)];
        for pixel in pictures.iter().flat_map(RgbImage::pixels) {
            cells[cell(pixel.0)].add(pixel.0);
        }
        cells.retain(|cell| cell.count > 0);
        Self { colors: cut(cells), nearest: vec![None; 1 << (3 * BITS)] }
    }

    /// Returns the table as stored in a file. The entry at [`ColorTable::CLEAR`] is never visible.
    pub fn bytes(&self) -> Vec<u8> {
        [Color::default()].iter().chain(&self.colors).flatten().copied().collect()
    }

    /// Returns the index of the nearest colour for each pixel.
    pub fn indices(&mut self, picture: &RgbImage) -> Vec<u8> {
        picture.pixels().map(|pixel| self.index(pixel.0)).collect()
    }

    fn index(&mut self, color: Color) -> u8 {
        let colors = &self.colors;
        *self.nearest[cell(color)].get_or_insert_with(|| {
            let middle = color.map(|channel| (channel >> DROPPED << DROPPED) | (1 << (DROPPED - 1)));
            let nearest = (0..colors.len()).min_by_key(|i| distance(colors[*i], middle));
            // The table has at most `MOST` colours, and index 0 is reserved.
            nearest.map_or(Self::CLEAR, |i| (i + 1) as u8)
        })
    }
}

fn cell(color: Color) -> usize {
    color.iter().fold(0, |index, channel| (index << BITS) | usize::from(channel >> DROPPED))
}

fn distance(a: Color, b: Color) -> u32 {
    a.into_iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

/// Cells that are represented by one colour.
struct Group {
    cells: Vec<Cell>,
    /// The channel in which the cells differ most: 0 for red, 1 for green, 2 for blue.
    widest: usize,
    /// The benefit of splitting the group in this channel; the group with the largest benefit is split first.
    worth: u64,
}

impl Group {
    fn of(cells: Vec<Cell>) -> Self {
        let range = |channel: usize| {
            let means = || cells.iter().map(move |cell| cell.mean(channel));
            means().max().unwrap_or(0) - means().min().unwrap_or(0)
        };
        let widest = (0..3).max_by_key(|channel| (range(*channel), Reverse(*channel))).unwrap_or(0);
        let count: u64 = cells.iter().map(|cell| cell.count).sum();
        // The square root keeps small groups of distinct colours, because words and points are small on a large
        // background.
        let worth = range(widest).pow(2) * count.isqrt();
        Self { cells, widest, worth }
    }

    /// Splits the group at the median pixel of its widest channel. It must have at least two cells.
    fn halves(mut self) -> [Self; 2] {
        let channel = self.widest;
        self.cells.sort_by_key(|cell| cell.mean(channel));
        let half = self.cells.iter().map(|cell| cell.count).sum::<u64>() / 2;
        let mut before = 0;
        let middle = self.cells.iter().position(|cell| {
            before += cell.count;
            before > half
        });
        let second = self.cells.split_off(middle.unwrap_or(0).clamp(1, self.cells.len() - 1));
        [Self::of(self.cells), Self::of(second)]
    }

    fn color(&self) -> Color {
        let mut all = Cell::default();
        for cell in &self.cells {
            all.count += cell.count;
            all.sum.iter_mut().zip(cell.sum).for_each(|(sum, more)| *sum += more);
        }
        // The mean of bytes is in the range of a byte.
        [0, 1, 2].map(|channel| all.mean(channel) as u8)
    }
}

fn cut(cells: Vec<Cell>) -> Vec<Color> {
    let mut groups = vec![Group::of(cells)];
    while groups.len() < MOST {
        let dividable = (0..groups.len()).filter(|i| groups[*i].cells.len() > 1);
        let Some(widest) = dividable.max_by_key(|i| groups[*i].worth) else { break };
        let halves = groups.swap_remove(widest).halves();
        groups.extend(halves);
    }
    groups.iter().map(Group::color).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::Rgb;

    use super::*;

    const SIZE: (u32, u32) = (40, 30);
    const GROUND: Rgb<u8> = Rgb([250, 250, 250]);
    const POINT: Rgb<u8> = Rgb([199, 95, 14]);
    const DELAYS: [u16; 5] = [90, 7, 7, 7, 150];

    /// Returns pictures of a point that moves, rests, and moves on.
    fn pictures() -> Vec<RgbImage> {
        let at =
            |place: u32| RgbImage::from_fn(SIZE.0, SIZE.1, |x, y| if (x, y) == (place, 9) { POINT } else { GROUND });
        [3, 8, 8, 20, 3].map(at).to_vec()
    }

    /// Encodes a picture like those of a page: words and points on a glow.
    #[test]
    fn a_still_picture_keeps_its_colours_and_takes_less() {
        // A difference in a channel, in levels, that the eye does not see.
        const APART: u8 = 6;
        let glow = |x: u32, y: u32| {
            250 - (60.0 * (-((x as f32 - 60.0).powi(2) + (y as f32 - 40.0).powi(2)) / 900.0).exp()) as u8
        };
        let picture = RgbImage::from_fn(120, 80, |x, y| match (x, y) {
            (20..24, 20..60) => image::Rgb([20, 20, 20]),
            (90..96, 60..66) => image::Rgb([170, 60, 0]),
            _ => image::Rgb([glow(x, y), glow(x, y), 252]),
        });
        let bytes = still(&picture).expect("a file");
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("a PNG file");
        let mut indices = vec![0; 120 * 80];
        reader.next_frame(&mut indices).expect("a frame");
        let table = reader.info().palette.clone().expect("a colour table");
        for (index, pixel) in indices.iter().zip(picture.pixels()) {
            let color = &table[3 * usize::from(*index)..][..3];
            let apart = color.iter().zip(pixel.0).map(|(one, other)| one.abs_diff(other)).max();
            assert!(apart.is_some_and(|apart| apart <= APART), "{color:?} instead of {pixel:?}");
        }
        assert!(bytes.len() < 120 * 80, "{} bytes", bytes.len());
    }

    fn encoded(form: Form) -> Vec<u8> {
        let (pictures, mut out) = (pictures(), Vec::new());
        let colors = ColorTable::of(&pictures);
        let mut encoder = Encoder::begin(&mut out, form, SIZE, pictures.len(), colors).expect("a file");
        for (picture, delay) in pictures.iter().zip(DELAYS) {
            encoder.add(picture, delay).expect("a frame");
        }
        encoder.end().expect("all frames");
        out
    }

    #[test]
    fn a_gif_keeps_its_frames_their_size_and_their_time() {
        let bytes = encoded(Form::Gif);
        let mut reader = gif::Decoder::new(Cursor::new(&bytes)).expect("a GIF");
        assert_eq!((u32::from(reader.width()), u32::from(reader.height())), SIZE);
        let table = reader.global_palette().expect("one table").to_vec();
        let mut screen = vec![[0; 3]; (SIZE.0 * SIZE.1) as usize];
        let mut frames = 0;
        while let Some(frame) = reader.read_next_frame().expect("a frame") {
            assert!(frame.palette.is_none(), "no table of its own");
            assert_eq!(frame.delay, DELAYS[frames]);
            for (i, index) in frame.buffer.iter().enumerate().filter(|(_, index)| Some(**index) != frame.transparent) {
                let (x, y) = (i % usize::from(frame.width), i / usize::from(frame.width));
                let place = (y + usize::from(frame.top)) * SIZE.0 as usize + x + usize::from(frame.left);
                screen[place].copy_from_slice(&table[3 * usize::from(*index)..][..3]);
            }
            let picture = &pictures()[frames];
            assert!(picture.pixels().zip(&screen).all(|(pixel, shown)| pixel.0 == *shown), "frame {frames}");
            frames += 1;
        }
        assert_eq!((frames, reader.repeat()), (DELAYS.len(), gif::Repeat::Infinite));
    }

    #[test]
    fn an_apng_keeps_its_frames_and_their_size() {
        let bytes = encoded(Form::Apng);
        let mut reader = png::Decoder::new(Cursor::new(&bytes)).read_info().expect("a PNG");
        assert_eq!(reader.info().size(), SIZE);
        let all = reader.info().animation_control.expect("it moves");
        assert_eq!((all.num_frames as usize, all.num_plays), (DELAYS.len(), 0));
        let mut pixels = vec![0; reader.output_buffer_size().expect("it fits")];
        for delay in DELAYS {
            reader.next_frame(&mut pixels).expect("a frame");
            let control = reader.info().frame_control.expect("of a frame");
            assert_eq!((control.delay_num, control.delay_den), (delay, 100));
        }
        assert!(reader.next_frame(&mut pixels).is_err(), "there is no other");
    }

    #[test]
    fn only_what_has_changed_is_written() {
        let (before, now) = ([1, 1, 1, 1, 1, 1], [1, 2, 1, 1, 1, 3]);
        let patch = Patch::between(Some(&before), &now, (3, 2));
        assert_eq!((patch.at, patch.size, &*patch.indices), ((1, 0), (2, 2), &[2, 0, 0, 3][..]));
        let same = Patch::between(Some(&before), &before, (3, 2));
        assert_eq!((same.size, &*same.indices), ((1, 1), &[ColorTable::CLEAR][..]));
    }

    #[test]
    fn a_frame_of_another_size_is_an_error() {
        let mut out = Vec::new();
        let mut encoder = Encoder::begin(&mut out, Form::Gif, SIZE, 1, ColorTable::of(&[])).expect("a file");
        assert!(encoder.add(&RgbImage::new(1, 1), 7).is_err());
    }
}

#[cfg(test)]
mod colors_tests {
    use image::Rgb;

    use super::*;

    #[test]
    fn a_picture_of_few_colours_keeps_them() {
        let colors = [[250, 250, 250], [20, 20, 24], [199, 95, 14], [31, 111, 196]];
        // Each colour other than the background has only one pixel in four hundred.
        let picture = RgbImage::from_fn(100, 100, |x, y| Rgb(colors[if x == 0 { (y % 4) as usize } else { 0 }]));
        let mut table = ColorTable::of(std::slice::from_ref(&picture));
        let bytes = table.bytes();
        for (pixel, index) in picture.pixels().zip(table.indices(&picture)) {
            let at = 3 * usize::from(index);
            assert_eq!(bytes[at..at + 3], pixel.0);
        }
    }

    #[test]
    fn any_picture_has_at_most_the_colours_of_a_table() {
        let picture = RgbImage::from_fn(256, 256, |x, y| Rgb([x as u8, y as u8, (x ^ y) as u8]));
        let mut table = ColorTable::of(std::slice::from_ref(&picture));
        assert_eq!(table.bytes().len(), 3 * (MOST + 1));
        let indices = table.indices(&picture);
        assert!(!indices.contains(&ColorTable::CLEAR), "nothing of it is transparent");
        let bytes = table.bytes();
        let off = |(pixel, index): (&Rgb<u8>, &u8)| {
            let at = 3 * usize::from(*index);
            distance(pixel.0, [bytes[at], bytes[at + 1], bytes[at + 2]])
        };
        let worst = picture.pixels().zip(&indices).map(off).max();
        assert!(worst < Some(50 * 50), "{worst:?}");
    }
}
