//! Breadth-first search for a state after e, with the facts of the SC runs that it passes.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use crate::ahead::{ALL, Met, Plan, Worker};
use crate::analyses::Reductions;
use crate::facts::{Facts, Seen, Standing, look_at};
use crate::layout::Layout;
use crate::memory::{Error, Result, copied, filled};
use crate::moves::{Move, PlayedMove, Space, Successor};
use crate::persistent::Persistent;
use crate::races::look::{self, Pair, Second};
use crate::races::rules::RawRules;
use crate::raw::Raw;
use crate::reduction::Reduction;
use crate::rounds::Look;
use crate::search::foresee::foresee;
use crate::search::paths::{Step, played};
use crate::standstill::Standstill;
use crate::state::State;
use crate::store::Link;
use crate::tables::Tables;
use crate::visited::{SC, Visited};
use crate::world::World;

pub mod foresee;
pub mod paths;

/// Barriers passed in one go: a state can have as many as there are combinations, and the caller wants to look around.
const BARRIERS: u64 = 4096;

/// States that wait for their turn when it is worthwhile to look ahead with several threads; how many of them are taken
/// on at a time, and by how many threads, at most.
const WORTHWHILE: usize = 256;
const TURNS: usize = 2048;
const MOST_THREADS: usize = 8;
const SLICE: Duration = Duration::from_millis(50);

/// How a search has come back: because it is over, it is its caller's turn, or it has taken its time.
#[derive(PartialEq, Eq)]
pub enum Came {
    Over,
    Back,
    Late,
}

/// States that are unpacked at a time, at most.
const UNPACKED: usize = 7;

/// A search that can be run a piece at a time.
#[derive(Debug)]
pub struct Search {
    tables: Tables,
    attack: bool,
    world: World,
    reduction: Reduction,
    persistent: Persistent,
    /// What is merged into the beginning.
    start: Step,
    visited: Visited,
    facts: Facts,
    standstill: Standstill,
    /// How many states have been expanded, in all and per class.
    expanded: usize,
    expanded_of: [usize; 2],
    /// Barriers passed of the state that is being expanded, once its other moves are done.
    barriers_passed: Option<u64>,
    transitions: u64,
    sc_transitions: u64,
    violated: bool,
    failure: Option<Error>,
    state: State,
    next: State,
    /// One for every thread; none where one thread does it all.
    workers: Vec<Worker>,
    threads: usize,
    /// States that threads work at together.
    turns: usize,
    races: Races,
}

/// A race, and the run to it: its places; the next commands of ranks, none where the last command of the run
/// stops at the second access.
#[derive(Clone, Debug)]
pub struct FoundRace {
    pub places: (usize, usize),
    pub run: Vec<PlayedMove>,
    pub standing: Vec<Standing>,
}

/// The races met so far, one for each pair of places.
#[derive(Debug, Default)]
struct Races {
    all: bool,
    found: Vec<FoundRace>,
    /// Some source conflicts with what is next, and that is no race.
    harmless: bool,
    look: look::Look,
}

impl Search {
    /// A search over the tables in `raw`; without `attack` over the SC runs alone, and then a fault ends it. `guesses`:
    /// whether assumes are those of a front end. `limit` bounds the bytes of what it stores.
    pub fn new(raw: &Raw, attack: bool, guesses: bool, on: Reductions, limit: Option<usize>) -> Result<Self> {
        Self::over(raw, Tables::new(raw)?, attack, guesses, on, limit)
    }

    /// A search for races by `rules`: for one, or for `all` of them. A fault ends it.
    pub fn for_races(raw: &Raw, rules: &RawRules, all: bool, on: Reductions, limit: Option<usize>) -> Result<Self> {
        let mut search = Self::over(raw, Tables::new(raw)?.with_rules(rules)?, true, false, on, limit)?;
        search.races.all = all;
        Ok(search)
    }

