//! The child: confines itself step by step and becomes the command. A failed step ends it.
#![expect(unsafe_code, reason = "fork, exec and changing the user have no safe wrapper")]

use std::convert::Infallible;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, set_dumpable_behavior, set_parent_process_death_signal, setrlimit,
    setsid, umask,
};

use super::seccomp::{self, Metadata, Signals, Sockets};
use super::{notify, succeeded, supervise};
use crate::process::{Failure, Plan, Stage, Tier, send_with_descriptors};

/// The first Landlock ABI that scopes signals.
const SCOPED_SIGNALS: i32 = 6;

/// Returns only on failure.
pub(super) fn become_command(plan: &Plan, supervisor: Option<&OwnedFd>) -> Failure {
    match confine_and_exec(plan, supervisor) {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

fn confine_and_exec(plan: &Plan, supervisor: Option<&OwnedFd>) -> Result<Infallible, Failure> {
    let at = |stage: Stage| move |message: String| Failure { stage, message };
    let text = |e: io::Error| e.to_string();
    // As any program: what belongs to this process below /proc is its own again.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
    // bubblewrap may have made the session already.
    let _ = setsid();
    supervise::reset_signals().map_err(text).map_err(at(Stage::Fork))?;
    umask(rustix::fs::Mode::from_raw_mode(0o022));
    // The supervisor must get its turn whatever the command does. A service needs none.
    if !plan.service {
        let _ = rustix::process::nice(10);
        supervise::stand_behind("self");
    }
    // If memory runs out, this process goes first. Not every system lets us say so.
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
    let [free, asked, denied] = [Metadata::Free, Metadata::Asked, Metadata::Denied].map(build);
    let image = Image::new(plan).map_err(at(Stage::Exec))?;
    check_mounts(plan).map_err(at(Stage::Mounts))?;
    if let Some(user) = plan.drop_to {
        drop_privileges(user).map_err(text).map_err(at(Stage::Privileges))?;
    }
    drop_capabilities().map_err(text).map_err(at(Stage::Privileges))?;
    // After changing the user, which resets it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| at(Stage::Fork)(e.to_string()))?;
    std::env::set_current_dir(&plan.cwd).map_err(text).map_err(at(Stage::WorkingFolder))?;
    rustix::thread::set_no_new_privs(true).map_err(|e| at(Stage::Privileges)(e.to_string()))?;
    if landlocked {
        restrict_files(plan).map_err(at(Stage::Landlock))?;
    }
    close_others_on_exec().map_err(text).map_err(at(Stage::Limits))?;
    apply_limits(plan).map_err(at(Stage::Limits))?;
    let filters = match supervisor {
        _ if !landlocked => free?,
        // A process has only one such listener; if another program has it, metadata stays as it is.
        Some(supervisor) if notify::ask(&asking, supervisor).is_ok() => asked?,
        _ => denied?,
    };
    seccomp::apply(&filters).map_err(at(Stage::Seccomp))?;
    Err(Failure { stage: Stage::Exec, message: image.exec().to_string() })
}

/// Between the check of a path and its mount somebody may have put something else there. Without mounts of its own, the
/// same is asked of what a rule is made for.
fn check_mounts(plan: &Plan) -> Result<(), String> {
    for (path, ..) in &plan.checked {
        let found = path.metadata().map_err(|e| format!("{}: {e}", path.display()))?;
        check_mount(plan, path, &found)?;
    }
    Ok(())
}

fn check_mount(plan: &Plan, path: &Path, found: &fs::Metadata) -> Result<(), String> {
    let other = |(checked, device, inode): &(PathBuf, u64, u64)| {
        checked == path && (*device, *inode) != (found.dev(), found.ino())
    };
    if plan.checked.iter().any(other) {
        return Err(format!("{} isn't what it was when it was checked; try again", path.display()));
    }
    Ok(())
}

fn drop_privileges(user: u32) -> io::Result<()> {
    // SAFETY: the calls take numbers and an empty list; this process has a single thread, so there is none that
    // would keep the old user.
    unsafe {
        succeeded(libc::setgroups(0, std::ptr::null()))?;
        succeeded(libc::setresgid(user, user, user))?;
        succeeded(libc::setresuid(user, user, user))
    }
}

/// Root that stays root must not keep its capabilities.
fn drop_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    // Root regains its capabilities on any exec, despite no_new_privs, unless the bounding set is empty too.
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
    succeeded(unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) })
}

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
        // Moving the strings moves none of their bytes, so the pointers stay valid.
        Ok(Self { candidates, argv, envp, _owned: [arguments, variables] })
    }

    /// Tries the places in order, as execvp does; returns why none worked.
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

