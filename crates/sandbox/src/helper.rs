//! The part of the sandbox in a process of its own: it confines itself, starts and watches the command, and kills what
//! is left. A binary calls [`main`] for a hidden subcommand, before it starts any thread.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

mod child;
mod escape_attempts;
mod notify;
mod seccomp;
mod supervise;

pub(crate) use escape_attempts::{Barrier, Targets};
pub(crate) use supervise::tasks_of_user;

use std::ffi::OsString;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};

macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
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
        user_namespaces: unshare_user(),
        seccomp: seccomp::filters(false).is_ok_and(|f| seccomp::apply(&f).is_ok()),
    };
    match serde_json::to_string(&found) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// 0 if the kernel has no Landlock.
pub(crate) fn landlock_abi() -> i32 {
    const VERSION: libc::c_ulong = 1;
    // SAFETY: with the version flag the call takes no pointer and only returns a number.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

fn unshare_user() -> bool {
    // SAFETY: unshare changes the namespaces of this single-threaded process, which ends after reporting; it touches
    // no memory and no descriptors.
    unsafe { libc::unshare(libc::CLONE_NEWUSER) == 0 }
}
