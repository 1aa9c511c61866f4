//! Programs that come with an access token of a provider (OAuth 2.0 client credentials). Each is a user of its own.

use steward_core::hash::sha256;
use steward_core::ports::{ExternalAccount, LoginError, Role, StoreError, User, UserChange};
use steward_core::sign_on::ClientRole;
use steward_core::{Timestamp, UserId};

use super::identity::Identity;
use super::oidc::{Claims, TokenRules, claimed_issuer, text_of};
use super::saved::SavedProvider;
use super::{Access, AccessError, unavailable};

/// Where providers say which program a token is of: OpenID Connect, RFC 9068, Entra ID.
const CLIENT_CLAIMS: [&str; 3] = ["azp", "client_id", "appid"];

impl Access {
    /// The program that the token is of; `None`: it is not one of a provider whose programs may come.
    pub(crate) async fn program(&self, bearer: &str, now: Timestamp) -> Result<Option<Identity>, LoginError> {
        let Some(issuer) = claimed_issuer(bearer) else {
            return Ok(None);
        };
        let providers = self.providers().await.map_err(|error| LoginError::Unavailable(error.to_string()))?;
        let usable = |one: &SavedProvider| one.settings.enabled && one.settings.issuer == issuer;
        let Some(saved) = providers.into_iter().find(usable) else {
            return Ok(None);
        };
        let Some(programs) = &saved.settings.programs else {
            return Ok(None);
        };
        let known = self.oidc.get(&saved.settings, now).await.map_err(|why| {
            tracing::warn!(provider = saved.name, why, "a provider of tokens can't be used");
            LoginError::Unavailable(format!("the provider {} can't be asked for its keys", saved.name))
        })?;
        let skew_s = i64::from(self.login_settings().await.clock_skew_s);
        let rules = TokenRules { issuer: &issuer, audience: &programs.audience, now, skew_s };
        let claims = match known.verify(bearer, &rules).await {
            Ok(claims) => claims,
            Err(why) => {
                tracing::info!(provider = saved.name, why, "a token of a program was refused");
                return Ok(None);
            }
        };
        // That is an ID token, which is for logging somebody in, whatever program it is of.
        if claims.contains_key("nonce") {
            return Ok(None);
        }
        let Some(named) = client_of(&claims).and_then(|id| programs.clients.iter().find(|one| one.client_id == id))
        else {
            tracing::info!(provider = saved.name, "a token of a program that has no role was refused");
            return Ok(None);
        };
        let user = self.user_of(&saved, named).await?;
        self.identity(Some(user), None, None).await.map(Some)
    }

    /// The program's user, made at its first call, with the role that it has now.
    async fn user_of(&self, saved: &SavedProvider, client: &ClientRole) -> Result<User, LoginError> {
        let failed = |error: AccessError| LoginError::Unavailable(error.to_string());
        let subject = format!("client:{}", client.client_id);
        let linked = self.external.external_user(self.tenant, &saved.settings.issuer, &subject).await;
        let user = match linked.map_err(unavailable)? {
            Some(id) => self.users.user(self.tenant, id).await.map_err(unavailable)?.ok_or(LoginError::Token)?,
            None => self.new_program(saved, client, &subject).await?,
        };
        if user.role == client.role || user.is_disabled() {
            return Ok(user);
        }
        let change = UserChange { role: Some(client.role), ..UserChange::default() };
        self.change_user(user.id, change).await.map_err(failed)
    }

    async fn new_program(&self, saved: &SavedProvider, client: &ClientRole, subject: &str) -> Result<User, LoginError> {
        let failed = |error: AccessError| LoginError::Unavailable(error.to_string());
        let user = self.new_user(&email_of(saved, client), Some(&name_of(client)), client.role).map_err(failed)?;
        match self.create_user(&user).await {
            // Another call of it is faster by a moment.
            Err(AccessError::EmailTaken(_)) => {
                let linked = self.external.external_user(self.tenant, &saved.settings.issuer, subject).await;
                let id: UserId = linked.map_err(unavailable)?.ok_or(LoginError::Token)?;
                return self.users.user(self.tenant, id).await.map_err(unavailable)?.ok_or(LoginError::Token);
            }
            done => done.map_err(failed)?,
        }
        let account = ExternalAccount {
            issuer: saved.settings.issuer.clone(),
            subject: subject.to_owned(),
            user: user.id,
            linked_at: self.clock.now(),
        };
        match self.external.link_external(self.tenant, &account).await {
            Ok(()) | Err(StoreError::Conflict(_)) => {}
            Err(error) => return Err(unavailable(error)),
        }
        tracing::info!(user = %user.id, provider = saved.name, role = Role::as_str(user.role), "a user was made for a program");
        Ok(user)
    }
}

fn client_of(claims: &Claims) -> Option<&str> {
    CLIENT_CLAIMS.into_iter().find_map(|name| text_of(claims, name))
}

fn name_of(client: &ClientRole) -> String {
    client.client_id.chars().filter(|c| !c.is_control()).take(100).collect()
}

/// No person has it, and two programs never the same.
fn email_of(saved: &SavedProvider, client: &ClientRole) -> String {
    let letters = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c.to_ascii_lowercase() } else { '-' };
    let plain: String = client.client_id.chars().take(60).map(letters).collect();
    let hash: String = sha256(client.client_id.as_bytes()).chars().take(8).collect();
    format!("{plain}-{hash}@{}.programs", saved.name)
}

#[cfg(test)]
mod tests {
    use super::{client_of, email_of};
    use crate::saved::SavedProvider;
    use serde_json::json;
    use steward_core::ports::Role;
    use steward_core::sign_on::ClientRole;

    #[test]
    fn programs_have_names_of_their_own() {
        let settings = json!({"label": "SSO", "issuer": "https://x.example", "client_id": "steward"});
        let settings = serde_json::from_value(settings).expect("a provider");
        let saved = SavedProvider { id: uuid::Uuid::nil(), name: "sso".to_owned(), settings, has_secret: false };
        let of = |id: &str| email_of(&saved, &ClientRole { client_id: id.to_owned(), role: Role::Viewer });
        assert!(of("api://ETL job").starts_with("api---etl-job-"), "{}", of("api://ETL job"));
        assert_ne!(of("a/b"), of("a:b"));
        let claims = json!({"client_id": "", "appid": "etl"});
        assert_eq!(client_of(claims.as_object().expect("an object")), Some("etl"));
    }
}
