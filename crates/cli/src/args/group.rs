use clap::{Args, Subcommand};

/// `group`.
#[derive(Debug, Clone, Args)]
pub struct GroupArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<GroupAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with groups.
#[derive(Debug, Clone, Subcommand)]
pub enum GroupAction {
    /// List them by name.
    List {
        /// Whose name or description holds this text.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
    },
    /// Show one with its members.
    Show {
        /// The name, or the beginning or end of the id.
        group: String,
    },
    /// Make a group without members.
    Create {
        /// Its name.
        name: String,
        /// For people.
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Give it another name; its grants stay.
    Rename {
        /// The name, or the beginning or end of the id.
        group: String,
        /// The new name.
        name: String,
    },
    /// Change what is said of it.
    Describe {
        /// The name, or the beginning or end of the id.
        group: String,
        /// The new description; `""` for none.
        description: String,
    },
    /// Remove it for good, with its grants; its members stay.
    Remove {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Put users in, in force at their next request.
    Add {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Emails, or beginnings or ends of ids.
        #[arg(required = true, value_name = "USER")]
        users: Vec<String>,
    },
    /// Take users out, in force at their next request.
    Drop {
        /// The name, or the beginning or end of the id.
        group: String,
        /// Emails, or beginnings or ends of ids.
        #[arg(required = true, value_name = "USER")]
        users: Vec<String>,
    },
}
