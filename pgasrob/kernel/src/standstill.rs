//! States in which nothing changes any more: each rank stays where it is, or goes round a loop for ever
//! (`pgasrob/semantics/standstill.py`; `proofs/waiting.md`, section 6).

use std::collections::HashMap;
use std::sync::Arc;

use crate::barriers;
use crate::commands::Command;
use crate::graphs::{components, leading};
use crate::memory::{Result, append, copied, filled};
use crate::moves::Space;
use crate::operands::Operands;
use crate::rounds::{Configuration, Look, Round, Rounds, before_assumes_alone, configuration, enter_sorted, is_assume};
use crate::state::State;
use crate::tables::Tables;
use crate::world::World;

/// Combinations of rounds of which it is remembered whether they are a deadlock.
const MOST_KNOWN: usize = 50_000;

/// How a rank stays, the worst first: it waits; it goes round a loop; it is before false assumes alone; before an exit;
/// it goes round a loop that it may leave by ending, or for an assume that stops it, or that is meant to run for ever;
/// it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stay {
    Waits,
    Spins,
    Stopped,
    Exits,
    Free,
    Ended,
}

#[derive(Debug)]
pub struct Standstill {
    guesses: bool,
    rounds: Rounds,
    /// Whether ranks that may do this by themselves are in a deadlock, by the numbers of the rounds.
    known: HashMap<Vec<usize>, bool>,
    /// The rank by which the last state did not stay.
    last: usize,
}

impl Standstill {
    pub fn new(state: &State, guesses: bool) -> Result<Self> {
        Ok(Standstill { guesses, rounds: Rounds::new(state, guesses)?, known: HashMap::new(), last: 0 })
    }

    /// One that knows nothing yet.
    pub fn fork(&self, state: &State) -> Result<Self> {
        Standstill::new(state, self.guesses)
    }

    /// Whether there was too much to look at from some state, which was taken not to stay.
    pub fn undecided(&self) -> bool {
        self.rounds.undecided
    }

    /// Whether `state`, one of SC runs, stays as it is for ever, and is a deadlock then: a rank has not ended, by more
    /// than false assumes.
    pub fn is_deadlock(&mut self, look: Look<'_>, world: &mut World, state: &State) -> Result<bool> {
        let tables = look.space.tables;
        for rank in (self.last..tables.processes).chain(0..self.last) {
            if self.rounds.leaves(look, state, rank)? && moves(look.space, world, state, rank)? != Some(false) {
                self.last = rank;
                return Ok(false);
            }
        }
        let mut idle = filled(false, tables.processes)?;
        for (rank, idle) in idle.iter_mut().enumerate() {
            let Some(moves) = moves(look.space, world, state, rank)? else { return Ok(false) };
            *idle = !moves;
            if moves && !goes_round(tables, rank, state) {
                return Ok(false);
            }
        }
        let mut found: Vec<Option<Arc<Round>>> = filled(None, tables.processes)?;
        // Ranks that can move are the ones that may leave.
        for turn in [false, true] {
            for rank in (0..tables.processes).filter(|&rank| idle[rank] == turn) {
                let start = configuration(look, state, state, rank, &[])?;
                let Some(round) = self.rounds.round(look, world, state, rank, start, turn)? else { return Ok(false) };
                found[rank] = Some(round);
            }
        }
        let rounds: Vec<Arc<Round>> = found.into_iter().flatten().collect();
        let has = |process: usize, name: usize| names(tables, &rounds[process]).any(|its| its == name);
        let passes = |name: usize| tables.of_rank.iter().all(|threads| threads.iter().any(|&each| has(each, name)));
        if tables.of_rank[0].iter().flat_map(|&each| names(tables, &rounds[each])).any(passes) {
            if tables.has_threads() {
                // Threads that pass no barrier go on while others do, which is not followed.
                self.rounds.undecided |= rounds.iter().any(|round| !round.targets[0].is_empty());
                return Ok(false);
            }
            let stays = self.past_barriers(look, world, state, rounds)?;
            return Ok(stays.is_some_and(|stays| self.is_stuck(&stays)));
        }
        let mut key = Vec::new();
        for (round, &idle) in rounds.iter().zip(&idle) {
            append(&mut key, 2 * round.number + usize::from(idle))?;
        }
        let remembered = rounds.iter().all(|round| round.number > 0);
        if remembered && let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let stays = stays(tables, self.guesses, rounds, &idle)?;
        let is_stuck = stays.is_some_and(|stays| self.is_stuck(&stays));
        if remembered {
            if self.known.len() > MOST_KNOWN {
                self.known.clear();
            }
            self.known.try_reserve(1)?;
            self.known.insert(key, is_stuck);
        }
        Ok(is_stuck)
    }

