//! Text cells, without a window: formulas on the baseline, pictures from one folder, nothing hostile gets through.
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use attune::app::text::images::Images;
use attune::app::text::prose::document::ProseDocument;
use attune::app::text::prose::flow::{Ink, ItemKind, TextItem, TextNote};
use attune::app::text::prose::layout::TextLayout;
use attune::app::text::prose::{Prose, prose_ui};
use attune::app::theme::{self, fonts};
use attune_core::lesson::live_text::LessonText;
use attune_core::lesson::pictures::SIDE_MAX;
use egui::{Context, RawInput, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const WIDTH: f32 = 340.0;

/// A context in the app's own style.
fn context() -> Context {
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme::apply(&ctx);
    ctx.run_ui(RawInput::default(), |_| {}).textures_delta.clear();
    ctx
}

fn set_in(markdown: &str, width: f32, images: &mut Images) -> TextLayout {
    let document = ProseDocument::read(&markdown.into());
    context().fonts_mut(|fonts| TextLayout::of(&document, width, fonts, images, None))
}

fn set(markdown: &str) -> TextLayout {
    set_in(markdown, WIDTH, &mut Images::default())
}

fn texts(placed: &[TextItem]) -> Vec<(&str, f32, Ink)> {
    let of = |placed: &TextItem| placed.at.y;
    placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Text { text, format, .. } => Some((text.as_str(), of(placed), format.ink)),
            _ => None,
        })
        .collect()
}

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prose-{name}"));
    std::fs::create_dir_all(&folder).expect("a writable target folder");
    folder
}

/// A link that an earlier run left is as good.
#[cfg(unix)]
fn present(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

fn picture(path: &Path, width: u32, height: u32) {
    image::RgbaImage::from_pixel(width, height, image::Rgba([200, 90, 30, 255]))
        .save(path)
        .expect("a writable target folder");
}

#[test]
fn words_code_and_formulas_share_a_baseline() {
    let layout = set("The sum $\\sum_j \\alpha_{ij}$ of `alpha` and *more*");
    let baselines: Vec<f32> = layout
        .placed
        .iter()
        .filter(|placed| matches!(placed.what, ItemKind::Text { .. } | ItemKind::Formula { .. }))
        .map(|placed| placed.at.y)
        .collect();
    assert_eq!(baselines.len(), 6, "{layout:?}");
    assert!(baselines.iter().all(|y| *y == baselines[0]), "{baselines:?}");
}

#[test]
fn a_comma_never_parts_from_its_formula() {
    for width in 60..300 {
        let layout = set_in("one two $x_i$, three $y_j$. four", width as f32, &mut Images::default());
        for (i, placed) in layout.placed.iter().enumerate() {
            if let ItemKind::Formula { .. } = placed.what {
                assert_eq!(placed.at.y, layout.placed[i + 1].at.y, "at width {width}");
            }
        }
    }
}

#[test]
fn lines_end_within_the_column_and_words_stay_whole() {
    let markdown = "Every token asks a *query* and offers a **key**, a `value` and a-hyphenated-word ".repeat(6);
    for width in [60.0, 140.0, 340.0] {
        let layout = set_in(&markdown, width, &mut Images::default());
        for placed in &layout.placed {
            if let ItemKind::Text { text, width: run, .. } = &placed.what {
                assert!(placed.at.x + run <= width + 0.5, "{text:?} ends at {} of {width}", placed.at.x + run);
            }
        }
    }
    let long = "x".repeat(400);
    let layout = set_in(&long, 100.0, &mut Images::default());
    assert_eq!(texts(&layout.placed).iter().map(|(text, ..)| text.len()).sum::<usize>(), 400);
    assert!(texts(&layout.placed).len() > 20, "a word longer than a line is cut");
}

#[test]
fn a_bad_formula_shows_its_source_and_says_why() {
    let layout = set("before $\\foo + 1$ after\n\n$$x^{y$$");
    let wrong: Vec<_> = layout
        .placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Text { text, format, .. } if format.ink == Ink::Error => {
                Some((text.as_str(), format.note.clone()))
            }
            _ => None,
        })
        .collect();
    let tip = "Undefined control sequence: \\foo (at character 1)";
    assert_eq!(wrong[0], ("\\foo + 1", Some(TextNote::Tip(tip.into()))));
}

