//! `scripted-model SCRIPT.json [--port N] [--until-stdin-ends]`: the scripted model server on its own, for tests that
//! run other processes. Prints its port. `GET /_scripted/state` tells what it saw.

use std::process::ExitCode;

use steward_testkit::model_server::{Script, ScriptedModelServer};
use tokio::io::AsyncReadExt;

const USAGE: &str = "usage: scripted-model SCRIPT.json [--port N] [--until-stdin-ends]";

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run() -> Result<(), String> {
    let mut file = None;
    let mut port = 0;
    let mut until_stdin_ends = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--port" => {
                let text = args.next().ok_or("--port needs a number")?;
                port = text.parse().map_err(|_| format!("`{text}` is no port"))?;
            }
            "--until-stdin-ends" => until_stdin_ends = true,
            path if file.is_none() && !path.starts_with('-') => file = Some(path.to_owned()),
            other => return Err(format!("`{other}` is not understood; {USAGE}")),
        }
    }
    let file = file.ok_or(USAGE)?;
    let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
    let script: Script = serde_json::from_str(&text).map_err(|e| format!("{file}: {e}"))?;
    let server = ScriptedModelServer::start_at(script, port).await.map_err(|e| format!("port {port}: {e}"))?;
    println!("{}", server.port());
    if until_stdin_ends {
        let mut rest = Vec::new();
        tokio::io::stdin().read_to_end(&mut rest).await.map_err(|e| e.to_string())?;
    } else {
        std::future::pending::<()>().await;
    }
    Ok(())
}
