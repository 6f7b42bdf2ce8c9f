//! Tables of the documentation that are made from the lists of the code, between markers. A stale one fails;
//! `UPDATE_SNAPSHOTS=1 cargo test --test architecture tables` writes it again.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;

use attune_core::kernel::sentence_pass::interventions::INTERVENTIONS;
use attune_core::lesson::cells::CELL_KINDS;
use attune_core::lesson::fact_names;
use attune_core::lesson::panels::PanelName;
use attune_core::lesson::{course, limits};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::head_measures::HeadMeasure;
use attune_engine::quantity::Quantity;
use attune_view::export::format::FORMATS;
use attune_view::panels::{PANELS, key};

/// Writes the tables again, as for the snapshots of other tests.
const UPDATE: &str = "UPDATE_SNAPSHOTS";

/// A table of a page: its header, and its rows as the code has them.
struct Table {
    page: &'static str,
    /// The name of the list in the markers.
    list: &'static str,
    header: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    fn markers(&self) -> [String; 2] {
        [format!("<!-- made from {}: -->", self.list), format!("<!-- end of {} -->", self.list)]
    }

    fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let header: Vec<String> = self.header.iter().map(|title| (*title).to_owned()).collect();
        let line = format!("|{}\n", "---|".repeat(header.len()));
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        format!("{}{line}{rows}", row(&header))
    }

    /// Puts the table between its markers in the text of a page; `None` where they are not there.
    fn put(&self, text: &str) -> Option<String> {
        let [begin, end] = self.markers();
        let (before, rest) = text.split_once(&begin)?;
        let (_, after) = rest.split_once(&end)?;
        Some(format!("{before}{begin}\n\n{}\n{end}{after}", self.markdown()))
    }
}

