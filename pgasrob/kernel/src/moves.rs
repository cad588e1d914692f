//! The successor relation: that of `AttackSpace` in `pgasrob/robustness/attack.py`, edge for edge in the same order.
//!
//! `proofs/attack.md` has the rules. "Part 1" is what happens now, "part 2" is D with what is left of e after it.

use std::ops::ControlFlow;

use crate::code::Value;
use crate::intern::{Place, bits};
use crate::memory::{Error, Result};
use crate::operands::{NewValue, Operands, Transfer, World, evaluate};
use crate::state::{Source, State};
use crate::tables::{Command, Tables, touch};

/// What labels an edge of one rank: it issues the command of a transition, whose first `now` of `steps` steps are in
/// part 1, the others in part 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub rank: usize,
    pub transition: usize,
    pub now: usize,
    pub steps: usize,
}

/// A move as the caller is told of it: the rank, None for a barrier; the transition taken, for a barrier that of every
/// rank; the parts (1 or 2) of the steps.
pub type Told = (Option<usize>, Vec<usize>, Vec<u8>);

/// Where an edge leads. The state is the visitor's to change.
pub enum Successor<'a> {
    State(&'a mut State),
    /// The state after e: the cycle is closed.
    Found,
}

/// Looks at one edge; Break ends the expansion.
pub trait Visit: FnMut(&mut World, Move, Successor<'_>) -> Result<ControlFlow<()>> {}
impl<F: FnMut(&mut World, Move, Successor<'_>) -> Result<ControlFlow<()>>> Visit for F {}

/// An access to a cell; an atomic reads and writes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub cell: usize,
    pub reads: bool,
    pub writes: bool,
}

/// What there is to know of a command that a rank stands before, for the choice of a persistent set.
#[derive(Clone, Copy, Debug)]
pub struct Outlook {
    /// At issue or in steps.
    pub accesses: [Option<Access>; 2],
    /// Whether it can be issued now, as a command of sigma.
    pub moves: bool,
    /// Whether it can ever be issued as one: it waits for nothing in D, and conflicts with nothing there.
    pub passes: bool,
}

/// A step of a remote command (`Step` in `pgasrob/semantics/steps.py`).
#[derive(Clone, Copy, Debug)]
struct Step {
    access: Access,
    stage: usize,
    local: bool,
    fenced: bool,
}

fn steps_of(transfer: &Transfer) -> [Step; 2] {
    let write = transfer.write;
    [
        Step {
            access: Access { cell: transfer.source, reads: true, writes: false },
            stage: 0,
            local: write,
            fenced: false,
        },
        Step {
            access: Access { cell: transfer.destination, reads: false, writes: true },
            stage: 1,
            local: !write,
            fenced: write,
        },
    ]
}

impl Access {
    fn conflicts_with(self, source: Source) -> bool {
        self.cell == source.cell && (self.writes || source.writes)
    }

    /// Whether it conflicts with what tainted commands have accessed without delay (t_r, t_w).
    fn meets_done(self, state: &State) -> bool {
        state.touched[self.cell] & if self.writes { touch::READ | touch::WRITTEN } else { touch::WRITTEN } != 0
    }

    /// Whether it conflicts with a step in D (d_r, d_w).
    fn meets_delayed(self, state: &State) -> bool {
        let written = touch::DELAYED_WRITTEN;
        state.touched[self.cell] & if self.writes { touch::DELAYED_READ | written } else { written } != 0
    }

    /// Enters it into t_r and t_w, or into d_r and d_w.
    fn enter(self, tables: &Tables, state: &mut State, delayed: bool) -> Result<()> {
        let (read, written) =
            if delayed { (touch::DELAYED_READ, touch::DELAYED_WRITTEN) } else { (touch::READ, touch::WRITTEN) };
        let bits = if self.reads { read } else { 0 } | if self.writes { written } else { 0 };
        if bits & !tables.touchable[self.cell] != 0 {
            return Err(Error::Malformed(format!("touchable leaves out an access to cell {}", self.cell)));
        }
        state.touch(self.cell, bits)
    }
}

/// The search space over some tables.
#[derive(Clone, Copy)]
pub struct Space<'a> {
    pub tables: &'a Tables,
    /// Whether a source may be chosen; without that there are SC runs only.
    pub attack: bool,
}

