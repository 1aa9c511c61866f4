//! Untrusted commands, confined by the operating system in two tiers, the stronger first: `namespaces` (bubblewrap) and
//! `landlock`. Both add seccomp, `no_new_privs`, resource limits, an empty environment and closed descriptors, allow no
//! network unless asked, and kill everything at the end. Where neither works nothing is run.

mod bwrap;
mod doctor;
mod helper_message;
mod kill_handle;
mod launch;
mod machine_support;
mod mounts;
mod run;
mod session;
mod spec;

pub use doctor::Check;
pub(crate) use helper_message::{Failure, Plan, Report, Stage, Tripped, receive_descriptor, send_with_descriptors};
pub(crate) use kill_handle::KillHandle;
pub(crate) use launch::{Launch, Launched, Resources};
pub use machine_support::Capabilities;
pub(crate) use run::{capture, capture_with};
pub use session::Session;
pub use spec::{Access, CommandSpec, Exit, Limits, Outcome, Output, Privileges, Tier, Tripwire};

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::AsyncRead;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// How to start [`super::helper::main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// Absolute.
    pub program: PathBuf,
    /// Arguments before the helper's own, such as a hidden subcommand.
    pub prefix: Vec<OsString>,
}

/// Runs commands confined. Cheap to clone; clones share what was probed.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) helper: Helper,
    /// Strongest first.
    pub(crate) allowed: Vec<Tier>,
    capabilities: Arc<OnceCell<Capabilities>>,
}

impl Sandbox {
    /// Uses the strongest tier of the machine.
    pub fn new(helper: Helper) -> Self {
        Self { helper, allowed: vec![Tier::Namespaces, Tier::Landlock], capabilities: Arc::default() }
    }

    #[must_use]
    pub fn only(mut self, tier: Tier) -> Self {
        self.allowed = vec![tier];
        self.capabilities = Arc::default();
        self
    }

    /// What is known of this machine without running anything, and the tiers worth trying.
    pub(crate) fn untried(&self) -> (Capabilities, Vec<Tier>) {
        machine_support::untried(&self.allowed)
    }

    /// Probed once, by running a small program in each tier.
    pub async fn probe(&self) -> &Capabilities {
        self.capabilities.get_or_init(|| machine_support::probe(self)).await
    }

    /// Kills all that it started at its end, at its wall time, on `cancel` and on drop. Its own failure is an [`Outcome`].
    pub async fn run(&self, spec: CommandSpec, cancel: &CancellationToken) -> Result<Outcome, SandboxError> {
        self.feed(spec, tokio::io::empty(), cancel).await
    }

    /// Like [`Self::run`], with what `input` yields after the bytes that the specification has for standard input.
    pub async fn feed(
        &self,
        spec: CommandSpec,
        input: impl AsyncRead + Unpin,
        cancel: &CancellationToken,
    ) -> Result<Outcome, SandboxError> {
        let (capabilities, tier) = self.usable().await?;
        run::run(&self.helper, capabilities, tier, spec, input, cancel).await
    }

    /// Starts a program that serves until its [`Session`] is dropped. Only the kernel's limits apply to it (address
    /// space, processes, file size, CPU): its wall time and resident memory are not watched. A program that can't be
    /// executed shows as the end of its stdout; [`Session::ending`] then says why.
    pub async fn open(&self, spec: CommandSpec) -> Result<Session, SandboxError> {
        let (capabilities, tier) = self.usable().await?;
        let stdout = std::process::Stdio::piped();
        let launch = Launch { helper: &self.helper, capabilities, tier, spec: &spec, service: true, stdout };
        Session::begin(launch.start().await?, tier, spec).await
    }

    async fn usable(&self) -> Result<(&Capabilities, Tier), SandboxError> {
        let capabilities = self.probe().await;
        let tier = capabilities.tier.ok_or_else(|| capabilities.unavailable())?;
        Ok((capabilities, tier))
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("programs cannot be confined on this machine: {missing}. {hint}")]
    Unavailable {
        /// Missing feature of the kernel or system.
        missing: String,
        hint: String,
    },
    #[error("the command cannot be run: {0}")]
    Invalid(String),
    /// The program does not exist, or is no program, as seen from inside the sandbox.
    #[error("{program}: {reason}; it must be in PATH or in the workspace, inside the sandbox")]
    NotExecutable {
        /// As given in `argv`.
        program: String,
        reason: String,
    },
    #[error("the sandbox could not be set up ({step}): {reason}; run `doctor` to see what this machine supports")]
    Setup { step: String, reason: String },
    #[error("the sandbox launcher failed: {0}")]
    Io(#[from] io::Error),
}
