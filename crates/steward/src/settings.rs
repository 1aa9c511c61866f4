//! Settings from the command line and the environment. The only place that reads variables.

mod layers;
mod nats;
mod search_and_mail;

use crate::cli::{Global, Serve};
use anyhow::{Context, anyhow, bail};
use search_and_mail::settings_file;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use steward_access::VaultKeyPlace;
use steward_app::config::{Layers, database, named, problem, switch};
use steward_app::{KeyVariables, VisionUse};
use steward_core::agent::PlanStyle;
use steward_core::deep::DeepDefaults;
use steward_engine::EngineConfig;
use steward_infra::NatsConfig;
use steward_models::discovery::OwnServer;
use steward_tools::terminal::TerminalConfig;

pub(crate) use search_and_mail::MAIL;
pub use search_and_mail::SearchAndMailConfig;
pub use steward_cli::client::workspace;

#[derive(Debug, Clone)]
pub struct Settings {
    /// All of them with who says so; the other fields are read from here.
    pub layers: Layers,
    /// The file of settings, which need not be there.
    pub file: PathBuf,
    /// Holds the database, blobs and keys.
    pub data_dir: PathBuf,
    /// PostgreSQL; `None` for the embedded database.
    pub database: Option<String>,
    /// Folder for what can be obtained again: models, evaluation packages.
    pub cache_dir: PathBuf,
    /// GGUF file of the local model.
    pub model: PathBuf,
    pub embedding_dir: PathBuf,
    /// Folder of the models that read characters.
    pub ocr_models: PathBuf,
    /// Languages as Tesseract names them; `None`: the usual ones.
    pub ocr_languages: Option<String>,
    /// Which models that see may be shown pages.
    pub ocr_vision: VisionUse,
    /// The embedding model of collections that have none yet; `None`: the built-in one.
    pub embedding_model: Option<String>,
    pub connection: Option<String>,
    /// A server of OpenAI's dialect.
    pub llm: Option<OwnServer>,
    pub llm_key: Option<SecretString>,
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
    pub python: Option<PathBuf>,
    pub chromium: Option<String>,
    /// Most browsers at a time.
    pub browsers: Option<usize>,
    /// Files of the server's certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Where requests come from besides HTTP.
    pub nats: Option<NatsConfig>,
    /// Email of the user as whom those run that bring no key.
    pub nats_act_as: Option<String>,
    /// Signs access tokens, instead of the key in the data directory.
    pub signing_key: Option<SecretString>,
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
        let data_dir = match &global.data_dir {
            Some(dir) => dir.clone(),
            None => beneath("XDG_DATA_HOME", ".local/share")
                .map(|dir| dir.join("steward"))
                .context("no home directory is known; choose a data directory with --data-dir")?,
        };
        let cache = beneath("XDG_CACHE_HOME", ".cache").map(|dir| dir.join("steward"));
        let mut layers = layers::given(global);
        let file = layers::read_file(&mut layers, &data_dir)?;
        layers.set_default("DATA_DIR", data_dir.display().to_string());
        layers.set_default("NFS_BASE_PATH", data_dir.join("workspace").display().to_string());
        layers.set_default("CACHE_DIR", cache.unwrap_or_else(|| PathBuf::from(".cache")).display().to_string());
        let models = PathBuf::from(layers.value("CACHE_DIR").unwrap_or_default()).join("models");
        let model = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
        layers.set_default("LOCAL_MODEL_FILE", model.display().to_string());
        let database = global.database.clone().or_else(|| database(&layers));
        Self::of(layers, file, data_dir, database)
    }

    /// With the options of `serve`.
    pub fn serving(self, args: &Serve) -> anyhow::Result<Self> {
        let mut layers = self.layers;
        layers::give_serving(&mut layers, args);
        Self::of(layers, self.file, self.data_dir, self.database)
    }

    /// With what is saved in the database, unless that is at odds with the rest.
    #[must_use]
    pub fn with_saved(&self, saved: BTreeMap<&'static str, String>) -> Self {
        match self.with(&self.layers.with_saved(saved)) {
            Ok(settings) => settings,
            Err(error) => {
                tracing::error!(%error, "the settings that are saved in the database can't be used; starting without them");
                self.clone()
            }
        }
    }

    /// The same program with other settings.
    pub fn with(&self, layers: &Layers) -> anyhow::Result<Self> {
        Self::of(layers.clone(), self.file.clone(), self.data_dir.clone(), self.database.clone())
    }

    fn of(layers: Layers, file: PathBuf, data_dir: PathBuf, database: Option<String>) -> anyhow::Result<Self> {
        let set = |name: &str| layers.set(name).map(str::to_owned);
        let variable_of = |name: &str| layers.by_variable(name).map(str::to_owned);
        let path = |name: &str| PathBuf::from(layers.value(name).unwrap_or_default());
        let admin = match (set("ADMIN_EMAIL"), set("ADMIN_PASSWORD")) {
            (Some(email), Some(password)) => Some((email, password)),
            (None, None) => None,
            _ => bail!("set both STEWARD_ADMIN_EMAIL and STEWARD_ADMIN_PASSWORD, or neither"),
        };
        checked(&layers, "METRICS_TOKEN")?;
        let tls = match (set("TLS_CERT"), set("TLS_KEY")) {
            (Some(certificate), Some(key)) => Some((PathBuf::from(certificate), PathBuf::from(key))),
            (None, None) => None,
            _ => bail!("set both STEWARD_TLS_CERT and STEWARD_TLS_KEY, or neither"),
        };
        Ok(Self {
            database,
            cache_dir: path("CACHE_DIR"),
            model: path("LOCAL_MODEL_FILE"),
            embedding_dir: path("CACHE_DIR").join("models/all-MiniLM-L6-v2-int8"),
            ocr_models: path("CACHE_DIR").join("models/pp-ocrv6-tiny"),
            ocr_languages: set("OCR_LANGUAGES").as_deref().map(ocr_languages).transpose()?,
            ocr_vision: match checked(&layers, "OCR_VISION")?.as_deref() {
                Some("off") => VisionUse::Off,
                Some("any") => VisionUse::Any,
                _ => VisionUse::InHouse,
            },
            embedding_model: set("EMBEDDING_MODEL"),
            connection: set("DEFAULT_CONNECTION"),
            llm: own_server(&layers)?,
            llm_key: set("LLM_API_KEY").map(SecretString::from),
            api_key: variable("STEWARD_API_KEY").map(SecretString::from),
            log: set("LOG_LEVEL"),
            program: std::env::current_exe().context("cannot find this program's own file")?,
            admin,
            otlp: set("OTEL_EXPORTER_OTLP_ENDPOINT"),
            no_color: variable("NO_COLOR").is_some(),
            model_idle_s: parsed(&layers, "LOCAL_MODEL_IDLE_SECONDS")?.unwrap_or(600),
            engine: engine(&layers)?,
            vault: VaultKeyPlace::read(&variable_of).map_err(|why| anyhow!(why))?,
            key_variables: KeyVariables::read(set("KEY_VARIABLES").as_deref()).map_err(|why| anyhow!(why))?,
            programs: program_folders(&layers)?,
            integrations: SearchAndMailConfig::read(&variable_of, &data_dir)?,
            terminal: terminal(set("TERMINAL_FILE").as_deref(), &data_dir)?,
            python: set("PYTHON").map(PathBuf::from),
            chromium: set("CHROMIUM"),
            tls,
            nats: nats::config(&layers)?,
            nats_act_as: set("NATS_ACT_AS"),
            browsers: parsed(&layers, "BROWSERS")?,
            signing_key: checked(&layers, "AUTH_SECRET_KEY")?.map(SecretString::from),
            layers,
            file,
            data_dir,
        })
    }

    /// `ADDRESS:PORT` to listen on.
    pub fn listen(&self) -> String {
        let of = |name: &str| self.layers.value(name).unwrap_or_default();
        let (host, port) = (of("API_HOST"), of("API_PORT"));
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Whether the address to listen on is known before the database is open.
    pub fn listen_is_given(&self) -> bool {
        ["API_HOST", "API_PORT"].into_iter().any(|name| self.layers.fixed(name).is_some())
    }

    /// The folder of file tools; `None`: `workspace` in the data directory.
    pub fn workspace(&self) -> Option<PathBuf> {
        self.layers.set("NFS_BASE_PATH").map(PathBuf::from)
    }
}

