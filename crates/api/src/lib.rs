//! HTTP: the only room with HTTP types.

mod assets;
mod auth;
mod certificate;
mod connection;
mod connection_places;
mod dialect;
mod extract;
mod gateway;
mod guard;
mod headers;
mod health;
mod hook_door;
mod large_input;
mod lingering;
mod main_runtime;
mod mcp;
mod metrics;
mod model_name;
mod nats;
mod openai;
mod openapi;
mod operations;
mod problem;
mod published;
mod received_body;
mod request_id;
mod response;
mod router;
mod routes;
mod scim;
mod serve;
mod tenant_app;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]
mod testing;
mod tls;
mod worker_threads;

pub use certificate::{certificate_check, keep_certificate};
pub use nats::{NATS_SUBJECTS, NatsDoor, NatsMessage};
pub use openapi::document;
pub use router::{InProcessClient, router};
pub use serve::{Listening, serve};
pub use tls::{Tls, TlsStatus};
pub use worker_threads::WorkerThreads;

use guard::without_port;
use std::net::{Ipv6Addr, SocketAddr};
use steward_app::{Tenants, dto};
use steward_core::live::Live;

/// What the router has before it is known who asks. It leads to no application by itself: that of a caller is the one of
/// their tenant, see [`tenant_app::TenantApp`].
#[derive(Clone)]
pub struct ApiState {
    pub tenants: Tenants,
    pub hosts: Live<Hosts>,
}

/// Which `Host` and `Origin` headers are taken, against DNS rebinding.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    /// Whether the listener is on a loopback address: only names of this machine and `names` are taken then.
    pub loopback: bool,
    /// Names without port that were given with `--host`. If there are any, no other is taken.
    pub names: Vec<String>,
    /// Origins whose pages may use `/v1` with a key.
    pub dialect_origins: Vec<String>,
    /// Origins such as `https://studio.example.org` that may write, besides the one of the request's `Host`.
    pub origins: Vec<String>,
}

impl Hosts {
    /// For a listener at `address`. An origin (`https://name`) among the names stands for its name too.
    pub fn of(address: SocketAddr, names: &[String]) -> Self {
        let mut hosts = Self { loopback: address.ip().is_loopback(), ..Self::default() };
        for name in names.iter().map(|name| name.trim().trim_end_matches('/')) {
            if let Some((_, host)) = name.split_once("://") {
                hosts.origins.push(name.to_owned());
                hosts.names.push(without_port(host).to_owned());
            } else if !name.is_empty() {
                let bare = name.parse::<Ipv6Addr>().map(|address| format!("[{address}]"));
                hosts.names.push(bare.unwrap_or_else(|_| without_port(name).to_owned()));
            }
        }
        hosts
    }
}
