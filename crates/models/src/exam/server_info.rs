use super::session::ExamSession;
use crate::discovery::local_servers::{OLLAMA_DEFAULT_WINDOW, model_info, named_server, num_ctx, trained_window};
use crate::openai::{Client, Outgoing};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::model::{Connection, Provider};

/// Where model lists have the context window.
const WINDOWS: [&str; 9] = [
    "/max_model_len",
    "/loaded_context_length",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/max_input_tokens",
    "/inputTokenLimit",
    "/meta/n_ctx",
    "/top_provider/context_length",
];
/// `None`: the server does not tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ServerInfo {
    pub name: String,
    pub window: Option<u32>,
    /// The window that the model was trained for.
    pub trained: Option<u32>,
    pub vision: Option<bool>,
    /// Millions of parameters.
    pub millions: Option<u64>,
    /// Ollama: the window that the model file asks for.
    pub own_num_ctx: Option<u32>,
}

impl ServerInfo {
    pub fn listed(&mut self, models: &Value, model: &str) {
        let rows = models.get("data").or_else(|| models.get("models")).and_then(Value::as_array);
        let rows = rows.map(Vec::as_slice).unwrap_or_default();
        let Some(row) = rows.iter().find(|row| is_row_of(row, model)) else {
            return;
        };
        let window = WINDOWS.iter().find_map(|path| number(row.pointer(path)?));
        self.window = self.window.or(window);
        let inputs = row.pointer("/architecture/input_modalities");
        if let Some(inputs) = inputs.and_then(Value::as_array) {
            self.vision = Some(inputs.iter().any(|input| input == "image"));
        }
        if let Some(vision) = row.pointer("/capabilities/vision").and_then(Value::as_bool) {
            self.vision = Some(vision);
        }
    }

    /// Reads llama.cpp's `/props`.
    pub fn props(&mut self, props: &Value) {
        let settings = &props["default_generation_settings"];
        self.window = number(&settings["n_ctx"]).or_else(|| number(&props["n_ctx"]));
        self.vision = props.pointer("/modalities/vision").and_then(Value::as_bool);
        self.name = named_server("llama.cpp", props["build_info"].as_str());
    }

    /// Reads Ollama's `/api/show`.
    pub fn shown(&mut self, shown: &Value) {
        let abilities = shown["capabilities"].as_array();
        self.vision = abilities.map(|list| list.iter().any(|item| item == "vision"));
        self.trained = trained_window(shown);
        self.millions = model_info(shown, "parameter_count").and_then(Value::as_u64).map(|count| count / 1_000_000);
        self.own_num_ctx = num_ctx(shown);
    }

    /// Reads Ollama's `/api/ps`: the window in use.
    pub fn running(&mut self, running: &Value, model: &str) {
        let rows = running["models"].as_array();
        let row = rows.into_iter().flatten().find(|row| is_row_of(row, model));
        if let Some(window) = row.and_then(|row| number(&row["context_length"])) {
            self.window = Some(window);
        }
    }

    /// Ollama: the window, where `/api/ps` does not tell it.
    pub fn ollama_window(&self) -> u32 {
        let window = self.window.or(self.own_num_ctx).unwrap_or(OLLAMA_DEFAULT_WINDOW);
        window.min(self.trained.unwrap_or(u32::MAX))
    }
}

fn is_row_of(row: &Value, model: &str) -> bool {
    ["id", "name", "model"].iter().any(|field| row[field].as_str().is_some_and(|name| is_named(name, model)))
}

/// Ollama adds `:latest`, Gemini `models/`.
fn is_named(name: &str, model: &str) -> bool {
    let bare = |name: &str| {
        let name = name.strip_prefix("models/").unwrap_or(name);
        name.strip_suffix(":latest").unwrap_or(name).to_owned()
    };
    bare(name) == bare(model)
}

fn number(value: &Value) -> Option<u32> {
    let value = value.as_u64().filter(|value| *value > 0)?;
    u32::try_from(value).ok()
}

const LIMIT: Duration = Duration::from_secs(5);

