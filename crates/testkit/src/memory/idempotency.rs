use super::Memory;
use async_trait::async_trait;
use steward_core::ports::{Idempotency, Remembered, StoreResult};
use steward_core::{TenantId, Timestamp};

#[derive(Debug)]
pub(super) struct Kept {
    hash: String,
    at: Timestamp,
    answer: Option<(u16, String)>,
}

#[async_trait]
impl Idempotency for Memory {
    async fn begin(
        &self,
        _: TenantId,
        owner: &str,
        key: &str,
        request_hash: &str,
        at: Timestamp,
        forget: Timestamp,
    ) -> StoreResult<Remembered> {
        let mut tables = self.tables()?;
        tables.keys.retain(|_, kept| kept.at >= forget);
        let id = (owner.to_owned(), key.to_owned());
        let Some(kept) = tables.keys.get(&id) else {
            let kept = Kept { hash: request_hash.to_owned(), at, answer: None };
            tables.keys.insert(id, kept);
            return Ok(Remembered::New);
        };
        Ok(match &kept.answer {
            _ if kept.hash != request_hash => Remembered::Other,
            None => Remembered::Begun,
            Some((status, body)) => Remembered::Done { status: *status, body: body.clone() },
        })
    }

    async fn remember(&self, _: TenantId, owner: &str, key: &str, status: u16, body: &str) -> StoreResult<()> {
        let id = (owner.to_owned(), key.to_owned());
        if let Some(kept) = self.tables()?.keys.get_mut(&id) {
            kept.answer = Some((status, body.to_owned()));
        }
        Ok(())
    }

    async fn forget(&self, _: TenantId, owner: &str, key: &str) -> StoreResult<()> {
        let id = (owner.to_owned(), key.to_owned());
        self.tables()?.keys.remove(&id);
        Ok(())
    }
}
