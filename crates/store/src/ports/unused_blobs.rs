//! Large bodies that rows have had. They are noted in the transaction that takes them from a row, and deleted later, many at
//! a time, where no other row has them: a crash leaves none behind.

use crate::error;
use crate::store::Store;
use crate::tx::{Tx, args};
use std::collections::BTreeSet;
use steward_core::TenantId;
use steward_core::ports::StoreResult;
use uuid::Uuid;

/// Blobs that are deleted at a time.
const AT_ONCE: u32 = 50;
/// Rows that are read at a time.
const PAGE: u32 = 500;
/// Length of a hash.
const HASH: usize = 64;

/// Where bodies name blobs, such as files before a change; these are read in pages.
const LONG: [&str; 2] = [
    "select run_id, seq, coalesce(blob_names, body) from events
     where tenant_id = $1 and (run_id, seq) > ($2, $3) and regexp_like(coalesce(blob_names, body), '[0-9a-f]{64}')
     order by run_id, seq limit $4",
    "select conversation_id, seq, body from messages
     where tenant_id = $1 and (conversation_id, seq) > ($2, $3) and regexp_like(body, '[0-9a-f]{64}')
     order by conversation_id, seq limit $4",
];

const SHORT: [&str; 2] = [
    "select body from skill_packages where tenant_id = $1 and regexp_like(body, '[0-9a-f]{64}')",
    "select body from skill_versions where tenant_id = $1 and regexp_like(body, '[0-9a-f]{64}')",
];

/// Notes blobs that a row has no more.
pub(super) async fn note_unused(tx: &mut Tx<'_>, tenant: TenantId, hashes: &BTreeSet<String>) -> StoreResult<()> {
    let sql = "insert into unused_blobs (tenant_id, hash) values ($1, $2) on conflict do nothing";
    for hash in hashes {
        tx.run(sql, args![tenant, hash]).await?;
    }
    Ok(())
}

impl Store {
    /// Deletes the noted blobs that no row has, unless a backup needs them still. What is interrupted goes on with the next
    /// call.
    pub async fn remove_unused_blobs(&self, tenant: TenantId) -> StoreResult<()> {
        loop {
            if self.removals_are_paused() {
                return Ok(());
            }
            let sql = "select hash from unused_blobs where tenant_id = $1 order by hash limit $2";
            let noted = self.all(sql, args![tenant, AT_ONCE], |row| row.text(0)).await?;
            if noted.is_empty() {
                return Ok(());
            }
            let noted: BTreeSet<String> = noted.into_iter().collect();
            self.remove_blobs(tenant, &noted).await?;
            self.write((tenant, noted), |(tenant, noted), tx| Box::pin(forget(tx, *tenant, noted))).await?;
        }
    }

    async fn remove_blobs(&self, tenant: TenantId, hashes: &BTreeSet<String>) -> StoreResult<()> {
        let mut there = BTreeSet::new();
        for hash in hashes {
            // Many a hash in a text is of something else.
            if self.has_blob(tenant, hash).await? {
                there.insert(hash.clone());
            }
        }
        let named = self.named_blobs(tenant, &there).await?;
        let unnamed: BTreeSet<String> = there.difference(&named).cloned().collect();
        let blobs = self.blobs_of(tenant);
        for hash in &unnamed {
            blobs.set_aside(hash).await.map_err(|error| error::blob(&error))?;
        }
        // A run may have written the same meanwhile, and found it there. One that commits after this look sees that it is gone.
        let named = self.named_blobs(tenant, &unnamed).await;
        for hash in &unnamed {
            let gone = named.as_ref().is_ok_and(|named| !named.contains(hash));
            let done = if gone { blobs.remove_aside(hash).await } else { blobs.put_back(hash).await };
            done.map_err(|error| error::blob(&error))?;
        }
        named.map(drop)
    }

    /// Those of `hashes` that a row of the tenant has.
    async fn named_blobs(&self, tenant: TenantId, hashes: &BTreeSet<String>) -> StoreResult<BTreeSet<String>> {
        let mut named = BTreeSet::new();
        if hashes.is_empty() {
            return Ok(named);
        }
        for hash in hashes {
            let sql = "select 1 from events where tenant_id = $1 and blob = $2 limit 1";
            if self.row(sql, args![tenant, hash]).await?.is_some() {
                named.insert(hash.clone());
            }
        }
        for sql in LONG {
            let (mut id, mut number) = (Uuid::nil(), i64::MIN);
            loop {
                let rows = self.rows(sql, args![tenant, id, number, PAGE]).await?;
                let Some(last) = rows.last() else { break };
                (id, number) = (last.id(0)?, last.int(1)?);
                for row in &rows {
                    named.extend(named_in(&row.text(2)?, hashes));
                }
            }
        }
        for sql in SHORT {
            for row in self.rows(sql, args![tenant]).await? {
                named.extend(named_in(&row.text(0)?, hashes));
            }
        }
        Ok(named)
    }
}

async fn forget(tx: &mut Tx<'_>, tenant: TenantId, hashes: &BTreeSet<String>) -> StoreResult<()> {
    for hash in hashes {
        tx.run("delete from unused_blobs where tenant_id = $1 and hash = $2", args![tenant, hash]).await?;
    }
    Ok(())
}

/// Those of `hashes` that stand anywhere in a text.
fn named_in(text: &str, hashes: &BTreeSet<String>) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for digits in text.split(|c: char| !matches!(c, '0'..='9' | 'a'..='f')) {
        let starts = 0..(digits.len() + 1).saturating_sub(HASH);
        let words = starts.filter_map(|at| digits.get(at..at + HASH));
        named.extend(words.filter(|word| hashes.contains(*word)).map(str::to_owned));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::named_in;
    use std::collections::BTreeSet;

    #[test]
    fn hashes_are_found_wherever_they_stand() {
        let (one, other) = ("a1".repeat(32), "0f".repeat(32));
        let both = BTreeSet::from([one.clone(), other.clone()]);
        let found = |text: &str| named_in(text, &both).into_iter().collect::<Vec<_>>();
        assert_eq!(found(&format!("{{\"before\":\"{one}\"}}")), std::slice::from_ref(&one));
        assert_eq!(found(&format!("%2f{other} x{one}")), [other.clone(), one.clone()]);
        assert!(found(&one[1..]).is_empty() && found("").is_empty());
    }
}
