use std::path::PathBuf;
use std::sync::Arc;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What discovery may look at. The binary fills it.
#[derive(Clone)]
pub struct Environment {
    vars: Arc<Lookup>,
    /// The GGUF file of the local model, if it is there and this build can run it.
    pub local_model: Option<PathBuf>,
    /// The window that the local model is started with, tokens.
    pub local_window: u32,
    /// Where an Ollama is looked for if `OLLAMA_HOST` is not set.
    pub ollama_url: String,
    /// Where a llama.cpp server is looked for.
    pub llama_cpp_url: String,
}

impl Environment {
    /// The usual places, and these variables.
    pub fn new(vars: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            vars: Arc::new(vars),
            local_model: None,
            local_window: 2048,
            ollama_url: "http://127.0.0.1:11434".to_owned(),
            llama_cpp_url: "http://127.0.0.1:8080".to_owned(),
        }
    }

    /// A variable that is set and not blank.
    pub(super) fn var(&self, name: &str) -> Option<String> {
        let value = (self.vars)(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("local_model", &self.local_model).finish_non_exhaustive()
    }
}
