//! A link of the page of questions opens its cell on the cell's sentence, at a step of a head.

use attune::app::actions::Action;
use attune::app::link::LatestModels;
use attune::app::ui_state::ViewState;
use attune_core::lesson::links::TextLink;
use attune_view::explain::walk::Step;

use crate::keys::Bench;

#[test]
fn a_question_opens_its_cell_on_its_sentence_and_step() {
    let files = ["questions.ron", "induction.ron", "dot_product.ron"];
    let mut bench = Bench::beside("questions-steps", &files);
    for (link, head, (layer, step), sentence) in [
        ("induction/circuit?step=5&head=2", 1, (1, Step::Softmax), "sun cup hat dog key map sun cup hat"),
        ("dot_product/largest?step=3", 0, (0, Step::Score), "money bank grows river flows"),
    ] {
        let read = TextLink::read(&format!("attune:lesson/{link}")).expect("a link").expect("it is right");
        let TextLink::Place { lesson, cell, .. } = read.clone() else { panic!("{link} leads to a cell") };
        bench.ask(Action::Follow(read));
        bench.until(link, |bench| {
            let models = bench.world.resource::<LatestModels>();
            let is_open = models.snapshot().is_some_and(|snapshot| snapshot.lesson.id == *lesson);
            let view = bench.world.resource::<ViewState>();
            is_open && view.walk.layer() == layer && view.walk.step() == step && view.asked.sentence_of.is_none()
        });
        bench.rest();
        let view = bench.world.resource::<ViewState>();
        assert_eq!((view.selection.head, view.walk.layer(), view.walk.step()), (head, layer, step), "{link}");
        let workspace = &bench.world.resource::<attune::app::workspace::WorkspaceState>().0;
        assert_eq!(workspace.saved(view).selected.as_deref(), Some(&*cell), "{link}");
        let model = bench.snapshot().model.as_ref().expect("a model");
        let words: Vec<&str> = model.sentence.tokens.iter().map(|token| &*token.text).collect();
        assert_eq!(words.join(" "), sentence, "{link}");
    }
}
