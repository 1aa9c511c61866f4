//! Who may do what: the only place with rules on roles, ownership, grants and the reach of virtual keys.
//!
//! Viewers look; developers chat, run and decide on their own runs; operators also have agents, connections, all
//! approvals and runs; admins everything. What viewers and developers may do with a single agent, skill, connection,
//! credential or collection is a matter of grants; operators need none.

use crate::caller::Caller;
use crate::error::{AppError, AppResult};
use steward_core::permission::{AccessLevel, ResourceRef};
use steward_core::ports::{Page, Role};
use steward_core::{
    AgentId, ApprovalId, CollectionId, ConnectionId, ConversationId, CredentialId, HookId, KeyId, RecordChangeId,
    RunId, ScheduleId, SkillId, SubscriptionId, TenantId, UserId,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Read,
    /// Begin runs of agents, or ask models.
    Ask,
    /// Steer, stop, repeat or rename what exists, without configuring anything.
    Operate,
    Decide,
    /// Make, change or remove it.
    Write,
    /// Say who may use and change it.
    Share,
    /// What concerns the safety of the whole installation.
    Administer,
}

/// What it is done to. Variants in the plural are the kind as a whole, before a row is known.
#[derive(Debug, Clone, Copy)]
pub enum Resource<'a> {
    About,
    Agents,
    Agent {
        id: AgentId,
        name: &'a str,
    },
    Approvals,
    Approval {
        id: ApprovalId,
        owner: Option<UserId>,
    },
    /// The audit trail.
    Audit,
    /// Backups of the whole installation.
    Backups,
    Budgets,
    Collections,
    /// A set of documents.
    Collection {
        id: CollectionId,
        name: &'a str,
    },
    /// The settings of the program.
    Config,
    Connections,
    Connection {
        id: ConnectionId,
        name: &'a str,
    },
    Conversations,
    Conversation {
        id: ConversationId,
        owner: Option<UserId>,
    },
    Credentials,
    Credential {
        id: CredentialId,
        name: &'a str,
    },
    CredentialUses,
    /// Users' databases.
    Datasources,
    /// Domains and views: which of their rows a caller may see, the domains themselves say.
    Domains,
    Files,
    Grants,
    Groups,
    /// What a probe of everything that the program needs found.
    Health,
    Keys,
    /// How people log in.
    Logins,
    Key {
        id: KeyId,
        owner: UserId,
    },
    McpServers,
    McpLogin {
        per_user: bool,
    },
    Metrics,
    Packages,
    Policies,
    RecordChanges,
    /// A change of a record that waits for a person, or did.
    RecordChange {
        id: RecordChangeId,
        owner: Option<UserId>,
    },
    Reminders,
    Runs,
    Run {
        id: RunId,
        owner: Option<UserId>,
    },
    /// A run that only who asked for it may follow.
    AskedRun {
        id: RunId,
        owner: Option<UserId>,
    },
    Sample,
    Schedules,
    Subscriptions,
    /// An address that is told of what its owner may see.
    Subscription {
        id: SubscriptionId,
        owner: UserId,
    },
    Hooks,
    /// What starts runs when somebody else's program calls, with the rights of its owner.
    Hook {
        id: HookId,
        owner: UserId,
    },
    /// What starts runs by itself, with the rights of its owner.
    Schedule {
        id: ScheduleId,
        owner: UserId,
    },
    /// Folders of the server whose files become documents.
    ServerPaths,
    Skills,
    Skill {
        id: SkillId,
        name: &'a str,
    },
    /// What a skill would be able to do after a change.
    SkillChange {
        reach: SkillReach,
    },
    /// A call of a skill by a person; `changes`: it does more than look.
    SkillCall {
        changes: bool,
    },
    SshHosts,
    /// The organisations of the installation.
    Tenants,
    Usage,
    Users,
}

/// What a skill would be able to do after a change: all but the first are an operator's to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillReach {
    /// Nothing beyond what its author could do anyway.
    Own,
    /// It reaches servers or starts programs.
    Servers,
    Credential,
    PrivateHosts,
    /// It would be asked about less often than before: a lower risk, or answers that are trusted now.
    LowerRisk,
    /// Agents have it already.
    InUse,
}

impl SkillReach {
    fn why_not(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Servers => Some("a skill that reaches servers or starts programs"),
            Self::Credential => Some("a skill that uses a credential"),
            Self::PrivateHosts => Some("a skill that reaches private hosts"),
            Self::LowerRisk => Some("a lower risk of a skill, or trust in its answers"),
            Self::InUse => Some("a change of a skill that agents have"),
        }
    }
}

