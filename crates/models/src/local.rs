//! The local model: llama.cpp in a child process that speaks the OpenAI dialect on a Unix socket.
//!
//! A child process because a crash, a leak or an endless evaluation inside native code must not take the parent's
//! runs with it, and because stopping it frees all its memory.

mod child;
mod fit;
mod gguf;
#[cfg(feature = "local-model")]
mod infer;
#[cfg(feature = "local-model")]
mod server;
mod supervisor;

pub use child::{ChildCommand, Endpoint};
pub use fit::fit;
pub use gguf::GgufHeader;
pub use supervisor::{Supervisor, SupervisorOptions};

use secrecy::ExposeSecret;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// For a child of a [`Supervisor`]: reads socket and token from standard input, and serves the model until that input
/// ends. Blocks, and starts its own runtime.
#[cfg(feature = "local-model")]
pub fn serve_supervised(model: PathBuf, tuning: ServeTuning) -> Result<(), LocalModelError> {
    // Unlocked again before the watcher thread reads on; the parent writes only this line.
    let endpoint = Endpoint::read(&mut std::io::stdin().lock())?;
    server::run(model, endpoint, tuning)
}

/// Without the feature `local-model` there is nothing to serve.
#[cfg(not(feature = "local-model"))]
pub fn serve_supervised(_model: PathBuf, _tuning: ServeTuning) -> Result<(), LocalModelError> {
    Err(LocalModelError::NotBuilt)
}

/// `model-server`, the process that a program with this command starts itself as.
#[derive(Debug, Clone, clap::Args)]
pub struct ModelServer {
    /// GGUF file.
    #[arg(long)]
    model: PathBuf,
    /// Threads; 0 is one per core.
    #[arg(long, default_value_t = 0)]
    threads: u32,
    /// Context window, tokens.
    #[arg(long, default_value_t = 4096)]
    context: u32,
    /// Exit after so many idle seconds; 0 never does.
    #[arg(long, default_value_t = 0)]
    idle_exit: u64,
}

impl ModelServer {
    /// How to start it; `options`: `--threads` and the like.
    pub fn command(program: &Path, model: &Path, options: &[(&str, u64)]) -> ChildCommand {
        let command = ChildCommand::new(program).arg("model-server").arg("--model").arg(model);
        options.iter().fold(command, |command, (name, value)| command.arg(name).arg(value.to_string()))
    }

