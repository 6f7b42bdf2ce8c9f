//! The location of a model: a folder, or a name in the Hugging Face cache. For a missing model, the command that
//! downloads it is shown; no code here opens a connection.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::config::Config;
use super::contents;
use super::texts::modules;
pub use super::texts::{CONFIG, INDEX, WEIGHTS};
use crate::files;

/// The environment variables that locate the cache; empty ones count as unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `$HF_HUB_CACHE`, the cache itself.
    pub hub_cache: Option<PathBuf>,
    /// The folder that the variable `$HF_HOME` names.
    pub hugging_face: Option<PathBuf>,
    /// The folder that the variable `$XDG_CACHE_HOME` names.
    pub caches: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        let named = |variable| env::var_os(variable).map(PathBuf::from);
        let [hub_cache, hugging_face, caches] = ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"].map(named);
        Self { hub_cache, hugging_face, caches, home: env::home_dir() }
    }

    /// Returns the folder that contains all models, found by the rules of Hugging Face's programs; `None` if no
    /// variable and no home folder is known.
    pub fn root(&self) -> Option<PathBuf> {
        let non_empty = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let caches = || non_empty(&self.caches).or_else(|| non_empty(&self.home).map(|home| home.join(".cache")));
        let hugging_face =
            || non_empty(&self.hugging_face).or_else(|| caches().map(|caches| caches.join("huggingface")));
        non_empty(&self.hub_cache).or_else(|| hugging_face().map(|folder| folder.join("hub")))
    }
}

/// The name of a model, such as `google-bert/bert-base-uncased` or `gpt2`. It cannot lead out of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName(String);

