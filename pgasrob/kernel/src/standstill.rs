//! States in which nothing changes any more: each rank stays where it is, or goes round a loop for ever
//! (`pgasrob/semantics/standstill.py`; `proofs/waiting.md`, section 6).

use std::collections::HashMap;

use crate::commands::Command;
use crate::graphs::{all_lead, components};
use crate::intern::ValueId;
use crate::memory::{Result, append, copied, filled};
use crate::moves::{Space, access_at_issue};
use crate::operands::Operands;
use crate::state::State;
use crate::tables::Tables;
use crate::touch;
use crate::world::World;

/// Configurations of one rank that are looked at from a state, and ways to pass barriers.
const MOST: usize = 4000;
/// The same once that was too few somewhere, so that it is open anyway whether there is a deadlock.
const MOST_AFTER: usize = 64;

/// How a rank stays, the worst first: it waits; it goes round a loop; it is before false assumes alone; before an exit;
/// it goes round a loop that it may leave by ending, or for an assume that stops it; it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stay {
    Waits,
    Spins,
    Stopped,
    Exits,
    Free,
    Ended,
}

/// A rank with the others standing still: its control state, its registers that count (0 for the others), and the cells
/// that it has changed, each with its value.
type Configuration = Vec<u32>;

/// Where a command leads, and whether the rank may end behind it.
#[derive(Clone, Copy, Debug)]
struct Way {
    to: usize,
    last: bool,
}

/// What a rank can do by itself, by configuration. The first one is where it begins.
#[derive(Debug, Default)]
struct Round {
    configurations: Vec<Configuration>,
    ways: Vec<Vec<Way>>,
    /// The transitions by which it passes barriers.
    arrivals: Vec<Vec<usize>>,
    /// How it would stay there if it could not move.
    standing: Vec<Stay>,
    exits: Vec<bool>,
    /// It has the choice there between an assume that is false and other commands.
    may_stop: Vec<bool>,
    /// An assume was a wrong guess, so that no run comes there.
    wrong: Vec<bool>,
    reads: Vec<usize>,
    changes: Vec<usize>,
}

/// What decides what a rank does from a configuration on.
type Key = Vec<u32>;

#[derive(Debug)]
pub struct Standstill {
    guesses: bool,
    current: State,
    next: State,
    /// Whether there was too much to look at from some state, which was taken not to stay.
    pub undecided: bool,
}

/// What looking at a state needs. `counts`: whether the value of a cell does.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub space: Space<'a>,
    pub counts: &'a dyn Fn(usize) -> bool,
}

impl Standstill {
    pub fn new(state: &State, guesses: bool) -> Result<Self> {
        Ok(Standstill { guesses, current: state.duplicate()?, next: state.duplicate()?, undecided: false })
    }

    /// Whether `state`, one of SC runs, stays as it is for ever, and is a deadlock then: a rank has not ended, by more
    /// than false assumes.
    pub fn is_deadlock(&mut self, look: Look<'_>, world: &mut World, state: &State) -> Result<bool> {
        let Some(stays) = self.stays(look, world, state)? else { return Ok(false) };
        let some = |wanted| stays.contains(&wanted);
        let stuck = some(Stay::Waits) || some(Stay::Spins);
        Ok(stuck && !some(Stay::Exits) && !(self.guesses && some(Stay::Stopped)))
    }

    /// How each rank stays; None when it is not a state that stays.
    fn stays(&mut self, look: Look<'_>, world: &mut World, state: &State) -> Result<Option<Vec<Stay>>> {
        let tables = look.space.tables;
        let mut idle = filled(false, tables.nodes)?;
        for (rank, idle) in idle.iter_mut().enumerate() {
            let Some(moves) = moves(look.space, world, state, rank)? else { return Ok(None) };
            *idle = !moves;
            if moves && !goes_round(tables, rank, state) {
                return Ok(None);
            }
        }
        self.current.copy(state)?;
        let mut rounds: Vec<Round> = Vec::new();
        for rank in 0..tables.nodes {
            let start = configuration(look, state, state, rank, &[])?;
            let Some(round) = self.round(look, world, state, rank, start)? else { return Ok(None) };
            if rounds.iter().any(|other| meet(&round, other)) {
                return Ok(None);
            }
            append(&mut rounds, round)?;
        }
        let passes = |name: usize| rounds.iter().all(|round| round.names(tables).contains(&name));
        if rounds[0].names(tables).into_iter().any(passes) {
            return self.past_barriers(look, world, state, rounds);
        }
        let mut stays = Vec::new();
        for (round, &idle) in rounds.iter().zip(&idle) {
            let Some(stay) = round.stay(tables, idle)? else { return Ok(None) };
            append(&mut stays, stay)?;
        }
        Ok(Some(stays))
    }

