use crate::routes::prelude::*;
use steward_app::dto::identity::{
    DirectoryInput, DirectoryTrial, DirectoryView, ProviderInput, ProviderView, TriedLogin,
};
use steward_core::sign_on::LoginSettings;

pub(super) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::default()
        .routes(routes!(read_settings, replace_settings))
        .routes(routes!(list_providers))
        .routes(routes!(save_provider, remove_provider))
        .routes(routes!(try_provider))
        .routes(routes!(try_directory))
        .routes(routes!(read_directory, save_directory, remove_directory))
}

/// The rules of logins: lifetimes, and who needs a second factor.
#[utoipa::path(get, path = "/api/identity/settings", tag = "identity", operation_id = "readLoginSettings",
    responses((status = 200, description = "The rules", body = LoginSettings)))]
async fn read_settings(Call(state, caller): Call) -> Answer<LoginSettings> {
    Ok(Json(state.login_settings(&caller).await?))
}

/// Replaces the rules of logins. They hold from the next login, refresh or invitation on; what is left out is as usual.
#[utoipa::path(put, path = "/api/identity/settings", tag = "identity", operation_id = "replaceLoginSettings",
    request_body = LoginSettings,
    responses((status = 200, description = "The rules", body = LoginSettings)))]
async fn replace_settings(Call(state, caller): Call, Body(input): Body<LoginSettings>) -> Answer<LoginSettings> {
    Ok(Json(state.set_login_settings(&caller, input).await?))
}

/// Lists the providers of OpenID Connect, with all settings but the secrets.
#[utoipa::path(get, path = "/api/identity/providers", tag = "identity", operation_id = "listIdentityProviders",
    params(Paging), responses((status = 200, description = "By name", body = Page<ProviderView>)))]
async fn list_providers(Call(state, caller): Call, paging: Paging) -> Listed<ProviderView> {
    Page::cut(state.providers(&caller).await?, &paging)
}

/// Makes or replaces a provider. In force at the next login.
#[utoipa::path(put, path = "/api/identity/providers/{name}", tag = "identity", operation_id = "saveIdentityProvider",
    params(("name" = String, Path, description = "Its name: lower-case letters, digits and -")),
    request_body = ProviderInput,
    responses((status = 200, description = "As it is saved", body = ProviderView)))]
async fn save_provider(
    Call(state, caller): Call,
    PathName(name): PathName,
    Body(input): Body<ProviderInput>,
) -> Answer<ProviderView> {
    Ok(Json(state.save_provider(&caller, &name, input).await?))
}

/// Removes a provider, with its secret. Who came by it stays a user, but can't log in with it.
#[utoipa::path(delete, path = "/api/identity/providers/{name}", tag = "identity",
    operation_id = "removeIdentityProvider",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 204, description = "Removed")))]
async fn remove_provider(Call(state, caller): Call, PathName(name): PathName) -> Done {
    done(state.remove_provider(&caller, &name).await)
}

/// Asks a provider what it says of itself, with settings that need not be saved. Nothing is kept.
#[utoipa::path(post, path = "/api/identity/try/provider", tag = "identity", operation_id = "tryIdentityProvider",
    request_body = ProviderInput,
    responses((status = 200, description = "What was found", body = TriedLogin)))]
async fn try_provider(Call(state, caller): Call, Body(input): Body<ProviderInput>) -> Answer<TriedLogin> {
    Ok(Json(state.try_provider(&caller, input).await?))
}

/// Connects to a directory with settings that need not be saved, and looks for somebody if a name is given. Nothing is kept.
#[utoipa::path(post, path = "/api/identity/try/directory", tag = "identity", operation_id = "tryDirectory",
    request_body = DirectoryTrial,
    responses((status = 200, description = "What was found", body = TriedLogin)))]
async fn try_directory(Call(state, caller): Call, Body(input): Body<DirectoryTrial>) -> Answer<TriedLogin> {
    Ok(Json(state.try_directory(&caller, input).await?))
}

/// The directory (LDAP, Active Directory), with all settings but the password.
#[utoipa::path(get, path = "/api/identity/directory", tag = "identity", operation_id = "readDirectory",
    responses((status = 200, description = "As it is saved", body = DirectoryView)))]
async fn read_directory(Call(state, caller): Call) -> Answer<DirectoryView> {
    Ok(Json(state.directory(&caller).await?))
}

/// Sets the directory up, or changes it. In force at the next login.
#[utoipa::path(put, path = "/api/identity/directory", tag = "identity", operation_id = "saveDirectory",
    request_body = DirectoryInput,
    responses((status = 200, description = "As it is saved", body = DirectoryView)))]
async fn save_directory(Call(state, caller): Call, Body(input): Body<DirectoryInput>) -> Answer<DirectoryView> {
    Ok(Json(state.save_directory(&caller, input).await?))
}

/// Removes the directory, with its password. Who came by it stays a user, but can't log in with it.
#[utoipa::path(delete, path = "/api/identity/directory", tag = "identity", operation_id = "removeDirectory",
    responses((status = 204, description = "Removed"), (status = 404, description = "There is none")))]
async fn remove_directory(Call(state, caller): Call) -> Done {
    done(state.remove_directory(&caller).await)
}
