//! From names to addresses.

use async_trait::async_trait;
use std::io;
use std::net::SocketAddr;

/// Finds the addresses of a host. Asked once for each hop; what it says is checked and connected to.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, each with `port`.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((host, port)).await?.collect())
    }
}
