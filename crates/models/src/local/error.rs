use std::path::PathBuf;

/// What can go wrong with the local model. Every message says what the user can do.
#[derive(Debug, thiserror::Error)]
pub enum LocalModelError {
    /// The feature `local-model` was off when this program was built.
    #[error("this build has no local model; build with `--features local-model`")]
    NotBuilt,
    /// No file at the path.
    #[error(
        "model file {} does not exist; run `make setup` to fetch the default model, or pass `--model PATH` to a GGUF file",
        path.display()
    )]
    FileMissing {
        /// Where the file was expected.
        path: PathBuf,
    },
    /// The file is there and can't be read.
    #[error("model file {} cannot be read: {source}; check its permissions", path.display())]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not a complete GGUF model.
    #[error(
        "{} is not a usable GGUF model: {reason}; fetch it again or pass `--model PATH` to another one",
        path.display()
    )]
    BadModelFile {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The processor lacks instructions that this build needs.
    #[error(
        "this processor lacks {missing}, which the built-in local model needs; connect a model server instead (`steward connections`)"
    )]
    CpuTooOld {
        /// Names of the missing instruction sets.
        missing: String,
    },
    /// llama.cpp refused the file.
    #[error("llama.cpp could not load {}: {reason}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// llama.cpp's own words, or what is known.
        reason: String,
    },
    /// The context could not be allocated.
    #[error("no memory for a context of {context_tokens} tokens; pass a smaller `--context`, or a smaller model")]
    Context {
        /// Tokens asked for.
        context_tokens: u32,
    },
    /// The socket could not be made.
    #[error("cannot listen on {}: {source}", path.display())]
    Socket {
        /// The socket's path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Unix socket paths are short.
    #[error(
        "the socket path {} has {length} bytes, a Unix socket allows {limit}; choose a data directory with a shorter path",
        path.display()
    )]
    SocketPathTooLong {
        /// The path.
        path: PathBuf,
        /// Its bytes.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The first line on standard input was not the parent's message.
    #[error(
        "no start message on standard input ({reason}); `model-server` is started by Steward itself, by hand it needs `--socket` and `--token-file`"
    )]
    Handshake {
        /// What was wrong.
        reason: String,
    },
    /// The child program could not be started.
    #[error("cannot start the model server {}: {source}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The child ended before it was ready.
    #[error("the model server ended before it was ready ({status}){}", tail(stderr))]
    EndedEarly {
        /// Exit status in words.
        status: String,
        /// Its last lines on standard error.
        stderr: Vec<String>,
    },
    /// The child ended several times in a row soon after its start.
    #[error(
        "the model server crashed {times} times in a row and is not started again for {retry_after_secs} s; try a smaller model or context, or another connection{}",
        tail(stderr)
    )]
    CrashLoop {
        /// Crashes in a row.
        times: u32,
        /// Seconds until the next attempt is allowed.
        retry_after_secs: u64,
        /// The last lines on standard error.
        stderr: Vec<String>,
    },
    /// The child was not ready in time and was ended.
    #[error(
        "the model server was not ready after {seconds} s and was stopped; a large model on a slow disk may need a longer start limit{}",
        tail(stderr)
    )]
    StartTimeout {
        /// The limit.
        seconds: u64,
        /// The last lines on standard error.
        stderr: Vec<String>,
    },
    /// Anything of the system's that has no better name.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The system's reason.
        source: std::io::Error,
    },
}

fn tail(stderr: &[String]) -> String {
    if stderr.is_empty() { String::new() } else { format!("; its last words: {}", stderr.join(" | ")) }
}
