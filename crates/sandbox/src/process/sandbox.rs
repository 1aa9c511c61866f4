use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::caps::{self, Capabilities};
use super::error::SandboxError;
use super::launch::Launch;
use super::run;
use super::session::Session;
use super::spec::{CommandSpec, Outcome, Tier};

/// How to start [`crate::helper::main`]: a program, and the arguments that lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Arguments before the helper's own, such as a hidden subcommand.
    pub prefix: Vec<OsString>,
}

/// Runs commands confined. Cheap to clone; clones share what was found out about the machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(crate) helper: Helper,
    /// Tiers that may be used, strongest first.
    pub(super) allowed: Vec<Tier>,
    capabilities: Arc<OnceCell<Capabilities>>,
}

impl Sandbox {
    /// A sandbox that uses the strongest tier of the machine.
    pub fn new(helper: Helper) -> Self {
        Self { helper, allowed: vec![Tier::Namespaces, Tier::Landlock], capabilities: Arc::default() }
    }

    /// A sandbox that uses this tier or none.
    #[must_use]
    pub fn only(mut self, tier: Tier) -> Self {
        self.allowed = vec![tier];
        self.capabilities = Arc::default();
        self
    }

    /// What is known of this machine without running anything, and the tiers worth a try.
    pub(crate) fn untried(&self) -> (Capabilities, Vec<Tier>) {
        let mut known = caps::untried();
        let tiers = known.candidates(&self.allowed);
        (known, tiers)
    }

    /// What this machine can do, found out once by running a small program in each tier.
    pub async fn probe(&self) -> &Capabilities {
        self.capabilities.get_or_init(|| caps::probe(self)).await
    }

    /// Runs a command and waits for its end. Everything it has started is killed when it ends, at its wall time, when
    /// `cancel` is, and when the returned future is dropped.
    ///
    /// # Errors
    /// [`SandboxError::Unavailable`] where the machine lacks what is needed; a command that runs and fails is no
    /// error but an [`Outcome`].
    pub async fn run(&self, spec: CommandSpec, cancel: &CancellationToken) -> Result<Outcome, SandboxError> {
        let capabilities = self.probe().await;
        let tier = capabilities.tier.ok_or_else(|| capabilities.unavailable())?;
        run::run(&self.helper, capabilities, tier, spec, cancel).await
    }

    /// Starts a program that serves until its [`Session`] is dropped: confined like a command, but held by the limits
    /// of the kernel alone (address space, processes, file size, CPU), since nobody looks at its time or its resident
    /// memory.
    ///
    /// # Errors
    /// [`SandboxError::Unavailable`] where the machine lacks what is needed. A program that can't be executed shows as
    /// the end of its stdout; [`Session::ending`] then says why.
    pub async fn open(&self, spec: CommandSpec) -> Result<Session, SandboxError> {
        let capabilities = self.probe().await;
        let tier = capabilities.tier.ok_or_else(|| capabilities.unavailable())?;
        let launched = Launch {
            helper: &self.helper,
            capabilities,
            tier,
            spec: &spec,
            service: true,
            stdout: std::process::Stdio::piped(),
        }
        .start()
        .await?;
        Session::begin(launched, tier, spec).await
    }
}
