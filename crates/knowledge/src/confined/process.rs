//! What the processes have in common: how they begin, and what their end means.

use crate::extract::{ExtractError, ExtractLimits};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind};
use steward_sandbox::process::{Exit, Outcome, SandboxError, Tripwire};

/// Bytes of stack, since some libraries call themselves for what is nested.
const STACK: usize = 64 << 20;
/// Exit code of the process where it notices by itself that there is no memory.
const NO_MEMORY: u8 = 12;

/// What the process does, on a thread with a large stack.
pub(super) fn in_child(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> ExitCode {
    match std::thread::Builder::new().stack_size(STACK).spawn(work).map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        Ok(Ok(Err(error))) if error.kind() == std::io::ErrorKind::OutOfMemory => ExitCode::from(NO_MEMORY),
        Err(_) => ExitCode::from(NO_MEMORY),
        _ => ExitCode::FAILURE,
    }
}

pub(super) fn not_by_hand() -> ExitCode {
    eprintln!("this is an internal command: it is started by the program itself to read files");
    ExitCode::from(2)
}

/// Standard input; one byte more than allowed shows that there is more.
pub(super) fn read_input(limits: &ExtractLimits) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(limits.input_bytes).unwrap_or(u64::MAX).saturating_add(1);
    std::io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the end of a process that reads a file means.
pub(super) fn ended_well(outcome: &Outcome) -> Result<(), ExtractFailure> {
    let told = outcome.stderr.text();
    match outcome.exit {
        Exit::Exited(0) if outcome.stdout.truncated() => {
            let what = "its text is longer than what is taken from one file";
            Err(ExtractError::TooLarge(what.to_owned()).into())
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
            Err(ExtractError::TooDeep("its parts are nested too deeply".to_owned()).into())
        }
        _ => Err(crashed()),
    }
}

pub(super) fn failure(kind: ExtractFailureKind, message: &str, hint: &str) -> ExtractFailure {
    ExtractFailure { kind, message: message.to_owned(), hint: hint.to_owned() }
}

pub(super) fn crashed() -> ExtractFailure {
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

pub(super) fn unreadable(error: &std::io::Error) -> ExtractFailure {
    let message = format!("the file can't be opened: {error}");
    failure(ExtractFailureKind::Unreadable, &message, "Check that it is there and that this program may read it.")
}

/// Without the sandbox nothing is read at all.
pub(super) fn unavailable(error: &SandboxError) -> ExtractFailure {
    let message = format!("files can't be read safely on this machine: {error}");
    failure(ExtractFailureKind::Unavailable, &message, "Run `steward doctor`; it says what the sandbox lacks.")
}

pub(super) fn not_utf_8() -> SandboxError {
    SandboxError::Invalid("the path of this program is not UTF-8".to_owned())
}

/// What the process sees of the disk beside the system's programs.
pub(super) fn empty_folder() -> std::io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("steward-extract-").tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555))?;
    Ok(folder)
}
