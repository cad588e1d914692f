//! Breadth-first search for a state after e, with the facts of the SC runs that it passes.

use std::ops::ControlFlow;

use crate::facts::{Facts, Fault, look_at, registers};
use crate::memory::{Error, Result, push};
use crate::moves::{Move, Space, Successor, Told};
use crate::operands::World;
use crate::state::{Layout, State};
use crate::store::{Link, Store};
use crate::tables::Tables;

/// Barriers passed in one go: a state can have as many as there are combinations, and the caller wants to look around.
const BARRIERS: u64 = 4096;

/// States that are unpacked at a time, at most.
const UNPACKED: usize = 5;

/// The classes of records, by their number in a [`Link`].
const SC: usize = 0;
const ATTACK: usize = 1;

/// The state after e. It counts as a state and waits for its turn like any other.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Its number in the order of discovery.
    number: usize,
    parent: Link,
}

/// What the search has stored so far.
#[derive(Debug)]
struct Visited {
    layout: Layout,
    stores: [Store; 2],
    /// The class of every state in the order of discovery, 64 to a word.
    classes: Vec<u64>,
    found: Option<Found>,
    /// The packed form of a state, and a state to unpack records into while they are packed anew.
    record: Vec<u8>,
    unpacked: State,
}

impl Visited {
    fn len(&self) -> usize {
        self.stores[SC].count() + self.stores[ATTACK].count() + usize::from(self.found.is_some())
    }

    fn class(&self, number: usize) -> usize {
        (self.classes[number / 64] >> (number % 64) & 1) as usize
    }

    /// Notes the class of the state that is about to become number `len`.
    fn classify(&mut self, number: usize, class: usize, world: &mut World) -> Result<()> {
        if number / 64 == self.classes.len() {
            push(&mut self.classes, 0, &mut world.budget)?;
        }
        self.classes[number / 64] |= (class as u64) << (number % 64);
        Ok(())
    }

    /// Packs `state` into `self.record`, after making room for its values and slots.
    fn pack(&mut self, state: &State, world: &mut World) -> Result<()> {
        if !self.layout.fits(&world.values, &world.slots) {
            self.widen(world)?;
        }
        self.layout.pack(state, &world.slots, &mut self.record)
    }

    /// Packs every record anew, in a layout with room for all values and slots there are.
    fn widen(&mut self, world: &mut World) -> Result<()> {
        let Visited { layout, stores, unpacked, .. } = self;
        let widths = layout.widths();
        layout.grow(&world.values, &world.slots);
        let World { slots, budget, .. } = world;
        for (class, store) in stores.iter_mut().enumerate() {
            store.change(layout.bytes[class], budget, |before, after| {
                layout.unpack(before, class == ATTACK, widths, slots, unpacked)?;
                layout.pack(unpacked, slots, after)
            })?;
        }
        Ok(())
    }

    fn insert(&mut self, state: &State, parent: Link, world: &mut World) -> Result<()> {
        self.pack(state, world)?;
        let (class, number) = (usize::from(state.source.is_some()), self.len());
        if self.stores[class].insert(&self.record, parent, &mut world.budget)? {
            self.classify(number, class, world)?;
        }
        Ok(())
    }

    fn insert_found(&mut self, parent: Link, world: &mut World) -> Result<()> {
        if self.found.is_none() {
            let number = self.len();
            self.classify(number, SC, world)?;
            self.found = Some(Found { number, parent });
        }
        Ok(())
    }

    fn load(&self, link: Link, world: &World, state: &mut State) -> Result<()> {
        let record = self.stores[link.class()].record(link.index());
        self.layout.unpack(record, link.class() == ATTACK, self.layout.widths(), &world.slots, state)
    }
}

/// A search that can be run a piece at a time.
#[derive(Debug)]
pub struct Search {
    tables: Tables,
    attack: bool,
    world: World,
    visited: Visited,
    facts: Facts,
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
}

