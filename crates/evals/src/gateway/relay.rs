//! Copies bytes between a client and the upstream without looking at them, on one thread.

use std::io;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

/// Serves until the process is ended; prints its port.
pub async fn serve(upstream: &str) -> io::Result<()> {
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
