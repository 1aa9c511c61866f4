//! The endpoint behind the gateway: fixed bytes at once, whole or in chunks; its own process, to count its work apart.

use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// The `user` of requests whose chunks are sent without a pause.
pub const BURST: &str = "back-to-back";
/// Chunks of a streamed answer, besides the end.
pub const CHUNKS: usize = 32;

/// Serves until the process is ended; prints its port.
pub async fn serve(gap: Duration) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // A connection that ends is the other side's decision.
            let _ended = answer_all(stream, gap).await;
        });
    }
}

async fn answer_all(mut stream: TcpStream, gap: Duration) -> io::Result<()> {
    let whole = whole();
    let chunks = chunks();
    let mut buffer = Vec::with_capacity(16 * 1024);
    while let Some(end) = request(&mut stream, &mut buffer).await? {
        let streamed = wants_stream(&buffer[..end]);
        let burst = find(&buffer[..end], BURST.as_bytes()).is_some();
        buffer.drain(..end);
        if !streamed {
            stream.write_all(&whole).await?;
            continue;
        }
        for (index, chunk) in chunks.iter().enumerate() {
            if !burst && index > 1 && index <= CHUNKS {
                tokio::time::sleep(gap).await;
            }
            stream.write_all(chunk).await?;
        }
    }
    Ok(())
}

/// Reads until `buffer` begins with a whole request; its length, or `None` at the end of the connection.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
    loop {
        if let Some(end) = request_end(buffer) {
            return Ok(Some(end));
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}

fn request_end(buffer: &[u8]) -> Option<usize> {
    let head = find(buffer, b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&buffer[..head]).to_ascii_lowercase();
    if text.contains("transfer-encoding: chunked") {
        let end = find(&buffer[head..], b"\r\n0\r\n\r\n")?;
        return Some(head + end + 7);
    }
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(0);
    (buffer.len() >= head + length).then_some(head + length)
}

/// Gateways may reformat the body, so blanks are ignored.
fn wants_stream(request: &[u8]) -> bool {
    let Some(at) = find(request, b"\"stream\"") else {
        return false;
    };
    let mut rest = request[at + 8..].iter().filter(|byte| !byte.is_ascii_whitespace());
    rest.next() == Some(&b':') && rest.next() == Some(&b't')
}

pub fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn whole() -> Vec<u8> {
    let words = "The quick brown fox jumps over the lazy dog. ".repeat(8);
    let body = format!(
        r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"bench","choices":[{{"index":0,"message":{{"role":"assistant","content":"{words}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":20,"completion_tokens":80,"total_tokens":100}}}}"#
    );
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

fn chunks() -> Vec<Vec<u8>> {
    let mut all =
        vec![b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec()];
    for index in 0..CHUNKS {
        let last = index + 1 == CHUNKS;
        let finish = if last { "\"stop\"" } else { "null" };
        let event = format!(
            r#"data: {{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{{"index":0,"delta":{{"content":"word {index} "}},"finish_reason":{finish}}}]}}"#
        );
        all.push(chunk(&format!("{event}\n\n")));
    }
    all.push([chunk("data: [DONE]\n\n"), b"0\r\n\r\n".to_vec()].concat());
    all
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

/// Copies bytes between a client and the upstream without looking at them, until the process is ended; prints its port.
pub async fn relay(upstream: &str) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (mut client, _) = listener.accept().await?;
        client.set_nodelay(true)?;
        let mut server = TcpStream::connect(upstream).await?;
        server.set_nodelay(true)?;
        tokio::spawn(async move {
            // A connection that ends is the other side's decision.
            let _ended = copy_bidirectional(&mut client, &mut server).await;
        });
    }
}
