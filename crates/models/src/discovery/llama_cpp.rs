//! A llama.cpp server, known by its `/props`.

use std::time::Duration;

use futures::future::join;
use serde_json::Value;
use steward_core::model::{Auth, Connection, Provider};
use url::Url;

use super::environment::Environment;
use super::guess::{capabilities, parse_size};
use super::search::{Found, stable_id};
use crate::openai::{Client, is_loopback};

const LIMIT: Duration = Duration::from_millis(300);

pub(super) async fn find(environment: &Environment, client: &Client) -> Option<Found> {
    let root = Url::parse(&environment.llama_cpp_url).ok().filter(is_loopback)?;
    let (models, props) = (root.join("v1/models").ok()?, root.join("props").ok()?);
    let (models, props) = join(client.probe(&models, None, LIMIT), client.probe(&props, None, LIMIT)).await;
    read(&root, &models?, &props?)
}

/// Any program may listen on that port; only llama.cpp has both.
fn read(root: &Url, models: &Value, props: &Value) -> Option<Found> {
    let settings = props.get("default_generation_settings")?;
    let model = models["data"].get(0)?;
    let id = model["id"].as_str()?;
    // The id is often a path; its end is the name that tells the size.
    let name = id.rsplit('/').next().unwrap_or(id);
    let size = model["meta"]["n_params"].as_u64().map(|n| format!("{}M", n / 1_000_000));
    let size = size.filter(|size| parse_size(size).is_some());
    let mut can = capabilities(name, size.as_deref());
    can.window = [&settings["n_ctx"], &model["meta"]["n_ctx"], &model["meta"]["n_ctx_train"]]
        .into_iter()
        .find_map(|value| u32::try_from(value.as_u64()?).ok())
        .unwrap_or(4096);
    let base_url = root.join("v1").ok()?.to_string();
    Some(Found {
        how: format!("a llama.cpp server answers at {root}"),
        detail: format!("{name}, window {} tokens", can.window),
        connection: Connection {
            id: stable_id("llama.cpp", &base_url, id),
            name: "llama.cpp".to_owned(),
            provider: Provider::LlamaCpp,
            base_url,
            model: id.to_owned(),
            auth: Auth::None,
            capabilities: can,
            price: None,
            weight: 1,
            by_hand: Vec::new(),
            wire: None,
        },
    })
}
