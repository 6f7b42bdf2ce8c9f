//! Pictures of the lesson's folder are shown, and nothing else of the computer.

use std::fs;

use attune_view::export::{Pictures, markdown};

use crate::common::folder::Folder;
use crate::{as_html, as_ipynb, with_cells};

/// One pixel, as far as a header says.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01";
const PNG_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";
/// A marker without a length, a segment that is passed over, a marker that stands apart, and a frame of 3 by 2 pixels.
const JPEG: &[u8] = b"\xff\xd8\xff\x01\xff\xe0\0\x04ab\xff\xff\xc2\0\x0b\x08\0\x02\0\x03";

#[test]
fn only_pictures_of_the_lessons_folder_are_read() {
    let folder = Folder::new("pictures");
    let lessons = folder.0.join("lessons");
    fs::create_dir_all(lessons.join("inner")).unwrap();
    fs::write(folder.0.join("outside.png"), PNG).unwrap();
    fs::write(lessons.join("inner/a.png"), PNG).unwrap();
    fs::write(lessons.join("words.png"), "words").unwrap();
    fs::write(lessons.join("photo"), JPEG).unwrap();
    fs::write(lessons.join("moves.gif"), b"GIF89a\x01\0\x01\0").unwrap();
    fs::write(lessons.join("cut.jpg"), &JPEG[..12]).unwrap();
    fs::write(lessons.join("endless.jpg"), [b"\xff\xd8".to_vec(), b"\xff\xe0\0\0".repeat(1 << 20)].concat()).unwrap();
    fs::File::create(lessons.join("huge.png")).and_then(|file| file.set_len(9 << 20)).unwrap();
    let pictures = Pictures::of_lesson(&lessons.join("x.ron"), "");
    let image = |url| pictures.image(url).map(|image| (image.bytes, image.format.mime()));
    assert_eq!(image("inner/a.png"), Ok((PNG.to_vec(), "image/png")));
    assert_eq!(image("photo"), Ok((JPEG.to_vec(), "image/jpeg")), "by what it is");
    let outside = folder.0.join("outside.png").display().to_string();
    for url in [
        "../outside.png",
        "inner/../../outside.png",
        &outside,
        "file:inner/a.png",
        "https://example.org/a.png",
        "",
        "inner",
    ] {
        assert!(pictures.image(url).is_err(), "{url}");
    }
    for (url, says) in [
        ("words.png", "neither PNG nor JPEG"),
        ("moves.gif", "neither PNG nor JPEG"),
        ("huge.png", "larger than 8 MiB"),
        ("cut.jpg", "damaged"),
        ("endless.jpg", "damaged"),
    ] {
        assert!(pictures.image(url).is_err_and(|why| why.contains(says)), "{url} should say {says:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.0.join("outside.png"), lessons.join("link.png")).unwrap();
        assert!(pictures.image("link.png").is_err(), "a link leads out");
    }

    let snapshot = with_cells(r#"Text(id: "a", md: "![A *tree*](inner/a.png) ![Gone](gone.png)")"#).snapshot();
    let page = as_html(&snapshot, &pictures);
    assert!(page.contains(&format!("<img src=\"data:image/png;base64,{PNG_BASE64}\" alt=\"A tree\">")), "{page}");
    assert!(page.contains("(picture Gone: there is no such file in the lesson"), "{page}");
    let notebook = as_ipynb(&snapshot, &pictures);
    let words = &notebook["cells"][1];
    assert_eq!(words["attachments"]["a-picture.png"]["image/png"], PNG_BASE64);
    assert!(words["source"][0].as_str().unwrap().starts_with("![A tree](attachment:a-picture.png)"));
}

#[test]
fn code_shows_pictures_of_the_lessons_folder() {
    let folder = Folder::new("image");
    fs::write(folder.0.join("a.png"), PNG).unwrap();
    let source = r#"Code(id: "a", src: "image(\"a.png\"); image(\"../b.png\"); 3")"#;
    let snapshot = with_cells(source).snapshot();
    let pictures = Pictures::of_lesson(&folder.0.join("x.ron"), "");
    let page = as_html(&snapshot, &pictures);
    assert!(page.contains(&format!("<img src=\"data:image/png;base64,{PNG_BASE64}\" alt=\"a.png\">")), "{page}");
    assert!(page.contains("(picture ../b.png: outside the lesson"), "{page}");
    let notebook = as_ipynb(&snapshot, &pictures);
    let outputs = &notebook["cells"][1]["outputs"];
    assert_eq!(outputs[0]["data"]["image/png"], PNG_BASE64);
    assert_eq!(outputs.as_array().map(Vec::len), Some(3), "{outputs}");
    let page = crate::text(|to| _ = markdown::write(&snapshot, &pictures, "x_files", to).expect("it is written"));
    assert!(page.contains("![a.png](x_files/"), "{page}");
}

#[test]
fn a_page_holds_so_many_bytes_of_pictures_and_no_more() {
    let folder = Folder::new("bytes");
    fs::write(folder.0.join("large.png"), [PNG, &[0; 7 << 20]].concat()).unwrap();
    let pictures = Pictures::of_lesson(&folder.0.join("x.ron"), "");
    let shown = (0..20).filter(|_| pictures.image("large.png").is_ok()).count();
    assert_eq!(shown, 9, "each time it is shown, its bytes stand in the page");
}
