use super::RoleArg;
use clap::{Args, Subcommand, ValueEnum};

/// `user`.
#[derive(Debug, Clone, Args)]
pub struct UserArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<UserAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Which users are listed.
#[derive(Debug, Clone, Default, Args)]
pub struct UserQuery {
    /// Whose email or name holds this text.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// With this role.
    #[arg(long, value_name = "ROLE")]
    pub role: Option<RoleArg>,
    /// In this state.
    #[arg(long, value_name = "STATE")]
    pub state: Option<StateArg>,
}

/// What to do with users.
#[derive(Debug, Clone, Subcommand)]
pub enum UserAction {
    /// List them by email.
    List(UserQuery),
    /// Show one.
    Show {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Invite somebody; prints a link by which they choose a password within 7 days, this once.
    Invite {
        /// Their email. Nothing is sent to it: hand the link over yourself.
        email: String,
        /// What they may do.
        #[arg(long, value_name = "ROLE")]
        role: RoleArg,
        /// Their name; by default the first part of the email.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Make a new link, in the place of the one before; also for somebody who has forgotten their password.
    Link {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Give somebody another role, in force at their next request.
    Role {
        /// The email, or the beginning or end of the id.
        user: String,
        /// The new role.
        role: RoleArg,
    },
    /// Change the name that is shown.
    Rename {
        /// The email, or the beginning or end of the id.
        user: String,
        /// The new name.
        name: String,
    },
    /// Shut somebody out: their logins end, and no key of theirs opens anything.
    Disable {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Let somebody in again who was disabled.
    Enable {
        /// The email, or the beginning or end of the id.
        user: String,
    },
    /// Remove somebody who is disabled or never accepted, with their keys and budgets; their runs stay.
    Remove {
        /// The email, or the beginning or end of the id.
        user: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Log somebody out everywhere; their keys stay good.
    EndSessions {
        /// The email, or the beginning or end of the id.
        user: String,
    },
}

/// States of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateArg {
    /// They can log in.
    Active,
    /// They have not chosen a password yet.
    Invited,
    /// Nothing of theirs opens anything.
    Disabled,
}
