//! The fonts of the program, which are compiled in, so that a lesson looks the same everywhere and has glyphs for ᵀ, ℝ
//! and ∇.

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{Context, FontData, FontDefinitions, FontFamily, FontId, TextFormat};

use crate::theme::{self, size};

const BODY: &str = "Inter";
const ITALIC: &str = "Inter Italic";
const STRONG: &str = "Inter SemiBold";
const NUMBERS: &str = "JetBrains Mono";
/// The font of symbols that the other fonts lack: ᵀ ℝ ∈ ∇ ⊙ ⟨ ⟩
const SYMBOLS: &str = "DejaVu Sans";

/// KaTeX's fonts, by the names that the formula layout uses for them.
const MATHS: [(&str, &[u8]); 19] = [
    ("AMS-Regular", include_bytes!("../../../../assets/fonts/katex/AMS-Regular.ttf")),
    ("Caligraphic-Regular", include_bytes!("../../../../assets/fonts/katex/Caligraphic-Regular.ttf")),
    ("Fraktur-Bold", include_bytes!("../../../../assets/fonts/katex/Fraktur-Bold.ttf")),
    ("Fraktur-Regular", include_bytes!("../../../../assets/fonts/katex/Fraktur-Regular.ttf")),
    ("Main-Bold", include_bytes!("../../../../assets/fonts/katex/Main-Bold.ttf")),
    ("Main-BoldItalic", include_bytes!("../../../../assets/fonts/katex/Main-BoldItalic.ttf")),
    ("Main-Italic", include_bytes!("../../../../assets/fonts/katex/Main-Italic.ttf")),
    ("Main-Regular", include_bytes!("../../../../assets/fonts/katex/Main-Regular.ttf")),
    ("Math-BoldItalic", include_bytes!("../../../../assets/fonts/katex/Math-BoldItalic.ttf")),
    ("Math-Italic", include_bytes!("../../../../assets/fonts/katex/Math-Italic.ttf")),
    ("SansSerif-Bold", include_bytes!("../../../../assets/fonts/katex/SansSerif-Bold.ttf")),
    ("SansSerif-Italic", include_bytes!("../../../../assets/fonts/katex/SansSerif-Italic.ttf")),
    ("SansSerif-Regular", include_bytes!("../../../../assets/fonts/katex/SansSerif-Regular.ttf")),
    ("Script-Regular", include_bytes!("../../../../assets/fonts/katex/Script-Regular.ttf")),
    ("Size1-Regular", include_bytes!("../../../../assets/fonts/katex/Size1-Regular.ttf")),
    ("Size2-Regular", include_bytes!("../../../../assets/fonts/katex/Size2-Regular.ttf")),
    ("Size3-Regular", include_bytes!("../../../../assets/fonts/katex/Size3-Regular.ttf")),
    ("Size4-Regular", include_bytes!("../../../../assets/fonts/katex/Size4-Regular.ttf")),
    ("Typewriter-Regular", include_bytes!("../../../../assets/fonts/katex/Typewriter-Regular.ttf")),
];

/// Returns the font of a glyph in a formula. Glyphs that KaTeX has no font for, such as CJK, are drawn in the text
/// font.
pub fn maths_family(name: &str) -> FontFamily {
    match MATHS.iter().find(|(known, _)| *known == name) {
        Some((known, _)) => FontFamily::Name((*known).into()),
        None => FontFamily::Proportional,
    }
}

pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let faces: [(&str, &'static [u8]); 5] = [
        (BODY, include_bytes!("../../../../assets/fonts/Inter-Regular.otf")),
        (ITALIC, include_bytes!("../../../../assets/fonts/Inter-Italic.ttf")),
        (STRONG, include_bytes!("../../../../assets/fonts/Inter-SemiBold.otf")),
        (NUMBERS, include_bytes!("../../../../assets/fonts/JetBrainsMono-Regular.ttf")),
        (SYMBOLS, include_bytes!("../../../../assets/fonts/DejaVuSans-Symbols.ttf")),
    ];
    for (name, bytes) in faces {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let families = [
        (FontFamily::Proportional, [BODY, SYMBOLS]),
        (FontFamily::Monospace, [NUMBERS, SYMBOLS]),
        (theme::strong_family(), [STRONG, SYMBOLS]),
        (theme::italic_family(), [ITALIC, SYMBOLS]),
    ];
    for (family, names) in families {
        fonts.families.insert(family, names.map(str::to_owned).to_vec());
    }
    for (name, bytes) in MATHS {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
        fonts.families.insert(maths_family(name), [name, BODY, SYMBOLS].map(str::to_owned).to_vec());
    }
    fonts
}

/// The letters that are drawn before a text needs them, in frames in which nothing moves. A frame that shows a new
/// letter takes longer, because the letter is hinted and drawn, and the texture of all letters is copied.
#[derive(Debug, Default)]
pub struct Letters {
    /// Number of alphabets that are drawn.
    drawn: usize,
    /// Pixels per point for which they are drawn.
    pixels_per_point: f32,
}

/// Letters and signs of nearly all texts.
const LETTERS: &str = "etaoinsrhldcumfpgwybvkxjqzETAOINSRHLDCUMFPGWYBVKXJQZ0123456789.,:;-()[]{}/|=+*<>!?%#&_@'\"\\$~^`“”’→·−…×₀₁₂₃₄₅₆₇₈₉";
/// Signs of numbers.
const DIGITS: &str = "0123456789.-−+%e";
/// Share of the texture up to which letters are drawn ahead.
const FILLED_MAX: f32 = 0.4;
/// egui draws each letter at four places within a pixel.
const PLACES: usize = 4;

impl Letters {
    /// Draws the letters of one font at one place within a pixel, and asks for a frame for the next ones.
    pub fn draw_ahead(&mut self, ctx: &Context) {
        let fonts = [
            (theme::plain(size::SMALL), LETTERS),
            (theme::plain(size::BODY), LETTERS),
            (theme::plain(size::LABEL), LETTERS),
            (theme::strong(size::BODY), LETTERS),
            (theme::strong(size::READING), LETTERS),
            (theme::strong(size::LABEL_STRONG), LETTERS),
            (theme::strong(size::HEADING), LETTERS),
            (theme::strong(size::LABEL), LETTERS),
            (theme::plain(size::LABEL_AXIS), LETTERS),
            (theme::mono(size::LABEL_AXIS), DIGITS),
            (theme::mono(size::SMALL), DIGITS),
            (theme::mono(size::MONO), LETTERS),
        ];
        if self.pixels_per_point != ctx.pixels_per_point() {
            *self = Self { drawn: 0, pixels_per_point: ctx.pixels_per_point() };
        }
        let Some((font, letters)) = fonts.get(self.drawn / PLACES) else { return };
        // egui drops all letters when their texture is nearly full, as it may be on a dense display.
        if ctx.fonts(|fonts| fonts.font_atlas_fill_ratio()) > FILLED_MAX {
            return;
        }
        let place = (self.drawn % PLACES) as f32 / PLACES as f32;
        draw(ctx, font, letters, place / self.pixels_per_point);
        self.drawn += 1;
        ctx.request_repaint();
    }
}

/// Draws each letter of a font this far to the right of a whole pixel.
fn draw(ctx: &Context, font: &FontId, letters: &str, right: f32) {
    let format = TextFormat::simple(font.clone(), theme::UNTINTED);
    ctx.fonts_mut(|fonts| {
        for letter in letters.chars() {
            let mut job = LayoutJob::default();
            job.append(letter.encode_utf8(&mut [0; 4]), right, format.clone());
            fonts.layout_job(job);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a text needs letters that are not drawn yet.
    fn needs_letters(ctx: &Context, text: &str) -> bool {
        ctx.fonts_mut(|fonts| fonts.layout_no_wrap(text.to_owned(), theme::plain(size::BODY), theme::UNTINTED));
        sends_letters(ctx)
    }

    /// Ends a frame, and returns whether letters were drawn in it.
    fn sends_letters(ctx: &Context) -> bool {
        let mut output = ctx.run_ui(egui::RawInput::default(), |_| {});
        let has_letters = !output.textures_delta.set.is_empty();
        output.textures_delta.clear();
        has_letters
    }

    #[test]
    fn a_text_needs_no_letters_that_are_drawn_ahead() {
        let ctx = Context::default();
        ctx.set_fonts(definitions());
        sends_letters(&ctx);
        let mut letters = Letters::default();
        for _ in 0..100 {
            letters.draw_ahead(&ctx);
        }
        sends_letters(&ctx);
        // Inter has other glyphs for some signs beside each other, such as an arrow after a letter.
        assert!(!needs_letters(&ctx, "every row of weights sums to one"));
        assert!(needs_letters(&ctx, "Ünïcode"), "other letters are drawn when they are needed");
    }

    /// Each of these symbols has a glyph of its own in every family, instead of the box for a missing glyph.
    #[test]
    fn faces_have_the_symbols_of_attention() {
        const SYMBOLS: &str = "ᵀℝₖ→∈∇⊙⟨⟩₁₂√Σα·×‖≈↶↷↺▶";
        const MISSING: char = '\u{e000}';
        let ctx = egui::Context::default();
        ctx.set_fonts(definitions());
        ctx.run_ui(egui::RawInput::default(), |_| {}).textures_delta.clear();
        let families =
            [FontFamily::Proportional, FontFamily::Monospace, theme::strong_family(), theme::italic_family()];
        for family in families {
            let id = egui::FontId::new(theme::size::BODY, family);
            let drawn = |symbol: char| {
                let color = theme::UNTINTED;
                let galley = ctx.fonts_mut(|fonts| fonts.layout_no_wrap(symbol.to_string(), id.clone(), color));
                galley.rows[0].glyphs[0].uv_rect
            };
            for symbol in SYMBOLS.chars() {
                assert_ne!(drawn(symbol), drawn(MISSING), "{symbol} is missing in {id:?}");
            }
        }
    }
}
