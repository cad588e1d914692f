//! Graphs on nodes 0, 1, ..., given by where each leads (`pgasrob/program/graphs.py`).

use crate::memory::{Result, append, copied, filled};

/// Whether every node leads to one of those in `to`.
pub fn all_lead(leads: &[Vec<usize>], to: &[bool]) -> Result<bool> {
    let mut reached = copied(to)?;
    let mut changed = true;
    while changed {
        changed = false;
        for (node, targets) in leads.iter().enumerate() {
            if !reached[node] && targets.iter().any(|&target| reached[target]) {
                reached[node] = true;
                changed = true;
            }
        }
    }
    Ok(!reached.contains(&false))
}

/// For each node a node that it shares with those to and from which it leads (Kosaraju's algorithm).
pub fn components(leads: &[Vec<usize>]) -> Result<Vec<usize>> {
    let mut order = Vec::new();
    let mut seen = filled(false, leads.len())?;
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..leads.len() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        append(&mut stack, (root, 0))?;
        while let Some((node, place)) = stack.pop() {
            match leads[node].get(place) {
                Some(&target) => {
                    append(&mut stack, (node, place + 1))?;
                    if !seen[target] {
                        seen[target] = true;
                        append(&mut stack, (target, 0))?;
                    }
                }
                None => append(&mut order, node)?,
            }
        }
    }
    let mut before: Vec<Vec<usize>> = filled(Vec::new(), leads.len())?;
    for (node, targets) in leads.iter().enumerate() {
        for &target in targets {
            append(&mut before[target], node)?;
        }
    }
    let mut found = filled(usize::MAX, leads.len())?;
    for &root in order.iter().rev() {
        if found[root] != usize::MAX {
            continue;
        }
        let mut stack = Vec::new();
        append(&mut stack, root)?;
        while let Some(node) = stack.pop() {
            if found[node] == usize::MAX {
                found[node] = root;
                for &each in &before[node] {
                    append(&mut stack, each)?;
                }
            }
        }
    }
    Ok(found)
}
