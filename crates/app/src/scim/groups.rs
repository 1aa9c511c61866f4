//! `/Groups`: looked up, made, replaced, changed and removed by a provider, with their members.

use super::error::{ScimError, ScimResult};
use super::patch::{Op, Operation, field, operations};
use super::path::Path;
use super::query::ScimQuery;
use super::resource::shown_group;
use super::{ScimCaller, attributes, filter};
use crate::app::App;
use serde_json::{Map, Value};
use std::collections::HashSet;
use steward_core::ports::{Counted, Group, GroupChange, MemberChange, ScimGroupFilter};
use steward_core::{GroupId, UserId};

/// Most groups of a list with their members.
const MOST_WITH_MEMBERS: u32 = 200;

impl App {
    pub async fn scim_list_groups(&self, caller: &ScimCaller, query: &ScimQuery) -> ScimResult<Value> {
        let filter = filter::of_groups(query.filter.as_deref())?;
        let found = self.found_groups(caller, filter, query, (query.offset(), query.count())).await?;
        Ok(query.listed(found.total, &found.items))
    }

    /// `page`: how many are left out at the beginning, and how many are shown. No filter: none.
    pub(super) async fn found_groups(
        &self,
        caller: &ScimCaller,
        filter: Option<ScimGroupFilter>,
        query: &ScimQuery,
        (offset, count): (u64, u32),
    ) -> ScimResult<Counted<Value>> {
        let Some(filter) = filter else { return Ok(ScimQuery::nothing()) };
        let most = if query.shows("members") { MOST_WITH_MEMBERS } else { super::query::MOST };
        let found = self.access.scim_groups(&filter, offset, count.min(most)).await?;
        let mut items = Vec::with_capacity(found.items.len());
        for group in &found.items {
            items.push(self.scim_group_shown(caller, group, query).await?);
        }
        Ok(Counted { items, total: found.total })
    }

    pub async fn scim_read_group(&self, caller: &ScimCaller, id: &str, query: &ScimQuery) -> ScimResult<Value> {
        let group = self.access.scim_group(group_id(id)?).await?;
        self.scim_group_shown(caller, &group, query).await
    }

    pub async fn scim_create_group(
        &self,
        caller: &ScimCaller,
        body: &Map<String, Value>,
        query: &ScimQuery,
    ) -> ScimResult<Value> {
        let whole = WholeGroup::read(body)?;
        let members = whole.members.unwrap_or_default();
        let group = self.access.create_scim_group(&whole.name, whole.external_id, members).await?;
        self.scim_group_shown(caller, &group, query).await
    }

    /// Members that are not sent stay.
    pub async fn scim_replace_group(
        &self,
        caller: &ScimCaller,
        id: &str,
        body: &Map<String, Value>,
        query: &ScimQuery,
    ) -> ScimResult<Value> {
        let id = group_id(id)?;
        let whole = WholeGroup::read(body)?;
        let change =
            GroupChange { name: Some(whole.name), external_id: Some(whole.external_id), ..GroupChange::default() };
        let members = whole.members.map_or_else(MemberChange::default, MemberChange::Only);
        let group = self.access.change_scim_group(id, change, members).await?;
        self.scim_group_shown(caller, &group, query).await
    }

    pub async fn scim_patch_group(&self, id: &str, body: &Map<String, Value>) -> ScimResult<()> {
        let id = group_id(id)?;
        let mut wanted = GroupPatch::default();
        for operation in operations(body)? {
            wanted.apply(&operation)?;
        }
        self.access.change_scim_group(id, wanted.change, wanted.members).await?;
        Ok(())
    }

    pub async fn scim_remove_group(&self, id: &str) -> ScimResult<()> {
        Ok(self.access.remove_scim_group(group_id(id)?).await?)
    }

    async fn scim_group_shown(&self, caller: &ScimCaller, group: &Group, query: &ScimQuery) -> ScimResult<Value> {
        let members = if query.shows("members") { Some(self.access.scim_members(group.id).await?) } else { None };
        Ok(query.select(shown_group(caller, group, members.as_deref())))
    }
}

fn group_id(text: &str) -> ScimResult<GroupId> {
    text.parse().map_err(|_| ScimError::not_found(text))
}

struct WholeGroup {
    name: String,
    external_id: Option<String>,
    /// `None`: they were not sent.
    members: Option<Vec<UserId>>,
}

