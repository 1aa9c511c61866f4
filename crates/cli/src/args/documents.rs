use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `ingest`.
#[derive(Debug, Clone, Args)]
pub struct IngestArgs {
    /// Files, or folders with all that is below them. What is hidden is left out.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The collection that they go to; it is made if it is missing.
    #[arg(long, value_name = "NAME", default_value = "Documents")]
    pub collection: String,
    /// An agent that they are linked to.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Don't wait until they are read.
    #[arg(long)]
    pub no_wait: bool,
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `search`.
#[derive(Debug, Clone, Args)]
pub struct SearchArgs {
    /// A question, or words; words in quotes are found as they stand.
    #[arg(value_name = "TEXT")]
    pub query: String,
    /// Only in this collection; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub collection: Vec<String>,
    /// Only in documents that are linked to this agent.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Only documents of this kind, such as `pdf`.
    #[arg(long = "type", value_name = "KIND")]
    pub doc_type: Option<String>,
    /// How many passages to show.
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
    /// JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `documents`.
#[derive(Debug, Clone, Args)]
pub struct DocumentsArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<DocumentsAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with documents.
#[derive(Debug, Clone, Subcommand)]
pub enum DocumentsAction {
    /// List them, the newest first.
    List {
        /// Only of this collection.
        #[arg(long, value_name = "NAME")]
        collection: Option<String>,
        /// Whose name, title or path holds this text.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only those that failed.
        #[arg(long)]
        failed: bool,
    },
    /// Show one.
    Show {
        /// The name, or the beginning or end of the id.
        document: String,
    },
    /// Read, cut and embed it again.
    Process {
        /// The name, or the beginning or end of the id.
        document: String,
    },
    /// Remove it for good, with its chunks and the file that was sent.
    Remove {
        /// The name, or the beginning or end of the id.
        document: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// List the collections.
    Collections,
    /// Make a collection.
    Create {
        /// Its name.
        name: String,
        /// For people.
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// Everybody may search it; else only those with a grant.
        #[arg(long)]
        open: bool,
        /// The model of its vectors: `MODEL@CONNECTION`, `MODEL@auto`, or a folder of the models' folder.
        #[arg(long, value_name = "MODEL")]
        embedding_model: Option<String>,
    },
    /// Change a collection.
    Change {
        /// Its name, or the beginning or end of the id.
        collection: String,
        /// The model of its vectors. They are made anew; those that there are answer meanwhile.
        #[arg(long, value_name = "MODEL")]
        embedding_model: Option<String>,
        /// What may put into a better order what is found: off, local or auto.
        #[arg(long, value_name = "WHAT", value_parser = ["off", "local", "auto"])]
        rerank: Option<String>,
    },
    /// Remove a collection for good, with all its documents.
    Drop {
        /// Its name, or the beginning or end of the id.
        collection: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
}
