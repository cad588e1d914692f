//! The reductions of a search: what is done to every state before it is stored.

use std::sync::Arc;

use crate::analyses::{Analyses, Reductions};
use crate::liveness::Liveness;
use crate::memory::Result;
use crate::merging;
use crate::moves::{PlayedMove, Space};
use crate::raw::Raw;
use crate::state::State;
use crate::symmetry::Symmetry;
use crate::tables::Tables;
use crate::world::World;

#[derive(Debug)]
pub struct Reduction {
    pub analyses: Arc<Analyses>,
    silent: Arc<Vec<bool>>,
    liveness: Option<Liveness>,
    symmetry: Option<Symmetry>,
}

impl Reduction {
    pub fn new(raw: &Raw, tables: &Tables, on: Reductions, world: &mut World, state: &State) -> Result<Self> {
        let analyses = Analyses::new(raw, tables, on)?;
        let liveness = if on.liveness { Some(Liveness::new(tables, &analyses, world)?) } else { None };
        let symmetry = if analyses.renames() { Some(Symmetry::new(tables, state)?) } else { None };
        let silent = if on.merging { merging::silent(tables)? } else { Vec::new() };
        Ok(Reduction { analyses: Arc::new(analyses), silent: Arc::new(silent), liveness, symmetry })
    }

    /// One for another thread.
    pub fn fork(&self, state: &State) -> Result<Self> {
        Ok(Reduction {
            analyses: Arc::clone(&self.analyses),
            silent: Arc::clone(&self.silent),
            liveness: self.liveness.as_ref().map(Liveness::fork).transpose()?,
            symmetry: self.symmetry.as_ref().map(|symmetry| symmetry.fork(state)).transpose()?,
        })
    }

    /// Makes of the state after a move of `mover` (all ranks for None) the one to be stored; false when there is none,
    /// since its attack leads nowhere. Commands that are merged into the move are added to `run`.
    pub fn normalise(
        &mut self,
        space: Space<'_>,
        world: &mut World,
        state: &mut State,
        mover: Option<usize>,
        mut run: Option<&mut Vec<PlayedMove>>,
    ) -> Result<bool> {
        let Reductions { merging, liveness, symmetry, .. } = self.analyses.on;
        if merging || liveness || symmetry {
            state.mix();
        }
        if merging {
            let movers = mover.map_or(0..space.tables.processes, |rank| rank..rank + 1);
            for rank in movers {
                merging::merge(space, &self.silent, world, state, rank, run.as_deref_mut())?;
            }
        }
        if let Some(liveness) = &mut self.liveness
            && !liveness.forget(space, &self.analyses, world, state)?
        {
            return Ok(false);
        }
        if let Some(symmetry) = &mut self.symmetry {
            symmetry.represent(space.tables, &self.analyses.symmetry, world, state)?;
        }
        Ok(true)
    }

    /// The places to which the last normalised state's ranks have gone; None when ranks never change places.
    pub fn places(&self) -> Option<&[usize]> {
        self.symmetry.as_ref().map(|symmetry| symmetry.places.as_slice())
    }
}
