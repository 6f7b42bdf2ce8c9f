//! The Heads panel by its labels.

use attune::app::panels::heads::HeadsPanel;
use attune::kernel::Command;
use attune::kernel::command::{HeadSetting, InterventionCommand};
use attune::kernel::scene::interventions::GAIN_MAX;
use egui::Vec2;

use crate::common::lessons::small;
use crate::live::PanelHarness;
use crate::pointer::click;

const SIZE: Vec2 = Vec2::new(420.0, 640.0);

fn set(head: usize, setting: HeadSetting) -> Command {
    Command::Interventions(InterventionCommand::SetHead { head, setting })
}

#[test]
fn a_head_is_taken_out_of_the_sum_or_left_alone_in_it() {
    let mut panel = PanelHarness::new(small(), SIZE, HeadsPanel::default());
    let enabled = |panel: &PanelHarness<HeadsPanel>| {
        let model = panel.snapshot().model.expect("a model");
        [0, 1].map(|head| model.is_enabled(head))
    };
    click(&mut panel, "Head 2");
    assert_eq!(enabled(&panel), [true, false]);
    click(&mut panel, "Head 2");
    assert_eq!(enabled(&panel), [true, true]);
    click(&mut panel, "Solo head 1");
    assert_eq!(enabled(&panel), [true, false]);
    let alone = Command::Interventions(InterventionCommand::Solo(Some(0)));
    assert_eq!(panel.commands(), [set(1, HeadSetting::Off), set(1, HeadSetting::Live), alone]);
}

#[test]
fn a_head_is_followed_from_the_overview_and_counts_as_often_as_its_gain_says() {
    let mut panel = PanelHarness::new(small(), SIZE, HeadsPanel::default());
    click(&mut panel, "Follow head 2");
    assert_eq!(panel.view().selection.head, 1);
    // A slider's middle: half of the largest gain.
    click(&mut panel, "Gain of head 1");
    let commands = panel.commands();
    let Some(Command::Interventions(InterventionCommand::SetHead { head: 0, setting: HeadSetting::Gain(gain) })) =
        commands.last()
    else {
        panic!("no gain among {commands:?}")
    };
    assert!((gain - GAIN_MAX / 2.0).abs() < 0.1, "{gain}");
}
