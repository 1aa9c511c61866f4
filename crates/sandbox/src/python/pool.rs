use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use steward_core::live::Live;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use super::call::{self, NoCall, RawResult};
use super::start::check;
use super::zygote::Zygote;
use super::{
    FaultKind, MOST_CODE, MOST_PAYLOAD, PythonConfig, PythonFault, PythonLimits, PythonOutcome, allowed, result, start,
};
use crate::process::{Check, Helper, Privileges, Sandbox, SandboxError, Tier};

/// Tries while the system has no room for a call's process, and the pause between them.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// Runs inline Python, each call in a process of its own. Cheap to clone; clones share the warm interpreter, which is
/// started at the first call or by [`PythonPool::warm`], restarted if it is lost, and killed with the last clone.
#[derive(Debug, Clone)]
pub struct PythonPool {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    sandbox: Sandbox,
    config: Live<PythonConfig>,
    slots: Semaphore,
    zygote: Mutex<Option<Arc<Zygote>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// Such as `3.11.2`.
    pub version: String,
    pub program: PathBuf,
    pub tier: Tier,
    pub privileges: Privileges,
    /// From nothing to the first possible call, including the test of its barriers.
    pub start_ms: u64,
}

impl PythonPool {
    /// Uses the strongest tier of the machine; starts nothing yet.
    pub fn new(helper: Helper, config: PythonConfig) -> Self {
        Self::within(Sandbox::new(helper), config)
    }

    pub fn within(sandbox: Sandbox, config: PythonConfig) -> Self {
        let slots = Semaphore::new(config.concurrency.clamp(1, 256));
        Self { inner: Arc::new(Inner { sandbox, config: Live::new(config), slots, zygote: Mutex::new(None) }) }
    }

    /// Another interpreter for the next calls; those at work end in the one before. How many there are stays.
    pub async fn change(&self, config: PythonConfig) {
        let mut zygote = self.inner.zygote.lock().await;
        self.inner.config.replace(config);
        *zygote = None;
    }

    pub fn interpreter(&self) -> Option<PathBuf> {
        self.inner.config.get().interpreter.clone()
    }

    /// Spares the first call a wait. Fails if there is no Python or it cannot be confined; then nothing is run.
    pub async fn warm(&self) -> Result<Interpreter, SandboxError> {
        let zygote = self.zygote().await?;
        Ok(Interpreter {
            version: zygote.ready.version.clone(),
            program: PathBuf::from(&zygote.ready.executable),
            tier: zygote.tier,
            privileges: zygote.privileges,
            start_ms: zygote.start_ms,
        })
    }

