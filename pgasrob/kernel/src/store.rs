//! The visited set: packed records of one size in arenas, found through an open-addressing table.
//!
//! Records are stored whole and compared whole, so a hash that collides costs time and nothing else. Each carries the
//! link to the record it was first reached from. Records are numbered in the order of insertion.

use crate::memory::{Budget, Error, Result};

/// A record of one of the two classes: its number times two, plus one for the class with an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link(u32);

impl Link {
    /// Where the initial state was reached from.
    pub const NONE: Link = Link(u32::MAX);
    const BYTES: usize = size_of::<u32>();
    /// The greatest number of records for which links differ from each other and from `NONE`.
    const RECORDS: usize = (1 << 31) - 1;

    pub fn new(class: usize, index: usize) -> Self {
        Link((index as u32) << 1 | class as u32)
    }

    pub fn class(self) -> usize {
        (self.0 & 1) as usize
    }

    pub fn index(self) -> usize {
        (self.0 >> 1) as usize
    }
}

/// Bytes of an arena, at most, unless a single record needs more.
const ARENA: usize = 1 << 16;

/// Records looked at between two questions whether to go on.
const LOOK_AROUND: usize = 1 << 16;

#[derive(Debug)]
pub struct Store {
    /// Bytes of a record without its link.
    width: usize,
    arenas: Vec<Vec<u8>>,
    /// An arena holds 2^shift records.
    shift: u32,
    count: usize,
    /// Open addressing, linear probing: the number of a record, and a byte of its hash that is 0 in an empty place.
    numbers: Vec<u32>,
    tags: Vec<u8>,
}

