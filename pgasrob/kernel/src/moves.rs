//! The successor relation: that of `AttackSpace` in `pgasrob/reference/attack.py`, edge for edge in the same order.
//!
//! `proofs/attack.md` has the rules. "Part 1" is what happens now, "part 2" is D with what is left of e after it.

use std::ops::ControlFlow;

use crate::access::{Access, Source};
use crate::barriers;
use crate::commands::{Command, MOST_STEPS, Phase, Step};
use crate::intern::ValueId;
use crate::memory::{Error, Result};
use crate::operands::{Operands, Transfer, evaluate, value_after};
use crate::placement::{begin_bundle, delay, fence, first_bound, wait_is_over};
use crate::state::State;
use crate::tables::Tables;
use crate::touch;
use crate::updates::Given;
use crate::world::World;

/// What labels an edge of one rank: it issues the command of a transition, whose first `now` of `steps` steps are in
/// part 1, the others in part 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub rank: usize,
    pub transition: usize,
    pub now: usize,
    pub steps: usize,
}

/// A move as it is handed to Python: the rank, None for a barrier; the transition taken, for a barrier that of every
/// rank; the parts (1 or 2) of the steps.
pub type PlayedMove = (Option<usize>, Vec<usize>, Vec<u8>);

/// Where an edge leads. The state is the visitor's to change.
pub enum Successor<'a> {
    State(&'a mut State),
    /// The state after e: the cycle is closed.
    Found,
}

/// Looks at one edge; Break ends the expansion.
pub trait Visit: FnMut(&mut World, Move, Successor<'_>) -> Result<ControlFlow<()>> {}
impl<F: FnMut(&mut World, Move, Successor<'_>) -> Result<ControlFlow<()>>> Visit for F {}

/// A next command of a rank, as far as the choice of a persistent set depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// At issue or in steps.
    pub accesses: [Option<Access>; MOST_STEPS],
    /// Whether it can be issued now, as a command of sigma.
    pub moves: bool,
    /// Whether it can ever be issued as one: it waits for nothing in D, and conflicts with nothing there.
    pub passes: bool,
}

/// The search space over some tables.
#[derive(Clone, Copy)]
pub struct Space<'a> {
    pub tables: &'a Tables,
    /// Whether a source may be chosen; without that there are SC runs only.
    pub attack: bool,
}

