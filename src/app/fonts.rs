//! The faces of the app, compiled in, so that a lesson looks the same everywhere and ᵀ, ℝ and ∇ are there.

use std::sync::Arc;

use egui::{FontData, FontDefinitions, FontFamily};

use super::theme;

const BODY: &str = "Inter";
const STRONG: &str = "Inter SemiBold";
const NUMBERS: &str = "JetBrains Mono";
/// What the others lack: ᵀ ℝ ∈ ∇ ⊙ ⟨ ⟩
const SYMBOLS: &str = "DejaVu Sans";

pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let faces: [(&str, &'static [u8]); 4] = [
        (BODY, include_bytes!("../../assets/fonts/Inter-Regular.otf")),
        (STRONG, include_bytes!("../../assets/fonts/Inter-SemiBold.otf")),
        (NUMBERS, include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf")),
        (SYMBOLS, include_bytes!("../../assets/fonts/DejaVuSans-Symbols.ttf")),
    ];
    for (name, bytes) in faces {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let families = [
        (FontFamily::Proportional, [BODY, SYMBOLS]),
        (FontFamily::Monospace, [NUMBERS, SYMBOLS]),
        (theme::strong_family(), [STRONG, SYMBOLS]),
    ];
    for (family, names) in families {
        fonts.families.insert(family, names.map(str::to_owned).to_vec());
    }
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every symbol of the lessons has a glyph of its own in every family, not the box that stands for a missing one.
    #[test]
    fn faces_have_the_symbols_of_attention() {
        const SYMBOLS: &str = "ᵀℝₖ→∈∇⊙⟨⟩₁₂√Σα·×‖≈↶↷↺▶";
        const MISSING: char = '\u{e000}';
        let ctx = egui::Context::default();
        ctx.set_fonts(definitions());
        ctx.run_ui(egui::RawInput::default(), |_| {}).textures_delta.clear();
        let families = [FontFamily::Proportional, FontFamily::Monospace, theme::strong_family()];
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
