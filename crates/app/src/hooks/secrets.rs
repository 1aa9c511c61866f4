//! Secrets of webhooks: in the vault, several at a time while one is replaced by another.

use super::{HookRow, TRIES, overtaken};
use crate::app::{App, AppError, AppResult, Caller};
use crate::dto::hooks::{Hook, HookSecretInput, HookSecretText, HookWithSecret};
use crate::unattended::from_vault;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use steward_access::random_key;
use steward_core::HookId;
use steward_core::ports::{HookBody, HookSecret, VaultError};
use steward_hooks::{Signing, check_secret, hint_of, make_secret};
use uuid::Uuid;

/// How many secrets a webhook may have.
const MAX_SECRETS: usize = 5;

/// A secret as the vault keeps it.
#[derive(Serialize, Deserialize)]
struct KeptSecret {
    id: Uuid,
    text: String,
}

impl App {
    /// From now on this one opens it, too. It is shown this once.
    pub async fn add_hook_secret(
        &self,
        caller: &Caller,
        id: HookId,
        input: HookSecretInput,
    ) -> AppResult<HookWithSecret> {
        let _changing = self.automation.hooks.changing_secrets.lock().await;
        let mut row = self.own_hook(caller, id).await?;
        if row.body.secrets.len() >= MAX_SECRETS {
            let title = format!("it has {MAX_SECRETS} secrets, which is the limit");
            return Err(AppError::conflict("too_many_secrets", title, "remove one that senders don't use any more"));
        }
        let secret = self.add_secret(id, &mut row.body, input.secret).await?;
        row = HookRow { updated_at: self.now(), ..row };
        if !self.change_hook(&row).await? {
            return Err(overtaken());
        }
        Ok(HookWithSecret { hook: self.hook(caller, id).await?, secret: Some(secret) })
    }

    /// It opens the webhook no longer. The last one stays: without any, nobody could call.
    pub async fn remove_hook_secret(&self, caller: &Caller, id: HookId, secret: Uuid) -> AppResult<Hook> {
        let _changing = self.automation.hooks.changing_secrets.lock().await;
        for _ in 0..TRIES {
            let mut row = self.own_hook(caller, id).await?;
            let before = row.body.secrets.len();
            row.body.secrets.retain(|one| one.id != secret);
            if row.body.secrets.len() == before {
                return Err(AppError::not_found(format!("secret {secret} of this webhook")));
            }
            if row.body.secrets.is_empty() {
                let hint = "add the new one first; or delete the webhook";
                return Err(AppError::conflict("last_secret", "this is its only secret", hint));
            }
            row = HookRow { updated_at: self.now(), ..row };
            if self.change_hook(&row).await? {
                let kept = self.kept_secrets(id).await.map_err(from_vault)?;
                let left = kept.into_iter().filter(|(known, _)| *known != secret).collect();
                self.keep_secrets(id, left).await?;
                return self.hook(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// Keeps one more and notes it in `body`; answers it.
    pub(super) async fn add_secret(
        &self,
        id: HookId,
        body: &mut HookBody,
        given: Option<HookSecretText>,
    ) -> AppResult<String> {
        let signing: Signing = crate::unattended::read_kept(&body.signing)?;
        let text = match given {
            Some(HookSecretText(text)) => text.trim().to_owned(),
            None => make_secret(&signing, random_key()),
        };
        check_secret(&signing, &text).map_err(|error| AppError::invalid("secret", error.problem, error.hint))?;
        let mut all = self.kept_secrets(id).await.map_err(from_vault)?;
        // What isn't named there was being added when a server ended.
        all.retain(|(known, _)| body.secrets.iter().any(|one| one.id == *known));
        if all.iter().any(|(_, known)| known.expose_secret() == text) {
            let hint = "it opens the webhook already; there is nothing to do";
            return Err(AppError::invalid("secret", "the webhook has this secret", hint));
        }
        let new = self.new_id();
        all.push((new, SecretString::from(text.clone())));
        body.secrets.push(HookSecret { id: new, hint: hint_of(&text), created_at: self.now() });
        self.keep_secrets(id, all).await?;
        Ok(text)
    }

    /// Refuses another way of signing that the secrets don't suit.
    pub(super) async fn check_known_secrets(&self, id: HookId, signing: &Signing) -> AppResult<()> {
        for (_, secret) in self.kept_secrets(id).await.map_err(from_vault)? {
            check_secret(signing, secret.expose_secret()).map_err(|error| {
                let title = format!("its secret {} doesn't suit: {}", hint_of(secret.expose_secret()), error.problem);
                AppError::invalid("signing", title, "make a webhook of its own for this sender")
            })?;
        }
        Ok(())
    }

    /// With their ids.
    pub(super) async fn kept_secrets(&self, id: HookId) -> Result<Vec<(Uuid, SecretString)>, VaultError> {
        let Some(kept) = self.automation.secrets.kept_secrets(self.tenant(), id.0).await? else {
            return Ok(Vec::new());
        };
        let all: Vec<KeptSecret> = serde_json::from_str(kept.expose_secret())
            .map_err(|error| VaultError::Invalid(format!("the secrets of webhook {id} can't be read: {error}")))?;
        Ok(all.into_iter().map(|one| (one.id, SecretString::from(one.text))).collect())
    }

    async fn keep_secrets(&self, id: HookId, all: Vec<(Uuid, SecretString)>) -> AppResult<()> {
        let kept = |(id, text): &(Uuid, SecretString)| KeptSecret { id: *id, text: text.expose_secret().to_owned() };
        let kept: Vec<KeptSecret> = all.iter().map(kept).collect();
        let text = serde_json::to_string(&kept).unwrap_or_default();
        self.automation.secrets.keep_secrets(self.tenant(), id.0, "webhook", text.into()).await.map_err(from_vault)
    }

    /// Of a webhook that wasn't made, or is gone for good.
    pub(crate) async fn forget_secrets(&self, id: HookId) {
        if let Err(error) = self.automation.secrets.remove_secrets(self.tenant(), id.0).await {
            tracing::error!(hook = %id, %error, "the secrets of a webhook can't be removed");
        }
    }
}
