//! Whether a command of root can run as nobody.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::mounts::Resolved;
use super::spec::Tier;

/// The user and group with the fewest rights on every Linux.
pub(super) const NOBODY: u32 = 65534;

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether `nobody` can use the workspace and the readable paths as the specification wants. Under bubblewrap the
/// folders above are ours, so only the workspace itself counts; under Landlock the way to it does too.
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
