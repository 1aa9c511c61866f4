use super::connection::Connection;
use super::error::McpError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use steward_core::locks::lock;
use steward_core::{CredentialId, McpServerId, TenantId, UserId};

/// Most connections at a time; the one that is idle longest is closed for a new one.
const MAX_CONNECTIONS: usize = 64;

/// Never shared between users who have a token each, nor between states of configuration or credential.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PoolKey {
    pub tenant: TenantId,
    pub server: McpServerId,
    pub user: Option<UserId>,
    pub credential: Option<CredentialId>,
    /// Hash of configuration and credential.
    pub stamp: String,
}

impl PoolKey {
    fn replaces(&self, other: &Self) -> bool {
        let same = |key: &Self| (key.tenant, key.server, key.user, key.credential);
        same(self) == same(other) && self.stamp != other.stamp
    }
}

type Slot = Arc<tokio::sync::Mutex<Option<Arc<Connection>>>>;

#[derive(Default)]
pub(super) struct Pool {
    slots: Mutex<HashMap<PoolKey, Slot>>,
}

impl Pool {
    /// The connection for `key`, opened if there is none or it is closed. Callers waiting for the same one share it.
    pub async fn get(
        self: &Arc<Self>,
        key: PoolKey,
        idle: Duration,
        open: impl Future<Output = Result<Connection, McpError>>,
    ) -> Result<Arc<Connection>, McpError> {
        let slot = {
            let mut slots = lock(&self.slots);
            slots.retain(|other, _| !key.replaces(other));
            Arc::clone(slots.entry(key.clone()).or_default())
        };
        let mut held = slot.lock().await;
        if let Some(connection) = held.as_ref().filter(|one| !one.closed()) {
            return Ok(Arc::clone(connection));
        }
        *held = None;
        self.evict_idle(&key);
        let connection = Arc::new(open.await?);
        *held = Some(Arc::clone(&connection));
        drop(held);
        tokio::spawn(close_when_idle(Arc::downgrade(self), key, Arc::downgrade(&connection), idle));
        Ok(connection)
    }

    pub fn remove(&self, key: &PoolKey, connection: &Arc<Connection>) {
        let mut slots = lock(&self.slots);
        let is_this = |held: Option<&Arc<Connection>>| held.is_some_and(|one| Arc::ptr_eq(one, connection));
        if slots.get(key).is_some_and(|slot| slot.try_lock().is_ok_and(|held| is_this(held.as_ref()))) {
            slots.remove(key);
        }
    }

    /// Removes all connections of a server; calls in flight end by themselves.
    pub fn close(&self, tenant: TenantId, server: McpServerId) {
        lock(&self.slots).retain(|key, _| (key.tenant, key.server) != (tenant, server));
    }

    /// Removes all connections that are one user's alone.
    pub fn close_user(&self, tenant: TenantId, user: UserId) {
        lock(&self.slots).retain(|key, _| (key.tenant, key.user) != (tenant, Some(user)));
    }

    fn evict_idle(&self, but: &PoolKey) {
        let mut slots = lock(&self.slots);
        while slots.len() > MAX_CONNECTIONS {
            let idle = slots
                .iter()
                .filter(|(key, _)| *key != but)
                .filter_map(|(key, slot)| {
                    let held = slot.try_lock().ok()?;
                    Some((held.as_ref().map_or(Duration::MAX, |one| one.idle()), key.clone()))
                })
                .filter(|(idle, _)| !idle.is_zero())
                .max_by_key(|(idle, _)| *idle);
            let Some((_, key)) = idle else { return };
            slots.remove(&key);
        }
    }

    pub fn len(&self) -> usize {
        lock(&self.slots).len()
    }
}

async fn close_when_idle(pool: Weak<Pool>, key: PoolKey, connection: Weak<Connection>, idle: Duration) {
    loop {
        tokio::time::sleep(idle / 4).await;
        let (Some(pool), Some(connection)) = (pool.upgrade(), connection.upgrade()) else {
            return;
        };
        if connection.closed() || connection.idle() >= idle {
            pool.remove(&key, &connection);
            return;
        }
    }
}
