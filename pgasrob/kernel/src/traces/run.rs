//! A run of commands with all their steps, as it grows and is taken back, and the order of its events
//! (`pgasrob/semantics/mazurkiewicz_trace.py`).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::access::Access;
use crate::barriers;
use crate::commands::Command;
use crate::intern::ValueId;
use crate::memory::{Result, filled, push};
use crate::moves::PlayedMove;
use crate::operands::{Operands, evaluate};
use crate::tables::Tables;
use crate::touch::{self};
use crate::traces::clock::{Clock, Epoch, Past};
use crate::traces::layers::{Cells, Entry};
use crate::traces::made::{Made, made_by, turned};
use crate::traces::standing::{Next, Standing, passes};
use crate::traces::subsets::Commuting;
use crate::world::World;

/// In place of a rank: who takes part in barriers is everybody.
pub const BARRIER: usize = usize::MAX;
/// So many places of a rank are few, wherever it has stood.
const LONG: usize = 1_000;
/// The place of an access in the chain of its command, when it is a look.
const LOOK: u8 = u8::MAX;

#[derive(Debug)]
pub struct Event {
    /// BARRIER for a barrier.
    pub rank: usize,
    /// That rank; of a barrier the first of those who pass it.
    pub lead: usize,
    /// Of a barrier the first of its transitions among all of them.
    pub transition: usize,
    pub clock: Clock,
    /// Its place among the events of `lead`.
    pub index: u32,
    /// Its accesses among all.
    made: usize,
    looks: usize,
    undo: usize,
}

impl Event {
    /// Whether it is among the events of `clock`, the past of another one.
    pub fn is_in(&self, clock: &Clock) -> bool {
        self.index < clock.count(self.lead)
    }
}

/// What is put back when an event is taken back.
#[derive(Clone, Copy, Debug)]
enum Undo {
    Register(usize, ValueId),
    Cell(usize, ValueId),
}

pub struct Run {
    pub control: Vec<u32>,
    pub registers: Vec<ValueId>,
    pub memory: Vec<ValueId>,
    pub events: Vec<Event>,
    /// How many events there are up to the latest one that each comes directly after, by a rank or a conflict.
    reach: Vec<u32>,
    pub of_rank: Vec<Vec<u32>>,
    pub standing: Vec<Vec<Standing>>,
    pub cells: Cells,
    made: Vec<Made>,
    looks: Vec<Access>,
    undo: Vec<Undo>,
    /// The transitions by which barriers are passed, and by whom.
    arrivals: Vec<usize>,
    passing: Vec<usize>,
    /// Of each rank its threads; where one has several, barriers make no epochs, since some may not pass them.
    threads: Vec<Vec<usize>>,
    epochs: Vec<Arc<Epoch>>,
    /// The number of ranks whose next command is a barrier.
    waiting: usize,
    /// Whether some rank may pass a barrier or do something else; what it does depends on everything then.
    mixed: bool,
    /// How often each cell has been changed, forth and back; and for each rank with one command, which waits, at what
    /// number it was found that its cell does not let it pass.
    changes: Vec<u64>,
    blocked_at: Vec<AtomicU64>,
    /// The first command that could not be evaluated: its rank, its transition.
    pub fault: Option<(usize, usize)>,
}

impl Run {
    pub fn new(tables: &Tables, world: &mut World) -> Result<Self> {
        let nodes = tables.processes;
        let zero = world.number(0)?;
        let mut memory = filled(zero, tables.memory.len())?;
        for (cell, &value) in memory.iter_mut().zip(&tables.memory) {
            *cell = world.number(tables.values[value])?;
        }
        let mixed = (0..nodes).any(|rank| {
            (0..tables.states[rank]).any(|control| {
                let leaving = tables.leaving(rank, control);
                leaving.len() > 1
                    && leaving.clone().any(|transition| matches!(tables.command(transition), Command::Barrier { .. }))
            })
        });
        let cells = Cells::new(tables.places())?;
        let changes = filled(0, memory.len())?;
        let mut run = Run {
            control: filled(0, nodes)?,
            registers: filled(zero, nodes * tables.registers)?,
            memory,
            events: Vec::new(),
            reach: Vec::new(),
            of_rank: filled(Vec::new(), nodes)?,
            standing: filled(Vec::new(), nodes)?,
            cells,
            made: Vec::new(),
            looks: Vec::new(),
            undo: Vec::new(),
            arrivals: Vec::new(),
            passing: Vec::new(),
            threads: tables.of_rank.clone(),
            epochs: vec![Arc::new(Epoch { number: 0, counts: filled(0, nodes)? })],
            waiting: 0,
            mixed,
            changes,
            blocked_at: (0..nodes).map(|_| AtomicU64::new(u64::MAX)).collect(),
            fault: None,
        };
        let registers: Arc<[ValueId]> = Arc::from(&run.registers[..tables.registers]);
        for rank in 0..nodes {
            run.stand(tables, world, rank, registers.clone())?;
        }
        Ok(run)
    }

