//! The search for races: SC runs in which operations stop (`pgasrob/reference/race_search.py`, `proofs/races.md`).
//!
//! It is the search for a violation without the cycle: the source is a step that stays pending, nothing is tainted, and
//! in every state the accesses that are next are compared. Or the runs are those of a trace, and what is next in any of
//! them is compared at once.

pub mod look;
pub mod rules;
pub mod stopping;
pub mod traces;
