//! The settings of this program: where each comes from, and changing those that may be changed while it runs.

mod check;
mod fields;
mod file;
mod layers;
mod page;
mod published;
mod state;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::config::{Config, ConfigChange, RestartHint};
use crate::error::FieldProblem;
use serde_json::{Value, json};
use state::HASHED;
use std::collections::BTreeMap;
use std::time::Duration;
use steward_core::TenantId;
use steward_core::hash::sha256;
use steward_core::ports::{Settings, StoreResult};
use steward_store::Store;

pub use check::{Wrong, list, problem, switch};
pub use fields::{Effect, FIELDS, Field, Group, Kind, named};
pub use file::{database, give_database, give_listen, names, read as read_file};
pub use layers::{Given, Layers, Source};
pub use published::unread_variables;
pub use state::{Configuration, Live, MASK};

/// Where the changed values are in the database.
const SETTING: &str = "configuration";
/// How often the values are read anew, since another node may have changed them.
const REREAD: Duration = Duration::from_secs(10);
impl App {
    pub async fn config(&self, caller: &Caller) -> AppResult<Config> {
        authorize(caller, Action::Administer, Resource::Config)?;
        self.reread_config().await?;
        Ok(self.config_now())
    }

    /// All changes, or none if one is wrong. Returns the names of the settings that were changed, too.
    pub async fn change_config(&self, caller: &Caller, change: ConfigChange) -> AppResult<(Config, Vec<&'static str>)> {
        authorize(caller, Action::Administer, Resource::Config)?;
        let configuration = &self.config;
        let _changing = configuration.changing.lock().await;
        self.reread_config().await?;
        let before = configuration.layers();
        let mut saved = before.saved().clone();
        let mut problems = Vec::new();
        for (name, value) in &change.values {
            match wanted(&before, &configuration.file, name, value) {
                Err(problem) => problems.push(problem),
                Ok((_, Wanted::Same)) => {}
                Ok((field, Wanted::Default)) => drop(saved.remove(field.name)),
                Ok((field, Wanted::Value(text))) => drop(saved.insert(field.name, text)),
            }
        }
        if !problems.is_empty() {
            return Err(AppError::several(problems));
        }
        let changed: Vec<&'static str> =
            FIELDS.iter().map(|field| field.name).filter(|name| saved.get(name) != before.saved().get(name)).collect();
        let Some(first) = changed.first() else {
            return Ok((self.config_now(), changed));
        };
        let layers = before.with_saved(saved);
        if let Err(why) = configuration.live.check(&layers) {
            return Err(AppError::invalid(*first, why, "change the settings that it names together"));
        }
        self.store.set_setting(self.tenant(), SETTING, &json!(layers.saved())).await?;
        configuration.put(layers);
        tracing::info!(by = caller.by(), fields = changed.join(", "), "settings were changed");
        Ok((self.config_now(), changed))
    }

    pub async fn restart_hint(&self, caller: &Caller) -> AppResult<RestartHint> {
        authorize(caller, Action::Administer, Resource::Config)?;
        self.reread_config().await?;
        let fields: Vec<String> = self.config.pending(&self.config.layers()).into_iter().map(str::to_owned).collect();
        Ok(RestartHint { pending: !fields.is_empty(), fields, command: self.config.live.restart_command() })
    }

    fn config_now(&self) -> Config {
        let layers = self.config.layers();
        page::config(&layers, &self.config.pending(&layers), &self.config.file)
    }

    async fn reread_config(&self) -> AppResult<()> {
        let before = self.config.layers();
        let saved = saved_settings(&self.store, self.tenant()).await?;
        if saved != *before.saved() {
            self.config.put(before.with_saved(saved));
        }
        Ok(())
    }
}