/// The newest ABI known to the library; what the kernel lacks of it is left out.
const NEWEST_ABI: ABI = ABI::V9;

/// Denies the whole file system, TCP, abstract sockets and signals to the outside, except what the plan lists.
fn restrict_files(plan: &Plan) -> Result<(), String> {
    let text = |e: landlock::RulesetError| e.to_string();
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST_ABI))
        .and_then(|r| {
            if plan.network {
                return Ok(r);
            }
            r.handle_access(AccessNet::from_all(NEWEST_ABI))
        })
        .and_then(|r| r.scope(Scope::from_all(NEWEST_ABI)))
        .and_then(Ruleset::create)
        .map_err(text)?;
    let read = AccessFs::from_read(NEWEST_ABI);
    let unwanted = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix;
    let write = AccessFs::from_all(NEWEST_ABI) & !unwanted;
    for (paths, access) in [(&plan.read, read), (&plan.write, write)] {
        for path in paths {
            if let Some((fd, access)) = rule_for(plan, path, access)? {
                ruleset = ruleset.add_rule(PathBeneath::new(fd, access)).map_err(text)?;
            }
        }
    }
    let status = ruleset.restrict_self().map_err(text)?;
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err("the kernel did not enforce the rules".to_owned());
    }
    Ok(())
}

/// A file takes only the rights of files. What does not exist grants nothing.
fn rule_for(
    plan: &Plan,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<Option<(PathFd, BitFlags<AccessFs>)>, String> {
    let Ok(fd) = PathFd::new(path) else {
        return Ok(None);
    };
    let opened = fd.as_fd().try_clone_to_owned().map_err(|e| e.to_string())?;
    let metadata = File::from(opened).metadata().map_err(|e| e.to_string())?;
    check_mount(plan, path, &metadata)?;
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(NEWEST_ABI) };
    Ok(Some((fd, access)))
}

const FILES: u64 = 512;

fn apply_limits(plan: &Plan) -> Result<(), String> {
    let limits = &plan.limits;
    set_limit(Resource::Core, 0, 0)?;
    // SIGXCPU comes at the soft limit and tells what happened, SIGKILL a second later.
    set_limit(Resource::Cpu, limits.cpu_s, limits.cpu_s + 1)?;
    set_limit(Resource::Fsize, limits.file_bytes, limits.file_bytes)?;
    set_limit(Resource::Nofile, FILES, FILES)?;
    set_limit(Resource::Memlock, 64 << 10, 64 << 10)?;
    set_limit(Resource::Msgqueue, 0, 0)?;
    if let Some(most) = plan.most_processes {
        set_limit(Resource::Nproc, most, most)?;
    }
    set_limit(Resource::As, limits.memory_bytes, limits.memory_bytes)
}

/// Keeps a hard limit that is already lower.
fn set_limit(resource: Resource, soft: u64, hard: u64) -> Result<(), String> {
    let inherited = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let new = Rlimit { current: Some(soft.min(inherited)), maximum: Some(hard.min(inherited)) };
    setrlimit(resource, new).map_err(|e| format!("{resource:?}: {e}"))
}

#[expect(clippy::needless_pass_by_value, reason = "the other side waits until this end is closed")]
pub(super) fn offer_listener(to: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    send_with_descriptors(&to, b"g", &[listener.as_fd()])
}
