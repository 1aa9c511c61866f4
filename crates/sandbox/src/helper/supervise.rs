//! The parent of the command: reads the plan, forks, watches limits, reports the end, and leaves nothing behind.
#![expect(unsafe_code, reason = "fork, and taking over a descriptor by number")]

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getppid, kill_process, kill_process_group, set_child_subreaper,
    set_parent_process_death_signal, wait,
};

use super::notify::Grounds;
use super::{child, gate, notify, processes, signals};
use crate::process::{Failure, Plan, Report, Stage, Tier, Tripped};

/// Between two looks at what the command uses.
const WATCH: Duration = Duration::from_millis(25);

/// The same for a program that serves, whose limits are its own business.
const IDLE: Duration = Duration::from_mins(1);

/// After the wall time, for the case that the process that should kill us is stopped itself.
const BACKSTOP: Duration = Duration::from_secs(2);

/// Between two looks at the memory of a program that serves.
const MEMORY: Duration = Duration::from_millis(500);

/// How long the hunt for what is left may take.
const HUNT: Duration = Duration::from_secs(3);

pub(super) fn main(status_fd: i32) -> ExitCode {
    // SAFETY: the number was given to this process as the write end of its status pipe, and nothing else here uses it.
    let mut status = File::from(unsafe { OwnedFd::from_raw_fd(status_fd) });
    let report = match start() {
        Ok((plan, command)) => watch(&plan, command),
        Err(Start::Failed(failure)) => Report::Failed(failure),
        Err(Start::InChild(failure)) => {
            say(&mut status, &Report::Failed(failure));
            return ExitCode::from(126);
        }
    };
    say(&mut status, &report);
    ExitCode::SUCCESS
}

/// One write of less than a pipe's atomic size, so that two writers do not mix.
fn say(status: &mut File, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = status.write_all(&line);
    }
}

enum Start {
    Failed(Failure),
    InChild(Failure),
}

fn start() -> Result<(Plan, Pid), Start> {
    let failed = |stage: Stage, message: String| Start::Failed(Failure { stage, message });
    let plan = read_plan().map_err(|e| failed(Stage::Plan, e))?;
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads != 1 {
        return Err(failed(Stage::Fork, format!("the helper has {threads} threads, it must be started before any")));
    }
    let os = |e: rustix::io::Errno| failed(Stage::Fork, e.to_string());
    // In a namespace this is process 1, and its end is the end of all. Otherwise there is a hunt first.
    let signal = if plan.tier == Tier::Namespaces { Signal::KILL } else { Signal::TERM };
    set_parent_process_death_signal(Some(signal)).map_err(os)?;
    let parent = getppid().map(|p| p.as_raw_pid().unsigned_abs());
    if plan.parent.is_some() && plan.parent != parent {
        return Err(failed(Stage::Fork, "the program that asked for this is gone".to_owned()));
    }
    // What the command leaves behind becomes our child, wherever it hides.
    set_child_subreaper(Pid::from_raw(1)).map_err(os)?;
    signals::block().map_err(|e| failed(Stage::Fork, e.to_string()))?;
    if let Some(fd) = plan.gate {
        // SAFETY: the number was given to this process as its end of the gate's socket, and nothing else here uses it.
        let to = unsafe { OwnedFd::from_raw_fd(fd) };
        gate::offer(to).map_err(|e| failed(Stage::Network, e.to_string()))?;
    }
    let (asked, asking) = ends(&plan).map_err(|e| failed(Stage::Fork, e.to_string()))?.unzip();
    // SAFETY: this process has a single thread (checked above), so the child may go on as any program.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Stage::Fork, std::io::Error::last_os_error().to_string())),
        0 => {
            drop(asked);
            Err(Start::InChild(child::become_command(&plan, asking.as_ref())))
        }
        pid => match Pid::from_raw(pid) {
            Some(pid) => {
                drop(asking);
                if let Some(asked) = asked {
                    let grounds = Grounds {
                        write: plan.write.clone(),
                        user: plan.drop_to.unwrap_or(rustix::process::geteuid().as_raw()),
                    };
                    std::thread::spawn(move || notify::serve(&asked, &grounds));
                }
                Ok((plan, pid))
            }
            None => Err(failed(Stage::Fork, "no process id".to_owned())),
        },
    }
}

