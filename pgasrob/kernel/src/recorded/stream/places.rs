//! What the addresses of ranks are (`pgasrob/recording/memory_places.py`).

use std::collections::BTreeMap;

pub const SHIFT: u32 = 48;
pub const ADDRESSES: u64 = 1 << SHIFT;
const SYMMETRIC: u8 = 1;
const STATIC: u8 = 2;
const WINDOW: u8 = 3;
pub const BUFFER: u8 = 4;
const OF_ANOTHER: u8 = 5;

/// Why a trace is left to the reader in Python, which says what is wrong with it, if anything is.
pub type Sure<T> = Result<T, &'static str>;

#[derive(Clone, Debug)]
pub struct Region {
    pub number: u64,
    pub kind: u8,
    pub address: u64,
    pub bytes: u64,
    pub identity: u64,
    pub rank: i64,
    pub remote: u64,
    /// The first address of the place that it is, if it is one of all ranks.
    pub place: u64,
}

impl Region {
    fn has(&self, address: u64) -> bool {
        self.address <= address && address < self.address + self.bytes.max(1)
    }

    /// Of the regions that have an address the least counts.
    fn order(&self) -> (u8, u64, u64) {
        let kind = match self.kind {
            STATIC => 0,
            SYMMETRIC => 1,
            WINDOW => 3,
            _ => 2,
        };
        (kind, self.address, self.number)
    }
}

#[derive(Default)]
struct Memory {
    /// All but buffers, in the order in which they began.
    regions: Vec<Region>,
    /// By address and number their bytes.
    buffers: BTreeMap<(u64, u64), u64>,
    addresses: std::collections::HashMap<u64, u64>,
    longest: u64,
    /// The first address of its private memory.
    private: u64,
}

/// An address of a rank as whose memory it is, and where there.
pub type At = (u32, u64);

pub struct Places {
    ranks: Vec<Memory>,
}

impl Places {
    /// `private`: the place of each rank's private memory.
    pub fn new(private: &[u64]) -> Self {
        let memory = |&place: &u64| Memory { private: place << SHIFT, ..Memory::default() };
        Places { ranks: private.iter().map(memory).collect() }
    }

    pub fn begin(&mut self, rank: usize, region: Region) -> Sure<()> {
        let memory = &mut self.ranks[rank];
        if memory.addresses.contains_key(&region.number)
            || memory.regions.iter().any(|each| each.number == region.number)
        {
            return Err("a region that is there already");
        }
        if region.kind == BUFFER {
            memory.addresses.insert(region.number, region.address);
            memory.longest = memory.longest.max(region.bytes.max(1));
            memory.buffers.insert((region.address, region.number), region.bytes.max(1));
        } else {
            memory.regions.push(region);
        }
        Ok(())
    }

    /// Whether it was a buffer.
    pub fn end(&mut self, rank: usize, number: u64) -> bool {
        let memory = &mut self.ranks[rank];
        if let Some(address) = memory.addresses.remove(&number) {
            memory.buffers.remove(&(address, number));
            return true;
        }
        memory.regions.retain(|each| each.number != number);
        false
    }

    /// The buffer that an address lies in, by its order among regions.
    fn buffer(&self, rank: usize, address: u64) -> Option<(u8, u64, u64)> {
        let memory = &self.ranks[rank];
        let first = address.saturating_sub(memory.longest);
        let found =
            memory.buffers.range((first, 0)..=(address, u64::MAX)).find(|((at, _), bytes)| at + *bytes > address);
        found.map(|(&(at, number), _)| (2, at, number))
    }

    fn region(&self, rank: usize, address: u64) -> Option<&Region> {
        self.ranks[rank].regions.iter().filter(|each| each.has(address)).min_by_key(|each| each.order())
    }

    /// The region that is not a buffer, if that is where an address lies, and whether it lies in any.
    fn found(&self, rank: usize, address: u64) -> (Option<&Region>, bool) {
        match (self.region(rank, address), self.buffer(rank, address)) {
            (Some(region), Some(buffer)) if buffer < region.order() => (None, true),
            (None, buffer) => (None, buffer.is_some()),
            (region, _) => (region, true),
        }
    }

    /// None for memory that does not matter.
    pub fn at(&self, rank: usize, address: u64) -> Sure<Option<At>> {
        let (region, inside) = self.found(rank, address);
        let Some(region) = region else {
            return Ok(inside.then(|| (rank as u32, self.ranks[rank].private | address)));
        };
        let offset = address - region.address;
        if region.kind == OF_ANOTHER {
            let owner = region.rank as usize;
            return Ok(Some((owner as u32, self.symmetric(rank, region.remote + offset)?)));
        }
        Ok(Some((rank as u32, region.place | offset)))
    }

    /// Where a symmetric address of a rank is in all of them.
    pub fn symmetric(&self, rank: usize, address: u64) -> Sure<u64> {
        match self.found(rank, address) {
            (Some(region), _) if region.kind == SYMMETRIC || region.kind == STATIC => {
                Ok(region.place | (address - region.address))
            }
            _ => Err("memory that is not symmetric"),
        }
    }

    /// Where so many bytes after the beginning of a window are at a rank.
    pub fn in_window(&self, target: usize, window: u64, offset: u64) -> Sure<u64> {
        let memory = &self.ranks[target];
        let of = |each: &&Region| each.kind == WINDOW && each.identity == window && offset < each.bytes;
        let region = memory.regions.iter().find(of).ok_or("memory outside a window")?;
        let at = self.at(target, region.address + offset)?.ok_or("memory outside a window")?;
        Ok(at.1)
    }

    /// Where an address is among what its rank alone accesses, or its own part of what all do.
    pub fn local(&self, rank: usize, address: u64) -> Sure<u64> {
        Ok(match self.at(rank, address)? {
            Some((owner, at)) if owner as usize == rank => at,
            _ => self.ranks[rank].private | address,
        })
    }

    pub fn is_private(&self, rank: usize, at: u64) -> bool {
        at & !(ADDRESSES - 1) == self.ranks[rank].private
    }

    /// Whether private memory there may have been changed by what is not recorded.
    pub fn may_have_changed(&self, rank: usize, address: u64) -> Sure<bool> {
        let at = self.at(rank, address)?;
        let local = self.local(rank, address)?;
        if at.is_some_and(|at| at != (rank as u32, local)) || !self.is_private(rank, local) {
            return Ok(false);
        }
        let (region, inside) = self.found(rank, address);
        let in_buffer = inside && region.is_none();
        Ok(self.ranks[rank].buffers.len() <= usize::from(in_buffer))
    }

    /// Whether every region has all addresses from `first` to `last`, or none of them.
    pub fn is_uniform(&self, rank: usize, first: u64, last: u64) -> bool {
        let memory = &self.ranks[rank];
        let whole = |address: u64, bytes: u64| {
            let (end, inside) = (address + bytes, address <= first && last < address + bytes);
            inside || last < address || end <= first
        };
        let low = first.saturating_sub(memory.longest);
        memory.regions.iter().all(|each| whole(each.address, each.bytes.max(1)))
            && memory.buffers.range((low, 0)..=(last, u64::MAX)).all(|(&(at, _), &bytes)| whole(at, bytes))
    }
}
