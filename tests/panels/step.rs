//! The Step panel by its labels.

use attune::app::panels::step::{StepPanel, StepView};
use attune::app::text::prose::formula::Maths;
use attune_engine::numerics::contributions::BlockPart;
use attune_engine::quantity::{Entry, Index, Owner, OwnerKind, Quantity, StagePoint};
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::explain::print::AND;
use attune_view::explain::reader::EntryReader;
use attune_view::explain::walk::{Focus, RouteModel, Step, WalkModel};
use attune_view::view_model::fold::{FoldModel, ProjectedRole, Sheet};
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::{form, forms, small};
use crate::live::PanelHarness;
use crate::pointer::click;

/// Lets the walk come to its step, as the window does in time.
fn arrive(panel: &mut PanelHarness<StepPanel>) {
    panel.view_mut().walk.advance(f32::INFINITY);
    panel.run_steps(2);
}

/// An entry of each quantity for every owner that has it.
fn entries(reader: &EntryReader<'_>) -> Vec<Entry> {
    let architecture = &reader.model.architecture;
    let of = |quantity: Quantity| {
        let definition = quantity.definition();
        let owners: Vec<Owner> = match definition.owner {
            OwnerKind::Model => vec![Owner::Model],
            OwnerKind::Block => architecture.numbered_blocks().map(|(block, _)| Owner::Block(block)).collect(),
            OwnerKind::Head => (0..architecture.heads()).map(Owner::Head).collect(),
            OwnerKind::Point => vec![Owner::Point(StagePoint::Contextual(1))],
        };
        let parts = if definition.counts(Index::Part) { 0..BlockPart::ALL.len() } else { 1..2 };
        let indices = parts.map(move |first| {
            let index = [first, 1, 1];
            std::array::from_fn(|place| if place < definition.indices.len() { index[place] } else { 0 })
        });
        let of_owner = move |owner: Owner| indices.clone().map(move |index| Entry { quantity, owner, index });
        owners.into_iter().flat_map(of_owner)
    };
    Quantity::ALL.iter().copied().flat_map(of).collect()
}