/// Where the command asks for changes of metadata, and its end; other tiers need none.
fn ends(plan: &Plan) -> std::io::Result<Option<(OwnedFd, OwnedFd)>> {
    if plan.tier != Tier::Landlock {
        return Ok(None);
    }
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    Ok(Some((ours.into(), theirs.into())))
}

/// Exactly the plan, unbuffered: what follows on stdin is for the command.
fn read_plan() -> Result<Plan, String> {
    const MOST: usize = 16 << 20;
    let mut length = [0u8; 4];
    read_exactly(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST {
        return Err("the plan is too long".to_owned());
    }
    let mut text = vec![0u8; length];
    read_exactly(&mut text)?;
    serde_json::from_slice(&text).map_err(|e| e.to_string())
}

fn read_exactly(mut into: &mut [u8]) -> Result<(), String> {
    while !into.is_empty() {
        match rustix::io::read(std::io::stdin(), &mut *into) {
            Ok(0) => return Err("stdin ended within the plan".to_owned()),
            Ok(read) => into = &mut into[read..],
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(())
}

fn watch(plan: &Plan, command: Pid) -> Report {
    let started = Instant::now();
    let mut tripped = None;
    // The end of a child, and of our parent, comes as a signal; looking at limits is what takes a clock.
    let pause = match (plan.service, plan.limits.resident_bytes) {
        (false, _) => WATCH,
        (true, Some(_)) => MEMORY,
        (true, None) => IDLE,
    };
    loop {
        if matches!(signals::wait(pause), Some(libc::SIGTERM | libc::SIGINT)) {
            hunt(plan);
            return Report::Signaled(libc::SIGKILL);
        }
        if let Some(report) = reap(command) {
            hunt(plan);
            return tripped.map_or(report, Report::Tripped);
        }
        if tripped.is_none() {
            tripped = if plan.service { over_memory(plan) } else { over_limit(plan, started) };
            if tripped.is_some() {
                hunt(plan);
                return tripped.map_or(Report::Signaled(libc::SIGKILL), Report::Tripped);
            }
        }
    }
}

/// Collects the dead; the command's own end is the result.
fn reap(command: Pid) -> Option<Report> {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == command {
            return Some(report_of(status));
        }
    }
    None
}

fn report_of(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, Some(signal)) => Report::Signaled(signal),
        (None, None) => Report::Signaled(libc::SIGKILL),
    }
}

fn over_memory(plan: &Plan) -> Option<Tripped> {
    let most = plan.limits.resident_bytes?;
    let used = processes::usage(&processes::descendants(usize::MAX)).bytes;
    (used > most).then_some(Tripped::Memory)
}

fn over_limit(plan: &Plan, started: Instant) -> Option<Tripped> {
    if started.elapsed() > plan.limits.wall + BACKSTOP {
        return Some(Tripped::Wall);
    }
    let most = plan.limits.processes;
    let pids = processes::descendants(usize::try_from(most).unwrap_or(usize::MAX));
    // Counting first: looking at thousands one by one would give them time to become more.
    if pids.len() as u64 > most {
        return Some(Tripped::Processes);
    }
    let usage = processes::usage(&pids);
    if usage.tasks > most {
        Some(Tripped::Processes)
    } else if usage.bytes > plan.limits.memory_bytes {
        Some(Tripped::Memory)
    } else {
        None
    }
}

/// Kills every descendant until there is none. In a namespace our own end does that.
///
/// By process group first: the kernel signals a group as a whole, and a fork under way cannot slip out of it, while
/// processes killed one by one can multiply faster than they die.
fn hunt(plan: &Plan) {
    if plan.tier == Tier::Namespaces {
        return;
    }
    let own = rustix::process::getpgrp();
    let until = Instant::now() + HUNT;
    loop {
        let found: Vec<Pid> = processes::descendants(usize::MAX).into_iter().filter_map(Pid::from_raw).collect();
        let groups: HashSet<Pid> = found.iter().filter_map(|pid| rustix::process::getpgid(Some(*pid)).ok()).collect();
        for group in groups.into_iter().filter(|g| *g != own && !g.is_init()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        if Instant::now() > until {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