impl<'a> Space<'a> {
    /// Visits the edges that leave `state` and are issued by `rank` alone. `next` is a copy of it, or was
    /// when it was last copied.
    pub fn commands(
        &self,
        world: &mut World,
        state: &State,
        rank: usize,
        next: &mut State,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>> {
        for transition in self.tables.leaving(rank, state.control[rank]) {
            let Some(operands) = self.operands(world, state, rank, transition)? else { continue };
            let issue = Issue { space: *self, state, rank, transition, stored: true };
            let flow = match &operands {
                Operands::Barrier { .. } => continue,
                Operands::Transfer(transfer) => issue.remote(world, next, transfer, visit)?,
                _ => issue.local(world, next, &operands, visit)?,
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether all that `rank` can do next is to wait for steps in D, which is for ever.
    pub fn waits_for_delayed(&self, world: &mut World, state: &State, rank: usize) -> Result<bool> {
        let leaving = self.tables.leaving(rank, state.control[rank]);
        if leaving.is_empty()
            || !leaving.clone().all(|transition| matches!(self.tables.command(transition), Command::Wait { .. }))
        {
            return Ok(false);
        }
        for transition in leaving {
            match self.operands(world, state, rank, transition)? {
                Some(Operands::Wait { queue, local }) if !wait_is_over(world, state, rank, queue, local) => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// What a command would do if it could be issued, as far as other ranks are concerned.
    pub fn outlook(&self, world: &mut World, state: &State, rank: usize, operands: &Operands<'_>) -> Result<Outlook> {
        let blocked = match *operands {
            Operands::Wait { queue, local } => !wait_is_over(world, state, rank, queue, local),
            _ => false,
        };
        let at_issue = access_at_issue(operands);
        let mut accesses = [None; MOST_STEPS];
        accesses[0] = at_issue;
        if let Operands::Transfer(transfer) = operands {
            let free = &mut accesses[usize::from(at_issue.is_some())..]; // a put has one step
            for (place, step) in free.iter_mut().zip(transfer.steps()) {
                *place = Some(transfer.access(step));
            }
        }
        let pruned = at_issue.is_some_and(|access| state.meets_delayed(access));
        let moves = !blocked && !pruned && self.enabled(world, state, rank, operands)?;
        Ok(Outlook { accesses, moves, passes: !blocked && !pruned })
    }

    /// The operands of a transition of `rank`; None for a fault.
    pub fn operands(
        &self,
        world: &mut World,
        state: &State,
        rank: usize,
        transition: usize,
    ) -> Result<Option<Operands<'a>>> {
        let registers = rank * self.tables.registers..(rank + 1) * self.tables.registers;
        evaluate(self.tables, world, rank, self.tables.command(transition), &state.registers[registers])
    }

    /// The next barriers of `rank`, as name and transition.
    fn arrivals(&self, state: &State, rank: usize) -> impl Iterator<Item = (usize, usize)> {
        let tables = self.tables;
        tables.leaving(rank, state.control[rank]).filter_map(|transition| match *tables.command(transition) {
            Command::Barrier { name } => Some((name, transition)),
            _ => None,
        })
    }

    /// The next barriers of all threads of `rank`.
    fn arrivals_of(&self, state: &State, rank: usize) -> impl Iterator<Item = (usize, usize)> {
        self.tables.of_rank[rank].iter().flat_map(move |&process| self.arrivals(state, process))
    }

    /// In how many ways all ranks can take part in a barrier now.
    pub fn barriers(&self, state: &State) -> u64 {
        barriers::count(self.tables.nodes, |rank| self.arrivals_of(state, rank))
    }

    /// The transition of each rank in the barrier number `choice`.
    pub fn barrier(&self, state: &State, choice: u64) -> Result<Vec<usize>> {
        Ok(barriers::nth(self.tables.nodes, |rank| self.arrivals_of(state, rank), choice)?.unwrap_or_default())
    }

    /// Makes `next` the state after the barrier number `choice`.
    pub fn pass_barrier(&self, state: &State, choice: u64, next: &mut State) -> Result<()> {
        next.copy(state)?;
        next.mix();
        let passing = self.barrier(state, choice)?;
        let mut tainted = false;
        for &transition in &passing {
            let process = self.tables.process_of(transition);
            next.control[process] = self.tables.transitions[transition].target;
            tainted |= next.tainted[process];
        }
        // Who issues a command after the barrier does so after what all who pass it have issued before.
        let known = tainted || !self.tables.has_threads();
        if known && next.source.is_some() && self.tables.rules.is_none() {
            for transition in passing {
                next.tainted[self.tables.process_of(transition)] = true;
            }
        }
        Ok(())
    }

    /// Whether the operands are those of a command that its condition lets through (the design, section 2: an assume,
    /// an await; a read that does not just come back). Waits are not looked at.
    pub fn enabled(&self, world: &mut World, state: &State, rank: usize, operands: &Operands<'_>) -> Result<bool> {
        Ok(match *operands {
            Operands::Test { holds, blocks } => holds || !blocks,
            Operands::Immediate { access, condition, register, until, .. } => {
                let held = state.memory[access.cell];
                let satisfied = condition.is_none_or(|(relation, value)| relation.holds(world.values.get(held), value));
                satisfied
                    && match until {
                        None => true,
                        Some(until) => {
                            let registers = &state.registers[rank * self.tables.registers..];
                            let after = |index| if register == Some(index) { held } else { registers[index] };
                            // Where it has no value, the rank is to fault by itself.
                            value_after(self.tables, world, until, after)?.is_none_or(|holds| holds != 0)
                        }
                    }
            }
            _ => true,
        })
    }

    /// Makes `next` the state after a command of `rank` with all its steps, no source being chosen; false where it cannot
    /// be issued. A read can, though its poll may fail by it; a barrier cannot.
    pub fn issue_alone(
        &self,
        world: &mut World,
        state: &State,
        rank: usize,
        transition: usize,
        operands: &Operands<'_>,
        next: &mut State,
    ) -> Result<bool> {
        let mut operands = *operands;
        if let Operands::Immediate { until, .. } = &mut operands {
            *until = None;
        }
        if !self.enabled(world, state, rank, &operands)? {
            return Ok(false);
        }
        let issue = Issue { space: *self, state, rank, transition, stored: false };
        match &operands {
            Operands::Barrier { .. } => return Ok(false),
            Operands::Transfer(transfer) => issue.issue_steps(world, next, transfer, transfer.steps().len())?,
            _ => {
                issue.move_on(next)?;
                issue.perform(world, next, &operands)?;
            }
        }
        Ok(true)
    }
}

/// A rank before the issue of the command of a transition.
#[derive(Clone, Copy)]
struct Issue<'a> {
    space: Space<'a>,
    state: &'a State,
    rank: usize,
    transition: usize,
    /// Whether the state to which it leads is stored, as the tables allow.
    stored: bool,
}

impl Issue<'_> {
    /// A command that is one event, at its issue.
    fn local(
        self,
        world: &mut World,
        next: &mut State,
        operands: &Operands<'_>,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>> {
        let Issue { space, state, rank, transition, .. } = self;
        if !self.wait_is_over(world, operands) || !space.enabled(world, state, rank, operands)? {
            return Ok(ControlFlow::Continue(()));
        }
        let label = Move { rank, transition, now: 0, steps: 0 };
        let mut reached = false;
        let access = access_at_issue(operands);
        if let (Some(source), Some(access)) = (state.source, access) {
            reached = state.tainted[rank] || state.meets_done(access);
            if state.meets_delayed(access) {
                // In sigma it would come after D, so it is not in part 1; but it may be e.
                return if reached && access.conflicts_with(source) {
                    visit(world, label, Successor::Found)
                } else {
                    Ok(ControlFlow::Continue(()))
                };
            }
        }
        self.move_on(next)?;
        self.perform(world, next, operands)?;
        if let (true, Some(access)) = (reached, access) {
            next.taint(rank)?;
            next.enter(space.tables, access, false)?;
        }
        visit(world, label, Successor::State(next))
    }

    /// What the command does to registers, memory and the placement of steps.
    fn perform(self, world: &mut World, next: &mut State, operands: &Operands<'_>) -> Result<()> {
        let Issue { space, state, rank, .. } = self;
        let registers = rank * space.tables.registers;
        match *operands {
            Operands::Assign { register, value } => next.set_register(registers + register, value)?,
            Operands::Immediate { access, update, register, .. } => {
                let old = state.memory[access.cell];
                if let Some(register) = register {
                    next.set_register(registers + register, old)?;
                }
                if let Some(update) = update {
                    let new = update.of(world, old)?;
                    if new != old {
                        self.set_cell(next, access.cell, new)?;
                    }
                }
            }
            Operands::Fence { queue, target } => fence(world, state, next, rank, queue, target)?,
            Operands::Bundle => begin_bundle(world, next, rank)?,
            _ => {}
        }
        Ok(())
    }

    /// A command with steps: e, or a source, or a command of sigma whose steps are delayed where they must be.
    fn remote(
        self,
        world: &mut World,
        next: &mut State,
        transfer: &Transfer<'_>,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>> {
        let Issue { space, state, rank, transition, .. } = self;
        let (steps, captured) = (transfer.steps(), transfer.captured());
        let label = |now| Move { rank, transition, now, steps: steps.len() };
        let Some(source) = state.source else {
            self.issue_steps(world, next, transfer, steps.len())?;
            let mut flow = visit(world, label(steps.len()), Successor::State(next))?;
            for first in (0..steps.len()).take_while(|_| space.attack) {
                if flow.is_break() {
                    break;
                }
                if !space.tables.may_be_source(transition, first) {
                    continue;
                }
                self.begin(world, next, transfer, first)?;
                flow = visit(world, label(first), Successor::State(next))?;
            }
            return Ok(flow);
        };
        let bound = first_bound(space.tables, world, state, rank, transfer);
        if let Some(now) = self.leaving(source, transfer, bound) {
            // e comes after all of sigma, so what is left of it comes after D.
            if visit(world, label(now), Successor::Found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        if captured.is_some_and(|access| state.meets_delayed(access)) {
            // In sigma the command would be issued after D.
            return Ok(ControlFlow::Continue(()));
        }
        let conflict = steps.iter().position(|step| state.meets_delayed(transfer.access(step))).unwrap_or(steps.len());
        let now = bound.min(conflict);
        self.issue_steps(world, next, transfer, now)?;
        let reached = |access: Access| state.meets_done(access) || state.meets_delayed(access);
        if state.tainted[rank]
            || captured.is_some_and(reached)
            || steps.iter().any(|step| reached(transfer.access(step)))
        {
            self.taint(next, transfer, now)?;
        }
        if visit(world, label(now), Successor::State(next))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let joins = |step: &Step| space.tables.rules.is_none() && transfer.access(step).joins(source, space.tables);
        if let Some(first) = steps[..now].iter().position(joins) {
            // What e waits for may be there only as long as this update is not.
            self.issue_steps(world, next, transfer, first)?;
            self.taint(next, transfer, first)?;
            return visit(world, label(first), Successor::State(next));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes `next` the state in which the step `first` of the command has become the source.
    fn begin(self, world: &mut World, next: &mut State, transfer: &Transfer<'_>, first: usize) -> Result<()> {
        self.issue_steps(world, next, transfer, first)?;
        let access = transfer.access(&transfer.steps()[first]);
        let tables = self.space.tables;
        if let Some(rules) = &tables.rules {
            let kind = rules.kind(self.transition, first + usize::from(transfer.captured().is_some()))?;
            next.source = Some(Source { cell: access.cell, ways: access.ways, kind });
            return Ok(());
        }
        let kind = tables.source_kinds.iter().position(|&ways| ways == access.ways).unwrap_or(0);
        next.source = Some(Source { cell: access.cell, ways: access.ways, kind });
        self.taint(next, transfer, first)
    }

    /// The command is happens-after the source's.
    fn taint(self, next: &mut State, transfer: &Transfer<'_>, now: usize) -> Result<()> {
        let tables = self.space.tables;
        next.taint(self.rank)?;
        if let Some(access) = transfer.captured() {
            next.enter(tables, access, false)?;
        }
        for (place, step) in transfer.steps().iter().enumerate() {
            next.enter(tables, transfer.access(step), place >= now)?;
        }
        Ok(())
    }

    /// Makes `next` the state after the issue, with the first `now` steps in part 1, before any taint.
    fn issue_steps(self, world: &mut World, next: &mut State, transfer: &Transfer<'_>, now: usize) -> Result<()> {
        let Issue { space, state, rank, .. } = self;
        self.move_on(next)?;
        let (done, delayed) = transfer.steps().split_at(now);
        // What is carried from step to step: the value to write, and what a compare_swap expects.
        let mut value: ValueId = transfer.captured().map_or(0, |access| state.memory[access.cell]);
        let mut update = transfer.update();
        for step in done {
            let cell = transfer.access(step).cell;
            let old = next.memory[cell];
            match (step.phase, &mut update) {
                (Phase::Source, None) => value = old,
                (Phase::Source, Some(update)) => (value, update.operand) = (old, Given::Number(old)),
                (Phase::Expected, Some(update)) => update.expected = old,
                (Phase::Destination, Some(update)) => {
                    let new = update.of(world, old)?;
                    self.set_cell(next, cell, new)?;
                    value = old; // for the step that writes the result
                }
                (Phase::Expected, None) => {}
                (Phase::Destination | Phase::Result, _) => self.set_cell(next, cell, value)?,
            }
        }
        delay(space.tables, world, next, rank, transfer, delayed)
    }

    /// How many steps come before D when the command, as e, goes before the source and closes the cycle; None when it
    /// does not.
    ///
    /// It is by one of its accesses that it goes there: at its issue, or by one of the first `free` steps, those that
    /// are not ordered after D. The cycle enters the command by program order or by a conflict of one of its accesses;
    /// the steps that are left come last of all, after D too.
    fn leaving(self, source: Source, transfer: &Transfer<'_>, free: usize) -> Option<usize> {
        let (state, captured, steps) = (self.state, transfer.captured(), transfer.steps());
        let done = |step: &Step| state.meets_done(transfer.access(step));
        let delayed = |step: &Step| state.meets_delayed(transfer.access(step));
        let enters = |now: usize| {
            let (before, left) = steps.split_at(now);
            state.tainted[self.rank]
                || captured.is_some_and(|access| state.meets_done(access))
                || before.iter().any(done)
                || left.iter().any(|step| done(step) || delayed(step))
        };
        if captured.is_some_and(|access| access.conflicts_with(source)) && enters(0) {
            return Some(0);
        }
        let leaves = |now: usize| transfer.access(&steps[now - 1]).conflicts_with(source);
        (1..=free).find(|&now| leaves(now) && enters(now))
    }

    /// Makes `next` the state with the rank behind the transition and all else as before.
    #[inline]
    fn move_on(self, next: &mut State) -> Result<()> {
        next.reset(self.state)?;
        next.set_control(self.rank, self.space.tables.transitions[self.transition].target)
    }

    fn set_cell(self, next: &mut State, cell: usize, value: u32) -> Result<()> {
        if self.stored && self.space.tables.touchable[cell] & touch::CHANGED == 0 {
            return Err(Error::Malformed(format!("touchable leaves out a write to cell {cell}")));
        }
        next.set_cell(cell, value)
    }

    /// Whether a wait or wait_local may be issued; every other command may.
    fn wait_is_over(self, world: &World, operands: &Operands<'_>) -> bool {
        let &Operands::Wait { queue, local } = operands else { return true };
        wait_is_over(world, self.state, self.rank, queue, local)
    }
}

pub fn access_at_issue(operands: &Operands<'_>) -> Option<Access> {
    match *operands {
        Operands::Immediate { access, .. } => Some(access),
        Operands::Transfer(ref transfer) => transfer.captured(),
        _ => None,
    }
}