impl Space<'_> {
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
            let issue = Issue { space: *self, state, rank, transition };
            let flow = match operands {
                Operands::Barrier => continue,
                Operands::Transfer(transfer) => issue.remote(world, next, &transfer, visit)?,
                _ => issue.local(world, next, operands, visit)?,
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
    pub fn outlook(&self, world: &World, state: &State, rank: usize, operands: &Operands) -> Outlook {
        let waits = |queue, local| !wait_is_over(world, state, rank, queue, local);
        let blocked = match *operands {
            Operands::Wait { queue, local } => waits(queue, local),
            _ => false,
        };
        let accesses = match operands {
            Operands::Transfer(transfer) => steps_of(transfer).map(|step| Some(step.access)),
            _ => [access_at_issue(operands), None],
        };
        let remote = matches!(operands, Operands::Transfer(_));
        let pruned = !remote && accesses[0].is_some_and(|access| access.meets_delayed(state));
        let moves = !blocked && !pruned && self.enabled(world, state, operands);
        Outlook { accesses, moves, passes: !blocked && !pruned }
    }

    /// The operands of a transition of `rank`; None for a fault.
    pub fn operands(
        &self,
        world: &mut World,
        state: &State,
        rank: usize,
        transition: usize,
    ) -> Result<Option<Operands>> {
        let registers = rank * self.tables.registers..(rank + 1) * self.tables.registers;
        evaluate(self.tables, world, rank, self.tables.command(transition), &state.registers[registers])
    }

    fn arrivals(&self, state: &State, rank: usize) -> impl Iterator<Item = usize> {
        let tables = self.tables;
        tables
            .leaving(rank, state.control[rank])
            .filter(|&transition| matches!(tables.command(transition), Command::Barrier))
    }

    /// In how many ways all ranks can take part in a barrier now.
    pub fn barriers(&self, state: &State) -> u64 {
        let ways = |rank| self.arrivals(state, rank).count() as u64;
        (0..self.tables.nodes).map(ways).fold(1, u64::saturating_mul)
    }

    /// The transition of each rank in the barrier number `choice`; the last rank's varies fastest.
    pub fn barrier(&self, state: &State, choice: u64) -> Result<Vec<usize>> {
        let mut transitions = Vec::new();
        transitions.try_reserve_exact(self.tables.nodes)?;
        let mut left = choice;
        for rank in (0..self.tables.nodes).rev() {
            let ways = self.arrivals(state, rank).count().max(1) as u64;
            transitions.extend(self.arrivals(state, rank).nth((left % ways) as usize));
            left /= ways;
        }
        transitions.reverse();
        Ok(transitions)
    }

    /// Makes `next` the state after the barrier number `choice`.
    pub fn pass_barrier(&self, state: &State, choice: u64, next: &mut State) -> Result<()> {
        next.copy(state)?;
        next.mix();
        for (control, transition) in next.control.iter_mut().zip(self.barrier(state, choice)?) {
            *control = self.tables.transitions[transition].target;
        }
        // Who issues a command after the barrier does so after every rank's before it.
        if next.source.is_some() {
            next.tainted.fill(true);
        }
        Ok(())
    }

    /// Whether the operands are those of a command that its condition lets through (the design, section 2: an assume,
    /// an await). Waits are not looked at.
    pub fn enabled(&self, world: &World, state: &State, operands: &Operands) -> bool {
        match *operands {
            Operands::Assume { holds } => holds,
            Operands::Await { cell, relation, value } => relation.holds(world.values.get(state.memory[cell]), value),
            _ => true,
        }
    }

    fn set_cell(&self, next: &mut State, cell: usize, value: u32) -> Result<()> {
        if self.tables.touchable[cell] & touch::WRITTEN == 0 {
            return Err(Error::Malformed(format!("touchable leaves out a write to cell {cell}")));
        }
        next.set_cell(cell, value)
    }
}

/// A rank before the issue of the command of a transition.
#[derive(Clone, Copy)]
struct Issue<'a> {
    space: Space<'a>,
    state: &'a State,
    rank: usize,
    transition: usize,
}

