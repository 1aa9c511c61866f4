//! `/api/access`: who may use, change and share single agents, skills, connections and credentials.

use crate::dto::resource_access::{
    AccessDefaults, AccessExplanation, GrantInput, HeldGrant, ResourceAccess, Restriction,
};
use crate::routes::prelude::*;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use steward_core::UserId;
use steward_core::permission::{ResourceKind, ResourceRef};
use uuid::Uuid;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(defaults, set_defaults))
        .routes(routes!(get, restrict))
        .routes(routes!(give))
        .routes(routes!(take))
        .routes(routes!(explain))
        .routes(routes!(of_user))
}

/// The resource that a path names, and whose grant.
struct AccessPath {
    resource: ResourceRef,
    grantee: Option<Uuid>,
}

#[derive(Deserialize)]
struct RawPath {
    kind: String,
    id: String,
    grantee: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for AccessPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let unknown = || {
            let kinds = ResourceKind::ALL.map(ResourceKind::as_str).join(", ");
            let hint = format!("the path is /api/access/KIND/ID with a kind of {kinds} and the id of one");
            Problem::new(StatusCode::NOT_FOUND, "there is nothing of this kind and id", hint)
        };
        let Path(raw) = Path::<RawPath>::from_request_parts(parts, state).await.map_err(|_| unknown())?;
        let kind = raw.kind.parse::<ResourceKind>().map_err(|_| unknown())?;
        let id = raw.id.parse::<Uuid>().map_err(|_| unknown())?;
        let grantee = raw.grantee.map(|id| id.parse()).transpose().map_err(|_| unknown())?;
        Ok(Self { resource: ResourceRef { kind, id }, grantee })
    }
}

/// Whose access.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// Email or id; left out: the caller's own.
    #[param(max_length = 254, nullable = false)]
    user: Option<String>,
}

/// Who may do what with a resource, for those who may share it.
#[utoipa::path(get, path = "/api/access/{kind}/{id}", tag = "access", operation_id = "getAccess",
    params(("kind" = ResourceKind, Path), ("id" = Uuid, Path)),
    responses((status = 200, description = "Found", body = ResourceAccess)))]
async fn get(Call(state, caller): Call, path: AccessPath) -> Answer<ResourceAccess> {
    Ok(Json(state.resource_access(&caller, path.resource).await?))
}

/// Says whether everybody may use it, or only those with a grant; in force at the next call.
#[utoipa::path(put, path = "/api/access/{kind}/{id}", tag = "access", operation_id = "restrictAccess",
    params(("kind" = ResourceKind, Path), ("id" = Uuid, Path)), request_body = Restriction,
    responses((status = 200, description = "Changed", body = ResourceAccess)))]
async fn restrict(
    Call(state, caller): Call,
    path: AccessPath,
    Body(wanted): Body<Restriction>,
) -> Answer<ResourceAccess> {
    Ok(Json(state.restrict_resource(&caller, path.resource, wanted.restricted).await?))
}

/// Gives a grant to a user or a group, or changes theirs.
#[utoipa::path(post, path = "/api/access/{kind}/{id}/grants", tag = "access", operation_id = "giveAccess",
    params(("kind" = ResourceKind, Path), ("id" = Uuid, Path)), request_body = GrantInput,
    responses((status = 200, description = "Given", body = ResourceAccess)))]
async fn give(Call(state, caller): Call, path: AccessPath, Body(input): Body<GrantInput>) -> Answer<ResourceAccess> {
    Ok(Json(state.give_resource_grant(&caller, path.resource, input).await?))
}

/// Takes the grant of a user or group; in force at the next call, of runs at work too.
#[utoipa::path(delete, path = "/api/access/{kind}/{id}/grants/{grantee}", tag = "access",
    operation_id = "takeAccess",
    params(("kind" = ResourceKind, Path), ("id" = Uuid, Path), ("grantee" = Uuid, Path)),
    responses((status = 204, description = "Taken")))]
async fn take(Call(state, caller): Call, path: AccessPath) -> Done {
    done(state.take_resource_grant(&caller, path.resource, path.grantee.unwrap_or_default()).await)
}

/// What somebody may do with a resource, why, and what they lack for more.
#[utoipa::path(get, path = "/api/access/{kind}/{id}/explain", tag = "access", operation_id = "explainAccess",
    params(("kind" = ResourceKind, Path), ("id" = Uuid, Path), Whose),
    responses((status = 200, description = "Found", body = AccessExplanation)))]
async fn explain(
    Call(state, caller): Call,
    path: AccessPath,
    Params(whose): Params<Whose>,
) -> Answer<AccessExplanation> {
    Ok(Json(state.explain_access(&caller, path.resource, whose.user.as_deref()).await?))
}

/// All grants of a user and of their groups: one's own, or for administrators anybody's.
#[utoipa::path(get, path = "/api/users/{id}/access", tag = "access", operation_id = "listAccessOfUser",
    params(("id" = Uuid, Path)), responses((status = 200, description = "By kind", body = Vec<HeldGrant>)))]
async fn of_user(Call(state, caller): Call, PathId(id): PathId<UserId>) -> Answer<Vec<HeldGrant>> {
    Ok(Json(state.grants_of_user(&caller, id).await?))
}

/// How new resources begin.
#[utoipa::path(get, path = "/api/access/defaults", tag = "access", operation_id = "getAccessDefaults",
    responses((status = 200, description = "Found", body = AccessDefaults)))]
async fn defaults(Call(state, caller): Call) -> Answer<AccessDefaults> {
    Ok(Json(state.access_defaults(&caller).await?))
}

/// Changes how new resources begin; what there is stays as it is.
#[utoipa::path(put, path = "/api/access/defaults", tag = "access", operation_id = "setAccessDefaults",
    request_body = AccessDefaults, responses((status = 200, description = "Changed", body = AccessDefaults)))]
async fn set_defaults(Call(state, caller): Call, Body(defaults): Body<AccessDefaults>) -> Answer<AccessDefaults> {
    Ok(Json(state.set_access_defaults(&caller, defaults).await?))
}
