//! Merging: a rank's deterministic local commands belong to the move before them.

use crate::commands::Command;
use crate::memory::{Result, filled};
use crate::moves::{PlayedMove, Space};
use crate::operands::Operands;
use crate::state::State;
use crate::tables::Tables;
use crate::world::World;

/// Commands run in one go, at most: a loop of local commands may never end, nor come back to where it has been.
const LONGEST: usize = 1000;

/// Where only assigns, assumes and assertions leave, by control state.
pub fn silent(tables: &Tables) -> Result<Vec<bool>> {
    let mut silent = filled(false, tables.states.iter().map(|&count| count as usize).sum())?;
    for (rank, &states) in tables.states.iter().enumerate() {
        for state in 0..states {
            let local =
                |transition| matches!(tables.command(transition), Command::Assign { .. } | Command::Test { .. });
            let mut leaving = tables.leaving(rank, state);
            silent[tables.control(rank, state)] = !leaving.is_empty() && leaving.all(local);
        }
    }
    Ok(silent)
}

/// Runs the commands of `rank` that nothing can come between: the only one enabled where nothing else leaves. They are
/// added to `run`. It ends where the rank has been before: what would follow has been run already.
pub fn merge(
    space: Space<'_>,
    silent: &[bool],
    world: &mut World,
    state: &mut State,
    rank: usize,
    mut run: Option<&mut Vec<PlayedMove>>,
) -> Result<()> {
    let tables = space.tables;
    let registers = rank * tables.registers..(rank + 1) * tables.registers;
    // Where the rank has been: its control state and registers, one after the other.
    let mut been: Vec<u32> = Vec::new();
    for _ in 0..LONGEST {
        let control = state.control[rank];
        if control >= tables.states[rank] || !silent[tables.control(rank, control)] {
            break;
        }
        let mut only = None;
        for transition in tables.leaving(rank, control) {
            let assigned = match space.operands(world, state, rank, transition)? {
                // Whatever goes wrong must be seen to.
                None | Some(Operands::Test { holds: false, blocks: false }) => return Ok(()),
                Some(Operands::Test { holds: false, .. }) => continue,
                Some(Operands::Assign { register, value }) => Some((register, value)),
                Some(_) => None,
            };
            if only.replace((transition, assigned)).is_some() {
                return Ok(());
            }
        }
        let Some((transition, assigned)) = only else { break };
        been.try_reserve(1 + tables.registers)?;
        been.push(control);
        been.extend_from_slice(&state.registers[registers.clone()]);
        if let Some((register, value)) = assigned {
            state.registers[rank * tables.registers + register] = value;
        }
        state.control[rank] = tables.transitions[transition].target;
        if let Some(run) = run.as_deref_mut() {
            run.try_reserve(1)?;
            run.push((Some(rank), vec![transition], Vec::new()));
        }
        let here = |place: &[u32]| place[0] == state.control[rank] && place[1..] == state.registers[registers.clone()];
        if been.chunks_exact(1 + tables.registers).any(here) {
            break;
        }
    }
    Ok(())
}
