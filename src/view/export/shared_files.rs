//! Files that the pages of a site share: each style, script and picture is stored once, beside the pages. A page of its
//! own contains them itself.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use data_encoding::{BASE64, HEXLOWER};
use sha2::{Digest, Sha256};

/// The number of bytes of a hash that distinguish the files of a site.
const HASH_BYTES: usize = 6;

/// Escapes JSON so that nothing in it begins a tag or ends the script element.
pub(super) fn unmarked(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Files beside the pages of a site, by name. A name contains a part of the content's hash, so that a browser does not
/// show an older file that it has kept.
#[derive(Default)]
pub(super) struct SharedFiles(RefCell<BTreeMap<String, Vec<u8>>>);

impl SharedFiles {
    /// Adds a file, unless it was added before, and returns its name.
    fn add(&self, stem: &str, extension: &str, bytes: &[u8]) -> String {
        let hash = HEXLOWER.encode(&Sha256::digest(bytes)[..HASH_BYTES]);
        let name = format!("{stem}-{hash}.{extension}");
        self.0.borrow_mut().entry(name.clone()).or_insert_with(|| bytes.to_vec());
        name
    }

    /// Returns the total size of the files in bytes.
    pub fn bytes(&self) -> usize {
        self.0.borrow().values().map(Vec::len).sum()
    }

    /// Returns all files with their names.
    pub fn into_files(self) -> impl Iterator<Item = (String, Vec<u8>)> {
        self.0.into_inner().into_iter()
    }
}

/// The place of a page's styles, scripts and pictures: the page itself (`None`), or shared files beside it.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a>(pub Option<&'a SharedFiles>);

impl Parts<'_> {
    /// Returns the elements for these styles, in the same order. In a site, each style is a file of its own.
    pub fn styles(self, styles: &[&str]) -> String {
        let Some(files) = self.0 else { return format!("<style>\n{}</style>\n", styles.concat()) };
        styles.iter().filter(|style| !style.is_empty()).fold(String::new(), |mut text, style| {
            let _ =
                writeln!(text, "<link rel=\"stylesheet\" href=\"{}\">", files.add("style", "css", style.as_bytes()));
            text
        })
    }

    /// Returns an element that runs a script.
    pub fn script(self, script: &str) -> String {
        match self.0 {
            Some(files) => format!("<script src=\"{}\"></script>\n", files.add("script", "js", script.as_bytes())),
            None => format!("<script>{script}</script>\n"),
        }
    }

    /// Returns an element that holds JSON, which scripts find by its name in the element's id. In a site, large JSON is
    /// a file that pages share: a script that sets a variable, because a page that was opened from the disk cannot read
    /// any other file.
    pub fn json(self, name: &str, json: &str) -> String {
        /// The size in bytes from which JSON gets a file of its own. Models that are trained for one lesson are
        /// smaller.
        const SHARED_MIN: usize = 400_000;
        match self.0 {
            Some(files) if json.len() >= SHARED_MIN => {
                let script = format!("window.attune_{name} = {json};\n");
                format!("<script src=\"{}\"></script>\n", files.add(name, "js", script.as_bytes()))
            }
            _ => format!("<script type=\"application/json\" id=\"attune-{name}\">{}</script>\n", unmarked(json)),
        }
    }

    /// Returns the address of a picture of the stage.
    pub fn stage_picture(self, png: &[u8]) -> String {
        match self.0 {
            Some(files) => files.add("stage", "png", png),
            None => format!("data:image/png;base64,{}", BASE64.encode(png)),
        }
    }

    /// Returns the content security policy of a page, which connects to nothing and loads only its own parts or, in a
    /// site, the site's files. Without a `script`, it runs none; a page of its own runs only this one.
    pub fn policy(self, script: Option<&str>) -> String {
        let script = script.map_or(String::new(), |script| match self.0 {
            Some(_) => " script-src 'self';".to_owned(),
            None => format!(" script-src 'sha256-{}';", BASE64.encode(&Sha256::digest(script))),
        });
        let own = if self.0.is_some() { " 'self'" } else { "" };
        format!(
            "default-src 'none';{script} img-src data:{own}; font-src data:; style-src 'unsafe-inline'{own}; \
             base-uri 'none'; form-action 'none'"
        )
    }
}
