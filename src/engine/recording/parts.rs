//! The parts of a recording: the names of its tensors, the layers that they belong to, and their shapes.

use crate::messages::named;
use crate::pretrained::safetensors::{Dtype, FileTensor};
use crate::pretrained::{Refusal, refusal};

/// Largest number of texts in a file; the next constant is the largest number of layers.
pub const TEXTS_MAX: usize = 20;
pub const LAYERS_MAX: usize = 512;
/// Largest number of tokens of a text.
pub const TOKENS_MAX: usize = 4096;
/// Largest number of heads of a layer; the next constant is the largest number of entries of a vector.
const HEADS_MAX: usize = 1024;
const WIDTH_MAX: usize = 65_536;
/// Largest number of rows, and of columns, of a picture.
const PICTURE_SIDE_MAX: usize = 4096;
/// Number of channels of a picture: red, green and blue.
const CHANNELS: usize = 3;

/// The attention or the layers that a tensor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The encoder of an encoder-decoder model, where the source attends to itself.
    Encoder,
    /// The only tower of a model.
    Own,
    /// The decoder's self-attention, where the target attends to itself.
    Decoder,
    /// The decoder's cross-attention, where the target attends to the source.
    Cross,
}

impl Side {
    pub const ALL: [Self; 4] = [Self::Encoder, Self::Own, Self::Decoder, Self::Cross];

    /// Returns the prefix of the names of its tensors.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Encoder => "encoder_",
            Self::Own => "",
            Self::Decoder => "decoder_",
            Self::Cross => "cross_",
        }
    }

    /// Returns whether the keys are tokens of the source.
    pub fn keys_are_of_source(self) -> bool {
        matches!(self, Self::Encoder | Self::Cross)
    }

    /// Returns whether the queries are tokens of the source.
    pub fn queries_are_of_source(self) -> bool {
        self == Self::Encoder
    }
}

named! {
    /// The kind of a tensor of a recording, with a name in the file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Part {
        Attentions = "attentions",
        Queries = "queries",
        Keys = "keys",
        Values = "values",
        OutputWeight = "output_weight",
        ScoreScale = "score_scale",
        ScoreCap = "score_cap",
        ScoreBias = "score_bias",
        Sinks = "sinks",
        Mask = "mask",
        HiddenStates = "hidden_states",
        Logits = "logits",
        Picture = "picture",
    }
}

impl Part {
    /// Returns whether a name of this part may have the number of a layer (if `is` is true) or may lack it (if `is` is
    /// false).
    fn is_numbered(self, is: bool) -> bool {
        match self {
            Self::Logits | Self::Picture => !is,
            // A mask may belong to one layer, or apply to all layers.
            Self::Mask => true,
            _ => is,
        }
    }

    /// Returns the number types that this part may have.
    fn kinds(self) -> &'static [Dtype] {
        match self {
            Self::Picture => &[Dtype::U8],
            Self::Mask => &[Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::BOOL, Dtype::U8],
            _ => &[Dtype::F32, Dtype::F16, Dtype::BF16],
        }
    }

    /// Checks the number type of a tensor.
    ///
    /// # Errors
    /// If this part cannot have the type.
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

/// The place of a tensor in a recording, as its name gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Number of the text; `None` if the name has no such number.
    pub text: Option<usize>,
    pub side: Side,
    pub part: Part,
    pub layer: Option<usize>,
}

impl Address {
    /// Reads the name of a tensor, such as `0/cross_attentions.3`. Returns `None` if no tensor of a recording has such
    /// a name.
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
    // Every name begins with the empty prefix, so that is tried last.
    let sides = [Side::Encoder, Side::Decoder, Side::Cross, Side::Own];
    sides.into_iter().find_map(|side| Some((side, part_of(name.strip_prefix(side.prefix())?)?)))
}

/// Reads a number that must be below `bound`.
fn below(digits: &str, bound: usize, of: &str, name: &str) -> Result<usize, Refusal> {
    match digits.parse::<usize>() {
        Ok(number) if number < bound => Ok(number),
        _ => {
            let (found, expected) = (format!("the {of} {digits}"), format!("numbers from 0 to {}", bound - 1));
            Err(Refusal::new(found, expected, format!("record fewer {of}s, or number them from 0")).of_tensor(name))
        }
    }
}

/// A condition for the length of one axis of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Size {
    /// This length, with the reason for a message.
    Exactly(usize, &'static str),
    OneOr(usize, &'static str),
    Heads,
    /// A number of heads of keys and values, which must divide the number of heads.
    Divides(usize),
    Width,
    /// Any length but 0.
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

/// Checks the length of each axis of a tensor.
///
/// # Errors
/// If the number of axes is another, or a length does not satisfy its condition.
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
