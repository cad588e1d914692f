//! Graphs on nodes 0, 1, ..., given by where each leads (`pgasrob/program/graphs.py`).

use crate::memory::{Result, append, filled};

/// The nodes that lead to one of those in `to`; of the last ones it need not be given where they lead.
pub fn leading(leads: &[Vec<usize>], mut to: Vec<bool>) -> Result<Vec<bool>> {
    let before = reversed(leads, to.len())?;
    let mut stack = Vec::new();
    for node in (0..to.len()).filter(|&node| to[node]) {
        append(&mut stack, node)?;
    }
    while let Some(node) = stack.pop() {
        for &each in &before[node] {
            if !std::mem::replace(&mut to[each], true) {
                append(&mut stack, each)?;
            }
        }
    }
    Ok(to)
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
    let before = reversed(leads, leads.len())?;
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

/// For each node those that lead there.
fn reversed(leads: &[Vec<usize>], nodes: usize) -> Result<Vec<Vec<usize>>> {
    let mut before: Vec<Vec<usize>> = filled(Vec::new(), nodes)?;
    for (node, targets) in leads.iter().enumerate() {
        for &target in targets {
            append(&mut before[target], node)?;
        }
    }
    Ok(before)
}
