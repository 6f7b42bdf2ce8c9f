//! The two palettes, and the colours that follow from them.

use egui::Color32;

/// How light and ink meet in one theme.
#[derive(Debug, PartialEq)]
pub struct Palette {
    pub dark: bool,
    /// Behind everything.
    pub ground: Color32,
    /// Panels.
    pub surface: Color32,
    /// Cards, fields, the notebook's stage cells.
    pub raised: Color32,
    /// Hovered controls.
    pub lifted: Color32,
    /// The stage's background.
    pub stage: Color32,
    pub line: Color32,
    pub ink: Color32,
    pub ink_soft: Color32,
    pub ink_faint: Color32,
    pub accent: Color32,
    pub accent_soft: Color32,
    pub on_accent: Color32,
    pub warn: Color32,
    pub error: Color32,
    /// Words that belong to no group.
    pub word: Color32,
    pub grid: Color32,
    pub axis: Color32,
    pub shadow: Color32,
    pub negative: Color32,
    pub positive: Color32,
    pub groups: [Color32; GROUPS],
    pub tokens: [Color32; TOKENS],
    pub heads: [Color32; HEADS],
    pub code: CodeColors,
}

/// Inks of code, one per kind of word.
#[derive(Debug, PartialEq)]
pub struct CodeColors {
    pub keyword: Color32,
    pub number: Color32,
    pub text: Color32,
    pub comment: Color32,
    pub function: Color32,
    pub tensor: Color32,
    pub variable: Color32,
}

const GROUPS: usize = 8;
const TOKENS: usize = 7;
const HEADS: usize = 6;

const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

const WHITE: Color32 = hex(0xffffff);

pub static DARK: Palette = Palette {
    dark: true,
    ground: hex(0x161513),
    surface: hex(0x1d1c1a),
    raised: hex(0x272522),
    lifted: hex(0x33302c),
    stage: hex(0x141312),
    line: hex(0x33302b),
    ink: hex(0xe9e5de),
    ink_soft: hex(0xaea79d),
    ink_faint: hex(0x7d766c),
    accent: hex(0x8b9cff),
    accent_soft: hex(0x343a63),
    on_accent: hex(0x12131f),
    warn: hex(0xe6b455),
    error: hex(0xf2877b),
    word: hex(0x8f887e),
    grid: hex(0x26241f),
    axis: hex(0x4a463f),
    shadow: hex(0x0a0a09),
    negative: hex(0x4f9dea),
    positive: hex(0xf0883e),
    groups: [
        hex(0xf59a4a),
        hex(0x5fa8f5),
        hex(0x49c79a),
        hex(0xe879b9),
        hex(0xe3cf57),
        hex(0xb79cf7),
        hex(0x63cfe0),
        hex(0xf0746a),
    ],
    tokens: [hex(0xcf9bf2), hex(0x6fcfb4), hex(0xf08b98), hex(0xc3cf63), hex(0x9fb1de), hex(0xd9a77c), hex(0xd6cfc4)],
    heads: [hex(0x4cc5b4), hex(0xd99be8), hex(0xe9b44c), hex(0x7fb2ff), hex(0xf08a8a), hex(0x9fd36a)],
    code: CodeColors {
        keyword: hex(0xb79cf7),
        number: hex(0xe3c178),
        text: hex(0x93c98a),
        comment: hex(0x8f877b),
        function: hex(0x7fb2ff),
        tensor: hex(0xf3a569),
        variable: hex(0x6fcfd6),
    },
};

