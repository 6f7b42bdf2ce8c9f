//! The formats of exports: one list, from which the command line, the menus of the window and the documentation are
//! made.

use std::path::{Path, PathBuf};

use attune_engine::vectors::Format as VectorFormat;

/// A format that is written as one file, with further files beside it if it needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Ipynb,
    Html,
    Web,
    /// The slides of a presentation, with the model.
    Slides,
    Md,
    /// The model in Python, with its numbers.
    Pytorch,
    /// Panels of the window, as one vector picture.
    Svg,
    /// Only the lesson's vectors.
    Vectors(VectorFormat),
}

/// The kind of output: a file in a format, or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTo {
    File(Format),
    /// The lesson's model alone, as a folder.
    Checkpoint,
}

/// The names and descriptions of a format.
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
    /// The programs that open the format.
    pub opens_in: &'static str,
    /// Whether `--panels` can add panels to the output.
    pub has_panels: bool,
}

impl FormatWords {
    const fn of(
        to: ExportTo,
        [name, key, extension]: [&'static str; 3],
        about: &'static str,
        opens_in: &'static str,
        has_panels: bool,
    ) -> Self {
        Self { to, name, key, extension, about, opens_in, has_panels }
    }

    const fn vectors(
        format: VectorFormat,
        names: [&'static str; 3],
        about: &'static str,
        opens_in: &'static str,
    ) -> Self {
        Self::of(ExportTo::File(Format::Vectors(format)), names, about, opens_in, false)
    }
}

/// All formats, in the order of the menus.
pub const FORMATS: [FormatWords; 15] = [
    FormatWords::of(
        ExportTo::File(Format::Ipynb),
        ["Jupyter notebook", "ipynb", "ipynb"],
        "a Jupyter notebook (nbformat 4.5) with the code, its outputs, and the stage as PNG; the code is Rhai, so \
                Jupyter shows it but cannot run it",
        "Jupyter, VS Code, GitHub",
        true,
    ),
    FormatWords::of(
        ExportTo::File(Format::Html),
        ["Web page", "html", "html"],
        "one file with formulas as MathML, shaded tables, plots, and the stage in light and in dark colours; it has \
                no scripts and uses no network",
        "any browser; can be printed",
        true,
    ),
    FormatWords::of(
        ExportTo::File(Format::Web),
        ["Live web page", "web", "live.html"],
        "the same page with the working model in it, as one file: the stage can be turned, and words, weights and \
                heads can be changed",
        "any browser of the last five years; can be printed",
        true,
    ),
    FormatWords::of(
        ExportTo::File(Format::Slides),
        ["Slides", "slides", "slides.html"],
        "the slides of a presentation with the working model beside them, as one file: left and right turn, Home and End go \
                to the first and the last, and the stage walks along",
        "any browser of the last five years; printed, each slide is a page",
        false,
    ),
    FormatWords::of(
        ExportTo::File(Format::Md),
        ["Markdown", "md", "md"],
        "CommonMark with formulas between dollar signs, and a folder NAME_files with the pictures beside the file",
        "any editor",
        true,
    ),
    FormatWords::of(
        ExportTo::File(Format::Pytorch),
        ["PyTorch notebook", "pytorch", "torch.ipynb"],
        "a Jupyter notebook in Python that builds the model in PyTorch, with its weights and equations, runs the sentence, \
                and asserts the numbers that attune computed",
        "Jupyter, VS Code, with torch",
        false,
    ),
    FormatWords::of(
        ExportTo::File(Format::Svg),
        ["Attention as a vector picture", "svg", "svg"],
        "panels of the window as one vector picture",
        "any browser, Inkscape, Illustrator; LaTeX after a conversion to PDF",
        true,
    ),
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
    FormatWords::of(
        ExportTo::Checkpoint,
        ["Checkpoint", "checkpoint", ""],
        "a folder with only the model, in the form of BERT, GPT-2, Llama or another family",
        "the transformers library and programs built on it; attune",
        false,
    ),
];

impl Format {
    /// Returns the formats of files, in the order of the list.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().filter_map(|words| match words.to {
            ExportTo::File(format) => Some(format),
            ExportTo::Checkpoint => None,
        })
    }

    /// Returns the names and descriptions of the format.
    ///
    /// # Panics
    /// For a format of vectors that is only read: CSV, and the binary form of fastText.
    pub fn words(self) -> &'static FormatWords {
        let words = FORMATS.iter().find(|words| words.to == ExportTo::File(self));
        words.expect("a format that is written is in the list")
    }

    /// Returns whether the format includes the notebook's cells, with pictures of the stage.
    pub fn is_page(self) -> bool {
        !matches!(self, Self::Pytorch | Self::Svg | Self::Vectors(_))
    }

    /// Returns whether the model is in the page.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Web | Self::Slides)
    }

    /// Returns whether stage pictures are needed for dark screens too. A live page draws its own stage, and has
    /// pictures only for printing.
    pub fn is_dark_too(self) -> bool {
        self == Self::Html
    }

    /// Returns the default path of the output: the lesson's path with the extension of the format.
    pub fn beside(self, lesson: &Path) -> PathBuf {
        lesson.with_extension(self.words().extension)
    }
}