/// A value that is what its setting may be; the error names its variable.
fn checked(layers: &Layers, name: &str) -> anyhow::Result<Option<String>> {
    let Some((field, value)) = named(name).zip(layers.set(name)) else { return Ok(None) };
    match problem(field, value) {
        None => Ok(Some(value.to_owned())),
        Some(wrong) => bail!("{}: {wrong}", field.variable),
    }
}

fn parsed<T: FromStr>(layers: &Layers, name: &str) -> anyhow::Result<Option<T>> {
    Ok(checked(layers, name)?.and_then(|text| text.parse().ok()))
}

/// Languages as Tesseract names them, joined by `+`: `eng`, `chi_sim`, `script/Latin`.
fn ocr_languages(text: &str) -> anyhow::Result<String> {
    let is_name = |name: &&str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '/'))
    };
    let names: Vec<&str> = text.split([',', '+', ' ']).filter(|name| !name.is_empty()).collect();
    match names.iter().find(|name| !is_name(name)) {
        None if !names.is_empty() => Ok(names.join("+")),
        _ => bail!("STEWARD_OCR_LANGUAGES is `{text}`; name languages as Tesseract does, such as eng,deu"),
    }
}

fn own_server(layers: &Layers) -> anyhow::Result<Option<OwnServer>> {
    let Some(base_url) = checked(layers, "LLM_BASE_URL")? else { return Ok(None) };
    let model = checked(layers, "LLM_DEFAULT_MODEL")?
        .context("LLM_BASE_URL is set without LLM_DEFAULT_MODEL; set that to the name of a model there")?;
    Ok(Some(OwnServer { base_url, model }))
}