/// What is saved in the database. A value that can't be, such as a folder that is gone, is left out and logged.
pub async fn saved_settings(store: &Store, tenant: TenantId) -> StoreResult<BTreeMap<&'static str, String>> {
    let saved = store.setting(tenant, SETTING).await?.unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, value) in saved.as_object().into_iter().flatten() {
        let known = named(name).filter(|field| field.effect != Effect::AtStart).zip(value.as_str());
        let Some((field, text)) = known else {
            tracing::warn!(name, "a saved setting is none that can be saved; it is left out");
            continue;
        };
        match problem(field, text) {
            None => drop(values.insert(field.name, text.to_owned())),
            Some(wrong) => tracing::warn!(%wrong, "a saved setting is left out"),
        }
    }
    Ok(values)
}

/// Takes in what other nodes save, for as long as it is polled.
pub async fn keep_config(app: App) {
    loop {
        tokio::time::sleep(REREAD).await;
        if let Err(error) = app.reread_config().await {
            tracing::debug!(%error, "the settings can't be read");
        }
    }
}

enum Wanted {
    /// As it is.
    Same,
    Default,
    Value(String),
}

fn wanted(layers: &Layers, file: &str, name: &str, value: &Value) -> Result<(&'static Field, Wanted), FieldProblem> {
    let wrong = |title: String, hint: String| FieldProblem { field: name.to_owned(), title, hint };
    let Some(field) = named(name) else {
        let shown: String = name.chars().take(80).collect();
        return Err(wrong(format!("there is no setting `{shown}`"), "see GET /api/admin/config".to_owned()));
    };
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(on) => on.to_string(),
        Value::Null => String::new(),
        _ => {
            return Err(wrong(
                format!("{name} can't be a list or an object"),
                "write text, a number, true, false or null".to_owned(),
            ));
        }
    };
    let masked = field.secret && !text.is_empty() && text.chars().all(|c| c == '•' || c == '*');
    if masked || (!field.secret && layers.value(name) == Some(text.as_str())) {
        return Ok((field, Wanted::Same));
    }
    if let Some(why) = page::why_not(field, layers, file) {
        return Err(wrong(format!("{name} can't be changed here"), why));
    }
    if text.is_empty() {
        return Ok((field, Wanted::Default));
    }
    if let Some(found) = problem(field, &text) {
        return Err(wrong(found.title, found.hint));
    }
    let kept = if field.secret { format!("{HASHED}{}", sha256(text.as_bytes())) } else { text };
    Ok((field, Wanted::Value(kept)))
}

#[cfg(test)]
mod tests {
    use super::{HASHED, Layers, MASK, Source, Wanted, wanted};
    use serde_json::json;
    use std::collections::BTreeMap;
    use steward_core::hash::sha256;

    #[test]
    fn a_change_is_text_a_number_or_a_switch() {
        let saved = [("MAX_RUNS", "4"), ("METRICS_TOKEN", "sha256:00")];
        let saved: BTreeMap<_, _> = saved.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        let mut layers = Layers::default().with_saved(saved);
        layers.give("LOG_LEVEL", Source::Option, "--log", "warn");
        let of = |name: &str, value| match wanted(&layers, "steward.toml", name, &value) {
            Ok((_, Wanted::Same)) => "same".to_owned(),
            Ok((_, Wanted::Default)) => "default".to_owned(),
            Ok((_, Wanted::Value(text))) => text,
            Err(problem) => format!("{}: {}", problem.title, problem.hint),
        };
        assert_eq!(of("MAX_RUNS", json!(4)), "same");
        assert_eq!(of("MAX_RUNS", json!(" 5 ")), "5");
        assert_eq!(of("MAX_RUNS", json!(null)), "default");
        assert_eq!(of("METRICS_LOOPBACK", json!(true)), "true");
        assert_eq!(of("METRICS_TOKEN", json!(MASK)), "same", "a secret that comes back as it was shown stays");
        assert_eq!(of("METRICS_TOKEN", json!("0123456789abcdef")), format!("{HASHED}{}", sha256(b"0123456789abcdef")));
        assert!(of("LOG_LEVEL", json!("info")).contains("--log"), "an option wins");
        assert!(of("POSTGRES_HOST", json!("db")).contains("STEWARD_POSTGRES_HOST"));
        assert!(of("MAX_RUNS", json!([1])).contains("list"));
        assert!(of("MAX_RUN", json!(1)).contains("no setting"));
    }
}
