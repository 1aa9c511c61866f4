//! The end of a skill. Its versions stay, since runs refer to them.

use super::attach::write;
use super::read::naming;
use super::unknown;
use crate::codec::from_json;
use crate::tx::{Tx, args, locking};
use steward_core::agent::Agent;
use steward_core::ports::StoreResult;
use steward_core::{SkillId, TenantId};

pub(super) async fn remove(tx: &mut Tx<'_>, tenant: TenantId, id: SkillId) -> StoreResult<()> {
    let sql = "delete from skills where tenant_id = $1 and id = $2";
    if tx.execute(sql, args![tenant, id]).await? == 0 {
        return Err(unknown(id));
    }
    // Deleted agents too: one that is restored must not name what is gone.
    let sql = locking!(tx, "select body from agents where tenant_id = $1 and body like $2 order by id", "for update");
    for row in tx.rows(sql, args![tenant, naming(id)]).await? {
        let mut agent: Agent = from_json("an agent", &row.text(0)?)?;
        let before = agent.skills.len();
        agent.skills.retain(|skill| *skill != id);
        if agent.skills.len() < before {
            write(tx, tenant, &agent).await?;
        }
    }
    Ok(())
}