pub static LIGHT: Palette = Palette {
    dark: false,
    ground: hex(0xe7e2d9),
    surface: hex(0xfaf8f4),
    raised: hex(0xf0ede6),
    lifted: hex(0xe6e1d8),
    stage: hex(0xfdfcfa),
    line: hex(0xded9cf),
    ink: hex(0x25221e),
    ink_soft: hex(0x645d53),
    ink_faint: hex(0x8e867a),
    accent: hex(0x4453c9),
    accent_soft: hex(0xdde1fb),
    on_accent: hex(0xffffff),
    warn: hex(0x96620a),
    error: hex(0xb3352a),
    word: hex(0x8b8377),
    grid: hex(0xeae6dd),
    axis: hex(0xc6bfb2),
    shadow: hex(0xc9c2b4),
    negative: hex(0x1f6fc4),
    positive: hex(0xc85a0c),
    groups: [
        hex(0xc75f0e),
        hex(0x1f6fc4),
        hex(0x0f8a62),
        hex(0xb83d86),
        hex(0x8f7400),
        hex(0x6d4fc4),
        hex(0x0b8299),
        hex(0xc0392e),
    ],
    tokens: [hex(0x8233b4), hex(0x0c7a66), hex(0xb32d48), hex(0x687408), hex(0x49609c), hex(0x86521f), hex(0x575047)],
    heads: [hex(0x0b8575), hex(0x9a3fb0), hex(0xa86f00), hex(0x2f63c8), hex(0xb8423f), hex(0x4f8a15)],
    code: CodeColors {
        keyword: hex(0x6a3fb5),
        number: hex(0x855500),
        text: hex(0x2c6e2f),
        comment: hex(0x756d61),
        function: hex(0x2a5bbd),
        tensor: hex(0xa84608),
        variable: hex(0x086a78),
    },
};

impl Palette {
    pub fn of(dark: bool) -> &'static Palette {
        if dark { &DARK } else { &LIGHT }
    }

    pub fn group(&self, group: usize) -> Color32 {
        self.groups[group % GROUPS]
    }

    pub fn word_of(&self, group: Option<usize>) -> Color32 {
        group.map_or(self.word, |group| self.group(group))
    }

    /// A token keeps one colour in every panel: its group's, or a hue of its own by the first position of its word.
    pub fn token(&self, group: Option<usize>, first_position: usize) -> Color32 {
        group.map_or(self.tokens[first_position % TOKENS], |group| self.group(group))
    }

    pub fn head(&self, head: usize) -> Color32 {
        self.heads[head % HEADS]
    }

    /// A weight in [0, 1]: from the surface to the head's hue.
    pub fn weight(&self, head: usize, weight: f32) -> Color32 {
        /// Spreads the small weights, where the eye has to tell them apart; 0 and 1 stay.
        const SPREAD: f32 = 0.7;
        self.raised.lerp_to_gamma(self.head(head), weight.clamp(0.0, 1.0).powf(SPREAD))
    }

    /// A number in [-1, 1]: blue through the surface to orange.
    pub fn diverging(&self, x: f32) -> Color32 {
        let end = if x < 0.0 { self.negative } else { self.positive };
        self.raised.lerp_to_gamma(end, x.abs().clamp(0.0, 1.0))
    }

    /// Ink that can be read on `fill`: the one with more contrast, as WCAG counts it.
    pub fn ink_on(&self, fill: Color32) -> Color32 {
        const LUMA: [f32; 3] = [0.2126, 0.7152, 0.0722];
        const FLARE: f32 = 0.05;
        let luminance = |color: Color32| {
            let rgba = egui::Rgba::from(color);
            LUMA[0] * rgba.r() + LUMA[1] * rgba.g() + LUMA[2] * rgba.b() + FLARE
        };
        /// Thin dark letters on a middle tone read worse than their contrast says.
        const TOWARDS_LIGHT: f32 = 1.6;
        let (light, dark) = (WHITE, if self.dark { self.ground } else { self.ink });
        let fill = luminance(fill);
        if fill * fill > TOWARDS_LIGHT * luminance(light) * luminance(dark) { dark } else { light }
    }

    /// A colour that a formula chose, from its red, green and blue in [0, 1], kept apart from the ground.
    pub fn chosen(&self, rgb: [f32; 3]) -> Color32 {
        const TOWARDS_INK: f32 = 0.25;
        let [r, g, b] = rgb.map(|share| (share.clamp(0.0, 1.0) * f32::from(u8::MAX)).round() as u8);
        Color32::from_rgb(r, g, b).lerp_to_gamma(self.ink, TOWARDS_INK)
    }

    /// Ink of a word that is not highlighted, among many.
    pub fn quiet(&self, color: Color32) -> Color32 {
        const TOWARDS_GROUND: f32 = 0.45;
        color.lerp_to_gamma(self.stage, TOWARDS_GROUND)
    }

    /// `color` stepped back towards the stage.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        const TOWARDS_GROUND: f32 = 0.45;
        color.lerp_to_gamma(self.stage, TOWARDS_GROUND)
    }
}