    fn is_stuck(&self, stays: &[Stay]) -> bool {
        let some = |wanted| stays.contains(&wanted);
        (some(Stay::Waits) || some(Stay::Spins)) && !some(Stay::Exits) && !(self.guesses && some(Stay::Stopped))
    }

    /// How the ranks stay when they can pass a barrier from some of the configurations in `first`: in loops in which
    /// each cannot but come to the next barrier, again and again, if they can come back to where they are now.
    fn past_barriers(
        &mut self,
        look: Look<'_>,
        world: &mut World,
        base: &State,
        first: Vec<Arc<Round>>,
    ) -> Result<Option<Vec<Stay>>> {
        let tables = look.space.tables;
        let mut order: Vec<Arc<Vec<Configuration>>> = Vec::new();
        let mut numbers: HashMap<Arc<Vec<Configuration>>, usize> = HashMap::new();
        let mut starts = Vec::new();
        for round in &first {
            append(&mut starts, copied(&round.configurations[0])?)?;
        }
        number_of(starts, &mut numbers, &mut order)?;
        let (mut leads, mut whole) = (Vec::new(), Whole::new(tables)?);
        let mut phase = first;
        loop {
            let number = leads.len();
            for round in &phase {
                if !round.real().all(|each| round.arriving[each]) {
                    return Ok(None);
                }
            }
            let Some(after) = self.behind_barriers(look, base, &phase)? else { return Ok(None) };
            if !whole.add(tables, phase)? {
                return Ok(None);
            }
            let mut led = Vec::new();
            for starts in after {
                append(&mut led, number_of(starts, &mut numbers, &mut order)?)?;
            }
            append(&mut leads, led)?;
            if self.rounds.is_too_many(number + 1) {
                return Ok(None);
            }
            let Some(starts) = order.get(number + 1) else { break };
            phase = Vec::new();
            for (rank, start) in starts.iter().enumerate() {
                let start = copied(start)?;
                let Some(round) = self.rounds.round(look, world, base, rank, start, true)? else { return Ok(None) };
                append(&mut phase, round)?;
            }
        }
        let mut back = filled(true, leads.len())?;
        for (rank, rounds) in whole.rounds.iter().enumerate() {
            let now = whole.key(tables, rank, &rounds[0].configurations[0])?;
            for (back, round) in back.iter_mut().zip(rounds) {
                let mut found = false;
                for each in round.real() {
                    found |= whole.key(tables, rank, &round.configurations[each])? == now;
                }
                *back &= found;
            }
        }
        if leading(&leads, back)?.contains(&false) {
            return Ok(None);
        }
        let mut stays = Vec::new();
        for rank in 0..tables.processes {
            let mut parts = Vec::new();
            for round in &whole.rounds[rank] {
                append(&mut parts, (&**round, round.real().collect()))?;
            }
            let Some(stay) = whole.spinning(tables, self.guesses, rank, &parts)? else { return Ok(None) };
            append(&mut stays, stay)?;
        }
        Ok(Some(stays))
    }

