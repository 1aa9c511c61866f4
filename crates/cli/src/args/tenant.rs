use clap::{Args, Subcommand};

/// `tenant`.
#[derive(Debug, Clone, Args)]
pub struct TenantArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<TenantAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with organisations.
#[derive(Debug, Clone, Subcommand)]
pub enum TenantAction {
    /// List them by slug.
    List,
    /// Make one, and the link for its first administrator.
    Create {
        /// By which logins name it: lower-case letters, digits and hyphens.
        slug: String,
        /// Email of its first administrator.
        #[arg(long, value_name = "EMAIL")]
        admin: String,
        /// To show.
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
    },
    /// Give it another name; its slug stays.
    Rename {
        /// The slug, or the beginning or end of the id.
        tenant: String,
        /// The new name.
        name: String,
    },
    /// End its logins, keys, runs and streams, and let nobody in.
    Disable {
        /// The slug, or the beginning or end of the id.
        tenant: String,
    },
    /// Take the disabling back.
    Enable {
        /// The slug, or the beginning or end of the id.
        tenant: String,
    },
    /// Delete one that is disabled for good, with every row and file.
    Delete {
        /// The slug.
        tenant: String,
        /// The slug once more, in place of the question.
        #[arg(long, value_name = "SLUG")]
        confirm: Option<String>,
    },
}
