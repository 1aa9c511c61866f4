use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `datasource`.
#[derive(Debug, Clone, Args)]
pub struct DatasourceArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<DatasourceAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with datasources.
#[derive(Debug, Clone, Subcommand)]
pub enum DatasourceAction {
    /// List them.
    List,
    /// Add a database.
    Add(DatasourceAdd),
    /// Open it anew and show its tables.
    Check {
        /// Its name.
        name: String,
    },
    /// Let people confirm changes of its rows, or only read it.
    Set {
        /// Its name.
        name: String,
        /// How much of the rows models see.
        #[arg(long)]
        visibility: Option<Visibility>,
        /// Whether people may confirm changes of its rows.
        #[arg(long)]
        writable: Option<bool>,
        /// Whether PostgreSQL runs queries as its role that is called like the e-mail address of who asks.
        #[arg(long)]
        as_asking_user: Option<bool>,
    },
    /// Take it away; the database stays as it is.
    Remove {
        /// Its name.
        name: String,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
}

/// A database to add.
#[derive(Debug, Clone, Args)]
pub struct DatasourceAdd {
    /// What domains call it: letters, digits and `_`.
    pub name: String,
    /// `sqlite:PATH` or `folder:PATH` (of CSV or Parquet files) in the workspace, `postgres://HOST/NAME`, `mysql://HOST/NAME` or `mariadb://HOST/NAME`.
    pub database: String,
    /// The credential with its user and password.
    #[arg(long, value_name = "NAME")]
    pub credential: Option<String>,
    /// How much of the rows models see.
    #[arg(long, default_value = "full")]
    pub visibility: Visibility,
    /// Let people confirm changes of its rows.
    #[arg(long)]
    pub writable: bool,
    /// Have PostgreSQL run queries as its role that is called like the e-mail address of who asks.
    #[arg(long)]
    pub as_asking_user: bool,
}

/// How much of the rows models see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Visibility {
    /// All rows of an answer.
    Full,
    /// The first five, and how many there are.
    Sample,
    /// Keys only.
    Ids,
    /// How many rows there are.
    Counts,
}

impl Visibility {
    pub fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sample => "sample",
            Self::Ids => "ids",
            Self::Counts => "counts",
        }
    }
}

/// `domain`.
#[derive(Debug, Clone, Args)]
pub struct DomainArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<DomainAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with domains.
#[derive(Debug, Clone, Subcommand)]
pub enum DomainAction {
    /// List those that may be asked.
    List,
    /// Write first domains and views of a datasource's tables, for a person to refine.
    Init {
        /// The datasource.
        datasource: String,
        /// Only this table; may be repeated. None: all that no domain describes.
        #[arg(long, value_name = "NAME")]
        table: Vec<String>,
        /// Save them; else they are only printed.
        #[arg(long)]
        save: bool,
    },
    /// Show the text of a domain, or of a view.
    Show {
        /// Its name.
        name: String,
        /// A view rather than a domain.
        #[arg(long)]
        view: bool,
    },
    /// Check the text of a file; `-` reads standard input.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Check and save all domains and views of a file; `-` reads standard input.
    Save {
        /// The file.
        file: PathBuf,
    },
    /// Write a file anew in the usual layout; `-` reads standard input and prints.
    Format {
        /// The file.
        file: PathBuf,
    },
    /// Take a domain or a view away. Its versions stay.
    Remove {
        /// Its name.
        name: String,
        /// A view rather than a domain.
        #[arg(long)]
        view: bool,
        /// Don't ask.
        #[arg(long, short)]
        yes: bool,
    },
    /// Ask a domain: a JSON object with domain, fields, where, order, limit, group, aggregate and with.
    Query {
        /// The query.
        query: String,
        /// Comma-separated values instead of a table.
        #[arg(long)]
        csv: bool,
    },
    /// Find the domains that a question is about.
    Search {
        /// The question.
        text: String,
    },
    /// What models are told before each question about data.
    Instructions {
        /// What to do; none lists.
        #[command(subcommand)]
        action: Option<InstructionAction>,
    },
    /// Questions that were answered right, with their queries: examples for models.
    Verified {
        /// What to do; none lists.
        #[command(subcommand)]
        action: Option<VerifiedAction>,
    },
    /// Changes of records: list, confirm, discard, take back.
    Changes {
        /// What to do; none lists those that wait.
        #[command(subcommand)]
        action: Option<ChangeAction>,
    },
}

/// What to do with standing instructions.
#[derive(Debug, Clone, Subcommand)]
pub enum InstructionAction {
    /// List them in their order.
    List,
    /// Add one or change its text. It acts on the next message.
    Set {
        /// Its name.
        name: String,
        /// What models are told.
        text: String,
        /// Smaller ones are told first.
        #[arg(long, default_value_t = 0)]
        position: u32,
        /// Keep it without telling it.
        #[arg(long)]
        off: bool,
    },
    /// Take one away.
    Remove {
        /// Its name.
        name: String,
    },
}

/// What to do with verified questions.
#[derive(Debug, Clone, Subcommand)]
pub enum VerifiedAction {
    /// List them, the newest first.
    List,
    /// Keep one; the same question takes its place. It acts on the next message.
    Add {
        /// The question, as people ask it.
        text: String,
        /// The query that answers it: a JSON object such as {"domain": "customer", "aggregate": [{"fn": "count"}]}.
        query: String,
    },
    /// Take one away.
    Remove {
        /// Its id.
        id: String,
    },
}

/// What to do with changes of records.
#[derive(Debug, Clone, Subcommand)]
pub enum ChangeAction {
    /// List them, the newest first.
    List {
        /// Also those that are decided on.
        #[arg(long)]
        all: bool,
    },
    /// Propose one: a JSON object such as {"change": "update", "domain": "customer", "key": 5, "set": {"City": "Oslo"}}.
    Propose {
        /// The change.
        change: String,
    },
    /// Write one.
    Confirm {
        /// The beginning or end of its id.
        id: String,
    },
    /// Decline one.
    Discard {
        /// The beginning or end of its id.
        id: String,
    },
    /// Put the record back as it was.
    Undo {
        /// The beginning or end of its id.
        id: String,
    },
}
