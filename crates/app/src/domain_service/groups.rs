//! What the groups in texts of domains mean: a name is looked up when a text is saved, and means that group from then on,
//! whatever it is called later. A new group with the name of one that was deleted gets none of its rights by that.

use super::{DataResult, DomainService};
use std::collections::BTreeMap;
use steward_core::GroupId;
use steward_core::datasource::DomainGroup;
use steward_core::ports::{DataCaller, Group, Groups as _, StoreResult};
use steward_domains::Diagnostic;
use steward_domains::lower::{DomainSource, lower};
use steward_domains::model::{Domain, Grantee};
use steward_domains::parser::parse;

/// Names that the editor offers; a text may name any other group too.
const OFFERED: u32 = 1000;

/// What the groups in a text mean.
#[derive(Debug, Default)]
pub(super) struct MeantGroups {
    pub groups: Vec<DomainGroup>,
    /// What stands in the text for a group that is there.
    pub names: Vec<String>,
    pub diagnostics: Vec<Diagnostic>,
}

impl DomainService {
    /// The names of groups, for the editor.
    pub(super) async fn group_names(&self) -> StoreResult<Vec<String>> {
        let page = self.parts.store.groups(self.parts.tenant, None, None, OFFERED).await?;
        Ok(page.items.into_iter().map(|group| group.name).collect())
    }

    /// What a name meant when its domain was saved it still means, as long as that group is there; any other name is that
    /// of a group of today. `may_replace`: also where the group that was meant is gone and another has its name.
    pub(super) async fn meant_groups(
        &self,
        caller: DataCaller,
        text: &str,
        may_replace: bool,
    ) -> DataResult<MeantGroups> {
        let mut meant = MeantGroups::default();
        let owned = text.to_owned();
        let sources = self.run_apart(caller, text.len(), move || lower(&parse(&owned)).domains).await?;
        if !sources.iter().any(|source| source.domain.permissions.iter().any(|one| is_group(&one.to))) {
            return Ok(meant);
        }
        let saved = saved_groups(self.parts.store.domain_groups(self.parts.tenant).await?);
        for source in &sources {
            self.meant_in(source, &saved, may_replace, &mut meant).await?;
        }
        Ok(meant)
    }

    async fn meant_in(
        &self,
        source: &DomainSource,
        saved: &BTreeMap<(String, String), GroupId>,
        may_replace: bool,
        meant: &mut MeantGroups,
    ) -> DataResult<()> {
        let domain = &source.domain;
        for (permission, range) in domain.permissions.iter().zip(&source.ranges.permissions) {
            let Grantee::Group(name) = &permission.to else { continue };
            let before = saved.get(&(domain.name.clone(), name.clone())).copied();
            let (tenant, store) = (self.parts.tenant, &self.parts.store);
            let kept = match before {
                Some(id) => store.group(tenant, id).await?,
                None => None,
            };
            if let Some(group) = &kept
                && !is_called(group, name)
            {
                let message = format!("The group that is `{name}` here is called `{}` now.", group.name);
                let hint =
                    "Its rights hold. Write the new name, or remove the line if another group is meant.".to_owned();
                meant.diagnostics.push(Diagnostic::warning(*range, "renamed-group", message).with_hint(hint));
            }
            let found = match kept {
                Some(group) => Some(group),
                None => self.group_named(name).await?,
            };
            let Some(group) = found else { continue };
            if before.is_some_and(|id| id != group.id) && !may_replace {
                let message = format!("The group `{name}` that was meant here was deleted, and another has its name.");
                let hint =
                    "Remove the line, or have an administrator save the text, which gives the rights to the new group.";
                let refused = Diagnostic::error(*range, "replaced-group", message).with_hint(hint.to_owned());
                meant.diagnostics.push(refused);
            }
            meant.names.push(name.clone());
            meant.groups.push(DomainGroup { domain: domain.name.clone(), name: name.clone(), group: group.id });
        }
        Ok(())
    }

    async fn group_named(&self, name: &str) -> StoreResult<Option<Group>> {
        let (tenant, store) = (self.parts.tenant, &self.parts.store);
        match name.parse::<GroupId>() {
            Ok(id) => store.group(tenant, id).await,
            Err(_) => store.group_by_name(tenant, name).await,
        }
    }
}

/// Puts the ids of groups into the place of their names. What means no group is for nobody.
pub(super) fn bind_groups(domain: &mut Domain, saved: &BTreeMap<(String, String), GroupId>) {
    let name_of = domain.name.clone();
    domain.permissions.retain_mut(|permission| {
        let Grantee::Group(name) = &permission.to else { return true };
        match saved.get(&(name_of.clone(), name.clone())) {
            Some(id) => {
                permission.to = Grantee::Group(id.to_string());
                true
            }
            None => false,
        }
    });
}

/// By the names of domain and group.
pub(super) fn saved_groups(all: Vec<DomainGroup>) -> BTreeMap<(String, String), GroupId> {
    all.into_iter().map(|one| ((one.domain, one.name), one.group)).collect()
}

fn is_group(to: &Grantee) -> bool {
    matches!(to, Grantee::Group(_))
}

/// Whether a text may call it so: by its name, its id, or its name behind that of its source.
fn is_called(group: &Group, name: &str) -> bool {
    let same = |other: &str| other.to_lowercase() == name.to_lowercase();
    same(&group.name) || same(&group.id.to_string()) || same(&format!("{}/{}", group.source, group.name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{bind_groups, saved_groups};
    use steward_core::GroupId;
    use steward_core::datasource::DomainGroup;
    use steward_domains::lower::lower;
    use steward_domains::parser::parse;
    use uuid::Uuid;

    #[test]
    fn a_name_that_means_no_group_is_for_nobody() {
        let text =
            "domain pay from pay@db { permission group:sales read; permission group:hr read; permission admin read }";
        let mut domain = lower(&parse(text)).domains.remove(0).domain;
        let sales = GroupId(Uuid::from_u128(1));
        let other = |name: &str| DomainGroup { domain: "other".into(), name: name.into(), group: sales };
        let meant = DomainGroup { domain: "pay".into(), name: "sales".into(), group: sales };
        bind_groups(&mut domain, &saved_groups(vec![other("hr"), meant]));
        let to: Vec<String> = domain.permissions.iter().map(|permission| permission.to.to_string()).collect();
        assert_eq!(to, [format!("group:{sales}"), "role:admin".to_owned()]);
    }
}
