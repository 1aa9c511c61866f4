//! Commands that wait for a run, and alarms that become commands.

use crate::codec::to_json;
use crate::tx::{Tx, args};
use steward_core::ports::{Command, StoreError, StoreResult};
use steward_core::{RunId, TenantId, TimerId};

/// Queues a command. An alarm that is queued already, or done, is not queued again.
pub(super) async fn push(tx: &mut Tx<'_>, tenant: TenantId, run: RunId, command: &Command) -> StoreResult<()> {
    if enqueue(tx, tenant, run, command).await? { Ok(()) } else { Err(refusal(tx, tenant, run).await?) }
}

/// Queues a command; `false` if there is no such run, or it has ended.
pub(super) async fn enqueue(tx: &mut Tx<'_>, tenant: TenantId, run: RunId, command: &Command) -> StoreResult<bool> {
    // Numbers come from the run's row: never twice, and two writers wait for each other there.
    let sql = "update runs set commands = commands + 1
             where tenant_id = $1 and id = $2 and status <> 'finished' returning commands";
    let number = tx.row(sql, args![tenant, run]).await?;
    let Some(number) = number else {
        return Ok(false);
    };
    let timer = match command {
        Command::Timer { id } => Some(*id),
        _ => None,
    };
    if let Some(timer) = timer
        && is_moot(tx, tenant, run, timer).await?
    {
        return Ok(true);
    }
    let sql = "insert into run_inbox (tenant_id, run_id, id, timer_id, body)
         values ($1, $2, $3, $4, $5)";
    tx.execute(sql, args![tenant, run, number.int(0)?, timer, to_json(command)?]).await?;
    Ok(true)
}

async fn refusal(tx: &mut Tx<'_>, tenant: TenantId, run: RunId) -> StoreResult<StoreError> {
    let known = tx.row("select id from runs where tenant_id = $1 and id = $2", args![tenant, run]).await?;
    Ok(match known {
        Some(_) => StoreError::Conflict(format!("run {run} has ended")),
        None => StoreError::NotFound(format!("run {run}")),
    })
}

async fn is_moot(tx: &mut Tx<'_>, tenant: TenantId, run: RunId, timer: TimerId) -> StoreResult<bool> {
    let sql = "select id from timers
             where tenant_id = $1 and run_id = $2 and id = $3 and done = 1
             union all
             select timer_id from run_inbox
             where tenant_id = $1 and run_id = $2 and timer_id = $3";
    let found = tx.row(sql, args![tenant, run, timer]).await?;
    Ok(found.is_some())
}
