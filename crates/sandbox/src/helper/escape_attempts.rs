//! Run inside the sandbox by the doctor: tries to escape, and reports what stopped it.
#![expect(unsafe_code, reason = "asking the kernel about this process")]

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::{print, succeeded, unshare_user};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Targets {
    pub canary: PathBuf,
    pub link: PathBuf,
    pub outside: PathBuf,
    pub workspace: PathBuf,
    pub observer: u32,
    pub environment: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Barrier {
    pub name: String,
    pub ok: bool,
    pub detail: String,
}

pub(super) fn main(targets: &str) -> ExitCode {
    let Ok(targets) = serde_json::from_str::<Targets>(targets) else {
        return ExitCode::from(2);
    };
    print(&attempts(&targets))
}

fn attempts(t: &Targets) -> Vec<Barrier> {
    let inside = t.workspace.join("written");
    vec![
        stopped("read outside the workspace", fs::read(&t.canary)),
        stopped("read outside through a link", fs::read(&t.link)),
        stopped("read /etc/shadow", fs::read("/etc/shadow")),
        stopped("write outside the workspace", fs::write(t.outside.join("written"), "x")),
        stopped("overwrite outside the workspace", fs::OpenOptions::new().write(true).truncate(true).open(&t.canary)),
        stopped("write to /usr", fs::write("/usr/sandbox-check", "x")),
        stopped("change a setting of the kernel", fs::OpenOptions::new().write(true).open("/proc/sys/vm/swappiness")),
        stopped("write into the memory of the supervisor", fs::OpenOptions::new().write(true).open("/proc/1/mem")),
        stopped("listen on TCP", TcpListener::bind(("127.0.0.1", 0))),
        stopped("connect by TCP", TcpStream::connect(("127.0.0.1", 1)).map(drop).or_else(answered)),
        stopped("open a UDP socket", UdpSocket::bind(("127.0.0.1", 0))),
        stopped("open a UNIX socket", UnixStream::connect("/nonexistent").map(drop).or_else(answered)),
        stopped("open a UNIX datagram pair", UnixDatagram::pair()),
        stopped("signal the program outside", signal(t.observer)),
        stopped("limit a process by its id", by_id(t.observer, limits)),
        stopped("bind a process to processors", by_id(t.observer, processors)),
        stopped("schedule a process by its id", by_id(t.observer, schedule)),
        stopped("set a process's priority", by_id(t.observer, priority)),
        stopped("set a process's I/O priority", by_id(t.observer, io_priority)),
        stopped("share memory by number", shared_memory()),
        stopped("make a user namespace", unshare_user()),
        stopped("make a set-user-id file", set_user_id(&inside)),
        allowed("write in the workspace", fs::write(&inside, "x").and_then(|()| fs::remove_file(&inside))),
        environment(&t.environment),
        descriptors(),
        no_new_privileges(),
        capabilities(),
    ]
}

fn barrier(name: &str, ok: bool, detail: String) -> Barrier {
    Barrier { name: name.to_owned(), ok, detail }
}

fn stopped<T>(name: &str, result: io::Result<T>) -> Barrier {
    match result {
        Ok(_) => barrier(name, false, "it was possible".to_owned()),
        Err(e) => barrier(name, true, e.to_string()),
    }
}

fn allowed(name: &str, result: io::Result<()>) -> Barrier {
    match result {
        Ok(()) => barrier(name, true, "possible".to_owned()),
        Err(e) => barrier(name, false, e.to_string()),
    }
}

/// A refused connection or a missing socket file means that a socket could be made.
fn answered(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}

fn signal(pid: u32) -> io::Result<()> {
    let pid = i32::try_from(pid).unwrap_or(i32::MAX);
    // SAFETY: signal 0 only asks whether a signal could be sent.
    succeeded(unsafe { libc::kill(pid, 0) })
}

/// The kernel knows a process by its own id too, so without a filter this is possible in every tier.
fn by_id(observer: u32, attempt: fn(i32) -> libc::c_long) -> io::Result<()> {
    [observer, std::process::id()]
        .map(|pid| succeeded(attempt(i32::try_from(pid).unwrap_or(i32::MAX))))
        .into_iter()
        .reduce(Result::or)
        .unwrap_or(Ok(()))
}

fn limits(pid: i32) -> libc::c_long {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: nothing is set without a new limit; the old one is written to where there is room for it.
    unsafe { libc::syscall(libc::SYS_prlimit64, pid, libc::RLIMIT_CPU, 0, &raw mut old) }
}

fn processors(pid: i32) -> libc::c_long {
    let mut set = [u64::MAX; 16];
    let bytes = size_of_val(&set);
    // SAFETY: both calls take this array and its length; the second sets what the first has read.
    unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, pid, bytes, set.as_mut_ptr());
        libc::syscall(libc::SYS_sched_setaffinity, pid, bytes, set.as_ptr())
    }
}