/// `Forbidden`: the role, the grants or the virtual key don't reach that far. `NotFound`: it is somebody else's.
pub fn authorize(caller: &Caller, action: Action, resource: Resource<'_>) -> AppResult<()> {
    needs(caller, least_role(action, resource), resource)?;
    needs_installation(caller, resource)?;
    // First: a key learns nothing of what it does not name, not even that a grant is missing.
    if !is_in_scope(caller, resource) {
        return Err(AppError::forbidden(
            format!("this key may not use {}", named(resource)),
            "GET /v1/models lists what it may use, its owner can change that",
        )
        .code("key_not_allowed"));
    }
    needs_grant(caller, action, resource)?;
    if !is_visible(caller, resource) {
        return Err(AppError::not_found(named(resource)));
    }
    Ok(())
}

/// Refuses whoever has a lower role; asked before it is known what they want to do, and to what.
pub fn require_role(caller: &Caller, least: Role) -> AppResult<()> {
    needs(caller, least, Resource::About)
}

/// A page of what the caller may read: `read` is asked for more after a name until the page is full.
pub(crate) async fn readable_page<T, F>(
    caller: &Caller,
    after: Option<&str>,
    limit: u32,
    resource: fn(&T) -> Resource<'_>,
    name: fn(&T) -> &str,
    read: impl Fn(Option<String>) -> F,
) -> AppResult<Page<T>>
where
    F: Future<Output = AppResult<Page<T>>>,
{
    let mut page = Page { items: Vec::new(), more: true };
    let mut after = after.map(str::to_owned);
    while page.more && page.items.len() < limit as usize {
        let found = read(after).await?;
        after = found.items.last().map(|last| name(last).to_owned());
        page.more = found.more;
        page.items.extend(found.items.into_iter().filter(|one| authorize(caller, Action::Read, resource(one)).is_ok()));
    }
    page.more |= page.items.len() > limit as usize;
    page.items.truncate(limit as usize);
    Ok(page)
}

/// Whose rows a list holds: `None` is everybody's.
pub fn listed_owner(caller: &Caller, resource: Resource<'_>) -> Option<UserId> {
    let everybody = match resource {
        Resource::Keys => has(caller, Role::Admin),
        _ => sees_all(caller),
    };
    (!everybody).then_some(caller.principal.user)
}

fn least_role(action: Action, resource: Resource<'_>) -> Role {
    use Resource as R;
    match action {
        Action::Administer => Role::Admin,
        Action::Read => match resource {
            R::CredentialUses | R::Datasources | R::Groups | R::Health => Role::Operator,
            R::Collection { .. }
            | R::Collections
            | R::Credentials
            | R::Credential { .. }
            | R::Files
            | R::McpLogin { .. }
            | R::SshHosts => Role::Developer,
            _ => Role::Viewer,
        },
        Action::Ask | Action::Decide | Action::Share => Role::Developer,
        Action::Operate => match resource {
            R::SkillCall { changes: true } => Role::Operator,
            _ => Role::Developer,
        },
        Action::Write => match resource {
            R::Groups => Role::Admin,
            // Whether they may change just this agent or skill, grants say. The token of all users is an operator's to set.
            R::Agent { .. }
            | R::Collection { .. }
            | R::Collections
            | R::Files
            | R::Keys
            | R::Key { .. }
            | R::McpLogin { per_user: true }
            | R::Sample
            | R::Hook { .. }
            | R::Hooks
            | R::Subscription { .. }
            | R::Subscriptions
            | R::Schedule { .. }
            | R::Schedules
            | R::Skill { .. }
            | R::SkillChange { reach: SkillReach::Own }
            | R::Skills => Role::Developer,
            _ => Role::Operator,
        },
    }
}

fn is_visible(caller: &Caller, resource: Resource<'_>) -> bool {
    let user = caller.principal.user;
    match resource {
        // What nobody owns, operators see.
        Resource::Run { owner, .. } | Resource::Approval { owner, .. } | Resource::RecordChange { owner, .. } => {
            sees_all(caller) || owner == Some(user)
        }
        Resource::AskedRun { owner, .. } => owner == Some(user),
        // Others' rests and goes away by operators, and is changed by nobody else: it works with its owner's rights.
        Resource::Schedule { owner, .. } | Resource::Hook { owner, .. } | Resource::Subscription { owner, .. } => {
            sees_all(caller) || owner == user
        }
        // What people say to agents is theirs alone; that of nobody is the command line's.
        Resource::Conversation { owner, .. } => owner.map_or(sees_all(caller), |owner| owner == user),
        Resource::Key { owner, .. } => owner == user || has(caller, Role::Admin),
        _ => true,
    }
}

