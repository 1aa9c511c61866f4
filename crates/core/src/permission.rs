//! What users may do with single resources: by their role, because a resource is open to everybody, or by a grant to them
//! or to a group of theirs.

use crate::{AgentId, CollectionId, ConnectionId, CredentialId, GroupId, SkillId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;
use strum::{EnumString, IntoStaticStr};
use uuid::Uuid;

/// Kinds of resources that grants are given for.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ResourceKind {
    /// An agent: `use` lets somebody ask it.
    Agent,
    /// A skill: `use` lets somebody try it and give it to agents.
    Skill,
    /// A connection to a model: `use` lets somebody ask it directly.
    Connection,
    /// A credential: `use` lets the runs of somebody use it.
    Credential,
    /// A collection of documents: `use` lets somebody search and read them, `edit` add and remove some.
    Collection,
}

impl ResourceKind {
    pub const ALL: [Self; 5] = [Self::Agent, Self::Skill, Self::Connection, Self::Credential, Self::Collection];

    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether everybody may use one that is not restricted. Credentials are for those only to whom they are granted.
    pub fn open_to_all(self) -> bool {
        self != Self::Credential
    }
}

/// One resource of a kind that grants are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResourceRef {
    pub kind: ResourceKind,
    pub id: Uuid,
}

macro_rules! resource_ids {
    ($($id:ty => $kind:ident),+ $(,)?) => {$(
        impl From<$id> for ResourceRef {
            fn from(id: $id) -> Self {
                Self { kind: ResourceKind::$kind, id: id.0 }
            }
        }
    )+};
}

resource_ids! {
    AgentId => Agent,
    SkillId => Skill,
    ConnectionId => Connection,
    CredentialId => Credential,
    CollectionId => Collection,
}

impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.id)
    }
}

/// How far a grant reaches; each level has those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AccessLevel {
    /// See and use it.
    Use,
    /// Change it.
    Edit,
    /// Say who else may use and change it.
    Share,
}

impl AccessLevel {
    /// Its name, as stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Who has a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case", tag = "type", content = "id")]
pub enum Grantee {
    /// One user.
    User(UserId),
    /// All members of a group.
    Group(GroupId),
}

impl Grantee {
    /// `user` or `group`, as stored.
    pub fn kind(self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Group(_) => "group",
        }
    }

    pub fn id(self) -> Uuid {
        match self {
            Self::User(id) => id.0,
            Self::Group(id) => id.0,
        }
    }
}

/// A right to one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceGrant {
    pub grantee: Grantee,
    pub level: AccessLevel,
    /// Email of who gave it.
    pub given_by: String,
    pub given_at: Timestamp,
}

/// Who may do what with one resource, beside operators and administrators, who may do everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessList {
    /// Only those with a grant may use it.
    pub restricted: bool,
    pub grants: Vec<ResourceGrant>,
}

/// What one user may do with which resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Those that nobody may use without a grant.
    pub restricted: HashSet<ResourceRef>,
    /// The highest level of the user's own grants and of those of their groups.
    pub granted: HashMap<ResourceRef, AccessLevel>,
}

impl Permissions {
    /// `None`: nothing.
    pub fn level(&self, resource: ResourceRef) -> Option<AccessLevel> {
        let open = resource.kind.open_to_all() && !self.restricted.contains(&resource);
        self.granted.get(&resource).copied().max(open.then_some(AccessLevel::Use))
    }

    pub fn allows(&self, resource: ResourceRef, level: AccessLevel) -> bool {
        self.level(resource) >= Some(level)
    }

    /// Whether all that `earlier` had by grants is still allowed.
    pub fn keeps(&self, earlier: &Self) -> bool {
        earlier.granted.keys().all(|resource| self.level(*resource) >= earlier.level(*resource))
    }

    /// Adds a grant; the higher of two counts.
    pub fn grant(&mut self, resource: ResourceRef, level: AccessLevel) {
        let held = self.granted.entry(resource).or_insert(level);
        *held = level.max(*held);
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessLevel, Permissions, ResourceRef};
    use crate::{AgentId, CredentialId};
    use uuid::Uuid;

    #[test]
    fn open_ones_may_be_used_and_the_highest_grant_counts() {
        let (open, closed) = (ResourceRef::from(AgentId(Uuid::from_u128(1))), AgentId(Uuid::from_u128(2)).into());
        let key = ResourceRef::from(CredentialId(Uuid::from_u128(1)));
        let mut held = Permissions::default();
        held.restricted.insert(closed);
        let levels = |held: &Permissions| [open, closed, key].map(|one| held.level(one));
        assert_eq!(levels(&held), [Some(AccessLevel::Use), None, None]);
        for (resource, level) in [
            (closed, AccessLevel::Edit),
            (closed, AccessLevel::Use),
            (key, AccessLevel::Use),
            (open, AccessLevel::Share),
        ] {
            held.grant(resource, level);
        }
        assert_eq!(levels(&held), [Some(AccessLevel::Share), Some(AccessLevel::Edit), Some(AccessLevel::Use)]);
        assert!(held.allows(closed, AccessLevel::Use) && !held.allows(closed, AccessLevel::Share));
    }

    #[test]
    fn what_was_taken_is_told_from_what_was_given() {
        let (one, other) =
            (ResourceRef::from(AgentId(Uuid::from_u128(1))), ResourceRef::from(AgentId(Uuid::from_u128(2))));
        let none = Permissions::default();
        let mut restricted = Permissions::default();
        restricted.restricted.insert(one);
        let mut granted = restricted.clone();
        granted.grant(one, AccessLevel::Edit);
        granted.grant(other, AccessLevel::Edit);
        for (now, earlier, keeps) in [
            (&none, &none, true),
            (&none, &restricted, true),
            (&restricted, &none, true),
            (&granted, &restricted, true),
            (&granted, &none, true),
            (&restricted, &granted, false),
            (&none, &granted, false),
        ] {
            assert_eq!(now.keeps(earlier), keeps, "{now:?} after {earlier:?}");
        }
    }
}
