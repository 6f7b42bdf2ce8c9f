//! Patches of a picture: the picture as a texture, and single patches of it.

use std::sync::Arc;

use attune_view::view_model::grid::{PatchPicture, PatchPlaces};
use egui::{Color32, ColorImage, Context, Id, Painter, Rect, TextureHandle, TextureOptions, pos2, vec2};

use crate::theme::Palette;

/// The opacity of the cover over a patch of the picture that has no weight.
const COVER: f32 = 0.9;

/// The texture of a picture on the graphics card, and the colours from which it was made.
#[derive(Clone)]
struct OnCard {
    colors: Arc<[[u8; 3]]>,
    texture: TextureHandle,
}

/// Returns the texture of the picture. A new picture is uploaded once, and replaces the previous one.
pub fn texture(ctx: &Context, picture: &PatchPicture) -> TextureHandle {
    let id = Id::new("patches");
    let known = ctx.data(|data| data.get_temp::<OnCard>(id));
    if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.colors, &picture.colors)) {
        return known.texture;
    }
    let image = ColorImage::from_rgb([picture.width, picture.height], picture.colors.as_flattened());
    let texture = ctx.load_texture("patches", image, TextureOptions::LINEAR);
    let on_card = OnCard { colors: picture.colors.clone(), texture: texture.clone() };
    ctx.data_mut(|data| data.insert_temp(id, on_card));
    texture
}

/// Paints the part of the picture that belongs to a patch.
pub fn paint_patch(
    painter: &Painter,
    picture: &TextureHandle,
    places: &PatchPlaces,
    [row, column]: [usize; 2],
    to: Rect,
) {
    let part = vec2(1.0 / places.columns as f32, 1.0 / places.rows as f32);
    let from = Rect::from_min_size(pos2(column as f32 * part.x, row as f32 * part.y), part);
    painter.image(picture.id(), to, from, Color32::WHITE);
}

/// Returns the colour of a patch by its share of the largest weight of head `own`: over a picture, a cover that is more
/// transparent where the query looks; without a picture, the colour of the weight.
pub fn patch_color(palette: &Palette, has_picture: bool, own: usize, share: f32) -> Color32 {
    if has_picture { palette.raised.gamma_multiply(COVER * (1.0 - share)) } else { palette.weight(own, share) }
}
