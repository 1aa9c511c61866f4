//! The half of the sandbox that runs in a process of its own: it confines itself, starts the command, watches it, and
//! kills whatever is left of it at the end.
//!
//! A binary offers it by calling [`main`] for a hidden subcommand, before it starts any thread.

mod check;
mod child;
mod gate;
mod landlock;
mod limits;
mod notify;
mod probe;
mod processes;
mod seccomp;
mod signals;
mod supervise;

use std::ffi::OsString;
use std::process::ExitCode;

pub(crate) use check::{Barrier, Targets};
pub(crate) use probe::{Primitives, landlock_abi};
pub(crate) use processes::of_user as tasks_of_user;

/// Runs the helper with the arguments that follow its subcommand, and returns the code to end the process with.
///
/// Must be called while the process has a single thread.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    let words: Vec<&str> = args.iter().filter_map(|a| a.to_str()).collect();
    match words.as_slice() {
        ["run", fd] => match fd.parse::<i32>() {
            Ok(fd) if fd > 2 => supervise::main(fd),
            _ => usage(),
        },
        ["probe"] => probe::main(),
        ["check", targets] => check::main(targets),
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
