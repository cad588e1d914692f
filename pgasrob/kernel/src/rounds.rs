//! What one rank can do by itself, with the other ranks standing still (`pgasrob/semantics/standstill.py`).

use std::collections::HashMap;
use std::sync::Arc;

use crate::commands::{Command, Phase};
use crate::graphs::{components, leading};
use crate::memory::{Result, append, copied, filled};
use crate::moves::{Space, access_at_issue};
use crate::operands::Operands;
use crate::state::State;
use crate::tables::Tables;
use crate::touch::{self, Ways};
use crate::world::World;

/// Configurations of one rank that are looked at from a state, and ways to pass barriers.
const MOST: usize = 4000;
/// The same once that was too few somewhere, so that it is open anyway whether there is a deadlock.
const MOST_AFTER: usize = 64;
/// Configurations that are remembered, and for each rank sets of cells whose values make them different.
const MOST_KNOWN: usize = 50_000;
const MOST_SETS: usize = 8;

/// A rank with the others standing still: its control state, its registers that count (0 for the others), and the cells
/// that it has changed, which ascend, each with its value.
pub type Configuration = Vec<u32>;

/// What a rank stands before, with the cells at which that may look, and that it may write; they ascend.
#[derive(Debug)]
pub struct Touching {
    pub transition: usize,
    pub used: Vec<usize>,
    pub changed: Vec<usize>,
}

/// What a rank can do by itself, by configuration. The first one is where it begins.
#[derive(Debug, Default)]
pub struct Round {
    pub rank: usize,
    /// Tells it from the other rounds that are remembered; 0 where it is not.
    pub number: usize,
    pub configurations: Vec<Configuration>,
    /// Where it leads, and by which transitions.
    pub targets: Vec<Vec<usize>>,
    pub taken: Vec<Vec<usize>>,
    /// The transitions by which it passes barriers.
    pub arrivals: Vec<Vec<usize>>,
    /// An assume was a wrong guess, so that no run comes there.
    pub wrong: Vec<bool>,
    /// The configurations from which the rank comes to a barrier.
    pub arriving: Vec<bool>,
    pub commands: Vec<Touching>,
    /// The cells whose values it changes.
    pub changes: Vec<usize>,
}

/// What looking at a state needs. `counts`: whether the value of a cell does.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub space: Space<'a>,
    pub counts: &'a dyn Fn(usize) -> bool,
}

/// What is known of a configuration: the rank comes to where it cannot come back from; there is too much to look at, or
/// a fault; all that it can do.
#[derive(Debug)]
enum Known {
    Leaves,
    Open,
    Round(Arc<Round>),
}

/// Finds rounds, and remembers them.
#[derive(Debug)]
pub struct Rounds {
    guesses: bool,
    current: State,
    next: State,
    /// Whether there was too much to look at from some state, which was taken not to stay.
    pub undecided: bool,
    sets: Vec<Vec<Vec<usize>>>,
    known: HashMap<Vec<u32>, Known>,
    count: usize,
    /// Scratch: a key of `known`.
    key: Vec<u32>,
}

impl Rounds {
    pub fn new(state: &State, guesses: bool) -> Result<Self> {
        Ok(Rounds {
            guesses,
            current: state.duplicate()?,
            next: state.duplicate()?,
            undecided: false,
            sets: filled(Vec::new(), state.control.len())?,
            known: HashMap::new(),
            count: 0,
            key: Vec::new(),
        })
    }

    /// Whether that was too many.
    pub fn is_too_many(&mut self, number: usize) -> bool {
        let too_many = number > if self.undecided { MOST_AFTER } else { MOST };
        self.undecided |= too_many;
        too_many
    }

