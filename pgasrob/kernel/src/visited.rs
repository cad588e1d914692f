//! The states that a search has stored: records of both classes, in the order of discovery.

use crate::layout::Layout;
use crate::memory::{Result, push};
use crate::state::State;
use crate::store::{Link, Store};
use crate::world::World;

/// The classes of records, by their number in a [`Link`].
pub const SC: usize = 0;
pub const ATTACK: usize = 1;

/// The state after e. It counts as a state and waits for its turn like any other.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its number in the order of discovery.
    pub number: usize,
    pub parent: Link,
}

/// What the search has stored so far.
#[derive(Debug)]
pub struct Visited {
    pub layout: Layout,
    pub stores: [Store; 2],
    /// How often the layout has changed.
    pub layouts: usize,
    /// The class of every state in the order of discovery, 64 to a word.
    classes: Vec<u64>,
    pub found: Option<Found>,
    /// The record of the state that is being expanded; empty when the layout has changed since.
    base: Vec<u8>,
    begun: bool,
    /// The packed form of a state, and a state to unpack records into while they are packed anew.
    record: Vec<u8>,
    unpacked: State,
}

impl Visited {
    /// Nothing stored; `unpacked` is any state.
    pub fn new(layout: Layout, unpacked: State) -> Self {
        Visited {
            stores: layout.bytes.map(Store::new),
            layout,
            layouts: 0,
            classes: Vec::new(),
            found: None,
            base: Vec::new(),
            begun: false,
            record: Vec::new(),
            unpacked,
        }
    }

    /// States stored so far, the one after e among them.
    pub fn count(&self) -> usize {
        self.stores[SC].count() + self.stores[ATTACK].count() + usize::from(self.found.is_some())
    }

    /// The class of a state.
    pub fn class(&self, number: usize) -> usize {
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
        if self.base.is_empty() {
            self.layout.pack(state, &world.slots, &mut self.record)
        } else {
            self.layout.patch(&self.base, self.begun, state, &world.slots, &mut self.record)
        }
    }

    /// Packs every record anew, in a layout with room for all values and slots there are.
    fn widen(&mut self, world: &mut World) -> Result<()> {
        self.base.clear();
        self.layouts += 1;
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

    /// Whether `state` is new; then it is stored.
    pub fn insert(&mut self, state: &State, parent: Link, world: &mut World) -> Result<bool> {
        self.pack(state, world)?;
        let record = std::mem::take(&mut self.record);
        let new = self.insert_record(usize::from(state.source.is_some()), &record, parent, world);
        self.record = record;
        new
    }

    pub fn insert_record(&mut self, class: usize, record: &[u8], parent: Link, world: &mut World) -> Result<bool> {
        let number = self.count();
        let new = self.stores[class].insert(record, parent, &mut world.budget)?;
        if new {
            self.classify(number, class, world)?;
        }
        Ok(new)
    }

    pub fn insert_found(&mut self, parent: Link, world: &mut World) -> Result<()> {
        if self.found.is_none() {
            let number = self.count();
            self.classify(number, SC, world)?;
            self.found = Some(Found { number, parent });
        }
        Ok(())
    }

    /// Loads a record whose state is going to be expanded.
    pub fn load_to_expand(&mut self, link: Link, world: &World, state: &mut State) -> Result<()> {
        self.load(link, world, state)?;
        self.base.clear();
        self.base.try_reserve(self.layout.bytes[1])?;
        self.base.extend_from_slice(self.stores[link.class()].record(link.index()));
        self.begun = link.class() == ATTACK;
        Ok(())
    }

    pub fn load(&self, link: Link, world: &World, state: &mut State) -> Result<()> {
        let record = self.stores[link.class()].record(link.index());
        self.layout.unpack(record, link.class() == ATTACK, self.layout.widths(), &world.slots, state)
    }
}
