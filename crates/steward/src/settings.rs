//! Settings from the command line and the environment. The only place that reads variables.

mod layers;

use crate::cli::{Global, Serve};
use anyhow::{Context, anyhow, bail};
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use steward_access::VaultKeyPlace;
use steward_app::config::{Layers, Source, database, named, problem, switch};
use steward_app::{KeyVariables, VisionUse};
use steward_core::agent::PlanStyle;
use steward_core::deep::DeepDefaults;
use steward_engine::EngineConfig;
use steward_infra::NatsConfig;
use steward_knowledge::confined::Engines;
use steward_models::discovery::OwnServer;
use steward_tools::mail::MailConfig;
use steward_tools::search::SearchConfig;
use steward_tools::terminal::TerminalConfig;

/// File of the mail accounts, in the data directory.
pub const MAIL: &str = "mail.toml";
/// File that changes which commands agents may run, in the data directory.
const TERMINAL: &str = "terminal.toml";

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
    /// Whether connections are examined by themselves where that costs nothing.
    pub examine_connections: bool,
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
    /// `None` if no search engine was chosen.
    pub search: Option<SearchConfig>,
    pub mail: MailConfig,
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
        set_model(&mut layers);
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

    /// What whoever starts the program says now: the file of settings and the files that settings name are read anew.
    pub fn reread(&self, now: &Layers) -> anyhow::Result<Layers> {
        let mut layers = now.without(Source::File);
        layers::read_file(&mut layers, &self.data_dir)?;
        set_model(&mut layers);
        Ok(layers)
    }

    /// The same program with other settings.
    pub fn with(&self, layers: &Layers) -> anyhow::Result<Self> {
        let settings = Self::of(layers.clone(), self.file.clone(), self.data_dir.clone(), self.database.clone())?;
        Ok(Self { program: self.program.clone(), ..settings })
    }

    fn of(layers: Layers, file: PathBuf, data_dir: PathBuf, database: Option<String>) -> anyhow::Result<Self> {
        let set = |name: &str| layers.set(name).map(str::to_owned);
        let variable_of = |name: &str| layers.by_variable(name).map(str::to_owned);
        let path = |name: &str| PathBuf::from(layers.value(name).unwrap_or_default());
        let why = anyhow::Error::msg::<String>;
        let admin = both(&layers, "ADMIN_EMAIL", "ADMIN_PASSWORD")?;
        checked(&layers, "METRICS_TOKEN")?;
        let tls = both(&layers, "TLS_CERT", "TLS_KEY")?;
        Ok(Self {
            database,
            cache_dir: path("CACHE_DIR"),
            model: path("LOCAL_MODEL_FILE"),
            examine_connections: checked(&layers, "EXAMINE_CONNECTIONS")?
                .and_then(|text| switch(&text))
                .unwrap_or(true),
            embedding_dir: path("CACHE_DIR").join("models/all-MiniLM-L6-v2-int8"),
            ocr_models: path("CACHE_DIR").join("models/pp-ocrv6-tiny"),
            ocr_languages: set("OCR_LANGUAGES").as_deref().map(Engines::languages).transpose().map_err(why)?,
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
            vault: VaultKeyPlace::read(&variable_of).map_err(why)?,
            key_variables: KeyVariables::read(set("KEY_VARIABLES").as_deref()).map_err(why)?,
            programs: program_folders(&layers)?,
            search: SearchConfig::read(&variable_of).map_err(why)?,
            mail: mail(set("MAIL_FILE").as_deref(), &data_dir)?,
            terminal: terminal(set("TERMINAL_FILE").as_deref(), &data_dir)?,
            python: set("PYTHON").map(PathBuf::from),
            chromium: set("CHROMIUM"),
            tls: tls.map(|(certificate, key)| (certificate.into(), key.into())),
            nats: NatsConfig::read(&variable_of).map_err(why)?,
            nats_act_as: set("NATS_ACT_AS"),
            browsers: parsed(&layers, "BROWSERS")?,
            signing_key: checked(&layers, "AUTH_SECRET_KEY")?.map(SecretString::from),
            layers,
            file,
            data_dir,
        })
    }

    /// Folder of the models that are not built in.
    pub fn models_dir(&self) -> PathBuf {
        self.cache_dir.join("models")
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

/// The local model is in the cache where no file is named.
fn set_model(layers: &mut Layers) {
    let models = PathBuf::from(layers.value("CACHE_DIR").unwrap_or_default()).join("models");
    let model = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
    layers.set_default("LOCAL_MODEL_FILE", model.display().to_string());
}

/// A value that is what its setting may be; the error names its variable.
fn checked(layers: &Layers, name: &str) -> anyhow::Result<Option<String>> {
    let Some((field, value)) = named(name).zip(layers.set(name)) else { return Ok(None) };
    match problem(field, value) {
        None => Ok(Some(value.to_owned())),
        Some(wrong) => bail!("{}: {wrong}", field.variable),
    }
}

/// Two settings of which one alone says nothing.
fn both(layers: &Layers, one: &str, other: &str) -> anyhow::Result<Option<(String, String)>> {
    match (layers.set(one), layers.set(other)) {
        (Some(one), Some(other)) => Ok(Some((one.to_owned(), other.to_owned()))),
        (None, None) => Ok(None),
        _ => bail!("set both STEWARD_{one} and STEWARD_{other}, or neither"),
    }
}

fn parsed<T: FromStr>(layers: &Layers, name: &str) -> anyhow::Result<Option<T>> {
    Ok(checked(layers, name)?.and_then(|text| text.parse().ok()))
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

/// The settings file that is named, which must exist, else the usual one in the data directory, if it is there.
fn settings_file(named: Option<&str>, data_dir: &Path, usual: &str) -> anyhow::Result<Option<(PathBuf, String)>> {
    let path = named.map_or_else(|| data_dir.join(usual), PathBuf::from);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        // An unusable data directory is reported by whoever creates it.
        Err(error) if named.is_none() && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error).with_context(|| format!("{} can't be read", path.display())),
    }
}

