//! Reads documents in a process of this same program that is confined, since hostile files crash what parses them.

use async_trait::async_trait;
use clap::Args;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind, Extracted};
use steward_core::ports::Extractor;
use steward_knowledge::extract::{ExtractLimits, extract};
use steward_sandbox::process::{
    Access, CommandSpec, Exit, Helper, Limits, Outcome, Sandbox, SandboxError, Tier, Tripwire,
};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

const COMMAND: &str = "extract-child";
/// Bytes of stack, since some libraries call themselves for what is nested.
const STACK: usize = 64 << 20;
/// Times as many bytes as letters come back: some take four, and each block has its place.
const OUTPUT_RATIO: usize = 8;
/// Exit code of the process where it notices by itself that there is no memory.
pub(crate) const NO_MEMORY: u8 = 12;
/// Files read at the same time.
const AT_ONCE: usize = 2;

/// `extract-child`.
#[derive(Debug, Clone, Args)]
pub struct ExtractChild {
    /// What people call the file.
    #[arg(long, allow_hyphen_values = true)]
    name: String,
    /// As JSON.
    #[arg(long)]
    limits: String,
}

impl ExtractChild {
    /// Reads standard input and writes what it says, or why it can't be read, as JSON.
    pub fn run(self) -> ExitCode {
        let Ok(limits) = serde_json::from_str::<ExtractLimits>(&self.limits) else {
            eprintln!("this is an internal command: it is started by the program itself to read documents");
            return ExitCode::from(2);
        };
        let work = move || {
            let mut bytes = Vec::new();
            // One byte more than allowed shows that there is more.
            let most = u64::try_from(limits.input_bytes).unwrap_or(u64::MAX).saturating_add(1);
            std::io::stdin().lock().take(most).read_to_end(&mut bytes)?;
            let found = extract(&bytes, &self.name, &limits).map_err(ExtractFailure::from);
            drop(bytes);
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            serde_json::to_writer(&mut out, &found)?;
            out.flush()
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
        match thread.map(std::thread::JoinHandle::join) {
            Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
            Ok(Ok(Err(error))) if error.kind() == std::io::ErrorKind::OutOfMemory => ExitCode::from(NO_MEMORY),
            Err(_) => ExitCode::from(NO_MEMORY),
            _ => ExitCode::FAILURE,
        }
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
            return Err(steward_knowledge::extract::ExtractError::TooLarge(what).into());
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

/// What the end of a process that reads a file means.
pub(crate) fn ended_well(outcome: &Outcome) -> Result<(), ExtractFailure> {
    let told = outcome.stderr.text();
    match outcome.exit {
        Exit::Exited(0) if outcome.stdout.truncated() => {
            let what = "its text is longer than what is taken from one file";
            Err(steward_knowledge::extract::ExtractError::TooLarge(what.to_owned()).into())
        }
        Exit::Exited(0) => Ok(()),
        Exit::TimedOut | Exit::LimitExceeded(Tripwire::Cpu) => Err(failure(
            ExtractFailureKind::TimedOut,
            "reading the file takes too long",
            "Split it into smaller files, or add it again when this machine has less to do.",
        )),
        Exit::LimitExceeded(Tripwire::Memory) => Err(out_of_memory()),
        Exit::Exited(code) if code == i32::from(NO_MEMORY) => Err(out_of_memory()),
        // What Rust says when the system refuses memory, and when calls are nested too deeply.
        _ if told.contains("memory allocation of") => Err(out_of_memory()),
        _ if told.contains("overflowed its stack") => {
            Err(steward_knowledge::extract::ExtractError::TooDeep("its parts are nested too deeply".to_owned()).into())
        }
        _ => Err(crashed()),
    }
}

pub(crate) fn failure(kind: ExtractFailureKind, message: &str, hint: &str) -> ExtractFailure {
    ExtractFailure { kind, message: message.to_owned(), hint: hint.to_owned() }
}

pub(crate) fn crashed() -> ExtractFailure {
    failure(
        ExtractFailureKind::Crashed,
        "the program that reads the file stopped unexpectedly, so the file is probably damaged",
        "Open it in the program that it comes from, save it again, and add that.",
    )
}

fn out_of_memory() -> ExtractFailure {
    failure(
        ExtractFailureKind::OutOfMemory,
        "reading the file needs too much memory",
        "Split it into smaller files; a small file that needs so much was made to do harm.",
    )
}

pub(crate) fn unreadable(error: &std::io::Error) -> ExtractFailure {
    let message = format!("the file can't be opened: {error}");
    failure(ExtractFailureKind::Unreadable, &message, "Check that it is there and that this program may read it.")
}

/// Without the sandbox nothing is read at all.
pub(crate) fn unavailable(error: &SandboxError) -> ExtractFailure {
    let message = format!("files can't be read safely on this machine: {error}");
    failure(ExtractFailureKind::Unavailable, &message, "Run `steward doctor`; it says what the sandbox lacks.")
}

pub(crate) fn not_utf_8() -> SandboxError {
    SandboxError::Invalid("the path of this program is not UTF-8".to_owned())
}

/// What the process sees of the disk beside the system's programs.
pub(crate) fn empty_folder() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("steward-extract-").tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555))?;
    Ok(folder)
}
