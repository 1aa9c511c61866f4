//! As much HTTP/1.1 as a scripted server needs. Written by hand, since an HTTP library prevents the very faults that it
//! has to play (resets, halves of chunks).

use std::collections::BTreeMap;
use std::io;
#[cfg(test)]
use std::net::SocketAddr;

#[cfg(test)]
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

const LIMIT: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct Request {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// Reads one request; `None` at the end of the connection. `buffer` keeps bytes that came too early.
pub(super) async fn read_request<R: AsyncRead + Unpin>(
    reader: &mut R,
    buffer: &mut Vec<u8>,
) -> io::Result<Option<Request>> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at;
        }
        if !more(reader, buffer).await? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    buffer.drain(..head_end + 4);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let method = first.next().unwrap_or_default().to_owned();
    let path = first.next().unwrap_or_default().to_owned();
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = match headers.get("content-length") {
        Some(text) => text.parse().map_err(|_| bad("Content-Length is no number"))?,
        None if headers.contains_key("transfer-encoding") => {
            return Err(bad("bodies in chunks are not read"));
        }
        None => 0,
    };
    if length > LIMIT {
        return Err(bad("the body is too large"));
    }
    while buffer.len() < length {
        if !more(reader, buffer).await? {
            return Ok(None);
        }
    }
    let body = buffer.drain(..length).collect();
    Ok(Some(Request { method, path, headers, body }))
}

/// Ends when the client has left; what it sends before that is kept.
pub(super) async fn gone<R: AsyncRead + Unpin>(reader: &mut R, buffer: &mut Vec<u8>) {
    while matches!(more(reader, buffer).await, Ok(true)) {}
}

async fn more<R: AsyncRead + Unpin>(reader: &mut R, buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > LIMIT {
        return Err(bad("the request is too large"));
    }
    Ok(reader.read_buf(buffer).await? > 0)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

pub(super) fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = head(status, headers);
    bytes.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    bytes.extend(body);
    bytes
}

pub(super) fn chunked_head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = head(status, headers);
    bytes.extend(b"transfer-encoding: chunked\r\n\r\n");
    bytes
}

/// The empty one ends the body.
pub(super) fn chunk(data: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", data.len()).into_bytes();
    bytes.extend(data);
    bytes.extend(b"\r\n");
    bytes
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    text.into_bytes()
}

#[cfg(test)]
pub(crate) async fn post_json(to: SocketAddr, path: &str, body: &Value) -> io::Result<(u16, String)> {
    use tokio::io::AsyncWriteExt;
    let mut stream = tokio::net::TcpStream::connect(to).await?;
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    let status_at = 9;
    let until_end = tokio::time::timeout(std::time::Duration::from_mins(5), stream.read_to_end(&mut answer));
    until_end.await.map_err(|_| bad("no end of the answer"))??;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.get(status_at..status_at + 3).and_then(|s| s.parse().ok());
    Ok((status.ok_or_else(|| bad("no status"))?, text))
}
