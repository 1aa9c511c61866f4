//! The parent of the command: reads the plan, forks, watches limits, reports the end, and leaves nothing behind.
#![expect(unsafe_code, reason = "fork, taking over a descriptor by number, and signal masks have no safe wrapper")]

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getppid, kill_process, kill_process_group, set_child_subreaper,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};

use super::notify::{self, WritableFiles};
use super::{child, succeeded};
use crate::process::{Failure, Plan, Report, Stage, Tier, Tripped};

const WATCH: Duration = Duration::from_millis(25);

/// The same for a service, whose limits need no checks.
const IDLE: Duration = Duration::from_mins(1);

/// Time beyond the wall time, in case the process that should kill us is stopped itself.
const BACKSTOP: Duration = Duration::from_secs(2);

/// How often the memory of a service is checked.
const MEMORY: Duration = Duration::from_millis(500);

/// Looks between two at which new sessions of the command are told to stand behind.
const TURNS: u64 = 20;

/// How long killing what is left may take.
const KILL_TIME: Duration = Duration::from_secs(3);

pub(super) fn main(status_fd: i32) -> ExitCode {
    // SAFETY: the number was given to this process as the write end of its status pipe, and nothing else here uses it.
    let mut status = File::from(unsafe { OwnedFd::from_raw_fd(status_fd) });
    let report = match start() {
        Ok((plan, command)) => watch(&plan, command),
        Err(Start::Failed(failure)) => Report::Failed(failure),
        Err(Start::InChild(failure)) => {
            write_report(&mut status, &Report::Failed(failure));
            return ExitCode::from(126);
        }
    };
    write_report(&mut status, &report);
    ExitCode::SUCCESS
}

/// In one write of less than a pipe's atomic size, so that two writers do not mix.
fn write_report(status: &mut File, report: &Report) {
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
    // In a namespace this is process 1, and its end is the end of all. Otherwise descendants are killed first.
    let signal = if plan.tier == Tier::Namespaces { Signal::KILL } else { Signal::TERM };
    set_parent_process_death_signal(Some(signal)).map_err(os)?;
    let parent = getppid().map(|p| p.as_raw_pid().unsigned_abs());
    if plan.parent.is_some() && plan.parent != parent {
        return Err(failed(Stage::Fork, "the program that asked for this is gone".to_owned()));
    }
    // What the command leaves behind becomes our child, wherever it hides.
    set_child_subreaper(Pid::from_raw(1)).map_err(os)?;
    // From here on the signals have to be waited for.
    set_mask(libc::SIG_BLOCK).map_err(|e| failed(Stage::Fork, e.to_string()))?;
    if let Some(fd) = plan.gate {
        // SAFETY: the number was given to this process as its end of the listener's socket, and nothing else here
        // uses it.
        let to = unsafe { OwnedFd::from_raw_fd(fd) };
        child::offer_listener(to).map_err(|e| failed(Stage::Network, e.to_string()))?;
    }
    // For the questions of `notify`.
    let sockets = (plan.tier == Tier::Landlock).then(UnixStream::pair).transpose();
    let sockets = sockets.map_err(|e| failed(Stage::Fork, e.to_string()))?;
    let (asked, asking) = sockets.map(|(ours, theirs)| (OwnedFd::from(ours), OwnedFd::from(theirs))).unzip();
    // The command has the same user, and this process no filter of system calls: nobody writes into its memory.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(os)?;
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
                    let files = WritableFiles {
                        write: plan.write.clone(),
                        user: plan.drop_to.unwrap_or(rustix::process::geteuid().as_raw()),
                    };
                    std::thread::spawn(move || notify::serve(&asked, &files));
                }
                Ok((plan, pid))
            }
            None => Err(failed(Stage::Fork, "no process id".to_owned())),
        },
    }
}

