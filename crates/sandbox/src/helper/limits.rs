//! Resource limits of the command.

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::process::Plan;

/// Open files of one process.
const FILES: u64 = 512;

pub(super) fn apply(plan: &Plan) -> Result<(), String> {
    let limits = &plan.limits;
    set(Resource::Core, 0, 0)?;
    // At the soft limit comes SIGXCPU, which tells what happened; a second later SIGKILL.
    set(Resource::Cpu, limits.cpu_s, limits.cpu_s + 1)?;
    set(Resource::Fsize, limits.file_bytes, limits.file_bytes)?;
    set(Resource::Nofile, FILES, FILES)?;
    set(Resource::Memlock, 64 << 10, 64 << 10)?;
    set(Resource::Msgqueue, 0, 0)?;
    if let Some(most) = plan.most_processes {
        set(Resource::Nproc, most, most)?;
    }
    set(Resource::As, limits.memory_bytes, limits.memory_bytes)
}

/// A hard limit that is lower already stays.
fn set(resource: Resource, soft: u64, hard: u64) -> Result<(), String> {
    let inherited = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let new = Rlimit { current: Some(soft.min(inherited)), maximum: Some(hard.min(inherited)) };
    setrlimit(resource, new).map_err(|e| format!("{resource:?}: {e}"))
}
