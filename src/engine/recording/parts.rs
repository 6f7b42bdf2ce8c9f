//! The parts of a recording: what tensors are called, whose they are, and which shapes they have.

use crate::pretrained::safetensors::{Dtype, FileTensor};
use crate::pretrained::{Refusal, refusal};

/// Texts of one file, and layers of one model.
pub const TEXTS_MAX: usize = 20;
pub const LAYERS_MAX: usize = 512;
/// Tokens of a text.
pub const TOKENS_MAX: usize = 4096;
/// Heads of a layer, and entries of a vector.
const HEADS_MAX: usize = 1024;
const WIDTH_MAX: usize = 65_536;
/// Rows and columns of a picture.
const PICTURE_SIDE_MAX: usize = 4096;
/// Channels of a picture: red, green and blue.
const CHANNELS: usize = 3;

/// The attention or the layers that a tensor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The encoder of an encoder-decoder model: source to source.
    Encoder,
    /// A model of one tower.
    Own,
    /// The decoder's self-attention: target to target.
    Decoder,
    /// The decoder's attention to the source.
    Cross,
}

impl Side {
    pub const ALL: [Self; 4] = [Self::Encoder, Self::Own, Self::Decoder, Self::Cross];

    /// Returns what stands before the name of each of its tensors.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Encoder => "encoder_",
            Self::Own => "",
            Self::Decoder => "decoder_",
            Self::Cross => "cross_",
        }
    }

    /// Returns whether its keys are tokens of the source.
    pub fn keys_are_of_source(self) -> bool {
        matches!(self, Self::Encoder | Self::Cross)
    }

    /// Returns whether its queries are tokens of the source.
    pub fn queries_are_of_source(self) -> bool {
        self == Self::Encoder
    }
}

/// A part of a recording, by its name in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Attentions,
    Queries,
    Keys,
    Values,
    OutputWeight,
    ScoreScale,
    ScoreCap,
    ScoreBias,
    Sinks,
    Mask,
    HiddenStates,
    Logits,
    Picture,
}

impl Part {
    pub const ALL: [Self; 13] = [
        Self::Attentions,
        Self::Queries,
        Self::Keys,
        Self::Values,
        Self::OutputWeight,
        Self::ScoreScale,
        Self::ScoreCap,
        Self::ScoreBias,
        Self::Sinks,
        Self::Mask,
        Self::HiddenStates,
        Self::Logits,
        Self::Picture,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Attentions => "attentions",
            Self::Queries => "queries",
            Self::Keys => "keys",
            Self::Values => "values",
            Self::OutputWeight => "output_weight",
            Self::ScoreScale => "score_scale",
            Self::ScoreCap => "score_cap",
            Self::ScoreBias => "score_bias",
            Self::Sinks => "sinks",
            Self::Mask => "mask",
            Self::HiddenStates => "hidden_states",
            Self::Logits => "logits",
            Self::Picture => "picture",
        }
    }

    /// Returns whether the number of a layer stands behind its name, if it is one of layers.
    fn is_numbered(self, is: bool) -> bool {
        match self {
            Self::Logits | Self::Picture => !is,
            // One mask may hold for all layers.
            Self::Mask => true,
            _ => is,
        }
    }

    /// Returns the kinds of numbers that it may have.
    fn kinds(self) -> &'static [Dtype] {
        match self {
            Self::Picture => &[Dtype::U8],
            Self::Mask => &[Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::BOOL, Dtype::U8],
            _ => &[Dtype::F32, Dtype::F16, Dtype::BF16],
        }
    }

    /// Checks the kind of a tensor's numbers.
    ///
    /// # Errors
    /// If it is not read for this part.
    pub(super) fn check_kind(self, tensor: &FileTensor) -> Result<(), Refusal> {
        if self.kinds().contains(&tensor.dtype) {
            return Ok(());
        }
        let kinds: Vec<String> = self.kinds().iter().map(Dtype::to_string).collect();
        let advice = "convert the tensor before it is saved, for example with .float()";
        let found = format!("numbers of the kind {}", tensor.dtype);
        Err(Refusal::new(found, kinds.join(", "), advice).of_tensor(&tensor.name))
    }
}

/// The place of a tensor in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The number of its text; `None` without one.
    pub text: Option<usize>,
    pub side: Side,
    pub part: Part,
    pub layer: Option<usize>,
}

