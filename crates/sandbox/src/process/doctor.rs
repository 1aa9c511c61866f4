use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::bwrap::INNER_HELPER;
use super::machine_support::is_root;
use super::spec::{CommandSpec, Exit, Outcome, Tier};
use super::{Helper, Sandbox};
use crate::helper::{Barrier, Targets};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: String,
    pub ok: bool,
    pub detail: String,
    /// What to do if it is not ok.
    pub hint: Option<String>,
}

impl Check {
    pub(crate) fn new(name: &str, ok: bool, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok, detail: detail.into(), hint: None }
    }

    pub(crate) fn with_hint(self, hint: &str) -> Self {
        let hint = (!self.ok).then(|| hint.to_owned());
        Self { hint, ..self }
    }
}

/// A workspace with a canary outside, and the command that tries to reach it.
pub(super) struct EscapeTest {
    pub spec: CommandSpec,
    program: Vec<String>,
    _folders: tempfile::TempDir,
    canary: PathBuf,
}

impl EscapeTest {
    pub fn new(helper: &Helper, tier: Tier) -> std::io::Result<Self> {
        let folders = tempfile::Builder::new().prefix("sandbox-check-").tempdir()?;
        let at = |name: &str| folders.path().join(name);
        let (workspace, outside) = (at("workspace"), at("outside"));
        std::fs::create_dir(&workspace)?;
        std::fs::create_dir(&outside)?;
        let canary = outside.join("canary");
        std::fs::write(&canary, "canary")?;
        // If this runs as root, the command becomes nobody, and then file permissions alone must not be what stops it.
        std::fs::set_permissions(folders.path(), Permissions::from_mode(0o755))?;
        for open in [&workspace, &outside] {
            std::fs::set_permissions(open, Permissions::from_mode(0o777))?;
        }
        std::fs::set_permissions(&canary, Permissions::from_mode(0o666))?;
        std::os::unix::fs::symlink(&canary, workspace.join("link"))?;
        let targets = Targets {
            canary: canary.clone(),
            link: workspace.join("link"),
            outside,
            workspace: workspace.clone(),
            observer: std::process::id(),
            environment: ["PATH", "LANG", "HOME", "TMPDIR"].map(str::to_owned).to_vec(),
        };
        let mut helper = helper.clone();
        if tier == Tier::Landlock && is_root() {
            // The program may lie where nobody cannot reach it, such as in root's home.
            let copy = at("helper");
            std::fs::copy(&helper.program, &copy)?;
            helper.program = copy;
        }
        let program = inner(&helper, tier);
        let mut argv = program.clone();
        argv.extend(["check".to_owned(), serde_json::to_string(&targets)?]);
        let mut spec = CommandSpec::new(argv, &workspace);
        spec.limits.wall = Duration::from_secs(10);
        if tier == Tier::Landlock {
            spec.read_paths.push(helper.program);
        }
        Ok(Self { spec, program, _folders: folders, canary })
    }

    /// What the program inside reported; one failed check if it reported nothing.
    pub fn barriers(&self, outcome: &Outcome) -> Vec<Check> {
        let reported: Result<Vec<Barrier>, _> = serde_json::from_slice(&outcome.stdout.bytes);
        let Ok(reported) = reported else {
            return vec![failed("run a program", format!("{:?}: {}", outcome.exit, outcome.stderr.text()))];
        };
        let told = reported.into_iter().map(|one| Check::new(&one.name, one.ok, one.detail).with_hint(HINT));
        let mut checks: Vec<Check> = told.collect();
        let detail = format!("{:?} after {} ms", outcome.exit, outcome.wall_ms);
        checks.push(Check::new("run a program", outcome.exit == Exit::Exited(0), detail));
        // The program's word is not enough for what can be seen from here.
        let unchanged = std::fs::read(&self.canary).is_ok_and(|c| c == b"canary");
        let detail = if unchanged { "unchanged" } else { "changed from inside" };
        checks.push(Check::new("canary outside", unchanged, detail));
        checks
    }
}

const HINT: &str = "Untrusted programs are not run while this fails; see what the machine lacks above.";

fn inner(helper: &Helper, tier: Tier) -> Vec<String> {
    let program = match tier {
        Tier::Namespaces => Path::new(INNER_HELPER),
        Tier::Landlock => helper.program.as_path(),
    };
    let prefix = helper.prefix.iter().map(|p| p.to_string_lossy().into_owned());
    std::iter::once(program.display().to_string()).chain(prefix).collect()
}

impl Sandbox {
    /// Takes about a second.
    pub async fn doctor(&self) -> Vec<Check> {
        let found = self.probe().await;
        let tier = match found.tier {
            Some(Tier::Namespaces) => "bubblewrap namespaces and seccomp".to_owned(),
            Some(Tier::Landlock) => "Landlock and seccomp".to_owned(),
            None => found.missing.join("; "),
        };
        let yes = |has: bool| if has { "yes" } else { "no" };
        let kernel = format!(
            "Landlock ABI {}, seccomp {}, user namespaces {}, bubblewrap {}{}",
            found.landlock_abi,
            yes(found.seccomp),
            yes(found.user_namespaces),
            found.bubblewrap.as_ref().map_or_else(|| "none".to_owned(), |p| p.display().to_string()),
            if found.root { ", running as root" } else { "" },
        );
        let mut checks = vec![
            Check::new("sandbox", found.tier.is_some(), tier).with_hint(&found.unavailable().to_string()),
            Check::new("kernel", found.seccomp, kernel),
        ];
        let Some(tier) = found.tier else {
            return checks;
        };
        match EscapeTest::new(&self.helper, tier) {
            Ok(test) => match self.run(test.spec.clone(), &CancellationToken::new()).await {
                Ok(outcome) => checks.extend(test.barriers(&outcome)),
                Err(error) => checks.push(failed("run a program", error)),
            },
            Err(error) => checks.push(failed("temporary folder", error)),
        }
        checks.push(self.check_kill(tier).await);
        checks
    }

    async fn check_kill(&self, tier: Tier) -> Check {
        let name = "kill at the wall time";
        let mut test = match EscapeTest::new(&self.helper, tier) {
            Ok(test) => test,
            Err(error) => return failed(name, error),
        };
        test.spec.argv.clone_from(&test.program);
        test.spec.argv.push("sleep".to_owned());
        test.spec.limits.wall = Duration::from_millis(300);
        let started = Instant::now();
        match self.run(test.spec.clone(), &CancellationToken::new()).await {
            Ok(outcome) => {
                let took = started.elapsed();
                let ok = outcome.exit == Exit::TimedOut && took < Duration::from_secs(3);
                let detail = format!("{:?} after {} ms", outcome.exit, took.as_millis());
                Check::new(name, ok, detail)
            }
            Err(error) => failed(name, error),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers have an error that ends here")]
fn failed(name: &str, why: impl ToString) -> Check {
    Check::new(name, false, why.to_string()).with_hint(HINT)
}
