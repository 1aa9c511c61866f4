//! The processes below this one, as /proc lists them.

use std::collections::HashSet;
use std::fs;

/// What they use together.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Usage {
    /// Processes and threads.
    pub tasks: u64,
    /// Resident bytes that are not backed by files.
    pub bytes: u64,
}

/// Process ids of all descendants, nearest first; no more than `most`.
pub(super) fn descendants(most: usize) -> Vec<i32> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut next = children("self");
    while !next.is_empty() && found.len() <= most {
        next.retain(|pid| seen.insert(*pid));
        found.extend_from_slice(&next);
        next = next.iter().flat_map(|pid| children(&pid.to_string())).collect();
    }
    found
}

fn children(pid: &str) -> Vec<i32> {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| list.split_whitespace().filter_map(|p| p.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

pub(super) fn usage(pids: &[i32]) -> Usage {
    let mut usage = Usage::default();
    for pid in pids {
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else {
            continue;
        };
        usage.tasks += field(&status, "Threads:").unwrap_or(1);
        let kib = field(&status, "RssAnon:").unwrap_or(0) + field(&status, "RssShmem:").unwrap_or(0);
        usage.bytes += kib * 1024;
    }
    usage
}

/// Threads of a user, all its processes together, as far as this process sees them.
pub(crate) fn of_user(uid: u32) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    entries
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()))
        .filter_map(|e| fs::read_to_string(e.path().join("status")).ok())
        .filter(|status| field(status, "Uid:") == Some(u64::from(uid)))
        .map(|status| field(&status, "Threads:").unwrap_or(1))
        .sum()
}

/// The first number of a line of a status file.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|l| l.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}
