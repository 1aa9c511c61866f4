use crate::store::Store;
use crate::tx::{Tx, args, locking};
use async_trait::async_trait;
use steward_core::ports::{ExternalAccount, ExternalAccounts, SecondFactor, SecondFactors, StoreError, StoreResult};
use steward_core::{TenantId, Timestamp, UserId};

#[async_trait]
impl ExternalAccounts for Store {
    async fn external_user(&self, tenant: TenantId, issuer: &str, subject: &str) -> StoreResult<Option<UserId>> {
        let sql = "select user_id from external_accounts where tenant_id = $1 and issuer = $2 and subject = $3";
        self.first(sql, args![tenant, issuer, subject], |row| row.id(0).map(UserId)).await
    }

    async fn link_external(&self, tenant: TenantId, account: &ExternalAccount) -> StoreResult<()> {
        let sql = "insert into external_accounts (tenant_id, issuer, subject, user_id, linked_at)
             values ($1, $2, $3, $4, $5)";
        self.write_unique(
            sql,
            args![tenant, &account.issuer, &account.subject, account.user, account.linked_at],
            || format!("the account {} is linked already", account.subject),
        )
        .await
    }
}

#[async_trait]
impl SecondFactors for Store {
    async fn second_factor(&self, tenant: TenantId, user: UserId) -> StoreResult<Option<SecondFactor>> {
        let sql = "select sealed, confirmed_at, last_step from second_factors where tenant_id = $1 and user_id = $2";
        let Some(row) = self.row(sql, args![tenant, user]).await? else {
            return Ok(None);
        };
        Ok(Some(SecondFactor {
            sealed: row.text(0)?,
            confirmed_at: row.opt_int(1)?.map(Timestamp),
            last_step: row.int(2)?,
        }))
    }

    async fn begin_second_factor(&self, tenant: TenantId, user: UserId, sealed: &str) -> StoreResult<()> {
        let sql = "insert into second_factors (tenant_id, user_id, sealed, confirmed_at, last_step)
             values ($1, $2, $3, null, 0)
             on conflict (tenant_id, user_id) do update set sealed = excluded.sealed, last_step = 0
                where second_factors.confirmed_at is null";
        if self.execute(sql, args![tenant, user, sealed]).await? == 0 {
            return Err(StoreError::Conflict("the user has a second factor already".to_owned()));
        }
        Ok(())
    }

    async fn confirm_second_factor(
        &self,
        tenant: TenantId,
        user: UserId,
        step: i64,
        recovery: &[String],
        now: Timestamp,
    ) -> StoreResult<bool> {
        let args = (tenant, user, step, recovery.to_vec(), now);
        self.write(args, |(tenant, user, step, recovery, now), tx| {
            Box::pin(confirm(tx, *tenant, *user, *step, recovery, *now))
        })
        .await
    }

    async fn use_step(&self, tenant: TenantId, user: UserId, step: i64) -> StoreResult<bool> {
        let sql = "update second_factors set last_step = $3
             where tenant_id = $1 and user_id = $2 and confirmed_at is not null and last_step < $3";
        Ok(self.execute(sql, args![tenant, user, step]).await? > 0)
    }

    async fn set_recovery_codes(&self, tenant: TenantId, user: UserId, hashes: &[String]) -> StoreResult<()> {
        self.write((tenant, user, hashes.to_vec()), |(tenant, user, hashes), tx| {
            Box::pin(replace_codes(tx, *tenant, *user, hashes))
        })
        .await
    }

    async fn use_recovery_code(&self, tenant: TenantId, user: UserId, hash: &str) -> StoreResult<bool> {
        let sql = "delete from recovery_codes where tenant_id = $1 and user_id = $2 and code_hash = $3";
        Ok(self.execute(sql, args![tenant, user, hash]).await? > 0)
    }

    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> StoreResult<u64> {
        let sql = "select count(*) from recovery_codes where tenant_id = $1 and user_id = $2";
        self.count(sql, args![tenant, user]).await
    }

    async fn remove_second_factor(&self, tenant: TenantId, user: UserId) -> StoreResult<bool> {
        self.write((tenant, user), |(tenant, user), tx| Box::pin(remove(tx, *tenant, *user))).await
    }
}

async fn confirm(
    tx: &mut Tx<'_>,
    tenant: TenantId,
    user: UserId,
    step: i64,
    recovery: &[String],
    now: Timestamp,
) -> StoreResult<bool> {
    let sql = locking!(
        tx,
        "select user_id from second_factors
         where tenant_id = $1 and user_id = $2 and confirmed_at is null and last_step < $3",
        "for update"
    );
    if tx.row(sql, args![tenant, user, step]).await?.is_none() {
        return Ok(false);
    }
    let sql = "update second_factors set confirmed_at = $3, last_step = $4 where tenant_id = $1 and user_id = $2";
    tx.execute(sql, args![tenant, user, now, step]).await?;
    replace_codes(tx, tenant, user, recovery).await?;
    Ok(true)
}

async fn replace_codes(tx: &mut Tx<'_>, tenant: TenantId, user: UserId, hashes: &[String]) -> StoreResult<()> {
    tx.execute("delete from recovery_codes where tenant_id = $1 and user_id = $2", args![tenant, user]).await?;
    for hash in hashes {
        let sql = "insert into recovery_codes (tenant_id, user_id, code_hash) values ($1, $2, $3)";
        tx.execute(sql, args![tenant, user, hash]).await?;
    }
    Ok(())
}

async fn remove(tx: &mut Tx<'_>, tenant: TenantId, user: UserId) -> StoreResult<bool> {
    tx.execute("delete from recovery_codes where tenant_id = $1 and user_id = $2", args![tenant, user]).await?;
    let sql = "delete from second_factors where tenant_id = $1 and user_id = $2";
    Ok(tx.execute(sql, args![tenant, user]).await? > 0)
}