    pub fn run(self) -> ExitCode {
        let tuning = ServeTuning {
            threads: self.threads,
            context_tokens: self.context,
            idle_exit: (self.idle_exit > 0).then(|| Duration::from_secs(self.idle_exit)),
            ..ServeTuning::default()
        };
        match serve_supervised(self.model, tuning) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct ServeTuning {
    /// For inference; 0 means one less than there are cores, but at least one.
    pub threads: u32,
    /// Context window, cut to what the model was trained for.
    pub context_tokens: u32,
    /// The model's name on the wire.
    pub alias: String,
    pub idle_exit: Option<Duration>,
}

impl Default for ServeTuning {
    fn default() -> Self {
        Self { threads: 0, context_tokens: 4096, alias: "local".to_owned(), idle_exit: None }
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Line {
    socket_path: PathBuf,
    token: String,
}

impl Endpoint {
    pub fn to_line(&self) -> Result<String, LocalModelError> {
        let line = Line { socket_path: self.socket_path.clone(), token: self.token.expose_secret().to_owned() };
        let json = serde_json::to_string(&line).map_err(|e| broken_handshake(&e.to_string()))?;
        Ok(format!("{json}\n"))
    }

    /// One line of JSON from the parent on standard input, since arguments and environment can be read in /proc.
    pub fn read(input: &mut impl BufRead) -> Result<Self, LocalModelError> {
        let mut text = String::new();
        if input.read_line(&mut text).map_err(|e| broken_handshake(&e.to_string()))? == 0 {
            return Err(broken_handshake("it ended at once"));
        }
        let line: Line = serde_json::from_str(text.trim_end()).map_err(|e| broken_handshake(&e.to_string()))?;
        Ok(Self { socket_path: line.socket_path, token: line.token.into() })
    }
}

fn broken_handshake(reason: &str) -> LocalModelError {
    LocalModelError::Handshake { reason: reason.to_owned() }
}

#[derive(Debug, thiserror::Error)]
pub enum LocalModelError {
    #[error("this build has no local model; build with `--features local-model`")]
    NotBuilt,
    #[error(
        "model file {} does not exist; run `make setup` to fetch the default model, or pass `--model-file PATH` to a GGUF file",
        path.display()
    )]
    FileMissing { path: PathBuf },
    #[error("model file {} cannot be read: {source}; check its permissions", path.display())]
    FileUnreadable { path: PathBuf, source: std::io::Error },
    #[error(
        "{} is not a usable GGUF model: {reason}; fetch it again or pass `--model-file PATH` to another one",
        path.display()
    )]
    BadModelFile { path: PathBuf, reason: String },
    #[error(
        "this processor lacks {missing}, which the built-in local model needs; connect a model server instead (`steward connections`)"
    )]
    CpuTooOld { missing: String },
    #[error("llama.cpp could not load {}: {reason}", path.display())]
    Load {
        path: PathBuf,
        /// llama.cpp's own message, if any.
        reason: String,
    },
    #[error("no memory for a context of {context_tokens} tokens; pass a smaller `--context`, or a smaller model")]
    Context { context_tokens: u32 },
    #[error("cannot listen on {}: {source}", path.display())]
    Socket { path: PathBuf, source: std::io::Error },
    #[error(
        "the socket path {} has {length} bytes, a Unix socket allows {limit}; choose a data directory with a shorter path",
        path.display()
    )]
    SocketPathTooLong { path: PathBuf, length: usize, limit: usize },
    #[error(
        "no start message on standard input ({reason}); `model-server` is started by Steward itself, by hand it needs `--socket` and `--token-file`"
    )]
    Handshake { reason: String },
    #[error("cannot start the model server {}: {source}", program.display())]
    Spawn { program: PathBuf, source: std::io::Error },
    #[error("the model server ended before it was ready ({status}){}", tail(stderr))]
    EndedEarly {
        status: String,
        /// The last lines.
        stderr: Vec<String>,
    },
    #[error(
        "the model server crashed {times} times in a row and is not started again for {retry_after_secs} s; try a smaller model or context, or another connection{}",
        tail(stderr)
    )]
    CrashLoop { times: u32, retry_after_secs: u64, stderr: Vec<String> },
    #[error(
        "the model server was not ready after {seconds} s and was stopped; a large model on a slow disk may need a longer start limit{}",
        tail(stderr)
    )]
    StartTimeout { seconds: u64, stderr: Vec<String> },
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: std::io::Error },
}

fn tail(stderr: &[String]) -> String {
    if stderr.is_empty() { String::new() } else { format!("; its last words: {}", stderr.join(" | ")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_handshake_survives_the_line() {
        let sent = Endpoint { socket_path: "/tmp/a \"b\".sock".into(), token: "s3cret\n".to_owned().into() };
        let line = sent.to_line().unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let got = Endpoint::read(&mut line.as_bytes()).unwrap();
        assert_eq!(got.socket_path, sent.socket_path);
        assert_eq!(got.token.expose_secret(), "s3cret\n");
    }

    #[test]
    fn a_handshake_says_what_is_wrong() {
        let empty = Endpoint::read(&mut &b""[..]).unwrap_err().to_string();
        assert!(empty.contains("ended at once"), "{empty}");
        assert!(Endpoint::read(&mut &b"hello\n"[..]).is_err());
    }

    #[test]
    fn a_token_is_not_printed() {
        let shake = Endpoint { socket_path: "/x".into(), token: "s3cret".to_owned().into() };
        assert!(!format!("{shake:?}").contains("s3cret"));
    }
}
