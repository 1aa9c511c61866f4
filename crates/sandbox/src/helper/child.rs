//! The child: confines itself step by step and becomes the command. Each step that fails ends it.
#![expect(unsafe_code, reason = "fork, exec and changing the user have no safe wrapper")]

use std::convert::Infallible;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Signal, set_parent_process_death_signal, setsid, umask};

use super::seccomp::{Metadata, Signals, Sockets};
use super::{landlock, limits, notify, seccomp, signals};
use crate::process::{Failure, Plan, Stage, Tier};

/// Landlock ABI that scopes signals.
const SCOPED_SIGNALS: i32 = 6;

/// Becomes the command; returns only on failure.
pub(super) fn become_command(plan: &Plan, supervisor: Option<&OwnedFd>) -> Failure {
    match confine_and_exec(plan, supervisor) {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

fn confine_and_exec(plan: &Plan, supervisor: Option<&OwnedFd>) -> Result<Infallible, Failure> {
    let at = |stage: Stage| move |message: String| Failure { stage, message };
    let text = |e: io::Error| e.to_string();
    // bubblewrap may have made the session already.
    let _ = setsid();
    signals::reset().map_err(text).map_err(at(Stage::Fork))?;
    umask(rustix::fs::Mode::from_raw_mode(0o022));
    // The supervisor must come to its turn whatever the command does. What serves sees to that itself.
    if !plan.service {
        let _ = rustix::process::nice(10);
    }
    // If memory runs out, this goes first. Not every system lets us say so.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    // Prepared while there is memory: the limits may leave less than this program uses.
    let landlocked = plan.tier == Tier::Landlock;
    let signals = if landlocked && plan.landlock_abi < SCOPED_SIGNALS { Signals::Unscoped } else { Signals::Scoped };
    let sockets = match (plan.gate, plan.network) {
        (Some(_), _) => Sockets::Loopback,
        (None, true) => Sockets::Internet,
        (None, false) => Sockets::None,
    };
    let build = |metadata| seccomp::build(metadata, sockets, signals).map_err(at(Stage::Seccomp));
    let asking = seccomp::asking().map_err(at(Stage::Seccomp))?;
    let filters = [Metadata::Free, Metadata::Asked, Metadata::Denied].map(build);
    let [free, asked, denied] = filters;
    let image = Image::new(plan).map_err(at(Stage::Exec))?;
    if let Some(user) = plan.drop_to {
        drop_privileges(user).map_err(text).map_err(at(Stage::Privileges))?;
    }
    drop_capabilities().map_err(text).map_err(at(Stage::Privileges))?;
    // After changing the user, which forgets it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| at(Stage::Fork)(e.to_string()))?;
    std::env::set_current_dir(&plan.cwd).map_err(text).map_err(at(Stage::WorkingFolder))?;
    rustix::thread::set_no_new_privs(true).map_err(|e| at(Stage::Privileges)(e.to_string()))?;
    if landlocked {
        landlock::restrict(plan).map_err(at(Stage::Landlock))?;
    }
    close_others_on_exec().map_err(text).map_err(at(Stage::Limits))?;
    limits::apply(plan).map_err(at(Stage::Limits))?;
    let filters = match supervisor {
        _ if !landlocked => free?,
        // A process can be asked for by one other; where that is somebody else, metadata stays as it is.
        Some(supervisor) if notify::ask(&asking, supervisor).is_ok() => asked?,
        _ => denied?,
    };
    seccomp::apply(&filters).map_err(at(Stage::Seccomp))?;
    Err(Failure { stage: Stage::Exec, message: image.exec().to_string() })
}

fn drop_privileges(user: u32) -> io::Result<()> {
    let check = |result: i32| {
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the calls take numbers and an empty list; this process has a single thread, so there is none that
    // would keep the old user.
    unsafe {
        check(libc::setgroups(0, std::ptr::null()))?;
        check(libc::setresgid(user, user, user))?;
        check(libc::setresuid(user, user, user))
    }
}

/// Root that stays root must not keep what makes it powerful. Without capabilities to begin with, there is nothing
/// to do.
fn drop_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    // no_new_privs keeps a program from getting them back, but root regains its capabilities on any exec unless the
    // bounding set is empty as well.
    for capability in 0..64 {
        // SAFETY: prctl with this option takes numbers only.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        if dropped != 0 {
            break;
        }
    }
    set_capabilities(None, none).map_err(Into::into)
}

/// Everything but the three streams; the status pipe too, but only once the command runs.
fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: the call only marks descriptors; nothing is closed before exec.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What exec needs, ready in memory.
struct Image {
    candidates: Vec<CString>,
    _owned: [Vec<CString>; 2],
    argv: Vec<*const libc::c_char>,
    envp: Vec<*const libc::c_char>,
}

impl Image {
    fn new(plan: &Plan) -> Result<Self, String> {
        let c = |s: &str| CString::new(s).map_err(|_| "an argument holds a NUL character".to_owned());
        let program = plan.argv.first().ok_or("there is no program")?;
        let candidates = if program.contains('/') {
            vec![c(program)?]
        } else {
            let path = plan.env.iter().find(|(k, _)| k == "PATH").map_or("", |(_, v)| v.as_str());
            let absolute = path.split(':').filter(|d| d.starts_with('/'));
            absolute.map(|d| c(&format!("{d}/{program}"))).collect::<Result<_, _>>()?
        };
        let arguments = plan.argv.iter().map(|a| c(a)).collect::<Result<Vec<_>, _>>()?;
        let variables = plan.env.iter().map(|(k, v)| c(&format!("{k}={v}"))).collect::<Result<Vec<_>, _>>()?;
        let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
            list.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (argv, envp) = (pointers(&arguments), pointers(&variables));
        // Moving the strings moves no bytes of theirs, so the pointers stay good.
        Ok(Self { candidates, argv, envp, _owned: [arguments, variables] })
    }

    /// Tries the places in order, as execvp does; returns why none was it.
    fn exec(&self) -> io::Error {
        let mut worst = io::Error::from_raw_os_error(libc::ENOENT);
        for candidate in &self.candidates {
            // SAFETY: all strings are NUL-terminated and owned by self, both lists end with a null pointer.
            unsafe { libc::execve(candidate.as_ptr(), self.argv.as_ptr(), self.envp.as_ptr()) };
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => {}
                Some(libc::EACCES) => worst = error,
                _ => return error,
            }
        }
        worst
    }
}
