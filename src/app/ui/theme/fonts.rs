//! The fonts of the program, which are compiled in, so that a lesson looks the same everywhere and has glyphs for ᵀ, ℝ
//! and ∇.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

use crate::theme;

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

#[cfg(test)]
mod tests {
    use super::*;

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
