use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::mounts::Resolved;
use super::spec::Tier;
use super::{Sandbox, SandboxError, doctor, run};
use crate::helper::Primitives;

/// Below this, Landlock lets a confined program truncate files it may not write.
const LANDLOCK_ABI: i32 = 3;

/// Fixed places, since PATH may hold folders that others can write to.
const BUBBLEWRAP: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// As far as it was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The tier in use; `None` if nothing can be run.
    pub tier: Option<Tier>,
    /// 0 if the kernel has no Landlock.
    pub landlock_abi: i32,
    pub seccomp: bool,
    pub user_namespaces: bool,
    pub bubblewrap: Option<PathBuf>,
    /// Commands of root run as `nobody` if it can use the workspace, else as root without capabilities.
    pub root: bool,
    /// Why tiers are not used, one line each.
    pub missing: Vec<String>,
}

impl Capabilities {
    pub(crate) fn unavailable(&self) -> SandboxError {
        let hint = if self.seccomp {
            "Install bubblewrap (package `bubblewrap`) and allow user namespaces, or use a kernel with Landlock ABI 3 \
             (Linux 6.2) or later; in a container, its seccomp profile must allow them"
        } else {
            "The kernel, or the container this runs in, must allow seccomp filters"
        };
        SandboxError::Unavailable { missing: self.missing.join("; "), hint: hint.to_owned() }
    }
}

/// What is known without starting anything, and the tiers of `allowed` that are worth a try.
pub(super) fn untried(allowed: &[Tier]) -> (Capabilities, Vec<Tier>) {
    let mut known = Capabilities { landlock_abi: crate::helper::landlock_abi(), seccomp: true, ..unknown() };
    let mut worth = Vec::new();
    for tier in allowed {
        match lacks(&known, *tier) {
            None => worth.push(*tier),
            Some(reason) => known.missing.push(reason),
        }
    }
    (known, worth)
}

fn unknown() -> Capabilities {
    Capabilities {
        tier: None,
        landlock_abi: 0,
        seccomp: false,
        user_namespaces: false,
        bubblewrap: BUBBLEWRAP.iter().map(PathBuf::from).find(|place| place.is_file()),
        root: is_root(),
        missing: Vec::new(),
    }
}

/// Why a tier need not be tried.
fn lacks(found: &Capabilities, tier: Tier) -> Option<String> {
    match tier {
        Tier::Namespaces if found.bubblewrap.is_none() => Some("bubblewrap is not installed".to_owned()),
        Tier::Landlock if found.landlock_abi < LANDLOCK_ABI => {
            let has = match found.landlock_abi {
                ..=0 => "the kernel has no Landlock".to_owned(),
                abi => format!("the kernel's Landlock ABI is {abi}"),
            };
            Some(format!("{has}, ABI {LANDLOCK_ABI} is needed"))
        }
        _ => None,
    }
}

pub(super) async fn probe(sandbox: &Sandbox) -> Capabilities {
    let mut found = unknown();
    match primitives(sandbox).await {
        Ok(Primitives { landlock_abi, seccomp, user_namespaces }) => {
            found = Capabilities { landlock_abi, seccomp, user_namespaces, ..found };
        }
        Err(reason) => {
            found.missing.push(format!("the launcher {} does not run: {reason}", sandbox.helper.program.display()));
            return found;
        }
    }
    if !found.seccomp {
        found.missing.push("the kernel does not accept seccomp filters".to_owned());
        return found;
    }
    for tier in &sandbox.allowed {
        match works(sandbox, &found, *tier).await {
            Ok(()) => {
                found.tier = Some(*tier);
                break;
            }
            Err(reason) => found.missing.push(reason),
        }
    }
    tracing::debug!(tier = ?found.tier, missing = ?found.missing, "sandbox probed");
    found
}

async fn primitives(sandbox: &Sandbox) -> Result<Primitives, String> {
    let mut command = Command::new(&sandbox.helper.program);
    command.args(&sandbox.helper.prefix).arg("probe").env_clear().kill_on_drop(true);
    let output = tokio::time::timeout(Duration::from_secs(10), command.output())
        .await
        .map_err(|_| "it hangs".to_owned())?
        .map_err(|e| e.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())
}

/// A tier counts only if a program inside reports every barrier in place.
async fn works(sandbox: &Sandbox, found: &Capabilities, tier: Tier) -> Result<(), String> {
    if let Some(lacking) = lacks(found, tier) {
        return Err(lacking);
    }
    let name = tier.mechanism();
    let test = doctor::EscapeTest::new(&sandbox.helper, tier).map_err(|e| format!("{name}: {e}"))?;
    let outcome =
        run::run(&sandbox.helper, found, tier, test.spec.clone(), tokio::io::empty(), &CancellationToken::new())
            .await
            .map_err(|e| format!("{name} does not work here: {e}"))?;
    let broken: Vec<String> = test.barriers(&outcome).into_iter().filter(|c| !c.ok).map(|c| c.name).collect();
    if broken.is_empty() { Ok(()) } else { Err(format!("{name} does not hold here: {}", broken.join(", "))) }
}

/// The user and group with the fewest rights on every Linux.
pub(super) const NOBODY: u32 = 65534;

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether `nobody` can use the workspace and the readable paths as the specification wants. Under bubblewrap the
/// folders above are ours, so only the workspace itself counts; under Landlock the path to it does too.
pub(super) fn can_drop(resolved: &Resolved, tier: Tier) -> bool {
    let workspace = &resolved.workspace;
    let need = if resolved.writable { 0o7 } else { 0o5 };
    let mut paths = std::iter::once(workspace).chain(&resolved.read_paths).chain(&resolved.write_paths);
    allows(workspace, need)
        && resolved.write_paths.iter().all(|path| allows(path, if path.is_dir() { 0o7 } else { 0o6 }))
        && allows(&resolved.cwd, 0o5)
        && match tier {
            Tier::Namespaces => true,
            Tier::Landlock => paths.all(|p| p.ancestors().skip(1).all(|a| allows(a, 0o1))),
        }
}

fn allows(path: &Path, need: u32) -> bool {
    path.metadata().is_ok_and(|m| {
        let shift = if m.uid() == NOBODY {
            6
        } else if m.gid() == NOBODY {
            3
        } else {
            0
        };
        (m.mode() >> shift) & need == need
    })
}