impl WholeGroup {
    fn read(body: &Map<String, Value>) -> ScimResult<Self> {
        let text = |name: &str| match field(body, name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => attributes::text(name, value),
        };
        let name = text("displayName")?.ok_or_else(|| ScimError::value("a group needs a `displayName`"))?;
        let members = match field(body, "members") {
            None => None,
            Some(sent) => Some(new_members(sent)?),
        };
        Ok(Self { name, external_id: text("externalId")?, members })
    }
}

#[derive(Debug, Default, PartialEq)]
struct GroupPatch {
    change: GroupChange,
    members: MemberChange,
}

impl GroupPatch {
    fn apply(&mut self, operation: &Operation) -> ScimResult<()> {
        operation.each(|op, path, value, named| self.one(op, path, value, named))
    }

    fn one(&mut self, op: Op, path: &Path, value: &Value, named: bool) -> ScimResult<()> {
        if path.is("members") {
            return self.members(op, path, value);
        }
        let plain = path.sub.is_none() && path.condition.is_none();
        if path.is("displayName") && plain {
            let name = if op == Op::Remove { None } else { attributes::text("displayName", value)? };
            self.change.name = Some(name.ok_or_else(|| ScimError::value("a group needs a `displayName`"))?);
            return Ok(());
        }
        if path.is("externalId") && plain {
            let none = op == Op::Remove || value.is_null();
            self.change.external_id = Some(if none { None } else { attributes::text("externalId", value)? });
            return Ok(());
        }
        let ours = ["id", "meta", "schemas"].iter().any(|one| path.is(one));
        match (named, ours) {
            (false, _) => Ok(()),
            (true, true) => Err(ScimError::mutability(format!("`{}` can't be changed", path.attribute))),
            (true, false) => Err(ScimError::path(format!("a group has no attribute `{}`", path.attribute))),
        }
    }

    fn members(&mut self, op: Op, path: &Path, value: &Value) -> ScimResult<()> {
        if let Some((sub, id)) = &path.condition {
            if !sub.eq_ignore_ascii_case("value") || op != Op::Remove || path.sub.is_some() {
                return Err(ScimError::path("a member is named as `members[value eq \"id\"]`, to be removed"));
            }
            self.remove(&old_members(id)?);
            return Ok(());
        }
        if path.sub.is_some() {
            return Err(ScimError::path("members are changed as a whole"));
        }
        match op {
            Op::Add => self.add(new_members(value)?),
            Op::Replace => self.members = MemberChange::Only(new_members(value)?),
            Op::Remove if value.is_null() => self.members = MemberChange::Only(Vec::new()),
            // Some send whom they mean beside the path.
            Op::Remove => self.remove(&old_members(value)?),
        }
        Ok(())
    }

    fn add(&mut self, users: Vec<UserId>) {
        let into = match &mut self.members {
            MemberChange::Only(all) => all,
            MemberChange::Some { add, remove } => {
                remove.retain(|one| !users.contains(one));
                add
            }
        };
        let known: HashSet<UserId> = into.iter().copied().collect();
        into.extend(users.into_iter().filter(|one| !known.contains(one)));
    }

    fn remove(&mut self, users: &[UserId]) {
        match &mut self.members {
            MemberChange::Only(all) => all.retain(|one| !users.contains(one)),
            MemberChange::Some { add, remove } => {
                add.retain(|one| !users.contains(one));
                remove.extend(users);
            }
        }
    }
}

/// Each once; what is no id of ours is refused.
fn new_members(sent: &Value) -> ScimResult<Vec<UserId>> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for one in entries(sent) {
        let group = one["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("group"));
        let id = name_of(one).filter(|_| !group).and_then(|id| id.parse().ok());
        let id = id.ok_or_else(|| ScimError::value("a member is a user: `{\"value\": \"id of the user\"}`"))?;
        if seen.insert(id) {
            all.push(id);
        }
    }
    Ok(all)
}

/// Who is not known is in no group.
fn old_members(sent: &Value) -> ScimResult<Vec<UserId>> {
    let named =
        entries(sent).into_iter().map(|one| name_of(one).ok_or_else(|| ScimError::value("a member has a `value`")));
    let named = named.collect::<Result<Vec<&str>, _>>()?;
    Ok(named.into_iter().filter_map(|id| id.parse().ok()).collect())
}

fn entries(sent: &Value) -> Vec<&Value> {
    match sent {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().collect(),
        one => vec![one],
    }
}

