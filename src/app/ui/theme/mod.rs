//! The colours, sizes and durations of the window. Only [`palette`] names literal colours; the meaning and the contrast
//! of each colour are explained there.

pub mod fonts;
mod palette;

use egui::epaint::FontColorTransferFunction;
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle, Vec2, style::WidgetVisuals};

pub use self::palette::{
    CodeColors, DARK, GROUPS, LIGHT, MARK_CONTRAST, Palette, QUIET, Role, TEXT_CONTRAST, contrast,
};

/// Sizes, in points.
pub mod size {
    use egui::Vec2;

    pub const WINDOW: (u32, u32) = (1280, 720);
    /// The smallest window in which panels have room for their content.
    pub const WINDOW_MIN: (f32, f32) = (800.0, 480.0);
    pub const SMALL: f32 = 11.5;
    pub const BODY: f32 = 13.5;
    pub const READING: f32 = 15.0;
    pub const HEADING: f32 = 19.0;
    /// The font size of the course's title.
    pub const TITLE: f32 = 30.0;
    pub const MONO: f32 = 12.5;
    pub const LABEL: f32 = 13.0;
    pub const LABEL_STRONG: f32 = 14.5;
    pub const LABEL_AXIS: f32 = 11.0;
    /// The font size of the names of groups of points.
    pub const CROWD: f32 = 13.0;
    /// The width of a text column: about 62 characters of reading text.
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
    /// The opacity of a bar behind text.
    pub const BAR_FAINT: f32 = 0.55;
    pub const CELL_MIN: f32 = 12.0;
    pub const CELL_MAX: f32 = 34.0;
    /// The width that each digit needs for a heat-map cell to show its number.
    pub const CELL_DIGIT: f32 = 6.6;
    /// The width of a cell in which a number such as `.62` fits.
    pub const CELL_WITH_NUMBER: f32 = 21.0;
    pub const CELL_NUMBER: f32 = 9.5;
    pub const CELL_NUMBER_MAX: f32 = 11.5;
    pub const SLIDER: f32 = 150.0;
    pub const SLIDER_ROW: f32 = 22.0;
    pub const CHART_MIN: f32 = 96.0;
    pub const CHART_MAX: f32 = 240.0;
    /// The least height of a curve in a panel that shows much else.
    pub const CURVE_MIN: f32 = 72.0;
    pub const CURVE: f32 = 1.6;
    /// The height of the time line.
    pub const TIMELINE: f32 = 72.0;
    /// The height of the time line under a stage that is narrower than `TIMELINE_WIDE_FROM`.
    pub const TIMELINE_NARROW: f32 = 90.0;
    pub const TIMELINE_WIDE_FROM: f32 = 640.0;
    /// The height of the bar above the stage.
    pub const VIEW_BAR: f32 = 34.0;
    /// The least height of a stage that has room for the bar.
    pub const VIEW_BAR_FROM: f32 = 160.0;
    pub const SEARCH: f32 = 150.0;
    pub const SEARCH_MIN: f32 = 72.0;
    /// The width of the line numbers to the left of the code.
    pub const GUTTER: i8 = 34;
    pub const CODE_LEADING: f32 = 3.5;
    /// The margin within a text field, which makes it as high as the buttons beside it.
    pub const FIELD_MARGIN: Vec2 = Vec2::new(7.0, 4.0);
    /// The width of wide popups, such as the list of a sentence's words while the sentence is typed.
    pub const WIDE_POPUP: f32 = 400.0;
    /// The largest height of the list of a sentence's words: about five rows.
    pub const CHIPS_MAX: f32 = 136.0;
    /// The least and the largest width of a field for a group of words.
    pub const GROUP_FIELD: (f32, f32) = (64.0, 180.0);
    pub const POPUP: Vec2 = Vec2::new(340.0, 196.0);
    /// The largest height of an output, which scrolls beyond it.
    pub const OUTPUT_MAX: f32 = 320.0;
    /// The height of a plot.
    pub const PLOT: f32 = 200.0;
    pub const TABLE_ROW: f32 = 22.0;
    pub const TABLE_DIGIT: f32 = 7.6;
    pub const WORD_MAX: f32 = 140.0;
    pub const HALO: f32 = 1.2;
    pub const RING: f32 = 2.0;
    pub const RING_GAP: f32 = 3.5;
    pub const LABEL_GAP: f32 = 4.0;
    pub const LEGEND: f32 = 9.0;
    /// The share of the window's width that the notebook takes, within the bounds of `NOTEBOOK`.
    pub const NOTEBOOK_SHARE: f32 = 0.32;
    /// The least width of a window with a right column. In a narrower one, panels share the notebook's column, which
    /// then takes `NOTEBOOK_SHARE_NARROW`.
    pub const SIDE_FROM: f32 = 1050.0;
    pub const NOTEBOOK_SHARE_NARROW: f32 = 0.38;
    pub const NOTEBOOK: (f32, f32) = (280.0, 540.0);
    /// The share of the remaining width that the right column takes, within the bounds of `SIDE`.
    pub const SIDE_SHARE: f32 = 0.335;
    pub const SIDE: (f32, f32) = (300.0, 600.0);
    /// The least height of a window with two rows in the right column, of which the upper one takes `SIDE_SPLIT`.
    pub const SIDE_ROWS_FROM: f32 = 640.0;
    pub const SIDE_SPLIT: f32 = 0.52;
    /// The zoom of everything on the screen: least, largest, and one step.
    pub const ZOOM: (f32, f32, f32) = (0.7, 2.0, 0.1);
    /// The height in points above which a window starts with larger text, and the largest such zoom.
    const ZOOM_FROM: (f32, f32) = (1152.0, 1.4);