    /// Killed at its wall time, on `cancel`, and on drop. Code that fails is an outcome, no error.
    pub async fn run(
        &self,
        code: &str,
        payload: &Value,
        limits: &PythonLimits,
        cancel: &CancellationToken,
    ) -> Result<PythonOutcome, SandboxError> {
        let input = start::input(code, payload);
        if let Some(fault) = too_large(code.len(), input.len() - code.len() - 4) {
            return Ok(without_result(fault, Tier::Namespaces));
        }
        let slot = tokio::select! {
            slot = self.inner.slots.acquire() => slot,
            () = cancel.cancelled() => return Ok(without_result(fault_of(FaultKind::Cancelled), Tier::Namespaces)),
        };
        let _slot = slot.map_err(|_| SandboxError::Invalid("the pool is closed".to_owned()))?;
        let (mut lost, mut busy) = (0, 0);
        loop {
            let zygote = self.zygote().await?;
            match call::make(&zygote, &input, limits, false, cancel).await {
                Ok(raw) => return Ok(outcome(&raw, limits, zygote.tier)),
                // It ended for a reason of its own, such as the system's lack of memory.
                Err(NoCall::Gone) if lost < 1 => lost += 1,
                Err(NoCall::Gone) => return Ok(without_result(fault_of(FaultKind::Killed), zygote.tier)),
                Err(NoCall::Busy(why)) if busy >= TRIES => {
                    return Err(SandboxError::Setup { step: "fork".to_owned(), reason: why });
                }
                Err(NoCall::Busy(_)) => {
                    busy += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(NoCall::Io(error)) => return Err(error.into()),
            }
        }
    }

    /// Takes about a second.
    pub async fn doctor(&self) -> Vec<Check> {
        let found = match self.warm().await {
            Ok(found) => found,
            Err(error) => return vec![check("interpreter", false, error.to_string())],
        };
        let place = found.tier.mechanism();
        let mut checks = vec![check(
            "interpreter",
            true,
            format!(
                "Python {} ({}) under {place}, warm after {} ms",
                found.version,
                found.program.display(),
                found.start_ms
            ),
        )];
        if let Ok(zygote) = self.zygote().await {
            checks.extend(start::barriers(&zygote).await);
        }
        let started = Instant::now();
        let never = CancellationToken::new();
        let code = "import json, re, math, datetime, itertools, collections, statistics, hashlib, base64\ndef run(payload): return payload";
        let limits = PythonLimits::default();
        let answer = self.run(code, &json!([1]), &limits, &never).await;
        let ok = answer.is_ok_and(|o| o.result.as_ref() == Ok(&json!([1])));
        let detail = format!("{:.1} ms", started.elapsed().as_secs_f64() * 1000.0);
        checks.push(check("call", ok, detail));
        let short = PythonLimits { wall: Duration::from_millis(300), ..limits };
        let endless = "def run(payload):\n    while True: pass";
        let (word, ms) = match self.run(endless, &json!(null), &short, &never).await {
            Ok(outcome) => (outcome.word(), outcome.ms),
            Err(_) => ("failed", 0),
        };
        checks.push(check("kill at the wall time", word == "timeout" && ms < 3000, format!("{word} after {ms} ms")));
        checks
    }

    async fn zygote(&self) -> Result<Arc<Zygote>, SandboxError> {
        let mut current = self.inner.zygote.lock().await;
        if let Some(zygote) = current.as_ref().filter(|z| z.alive()) {
            return Ok(Arc::clone(zygote));
        }
        let started = Arc::new(start::start(&self.inner.sandbox, &self.inner.config.get()).await?);
        *current = Some(Arc::clone(&started));
        Ok(started)
    }
}

fn outcome(raw: &RawResult, limits: &PythonLimits, tier: Tier) -> PythonOutcome {
    let result = if raw.cancelled {
        Err(fault_of(FaultKind::Cancelled))
    } else if raw.flooded {
        Err(fault_of(FaultKind::Output))
    } else {
        result::read(raw.end, &raw.frame, limits, &allowed().join(", "))
    };
    PythonOutcome {
        result,
        stdout: raw.stdout.text().into_owned(),
        stderr: raw.stderr.text().into_owned(),
        truncated: raw.stdout.truncated() || raw.stderr.truncated(),
        ms: raw.ms,
        tier,
    }
}

fn without_result(fault: PythonFault, tier: Tier) -> PythonOutcome {
    PythonOutcome { result: Err(fault), stdout: String::new(), stderr: String::new(), truncated: false, ms: 0, tier }
}

fn too_large(code: usize, payload: usize) -> Option<PythonFault> {
    let bounds = [
        ("code", code, MOST_CODE, "Shorten the code; data belongs into the payload"),
        ("payload", payload, MOST_PAYLOAD, "Pass less data, or a part of it at a time"),
    ];
    let (what, length, most, hint) = bounds.into_iter().find(|(_, length, most, _)| length > most)?;
    let message = format!("the {what} has {length} bytes, and a call takes at most {most}");
    Some(result::fault(FaultKind::Input, message, hint))
}

fn fault_of(kind: FaultKind) -> PythonFault {
    let (message, hint) = match kind {
        FaultKind::Cancelled => ("the call was cancelled", "Call again if it is still wanted"),
        FaultKind::Output => {
            ("the result or the output is too large", "Return and print less: a summary, or the first rows")
        }
        _ => (
            "the interpreter ended in the middle of the call",
            "Call again; if it happens again, hold less data at a time",
        ),
    };
    result::fault(kind, message.to_owned(), hint)
}
