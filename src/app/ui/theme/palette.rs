//! The two palettes and the colours derived from them. A hue has the same meaning in every panel and on the stage:
//!
//! | meaning | colours |
//! |---|---|
//! | a group of the lesson | `groups`: orange, blue, yellow, pink, … in the lesson's order |
//! | a word of the sentence without a group | `ink`, the same in every sentence |
//! | any other word | `word`, a grey |
//! | a query, a key, a value | `query` pale gold, `key` teal, `value` magenta |
//! | a head | `heads`: pale blue, rose, olive, … by its place in its layer |
//! | a part of a move that comes from no head | `parts`: tints; `ink_soft` for `b_O`, `ink_faint` for the rest |
//! | the sign of a number | `negative` purple, `positive` green |
//! | what the learner has chosen, links, focus | `accent`, a violet |
//! | a caution, a fault | `warn`, `error` |
//!
//! The first three groups, the first two heads and the signs of numbers can be told apart without distinguishing red
//! from green (orange, blue and yellow after Okabe-Ito; purple and green as in ColorBrewer's PRGn). Further groups and
//! heads are also told apart by their names. Text has a contrast of at least [`TEXT_CONTRAST`], marks of
//! [`MARK_CONTRAST`], on every background on which they appear; a test computes the contrasts.

use attune_engine::numerics::contributions::BlockPart;
use attune_engine::quantity::Quantity;
use attune_view::sheet::grid::SPREAD;
use egui::{Color32, Ui};

/// The colours of one theme.
#[derive(Debug, PartialEq)]
pub struct Palette {
    pub dark: bool,
    /// The background of the window.
    pub ground: Color32,
    /// The background of panels.
    pub surface: Color32,
    /// The background of cards, fields, and the notebook's stage cells.
    pub raised: Color32,
    /// The background of hovered controls.
    pub lifted: Color32,
    /// The background of the stage.
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
    /// The colour of words without a group.
    pub word: Color32,
    pub grid: Color32,
    pub axis: Color32,
    pub shadow: Color32,
    pub negative: Color32,
    pub positive: Color32,
    /// The colour of queries, one of the three roles of a vector in attention.
    pub query: Color32,
    pub key: Color32,
    pub value: Color32,
    pub groups: [Color32; GROUPS],
    pub heads: [Color32; HEADS],
    /// The colours of the changes by a norm's scale, its shift, the feed-forward layer, and the shift of its norm.
    pub parts: [Color32; PARTS],
    /// The colour ramp for numbers, from the least to the greatest.
    pub ramp: [Color32; RAMP],
    pub code: CodeColors,
}

/// The colours of code, one for each kind of token.
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

/// The strength of the colours of everything that a step of a walk is not about.
pub const QUIET: f32 = 0.25;

