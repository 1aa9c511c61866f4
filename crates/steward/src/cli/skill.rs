//! `steward skill`.

use clap::{Args, Subcommand};

/// `skill`.
#[derive(Debug, Clone, Args)]
pub struct SkillArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: SkillAction,
}

/// What to do with skills.
#[derive(Debug, Clone, Subcommand)]
pub enum SkillAction {
    /// Accept the host key of a server that ssh skills reach. Compare the fingerprint first with what
    /// `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows on the server.
    TrustHost {
        /// The server, as HOST:PORT.
        server: String,
        /// The fingerprint that was shown, SHA256:….
        fingerprint: String,
    },
}
