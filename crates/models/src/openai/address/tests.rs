#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use steward_core::ConnectionId;
use steward_core::model::{Auth, Capabilities};

fn connection(provider: Provider, base_url: &str) -> Connection {
    Connection {
        id: ConnectionId::from(uuid::Uuid::from_u128(1)),
        name: "work".to_owned(),
        provider,
        base_url: base_url.to_owned(),
        model: "gpt 4".to_owned(),
        auth: Auth::None,
        capabilities: Capabilities::default(),
        wire: None,
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
    }
}

fn check(provider: Provider, base_url: &str, path: &str, expect: &str) {
    let url = dialect(&connection(provider, base_url), path).unwrap();
    assert_eq!(url.as_str(), expect, "{provider:?} {base_url} {path}");
}

#[test]
fn the_dialect_where_it_lives() {
    use Provider::*;
    let chat = "chat/completions";
    check(Compatible, "http://h/v1/", chat, "http://h/v1/chat/completions");
    check(Compatible, "http://h/v1?a=b&c=d", chat, "http://h/v1/chat/completions?a=b&c=d");
    check(Compatible, "http://h/v1/chat/completions", "models", "http://h/v1/models");
    check(OpenAi, "", chat, "https://api.openai.com/v1/chat/completions");
    check(HuggingFace, "", "models", "https://router.huggingface.co/v1/models");
    check(Ollama, "http://h:1", chat, "http://h:1/v1/chat/completions");
    check(Ollama, "http://h:1/api", chat, "http://h:1/v1/chat/completions");
    check(Anthropic, "https://api.anthropic.com", chat, "https://api.anthropic.com/v1/chat/completions");
    check(Gemini, "", chat, "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions");
    check(Gemini, "https://h/v1beta/openai/", chat, "https://h/v1beta/openai/chat/completions");
    check(Cohere, "", chat, "https://api.cohere.com/compatibility/v1/chat/completions");
    check(Bedrock, "https://b", chat, "https://b/openai/v1/chat/completions");
}

#[test]
fn both_faces_of_azure() {
    let check = |base: &str, path: &str, expect: &str| check(Provider::AzureOpenAi, base, path, expect);
    let chat = "chat/completions";
    check("https://r.x", chat, "https://r.x/openai/v1/chat/completions");
    check("https://r.x/openai/v1/", chat, "https://r.x/openai/v1/chat/completions");
    check(
        "https://r.x/openai/v1?api-version=preview",
        "responses",
        "https://r.x/openai/v1/responses?api-version=preview",
    );
    check(
        "https://r.x/?api-version=2024-06-01",
        chat,
        "https://r.x/openai/deployments/gpt%204/chat/completions?api-version=2024-06-01",
    );
    check(
        "https://r.x/openai/deployments/own",
        chat,
        "https://r.x/openai/deployments/own/chat/completions?api-version=2024-10-21",
    );
    check(
        "https://r.x/openai/deployments/own/chat/completions?api-version=2024-06-01",
        chat,
        "https://r.x/openai/deployments/own/chat/completions?api-version=2024-06-01",
    );
    check(
        "https://r.x/openai/deployments/own?api-version=2024-06-01",
        "models",
        "https://r.x/openai/models?api-version=2024-06-01",
    );
    check("https://p.x/eu/openai?api-version=1", "responses", "https://p.x/eu/openai/responses?api-version=1");
    check(
        "https://f.x/models?api-version=2024-05-01-preview",
        chat,
        "https://f.x/models/chat/completions?api-version=2024-05-01-preview",
    );
}

#[test]
fn roots_below_which_the_native_wires_live() {
    let check = |provider, base: &str, path: &str, expect: &str| {
        let url = native(&connection(provider, base), path).unwrap();
        assert_eq!(url.as_str(), expect, "{base}");
    };
    check(Provider::Ollama, "http://h:1/v1", "api/chat", "http://h:1/api/chat");
    check(Provider::Ollama, "http://h:1/api/", "api/chat", "http://h:1/api/chat");
    check(Provider::Anthropic, "http://h/proxy/v1/messages", "v1/messages", "http://h/proxy/v1/messages");
    check(Provider::Gemini, "http://h/v1beta/openai", "v1beta/x?", "http://h/v1beta/x%3F");
    check(Provider::Cohere, "http://h/compatibility/v1", "v2/chat", "http://h/v2/chat");
    assert_eq!(version(&connection(Provider::Gemini, "http://h/v1"), "v1beta"), "v1");
    assert_eq!(version(&connection(Provider::Gemini, "http://h"), "v1beta"), "v1beta");
    assert_eq!(segment("anthropic.claude:0/ü"), "anthropic.claude%3A0%2F%C3%BC");
}

#[test]
fn the_table_is_readable_and_bad_urls_are_told() {
    assert!(BASES.len() >= 10);
    for base in BASES.values() {
        assert!(Url::parse(base).is_ok() && !base.ends_with('/'), "{base}");
    }
    for bad in ["", "no url", "ftp://h/v1"] {
        assert!(dialect(&connection(Provider::Compatible, bad), "models").is_err());
    }
    assert!(base(&connection(Provider::AzureOpenAi, "")).is_err());
}

#[test]
fn a_known_url_is_built_anew_for_a_changed_connection() {
    let known = super::KnownUrls::default();
    let mut one = connection(Provider::Compatible, "http://127.0.0.1:1/v1");
    let url = |one: &Connection| known.dialect(one, "models").unwrap().to_string();
    assert_eq!(url(&one), "http://127.0.0.1:1/v1/models");
    assert_eq!(url(&one), "http://127.0.0.1:1/v1/models");
    one.base_url = "http://127.0.0.1:2/v1".to_owned();
    assert_eq!(url(&one), "http://127.0.0.1:2/v1/models");
    one.provider = Provider::Ollama;
    one.base_url = "http://127.0.0.1:2/api".to_owned();
    assert_eq!(url(&one), "http://127.0.0.1:2/v1/models");
    assert_eq!(known.dialect(&one, "chat/completions").unwrap().path(), "/v1/chat/completions");
}
