//! Patches of a picture: the weights of a query over the grid of keys, and the picture itself.

use std::sync::Arc;

use attune_core::kernel::sentence_pass::recorded::RecordedPass;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::recorded::Towers;
use attune_engine::recording::parts::{Part, Side};

/// The weights of one query in one head over the patches.
#[derive(Clone, Debug, PartialEq)]
pub struct PatchMap {
    pub rows: usize,
    pub columns: usize,
    /// The weight of each patch, row by row.
    pub weights: Vec<f32>,
    /// The largest of these weights.
    pub largest: f32,
    /// The patch to which the query belongs; `None` for another token, such as `[CLS]`.
    pub query: Option<usize>,
    /// The sum of the weights on tokens that are no patches, such as `[CLS]`.
    pub elsewhere: f32,
}

impl PatchMap {
    /// Reads the whole row of the query, of which the stage may show only a part. `None` if the tokens are not patches,
    /// or if there is no such query or head.
    pub fn of(snapshot: &Snapshot, (query, head): (usize, usize)) -> Option<Self> {
        Self::of_pass(snapshot.model.as_ref()?.recorded.as_deref()?, (query, head))
    }

    /// Reads the map from the pass of a recording, as [`Self::of`] does.
    pub(super) fn of_pass(pass: &RecordedPass, (query, head): (usize, usize)) -> Option<Self> {
        let (grid, places) = grid(pass)?;
        let architecture = &pass.place.model.architecture;
        if head >= architecture.heads() || query >= pass.tokens.len() {
            return None;
        }
        let (block, _, own) = architecture.head(head);
        let text = &pass.place.model.recording.texts[pass.place.text];
        let (_, attention) = Towers::of(text).blocks().get(block).copied()?;
        let attention = attention.filter(|attention| attention.side == Side::Own)?;
        let query = pass.place.tokens(false).start + query;
        let row = pass.place.model.recording.rows(attention.part(Part::Attentions)?, own, query..query + 1).ok()?;
        let weights: Vec<f32> = places.iter().map(|place| row.get(0, *place)).collect();
        Some(Self {
            rows: grid.0,
            columns: grid.1,
            largest: weights.iter().copied().fold(0.0, f32::max),
            elsewhere: row.row(0).iter().sum::<f32>() - weights.iter().sum::<f32>(),
            query: places.iter().position(|place| *place == query),
            weights,
        })
    }
}

/// The places of the tokens of a sentence in the grid of a picture's patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchPlaces {
    pub rows: usize,
    pub columns: usize,
    /// The row and the column of each token's patch; `None` for a token that is no patch, such as `[CLS]`.
    pub of_tokens: Vec<Option<[usize; 2]>>,
}

impl PatchPlaces {
    /// Returns the row and the column of a token's patch; `None` if the token is no patch.
    pub fn of_token(&self, token: usize) -> Option<[usize; 2]> {
        self.of_tokens.get(token).copied().flatten()
    }

    /// Returns the token of each patch, row by row. Of a long text, only a stretch of the tokens is shown; a patch
    /// outside of it has none.
    pub fn tokens(&self) -> Vec<Option<usize>> {
        let mut tokens = vec![None; self.rows * self.columns];
        for (token, place) in self.of_tokens.iter().enumerate() {
            place.iter().for_each(|[row, column]| tokens[row * self.columns + column] = Some(token));
        }
        tokens
    }

    /// Returns the places of the tokens that are shown; `None` if they are not patches.
    pub(crate) fn of(snapshot: &Snapshot) -> Option<Self> {
        let pass = snapshot.model.as_ref()?.recorded.as_deref()?;
        let ((rows, columns), places) = grid(pass)?;
        let place = |token: usize| {
            let at = places.binary_search(&token).ok()?;
            Some([at / columns, at % columns])
        };
        Some(Self { rows, columns, of_tokens: pass.place.tokens(false).map(place).collect() })
    }
}

/// Returns the numbers of rows and columns of the grid, and the token of each patch; `None` if the tokens are not
/// patches.
pub(crate) fn grid(pass: &RecordedPass) -> Option<((usize, usize), Vec<usize>)> {
    let about = &pass.place.model.recording.texts[pass.place.text].about;
    let grid = pass.place.grid()?;
    let places = (0..about.tokens.len()).filter(|at| about.special.binary_search(at).is_err()).collect();
    Some(((grid.rows, grid.columns), places))
}

/// The picture from which the patches are cut.
#[derive(Clone, Debug)]
pub struct PatchPicture {
    of: Arc<RecordedPass>,
    pub width: usize,
    pub height: usize,
    /// The red, green and blue of each pixel, row by row.
    pub colors: Arc<[[u8; 3]]>,
}

/// The largest side of a picture as it is drawn; larger pictures are reduced.
const SIDE_MAX: usize = 512;

impl PatchPicture {
    /// Reads the picture, or returns `before` if it belongs to the same text; `None` if the recording has no picture.
    pub(crate) fn after(snapshot: &Snapshot, before: Option<&Self>) -> Option<Self> {
        let pass = snapshot.model.as_ref()?.recorded.as_ref()?;
        if let Some(before) = before.filter(|before| before.of.place.is_same_text(&pass.place)) {
            return Some(before.clone());
        }
        let text = &pass.place.model.recording.texts[pass.place.text];
        let tensor = text.picture.as_ref()?;
        let [rows, columns, channels] = tensor.shape[..] else { return None };
        let step = rows.max(columns).div_ceil(SIDE_MAX).max(1);
        let (height, width) = (rows.div_ceil(step), columns.div_ceil(step));
        let mut colors = Vec::with_capacity(height * width);
        for row in (0..rows).step_by(step) {
            let first = row * columns * channels;
            let line = pass.place.model.recording.numbers(tensor, first..first + columns * channels).ok()?;
            let pixel = |column: usize| std::array::from_fn(|channel| line[column * channels + channel] as u8);
            colors.extend((0..columns).step_by(step).map(pixel));
        }
        Some(Self { of: pass.clone(), width, height, colors: colors.into() })
    }
}
