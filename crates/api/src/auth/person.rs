//! The bearer token of a request.

use crate::openai::OpenAiError;
use crate::problem::Problem;
use crate::state::ApiState;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use steward_access::{Account, Identity, LOCAL_USER};
use steward_core::UserId;
use steward_core::event::Origin;
use steward_core::ports::{LoginError, Principal, Role};
use uuid::Uuid;

/// A caller that has proved who they are; errors in OpenAI's shape, for `/v1`.
pub(crate) struct Caller(pub Principal);

/// The same; errors as problem+json.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// Who.
    pub principal: Principal,
    /// Their email.
    pub email: String,
    /// Their login; `None`: they came with an API key.
    pub session: Option<Uuid>,
    /// Whether they use the command line of this machine.
    command_line: bool,
}

/// Names the program that sends a request. Only the user that programs of this machine share is believed.
const CLIENT: &str = "x-steward-client";

impl Person {
    /// Refuses unless they have this role or a higher one: viewers look; developers chat, run and decide on
    /// their own runs; operators also have agents, connections, all approvals and runs; admins everything.
    pub fn may(&self, least: Role) -> Result<(), Problem> {
        if rank(self.principal.role) >= rank(least) {
            return Ok(());
        }
        Err(Problem::forbidden(
            format!("this needs the role {}; yours is {}", least.as_str(), self.principal.role.as_str()),
            "ask an administrator for the role, or let somebody do it who has it",
        ))
    }

    /// Whether they see and steer what others own.
    pub fn sees_all(&self) -> bool {
        rank(self.principal.role) >= rank(Role::Operator)
    }

    /// Whether `owner` is them, or they see everything. What nobody owns, operators see.
    pub fn sees(&self, owner: Option<UserId>) -> bool {
        self.sees_all() || owner == Some(self.principal.user)
    }

    /// Refuses what they may not see as if it weren't there; `what` such as `run 0199…`.
    pub fn may_see(&self, owner: Option<UserId>, what: impl std::fmt::Display) -> Result<(), Problem> {
        if self.sees(owner) {
            return Ok(());
        }
        Err(Problem::not_found(what))
    }

    /// The user.
    pub fn user(&self) -> UserId {
        self.principal.user
    }

    /// Where runs that they begin come from.
    pub fn origin(&self) -> Origin {
        match self.session {
            _ if self.command_line => Origin::Cli,
            Some(_) => Origin::Chat,
            None => Origin::Api,
        }
    }

    /// How they are named in logs and approvals.
    pub fn by(&self) -> String {
        self.email.clone()
    }

    /// As others may see them.
    pub fn account(&self) -> Account {
        Account {
            id: self.principal.user,
            email: self.email.clone(),
            name: self.principal.name.clone(),
            role: self.principal.role,
        }
    }
}

fn rank(role: Role) -> u8 {
    match role {
        Role::Viewer => 0,
        Role::Developer => 1,
        Role::Operator => 2,
        Role::Admin => 3,
    }
}

impl Person {
    fn new(identity: Identity, headers: &HeaderMap) -> Self {
        let Identity { principal, email, session } = identity;
        let command_line = email == LOCAL_USER && headers.get(CLIENT).is_some_and(|name| name == "cli");
        Self { principal, email, session, command_line }
    }
}

/// Whom the bearer token belongs to. Looked up once per request, kept with it.
pub(crate) async fn identify(parts: &mut Parts, state: &ApiState) -> Result<Identity, LoginError> {
    if let Some(known) = parts.extensions.get::<Identity>() {
        return Ok(known.clone());
    }
    let bearer = parts
        .headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim())
        .filter(|token| !token.is_empty())
        .ok_or(LoginError::Token)?;
    let identity = state.access.identify(bearer).await?;
    let path = parts.uri.path();
    if identity.principal.key.is_some() && !path.starts_with("/v1/") && path != "/mcp" {
        return Err(LoginError::VirtualKey);
    }
    parts.extensions.insert(identity.clone());
    Ok(identity)
}

impl FromRequestParts<ApiState> for Caller {
    type Rejection = OpenAiError;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, OpenAiError> {
        let identity = identify(parts, state).await.map_err(|error| OpenAiError::unauthorized(&error))?;
        let principal = identity.principal;
        if let Some(key) = &principal.key
            && !parts.method.is_safe()
        {
            let now = state.runs.deps().clock.now();
            let admitted = state.ledger.limiter().admit(key, now);
            admitted.map_err(|too| OpenAiError::too_many(too.message, too.wait_s))?;
        }
        Ok(Self(principal))
    }
}

impl FromRequestParts<ApiState> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let identity = identify(parts, state).await?;
        Ok(Self::new(identity, &parts.headers))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::Person;
    use axum::http::HeaderMap;
    use steward_access::{Identity, LOCAL_USER};
    use steward_core::event::Origin;
    use steward_core::ports::{Principal, Role};
    use steward_core::{TenantId, UserId};
    use uuid::Uuid;

    #[test]
    fn only_the_user_of_this_machine_is_believed_to_be_the_command_line() {
        let person = |email: &str, session: Option<Uuid>, client: &'static str| {
            let user = UserId(Uuid::from_u128(1));
            let principal =
                Principal { tenant: TenantId::DEFAULT, user, name: String::new(), role: Role::Operator, key: None };
            let mut headers = HeaderMap::new();
            if !client.is_empty() {
                headers.insert("x-steward-client", client.parse().unwrap());
            }
            Person::new(Identity { principal, email: email.to_owned(), session }, &headers)
        };
        let session = Some(Uuid::from_u128(2));
        for (email, session, client, expect) in [
            (LOCAL_USER, None, "cli", Origin::Cli),
            (LOCAL_USER, None, "", Origin::Api),
            (LOCAL_USER, None, "curl", Origin::Api),
            ("ada@example.org", None, "cli", Origin::Api),
            ("ada@example.org", session, "cli", Origin::Chat),
        ] {
            assert_eq!(person(email, session, client).origin(), expect, "{email} {client}");
        }
    }
}
