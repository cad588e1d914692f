//! In which ways cells are touched, as bits (`proofs/attack.md`).
//!
//! The lower half is for what is not delayed, t, and the upper one for the steps in D, d. In each there is a bit for
//! reads, one for writes, and one for every kind of update that commutes with its own.

pub type Ways = u64;
pub const READ: Ways = 1;
pub const WRITTEN: Ways = 2;
/// Kinds of updates there may be, so that a number of 63 bits has them all.
pub const KINDS: usize = 29;
const HALF: u32 = 32;
/// All ways, not delayed.
pub const ALL: Ways = (1 << (KINDS + 2)) - 1;
/// Those that change the cell.
pub const CHANGED: Ways = ALL & !READ;

/// The way of the updates of a kind.
pub fn updated(kind: usize) -> Ways {
    4 << kind
}

/// The same ways, of steps in D.
pub fn delayed(ways: Ways) -> Ways {
    ways << HALF
}

/// The ways that conflict with an access of these `ways`, of which one is to commute, if any.
pub fn against(ways: Ways) -> Ways {
    if ways & !(READ | WRITTEN) != 0 {
        ALL & !ways
    } else if ways & WRITTEN != 0 {
        ALL
    } else {
        CHANGED
    }
}
