//! The native kernel of pgasrob: the attack search over a program given as tables.
//!
//! It knows nothing of syntax, and nothing of happens-before beyond the rules of the search: a violation that it finds
//! is replayed by `pgasrob/semantics` before it is reported.

pub mod access;
pub mod ahead;
pub mod analyses;
pub mod barriers;
pub mod code;
pub mod commands;
pub mod facts;
pub mod graphs;
pub mod intern;
pub mod intervals;
pub mod layout;
pub mod liveness;
pub mod meanwhile;
pub mod memory;
pub mod merging;
pub mod moves;
pub mod operands;
pub mod persistent;
pub mod placement;
#[cfg(feature = "python")]
mod python;
pub mod races;
pub mod raw;
pub mod recorded;
pub mod reduction;
pub mod rounds;
pub mod rows;
pub mod search;
pub mod standstill;
pub mod state;
pub mod store;
pub mod symmetry;
pub mod tables;
pub mod touch;
pub mod traces;
pub mod updates;
pub mod visited;
pub mod world;