impl ModelName {
    /// Returns the name if it follows the hub's rules.
    pub fn new(name: &str) -> Option<Self> {
        /// Largest number of characters, by the hub's rules.
        const CHARS_MAX: usize = 96;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_part = |part: &str| {
            let ends = [part.chars().next(), part.chars().last()];
            part.chars().all(is_allowed) && ends.iter().all(|end| end.is_some_and(|end| !matches!(end, '-' | '.')))
        };
        let is_name = name.len() <= CHARS_MAX
            && !name.contains("--")
            && !name.contains("..")
            && name.split('/').count() <= 2
            && name.split('/').all(is_part);
        is_name.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn folder(&self) -> String {
        format!("models--{}", self.0.replace('/', "--"))
    }
}

/// A model that many people use.
struct WellKnown {
    name: &'static str,
    about: &'static str,
    /// Size of the model's weights in MB.
    megabytes: u32,
    /// The model's `config.json`, without the fields that have the family's default values.
    config: &'static str,
}

const fn well_known(name: &'static str, about: &'static str, megabytes: u32, config: &'static str) -> WellKnown {
    WellKnown { name, about, megabytes, config }
}

const WELL_KNOWN: &[WellKnown] = &[
    well_known(
        "all-MiniLM-L6-v2",
        "a small BERT for the meaning of sentences",
        91,
        r#"{"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}"#,
    ),
    well_known("bert-base-uncased", "BERT, the encoder of 2018", 440, r#"{"model_type": "bert"}"#),
    well_known(
        "bert-base-cased",
        "BERT that keeps capital letters",
        436,
        r#"{"model_type": "bert", "vocab_size": 28996}"#,
    ),
    well_known("distilbert-base-uncased", "BERT with half the layers", 268, r#"{"model_type": "distilbert"}"#),
    well_known("gpt2", "GPT-2, the text generator of 2019", 548, r#"{"model_type": "gpt2"}"#),
    well_known("distilgpt2", "GPT-2 with half the layers", 353, r#"{"model_type": "gpt2", "n_layer": 6}"#),
];

/// A model that is not on this computer, or only in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    pub name: ModelName,
    /// Folder where it would be; `None` if the location of the cache is unknown.
    pub looked_in: Option<PathBuf>,
    /// Name of a missing file, if a part of the model is there.
    pub lacks: Option<&'static str>,
}

impl Absent {
    /// Returns a description of the model, if it is well known.
    pub fn about(&self) -> Option<&'static str> {
        self.well_known().map(|model| model.about)
    }

    /// Returns a sentence that says that the model is missing.
    pub fn title(&self) -> String {
        let name = self.about().unwrap_or(self.name.as_str());
        let name = name.strip_prefix("a ").map_or_else(|| name.to_owned(), |name| format!("A {name}"));
        let comma = if name.contains(',') { "," } else { "" };
        format!("{name}{comma} {}", self.state())
    }

    /// Returns the end of the [`title`](Self::title), after the model's name.
    fn state(&self) -> String {
        match self.lacks {
            Some(lacks) => format!("is only partly on this computer: {lacks} is missing"),
            None => "is not on this computer".to_owned(),
        }
    }

    /// Returns what a lesson about the model needs, in a few words.
    pub fn needs(&self) -> String {
        let name = self.about().and_then(|about| about.split(',').next()).unwrap_or(self.name.as_str());
        let size = self.megabytes().map_or_else(String::new, |megabytes| format!(", {megabytes} MB"));
        format!("needs {name}{size}")
    }

    /// Returns the size of the model's weights in MB, if it is well known.
    pub fn megabytes(&self) -> Option<u32> {
        self.well_known().map(|model| model.megabytes)
    }

    /// Returns the shape of the model, if it is well known.
    pub fn config(&self) -> Option<Config> {
        Config::parse(self.well_known()?.config).ok()
    }

    fn well_known(&self) -> Option<&'static WellKnown> {
        let last = self.name.0.rsplit('/').next();
        WELL_KNOWN.iter().find(|model| Some(model.name) == last)
    }

    /// Returns the command that downloads into the cache the files that attune reads, without the weights in other
    /// programs' formats.
    pub fn command(&self) -> String {
        const NEEDED: [&str; 5] = ["*.json", "*.txt", "*.spm", "*.model", "*.safetensors"];
        let needed = NEEDED.map(|files| format!(r#" --include "{files}""#)).concat();
        format!("hf download {}{needed}", self.name.0)
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model {} {}", self.name.as_str(), self.state())?;
        if let (Some(about), Some(megabytes)) = (self.about(), self.megabytes()) {
            write!(f, " ({about}, {megabytes} MB)")?;
        }
        if let Some(folder) = &self.looked_in {
            write!(f, "; looked in {}", folder.display())?;
        }
        write!(f, "; attune opens no network connection; to download it, run `{}`", self.command())
    }
}

/// Returns the folder of a model in the cache: of its `main` revision if that is complete, otherwise of the newest
/// complete one.
///
/// # Errors
/// If the model is missing or incomplete.
pub fn find(name: &ModelName, environment: &Environment) -> Result<PathBuf, Absent> {
    let looked_in = environment.root().map(|root| root.join(name.folder()));
    let absent = |lacks| Absent { name: name.clone(), looked_in: looked_in.clone(), lacks };
    let repository = looked_in.as_deref().ok_or_else(|| absent(None))?;
    let revisions = revisions(repository);
    let whole = |folder: &PathBuf| {
        if lacks(folder).is_none() {
            Some(folder.clone())
        } else {
            transformer(folder).filter(|it| lacks(it).is_none())
        }
    };
    match revisions.iter().find_map(whole) {
        Some(whole) => Ok(whole),
        None => Err(absent(revisions.first().and_then(|folder| lacks(folder)))),
    }
}

/// Upper bound of the bytes of a commit's hash and a line break.
const HASH_BYTES_MAX: u64 = 100;

/// Returns the folders of a repository's revisions: that of `main` first, then the others, newest first.
fn revisions(repository: &Path) -> Vec<PathBuf> {
    let snapshots = repository.join("snapshots");
    let main = files::head(&repository.join("refs").join("main"), HASH_BYTES_MAX).ok().and_then(|bytes| {
        let hash = std::str::from_utf8(&bytes).ok()?.trim();
        let is_hash = !hash.is_empty() && hash.chars().all(|c| c.is_ascii_alphanumeric());
        is_hash.then(|| snapshots.join(hash)).filter(|folder| folder.is_dir())
    });
    let folders = fs::read_dir(&snapshots).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> = folders.filter(|folder| folder.is_dir() && Some(folder) != main.as_ref()).collect();
    others.sort();
    let age = |folder: &PathBuf| fs::metadata(folder).and_then(|data| data.modified()).ok();
    others.sort_by_key(|folder| std::cmp::Reverse(age(folder)));
    main.into_iter().chain(others).collect()
}

/// Returns the name of a file that a model needs and that is missing from a folder; `None` if nothing is missing.
pub fn lacks(folder: &Path) -> Option<&'static str> {
    if !folder.join(CONFIG).is_file() {
        return Some(CONFIG);
    }
    let has_weights = [WEIGHTS, INDEX].iter().any(|name| folder.join(name).is_file());
    (!has_weights).then_some(WEIGHTS)
}

/// Returns whether a folder has any file of a model, or a file that people take for a model.
pub fn has_part_of_a_model(folder: &Path) -> bool {
    [CONFIG, WEIGHTS, INDEX].iter().any(|name| folder.join(name).exists()) || contents::is_like_a_model(folder)
}

/// Returns the folder of the first module of this class in a sentence-transformers folder; `None` if there is none.
fn module(folder: &Path, class: &str) -> Option<PathBuf> {
    let path = PathBuf::from(modules(folder)?.into_iter().find(|module| module.is(class))?.path);
    let is_within = path.components().all(|part| matches!(part, Component::Normal(_)));
    is_within.then(|| folder.join(path)).filter(|folder| folder.is_dir())
}

/// Returns the folder of the transformer in a sentence-transformers folder; `None` if it has none.
fn transformer(folder: &Path) -> Option<PathBuf> {
    module(folder, "Transformer")
}

/// Returns the folder of the word table in a sentence-transformers folder whose model is only that table. `folder` may
/// also be the folder of the table itself.
pub fn static_table(folder: &Path) -> Option<PathBuf> {
    const CLASS: &str = "StaticEmbedding";
    let own = || {
        let above = module(&folder.join(".."), CLASS)?;
        let is_same = above.canonicalize().ok()? == folder.canonicalize().ok()?;
        is_same.then(|| folder.to_owned())
    };
    module(folder, CLASS).or_else(own).filter(|folder| folder.join(WEIGHTS).is_file())
}

/// Returns whether a file has the name of a model's config, index or weights.
pub fn is_named_as_part(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == CONFIG || name == INDEX || name.ends_with(".safetensors")
}

/// The meaning of a path on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelPath {
    /// The file of a lesson, existing or not.
    Lesson(PathBuf),
    /// The folder of a model, complete or not.
    Folder(PathBuf),
    /// The name of a model, if no file or folder has this name.
    Name(ModelName),
}

/// Returns the meaning of a path, from what exists on disk. A folder, or a model's file within it, stands for the
/// folder of a model. A repository in the cache stands for its `main` revision, or else for its newest one.
pub fn given(path: &Path) -> ModelPath {
    if path.is_dir() {
        let folder = match revisions(path).into_iter().next() {
            Some(revision) if lacks(path).is_some() => revision,
            _ => path.to_owned(),
        };
        let model = if lacks(&folder).is_some() { transformer(&folder) } else { None };
        return ModelPath::Folder(model.unwrap_or(folder));
    }
    if path.is_file() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = || folder.unwrap_or(Path::new(".")).to_owned();
        return if is_named_as_part(path) { ModelPath::Folder(folder()) } else { ModelPath::Lesson(path.to_owned()) };
    }
    // The first part of `lessons/aple.ron` exists, so this is a misspelt path and not a model's name.
    let begins_here = path.components().next().is_some_and(|first| match first {
        Component::Normal(first) => path.components().count() > 1 && Path::new(first).exists(),
        _ => true,
    });
    // A pipe, a device or a link to nothing is there, too.
    let is_there = path.symlink_metadata().is_ok();
    let is_lesson = is_there || begins_here || path.extension().is_some_and(|extension| extension == "ron");
    match path.to_str().filter(|_| !is_lesson).and_then(ModelName::new) {
        Some(name) => ModelPath::Name(name),
        None => ModelPath::Lesson(path.to_owned()),
    }
}
