//! Every colour, size and duration of the app: the one place that names a literal colour.
//!
//! Hues are told apart by people who do not see red and green alike: groups follow Okabe-Ito and
//! Tol, tuned to one contrast for each ground; weights run blue through the surface to orange.

use egui::epaint::FontColorTransferFunction;
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Vec2, style::WidgetVisuals};

/// Sizes, in points.
pub mod size {
    use egui::Vec2;

    pub const WINDOW: (u32, u32) = (1280, 720);
    /// Below this, panels have no room for what they show.
    pub const WINDOW_MIN: (f32, f32) = (800.0, 480.0);
    pub const SMALL: f32 = 11.5;
    pub const BODY: f32 = 13.5;
    pub const READING: f32 = 15.0;
    pub const HEADING: f32 = 19.0;
    pub const MONO: f32 = 12.5;
    pub const LABEL: f32 = 13.0;
    pub const LABEL_STRONG: f32 = 14.5;
    pub const LABEL_AXIS: f32 = 11.0;
    /// About 62 characters of reading text.
    pub const MEASURE: f32 = 460.0;
    pub const GAP: f32 = 8.0;
    pub const GAP_WIDE: f32 = 18.0;
    pub const GAP_TIGHT: f32 = 4.0;
    pub const PANEL_MARGIN: i8 = 14;
    pub const BAR_HEIGHT: f32 = 44.0;
    pub const TAB_HEIGHT: f32 = 30.0;
    pub const RADIUS: u8 = 6;
    pub const RADIUS_SMALL: u8 = 3;
    pub const HAIRLINE: f32 = 1.0;
    pub const OUTLINE: f32 = 2.0;
    pub const CHIP: f32 = 11.0;
    pub const BAR: f32 = 8.0;
    pub const CELL_MIN: f32 = 12.0;
    pub const CELL_MAX: f32 = 34.0;
    /// A heat-map cell shows its number if every digit has this width.
    pub const CELL_DIGIT: f32 = 6.6;
    /// Wide enough for `.62`.
    pub const CELL_WITH_NUMBER: f32 = 21.0;
    pub const CELL_NUMBER: f32 = 9.5;
    pub const SLIDER: f32 = 150.0;
    pub const SLIDER_ROW: f32 = 22.0;
    pub const CHART_MIN: f32 = 96.0;
    pub const CHART_MAX: f32 = 240.0;
    pub const CURVE: f32 = 1.6;
    pub const TIMELINE: f32 = 50.0;
    /// Beside the lines of code, for their numbers.
    pub const GUTTER: i8 = 34;
    pub const CODE_LEADING: f32 = 3.5;
    pub const POPUP: Vec2 = Vec2::new(340.0, 196.0);
    /// An output is no higher than this and scrolls; a plot is as high as the second.
    pub const OUTPUT_MAX: f32 = 320.0;
    pub const PLOT: f32 = 200.0;
    pub const TABLE_ROW: f32 = 22.0;
    pub const TABLE_DIGIT: f32 = 7.6;
    pub const WORD_MAX: f32 = 140.0;
    pub const HALO: f32 = 1.2;
    pub const RING: f32 = 2.0;
    pub const RING_GAP: f32 = 3.5;
    pub const LABEL_GAP: f32 = 4.0;
    pub const LEGEND: f32 = 9.0;
    /// Share of the width that the notebook takes, and that the right column takes of the rest.
    pub const NOTEBOOK_SHARE: f32 = 0.32;
    pub const SIDE_SHARE: f32 = 0.40;
    pub const SIDE_SPLIT: f32 = 0.52;
    /// Zoom of all text: least, most, and one step.
    pub const ZOOM: (f32, f32, f32) = (0.7, 2.0, 0.1);
    /// A window higher than this many points starts with larger text, up to the second number.
    const ZOOM_FROM: (f32, f32) = (1152.0, 1.4);

    pub fn zoom_for(height: u32) -> f32 {
        (height as f32 / ZOOM_FROM.0).clamp(1.0, ZOOM_FROM.1)
    }
}

/// How text cells are set, in points; ratios are of the font size.
pub mod prose {
    use super::size;

