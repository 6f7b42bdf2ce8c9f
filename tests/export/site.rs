//! A course as a site: whole or not at all, its links lead somewhere, and a browser opens it from the disk.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use attune_core::kernel::Kernel;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::lesson::glossary;
use attune_view::export::site::{Site, SiteFault};
use attune_view::export::{Pictures, live_page};

use crate::common::chromium::ask;
use crate::common::folder::Folder;
use crate::{NOTEBOOK_RUN, with_cells};

const GLOSSARY: &str = r#"Glossary([
    Term(name: "embedding", also: ["embeddings"], meaning: "A *vector* for each word.", lesson: "first"),
])"#;
/// A link to the other lesson, one to a lesson that no site has, and a term.
const CELLS: &str = r#"Text(id: "links", md: "See [the other](attune:lesson/first), [none](attune:lesson/gone), [a file](attune:file/gone.vec) and an embedding."),"#;

fn named(id: &str) -> CourseFile {
    let chapter = (id == "links").then(|| "Links & texts".to_owned());
    let heading =
        Heading { id: id.to_owned(), title: format!("The <{id}>"), chapter, ..Heading::of(&NOTEBOOK_RUN.lesson) };
    CourseFile { path: format!("{id}.ron").into(), heading: Ok(heading) }
}

/// A live page, a page with links, and one without a model.
fn site(folder: &Path) -> Result<String, SiteFault> {
    let glossary = glossary::parse("glossary.ron", GLOSSARY, None).ok();
    let mut site = Site::new(folder, &["first", "links", "text"].map(named), glossary)?;
    site.add(&NOTEBOOK_RUN, None, &Pictures::default())?;
    site.add(&with_cells(CELLS).snapshot(), None, &Pictures::default())?;
    let untrained = Kernel::new(NOTEBOOK_RUN.lesson.clone()).snapshot();
    site.add(&untrained, None, &Pictures::default())?;
    site.write()
}

fn pages(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the site").flatten();
    let page = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path()).expect("a page");
        (entry.file_name().into_string().expect("UTF-8"), text)
    };
    let mut pages: Vec<(String, String)> = entries.map(page).collect();
    pages.sort();
    pages
}

/// What stands in an attribute, each time.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let parts = page.split(attribute).skip(1);
    parts.filter_map(|rest| rest.split('"').next()).collect()
}

/// Every link of a site leads to a page and an id, or to the web, and nothing is loaded but files of the site. Returns
/// the links within the site.
fn check_links(pages: &[(String, String)]) -> Vec<(&str, &str)> {
    let ids: Vec<HashSet<&str>> = pages.iter().map(|(_, page)| values(page, " id=\"").into_iter().collect()).collect();
    let mut links = Vec::new();
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html")) {
        let markup = page.split("<script").next().expect("text");
        let sources = values(markup, "src=\"").into_iter().chain(values(markup, "srcset=\""));
        for source in sources.chain(values(page, "<script src=\"")) {
            let is_there = source.starts_with("data:") || pages.iter().any(|(name, _)| name == source);
            assert!(is_there, "{name} loads {source:.80}");
        }
        let found = page.split("\"href\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        for href in values(markup, "href=\"").into_iter().chain(found) {
            if href.starts_with("https://") {
                continue;
            }
            let (file, id) = href.split_once('#').unwrap_or((href, ""));
            // A link may name a step of the walk.
            let file = file.split('?').next().filter(|file| !file.is_empty()).unwrap_or(name);
            let at = pages.iter().position(|(name, _)| name == file).unwrap_or_else(|| panic!("{name}: {href}"));
            assert!(id.is_empty() || ids[at].contains(id), "{name}: {href}");
            if file.ends_with(".html") {
                links.push((&**name, href));
            }
        }
    }
    links
}

#[test]
fn every_link_leads_to_a_page_and_an_id_and_pages_load_what_they_share() {
    let folder = Folder::new("site");
    let out = folder.join("site");
    let said = site(&out).expect("it is written");
    assert!(said.contains("3 lessons"), "{said}");
    let files = pages(&out);
    let links = check_links(&files);
    let of = |end: &str| files.iter().filter(|(name, _)| name.ends_with(end)).collect::<Vec<_>>();
    let pages = of(".html");
    assert_eq!(
        pages.iter().map(|(name, _)| &**name).collect::<Vec<_>>(),
        ["first.html", "index.html", "links.html", "text.html"]
    );
    // The search and the live pages' scripts; both kinds of pages have the program's palettes and fonts in common.
    assert_eq!(of(".js").len(), 2);
    let fonts = of(".css").into_iter().filter(|(_, style)| style.contains("font/otf")).count();
    assert_eq!((fonts, pages.iter().filter(|(_, page)| page.contains("font/otf")).count()), (1, 0));
    for link in [
        ("links.html", "first.html"),
        ("links.html", "index.html#term-embedding"),
        ("index.html", "links.html#cell-links"),
        ("first.html", "links.html"),
    ] {
        assert!(links.contains(&link), "{link:?} in {links:?}");
    }
    assert!(!links.iter().any(|(_, href)| href.contains("gone")), "{links:?}");
    let (front, text) = (&pages[1].1, &pages[3].1);
    assert!(front.contains("The &lt;first&gt;") && !front.contains("The <first"), "a title is text");
    let chapters: Vec<&str> = front.split("<h2").skip(1).filter_map(|rest| rest.split(['>', '<']).nth(1)).collect();
    assert_eq!(chapters, ["Lessons", "Links &amp; texts", "Glossary"]);
    assert!(front.contains("the model runs in attune") && text.contains("but not the model."));
    assert!(!text.contains("<script"), "a page without a model runs nothing");
}

