//! The settings of this program: where each comes from, and changing those that may be changed while it runs.

mod check;
mod fields;
mod file;
mod layers;
mod page;
mod published;
mod saved;
mod state;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::dto::config::{Config, ConfigChange, RestartHint};
use crate::error::FieldProblem;
use serde_json::Value;
use state::{HASHED, Refused};
use std::time::{Duration, Instant};
use steward_core::hash::sha256;

pub use check::{Wrong, list, problem, switch};
pub use fields::{Effect, FIELDS, Field, Group, Kind, named};
pub use file::{database, give_database, give_listen, names, read as read_file};
pub use layers::{Given, Layers, Source};
pub use published::unread_variables;
pub use saved::saved_settings;
pub use state::{Apply, Configuration, MASK, Reconfigure};

/// How often the file and the database are read anew, since they may have been changed elsewhere.
const REREAD: Duration = Duration::from_secs(5);

/// A setting that was changed, with what it was before and is now, for people; secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSetting {
    pub name: &'static str,
    pub from: String,
    pub to: String,
}

impl App {
    pub async fn config(&self, caller: &Caller) -> AppResult<Config> {
        authorize(caller, Action::Administer, Resource::Config)?;
        let mut refused = self.config.changing.lock().await;
        self.reread_config(&mut refused).await?;
        Ok(self.config_now(refused.as_ref()))
    }

    /// All changes, or none if one is wrong or can't be put into force. Returns the settings that were changed, too.
    pub async fn change_config(
        &self,
        caller: &Caller,
        change: ConfigChange,
    ) -> AppResult<(Config, Vec<ChangedSetting>)> {
        authorize(caller, Action::Administer, Resource::Config)?;
        let configuration = &self.config;
        let mut refused = configuration.changing.lock().await;
        self.reread_config(&mut refused).await?;
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
        let layers = before.with_saved(saved);
        let changed = changes_between(&before, &layers);
        let Some(first) = changed.first() else {
            return Ok((self.config_now(refused.as_ref()), changed));
        };
        let ready = configuration.program.prepare(&layers).await.map_err(|why| {
            AppError::invalid(
                first.name,
                why,
                "nothing was changed; correct it, and change the settings that it names together",
            )
        })?;
        self.save_settings(&before, &layers).await?;
        configuration.put(ready, layers).await;
        *refused = None;
        let names: Vec<&str> = changed.iter().map(|one| one.name).collect();
        tracing::info!(by = caller.by(), fields = names.join(", "), "settings were changed");
        Ok((self.config_now(refused.as_ref()), changed))
    }

    pub async fn restart_hint(&self, caller: &Caller) -> AppResult<RestartHint> {
        authorize(caller, Action::Administer, Resource::Config)?;
        self.reread_config(&mut *self.config.changing.lock().await).await?;
        let fields: Vec<String> = self.config.pending(&self.config.layers()).into_iter().map(str::to_owned).collect();
        Ok(RestartHint { pending: !fields.is_empty(), fields, command: self.config.program.restart_command() })
    }

    fn config_now(&self, refused: Option<&Refused>) -> Config {
        let layers = self.config.layers();
        let not_applied = refused.map(|refused| refused.why.clone());
        page::config(&layers, &self.config.pending(&layers), &self.config.file, not_applied)
    }

    /// Takes in what others have saved or written into the file. What can't be used leaves what was before in force.
    async fn reread_config(&self, refused: &mut Option<Refused>) -> AppResult<()> {
        let before = self.config.layers();
        let secrets = self.config.program.secrets();
        let saved = saved_settings(&self.store, secrets.as_deref(), self.tenant()).await?;
        let given = self.config.program.reread(&before).map(|given| given.with_saved(saved));
        let (ready, layers) = match given {
            Ok(layers) if layers == before => {
                *refused = None;
                return Ok(());
            }
            Ok(layers) if refused.as_ref().is_some_and(|refused| refused.still_holds(&layers)) => return Ok(()),
            Ok(layers) => (self.config.program.prepare(&layers).await, Some(layers)),
            Err(why) => (Err(why), None),
        };
        match (ready, layers) {
            (Ok(ready), Some(layers)) => {
                let changed: Vec<&str> = changes_between(&before, &layers).iter().map(|one| one.name).collect();
                self.config.put(ready, layers).await;
                *refused = None;
                tracing::info!(fields = changed.join(", "), "changed settings were taken in");
            }
            (Err(why), layers) => {
                if refused.as_ref().is_none_or(|refused| refused.why != why) {
                    tracing::warn!(why, "changed settings can't be used; those before stay in force");
                }
                *refused = Some(Refused { why, layers, at: Instant::now() });
            }
            (Ok(_), None) => {}
        }
        Ok(())
    }
}

/// Takes in what other nodes save and what the file says, for as long as it is polled.
pub async fn keep_config(app: App) {
    loop {
        tokio::time::sleep(REREAD).await;
        if let Err(error) = app.reread_config(&mut *app.config.changing.lock().await).await {
            tracing::debug!(%error, "the settings can't be read");
        }
    }
}

fn changes_between(before: &Layers, now: &Layers) -> Vec<ChangedSetting> {
    let shown = |layers: &Layers, field: &Field| match layers.value(field.name) {
        None => field.default_text.to_owned(),
        Some(_) if field.secret => MASK.to_owned(),
        Some(value) => value.to_owned(),
    };
    let differs = |field: &&Field| {
        before.value(field.name) != now.value(field.name)
            || before.source(field.name) != now.source(field.name)
            || before.stamp_of(field.name) != now.stamp_of(field.name)
    };
    let changed = FIELDS.iter().filter(differs);
    changed
        .map(|field| ChangedSetting { name: field.name, from: shown(before, field), to: shown(now, field) })
        .collect()
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
        let instead = published::replacement(name).unwrap_or("see GET /api/admin/config");
        return Err(wrong(format!("there is no setting `{shown}`"), instead.to_owned()));
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
    // A token is only compared with; other secrets are sealed where they are saved.
    let hashed = field.secret && !field.is_sealed();
    let kept = if hashed { format!("{HASHED}{}", sha256(text.as_bytes())) } else { text };
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
        assert!(of("OCR_DPI", json!(300)).contains("300 dots per inch"));
    }
}
