//! What servers tell of themselves and of their models. Pure.

use serde_json::Value;
use steward_core::model::Provider;

/// Names under which lists of models keep the context window.
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
/// What Ollama gives a model if nobody asks for more and nobody tells.
const OLLAMA_WINDOW: u32 = 4096;

/// What a server tells; `None`: it does not.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Told {
    /// Its name and version.
    pub server: String,
    /// The window that it gives the model.
    pub window: Option<u32>,
    /// The window that the model was trained for.
    pub trained: Option<u32>,
    /// Whether the model sees pictures.
    pub vision: Option<bool>,
    /// Millions of parameters.
    pub millions: Option<u64>,
    /// Ollama: the window that the model's own file asks for.
    pub own_num_ctx: Option<u32>,
}

impl Told {
    /// Takes in the row of a list of models.
    pub fn listed(&mut self, models: &Value, model: &str) {
        let rows = models.get("data").or_else(|| models.get("models")).and_then(Value::as_array);
        let rows = rows.map(Vec::as_slice).unwrap_or_default();
        let named = |row: &&Value| {
            ["id", "name", "model"].iter().any(|field| row[field].as_str().is_some_and(|name| is_named(name, model)))
        };
        let Some(row) = rows.iter().find(named) else {
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

    /// Takes in `/props` of llama.cpp.
    pub fn props(&mut self, props: &Value) {
        let settings = &props["default_generation_settings"];
        self.window = number(&settings["n_ctx"]).or_else(|| number(&props["n_ctx"]));
        self.vision = props.pointer("/modalities/vision").and_then(Value::as_bool);
        self.server = named_server("llama.cpp", props["build_info"].as_str());
    }

    /// Takes in `/api/show` of Ollama.
    pub fn shown(&mut self, shown: &Value) {
        let abilities = shown["capabilities"].as_array();
        self.vision = abilities.map(|list| list.iter().any(|item| item == "vision"));
        let info = shown["model_info"].as_object();
        let ends = |end: &str| info.into_iter().flatten().find(|(key, _)| key.ends_with(end)).map(|(_, value)| value);
        self.trained = ends(".context_length").and_then(number);
        self.millions = ends("parameter_count").and_then(Value::as_u64).map(|count| count / 1_000_000);
        self.own_num_ctx = shown["parameters"].as_str().and_then(num_ctx);
    }

    /// Takes in `/api/ps` of Ollama: the window that was really made.
    pub fn running(&mut self, running: &Value, model: &str) {
        let rows = running["models"].as_array();
        let row = rows.into_iter().flatten().find(|row| {
            ["name", "model"].iter().any(|field| row[field].as_str().is_some_and(|name| is_named(name, model)))
        });
        if let Some(window) = row.and_then(|row| number(&row["context_length"])) {
            self.window = Some(window);
        }
    }

    /// Ollama: the window, where `/api/ps` does not tell it.
    pub fn ollama_window(&self) -> u32 {
        let window = self.window.or(self.own_num_ctx).unwrap_or(OLLAMA_WINDOW);
        window.min(self.trained.unwrap_or(u32::MAX))
    }
}

/// `vllm 0.11.0`.
pub(super) fn named_server(name: &str, version: Option<&str>) -> String {
    match version.map(str::trim).filter(|version| !version.is_empty()) {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    }
}

/// What a server of this kind is called.
pub(super) fn server_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Ollama => "ollama",
        Provider::Vllm => "vllm",
        Provider::LlamaCpp => "llama.cpp",
        Provider::TextGen => "text-generation-webui",
        _ => "",
    }
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

/// A line of the parameters of an Ollama model file.
fn num_ctx(parameters: &str) -> Option<u32> {
    parameters.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == "num_ctx").then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::Told;
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
            let mut told = Told::default();
            told.listed(&models, "m");
            assert_eq!((told.window, told.vision), (window, vision), "{models}");
        }
    }

    #[test]
    fn ollama() {
        let mut told = Told::default();
        assert_eq!(told.ollama_window(), 4096);
        told.shown(&json!({
            "capabilities": ["completion", "tools"],
            "parameters": "stop \"x\"\nnum_ctx   2048",
            "model_info": {"general.parameter_count": 8_030_261_312_u64, "llama.context_length": 131_072},
        }));
        assert_eq!(told.trained, Some(131_072));
        assert_eq!((told.millions, told.vision), (Some(8030), Some(false)));
        assert_eq!(told.ollama_window(), 2048);
        told.running(&json!({"models": [{"name": "m:latest", "context_length": 4096}]}), "m");
        assert_eq!(told.ollama_window(), 4096);
    }

    #[test]
    fn llama_cpp() {
        let mut told = Told::default();
        told.props(&json!({"default_generation_settings": {"n_ctx": 8192}, "build_info": "b7000-abc", "modalities": {"vision": true}}));
        assert_eq!(told.server, "llama.cpp b7000-abc");
        assert_eq!((told.window, told.vision), (Some(8192), Some(true)));
    }
}
