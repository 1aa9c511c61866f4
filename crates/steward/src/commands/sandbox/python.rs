use super::seconds;
use crate::cli::SandboxPython;
use crate::compose::{python_config, sandbox_helper};
use crate::settings::Settings;
use anyhow::Context;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use steward_sandbox::python::{PythonLimits, PythonPool};
use tokio_util::sync::CancellationToken;

pub(super) async fn run(settings: &Settings, args: SandboxPython) -> anyhow::Result<Value> {
    let code = code(&args.file)?;
    let payload: Value = serde_json::from_str(&args.payload).context("the payload is no JSON")?;
    let limits = PythonLimits {
        wall: seconds(args.timeout)?,
        memory_bytes: args.memory.clamp(1, 64 << 10) << 20,
        ..PythonLimits::default()
    };
    let pool = PythonPool::new(sandbox_helper(settings), python_config(settings));
    let outcome = pool.run(&code, &payload, &limits, &CancellationToken::new()).await;
    Ok(match outcome {
        Ok(outcome) => {
            let mut answer = json!({
                "ok": outcome.result.is_ok(),
                "outcome": outcome.word(),
                "stdout": outcome.stdout,
                "stderr": outcome.stderr,
                "truncated": outcome.truncated,
                "ms": outcome.ms,
                "tier": outcome.tier,
            });
            match outcome.result {
                Ok(result) => answer["result"] = result,
                Err(fault) => answer["error"] = json!(fault),
            }
            answer
        }
        Err(error) => json!({
            "ok": false,
            "outcome": "unavailable",
            "error": {"kind": "unavailable", "message": error.to_string()},
        }),
    })
}

fn code(file: &Path) -> anyhow::Result<String> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().take(1 << 20).read_to_end(&mut bytes)?;
        bytes
    } else {
        std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?
    };
    String::from_utf8(bytes).with_context(|| format!("{} is no UTF-8 text", file.display()))
}
