use std::time::Duration;

use futures::future::join;
use serde_json::json;
use steward_core::ConnectionId;
use steward_core::hash::of_json;
use steward_core::model::{Auth, Capabilities, Connection, Provider};
use tokio::time::timeout;

use super::environment::Environment;
use super::{keys, llama_cpp, ollama};
use crate::local::GgufHeader;
use crate::openai::Client;

/// Longest time that probing may take in all.
const LIMIT: Duration = Duration::from_millis(400);

/// A connection that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The connection.
    pub connection: Connection,
    /// What showed that it is there.
    pub how: String,
    /// Its model, in a few words.
    pub detail: String,
}

/// All that is there, best first: the first is the default. Takes 400 ms at most.
pub async fn discover(environment: &Environment, client: &Client) -> Vec<Found> {
    let mut found = keys::find(environment);
    let probes =
        join(timeout(LIMIT, ollama::find(environment, client)), timeout(LIMIT, llama_cpp::find(environment, client)));
    let (from_ollama, from_llama_cpp) = probes.await;
    found.extend(from_ollama.unwrap_or_default());
    found.extend(from_llama_cpp.ok().flatten());
    found.extend(local(environment));
    found
}

fn local(environment: &Environment) -> Option<Found> {
    let path = environment.local_model.as_ref()?;
    let header = match GgufHeader::read(path) {
        Ok(header) => header,
        Err(error) => {
            tracing::warn!(%error, "the local model is not usable");
            return None;
        }
    };
    let millions = header.parameters / 1_000_000;
    let trained = header.context_train.unwrap_or(environment.local_window);
    let window = environment.local_window.min(trained);
    let mut can = super::capabilities("", Some(&format!("{}M", millions.max(1))));
    if !can.plans {
        can = Capabilities::tiny(window);
    }
    can.window = window;
    can.scoring = true;
    // Its server has no native tool calls.
    can.strategy = steward_core::model::Strategy::GuidedJson;
    let model = path.to_string_lossy().into_owned();
    let name = header.name.unwrap_or_else(|| "GGUF model".to_owned());
    Some(Found {
        how: "a model file is there".to_owned(),
        detail: format!("{name}, {millions}M parameters, window {window} tokens"),
        connection: Connection {
            id: stable_id("local", "", &model),
            name: "local".to_owned(),
            provider: Provider::Local,
            base_url: String::new(),
            model,
            auth: Auth::None,
            capabilities: can,
            price: None,
            weight: 1,
            by_hand: Vec::new(),
            wire: None,
        },
    })
}

/// The same connection has the same id at each start, since runs refer to it. A UUID of version 8,
/// which is the one for hashes of one's own.
pub(super) fn stable_id(name: &str, base_url: &str, model: &str) -> ConnectionId {
    let hash = of_json(&json!([name, base_url, model]));
    let text = format!("{}8{}a{}", &hash[..12], &hash[13..16], &hash[17..32]);
    // 32 hexadecimal digits always are a UUID.
    text.parse().unwrap_or(ConnectionId::from(steward_core::TenantId::DEFAULT.0))
}

#[cfg(test)]
mod tests {
    use super::stable_id;

    #[test]
    fn ids_are_stable_and_apart() {
        let id = stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:8b");
        assert_eq!(id, stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:8b"));
        assert_ne!(id, stable_id("ollama", "http://127.0.0.1:11434/v1", "qwen3:4b"));
        assert_eq!(id.0.get_version_num(), 8);
        assert_ne!(id.0, steward_core::TenantId::DEFAULT.0);
    }
}
