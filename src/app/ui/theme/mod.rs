//! Every colour, size and duration of the app: the one place that names a literal colour, in [`palette`].
//!
//! The meaning of each hue, and its contrast, stand in [`palette`].

pub mod fonts;
mod palette;

use egui::epaint::FontColorTransferFunction;
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Vec2, style::WidgetVisuals};

pub use self::palette::{CodeColors, DARK, LIGHT, MARK_CONTRAST, Palette, Role, TEXT_CONTRAST, contrast};

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
    /// The name of the course.
    pub const TITLE: f32 = 30.0;
    pub const MONO: f32 = 12.5;
    pub const LABEL: f32 = 13.0;
    pub const LABEL_STRONG: f32 = 14.5;
    pub const LABEL_AXIS: f32 = 11.0;
    /// Names of crowds.
    pub const CROWD: f32 = 13.0;
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
    /// Opacity of a bar under words.
    pub const BAR_FAINT: f32 = 0.55;
    pub const CELL_MIN: f32 = 12.0;
    pub const CELL_MAX: f32 = 34.0;
    /// A heat-map cell shows its number if every digit has this width.
    pub const CELL_DIGIT: f32 = 6.6;
    /// Wide enough for `.62`.
    pub const CELL_WITH_NUMBER: f32 = 21.0;
    pub const CELL_NUMBER: f32 = 9.5;
    pub const CELL_NUMBER_MAX: f32 = 11.5;
    pub const SLIDER: f32 = 150.0;
    pub const SLIDER_ROW: f32 = 22.0;
    pub const CHART_MIN: f32 = 96.0;
    pub const CHART_MAX: f32 = 240.0;
    /// Least height of a curve, in a panel that has much else to show.
    pub const CURVE_MIN: f32 = 72.0;
    pub const CURVE: f32 = 1.6;
    /// Height of the time line, and under a stage that is narrower than the third.
    pub const TIMELINE: f32 = 72.0;
    pub const TIMELINE_NARROW: f32 = 90.0;
    pub const TIMELINE_WIDE_FROM: f32 = 640.0;
    /// Above the stage; a stage that is lower than the second has no room for it.
    pub const VIEW_BAR: f32 = 34.0;
    pub const VIEW_BAR_FROM: f32 = 160.0;
    pub const SEARCH: f32 = 150.0;
    pub const SEARCH_MIN: f32 = 72.0;
    /// Beside the lines of code, for their numbers.
    pub const GUTTER: i8 = 34;
    pub const CODE_LEADING: f32 = 3.5;
    /// Margin within a field, so that it is as high as the buttons beside it.
    pub const FIELD_MARGIN: Vec2 = Vec2::new(7.0, 4.0);
    /// Width of the list of a sentence's words while it is typed.
    pub const WIDE_POPUP: f32 = 400.0;
    /// About five rows of them.
    pub const CHIPS_MAX: f32 = 136.0;
    /// Least and largest width of a field for a group of words.
    pub const GROUP_FIELD: (f32, f32) = (56.0, 180.0);
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
    /// Share of the width that the notebook takes, and that the right column takes of the rest; each within its bounds.
    pub const NOTEBOOK_SHARE: f32 = 0.32;
    /// A window that is narrower has no right column: panels share the notebook's, which takes this share.
    pub const SIDE_FROM: f32 = 1050.0;
    pub const NOTEBOOK_SHARE_NARROW: f32 = 0.38;
    pub const NOTEBOOK: (f32, f32) = (280.0, 540.0);
    pub const SIDE_SHARE: f32 = 0.335;
    pub const SIDE: (f32, f32) = (300.0, 600.0);
    /// A window that is lower has one row in the right column; in a higher one the upper row takes this share.
    pub const SIDE_ROWS_FROM: f32 = 640.0;
    pub const SIDE_SPLIT: f32 = 0.52;
    /// Zoom of all text: least, most, and one step.
    pub const ZOOM: (f32, f32, f32) = (0.7, 2.0, 0.1);
    /// A window higher than this many points starts with larger text, up to the second number.
    const ZOOM_FROM: (f32, f32) = (1152.0, 1.4);

    pub fn zoom_for(height: u32) -> f32 {
        (height as f32 / ZOOM_FROM.0).clamp(1.0, ZOOM_FROM.1)
    }
}

/// A weight as a line: the more, the thicker and the more opaque.
pub mod weight_line {
    /// Widths in points of lines without weight and of weight 1.
    pub const WIDTH: (f32, f32) = (0.5, 10.0);
    /// Opacity of a line without weight.
    const FAINT: f32 = 0.14;

    pub fn width(weight: f32) -> f32 {
        WIDTH.0 + (WIDTH.1 - WIDTH.0) * weight.clamp(0.0, 1.0)
    }

    pub fn opacity(weight: f32) -> f32 {
        weight.clamp(0.0, 1.0).sqrt().max(FAINT)
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
    /// From the baseline to the line under a term.
    pub const TERM_LINE: f32 = 3.5;
    /// Width of the card of a term.
    pub const TERM_CARD: f32 = 290.0;
}

/// Durations, in seconds.
pub mod motion {
    /// A new column of panels slides in.
    pub const COLUMN: f32 = 0.3;
    /// From static to contextual.
    pub const GLIDE: f32 = 0.5;
    /// Once from static to contextual where a stage cell plays, and the pause before and after it.
    pub const PLAY: f32 = 3.0;
    pub const PLAY_PAUSE: f32 = 0.9;
    /// The picture of the course's page.
    pub const SPLIT: f32 = 4.0;
    /// From a picture to that of the lesson trained again.
    pub const RETRAINED: f32 = 0.7;
    /// Arcs into and out of sight.
    pub const FADE: f32 = 0.15;
    /// Camera to a focus or home.
    pub const CAMERA: f32 = 0.3;
    /// A scene that opens in space turns to and fro once.
    pub const SWAY: f32 = 16.0;
    /// The window draws continuously for this long after the last input.
    pub const AFTER_INPUT: f32 = 0.5;
    /// The stage's picture keeps its size while a divider is dragged.
    pub const RESIZE_SETTLES: f32 = 0.12;
    /// The longest the window sleeps when nothing happens.
    pub const LONG_WAIT: f32 = 3600.0;
}

/// A figure that is drawn on both backgrounds shows how transparent each of its pixels is.
pub const BACKGROUNDS: [Color32; 2] = [Color32::BLACK, Color32::WHITE];
/// Paints nothing.
pub const CLEAR: Color32 = Color32::TRANSPARENT;
/// Multiplies an image by one.
pub const UNTINTED: Color32 = Color32::WHITE;

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
    visuals.disabled_alpha = palette.disabled_alpha();
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

/// The window's ground, before anything is drawn on it.
pub fn clear_color(dark: bool) -> bevy::color::Color {
    let [red, green, blue, alpha] = Palette::of(dark).ground.to_array();
    bevy::color::Color::srgba_u8(red, green, blue, alpha)
}