#[test]
fn what_is_wider_than_the_column_scrolls_by_itself() {
    let sum = (1..40).map(|i| format!("x_{{{i}}}")).collect::<Vec<_>>().join("+");
    let table = "|a long heading of a column".repeat(9);
    let wide = [format!("$$y={sum}$$"), format!("{table}|\n{}|\n{table}|", "|-".repeat(9))];
    for markdown in wide {
        let layout = set(&markdown);
        let scrolls = layout.placed.iter().any(|placed| match &placed.what {
            ItemKind::Scroll { size, content, .. } => size.x == WIDTH && content.x > WIDTH,
            _ => false,
        });
        assert!(scrolls, "{}", &markdown[..20]);
    }
}

#[test]
fn a_long_line_of_code_goes_on_in_the_next() {
    let line = "let sum = a + b; ".repeat(20);
    let short = set("```\nlet sum = a;\n```");
    let long = set(&format!("```\n{line}\n```"));
    let is_within =
        |placed: &TextItem| !matches!(&placed.what, ItemKind::Text { width, .. } if placed.at.x + width > WIDTH);
    assert!(long.placed.iter().all(is_within), "{:?}", long.placed);
    assert!(!long.placed.iter().any(|placed| matches!(placed.what, ItemKind::Scroll { .. })));
    assert!(long.height > 3.0 * short.height, "{} of {}", long.height, short.height);
}

#[test]
fn a_table_is_set_in_smaller_letters_before_it_scrolls() {
    let row = |columns: usize| "| 42 % ".repeat(columns);
    let table = |columns: usize| format!("{}|\n{}|\n{}|", row(columns), "|-".repeat(columns), row(columns));
    let letters = |markdown: &str| {
        let layout = set(markdown);
        let size = |placed: &TextItem| match &placed.what {
            ItemKind::Text { format, .. } => Some(format.size),
            _ => None,
        };
        let scrolls = layout.placed.iter().any(|placed| matches!(placed.what, ItemKind::Scroll { .. }));
        (layout.placed.iter().find_map(size), scrolls)
    };
    let fits = (1..).take_while(|columns| letters(&table(*columns)) == letters(&table(1))).count();
    let (smaller, scrolls) = letters(&table(fits + 2));
    assert!(smaller < letters(&table(1)).0 && smaller.is_some() && !scrolls, "{fits} columns fit: {smaller:?}");
    assert!(letters(&table(4 * fits)).1, "in the end it scrolls");
}

#[test]
fn a_narrow_column_has_room_for_code_and_the_mark_behind_it() {
    let words = "Many words that go on to a second line, and to a third one ".repeat(4);
    for cell in ["`attention_weights`,", "`attention`/`weights`", "(`attention_weights`)"] {
        let layout = set(&format!("| a | b |\n|---|---|\n| {words} | {cell} |"));
        for placed in &layout.placed {
            if let ItemKind::Text { text, width, .. } = &placed.what {
                let end = placed.at.x + width;
                assert!(end <= WIDTH + 0.1, "{cell}: {text:?} ends at {end} of {WIDTH}");
            }
        }
    }
}

#[test]
fn a_wide_formula_among_words_is_shrunk_and_then_scrolls() {
    let sum = |terms: usize| (1..terms).map(|i| format!("x_{{{i}}}")).collect::<Vec<_>>().join("+");
    let layout = set(&format!("so ${}$, and", sum(40)));
    let scrolls: Vec<_> = layout
        .placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Scroll { size, content, .. } => Some((placed.at, *size, *content)),
            _ => None,
        })
        .collect();
    let [(at, size, content)] = scrolls[..] else { panic!("{layout:?}") };
    assert!(content.x > size.x && at.x + size.x <= WIDTH, "{at:?} {size:?}");
    let comma = texts(&layout.placed).into_iter().position(|(text, ..)| text.starts_with(','));
    assert!(comma.is_some() && layout.height > size.y);
    for terms in 3..40 {
        let layout = set(&format!("${}$", sum(terms)));
        let Some(TextItem { at, what }) = layout.placed.first() else { panic!() };
        let width = match what {
            ItemKind::Formula { maths, size, .. } => maths.formula.as_ref().unwrap().width * size,
            ItemKind::Scroll { size, .. } => size.x,
            _ => panic!("{what:?}"),
        };
        assert!(at.x + width <= WIDTH + 1.0, "{terms} terms take {width}");
    }
}

