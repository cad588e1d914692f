//! One recorded trace, however long: which accesses can be next at once, and whether an attack hides in it
//! (`pgasrob/reference/recordings.py`, `proofs/recorded-traces.md`).
//!
//! It knows the commands of the recording alone, each with its cells, and no program. Every source has a pass of its own
//! over what depends on it, which ends where a wait, an await or a barrier needs the step that is delayed.

pub mod answers;
pub mod delaying;
pub mod events;
pub mod order;
pub mod slots;
pub mod stream;