#[test]
fn every_formula_of_a_card_can_be_typeset() {
    let mut count = 0;
    for (name, kernel) in forms() {
        let snapshot = kernel.snapshot();
        let reader = EntryReader::of(&snapshot).expect("a model");
        for told in entries(&reader).into_iter().filter_map(|entry| reader.explain(entry)) {
            for equation in told.symbols.split(AND) {
                let set = Maths::typeset(equation, false).formula;
                assert!(set.is_ok(), "{name}: {equation} of {}: {set:?}", reader.name(told.entry));
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn the_walk_is_followed_word_by_word_head_by_head_and_step_by_step() {
    let mut panel = PanelHarness::new(small(), Vec2::new(520.0, 700.0), StepPanel::default());
    let snapshot = panel.snapshot();
    panel.view_mut().preferences.reduced_motion = true;
    let route = RouteModel::of(&snapshot).expect("a model");
    let by_default = WalkModel::of(&snapshot, route.focus(route.word(&[]).expect("a word"), 0, None)).expect("a walk");
    assert!(panel.query_by_label(&by_default.step(Step::Embed).said).is_some(), "before a word is chosen");
    click(&mut panel, "seal");
    click(&mut panel, "Head 2");
    assert_eq!((panel.view().selection.query, panel.view().selection.head), (Some(1), 1));
    for _ in 0..4 {
        click(&mut panel, "Step forward");
    }
    arrive(&mut panel);
    assert_eq!(panel.view().walk.step(), Step::Softmax);
    let walk = WalkModel::of(&snapshot, Focus { query: 1, head: 1, key: None }).expect("a walk");
    assert!(panel.query_by_label(&walk.step(Step::Softmax).said).is_some());
    for _ in 0..2 {
        click(&mut panel, "Step forward");
    }
    arrive(&mut panel);
    let path = PathModel::of(&snapshot, 1, 1, ArrowParts::Word).expect("a path");
    assert!(panel.query_by_label(&path.why).is_some());
    click(&mut panel, "head");
    assert_eq!(panel.view().selection.by, Some(ArrowParts::Head));
    click(&mut panel, "Step back");
    arrive(&mut panel);
    assert_eq!(panel.view().walk.step(), Step::Mix);
}

/// From the score to the softmax, the panel has the score as a sum of parts, each of which leads to where it comes
/// from.
#[test]
fn the_parts_of_a_score_stand_below_it_and_lead_to_what_a_source_added() {
    let mut panel = PanelHarness::new(form("pythia"), Vec2::new(520.0, 1600.0), StepPanel::default());
    panel.view_mut().preferences.reduced_motion = true;
    panel.view_mut().selection.choose_query(Some(2));
    for step in Step::ALL {
        panel.view_mut().walk.set(step.index() as f32);
        panel.run_steps(3);
        let has_parts = panel.query_by_label("What makes the score").is_some();
        assert_eq!(has_parts, matches!(step, Step::Score | Step::Scale | Step::Softmax), "{step:?}");
    }
    panel.view_mut().walk.set(Step::Score.index() as f32);
    panel.run_steps(3);
    let part = panel.get_all_by_label_contains("word “").next().expect("a part");
    part.click();
    panel.run_steps(2);
    assert!(panel.view().trail.entry().is_some());
}

/// Where places turn queries and keys, the score shows what each pair of entries adds to it.
#[test]
fn turned_pairs_are_clocks_that_add_up_to_the_product() {
    let mut panel = PanelHarness::new(form("gemma"), Vec2::new(520.0, 900.0), StepPanel::default());
    let snapshot = panel.snapshot();
    panel.view_mut().preferences.reduced_motion = true;
    let walk = WalkModel::of(&snapshot, Focus { query: 2, head: 0, key: Some(0) }).expect("a walk");
    let step = walk.step(Step::Score);
    let model = snapshot.model.as_ref().expect("a model");
    let layer = &model.architecture.blocks[0].attention;
    let rotary = layer.rotary.expect("places turn");
    assert_eq!((step.clocks.len(), rotary.width < layer.key_width), (rotary.width / 2, true));
    let head = &model.sentence.activations.blocks[0].heads[0];
    let still = rotary.width..layer.key_width;
    let rest: f32 = still.map(|entry| head.query.get(2, entry) * head.key.get(0, entry)).sum();
    let sum: f32 = step.clocks.iter().map(|clock| clock.product).sum::<f32>() + rest;
    let product = model.sentence.arithmetic[0].products.get(2, 0);
    assert_close("the product", sum, product, Tolerance::SINGLE_PASS);
    // The key stands two places back, and the first pair turns by a radian a place, halved by the scaling.
    assert_close("the angle", step.clocks[0].apart, -1.0, Tolerance::DOUBLE_PASS);
    assert!(walk.steps.iter().all(|step| step.clocks.is_empty() || step.step == Step::Score));

    click(&mut panel, "three");
    for _ in 0..2 {
        click(&mut panel, "Step forward");
    }
    arrive(&mut panel);
    assert_eq!(panel.view().walk.step(), Step::Score);
    assert!(
        panel.query_all_by_label_contains("Because of the words' positions, the two hands are turned").count()
            == step.clocks.len()
    );
}

const SIZE: Vec2 = Vec2::new(420.0, 640.0);

#[test]
fn its_matrices_show_every_step_and_says_the_numbers_under_the_pointer() {
    let steps = [
        (Step::Embed, &["X"][..]),
        (Step::Project, &["Q₁", "Q₂", "K₁", "V₂"]),
        (Step::Score, &["Q₁", "QKᵀ₁", "Head 2 on the stage"]),
        (Step::Scale, &["S₂"]),
        (Step::Softmax, &["A₁", "A₂"]),
        (Step::Mix, &["A₁", "V₁", "M₁", "M₂"]),
        (Step::Output, &["M₁", "M₂", "W_O₁", "W_O₂", "All heads on the stage"]),
        (Step::Contextual, &["X", "Y"]),
    ];
    let mut step = StepPanel::default();
    step.view = StepView::Matrices;
    let mut panel = PanelHarness::new(small(), SIZE, step);
    let model = FoldModel::of(&panel.snapshot(), 0).expect("a model");
    for (step, symbols) in steps {
        panel.view_mut().walk.set(step.index() as f32);
        panel.run_steps(3);
        for symbol in symbols {
            assert!(panel.query_by_label(symbol).is_some(), "{symbol} in {step:?}");
        }
        if step == Step::Softmax {
            let map = panel.get_by_label("A₂").rect();
            // The first row, the first column.
            panel.hover_at(map.min + egui::vec2(2.0, 2.0));
            panel.run_steps(30);
            let weight = model.weight(1, 0, 0);
            let said = format!("A₂[{0}, {0}] = {weight:.4}", model.queries[0]);
            assert!(panel.query_by_label_contains(&said).is_some(), "{said}");
            click(&mut panel, "A₂");
            let middle = Some(model.queries.len() / 2);
            assert_eq!(panel.view().selection.query, middle, "a click in the middle chooses its row");
        }
    }
}

/// A screen reader tells the small stages apart, and does not say that one head's vectors are those of all heads.
#[test]
fn the_small_stages_have_names_of_their_own() {
    let mut step = StepPanel::default();
    step.view = StepView::Matrices;
    let mut panel = PanelHarness::new(small(), Vec2::new(1000.0, 1000.0), step);
    panel.view_mut().walk.set(Step::Project.index() as f32);
    panel.run_steps(3);
    for role in ["Q", "K", "V"] {
        panel.get_by_label(&format!("{role} as points"));
        panel.get_by_label(&format!("X, the input of {role}, as points"));
    }
}

#[test]
fn keys_and_values_are_the_product_of_the_matrices_beside_them_in_every_form() {
    let mut of_source = 0;
    for (name, kernel) in forms() {
        let snapshot = kernel.snapshot();
        let model = snapshot.model.as_ref().expect("a model");
        for head in 0..model.architecture.heads() {
            let fold = FoldModel::of(&snapshot, head).expect("a model");
            let (_, config, own) = model.architecture.head(head);
            let role = ProjectedRole::Value;
            if !fold.is_projected() || !fold.has_projected(role) {
                continue;
            }
            of_source += usize::from(config.attends_to_source());
            let [read, weights, values] =
                [Sheet::Projected(role), Sheet::RoleWeights(role, own), Sheet::Value(own)].map(|of| fold.entries(of));
            // A bias is the same in each row, so the rows are compared with the first.
            for row in 1..values.rows {
                for col in 0..values.cols {
                    let moved = |dim: usize| (read.row(row)[dim] - read.row(0)[dim]) * weights.row(dim)[col];
                    let moved: f32 = (0..weights.rows).map(moved).sum();
                    let expected = values.row(row)[col] - values.row(0)[col];
                    assert_close(format!("{name}, head {head}"), moved, expected, Tolerance::SINGLE_PASS);
                }
            }
        }
    }
    assert!(of_source > 0, "no form reads a source");
}

#[test]
fn the_arrows_of_the_heads_lead_from_the_word_to_its_output() {
    let snapshot = small().snapshot();
    let model = FoldModel::of(&snapshot, 1).expect("a model");
    let parts = &snapshot.model.as_ref().expect("a model").sentence.moves[0].parts;
    for query in 0..model.queries.len() {
        let mut tip = model.from(query);
        for arrow in
            (0..model.heads.len()).map(|own| model.arrow(own, query)).chain(parts.iter().map(|part| part.arrow(query)))
        {
            tip = std::array::from_fn(|axis| tip[axis] + arrow[axis]);
        }
        let to = model.to(query);
        assert_close("the tip", tip, to, Tolerance::SINGLE_PASS);
    }
}
