//! Reading a stream to its end while keeping only its beginning.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::spec::Output;

pub(crate) async fn capture(mut from: impl AsyncRead + Unpin, keep: usize) -> Output {
    let mut output = Output::default();
    let mut buffer = vec![0u8; 16 << 10];
    // A read error means that the other side is gone, which is the end as well.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        output.total += read as u64;
        let room = keep.saturating_sub(output.bytes.len()).min(read);
        output.bytes.extend_from_slice(&buffer[..room]);
    }
    output
}
