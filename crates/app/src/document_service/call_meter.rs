//! Calls of models for documents: set aside before, settled after, on the account of the connection and of the person for whom
//! they are made.

use crate::gateway::{Settlement, UsageWriter};
use std::sync::Arc;
use std::time::Duration;
use steward_core::model::{Connection, Price, Usage};
use steward_core::ports::{Clock, Gateway, Ids, ReserveError, Spender, SpentRecord};
use steward_core::{ConnectionId, ReservationId, TenantId, UserId};

/// Reservations of calls whose end was lost end by themselves.
const MARGIN: Duration = Duration::from_mins(1);

#[derive(Clone)]
pub struct CallMeter {
    pub tenant: TenantId,
    pub gateway: Arc<dyn Gateway>,
    pub usage: Arc<UsageWriter>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
}

impl CallMeter {
    /// Sets aside what a call may take. `others`: connections that may answer in the place of the first; those without room
    /// are in the answer. `user`: whose budget it is on, `None`: the program's own work.
    pub(super) async fn reserve(
        &self,
        connection: &Connection,
        others: &[ConnectionId],
        user: Option<UserId>,
        most: Usage,
        limit: Duration,
    ) -> Result<(MeteredCall, Vec<ConnectionId>), ReserveError> {
        let price = self.gateway.price(connection);
        let cost = price.map_or(0, |price| price.cost(&most));
        let spender = Spender { user, agent: None, connection: Some(connection.id), key: None };
        let (now, id) = (self.clock.now(), ReservationId(self.ids.next()));
        let tokens = most.prompt_tokens.saturating_add(most.completion_tokens);
        let until = now.plus(limit + MARGIN);
        let limits = self.usage.limits();
        let aside = limits.reserve(self.tenant, id, spender, others, tokens, cost, now, until).await?;
        self.usage.opened();
        let record = SpentRecord {
            spender,
            model: connection.model.clone(),
            at: now,
            // What comes back is counted once it is there.
            usage: Usage { prompt_tokens: most.prompt_tokens, ..Usage::default() },
            priced: price.is_some(),
            failed: true,
        };
        let reservation = aside.held.then_some(id);
        let (tenant, usage) = (self.tenant, Arc::clone(&self.usage));
        Ok((MeteredCall { tenant, usage, price, reservation, record: Some(record) }, aside.full))
    }
}

/// A call that is at work; dropped unsettled, it counts as failed.
pub(crate) struct MeteredCall {
    tenant: TenantId,
    usage: Arc<UsageWriter>,
    price: Option<Price>,
    reservation: Option<ReservationId>,
    record: Option<SpentRecord>,
}

impl MeteredCall {
    /// Another connection than the first has answered.
    pub fn answered_by(&mut self, connection: &Connection, price: Option<Price>) {
        self.price = price;
        if let Some(record) = &mut self.record {
            record.spender.connection = Some(connection.id);
            record.model.clone_from(&connection.model);
            record.priced = price.is_some();
        }
    }

    /// `usage`: what its server says; `None`: it says nothing, so the length of what was sent counts.
    pub fn settle(&mut self, usage: Option<Usage>, failed: bool) {
        if let Some(record) = self.record.take() {
            let usage = usage.unwrap_or(record.usage);
            let usage = Usage { cost_micros: self.price.map_or(0, |price| price.cost(&usage)), ..usage };
            let record = SpentRecord { usage, failed, ..record };
            self.usage.settle(Settlement { tenant: self.tenant, reservation: self.reservation, record });
        }
    }
}

impl Drop for MeteredCall {
    fn drop(&mut self) {
        self.settle(None, true);
    }
}
