//! Pools for the tiers of this machine.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use steward_sandbox::process::{Helper, Sandbox, Tier};
use steward_sandbox::python::{PythonConfig, PythonLimits, PythonOutcome, PythonPool};
use tokio_util::sync::CancellationToken;

pub fn helper() -> Helper {
    Helper { program: PathBuf::from(env!("CARGO_BIN_EXE_sandbox-helper")), prefix: Vec::new() }
}

pub fn pool(tier: Tier) -> PythonPool {
    let config = PythonConfig {
        interpreter: std::env::var_os("PYTHON").map(PathBuf::from),
        search: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        ..PythonConfig::default()
    };
    PythonPool::within(Sandbox::new(helper()).only(tier), config)
}

/// The tiers that work here; `tests/sandbox.rs` sees to it that none is left out that should.
pub async fn pools() -> Vec<(Tier, PythonPool)> {
    let mut found = Vec::new();
    for tier in [Tier::Namespaces, Tier::Landlock] {
        if Sandbox::new(helper()).only(tier).probe().await.tier.is_some() {
            found.push((tier, pool(tier)));
        } else {
            eprintln!("{tier:?} is not available here");
        }
    }
    found
}

/// As by default, but faster in what is waited for.
pub fn limits() -> PythonLimits {
    PythonLimits { wall: Duration::from_millis(1500), ..PythonLimits::default() }
}

pub async fn run(pool: &PythonPool, code: &str, payload: Value, limits: &PythonLimits) -> PythonOutcome {
    pool.run(code, &payload, limits, &CancellationToken::new()).await.unwrap()
}

pub fn describe(outcome: &PythonOutcome) -> String {
    let result: String = match &outcome.result {
        Ok(value) => value.to_string(),
        Err(fault) => format!("{:?} {fault}", fault.kind),
    };
    let stderr: String = outcome.stderr.chars().take(300).collect();
    format!("{} in {} ms: {} {stderr}", outcome.word(), outcome.ms, result.chars().take(200).collect::<String>())
}
