//! The colours of a moving picture: one table for all of its frames, by median cut.

use std::cmp::Reverse;

use image::RgbImage;

/// Colours of the table; one more index is left for what is transparent.
const MOST: usize = 255;
/// Bits of a channel that tell colours apart.
const BITS: u32 = 6;
const DROPPED: u32 = u8::BITS - BITS;

type Color = [u8; 3];

/// Pixels of one cell of the colour cube.
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

/// The colours, and the nearest of them for each cell that was asked for.
pub struct ColorTable {
    colors: Vec<Color>,
    nearest: Vec<Option<u8>>,
}

impl ColorTable {
    /// The index of what is transparent.
    pub const CLEAR: u8 = 0;

    /// The colours that the pixels of these pictures are nearest to.
    pub fn of(pictures: &[RgbImage]) -> Self {
        let mut cells = vec![Cell::default(); 1 << (3 * BITS)];
        for pixel in pictures.iter().flat_map(RgbImage::pixels) {
            cells[cell(pixel.0)].add(pixel.0);
        }
        cells.retain(|cell| cell.count > 0);
        Self { colors: cut(cells), nearest: vec![None; 1 << (3 * BITS)] }
    }

    /// The table as files have it: at [`ColorTable::CLEAR`] stands a colour that is never seen.
    pub fn bytes(&self) -> Vec<u8> {
        [Color::default()].iter().chain(&self.colors).flatten().copied().collect()
    }

    /// The index of the nearest colour for each pixel.
    pub fn indices(&mut self, picture: &RgbImage) -> Vec<u8> {
        picture.pixels().map(|pixel| self.index(pixel.0)).collect()
    }

    fn index(&mut self, color: Color) -> u8 {
        let colors = &self.colors;
        *self.nearest[cell(color)].get_or_insert_with(|| {
            let middle = color.map(|channel| (channel >> DROPPED << DROPPED) | (1 << (DROPPED - 1)));
            let nearest = (0..colors.len()).min_by_key(|i| distance(colors[*i], middle));
            // The table has at most `MOST` colours, and the first index is another's.
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

/// Cells that become one colour.
struct Group {
    cells: Vec<Cell>,
    /// The channel in which they differ most, and how much that is worth.
    widest: usize,
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
        // A few pixels of a colour of their own are seen, too: words and points are small on a wide ground.
        let worth = range(widest).pow(2) * count.isqrt();
        Self { cells, widest, worth }
    }

    /// Two halves, of about as many pixels each. The group has two cells at least.
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
        // A mean of bytes is a byte.
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
    use image::Rgb;

    use super::*;

    #[test]
    fn a_picture_of_few_colours_keeps_them() {
        let colors = [[250, 250, 250], [20, 20, 24], [199, 95, 14], [31, 111, 196]];
        // One pixel in a thousand has a colour that is not the ground's.
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
