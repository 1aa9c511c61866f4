use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// What the child says of itself.
#[derive(Debug, PartialEq)]
pub(super) enum Health {
    /// Not listening yet, or not understood.
    Silent,
    Loading(f32),
    Ready,
}

/// One question, one connection; written by hand since it is all the HTTP that is needed here.
pub(super) async fn ask(socket: &Path, token: &SecretString) -> Health {
    match tokio::time::timeout(Duration::from_secs(2), exchange(socket, token)).await {
        Ok(Ok(text)) => read(&text),
        _ => Health::Silent,
    }
}

async fn exchange(socket: &Path, token: &SecretString) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    let request = format!(
        "GET /health HTTP/1.1\r\nhost: local\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        token.expose_secret()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(16 << 10).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn read(answer: &str) -> Health {
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    match status {
        "200" => Health::Ready,
        "503" => {
            let value: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
            let share = value["progress"].as_f64().unwrap_or(0.0) as f32;
            Health::Loading(share)
        }
        _ => Health::Silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        assert_eq!(read("HTTP/1.1 200 OK\r\n\r\n{}"), Health::Ready);
        assert_eq!(read("HTTP/1.1 503 x\r\na: b\r\n\r\n{\"progress\":0.5}"), Health::Loading(0.5));
        assert_eq!(read("HTTP/1.1 401 x\r\n\r\n"), Health::Silent);
        assert_eq!(read(""), Health::Silent);
    }
}
