use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `skill`.
#[derive(Debug, Clone, Args)]
pub struct SkillArgs {
    /// What to do; none lists.
    #[command(subcommand)]
    pub action: Option<SkillAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Which skills.
#[derive(Debug, Clone, Default, Args)]
pub struct SkillFilter {
    /// Only of this type, such as http or ssh.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Only with this in the name or the description.
    #[arg(long)]
    pub search: Option<String>,
    /// Only those of this agent.
    #[arg(long, short = 'a', value_name = "NAME")]
    pub agent: Option<String>,
    /// Only those of this package.
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,
}

/// What to do with skills.
#[derive(Debug, Clone, Subcommand)]
pub enum SkillAction {
    /// List skills.
    List(SkillFilter),
    /// Show a skill: what it does, its inputs, who has it.
    Show {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// Its versions instead.
        #[arg(long)]
        versions: bool,
    },
    /// Make skills from a file: a JSON object as in the API, or a list of them.
    #[command(
        after_help = "Examples:\n  steward skill create uptime.json\n  steward skill create uptime.json --upsert\n  steward skill create uptime.json --agent steward\n\nThe studio and `GET /api/skills/kinds` show what each type takes."
    )]
    Create {
        /// The file; `-` reads standard input.
        file: PathBuf,
        /// Change a skill of this name rather than refuse; the same content changes nothing.
        #[arg(long)]
        upsert: bool,
        /// Give them to this agent as well, both or neither; a skill of this name is changed.
        #[arg(long, short = 'a', value_name = "NAME")]
        agent: Option<String>,
    },
    /// Try a skill: says what it would do, and with --run does it.
    #[command(
        after_help = "Examples:\n  steward skill test uptime --arguments '{\"host\": \"web1\"}'\n  steward skill test uptime --arguments '{\"host\": \"web1\"}' --run --agent steward\n\nWhat does more than look is asked about first; -y answers yes. A skill with a credential needs --agent."
    )]
    Test {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// Its arguments, a JSON object.
        #[arg(long, value_name = "JSON", default_value = "{}")]
        arguments: String,
        /// Really do it.
        #[arg(long)]
        run: bool,
        /// Don't ask, whatever it does.
        #[arg(long, short = 'y', requires = "run")]
        yes: bool,
        /// The agent whose credentials are used.
        #[arg(long, short = 'a', value_name = "NAME")]
        agent: Option<String>,
    },
    /// Give a skill to an agent; its next run has it.
    Attach {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The agent [default: steward].
        agent: Option<String>,
    },
    /// Take a skill from an agent.
    Detach {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The agent [default: steward].
        agent: Option<String>,
    },
    /// Take a skill package in; it is not used before it is accepted.
    #[command(
        after_help = "Examples:\n  steward skill import server-care.skill\n  steward skill import --ready infra-agent --agent steward\n  steward skill packages --ready"
    )]
    Import {
        /// The archive, NAME.skill.
        #[arg(required_unless_present = "ready")]
        file: Option<PathBuf>,
        /// A package that comes with Steward, by name.
        #[arg(long, value_name = "NAME", conflicts_with = "file")]
        ready: Option<String>,
        /// Put it to use at once if its scan finds nothing dangerous.
        #[arg(long)]
        activate: bool,
        /// Put it to use likewise and give its skills to this agent.
        #[arg(long, short = 'a', value_name = "NAME")]
        agent: Option<String>,
    },
    /// Write a skill package to a file.
    Export {
        /// Its name.
        package: String,
        /// The revision [default: the one in use, else the latest].
        #[arg(long, value_name = "N")]
        revision: Option<u32>,
        /// Where to [default: NAME.skill]; `-` is standard output.
        #[arg(long, short = 'o', value_name = "FILE")]
        output: Option<PathBuf>,
        /// Overwrite a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// List skill packages; show the revisions of one, or what an upgrade changes.
    Packages {
        /// Only this one, with all its revisions and findings.
        package: Option<String>,
        /// What its latest revision changes of the one in use, file by file.
        #[arg(long, requires = "package")]
        diff: bool,
        /// Those that come with Steward.
        #[arg(long, conflicts_with_all = ["package", "diff"])]
        ready: bool,
    },
    /// Put a revision of a package to use, as it was looked at; also goes back to an earlier one.
    Accept {
        /// The package.
        package: String,
        /// The hash that was shown, or at least 8 characters of its beginning.
        hash: String,
        /// Accept what its scan found dangerous.
        #[arg(long)]
        dangers: bool,
        /// Give its skills to this agent.
        #[arg(long, short = 'a', value_name = "NAME")]
        agent: Option<String>,
    },
    /// Make an earlier version of a skill the next one.
    Rollback {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The version (see `steward skill show NAME --versions`).
        version: u32,
    },
    /// Remove a skill and take it from all agents; or take a package out of use.
    Remove {
        /// Its name, or the beginning or end of a skill's id.
        skill: String,
        /// It is a package: its skills go, its revisions stay.
        #[arg(long)]
        package: bool,
    },
    /// Accept the host key of a server that ssh skills reach. Compare the fingerprint first with what
    /// `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows on the server.
    TrustHost {
        /// The server, as HOST:PORT.
        server: String,
        /// The fingerprint that was shown, SHA256:….
        fingerprint: String,
    },
    /// Servers whose host key was accepted.
    Hosts,
    /// Accept no key of a server any more.
    ForgetHost {
        /// The server, as HOST:PORT.
        server: String,
    },
}
