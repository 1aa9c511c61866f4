//! The programs that are measured, each a process of its own.

use super::load::{Kind, Place, Wire};
use std::io::{BufRead, BufReader, Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with the bench.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Sending SIGTERM would need another crate; without it only the content of a temporary folder is lost.
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The upstream: this program in another process.
pub fn upstream(gap_ms: u64) -> Result<(Running, Place)> {
    let (running, address) = again(&["--upstream", "--gap-ms", &gap_ms.to_string()])?;
    let place = Place {
        name: "direct".to_owned(),
        address,
        key: "upstream-key".to_owned(),
        model: "bench".to_owned(),
        process: None,
        foreign: false,
    };
    Ok((running, place))
}

/// Copies bytes between two connections and does nothing else, which is the least that any gateway does.
pub fn relay(upstream: &Place) -> Result<(Running, Place)> {
    let (running, address) = again(&["--relay", &upstream.address])?;
    let place =
        Place { name: "bare relay of bytes".to_owned(), address, process: Some(running.0.id()), ..upstream.clone() };
    Ok((running, place))
}

/// Starts this program in another role; returns where it listens.
fn again(args: &[&str]) -> Result<(Running, String)> {
    let mut child = Command::new(std::env::current_exe()?).arg("gateway").args(args).stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or_else(|| Error::other("no output"))?;
    let running = Running(child);
    let mut port = String::new();
    BufReader::new(out).read_line(&mut port)?;
    Ok((running, format!("127.0.0.1:{}", port.trim())))
}

/// `steward serve` with fresh data, which finds the upstream in its environment.
pub async fn steward(program: &Path, data: &Path, upstream: &Place) -> Result<(Running, Place)> {
    let mut child = Command::new(program)
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", data)
        .env("STEWARD_DATA", data.join("data"))
        .env("STEWARD_CACHE", data.join("cache"))
        .env("OPENAI_API_KEY", &upstream.key)
        .env("OPENAI_BASE_URL", format!("http://{}/v1", upstream.address))
        .env("OPENAI_MODEL", &upstream.model)
        .env("STEWARD_EXAMINE_CONNECTIONS", "false")
        .env("STEWARD_DISK_RESERVE_MB", "16")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Error::new(error.kind(), format!("{} does not start: {error}", program.display())))?;
    let said = child.stderr.take().ok_or_else(|| Error::other("no output"))?;
    let running = Running(child);
    let mut lines = BufReader::new(said).lines();
    let mut heard = String::new();
    let address = loop {
        let Some(line) = lines.next().transpose()? else {
            return Err(Error::other(format!("steward ended: {heard}")));
        };
        if let Some((_, rest)) = line.split_once("http://") {
            let end = rest.find(|c: char| c.is_whitespace() || c == '/');
            break rest[..end.unwrap_or(rest.len())].to_owned();
        }
        heard.push_str(&line);
        heard.push('\n');
    };
    // It must never wait for a reader of its output.
    std::thread::spawn(move || lines.for_each(drop));
    let key = std::fs::read_to_string(data.join("data/api-key"))?;
    let mut place = Place {
        name: "Steward".to_owned(),
        address,
        key: key.trim().to_owned(),
        model: String::new(),
        process: Some(running.0.id()),
        foreign: false,
    };
    place.model = first_connection(&place).await?;
    Ok((running, place))
}

async fn first_connection(place: &Place) -> Result<String> {
    let list = json(place, &place.get("/v1/models")).await?;
    let ids = list["data"].as_array().into_iter().flatten();
    ids.filter_map(|one| one["id"].as_str())
        .find(|id| id.starts_with("connection/"))
        .map(str::to_owned)
        .ok_or_else(|| Error::other(format!("no connection among the models: {list}")))
}

/// The same server by a virtual key with limits and a budget of its own.
pub async fn with_virtual_key(steward: &Place) -> Result<Place> {
    let body = r#"{"name":"bench","requests_per_minute":1000000,"tokens_per_minute":1000000000,"budget":{"period":"month","tokens":1000000000000}}"#;
    let made = json(steward, &steward.post("/api/keys", body)).await?;
    let secret = made["secret"].as_str();
    let key = secret.ok_or_else(|| Error::other(format!("no secret: {made}")))?;
    Ok(Place { name: "Steward, virtual key with budget".to_owned(), key: key.to_owned(), ..steward.clone() })
}

async fn json(place: &Place, request: &[u8]) -> Result<serde_json::Value> {
    let mut wire = Wire::open(&place.address).await?;
    wire.ask(request).await?;
    Ok(serde_json::from_slice(wire.body())?)
}

pub async fn litellm(python: &Path, data: &Path, upstream: &Place) -> Result<(Running, Place)> {
    let config = data.join("litellm.json");
    // JSON is YAML.
    let text = serde_json::json!({
        "model_list": [{
            "model_name": "bench",
            "litellm_params": {
                "model": "openai/bench",
                "api_base": format!("http://{}/v1", upstream.address),
                "api_key": upstream.key,
            },
        }],
        "general_settings": {"master_key": "sk-bench"},
        "litellm_settings": {"telemetry": false, "num_retries": 0},
    });
    std::fs::write(&config, text.to_string())?;
    let port = free_port()?;
    let child = Command::new(python.with_file_name("litellm"))
        .arg("--config")
        .arg(&config)
        .args(["--host", "127.0.0.1", "--port", &port.to_string()])
        .args(["--num_workers", "1"])
        .env("LITELLM_LOG", "ERROR")
        .env("LITELLM_MODE", "PRODUCTION")
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        .current_dir(data)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let running = Running(child);
    let place = Place {
        name: "LiteLLM".to_owned(),
        address: format!("127.0.0.1:{port}"),
        key: "sk-bench".to_owned(),
        model: "bench".to_owned(),
        process: Some(running.0.id()),
        foreign: true,
    };
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_mins(2) {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let Ok(mut wire) = Wire::open(&place.address).await else {
            continue;
        };
        if wire.ask(&place.request(Kind::Whole)).await.is_ok() {
            return Ok((running, place));
        }
    }
    Err(Error::other("LiteLLM did not answer within two minutes"))
}

fn free_port() -> Result<u16> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    Ok(listener.local_addr()?.port())
}