    /// All that `rank` can do by itself from `start` on, where it stands in `base` but for the cells that it has changed.
    /// None when it may end in a fault, when it is too much, and where it need not come back to its place, if it may not
    /// go `away`.
    pub fn round(
        &mut self,
        look: Look<'_>,
        world: &mut World,
        base: &State,
        rank: usize,
        start: Configuration,
        away: bool,
    ) -> Result<Option<Arc<Round>>> {
        let tables = look.space.tables;
        let as_in_base = start.len() == 1 + tables.registers;
        match self.recall(tables, base, rank, &start)? {
            Some(Known::Open) => return Ok(None),
            Some(Known::Leaves) if !away => return Ok(None),
            Some(Known::Round(round)) if as_in_base => return Ok(Some(Arc::clone(round))),
            _ => {}
        }
        let mut round = Round { rank, number: if as_in_base { self.count + 1 } else { 0 }, ..Round::default() };
        append(&mut round.configurations, start)?;
        if !self.follow(look, world, base, &mut round)? {
            let done = round.targets.len();
            let mut open = filled(true, round.configurations.len())?;
            open[..done].fill(false);
            let mut open = leading(&round.targets, open)?;
            open.truncate(done);
            self.remember(tables, base, &round, &open, || Known::Open)?;
            return Ok(None);
        }
        let leaving = round.leaving()?;
        let kept = self.remember(tables, base, &round, &leaving, || Known::Leaves)?;
        if leaving[0] && !away {
            return Ok(None);
        }
        if !as_in_base || !kept {
            round.number = 0;
            return Ok(Some(Arc::new(round)));
        }
        self.count += 1;
        let round = Arc::new(round);
        self.remember(tables, base, &round, &[true], || Known::Round(Arc::clone(&round)))?;
        Ok(Some(round))
    }

    /// Whether it is known that `rank` comes to where it cannot come back from.
    pub fn leaves(&mut self, look: Look<'_>, state: &State, rank: usize) -> Result<bool> {
        if self.sets[rank].is_empty() {
            return Ok(false);
        }
        let start = configuration(look, state, state, rank, &[])?;
        Ok(matches!(self.recall(look.space.tables, state, rank, &start)?, Some(Known::Leaves)))
    }

    /// What is known of a configuration of `rank`.
    fn recall(&mut self, tables: &Tables, base: &State, rank: usize, configuration: &[u32]) -> Result<Option<&Known>> {
        for (number, cells) in self.sets[rank].iter().enumerate() {
            enter_key(&mut self.key, tables, base, (rank, number), cells, configuration)?;
            if self.known.contains_key(&self.key) {
                return Ok(self.known.get(&self.key));
            }
        }
        Ok(None)
    }

    /// Notes what is `known` of the configurations `of` a round, by the cells that it touches; whether there was room.
    fn remember(
        &mut self,
        tables: &Tables,
        base: &State,
        round: &Round,
        of: &[bool],
        known: impl Fn() -> Known,
    ) -> Result<bool> {
        let (mut cells, sets) = (Vec::new(), &mut self.sets[round.rank]);
        for each in &round.commands {
            for &cell in each.used.iter().chain(&each.changed) {
                enter_sorted(&mut cells, cell)?;
            }
        }
        let number = match sets.iter().position(|set| *set == cells) {
            Some(number) => number,
            None if sets.len() == MOST_SETS => return Ok(false),
            None => {
                append(sets, cells)?;
                sets.len() - 1
            }
        };
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
        let cells = &self.sets[round.rank][number];
        for (configuration, _) in round.configurations.iter().zip(of).filter(|&(_, &of)| of) {
            self.known.try_reserve(1)?;
            enter_key(&mut self.key, tables, base, (round.rank, number), cells, configuration)?;
            self.known.insert(copied(&self.key)?, known());
        }
        Ok(true)
    }

    /// Completes `round`, which has the configuration that the rank begins in; false where it faults, or that is too much.
    fn follow(&mut self, look: Look<'_>, world: &mut World, base: &State, round: &mut Round) -> Result<bool> {
        let (tables, rank) = (look.space.tables, round.rank);
        let mut numbers: HashMap<Configuration, usize> = HashMap::new();
        numbers.try_reserve(1)?;
        numbers.insert(copied(&round.configurations[0])?, 0);
        self.current.mix();
        let mut number = 0;
        while number < round.configurations.len() {
            if self.is_too_many(number) {
                return Ok(false);
            }
            self.enter(tables, base, rank, &round.configurations[number])?;
            let before = cells_of(tables, &round.configurations[number])?;
            let (mut targets, mut taken, mut arrivals) = (Vec::new(), Vec::new(), Vec::new());
            for transition in tables.leaving(rank, self.current.control[rank]) {
                let Some(operands) = look.space.operands(world, &self.current, rank, transition)? else {
                    return Ok(false);
                };
                round.touch(transition, &operands)?;
                if matches!(operands, Operands::Barrier { .. }) {
                    append(&mut arrivals, transition)?;
                    continue;
                }
                if !look.space.issue_alone(world, &self.current, rank, transition, &operands, &mut self.next)? {
                    continue;
                }
                let mut cells = copied(&before)?;
                for cell in self.next.changed_cells() {
                    enter_sorted(&mut cells, cell)?;
                    if self.next.memory[cell] != self.current.memory[cell] {
                        enter_sorted(&mut round.changes, cell)?;
                    }
                }
                let after = configuration(look, base, &self.next, rank, &cells)?;
                let to = match numbers.get(&after) {
                    Some(&known) => known,
                    None => {
                        numbers.try_reserve(1)?;
                        numbers.insert(copied(&after)?, round.configurations.len());
                        append(&mut round.configurations, after)?;
                        round.configurations.len() - 1
                    }
                };
                append(&mut targets, to)?;
                append(&mut taken, transition)?;
            }
            let stopped = targets.is_empty() && before_assumes_alone(tables, rank, self.current.control[rank]);
            append(&mut round.wrong, self.guesses && stopped)?;
            append(&mut round.targets, targets)?;
            append(&mut round.taken, taken)?;
            append(&mut round.arrivals, arrivals)?;
            number += 1;
        }
        round.leave_out_wrong_guesses();
        round.arriving = round.comes_to_barriers()?;
        Ok(true)
    }