    fn over(
        raw: &Raw,
        tables: Tables,
        attack: bool,
        guesses: bool,
        on: Reductions,
        limit: Option<usize>,
    ) -> Result<Self> {
        let mut world = World::new(tables.processes, limit)?;
        world.budget.take(UNPACKED * State::bytes(&tables)?)?;
        let state = State::initial(&tables, &mut world)?;
        foresee(&tables, attack, &mut world)?;
        let mut next = state.duplicate()?;
        let mut reduction = Reduction::new(raw, &tables, on, &mut world, &state)?;
        let mut start = Step::default();
        let space = Space { tables: &tables, attack };
        reduction.normalise(space, &mut world, &mut next, None, Some(&mut start.run))?;
        start.places = reduction.places().map(copied).transpose()?;
        let layout = Layout::new(&tables, &reduction.analyses, &world.values, &world.slots)?;
        let mut visited = Visited::new(layout, state.duplicate()?);
        visited.insert(&next, Link::NONE, &mut world)?;
        let facts = Facts::new(&tables);
        let standstill = Standstill::new(&state, guesses)?;
        Ok(Search {
            tables,
            attack,
            world,
            reduction,
            persistent: Persistent::default(),
            start,
            visited,
            facts,
            standstill,
            expanded: 0,
            expanded_of: [0; 2],
            barriers_passed: None,
            transitions: 0,
            sc_transitions: 0,
            violated: false,
            failure: None,
            state,
            next,
            workers: Vec::new(),
            threads: 1,
            turns: TURNS,
            races: Races::default(),
        })
    }

    /// Lets `interrupted` say when to end, where one piece may take long. That is an error, and final like any other.
    pub fn heed(&mut self, interrupted: fn() -> bool) {
        self.world.budget.heed(interrupted);
    }

