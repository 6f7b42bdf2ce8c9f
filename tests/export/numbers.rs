//! Tables, rankings and plots say the numbers that they are of.

use attune_engine::code::{Axis, Output, Plot, PlotLine, Tensor};
use attune_view::export::figures::{plot_svg, table_blocks, table_html, table_plain};
use attune_view::export::markdown::restated;
use attune_view::export::web_page::output_html;
use attune_view::view_model::output::{OutputModel, PlotModel, TableModel};

fn table_of(tensor: Tensor) -> TableModel {
    TableModel::of(&"".into(), &tensor)
}

fn words(words: &[&str]) -> Axis {
    Axis::labelled(words.iter().map(|word| (*word).to_owned()).collect())
}

fn odd() -> TableModel {
    let numbers = vec![0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.25, f64::from(0.1_f32)];
    table_of(Tensor::new(vec![words(&["bank", "ri|ver"]), words(&["a", "<b>", "c"])], numbers))
}

#[test]
fn numbers_that_are_none_are_said() {
    let html = table_html(&odd());
    for number in ["NaN", "∞", "-∞"] {
        assert!(html.contains(&format!("<td title=\"{number}\">{number}</td>")), "not shaded: {html}");
    }
    assert!(html.contains("title=\"0.1\">0.100</td>"), "every digit on demand: {html}");
    assert!(html.contains("rgba(222,112,28,0.55)\" title=\"0.5\""), "the largest is the darkest: {html}");
    assert!(html.contains("<th scope=\"col\">&lt;b&gt;</th>"), "{html}");
}

fn as_markdown(table: &TableModel) -> String {
    let blocks: Option<Vec<String>> = table_blocks(table).iter().map(|block| restated(block)).collect();
    blocks.expect("tables can be spelt").join("\n")
}

#[test]
fn tables_as_text() {
    let plain = "           a    <b>      c\n  bank  0.500    NaN      ∞\nri|ver     -∞  -0.250  0.100";
    let markdown = "||a|&lt;b>|c|\n|:-|-:|--:|-:|\n|bank|0.500|NaN|∞|\n|ri\\|ver|-∞|-0.250|0.100|";
    assert_eq!(as_markdown(&odd()), markdown);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&table_plain(&odd())), squeezed(plain));
}

#[test]
fn a_large_table_is_cut_and_says_so() {
    let large = table_of(Tensor::new(vec![Axis::plain(3), Axis::plain(500), Axis::plain(400)], vec![0.5; 600_000]));
    let (html, markdown, plain) = (table_html(&large), as_markdown(&large), table_plain(&large));
    assert!(html.contains("the first 100 of 500 rows, 64 of 400 columns of the (3, 500, 400) tensor"));
    assert!(markdown.contains("the first 40 of 500 rows, 16 of 400 columns"), "{markdown}");
    assert!(html.len() < 2_000_000 && markdown.len() < 50_000 && plain.len() < 50_000);
}

#[test]
fn rankings() {
    let output =
        Output::Ranking([("river".to_owned(), 0.5), ("<b>".to_owned(), -1.0), ("odd".to_owned(), f64::NAN)].into());
    let html = output_html(&OutputModel::of(&output), &attune_view::export::Pictures::default());
    assert!(html.contains("&lt;b&gt;</th>") && html.contains(">-1.000</td>") && html.contains(">NaN</td>"), "{html}");
}

fn plot(x: &[f64], y: &[f64]) -> String {
    let line = PlotLine { name: "<y>".to_owned(), y: y.into() };
    plot_svg(&PlotModel::of(&Plot { x: x.into(), lines: vec![line], ..Plot::default() }))
}

#[test]
fn a_plot_is_where_its_numbers_are() {
    let drawn = plot(&[0.0, 1.0, 2.0], &[0.0, 5.0, 10.0]);
    // Linear between the corners of the drawing.
    assert!(drawn.contains("points=\"62.0,250.0 344.0,142.0 626.0,34.0\""), "{drawn}");
    assert!(drawn.contains("&lt;y&gt;") && !drawn.contains("<y>"), "{drawn}");
}

#[test]
fn plots_of_any_numbers_are_drawn() {
    let widest = [f64::MIN, 0.0, f64::MAX];
    for y in
        [&widest[..], &[0.0, 0.0, 0.0], &[1e-300, 2e-300, 3e-300], &[f64::NAN, 1.0, f64::INFINITY], &[5e-324, 0.0, 0.0]]
    {
        for x in [&[0.0, 1.0, 2.0][..], &widest, &[7.0, 7.0, 7.0], &[f64::MAX; 3]] {
            let drawn = plot(x, y);
            let places = drawn.split("points=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
            assert!(places.clone().all(|places| !places.contains("NaN") && !places.contains("inf")), "{y:?}: {drawn}");
        }
    }
    let empty = plot_svg(&PlotModel::of(&Plot::default()));
    assert!(empty.ends_with("</svg>"));
}
