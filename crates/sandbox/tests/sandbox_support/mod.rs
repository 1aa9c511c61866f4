//! The tiers of this machine and a workspace that a command may use.
#![allow(dead_code, reason = "each test file uses its part")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use steward_sandbox::process::{CommandSpec, Helper, Outcome, Sandbox, Tier};
use tokio_util::sync::CancellationToken;

pub fn helper() -> Helper {
    Helper { program: PathBuf::from(env!("CARGO_BIN_EXE_sandbox-helper")), prefix: Vec::new() }
}

/// The tiers that work here. A machine with none must refuse; that is tested below.
pub async fn tiers() -> Vec<(Tier, Sandbox)> {
    tiers_of(&helper()).await
}

pub async fn tiers_of(helper: &Helper) -> Vec<(Tier, Sandbox)> {
    let mut found = Vec::new();
    for tier in [Tier::Namespaces, Tier::Landlock] {
        let sandbox = Sandbox::new(helper.clone()).only(tier);
        let capabilities = sandbox.probe().await;
        if capabilities.tier.is_some() {
            found.push((tier, sandbox));
        } else {
            eprintln!("{tier:?} is not available here: {}", capabilities.missing.join("; "));
        }
    }
    found
}

/// A folder that also `nobody` can use, since that is what commands of root run as.
pub fn workspace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    open_up(dir.path());
    dir
}

pub fn open_up(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}

pub fn folder(path: PathBuf) -> PathBuf {
    std::fs::create_dir(&path).unwrap();
    open_up(&path);
    path
}

pub fn shell(script: &str, workspace: &Path) -> CommandSpec {
    let mut spec = CommandSpec::new(["sh", "-c", script], workspace);
    spec.limits.wall = Duration::from_secs(10);
    spec
}

pub async fn run(sandbox: &Sandbox, spec: CommandSpec) -> Outcome {
    sandbox.run(spec, &CancellationToken::new()).await.unwrap()
}
