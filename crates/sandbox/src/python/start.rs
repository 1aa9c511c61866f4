//! Starting a warm interpreter: the first program and the strongest tier that work, shown by trying to get out.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use super::config::{PythonConfig, allowed, internal, warm};
use super::control::{Answer, Control, Ready};
use super::interpreter::{self, Candidate};
use super::zygote::{Parts, Zygote};
use super::{check, filter};
use crate::process::{
    Access, Capabilities, CommandSpec, Launch, Launched, Limits, Output, Sandbox, SandboxError, Tier, capture,
};

const SCRIPT: &str = include_str!("../../data/python/zygote.py");

/// How long importing may take on a slow machine.
const WARM_UP: Duration = Duration::from_secs(30);

pub(super) async fn start(sandbox: &Sandbox, config: &PythonConfig) -> Result<Zygote, SandboxError> {
    let (mut known, tiers) = sandbox.untried();
    if tiers.is_empty() {
        return Err(known.unavailable());
    }
    let places = interpreter::places(config);
    if places.is_empty() {
        return Err(no_python("there is no python3 in its usual places"));
    }
    let mut reasons = Vec::new();
    let mut programs = 0;
    for place in places {
        let candidate = match interpreter::resolve(&place).await {
            Ok(candidate) => candidate,
            Err(reason) => {
                reasons.push(reason);
                continue;
            }
        };
        programs += 1;
        for tier in &tiers {
            match one(sandbox, &known, *tier, &candidate, config.concurrency).await {
                Ok(zygote) => return Ok(zygote),
                Err(reason) => {
                    tracing::debug!(?tier, %reason, program = %candidate.program.display(), "no warm Python interpreter");
                    reasons.push(format!("{} under {}: {reason}", candidate.program.display(), name(*tier)));
                }
            }
        }
    }
    if programs == 0 {
        return Err(no_python(&reasons.join("; ")));
    }
    known.missing.extend(reasons);
    Err(known.unavailable())
}

fn no_python(missing: &str) -> SandboxError {
    SandboxError::Unavailable {
        missing: missing.to_owned(),
        hint: "Install CPython 3.10 or later (package `python3`), or name the interpreter in the settings".to_owned(),
    }
}

pub(super) fn name(tier: Tier) -> &'static str {
    match tier {
        Tier::Namespaces => "bubblewrap",
        Tier::Landlock => "Landlock",
    }
}

async fn one(
    sandbox: &Sandbox,
    known: &Capabilities,
    tier: Tier,
    candidate: &Candidate,
    concurrency: usize,
) -> Result<Zygote, String> {
    let text = |e: std::io::Error| e.to_string();
    let started = Instant::now();
    let workspace = workspace().map_err(text)?;
    let spec = spec(candidate, workspace.path(), concurrency)?;
    let (control, theirs) = Control::pair().map_err(text)?;
    let launch = Launch {
        helper: &sandbox.helper,
        capabilities: known,
        tier,
        spec: &spec,
        service: true,
        stdout: Stdio::from(theirs),
    };
    let mut launched = launch.start().await.map_err(|e| e.to_string())?;
    // Read all along, so that it cannot block on it.
    let stderr = launched.child.stderr.take();
    let words = tokio::spawn(async move {
        match stderr {
            Some(stderr) => capture(stderr, 4000).await,
            None => Output::default(),
        }
    });
    let ready = match tokio::time::timeout(WARM_UP, greet(&mut launched, &control)).await {
        Ok(Ok(Some(ready))) => ready,
        Ok(Ok(None)) => return Err(last_words(launched, words).await),
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("it was not ready after {WARM_UP:?}")),
    };
    // It goes on in the folder without its name; a killed program could not remove it any more.
    workspace.close().map_err(text)?;
    let mut zygote = Zygote::new(Parts {
        control,
        child: launched.child,
        leash: launched.leash,
        tier,
        privileges: launched.privileges,
        ready,
        held: launched.held,
    });
    let broken: Vec<String> = check::barriers(&zygote)
        .await
        .into_iter()
        .filter(|check| !check.ok)
        .map(|check| format!("{}: {}", check.name, check.detail))
        .collect();
    if !broken.is_empty() {
        drop(zygote);
        let said = said(words).await;
        let broken = broken.join(", ");
        return Err(format!("it does not hold here: {broken} {said}"));
    }
    zygote.start_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(zygote)
}

/// Hands over what it needs and waits for its word; `None` if it ended instead.
async fn greet(launched: &mut Launched, control: &Control) -> std::io::Result<Option<Ready>> {
    let config = json!({
        "allowed": allowed(),
        "warm": warm(),
        "internal": internal(),
        "filters": {
            "zygote": filter::zygote().map_err(std::io::Error::other)?,
            "call": filter::call().map_err(std::io::Error::other)?,
        },
    });
    if let Some(mut stdin) = launched.child.stdin.take() {
        // A program that has ended already is seen below.
        let _ = stdin.write_all(&launched.preamble).await;
        let _ = stdin.write_all(config.to_string().as_bytes()).await;
    }
    loop {
        match control.receive().await? {
            Some(Answer::Ready { ready }) => return Ok(Some(ready)),
            Some(_) => {}
            None => return Ok(None),
        }
    }
}

/// Why it ended, from its standard error or from the launcher.
async fn last_words(mut launched: Launched, words: JoinHandle<Output>) -> String {
    let said = said(words).await;
    let mut report = String::new();
    let _ = tokio::time::timeout(Duration::from_secs(2), (&mut launched.status).take(4000).read_to_string(&mut report))
        .await;
    let words = format!("{said} {}", report.trim());
    let words = words.trim();
    if words.is_empty() { "it ended without a word".to_owned() } else { words.to_owned() }
}

async fn said(words: JoinHandle<Output>) -> String {
    let output = tokio::time::timeout(Duration::from_secs(2), words).await;
    let output = output.ok().and_then(Result::ok).unwrap_or_default();
    output.text().trim().to_owned()
}

/// An empty folder that nobody may write to.
fn workspace() -> std::io::Result<tempfile::TempDir> {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::Builder::new().prefix("sandbox-python-").tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555))?;
    Ok(folder)
}

fn spec(candidate: &Candidate, workspace: &std::path::Path, concurrency: usize) -> Result<CommandSpec, String> {
    let program = candidate.program.to_str().ok_or("its path is no UTF-8")?.to_owned();
    let argv = [program.as_str(), "-I", "-S", "-B", "-X", "utf8=1", "-c", SCRIPT];
    let mut spec = CommandSpec::new(argv, workspace);
    spec.access = Access::ReadOnly;
    spec.read_paths.clone_from(&candidate.read_paths);
    spec.env.insert("TZ".to_owned(), "UTC0".to_owned());
    spec.limits = Limits {
        // Each call has limits of its own; the interpreter itself lives as long as this program.
        wall: Duration::from_secs(u64::from(u32::MAX)),
        cpu_s: u64::from(u32::MAX),
        memory_bytes: 1 << 40,
        processes: concurrency as u64 + 4,
        file_bytes: 1 << 20,
        output_bytes: 0,
        ..Limits::default()
    };
    Ok(spec)
}
