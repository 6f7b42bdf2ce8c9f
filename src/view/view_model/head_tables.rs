//! The tables of what a head compares and writes, from its weights alone, and of the heads that compose with it, as far
//! as they are computed.

use attune_core::kernel::evidence::tables::ShownTables;
use attune_core::kernel::snapshot::Snapshot;

use super::asked::AskedState;
use super::labels::HeadLabels;

/// The tables of a head.
#[derive(Clone, Debug)]
pub struct TablesModel {
    /// The names of all heads.
    pub titles: Vec<String>,
    pub state: AskedState<ShownTables>,
}

impl TablesModel {
    /// Returns the titles and the state of the tables; `None` until there is a model.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let labels = HeadLabels::of(model);
        let titles = (0..model.architecture.heads()).map(|head| labels.title(head)).collect();
        Some(Self { titles, state: AskedState::of(model, model.tables.as_ref()) })
    }
}
