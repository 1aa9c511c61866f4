//! What of the system a command sees, for both tiers.

use std::path::{Path, PathBuf};

use super::error::SandboxError;
use super::spec::{Access, CommandSpec};

/// Programs and libraries.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
];

/// The little of /etc that programs need to start; no accounts, no keys, no host names.
pub(super) const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/timezone",
];

/// What names, certificates and services are looked up in, for programs that may use the network.
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

/// A specification whose paths are real.
#[derive(Debug)]
pub(super) struct Resolved {
    pub workspace: PathBuf,
    pub cwd: PathBuf,
    pub read_paths: Vec<PathBuf>,
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
        return invalid(format!(
            "the workspace {} is not a folder",
            workspace.display()
        ));
    }
    let covers =
        |system: &&str| Path::new(system).starts_with(&workspace) || workspace == Path::new(system);
    if SYSTEM
        .iter()
        .chain(&["/etc", "/proc", "/dev", "/sys"])
        .any(covers)
    {
        return invalid(format!(
            "{} is a folder of the system and cannot be a workspace",
            workspace.display()
        ));
    }
    let cwd = real(&workspace.join(&spec.cwd), "the working folder")?;
    if !cwd.starts_with(&workspace) {
        return invalid(format!(
            "the working folder {} is outside the workspace",
            spec.cwd.display()
        ));
    }
    let read_paths = spec
        .read_paths
        .iter()
        .map(|p| {
            if p.is_absolute() {
                real(p, "a readable path")
            } else {
                invalid_path(p)
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Resolved {
        workspace,
        cwd,
        read_paths,
        writable: spec.access == Access::ReadWrite,
        network: spec.network,
    })
}

fn invalid_path(path: &Path) -> Result<PathBuf, SandboxError> {
    Err(SandboxError::Invalid(format!(
        "the readable path {} is not absolute",
        path.display()
    )))
}

fn real(path: &Path, what: &str) -> Result<PathBuf, SandboxError> {
    path.canonicalize()
        .map_err(|e| SandboxError::Invalid(format!("{what} {}: {e}", path.display())))
}

/// The environment: four variables, then what was asked for.
pub(super) fn environment(
    spec: &CommandSpec,
    workspace: &Path,
    tmp: &Path,
) -> Vec<(String, String)> {
    let mut env = std::collections::BTreeMap::from([
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("HOME".to_owned(), workspace.display().to_string()),
        ("TMPDIR".to_owned(), tmp.display().to_string()),
    ]);
    env.extend(spec.env.iter().map(|(k, v)| (k.clone(), v.clone())));
    env.into_iter().collect()
}
