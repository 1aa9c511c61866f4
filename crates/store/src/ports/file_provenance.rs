//! Where the files of workspaces come from.

use crate::codec::{from_json, to_json};
use crate::store::Store;
use crate::tx::{Row, Tx, args};
use steward_core::ports::{FileProvenanceEntry, StoreResult};
use steward_core::provenance::Provenance;
use steward_core::run::{FileProvenance, MAX_FILE_ENTRIES, collapse_to_folders};
use steward_core::{TenantId, Timestamp};

const OF_WORKSPACE: &str =
    "select path, origins, level, at from file_provenance where tenant_id = $1 and workspace = $2 order by path";

fn entry(row: &Row) -> StoreResult<FileProvenanceEntry> {
    let level = row.opt_text(2)?.map(|text| from_json("the level of a file", &text)).transpose()?;
    let provenance = Provenance { origins: from_json("the origins of a file", &row.text(1)?)?, level };
    Ok(FileProvenanceEntry { file: FileProvenance { path: row.text(0)?, provenance }, at: row.time(3)? })
}

/// Adds to what is recorded of a file. A workspace with too many entries gets some of its folders as one.
pub(super) async fn join(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    workspace: &str,
    file: &FileProvenance,
    at: Timestamp,
) -> StoreResult<()> {
    let sql = "select path, origins, level, at from file_provenance
         where tenant_id = $1 and workspace = $2 and path = $3";
    let known = tx.row(sql, args![tenant, workspace, &file.path]).await?.map(|row| entry(&row)).transpose()?;
    let is_new = known.is_none();
    let mut joined = known.map_or_else(|| file.clone(), |known| known.file);
    joined.provenance.join(&file.provenance);
    put(tx, tenant, workspace, &joined, at).await?;
    let sql = "select count(*) from file_provenance where tenant_id = $1 and workspace = $2";
    let most = u64::try_from(MAX_FILE_ENTRIES).unwrap_or(u64::MAX);
    if !is_new || tx.count(sql, args![tenant, workspace]).await? <= most {
        return Ok(());
    }
    let mut all = Vec::new();
    for row in tx.rows(OF_WORKSPACE, args![tenant, workspace]).await? {
        all.push(entry(&row)?.file);
    }
    // Half the room, so that the next files don't do this again.
    let fewer = collapse_to_folders(all, MAX_FILE_ENTRIES / 2);
    tx.run("delete from file_provenance where tenant_id = $1 and workspace = $2", args![tenant, workspace]).await?;
    for file in &fewer {
        put(tx, tenant, workspace, file, at).await?;
    }
    Ok(())
}

async fn put(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    workspace: &str,
    file: &FileProvenance,
    at: Timestamp,
) -> StoreResult<()> {
    let level = file.provenance.level.as_ref().map(to_json).transpose()?;
    let sql = "insert into file_provenance (tenant_id, workspace, path, origins, level, at)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (tenant_id, workspace, path) do update
         set origins = excluded.origins, level = coalesce(excluded.level, file_provenance.level), at = excluded.at";
    tx.run(sql, args![tenant, workspace, &file.path, to_json(&file.provenance.origins)?, level, at]).await
}

impl Store {
    /// What is recorded of the files of a workspace, by path.
    pub async fn file_provenance_entries(
        &self,
        tenant: TenantId,
        workspace: &str,
    ) -> StoreResult<Vec<FileProvenanceEntry>> {
        self.all(OF_WORKSPACE, args![tenant, workspace], entry).await
    }

    /// Removes what is recorded of a file or folder; whether anything was.
    pub async fn clear_file_provenance(&self, tenant: TenantId, workspace: &str, path: &str) -> StoreResult<bool> {
        let sql = "delete from file_provenance where tenant_id = $1 and workspace = $2 and path = $3";
        let removed = self.execute(sql, args![tenant, workspace, path]).await?;
        Ok(removed > 0)
    }
}
