//! Arguments of `attune map`, `score`, `words` and `heads`.

use std::path::PathBuf;

use attune_core::kernel::evidence::AskedAnswer;
use attune_engine::numerics::evidence::maps::Receiver;
use attune_engine::numerics::evidence::score::ScoreAt;
use attune_engine::numerics::model::onward::Projected;
use clap::ValueEnum;

use super::places::{after_head, two};

#[derive(Debug, clap::Args)]
pub struct MapArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name.
    pub lesson: PathBuf,
    /// The sentence that is changed.
    #[arg(long, allow_hyphen_values = true)]
    pub sentence: String,
    /// The sentence whose vectors and head outputs are put in, with as many tokens. Without it, only the maps of heads
    /// that are off or mean are computed.
    #[arg(long, value_name = "SENTENCE", allow_hyphen_values = true)]
    pub second: Option<String>,
    #[command(flatten)]
    pub asked: AnswerArgs,
    /// Also compute paths: the share of the way that each earlier head has by one path alone, into the queries, keys or
    /// values of a head (6.1:q, 6.1:k, 6.1:v) or straight to the answer (answer).
    #[arg(long, value_name = "LAYER.HEAD:PART", requires = "second", value_parser = receiver)]
    pub into: Option<Receiver>,
    /// Keep the feed-forward layers on a path as they are in the sentence, instead of computing them anew.
    #[arg(long, requires = "into")]
    pub direct: bool,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// The answer that is asked for.
#[derive(Debug, clap::Args)]
pub struct AnswerArgs {
    /// The answer, one piece of the model. If it is not given: the likeliest word, of the second sentence if there is
    /// one.
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub answer: Option<String>,
    /// The word that the answer is compared with. If it is not given: with a second sentence the likeliest word of the
    /// first, otherwise the second likeliest.
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub against: Option<String>,
    /// The token at which the model answers, counted from 1. If it is not given: the last hidden word, such as [MASK],
    /// or the last token of a model that writes on.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub at: Option<u64>,
}

impl AnswerArgs {
    pub fn asked(&self) -> AskedAnswer {
        let at = self.at.map(|at| usize::try_from(at).unwrap_or(usize::MAX) - 1);
        AskedAnswer { answer: self.answer.clone(), against: self.against.clone(), at }
    }
}

#[derive(Debug, clap::Args)]
pub struct ScoreArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name.
    pub lesson: PathBuf,
    /// The sentence.
    #[arg(long, allow_hyphen_values = true)]
    pub sentence: String,
    /// The score: 6.1:19-3, for example, is that of head 1 of layer 6, of the query at the 19th token and the key at
    /// the third.
    #[arg(long, value_name = "LAYER.HEAD:QUERY-KEY", value_parser = score)]
    pub of: ScoreAt,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct WordsArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name.
    pub lesson: PathBuf,
    /// The sentence.
    #[arg(long, allow_hyphen_values = true)]
    pub sentence: String,
    #[command(flatten)]
    pub asked: AnswerArgs,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Args)]
pub struct HeadsArgs {
    /// The lesson, by its file or its name in the course (it is trained first); or a pretrained model, by its folder or
    /// name.
    pub lesson: PathBuf,
    /// A file of texts in UTF-8, a sentence on each line; of a model with an encoder and a decoder, a source or a pair
    /// `source ||| target`. Empty lines and lines of one token are left out; of a line that is longer than the model
    /// reads, the end is cut.
    #[arg(required_unless_present = "head", conflicts_with_all = ["head", "words"])]
    pub texts: Option<PathBuf>,
    /// Instead of texts, heads whose tables are printed, such as 2.2: what they compare and write, from their weights
    /// alone, and which heads compose. Separate several heads by commas.
    #[arg(long, value_name = "LAYER.HEAD", value_delimiter = ',', value_parser = head)]
    pub head: Vec<(usize, usize)>,
    /// Words to look up in the tables of --head, each one piece of the model, such as fox,the. Without words, only the
    /// composition of heads is printed.
    #[arg(long, value_name = "WORDS", value_delimiter = ',', requires = "head", allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Write files for another program too. headvis: a folder that HeadVis reads, and whose files attune opens as
    /// recordings.
    #[arg(long = "to", value_enum, value_name = "FORM", requires_all = ["texts", "output"], conflicts_with = "head")]
    pub form: Option<HeadsForm>,
    /// The new folder to write.
    #[arg(long, short, value_name = "FOLDER", requires = "form")]
    pub output: Option<PathBuf>,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Forms in which the measures of heads over texts are written for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HeadsForm {
    Headvis,
}

fn receiver(text: &str) -> Result<Receiver, String> {
    if text.trim() == "answer" {
        return Ok(Receiver::Answer);
    }
    let read = after_head(text, ':').and_then(|(at, part)| {
        let part = match part {
            "q" => Projected::Query,
            "k" => Projected::Key,
            "v" => Projected::Value,
            _ => return None,
        };
        Some(Receiver::Head { block: at.layer, head: at.head, part })
    });
    read.ok_or_else(|| "expected answer, or a layer, a head and q, k or v, such as 6.1:v".to_owned())
}

fn score(text: &str) -> Result<ScoreAt, String> {
    let read = after_head(text, ':').and_then(|(at, tokens)| {
        let (query, key) = two(tokens, '-')?;
        Some(ScoreAt { block: at.layer, head: at.head, query, key })
    });
    read.ok_or_else(|| "expected a layer, a head and two tokens, such as 6.1:19-3".to_owned())
}

fn head(text: &str) -> Result<(usize, usize), String> {
    two(text, '.').ok_or_else(|| "expected a layer and a head, such as 2.2".to_owned())
}