impl Store {
    pub fn new(width: usize) -> Self {
        Store { width, arenas: Vec::new(), shift: shift_for(width), count: 0, numbers: Vec::new(), tags: Vec::new() }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn record(&self, index: usize) -> &[u8] {
        &self.entry(index)[..self.width]
    }

    /// Where the record was first reached from.
    pub fn parent(&self, index: usize) -> Link {
        let mut link = [0; Link::BYTES];
        link.copy_from_slice(&self.entry(index)[self.width..]);
        Link(u32::from_le_bytes(link))
    }

    fn entry(&self, index: usize) -> &[u8] {
        let size = self.width + Link::BYTES;
        let start = (index & ((1 << self.shift) - 1)) * size;
        &self.arenas[index >> self.shift][start..start + size]
    }

    /// Whether `record` is new; then it is stored, first reached from `parent`.
    #[inline]
    pub fn insert(&mut self, record: &[u8], parent: Link, budget: &mut Budget) -> Result<bool> {
        if record.len() != self.width {
            return Err(Error::Malformed("a record of another size".into()));
        }
        if (self.count + 1) * 4 > self.tags.len() * 3 {
            self.enlarge(budget)?;
        }
        let hash = hash(record);
        let place = self.find(hash, |index| self.record(index) == record);
        if self.tags[place] != 0 {
            return Ok(false);
        }
        let index = self.append(record, parent, budget)?;
        self.tags[place] = tag(hash);
        self.numbers[place] = index;
        Ok(true)
    }

    pub fn contains(&self, record: &[u8]) -> bool {
        !self.tags.is_empty() && self.tags[self.find(hash(record), |index| self.record(index) == record)] != 0
    }

    /// The place of a record with this hash that is the `same`, or the empty place where it belongs.
    fn find(&self, hash: u64, same: impl Fn(usize) -> bool) -> usize {
        let mask = self.tags.len() - 1; // a power of two, and never full
        let tag = tag(hash);
        let mut place = hash as usize & mask;
        while self.tags[place] != 0 && !(self.tags[place] == tag && same(self.numbers[place] as usize)) {
            place = (place + 1) & mask;
        }
        place
    }

    fn append(&mut self, record: &[u8], parent: Link, budget: &mut Budget) -> Result<u32> {
        if self.count >= Link::RECORDS {
            return Err(Error::OutOfMemory);
        }
        if self.count >> self.shift == self.arenas.len() {
            let size = (self.width + Link::BYTES).checked_shl(self.shift).ok_or(Error::OutOfMemory)?;
            budget.take(size + size_of::<Vec<u8>>())?;
            let mut arena = Vec::new();
            arena.try_reserve_exact(size)?;
            self.arenas.try_reserve(1)?;
            self.arenas.push(arena);
        }
        // The arena has the capacity for all its records, so this neither moves nor allocates.
        let arena = &mut self.arenas[self.count >> self.shift];
        arena.extend_from_slice(record);
        arena.extend_from_slice(&parent.0.to_le_bytes());
        self.count += 1;
        Ok((self.count - 1) as u32)
    }

    fn enlarge(&mut self, budget: &mut Budget) -> Result<()> {
        let places = (self.tags.len() * 2).max(64);
        const PLACE: usize = size_of::<u32>() + 1;
        // The records have all that it takes to build a table, so the old one can go first.
        budget.give(self.tags.len() * PLACE);
        (self.tags, self.numbers) = (Vec::new(), Vec::new());
        budget.take(places.checked_mul(PLACE).ok_or(Error::OutOfMemory)?)?;
        self.tags = crate::memory::filled(0, places)?;
        self.numbers = crate::memory::filled(0, places)?;
        self.number_all(budget)
    }

    /// Enters all records into an empty table.
    fn number_all(&mut self, budget: &Budget) -> Result<()> {
        for index in 0..self.count {
            if index % LOOK_AROUND == LOOK_AROUND - 1 {
                budget.go_on()?;
            }
            let hash = hash(self.record(index));
            let place = self.find(hash, |_| false);
            self.tags[place] = tag(hash);
            self.numbers[place] = index as u32;
        }
        Ok(())
    }

    /// Gives every record a new form of `width` bytes: `change` writes it. Numbers and links stay as they are. After an
    /// error the records are of no use any more.
    pub fn change(
        &mut self,
        width: usize,
        budget: &mut Budget,
        mut change: impl FnMut(&[u8], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let old = std::mem::replace(self, Store::new(width));
        let size = old.width + Link::BYTES;
        let mut record = Vec::new();
        for arena in old.arenas {
            budget.go_on()?;
            for entry in arena.chunks_exact(size) {
                let (before, parent) = entry.split_at(old.width);
                change(before, &mut record)?;
                if record.len() != width {
                    return Err(Error::Malformed("a record of another size".into()));
                }
                let mut link = [0; Link::BYTES];
                link.copy_from_slice(parent);
                self.append(&record, Link(u32::from_le_bytes(link)), budget)?;
            }
            budget.give(arena.capacity() + size_of::<Vec<u8>>());
        }
        (self.tags, self.numbers) = (old.tags, old.numbers);
        self.tags.fill(0);
        if self.tags.is_empty() { Ok(()) } else { self.number_all(budget) }
    }
}

fn shift_for(width: usize) -> u32 {
    (ARENA / (width + Link::BYTES)).max(1).ilog2()
}

/// A byte of the hash that the place does not depend on, never 0.
fn tag(hash: u64) -> u8 {
    (hash >> 56) as u8 | 1
}

/// A fast hash of bytes, word by word; how good it is decides nothing but speed.
fn hash(record: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(FACTOR);
        mixed ^ mixed >> 29
    };
    let (words, rest) = record.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = words.iter().fold(FACTOR, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(mix(hash, u64::from_le_bytes(last)), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(None)
    }

    #[test]
    fn every_record_is_stored_once_and_found_again() {
        let (mut store, mut budget) = (Store::new(3), budget());
        for round in 0..2 {
            for number in 0..100_000_u32 {
                let new = store.insert(&number.to_le_bytes()[..3], Link::new(1, number as usize / 2), &mut budget);
                assert_eq!(new, Ok(round == 0));
            }
        }
        assert_eq!(store.count(), 100_000);
        for number in [0, 1, 9_361, 9_362, 99_999] {
            assert_eq!(store.record(number), &(number as u32).to_le_bytes()[..3]);
            assert_eq!((store.parent(number).class(), store.parent(number).index()), (1, number / 2));
        }
    }

    #[test]
    fn records_may_be_empty_or_larger_than_an_arena() {
        let (mut store, mut budget) = (Store::new(0), budget());
        assert_eq!(store.insert(&[], Link::NONE, &mut budget), Ok(true));
        assert_eq!(store.insert(&[], Link::NONE, &mut budget), Ok(false));
        assert_eq!(store.parent(0), Link::NONE);
        let mut store = Store::new(2 * ARENA);
        for byte in [1, 2, 1, 3] {
            store.insert(&vec![byte; 2 * ARENA], Link::NONE, &mut budget).unwrap();
        }
        assert_eq!(store.count(), 3);
        assert_eq!(store.record(2)[ARENA], 3);
    }

    #[test]
    fn records_change_their_form_and_keep_their_numbers() {
        let (mut store, mut budget) = (Store::new(2), budget());
        for number in 0..20_000_u16 {
            store.insert(&number.to_le_bytes(), Link::new(0, number as usize), &mut budget).unwrap();
        }
        let widen = |before: &[u8], after: &mut Vec<u8>| {
            after.clear();
            after.extend_from_slice(before);
            after.extend_from_slice(&[7, 7, 7]);
            Ok(())
        };
        store.change(5, &mut budget, widen).unwrap();
        assert_eq!(store.count(), 20_000);
        assert_eq!(store.record(4_660), &[0x34, 0x12, 7, 7, 7]);
        assert_eq!(store.parent(4_660).index(), 4_660);
        assert_eq!(store.insert(&[0x34, 0x12, 7, 7, 7], Link::NONE, &mut budget), Ok(false));
        assert_eq!(store.insert(&[0x34, 0x12, 7, 7, 8], Link::NONE, &mut budget), Ok(true));
        let arenas: usize = store.arenas.iter().map(|arena| arena.capacity() + size_of::<Vec<u8>>()).sum();
        assert_eq!(budget.used(), arenas + store.tags.len() * 5);
    }

    #[test]
    fn the_limit_is_kept() {
        let (mut store, mut budget) = (Store::new(4), Budget::new(Some(1 << 20)));
        let full = (0..u32::MAX).find_map(|number| store.insert(&number.to_le_bytes(), Link::NONE, &mut budget).err());
        assert_eq!(full, Some(Error::Limit(1 << 20)));
        assert!(budget.used() <= 1 << 20 && store.count() > 20_000);
    }

    #[test]
    fn a_record_of_another_size_is_refused() {
        assert!(Store::new(3).insert(&[1, 2], Link::NONE, &mut budget()).is_err());
    }
}
