//! Robustness trace by trace: `pgasrob/robustness/traces`, run for run in the same order.
//!
//! `proofs/traces.md` has the theorem.

pub mod clock;
pub mod closing;
pub mod delaying;
pub mod exploration;
pub mod layers;
pub mod run;
pub mod search;
pub mod standing;
pub mod subsets;
