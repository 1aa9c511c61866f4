//! A program in the OS sandbox, within the time of a call.

use crate::error::ToolsError;
use crate::handler::Context;
use std::time::Duration;
use steward_sandbox::process::{CommandSpec, Exit, Limits, Outcome, Sandbox, SandboxError, Tripwire};
use tokio_util::sync::CancellationToken;

/// Memory of a program.
pub(super) const MEMORY: u64 = 1 << 30;
/// Bytes kept of each output stream.
const OUTPUT: usize = 256 << 10;
/// Earlier than the call's own end, so that the outcome is known.
const EARLY: Duration = Duration::from_millis(100);

/// Runs it. A stop of the run kills it and all that it has started.
pub(super) async fn run(sandbox: &Sandbox, mut spec: CommandSpec, context: &Context) -> Result<Outcome, ToolsError> {
    let wall = context.left();
    spec.limits = Limits {
        wall: wall.checked_sub(EARLY).unwrap_or(wall / 2),
        cpu_s: wall.as_secs().max(1),
        memory_bytes: MEMORY,
        output_bytes: OUTPUT,
        ..Limits::default()
    };
    let cancel = CancellationToken::new();
    let work = sandbox.run(spec, &cancel);
    tokio::pin!(work);
    let done = tokio::select! {
        done = &mut work => done,
        () = context.halt() => {
            cancel.cancel();
            work.await
        }
    };
    done.map_err(|error| explain(&error))
}

pub(super) fn explain(error: &SandboxError) -> ToolsError {
    ToolsError::Refused(match error {
        SandboxError::NotExecutable { program, reason } => {
            format!("{program} can't be run on this machine ({reason}); ask an operator")
        }
        other => other.to_string(),
    })
}

/// How a program ended that did not end as it should.
pub(super) fn ending(exit: Exit) -> String {
    match exit {
        Exit::Exited(code) => format!("ended with exit status {code}"),
        Exit::Signaled(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => "was stopped since it took too long; ask for less".to_owned(),
        Exit::Cancelled => "was stopped".to_owned(),
        Exit::LimitExceeded(Tripwire::Memory) => {
            format!("was stopped at {} MB of memory; ask for less", MEMORY >> 20)
        }
        Exit::LimitExceeded(limit) => format!("was stopped at a limit ({limit:?}); ask for less"),
    }
}
