//! Which processes belong to a pane: what its own has started, and who is in front.

use std::io;

use procfs::process::Stat;

use crate::process::stat;
use crate::tasks::Tasks;

/// A tree of processes is followed up to this many. A pane with more has lost nothing but the ends of it.
const PROCESSES_MAX: usize = 20_000;

/// The processes of a pane, its own first and parents before their children. Where a member of the group in front can
/// have lost its parent, the whole machine is read for it.
pub(crate) fn family(root: Stat, group: u32) -> Vec<Stat> {
    let found = walk(root.clone());
    let leader = found.as_ref().is_ok_and(|found| found.iter().any(|stat| living(stat) && is(stat.pid, group)));
    match found {
        Ok(found) if leader => found,
        found => {
            let near = found.unwrap_or_default();
            let Ok(all) = everybody() else { return if near.is_empty() { vec![root] } else { near } };
            below_and_group(root, group, all)
        }
    }
}

/// Who is in front, and what they have started. Zombies are nobody.
pub(crate) fn split(family: &[Stat], group: u32) -> (Vec<&Stat>, Vec<&Stat>) {
    let front: Vec<&Stat> = family.iter().filter(|stat| living(stat) && is(stat.pgrp, group)).collect();
    let mut known: Vec<i32> = front.iter().map(|stat| stat.pid).collect();
    let mut below = Vec::new();
    for stat in family.iter().filter(|stat| living(stat) && !is(stat.pgrp, group)) {
        if known.contains(&stat.ppid) {
            known.push(stat.pid);
            below.push(stat);
        }
    }
    (front, below)
}

/// What a process descends from, by process id, from the pane's own on; none where its parents are not the pane's.
pub(crate) fn above(family: &[Stat], process: Option<&Stat>) -> Vec<u32> {
    let mut found = Vec::new();
    let mut child = process;
    // A chain that changes meanwhile may come back to itself.
    while let Some(stat) = child.filter(|_| found.len() < family.len()) {
        child = family.iter().find(|other| other.pid == stat.ppid);
        found.extend(child.and_then(|parent| u32::try_from(parent.pid).ok()));
    }
    found.reverse();
    found
}

/// Everybody who can be seen.
pub(crate) fn everybody() -> io::Result<Vec<Stat>> {
    let entries = std::fs::read_dir("/proc")?;
    Ok(entries.filter_map(|entry| stat(entry.ok()?.file_name().to_str()?.parse().ok()?).ok()).collect())
}

fn is(number: i32, group: u32) -> bool {
    u32::try_from(number) == Ok(group)
}

fn living(stat: &Stat) -> bool {
    !matches!(stat.state, 'Z' | 'X' | 'x')
}

/// Follows the kernel's lists of children, which each thread has of its own.
///
/// # Errors
/// Where the kernel keeps none (no `CONFIG_PROC_CHILDREN`).
fn walk(root: Stat) -> io::Result<Vec<Stat>> {
    let own = root.pid;
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).and_then(|stat| u32::try_from(stat.pid).ok())
        && found.len() < PROCESSES_MAX
    {
        let mut children: Vec<u32> = Vec::new();
        let tasks = Tasks::of(pid).and_then(|tasks| Ok((tasks.ids()?, tasks)));
        for (tid, tasks) in tasks.iter().flat_map(|(tids, tasks)| tids.iter().map(move |tid| (*tid, tasks))) {
            match tasks.text(tid, "children") {
                Ok(list) => children.extend(numbers(&list)),
                // Others may end while they are looked at.
                Err(error) if u32::try_from(own) == Ok(tid) => return Err(error),
                Err(_) => {}
            }
        }
        found.extend(children.into_iter().filter_map(|child| stat(child).ok()));
        at += 1;
    }
    Ok(found)
}

fn numbers(list: &str) -> Vec<u32> {
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Of all processes, the pane's own, the members of the group whose parent has left them to somebody outside the
/// session, and all that any of those started.
fn below_and_group(root: Stat, group: u32, all: Vec<Stat>) -> Vec<Stat> {
    let (own, session) = (root.pid, root.session);
    let insiders: Vec<i32> = all.iter().filter(|stat| stat.session == session).map(|stat| stat.pid).collect();
    let orphan = |stat: &Stat| is(stat.pgrp, group) && stat.session == session && !insiders.contains(&stat.ppid);
    let others = all.into_iter().filter(|stat| stat.pid != own);
    let (orphans, mut rest): (Vec<Stat>, Vec<Stat>) = others.partition(orphan);
    let mut found = vec![root];
    found.extend(orphans);
    // Level by level, so that parents come first.
    let mut level = 0;
    while level < found.len() {
        let parents: Vec<i32> = found.iter().skip(level).map(|stat| stat.pid).collect();
        level = found.len();
        let (children, others) = rest.into_iter().partition(|stat| parents.contains(&stat.ppid));
        rest = others;
        found.extend::<Vec<Stat>>(children);
    }
    found
}
