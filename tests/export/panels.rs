//! Panels in exports: the numbers are the window's, the pictures are valid, and no word is more than text.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::panels::PanelName;
use attune_view::export::markdown::MarkdownWriter;
use attune_view::export::page::PageItem;
use attune_view::export::{Pictures, sheet_html, sheet_svg};
use attune_view::panels::{PANELS, sheets};
use attune_view::sheet::grid::short;
use attune_view::sheet::{
    Bars, Cells, Choice, Fold, FoldContent, Grid, Grids, Item, Mark, Meter, Scale, Sheet, Table, TableCell, Tile, Tiles,
};
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::heads::AllHeads;
use attune_view::view_model::output::{RankingModel, RankingRow, full};
use attune_view::view_model::tensors::WeightsModel;
use quick_xml::events::Event;
use quick_xml::{Reader, XmlVersion};

use crate::common::chromium::ask;
use crate::common::lessons::{SMALL, lesson};
use crate::hostile::check_page;
use crate::{APPLE_RUN, NOTEBOOK_RUN, as_html, as_md, text};

fn svg(sheets: &[Sheet]) -> String {
    text(|to| sheet_svg::write(sheets, to).expect("it is written"))
}

fn all_panels() -> Vec<PanelName> {
    PANELS.iter().map(|(panel, _)| *panel).collect()
}

/// A text of a picture, and the title within it.
#[derive(Debug, Default, PartialEq)]
struct Written {
    text: String,
    title: String,
}