    /// Font sizes of headings, level 1 first; deeper levels take the last.
    pub const HEADINGS: [f32; 4] = [22.0, 17.5, size::READING, size::BODY];
    pub const CODE: f32 = 13.0;
    /// Code among words looks as large as they do.
    pub const CODE_INLINE: f32 = 0.9;
    /// A formula's letters look as large as the words around it.
    pub const MATHS: f32 = 1.17;
    /// From the baseline of a line to its top and to its bottom.
    pub const STRUT: (f32, f32) = (1.12, 0.42);
    pub const STRUT_HEADING: (f32, f32) = (1.0, 0.34);
    /// Room above and below what is higher than its line.
    pub const STRUT_EXTRA: f32 = 2.5;
    pub const PARAGRAPH_GAP: f32 = 10.0;
    pub const HEADING_GAP: f32 = 20.0;
    pub const AFTER_HEADING: f32 = 7.0;
    pub const ITEM_GAP: f32 = 4.0;
    pub const FORMULA_GAP: f32 = 14.0;
    pub const INDENT: f32 = 20.0;
    pub const MARKER_GAP: f32 = 7.0;
    pub const BULLET: f32 = 4.0;
    pub const TASK: f32 = 12.0;
    pub const QUOTE_BAR: f32 = 2.5;
    pub const QUOTE_INDENT: f32 = 14.0;
    pub const CODE_PADDING: (f32, f32) = (12.0, 9.0);
    pub const CODE_INLINE_PADDING: (f32, f32) = (3.0, 1.5);
    /// Between a table cell's text and its edges.
    pub const CELL_PADDING: (f32, f32) = (9.0, 4.5);
    /// A column keeps this much of its text's width before the table scrolls.
    pub const COLUMN_MIN: f32 = 56.0;
    /// The largest share of its size that a formula loses to fit the column before it scrolls.
    pub const MATHS_SHRINK: f32 = 0.8;
    pub const SCROLL_BAR: f32 = 10.0;
}

/// Durations, in seconds.
pub mod motion {
    /// From static to contextual.
    pub const GLIDE: f32 = 0.5;
    /// Camera to a focus or home.
    pub const CAMERA: f32 = 0.3;
    /// The window draws continuously for this long after the last input.
    pub const AFTER_INPUT: f32 = 0.5;
    /// Between two looks at the lesson file.
    pub const WATCH: f32 = 0.3;
    /// The stage's picture keeps its size while a divider is dragged.
    pub const RESIZE_SETTLES: f32 = 0.12;
    /// The longest the window sleeps when nothing happens.
    pub const LONG_WAIT: f32 = 3600.0;
}

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

/// What words of code are, by their ink.
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

/// Paints nothing.
pub const CLEAR: Color32 = Color32::TRANSPARENT;
/// Multiplies an image by one.
pub const UNTINTED: Color32 = Color32::WHITE;

const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

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
        let (light, dark) = if self.dark { (self.ink, self.ground) } else { (self.on_accent, self.ink) };
        let fill = luminance(fill);
        if fill * fill > luminance(light) * luminance(dark) { dark } else { light }
    }

    /// A colour that a formula chose, from its red, green and blue in [0, 1], kept apart from the ground.
    pub fn chosen(&self, rgb: [f32; 3]) -> Color32 {
        const TOWARDS_INK: f32 = 0.25;
        let [r, g, b] = rgb.map(|share| (share.clamp(0.0, 1.0) * f32::from(u8::MAX)).round() as u8);
        Color32::from_rgb(r, g, b).lerp_to_gamma(self.ink, TOWARDS_INK)
    }

    /// A word that nobody asked for, among many.
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

/// The semibold face.
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// The face of emphasis.
pub fn italic_family() -> FontFamily {
    FontFamily::Name("italic".into())
}

pub fn italic(size: f32) -> FontId {
    FontId::new(size, italic_family())
}

pub fn strong(size: f32) -> FontId {
    FontId::new(size, strong_family())
}

pub fn plain(size: f32) -> FontId {
    FontId::proportional(size)
}

pub fn mono(size: f32) -> FontId {
    FontId::monospace(size)
}

