//! The address of a subscription, its token and what signs its messages: in the vault.

use super::{TRIES, overtaken};
use crate::app::{App, AppError, AppResult, Caller};
use crate::dto::subscriptions::{Subscription, SubscriptionWithSecret};
use crate::unattended::from_vault;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use steward_access::random_key;
use steward_core::SubscriptionId;
use steward_core::ports::{HookSecret, SubscriptionBody, SubscriptionRow};
use steward_hooks::{Signing, hint_of, make_secret};
use uuid::Uuid;

/// How many secrets sign a message at most.
const MAX_SECRETS: usize = 3;

/// What the vault keeps of a subscription.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Opened {
    pub address: String,
    pub token: Option<String>,
    pub secrets: Vec<SigningSecret>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SigningSecret {
    pub id: Uuid,
    pub text: String,
}

impl Opened {
    pub fn new(address: &str, token: Option<&str>) -> Self {
        let token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        Self { address: address.trim().to_owned(), token, secrets: Vec::new() }
    }
}

impl App {
    /// Besides those that do, this one signs messages from now on. It is shown this once.
    pub async fn add_subscription_secret(
        &self,
        caller: &Caller,
        id: SubscriptionId,
    ) -> AppResult<SubscriptionWithSecret> {
        let _changing = self.automation.hooks.changing_secrets.lock().await;
        let mut row = self.own_subscription(caller, id).await?;
        if row.body.secrets.is_empty() {
            let hint = "only messages of the form `standard` are signed";
            return Err(AppError::conflict("not_signed", "its messages aren't signed", hint));
        }
        if row.body.secrets.len() >= MAX_SECRETS {
            let title = format!("it has {MAX_SECRETS} secrets, which is the limit");
            return Err(AppError::conflict(
                "too_many_secrets",
                title,
                "remove one that the receiver doesn't use any more",
            ));
        }
        let mut opened = self.opened(id).await?;
        let secret = self.add_signing(&mut row.body, &mut opened);
        self.keep_opened(id, &opened).await?;
        row = SubscriptionRow { updated_at: self.now(), ..row };
        if !self.store.change_subscription(self.tenant(), &row).await? {
            return Err(overtaken());
        }
        Ok(SubscriptionWithSecret { subscription: self.subscription(caller, id).await?, secret: Some(secret) })
    }

    /// It signs nothing any more. The last one stays.
    pub async fn remove_subscription_secret(
        &self,
        caller: &Caller,
        id: SubscriptionId,
        secret: Uuid,
    ) -> AppResult<Subscription> {
        let _changing = self.automation.hooks.changing_secrets.lock().await;
        for _ in 0..TRIES {
            let mut row = self.own_subscription(caller, id).await?;
            if !row.body.secrets.iter().any(|one| one.id == secret) {
                return Err(AppError::not_found(format!("secret {secret} of this subscription")));
            }
            if row.body.secrets.len() == 1 {
                return Err(AppError::conflict("last_secret", "this is its only secret", "add the new one first"));
            }
            row.body.secrets.retain(|one| one.id != secret);
            row = SubscriptionRow { updated_at: self.now(), ..row };
            if self.store.change_subscription(self.tenant(), &row).await? {
                let mut opened = self.opened(id).await?;
                opened.secrets.retain(|one| one.id != secret);
                self.keep_opened(id, &opened).await?;
                return self.subscription(caller, id).await;
            }
        }
        Err(overtaken())
    }

    /// One more that signs.
    pub(super) fn add_signing(&self, body: &mut SubscriptionBody, opened: &mut Opened) -> String {
        let text = make_secret(&Signing::Standard, random_key());
        let id = self.new_id();
        opened.secrets.retain(|one| body.secrets.iter().any(|known| known.id == one.id));
        opened.secrets.push(SigningSecret { id, text: text.clone() });
        body.secrets.push(HookSecret { id, hint: hint_of(&text), created_at: self.now() });
        text
    }

    pub(super) async fn opened(&self, id: SubscriptionId) -> AppResult<Opened> {
        let kept = self.automation.secrets.kept_secrets(self.tenant(), id.0).await.map_err(from_vault)?;
        let kept = kept.ok_or_else(|| {
            AppError::conflict(
                "address_gone",
                "its address isn't in the vault any more",
                "change it: enter the address anew",
            )
        })?;
        serde_json::from_str(kept.expose_secret()).map_err(|error| {
            AppError::conflict(
                "address_gone",
                format!("its address can't be read: {error}"),
                "change it: enter the address anew",
            )
        })
    }

    pub(super) async fn keep_opened(&self, id: SubscriptionId, opened: &Opened) -> AppResult<()> {
        let text = serde_json::to_string(opened).unwrap_or_default();
        let secrets = &self.automation.secrets;
        secrets.keep_secrets(self.tenant(), id.0, "subscription", text.into()).await.map_err(from_vault)
    }

    /// Of one that wasn't made, or is gone for good.
    pub(crate) async fn forget_opened(&self, id: SubscriptionId) {
        if let Err(error) = self.automation.secrets.remove_secrets(self.tenant(), id.0).await {
            tracing::error!(subscription = %id, %error, "the address of a subscription can't be removed");
        }
    }
}
