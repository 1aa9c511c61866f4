//! How many connections may be open at once, in all and from one address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Fewest and most connections at once. Further ones wait in the system's queue.
const CONNECTIONS: std::ops::RangeInclusive<usize> = 64..=8192;

#[derive(Debug)]
pub(crate) struct ConnectionPlaces {
    all: Arc<Semaphore>,
    most_of_one: usize,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// Held as long as a connection is open.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    _permit: OwnedSemaphorePermit,
    address: IpAddr,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl ConnectionPlaces {
    /// One address takes at most half of them, so that it can't shut out everybody else.
    pub fn new(connections: usize) -> Self {
        let all = Arc::new(Semaphore::new(connections));
        Self { all, most_of_one: connections.div_ceil(2), by_address: Arc::default() }
    }

    /// As many as half of the files that this process may open: each may need one more towards a model or a database.
    pub fn of_this_process() -> Self {
        let most = CONNECTIONS.end();
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let half = files.map_or(*most, |files| usize::try_from(files / 2).unwrap_or(usize::MAX));
        Self::new(half.clamp(*CONNECTIONS.start(), *most))
    }

    /// Waits until there is room for one more connection.
    pub async fn room(&self) -> Option<OwnedSemaphorePermit> {
        if self.all.available_permits() == 0 {
            tracing::warn!("as many connections are open as may be; further ones wait");
        }
        Arc::clone(&self.all).acquire_owned().await.ok()
    }

    /// `None`: this address has as many as one may have. A proxy on this machine speaks for many.
    pub fn take(&self, permit: OwnedSemaphorePermit, address: IpAddr) -> Option<ConnectionPlace> {
        let address = network(address);
        let mut open = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_default();
        if *count >= self.most_of_one && !address.is_loopback() {
            return None;
        }
        *count += 1;
        if *count == self.most_of_one && !address.is_loopback() {
            tracing::warn!(%address, connections = *count, "one address has as many connections as one may have; further ones of it are closed");
        }
        Some(ConnectionPlace { _permit: permit, address, by_address: Arc::clone(&self.by_address) })
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut open = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// What one client has for itself: with IPv6 that is a network of 2^64 addresses.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(own) if !own.is_loopback() => IpAddr::V6(Ipv6Addr::from_bits(own.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::ConnectionPlaces;
    use std::net::IpAddr;

    #[tokio::test]
    async fn one_address_does_not_take_all_places() {
        let places = ConnectionPlaces::new(8);
        let take = async |address: &str| places.take(places.room().await.unwrap(), address.parse::<IpAddr>().unwrap());
        let mut greedy = Vec::new();
        for host in 1..=4 {
            greedy.push(take(&format!("2001:db8::{host}")).await.unwrap());
        }
        assert!(take("2001:db8::ffff:5").await.is_none(), "all of one network");
        assert!(take("2001:db8:0:1::1").await.is_some(), "another network");
        let mapped = take("::ffff:192.0.2.7").await.unwrap();
        assert_eq!(mapped.address, "192.0.2.7".parse::<IpAddr>().unwrap());
        drop(mapped);
        greedy.pop();
        assert!(take("2001:db8::9").await.is_some(), "one of them has ended");
        drop(greedy);
        assert!(places.by_address.lock().unwrap().is_empty(), "nothing is kept of who has left");
    }

    #[tokio::test]
    async fn a_proxy_on_this_machine_takes_all() {
        let places = ConnectionPlaces::new(4);
        let mut held = Vec::new();
        for address in ["127.0.0.1", "127.0.0.1", "127.0.0.1", "::1"] {
            held.push(places.take(places.room().await.unwrap(), address.parse().unwrap()).unwrap());
        }
        assert_eq!(places.all.available_permits(), 0);
    }
}
