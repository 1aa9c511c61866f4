//! Settings from the command line and the environment. The only place that reads variables.

mod search_and_mail;

use crate::cli::Global;
use anyhow::{Context, anyhow, bail};
use search_and_mail::settings_file;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use steward_access::VaultKeyPlace;
use steward_app::{KEY_VARIABLES_SETTING, KeyVariables};
use steward_core::agent::PlanStyle;
use steward_core::deep::DeepDefaults;
use steward_engine::EngineConfig;
use steward_tools::terminal::TerminalConfig;

pub(crate) use search_and_mail::MAIL;
pub use search_and_mail::SearchAndMailConfig;
pub use steward_cli::client::workspace;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Holds the database, blobs and keys.
    pub data_dir: PathBuf,
    /// PostgreSQL; `None` for the embedded database.
    pub database: Option<String>,
    /// Folder for what can be obtained again: models, evaluation packages.
    pub cache_dir: PathBuf,
    /// GGUF file of the local model.
    pub model: PathBuf,
    pub embedding_dir: PathBuf,
    pub connection: Option<String>,
    /// What commands send to a running server, instead of the key in the data directory.
    pub api_key: Option<SecretString>,
    pub log: Option<String>,
    pub program: PathBuf,
    /// Administrator to create at the first start.
    pub admin: Option<(String, String)>,
    pub otlp: Option<String>,
    pub no_color: bool,
    /// Idle time after which the local model's process ends, seconds.
    pub model_idle_s: u64,
    pub engine: EngineConfig,
    pub vault: VaultKeyPlace,
    pub key_variables: KeyVariables,
    /// Folders of programs that skills search before those of PATH, and may read in the sandbox.
    pub programs: Vec<PathBuf>,
    pub integrations: SearchAndMailConfig,
    pub terminal: TerminalConfig,
}

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "the binary's composition is where variables are read")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub fn path_folders() -> Vec<PathBuf> {
    variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

impl Settings {
    pub fn read(global: &Global) -> anyhow::Result<Self> {
        let home = variable("HOME").map(PathBuf::from);
        let beneath = |name: &str, default: &str| {
            variable(name).map(PathBuf::from).or_else(|| home.as_ref().map(|home| home.join(default)))
        };
        let cache = variable("STEWARD_CACHE")
            .map(PathBuf::from)
            .or_else(|| beneath("XDG_CACHE_HOME", ".cache").map(|dir| dir.join("steward")))
            .unwrap_or_else(|| PathBuf::from(".cache"));
        let data_dir = match &global.data_dir {
            Some(dir) => dir.clone(),
            None => beneath("XDG_DATA_HOME", ".local/share")
                .map(|dir| dir.join("steward"))
                .context("no home directory is known; choose a data directory with --data-dir")?,
        };
        let models = cache.join("models");
        let admin = match (variable("STEWARD_ADMIN_EMAIL"), variable("STEWARD_ADMIN_PASSWORD")) {
            (Some(email), Some(password)) => Some((email, password)),
            (None, None) => None,
            _ => bail!("set both STEWARD_ADMIN_EMAIL and STEWARD_ADMIN_PASSWORD, or neither"),
        };
        let integrations = SearchAndMailConfig::read(&variable, &data_dir)?;
        let terminal = terminal(variable("STEWARD_TERMINAL").as_deref(), &data_dir)?;
        Ok(Self {
            data_dir,
            database: global.database.clone(),
            cache_dir: cache,
            model: global.model.as_ref().map_or_else(|| models.join("SmolLM2-135M-Instruct.Q4_1.gguf"), PathBuf::from),
            embedding_dir: models.join("all-MiniLM-L6-v2-int8"),
            connection: global.connection.clone(),
            api_key: variable("STEWARD_API_KEY").map(SecretString::from),
            log: global.log.clone(),
            program: std::env::current_exe().context("cannot find this program's own file")?,
            admin,
            otlp: variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
            no_color: variable("NO_COLOR").is_some(),
            model_idle_s: 600,
            engine: engine(&variable)?,
            vault: VaultKeyPlace::read(&variable).map_err(|why| anyhow!(why))?,
            key_variables: KeyVariables::read(variable(KEY_VARIABLES_SETTING).as_deref())
                .map_err(|why| anyhow!(why))?,
            programs: program_folders(variable("STEWARD_PROGRAMS").as_deref())?,
            integrations,
            terminal,
        })
    }
}

/// `STEWARD_PROGRAMS`: existing folders, separated by colons.
fn program_folders(text: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let folders = std::env::split_paths(text.unwrap_or_default());
    let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
    folders
        .map(|folder| {
            if folder.is_absolute() && folder.is_dir() {
                return Ok(folder);
            }
            bail!(
                "STEWARD_PROGRAMS names {}, which is no folder; write absolute paths of folders, separated by colons",
                folder.display()
            )
        })
        .collect()
}

/// Named by `STEWARD_TERMINAL`, which must exist, else `terminal.toml` in the data directory, which may be missing.
fn terminal(named: Option<&str>, data_dir: &Path) -> anyhow::Result<TerminalConfig> {
    let Some((path, text)) = settings_file(named, data_dir, "terminal.toml")? else {
        return Ok(TerminalConfig::default());
    };
    TerminalConfig::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn engine(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<EngineConfig> {
    let mut engine = EngineConfig { deep: deep_defaults(variable)?, ..EngineConfig::default() };
    if let Some(text) = variable("STEWARD_MAX_RUNS") {
        let most = text.parse().ok().filter(|most| *most > 0);
        engine.max_runs = most.context("STEWARD_MAX_RUNS is not a number above 0")?;
    }
    if let Some(text) = variable("STEWARD_LEASE_SECONDS") {
        let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite());
        let seconds = seconds.context("STEWARD_LEASE_SECONDS is not a number")?;
        engine.lease = Duration::from_secs_f64(seconds.clamp(0.3, 3600.0));
        engine.poll = engine.poll.min(engine.lease / 2);
    }
    Ok(engine)
}

/// Reads `DEEP_AGENT_*`; what is not set keeps its default.
fn deep_defaults(variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<DeepDefaults> {
    let mut deep = DeepDefaults::default();
    if let Some(text) = variable("DEEP_AGENT_PLANNING_ENABLED") {
        deep.enabled = match text.to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => bail!("DEEP_AGENT_PLANNING_ENABLED is `{text}`; set it to true or false"),
        };
    }
    if let Some(text) = variable("DEEP_AGENT_MAX_PLAN_STEPS") {
        deep.max_steps = match text.parse() {
            Ok(steps @ 1..=20) => steps,
            _ => bail!("DEEP_AGENT_MAX_PLAN_STEPS is `{text}`; set it to a number from 1 to 20"),
        };
    }
    if let Some(text) = variable("DEEP_AGENT_PLAN_STYLE") {
        deep.style = match text.to_lowercase().as_str() {
            "structured" => PlanStyle::Structured,
            "concise" => PlanStyle::Concise,
            _ => bail!("DEEP_AGENT_PLAN_STYLE is `{text}`; set it to structured or concise"),
        };
    }
    Ok(deep)
}

/// Checks that `workspace` does not hold the program's own data, whose keys tools could read there.
pub fn apart(workspace: &Path, data: &Path) -> anyhow::Result<()> {
    let data = data.canonicalize().with_context(|| format!("cannot find {}", data.display()))?;
    if data.starts_with(workspace) {
        bail!(
            "the workspace {} holds Steward's own data ({}), keys among it; choose another folder with --workspace DIR, or other data with --data-dir DIR",
            workspace.display(),
            data.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{apart, deep_defaults};
    use steward_core::agent::PlanStyle;
    use steward_core::deep::DeepDefaults;

    fn read(set: &[(&str, &str)]) -> anyhow::Result<DeepDefaults> {
        deep_defaults(&|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_workspace_does_not_hold_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let data = top.join("data");
        std::fs::create_dir_all(data.join("workspace")).unwrap();
        assert!(apart(&data.join("workspace"), &data).is_ok());
        assert!(apart(&data, &data).unwrap_err().to_string().contains("keys among it"));
        assert!(apart(&top, &data).is_err());
    }

    #[test]
    fn deep_planning_is_set_by_variables() {
        assert_eq!(read(&[]).unwrap(), DeepDefaults::default());
        let set = read(&[
            ("DEEP_AGENT_PLANNING_ENABLED", "False"),
            ("DEEP_AGENT_MAX_PLAN_STEPS", "9"),
            ("DEEP_AGENT_PLAN_STYLE", "concise"),
        ])
        .unwrap();
        assert!(!set.enabled && set.max_steps == 9 && set.style == PlanStyle::Concise);
        for wrong in [
            ("DEEP_AGENT_PLANNING_ENABLED", "maybe"),
            ("DEEP_AGENT_MAX_PLAN_STEPS", "0"),
            ("DEEP_AGENT_MAX_PLAN_STEPS", "many"),
            ("DEEP_AGENT_PLAN_STYLE", "long"),
        ] {
            let error = read(&[wrong]).unwrap_err().to_string();
            assert!(error.contains(wrong.0) && error.contains("set it to"), "{error}");
        }
    }
}