fn terminal(named: Option<&str>, data_dir: &Path) -> anyhow::Result<TerminalConfig> {
    let Some((path, text)) = settings_file(named, data_dir, TERMINAL)? else {
        return Ok(TerminalConfig::default());
    };
    TerminalConfig::parse(&text).map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn mail(named: Option<&str>, data_dir: &Path) -> anyhow::Result<MailConfig> {
    let Some((path, text)) = settings_file(named, data_dir, MAIL)? else {
        return Ok(MailConfig::default());
    };
    let beside = path.parent().unwrap_or(data_dir);
    MailConfig::parse(&text, |name| std::fs::read(beside.join(name)))
        .map_err(|error| anyhow!("{}: {error}", path.display()))
}

fn engine(layers: &Layers) -> anyhow::Result<EngineConfig> {
    let mut engine = EngineConfig { deep: deep_defaults(layers)?, ..EngineConfig::default() };
    engine.planner = checked(layers, "PLANNER_MODEL_SPEC")?;
    engine.executor = checked(layers, "EXECUTOR_MODEL_SPEC")?;
    engine.max_runs = parsed(layers, "MAX_RUNS")?.unwrap_or(engine.max_runs);
    if let Some(seconds) = parsed(layers, "LEASE_SECONDS")? {
        engine.lease = Duration::from_secs_f64(seconds);
        engine.poll = engine.poll.min(engine.lease / 2);
    }
    Ok(engine)
}

/// What is not set keeps its default.
fn deep_defaults(layers: &Layers) -> anyhow::Result<DeepDefaults> {
    let unset = DeepDefaults::default();
    let enabled = checked(layers, "DEEP_AGENT_PLANNING_ENABLED")?.and_then(|text| switch(&text));
    let max_steps = parsed(layers, "DEEP_AGENT_MAX_PLAN_STEPS")?.unwrap_or(unset.max_steps);
    let style = match checked(layers, "DEEP_AGENT_PLAN_STYLE")?.as_deref() {
        None => unset.style,
        Some("concise") => PlanStyle::Concise,
        Some(_) => PlanStyle::Structured,
    };
    Ok(DeepDefaults { enabled: enabled.unwrap_or(unset.enabled), max_steps, style })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{deep_defaults, mail};
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
    fn mail_accounts_are_read_from_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let read = |named| mail(named, dir.path()).map(|mail| mail.accounts);
        assert!(read(None).unwrap().is_empty());
        let file = dir.path().join("mail.toml");
        std::fs::write(&file, "[accounts.work]\nfrom = 'a@b.c'\nimap = 'imaps://b.c'\nca = 'own.pem'\n").unwrap();
        let error = format!("{:#}", read(None).unwrap_err());
        assert!(error.contains("mail.toml") && error.contains("own.pem can't be read"), "{error}");
        std::fs::write(dir.path().join("own.pem"), "x").unwrap();
        let accounts = read(None).unwrap();
        assert_eq!((accounts[0].name.as_str(), accounts[0].ca.as_deref()), ("work", Some(&b"x"[..])));
        let error = format!("{:#}", read(Some("/nowhere/mail.toml")).unwrap_err());
        assert!(error.contains("/nowhere/mail.toml can't be read"), "{error}");
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