/// Number of hues of groups.
pub const GROUPS: usize = 8;
const HEADS: usize = 6;
const PARTS: usize = 4;
const RAMP: usize = 5;

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
    ink_faint: hex(0x968f84),
    accent: hex(0x7c7fff),
    accent_soft: hex(0x343a63),
    on_accent: hex(0x12131f),
    warn: hex(0xe6b455),
    error: hex(0xf2877b),
    word: hex(0x8f887e),
    grid: hex(0x34312b),
    axis: hex(0x6a645a),
    shadow: hex(0x0a0a09),
    negative: hex(0xb08fe8),
    positive: hex(0x86bd4f),
    query: hex(0xffe08a),
    key: hex(0x4fd1c5),
    value: hex(0xc86bcf),
    groups: [
        hex(0xf59a4a),
        hex(0x5fa8f5),
        hex(0xe3cf57),
        hex(0xe879b9),
        hex(0x63cfe0),
        hex(0xf0746a),
        hex(0xb79cf7),
        hex(0x49c79a),
    ],
    heads: [hex(0xa2c0f6), hex(0xff758a), hex(0xc5d483), hex(0xbb97be), hex(0xcdb695), hex(0x8ca993)],
    parts: [hex(0xc5d0f0), hex(0xcbe6b8), hex(0xf4dcae), hex(0xf0c4de)],
    ramp: [hex(0x7468c4), hex(0x3f93c0), hex(0x35b779), hex(0x9bd93c), hex(0xfde725)],
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
    ink_soft: hex(0x5f584e),
    ink_faint: hex(0x6c6459),
    accent: hex(0x6532e0),
    accent_soft: hex(0xe2ddfb),
    on_accent: hex(0xffffff),
    warn: hex(0x855605),
    error: hex(0xab3026),
    word: hex(0x857d71),
    grid: hex(0xccc5b8),
    axis: hex(0x938b7e),
    shadow: hex(0xc9c2b4),
    negative: hex(0x7548b5),
    positive: hex(0x3f7210),
    query: hex(0x8a6530),
    key: hex(0x0c7268),
    value: hex(0xa61472),
    groups: [
        hex(0xa84d08),
        hex(0x1b66b8),
        hex(0x7a6300),
        hex(0xb03580),
        hex(0x0a7285),
        hex(0xb8352b),
        hex(0x6747bd),
        hex(0x0d7a57),
    ],
    heads: [hex(0x35597f), hex(0xc82057), hex(0x516f3e), hex(0x8f3e9a), hex(0x78481c), hex(0x415d43)],
    parts: [hex(0x34446e), hex(0x35512a), hex(0x6b4a12), hex(0x6c3459)],
    ramp: [hex(0x659a2a), hex(0x1f8583), hex(0x2f659e), hex(0x46327e), hex(0x300842)],
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

    /// Returns the palette of the theme in which `ui` draws.
    pub fn on(ui: &Ui) -> &'static Palette {
        Self::of(ui.visuals().dark_mode)
    }

    pub fn group(&self, group: usize) -> Color32 {
        self.groups[group % GROUPS]
    }

    pub fn word_of(&self, group: Option<usize>) -> Color32 {
        group.map_or(self.word, |group| self.group(group))
    }

    /// Returns the colour of a word of the sentence: that of its group, or else the ink. It is the same in every
    /// sentence and panel.
    pub fn token(&self, group: Option<usize>) -> Color32 {
        group.map_or(self.ink, |group| self.group(group))
    }

    /// Returns the hue of a head, given its index within its layer. It is the same in every layer.
    pub fn head(&self, own: usize) -> Color32 {
        self.heads[own % HEADS]
    }

    /// Returns the colour of the arrow for a contribution that comes from no head.
    pub fn part(&self, part: BlockPart) -> Color32 {
        match part {
            BlockPart::Bias => self.ink_soft,
            BlockPart::Rescaled => self.parts[0],
            BlockPart::Shift => self.parts[1],
            BlockPart::FeedForward => self.parts[2],
            BlockPart::LastShift => self.parts[3],
            BlockPart::Rest => self.ink_faint,
        }
    }

    /// Returns the colour of a stop on the time line, which depends on whether the walk has reached it.
    pub fn stop(&self, is_reached: bool) -> Color32 {
        if is_reached { self.accent } else { self.ink_faint }
    }

    /// Returns the opacity of a disabled control, such as a locked answer. Its text must stay readable. Because the
    /// blend is linear, dark letters on a light background fade more than light ones on a dark background.
    pub fn disabled_alpha(&self) -> f32 {
        if self.dark { 0.6 } else { 0.88 }
    }

    /// Returns the background for the picture of a completed lesson, in the hue of its chapter.
    pub fn tinted(&self, hue: Color32) -> Color32 {
        /// The strongest tint on which the names of groups keep their contrast.
        const TINT: f32 = 0.09;
        self.stage.lerp_to_gamma(hue, TINT)
    }

    /// Returns the colour of a tab's name, which depends on whether the tab is in front.
    pub fn tab(&self, is_front: bool) -> Color32 {
        if is_front { self.ink } else { self.ink_soft }
    }

    /// Returns the colour of a weight in [0, 1], from `raised` to the head's hue.
    pub fn weight(&self, own: usize, weight: f32) -> Color32 {
        self.raised.lerp_to_gamma(self.head(own), weight.clamp(0.0, 1.0).powf(SPREAD))
    }

    /// Returns the colour of a query's weight in [0, 1], from near `raised` to the hue of queries.
    pub fn weight_of_query(&self, weight: f32) -> Color32 {
        const FAINT: f32 = 0.25;
        self.raised.lerp_to_gamma(self.query, FAINT + (1.0 - FAINT) * weight.clamp(0.0, 1.0))
    }

    /// Returns the colour of a number in [0, 1]. A greater number differs more from the background in lightness, for
    /// every kind of colour vision.
    pub fn ramp(&self, share: f32) -> Color32 {
        let at = share.clamp(0.0, 1.0) * (RAMP - 1) as f32;
        let stop = (at as usize).min(RAMP - 2);
        self.ramp[stop].lerp_to_gamma(self.ramp[stop + 1], at - stop as f32)
    }

    /// Returns the colour of a number in [-1, 1]: purple for -1, `raised` for 0, green for 1.
    pub fn diverging(&self, x: f32) -> Color32 {
        let end = if x < 0.0 { self.negative } else { self.positive };
        self.raised.lerp_to_gamma(end, x.abs().clamp(0.0, 1.0))
    }

    /// Returns the light or dark ink that reads better on `fill`, by WCAG contrast.
    pub fn ink_on(&self, fill: Color32) -> Color32 {
        /// A factor in favour of light letters: thin dark letters on a middle tone read worse than their contrast says.
        const TOWARDS_LIGHT: f32 = 1.6;
        let (light, dark) = (WHITE, if self.dark { self.ground } else { self.ink });
        let fill = luminance(fill);
        if fill * fill > TOWARDS_LIGHT * luminance(light) * luminance(dark) { dark } else { light }
    }

    /// Adjusts a colour that a formula chose, given as red, green and blue in [0, 1], so that it differs from the
    /// background.
    pub fn chosen(&self, rgb: [f32; 3]) -> Color32 {
        const TOWARDS_INK: f32 = 0.25;
        let [r, g, b] = rgb.map(|share| (share.clamp(0.0, 1.0) * f32::from(u8::MAX)).round() as u8);
        Color32::from_rgb(r, g, b).lerp_to_gamma(self.ink, TOWARDS_INK)
    }

    /// Returns `color` moved towards the stage's colour, as far as a mark may fade and still be visible.
    pub fn dimmed(&self, color: Color32) -> Color32 {
        const TOWARDS_GROUND: f32 = 0.45;
        self.legible(color.lerp_to_gamma(self.stage, TOWARDS_GROUND), MARK_CONTRAST)
    }

    /// Returns `color` at a quarter of its strength, for everything that a step of a walk is not about.
    pub fn quiet(&self, color: Color32) -> Color32 {
        self.stage.lerp_to_gamma(color, QUIET)
    }

    /// Returns a transparent ink that looks like `color` on the stage. Over a glow, its difference in luminance from
    /// the background stays about the same.
    pub fn sheer(&self, color: Color32) -> Color32 {
        let [color, ground, ink] = [color, self.stage, self.ink].map(luminance);
        self.ink.gamma_multiply((color - ground) / (ink - ground))
    }

    /// Returns the ink of the floor's lines. On a light stage they would fill half of the picture, so they are fainter.
    pub fn floor(&self) -> Color32 {
        const LIGHT_STRENGTH: f32 = 0.4;
        self.sheer(self.grid).gamma_multiply(if self.dark { 1.0 } else { LIGHT_STRENGTH })
    }

    /// Returns `color` moved towards the ink until its contrast with the stage is at least `least`.
    pub fn legible(&self, color: Color32, least: f32) -> Color32 {
        const STEPS: u8 = 16;
        let at = |step: u8| color.lerp_to_gamma(self.ink, f32::from(step) / f32::from(STEPS));
        (0..STEPS).map(at).find(|color| contrast(*color, self.stage) >= least).unwrap_or(self.ink)
    }
}

