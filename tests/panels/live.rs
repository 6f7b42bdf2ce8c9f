//! A panel over a kernel that answers between two frames, as the window has it.

use std::cell::{Ref, RefCell, RefMut};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

use attune::app::actions::Action;
use attune::app::panels::{Panel, PanelContext, Requests, SceneCamera, StageUi};
use attune::app::text::prose::Prose;
use attune::app::ui_state::{PanelView, ViewState};
use attune::app::widgets::controls::waiting_ui;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::links::TextLink;
use attune_view::view_model::course::LessonsAround;
use attune_view::view_model::spaces::TwoSpaces;
use attune_view::view_model::{Model, ModelBeside, Models};
use egui::{Pos2, Rect, Ui, Vec2};
use egui_kittest::Harness;

use crate::dressed::{dressed, dressed_at_60_hz};

/// A panel that is shown, with its kernel: each frame makes models of the latest snapshot, draws the panel, and
/// applies what it asks for.
pub struct PanelHarness<P> {
    harness: Harness<'static>,
    bench: Rc<RefCell<Bench<P>>>,
}

struct Bench<P> {
    kernel: Kernel,
    panel: P,
    view: ViewState,
    models: Models,
    prose: Prose,
    /// All that the panel has asked for.
    commands: Vec<Command>,
    /// All that it has asked of the window.
    actions: Vec<Action>,
    /// A command may have no effect, and a notice that says why.
    may_be_refused: bool,
}

impl<P: Panel + 'static> PanelHarness<P> {
    pub fn new(kernel: Kernel, size: Vec2, panel: P) -> Self {
        Self::shown(kernel, panel, |content| dressed(size, content))
    }

    /// The same, at the pace of a screen.
    pub fn at_60_hz(kernel: Kernel, size: Vec2, panel: P) -> Self {
        Self::shown(kernel, panel, |content| dressed_at_60_hz(size, content))
    }

    fn shown(kernel: Kernel, panel: P, show: impl FnOnce(Box<dyn FnMut(&mut Ui)>) -> Harness<'static>) -> Self {
        let bench = Bench {
            kernel,
            panel,
            view: ViewState::default(),
            models: Models::default(),
            prose: Prose::default(),
            commands: Vec::new(),
            actions: Vec::new(),
            may_be_refused: false,
        };
        let bench = Rc::new(RefCell::new(bench));
        let inner = bench.clone();
        Self { harness: show(Box::new(move |ui| inner.borrow_mut().frame(ui))), bench }
    }

    /// Lets the kernel refuse what the panel asks for.
    pub fn let_refuse(&mut self) {
        self.bench.borrow_mut().may_be_refused = true;
    }

    /// Puts another model beside the one that is shown.
    pub fn put_beside(&mut self, other: Arc<Snapshot>) {
        self.bench.borrow_mut().models.beside = Some(ModelBeside(other));
        self.harness.run_steps(2);
    }

    /// Puts another file of vectors beside the one that is shown.
    pub fn put_spaces(&mut self, spaces: TwoSpaces) {
        self.bench.borrow_mut().models.spaces = Some(Arc::new(spaces));
        self.harness.run_steps(2);
    }

    /// The point of the stage that is marked beside the sentence's.
    pub fn marked(&self) -> Option<usize> {
        self.bench.borrow().view.selection.sense
    }

    pub fn commands(&self) -> Vec<Command> {
        self.bench.borrow().commands.clone()
    }

    /// The commands since the last time.
    pub fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.bench.borrow_mut().commands)
    }

    /// The requests to the window since the last time.
    pub fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.bench.borrow_mut().actions)
    }

    pub fn set_around(&mut self, around: LessonsAround) {
        self.bench.borrow_mut().prose.around = around;
    }

    /// The links that were followed since the last time.
    pub fn take_followed(&mut self) -> Vec<TextLink> {
        self.bench.borrow_mut().prose.take_followed()
    }

    pub fn view(&self) -> ViewState {
        self.bench.borrow().view.clone()
    }

    pub fn view_mut(&mut self) -> RefMut<'_, ViewState> {
        RefMut::map(self.bench.borrow_mut(), |bench| &mut bench.view)
    }

    pub fn panel(&self) -> Ref<'_, P> {
        Ref::map(self.bench.borrow(), |bench| &bench.panel)
    }

    pub fn snapshot(&self) -> Snapshot {
        self.bench.borrow().kernel.snapshot()
    }

    /// The model of the latest snapshot.
    pub fn model<M: Model<Choice = ()>>(&self) -> Arc<M> {
        Models::of(Arc::new(self.snapshot())).get().expect("a model")
    }

    /// Does what another part of the window asks for; the next frames show it.
    pub fn apply(&mut self, command: Command) {
        let mut bench = self.bench.borrow_mut();
        bench.kernel.apply(command);
        bench.kernel.settle();
    }
}

impl<P: Panel> Bench<P> {
    fn frame(&mut self, ui: &mut Ui) {
        self.models.show(Arc::new(self.kernel.snapshot()));
        self.view.hover.begin_frame();
        let mut requests = Requests::default();
        let mut context = PanelContext {
            models: &self.models,
            view: self.view.for_panels(),
            stage: &mut AheadStage,
            prose: &mut self.prose,
            is_answered: true,
            requests: &mut requests,
        };
        if self.panel.ui(ui, &mut context).is_none() {
            waiting_ui(ui, &self.models);
        }
        // Where the learner is in the notebook opens panels, of which there are none here.
        let asked = requests.actions.into_iter().filter(|action| !matches!(action, Action::Reach(_)));
        self.actions.extend(asked);
        for command in requests.commands {
            self.kernel.apply(command.clone());
            let notice = self.kernel.snapshot().notice;
            assert!(self.may_be_refused || notice.is_none(), "{command:?}: {notice:?}");
            self.kernel.settle();
            self.commands.push(command);
        }
    }
}

impl<P> Deref for PanelHarness<P> {
    type Target = Harness<'static>;

    fn deref(&self) -> &Self::Target {
        &self.harness
    }
}

impl<P> DerefMut for PanelHarness<P> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.harness
    }
}

/// A stage that draws nothing and looks straight ahead.
struct AheadStage;

impl StageUi for AheadStage {
    fn stage_ui(&mut self, _ui: &mut Ui, _view: &mut PanelView) {}

    fn camera(&mut self) -> Option<&mut dyn SceneCamera> {
        Some(self)
    }
}

impl SceneCamera for AheadStage {
    fn projection(&self, rect: Rect, _middle: [f32; 3], _reach: f32) -> Box<dyn Fn([f32; 3]) -> Option<Pos2> + '_> {
        Box::new(move |at| Some(rect.center() + egui::vec2(at[0], -at[1])))
    }

    fn orbit(&mut self, _drag: Vec2) {}

    fn home(&mut self) {}
}
