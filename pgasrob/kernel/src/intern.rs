//! Numbers for what is met on the way: values, and the places where the placement of steps is remembered.
//!
//! Neither is known before the search: a value may come from anywhere in 64 bits, a queue id from a register. Numbers
//! are given in the order of discovery and never change, so a record stays right when more are given.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::code::Value;
use crate::memory::{Budget, Error, Result, push};

/// The number of a value.
pub type ValueId = u32;

/// A fast hash of a value. Values come from the program, so nobody gains from making it collide.
#[derive(Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    }

    fn write_i128(&mut self, value: i128) {
        self.0 = (value as u64 ^ (value >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// All values met so far.
#[derive(Debug, Default)]
pub struct Values {
    /// No more numbers are given.
    frozen: bool,
    values: Vec<Value>,
    numbers: HashMap<Value, ValueId, BuildHasherDefault<Mixer>>,
}

impl Values {
    /// What a value costs in the map, roughly: key, number, control byte, at half load.
    const ENTRY: usize = 64;

    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// Becomes a copy of `other`, of which it was one before, and gives no numbers itself.
    pub fn follow(&mut self, other: &Values) -> Result<()> {
        self.frozen = true;
        for &value in &other.values[self.values.len()..] {
            self.values.try_reserve(1)?;
            self.numbers.try_reserve(1)?;
            self.numbers.insert(value, ValueId::try_from(self.values.len())?);
            self.values.push(value);
        }
        Ok(())
    }

    pub fn get(&self, id: ValueId) -> Value {
        self.values[id as usize]
    }

    pub fn number(&mut self, value: Value, budget: &mut Budget) -> Result<ValueId> {
        if let Some(&id) = self.numbers.get(&value) {
            return Ok(id);
        }
        if self.frozen {
            return Err(Error::Unnumbered);
        }
        let id = ValueId::try_from(self.values.len())?;
        budget.take(Self::ENTRY)?;
        self.numbers.try_reserve(1)?;
        push(&mut self.values, value, budget)?;
        self.numbers.insert(value, id);
        Ok(id)
    }
}

/// What is remembered of the steps of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its steps in a queue.
    Queue(u64),
    /// Its fenced steps in a queue to one target.
    Target(u64, u32),
    /// The steps of its latest bundle.
    Bundle,
    /// Its located steps to a cell.
    Location(usize),
}

/// The places in which some step has been delayed. A slot is the number of a place of a rank; its bits in the state
/// are those of [`bits`].
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// No more numbers are given.
    frozen: bool,
    of_rank: Vec<Vec<(Place, usize)>>,
    widths: Vec<u8>,
    /// The bits of the slots before each, and of all.
    starts: Vec<usize>,
    bits: usize,
}

/// The bits of a slot (`pgasrob/analysis/placement.py`, `Parts`, with parts 1 and 2 only).
pub mod bits {
    /// Of a queue: some step is delayed; a step that wait_local waits for is; a step of stage 0, 1, 2 is (FIFO only).
    pub const DELAYED: u8 = 1;
    pub const LOCAL_DELAYED: u8 = 2;
    pub const STAGE: [u8; 3] = [4, 8, 16];
    /// Of a target: a fenced step to it is delayed; a fence has made later ones come after that.
    pub const FENCED_DELAYED: u8 = 1;
    pub const FENCE_BOUND: u8 = 2;
    /// Of a bundle or a location: some step is delayed.
    pub const LATER: u8 = 1;
}

impl Slots {
    pub fn new(ranks: usize) -> Result<Self> {
        Ok(Slots {
            frozen: false,
            of_rank: crate::memory::filled(Vec::new(), ranks)?,
            widths: Vec::new(),
            starts: Vec::new(),
            bits: 0,
        })
    }

    pub fn count(&self) -> usize {
        self.widths.len()
    }

    /// Becomes a copy of `other`, of which it was one before, and gives no numbers itself.
    pub fn follow(&mut self, other: &Slots) {
        if self.count() != other.count() || !self.frozen {
            *self = other.clone();
            self.frozen = true;
        }
    }

    /// How many bits each slot has.
    pub fn widths(&self) -> &[u8] {
        &self.widths
    }

    /// The bits of all slots before a slot.
    pub fn start(&self, slot: usize) -> usize {
        self.starts[slot]
    }

    /// The bits of all slots.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The places of a rank that have slots.
    pub fn of_rank(&self, rank: usize) -> &[(Place, usize)] {
        &self.of_rank[rank]
    }

    pub fn find(&self, rank: usize, place: Place) -> Option<usize> {
        self.of_rank[rank].iter().find(|(known, _)| *known == place).map(|&(_, slot)| slot)
    }

    pub fn number(&mut self, rank: usize, place: Place, width: u8, budget: &mut Budget) -> Result<usize> {
        if let Some(slot) = self.find(rank, place) {
            return Ok(slot);
        }
        if self.frozen {
            return Err(Error::Unnumbered);
        }
        let slot = self.widths.len();
        push(&mut self.starts, self.bits, budget)?;
        push(&mut self.widths, width, budget)?;
        self.bits += width as usize;
        push(&mut self.of_rank[rank], (place, slot), budget)?;
        Ok(slot)
    }
}
