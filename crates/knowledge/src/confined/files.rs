//! Documents.

use super::process::{
    crashed, empty_folder, ended_well, in_child, not_by_hand, not_utf_8, read_input, unavailable, unreadable,
};
use crate::extract::{ExtractLimits, extract};
use async_trait::async_trait;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use steward_core::extracted::{ExtractFailure, Extracted};
use steward_core::ports::Extractor;
use steward_sandbox::process::{Access, CommandSpec, Helper, Limits, Outcome, Sandbox, SandboxError, Tier};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const COMMAND: &str = "extract-child";
/// Times as many bytes as letters come back: some take four, and each block has its place.
const OUTPUT_RATIO: usize = 8;
/// Files read at the same time.
const AT_ONCE: usize = 2;

/// `extract-child`.
#[derive(Debug, Clone, clap::Args)]
pub struct ExtractChild {
    /// What people call the file.
    #[arg(long, allow_hyphen_values = true)]
    name: String,
    /// As JSON.
    #[arg(long)]
    limits: String,
}

impl ExtractChild {
    /// What the process does: reads standard input and writes what it says, or why it can't be read, as JSON.
    pub fn run(self) -> ExitCode {
        let Ok(limits) = serde_json::from_str::<ExtractLimits>(&self.limits) else {
            return not_by_hand();
        };
        in_child(move || {
            let bytes = read_input(&limits)?;
            let found = extract(&bytes, &self.name, &limits).map_err(ExtractFailure::from);
            drop(bytes);
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            serde_json::to_writer(&mut out, &found)?;
            out.flush()
        })
    }
}

pub struct ConfinedExtractor {
    sandbox: Sandbox,
    program: PathBuf,
    limits: ExtractLimits,
    process: Limits,
    turns: Semaphore,
}

impl ConfinedExtractor {
    pub fn new(helper: Helper) -> Self {
        let limits = ExtractLimits::default();
        let process = Limits {
            wall: Duration::from_mins(5),
            cpu_s: 240,
            memory_bytes: 3 << 29,
            processes: 4,
            // It writes nothing; the smallest size that a folder can have.
            file_bytes: 4096,
            output_bytes: limits.output_chars.saturating_mul(OUTPUT_RATIO),
            ..Limits::default()
        };
        let program = helper.program.clone();
        Self { sandbox: Sandbox::new(helper), program, limits, process, turns: Semaphore::new(AT_ONCE) }
    }

    /// With other limits, of what a file may ask for and of its process.
    #[must_use]
    pub fn with_limits(mut self, limits: ExtractLimits, process: Limits) -> Self {
        (self.limits, self.process) = (limits, process);
        self
    }

    /// In this tier of the sandbox alone.
    #[must_use]
    pub fn confined_by(mut self, tier: Tier) -> Self {
        self.sandbox = self.sandbox.only(tier);
        self
    }

    /// With another program in the place of this one.
    #[must_use]
    pub fn running(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = program.into();
        self
    }

    async fn run(&self, file: &Path, name: &str) -> Result<Outcome, ExtractFailure> {
        let metadata = tokio::fs::metadata(file).await.map_err(|error| unreadable(&error))?;
        // Reading anything else might never end.
        if !metadata.is_file() {
            return Err(unreadable(&std::io::Error::other("it is no ordinary file")));
        }
        let size = metadata.len();
        if usize::try_from(size).is_ok_and(|size| size > self.limits.input_bytes) {
            let (size, most) = (size >> 20, self.limits.input_bytes >> 20);
            let what = format!("it has {size} MB, more than {most}");
            return Err(crate::extract::ExtractError::TooLarge(what).into());
        }
        let input = tokio::fs::File::open(file).await.map_err(|error| unreadable(&error))?;
        let folder = empty_folder().map_err(|error| unavailable(&SandboxError::Io(error)))?;
        let program = self.program.to_str().ok_or_else(|| unavailable(&not_utf_8()))?;
        let limits =
            serde_json::to_string(&self.limits).map_err(|error| unavailable(&SandboxError::Io(error.into())))?;
        let name = name.replace('\0', " ");
        let mut spec = CommandSpec::new([program, COMMAND, "--limits", &limits, "--name", &name], folder.path());
        spec.access = Access::ReadOnly;
        spec.read_paths = vec![self.program.clone()];
        spec.limits = self.process.clone();
        self.sandbox.feed(spec, input, &CancellationToken::new()).await.map_err(|error| unavailable(&error))
    }
}

#[async_trait]
impl Extractor for ConfinedExtractor {
    async fn extract(&self, file: &Path, name: &str) -> Result<Extracted, ExtractFailure> {
        let _turn =
            self.turns.acquire().await.map_err(|error| unavailable(&SandboxError::Io(std::io::Error::other(error))))?;
        let outcome = self.run(file, name).await?;
        read(&outcome).inspect_err(|error| {
            let stderr = outcome.stderr.text();
            tracing::debug!(exit = ?outcome.exit, ms = outcome.wall_ms, stderr = stderr.trim(), %error, "a document was not read");
        })
    }
}

fn read(outcome: &Outcome) -> Result<Extracted, ExtractFailure> {
    ended_well(outcome)?;
    serde_json::from_slice(&outcome.stdout.bytes).unwrap_or_else(|_| Err(crashed()))
}