/// The course as a site: every lesson has a page with its model, and no link is broken. Returns the pages by their
/// names.
pub fn check_site(course: &[(CourseFile, Kernel)]) -> Vec<(String, String)> {
    // Bytes; the pages have no pictures for paper here, which are 2.4 MB.
    const APPLE_MAX: usize = 130_000;
    const ALL_MAX: usize = 12_500_000;
    let folder = Folder::new("course");
    let out = folder.join("site");
    let files: Vec<CourseFile> = course.iter().map(|(file, _)| file.clone()).collect();
    let glossary = glossary::beside(&files[0].path).map(|file| glossary::read(&file).expect("a glossary"));
    let mut site = Site::new(&out, &files, glossary).expect("a place");
    for (_, kernel) in course {
        let snapshot = kernel.snapshot();
        let answered = live_page::revealed(&snapshot, || kernel.copy(snapshot.lesson.clone()));
        site.add(&snapshot, answered.as_ref(), &Pictures::default()).expect("a page");
    }
    site.write().expect("it is written");
    let pages = pages(&out);
    let links = check_links(&pages);
    let prose = links.iter().filter(|(from, href)| *from != "index.html" && href.ends_with(".html")).count();
    let terms = links.iter().filter(|(_, href)| href.starts_with("index.html#term-")).count();
    assert!(prose > 2 * course.len() && terms > 100, "{prose} links to lessons, {terms} to terms");
    let apple = pages.iter().find(|(name, _)| name == "apple.html").map(|(_, page)| page.len());
    let all: usize = pages.iter().map(|(_, page)| page.len()).sum();
    assert!(apple.is_some_and(|apple| apple < APPLE_MAX) && all < ALL_MAX, "{apple:?} of {all} bytes");
    let front = pages.iter().find(|(name, _)| name == "index.html").map_or("", |(_, page)| page);
    let hero = front.split("<a class=\"hero\" href=\"apple.html\">").nth(1).and_then(|rest| rest.split("</a>").next());
    let hero = hero.expect("the front page begins with the word that has two meanings");
    assert!(front.find("class=\"hero\"") < front.find("<h1>"), "it comes first");
    for part in [">apple₁</text>", ">apple₂</text>", "fill=\"url(#glow-0)\"", "fill=\"url(#glow-1)\"", "class=\"go\""]
    {
        assert!(hero.contains(part), "{part}: {hero:.3000}");
    }
    // Lessons have the same model, and a page of its own would take 5 MB.
    let used = |part: &str| {
        let files = pages.iter().filter(|(name, _)| name.starts_with(part));
        let used = |(file, _): &(String, String)| {
            pages.iter().filter(|(_, page)| page.contains(&format!("src=\"{file}\""))).count()
        };
        let mut used: Vec<usize> = files.map(used).collect();
        used.sort_unstable();
        used
    };
    assert_eq!(
        used("parameters-"),
        [1, 2, 2],
        "the assistant, which is trained on, and two models of two lessons each"
    );
    assert_eq!(used("statics-"), [2, 3], "the assistant keeps the embeddings of the model that it begins with");
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".html") && name != "index.html") {
        assert!(page.contains("id=\"attune-data\""), "{name} has no model");
    }
    pages
}

#[test]
fn a_folder_that_has_files_is_left_alone() {
    let folder = Folder::new("site-taken");
    fs::write(folder.join("mine.txt"), "mine").expect("a file");
    assert!(matches!(site(&folder.0), Err(SiteFault::Place(_))));
    assert_eq!(fs::read_dir(&folder.0).expect("the folder").count(), 1);
}

#[test]
fn two_lessons_of_one_name_make_no_site() {
    let folder = Folder::new("site-names");
    for names in [["first", "first"], ["first", "index"]] {
        let site = Site::new(&folder.join("site"), &names.map(named), None);
        assert!(matches!(site, Err(SiteFault::Lesson(..))), "{names:?}");
    }
}

#[test]
fn the_search_finds_lessons_and_terms_in_a_browser() {
    let folder = Folder::new("site-search");
    let out = folder.join("site");
    site(&out).expect("it is written");
    let pages = pages(&out);
    let pages: Vec<(&str, &str)> = pages.iter().map(|(name, page)| (&**name, &**page)).collect();
    let search = r##"
        const field = document.getElementById("search");
        if (!field) return document.querySelectorAll(".way a").length;
        const found = (text) => {
            field.value = text;
            field.dispatchEvent(new window.Event("input"));
            return [...document.querySelectorAll("#found a")].map((link) => link.getAttribute("href"));
        };
        return [found("EMBEDDING vector"), found("see the óther"), found("nosuchword"), found("")];
    "##;
    let addresses = ["index.html".to_owned(), "links.html".to_owned()];
    let Some(answers) = ask(&pages, &addresses, search, (1280, 800)) else { return };
    let expected = serde_json::json!([["#term-embedding"], ["links.html#cell-links"], [], []]);
    assert_eq!(answers, [expected, 3.into()], "the front page and the lessons around");
}