    pub fn zoom_for(height: u32) -> f32 {
        (height as f32 / ZOOM_FROM.0).clamp(1.0, ZOOM_FROM.1)
    }
}

/// The line that represents an attention weight: a larger weight makes it thicker and more opaque.
pub mod weight_line {
    /// Line widths in points for weight 0 and weight 1.
    pub const WIDTH: (f32, f32) = (0.5, 10.0);
    /// The least opacity of a line.
    const FAINT: f32 = 0.14;

    pub fn width(weight: f32) -> f32 {
        WIDTH.0 + (WIDTH.1 - WIDTH.0) * weight.clamp(0.0, 1.0)
    }

    pub fn opacity(weight: f32) -> f32 {
        weight.clamp(0.0, 1.0).sqrt().max(FAINT)
    }
}

/// The layout of text cells, in points; ratios are relative to the font size.
pub mod prose {
    use super::size;

    /// Font sizes of headings, level 1 first; deeper levels use the last one.
    pub const HEADINGS: [f32; 4] = [22.0, 17.5, size::READING, size::BODY];
    pub const CODE: f32 = 13.0;
    /// The ratio that makes inline code look as large as the text around it.
    pub const CODE_INLINE: f32 = 0.9;
    /// The ratio that makes a formula's letters look as large as the text around it.
    pub const MATHS: f32 = 1.17;
    /// The distances from a line's baseline to its top and to its bottom.
    pub const STRUT: (f32, f32) = (1.12, 0.42);
    pub const STRUT_HEADING: (f32, f32) = (1.0, 0.34);
    /// The space above and below anything higher than its line.
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
    /// The space between a table cell's text and its edges.
    pub const CELL_PADDING: (f32, f32) = (9.0, 4.5);
    /// The least width of a column's text before the table scrolls.
    pub const COLUMN_MIN: f32 = 56.0;
    /// The smallest ratio to which a formula is scaled to fit the column before it scrolls.
    pub const MATHS_SHRINK: f32 = 0.8;
    pub const SCROLL_BAR: f32 = 10.0;
    /// The distance from the baseline to the line under a term.
    pub const TERM_LINE: f32 = 3.5;
    /// The width of the card of a term.
    pub const TERM_CARD: f32 = 290.0;
}

/// Durations, in seconds.
pub mod motion {
    /// Sliding in of a new column of panels.
    pub const COLUMN: f32 = 0.3;
    /// Movement of the points from static to contextual.
    pub const GLIDE: f32 = 0.5;
    /// Slow movement from static to contextual when a stage cell plays.
    pub const PLAY: f32 = 3.0;
    /// The pause before and after the slow movement of a stage cell.
    pub const PLAY_PAUSE: f32 = 0.9;
    /// The animation on the course page.
    pub const SPLIT: f32 = 4.0;
    /// Movement of the points to their places after the lesson was trained again.
    pub const RETRAINED: f32 = 0.7;
    /// Sliding of a ribbon from its word to its place in the band of a step.
    pub const RIBBON: f32 = 0.3;
    /// Fading of arcs in and out.
    pub const FADE: f32 = 0.15;
    /// Movement of the camera to a focus or to its home position.
    pub const CAMERA: f32 = 0.3;
    /// One turn to and fro of a scene that opens in 3D.
    pub const SWAY: f32 = 16.0;
    /// Continuous drawing after the last input. It is short, so that the next input seldom waits for a frame in
    /// progress.
    pub const AFTER_INPUT: f32 = 0.1;
    /// The time after which a stage that is being resized gets a picture of its new size.
    pub const RESIZE_SETTLES: f32 = 0.12;
    /// The longest sleep of the window when nothing happens.
    pub const LONG_WAIT: f32 = 3600.0;
}

/// The two backgrounds on which a transparent figure is drawn. The difference shows how transparent each pixel is.
pub const BACKGROUNDS: [Color32; 2] = [Color32::BLACK, Color32::WHITE];
/// A colour that paints nothing.
pub const CLEAR: Color32 = Color32::TRANSPARENT;
/// The tint that leaves an image unchanged.
pub const UNTINTED: Color32 = Color32::WHITE;

/// Returns the semibold font.
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// Returns the font of emphasis.
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

/// Sets the dark and the light style of `ctx`. [`egui::Context::set_theme`] chooses between them.
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
    // The blend is linear: dark strokes on light look thin unless their edges are made stronger.
    visuals.text_options.color_transfer_function = if palette.dark {
        FontColorTransferFunction::Off
    } else {
        FontColorTransferFunction::TwoCoverageMinusCoverageSq
    };
    visuals.striped = false;
    // As long as a cursor blinks, egui asks for another frame later, for which bevy_egui draws without pause.
    visuals.text_cursor.blink = false;
}

/// Returns the colour of the window before anything is drawn on it, which is that of the stage.
pub fn clear_color(dark: bool) -> bevy::color::Color {
    let [red, green, blue, alpha] = Palette::of(dark).stage.to_array();
    bevy::color::Color::srgba_u8(red, green, blue, alpha)
}
