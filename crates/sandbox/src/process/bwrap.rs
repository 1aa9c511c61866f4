use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Helper;
use super::mounts::{ETC, NETWORK, Resolved, SYSTEM};
use super::spec::{Limits, Privileges};

pub(super) const INNER_HELPER: &str = "/run/sandbox/helper";

pub(super) fn arguments(
    helper: &Helper,
    resolved: &Resolved,
    limits: &Limits,
    privileges: Privileges,
    status_fd: i32,
) -> Vec<OsString> {
    let mut a = Arguments(Vec::new());
    a.add(["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]);
    if !resolved.network {
        a.add(["--unshare-net"]);
    }
    match privileges {
        // A user namespace that maps the caller's user onto itself.
        Privileges::User => a.add(["--unshare-user", "--cap-drop", "ALL"]),
        // A user namespace in which root is seen as `nobody`, without capabilities.
        Privileges::RootWithoutCapabilities => {
            a.add(["--unshare-user", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]);
        }
        // No user namespace, and the helper really becomes `nobody`.
        Privileges::Dropped => a.add(["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]),
    }
    a.add(["--hostname", "sandbox", "--die-with-parent", "--new-session", "--as-pid-1"]);
    for path in SYSTEM {
        a.system(Path::new(path));
    }
    // Folders that bubblewrap makes by itself would be closed to anyone but root.
    let network = if resolved.network { NETWORK } else { &[] };
    for path in ETC.iter().chain(network) {
        a.parents(Path::new(path));
        a.add(["--ro-bind-try", path, path]);
    }
    a.add(["--proc", "/proc", "--dev", "/dev"]);
    // The kernel's settings belong to root's user id, whatever its capabilities.
    for path in KERNEL_SETTINGS {
        a.add(["--ro-bind-try", path, path]);
    }
    let size = limits.file_bytes.to_string();
    // World-writable like the real ones, since the command's user may not be the one that mounts.
    a.add(["--perms", "1777", "--size", &size, "--tmpfs", "/dev/shm"]);
    a.add(["--perms", "1777", "--size", &size, "--tmpfs", "/tmp"]);
    a.parents(Path::new(INNER_HELPER));
    a.bind("--ro-bind", &helper.program, Path::new(INNER_HELPER));
    // Outer folders first, so that none hides another.
    let mut binds: Vec<(&PathBuf, &str)> = resolved.read_paths.iter().map(|p| (p, "--ro-bind")).collect();
    binds.extend(resolved.write_paths.iter().map(|p| (p, "--bind")));
    binds.push((&resolved.workspace, if resolved.writable { "--bind" } else { "--ro-bind" }));
    binds.sort_by_key(|(path, flag)| (path.components().count(), *flag == "--ro-bind"));
    for (path, flag) in binds {
        a.parents(path);
        a.bind(flag, path, path);
    }
    a.add(["--remount-ro", "/dev", "--remount-ro", "/", "--", INNER_HELPER]);
    a.0.extend(helper.prefix.iter().cloned());
    a.add(["run", &status_fd.to_string()]);
    a.0
}

/// What can be changed below `/proc` that is not of one process.
const KERNEL_SETTINGS: &[&str] = &[
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/driver",
    "/proc/tty",
    "/proc/mtrr",
];

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn bind(&mut self, flag: &str, from: &Path, to: &Path) {
        self.0.extend([flag.into(), from.into(), to.into()]);
    }

    /// The folders above a mount, which bubblewrap would make for its own user alone.
    fn parents(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|p| p.parent().is_some()).collect();
        above.reverse();
        for folder in above {
            self.add(["--perms", "0755", "--dir"]);
            self.0.push(folder.into());
        }
    }

    /// On merged-/usr systems /bin and the like are links, and programs expect them to be.
    fn system(&mut self, path: &Path) {
        match path.read_link() {
            Ok(target) => self.bind("--symlink", &target, path),
            Err(_) if path.is_dir() => self.bind("--ro-bind", path, path),
            Err(_) => {}
        }
    }
}
