//! Identifiers. All are UUIDs of version 7, so that they sort by the time they were made;
//! they are made by [`crate::ports::Ids`], never here.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }
    )+};
}

id! {
    /// One customer of an installation; it leads every key of the store.
    TenantId,
    /// One execution of an agent on one input.
    RunId,
    /// The messages of a user with an agent.
    ConversationId,
    /// Instructions, tools, routing and policy under one name.
    AgentId,
    /// A decision asked of a person.
    ApprovalId,
    /// One model endpoint.
    ConnectionId,
    /// A durable alarm of a run.
    TimerId,
    /// A person or a program that logs in.
    UserId,
    /// A virtual key: a name and a secret by which a program uses the gateway.
    KeyId,
    /// A limit of what may be spent.
    BudgetId,
    /// Tokens and money set aside for a call in flight.
    ReservationId,
    /// A skill, over all its versions.
    SkillId,
    /// A secret in the vault.
    CredentialId,
    /// An MCP server.
    McpServerId,
}

impl TenantId {
    /// The tenant of an installation that has only one.
    pub const DEFAULT: Self = Self(Uuid::from_u128(1));
}
