//! The past of an event: for each rank how many of its events come before.
//!
//! A barrier comes after all that is before it in the run, and before all that is behind it. So a past is that of the
//! latest barrier, and what has come since from few ranks.

use std::sync::Arc;

use crate::memory::Result;

/// How many events of each rank there were at the latest barrier, itself included.
#[derive(Debug)]
pub struct Epoch {
    pub number: u32,
    pub counts: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct Clock {
    epoch: Arc<Epoch>,
    /// The counts of the ranks that have had events since, by ranks in ascending order.
    since: Arc<[(u32, u32)]>,
}

impl Clock {
    /// The past of what comes directly after the barrier of an epoch.
    pub fn at(epoch: Arc<Epoch>) -> Self {
        Clock { epoch, since: Arc::from([]) }
    }

    pub fn count(&self, rank: usize) -> u32 {
        match self.since.binary_search_by_key(&(rank as u32), |&(of, _)| of) {
            Ok(place) => self.since[place].1,
            Err(_) => self.epoch.counts[rank],
        }
    }

    pub fn epoch(&self) -> u32 {
        self.epoch.number
    }

    pub fn since(&self) -> &[(u32, u32)] {
        &self.since
    }

    /// Bytes that it holds for itself.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.since) + 2 * size_of::<usize>()
    }
}

/// A past that grows.
pub struct Past {
    epoch: Arc<Epoch>,
    since: Vec<(u32, u32)>,
}

impl Past {
    pub fn of(clock: &Clock) -> Result<Self> {
        Ok(Past { epoch: clock.epoch.clone(), since: crate::memory::copied(&clock.since)? })
    }

    /// Adds the events of `other`.
    pub fn join(&mut self, other: &Clock) -> Result<()> {
        if other.epoch.number < self.epoch.number {
            return Ok(());
        }
        if other.epoch.number > self.epoch.number {
            *self = Past::of(other)?;
            return Ok(());
        }
        if other.since.len() <= 4 {
            for &(rank, count) in other.since.iter() {
                self.raise(rank, count)?;
            }
            return Ok(());
        }
        let mine = std::mem::take(&mut self.since);
        self.since.try_reserve_exact(mine.len() + other.since.len())?;
        let (mut left, mut right) = (mine.iter().copied().peekable(), other.since.iter().copied().peekable());
        loop {
            let next = match (left.peek(), right.peek()) {
                (Some(&(one, first)), Some(&(another, second))) if one == another => {
                    left.next();
                    right.next();
                    (one, first.max(second))
                }
                (Some(&(one, first)), Some(&(another, _))) if one < another => {
                    left.next();
                    (one, first)
                }
                (_, Some(&other)) => {
                    right.next();
                    other
                }
                (Some(&own), None) => {
                    left.next();
                    own
                }
                (None, None) => return Ok(()),
            };
            self.since.push(next);
        }
    }

    /// Says that there are at least `count` events of `rank`.
    pub fn raise(&mut self, rank: u32, count: u32) -> Result<()> {
        match self.since.binary_search_by_key(&rank, |&(of, _)| of) {
            Ok(place) => self.since[place].1 = self.since[place].1.max(count),
            Err(place) => {
                self.since.try_reserve(1)?;
                self.since.insert(place, (rank, count));
            }
        }
        Ok(())
    }

    pub fn done(self) -> Clock {
        Clock { epoch: self.epoch, since: Arc::from(self.since) }
    }
}