    /// Looks at up to `states` more states, until the search is over, one way or the other. An error is final.
    ///
    /// After some time it comes back with `states` left (`SLICE`), which changes nothing but when its caller can end it.
    pub fn run(&mut self, states: &mut usize) -> Result<Came> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let over = self.advance(states);
        if let Err(failure) = &over {
            self.failure = Some(failure.clone());
        }
        over
    }

    /// Lets so many threads work at it where that helps.
    pub fn think_ahead(&mut self, threads: usize) {
        self.threads = threads.min(MOST_THREADS);
    }

    fn advance(&mut self, states: &mut usize) -> Result<Came> {
        let begun = Instant::now();
        while !self.is_over() {
            if *states == 0 {
                return Ok(Came::Back);
            }
            let took = begun.elapsed();
            if took > SLICE {
                return Ok(Came::Late);
            }
            if self.visited.found.is_some_and(|found| found.number == self.expanded) {
                self.violated = true;
                return Ok(Came::Over);
            }
            let waiting = self.visited.count() - self.expanded;
            if self.threads > 1 && (*states).min(waiting) >= WORTHWHILE && self.barriers_passed.is_none() {
                let turns = (*states).min(waiting).min(self.turns);
                self.advance_together(turns)?;
                *states -= turns;
                self.turns = if begun.elapsed() - took > SLICE { WORTHWHILE } else { TURNS };
                continue;
            }
            *states -= 1;
            if !self.expand()? {
                return Ok(Came::Back);
            }
        }
        Ok(Came::Over)
    }

    fn is_over(&self) -> bool {
        let ends = !self.attack || self.tables.rules.is_some();
        let enough = !self.races.all && !self.races.found.is_empty();
        self.violated || enough || self.complete() || (ends && self.facts.fault.is_some())
    }

    /// Expands the next `turns` states, or as many as there are until the search is over or has to come back. What they
    /// lead to is worked out by all threads; what of it is new, in their order by this one.
    fn advance_together(&mut self, turns: usize) -> Result<()> {
        let mut links = Vec::new();
        links.try_reserve_exact(turns)?;
        let mut of_class = self.expanded_of;
        for number in self.expanded..self.expanded + turns {
            if self.visited.found.is_some_and(|found| found.number == number) {
                break;
            }
            let class = self.visited.class(number);
            links.push(Link::new(class, of_class[class]));
            of_class[class] += 1;
        }
        while self.workers.len() < self.threads {
            self.workers.try_reserve(1)?;
            self.workers.push(Worker::new(&self.world, &self.reduction, &self.state, &self.standstill)?);
        }
        let mut workers = std::mem::take(&mut self.workers);
        let done = self.take_turns(&mut workers, &links);
        self.workers = workers;
        done
    }

    fn take_turns(&mut self, workers: &mut [Worker], links: &[Link]) -> Result<()> {
        let left = &AtomicUsize::new(0);
        let (space, visited) = (Space { tables: &self.tables, attack: self.attack }, &self.visited);
        for worker in workers.iter_mut() {
            worker.catch_up(&self.world)?;
        }
        let deadlocks = self.facts.looks_for_deadlocks() && !self.standstill.undecided();
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut workers = workers.iter_mut();
            let own = workers.next();
            for worker in workers {
                threads.try_reserve(1)?;
                threads.push(
                    std::thread::Builder::new()
                        .spawn_scoped(scope, move || worker.look(space, visited, links, left, deadlocks))
                        .map_err(|_| Error::OutOfMemory)?,
                );
            }
            let mut done = own.map_or(Ok(()), |worker| worker.look(space, visited, links, left, deadlocks));
            for thread in threads {
                done = done.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            done
        })?;
        let mut place = filled((0, 0), links.len())?;
        for (number, worker) in workers.iter().enumerate() {
            worker.turns.iter().enumerate().for_each(|(plan, &turn)| place[turn] = (number, plan));
        }
        let layouts = self.visited.layouts;
        for (turn, &link) in links.iter().enumerate() {
            if self.is_over() {
                break;
            }
            let (number, plan) = place[turn];
            let worker = &workers[number];
            let plan = worker.plans[plan].clone();
            // Records of an old layout are of no use.
            let known = !plan.unknown && self.visited.layouts == layouts;
            let whole = if known { self.follow_plan(link, worker, plan)? } else { self.expand()? };
            if !whole {
                break;
            }
        }
        Ok(())
    }

    /// Expands the next state, of which it is known what it leads to.
    fn follow_plan(&mut self, link: Link, worker: &Worker, plan: Plan) -> Result<bool> {
        if let Some(seen) = plan.seen {
            self.learn(link, seen, false, plan.deadlock)?;
            if self.is_over() {
                return Ok(true);
            }
        }
        if plan.races && self.look_for_races_at(link)? {
            return Ok(true);
        }
        let mut fresh: Vec<Option<bool>> = filled(None, self.tables.processes)?;
        let set = &worker.sets[plan.set.0..plan.set.1];
        for &rank in set {
            fresh[rank] = Some(false);
        }
        for edge in &worker.edges[plan.edges.0..plan.edges.1] {
            self.transitions += 1;
            self.sc_transitions += u64::from(edge.sc);
            let new = match edge.met {
                Met::Found => {
                    self.visited.insert_found(link, &mut self.world)?;
                    false
                }
                Met::Dropped => true,
                Met::Known => false,
                Met::Record { class, start, end } => {
                    self.visited.insert_record(class, &worker.bytes[start..end], link, &mut self.world)?
                }
            };
            if edge.ordinary && new && edge.rank != ALL {
                fresh[edge.rank] = Some(true);
            }
        }
        if !set.is_empty() && !fresh.contains(&Some(true)) {
            // This set puts off what must not be put off for ever.
            self.visited.load_to_expand(link, &self.world, &mut self.state)?;
            self.next.mix();
            return self.expand_rest(link, fresh);
        }
        self.expanded += 1;
        self.expanded_of[link.class()] += 1;
        Ok(true)
    }

    /// Expands the next state; false when there are barriers left for another time.
    fn expand(&mut self) -> Result<bool> {
        let class = self.visited.class(self.expanded);
        let link = Link::new(class, self.expanded_of[class]);
        self.visited.load_to_expand(link, &self.world, &mut self.state)?;
        self.next.mix();
        if class == SC && self.barriers_passed.is_none() {
            let space = Space { tables: &self.tables, attack: self.attack };
            let seen = look_at(space, &mut self.world, &self.state)?;
            self.learn(link, seen, true, None)?;
            if self.is_over() {
                return Ok(true);
            }
        }
        if self.barriers_passed.is_none() && self.look_for_races(link)? {
            return Ok(true);
        }
        let fresh = filled(None, self.tables.processes)?;
        self.expand_rest(link, fresh)
    }

    /// Expands the state in `self.state`, some ranks of which may have been expanded already: `fresh` says of these
    /// whether an ordinary move led to something new.
    fn expand_rest(&mut self, link: Link, fresh: Vec<Option<bool>>) -> Result<bool> {
        let class = link.class();
        if self.barriers_passed.is_some() || !self.expand_commands(link, fresh)? {
            let mut passed = self.barriers_passed.unwrap_or(0);
            let Search { tables, attack, world, reduction, visited, state, next, .. } = self;
            let space = Space { tables, attack: *attack };
            let barriers = space.barriers(state);
            let until = barriers.min(passed.saturating_add(BARRIERS));
            while passed < until {
                space.pass_barrier(state, passed, next)?;
                if reduction.normalise(space, world, next, None, None)? {
                    visited.insert(next, link, world)?;
                }
                self.transitions += 1;
                self.sc_transitions += u64::from(class == SC);
                passed += 1;
            }
            if passed < barriers {
                self.barriers_passed = Some(passed);
                return Ok(false);
            }
        }
        self.barriers_passed = None;
        self.expanded += 1;
        self.expanded_of[class] += 1;
        Ok(true)
    }

    /// Stores what the commands of the state in `self.state` lead to; true when those of a few ranks were enough, so
    /// that neither other ranks nor barriers need to be looked at.
    fn expand_commands(&mut self, link: Link, mut fresh: Vec<Option<bool>>) -> Result<bool> {
        let nodes = self.tables.processes;
        if self.reduction.analyses.on.persistent {
            let space = Space { tables: &self.tables, attack: self.attack };
            self.persistent.look(space, &mut self.world, &self.state, &self.reduction.analyses)?;
            loop {
                let space = Space { tables: &self.tables, attack: self.attack };
                if !self.persistent.find(space, &self.world, &self.state, &self.reduction.analyses)? {
                    break;
                }
                let mut enough = false;
                for place in 0..self.persistent.set().len() {
                    let rank = self.persistent.set()[place];
                    let new = match fresh[rank] {
                        Some(new) => new,
                        None => self.expand_rank(rank, link)?,
                    };
                    fresh[rank] = Some(new);
                    enough |= new;
                }
                if enough {
                    return Ok(true);
                }
            }
        }
        for rank in (0..nodes).filter(|&rank| fresh[rank].is_none()) {
            self.expand_rank(rank, link)?;
        }
        Ok(false)
    }

    /// Stores what the commands of `rank` lead to; whether one that chooses no source led to something new. What can
    /// lead nowhere counts as new: it is no reason to look at other ranks.
    fn expand_rank(&mut self, rank: usize, link: Link) -> Result<bool> {
        let Search { tables, attack, world, reduction, visited, transitions, sc_transitions, state, next, .. } = self;
        let space = Space { tables, attack: *attack };
        let begun = state.source.is_some();
        let mut fresh = false;
        let mut visit = |world: &mut World, _: Move, successor: Successor<'_>| {
            *transitions += 1;
            match successor {
                Successor::Found => visited.insert_found(link, world)?,
                Successor::State(next) => {
                    *sc_transitions += u64::from(next.source.is_none());
                    let ordinary = next.source.is_some() == begun;
                    let kept = reduction.normalise(space, world, next, Some(rank), None)?;
                    let new = !kept || visited.insert(next, link, world)?;
                    fresh |= ordinary && new;
                }
            }
            Ok(ControlFlow::Continue(()))
        };
        let _ = space.commands(world, state, rank, next, &mut visit)?;
        Ok(fresh)
    }

    /// Looks for races in the state stored as `link`; true when the search is over.
    fn look_for_races_at(&mut self, link: Link) -> Result<bool> {
        self.visited.load(link, &self.world, &mut self.state)?;
        self.next.mix();
        self.look_for_races(link)
    }

    /// The same when it is in `self.state`.
    fn look_for_races(&mut self, link: Link) -> Result<bool> {
        let Some(rules) = &self.tables.rules else { return Ok(false) };
        let space = Space { tables: &self.tables, attack: self.attack };
        self.races.look.at(space, rules, &mut self.world, &self.state)?;
        self.races.harmless |= self.races.look.harmless;
        let pairs = std::mem::take(&mut self.races.look.pairs);
        for pair in &pairs {
            if !self.races.found.iter().any(|found| found.places == pair.places) {
                let found = self.race(link, pair)?;
                self.races.found.try_reserve(1)?;
                self.races.found.push(found);
            }
        }
        self.races.look.pairs = pairs;
        Ok(self.is_over())
    }

    /// The race of `pair` in the state stored as `link`, with its run.
    fn race(&mut self, link: Link, pair: &Pair) -> Result<FoundRace> {
        let (mut standing, mut last) = (Vec::new(), None);
        standing.try_reserve(2)?;
        standing.extend(pair.first);
        match pair.second {
            Second::Standing(second) => standing.push(second),
            Second::Step { standing: Standing { rank, transition }, now, steps } => {
                let step = played(Move { rank, transition, now, steps });
                last = Some(Step { run: vec![step], places: None });
            }
        }
        let (run, real) = self.run_to(link, last)?;
        for before in &mut standing {
            let rank = real[before.rank];
            *before = Standing { rank, transition: self.tables.counterpart(before.transition, before.rank, rank) };
        }
        Ok(FoundRace { places: pair.places, run, standing })
    }

    pub fn races(&self) -> &[FoundRace] {
        &self.races.found
    }

    /// Whether some source conflicts with what is next, and that is no race.
    pub fn meets_harmless(&self) -> bool {
        self.races.harmless
    }

    /// Notes what the SC state stored as `link` shows that was not known; it is in `self.state` if it is `loaded`, and
    /// may have been found to be a `deadlock` or none.
    fn learn(&mut self, link: Link, seen: Seen, loaded: bool, deadlock: Option<bool>) -> Result<()> {
        let news = self.facts.news(seen);
        if let Some(standing) = news.fault {
            self.facts.fault = Some(self.run_before(link, standing)?);
        }
        for (claim, standing) in news.failed {
            if !self.facts.failed.contains_key(&claim) {
                let run = self.run_before(link, standing)?;
                self.facts.failed.insert(claim, run);
            }
        }
        let known = deadlock.filter(|_| !self.standstill.undecided());
        if news.may_stay && known != Some(false) {
            if !loaded {
                self.visited.load(link, &self.world, &mut self.state)?;
                self.next.mix();
            }
            let Search { tables, attack, world, reduction, standstill, state, .. } = self;
            let look =
                Look { space: Space { tables, attack: *attack }, counts: &|cell| reduction.analyses.counts(cell) };
            if standstill.is_deadlock(look, world, state)? {
                self.facts.deadlock = Some(self.run_to(link, None)?.0);
            }
        }
        Ok(())
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// States stored so far, the one after e among them.
    pub fn states(&self) -> usize {
        self.visited.count()
    }

    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    pub fn sc_states(&self) -> usize {
        self.visited.stores[SC].count()
    }

    pub fn sc_transitions(&self) -> u64 {
        self.sc_transitions
    }

    /// Whether every state that can be reached has been expanded.
    pub fn complete(&self) -> bool {
        self.expanded == self.visited.count()
    }

    /// Whether every state of the SC runs has been expanded.
    pub fn sc_complete(&self) -> bool {
        self.expanded_of[SC] == self.sc_states() && !self.standstill.undecided()
    }

    /// Bytes of everything that grows with the search.
    pub fn memory(&self) -> usize {
        self.world.budget.used()
    }

    /// Bytes of a record without an attack, and with one.
    pub fn record_bytes(&self) -> [usize; 2] {
        self.visited.layout.bytes
    }
}
