//! A picture's alpha channel, recovered from two renders: on black and on white.
//!
//! A pixel of colour `c` that covers a share `a` shows `a c` on black and `a c + 1 − a` on white, in linear light.
//! So `a` is one less their difference, and `c` what is on black divided by `a`. Whatever draws the picture has to
//! know nothing of it.

use egui::ecolor::{gamma_u8_from_linear_f32, linear_f32_from_gamma_u8};
use image::{Rgb, RgbImage, Rgba, RgbaImage};

/// Both pictures have one size. Colours are not multiplied by their opacity, as PNG has them.
pub fn recover(black: &RgbImage, white: &RgbImage) -> RgbaImage {
    RgbaImage::from_fn(black.width(), black.height(), |x, y| pixel(*black.get_pixel(x, y), *white.get_pixel(x, y)))
}

fn pixel(black: Rgb<u8>, white: Rgb<u8>) -> Rgba<u8> {
    const ALL: u8 = u8::MAX;
    let Rgb([red, green, blue]) = black;
    if black == white {
        return Rgba([red, green, blue, ALL]);
    }
    let on_black = black.0.map(linear_f32_from_gamma_u8);
    let on_white = white.0.map(linear_f32_from_gamma_u8);
    let difference: f32 = on_white.iter().zip(on_black).map(|(white, black)| white - black).sum();
    let share = (1.0 - difference / on_black.len() as f32).clamp(0.0, 1.0);
    let alpha = (share * f32::from(ALL)).round() as u8;
    if alpha == 0 {
        return Rgba([0; 4]);
    }
    let [red, green, blue] = on_black.map(|channel| gamma_u8_from_linear_f32((channel / share).min(1.0)));
    Rgba([red, green, blue, alpha])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a ground of one grey, as the graphics card mixes them.
    fn on(color: [u8; 3], share: f32, ground: u8) -> Rgb<u8> {
        let ground = linear_f32_from_gamma_u8(ground);
        Rgb(color.map(|c| gamma_u8_from_linear_f32(linear_f32_from_gamma_u8(c) * share + ground * (1.0 - share))))
    }

    #[test]
    fn a_pixel_has_the_colour_and_the_share_that_it_was_drawn_with() {
        for color in [[199, 95, 14], [31, 111, 196], [255, 255, 255], [0, 0, 0]] {
            for share in [0.25, 0.5, 0.9, 1.0] {
                let Rgba([red, green, blue, alpha]) = pixel(on(color, share, 0), on(color, share, 255));
                assert!((f32::from(alpha) / 255.0 - share).abs() < 0.01, "{color:?} at {share}: {alpha}");
                let off = [red, green, blue].into_iter().zip(color).map(|(a, b)| a.abs_diff(b)).max();
                assert!(off <= Some(3), "{color:?} at {share}: {red} {green} {blue}");
            }
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(pixel(Rgb([0; 3]), Rgb([255; 3])), Rgba([0; 4]));
    }
}
