use super::Memory;
use async_trait::async_trait;
use steward_core::ports::{LoginSession, LoginSessions, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};
use uuid::Uuid;

#[async_trait]
impl LoginSessions for Memory {
    async fn create_session(&self, _: TenantId, session: &LoginSession) -> StoreResult<()> {
        self.tables()?.sessions.push(session.clone());
        Ok(())
    }

    async fn session_by_token(&self, _: TenantId, hash: &str) -> StoreResult<Option<LoginSession>> {
        let tables = self.tables()?;
        let of = |one: &&LoginSession| one.token_hash == hash || one.previous_hash.as_deref() == Some(hash);
        Ok(tables.sessions.iter().find(of).cloned())
    }

    async fn rotate_session(
        &self,
        _: TenantId,
        id: Uuid,
        old: &str,
        new: &str,
        at: Timestamp,
        expires_at: Timestamp,
    ) -> StoreResult<bool> {
        let mut tables = self.tables()?;
        let found = tables.sessions.iter_mut().find(|one| one.id == id && one.token_hash == old);
        let Some(session) = found else {
            return Ok(false);
        };
        session.previous_hash = Some(std::mem::replace(&mut session.token_hash, new.to_owned()));
        session.rotated_at = at;
        session.expires_at = expires_at;
        Ok(true)
    }

    async fn end_session(&self, _: TenantId, id: Uuid) -> StoreResult<()> {
        self.tables()?.sessions.retain(|one| one.id != id);
        Ok(())
    }

    async fn end_sessions(&self, _: TenantId, user: UserId, keep: Option<Uuid>) -> StoreResult<u64> {
        let mut tables = self.tables()?;
        let before = tables.sessions.len();
        tables.sessions.retain(|one| one.user != user || Some(one.id) == keep);
        Ok((before - tables.sessions.len()) as u64)
    }

    async fn sessions(&self, _: TenantId, user: UserId, now: Timestamp) -> StoreResult<Vec<LoginSession>> {
        let tables = self.tables()?;
        let mut all: Vec<LoginSession> =
            tables.sessions.iter().filter(|one| one.user == user && one.expires_at > now).cloned().collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.id));
        Ok(all)
    }
}
