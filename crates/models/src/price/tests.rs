#![allow(clippy::unwrap_used, reason = "tests")]

use super::{BUILT_IN, PriceError, Prices};
use std::collections::BTreeSet;
use steward_core::ConnectionId;
use steward_core::model::{Auth, Capabilities, Connection, Price, Provider, Usage};

fn connection(provider: Provider, model: &str) -> Connection {
    Connection {
        id: ConnectionId(uuid::Uuid::nil()),
        name: "c".to_owned(),
        provider,
        base_url: "https://api.example.com/v1".to_owned(),
        model: model.to_owned(),
        auth: Auth::None,
        capabilities: Capabilities::default(),
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
        wire: None,
    }
}

fn input(provider: Provider, model: &str) -> Option<u64> {
    let price = Prices::built_in().of(&connection(provider, model), None)?;
    Some(price.input)
}

#[test]
fn the_built_in_table_is_whole() {
    let prices = Prices::parse(BUILT_IN).unwrap();
    assert_eq!(prices.checked().len(), "2026-11-21".len());
    let mut seen = BTreeSet::new();
    for row in &prices.table.prices {
        assert!(row.input > 0, "{row:?}");
        assert!(row.cached.unwrap_or(0) <= row.input, "{row:?}");
        let key = format!("{:?} {:?} {}", row.provider, row.host, row.model);
        assert!(seen.insert(key), "twice: {row:?}");
    }
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Cohere, Provider::Bedrock] {
        assert!(prices.table.prices.iter().any(|row| row.provider == provider));
    }
}

#[test]
fn the_longest_beginning_wins() {
    use Provider::{Anthropic, AzureOpenAi, Bedrock, Gemini, OpenAi};
    for (provider, model, price) in [
        (OpenAi, "gpt-4o", Some(2_500_000)),
        (OpenAi, "gpt-4o-2024-08-06", Some(2_500_000)),
        (OpenAi, "GPT-4o-mini-2024-07-18", Some(150_000)),
        (AzureOpenAi, "gpt-4.1-mini", Some(400_000)),
        // A new version is another model; better no price than a wrong one.
        (OpenAi, "gpt-4oh", None),
        (OpenAi, "gpt-4.7", None),
        (OpenAi, "unheard-of", None),
        (OpenAi, "", None),
        (Anthropic, "claude-sonnet-4-5-20250929", Some(3_000_000)),
        (Anthropic, "gpt-4o", None),
        (Gemini, "models/gemini-2.5-pro", Some(1_250_000)),
        (Gemini, "gemini-2.5-flash-lite", Some(100_000)),
        (Bedrock, "eu.anthropic.claude-haiku-4-5-20251001-v1:0", Some(1_000_000)),
        (Bedrock, "amazon.nova-lite-v1:0", Some(60_000)),
    ] {
        assert_eq!(input(provider, model), price, "{model}");
    }
}

#[test]
fn own_machines_cost_nothing_and_a_connection_s_own_price_goes_first() {
    for provider in [Provider::Ollama, Provider::LlamaCpp, Provider::Vllm, Provider::TextGen, Provider::Local] {
        let mut one = connection(provider, "gpt-4o");
        assert_eq!(Prices::built_in().of(&one, None), Some(Price::default()));
        let own = Price { input: 7, cached: 1, output: 9 };
        one.price = Some(own);
        assert_eq!(Prices::built_in().of(&one, None), Some(own));
    }
}

#[test]
fn some_prices_hold_at_one_host_only() {
    let mut one = connection(Provider::Compatible, "deepseek-chat");
    assert_eq!(Prices::built_in().of(&one, None), None);
    one.base_url = "https://api.deepseek.com/v1".to_owned();
    assert!(Prices::built_in().of(&one, None).is_some());
}

#[test]
fn the_answered_name_tells_a_deployment_s_price() {
    let one = connection(Provider::AzureOpenAi, "our-deployment");
    let mut usage =
        Usage { prompt_tokens: 1_000_000, cached_tokens: 500_000, completion_tokens: 100_000, cost_micros: 0 };
    let prices = Prices::built_in();
    prices.fill(&one, "nobody-knows", &mut usage);
    assert_eq!(usage.cost_micros, 0);
    prices.fill(&one, "gpt-4o-2024-08-06", &mut usage);
    assert_eq!(usage.cost_micros, 1_250_000 + 625_000 + 1_000_000);
    prices.fill(&one, "gpt-4o-mini", &mut usage);
    assert_eq!(usage.cost_micros, 2_875_000, "what was told is kept");
}

#[test]
fn a_file_takes_the_table_s_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("prices.json");
    let of = |prices: &Prices| prices.of(&connection(Provider::OpenAi, "gpt-4o"), None);
    let built_in = Prices::load(&path).unwrap();
    assert_eq!(of(&built_in).unwrap().input, 2_500_000);
    let text = r#"{"checked": "2027-01-02", "prices": [
        {"provider": "open_ai", "model": "gpt-4o", "input": 5, "output": 6}]}"#;
    std::fs::write(&path, text).unwrap();
    let own = Prices::load(&path).unwrap();
    assert_eq!(own.checked(), "2027-01-02");
    let price = of(&own).unwrap();
    assert_eq!((price.input, price.cached, price.output), (5, 5, 6));
    std::fs::write(&path, text.replace("output", "outptu")).unwrap();
    let error = Prices::load(&path).unwrap_err();
    assert!(matches!(error, PriceError::Format { .. }));
    let told = error.to_string();
    assert!(told.contains("outptu") && told.contains("prices.json"), "{told}");
}
