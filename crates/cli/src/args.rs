//! What can be written on the command line.

mod access;
mod agents;
mod approvals;
mod ask;
mod audit;
mod config;
mod connections;
mod conversations;
mod credential;
mod documents;
mod domains;
mod group;
mod mcp;
mod model;
mod policy;
mod reminders;
mod runs;
mod skill;
mod spending;
mod tenant;
mod user;

use clap::{Subcommand, ValueEnum};
use std::time::Duration;

pub use access::{AccessAction, AccessArgs, GranteeArg, LevelArg, Picked, ResourceArg};
pub use agents::{
    AgentAction, AgentFields, Agents, BudgetPreset, DatabaseAction, DatabaseSwitch, MemoryAction, PlanSwitch, Switch,
};
pub use approvals::{ApprovalAction, Approvals, GrantAction, Grants};
pub use ask::{Ask, Chat, Resume, Sample, SampleAction};
pub use audit::{AuditAction, AuditArgs, AuditWanted, ExportFormat, ResultArg};
pub use config::{ConfigAction, ConfigArgs, HealthArgs};
pub use connections::{AuthArgs, ConnectionAction, Connections};
pub use conversations::{ConversationAction, Conversations};
pub use credential::{CredentialAction, CredentialArgs, Fields, KindArg, RoleArg};
pub use documents::{DocumentsAction, DocumentsArgs, IngestArgs, SearchArgs};
pub use domains::{
    ChangeAction, DatasourceAction, DatasourceAdd, DatasourceArgs, DomainAction, DomainArgs, InstructionAction,
    VerifiedAction, Visibility,
};
pub use group::{GroupAction, GroupArgs};
pub use mcp::{McpAction, McpAdd, McpArgs};
pub use model::{Model, ModelAction};
pub use policy::{OriginArg, PolicyAction, PolicyArgs, RiskArg};
pub use reminders::{ReminderAction, Reminders};
pub use runs::{Eval, EvalDomains, Retrieval, RunAction, Runs, Suite};
pub use skill::{SkillAction, SkillArgs, SkillFilter};
pub use spending::{BudgetAction, BudgetArgs, By, KeyAction, KeyArgs, PeriodArg, UsageArgs};
pub use tenant::{TenantAction, TenantArgs};
pub use user::{StateArg, UserAction, UserArgs, UserQuery};

