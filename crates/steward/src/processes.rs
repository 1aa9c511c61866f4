//! Child processes that are this same program.

use crate::cli::ModelServer;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use steward_models::local::{ServeTuning, serve_supervised};

/// Confines itself, then becomes the command.
pub fn sandbox_exec(args: Vec<OsString>) -> ExitCode {
    steward_sandbox::helper::main(args)
}

/// Serves the local model for its parent.
pub fn model_server(args: &ModelServer) -> ExitCode {
    let tuning = ServeTuning {
        threads: args.threads,
        context_tokens: args.context,
        idle_exit: (args.idle_exit > 0).then(|| Duration::from_secs(args.idle_exit)),
        ..ServeTuning::default()
    };
    match serve_supervised(args.model.clone().into(), tuning) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
