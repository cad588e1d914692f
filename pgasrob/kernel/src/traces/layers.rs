//! The accesses of a run to each cell, in layers of such that do not conflict.

use crate::access::Access;
use crate::intern::ValueId;
use crate::memory::Result;
use crate::touch::{self, Ways};
use crate::traces::subsets::Commuting;

/// An access of an event; `place` in the chain of its command.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub event: usize,
    pub place: u8,
    pub update: Option<Commuting>,
}

/// Accesses to one cell that follow each other and do not conflict.
#[derive(Debug)]
pub struct Layer {
    pub before: ValueId,
    pub ways: Ways,
    pub entries: Vec<Entry>,
}

impl Layer {
    pub fn commutes(&self) -> bool {
        self.ways & !(touch::READ | touch::WRITTEN) != 0
    }
}

/// The accesses of a run by cells, in layers.
#[derive(Debug)]
pub struct Cells(Vec<Vec<Layer>>);

impl Cells {
    pub fn new(cells: usize) -> Result<Self> {
        let mut all = Vec::new();
        all.try_reserve_exact(cells)?;
        all.resize_with(cells, Vec::new);
        Ok(Cells(all))
    }

    pub fn layers(&self, cell: usize) -> &[Layer] {
        &self.0[cell]
    }

    /// Adds an access at the end; says in which layer of its cell it is.
    pub fn enter(&mut self, access: Access, before: ValueId, entry: Entry) -> usize {
        let layers = &mut self.0[access.cell];
        match layers.last_mut() {
            Some(last) if last.ways & access.against() == 0 => last.entries.push(entry),
            _ => layers.push(Layer { before, ways: access.ways, entries: vec![entry] }),
        }
        layers.len() - 1
    }

    /// Takes back the last access to `cell`.
    pub fn leave(&mut self, cell: usize) {
        let layers = &mut self.0[cell];
        if let Some(last) = layers.last_mut() {
            last.entries.pop();
            if last.entries.is_empty() {
                layers.pop();
            }
        }
    }

    /// The entries of the last layer that conflicts with `access`, were it next.
    pub fn met_by(&self, access: Access) -> &[Entry] {
        let met = self.0[access.cell].iter().rev().find(|layer| layer.ways & access.against() != 0);
        met.map_or(&[], |layer| &layer.entries)
    }
}