impl Issue<'_> {
    /// A command that is one event, at its issue.
    fn local(
        self,
        world: &mut World,
        next: &mut State,
        operands: Operands,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>> {
        let Issue { space, state, rank, transition } = self;
        if !self.wait_is_over(world, &operands) || !space.enabled(world, state, &operands) {
            return Ok(ControlFlow::Continue(()));
        }
        let label = Move { rank, transition, now: 0, steps: 0 };
        let mut reached = false;
        let access = access_at_issue(&operands);
        if let (Some(source), Some(access)) = (state.source, access) {
            reached = state.tainted[rank] || access.meets_done(state);
            if access.meets_delayed(state) {
                // In sigma it would come after D, so it is not in part 1; but it may be e.
                return if reached && access.conflicts_with(source) {
                    visit(world, label, Successor::Found)
                } else {
                    Ok(ControlFlow::Continue(()))
                };
            }
        }
        self.move_on(next)?;
        self.perform(world, next, &operands)?;
        if let (true, Some(access)) = (reached, access) {
            next.taint(rank)?;
            access.enter(space.tables, next, false)?;
        }
        visit(world, label, Successor::State(next))
    }

    /// What the command does to registers, memory and the placement of steps.
    fn perform(self, world: &mut World, next: &mut State, operands: &Operands) -> Result<()> {
        let Issue { space, state, rank, .. } = self;
        let registers = rank * space.tables.registers;
        match *operands {
            Operands::Load { register, cell } => next.set_register(registers + register, state.memory[cell])?,
            Operands::Store { cell, value } => space.set_cell(next, cell, value)?,
            Operands::Assign { register, value } => next.set_register(registers + register, value)?,
            Operands::Atomic { register, cell, new } => {
                let old = state.memory[cell];
                next.set_register(registers + register, old)?;
                match new {
                    NewValue::Add { amount, kind } => {
                        let sum: Value = kind.wrap(world.values.get(old).wrapping_add(amount));
                        let sum = world.number(sum)?;
                        space.set_cell(next, cell, sum)?;
                    }
                    NewValue::CompareSwap { expected, .. } if old != expected => {}
                    NewValue::Swap { new } | NewValue::CompareSwap { new, .. } => space.set_cell(next, cell, new)?,
                }
            }
            Operands::Fence { queue, target } => {
                // Where fenced steps lie now, later ones cannot come before.
                for &(place, slot) in world.slots.of_rank(rank) {
                    let fences =
                        place.queue == queue && place.target.is_some_and(|to| target.is_none_or(|only| only == to));
                    if fences && state.slot(slot) & bits::FENCED_DELAYED != 0 {
                        next.set_slot(slot, bits::FENCE_BOUND)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A command with steps: e, or a source, or a command of sigma whose steps are delayed where they must be.
    fn remote(
        self,
        world: &mut World,
        next: &mut State,
        transfer: &Transfer,
        visit: &mut impl Visit,
    ) -> Result<ControlFlow<()>> {
        let Issue { space, state, rank, transition } = self;
        let steps = steps_of(transfer);
        let label = |now| Move { rank, transition, now, steps: steps.len() };
        let Some(source) = state.source else {
            self.issue_steps(world, next, transfer, steps.len())?;
            let mut flow = visit(world, label(steps.len()), Successor::State(next))?;
            for (first, step) in steps.iter().enumerate().take_while(|_| space.attack) {
                if flow.is_break() {
                    break;
                }
                if !space.tables.may_be_source(transition, first) {
                    continue;
                }
                self.begin(world, next, transfer, first, step.access)?;
                flow = visit(world, label(first), Successor::State(next))?;
            }
            return Ok(flow);
        };
        let bound = self.first_bound(world, transfer, &steps);
        if let Some(leaving) = self.leaving_step(source, &steps[..bound], &steps) {
            // e comes after all of sigma, so what is left of it comes after D.
            if visit(world, label(leaving + 1), Successor::Found)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let conflict = steps.iter().position(|step| step.access.meets_delayed(state)).unwrap_or(steps.len());
        let now = bound.min(conflict);
        self.issue_steps(world, next, transfer, now)?;
        let reached = |step: &Step| step.access.meets_done(state) || step.access.meets_delayed(state);
        if state.tainted[rank] || steps.iter().any(reached) {
            self.taint(next, &steps, now)?;
        }
        visit(world, label(now), Successor::State(next))
    }

    /// Makes `next` the state in which the step `first` of the command has become the source.
    fn begin(
        self,
        world: &mut World,
        next: &mut State,
        transfer: &Transfer,
        first: usize,
        access: Access,
    ) -> Result<()> {
        self.issue_steps(world, next, transfer, first)?;
        next.source = Some(Source { cell: access.cell, writes: access.writes });
        self.taint(next, &steps_of(transfer), first)
    }

    /// The command is happens-after the source's.
    fn taint(self, next: &mut State, steps: &[Step], now: usize) -> Result<()> {
        next.taint(self.rank)?;
        for (place, step) in steps.iter().enumerate() {
            step.access.enter(self.space.tables, next, place >= now)?;
        }
        Ok(())
    }

    /// Makes `next` the state after the issue, with the first `now` steps in part 1, before any taint.
    fn issue_steps(self, world: &mut World, next: &mut State, transfer: &Transfer, now: usize) -> Result<()> {
        let Issue { space, state, rank, .. } = self;
        self.move_on(next)?;
        let delayed = &steps_of(transfer)[now..];
        if delayed.is_empty() {
            return space.set_cell(next, transfer.destination, state.memory[transfer.source]);
        }
        let fifo = !space.tables.unordered.contains(&transfer.queue);
        for step in delayed {
            let mut placed = bits::DELAYED | if step.local { bits::LOCAL_DELAYED } else { 0 };
            if fifo {
                placed |= bits::STAGE[step.stage];
            } else if step.fenced {
                let place = Place { queue: transfer.queue, target: Some(transfer.target) };
                let slot = world.slots.number(rank, place, 2, &mut world.budget)?;
                next.set_slot(slot, bits::FENCED_DELAYED)?;
            }
            let place = Place { queue: transfer.queue, target: None };
            let slot = world.slots.number(rank, place, if fifo { 4 } else { 2 }, &mut world.budget)?;
            next.set_slot(slot, placed)?;
        }
        Ok(())
    }

    /// The first step that a completion rule puts after D; the number of steps when there is none. A chain is in order,
    /// so the steps after it come after D too.
    fn first_bound(self, world: &World, transfer: &Transfer, steps: &[Step]) -> usize {
        let Issue { space, state, rank, .. } = self;
        let placed = |target| {
            let slot = world.slots.find(rank, Place { queue: transfer.queue, target });
            slot.map_or(0, |slot| state.slot(slot))
        };
        let bound = if space.tables.unordered.contains(&transfer.queue) {
            let fenced = placed(Some(transfer.target)) & bits::FENCE_BOUND != 0;
            steps.iter().position(|step| fenced && step.fenced)
        } else {
            let stages = placed(None);
            steps.iter().position(|step| stages & bits::STAGE[step.stage] != 0)
        };
        bound.unwrap_or(steps.len())
    }

    /// The first step by which the command, as e, goes before the source and closes the cycle.
    ///
    /// Only a `free` step can, one that is not ordered after D. The cycle enters the command by program order or by a
    /// conflict of one of its steps; those that are left come last of all, after D too.
    fn leaving_step(self, source: Source, free: &[Step], steps: &[Step]) -> Option<usize> {
        let state = self.state;
        (0..free.len()).find(|&place| {
            let (before, left) = steps.split_at(place + 1);
            steps[place].access.conflicts_with(source)
                && (state.tainted[self.rank]
                    || before.iter().any(|step| step.access.meets_done(state))
                    || left.iter().any(|step| step.access.meets_done(state) || step.access.meets_delayed(state)))
        })
    }

    /// Makes `next` the state with the rank behind the transition and all else as before.
    fn move_on(self, next: &mut State) -> Result<()> {
        next.reset(self.state)?;
        next.set_control(self.rank, self.space.tables.transitions[self.transition].target)
    }

    /// Whether a wait or wait_local may be issued; every other command may.
    fn wait_is_over(self, world: &World, operands: &Operands) -> bool {
        let &Operands::Wait { queue, local } = operands else { return true };
        wait_is_over(world, self.state, self.rank, queue, local)
    }
}

fn wait_is_over(world: &World, state: &State, rank: usize, queue: u64, local: bool) -> bool {
    let slot = world.slots.find(rank, Place { queue, target: None });
    let waits_for = if local { bits::LOCAL_DELAYED } else { bits::DELAYED };
    slot.is_none_or(|slot| state.slot(slot) & waits_for == 0)
}

fn access_at_issue(operands: &Operands) -> Option<Access> {
    match *operands {
        Operands::Load { cell, .. } | Operands::Await { cell, .. } => Some(Access { cell, reads: true, writes: false }),
        Operands::Store { cell, .. } => Some(Access { cell, reads: false, writes: true }),
        Operands::Atomic { cell, .. } => Some(Access { cell, reads: true, writes: true }),
        _ => None,
    }
}
