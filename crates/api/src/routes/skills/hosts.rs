//! `/api/skills/hosts`: keys of servers that ssh skills reach.

use crate::auth::Person;
use crate::dto::skill::{SshHost, SshHostInput};
use crate::extract::{Body, Params, PathName};
use crate::problem::Problem;
use crate::state::ApiState;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use steward_core::ports::Role;
use steward_tools::skills::{FileHostKeys, HostKeys as _, HostKeysError, SshAddress};
use utoipa::IntoParams;

/// Port of ssh.
const SSH: u16 = 22;

/// Which port.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Port {
    /// The port; left out: 22.
    #[param(nullable = false, minimum = 1)]
    port: Option<u16>,
}

/// Servers whose host key was accepted.
#[utoipa::path(get, path = "/api/skills/hosts", tag = "skills", operation_id = "listSshHosts",
    responses((status = 200, description = "By name", body = Vec<SshHost>)))]
pub(crate) async fn list(State(state): State<ApiState>, person: Person) -> Result<Json<Vec<SshHost>>, Problem> {
    person.may(Role::Developer)?;
    let all = on_file(&state, FileHostKeys::all).await?;
    let all = all.into_iter().map(|(place, fingerprint)| SshHost { host: place.host, port: place.port, fingerprint });
    Ok(Json(all.collect()))
}

/// Accepts the host key of a server, in place of the one before. Compare the fingerprint with the server's first.
#[utoipa::path(post, path = "/api/skills/hosts", tag = "skills", operation_id = "trustSshHost",
    request_body = SshHostInput, responses((status = 200, description = "Accepted", body = SshHost)))]
pub(crate) async fn trust(
    State(state): State<ApiState>,
    person: Person,
    Body(input): Body<SshHostInput>,
) -> Result<Json<SshHost>, Problem> {
    person.may(Role::Operator)?;
    let place = SshAddress::new(input.host.trim(), input.port.unwrap_or(SSH))?;
    let before = state.host_keys.accept(&place, &input.fingerprint).await?;
    tracing::info!(%place, fingerprint = input.fingerprint, ?before, by = person.by(), "a host key was accepted");
    Ok(Json(SshHost { host: place.host, port: place.port, fingerprint: input.fingerprint }))
}

/// Accepts no key of a server any more: ssh skills don't reach it until one is accepted anew.
#[utoipa::path(delete, path = "/api/skills/hosts/{host}", tag = "skills", operation_id = "forgetSshHost",
    params(("host" = String, Path), Port), responses((status = 204, description = "Forgotten")))]
pub(crate) async fn forget(
    State(state): State<ApiState>,
    person: Person,
    PathName(host): PathName,
    Params(query): Params<Port>,
) -> Result<StatusCode, Problem> {
    person.may(Role::Operator)?;
    let unknown = || Problem::not_found(format!("host key of {host}"));
    // What is no host has no key.
    let place = SshAddress::new(&host, query.port.unwrap_or(SSH)).map_err(|_| unknown())?;
    let wanted = place.clone();
    let before = on_file(&state, move |keys| keys.forget(&wanted)).await?;
    let before = before.ok_or_else(unknown)?;
    tracing::info!(%place, before, by = person.by(), "a host key was forgotten");
    Ok(StatusCode::NO_CONTENT)
}

async fn on_file<T: Send + 'static>(
    state: &ApiState,
    work: impl FnOnce(&FileHostKeys) -> Result<T, HostKeysError> + Send + 'static,
) -> Result<T, Problem> {
    let keys = std::sync::Arc::clone(&state.host_keys);
    let done = tokio::task::spawn_blocking(move || work(&keys)).await;
    Ok(done.map_err(|error| Problem::unavailable(error.to_string()))??)
}

impl From<HostKeysError> for Problem {
    fn from(error: HostKeysError) -> Self {
        let title = error.to_string();
        match error {
            HostKeysError::Host(_) => Self::invalid("host", title, "write host and port apart"),
            HostKeysError::Fingerprint(_) => {
                Self::invalid("fingerprint", title, "copy it from the refusal, after you compared it with the server's")
            }
            HostKeysError::File { .. } => {
                tracing::error!(error = title, "host keys can't be read or written");
                Self::unavailable(title)
            }
        }
    }
}