    /// Where a rank stands now.
    pub fn at(&self, rank: usize) -> &Standing {
        let all = &self.standing[rank];
        &all[all.len() - 1]
    }

    /// The place that stands for everything.
    fn everything(&self) -> usize {
        self.memory.len()
    }

    fn stand(&mut self, tables: &Tables, world: &mut World, rank: usize, registers: Arc<[ValueId]>) -> Result<()> {
        let control = self.control[rank];
        let mut commands = Vec::new();
        for transition in tables.leaving(rank, control) {
            let Some(operands) = evaluate(tables, world, rank, tables.command(transition), &registers)? else {
                self.fault = self.fault.or(Some((rank, transition)));
                continue;
            };
            commands.push(Next::of(tables, transition, &operands));
        }
        self.waiting -= self.before_barrier(rank);
        world.budget.take(Self::standing_bytes(&commands))?;
        self.standing[rank].push(Standing { control, registers, commands });
        self.blocked_at[rank].store(u64::MAX, Relaxed);
        self.waiting += self.before_barrier(rank);
        Ok(())
    }

    fn standing_bytes(commands: &[Next]) -> usize {
        size_of::<Standing>() + size_of_val(commands)
    }

    fn step_back(&mut self, world: &mut World, rank: usize) {
        self.waiting -= self.before_barrier(rank);
        if let Some(left) = self.standing[rank].pop() {
            world.budget.give(Self::standing_bytes(&left.commands));
        }
        self.waiting += self.before_barrier(rank);
        self.blocked_at[rank].store(u64::MAX, Relaxed);
    }

    /// 1 when the next command of `rank` is a barrier.
    fn before_barrier(&self, rank: usize) -> usize {
        let last = self.standing[rank].last();
        usize::from(last.is_some_and(|standing| standing.commands.iter().any(|command| command.barrier.is_some())))
    }

    /// Whether all ranks have come to the same barrier.
    pub fn at_barrier(&self) -> bool {
        self.waiting >= self.threads.len()
            && barriers::count(self.threads.len(), |rank| self.ways_through_a_barrier(rank)) > 0
    }

    /// The transitions of all ranks in the barrier number `choice` that they can pass now, if there are so many.
    pub fn barrier(&self, choice: usize) -> Result<Option<Vec<usize>>> {
        if self.waiting < self.threads.len() {
            return Ok(None);
        }
        barriers::nth(self.threads.len(), |rank| self.ways_through_a_barrier(rank), choice as u64)
    }

    fn ways_through_a_barrier(&self, rank: usize) -> impl Iterator<Item = (usize, usize)> {
        let commands = self.threads[rank].iter().flat_map(|&thread| &self.at(thread).commands);
        commands.filter_map(|command| Some((command.barrier?, command.transition)))
    }

    /// Whether some rank has several threads.
    pub fn has_threads(&self) -> bool {
        self.control.len() > self.threads.len()
    }

