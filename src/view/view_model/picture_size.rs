//! Sizes of pictures, for the command line, the window and what somebody shared.

use std::ops::RangeInclusive;

/// Pixels of a side.
pub const SIDES: RangeInclusive<u32> = 1..=8192;
/// Pixels of a whole picture: some thirty bytes are held for each while it is drawn and read back.
pub const PIXELS_MAX: u32 = 20_000_000;

/// Whether a picture of this size can be drawn.
pub fn fits((width, height): (u32, u32)) -> bool {
    SIDES.contains(&width) && SIDES.contains(&height) && height <= highest(width)
}

/// The most pixels that a picture of this width is high.
pub fn highest(width: u32) -> u32 {
    (PIXELS_MAX / width.max(1)).clamp(*SIDES.start(), *SIDES.end())
}

/// The nearest size that can be drawn, as wide as it is.
pub fn nearest((width, height): (u32, u32)) -> (u32, u32) {
    let width = width.clamp(*SIDES.start(), *SIDES.end());
    (width, height.clamp(*SIDES.start(), highest(width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_size_fits() {
        for size in [(0, 0), (1, 9000), (8192, 8192), (6000, 4000), (u32::MAX, u32::MAX), (1280, 720)] {
            assert!(fits(nearest(size)), "{size:?}");
            assert_eq!(fits(size), nearest(size) == size, "{size:?}");
        }
        assert_eq!(nearest((8192, 8192)), (8192, 2441));
    }
}
