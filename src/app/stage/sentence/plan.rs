//! Places of the words: a row for each sentence where it fits, two where it does not, else one that scrolls.

use attune_view::view_model::sentence_arcs::{ArcWord, SentenceArcs, WordAt};
use attune_view::view_model::side::Side;
use egui::{Pos2, Rect, Vec2};

/// Sizes of the type, the largest that fits; a sentence that none fits has two rows.
const ONE_ROW: [f32; 7] = [24.0, 22.0, 20.0, 18.0, 16.5, 15.0, 14.0];
const TWO_ROWS: [f32; 4] = [17.0, 16.0, 15.0, 14.0];
const LEAST: f32 = 14.0;
/// Shares of the type's size: a row's height, the room in a word's rectangle beside its letters, and between two of
/// these.
const LEADING: f32 = 1.4;
const PADDING: f32 = 0.22;
const SPACE: f32 = 0.18;

/// Height of the arcs above the first row, and of what lies between two rows and below the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    pub width: f32,
    pub above: f32,
    pub between: f32,
    pub below: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlacedWord {
    pub at: WordAt,
    pub row: usize,
    pub rect: Rect,
}

/// From the top left corner; wider than its room where it scrolls.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub size: Vec2,
    pub font: f32,
    pub words: Vec<PlacedWord>,
    /// Height of the arcs above each row.
    pub rooms: Vec<f32>,
}

impl Plan {
    /// `measure` tells the width of a text in a size of the type.
    pub fn of<'a>(model: &'a SentenceArcs, room: Room, measure: impl Fn(&str, f32) -> f32) -> Self {
        // Pieces for which the first one of their word stands have no place.
        let placed = |words: &'a [ArcWord]| -> Vec<(usize, &'a ArcWord)> {
            words.iter().enumerate().filter(|(_, word)| !word.is_part).collect()
        };
        let lines: Vec<(Side, Vec<(usize, &ArcWord)>)> =
            [(Side::Source, placed(&model.source)), (Side::Sentence, placed(&model.words))]
                .into_iter()
                .filter(|(_, words)| !words.is_empty())
                .collect();
        let widths = |words: &[(usize, &ArcWord)], font: f32| -> Vec<f32> {
            words.iter().map(|(_, word)| measure(&word.label, font) + 2.0 * PADDING * font).collect()
        };
        let positions =
            |words: &[(usize, &ArcWord)]| -> Vec<usize> { words.iter().map(|(position, _)| *position).collect() };
        let whole = |words: &[(usize, &ArcWord)], font: f32| row_width(&widths(words, font), font);
        let fits = |font: f32| lines.iter().all(|(_, words)| whole(words, font) <= room.width);
        if let Some(font) = ONE_ROW.into_iter().find(|font| fits(*font)) {
            let rows = lines.iter();
            let rows =
                rows.map(|(side, words)| Row { side: *side, positions: positions(words), widths: widths(words, font) });
            return Self::laid(rows.collect(), font, room);
        }
        if let [(side, words)] = &lines[..] {
            for font in TWO_ROWS {
                let all = widths(words, font);
                let longer = |split: &usize| row_width(&all[..*split], font).max(row_width(&all[*split..], font));
                let split = (1..all.len()).min_by(|a, b| longer(a).total_cmp(&longer(b)));
                if let Some(split) = split.filter(|split| longer(split) <= room.width) {
                    let positions = positions(words);
                    let row = |of: std::ops::Range<usize>| Row {
                        side: *side,
                        positions: positions[of.clone()].to_vec(),
                        widths: all[of].to_vec(),
                    };
                    return Self::laid(vec![row(0..split), row(split..all.len())], font, room);
                }
            }
        }
        let rows = lines.iter();
        let rows =
            rows.map(|(side, words)| Row { side: *side, positions: positions(words), widths: widths(words, LEAST) });
        Self::laid(rows.collect(), LEAST, room)
    }

    fn laid(rows: Vec<Row>, font: f32, room: Room) -> Self {
        let widest = rows.iter().map(|row| row_width(&row.widths, font)).fold(room.width, f32::max);
        let height = font * LEADING;
        let mut words = Vec::new();
        let mut rooms = Vec::new();
        let mut y = 0.0;
        for (index, row) in rows.iter().enumerate() {
            let above = if index == 0 { room.above } else { room.between };
            rooms.push(above);
            y += above;
            let mut x = (widest - row_width(&row.widths, font)) / 2.0;
            for (position, width) in row.positions.iter().zip(&row.widths) {
                let rect = Rect::from_min_size(Pos2::new(x, y), Vec2::new(*width, height));
                words.push(PlacedWord { at: WordAt { side: row.side, position: *position }, row: index, rect });
                x += width + SPACE * font;
            }
            y += height;
        }
        Self { size: Vec2::new(widest, y + room.below), font, words, rooms }
    }

    pub fn place(&self, at: WordAt) -> Option<&PlacedWord> {
        self.words.iter().find(|word| word.at == at)
    }
}

struct Row {
    side: Side,
    /// Positions of its words.
    positions: Vec<usize>,
    widths: Vec<f32>,
}

fn row_width(widths: &[f32], font: f32) -> f32 {
    widths.iter().sum::<f32>() + SPACE * font * widths.len().saturating_sub(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(width: f32, source: &str, sentence: &str) -> Plan {
        let room = Room { width, above: 40.0, between: 30.0, below: 12.0 };
        Plan::of(&SentenceArcs::of_texts(source, sentence), room, |text, font| text.chars().count() as f32 * font * 0.5)
    }

    const LONG: &str = "apple launched a new phone while i was eating an apple";

    #[test]
    fn a_sentence_has_the_largest_type_that_fits_then_two_rows_then_it_scrolls() {
        let seen = |width| {
            let plan = plan(width, "", LONG);
            let rows = plan.words.last().expect("words").row + 1;
            (plan.font, rows, plan.size.x > width)
        };
        assert_eq!(seen(1200.0), (24.0, 1, false));
        assert_eq!(seen(560.0).1, 1);
        let (font, rows, scrolls) = seen(360.0);
        assert!(font >= 14.0 && rows == 2 && !scrolls);
        assert_eq!(seen(120.0), (14.0, 1, true));
    }

    #[test]
    fn words_lie_beside_each_other_in_their_order_and_within_the_plan() {
        for (width, source) in [(1200.0, ""), (360.0, ""), (500.0, "nine two three"), (90.0, "nine two three")] {
            let plan = plan(width, source, LONG);
            for pair in plan.words.windows(2).filter(|pair| pair[0].row == pair[1].row) {
                assert!(pair[0].rect.right() < pair[1].rect.left(), "{width}: {pair:?}");
            }
            let whole = Rect::from_min_size(Pos2::ZERO, plan.size);
            assert!(plan.words.iter().all(|word| whole.contains_rect(word.rect)), "{width}");
            assert_eq!(plan.rooms[0], 40.0);
            assert_eq!(plan.place(WordAt::in_sentence(10)).map(|word| word.at.position), Some(10));
        }
        assert_eq!(plan(500.0, "nine two", "un deux").words[0].at, WordAt::in_source(0), "the source lies above");
        assert_eq!(plan(500.0, "", "").words, []);
    }
}
