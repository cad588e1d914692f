//! Every trace of the SC runs, and for each whether an attack hides in it (`pgasrob/reference/trace_search.py`).

use std::collections::btree_map::Entry;

use crate::facts::{Facts, Standing};
use crate::memory::Result;
use crate::moves::{PlayedMove, Space};
use crate::raw::Raw;
use crate::rounds::Look;
use crate::standstill::Standstill;
use crate::state::State;
use crate::tables::Tables;
use crate::traces::closing::{Closing, Prepared};
use crate::traces::exploration::{Asked, Came, Exploration, Tried};
use crate::world::World;

pub struct TraceSearch {
    tables: Tables,
    world: World,
    pub exploration: Exploration,
    pub facts: Facts,
    pub standstill: Standstill,
    /// The end of a trace.
    state: State,
    pub violation: Option<Vec<PlayedMove>>,
    /// The steps, by transitions, that are left to other engines.
    pub undecided: Vec<(usize, usize)>,
    /// What has been looked at in whole traces, and the trace that is being looked at.
    looked: u64,
    prepared: Option<Prepared>,
}

impl TraceSearch {
    pub fn new(raw: &Raw, guesses: bool, limit: Option<usize>, asked: Asked) -> Result<Self> {
        let tables = Tables::new(raw)?;
        let mut world = World::new(tables.processes, limit)?;
        let exploration = Exploration::new(&tables, &mut world, asked)?;
        let facts = Facts::new(&tables);
        let state = State::initial(&tables, &mut world)?;
        let standstill = Standstill::new(&state, guesses)?;
        let mut search = TraceSearch {
            tables,
            world,
            exploration,
            facts,
            standstill,
            state,
            violation: None,
            undecided: Vec::new(),
            looked: 0,
            prepared: None,
        };
        search.note_fault();
        Ok(search)
    }

    pub fn memory(&self) -> usize {
        self.world.budget.used()
    }

    /// The events that have been looked at, on the way and in passes over whole traces, and the commands that have been
    /// tried there.
    pub fn effort(&self) -> u64 {
        self.exploration.events + self.looked
    }

    fn is_over(&self) -> bool {
        self.exploration.is_over() || self.violation.is_some()
    }

    /// Gives away what need not be done here: see [`Exploration::split`].
    pub fn split(&mut self) -> Result<Option<Vec<Tried>>> {
        if self.is_over() { Ok(None) } else { self.exploration.split(&self.tables, &mut self.world) }
    }

    /// Goes on until it has taken `effort` more; whether the search is over.
    pub fn run(&mut self, effort: u64) -> Result<bool> {
        let most = self.effort().saturating_add(effort);
        while !self.is_over() && self.effort() < most {
            if let Some(prepared) = &mut self.prepared {
                let before = prepared.looked;
                if prepared.is_done() {
                    for step in &prepared.undecided {
                        if !self.undecided.contains(step) {
                            self.undecided.push(*step);
                        }
                    }
                    self.prepared = None;
                    continue;
                }
                let run = &self.exploration.run;
                self.violation = Closing { tables: &self.tables, run, prepared }.attack(&mut self.world)?;
                self.looked += prepared.looked - before;
                continue;
            }
            let came = self.exploration.go_on(&self.tables, &mut self.world)?;
            self.note_fault();
            self.note_assertion();
            if came == Came::Trace {
                self.note_deadlock()?;
                let prepared = Prepared::new(&self.tables, &self.exploration.run)?;
                self.looked += prepared.looked;
                self.prepared = Some(prepared);
            }
        }
        Ok(self.is_over())
    }

    fn note_fault(&mut self) {
        let run = &self.exploration.run;
        if let (None, Some((rank, transition))) = (&self.facts.fault, run.fault) {
            self.facts.fault = Some((Standing { rank, transition }, run.played()));
        }
    }

    fn note_assertion(&mut self) {
        let run = &self.exploration.run;
        let Some(last) = run.events.len().checked_sub(1) else { return };
        let event = &run.events[last];
        if event.rank == crate::traces::run::BARRIER || !run.next_of(last).fails {
            return;
        }
        if let Entry::Vacant(unknown) = self.facts.failed.entry(self.tables.claim(event.transition)) {
            let mut moves = run.played();
            moves.pop();
            unknown.insert((Standing { rank: event.rank, transition: event.transition }, moves));
        }
    }

    /// Notes it when nobody can go on and somebody would.
    fn note_deadlock(&mut self) -> Result<()> {
        if !self.facts.checks_deadlock || self.facts.deadlock.is_some() {
            return Ok(());
        }
        let (run, tables) = (&self.exploration.run, &self.tables);
        self.state.control.copy_from_slice(&run.control);
        self.state.registers.copy_from_slice(&run.registers);
        self.state.memory.copy_from_slice(&run.memory);
        let look = Look { space: Space { tables, attack: false }, counts: &|_| true };
        if self.standstill.is_deadlock(look, &mut self.world, &self.state)? {
            self.facts.deadlock = Some(run.played());
        }
        Ok(())
    }
}
