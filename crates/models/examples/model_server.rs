//! The model server on its own, as `steward model-server` runs it: `model_server PATH [key=value…]`
//! with socket and token as one JSON line on standard input.

use std::process::ExitCode;
use std::time::Duration;
use steward_models::local::{ServeTuning, serve_supervised};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else {
        eprintln!("usage: model_server PATH [threads=N] [context=N] [alias=NAME] [idle_ms=N] [crash=1]");
        return ExitCode::from(2);
    };
    let mut tuning = ServeTuning::default();
    for pair in args {
        let (key, value) = pair.split_once('=').unwrap_or((&pair, ""));
        let number = value.parse::<u32>().unwrap_or(0);
        match key {
            "threads" => tuning.threads = number,
            "context" => tuning.context_tokens = number,
            "alias" => value.clone_into(&mut tuning.alias),
            "idle_ms" => tuning.idle_exit = Some(Duration::from_millis(number.into())),
            other => eprintln!("unknown setting {other}"),
        }
    }
    match serve_supervised(path.into(), tuning) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
