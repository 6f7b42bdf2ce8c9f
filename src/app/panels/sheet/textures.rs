//! Textures of small maps. The maps of a layer share one texture, which is made when one of them is first in sight and
//! kept until the sentence's numbers, the reading or the theme change.

use std::ptr;
use std::sync::{Arc, Weak};

use attune_ui::theme::Palette;
use attune_view::view_model::attention::Reading;
use attune_view::view_model::heads::{AllHeads, HeadSummary, Thumbnail};
use egui::{Color32, ColorImage, Mesh, Pos2, Rect, TextureFilter, TextureHandle, TextureOptions, Ui};

/// The most rows and columns of a map in its texture; more would not be visible at its size.
const TEXELS: usize = 48;

/// The most maps side by side in a texture, because devices may limit textures to 8192 texels, and a layer may have
/// more heads than fit.
const ABREAST: usize = 128;

/// Returns the numbers of rows and columns in which the maps of a layer are arranged.
fn tiling(heads: usize) -> [usize; 2] {
    let cols = heads.clamp(1, ABREAST);
    [heads.div_ceil(cols), cols]
}

/// Adds the map of a head, which is a part of its layer's texture, to the meshes.
pub fn add_map(meshes: &mut Vec<Mesh>, texture: &TextureHandle, heads: &AllHeads, head: &HeadSummary, map: Rect) {
    /// The opacity of the map of a head that is switched off.
    const OFF: f32 = 0.35;
    let [rows, cols] = tiling(heads.layers[head.layer].heads.len());
    let corner = |row: usize, col: usize| Pos2::new(col as f32 / cols as f32, row as f32 / rows as f32);
    let (row, col) = (head.own / cols, head.own % cols);
    let uv = Rect::from_min_max(corner(row, col), corner(row + 1, col + 1));
    let tint = if head.enabled { Color32::WHITE } else { Color32::WHITE.gamma_multiply(OFF) };
    let mesh = match meshes.iter_mut().find(|mesh| mesh.texture_id == texture.id()) {
        Some(mesh) => mesh,
        None => meshes.push_mut(Mesh::with_texture(texture.id())),
    };
    mesh.add_rect_with_uv(map, uv, tint);
}

/// Textures of the layers that were in sight.
#[derive(Default)]
pub struct Textures {
    /// The heads, the reading and whether the theme is dark, for all textures; `None` before the first one. The
    /// reference is weak, so that it does not keep the heads alive.
    of: Option<(Weak<AllHeads>, Reading, bool)>,
    layers: Vec<Option<TextureHandle>>,
    /// The number of textures that were made so far.
    pub made: usize,
}

impl Textures {
    pub fn layer(&mut self, ui: &Ui, heads: &Arc<AllHeads>, layer: usize, reading: Reading) -> TextureHandle {
        let is_dark = ui.visuals().dark_mode;
        let is_same = self.of.as_ref().is_some_and(|(of, read, dark)| {
            ptr::eq(of.as_ptr(), Arc::as_ptr(heads)) && *read == reading && *dark == is_dark
        });
        if !is_same {
            self.of = Some((Arc::downgrade(heads), reading, is_dark));
            self.layers = vec![None; heads.layers.len()];
        }
        let made = &mut self.made;
        let texture = self.layers[layer].get_or_insert_with(|| {
            *made += 1;
            let options = TextureOptions { magnification: TextureFilter::Nearest, ..TextureOptions::LINEAR };
            let image = picture(heads, layer, reading, Palette::of(is_dark));
            ui.ctx().load_texture(format!("heads of layer {layer}"), image, options)
        });
        texture.clone()
    }
}

/// Returns the maps of a layer's heads side by side, in rows.
fn picture(heads: &AllHeads, layer: usize, reading: Reading, palette: &Palette) -> ColorImage {
    let maps: Vec<Thumbnail> =
        heads.layers[layer].heads.clone().map(|head| heads.thumbnail(head, TEXELS, reading)).collect();
    let [rows, cols] = maps.first().map_or([0, 0], |map| [map.rows, map.cols]);
    let colour = |(own, map): (usize, &Thumbnail), row: usize, col: usize| {
        map.shares[row * cols + col].map_or(palette.surface, |share| palette.weight(own, share))
    };
    let [down, across] = tiling(maps.len());
    let [width, height] = [across * cols, down * rows];
    let pixel = |at: usize| {
        let (y, x) = (at / width, at % width);
        let own = y / rows * across + x / cols;
        maps.get(own).map_or(palette.surface, |map| colour((own, map), y % rows, x % cols))
    };
    ColorImage::new([width, height], (0..width * height).map(pixel).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_maps_of_1024_heads_fit_into_a_texture_that_devices_take() {
        for heads in [1, ABREAST, 171, 1024] {
            let [rows, cols] = tiling(heads);
            assert!(rows * cols >= heads, "{heads}");
            assert!(rows.max(cols) * TEXELS <= 8192, "{heads}");
        }
    }
}
