//! What the search may allocate: a budget, and growth that fails instead of aborting the process.

use std::fmt;

/// Why a search cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The allocator refused, or a number no longer fits its type.
    OutOfMemory,
    /// The memory limit of the caller, in bytes, would be exceeded.
    Limit(usize),
    /// The user wants it to end.
    Interrupted,
    /// A value or a slot has no number yet, and this is not the place to give it one.
    Unnumbered,
    /// The tables contradict themselves; says how.
    Malformed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::OutOfMemory => write!(f, "out of memory"),
            Error::Limit(bytes) => write!(f, "the memory limit of {bytes} bytes was reached"),
            Error::Interrupted => write!(f, "interrupted"),
            Error::Unnumbered => write!(f, "a value without a number"),
            Error::Malformed(how) => write!(f, "malformed tables: {how}"),
        }
    }
}

impl From<std::collections::TryReserveError> for Error {
    fn from(_: std::collections::TryReserveError) -> Self {
        Error::OutOfMemory
    }
}

impl From<std::num::TryFromIntError> for Error {
    fn from(_: std::num::TryFromIntError) -> Self {
        Error::OutOfMemory
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// The bytes in use by what grows with the search, and how many there may be. Whoever works on all of them at once asks
/// it now and then whether to go on.
#[derive(Debug)]
pub struct Budget {
    used: usize,
    limit: usize,
    interrupted: fn() -> bool,
}

impl Budget {
    pub fn new(limit: Option<usize>) -> Self {
        Budget { used: 0, limit: limit.unwrap_or(usize::MAX), interrupted: || false }
    }

    /// Lets `interrupted` say when to end.
    pub fn heed(&mut self, interrupted: fn() -> bool) {
        self.interrupted = interrupted;
    }

    /// An error when the user wants it to end.
    pub fn go_on(&self) -> Result<()> {
        if (self.interrupted)() { Err(Error::Interrupted) } else { Ok(()) }
    }

    pub fn used(&self) -> usize {
        self.used
    }

    /// Says that `bytes` more are about to be allocated.
    pub fn take(&mut self, bytes: usize) -> Result<()> {
        let used = self.used.checked_add(bytes).ok_or(Error::OutOfMemory)?;
        if used > self.limit {
            return Err(Error::Limit(self.limit));
        }
        self.used = used;
        Ok(())
    }

    /// Says that `bytes` have been freed.
    pub fn give(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// `count` times `item` in a new vector.
pub fn filled<T: Clone>(item: T, count: usize) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(count)?;
    items.resize(count, item);
    Ok(items)
}

/// The items of a list in a new vector.
pub fn copied<T: Copy>(items: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(items.len())?;
    copy.extend_from_slice(items);
    Ok(copy)
}

/// Appends `item` to what is needed for a moment, which no budget is charged for.
pub fn append<T>(items: &mut Vec<T>, item: T) -> Result<()> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}

/// Appends `item`, charging `budget` when the vector grows.
pub fn push<T>(items: &mut Vec<T>, item: T, budget: &mut Budget) -> Result<()> {
    if items.len() == items.capacity() {
        let before = items.capacity();
        let more = before.max(16);
        budget.take(more.checked_mul(size_of::<T>()).ok_or(Error::OutOfMemory)?)?;
        items.try_reserve_exact(more)?;
    }
    items.push(item);
    Ok(())
}
