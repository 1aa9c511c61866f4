use std::io;

/// Why a command was not run, or its result is not known.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine cannot confine a program, so none is run.
    #[error("programs cannot be confined on this machine: {missing}. {hint}")]
    Unavailable {
        /// What the kernel or system lacks.
        missing: String,
        /// How to get it.
        hint: String,
    },
    /// The specification makes no sense.
    #[error("the command cannot be run: {0}")]
    Invalid(String),
    /// The program does not exist, or is no program, as seen from inside the sandbox.
    #[error("{program}: {reason}; it must be in PATH or in the workspace, inside the sandbox")]
    NotExecutable {
        /// As given in `argv`.
        program: String,
        /// The system's words.
        reason: String,
    },
    /// Confining failed at some step; the command was not run.
    #[error("the sandbox could not be set up ({step}): {reason}; run `doctor` to see what this machine supports")]
    Setup {
        /// Which step.
        step: String,
        /// The system's words.
        reason: String,
    },
    /// The launcher or a pipe failed.
    #[error("the sandbox launcher failed: {0}")]
    Io(#[from] io::Error),
}
