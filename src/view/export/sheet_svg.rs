//! Panels as a vector picture for papers: text is text, the ground is light, nothing runs, and the same sheets always
//! give the same bytes.
//!
//! Everything that comes from a lesson goes through [`words`]: characters that steer the direction of text are written
//! as escapes, and those that XML cannot contain are replaced.

mod grids;

use std::fmt::Write as _;
use std::io::{self, Write};

use attune_core::lesson::issue::printable;
use attune_engine::messages::cut;

use self::grids::Cells;
use super::escaped;
use super::figures::plot_svg;
use crate::sheet::text::fold_words;
use crate::sheet::{Bars, Item, Sheet, Table, Text, Tone};

/// The width of a picture, unless a part of it needs more.
const WIDTH: f32 = 960.0;
/// The empty margin around the picture's content.
const MARGIN: f32 = 16.0;
const GAP: f32 = 12.0;
const TITLE_SIZE: f32 = 18.0;
const HEADING_SIZE: f32 = 14.0;
const FONT_SIZE: f32 = 12.0;
/// The height of a line of text.
const LINE: f32 = 17.0;
/// A generous estimate of the average width of a letter, as a share of the font size; letters of Chinese, Japanese and
/// Korean are as wide as they are high.
const LETTER: f32 = 0.56;
const FIRST_SQUARE: char = '\u{1100}';
/// The largest number of characters of a name, and of a paragraph; longer ones are cut off.
const NAME_MAX: usize = 24;
const WORDS_MAX: usize = 2_000;
/// The size of the plots that [`plot_svg`] draws.
const PLOT: [f32; 2] = [640.0, 280.0];

/// Writes sheets as one picture, one below the other.
///
/// # Errors
/// If it cannot be written.
pub fn write(sheets: &[Sheet], mut to: impl Write) -> io::Result<()> {
    let title = sheets.iter().map(|sheet| sheet.title).collect::<Vec<_>>().join(", ");
    let mut drawing = Drawing::default();
    for (place, sheet) in sheets.iter().enumerate() {
        if place > 0 {
            drawing.y += 2.0 * GAP;
        }
        drawing.line(sheet.title, TITLE_SIZE, "ink", " font-weight=\"bold\"");
        sheet.items.iter().for_each(|item| drawing.item(item));
    }
    writeln!(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", drawing.picture(&title))?;
    to.flush()
}

/// Draws one part of a sheet as a picture for a page.
pub fn part(item: &Item, title: &str) -> String {
    let mut drawing = Drawing::default();
    drawing.item(item);
    drawing.picture(title)
}

/// A picture that grows downwards.
struct Drawing {
    body: String,
    /// The width of the widest part so far.
    width: f32,
    /// The vertical position at which the next part begins.
    y: f32,
    cells: Cells,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { body: String::new(), width: WIDTH - 2.0 * MARGIN, y: MARGIN, cells: Cells::default() }
    }
}

