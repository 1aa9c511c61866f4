use serde::{Deserialize, Serialize};
use steward_core::{GroupId, Timestamp, ports};
use utoipa::ToSchema;

/// Users who have grants together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// Unique among the groups of its source, whatever the case.
    pub name: String,
    /// For people.
    pub description: String,
    /// The directory or provider that keeps its members; null: they are kept here.
    #[schema(required)]
    pub source: Option<String>,
    /// How many users are in it.
    pub members: u64,
    /// When it was made, milliseconds since 1970 UTC.
    pub created_at: Timestamp,
}

impl Group {
    /// What a list goes on after.
    pub fn cursor(&self) -> String {
        self.source.as_ref().map_or_else(|| self.name.clone(), |source| format!("{}\n{source}", self.name))
    }
}

impl From<ports::Group> for Group {
    fn from(group: ports::Group) -> Self {
        let ports::Group { id, name, description, source, members, created_at, .. } = group;
        Self { id, name, description, source: Some(source).filter(|source| !source.is_empty()), members, created_at }
    }
}

/// A group to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupInput {
    /// Its name.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// For people.
    #[serde(default)]
    #[schema(max_length = 500)]
    pub description: String,
}

/// What to change of a group. What is left out stays.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupPatch {
    /// Its name.
    #[schema(nullable = false, min_length = 1, max_length = 100)]
    pub name: Option<String>,
    /// For people.
    #[schema(nullable = false, max_length = 500)]
    pub description: Option<String>,
}
