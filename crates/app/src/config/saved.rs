//! The settings that are saved in the database. The vault seals the secrets among them.

use super::check::problem;
use super::fields::{Field, named};
use super::layers::Layers;
use crate::app::{App, AppError, AppResult};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use steward_core::TenantId;
use steward_core::ports::{LoginSecrets, Settings as _, StoreResult};
use steward_store::Store;
use uuid::Uuid;

/// Where the changed values are in the database.
const SETTING: &str = "configuration";
/// What stands there for a secret: by which id the vault has it.
const SEALED: &str = "vault:";

/// What is saved in the database. A value that can't be, such as a folder that is gone, is left out and logged.
pub async fn saved_settings(
    store: &Store,
    secrets: Option<&dyn LoginSecrets>,
    tenant: TenantId,
) -> StoreResult<BTreeMap<&'static str, String>> {
    let saved = store.setting(tenant, SETTING).await?.unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, value) in saved.as_object().into_iter().flatten() {
        let known = named(name).filter(|field| field.saved).zip(value.as_str());
        let Some((field, text)) = known else {
            tracing::warn!(name, "a saved setting is none that can be saved; it is left out");
            continue;
        };
        let text = match sealed_id(field, text) {
            None => text.to_owned(),
            Some(id) => match open(secrets, tenant, id).await {
                Ok(text) => text,
                Err(why) => {
                    tracing::warn!(name, why, "a saved setting can't be opened; it is left out");
                    continue;
                }
            },
        };
        match problem(field, &text) {
            None => drop(values.insert(field.name, text)),
            Some(wrong) => tracing::warn!(%wrong, "a saved setting is left out"),
        }
    }
    Ok(values)
}

fn sealed_id(field: &Field, text: &str) -> Option<Uuid> {
    text.strip_prefix(SEALED).filter(|_| field.is_sealed())?.parse().ok()
}

async fn open(secrets: Option<&dyn LoginSecrets>, tenant: TenantId, id: Uuid) -> Result<String, String> {
    let secrets = secrets.ok_or("there is no vault")?;
    let found = secrets.login_secret(tenant, id).await.map_err(|error| error.to_string())?;
    found.map(|secret| secret.expose_secret().to_owned()).ok_or_else(|| "the vault does not have it".to_owned())
}

impl App {
    /// Seals what is new and secret, saves all, and only then forgets secrets that are not needed any more.
    pub(super) async fn save_settings(&self, before: &Layers, layers: &Layers) -> AppResult<()> {
        let tenant = self.tenant();
        let known = self.store.setting(tenant, SETTING).await?.unwrap_or_default();
        let mut rows = Map::new();
        for (name, text) in layers.saved() {
            let same = before.saved().get(name) == Some(text);
            let row = match (named(name).filter(|field| field.is_sealed()), known.get(name)) {
                (Some(_), Some(row)) if same => row.clone(),
                (Some(field), _) => self.seal(field, text).await?,
                (None, _) => Value::from(text.as_str()),
            };
            rows.insert((*name).to_owned(), row);
        }
        let rows = Value::Object(rows);
        self.store.set_setting(tenant, SETTING, &rows).await?;
        for (name, row) in known.as_object().into_iter().flatten().filter(|(name, row)| rows.get(name) != Some(*row)) {
            let id = named(name).zip(row.as_str()).and_then(|(field, text)| sealed_id(field, text));
            if let (Some(id), Some(secrets)) = (id, self.config.program.secrets())
                && let Err(error) = secrets.remove_login_secret(tenant, id).await
            {
                tracing::warn!(name, %error, "the secret before stays in the vault");
            }
        }
        Ok(())
    }

    async fn seal(&self, field: &Field, text: &str) -> AppResult<Value> {
        let failed = |why: String| AppError::unavailable(format!("{} can't be sealed by the vault: {why}", field.name));
        let secrets = self.config.program.secrets().ok_or_else(|| failed("there is none".to_owned()))?;
        let id = self.new_id();
        // The one before stays until the new one is in force, so that each has a name of its own.
        let name = format!("{} {id}", field.name);
        let kept = secrets.keep_login_secret(self.tenant(), id, &name, SecretString::from(text)).await;
        kept.map_err(|error| failed(error.to_string()))?;
        Ok(Value::from(format!("{SEALED}{id}")))
    }
}
