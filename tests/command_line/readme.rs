//! The pictures of the README and the page that it offers are what the program makes today: `bash docs/pictures.sh`
//! makes them.

use std::fs::{self, File};
use std::path::Path;

use image::{Rgb, RgbImage};

use crate::common::folder::Folder;
use crate::common::top::at;
use crate::program::{program, ran};

const SCRIPT: &str = include_str!("../../docs/pictures.sh");
const NO_DEVICE: i32 = 3;
/// Side of the squares that are compared by their means: what differs is not the edge of a letter.
const SQUARE: u32 = 8;
/// The largest mean difference of the squares' channels, of 255: another driver shades a little differently.
const TOLERANCE: f64 = 3.0;

/// The commands of the script that make files with this ending: the arguments before `-o`, and the file.
fn commands(ending: &str) -> Vec<(Vec<&'static str>, &'static str)> {
    let lines = SCRIPT.lines().filter_map(|line| line.strip_prefix("attune "));
    let parts = lines.filter_map(|line| line.split_once(" -o \"$folder/"));
    let named = parts.map(|(arguments, file)| (arguments.split(' ').collect(), file.trim_end_matches('"')));
    named.filter(|(_, file)| file.ends_with(ending)).collect()
}

/// Runs a command of the script; `None`, loudly, where nothing can draw.
fn made(arguments: &[&str], output: &str) -> Option<()> {
    let mut command = program();
    let (code, said) = ran(command.current_dir(at(".")).args(arguments).args(["-q", "-o", output]));
    if code == Some(NO_DEVICE) || said.contains("cannot be drawn") {
        assert!(std::env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "{said}");
        eprintln!("SKIPPED: {said}");
        return None;
    }
    assert_eq!(code, Some(0), "{arguments:?}: {said}");
    Some(())
}

/// Returns the first frame of a picture that moves.
fn first_frame(path: &Path) -> RgbImage {
    let mut reader = gif::Decoder::new(File::open(path).expect("a file")).expect("a GIF");
    let colors = reader.global_palette().expect("a table of colours").to_vec();
    let size = (u32::from(reader.width()), u32::from(reader.height()));
    let frame = reader.read_next_frame().expect("a frame").expect("a frame");
    let color = |index: &u8| colors[3 * usize::from(*index)..].first_chunk::<3>().copied().expect("a colour");
    RgbImage::from_raw(size.0, size.1, frame.buffer.iter().flat_map(color).collect()).expect("a whole frame")
}

fn still(path: &Path) -> RgbImage {
    if path.extension().is_some_and(|ending| ending == "gif") {
        return first_frame(path);
    }
    image::open(path).expect("a PNG").to_rgb8()
}

/// Returns the mean difference of two pictures' squares; infinite for pictures of different sizes.
fn apart(a: &RgbImage, b: &RgbImage) -> f64 {
    if a.dimensions() != b.dimensions() {
        return f64::INFINITY;
    }
    let (columns, rows) = (a.width() / SQUARE, a.height() / SQUARE);
    let mean = |picture: &RgbImage, column: u32, row: u32, channel: usize| {
        let pixels = (0..SQUARE * SQUARE).map(|at| (column * SQUARE + at % SQUARE, row * SQUARE + at / SQUARE));
        let sum: f64 = pixels.map(|(x, y)| f64::from(picture.get_pixel(x, y).0[channel])).sum();
        sum / f64::from(SQUARE * SQUARE)
    };
    let squares = (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row)));
    let channels = squares.flat_map(|(column, row)| (0..3).map(move |channel| (column, row, channel)));
    let sum: f64 = channels
        .map(|(column, row, channel)| (mean(a, column, row, channel) - mean(b, column, row, channel)).abs())
        .sum();
    sum / f64::from(columns * rows * 3)
}

#[test]
fn the_pictures_of_the_readme_are_those_of_today() {
    let folder = Folder::new("readme-pictures");
    let all: Vec<_> = [".gif", ".png"].into_iter().flat_map(commands).collect();
    assert_eq!(all.len(), 3, "{SCRIPT}");
    for (place, (mut arguments, file)) in all.into_iter().enumerate() {
        let readme = fs::read_to_string(at("README.md")).expect("the README");
        assert!(readme.contains(file), "the README shows {file}");
        if file.ends_with(".gif") {
            // The first of its frames.
            arguments.extend(["--time", "0"]);
        }
        let output = folder.file(&format!("{place}.png"));
        if made(&arguments, &output).is_none() {
            return;
        }
        let (kept, drawn) = (still(&at(file)), still(Path::new(&output)));
        let differs = apart(&kept, &drawn);
        assert!(
            differs <= TOLERANCE,
            "{file} differs by {differs:.1} from what the program draws; bash docs/pictures.sh"
        );
    }
}

/// A picture of another size, of another theme, or with another thing in a twentieth of its area is told from its
/// original.
#[test]
fn a_picture_of_another_day_is_told_from_its_original() {
    let kept = still(&at("assets/workspace.png"));
    assert!(apart(&kept, &kept) == 0.0);
    assert!(apart(&kept, &still(&at("assets/fold.png"))) > TOLERANCE, "another lesson, in dark colours");
    assert!(apart(&kept, &still(&at("assets/apple.gif"))) > TOLERANCE, "another size");
    let mut other = kept.clone();
    let (width, height) = kept.dimensions();
    let part = (0..width).flat_map(|x| (0..height / 20).map(move |y| (x, y)));
    part.for_each(|(x, y)| other.put_pixel(x, y, Rgb([0, 90, 200])));
    assert!(apart(&kept, &other) > TOLERANCE, "a bar of another colour");
}

/// Returns a page without its pictures, fonts and numbers, which differ in their last digits from machine to machine.
fn words(page: &str) -> String {
    let data = page.split("<script type=\"application/json\"").map(|part| {
        // The first part is the page's beginning; of the others, what follows the data.
        if part.starts_with(" id=") { part.split_once("</script>").map_or("", |(_, rest)| rest) } else { part }
    });
    let mut text = String::new();
    for (index, part) in data.collect::<String>().split(";base64,").enumerate() {
        let after = part.find(['"', ')', '\'']).unwrap_or(0);
        text.push_str(if index == 0 { part } else { &part[after..] });
    }
    text.split(|letter: char| letter.is_ascii_digit()).collect()
}

#[test]
fn the_page_of_the_readme_is_that_of_today() {
    let folder = Folder::new("readme-page");
    let [(arguments, file)] = <[_; 1]>::try_from(commands(".html")).expect("one page");
    let output = folder.file("apple.html");
    if made(&arguments, &output).is_none() {
        return;
    }
    let [kept, made] = [at(file).as_path(), Path::new(&output)].map(|path| fs::read_to_string(path).expect("a page"));
    let [kept, made] = [&kept, &made].map(|page| words(page));
    let differs = kept.bytes().zip(made.bytes()).position(|(a, b)| a != b).unwrap_or(kept.len().min(made.len()));
    let around =
        |text: &str| text.get(differs.saturating_sub(60)..).map(|rest| rest.chars().take(160).collect::<String>());
    assert!(
        kept == made,
        "{file} differs from what the program writes; bash docs/pictures.sh\n{:?}\n{:?}",
        around(&kept),
        around(&made)
    );
    assert!(kept.contains("One word, two meanings") && !kept.contains(";base,"), "the words are compared");
    let other = made.replacen("attention", "intention", 1);
    assert!(other != made && kept != other, "a page with another word is another page");
}
