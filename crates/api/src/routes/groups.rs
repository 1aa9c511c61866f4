use crate::dto::groups::{Group, GroupInput, GroupPatch};
use crate::dto::users::User;
use crate::routes::prelude::*;
use steward_core::{GroupId, UserId};

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(list, create))
        .routes(routes!(get, change, remove))
        .routes(routes!(members))
        .routes(routes!(add_member, take_member))
        .routes(routes!(of_user))
}

/// Which groups.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// Whose name or description holds this.
    #[param(max_length = 200, nullable = false)]
    search: Option<String>,
}

/// Groups by name, for operators and administrators.
#[utoipa::path(get, path = "/api/groups", tag = "groups", operation_id = "listGroups",
    params(Wanted, Paging), responses((status = 200, description = "By name", body = Page<Group>)))]
async fn list(Call(state, caller): Call, Params(wanted): Params<Wanted>, paging: Paging) -> Listed<Group> {
    let after = paging.after::<String>()?;
    let page = state.groups(&caller, wanted.search.as_deref(), after.as_deref(), paging.limit()).await?;
    Ok(Page::after_last(page, Group::cursor))
}

/// Makes a group without members.
#[utoipa::path(post, path = "/api/groups", tag = "groups", operation_id = "createGroup",
    request_body = GroupInput, responses(
        (status = 201, description = "Made", body = Group),
        (status = 409, description = "Another group has this name")))]
async fn create(Call(state, caller): Call, Body(input): Body<GroupInput>) -> Created<Group> {
    created(state.create_group(&caller, input).await?)
}

/// One group.
#[utoipa::path(get, path = "/api/groups/{id}", tag = "groups", operation_id = "getGroup",
    params(("id" = Uuid, Path)), responses((status = 200, description = "Found", body = Group)))]
async fn get(Call(state, caller): Call, PathId(id): PathId<GroupId>) -> Answer<Group> {
    Ok(Json(state.group(&caller, id).await?))
}

/// Changes name or description.
#[utoipa::path(patch, path = "/api/groups/{id}", tag = "groups", operation_id = "changeGroup",
    params(("id" = Uuid, Path)), request_body = GroupPatch, responses(
        (status = 200, description = "Changed", body = Group),
        (status = 409, description = "Another group has this name")))]
async fn change(
    Call(state, caller): Call,
    PathId(id): PathId<GroupId>,
    Body(patch): Body<GroupPatch>,
) -> Answer<Group> {
    Ok(Json(state.change_group(&caller, id, patch).await?))
}

/// Removes a group for good, with its grants; its members stay.
#[utoipa::path(delete, path = "/api/groups/{id}", tag = "groups", operation_id = "removeGroup",
    params(("id" = Uuid, Path)), responses((status = 204, description = "Removed")))]
async fn remove(Call(state, caller): Call, PathId(id): PathId<GroupId>) -> Done {
    done(state.remove_group(&caller, id).await)
}

/// Who is in a group, by email.
#[utoipa::path(get, path = "/api/groups/{id}/members", tag = "groups", operation_id = "listGroupMembers",
    params(("id" = Uuid, Path), Paging), responses((status = 200, description = "By email", body = Page<User>)))]
async fn members(Call(state, caller): Call, PathId(id): PathId<GroupId>, paging: Paging) -> Listed<User> {
    let after = paging.after::<String>()?;
    let page = state.group_members(&caller, id, after.as_deref(), paging.limit()).await?;
    Ok(Page::after_last(page, |user| user.email.clone()))
}

/// Puts somebody into a group, in force at their next request.
#[utoipa::path(put, path = "/api/groups/{id}/members/{user}", tag = "groups", operation_id = "addGroupMember",
    params(("id" = Uuid, Path), ("user" = Uuid, Path)), responses(
        (status = 204, description = "They are in it"),
        (status = 409, description = "Its members are kept elsewhere")))]
async fn add_member(Call(state, caller): Call, PathIds(id, user): PathIds<GroupId, UserId>) -> Done {
    done(state.set_group_member(&caller, id, user, true).await)
}

/// Takes somebody out of a group, in force at their next request.
#[utoipa::path(delete, path = "/api/groups/{id}/members/{user}", tag = "groups", operation_id = "removeGroupMember",
    params(("id" = Uuid, Path), ("user" = Uuid, Path)), responses(
        (status = 204, description = "They are not in it"),
        (status = 409, description = "Its members are kept elsewhere")))]
async fn take_member(Call(state, caller): Call, PathIds(id, user): PathIds<GroupId, UserId>) -> Done {
    done(state.set_group_member(&caller, id, user, false).await)
}

/// The groups that somebody is in, by name.
#[utoipa::path(get, path = "/api/users/{id}/groups", tag = "groups", operation_id = "listGroupsOfUser",
    params(("id" = Uuid, Path)), responses((status = 200, description = "By name", body = Vec<Group>)))]
async fn of_user(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<Vec<Group>> {
    Ok(Json(state.groups_of_user(&caller, id).await?))
}