    /// Where the ranks may be behind the next barrier; None when they may wait at different ones.
    fn behind_barriers(
        &mut self,
        look: Look<'_>,
        base: &State,
        phase: &[Arc<Round>],
    ) -> Result<Option<Vec<Vec<Configuration>>>> {
        let tables = look.space.tables;
        // The names that some ranks can share where they wait.
        let mut shared: Option<Vec<Vec<usize>>> = None;
        let mut arrivals: Vec<Vec<(usize, usize)>> = Vec::new();
        for round in phase {
            let (mut now, mut some): (Vec<Vec<usize>>, _) = (Vec::new(), Vec::new());
            for each in round.real() {
                if round.targets[each].is_empty() {
                    let names: Vec<usize> = round.arrivals[each].iter().filter_map(|&at| name_of(tables, at)).collect();
                    for before in shared.as_deref().unwrap_or(std::slice::from_ref(&names)) {
                        let common: Vec<usize> = names.iter().copied().filter(|name| before.contains(name)).collect();
                        if !now.contains(&common) {
                            append(&mut now, common)?;
                        }
                    }
                }
                for &transition in &round.arrivals[each] {
                    append(&mut some, (each, transition))?;
                }
            }
            shared = Some(now);
            append(&mut arrivals, some)?;
        }
        if shared.is_some_and(|shared| shared.iter().any(Vec::is_empty)) {
            return Ok(None);
        }
        let at = |rank: usize| {
            let named = |(place, &(_, at)): (usize, &(usize, usize))| Some((name_of(tables, at)?, place));
            arrivals[rank].iter().enumerate().filter_map(named)
        };
        let (mut found, mut number) = (Vec::new(), 0);
        while let Some(places) = barriers::nth(tables.processes, at, number as u64)? {
            if self.rounds.is_too_many(number) {
                return Ok(None);
            }
            number += 1;
            let mut starts = Vec::new();
            for (rank, (round, &place)) in phase.iter().zip(&places).enumerate() {
                let (each, transition) = arrivals[rank][place];
                append(&mut starts, self.rounds.behind(look, base, rank, &round.configurations[each], transition)?)?;
            }
            append(&mut found, starts)?;
        }
        Ok(Some(found))
    }
}

/// The number of where all ranks begin, a new one when it has not been met before.
fn number_of(
    starts: Vec<Configuration>,
    numbers: &mut HashMap<Arc<Vec<Configuration>>, usize>,
    order: &mut Vec<Arc<Vec<Configuration>>>,
) -> Result<usize> {
    if let Some(&known) = numbers.get(&starts) {
        return Ok(known);
    }
    let (number, starts) = (order.len(), Arc::new(starts));
    numbers.try_reserve(1)?;
    numbers.insert(starts.clone(), number);
    append(order, starts)?;
    Ok(number)
}

/// The rounds of all ranks, and what decides what the ranks do in them.
struct Whole {
    /// Those of each rank, one for each time between barriers.
    rounds: Vec<Vec<Arc<Round>>>,
    /// The registers that do, rank by rank, and the cells, which ascend.
    registers: Vec<bool>,
    cells: Vec<usize>,
    /// The cells of each rank that it uses, changes at some command, and whose values it changes; they ascend.
    touched: Vec<[Vec<usize>; 3]>,
    /// Whether the rank passes other data on to another one, or takes it from there.
    passes: Vec<bool>,
}

impl Whole {
    fn new(tables: &Tables) -> Result<Self> {
        Ok(Whole {
            rounds: filled(Vec::new(), tables.processes)?,
            registers: filled(false, tables.processes * tables.registers)?,
            cells: Vec::new(),
            touched: filled([Vec::new(), Vec::new(), Vec::new()], tables.processes)?,
            passes: filled(false, tables.processes)?,
        })
    }

    /// Adds a round of each rank; false when a rank changes what decides what another one does. There may be thousands:
    /// all of them are gone through again only where the new ones bring something new.
    fn add(&mut self, tables: &Tables, phase: Vec<Arc<Round>>) -> Result<bool> {
        let first = self.rounds[0].len();
        let mut new = first == 0;
        for ((known, rounds), round) in self.touched.iter_mut().zip(&mut self.rounds).zip(phase) {
            let size = |known: &[Vec<usize>; 3]| known.iter().map(Vec::len).sum::<usize>();
            let before = size(known);
            let [used, changed, changes] = known;
            for each in &round.commands {
                each.used.iter().try_for_each(|&cell| enter_sorted(used, cell))?;
                each.changed.iter().try_for_each(|&cell| enter_sorted(changed, cell))?;
            }
            round.changes.iter().try_for_each(|&cell| enter_sorted(changes, cell))?;
            new |= size(known) != before;
            append(rounds, round)?;
        }
        let mut more = self.more_decides(tables, first)?;
        new |= more;
        while more {
            more = self.more_decides(tables, 0)?;
        }
        Ok(!new || self.pass_on(tables.processes))
    }