fn cells(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Writes a number in groups of three digits.
fn grouped(number: f64) -> String {
    let digits = number.to_string();
    if digits.len() < 6 || number.fract() != 0.0 {
        return digits;
    }
    let groups: Vec<String> =
        digits.as_bytes().rchunks(3).rev().map(|group| String::from_utf8_lossy(group).into()).collect();
    groups.join(" ")
}

/// Returns the limits of a lesson: some fields, the least value of each or of all, and the greatest.
fn limits() -> Vec<Vec<String>> {
    use limits::*;
    let count = |number: usize| grouped(number as f64);
    let counts = |numbers: &[usize]| numbers.iter().map(|number| count(*number)).collect::<Vec<_>>().join("; ");
    let (predicted, kibi) = (CHOICES_OF_PREDICTION, 1024);
    let spelling = format!("{}, {}, {}", SPELLINGS_MAX, SPELLINGS_MAX, SYMBOLS_MAX);
    let bytes = format!("{SYMBOL_BYTES_MAX}, {}", count(MEANING_BYTES_MAX));
    let task = format!("{}; {HINTS_MAX}, {CASES_MAX}, {FEEDBACK_MAX}", predicted.end());
    let factors = "`score_divisor`, `score_cap`, `logit_scale`, `logit_cap`, `embedding_scale`";
    let rates = "`learning_rate`; `temperature`; `arrive`, `keep`";
    let characters = "characters of a name or a word; of an id; of a title, summary, caption or claim";
    let glossary =
        "terms of a glossary; `also`, `except`, `symbols` of one; words of a spelling; bytes of a symbol, of a meaning";
    assert_eq!(NAME_CHARS_MAX, WORD_CHARS_MAX, "they share a row");
    let rows: [(&str, &str, String); 24] = [
        ("`dim`; `key_width`, `value_width`", "2; 1", count(DIM_MAX)),
        ("`heads`; `layers`; `feed_forward`", "1", counts(&[HEADS_MAX, LAYERS_MAX, FEED_FORWARD_MAX])),
        ("`norm_epsilon`", &format!("{NORM_EPSILON_MIN:e}"), NORM_EPSILON_MAX.to_string()),
        (factors, &FACTOR_MIN.to_string(), FACTOR_MAX.to_string()),
        ("`buckets`; `most`", "4; more than half of `buckets`", counts(&[*BUCKETS.end(), DISTANCE_MAX])),
        ("`theta` of `Rotary`", "1", grouped(THETA_MAX)),
        ("`max_tokens`", "2", count(TOKENS_MAX)),
        ("`window`; `negatives`; `epochs`", "1", counts(&[WINDOW_MAX, NEGATIVES_MAX, EPOCHS_MAX])),
        ("`steps`; `batch`", "0; 1", counts(&[STEPS_MAX, BATCH_MAX])),
        (
            rates,
            &format!("above 0; {TEMPERATURE_MIN}; 0"),
            format!("{LEARNING_RATE_MAX}; {TEMPERATURE_MAX}; {COST_MAX}"),
        ),
        ("rules of `stop`", "", count(STOP_RULES_MAX)),
        ("sentences of a corpus; its different words", "1", counts(&[SENTENCES_MAX, VOCABULARY_MAX])),
        (
            "groups, slots, topics; templates of a topic; `ambiguous`",
            "",
            format!("{GROUPS_MAX} each; {}", counts(&[TEMPLATES_MAX, AMBIGUOUS_MAX])),
        ),
        ("`sentences`; `probes`; `cells`; `claims`", "", counts(&[CHOICES_MAX, PROBES_MAX, CELLS_MAX, CLAIMS_MAX])),
        (
            "`choices` of a prediction; `hints`, `cases`, `feedback` of an exercise",
            &format!("{}; 0", predicted.start()),
            task,
        ),
        (
            "bytes of a text or of code; of a template",
            "",
            format!("{} KiB; {TEMPLATE_BYTES_MAX}", TEXT_BYTES_MAX / kibi),
        ),
        (characters, "1", counts(&[NAME_CHARS_MAX, ID_CHARS_MAX, LINE_CHARS_MAX])),
        (glossary, "1; 0; 1; 1", format!("{}; {spelling}; {SPELLING_WORDS_MAX}; {bytes}", count(GLOSSARY_TERMS_MAX))),
        ("`number`; `minutes`", "1", counts(&[*NUMBERS.end(), *MINUTES.end()])),
        ("texts of a pretrained model; pieces of one", "1; 2", counts(&[TEXTS_MAX, PIECES_MAX])),
        ("switches of the model; models that claims train", "", counts(&[SWITCHES_MAX, SWITCHED_MODELS_MAX])),
        ("lessons of `builds_on`", "", count(BUILDS_ON_MAX)),
        ("`plays` and lines of a stage cell", "0", counts(&[PLAYS_MAX, LINES_MAX])),
        ("the file", "", format!("{} MiB", LESSON_BYTES_MAX as usize / kibi / kibi)),
    ];
    rows.into_iter().map(|(field, from, to)| cells(&[field, from, &to])).collect()
}

fn tables() -> Vec<Table> {
    let modes = HeadMode::<f32>::NAMED
        .into_iter()
        .filter(|mode| *mode != HeadMode::Live)
        .chain([HeadMode::Gain(1.0), HeadMode::Second(None)]);
    let of_head = |mode: HeadMode<f32>| {
        let words = mode.words();
        let option = if mode.is_of_sentence() { "" } else { "`--head`" };
        cells(&[&format!("*{}*", words.name), &format!("{}.", words.meaning), option, "`heads`"])
    };
    let others = INTERVENTIONS.iter().map(|words| {
        let option = words.option.map(|option| format!("`--{option}`")).unwrap_or_default();
        cells(&[words.name, words.meaning, &option, &format!("`{}`", words.key)])
    });
    let measures = HeadMeasure::ALL.map(|measure| {
        let words = measure.words();
        cells(&[words.title, &format!("{}.", words.meaning), &format!("`{}`", words.formula), words.source])
    });
    let panels = PanelName::ALL.into_iter().filter(|panel| !panel.is_always_open());
    let sheets = PANELS.iter().map(|(panel, _)| cells(&[&format!("`{}`", key(*panel)), panel.about()]));
    let named = Quantity::ALL.iter().filter_map(|quantity| {
        let definition = quantity.definition();
        // Where scores are said to be scaled or not, the table says nothing.
        Some(cells(&[&format!("`{}`", definition.code?), &definition.meaning.replace(", {scored}", "")]))
    });
    let formats = FORMATS.iter().map(|words| {
        let panels = if words.has_panels { "yes" } else { "" };
        cells(&[&format!("`{}`", words.key), words.about, words.opens_in, panels])
    });
    let lessons = course::list(Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons").as_path());
    let lessons = lessons.into_iter().filter_map(|file| {
        let heading = file.heading.ok()?;
        Some(cells(&[&heading.title, heading.summary.as_deref().unwrap_or_default()]))
    });
    let real_models = "docs/real-models.md";
    let teaching = "lessons/TEACHING.md";
    vec![
        Table { page: "README.md", list: "lessons", header: &["lesson", "what it is about"], rows: lessons.collect() },
        Table {
            page: "src/core/lesson/format.md",
            list: "limits.rs",
            header: &["field", "from", "to"],
            rows: limits(),
        },
        Table {
            page: real_models,
            list: "INTERVENTIONS",
            header: &["change", "what it does", "option of `attune trace`", "key in the trace"],
            rows: modes.map(of_head).chain(others).collect(),
        },
        Table {
            page: real_models,
            list: "HeadMeasure::ALL",
            header: &["measure", "what it measures", "equation", "source"],
            rows: measures.into(),
        },
        Table {
            page: teaching,
            list: "PanelName::ALL",
            header: &["panel", "shows"],
            rows: panels.map(|panel| cells(&[&format!("*{}*", panel.title()), panel.about()])).collect(),
        },
        Table {
            page: teaching,
            list: "CELL_KINDS",
            header: &["cell", "what it is"],
            rows: CELL_KINDS.iter().map(|kind| cells(&[kind.name, kind.about])).collect(),
        },
        Table { page: "docs/exports.md", list: "PANELS", header: &["name", "shows"], rows: sheets.collect() },
        Table {
            page: "docs/exports.md",
            list: "FORMATS",
            header: &["format", "what it is", "opens in", "panels"],
            rows: formats.collect(),
        },
        Table {
            page: "docs/notebook.md",
            list: "Quantity::ALL",
            header: &["name", "what it has"],
            rows: named.collect(),
        },
    ]
}

#[test]
fn tables_of_the_documentation_are_those_of_the_lists() {
    for table in tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(table.page);
        let text = fs::read_to_string(&path).expect("UTF-8");
        let renewed = table.put(&text).unwrap_or_else(|| panic!("{} has no markers {:?}", table.page, table.markers()));
        if env::var_os(UPDATE).is_some() {
            fs::write(&path, renewed).expect("the page can be written");
        } else {
            assert!(
                text == renewed,
                "the table {} of {} is stale: {UPDATE}=1 cargo test --test architecture tables",
                table.list,
                table.page
            );
        }
    }
}

#[test]
fn every_option_and_key_of_an_intervention_is_there() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("UTF-8");
    let (arguments, trace) = (read("src/cli/args.rs"), read("src/view/export/trace.md"));
    for words in INTERVENTIONS {
        let option = words.option.unwrap_or("head");
        assert!(arguments.contains(&format!("    pub {option}: ")), "no option --{option} in src/cli/args.rs");
        let row = trace.lines().find(|line| line.starts_with("| `interventions` |")).expect("a row of interventions");
        assert!(row.contains(&format!("`{}`", words.key)), "the trace's page has no key {}", words.key);
    }
}

#[test]
fn every_fact_is_described() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/lesson/format.md");
    let page = fs::read_to_string(path).expect("UTF-8");
    let (_, table) = page.split_once("| fact | value |").expect("the table of facts");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let names = rows.flat_map(|row| row.split('|').nth(1).expect("a name").split(','));
    let name = |written: &str| written.trim_matches([' ', '`']).split('(').next().map(str::to_owned);
    let described: BTreeSet<String> = names.filter_map(name).collect();
    assert_eq!(described, fact_names().map(str::to_owned).collect());
}

/// The twin: a page with another word in its table is stale.
#[test]
fn a_stale_table_is_found() {
    let table = Table { page: "", list: "LIST", header: &["a"], rows: vec![cells(&["x | y"])] };
    let page = "before\n<!-- made from LIST: -->\n\n| a |\n|---|\n| x \\| y |\n\n<!-- end of LIST -->\nafter";
    assert_eq!(table.put(page).as_deref(), Some(page));
    assert_ne!(table.put(&page.replace('y', "z")).as_deref(), Some(&*page.replace('y', "z")));
    assert_eq!(table.put("no markers"), None);
}
