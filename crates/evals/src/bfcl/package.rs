//! The Python package with the cases and the checker, in a virtual environment of its own.

use anyhow::{Context, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// The installed package. Its checker needs only the standard library once its table of hosted models is left out, so
/// its forty dependencies are not installed.
const PACKAGE: &str = "bfcl-eval==2026.3.23";
const SCRIPT: &str = include_str!("bfcl.py");

pub struct Package {
    python: PathBuf,
}

impl Package {
    /// Opens the package under `cache`; installs it first if it is missing.
    pub async fn open(cache: &Path) -> anyhow::Result<Self> {
        let home = cache.join("bfcl");
        let venv = home.join(PACKAGE.replace("==", "-"));
        let python = venv.join("bin").join("python");
        let ready = venv.join("installed");
        if !ready.is_file() {
            std::fs::create_dir_all(&home).with_context(|| format!("cannot make the folder {}", home.display()))?;
            let mut make = Command::new("python3");
            make.args(["-m", "venv", "--clear"]).arg(&venv);
            finished(make, "no Python environment could be made; install python3 (3.10 or newer) with its venv module")
                .await?;
            let mut install = Command::new(&python);
            install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", PACKAGE]);
            finished(
                install,
                "the Python package bfcl-eval could not be installed; check that pip reaches its package index",
            )
            .await?;
            std::fs::write(&ready, PACKAGE).with_context(|| format!("cannot write into {}", venv.display()))?;
        }
        Ok(Self { python })
    }

    /// Runs the script once: `arguments` as words, `input` as JSON on its standard input.
    pub async fn call(&self, arguments: &[&str], input: &Value) -> anyhow::Result<Value> {
        let mut command = Command::new(&self.python);
        command.arg("-c").arg(SCRIPT).args(arguments);
        let mut child = spawn(command, "the evaluation package cannot be started")?;
        let mut stdin = child.stdin.take().context("the script has no input")?;
        let text = input.to_string();
        let writer = async move {
            // A script that ends early gives the reason itself.
            let _ = stdin.write_all(text.as_bytes()).await;
        };
        let (output, ()) = tokio::join!(child.wait_with_output(), writer);
        let output = output.context("the evaluation package did not answer")?;
        if !output.status.success() {
            bail!(
                "the evaluation package failed; remove {} to install it anew: {}",
                self.python.parent().and_then(Path::parent).unwrap_or(&self.python).display(),
                tail(&output.stderr)
            );
        }
        serde_json::from_slice(&output.stdout).context("the evaluation package answered something that is not JSON")
    }
}

fn spawn(mut command: Command, problem: &str) -> anyhow::Result<tokio::process::Child> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| problem.to_owned())
}

async fn finished(command: Command, problem: &str) -> anyhow::Result<()> {
    let output = spawn(command, problem)?.wait_with_output().await.with_context(|| problem.to_owned())?;
    if !output.status.success() {
        let mut said = tail(&output.stderr);
        if said.is_empty() {
            said = tail(&output.stdout);
        }
        bail!("{problem}: {said}");
    }
    Ok(())
}

fn tail(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.trim().lines().collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}
