//! What ranks may do while others stay where they are (`pgasrob/analysis/meanwhile.py`, `proofs/reductions.md`).
//!
//! From one state on, and up to the next barrier: an abstract interpretation of the ranks that go on, with an interval
//! for every register at every control state and for every cell. What only a rank that stays could write or release
//! does not come.

use std::ops::Range;

use crate::access::Access;
use crate::analyses::Analyses;
use crate::code::{GREATEST, LEAST, Relation};
use crate::commands::{Command, Immediate, MOST_STEPS, Operand, Phase, Transfer, Update};
use crate::intervals::{ANY, Evaluation, Interval, ZERO};
use crate::memory::{Result, filled};
use crate::state::State;
use crate::tables::Tables;
use crate::touch::{self, Ways};
use crate::updates::Operation;
use crate::world::World;

/// Commands that are looked at before it is given up, and cells that one access may be to.
const MOST_COMMANDS: usize = 2_000;
const MOST_CELLS: usize = 256;

/// What is known of a rank or a cell, and of which question that is.
#[derive(Debug, Default)]
struct Known {
    asked: Vec<u64>,
    intervals: Vec<Interval>,
}

/// Answers one question after another; what it has for its work it keeps.
#[derive(Debug, Default)]
pub struct Meanwhile {
    /// The number of the question.
    question: u64,
    /// For every control state the registers of its rank, and every cell.
    files: Known,
    cells: Known,
    /// The ways that conflict with what the ranks that stay are about to access, by cell; and the cells.
    guarded: Vec<Ways>,
    /// The same for ranks whose next command is an await.
    awaited: Vec<Ways>,
    guards: Vec<usize>,
    file: Vec<Interval>,
    evaluation: Evaluation,
    commands: usize,
}

/// A state, with what is known of the program.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    pub tables: &'a Tables,
    pub analyses: &'a Analyses,
    pub world: &'a World,
    pub state: &'a State,
}

/// Why a rank does not go on: it cannot; or what is asked has been answered.
enum Stop {
    Blocked,
    Answered,
}

type Flow<T = ()> = std::result::Result<T, Stop>;

/// A cell at some ranks and some addresses.
#[derive(Clone)]
struct Region {
    ranks: Range<usize>,
    addresses: Range<usize>,
}

impl Meanwhile {
    /// Whether no rank but `staying` may make an access, before it comes to a barrier, that conflicts with one of
    /// `next`; nor, in search for races, have as its next command an await that conflicts with one of `awaited`, or an
    /// await_add that conflicts with one of `next`, whether or not they may hold. `passes` says of a transition that
    /// leaves the control state of a rank whether its command may ever be issued as one of sigma.
    pub fn is_left_alone(
        &mut self,
        standing: Standing<'_>,
        staying: usize,
        next: &[Access],
        awaited: &[Access],
        passes: impl Fn(usize, usize) -> bool,
    ) -> Result<bool> {
        self.prepare(standing.tables)?;
        for access in next {
            self.guarded[access.cell] |= access.against();
            self.guards.try_reserve(1)?;
            self.guards.push(access.cell);
        }
        for access in awaited {
            self.awaited[access.cell] |= access.against();
            self.guards.try_reserve(1)?;
            self.guards.push(access.cell);
        }
        let mut around = Around { standing, known: self, changed: false, rank: 0 };
        let alone = around.fixpoint(staying, passes);
        for cell in self.guards.drain(..) {
            self.guarded[cell] = 0;
            self.awaited[cell] = 0;
        }
        alone
    }

    fn prepare(&mut self, tables: &Tables) -> Result<()> {
        if self.guarded.len() < tables.memory.len() {
            let states: usize = tables.states.iter().map(|&count| count as usize).sum();
            self.guarded = filled(0, tables.memory.len())?;
            self.awaited = filled(0, tables.memory.len())?;
            self.files = Known { asked: filled(0, states)?, intervals: filled(ZERO, states * tables.registers)? };
            self.cells =
                Known { asked: filled(0, tables.memory.len())?, intervals: filled(ZERO, tables.memory.len())? };
            self.file = filled(ZERO, tables.registers)?;
        }
        self.question += 1;
        self.commands = 0;
        Ok(())
    }
}