/// Commands that work through the API.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Give an agent one request: plan, approve, do, answer.
    #[command(
        after_help = "Examples:\n  steward ask \"Which files mention Kafka?\"\n  steward ask -y \"How many rows has airports.csv?\" --workspace ~/data\n  echo \"Summarise notes/handover.md\" | steward ask -\n  steward ask --plan-only \"…\""
    )]
    Ask(Ask),
    /// Talk with an agent.
    #[command(after_help = "Examples:\n  steward chat\n  steward chat -y --workspace ~/data")]
    Chat(Chat),
    /// A small sample workspace to try things on.
    #[command(
        after_help = "Examples:\n  steward sample add      into the running server's workspace, else into the current folder\n  steward sample remove   takes away what nobody has changed"
    )]
    Sample(Sample),
    /// List runs; show, stop, undo, fork, replay or keep one.
    #[command(
        after_help = "Examples:\n  steward runs --json\n  steward runs show 3f2a\n  steward runs undo 3f2a\n  steward --connection big runs fork 3f2a\n  steward runs replay 3f2a\n  steward runs keep 3f2a \"weekly report\""
    )]
    Runs(Runs),
    /// Go on with interrupted runs, or with one.
    #[command(
        after_help = "Examples:\n  steward resume        all that was interrupted\n  steward resume 3f2a   only this run"
    )]
    Resume(Resume),
    /// What waits for a person; answer it.
    #[command(
        after_help = "Examples:\n  steward approvals\n  steward approvals approve 3f2a\n  steward approvals approve 3f2a --for 1h\n  steward approvals answer 3f2a \"call it b.txt\""
    )]
    Approvals(Approvals),
    /// List conversations; search, show, rename, delete, restore or fork them.
    #[command(
        after_help = "Examples:\n  steward conversations --search kafka\n  steward conversations show 3f2a\n  steward chat --conversation ID"
    )]
    Conversations(Conversations),
    /// Permissions that outlive their run; take one back.
    #[command(after_help = "Examples:\n  steward grants\n  steward grants revoke 3f2a")]
    Grants(Grants),
    /// List agents; show, add, edit, remove or restore one.
    #[command(
        after_help = "Examples:\n  steward agents\n  steward agents add reporter --instructions \"You write short reports.\" --tools read,list,write\n  steward agents edit reporter --allow write --prefers big\n  steward agents remove reporter\n  steward ask --agent reporter \"…\""
    )]
    Agents(Agents),
    /// What agents were asked to remind of; what is due is told at the next `ask` or `chat` too.
    #[command(
        after_help = "Examples:\n  steward reminders\n  steward reminders done 3f2a\n  steward reminders snooze 3f2a 1h\n  steward reminders remove 3f2a"
    )]
    Reminders(Reminders),
    /// Model endpoints that were found or saved.
    #[command(
        display_order = 12,
        after_help = "Examples:\n  steward connections\n  steward connections add big http://host:8000/v1 --model qwen3-32b --key\n  steward connections test big"
    )]
    Connections(Connections),
    /// Examine the model of a connection; recognise what answers at an address.
    #[command(after_help = "Examples:\n  steward model exam big\n  steward model recognise http://127.0.0.1:11434")]
    Model(Model),
    /// What calls of models took: tokens and money.
    #[command(after_help = "Examples:\n  steward usage\n  steward usage --by agent --days 7")]
    Usage(UsageArgs),
    /// Hard limits of what may be spent.
    #[command(
        after_help = "Examples:\n  steward budget\n  steward budget set installation --dollars 50\n  steward budget set agent:steward --period day --tokens 200000\n  steward budget remove 3f2a"
    )]
    Budget(BudgetArgs),
    /// Rules over what agents do unasked, for the whole installation.
    #[command(
        after_help = "Examples:\n  steward policy\n  steward policy add \"two people\" --risk destructive --four-eyes\n  steward policy remove \"two people\""
    )]
    Policy(PolicyArgs),
    /// Virtual keys, with which programs use /v1.
    #[command(
        after_help = "Examples:\n  steward key\n  steward key create my-program --allow-connection big --requests-per-minute 60\n  steward key revoke my-program"
    )]
    Key(KeyArgs),
    /// Users: invite, list, change, disable or remove them.
    #[command(
        after_help = "Examples:\n  steward user\n  steward user invite ann@example.org --role developer\n  steward user link ann@example.org\n  steward user role ann@example.org operator\n  steward user disable ann@example.org\n\nOnly administrators may. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
    )]
    User(UserArgs),
    /// Hand files in, to be found and asked about.
    #[command(
        after_help = "Examples:\n  steward ingest handbook.pdf\n  steward ingest contracts/ --collection Contracts --agent lawyer"
    )]
    Ingest(IngestArgs),
    /// Find passages in documents, by words and by meaning.
    #[command(
        after_help = "Examples:\n  steward search \"how long is the notice period\"\n  steward search max_wal_size --type html -n 3"
    )]
    Search(SearchArgs),
    /// Documents and their collections: list, show, read again, remove.
    #[command(
        after_help = "Examples:\n  steward documents\n  steward documents list --failed\n  steward documents collections\n  steward documents remove handbook.pdf"
    )]
    Documents(DocumentsArgs),
    /// Databases that agents may ask through domains: add, check, remove.
    #[command(
        after_help = "Examples:\n  steward datasource add shop sqlite:shop.db\n  steward datasource add erp postgres://db.example.org/erp --credential erp-reader\n  steward datasource check shop"
    )]
    Datasource(DatasourceArgs),
    /// Domains, which say what the tables of a database mean: write, ask, and confirm changes of records.
    #[command(
        after_help = "Examples:\n  steward domain init shop --save\n  steward domain show customer\n  steward domain save customer.oos\n  steward domain query '{\"domain\": \"customer\", \"where\": [{\"field\": \"country\", \"op\": \"eq\", \"value\": \"Norway\"}]}'\n  steward domain changes"
    )]
    Domain(DomainArgs),
    /// Groups of users, which have grants together.
    #[command(
        after_help = "Examples:\n  steward group\n  steward group create editors --description \"who write for the web site\"\n  steward group add editors ann@example.org ben@example.org\n  steward group drop editors ben@example.org\n\nOnly administrators change groups. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
    )]
    Group(GroupArgs),
    /// Organisations, whose people, agents and data are apart from each other.
    #[command(
        after_help = "Examples:\n  steward tenant\n  steward tenant create acme --admin ann@acme.example\n  steward tenant disable acme\n  steward tenant delete acme --confirm acme\n\nOnly administrators of the installation may. Beside a running server, put such an administrator's API key (studio: Settings) into STEWARD_API_KEY."
    )]
    Tenant(TenantArgs),
    /// Who may use, change and share a single agent, skill, connection or credential.
    #[command(
        after_help = "Examples:\n  steward access show agent reporter\n  steward access restrict agent reporter\n  steward access give agent reporter --group editors\n  steward access give skill uptime --user ann@example.org --level edit\n  steward access take agent reporter --group editors\n  steward access why agent reporter --user ann@example.org\n  steward access of ann@example.org\n  steward access defaults --new-restricted true"
    )]
    Access(AccessArgs),
    /// Who did what, when and from where; check that nobody changed the record.
    #[command(
        after_help = "Examples:\n  steward audit --action auth --since 1d\n  steward audit --run 3f2a91c0-0000-7000-8000-000000000001\n  steward audit export --format csv --output audit.csv\n  steward audit verify\n  steward audit retention --days 365\n\nOnly administrators may. Without a server you are one. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
    )]
    Audit(AuditArgs),
    /// Settings of the program: list, show or change them.
    #[command(
        after_help = "Examples:\n  steward config\n  steward config get LOG_LEVEL\n  steward config set LOG_LEVEL=debug MAX_RUNS=64\n  steward config unset MAX_RUNS\n\nOnly administrators may. Without a server you are one. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
    )]
    Config(ConfigArgs),
    /// How everything is that the program needs: database, models, servers, sandbox.
    #[command(display_order = 11, after_help = "Examples:\n  steward health\n  steward health --json")]
    Health(HealthArgs),
    /// Replay runs kept as tests; measure how well documents are found.
    #[command(
        display_order = 16,
        after_help = "Examples:\n  steward eval kept\n  steward eval kept --json\n  steward eval retrieval --corpus scifact --queries scifact/queries.jsonl --qrels scifact/qrels/test.tsv"
    )]
    Eval(Eval),
    /// Skills: what agents can do besides their tools, and the packages that they come in.
    #[command(
        after_help = "Examples:\n  steward skill\n  steward skill create uptime.json --agent steward\n  steward skill test uptime\n  steward skill import server-care.skill\n  steward skill trust-host web1.example.org:22 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
    )]
    Skill(SkillArgs),
    /// Credentials of skills: secrets go in and never come back.
    #[command(
        after_help = "Examples:\n  steward credential\n  steward credential add shop --kind token\n  steward credential add web1 --kind ssh_key --set username=deploy --from private_key=id_ed25519\n  steward credential uses shop"
    )]
    Credential(CredentialArgs),
    /// MCP servers: other programs' tools.
    #[command(
        after_help = "Examples:\n  steward mcp\n  steward mcp add wiki --url https://wiki.example.org/mcp\n  steward mcp check wiki\n  steward mcp accept wiki search --agent steward\n  steward mcp login wiki"
    )]
    Mcp(McpArgs),
}

/// The word that a choice is written as, here and in the API.
pub trait Word: ValueEnum {
    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl<T: ValueEnum> Word for T {}

/// `90s`, `30m`, `1h`, `7d`.
fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("`{text}` is no length of time; write it as 90s, 30m, 1h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - 1].trim().parse().map_err(|_| wrong())?;
    match count.checked_mul(seconds) {
        Some(all) if all > 0 => Ok(Duration::from_secs(all)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn reads_what_people_write() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), (" 1h ", 3600), ("7d", 604_800)] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds);
        }
        for text in ["", "h", "1", "1w", "-1h", "0h", "1.5h", "99999999999999999999d", "1\u{fc}"] {
            assert!(duration(text).unwrap_err().contains("90s"), "{text}");
        }
    }
}
