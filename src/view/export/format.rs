//! The formats of exports: one list, from which the command line, the menus of the window and the documentation are made.

use std::path::{Path, PathBuf};

use attune_engine::vectors::Format as VectorFormat;

/// A format of one file, with further files beside it where it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Ipynb,
    Html,
    Web,
    Md,
    /// Panels of the window, as one vector picture.
    Svg,
    /// Only the lesson's vectors.
    Vectors(VectorFormat),
}

/// The result of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTo {
    File(Format),
    /// The lesson's model alone, as a folder.
    Checkpoint,
}

/// A format in words.
#[derive(Clone, Copy, Debug)]
pub struct FormatWords {
    pub to: ExportTo,
    /// The displayed name.
    pub name: &'static str,
    /// The name on the command line.
    pub key: &'static str,
    /// The file name extension; empty for a folder.
    pub extension: &'static str,
    /// The content, for the help text and the documentation.
    pub about: &'static str,
    /// Programs that open it.
    pub opens_in: &'static str,
    /// Whether panels can be written to it.
    pub has_panels: bool,
}

impl FormatWords {
    const fn vectors(
        format: VectorFormat,
        [name, key, extension]: [&'static str; 3],
        about: &'static str,
        opens_in: &'static str,
    ) -> Self {
        Self { to: ExportTo::File(Format::Vectors(format)), name, key, extension, about, opens_in, has_panels: false }
    }
}

/// All formats, in the order of the menus.
pub const FORMATS: [FormatWords; 13] = [
    FormatWords {
        to: ExportTo::File(Format::Ipynb),
        name: "Jupyter notebook",
        key: "ipynb",
        extension: "ipynb",
        about: "a Jupyter notebook (nbformat 4.5) with the code, its outputs, and the stage as PNG; the code is Rhai, so \
                Jupyter shows it but cannot run it",
        opens_in: "Jupyter, VS Code, GitHub",
        has_panels: true,
    },
    FormatWords {
        to: ExportTo::File(Format::Html),
        name: "Web page",
        key: "html",
        extension: "html",
        about: "one file with formulas as MathML, shaded tables, plots, and the stage in light and in dark colours; it has \
                no scripts and uses no network",
        opens_in: "any browser; can be printed",
        has_panels: true,
    },
    FormatWords {
        to: ExportTo::File(Format::Web),
        name: "Live web page",
        key: "web",
        extension: "live.html",
        about: "the same page with the working model in it, as one file: the stage can be turned, and words, weights and \
                heads can be changed",
        opens_in: "any browser of the last five years; can be printed",
        has_panels: true,
    },
    FormatWords {
        to: ExportTo::File(Format::Md),
        name: "Markdown",
        key: "md",
        extension: "md",
        about: "CommonMark with formulas between dollar signs, and a folder NAME_files with the pictures beside the file",
        opens_in: "any editor",
        has_panels: true,
    },
    FormatWords {
        to: ExportTo::File(Format::Svg),
        name: "Attention as a vector picture",
        key: "svg",
        extension: "svg",
        about: "panels of the window as one vector picture",
        opens_in: "any browser, Inkscape, Illustrator; LaTeX after a conversion to PDF",
        has_panels: true,
    },
    FormatWords::vectors(
        VectorFormat::Tsv,
        ["Vectors for the Embedding Projector", "tsv", "tsv"],
        "vectors as a table; NAME_metadata.tsv names each row, and NAME_config.json opens both",
        "projector.tensorflow.org",
    ),
    FormatWords::vectors(
        VectorFormat::Word2VecBinary,
        ["Vectors, word2vec", "word2vec", "bin"],
        "words and vectors in the binary form of word2vec",
        "gensim",
    ),
    FormatWords::vectors(
        VectorFormat::Word2VecText,
        ["Vectors, word2vec and fastText as text", "word2vec-text", "vec"],
        "words and vectors as text with a first line of sizes, as word2vec and fastText write them",
        "gensim, fastText",
    ),
    FormatWords::vectors(
        VectorFormat::Glove,
        ["Vectors, GloVe", "glove", "txt"],
        "words and vectors as text, as GloVe writes them",
        "most programs that read vectors",
    ),
    FormatWords::vectors(
        VectorFormat::Npy,
        ["Vectors, NumPy's array", "npy", "npy"],
        "vectors as an array of NumPy; NAME_metadata.tsv names each row",
        "NumPy",
    ),
    FormatWords::vectors(
        VectorFormat::Npz,
        ["Vectors and words, NumPy's archive", "npz", "npz"],
        "vectors and words as an archive of NumPy",
        "NumPy",
    ),
    FormatWords::vectors(
        VectorFormat::Safetensors,
        ["Vectors, safetensors", "safetensors", "safetensors"],
        "vectors as a tensor; NAME_metadata.tsv names each row",
        "PyTorch, NumPy and other libraries with safetensors",
    ),
    FormatWords {
        to: ExportTo::Checkpoint,
        name: "Checkpoint",
        key: "checkpoint",
        extension: "",
        about: "a folder with only the model, in the form of BERT or GPT-2",
        opens_in: "the transformers library and programs built on it; attune",
        has_panels: false,
    },
];

impl Format {
    /// Returns the formats of files, in the order of the list.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().filter_map(|words| match words.to {
            ExportTo::File(format) => Some(format),
            ExportTo::Checkpoint => None,
        })
    }

    /// Returns the format in words.
    ///
    /// # Panics
    /// For a format of vectors that is only read: CSV, and the binary form of fastText.
    pub fn words(self) -> &'static FormatWords {
        let words = FORMATS.iter().find(|words| words.to == ExportTo::File(self));
        words.expect("a format that is written is in the list")
    }

    /// Returns whether the format includes the notebook's cells, with pictures of the stage.
    pub fn is_page(self) -> bool {
        !matches!(self, Self::Svg | Self::Vectors(_))
    }

    /// Returns whether pictures are needed for light and dark screens. A live page draws its own stage, and has
    /// pictures only for printing.
    pub fn is_dark_too(self) -> bool {
        self == Self::Html
    }

    /// Returns the default file, which is beside the lesson and has its name.
    pub fn beside(self, lesson: &Path) -> PathBuf {
        lesson.with_extension(self.words().extension)
    }
}