/// The three roles of a vector in attention, each with its own hue in text, formulas and pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Query,
    Key,
    Value,
}

impl Role {
    /// Returns the role of queries, keys, values and mixes, which have the role of values; `None` for any other
    /// quantity.
    pub fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Query => Some(Self::Query),
            Quantity::Key => Some(Self::Key),
            Quantity::Value | Quantity::Mix => Some(Self::Value),
            _ => None,
        }
    }

    /// Returns the role that a word names.
    pub fn of_word(word: &str) -> Option<Self> {
        match word.to_lowercase().as_str() {
            "query" | "queries" => Some(Self::Query),
            "key" | "keys" => Some(Self::Key),
            "value" | "values" => Some(Self::Value),
            _ => None,
        }
    }

    /// Returns the role that a letter stands for in a formula about attention.
    pub fn of_letter(letter: char) -> Option<Self> {
        match letter {
            'q' | 'Q' => Some(Self::Query),
            'k' | 'K' => Some(Self::Key),
            'v' | 'V' => Some(Self::Value),
            _ => None,
        }
    }

    pub fn hue(self, palette: &Palette) -> Color32 {
        match self {
            Self::Query => palette.query,
            Self::Key => palette.key,
            Self::Value => palette.value,
        }
    }
}

/// The least contrast of text with its background (WCAG 2.2, 1.4.3).
pub const TEXT_CONTRAST: f32 = 4.5;
/// The least contrast of marks and large letters with their background (WCAG 2.2, 1.4.11).
pub const MARK_CONTRAST: f32 = 3.0;

