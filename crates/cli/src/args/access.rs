use clap::{Args, Subcommand, ValueEnum};

/// `access`.
#[derive(Debug, Clone, Args)]
pub struct AccessArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: AccessAction,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// One agent, skill, connection, credential or collection of documents.
#[derive(Debug, Clone, Args)]
pub struct Picked {
    /// What it is.
    pub kind: ResourceArg,
    /// Its name, or the beginning or end of its id.
    pub name: String,
}

/// Who has a grant.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct GranteeArg {
    /// The email of a user.
    #[arg(long, value_name = "EMAIL")]
    pub user: Option<String>,
    /// The name of a group.
    #[arg(long, value_name = "NAME")]
    pub group: Option<String>,
}

/// What to do with the right to use single things.
#[derive(Debug, Clone, Subcommand)]
pub enum AccessAction {
    /// Show who may use and change it.
    Show(Picked),
    /// Close it to all without a grant, in force at their next call.
    Restrict(Picked),
    /// Open it to everybody. Credentials are never open.
    Open(Picked),
    /// Give a user or a group a grant, in the place of the one that they have.
    Give {
        /// What for.
        #[command(flatten)]
        picked: Picked,
        /// Whom.
        #[command(flatten)]
        grantee: GranteeArg,
        /// How far it reaches.
        #[arg(long, value_name = "LEVEL", default_value = "use")]
        level: LevelArg,
    },
    /// Take the grant of a user or a group; runs at work end at their next call.
    Take {
        /// What for.
        #[command(flatten)]
        picked: Picked,
        /// Whose.
        #[command(flatten)]
        grantee: GranteeArg,
    },
    /// What somebody may do with it, why, and what they lack for more.
    Why {
        /// With what.
        #[command(flatten)]
        picked: Picked,
        /// Who; by default you.
        #[arg(long, value_name = "EMAIL")]
        user: Option<String>,
    },
    /// All grants of a user and of their groups.
    Of {
        /// The email, or the beginning or end of the id; by default you.
        user: Option<String>,
    },
    /// How new agents, skills and connections begin; with an option, change it.
    Defaults {
        /// Whether they are for those with a grant only; what there is stays as it is.
        #[arg(long, value_name = "BOOL")]
        new_restricted: Option<bool>,
    },
}

/// What grants are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResourceArg {
    Agent,
    Skill,
    Connection,
    Credential,
    Collection,
}

/// How far a grant reaches; each level has those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// See and use it.
    Use,
    /// Change it too.
    Edit,
    /// Say who else may use and change it too.
    Share,
}
