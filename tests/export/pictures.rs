//! Pictures of the lesson's folder are shown, and nothing else of the computer.

use std::fs;

use attune::export::Pictures;

use crate::{Folder, as_html, as_ipynb, with_cells};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

#[test]
fn only_pictures_of_the_lessons_folder_are_read() {
    let folder = Folder::new("pictures");
    let lessons = folder.0.join("lessons");
    fs::create_dir_all(lessons.join("inner")).unwrap();
    fs::write(folder.0.join("outside.png"), PNG).unwrap();
    fs::write(lessons.join("inner/a.png"), PNG).unwrap();
    fs::write(lessons.join("words.png"), "words").unwrap();
    fs::File::create(lessons.join("huge.png")).and_then(|file| file.set_len(9 << 20)).unwrap();
    let pictures = Pictures::of_lesson(&lessons.join("x.ron"), "");
    assert_eq!(pictures.image("inner/a.png").map(|image| (image.bytes, image.mime)), Ok((PNG.to_vec(), "image/png")));
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
    assert!(pictures.image("words.png").is_err_and(|why| why.contains("no PNG")));
    assert!(pictures.image("huge.png").is_err_and(|why| why.contains("too large")));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.0.join("outside.png"), lessons.join("link.png")).unwrap();
        assert!(pictures.image("link.png").is_err(), "a link leads out");
    }

    let snapshot = with_cells(r#"Text(id: "a", md: "![A *tree*](inner/a.png) ![Gone](gone.png)")"#).snapshot();
    let page = as_html(&snapshot, &pictures);
    assert!(page.contains("<img src=\"data:image/png;base64,iVBORw0KGgpyZXN0\" alt=\"A tree\">"), "{page}");
    assert!(page.contains("(picture Gone: it cannot be read"), "{page}");
    let notebook = as_ipynb(&snapshot, &pictures);
    let words = &notebook["cells"][1];
    assert_eq!(words["attachments"]["a-picture.png"]["image/png"], "iVBORw0KGgpyZXN0");
    assert!(words["source"][0].as_str().unwrap().starts_with("![A tree](attachment:a-picture.png)"));
}