/// Returns the WCAG contrast of two colours, from 1 to 21.
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    a.max(b) / a.min(b)
}

/// Returns the relative luminance, plus the constant that WCAG adds for the flare of a screen.
fn luminance(color: Color32) -> f32 {
    const LUMA: [f32; 3] = [0.2126, 0.7152, 0.0722];
    const FLARE: f32 = 0.05;
    let rgba = egui::Rgba::from(color);
    LUMA[0] * rgba.r() + LUMA[1] * rgba.g() + LUMA[2] * rgba.b() + FLARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    fn check(palette: &Palette, what: &str, colors: &[Color32], grounds: &[Color32], least: f32) {
        for (index, color) in colors.iter().enumerate() {
            for ground in grounds {
                let found = contrast(*color, *ground);
                let theme = if palette.dark { "dark" } else { "light" };
                assert!(found >= least, "{theme}: {what} {index}, {color:?} on {ground:?}: {found:.2}, not {least}");
            }
        }
    }

    #[test]
    fn a_sheer_line_is_its_colour_on_the_stage_and_no_scratch_over_a_glow() {
        for palette in [&DARK, &LIGHT] {
            let over = |line: Color32, ground: Color32| {
                let (line, ground) = (egui::Rgba::from(line), egui::Rgba::from(ground));
                Color32::from(line + ground * (1.0 - line.a()))
            };
            for color in [palette.grid, palette.axis] {
                let own = contrast(over(palette.sheer(color), palette.stage), palette.stage);
                let plain = contrast(color, palette.stage);
                assert!((plain - 0.1..plain + 0.1).contains(&own), "{color:?}: {own}");
                for group in palette.groups {
                    let glow = palette.stage.lerp_to_gamma(group, 0.26);
                    let line = over(palette.sheer(color), glow);
                    assert_eq!(luminance(line) > luminance(glow), palette.dark, "{color:?} over {glow:?}: {line:?}");
                }
            }
        }
    }

    #[test]
    fn text_and_marks_have_contrast_in_both_themes() {
        /// The least contrast of a line that is noticed rather than read.
        const FLOOR_CONTRAST: f32 = 1.4;
        assert_close("the most", contrast(Color32::BLACK, Color32::WHITE), 21.0, Tolerance::SINGLE_PASS);
        for palette in [&DARK, &LIGHT] {
            let Palette { stage, surface, raised, .. } = *palette;
            let grounds = [stage, surface, raised];
            let inks = [palette.ink, palette.ink_soft, palette.ink_faint, palette.accent, palette.warn, palette.error];
            check(palette, "ink", &inks, &grounds, TEXT_CONTRAST);
            check(palette, "group", &palette.groups, &grounds, TEXT_CONTRAST);
            check(palette, "head", &palette.heads, &grounds, TEXT_CONTRAST);
            check(palette, "role", &[palette.query, palette.key, palette.value], &grounds, TEXT_CONTRAST);
            check(palette, "sign", &[palette.negative, palette.positive], &grounds, MARK_CONTRAST);
            let parts = BlockPart::ALL.map(|part| palette.part(part));
            check(palette, "part", &parts, &grounds, TEXT_CONTRAST);
            let is_another = |at: usize| parts[..at].iter().all(|other| *other != parts[at]);
            assert!((0..parts.len()).all(is_another), "each part has its colour");
            let ramp: Vec<Color32> = (0..=16).map(|step| palette.ramp(step as f32 / 16.0)).collect();
            check(palette, "ramp", &ramp, &[stage], MARK_CONTRAST);
            let apart: Vec<f32> = ramp.iter().map(|color| contrast(*color, stage)).collect();
            assert!(apart.is_sorted(), "the greater, the farther from the ground in lightness: {apart:?}");
            let tinted = palette.groups.map(|hue| palette.tinted(hue));
            check(palette, "group on a lesson that is done", &palette.groups, &tinted, TEXT_CONTRAST);
            // A named axis must be legible as a mark; the floor only needs to be visible.
            check(palette, "axis", &[palette.axis], &[stage], MARK_CONTRAST);
            check(palette, "floor", &[palette.grid], &[stage], FLOOR_CONTRAST);
            // The time line and the tabs have the surface as background.
            let stops = [palette.stop(false), palette.stop(true)];
            check(palette, "stop of the time line", &stops, &[surface], MARK_CONTRAST);
            let tabs = [palette.tab(false), palette.tab(true)];
            check(palette, "tab", &tabs, &[surface, palette.ground], TEXT_CONTRAST);
            check(palette, "on accent", &[palette.on_accent], &[palette.accent], TEXT_CONTRAST);
            let code = &palette.code;
            let code = [code.keyword, code.number, code.text, code.comment, code.function, code.tensor, code.variable];
            check(palette, "code", &code, &[surface], TEXT_CONTRAST);
        }
    }

    #[test]
    fn what_is_disabled_is_read_in_both_themes_and_every_state() {
        for palette in [&DARK, &LIGHT] {
            let ctx = egui::Context::default();
            crate::theme::apply(&ctx);
            let theme = if palette.dark { egui::Theme::Dark } else { egui::Theme::Light };
            let visuals = ctx.style_of(theme).visuals.clone();
            let states = &visuals.widgets;
            let states = [&states.noninteractive, &states.inactive, &states.hovered, &states.active, &states.open];
            for ground in [palette.surface, palette.raised, palette.ground] {
                let over = |ink: Color32| {
                    let (ink, ground) = (egui::Rgba::from(ink), egui::Rgba::from(ground));
                    Color32::from(ink * visuals.disabled_alpha + ground * (1.0 - visuals.disabled_alpha))
                };
                let inks = states.map(|state| over(state.fg_stroke.color));
                check(palette, "disabled", &inks, &[ground], TEXT_CONTRAST);
            }
        }
    }

    #[test]
    fn what_steps_back_on_the_stage_is_still_seen() {
        for palette in [&DARK, &LIGHT] {
            let shown = palette.groups.iter().chain(&palette.heads).chain([&palette.word, &palette.ink]);
            let dimmed: Vec<Color32> = shown.map(|color| palette.dimmed(*color)).collect();
            check(palette, "dimmed", &dimmed, &[palette.stage], MARK_CONTRAST);
            let read: Vec<Color32> = dimmed.iter().map(|color| palette.legible(*color, TEXT_CONTRAST)).collect();
            check(palette, "dimmed text", &read, &[palette.stage], TEXT_CONTRAST);
        }
    }

    /// The matrices of Machado et al. 2009, on linear red, green and blue: for all three kinds of cones, and for eyes
    /// without one kind.
    const EYES: [[[f32; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn times(matrix: &[[f32; 3]; 3], [x, y, z]: [f32; 3]) -> [f32; 3] {
        matrix.map(|row| row[0] * x + row[1] * y + row[2] * z)
    }

    /// Returns linear red, green and blue as an eye perceives them.
    fn perceived(eye: &[[f32; 3]; 3], color: Color32) -> [f32; 3] {
        let rgba = egui::Rgba::from(color);
        times(eye, [rgba.r(), rgba.g(), rgba.b()]).map(|channel| channel.clamp(0.0, 1.0))
    }

    /// Returns the distance of two colours in OKLab (Ottosson 2020), where 0.02 is just noticeable side by side.
    fn distance(eye: &[[f32; 3]; 3], a: Color32, b: Color32) -> f32 {
        const CONES: [[f32; 3]; 3] = [
            [0.412_221_47, 0.536_332_55, 0.051_445_99],
            [0.211_903_5, 0.680_699_5, 0.107_396_96],
            [0.088_302_46, 0.281_718_84, 0.629_978_7],
        ];
        const LAB: [[f32; 3]; 3] = [
            [0.210_454_26, 0.793_617_8, -0.004_072_047],
            [1.977_998_5, -2.428_592_2, 0.450_593_7],
            [0.025_904_037, 0.782_771_77, -0.808_675_77],
        ];
        let lab = |color| times(&LAB, times(&CONES, perceived(eye, color)).map(f32::cbrt));
        let (a, b) = (lab(a), lab(b));
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
    }

    #[test]
    fn groups_heads_values_and_the_accent_are_apart_for_every_eye() {
        /// Three times what is just noticeable.
        const APART: f32 = 0.06;
        for palette in [&DARK, &LIGHT] {
            let near = |a: Color32, b: Color32| EYES.iter().any(|eye| distance(eye, a, b) < APART);
            let company = palette.groups[1];
            let mut pairs = vec![(company, palette.accent), (palette.value, palette.accent)];
            for head in palette.heads {
                pairs.extend([(head, palette.accent), (head, palette.value), (head, company)]);
            }
            pairs.extend(palette.heads[..2].iter().map(|head| (*head, palette.groups[0])));
            pairs.push((palette.heads[0], palette.heads[1]));
            for (a, b) in pairs {
                assert!(!near(a, b), "{a:?} is like {b:?}");
            }
            assert!(near(palette.accent, palette.accent.lerp_to_gamma(company, 0.7)), "a near colour is found");
        }
    }

    /// A greater weight has more contrast with the background for every kind of colour vision.
    #[test]
    fn the_colours_of_weights_go_one_way_for_every_eye() {
        const STEPS: u8 = 10;
        let seen = |eye: &[[f32; 3]; 3], color: Color32| {
            let [r, g, b] = perceived(eye, color);
            Color32::from(egui::Rgba::from_rgb(r, g, b))
        };
        for palette in [&DARK, &LIGHT] {
            for (head, eye) in (0..HEADS).flat_map(|head| EYES.iter().map(move |eye| (head, eye))) {
                let at = |step: u8| seen(eye, palette.weight(head, f32::from(step) / f32::from(STEPS)));
                let contrasts: Vec<f32> = (0..=STEPS).map(|step| contrast(at(step), at(0))).collect();
                assert!(contrasts.is_sorted_by(|a, b| a < b), "head {head}: {contrasts:?}");
                assert!(contrasts[usize::from(STEPS)] >= MARK_CONTRAST, "head {head}: {contrasts:?}");
            }
        }
    }

    #[test]
    fn pages_have_these_colours() {
        const STYLES: [&str; 2] = [
            include_str!("../../../view/export/web_page/light.css"),
            include_str!("../../../view/export/web_page/dark.css"),
        ];
        for (palette, style) in [&LIGHT, &DARK].into_iter().zip(STYLES) {
            let check = |name: &str, color: Color32| {
                let [r, g, b, _] = color.to_array();
                assert!(style.contains(&format!("--{name}: #{r:02x}{g:02x}{b:02x};")), "{name} is not {color:?}");
            };
            palette.groups.iter().enumerate().for_each(|(i, color)| check(&format!("group-{i}"), *color));
            palette.heads.iter().enumerate().for_each(|(i, color)| check(&format!("head-{i}"), *color));
            let Palette { stage, surface, raised, line, ink, ink_soft, accent, word, .. } = *palette;
            let named = [("stage", stage), ("surface", surface), ("raised", raised), ("line", line), ("ink", ink)];
            named.into_iter().for_each(|(name, color)| check(name, color));
            let named = [("ink-soft", ink_soft), ("accent", accent), ("word", word), ("grid", palette.grid)];
            named.into_iter().for_each(|(name, color)| check(name, color));
            let named = [("axis", palette.axis), ("negative", palette.negative), ("positive", palette.positive)];
            named.into_iter().for_each(|(name, color)| check(name, color));
            let named = [("query", palette.query), ("key", palette.key), ("value", palette.value)];
            named.into_iter().for_each(|(name, color)| check(name, color));
        }
    }

    #[test]
    fn one_hue_has_one_meaning() {
        // More groups and heads than any lesson has.
        const FAR: i32 = 60;
        for palette in [&DARK, &LIGHT] {
            let mut all = palette.groups[..3].to_vec();
            all.extend([palette.heads[0], palette.heads[1], palette.negative, palette.positive, palette.ink]);
            all.extend([palette.query, palette.key, palette.value]);
            for (i, a) in all.iter().enumerate() {
                for b in &all[i + 1..] {
                    let apart = |k: usize| (i32::from(a[k]) - i32::from(b[k])).abs();
                    assert!(apart(0) + apart(1) + apart(2) >= FAR, "{a:?} is like {b:?}");
                }
            }
        }
    }
}
