//! The part of the sandbox in a process of its own: it confines itself, starts and watches the command, and kills what
//! is left. A binary calls [`main`] for a hidden subcommand, before it starts any thread.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

mod child;
mod escape_attempts;
mod notify;
mod seccomp;
mod supervise;

pub(crate) use escape_attempts::{Barrier, Targets};
pub(crate) use seccomp::{all_of, compile, condition};
pub(crate) use supervise::tasks_of_user;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

use seccomp::{Metadata, Signals, Sockets};

/// The numbers of system calls; the second part has those that only x86-64 knows.
macro_rules! calls {
    ($($name:ident)* $(; x86_64: $($old:ident)*)?) => {
        &[$(libc::$name,)* $($(#[cfg(target_arch = "x86_64")] libc::$old,)*)?]
    };
}
pub(crate) use calls;

/// `args` follow the subcommand; returns the exit code. The process must have a single thread.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let words: Vec<&str> = args.iter().filter_map(|a| a.to_str()).collect();
    match words.as_slice() {
        ["run", fd] => match fd.parse::<i32>() {
            Ok(fd) if fd > 2 => supervise::main(fd),
            _ => usage(),
        },
        ["probe"] => report_primitives(),
        ["check", targets] => escape_attempts::main(targets),
        ["sleep"] => {
            std::thread::sleep(std::time::Duration::from_mins(1));
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("this is an internal command: it is started by the program itself to confine other programs");
    ExitCode::from(2)
}

/// Kernel features, tried in this process, which ends right after.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Primitives {
    pub landlock_abi: i32,
    pub seccomp: bool,
    pub user_namespaces: bool,
}

fn report_primitives() -> ExitCode {
    let found = Primitives {
        landlock_abi: landlock_abi(),
        // Before the seccomp filter, which denies unshare.
        user_namespaces: unshare_user().is_ok(),
        seccomp: seccomp::build(Metadata::Free, Sockets::None, Signals::Scoped)
            .is_ok_and(|filters| seccomp::apply(&filters).is_ok()),
    };
    print(&found)
}

/// What this process was started to find out.
fn print(found: &impl Serialize) -> ExitCode {
    match serde_json::to_string(found) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// What a system call says by -1.
fn succeeded(result: impl Into<i64>) -> io::Result<()> {
    if result.into() == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// 0 if the kernel has no Landlock.
pub(crate) fn landlock_abi() -> i32 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with the version flag the call takes no pointer and only returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

fn unshare_user() -> io::Result<()> {
    // SAFETY: unshare changes the namespaces of this single-threaded process, which ends after reporting; it touches
    // no memory and no descriptors.
    succeeded(unsafe { libc::unshare(libc::CLONE_NEWUSER) })
}
