//! The filmstrip of a model with several layers.

use attune::app::stage::filmstrip::{Filmstrip, frame};
use attune::app::theme::size;
use attune_view::explain::walk::RouteModel;
use egui::{Pos2, Rect, vec2};

use crate::common::lessons::form;

#[test]
fn the_path_of_a_word_goes_through_its_place_in_every_frame() {
    let snapshot = form("decoder").snapshot();
    let route = RouteModel::of(&snapshot).expect("a model");
    let size = frame(130.0).expect("there is room");
    assert_eq!(size, vec2(120.0, 80.0));
    let corner = |layer: usize| Pos2::new(130.0 * layer as f32, 0.0);
    let frames: Vec<Rect> = (0..route.layers.len()).map(|layer| Rect::from_min_size(corner(layer), size)).collect();
    let strip = Filmstrip::of(&route, frames.clone());
    for word in 1..route.after(0).count() {
        let path = strip.path(word);
        assert_eq!(path.len(), frames.len());
        // The upper edge has the number of the layer.
        let room = |frame: &Rect| frame.with_min_y(frame.top() + size::LABEL_AXIS);
        assert!(path.iter().zip(&frames).all(|(at, frame)| room(frame).contains(*at)), "{path:?}");
        for (layer, at) in path.iter().enumerate() {
            let [own, before] = [word, word - 1].map(|word| route.way(word, layer).expect("a layer").1);
            let beside = strip.place(layer, before);
            assert!((own[0] - before[0]) * (at.x - beside.x) >= 0.0, "the first axis runs to the right");
            assert!((own[1] - before[1]) * (beside.y - at.y) >= 0.0, "the second axis runs up");
        }
    }
}