    /// Whether that was too many.
    fn is_too_many(&mut self, number: usize) -> bool {
        let too_many = number > if self.undecided { MOST_AFTER } else { MOST };
        self.undecided |= too_many;
        too_many
    }

    /// All that `rank` can do by itself from `start` on; None where it faults, or where that is too much.
    fn round(
        &mut self,
        look: Look<'_>,
        world: &mut World,
        base: &State,
        rank: usize,
        start: Configuration,
    ) -> Result<Option<Round>> {
        let tables = look.space.tables;
        let mut round = Round::default();
        let mut numbers: HashMap<Configuration, usize> = HashMap::new();
        numbers.try_reserve(1)?;
        numbers.insert(copied(&start)?, 0);
        append(&mut round.configurations, start)?;
        let mut number = 0;
        while number < round.configurations.len() {
            if self.is_too_many(number) {
                return Ok(None);
            }
            self.enter(tables, base, rank, &round.configurations[number])?;
            let before = cells_of(tables, &round.configurations[number])?;
            let leaving = tables.leaving(rank, self.current.control[rank]);
            let (mut ways, mut arrivals) = (Vec::new(), Vec::new());
            for transition in leaving.clone() {
                let Some(operands) = look.space.operands(world, &self.current, rank, transition)? else {
                    return Ok(None);
                };
                note_reads(&operands, &mut round.reads)?;
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
                append(&mut ways, Way { to, last: tables.transitions[transition].last })?;
            }
            let standing = standing(tables, leaving.clone());
            let stopped = standing == Stay::Stopped && ways.is_empty();
            append(&mut round.wrong, self.guesses && stopped)?;
            append(&mut round.exits, standing == Stay::Exits)?;
            let disabled = leaving.clone().count() > ways.len() + arrivals.len();
            let chooses = standing != Stay::Stopped && has_assumes(tables, leaving);
            append(&mut round.may_stop, !self.guesses && disabled && chooses)?;
            append(&mut round.standing, standing)?;
            append(&mut round.ways, ways)?;
            append(&mut round.arrivals, arrivals)?;
            number += 1;
        }
        round.leave_out_wrong_guesses();
        Ok(Some(round))
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

    /// How the ranks stay when they can pass a barrier from some of the configurations in `first`: in loops in which
    /// each cannot but come to the next barrier, again and again, if they can come back to where they are now.
    fn past_barriers(
        &mut self,
        look: Look<'_>,
        world: &mut World,
        base: &State,
        first: Vec<Round>,
    ) -> Result<Option<Vec<Stay>>> {
        let tables = look.space.tables;
        let mut order: Vec<Vec<Configuration>> = Vec::new();
        let mut starts = Vec::new();
        for round in &first {
            append(&mut starts, copied(&round.configurations[0])?)?;
        }
        append(&mut order, starts)?;
        let (mut phases, mut leads) = (Vec::new(), Vec::new());
        append(&mut phases, first)?;
        let mut number = 0;
        while number < order.len() {
            if self.is_too_many(number) {
                return Ok(None);
            }
            if number > 0 {
                let mut phase = Vec::new();
                let mut starts = Vec::new();
                for start in &order[number] {
                    append(&mut starts, copied(start)?)?;
                }
                for (rank, start) in starts.into_iter().enumerate() {
                    let Some(round) = self.round(look, world, base, rank, start)? else { return Ok(None) };
                    append(&mut phase, round)?;
                }
                append(&mut phases, phase)?;
            }
            if !phases[number].iter().all(Round::always_arrives) {
                return Ok(None);
            }
            let Some(after) = self.behind_barriers(look, base, &phases[number])? else {
                return Ok(None);
            };
            let mut led = Vec::new();
            for starts in after {
                let to = match order.iter().position(|known| *known == starts) {
                    Some(known) => known,
                    None => {
                        append(&mut order, starts)?;
                        order.len() - 1
                    }
                };
                append(&mut led, to)?;
            }
            append(&mut leads, led)?;
            number += 1;
        }
        let (mut reads, mut changes) = (filled(Vec::new(), tables.nodes)?, filled(Vec::new(), tables.nodes)?);
        for phase in &phases {
            for (rank, round) in phase.iter().enumerate() {
                for &cell in &round.reads {
                    enter_sorted(&mut reads[rank], cell)?;
                }
                for &cell in &round.changes {
                    enter_sorted(&mut changes[rank], cell)?;
                }
            }
        }
        for (rank, looked_at) in reads.iter().enumerate() {
            let meets = |changed: &Vec<usize>| looked_at.iter().any(|cell| changed.binary_search(cell).is_ok());
            if changes.iter().enumerate().any(|(other, changed)| other != rank && meets(changed)) {
                return Ok(None);
            }
        }
        let mut back = filled(false, phases.len())?;
        for (place, phase) in phases.iter().enumerate() {
            let mut comes_by = true;
            for (rank, round) in phase.iter().enumerate() {
                let now = key(tables, &phases[0][rank].configurations[0], &reads[rank])?;
                let mut found = false;
                for (configuration, &wrong) in round.configurations.iter().zip(&round.wrong) {
                    found |= !wrong && key(tables, configuration, &reads[rank])? == now;
                }
                comes_by &= found;
            }
            back[place] = comes_by;
        }
        if !all_lead(&leads, &back)? {
            return Ok(None);
        }
        let mut stays = filled(Stay::Spins, tables.nodes)?;
        for phase in &phases {
            for (rank, round) in phase.iter().enumerate() {
                let last = |&transition: &usize| tables.transitions[transition].last;
                for each in (0..round.configurations.len()).filter(|&each| !round.wrong[each]) {
                    if round.exits[each] {
                        return Ok(None);
                    }
                    if round.may_leave(each) || round.arrivals[each].iter().any(last) {
                        stays[rank] = Stay::Free;
                    }
                }
            }
        }
        Ok(Some(stays))
    }

    /// Where the ranks may be behind the next barrier; None when they may wait at different ones.
    fn behind_barriers(
        &mut self,
        look: Look<'_>,
        base: &State,
        phase: &[Round],
    ) -> Result<Option<Vec<Vec<Configuration>>>> {
        let (tables, nodes) = (look.space.tables, look.space.tables.nodes);
        let mut waiting: Vec<Vec<Vec<usize>>> = Vec::new();
        let mut arrivals: Vec<Vec<(usize, usize)>> = Vec::new();
        for round in phase {
            let (mut names, mut some) = (Vec::new(), Vec::new());
            for each in (0..round.configurations.len()).filter(|&each| !round.wrong[each]) {
                if round.ways[each].is_empty() {
                    let its = names_of(tables, &round.arrivals[each]);
                    if !names.contains(&its) {
                        append(&mut names, its)?;
                    }
                }
                for &transition in &round.arrivals[each] {
                    append(&mut some, (each, transition))?;
                }
            }
            append(&mut waiting, names)?;
            append(&mut arrivals, some)?;
        }
        let mut choice = filled(0, nodes)?;
        let mut number = 0;
        while waiting.iter().all(|names| !names.is_empty()) {
            number += 1;
            if self.is_too_many(number) {
                return Ok(None);
            }
            let at = |rank: usize| &waiting[rank][choice[rank]];
            if !at(0).iter().any(|name| (0..nodes).all(|rank| at(rank).contains(name))) {
                return Ok(None);
            }
            if !advance(&mut choice, |rank| waiting[rank].len()) {
                break;
            }
        }
        choice.fill(0);
        let (mut found, mut number) = (Vec::new(), 0);
        while arrivals.iter().all(|some| !some.is_empty()) {
            number += 1;
            if self.is_too_many(number) {
                return Ok(None);
            }
            let at = |rank: usize| arrivals[rank][choice[rank]];
            let names = (0..nodes).map(|rank| name_of(tables, at(rank).1));
            if names.clone().all(|name| name == names.clone().next().unwrap_or(None)) {
                let mut starts = Vec::new();
                for (rank, round) in phase.iter().enumerate() {
                    let (each, transition) = at(rank);
                    self.enter(tables, base, rank, &round.configurations[each])?;
                    self.current.set_control(rank, tables.transitions[transition].target)?;
                    let cells = cells_of(tables, &round.configurations[each])?;
                    append(&mut starts, configuration(look, base, &self.current, rank, &cells)?)?;
                }
                append(&mut found, starts)?;
            }
            if !advance(&mut choice, |rank| arrivals[rank].len()) {
                break;
            }
        }
        Ok(Some(found))
    }
}

impl Round {
    fn names(&self, tables: &Tables) -> Vec<usize> {
        self.arrivals.iter().flat_map(|arrivals| names_of(tables, arrivals)).collect()
    }