fn name_of(one: &Value) -> Option<&str> {
    match one {
        Value::String(id) => Some(id),
        Value::Object(object) => field(object, "value").and_then(Value::as_str),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{GroupPatch, WholeGroup};
    use crate::scim::error::ScimError;
    use crate::scim::patch::operations;
    use serde_json::{Value, json};
    use steward_core::UserId;
    use steward_core::ports::MemberChange;
    use uuid::Uuid;

    fn id(number: u128) -> UserId {
        UserId(Uuid::from_u128(number))
    }

    fn patched(sent: &Value) -> Result<GroupPatch, ScimError> {
        let mut patch = GroupPatch::default();
        for operation in operations(json!({"Operations": sent}).as_object().unwrap())? {
            patch.apply(&operation)?;
        }
        Ok(patch)
    }

    fn some(add: &[u128], remove: &[u128]) -> MemberChange {
        MemberChange::Some {
            add: add.iter().map(|one| id(*one)).collect(),
            remove: remove.iter().map(|one| id(*one)).collect(),
        }
    }

    #[test]
    fn members_are_changed_in_the_shapes_of_providers() {
        let (one, two) = (id(1), id(2));
        for (sent, expect) in [
            (json!([{"op": "Add", "path": "members", "value": [{"value": one}, {"value": one}]}]), some(&[1], &[])),
            (json!([{"op": "add", "value": {"members": [{"value": one, "display": "x"}]}}]), some(&[1], &[])),
            (json!([{"op": "add", "path": "members", "value": {"value": one}}]), some(&[1], &[])),
            (json!([{"op": "remove", "path": format!("members[value eq \"{one}\"]")}]), some(&[], &[1])),
            (json!([{"op": "Remove", "path": "members", "value": [{"value": one}]}]), some(&[], &[1])),
            (json!([{"op": "remove", "path": "members[value eq \"unknown\"]"}]), some(&[], &[])),
            (json!([{"op": "remove", "path": "members"}]), MemberChange::Only(vec![])),
            (json!([{"op": "replace", "path": "members", "value": [{"value": two}]}]), MemberChange::Only(vec![two])),
            (
                json!([
                    {"op": "replace", "path": "members", "value": []},
                    {"op": "add", "path": "members", "value": [one, two]},
                    {"op": "remove", "path": format!("members[value eq \"{one}\"]")},
                ]),
                MemberChange::Only(vec![two]),
            ),
            (
                json!([
                    {"op": "add", "path": "members", "value": [one]},
                    {"op": "remove", "path": format!("members[value eq \"{one}\"]")},
                ]),
                some(&[], &[1]),
            ),
            (
                json!([
                    {"op": "remove", "path": format!("members[value eq \"{one}\"]")},
                    {"op": "add", "path": "members", "value": [one]},
                ]),
                some(&[1], &[]),
            ),
        ] {
            assert_eq!(patched(&sent).unwrap().members, expect, "{sent}");
        }
        let renamed = patched(&json!([{"op": "replace", "value": {"id": "7", "displayName": "Ops"}}])).unwrap();
        assert_eq!((renamed.change.name.as_deref(), renamed.members), (Some("Ops"), MemberChange::default()));
    }

    #[test]
    fn mistakes_are_told_apart() {
        for (sent, scim_type) in [
            (json!([{"op": "add", "path": "members", "value": [{"value": "x"}]}]), "invalidValue"),
            (json!([{"op": "add", "path": "members", "value": [{"value": id(1), "type": "Group"}]}]), "invalidValue"),
            (json!([{"op": "add", "path": "members", "value": [7]}]), "invalidValue"),
            (json!([{"op": "remove", "path": "members[display eq \"x\"]"}]), "invalidPath"),
            (json!([{"op": "add", "path": "members.value", "value": "x"}]), "invalidPath"),
            (json!([{"op": "replace", "path": "nothing", "value": "x"}]), "invalidPath"),
            (json!([{"op": "replace", "path": "id", "value": "x"}]), "mutability"),
            (json!([{"op": "remove", "path": "displayName"}]), "invalidValue"),
            (json!([{"op": "replace", "path": "displayName", "value": " "}]), "invalidValue"),
            (json!([{"op": "remove"}]), "noTarget"),
        ] {
            let refused = patched(&sent).unwrap_err();
            assert_eq!((refused.status, refused.scim_type), (400, Some(scim_type)), "{sent}: {}", refused.detail);
        }
        let whole = |sent: Value| WholeGroup::read(sent.as_object().unwrap()).map(|whole| whole.members);
        assert_eq!(whole(json!({"displayName": "x"})).unwrap(), None);
        assert_eq!(whole(json!({"DisplayName": "x", "members": []})).unwrap(), Some(vec![]));
        assert!(whole(json!({"members": []})).is_err() && whole(json!({"displayName": 7, "members": 1})).is_err());
    }
}
