//! Liveness: what nobody can use again is forgotten, and an attack that can lead nowhere is dropped.

use crate::analyses::{Analyses, Cells, usage};
use crate::intern::{Place, ValueId, bits};
use crate::memory::{Result, copied, filled};
use crate::moves::Space;
use crate::state::State;
use crate::tables::Tables;
use crate::touch;
use crate::world::World;

/// So many cells are compared at once with what they hold when they are not needed, which most do in a large memory.
const BLOCK: usize = 256;

#[derive(Debug)]
pub struct Liveness {
    /// What a register or a cell of an address holds when its value is not needed. For one that holds a rank plus k it
    /// is k - 1, which stands for no rank.
    registers: Vec<ValueId>,
    cells: Vec<ValueId>,
    /// Scratch: what any rank can still access; the registers of one rank that live.
    later: Cells,
    live: Vec<bool>,
}

impl Liveness {
    pub fn new(tables: &Tables, analyses: &Analyses, world: &mut World) -> Result<Self> {
        let mut dead = |offset: &Option<i128>| {
            let offset = offset.filter(|_| analyses.on.symmetry);
            world.number(offset.map_or(0, |offset| offset - 1))
        };
        let mut registers = filled(0, tables.registers)?;
        for (value, offset) in registers.iter_mut().zip(&analyses.symmetry.registers) {
            *value = dead(offset)?;
        }
        let mut cells = filled(0, tables.size)?;
        for (value, offset) in cells.iter_mut().zip(&analyses.symmetry.cells) {
            *value = dead(offset)?;
        }
        Ok(Liveness {
            registers,
            cells,
            later: Cells::new(tables.memory.len(), analyses.kinds)?,
            live: filled(false, tables.registers)?,
        })
    }

    /// One for another thread.
    pub fn fork(&self) -> Result<Self> {
        Ok(Liveness {
            registers: copied(&self.registers)?,
            cells: copied(&self.cells)?,
            later: self.later.empty()?,
            live: copied(&self.live)?,
        })
    }

    /// Forgets what it can; false when the state has an attack that leads nowhere.
    pub fn forget(
        &mut self,
        space: Space<'_>,
        analyses: &Analyses,
        world: &mut World,
        state: &mut State,
    ) -> Result<bool> {
        let tables = space.tables;
        if state.source.is_some() {
            for rank in 0..tables.processes {
                if space.waits_for_delayed(world, state, rank)? {
                    state.control[rank] = tables.states[rank];
                }
            }
        }
        self.later.clear();
        for rank in 0..tables.processes {
            self.live.fill(false);
            if state.control[rank] < tables.states[rank] {
                let control = tables.control(rank, state.control[rank]);
                self.later.add(analyses.ever(control));
                for &register in analyses.live(control) {
                    self.live[register] = true;
                }
            }
            let first = rank * tables.registers;
            for (register, live) in self.live.iter().enumerate() {
                if !live {
                    state.registers[first + register] = self.registers[register];
                }
            }
        }
        for rank in 0..tables.nodes {
            let first = rank * tables.size;
            for start in (0..tables.size).step_by(BLOCK) {
                let end = tables.size.min(start + BLOCK);
                let (held, dead) = (&mut state.memory[first + start..first + end], &self.cells[start..end]);
                if held == dead {
                    continue;
                }
                for (cell, (value, &none)) in (first + start..).zip(held.iter_mut().zip(dead)) {
                    if *value != none && !(analyses.is_relevant(cell) && self.later.ways(cell) & !touch::WRITTEN != 0) {
                        *value = none;
                    }
                }
            }
        }
        if state.source.is_none() {
            return Ok(true);
        }
        self.forget_attack(tables, analyses, world, state);
        Ok(if tables.rules.is_some() {
            self.meets_source(tables, analyses, state)
        } else {
            self.leads_somewhere(state)
        })
    }

    fn forget_attack(&self, tables: &Tables, analyses: &Analyses, world: &World, state: &mut State) {
        for (cell, touched) in state.touched.iter_mut().enumerate() {
            if *touched != 0 {
                let met = self.later.met(cell);
                *touched &= met | touch::delayed(met);
            }
        }
        for rank in 0..tables.processes {
            let control =
                (state.control[rank] < tables.states[rank]).then(|| tables.control(rank, state.control[rank]));
            state.tainted[rank] &= control.is_some_and(|control| analyses.acts_later(control));
            for &(place, slot) in world.slots.of_rank(rank) {
                if state.slot(slot) != 0 {
                    state.placement[slot] &= control.map_or(0, |control| still_used(analyses, control, place));
                }
            }
        }
    }

    /// Whether some command can still conflict with the source. Once a rank has no barrier before it there are none.
    fn meets_source(&self, tables: &Tables, analyses: &Analyses, state: &State) -> bool {
        let Some(source) = state.source else { return true };
        let controls = || (0..tables.processes).filter(|&rank| state.control[rank] < tables.states[rank]);
        let control = |rank: usize| tables.control(rank, state.control[rank]);
        let barriers = controls().filter(|&rank| analyses.barrier_later(control(rank))).count() == tables.processes;
        let ways = if barriers {
            self.later.ways(source.cell)
        } else {
            controls().fold(0, |ways, rank| ways | analyses.soon(control(rank), source.cell))
        };
        ways & touch::against(source.ways) != 0
    }

    /// Whether some command can still meet the source, and some way into the cycle is left.
    fn leads_somewhere(&self, state: &State) -> bool {
        let Some(source) = state.source else { return true };
        let met = self.later.ways(source.cell) & touch::against(source.ways) != 0;
        met && (state.tainted.contains(&true) || state.touched.iter().any(|&touched| touched != 0))
    }
}

/// The bits of a place of a rank that commands from a control state on may depend on.
fn still_used(analyses: &Analyses, control: usize, place: Place) -> u8 {
    let used = match place {
        Place::Queue(queue) | Place::Target(queue, _) => analyses.usage(control, queue),
        Place::Bundle | Place::Location(_) => analyses.rank_usage(control),
    };
    let keep = |ways: u8, bits: u8| if used & ways != 0 { bits } else { 0 };
    match place {
        Place::Queue(_) => {
            keep(usage::WAITED, bits::DELAYED)
                | keep(usage::WAITED_LOCAL, bits::LOCAL_DELAYED)
                | keep(usage::ISSUED, bits::STAGE.iter().sum())
        }
        Place::Target(..) => {
            keep(usage::FENCED | usage::NOTIFIED, bits::FENCED_DELAYED) | keep(usage::ISSUED, bits::FENCE_BOUND)
        }
        Place::Bundle => keep(usage::SIGNALLED, bits::LATER),
        Place::Location(_) => keep(usage::LOCATED, bits::LATER),
    }
}