/// The texts of a picture in its order, if it is XML without anything that runs or is fetched.
#[track_caller]
fn texts(picture: &str) -> Vec<Written> {
    let mut reader = Reader::from_str(picture);
    let (mut texts, mut open): (Vec<Written>, Vec<String>) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().unwrap_or_else(|why| panic!("{why} at {}", reader.buffer_position()));
        match event {
            Event::Start(tag) | Event::Empty(tag) if !is_known(&tag) => panic!("{tag:?} in a picture"),
            Event::Start(tag) => {
                open.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
                if tag.name().as_ref() == b"text" {
                    texts.push(Written::default());
                }
            }
            Event::End(_) => _ = open.pop(),
            Event::Text(words) => add(&mut texts, &open, &words.xml_content(XmlVersion::Explicit1_0).expect("text")),
            Event::GeneralRef(reference) => {
                add(&mut texts, &open, &format!("&{};", String::from_utf8_lossy(&reference)))
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert!(open.is_empty(), "elements that are not closed: {open:?}");
    texts
}

fn add(texts: &mut [Written], open: &[String], words: &str) {
    let Some(last) = texts.last_mut() else { return };
    match open {
        [.., outer, inner] if outer == "text" && inner == "title" => last.title.push_str(words),
        [.., inner] if inner == "text" => last.text.push_str(words),
        _ => {}
    }
}

fn is_known(tag: &quick_xml::events::BytesStart<'_>) -> bool {
    const TAGS: [&[u8]; 9] = [b"svg", b"title", b"rect", b"g", b"text", b"path", b"line", b"polyline", b"circle"];
    let is_plain = |name: &[u8]| !name.starts_with(b"on") && !name.ends_with(b"href") && name != b"style";
    TAGS.contains(&tag.name().as_ref())
        && tag.attributes().all(|attribute| is_plain(attribute.expect("an attribute").key.as_ref()))
}

/// A number as a map writes it.
fn written(value: f32) -> Written {
    Written { text: short(value), title: full(f64::from(value)) }
}

/// The numbers of a picture's maps: texts that have all of their digits as a title.
fn numbers(picture: &str) -> Vec<Written> {
    texts(picture).into_iter().filter(|written| !written.title.is_empty()).collect()
}

#[test]
fn every_panel_is_a_picture_in_xml_and_the_same_each_time() {
    for snapshot in [&*NOTEBOOK_RUN, &*APPLE_RUN] {
        let picture = svg(&sheets(&all_panels(), snapshot));
        assert!(
            picture
                .starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" ")
        );
        let texts = texts(&picture);
        for (panel, _) in PANELS {
            assert!(texts.iter().any(|written| written.text == panel.title()), "{}", panel.title());
        }
        assert!(picture == svg(&sheets(&all_panels(), snapshot)), "byte for byte");
    }
}

#[test]
fn the_numbers_of_the_attention_maps_are_those_of_the_window() {
    let maps = AttentionMaps::of(&APPLE_RUN).expect("a model");
    let cells = |map| {
        let map: &attune_view::view_model::attention::HeadMap = map;
        let pairs = (0..map.queries.len()).flat_map(|query| (0..map.keys.len()).map(move |key| (query, key)));
        pairs
            .map(|(query, key)| map.cells.shown(Reading::default(), query, key).expect("no sinks"))
            .collect::<Vec<f32>>()
    };
    let shown: Vec<f32> = maps.heads.iter().flat_map(cells).collect();
    let expected: Vec<Written> = shown.iter().map(|value| written(*value)).collect();
    assert!(!expected.is_empty());
    assert_eq!(numbers(&svg(&sheets(&[PanelName::Attention], &APPLE_RUN))), expected);
    let page = sheet_html::html(&sheets(&[PanelName::Attention], &APPLE_RUN)[0], &mut 0);
    let titles: Vec<&str> = page.split(" title=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(titles, shown.iter().map(|value| full(f64::from(*value))).collect::<Vec<_>>());
}

#[test]
fn the_numbers_of_the_weights_are_those_of_the_window() {
    let snapshot = Kernel::trained(lesson(SMALL)).snapshot();
    let model = WeightsModel::of(&snapshot).expect("a model");
    let tensors = model.groups().into_iter().flat_map(|group| group.tensors);
    /// A map of more columns has no room for numbers.
    const NUMBERED_MAX: usize = 14;
    let tensors = tensors.filter(|tensor| (1..=NUMBERED_MAX).contains(&tensor.cols));
    let rows = tensors.flat_map(|tensor| (0..tensor.rows).flat_map(|row| tensor.row(row).into_owned()));
    let expected: Vec<Written> = rows.map(written).collect();
    assert!(!expected.is_empty());
    assert_eq!(numbers(&svg(&sheets(&[PanelName::Weights], &snapshot))), expected);
}

#[test]
fn a_panel_without_anything_to_show_says_so() {
    let untrained = Kernel::new(lesson(SMALL)).snapshot();
    for sheet in sheets(&all_panels(), &untrained) {
        let words = sheet_html::html(&sheet, &mut 0);
        assert!(words.contains("</p>"), "{words}");
    }
    let sheet = &sheets(&[PanelName::Attention], &untrained)[0];
    assert!(sheet_html::html(sheet, &mut 0).contains("The static vectors are being trained"), "{sheet:?}");
}

#[test]
fn a_page_has_the_panels_that_are_named_below_its_notebook() {
    let mut pictures = Pictures::of_panels(&[PanelName::Weights, PanelName::AllHeads]);
    pictures.why_no_stage = "no one drew it".to_owned();
    let page = as_html(&NOTEBOOK_RUN, &pictures);
    check_page(&page, &named(&page)).expect("tags that are known");
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} in\n{page}"));
    assert!(at("<h2>Weights</h2>") < at("<h2>All heads</h2>") && at("<h2>All heads</h2>") < at("<footer>"));
    let markdown = as_md(&NOTEBOOK_RUN, &pictures);
    assert!(markdown.contains("## Weights") && markdown.contains("](x_files/Weights-maps.svg)"), "{markdown}");
    assert!(!as_html(&NOTEBOOK_RUN, &Pictures::default()).contains("<h2>Weights</h2>"), "unless it is named");
}

/// Addresses that the page leads to.
fn named(page: &str) -> BTreeSet<String> {
    let urls = ["href=\"", "src=\""].iter().flat_map(|attribute| page.split(attribute).skip(1));
    urls.filter_map(|rest| rest.split('"').next()).map(|url| url.replace("&amp;", "&")).collect()
}

const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "\" onload=\"alert(2)",
    "'&<![CDATA[",
    "a\u{202e}b\u{2066}",
    "\u{0}\u{fffe}]]>--><?xml",
];