impl Search {
    /// A search over `tables`; without `attack` over the SC runs alone, and then a fault ends it. `limit` bounds the
    /// bytes of what it stores.
    pub fn new(tables: Tables, attack: bool, limit: Option<usize>) -> Result<Self> {
        let mut world = World::new(&tables, limit)?;
        world.budget.take(UNPACKED * State::bytes(&tables)?)?;
        let initial = State::initial(&tables, &mut world)?;
        let layout = Layout::new(&tables, &world.values, &world.slots)?;
        let mut visited = Visited {
            stores: layout.bytes.map(Store::new),
            layout,
            classes: Vec::new(),
            found: None,
            record: Vec::new(),
            unpacked: initial.duplicate()?,
        };
        visited.insert(&initial, Link::NONE, &mut world)?;
        let facts = Facts::new(&tables);
        let (state, next) = (initial.duplicate()?, initial);
        Ok(Search {
            tables,
            attack,
            world,
            visited,
            facts,
            expanded: 0,
            expanded_of: [0; 2],
            barriers_passed: None,
            transitions: 0,
            sc_transitions: 0,
            violated: false,
            failure: None,
            state,
            next,
        })
    }

    /// Looks at up to `states` more states; true when the search is over, one way or the other. An error is final.
    pub fn run(&mut self, states: usize) -> Result<bool> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let over = self.advance(states);
        if let Err(failure) = &over {
            self.failure = Some(failure.clone());
        }
        over
    }

    fn advance(&mut self, mut states: usize) -> Result<bool> {
        while !self.is_over() {
            if states == 0 {
                return Ok(false);
            }
            states -= 1;
            if self.visited.found.is_some_and(|found| found.number == self.expanded) {
                self.violated = true;
                return Ok(true);
            }
            if !self.expand()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.violated || self.complete() || (!self.attack && self.facts.fault.is_some())
    }

    /// Expands the next state; false when there are barriers left for another time.
    fn expand(&mut self) -> Result<bool> {
        let class = self.visited.class(self.expanded);
        let link = Link::new(class, self.expanded_of[class]);
        self.visited.load(link, &self.world, &mut self.state)?;
        if class == SC && self.barriers_passed.is_none() {
            self.learn(link)?;
            if self.is_over() {
                return Ok(true);
            }
        }
        let Search { tables, attack, world, visited, transitions, sc_transitions, state, next, .. } = self;
        let space = Space { tables, attack: *attack };
        let mut passed = match self.barriers_passed {
            Some(passed) => passed,
            None => {
                let mut visit = |world: &mut World, _: Move, successor: Successor<'_>| {
                    *transitions += 1;
                    match successor {
                        Successor::Found => visited.insert_found(link, world)?,
                        Successor::State(next) => {
                            *sc_transitions += u64::from(next.source.is_none());
                            visited.insert(next, link, world)?;
                        }
                    }
                    Ok(ControlFlow::Continue(()))
                };
                let _ = space.commands(world, state, next, &mut visit)?;
                0
            }
        };
        let barriers = space.barriers(state);
        let until = barriers.min(passed.saturating_add(BARRIERS));
        while passed < until {
            space.pass_barrier(state, passed, next)?;
            visited.insert(next, link, world)?;
            *transitions += 1;
            *sc_transitions += u64::from(class == SC);
            passed += 1;
        }
        if passed < barriers {
            self.barriers_passed = Some(passed);
            return Ok(false);
        }
        self.barriers_passed = None;
        self.expanded += 1;
        self.expanded_of[class] += 1;
        Ok(true)
    }

    /// Notes what the SC state in `self.state`, stored as `link`, shows that was not known.
    fn learn(&mut self, link: Link) -> Result<()> {
        let space = Space { tables: &self.tables, attack: self.attack };
        let news = self.facts.news(look_at(space, &mut self.world, &self.state)?);
        if let Some(standing) = news.fault {
            let registers = registers(&self.tables, &self.world, &self.state, standing.rank)?;
            self.facts.fault = Some(Fault { standing, registers, run: self.run_to(link)? });
        }
        if let Some(standing) = news.failed {
            self.facts.violated = Some((standing, self.run_to(link)?));
        }
        if news.deadlock {
            self.facts.deadlock = Some(self.run_to(link)?);
        }
        Ok(())
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// States stored so far, the one after e among them.
    pub fn states(&self) -> usize {
        self.visited.len()
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
        self.expanded == self.visited.len()
    }

    /// Whether every state of the SC runs has been expanded.
    pub fn sc_complete(&self) -> bool {
        self.expanded_of[SC] == self.sc_states()
    }

    /// Bytes of everything that grows with the search.
    pub fn memory(&self) -> usize {
        self.world.budget.used()
    }

    /// Bytes of a record without an attack, and with one.
    pub fn record_bytes(&self) -> [usize; 2] {
        self.visited.layout.bytes
    }

    /// The run to the violation, None before it is found. Its last move is e.
    pub fn violation(&mut self) -> Result<Option<Vec<Told>>> {
        match self.visited.found {
            Some(found) if self.violated => {
                let mut run = self.run_to(found.parent)?;
                let last = self.move_to(found.parent, None)?;
                push_told(&mut run, last)?;
                Ok(Some(run))
            }
            _ => Ok(None),
        }
    }

    /// The moves along the path by which a record was first reached.
    fn run_to(&mut self, link: Link) -> Result<Vec<Told>> {
        let (mut run, mut after) = (Vec::new(), link);
        loop {
            let before = self.visited.stores[after.class()].parent(after.index());
            if before == Link::NONE {
                run.reverse();
                return Ok(run);
            }
            let step = self.move_to(before, Some(after))?;
            push_told(&mut run, step)?;
            after = before;
        }
    }

    /// The first move from one record that leads to another, or to the state after e for None.
    ///
    /// Moves are not stored. A record is linked to the state that it was first reached from, by the first move there
    /// that reaches it; so this is the one.
    fn move_to(&mut self, before: Link, after: Option<Link>) -> Result<Told> {
        let Search { tables, world, visited, next, .. } = self;
        let space = Space { tables, attack: self.attack };
        // Not self.state: the state that is being expanded may have barriers left.
        let state = &mut next.duplicate()?;
        visited.load(before, world, state)?;
        let mut packed = Vec::new();
        let reaches = |world: &World, successor: &State, packed: &mut Vec<u8>| -> Result<bool> {
            let Some(after) = after else { return Ok(false) };
            if after.class() != usize::from(successor.source.is_some()) {
                return Ok(false);
            }
            visited.layout.pack(successor, &world.slots, packed)?;
            Ok(packed == visited.stores[after.class()].record(after.index()))
        };
        let mut taken = None;
        let mut visit = |world: &mut World, label: Move, successor: Successor<'_>| {
            let same = match successor {
                Successor::Found => after.is_none(),
                Successor::State(next) => reaches(world, next, &mut packed)?,
            };
            Ok(if same {
                taken = Some(label);
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        };
        if space.commands(world, state, next, &mut visit)?.is_continue() {
            for choice in 0..space.barriers(state) {
                space.pass_barrier(state, choice, next)?;
                if reaches(world, next, &mut packed)? {
                    taken = Some(Move::Barrier(choice));
                    break;
                }
            }
        }
        match taken {
            Some(Move::Command { rank, transition, now, steps }) => {
                Ok((Some(rank), vec![transition], (0..steps).map(|step| if step < now { 1 } else { 2 }).collect()))
            }
            Some(Move::Barrier(choice)) => Ok((None, space.barrier(state, choice)?, Vec::new())),
            None => Err(Error::Malformed("no move leads along the path of a state".into())),
        }
    }
}

fn push_told(run: &mut Vec<Told>, step: Told) -> Result<()> {
    run.try_reserve(1)?;
    run.push(step);
    Ok(())
}