#[test]
fn a_formula_without_a_brace_is_words_with_a_mark() {
    let layout = set("before $x^{y$ after\n\nand $$a}$$");
    let marked: Vec<_> = layout
        .placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Text { text, format, .. } => format.note.clone().map(|note| (text.as_str(), format.ink, note)),
            _ => None,
        })
        .collect();
    let tip = |why: &str| TextNote::Tip(why.into());
    assert_eq!(
        marked,
        [
            ("$x^{y$", Ink::Plain, tip("Not a formula, because a { has no } after it")),
            ("$$a}$$", Ink::Plain, tip("Not a formula, because a } has no { before it")),
        ]
    );
}

#[test]
fn code_in_a_text_has_the_colours_of_code() {
    let harness = show("```rhai\nlet a = 1;\n```\n\n```python\nlet = 1\n```".into(), Rc::default());
    let palette = theme::Palette::of(true);
    let colors = |wanted: &str| {
        let shapes = harness.output().shapes.iter();
        let job = shapes.filter_map(|shape| match &shape.shape {
            egui::Shape::Text(text) if text.galley.job.text == wanted => Some(text.galley.job.clone()),
            _ => None,
        });
        job.flat_map(|job| job.sections.iter().map(|section| section.format.color).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(colors("let a = 1;")[..2], [palette.code.keyword, palette.code.variable]);
    assert_eq!(colors("let = 1").len(), 1, "another language is left alone");
}

#[test]
fn a_picture_comes_from_the_lessons_folder() {
    let folder = folder("inside");
    picture(&folder.join("figure.png"), 600, 300);
    image::RgbImage::new(40, 20).save(folder.join("photo.jpg")).unwrap();
    let mut images = Images::default();
    images.open(&folder.join("lesson.ron"));
    let layout = set_in("![A figure](figure.png) ![A photo](./photo.jpg)", WIDTH, &mut images);
    let sizes: Vec<_> = layout
        .placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Image { size, .. } => Some(*size),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [egui::vec2(WIDTH, WIDTH / 2.0), egui::vec2(40.0, 20.0)], "{layout:?}");
}

#[test]
fn a_picture_from_elsewhere_is_refused_with_its_reason() {
    let outer = folder("outside");
    let inner = outer.join("lesson");
    std::fs::create_dir_all(inner.join("directory.png")).unwrap();
    picture(&outer.join("secret.png"), 8, 8);
    std::fs::write(inner.join("text.png"), "no picture").unwrap();
    std::fs::write(inner.join("cut.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
    std::fs::write(inner.join("moves.gif"), b"GIF89a\x01\0\x01\0").unwrap();
    picture(&inner.join("wide.png"), SIDE_MAX + 1, 1);
    #[cfg(unix)]
    std::os::unix::fs::symlink(outer.join("secret.png"), inner.join("link.png")).or_else(present).unwrap();
    let absolute = outer.join("secret.png").display().to_string();
    let mut images = Images::default();
    images.open(&inner.join("lesson.ron"));
    let cases = [
        ("../secret.png", "outside"),
        ("a/../../secret.png", "outside"),
        (absolute.as_str(), "outside"),
        ("..\\secret.png", "outside"),
        ("https://example.com/a.png", "network"),
        ("file:///etc/passwd", "network"),
        ("data:image/png;base64,AAAA", "network"),
        ("missing.png", "no such file"),
        ("directory.png", "not a file"),
        ("text.png", "neither PNG nor JPEG"),
        ("cut.png", "damaged"),
        ("moves.gif", "neither PNG nor JPEG"),
        ("wide.png", "pixels"),
        #[cfg(unix)]
        ("link.png", "outside"),
    ];
    for (path, expected) in cases {
        let why = images.size(path).unwrap_err();
        assert!(why.contains(expected), "{path}: {why}");
    }
    let layout = set_in("![A secret](../secret.png)", WIDTH, &mut images);
    let shown: Vec<_> = texts(&layout.placed).into_iter().map(|(text, ..)| text).collect();
    assert_eq!(shown.join(""), "A secret(outside the lesson's folder)");
}

/// Shows one text cell in the app's own style; the pictures' decoding is waited for.
fn show(markdown: LessonText, prose: Rc<RefCell<Prose>>) -> Harness<'static> {
    let mut dressed = false;
    let mut harness = Harness::builder().with_size(egui::vec2(WIDTH, 640.0)).build_ui(move |ui| {
        if !dressed {
            ui.ctx().set_fonts(fonts::definitions());
            theme::apply(ui.ctx());
            dressed = true;
            return;
        }
        prose_ui(ui, &markdown, &mut prose.borrow_mut());
    });
    harness.run();
    harness
}

#[test]
fn a_cell_is_read_out_with_its_formulas() {
    let harness = show("# Title\n\nThe key $k_j$ is **here**.".into(), Rc::default());
    harness.get_by_label("Title");
    harness.get_by_label("The key k_j is here.");
}

#[test]
fn pictures_are_decoded_beside_the_window() {
    let folder = folder("decode");
    picture(&folder.join("figure.png"), 60, 30);
    let prose: Rc<RefCell<Prose>> = Rc::default();
    prose.borrow_mut().images.open(&folder.join("lesson.ron"));
    let mut harness = show("![A figure](figure.png)".into(), prose.clone());
    let started = Instant::now();
    while prose.borrow_mut().images.texture(&harness.ctx, "figure.png").is_none() {
        assert!(started.elapsed().as_secs() < 20, "never decoded");
        harness.run();
    }
    harness.get_by_label("A figure");
}

#[test]
fn hostile_text_is_shown_without_harm() {
    let hostile = [
        "> ".repeat(30_000),
        "- ".repeat(30_000),
        "$".repeat(60_000),
        "$$".repeat(30_000),
        "[![".repeat(20_000),
        format!("${}{}$", "{".repeat(900), "}".repeat(900)),
        format!("{}\n{}\n{}", "|a".repeat(900), "|-".repeat(900), "|\n".repeat(900)),
        "\u{202e}\u{200b}\u{0301}\0\u{feff}🏴‍☠️ مرحبا 漢字".repeat(500),
        "$\\rule{9999em}{9999em}$ $\\kern-99999em x$".to_owned(),
        "![](/dev/zero) ![a](/etc/passwd) [x](javascript:alert(1)) <script>alert(1)</script>".to_owned(),
        "\u{0301}".repeat(9000),
        String::new(),
    ];
    for markdown in hostile {
        for width in [1.0, 40.0, WIDTH] {
            let layout = set_in(&markdown, width, &mut Images::default());
            assert!(layout.height.is_finite() && layout.height < 2e6, "{}", layout.height);
        }
    }
    show("$\\frac{a}{b}$ ![x](../y.png) `code` $$\\left\\{\\begin{matrix}1\\\\2\\\\3\\\\4\\\\5\\end{matrix}\\right.$$ $$\\oiint \\xrightarrow{abc} \\cancel{x}$$".into(), Rc::default());
}

#[test]
fn links_open_the_web_only() {
    let layout = set("[a](https://a.example) [b](file:///etc/passwd) [c](javascript:x) [d](HTTP://d.example)");
    let links: Vec<bool> = layout
        .placed
        .iter()
        .filter_map(|placed| match &placed.what {
            ItemKind::Text { format, .. } => Some(matches!(format.note, Some(TextNote::Link(_)))),
            _ => None,
        })
        .collect();
    assert_eq!(links, [true, false, false, true]);
}

/// The first look at 1,000 cells lays them out; every later look is a look-up. They are out of sight, so nothing is
/// painted.
#[test]
fn a_thousand_cells_are_laid_out_once() {
    let cells: Vec<LessonText> = (0..1000)
        .map(|i| format!("## Cell {i}\n\nThe weight $\\alpha_{{{i}}}$ of *token* {i}. {}\n\n$$y_{{{i}}} = \\sum_j \\alpha_{{{i}j}} v_j$$", "And some words. ".repeat(12)).into())
        .collect();
    let mut prose = Prose::default();
    let ctx = context();
    let mut pass = || {
        let (started, mut height) = (Instant::now(), 0.0);
        let mut output = ctx.run_ui(RawInput::default(), |ui| {
            ui.set_max_width(WIDTH);
            ui.set_clip_rect(Rect::NOTHING);
            cells.iter().for_each(|cell| prose_ui(ui, cell, &mut prose));
            height = ui.min_rect().height();
        });
        output.textures_delta.clear();
        (height, started.elapsed())
    };
    let (first, once) = pass();
    let (second, again) = pass();
    println!("1,000 cells: {once:?}, then {again:?}");
    assert_eq!(first, second);
    assert!(again < once / 4, "{once:?}, then {again:?}");
}
