use super::RoleArg;
use clap::{Args, Subcommand, ValueEnum};

/// `policy`.
#[derive(Debug, Clone, Args)]
pub struct PolicyArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<PolicyAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with the rules of this installation.
#[derive(Debug, Clone, Subcommand)]
pub enum PolicyAction {
    /// List the rules.
    List,
    /// Add a rule; it holds for runs that begin from then on. What is left out means all.
    #[command(
        after_help = "Examples:\n  steward policy add \"two people\" --risk destructive --four-eyes\n  steward policy add \"nothing leaves at night\" --risk external --origin schedule --deny\n  steward policy add juniors --role developer --risk write --risk external"
    )]
    Add {
        /// Its name, shown wherever it decides.
        name: String,
        /// A class of tools; may be given often.
        #[arg(long, value_name = "CLASS")]
        risk: Vec<RiskArg>,
        /// An agent; may be given often.
        #[arg(long, value_name = "NAME")]
        agent: Vec<String>,
        /// Where the run came from; may be given often.
        #[arg(long, value_name = "ORIGIN")]
        origin: Vec<OriginArg>,
        /// The role of the user who asked; may be given often.
        #[arg(long, value_name = "ROLE")]
        role: Vec<RoleArg>,
        /// Such calls never run; without it a person is asked.
        #[arg(long, conflicts_with = "four_eyes")]
        deny: bool,
        /// Only somebody else than who asked may approve, each call by itself.
        #[arg(long)]
        four_eyes: bool,
    },
    /// Remove a rule.
    Remove {
        /// Its name.
        name: String,
    },
}

/// Classes of tools by the harm that they can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RiskArg {
    Read,
    Write,
    External,
    Destructive,
}

/// Where runs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum OriginArg {
    Cli,
    Chat,
    Api,
    Schedule,
    Delegation,
}