    /// Notes which ranks pass data on; false when that decides something.
    fn pass_on(&mut self, nodes: usize) -> bool {
        let decides = |cell: &&usize| self.cells.binary_search(cell).is_ok();
        self.passes.fill(false);
        for one in 0..nodes {
            for other in (0..nodes).filter(|&other| other != one) {
                let (used, [_, changed, changes]) = (&self.touched[one][0], &self.touched[other]);
                if used.iter().filter(decides).any(|cell| changes.binary_search(cell).is_ok()) {
                    return false;
                }
                if used.iter().any(|cell| !decides(&cell) && changed.binary_search(cell).is_ok()) {
                    (self.passes[one], self.passes[other]) = (true, true);
                }
            }
        }
        true
    }

    /// Adds what decides something, in the rounds from the ``first`` one of each rank on, by what is known to; whether
    /// that was anything new (`pgasrob/program/deciding.py`).
    fn more_decides(&mut self, tables: &Tables, first: usize) -> Result<bool> {
        let mut new = false;
        for (rank, round) in
            self.rounds.iter().enumerate().flat_map(|(rank, rounds)| rounds[first..].iter().map(move |one| (rank, one)))
        {
            let own = rank * tables.registers;
            for each in &round.commands {
                let command = tables.command(each.transition);
                let (set, compares) = match command {
                    Command::Test { .. } => (None, true),
                    Command::Assign { register, .. } => (Some(*register), false),
                    Command::Immediate(immediate) => (immediate.register, immediate.condition.is_some()),
                    _ => (None, false),
                };
                let computes = compares
                    || set.is_some_and(|register| self.registers[own + register])
                    || each.changed.iter().any(|cell| self.cells.binary_search(cell).is_ok());
                for &(register, decides) in tables.uses(each.transition) {
                    if computes || decides {
                        new |= !std::mem::replace(&mut self.registers[own + register], true);
                    }
                }
                if computes {
                    let before = self.cells.len();
                    each.used.iter().try_for_each(|&cell| enter_sorted(&mut self.cells, cell))?;
                    new |= before != self.cells.len();
                }
            }
        }
        Ok(new)
    }

    /// What decides what `rank` does from a configuration on.
    fn key(&self, tables: &Tables, rank: usize, configuration: &[u32]) -> Result<Vec<u32>> {
        let (own, changed) = configuration.split_at(1 + tables.registers);
        let mut found = copied(own)?;
        for (value, &decides) in found[1..].iter_mut().zip(&self.registers[rank * tables.registers..]) {
            *value = if decides { *value } else { 0 };
        }
        let used = |cell: usize| {
            let mut commands = self.rounds[rank].iter().flat_map(|round| &round.commands);
            commands.any(|each| each.used.binary_search(&cell).is_ok()) && self.cells.binary_search(&cell).is_ok()
        };
        for pair in changed.chunks_exact(2).filter(|pair| used(pair[0] as usize)) {
            append(&mut found, pair[0])?;
            append(&mut found, pair[1])?;
        }
        Ok(found)
    }

