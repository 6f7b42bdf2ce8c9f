//! The place of a model: the Hugging Face cache, and what a path means.

use std::fs;
use std::path::{Path, PathBuf};

use attune_engine::pretrained::cache::{Environment, ModelName, ModelPath, find, given};

use crate::common::folder::Folder;

const HASH: &str = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf";

fn name(name: &str) -> ModelName {
    ModelName::new(name).unwrap_or_else(|| panic!("{name} is a name"))
}

fn in_cache(cache: &Folder) -> Environment {
    Environment { hub_cache: Some(cache.0.clone()), ..Environment::default() }
}

fn put(folder: &Path, files: &[&str]) {
    fs::create_dir_all(folder).expect("a folder");
    for file in files {
        fs::write(folder.join(file), "{}").expect("a file");
    }
}

const WHOLE: [&str; 2] = ["config.json", "model.safetensors"];

#[test]
fn the_cache_is_where_hugging_face_looks() {
    let path = |path: &str| Some(PathBuf::from(path));
    let home = Environment { home: path("/learner"), ..Environment::default() };
    assert_eq!(home.root(), path("/learner/.cache/huggingface/hub"));
    let caches = Environment { caches: path("/caches"), ..home };
    assert_eq!(caches.root(), path("/caches/huggingface/hub"));
    let hugging_face = Environment { hugging_face: path("/hf"), ..caches };
    assert_eq!(hugging_face.root(), path("/hf/hub"));
    let hub_cache = Environment { hub_cache: path("/hub"), ..hugging_face.clone() };
    assert_eq!(hub_cache.root(), path("/hub"));
    assert_eq!(Environment { hub_cache: path(""), ..hugging_face.clone() }.root(), hugging_face.root());
    assert_eq!(Environment::default().root(), None);
}

#[test]
fn names_lead_nowhere_else() {
    for right in ["gpt2", "google-bert/bert-base-uncased", "sentence-transformers/all-MiniLM-L6-v2", "a/b_c.d"] {
        assert!(ModelName::new(right).is_some(), "{right}");
    }
    let long = "x".repeat(97);
    for wrong in
        ["", "/", "a/", "/a", "..", "../a", "a/..", "a/b/c", "a\\b", "a b", "a--b", ".a", "a.", "-a", "ä", &long]
    {
        assert!(ModelName::new(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn a_name_is_the_revision_of_main() {
    let cache = Folder::new("cache");
    let repository = cache.join("models--google-bert--bert-base-uncased");
    let wanted = name("google-bert/bert-base-uncased");
    for revision in ["0000", HASH] {
        put(&repository.join("snapshots").join(revision), &WHOLE);
    }
    put(&repository.join("refs"), &[]);
    fs::write(repository.join("refs/main"), format!("{HASH}\n")).expect("a file");
    let found = find(&wanted, &in_cache(&cache));
    assert_eq!(found, Ok(repository.join("snapshots").join(HASH)));
    // Of a revision that is not whole, another stands in.
    fs::remove_file(repository.join("snapshots").join(HASH).join("model.safetensors")).expect("it is there");
    assert_eq!(find(&wanted, &in_cache(&cache)), Ok(repository.join("snapshots/0000")));
    // A reference that leads elsewhere is none.
    fs::write(repository.join("refs/main"), "../../../..").expect("a file");
    assert_eq!(find(&wanted, &in_cache(&cache)), Ok(repository.join("snapshots/0000")));
    // The repository's folder is as good as its name.
    assert!(
        matches!(given(&repository), ModelPath::Folder(folder) if folder.starts_with(repository.join("snapshots")))
    );
}

#[test]
fn a_model_that_is_absent_says_what_fetches_it() {
    let cache = Folder::new("cache");
    let absent = find(&name("openai-community/gpt2"), &in_cache(&cache)).expect_err("it is not there");
    assert_eq!((absent.megabytes(), absent.lacks), (Some(548), None));
    let said = absent.to_string();
    for words in [
        "GPT-2, the text generator of 2019, 548 MB",
        "`hf download openai-community/gpt2 --include",
        "no network connection",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let absent = find(&name("me/mine"), &Environment::default()).expect_err("there is no cache");
    assert_eq!((absent.about(), absent.looked_in.clone()), (None, None));
    assert!(absent.to_string().starts_with("the model me/mine is not on this computer; attune"), "{absent}");

    put(&cache.join("models--me--mine/snapshots").join(HASH), &["config.json"]);
    let absent = find(&name("me/mine"), &in_cache(&cache)).expect_err("it is there in part");
    assert!(
        absent
            .to_string()
            .starts_with("the model me/mine is only partly on this computer: model.safetensors is missing;"),
        "{absent}"
    );
}

#[test]
fn a_path_is_a_lesson_a_folder_or_a_name() {
    let folder = Folder::new("given");
    put(&folder.join("model"), &WHOLE);
    put(&folder.0, &["apple.ron", "a.txt"]);
    let model = ModelPath::Folder(folder.join("model"));
    assert_eq!(given(&folder.join("model")), model);
    assert_eq!(given(&folder.join("model/model.safetensors")), model);
    assert_eq!(given(&folder.join("model/config.json")), model);
    for lesson in ["apple.ron", "a.txt", "missing.ron", "missing"] {
        assert_eq!(given(&folder.join(lesson)), ModelPath::Lesson(folder.join(lesson)), "{lesson}");
    }
    // `export` is a folder of the crate whose tests these are.
    for lesson in ["export/aple.ron", "export/aple", "aple.ron", "../gpt2", "a b", "./gpt2"] {
        assert_eq!(given(Path::new(lesson)), ModelPath::Lesson(lesson.into()), "{lesson}");
    }
    for wanted in ["gpt2", "google-bert/bert-base-uncased"] {
        assert_eq!(given(Path::new(wanted)), ModelPath::Name(name(wanted)));
    }
}