/// Reads exactly the plan, unbuffered: what follows on stdin is for the command.
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
    // The end of a child, and of our parent, comes as a signal; only limits need a clock.
    let pause = match (plan.service, plan.limits.resident_bytes) {
        (false, _) => WATCH,
        (true, Some(_)) => MEMORY,
        (true, None) => IDLE,
    };
    let mut tick = 0_u64;
    loop {
        let signal = wait_for_signal(pause);
        if !plan.service && tick.is_multiple_of(TURNS) {
            for pid in descendants(usize::try_from(plan.limits.processes).unwrap_or(usize::MAX)) {
                stand_behind(&pid.to_string());
            }
        }
        tick = tick.wrapping_add(1);
        let report = if matches!(signal, Some(libc::SIGTERM | libc::SIGINT)) {
            Some(Report::Signaled(libc::SIGKILL))
        } else {
            let over = || if plan.service { over_memory(plan) } else { over_limit(plan, started) };
            reap(command).or_else(|| over().map(Report::Tripped))
        };
        if let Some(report) = report {
            kill_descendants(plan);
            return report;
        }
    }
}

/// Where the kernel shares out the processor by session (`sched_autogroup_enabled`), the nice value of a process counts only within its
/// session, and ten commands would have ten times what the server has: the session itself must stand behind.
pub(super) fn stand_behind(pid: &str) {
    let file = format!("/proc/{pid}/autogroup");
    if fs::read_to_string(&file).is_ok_and(|now| now.trim_end().ends_with(" nice 0")) {
        // At times the kernel says "later"; then the next look does it.
        let _ = fs::write(&file, "10");
    }
}

fn reap(command: Pid) -> Option<Report> {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == command {
            let killed = Report::Signaled(status.terminating_signal().unwrap_or(libc::SIGKILL));
            return Some(status.exit_status().map_or(killed, Report::Exited));
        }
    }
    None
}

fn over_memory(plan: &Plan) -> Option<Tripped> {
    let most = plan.limits.resident_bytes?;
    (usage(&descendants(usize::MAX)).bytes > most).then_some(Tripped::Memory)
}

fn over_limit(plan: &Plan, started: Instant) -> Option<Tripped> {
    if started.elapsed() > plan.limits.wall + BACKSTOP {
        return Some(Tripped::Wall);
    }
    let most = plan.limits.processes;
    let pids = descendants(usize::try_from(most).unwrap_or(usize::MAX));
    // Counted first: looking at thousands one by one would give them time to multiply.
    if pids.len() as u64 > most {
        return Some(Tripped::Processes);
    }
    let usage = usage(&pids);
    if usage.tasks > most {
        Some(Tripped::Processes)
    } else if usage.bytes > plan.limits.memory_bytes {
        Some(Tripped::Memory)
    } else {
        None
    }
}

/// By process group first: the kernel signals a group as a whole, while processes killed one by one can multiply faster
/// than they die. In a namespace our own end kills all.
fn kill_descendants(plan: &Plan) {
    if plan.tier == Tier::Namespaces {
        return;
    }
    let own = rustix::process::getpgrp();
    let until = Instant::now() + KILL_TIME;
    loop {
        let found: Vec<Pid> = descendants(usize::MAX).into_iter().filter_map(Pid::from_raw).collect();
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

#[derive(Debug, Default)]
struct Usage {
    tasks: u64,
    /// Resident, and not backed by files.
    bytes: u64,
}

/// All descendants, nearest first; no more than `most`.
fn descendants(most: usize) -> Vec<i32> {
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

fn usage(pids: &[i32]) -> Usage {
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

/// Threads of a user's processes, as far as this process sees them.
pub(crate) fn tasks_of_user(uid: u32) -> u64 {
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

fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|l| l.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

// Signals are waited for, so that no code runs inside a handler.
const WAITED: [i32; 3] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT];

fn signal_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set it is given, and sigaddset is given an initialised one.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in WAITED {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// For the command: nothing blocked, and a broken pipe ends it as usual (Rust's start-up ignores that signal).
pub(super) fn reset_signals() -> io::Result<()> {
    // SAFETY: setting a disposition to the default installs no handler.
    if unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    set_mask(libc::SIG_UNBLOCK)
}

fn set_mask(how: i32) -> io::Result<()> {
    let set = signal_set();
    // SAFETY: the set is initialised and outlives the call; no old mask is asked for.
    succeeded(unsafe { libc::sigprocmask(how, &raw const set, std::ptr::null_mut()) })
}

/// `None` after the time.
fn wait_for_signal(time: Duration) -> Option<i32> {
    let set = signal_set();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    };
    // SAFETY: set and time are initialised and outlive the call; no details are asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}
