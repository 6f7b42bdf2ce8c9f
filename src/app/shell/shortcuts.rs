//! Which keys of the window are looked for, and when.

use attune_view::view_model::training::TrainingStage;
use egui::Context;

use crate::app::actions::{Pressed, WindowAction, pressed};
use crate::app::stage::sentence::strip_id;
use crate::app::stage::view::stage_id;
use crate::app::view::Trail;

/// The key is the same on every page of the window; others are a lesson's.
fn is_of_every_page(action: WindowAction) -> bool {
    use WindowAction::{Browse, CloseKeySheet, Course, KeySheet, Larger, Panel, Smaller, Theme, UsualSize};
    matches!(action, KeySheet | CloseKeySheet | Larger | Smaller | UsualSize | Theme | Course | Browse | Panel)
}

/// The actions whose keys are the same on every page. A talk leads to no other page, and has a size of its own.
pub fn window_keys(ctx: &Context, is_key_sheet_open: bool, is_presenting: bool) -> Vec<Pressed<WindowAction>> {
    use WindowAction::{CloseKeySheet, KeySheet, Theme};
    pressed(ctx, |action| match action {
        CloseKeySheet => is_key_sheet_open,
        KeySheet | Theme => true,
        _ => is_of_every_page(action) && !is_presenting,
    })
}

/// The actions of a talk. A card that says where a number comes from is closed first, and so is an editor.
pub fn talk_keys(ctx: &Context, trail: &Trail) -> Vec<Pressed<WindowAction>> {
    use WindowAction::{CloseOrigin, EndPresentation, NextSlide, OriginBefore, Present, PreviousSlide};
    let is_writing = ctx.text_edit_focused();
    // A control that has the keyboard keeps Space and the arrows; the keys of a presenter are always the talk's.
    let is_presenters =
        ctx.input(|input| input.key_pressed(egui::Key::PageDown) || input.key_pressed(egui::Key::PageUp));
    let turns = is_presenters || is_free(ctx);
    pressed(ctx, |action| match action {
        Present => true,
        NextSlide | PreviousSlide => turns,
        CloseOrigin => trail.depth() > 0,
        OriginBefore => trail.depth() > 1,
        EndPresentation => trail.depth() == 0 && !is_writing,
        _ => false,
    })
}

/// Whether the keyboard is on no control, which Space would press; the stage and the sentence are none.
fn is_free(ctx: &Context) -> bool {
    let is_no_control = |focused| focused == stage_id() || focused == strip_id();
    ctx.memory(|memory| memory.focused()).is_none_or(is_no_control)
}

/// Parts of a lesson that its keys can act on.
#[derive(Clone, Copy, Default)]
pub struct LessonKeys<'a> {
    pub has_notebook: bool,
    pub has_sentences: bool,
    pub has_walk: bool,
    pub has_layers: bool,
    /// A word of the sentence has several pieces.
    pub has_pieces: bool,
    /// The picture can be seen through a norm of the model.
    pub has_scale: bool,
    pub training: Option<TrainingStage>,
    /// The provenance that is shown; none under the key sheet.
    pub trail: Option<&'a Trail>,
    pub is_glossary_open: bool,
}

/// The actions whose keys are a lesson's.
pub fn lesson_keys(ctx: &Context, lesson: &LessonKeys) -> Vec<Pressed<WindowAction>> {
    use WindowAction::{
        Beside, BrowseTraining, BrowseTrainingFar, CloseGlossary, CloseOrigin, Compare, EndPresentation, Glossary,
        HandIn, HideSinks, LayerBefore, NextLayer, NextSlide, Origin, OriginBefore, Pieces, PreviousSlide, RawStates,
        ReadAdded, Share, StepBack, StepOn, TrainStep, WriteSentence,
    };
    let is_writing = ctx.text_edit_focused();
    let is_free = is_free(ctx);
    pressed(ctx, |action| match action {
        CloseOrigin => lesson.trail.is_some_and(|trail| trail.depth() > 0),
        OriginBefore => lesson.trail.is_some_and(|trail| trail.depth() > 1),
        WriteSentence => lesson.has_sentences,
        HandIn | Share => lesson.has_notebook,
        // Of a talk: see `talk_keys`.
        NextSlide | PreviousSlide | EndPresentation => false,
        _ if is_writing || is_of_every_page(action) => false,
        StepOn | StepBack => is_free,
        TrainStep => matches!(lesson.training, Some(TrainingStage::Paused | TrainingStage::Stopped)),
        BrowseTraining | BrowseTrainingFar => lesson.training.is_some(),
        Origin => lesson.has_walk,
        ReadAdded | HideSinks => lesson.has_notebook,
        NextLayer | LayerBefore => lesson.has_layers,
        Pieces => lesson.has_pieces,
        RawStates => lesson.has_scale,
        Compare | Beside => lesson.has_sentences,
        Glossary => lesson.has_notebook,
        CloseGlossary => lesson.is_glossary_open,
        _ => true,
    })
}