/// One question.
struct Around<'a> {
    standing: Standing<'a>,
    known: &'a mut Meanwhile,
    changed: bool,
    /// The rank whose command is looked at.
    rank: usize,
}

impl Around<'_> {
    fn fixpoint(&mut self, staying: usize, passes: impl Fn(usize, usize) -> bool) -> Result<bool> {
        let tables = self.standing.tables;
        loop {
            self.changed = false;
            for rank in (0..tables.processes).filter(|&rank| rank != staying) {
                self.rank = rank;
                let here = self.standing.state.control[rank];
                for transition in tables.leaving(rank, here) {
                    let first = rank * tables.registers;
                    for (index, interval) in self.known.file.iter_mut().enumerate() {
                        *interval = Interval::only(
                            self.standing.world.values.get(self.standing.state.registers[first + index]),
                        );
                    }
                    if let Some(false) = self.follow(transition, passes(rank, transition))? {
                        return Ok(false);
                    }
                }
                for control in 0..tables.states[rank] {
                    let place = tables.control(rank, control);
                    if self.known.files.asked[place] != self.known.question {
                        continue;
                    }
                    for transition in tables.leaving(rank, control) {
                        let Meanwhile { files, file, .. } = &mut *self.known;
                        let first = place * tables.registers;
                        file.copy_from_slice(&files.intervals[first..first + tables.registers]);
                        if let Some(false) = self.follow(transition, true)? {
                            return Ok(false);
                        }
                    }
                }
            }
            if !self.changed {
                return Ok(true);
            }
        }
    }

    /// Issues the command of a transition over the registers in `file`, and goes on if it `passes`; Some(false) when
    /// that answers the question.
    fn follow(&mut self, transition: usize, passes: bool) -> Result<Option<bool>> {
        self.known.commands += 1;
        if self.known.commands > MOST_COMMANDS {
            return Ok(Some(false));
        }
        let tables = self.standing.tables;
        match self.issue(tables.command(transition))? {
            Err(Stop::Answered) => return Ok(Some(false)),
            Err(Stop::Blocked) => {}
            Ok(()) if passes => self.arrive(tables.transitions[transition].target)?,
            Ok(()) => {}
        }
        Ok(None)
    }

    fn arrive(&mut self, control: u32) -> Result<()> {
        let place = self.standing.tables.control(self.rank, control);
        let first = place * self.standing.tables.registers;
        let Meanwhile { files, file, question, .. } = &mut *self.known;
        let kept = &mut files.intervals[first..first + self.standing.tables.registers];
        if files.asked[place] != *question {
            files.asked[place] = *question;
            kept.copy_from_slice(file);
            self.changed = true;
            return Ok(());
        }
        for (known, &arriving) in kept.iter_mut().zip(file.iter()) {
            self.changed |= grow(self.standing.analyses, known, arriving);
        }
        Ok(())
    }

    /// What a command does to the registers in `file` and to cells.
    fn issue(&mut self, command: &Command) -> Result<Flow> {
        Ok(match *command {
            Command::Assign { register, value } => match self.value(value)? {
                None => Err(Stop::Blocked),
                Some(value) => {
                    self.known.file[register] = value;
                    Ok(())
                }
            },
            Command::Test { condition, blocks, .. } => self.test(condition, blocks)?,
            Command::Immediate(ref immediate) => self.immediate(immediate)?,
            Command::Transfer(ref transfer) => self.transfer(transfer)?,
            Command::Wait { .. } | Command::Fence { .. } | Command::Bundle => Ok(()),
            Command::Barrier { .. } => Err(Stop::Blocked),
        })
    }

    fn value(&mut self, operand: Operand) -> Result<Option<Interval>> {
        let Meanwhile { evaluation, file, .. } = &mut *self.known;
        evaluation.value(&self.standing.tables.expressions[operand], file)
    }

    fn test(&mut self, condition: Operand, blocks: bool) -> Result<Flow> {
        let Some(holds) = self.value(condition)? else { return Ok(Err(Stop::Blocked)) };
        if !blocks {
            return Ok(Ok(()));
        }
        if holds == ZERO {
            return Ok(Err(Stop::Blocked));
        }
        let Meanwhile { evaluation, file, .. } = &mut *self.known;
        let expression = &self.standing.tables.expressions[condition];
        if let Some(compared) = evaluation.comparison(expression, file)? {
            let (relation, (left, in_left), (right, in_right)) = (compared.relation, compared.left, compared.right);
            if let Some(index) = in_left {
                file[index] = left.related(relation, right);
            }
            if let Some(index) = in_right {
                file[index] = right.related(relation.mirrored(), left);
            }
        }
        Ok(Ok(()))
    }

    fn region(&mut self, rank: Option<Operand>, address: Operand) -> Result<Flow<Region>> {
        let ranks = match rank {
            None => {
                let home = self.standing.tables.home[self.rank];
                Some(home..home + 1)
            }
            Some(rank) => self.value(rank)?.and_then(|value| value.below(self.standing.tables.nodes)),
        };
        let addresses = self.value(address)?.and_then(|value| value.below(self.standing.tables.size));
        let (Some(ranks), Some(addresses)) = (ranks, addresses) else { return Ok(Err(Stop::Blocked)) };
        Ok(if ranks.len().saturating_mul(addresses.len()) > MOST_CELLS {
            Err(Stop::Answered)
        } else {
            Ok(Region { ranks, addresses })
        })
    }

    fn cells(&self, region: &Region) -> impl Iterator<Item = usize> + use<> {
        let (size, addresses) = (self.standing.tables.size, region.addresses.clone());
        region.ranks.clone().flat_map(move |rank| addresses.clone().map(move |address| rank * size + address))
    }

    /// What a cell may hold.
    fn cell(&mut self, cell: usize) -> &mut Interval {
        let Meanwhile { cells, question, .. } = &mut *self.known;
        if cells.asked[cell] != *question {
            cells.asked[cell] = *question;
            cells.intervals[cell] = Interval::only(self.standing.world.values.get(self.standing.state.memory[cell]));
        }
        &mut cells.intervals[cell]
    }

    fn held(&mut self, region: &Region) -> Interval {
        let mut held: Option<Interval> = None;
        for cell in self.cells(region) {
            let values = *self.cell(cell);
            held = Some(held.map_or(values, |held| held.joined(values)));
        }
        held.unwrap_or(ANY)
    }

    /// Whether an access may be one of those that are asked for.
    fn meets(&self, region: &Region, ways: Ways) -> bool {
        self.cells(region).any(|cell| self.known.guarded[cell] & ways != 0)
    }

    fn write(&mut self, region: &Region, values: Interval) {
        let (analyses, size) = (self.standing.analyses, self.standing.tables.size);
        for cell in self.cells(region) {
            let grown = grow(analyses, self.cell(cell), values.at_most(analyses.most[cell % size]));
            self.changed |= grown;
        }
    }

    fn immediate(&mut self, command: &Immediate) -> Result<Flow> {
        let region = match self.region(command.rank, command.address)? {
            Ok(region) => region,
            Err(stop) => return Ok(Err(stop)),
        };
        let mut held = self.held(&region);
        if let Some((relation, value)) = command.condition {
            let counting = if command.update.is_none() { &self.known.awaited } else { &self.known.guarded };
            let races = self.standing.tables.rules.is_some();
            if races && self.cells(&region).any(|cell| counting[cell] & command.ways != 0) {
                return Ok(Err(Stop::Answered));
            }
            let Some(value) = self.value(value)? else { return Ok(Err(Stop::Blocked)) };
            if !held.may_be(relation, value) {
                return Ok(Err(Stop::Blocked));
            }
            held = held.related(relation, value);
        }
        let mut updated = None;
        if let Some(update) = command.update {
            let Some((operand, expected)) = self.given(update)? else { return Ok(Err(Stop::Blocked)) };
            let most = self.standing.analyses.most[region.addresses.start];
            if update.operation == Operation::Add && region.addresses.len() == 1 && most < GREATEST {
                // A counter goes no further than that, so it was not further before.
                held = held.at_most(most - operand.low);
            }
            updated = changed(update, held, operand, expected);
        }
        if self.meets(&region, command.ways) {
            return Ok(Err(Stop::Answered));
        }
        if let Some(updated) = updated {
            self.write(&region, updated);
        }
        if let Some(register) = command.register {
            self.known.file[register] = held;
        }
        Ok(Ok(()))
    }

    fn transfer(&mut self, command: &Transfer) -> Result<Flow> {
        macro_rules! region {
            ($rank:expr, $address:expr) => {
                match self.region($rank, $address)? {
                    Ok(region) => region,
                    Err(stop) => return Ok(Err(stop)),
                }
            };
        }
        let mut carried = ZERO;
        let mut expected = ZERO;
        if let Some(update) = command.update {
            let Some(given) = self.given(update)? else { return Ok(Err(Stop::Blocked)) };
            (carried, expected) = given;
        }
        let captured = match command.captured {
            None => None,
            Some(address) => Some(region!(None, address)),
        };
        let mut regions: [Option<Region>; MOST_STEPS] = Default::default();
        for (region, step) in regions.iter_mut().zip(command.steps.iter()) {
            *region = Some(region!(step.at_target.then_some(command.rank), step.address));
        }
        if let Some(captured) = captured {
            if self.meets(&captured, touch::READ) {
                return Ok(Err(Stop::Answered));
            }
            carried = self.held(&captured);
        }
        for (region, step) in regions.iter().flatten().zip(command.steps.iter()) {
            if self.meets(region, step.ways) {
                return Ok(Err(Stop::Answered));
            }
            let held = self.held(region);
            match (step.phase, command.update) {
                (Phase::Source, _) => carried = held,
                (Phase::Expected, _) => expected = held,
                (Phase::Destination, Some(update)) => {
                    if let Some(updated) = changed(update, held, carried, expected) {
                        self.write(region, updated);
                    }
                    carried = held;
                }
                (Phase::Destination, None) | (Phase::Result, _) => self.write(region, carried),
            }
        }
        Ok(Ok(()))
    }

    /// The operand of an update and what it expects, 0 for those that it does not have or reads in a step.
    fn given(&mut self, update: Update) -> Result<Option<(Interval, Interval)>> {
        let mut given = [ZERO; 2];
        for (given, operand) in given.iter_mut().zip([update.operand, update.expected]) {
            if let Some(operand) = operand {
                let Some(value) = self.value(operand)? else { return Ok(None) };
                *given = value;
            }
        }
        Ok(Some((given[0], given[1])))
    }
}

/// What an update writes; None: nothing else than what was there.
fn changed(update: Update, held: Interval, operand: Interval, expected: Interval) -> Option<Interval> {
    match update.operation {
        Operation::Fetch => None,
        Operation::Set => Some(operand),
        Operation::CompareSwap => held.may_be(Relation::Equal, expected).then_some(operand),
        Operation::Add => Some(held.plus(operand).wrapped(update.kind)),
        _ => Some(ANY),
    }
}

/// Lets `known` contain `arriving`, and more: a bound that moves goes on to the next landmark. So it comes to an end.
fn grow(analyses: &Analyses, known: &mut Interval, arriving: Interval) -> bool {
    if known.contains(arriving) {
        return false;
    }
    let landmarks = &analyses.landmarks;
    if arriving.low < known.low {
        let place = landmarks.partition_point(|&landmark| landmark <= arriving.low);
        known.low = place.checked_sub(1).map_or(LEAST, |place| landmarks[place]);
    }
    if arriving.high > known.high {
        let place = landmarks.partition_point(|&landmark| landmark < arriving.high);
        known.high = landmarks.get(place).copied().unwrap_or(GREATEST);
    }
    true
}
