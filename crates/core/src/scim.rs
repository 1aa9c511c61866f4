//! Users and groups that an identity provider keeps here by SCIM 2.0: what an administrator sets for it.

use crate::ports::Role;
use crate::sign_on::{GroupRole, is_named, role_by_group};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Name of the setting.
pub const SCIM_SETTING: &str = "auth.scim";
/// Where the members of groups that came by SCIM are kept.
pub const SCIM_SOURCE: &str = "scim";

/// What those who come by SCIM may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ScimSettings)]
#[serde(deny_unknown_fields, default)]
pub struct ScimSettings {
    /// Roles by group; of several the highest counts. If there are any, they decide about everybody whom a provider keeps
    /// here, at each change of a group.
    #[schema(max_items = 200)]
    pub roles: Vec<GroupRole>,
    /// Of somebody new, and of who is in none of the groups.
    pub default_role: Role,
}

impl Default for ScimSettings {
    fn default() -> Self {
        Self { roles: Vec::new(), default_role: Role::Viewer }
    }
}

impl ScimSettings {
    /// The role of who is in these groups.
    pub fn role(&self, groups: &[String]) -> Role {
        role_by_group(&self.roles, is_named(groups)).unwrap_or(self.default_role)
    }

    /// Whether being in this group may change a role.
    pub fn names(&self, group: &str) -> bool {
        role_by_group(&self.roles, is_named(&[group.to_owned()])).is_some()
    }

    /// The field that can't be that, and why.
    pub fn problem(&self) -> Option<(&'static str, String)> {
        if self.roles.len() > 200 {
            return Some(("roles", "at most 200 groups can have a role".to_owned()));
        }
        let nameless = self.roles.iter().any(|one| one.group.trim().is_empty());
        nameless.then(|| ("roles", "a group has no name".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::ScimSettings;
    use crate::ports::Role;
    use serde_json::json;

    #[test]
    fn the_highest_group_gives_the_role() {
        let settings: ScimSettings = serde_json::from_value(json!({
            "roles": [{"group": "Staff", "role": "developer"}, {"group": "Ops", "role": "admin"}],
        }))
        .expect("settings");
        let role = |groups: &[&str]| settings.role(&groups.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
        assert_eq!(role(&[]), Role::Viewer);
        assert_eq!(role(&["staff"]), Role::Developer);
        assert_eq!(role(&["Staff", "OPS", "x"]), Role::Admin);
        assert!(settings.names("ops") && !settings.names("x"));
        assert_eq!(settings.problem(), None);
        let nameless: ScimSettings =
            serde_json::from_value(json!({"roles": [{"group": " ", "role": "viewer"}]})).expect("settings");
        assert_eq!(nameless.problem().map(|(field, _)| field), Some("roles"));
    }
}
