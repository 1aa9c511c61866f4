//! Identifiers: UUIDs of version 7, which sort by creation time, made by [`crate::ports::Ids`] and never here.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
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
    )+

        /// Gives the names of all ids to a macro.
        #[macro_export]
        macro_rules! for_each_id {
            ($with:ident) => {
                $with! { $($name)+ }
            };
        }
    };
}

// The build scripts read the names here: see `schema_aliases.rs`.
id! {
    /// One customer of an installation; it leads every key of the store.
    TenantId,
    RunId,
    ConversationId,
    AgentId,
    ApprovalId,
    ConnectionId,
    /// A durable alarm of a run.
    TimerId,
    UserId,
    GroupId,
    /// A virtual key: a name and a secret by which a program uses the gateway.
    KeyId,
    BudgetId,
    /// Tokens and money set aside for a call in flight.
    ReservationId,
    SkillId,
    CredentialId,
    McpServerId,
    /// A set of documents that are searched, shared and embedded alike.
    CollectionId,
    DocumentId,
    /// Documents that were handed in together.
    IngestJobId,
    WatchedPathId,
    /// A user's database.
    DatasourceId,
    /// A change of one record that a person is asked about.
    RecordChangeId,
    /// What starts runs by itself.
    ScheduleId,
    /// What starts runs when somebody else's program calls.
    HookId,
    /// One call of a webhook.
    DeliveryId,
    /// An address that is told of what happens.
    SubscriptionId,
    /// One happening on its way to one address.
    DispatchId,
}

impl TenantId {
    /// The tenant that every installation has; its administrators are those of the installation.
    pub const DEFAULT: Self = Self(Uuid::from_u128(1));
}
