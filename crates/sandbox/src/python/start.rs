use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::zygote::{Answer, Control, Ready, Zygote};
use super::{PythonConfig, PythonLimits, allowed, call, result, syscall_filter};
use crate::data_lines;
use crate::process::{
    Access, Capabilities, Check, CommandSpec, Launch, Launched, Limits, Output, Sandbox, SandboxError, Tier, capture,
};

const SCRIPT: &str = include_str!("../../data/python/zygote.py");

/// How long importing may take on a slow machine.
const WARM_UP: Duration = Duration::from_secs(30);

pub(super) async fn start(sandbox: &Sandbox, config: &PythonConfig) -> Result<Zygote, SandboxError> {
    let (mut known, tiers) = sandbox.untried();
    if tiers.is_empty() {
        return Err(known.unavailable());
    }
    let places = candidates(config);
    if places.is_empty() {
        return Err(no_python("there is no python3 in its usual places"));
    }
    let mut reasons = Vec::new();
    let mut programs = 0;
    for place in places {
        let candidate = match resolve(&place).await {
            Ok(candidate) => candidate,
            Err(reason) => {
                reasons.push(reason);
                continue;
            }
        };
        programs += 1;
        for tier in &tiers {
            match start_one(sandbox, &known, *tier, &candidate, config.concurrency).await {
                Ok(zygote) => return Ok(zygote),
                Err(reason) => {
                    tracing::debug!(?tier, %reason, program = %candidate.program.display(), "no warm Python interpreter");
                    reasons.push(format!("{} under {}: {reason}", candidate.program.display(), tier.mechanism()));
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

async fn start_one(
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
    // Read all along, so that the program cannot block on it.
    let words = tokio::spawn(capture(launched.child.stderr.take(), 4000));
    let ready = match tokio::time::timeout(WARM_UP, greet(&mut launched, &control)).await {
        Ok(Ok(Some(ready))) => ready,
        Ok(Ok(None)) => return Err(last_words(launched, words).await),
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("it was not ready after {WARM_UP:?}")),
    };
    // The interpreter stays in the folder without its name; a killed program could not remove it any more.
    workspace.close().map_err(text)?;
    let mut zygote = Zygote::new(control, launched, tier, ready);
    let checks = barriers(&zygote).await;
    let broken = checks.iter().filter(|check| !check.ok).map(|check| format!("{}: {}", check.name, check.detail));
    let broken: Vec<String> = broken.collect();
    if !broken.is_empty() {
        drop(zygote);
        return Err(format!("it does not hold here: {} {}", broken.join(", "), said(words).await));
    }
    zygote.start_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(zygote)
}

/// `None` if it ended before it was ready.
async fn greet(launched: &mut Launched, control: &Control) -> std::io::Result<Option<Ready>> {
    let config = json!({
        "allowed": allowed(),
        "warm": data_lines(include_str!("../../data/python/warm.txt")).collect::<Vec<_>>(),
        "internal": data_lines(include_str!("../../data/python/internal.txt")).collect::<Vec<_>>(),
        "filters": {
            "zygote": syscall_filter::zygote().map_err(std::io::Error::other)?,
            "call": syscall_filter::call().map_err(std::io::Error::other)?,
        },
    });
    if let Some(mut stdin) = launched.child.stdin.take() {
        // A program that has already ended is noticed below.
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

/// Empty, and writable by nobody.
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

/// Already part of what every sandboxed program sees.
const SYSTEM: &[&str] = &["/usr/bin/python3", "/bin/python3"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub program: PathBuf,
    /// In addition to the system's folders.
    pub read_paths: Vec<PathBuf>,
}

/// In the order of trying. A configured interpreter is the only one.
pub(super) fn candidates(config: &PythonConfig) -> Vec<PathBuf> {
    if let Some(named) = &config.interpreter {
        return vec![named.clone()];
    }
    let mut found: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    found.extend(config.search.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join("python3")));
    let mut seen = Vec::new();
    found.retain(|place| {
        let real = place.canonicalize().ok().filter(|real| real.is_file());
        let new = real.is_some() && !seen.contains(&real);
        seen.push(real);
        new
    });
    found
}

/// The error says why it is no usable program.
pub(super) async fn resolve(place: &Path) -> Result<Candidate, String> {
    let real = place.canonicalize().map_err(|e| format!("{}: {e}", place.display()))?;
    if real.starts_with("/usr") && is_program(&real) && !real.starts_with("/usr/local") {
        return Ok(Candidate { program: real, read_paths: Vec::new() });
    }
    // It may be a script, its library anywhere: it is asked, outside the sandbox, as whoever put it into PATH would.
    ask(place).await
}

async fn ask(place: &Path) -> Result<Candidate, String> {
    const QUESTION: &str = "import os, sys; print(os.path.realpath(sys.executable)); print(os.path.realpath(sys.base_prefix)); print(os.path.realpath(sys.base_exec_prefix))";
    let mut command = Command::new(place);
    command.args(["-I", "-S", "-c", QUESTION]).kill_on_drop(true);
    let said = |what: &str| format!("{}: {what}", place.display());
    let output = tokio::time::timeout(Duration::from_secs(10), command.output())
        .await
        .map_err(|_| said("it does not answer"))?
        .map_err(|e| said(&e.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let paths: Vec<PathBuf> = text.lines().map(PathBuf::from).collect();
    let [program, base, exec_base] = paths.as_slice() else {
        return Err(said("it is no Python interpreter"));
    };
    if !is_program(program) {
        return Err(said("it is no Python interpreter"));
    }
    let mut read_paths = vec![base.clone(), exec_base.clone(), program.clone()];
    read_paths.sort();
    read_paths.dedup();
    read_paths.retain(|path| path != Path::new("/usr") && path != Path::new("/"));
    let folders = read_paths.clone();
    read_paths.retain(|path| !folders.iter().any(|f| f != path && path.starts_with(f)));
    Ok(Candidate { program: program.clone(), read_paths })
}

/// Whether the kernel runs it without another program.
fn is_program(path: &Path) -> bool {
    let mut magic = [0u8; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}

const CODE: &str = include_str!("../../data/python/check.py");

pub(super) async fn barriers(zygote: &Zygote) -> Vec<Check> {
    let limits = PythonLimits::default();
    let input = input(CODE, &json!(null));
    let raw = call::make(zygote, &input, &limits, true, &CancellationToken::new()).await;
    let tried = match raw {
        Ok(raw) => result::read(raw.end, &raw.frame, &limits, "")
            .map_err(|fault| format!("{fault} {}", raw.stderr.text()))
            .and_then(|value| serde_json::from_value::<Vec<(String, bool, String)>>(value).map_err(|e| e.to_string())),
        Err(error) => Err(format!("{error:?}")),
    };
    let own = zygote.ready.barriers.iter().cloned();
    match tried {
        Ok(tried) => own.chain(tried).map(|(name, ok, detail)| check(&name, ok, detail)).collect(),
        Err(reason) => vec![check("run the check", false, reason)],
    }
}

pub(super) fn check(name: &str, ok: bool, detail: String) -> Check {
    Check::new(name, ok, detail).with_hint("Inline Python is not run while this fails.")
}

/// What a call reads: the length of the code (4 bytes, little endian), the code, and the payload as JSON.
pub(super) fn input(code: &str, payload: &Value) -> Vec<u8> {
    let mut input = u32::try_from(code.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    input.extend_from_slice(code.as_bytes());
    input.extend_from_slice(payload.to_string().as_bytes());
    input
}