    /// The configuration of `rank` behind a barrier that it passes by `transition`.
    pub fn behind(
        &mut self,
        look: Look<'_>,
        base: &State,
        rank: usize,
        before: &[u32],
        transition: usize,
    ) -> Result<Configuration> {
        let tables = look.space.tables;
        self.current.mix();
        self.enter(tables, base, rank, before)?;
        self.current.set_control(rank, tables.transitions[transition].target)?;
        configuration(look, base, &self.current, rank, &cells_of(tables, before)?)
    }

    /// Makes `current` the state with `rank` in a configuration.
    fn enter(&mut self, tables: &Tables, base: &State, rank: usize, configuration: &[u32]) -> Result<()> {
        let registers = tables.registers;
        self.current.reset(base)?;
        self.current.set_control(rank, configuration[0])?;
        for (index, &value) in configuration[1..=registers].iter().enumerate() {
            self.current.set_register(rank * registers + index, value)?;
        }
        for pair in configuration[1 + registers..].chunks_exact(2) {
            self.current.set_cell(pair[0] as usize, pair[1])?;
        }
        self.next.mix();
        Ok(())
    }
}

impl Round {
    /// The configurations that are no wrong guesses.
    pub fn real(&self) -> impl Iterator<Item = usize> {
        (0..self.configurations.len()).filter(|&each| !self.wrong[each])
    }

    pub fn control(&self, each: usize) -> u32 {
        self.configurations[each][0]
    }

    /// Where real configurations lead that are none.
    pub fn goes_to(&self, each: usize) -> impl Iterator<Item = (usize, usize)> {
        let way = self.targets[each].iter().copied().zip(self.taken[each].iter().copied());
        way.filter(|&(target, _)| !self.wrong[target])
    }

    fn comes_to_barriers(&self) -> Result<Vec<bool>> {
        let mut at_barriers = filled(false, self.configurations.len())?;
        for each in self.real() {
            at_barriers[each] = !self.arrivals[each].is_empty();
        }
        leading(&self.targets, at_barriers)
    }

    /// The configurations from which the rank comes to a control state from which it cannot come back, whatever decides
    /// what it does, and to no barrier.
    fn leaving(&self) -> Result<Vec<bool>> {
        let mut controls: Vec<u32> = Vec::new();
        for configuration in &self.configurations {
            if let Err(place) = controls.binary_search(&configuration[0]) {
                controls.try_reserve(1)?;
                controls.insert(place, configuration[0]);
            }
        }
        let place = |each: usize| controls.binary_search(&self.control(each)).unwrap_or(0);
        let mut leads = filled(Vec::new(), controls.len())?;
        for (each, targets) in self.targets.iter().enumerate() {
            for &target in targets {
                enter_sorted(&mut leads[place(each)], place(target))?;
            }
        }
        let component = components(&leads)?;
        let mut leaving = filled(false, self.configurations.len())?;
        for (each, targets) in self.targets.iter().enumerate() {
            leaving[each] = targets.iter().any(|&to| !self.wrong[to] && component[place(to)] != component[place(each)]);
        }
        // From those that lead there, too: what other configurations at its place may do does not count.
        let mut leaving = leading(&self.targets, leaving)?;
        for (each, &arrives) in self.arriving.iter().enumerate() {
            leaving[each] &= !arrives && !self.wrong[each];
        }
        Ok(leaving)
    }

