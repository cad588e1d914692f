//! Accesses to cells, and the source.

use crate::tables::Tables;
use crate::touch::{self, Ways};

/// An access to a cell, in some ways: an atomic that fetches reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub cell: usize,
    pub ways: Ways,
}

impl Access {
    pub fn reading(cell: usize) -> Self {
        Access { cell, ways: touch::READ }
    }

    pub fn writing(cell: usize) -> Self {
        Access { cell, ways: touch::WRITTEN }
    }

    /// The ways of other accesses to its cell that conflict with it.
    pub fn against(self) -> Ways {
        touch::against(self.ways)
    }

    pub fn conflicts_with(self, source: Source) -> bool {
        self.cell == source.cell && self.against() & source.ways != 0
    }

    /// Whether it is another source: an update like `source`, of a cell for whose value some command may wait.
    pub fn joins(self, source: Source, tables: &Tables) -> bool {
        let commutes = self.ways & !(touch::READ | touch::WRITTEN) != 0;
        commutes && self.cell == source.cell && self.ways == source.ways && tables.waited[self.cell]
    }
}

/// The step that the violation delays first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    pub cell: usize,
    pub ways: Ways,
    /// Its place in [`Tables::source_kinds`].
    pub kind: usize,
}
