//! The native kernel of pgasrob: the attack search over a program given as tables.
//!
//! It knows nothing of syntax, and nothing of happens-before beyond the rules of the search: a violation that it finds
//! is replayed by `pgasrob/semantics` before anybody is told.

pub mod code;
pub mod facts;
pub mod intern;
pub mod memory;
pub mod moves;
pub mod operands;
#[cfg(feature = "python")]
mod python;
pub mod search;
pub mod state;
pub mod store;
pub mod tables;