    /// Notes that the rank stands before a command, whether it can be issued or not.
    fn touch(&mut self, transition: usize, operands: &Operands<'_>) -> Result<()> {
        let place = match self.commands.binary_search_by_key(&transition, |each| each.transition) {
            Ok(place) => place,
            Err(place) => {
                self.commands.try_reserve(1)?;
                self.commands.insert(place, Touching { transition, used: Vec::new(), changed: Vec::new() });
                place
            }
        };
        let found = &mut self.commands[place];
        let mut note = |cell: usize, ways: Ways, gives: bool| {
            if ways & !touch::WRITTEN != 0 || gives {
                enter_sorted(&mut found.used, cell)?;
            }
            if ways & touch::CHANGED != 0 { enter_sorted(&mut found.changed, cell) } else { Ok(()) }
        };
        if let Some(access) = access_at_issue(operands) {
            note(access.cell, access.ways, false)?;
        }
        if let Operands::Transfer(transfer) = operands {
            // The old value goes to the result.
            let gives = transfer.steps().iter().any(|step| step.phase == Phase::Result);
            for step in transfer.steps() {
                let access = transfer.access(step);
                note(access.cell, access.ways, gives && step.phase == Phase::Destination)?;
            }
        }
        Ok(())
    }

    /// What can only lead to wrong guesses is no run either, but where there is nothing else.
    fn leave_out_wrong_guesses(&mut self) {
        if !self.wrong.contains(&true) || self.wrong.len() == 1 {
            return;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for each in 0..self.targets.len() {
                let targets = &self.targets[each];
                let doomed = !targets.is_empty() && self.arrivals[each].is_empty();
                if doomed && !self.wrong[each] && targets.iter().all(|&target| self.wrong[target]) {
                    self.wrong[each] = true;
                    changed = true;
                }
            }
        }
    }
}

/// Whether a rank has nothing but assumes before it.
pub fn before_assumes_alone(tables: &Tables, rank: usize, control: u32) -> bool {
    let mut leaving = tables.leaving(rank, control);
    !leaving.is_empty() && leaving.all(|transition| is_assume(tables.command(transition)))
}

pub fn is_assume(command: &Command) -> bool {
    matches!(command, Command::Test { blocks: true, ends: false, .. })
}

/// The configuration of `rank` in `state`, in which some of the cells `changed`, which ascend, are not as in `base`.
pub fn configuration(
    look: Look<'_>,
    base: &State,
    state: &State,
    rank: usize,
    changed: &[usize],
) -> Result<Configuration> {
    let tables = look.space.tables;
    let mut found = filled(0, 1 + tables.registers)?;
    found[0] = state.control[rank];
    for &register in tables.kept(rank, state.control[rank]) {
        found[1 + register] = state.registers[rank * tables.registers + register];
    }
    for &cell in changed {
        if state.memory[cell] != base.memory[cell] && (look.counts)(cell) {
            append(&mut found, u32::try_from(cell)?)?;
            append(&mut found, state.memory[cell])?;
        }
    }
    Ok(found)
}

/// The cells that a configuration has changed.
fn cells_of(tables: &Tables, configuration: &[u32]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for pair in configuration[1 + tables.registers..].chunks_exact(2) {
        append(&mut found, pair[0] as usize)?;
    }
    Ok(found)
}

/// Enters what decides what a rank does from a configuration on; its set of cells, which ascend, has a number.
fn enter_key(
    found: &mut Vec<u32>,
    tables: &Tables,
    base: &State,
    (rank, number): (usize, usize),
    cells: &[usize],
    configuration: &[u32],
) -> Result<()> {
    let (own, changed) = configuration.split_at(1 + tables.registers);
    found.clear();
    found.try_reserve(2 + own.len() + cells.len())?;
    found.extend([u32::try_from(rank)?, u32::try_from(number)?]);
    found.extend_from_slice(own);
    let mut pairs = changed.chunks_exact(2).peekable();
    for &cell in cells {
        while pairs.next_if(|pair| (pair[0] as usize) < cell).is_some() {}
        let own = pairs.peek().filter(|pair| pair[0] as usize == cell);
        found.push(own.map_or(base.memory[cell], |pair| pair[1]));
    }
    Ok(())
}

pub fn enter_sorted(items: &mut Vec<usize>, item: usize) -> Result<()> {
    if let Err(place) = items.binary_search(&item) {
        items.try_reserve(1)?;
        items.insert(place, item);
    }
    Ok(())
}