fn schedule(pid: i32) -> libc::c_long {
    // SAFETY: the usual policy, whose only parameter is 0.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, pid, libc::SCHED_OTHER, &raw const ZERO) }
}

static ZERO: libc::c_int = 0;

fn priority(pid: i32) -> libc::c_long {
    // SAFETY: takes numbers only; the kernel's own getpriority counts from 20 downwards.
    unsafe {
        let now = 20 - libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, pid);
        libc::syscall(libc::SYS_setpriority, libc::PRIO_PROCESS, pid, now)
    }
}

fn io_priority(pid: i32) -> libc::c_long {
    const PROCESS: libc::c_int = 1;
    // SAFETY: takes numbers only; what is set is what it has.
    unsafe {
        let now = libc::syscall(libc::SYS_ioprio_get, PROCESS, pid);
        libc::syscall(libc::SYS_ioprio_set, PROCESS, pid, now)
    }
}

fn shared_memory() -> io::Result<()> {
    // SAFETY: takes numbers only; what is made is removed at once.
    let id = unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) };
    succeeded(id)?;
    // SAFETY: removing takes no buffer.
    unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
    Ok(())
}

/// In every way that gives a file its mode; only what a filter can't tell apart may return an error.
fn set_user_id(file: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    for mode in [0o4755, 0o2755] {
        let made = fs::OpenOptions::new().write(true).create(true).mode(mode).open(file);
        if made.is_err() {
            fs::write(file, "")?;
        }
        let _ = fs::set_permissions(file, fs::Permissions::from_mode(mode));
        let got = fs::metadata(file)?.mode();
        fs::remove_file(file)?;
        if got & 0o6000 != 0 {
            return Ok(());
        }
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

fn environment(expected: &[String]) -> Barrier {
    let extra: Vec<String> =
        std::env::vars_os().map(|(k, _)| k.to_string_lossy().into_owned()).filter(|k| !expected.contains(k)).collect();
    let detail = if extra.is_empty() { "only what was given".to_owned() } else { extra.join(", ") };
    barrier("environment", extra.is_empty(), detail)
}

fn descriptors() -> Barrier {
    // SAFETY: asks for the flags of a number, which need not be a descriptor.
    let open: Vec<i32> = (3..1024).filter(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } != -1).collect();
    let detail = if open.is_empty() { "only the three streams".to_owned() } else { format!("{open:?}") };
    barrier("inherited descriptors", open.is_empty(), detail)
}

fn no_new_privileges() -> Barrier {
    // SAFETY: reads one flag of this process.
    let ok = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    barrier("no new privileges", ok, if ok { "set" } else { "not set" }.to_owned())
}

fn capabilities() -> Barrier {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held: Vec<&str> = ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"]
        .iter()
        .filter_map(|name| status.lines().find(|l| l.starts_with(name)))
        .filter(|line| line.split_whitespace().nth(1).is_some_and(|v| v.bytes().any(|b| b != b'0')))
        .collect();
    let ok = held.is_empty() && status.contains("CapEff:");
    let detail = if ok { "none".to_owned() } else { held.join(", ") };
    barrier("capabilities", ok, detail)
}