    /// What can only lead to wrong guesses is no run either, but where there is nothing else.
    fn leave_out_wrong_guesses(&mut self) {
        if !self.wrong.contains(&true) || self.wrong.len() == 1 {
            return;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for each in 0..self.ways.len() {
                let ways = &self.ways[each];
                let doomed =
                    !ways.is_empty() && self.arrivals[each].is_empty() && ways.iter().all(|way| self.wrong[way.to]);
                if doomed && !self.wrong[each] {
                    self.wrong[each] = true;
                    changed = true;
                }
            }
        }
    }

    /// Whether the rank may leave its loop there, by ending or for an assume that stops it.
    fn may_leave(&self, each: usize) -> bool {
        self.may_stop[each] || self.ways[each].iter().any(|way| way.last && !self.wrong[way.to])
    }

    /// Whether the rank cannot but come to a barrier, whatever it does.
    fn always_arrives(&self) -> bool {
        let mut arrives: Vec<bool> = self.arrivals.iter().map(|arrivals| !arrivals.is_empty()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for each in 0..arrives.len() {
                if !arrives[each] && self.ways[each].iter().any(|way| arrives[way.to]) {
                    arrives[each] = true;
                    changed = true;
                }
            }
        }
        arrives.iter().zip(&self.wrong).all(|(&arrives, &wrong)| arrives || wrong)
    }