fn program_folders(layers: &Layers) -> anyhow::Result<Vec<PathBuf>> {
    Ok(checked(layers, "PROGRAMS")?.map(|text| std::env::split_paths(&text).collect()).unwrap_or_default())
}

/// Named by `STEWARD_TERMINAL`, which must exist, else `terminal.toml` in the data directory, which may be missing.
fn terminal(named: Option<&str>, data_dir: &Path) -> anyhow::Result<TerminalConfig> {
    let Some((path, text)) = settings_file(named, data_dir, "terminal.toml")? else {
        return Ok(TerminalConfig::default());
    };
    TerminalConfig::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn engine(layers: &Layers) -> anyhow::Result<EngineConfig> {
    let mut engine = EngineConfig { deep: deep_defaults(layers)?, ..EngineConfig::default() };
    if let Some(most) = parsed(layers, "MAX_RUNS")? {
        engine.max_runs = most;
    }
    if let Some(seconds) = parsed(layers, "LEASE_SECONDS")? {
        engine.lease = Duration::from_secs_f64(seconds);
        engine.poll = engine.poll.min(engine.lease / 2);
    }
    Ok(engine)
}

/// What is not set keeps its default.
fn deep_defaults(layers: &Layers) -> anyhow::Result<DeepDefaults> {
    let mut deep = DeepDefaults::default();
    if let Some(enabled) = checked(layers, "DEEP_AGENT_PLANNING_ENABLED")?.and_then(|text| switch(&text)) {
        deep.enabled = enabled;
    }
    if let Some(most) = parsed(layers, "DEEP_AGENT_MAX_PLAN_STEPS")? {
        deep.max_steps = most;
    }
    if let Some(style) = checked(layers, "DEEP_AGENT_PLAN_STYLE")? {
        deep.style = if style == "concise" { PlanStyle::Concise } else { PlanStyle::Structured };
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
    use steward_app::config::{Layers, Source, named};
    use steward_core::agent::PlanStyle;
    use steward_core::deep::DeepDefaults;

    fn read(set: &[(&str, &str)]) -> anyhow::Result<DeepDefaults> {
        let mut layers = Layers::default();
        for (name, value) in set {
            let field = named(name).unwrap();
            layers.give(field.name, Source::Environment, field.variable, *value);
        }
        deep_defaults(&layers)
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
            assert!(error.contains(wrong.0) && (error.contains("write") || error.contains("choose")), "{error}");
        }
    }
}
