use crate::store::Store;
use crate::tx::{Row, args};
use steward_core::ports::{DialectAnswer, StoreResult};
use steward_core::{ConnectionId, KeyId, RunId, TenantId, Timestamp, UserId};

impl Store {
    /// Notes an answer of `/v1`; those of before `forget` are forgotten.
    pub async fn note_response(&self, tenant: TenantId, answer: &DialectAnswer, forget: Timestamp) -> StoreResult<()> {
        self.run("delete from responses where tenant_id = $1 and at < $2", args![tenant, forget]).await?;
        let sql = "insert into responses
                 (tenant_id, id, user_id, key_id, run_id, connection_id, request, request_hash, stored, at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (tenant_id, id) do nothing";
        let request = answer.request.to_string();
        let args = args![
            tenant,
            &answer.id,
            answer.user,
            answer.key,
            answer.run,
            answer.connection,
            request,
            &answer.request_hash,
            answer.stored,
            answer.at
        ];
        self.run(sql, args).await
    }

    pub async fn response(&self, tenant: TenantId, id: &str) -> StoreResult<Option<DialectAnswer>> {
        let sql = "select id, user_id, key_id, run_id, connection_id, request, request_hash, stored, at
             from responses where tenant_id = $1 and id = $2";
        self.first(sql, args![tenant, id], answer).await
    }

    /// The run that this user began last with such a request, with this key or without one, since then.
    pub async fn run_of_request(
        &self,
        tenant: TenantId,
        (user, key): (UserId, Option<KeyId>),
        request_hash: &str,
        since: Timestamp,
    ) -> StoreResult<Option<RunId>> {
        let sql = "select run_id from responses
             where tenant_id = $1 and user_id = $2 and request_hash = $3 and at >= $4 and run_id is not null
               and (key_id = $5 or (key_id is null and $5 is null))
             order by at desc, id desc limit 1";
        let read = |row: &Row| Ok(RunId(row.id(0)?));
        self.first(sql, args![tenant, user, request_hash, since, key], read).await
    }

    /// Runs that are not to be kept and have ended; those that were stopped or failed may go on, unless that was before `stopped_before`.
    pub async fn runs_not_stored(
        &self,
        tenant: TenantId,
        ended_before: Timestamp,
        stopped_before: Timestamp,
    ) -> StoreResult<Vec<RunId>> {
        let sql = "select r.id from responses a join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
             where a.tenant_id = $1 and a.stored = 0 and r.status = 'finished' and r.owner is null
               and r.updated_at < $2 and (r.ended_as not in ('stopped', 'failed') or r.updated_at < $3)
             order by r.id limit 100";
        self.all(sql, args![tenant, ended_before, stopped_before], |row: &Row| Ok(RunId(row.id(0)?))).await
    }

    pub async fn forget_response(&self, tenant: TenantId, id: &str) -> StoreResult<()> {
        self.run("delete from responses where tenant_id = $1 and id = $2", args![tenant, id]).await
    }
}

fn answer(row: &Row) -> StoreResult<DialectAnswer> {
    Ok(DialectAnswer {
        id: row.text(0)?,
        user: UserId(row.id(1)?),
        key: row.opt_id(2)?.map(KeyId),
        run: row.opt_id(3)?.map(RunId),
        connection: row.opt_id(4)?.map(ConnectionId),
        request: serde_json::from_str(&row.text(5)?).unwrap_or_default(),
        request_hash: row.text(6)?,
        stored: row.int(7)? != 0,
        at: row.time(8)?,
    })
}