impl Drawing {
    /// Returns the whole picture as one element.
    fn picture(self, title: &str) -> String {
        let (width, height) = (self.width + 2.0 * MARGIN, self.y + MARGIN);
        let (title, ink, ground) = (words(title, WORDS_MAX), colour("ink"), colour("stage"));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"system-ui, 'Segoe UI', 'Noto Sans', sans-serif\" \
             font-size=\"{FONT_SIZE}\" fill=\"{ink}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>\
             <rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>{}</svg>",
            self.body
        )
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Heading(title) => self.line(title, HEADING_SIZE, "ink", " font-weight=\"bold\""),
            Item::Text(text) => self.text(text),
            Item::Fold(fold) => self.paragraph(&fold_words(fold), "ink-soft", ""),
            Item::Grids(grids) => self.grids(grids),
            Item::Tiles(tiles) => self.tiles(tiles),
            Item::Numbers(numbers) => {
                self.paragraph(&format!("{} {}", numbers.table.caption, numbers.table.shape()), "ink", "");
            }
            Item::Table(table) => self.table(table),
            Item::Bars(bars) => self.bars(bars),
            Item::Meter(meter) => self.bars(&meter.bars()),
            Item::Details { items, .. } => items.iter().for_each(|item| self.item(item)),
            Item::Controls(_) | Item::Scrolls => {}
            Item::Plot(plot) => {
                let (x, y) = (MARGIN, self.y);
                let _ = write!(self.body, "<g transform=\"translate({x} {y:.1})\">{}</g>", plot_svg(plot));
                self.y += PLOT[1] + GAP;
            }
        }
    }

    /// Writes a line of text in a colour of the palette.
    fn line(&mut self, text: &str, size: f32, ink: &str, look: &str) {
        let (text, ink, y) = (words(text, WORDS_MAX), colour(ink), self.y + size);
        let _ = write!(
            self.body,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{ink}\"{look}>{text}</text>"
        );
        self.y += size + GAP;
    }

    fn text(&mut self, text: &Text) {
        match text.tone {
            Tone::Plain => self.paragraph(&text.words, "ink", ""),
            Tone::Soft | Tone::Small | Tone::Tooltip => self.paragraph(&text.words, "ink-soft", ""),
            Tone::Warning => self.paragraph(&text.words, "literal", ""),
            Tone::Code => self.paragraph(&text.words, "ink", " font-family=\"monospace\""),
        }
    }

    /// Writes text in lines that are at most as wide as the picture.
    fn paragraph(&mut self, text: &str, ink: &str, look: &str) {
        let ink = colour(ink);
        for line in wrapped(&cut(text, WORDS_MAX), self.width) {
            self.y += LINE;
            let (y, line) = (self.y - LINE + FONT_SIZE, words(&line, WORDS_MAX));
            let _ = write!(self.body, "<text x=\"{MARGIN}\" y=\"{y:.1}\" fill=\"{ink}\"{look}>{line}</text>");
        }
        self.y += GAP / 2.0;
    }

    fn caption(&mut self, caption: &str) {
        if !caption.is_empty() {
            self.line(caption, FONT_SIZE, "ink", " font-weight=\"bold\"");
        }
    }

    /// Draws a table, with words aligned left and numbers aligned right.
    fn table(&mut self, table: &Table) {
        self.caption(&table.caption);
        let cells = |row: &[crate::sheet::TableCell]| row.iter().map(|cell| cut(&cell.words, NAME_MAX)).collect();
        let lines: Vec<Vec<String>> = [table.columns.iter().map(|name| cut(name, NAME_MAX)).collect()]
            .into_iter()
            .chain(table.rows.iter().map(|row| cells(row)))
            .collect();
        let widest = |col: usize| lines.iter().filter_map(move |line| line.get(col)).map(|cell| width(cell, FONT_SIZE));
        let widths: Vec<f32> = (0..table.columns.len()).map(|col| widest(col).fold(0.0, f32::max) + GAP).collect();
        let is_number = |col: usize| table.rows.iter().any(|row| row.get(col).is_some_and(|cell| cell.value.is_some()));
        for (place, line) in lines.iter().enumerate() {
            let ink = colour(if place == 0 { "ink-soft" } else { "ink" });
            let y = self.y + FONT_SIZE;
            let mut x = MARGIN;
            for (col, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let (at, anchor) = if is_number(col) { (x + width - GAP, "end") } else { (x, "start") };
                let cell = words(cell, NAME_MAX + 1);
                let _ = write!(
                    self.body,
                    "<text x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{ink}\">{cell}</text>"
                );
                x += width;
            }
            self.y += LINE;
            self.width = self.width.max(x - MARGIN);
        }
        self.y += GAP;
    }

    fn bars(&mut self, bars: &Bars) {
        const LONGEST: f32 = 240.0;
        const NUMBER: f32 = 64.0;
        self.caption(&bars.caption);
        let names = bars.ranking.rows.iter().map(|row| width(&cut(&row.word, NAME_MAX), FONT_SIZE)).fold(0.0, f32::max);
        let from = MARGIN + names + GAP;
        let zero = if bars.ranking.has_negative { from + LONGEST / 2.0 } else { from };
        for row in &bars.ranking.rows {
            let share = row.share.unwrap_or(0.0) * if bars.ranking.has_negative { 0.5 } else { 1.0 };
            let (x, long) = (zero + LONGEST * share.min(0.0), LONGEST * share.abs());
            let (y, word, number) = (self.y, words(&row.word, NAME_MAX), words(&row.shown, NAME_MAX));
            let _ = write!(
                self.body,
                "<text x=\"{MARGIN}\" y=\"{0:.1}\">{word}</text><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{long:.1}\" \
                 height=\"{FONT_SIZE}\" fill=\"{1}\"/><text x=\"{2:.1}\" y=\"{0:.1}\" text-anchor=\"end\">{number}</text>",
                y + FONT_SIZE - 2.0,
                colour("accent"),
                from + LONGEST + NUMBER,
            );
            self.y += LINE;
        }
        self.y += GAP;
    }
}

/// Returns at most `max` characters of a text, escaped for XML; those that would change the direction of the text
/// around it are written as visible escapes.
fn words(text: &str, max: usize) -> String {
    escaped(&printable(&cut(text, max)).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}

/// Returns the estimated width of a text.
fn width(text: &str, size: f32) -> f32 {
    text.chars().map(|letter| if letter >= FIRST_SQUARE { size } else { LETTER * size }).sum()
}

/// Breaks a text into lines that fit into a width; a wider word gets a line of its own.
fn wrapped(text: &str, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && width(&line, FONT_SIZE) + width(word, FONT_SIZE) > room {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// The light palette of pages.
const LIGHT: &str = include_str!("web_page/light.css");

/// Returns a colour of the light palette by its name, such as `#35597f` for `head-0`, or black if there is none.
fn colour(name: &str) -> &'static str {
    let declared = LIGHT.split([';', '\n']).filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "));
    declared.into_iter().find(|(other, _)| *other == name).map_or("#000000", |(_, value)| value)
}

/// Returns red, green and blue of a colour of the palette.
fn rgb(name: &str) -> [u8; 3] {
    let hex = colour(name).trim_start_matches('#');
    [0, 2, 4].map(|at| hex.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_that_is_named_is_in_the_palette() {
        for name in
            ["ink", "ink-soft", "stage", "raised", "accent", "literal", "negative", "positive", "head-0", "head-5"]
        {
            assert!(LIGHT.contains(&format!("--{name}: #")), "{name}");
        }
        assert_eq!((colour("head-0"), rgb("head-0")), ("#35597f", [0x35, 0x59, 0x7f]));
    }

    #[test]
    fn no_word_is_markup_or_steers_another() {
        assert_eq!(words("<a \"b\" & 'c'>", 99), "&lt;a &quot;b&quot; &amp; &#39;c&#39;&gt;");
        assert_eq!(words("a\u{202e}b\u{0}\u{ffff}", 99), "a\\u{202e}b\\u{0}\u{fffd}");
        assert_eq!(words(&"x".repeat(100_000), 3), "xx…");
    }

    #[test]
    fn lines_are_no_wider_than_their_room_unless_one_word_is() {
        assert_eq!(wrapped("one two three", width("one two", FONT_SIZE)), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable x", 1.0), ["unbreakable", "x"]);
        assert_eq!(wrapped("a\n\nb", 99.0), ["a", "", "b"]);
    }
}