/// What a virtual key opens. Without one, only the role counts.
fn is_in_scope(caller: &Caller, resource: Resource<'_>) -> bool {
    let Some(key) = &caller.principal.key else {
        return true;
    };
    match resource {
        Resource::Connection { id, .. } => key.connections.is_empty() || key.connections.contains(&id),
        Resource::Agent { id, .. } => {
            key.agents.as_ref().is_some_and(|agents| agents.is_empty() || agents.contains(&id))
        }
        _ => true,
    }
}

fn named(resource: Resource<'_>) -> String {
    match resource {
        Resource::Agent { name, .. } => format!("the agent `{name}`"),
        Resource::Collection { name, .. } => format!("the collection `{name}`"),
        Resource::Connection { name, .. } => format!("the connection `{name}`"),
        Resource::Credential { name, .. } => format!("the credential `{name}`"),
        Resource::Skill { name, .. } => format!("the skill `{name}`"),
        Resource::Approval { id, .. } => format!("approval {id}"),
        Resource::Conversation { id, .. } => format!("conversation {id}"),
        Resource::Key { id, .. } => format!("key {id}"),
        Resource::RecordChange { id, .. } => format!("record change {id}"),
        Resource::Run { id, .. } | Resource::AskedRun { id, .. } => format!("run {id}"),
        Resource::Hook { id, .. } => format!("webhook {id}"),
        Resource::Subscription { id, .. } => format!("subscription {id}"),
        Resource::Schedule { id, .. } => format!("schedule {id}"),
        _ => "it".to_owned(),
    }
}

fn needs(caller: &Caller, least: Role, resource: Resource<'_>) -> AppResult<()> {
    if has(caller, least) {
        return Ok(());
    }
    let what = match resource {
        Resource::SkillChange { reach } => reach.why_not(),
        _ => None,
    };
    Err(AppError::forbidden(
        format!(
            "{} needs the role {}; yours is {}",
            what.unwrap_or("this"),
            least.as_str(),
            caller.principal.role.as_str()
        ),
        "ask an administrator for the role, or let somebody do it who has it",
    ))
}

/// What concerns all tenants is for those of the default one, and private hosts are those of the installation.
fn needs_installation(caller: &Caller, resource: Resource<'_>) -> AppResult<()> {
    let installations = match resource {
        Resource::Backups
        | Resource::Config
        | Resource::Health
        | Resource::Metrics
        | Resource::ServerPaths
        | Resource::Tenants => true,
        Resource::SkillChange { reach } => reach == SkillReach::PrivateHosts,
        _ => false,
    };
    if !installations || caller.principal.tenant == TenantId::DEFAULT {
        return Ok(());
    }
    Err(AppError::forbidden(
        "this concerns the whole installation, not your organisation",
        "ask an administrator of the installation",
    )
    .code("installation_only"))
}

/// What grants are given for, and the level that an action needs.
fn granted(action: Action, resource: Resource<'_>) -> Option<(ResourceRef, AccessLevel)> {
    let resource = match resource {
        Resource::Agent { id, .. } => id.into(),
        Resource::Collection { id, .. } => id.into(),
        Resource::Connection { id, .. } => id.into(),
        Resource::Credential { id, .. } => id.into(),
        Resource::Skill { id, .. } => id.into(),
        _ => return None,
    };
    let level = match action {
        Action::Write => AccessLevel::Edit,
        Action::Share | Action::Administer => AccessLevel::Share,
        Action::Read | Action::Ask | Action::Operate | Action::Decide => AccessLevel::Use,
    };
    Some((resource, level))
}

fn needs_grant(caller: &Caller, action: Action, resource: Resource<'_>) -> AppResult<()> {
    let Some((wanted, level)) = granted(action, resource) else {
        return Ok(());
    };
    let held = caller.permissions.level(wanted);
    if sees_all(caller) || held >= Some(level) {
        return Ok(());
    }
    let held = held.map_or("you have none".to_owned(), |held| format!("yours is `{}`", held.as_str()));
    Err(AppError::forbidden(
        format!("{} needs the grant `{}` on it; {held}", named(resource), level.as_str()),
        format!(
            "ask an operator for it, or somebody who may share it; GET /api/access/{}/{}/explain tells more",
            wanted.kind.as_str(),
            wanted.id
        ),
    )
    .code("grant_missing"))
}

pub(crate) fn sees_all(caller: &Caller) -> bool {
    has(caller, Role::Operator)
}

pub(crate) fn has(caller: &Caller, least: Role) -> bool {
    rank(caller.principal.role) >= rank(least)
}

fn rank(role: Role) -> u8 {
    match role {
        Role::Viewer => 0,
        Role::Developer => 1,
        Role::Operator => 2,
        Role::Admin => 3,
    }
}

#[cfg(test)]
mod tests;