impl Address {
    /// Reads the name of a tensor: `0/cross_attentions.3`. `None` of a name that no part has.
    ///
    /// # Errors
    /// If the number of the text or of the layer is too large.
    pub fn parse(name: &str) -> Result<Option<Self>, Refusal> {
        let (text, rest) = match name.split_once('/') {
            Some((digits, rest)) if is_number(digits) => (Some(digits), rest),
            Some(_) => return Ok(None),
            None => (None, name),
        };
        let (rest, layer) = match rest.rsplit_once('.') {
            Some((rest, digits)) if is_number(digits) => (rest, Some(digits)),
            Some(_) => return Ok(None),
            None => (rest, None),
        };
        let Some((side, part)) = side_and_part(rest) else { return Ok(None) };
        if !part.is_numbered(layer.is_some()) {
            return Ok(None);
        }
        let text = text.map(|digits| below(digits, TEXTS_MAX, "text", name)).transpose()?;
        let layer = layer.map(|digits| below(digits, LAYERS_MAX, "layer", name)).transpose()?;
        Ok(Some(Self { text, side, part, layer }))
    }
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn side_and_part(name: &str) -> Option<(Side, Part)> {
    let part_of = |name: &str| Part::ALL.into_iter().find(|part| part.name() == name);
    // The empty prefix begins every name, so it is tried last.
    let sides = [Side::Encoder, Side::Decoder, Side::Cross, Side::Own];
    sides.into_iter().find_map(|side| Some((side, part_of(name.strip_prefix(side.prefix())?)?)))
}

/// Reads a number below a bound.
fn below(digits: &str, bound: usize, of: &str, name: &str) -> Result<usize, Refusal> {
    match digits.parse::<usize>() {
        Ok(number) if number < bound => Ok(number),
        _ => {
            let (found, expected) = (format!("the {of} {digits}"), format!("numbers from 0 to {}", bound - 1));
            Err(Refusal::new(found, expected, format!("record fewer {of}s, or number them from 0")).of_tensor(name))
        }
    }
}

/// A size that a shape must have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// This many, with the reason.
    Exactly(usize, &'static str),
    OneOr(usize, &'static str),
    Heads,
    /// A number of heads of keys and values, which divides that of the queries.
    Divides(usize),
    Width,
    /// Any number but 0.
    Any,
    Side,
    Channels,
}

impl Size {
    fn holds(self, size: usize) -> bool {
        match self {
            Self::Exactly(wanted, _) => size == wanted,
            Self::OneOr(wanted, _) => size == wanted || size == 1,
            Self::Heads => (1..=HEADS_MAX).contains(&size),
            Self::Divides(heads) => size > 0 && heads.is_multiple_of(size),
            Self::Width => (1..=WIDTH_MAX).contains(&size),
            Self::Any => size > 0,
            Self::Side => (1..=PICTURE_SIDE_MAX).contains(&size),
            Self::Channels => size == CHANNELS,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Exactly(size, of) => format!("{size} ({of})"),
            Self::OneOr(size, of) => format!("1 or {size} ({of})"),
            Self::Heads => format!("1 to {HEADS_MAX} heads"),
            Self::Divides(heads) => format!("a divisor of {heads} (heads)"),
            Self::Width => format!("1 to {WIDTH_MAX} (width)"),
            Self::Any => "1 or more".to_owned(),
            Self::Side => format!("1 to {PICTURE_SIDE_MAX} pixels"),
            Self::Channels => format!("{CHANNELS} (red, green, blue)"),
        }
    }
}

/// Checks the shape of a tensor, axis by axis.
///
/// # Errors
/// If it has another number of axes, or a size that does not hold.
pub(super) fn check_shape(tensor: &FileTensor, sizes: &[Size]) -> Result<(), Refusal> {
    let fits = tensor.shape.len() == sizes.len() && sizes.iter().zip(&tensor.shape).all(|(size, &n)| size.holds(n));
    if fits {
        return Ok(());
    }
    let expected = format!("({})", sizes.iter().map(|size| size.words()).collect::<Vec<_>>().join(", "));
    let found = format!("the shape {}", refusal::shape(&tensor.shape));
    let advice = "record one text, without the axis of the batch, and with the tokens that the model read";
    Err(Refusal::new(found, expected, advice).of_tensor(&tensor.name))
}