/// Gives `ctx` both styles; which one is shown is [`egui::Context::set_theme`]'s business.
pub fn apply(ctx: &egui::Context) {
    for (theme, palette) in [(egui::Theme::Dark, &DARK), (egui::Theme::Light, &LIGHT)] {
        ctx.style_mut_of(theme, |style| {
            set_text(style);
            set_spacing(style);
            set_visuals(&mut style.visuals, palette);
        });
    }
}

fn set_text(style: &mut egui::Style) {
    style.text_styles = [
        (TextStyle::Small, plain(size::SMALL)),
        (TextStyle::Body, plain(size::BODY)),
        (TextStyle::Button, plain(size::BODY)),
        (TextStyle::Heading, strong(size::HEADING)),
        (TextStyle::Monospace, mono(size::MONO)),
    ]
    .into();
    style.drag_value_text_style = TextStyle::Monospace;
}

fn set_spacing(style: &mut egui::Style) {
    const BUTTON_PADDING: Vec2 = Vec2::new(9.0, 4.0);
    const TOOLTIP_DELAY: f32 = 0.35;
    let spacing = &mut style.spacing;
    spacing.item_spacing = Vec2::new(size::GAP, size::GAP - 1.0);
    spacing.button_padding = BUTTON_PADDING;
    spacing.interact_size.y = size::SLIDER_ROW;
    spacing.slider_width = size::SLIDER;
    spacing.window_margin = Margin::same(size::PANEL_MARGIN);
    spacing.menu_margin = Margin::same(size::RADIUS as i8 + 2);
    spacing.scroll = egui::style::ScrollStyle::thin();
    style.interaction.tooltip_delay = TOOLTIP_DELAY;
    style.interaction.selectable_labels = false;
}

fn set_visuals(visuals: &mut egui::Visuals, palette: &Palette) {
    const SHADOW: Shadow = Shadow { offset: [0, 6], blur: 18, spread: 0, color: CLEAR };
    const SHADOW_ALPHA: f32 = 0.5;
    let Palette { surface, raised, lifted, line, ink, ink_soft, accent, accent_soft, .. } = *palette;
    let hairline = Stroke::new(size::HAIRLINE, line);
    let radius = CornerRadius::same(size::RADIUS);
    let shadow = Shadow { color: palette.shadow.gamma_multiply(SHADOW_ALPHA), ..SHADOW };
    let widget = |fill, stroke, ink| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: stroke,
        corner_radius: radius,
        fg_stroke: Stroke::new(size::HAIRLINE, ink),
        expansion: 0.0,
    };
    const SOFTER: f32 = 0.22;
    visuals.dark_mode = palette.dark;
    visuals.widgets.noninteractive = widget(surface, hairline, ink.lerp_to_gamma(ink_soft, SOFTER));
    visuals.widgets.inactive = widget(raised, Stroke::NONE, ink);
    visuals.widgets.hovered = widget(lifted, Stroke::NONE, ink);
    visuals.widgets.active = widget(accent_soft, Stroke::NONE, ink);
    visuals.widgets.open = widget(lifted, Stroke::NONE, ink);
    visuals.selection.bg_fill = accent_soft;
    visuals.selection.stroke = Stroke::new(size::HAIRLINE, if palette.dark { ink } else { accent });
    visuals.hyperlink_color = accent;
    visuals.weak_text_color = Some(ink_soft);
    visuals.faint_bg_color = raised;
    visuals.extreme_bg_color = palette.ground;
    visuals.text_edit_bg_color = Some(raised);
    visuals.code_bg_color = raised;
    visuals.warn_fg_color = palette.warn;
    visuals.error_fg_color = palette.error;
    visuals.window_corner_radius = radius;
    visuals.menu_corner_radius = radius;
    visuals.window_fill = surface;
    visuals.panel_fill = surface;
    visuals.window_stroke = hairline;
    visuals.window_shadow = shadow;
    visuals.popup_shadow = shadow;
    visuals.slider_trailing_fill = true;
    // The blend is linear: dark strokes on light come out thin unless their edges are lifted.
    visuals.text_options.color_transfer_function = if palette.dark {
        FontColorTransferFunction::Off
    } else {
        FontColorTransferFunction::TwoCoverageMinusCoverageSq
    };
    visuals.striped = false;
}
