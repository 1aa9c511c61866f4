use clap::{Args, Subcommand};

/// `conversations`.
#[derive(Debug, Clone, Args)]
pub struct Conversations {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<ConversationAction>,
    /// Only with this text in the title or a message.
    #[arg(long, short = 's', value_name = "TEXT")]
    pub search: Option<String>,
    /// Only deleted ones.
    #[arg(long)]
    pub deleted: bool,
    /// At most so many.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with a conversation.
#[derive(Debug, Clone, Subcommand)]
pub enum ConversationAction {
    /// Show what was said.
    Show {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Give it another title.
    Rename {
        /// Its id, or the beginning or end of it.
        id: String,
        /// The title.
        title: String,
    },
    /// Delete it; `restore` takes that back.
    Delete {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Take a deletion back.
    Restore {
        /// Its id, or the beginning or end of it.
        id: String,
    },
    /// Make another one with what was said.
    Fork {
        /// Its id, or the beginning or end of it.
        id: String,
        /// Only with what was said before this run of it.
        #[arg(long, value_name = "RUN")]
        before: Option<String>,
    },
}
