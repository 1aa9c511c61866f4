use std::path::{Path, PathBuf};

use super::SandboxError;
use super::spec::{Access, CommandSpec};
use crate::host::HostMount;

pub(super) const SYSTEM: &[&str] = &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// What programs need to start; no accounts, no keys, no host names.
pub(super) const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/timezone",
    // Without its settings, OpenSSL ends programs such as Node at their start. Not the folder: it holds keys too.
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/crypto-policies/back-ends",
];

/// Name resolution, certificates and services, for programs that may use the network.
pub(super) const NETWORK: &[&str] = &[
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
];

/// With real paths.
#[derive(Debug)]
pub(super) struct Resolved {
    pub workspace: PathBuf,
    pub cwd: PathBuf,
    pub read_paths: Vec<PathBuf>,
    pub write_paths: Vec<PathBuf>,
    /// Those of them that must still be what was checked.
    pub checked: Vec<HostMount>,
    pub writable: bool,
    pub network: bool,
}

pub(super) fn resolve(spec: &CommandSpec) -> Result<Resolved, SandboxError> {
    let invalid = |what: String| Err(SandboxError::Invalid(what));
    if spec.argv.first().is_none_or(String::is_empty) {
        return invalid("there is no program to run".to_owned());
    }
    if spec.argv.iter().any(|a| a.contains('\0')) {
        return invalid("an argument holds a NUL character".to_owned());
    }
    for (name, value) in &spec.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return invalid(format!("{name:?} cannot be an environment variable"));
        }
    }
    let workspace = real(&spec.workspace, "the workspace")?;
    if !workspace.is_dir() {
        return invalid(format!("the workspace {} is not a folder", workspace.display()));
    }
    if covers_system(&workspace) {
        return invalid(format!("{} is a folder of the system and cannot be a workspace", workspace.display()));
    }
    let cwd = real(&workspace.join(&spec.cwd), "the working folder")?;
    if !cwd.starts_with(&workspace) {
        return invalid(format!("the working folder {} is outside the workspace", spec.cwd.display()));
    }
    let mounted = |write: bool| spec.mounts.iter().filter(move |one| one.write == write).map(|one| one.path.clone());
    let write_paths: Vec<PathBuf> = mounted(true).collect();
    if let Some(system) = write_paths.iter().find(|path| covers_system(path) || is_of_system(path)) {
        return invalid(format!("{} belongs to the system and is not given to a program to change", system.display()));
    }
    let mut read_paths = absolute(&spec.read_paths, "a readable path")?;
    read_paths.extend(mounted(false));
    read_paths.retain(|path| !write_paths.contains(path));
    Ok(Resolved {
        workspace,
        cwd,
        read_paths,
        write_paths,
        checked: spec.mounts.clone(),
        writable: spec.access == Access::ReadWrite,
        network: spec.network,
    })
}

const KERNEL: &[&str] = &["/etc", "/proc", "/dev", "/sys"];

fn covers_system(path: &Path) -> bool {
    SYSTEM.iter().chain(KERNEL).any(|system| Path::new(system).starts_with(path))
}

fn is_of_system(path: &Path) -> bool {
    SYSTEM.iter().chain(KERNEL).any(|system| path.starts_with(system))
}

fn absolute(paths: &[PathBuf], what: &str) -> Result<Vec<PathBuf>, SandboxError> {
    let one = |path: &PathBuf| {
        if path.is_absolute() {
            return real(path, what);
        }
        Err(SandboxError::Invalid(format!("{what}, {}, is not absolute", path.display())))
    };
    paths.iter().map(one).collect()
}

fn real(path: &Path, what: &str) -> Result<PathBuf, SandboxError> {
    path.canonicalize().map_err(|e| SandboxError::Invalid(format!("{what} {}: {e}", path.display())))
}

/// Four variables, then those of the specification.
pub(super) fn environment(spec: &CommandSpec, workspace: &Path, tmp: &Path) -> Vec<(String, String)> {
    let mut env = std::collections::BTreeMap::from([
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("HOME".to_owned(), workspace.display().to_string()),
        ("TMPDIR".to_owned(), tmp.display().to_string()),
    ]);
    env.extend(spec.env.iter().map(|(k, v)| (k.clone(), v.clone())));
    env.into_iter().collect()
}
