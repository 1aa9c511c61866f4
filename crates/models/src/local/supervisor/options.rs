use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// What to start. The child gets the socket and the token as one line on standard input, see
/// [`crate::local::Handshake`], and ends when that input ends.
#[derive(Debug, Clone)]
pub struct ChildCommand {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
}

impl ChildCommand {
    /// A program without arguments and with an empty environment, so that no secret of the
    /// parent's is inherited.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds one variable.
    #[must_use]
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }
}

/// Settings of a [`super::Supervisor`].
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// Private folder for the socket; made with mode 0700 if missing. Keep its path short.
    pub run_dir: PathBuf,
    /// Random token between parent and child.
    pub token: SecretString,
    /// How long the child may take until it is ready.
    pub start_timeout: Duration,
    /// How long the child may take to end by itself.
    pub stop_grace: Duration,
    /// A child that lived shorter than this crashed fast.
    pub fast_crash: Duration,
    /// Fast crashes in a row after which it is left alone for `cooldown`.
    pub max_crashes: u32,
    /// Wait before the first restart after a fast crash; four times longer each time.
    pub backoff: Duration,
    /// How long it is left alone.
    pub cooldown: Duration,
}

impl SupervisorOptions {
    /// The defaults.
    pub fn new(run_dir: impl Into<PathBuf>, token: SecretString) -> Self {
        Self {
            run_dir: run_dir.into(),
            token,
            start_timeout: Duration::from_mins(2),
            stop_grace: Duration::from_secs(2),
            fast_crash: Duration::from_secs(10),
            max_crashes: 3,
            backoff: Duration::from_millis(200),
            cooldown: Duration::from_mins(1),
        }
    }
}

/// Where a ready model server listens.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its Unix socket.
    pub socket_path: PathBuf,
    /// The bearer token that it wants.
    pub token: SecretString,
}

/// What the child is doing.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Not running: not yet asked for, stopped, or idle for too long.
    Stopped,
    /// Loading; the share of the file that is loaded, 0 to 1.
    Starting(f32),
    /// Answering.
    Ready,
    /// The last start failed; the error in words.
    Failed(String),
}