    /// How the rank stays: where it cannot get away from, the worst if there are several. It must be there now unless it
    /// is `idle`.
    fn stay(&self, tables: &Tables, idle: bool) -> Result<Option<Stay>> {
        if self.wrong[0] {
            return Ok((self.configurations.len() == 1).then_some(Stay::Stopped));
        }
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let mut of = Vec::new();
        for configuration in &self.configurations {
            let key = key(tables, configuration, &self.reads)?;
            numbers.try_reserve(1)?;
            let count = numbers.len();
            append(&mut of, *numbers.entry(key).or_insert(count))?;
        }
        let real = || (0..self.configurations.len()).filter(|&each| !self.wrong[each]);
        let mut leads: Vec<Vec<usize>> = filled(Vec::new(), numbers.len())?;
        for each in real() {
            for way in self.ways[each].iter().filter(|way| !self.wrong[way.to]) {
                append(&mut leads[of[each]], of[way.to])?;
            }
        }
        let component = components(&leads)?;
        let mut left = filled(false, leads.len())?;
        for (node, targets) in leads.iter().enumerate() {
            left[component[node]] |= targets.iter().any(|&to| component[to] != component[node]);
        }
        if !idle && left[component[of[0]]] {
            return Ok(None);
        }
        let mut worst = None;
        for last in (0..leads.len()).filter(|&each| !left[each] && component.contains(&each)) {
            let inside = || real().filter(|&each| component[of[each]] == last);
            let moves = inside().any(|each| self.ways[each].iter().any(|way| !self.wrong[way.to]));
            let Some(one) = inside().next() else { continue };
            if moves && inside().any(|each| self.exits[each]) {
                return Ok(None);
            }
            let free = inside().any(|each| self.may_leave(each));
            let stay = if !moves {
                self.standing[one]
            } else if free {
                Stay::Free
            } else {
                Stay::Spins
            };
            worst = Some(worst.map_or(stay, |worst: Stay| worst.min(stay)));
        }
        Ok(worst)
    }
}

/// Whether a rank may come back to its control state without an end.
pub fn goes_round(tables: &Tables, rank: usize, state: &State) -> bool {
    state.control[rank] < tables.states[rank] && tables.endless[tables.control(rank, state.control[rank])]
}

/// Whether `rank` can issue a command by itself; None where it is before a fault.
fn moves(space: Space<'_>, world: &mut World, state: &State, rank: usize) -> Result<Option<bool>> {
    let mut moves = false;
    for transition in space.tables.leaving(rank, state.control[rank]) {
        let Some(operands) = space.operands(world, state, rank, transition)? else { return Ok(None) };
        moves |= !matches!(operands, Operands::Barrier { .. }) && space.enabled(world, state, rank, &operands)?;
    }
    Ok(Some(moves))
}

/// How a rank stays with these next commands, when it can issue none of them.
fn standing(tables: &Tables, leaving: std::ops::Range<usize>) -> Stay {
    let test = |transition: usize, wanted: bool| match tables.command(transition) {
        Command::Test { blocks: true, ends, .. } => *ends == wanted,
        _ => false,
    };
    if leaving.is_empty() {
        Stay::Ended
    } else if leaving.clone().any(|transition| test(transition, true)) {
        Stay::Exits
    } else if leaving.clone().all(|transition| test(transition, false)) {
        Stay::Stopped
    } else {
        Stay::Waits
    }
}

fn has_assumes(tables: &Tables, mut leaving: std::ops::Range<usize>) -> bool {
    leaving.any(|transition| matches!(tables.command(transition), Command::Test { blocks: true, ends: false, .. }))
}

/// The configuration of `rank` in `state`, in which some of the cells `changed`, which ascend, are not as in `base`.
fn configuration(look: Look<'_>, base: &State, state: &State, rank: usize, changed: &[usize]) -> Result<Configuration> {
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

/// What decides what a rank does from a configuration on: a value that it never reads does not.
fn key(tables: &Tables, configuration: &[u32], reads: &[usize]) -> Result<Key> {
    let (own, changed) = configuration.split_at(1 + tables.registers);
    let mut found: Vec<ValueId> = copied(own)?;
    for pair in changed.chunks_exact(2).filter(|pair| reads.binary_search(&(pair[0] as usize)).is_ok()) {
        append(&mut found, pair[0])?;
        append(&mut found, pair[1])?;
    }
    Ok(found)
}

/// Notes the cells that a command looks at.
fn note_reads(operands: &Operands<'_>, reads: &mut Vec<usize>) -> Result<()> {
    let mut note = |cell: usize, ways: touch::Ways| {
        if ways & !touch::WRITTEN != 0 { enter_sorted(reads, cell) } else { Ok(()) }
    };
    if let Some(access) = access_at_issue(operands) {
        note(access.cell, access.ways)?;
    }
    if let Operands::Transfer(transfer) = operands {
        for step in transfer.steps() {
            let access = transfer.access(step);
            note(access.cell, access.ways)?;
        }
    }
    Ok(())
}

fn enter_sorted(cells: &mut Vec<usize>, cell: usize) -> Result<()> {
    if let Err(place) = cells.binary_search(&cell) {
        cells.try_reserve(1)?;
        cells.insert(place, cell);
    }
    Ok(())
}

/// Whether one of two ranks looks at what the other one changes.
fn meet(one: &Round, other: &Round) -> bool {
    let looks = |its: &Round, at: &Round| its.reads.iter().any(|cell| at.changes.binary_search(cell).is_ok());
    looks(one, other) || looks(other, one)
}

fn name_of(tables: &Tables, transition: usize) -> Option<usize> {
    match *tables.command(transition) {
        Command::Barrier { name } => Some(name),
        _ => None,
    }
}

fn names_of(tables: &Tables, arrivals: &[usize]) -> Vec<usize> {
    arrivals.iter().filter_map(|&transition| name_of(tables, transition)).collect()
}

/// The next choice, that of the last rank varies fastest; false after the last one.
fn advance(choice: &mut [usize], count: impl Fn(usize) -> usize) -> bool {
    for rank in (0..choice.len()).rev() {
        choice[rank] += 1;
        if choice[rank] < count(rank) {
            return true;
        }
        choice[rank] = 0;
    }
    false
}