    /// Whether `rank` may issue `command` now. (A barrier is not issued by one rank.)
    pub fn enabled(&self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<bool> {
        if command.barrier.is_some() || command.blocked {
            return Ok(false);
        }
        if !command.waits {
            return Ok(true);
        }
        let cell = command.cell;
        if self.blocked_at[rank].load(Relaxed) == self.changes[cell] {
            return Ok(false);
        }
        let standing = self.at(rank);
        let enabled = passes(tables, world, rank, standing, command, self.memory[cell])?;
        if !enabled && standing.commands.len() == 1 {
            self.blocked_at[rank].store(self.changes[cell], Relaxed);
        }
        Ok(enabled)
    }

    /// The access of a command that waits, to what it waits for.
    pub fn waits_for(&self, command: &Next) -> Access {
        let own = command.accesses.all()[0];
        if command.waits_at == own.cell { own } else { Access::reading(command.waits_at) }
    }

    /// How many events there are up to the last one of `rank`.
    fn reach_of(&self, rank: usize) -> u32 {
        self.of_rank[rank].last().map_or(0, |&event| event + 1)
    }

    /// The events from `first` on that come after none from there on, last first.
    pub fn initials(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let reaches = self.reach.iter().enumerate().skip(first).rev();
        reaches.filter(move |&(_, &reach)| reach as usize <= first).map(|(number, _)| number)
    }

    /// The event of `rank` that is its first one from `first` on, if that comes after none from there on.
    pub fn initial_of(&self, rank: usize, first: usize) -> Option<usize> {
        let number = *self.of_rank[rank].get(self.before(rank, first))? as usize;
        (self.reach[number] as usize <= first && self.events[number].rank == rank).then_some(number)
    }

    /// How many events of `rank` there are before the event `first`.
    pub fn before(&self, rank: usize, first: usize) -> usize {
        self.of_rank[rank].partition_point(|&event| (event as usize) < first)
    }

    /// The past of the next event of `rank` by its own events.
    pub fn last(&self, rank: usize) -> Clock {
        match self.of_rank[rank].last() {
            Some(&event) => self.events[event as usize].clock.clone(),
            None => Clock::at(self.epochs[0].clone()),
        }
    }

    /// The accesses of a command of `rank`, the conditions that it turns, and what the rank looks at beside them when it
    /// issues it: the values that others of its commands wait for.
    pub fn footprint(&self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<Vec<Access>> {
        let turned = self.would_turn(tables, world, rank, command)?;
        Ok([command.accesses.all(), &turned, &self.looks(rank, command)].concat())
    }

    /// The conditions that a command would turn, were it next.
    pub fn would_turn(&self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<Vec<Access>> {
        if self.may_turn(tables, command).next().is_none() {
            return Ok(Vec::new());
        }
        let operands = evaluate(tables, world, rank, tables.command(command.transition), &self.at(rank).registers)?;
        let Some(operands) = operands else { return Ok(Vec::new()) };
        let made = made_by(world, &operands, |_, _, cell| Ok(self.memory[cell]))?;
        Ok(made.iter().flat_map(|made| turned(tables, world, made)).map(Access::writing).collect())
    }

    /// The conditions that a command may turn, depending on what its cells hold.
    pub fn may_turn<'a>(&self, tables: &'a Tables, command: &'a Next) -> impl Iterator<Item = Access> + 'a {
        let changes = command.accesses.all().iter().filter(|access| access.ways & touch::CHANGED != 0);
        let numbers = changes.flat_map(|access| {
            tables.conditions_of(access.cell).map(|(number, _)| number).chain(tables.counted(access.cell))
        });
        numbers.map(Access::writing)
    }

    pub fn looks(&self, rank: usize, issued: &Next) -> Vec<Access> {
        let commands = &self.at(rank).commands;
        let others = commands.iter().filter(|command| command.transition != issued.transition && command.waits);
        let mut looks: Vec<Access> = others.map(|command| Access::reading(command.waits_at)).collect();
        if self.mixed {
            let mixed = commands.iter().any(|command| command.barrier.is_some());
            let cell = self.everything();
            looks.push(if mixed { Access::writing(cell) } else { Access::reading(cell) });
        }
        looks
    }

    /// Whether some rank has mostly stood where it had stood before, so that it may go round for ever.
    pub fn comes_back(&self) -> bool {
        self.standing.iter().any(|places| {
            let different: HashSet<_> = places.iter().map(|place| (place.control, &place.registers)).collect();
            places.len() > LONG && different.len() < places.len() / 2
        })
    }

    /// Whether some rank looks at what it does not access.
    pub fn has_looks(&self) -> bool {
        !self.looks.is_empty()
    }

    /// The accesses that an event has made.
    pub fn chain(&self, event: usize) -> &[Made] {
        &self.made[self.span(event, |event| event.made, self.made.len())]
    }

    /// Those, and what its rank looked at.
    pub fn seen(&self, event: usize) -> impl Iterator<Item = Access> {
        let looks = self.span(event, |event| event.looks, self.looks.len());
        self.chain(event).iter().map(|made| made.access).chain(self.looks[looks].iter().copied())
    }

    fn span(&self, event: usize, start: impl Fn(&Event) -> usize, end: usize) -> Range<usize> {
        start(&self.events[event])..self.events.get(event + 1).map_or(end, start)
    }

    /// The transitions of all ranks in a barrier.
    pub fn arrivals(&self, event: usize) -> &[usize] {
        let first = self.events[event].transition;
        &self.arrivals[first..first + self.threads.len()]
    }

    /// Whose an event is: all who pass a barrier.
    pub fn ranks(&self, event: &Event) -> Vec<usize> {
        if event.rank != BARRIER {
            return vec![event.rank];
        }
        self.passing[event.transition..event.transition + self.threads.len()].to_vec()
    }

    /// Goes on by a barrier.
    pub fn pass_barrier(&mut self, tables: &Tables, world: &mut World, transitions: &[usize]) -> Result<()> {
        let passing: Vec<usize> = transitions.iter().map(|&transition| tables.process_of(transition)).collect();
        let clock = self.clock_behind(world, &passing)?;
        let number = self.events.len() as u32;
        let event = Event {
            rank: BARRIER,
            lead: passing[0],
            transition: self.arrivals.len(),
            clock,
            index: self.of_rank[passing[0]].len() as u32,
            made: self.made.len(),
            looks: self.looks.len(),
            undo: self.undo.len(),
        };
        self.arrivals.extend_from_slice(transitions);
        self.passing.extend_from_slice(&passing);
        let reach =
            if self.has_threads() { passing.iter().map(|&rank| self.reach_of(rank)).max() } else { Some(number) };
        push(&mut self.reach, reach.unwrap_or(0), &mut world.budget)?;
        push(&mut self.events, event, &mut world.budget)?;
        for (&rank, &transition) in passing.iter().zip(transitions) {
            self.of_rank[rank].push(number);
            self.control[rank] = tables.transitions[transition].target;
            let registers = self.at(rank).registers.clone();
            self.stand(tables, world, rank, registers)?;
        }
        Ok(())
    }

    /// The past of a barrier of these ranks, itself included.
    fn clock_behind(&mut self, world: &mut World, passing: &[usize]) -> Result<Clock> {
        if self.has_threads() {
            let mut past = Past::of(&self.last(passing[0]))?;
            for &rank in passing {
                past.join(&self.last(rank))?;
            }
            for &rank in passing {
                past.raise(rank as u32, self.of_rank[rank].len() as u32 + 1)?;
            }
            let clock = past.done();
            world.budget.take(clock.bytes())?;
            return Ok(clock);
        }
        let counts: Vec<u32> = self.of_rank.iter().map(|events| events.len() as u32 + 1).collect();
        world.budget.take(passing.len() * (size_of::<u32>() + size_of::<usize>()))?;
        let epoch = Arc::new(Epoch { number: self.epochs.len() as u32, counts });
        self.epochs.push(epoch.clone());
        Ok(Clock::at(epoch))
    }

    /// Goes on by a command that is enabled.
    pub fn issue(&mut self, tables: &Tables, world: &mut World, rank: usize, command: &Next) -> Result<()> {
        let before = self.at(rank).registers.clone();
        let operands = evaluate(tables, world, rank, tables.command(command.transition), &before)?;
        let made = match &operands {
            Some(operands) => made_by(world, operands, |_, _, cell| Ok(self.memory[cell]))?,
            None => Vec::new(),
        };
        let mut conditions: Vec<Made> = Vec::new();
        if !tables.conditions.is_empty() {
            for (place, made) in made.iter().enumerate() {
                let entered = |number| Made { access: Access::writing(number), by: place as u8, update: None, ..*made };
                conditions.extend(turned(tables, world, made).into_iter().map(entered));
            }
        }
        let looks = self.looks(rank, command);
        let own = self.last(rank);
        let mut past = Past::of(&own)?;
        let mut reach = self.reach_of(rank);
        let turned = conditions.iter().map(|made| made.access);
        for access in command.accesses.all().iter().copied().chain(turned).chain(looks.iter().copied()) {
            for entry in self.cells.met_by(access) {
                past.join(&self.events[entry.event].clock)?;
                reach = reach.max(entry.event as u32 + 1);
            }
        }
        let index = self.of_rank[rank].len() as u32;
        past.raise(rank as u32, index + 1)?;
        let clock = past.done();
        world.budget.take(clock.bytes())?;
        let number = self.events.len();
        let event = Event {
            rank,
            lead: rank,
            transition: command.transition,
            clock,
            index,
            made: self.made.len(),
            looks: self.looks.len(),
            undo: self.undo.len(),
        };
        push(&mut self.reach, reach, &mut world.budget)?;
        push(&mut self.events, event, &mut world.budget)?;
        let changed = match operands {
            Some(Operands::Assign { register, value }) => Some((register, value)),
            Some(Operands::Immediate { register, .. }) => register.map(|register| (register, made[0].before)),
            _ => None,
        };
        // First: what is left out with a look is the whole event.
        for look in looks {
            let before = self.memory.get(look.cell).copied().unwrap_or(0);
            self.cells.enter(look, before, Entry { event: number, place: LOOK, update: None });
            self.looks.push(look);
        }
        for each in &made {
            if let Some(after) = each.after {
                self.set_cell(each.access.cell, after);
            }
        }
        let registers = match changed {
            Some((register, value)) if before[register] != value => {
                let place = rank * tables.registers + register;
                self.undo.push(Undo::Register(place, self.registers[place]));
                self.registers[place] = value;
                world.budget.take(tables.registers * size_of::<ValueId>())?;
                Arc::from(&self.registers[rank * tables.registers..(rank + 1) * tables.registers])
            }
            _ => before,
        };
        let mut own: Vec<Made> =
            made.iter().zip(command.accesses.all()).map(|(made, &access)| Made { access, ..*made }).collect();
        if command.counts
            && let Some(Operands::Immediate { update: Some(update), .. }) = &operands
        {
            let operand = update.operand.number(world)?;
            own[0].update = Some(Commuting { operation: update.operation, kind: update.kind, operand });
            own.extend(command.accesses.all()[1..].iter().map(|&access| Made::reading(access, made[0].before)));
        }
        for (place, made) in own.into_iter().chain(conditions).enumerate() {
            let Made { access, before, update, .. } = made;
            self.cells.enter(access, before, Entry { event: number, place: place as u8, update });
            self.made.push(made);
        }
        self.of_rank[rank].push(number as u32);
        self.control[rank] = tables.transitions[command.transition].target;
        self.stand(tables, world, rank, registers)
    }

    fn set_cell(&mut self, cell: usize, value: ValueId) {
        self.undo.push(Undo::Cell(cell, self.memory[cell]));
        self.memory[cell] = value;
        self.changes[cell] += 1;
    }

    /// Takes back the last event.
    pub fn take_back(&mut self, world: &mut World) {
        let Some(number) = self.events.len().checked_sub(1) else { return };
        let seen: Vec<usize> = self.seen(number).map(|access| access.cell).collect();
        for cell in seen {
            self.cells.leave(cell);
        }
        let Some(event) = self.events.pop() else { return };
        self.reach.pop();
        for undo in self.undo.drain(event.undo..).rev() {
            match undo {
                Undo::Register(place, value) => self.registers[place] = value,
                Undo::Cell(cell, value) => {
                    self.memory[cell] = value;
                    self.changes[cell] += 1;
                }
            }
        }
        self.made.truncate(event.made);
        self.looks.truncate(event.looks);
        world.budget.give(event.clock.bytes());
        let ranks = self.ranks(&event);
        if event.rank == BARRIER {
            self.arrivals.truncate(event.transition);
            self.passing.truncate(event.transition);
            if !self.has_threads() {
                self.epochs.pop();
            }
        }
        for rank in ranks {
            self.of_rank[rank].pop();
            self.step_back(world, rank);
            self.control[rank] = self.at(rank).control;
        }
    }

    /// The run so far.
    pub fn played(&self) -> Vec<PlayedMove> {
        (0..self.events.len()).map(|event| self.play(event, vec![1; self.steps(event)])).collect()
    }

    /// An event as a move whose steps are in `parts`.
    pub fn play(&self, event: usize, parts: Vec<u8>) -> PlayedMove {
        let Event { rank, transition, .. } = self.events[event];
        if rank == BARRIER {
            (None, self.arrivals(event).to_vec(), Vec::new())
        } else {
            (Some(rank), vec![transition], parts)
        }
    }

    /// How many steps an event has.
    pub fn steps(&self, event: usize) -> usize {
        if self.events[event].rank == BARRIER { 0 } else { self.next_of(event).accesses.steps().len() }
    }

    /// The command that an event, which is none of a barrier, has issued.
    pub fn next_of(&self, event: usize) -> &Next {
        let Event { rank, transition, index, .. } = self.events[event];
        let commands = &self.standing[rank][index as usize].commands;
        commands.iter().find(|command| command.transition == transition).unwrap_or(&commands[0])
    }
}