pub(super) async fn ask(session: &ExamSession<'_>) -> ServerInfo {
    let (client, connection) = (session.client, &session.connection);
    let mut info = ServerInfo::default();
    let asked = match connection.provider {
        Provider::Local => None,
        Provider::Ollama => Some(Outgoing::post_native("api/show".to_owned(), &json!({"model": connection.model}))),
        Provider::LlamaCpp => Some(Outgoing::get_native("props".to_owned())),
        _ => Some(Outgoing::get("models")),
    };
    match asked {
        None => info.window = Some(connection.capabilities.window),
        Some(asked) => match (get(client, connection, &asked).await, connection.provider) {
            (None, _) => {}
            (Some(shown), Provider::Ollama) => info.shown(&shown),
            (Some(props), Provider::LlamaCpp) => info.props(&props),
            (Some(models), _) => info.listed(&models, &connection.model),
        },
    }
    if info.name.is_empty() {
        info.name = server_version(client, connection).await.unwrap_or_default();
    }
    info
}

/// Ollama's window in use, which is known only once the model was asked.
pub(super) async fn running(session: &ExamSession<'_>, info: &mut ServerInfo) {
    let ps = Outgoing::get_native("api/ps".to_owned());
    if let Some(running) = get(session.client, &session.connection, &ps).await {
        info.running(&running, &session.connection.model);
    }
}

/// Such as `ollama 0.13.1`; `None` if the server does not tell.
pub async fn server_version(client: &Client, connection: &Connection) -> Option<String> {
    let (name, path) = match connection.provider {
        Provider::Ollama => ("ollama", "api/version"),
        Provider::Vllm => ("vllm", "version"),
        Provider::LlamaCpp => ("llama.cpp", "props"),
        Provider::Local => return Some(format!("steward {}", env!("CARGO_PKG_VERSION"))),
        _ => return None,
    };
    let answer = get(client, connection, &Outgoing::get_native(path.to_owned())).await?;
    let version = answer["version"].as_str().or_else(|| answer["build_info"].as_str());
    Some(named_server(name, version))
}

/// Errors here are no errors of the exam.
async fn get(client: &Client, connection: &Connection, outgoing: &Outgoing) -> Option<Value> {
    let (_, value) = client.send_for_json(connection, outgoing, &client.limits_of(LIMIT, 0)).await.ok()?;
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::ServerInfo;
    use serde_json::json;

    #[test]
    fn lists_of_models() {
        for (models, window, vision) in [
            (json!({"data": [{"id": "m", "max_model_len": 8192}]}), Some(8192), None),
            (json!({"data": [{"id": "other", "max_model_len": 8192}]}), None, None),
            (
                json!({"data": [{"id": "m", "context_length": 131_072, "architecture": {"input_modalities": ["text", "image"]}}]}),
                Some(131_072),
                Some(true),
            ),
            (json!({"models": [{"name": "models/m", "inputTokenLimit": 1_048_576}]}), Some(1_048_576), None),
            (
                json!({"data": [{"id": "m", "capabilities": {"vision": false}, "max_context_length": 32_768}]}),
                Some(32_768),
                Some(false),
            ),
            (json!([]), None, None),
        ] {
            let mut info = ServerInfo::default();
            info.listed(&models, "m");
            assert_eq!((info.window, info.vision), (window, vision), "{models}");
        }
    }

    #[test]
    fn ollama() {
        let mut info = ServerInfo::default();
        assert_eq!(info.ollama_window(), 4096);
        info.shown(&json!({
            "capabilities": ["completion", "tools"],
            "parameters": "stop \"x\"\nnum_ctx   2048",
            "model_info": {"general.parameter_count": 8_030_261_312_u64, "llama.context_length": 131_072},
        }));
        assert_eq!(info.trained, Some(131_072));
        assert_eq!((info.millions, info.vision), (Some(8030), Some(false)));
        assert_eq!(info.ollama_window(), 2048);
        info.running(&json!({"models": [{"name": "m:latest", "context_length": 4096}]}), "m");
        assert_eq!(info.ollama_window(), 4096);
    }

    #[test]
    fn llama_cpp() {
        let mut info = ServerInfo::default();
        info.props(&json!({"default_generation_settings": {"n_ctx": 8192}, "build_info": "b7000-abc", "modalities": {"vision": true}}));
        assert_eq!(info.name, "llama.cpp b7000-abc");
        assert_eq!((info.window, info.vision), (Some(8192), Some(true)));
    }
}