    /// How `rank` stays: where it cannot get away from, the worst if there are several. It must be there now unless it
    /// is `idle`.
    fn stay(&self, tables: &Tables, guesses: bool, rank: usize, idle: bool) -> Result<Option<Stay>> {
        let round = &self.rounds[rank][0];
        if round.wrong[0] {
            return Ok((round.configurations.len() == 1).then_some(Stay::Stopped));
        }
        let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut of = Vec::new();
        for configuration in &round.configurations {
            let key = self.key(tables, rank, configuration)?;
            numbers.try_reserve(1)?;
            let count = numbers.len();
            append(&mut of, *numbers.entry(key).or_insert(count))?;
        }
        let mut leads: Vec<Vec<usize>> = filled(Vec::new(), numbers.len())?;
        for each in round.real() {
            for (target, _) in round.goes_to(each) {
                append(&mut leads[of[each]], of[target])?;
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
            let inside: Vec<usize> = round.real().filter(|&each| component[of[each]] == last).collect();
            let Some(&one) = inside.first() else { continue };
            let stay = if inside.iter().any(|&each| round.goes_to(each).next().is_some()) {
                let Some(stay) = self.spinning(tables, guesses, rank, &[(round, inside)])? else { return Ok(None) };
                stay
            } else {
                standing(tables, rank, round.control(one))
            };
            worst = Some(worst.map_or(stay, |worst: Stay| worst.min(stay)));
        }
        Ok(worst)
    }

    /// How a rank stays that goes round these configurations; None when it may end the run.
    fn spinning(
        &self,
        tables: &Tables,
        guesses: bool,
        rank: usize,
        parts: &[(&Round, Vec<usize>)],
    ) -> Result<Option<Stay>> {
        let mut free = false;
        let (mut places, mut ahead) = (Vec::new(), Vec::new());
        for (round, inside) in parts {
            for &each in inside {
                let leaving = tables.leaving(rank, round.control(each));
                let some = |wanted: fn(&Command) -> bool| leaving.clone().any(|at| wanted(tables.command(at)));
                if some(is_exit) {
                    return Ok(None);
                }
                enter_sorted(&mut places, round.control(each) as usize)?;
                for transition in leaving.clone() {
                    enter_sorted(&mut ahead, tables.transitions[transition].target as usize)?;
                }
                let possible = round.targets[each].len() + round.arrivals[each].len();
                let chooses = !guesses && some(is_assume) && !before_assumes_alone(tables, rank, round.control(each));
                free |= chooses && possible < leaving.count();
                let mut taken =
                    round.goes_to(each).map(|(_, transition)| transition).chain(round.arrivals[each].iter().copied());
                free |= taken.any(|transition| tables.transitions[transition].last);
            }
        }
        free |= self.passes[rank] && ahead.iter().all(|place| places.binary_search(place).is_ok());
        Ok(Some(if free { Stay::Free } else { Stay::Spins }))
    }
}

/// How each rank stays that can do this by itself, without barriers; None when it is no state that stays.
fn stays(tables: &Tables, guesses: bool, rounds: Vec<Arc<Round>>, idle: &[bool]) -> Result<Option<Vec<Stay>>> {
    let mut whole = Whole::new(tables)?;
    if !whole.add(tables, rounds)? {
        return Ok(None);
    }
    let mut stays = Vec::new();
    for (rank, &idle) in idle.iter().enumerate() {
        let Some(stay) = whole.stay(tables, guesses, rank, idle)? else { return Ok(None) };
        append(&mut stays, stay)?;
    }
    Ok(Some(stays))
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

/// How a rank stays at this control state, when it can issue none of the next commands.
fn standing(tables: &Tables, rank: usize, control: u32) -> Stay {
    let mut leaving = tables.leaving(rank, control);
    if leaving.is_empty() {
        Stay::Ended
    } else if leaving.any(|transition| is_exit(tables.command(transition))) {
        Stay::Exits
    } else if before_assumes_alone(tables, rank, control) {
        Stay::Stopped
    } else {
        Stay::Waits
    }
}

fn is_exit(command: &Command) -> bool {
    matches!(command, Command::Test { blocks: true, ends: true, .. })
}

fn name_of(tables: &Tables, transition: usize) -> Option<usize> {
    match *tables.command(transition) {
        Command::Barrier { name } => Some(name),
        _ => None,
    }
}

fn names<'a>(tables: &'a Tables, round: &'a Round) -> impl Iterator<Item = usize> + 'a {
    round.arrivals.iter().flatten().filter_map(|&transition| name_of(tables, transition))
}
