use steward_core::model::{Connection, Provider};
use steward_core::ports::ConnectionsError;

/// Longest name, characters.
const MAX_NAME: usize = 64;

pub(super) fn check(connection: &Connection) -> Result<(), ConnectionsError> {
    let invalid = |text: String| Err(ConnectionsError::Invalid(text));
    let name = connection.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.contains(['/', '\n']) {
        return invalid(format!("name: give 1 to {MAX_NAME} characters without `/`, such as `office-vllm`"));
    }
    if connection.model.trim().is_empty() {
        return invalid("model: give the name that the endpoint knows it by".to_owned());
    }
    if connection.provider == Provider::Local {
        if std::path::Path::new(&connection.model).is_file() {
            return Ok(());
        }
        return invalid(format!("model: there is no GGUF file {}", connection.model));
    }
    if connection.base_url.trim().is_empty() && has_own_address(connection.provider) {
        return Ok(());
    }
    match url::Url::parse(&connection.base_url) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => invalid(format!(
            "base_url: `{}` is not an http or https address; give one such as http://127.0.0.1:8000/v1",
            connection.base_url
        )),
    }
}

/// Whether the provider has a single, known address.
fn has_own_address(provider: Provider) -> bool {
    matches!(
        provider,
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini | Provider::Cohere | Provider::HuggingFace
    )
}
