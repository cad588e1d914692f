//! Robustness trace by trace: `pgasrob/reference/trace_search.py`, run for run in the same order.
//!
//! `proofs/traces.md` has the theorem.

pub mod clock;
pub mod closing;
pub mod delaying;
pub mod earlier;
pub mod exploration;
pub mod layers;
pub mod made;
pub mod run;
pub mod search;
pub mod standing;
pub mod subsets;
