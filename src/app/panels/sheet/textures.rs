//! Textures of small maps: those of a layer are one, made when one of them is first in sight and kept until the sentence's
//! numbers, the reading or the theme change.

use std::ptr;
use std::sync::{Arc, Weak};

use attune_ui::theme::Palette;
use attune_view::view_model::attention::Reading;
use attune_view::view_model::heads::{AllHeads, HeadSummary, Thumbnail};
use egui::{Color32, ColorImage, Mesh, Pos2, Rect, TextureFilter, TextureHandle, TextureOptions, Ui};

/// Rows and columns of a map in its texture, at most: more are not seen at its size.
const TEXELS: usize = 48;

/// The map of a head, out of the texture of its layer.
pub fn add_map(meshes: &mut Vec<Mesh>, texture: &TextureHandle, heads: &AllHeads, head: &HeadSummary, map: Rect) {
    /// A head that is switched off steps back.
    const OFF: f32 = 0.35;
    let count = heads.layers[head.layer].heads.len() as f32;
    let uv = Rect::from_min_max(Pos2::new(head.own as f32 / count, 0.0), Pos2::new((head.own + 1) as f32 / count, 1.0));
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
    /// The heads, reading and theme that they show. Heads that are shown nowhere else are not kept alive.
    of: Option<(Weak<AllHeads>, Reading, bool)>,
    layers: Vec<Option<TextureHandle>>,
    /// Made in all.
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

/// The maps of a layer's heads side by side.
fn picture(heads: &AllHeads, layer: usize, reading: Reading, palette: &Palette) -> ColorImage {
    let maps: Vec<Thumbnail> =
        heads.layers[layer].heads.clone().map(|head| heads.thumbnail(head, TEXELS, reading)).collect();
    let [rows, cols] = maps.first().map_or([0, 0], |map| [map.rows, map.cols]);
    let colour = |(own, map): (usize, &Thumbnail), row: usize, col: usize| {
        map.shares[row * cols + col].map_or(palette.surface, |share| palette.weight(own, share))
    };
    let pixels = (0..rows).flat_map(|row| {
        let maps = maps.iter().enumerate();
        maps.flat_map(move |map| (0..cols).map(move |col| colour(map, row, col)))
    });
    ColorImage::new([maps.len() * cols, rows], pixels.collect())
}