/// A sheet of every kind of item, all of whose words are hostile.
fn hostile() -> Sheet {
    let long = "x".repeat(100_000);
    let words: Vec<String> = HOSTILE.map(str::to_owned).into_iter().chain([long]).collect();
    let all = words.join(" ");
    let grid = |title: &str| Grid {
        title: title.to_owned(),
        rows: words.clone().into(),
        cols: words.clone().into(),
        cells: Cells::Numbers { values: vec![Some(f32::NAN); words.len() * words.len()], entries: Vec::new() },
        scale: Scale::Share { hue: usize::MAX, full: 0.0 },
        marked: vec![Mark { col: 0, about: all.clone() }],
    };
    let bar = |word: &String| RankingRow { word: word.clone(), number: 0.5, shown: word.clone(), share: None };
    let ranking = RankingModel { rows: words.iter().map(bar).collect(), has_negative: true };
    let row: Vec<TableCell> = words.iter().map(TableCell::words).collect();
    let content = FoldContent::Value { short: all.clone(), full: all.clone() };
    let fold = Fold { name: all.clone(), symbol: all.clone(), detail: all.clone(), about: all.clone(), content };
    let number = Some(f32::INFINITY);
    let tile = Tile { at: [0, 0], head: 0, spoken: all.clone(), number, share: 0.0, rank: Some(1) };
    let mut heads = AllHeads::of(APPLE_RUN.model.as_ref().expect("a model"));
    heads.heads[0].title.clone_from(&all);
    let tiles = Tiles {
        heads: Arc::new(heads),
        reading: Reading::default(),
        rows: words.clone(),
        cols: words.clone(),
        tiles: vec![tile],
        next: Choice::Head(None),
        legend: all.clone(),
    };
    let meter = Meter {
        letter: "X",
        name: all.clone(),
        shown: all.clone(),
        share: f32::NAN,
        spoken: all.clone(),
        hint: all.clone(),
    };
    let items = vec![
        Item::Heading(all.clone()),
        Item::text(&*all),
        Item::Fold(fold),
        Item::Grids(Grids { grids: vec![grid(&all)], as_lines: false, legend: all.clone() }),
        Item::Meter(meter),
        Item::Details { summary: "More", items: vec![Item::text(&*all)] },
        Item::Tiles(tiles),
        Item::Table(Table { caption: all.clone(), columns: words.clone(), rows: vec![row] }),
        Item::Bars(Bars { caption: all.clone(), ranking, entries: Vec::new() }),
    ];
    Sheet { title: "Hostile", items }
}

#[test]
fn hostile_words_are_text_in_every_export() {
    let sheet = hostile();
    let picture = svg(std::slice::from_ref(&sheet));
    let texts = texts(&picture);
    assert!(!picture.contains("<script") && !picture.contains('\u{202e}') && !picture.contains('\u{2066}'));
    assert!(texts.iter().any(|written| written.text.contains("&lt;script&gt;")), "the words are there");
    assert!(picture.len() < 200_000, "words of any length take little room: {}", picture.len());
    let page = format!("<style></style>{}", sheet_html::html(&sheet, &mut 0));
    check_page(&page, &BTreeSet::new()).expect("tags that are known");
    let pictures = Pictures::default();
    let mut markdown = MarkdownWriter::new(&pictures, "x_files/");
    markdown.item(&PageItem::Panel(sheet));
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&markdown.text));
    assert!(!html.contains("<script"), "{html}");
}

#[test]
fn a_picture_of_too_many_cells_says_what_it_leaves_out() {
    const SIDE: usize = 300;
    let names: Arc<[String]> = (0..SIDE).map(|at| at.to_string()).collect();
    let grid = Grid {
        title: "large".to_owned(),
        rows: names.clone(),
        cols: names,
        cells: Cells::Numbers { values: vec![Some(1.0); SIDE * SIDE], entries: Vec::new() },
        scale: Scale::Signed { full: 1.0 },
        marked: Vec::new(),
    };
    let grids = Grids { grids: vec![grid; 18], as_lines: false, legend: String::new() };
    let sheet = Sheet { title: "Large", items: vec![Item::Grids(grids)] };
    let picture = svg(std::slice::from_ref(&sheet));
    let said = |words: &str| assert!(picture.contains(words), "{words}");
    said("the first 256 rows and columns are drawn");
    said("12 of 18 maps are left out, because a picture has at most 400000 cells");
    let mut cells = 0;
    let mut page = || sheet_html::html(&sheet, &mut cells);
    assert!(page().contains("maps are left out, because a page has at most 100000 cells"));
    assert!(page().contains("18 of 18 maps are left out"), "the bound is that of all panels of a page");
}

#[test]
fn a_browser_draws_the_pictures_without_a_fault() {
    let ask_for = "const root = document.documentElement;
        return [root.nodeName, document.getElementsByTagName('parsererror').length, document.querySelectorAll('text').length,
            document.querySelectorAll('script').length, root.getBBox().width > 0];";
    let pages = [("apple.svg", svg(&sheets(&all_panels(), &APPLE_RUN))), ("hostile.svg", svg(&[hostile()]))];
    let pages = pages.each_ref().map(|(name, page)| (*name, page.as_str()));
    let Some(answers) = ask(&pages, &pages.map(|(name, _)| name.to_owned()), ask_for, (1280, 800)) else { return };
    for (answer, (name, page)) in answers.iter().zip(pages) {
        let drawn = texts(page).len();
        assert_eq!(*answer, serde_json::json!(["svg", 0, drawn, 0, true]), "{name}");
    }
}
