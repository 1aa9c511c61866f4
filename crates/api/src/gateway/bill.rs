//! What a call may take is set aside before it, what it took is settled after it, whatever becomes of it.

use super::errors::not_reserved;
use super::inbound::Inbound;
use super::ledger::{Ledger, Settlement};
use crate::openai::OpenAiError;
use crate::state::ApiState;
use std::sync::Arc;
use std::time::Duration;
use steward_core::model::{Connection, Usage};
use steward_core::ports::{Clock, Passage, Principal, Spender, SpentRecord};
use steward_core::{ReservationId, TenantId};

/// Bytes of a request for each token that is set aside: less than it mostly is.
const BYTES_A_TOKEN: u64 = 3;
/// Tokens set aside for an answer without a limit of its own.
const ANSWER: u64 = 1024;
/// Reservations of calls whose end was lost end by themselves.
const MARGIN: Duration = Duration::from_mins(1);

/// A call that is made on somebody's account. Dropped unsettled, as when the client goes away before there is an
/// answer, it counts as failed with its prompt spent.
pub(super) struct Bill {
    ledger: Arc<Ledger>,
    clock: Arc<dyn Clock>,
    tenant: TenantId,
    /// `None`: nothing was set aside.
    reservation: Option<ReservationId>,
    spender: Spender,
    model: String,
    /// Tokens of the prompt, by its length.
    pub prompt: u64,
    settled: bool,
}

impl Bill {
    /// Sets aside what the call may take, under all budgets of the caller and of the connections that it may come to.
    /// Of these, those whose budget has no room for it are taken out.
    pub async fn open(
        state: &ApiState,
        principal: &Principal,
        targets: &mut Vec<Connection>,
        passage: Passage,
        inbound: &Inbound,
        deadline: Duration,
    ) -> Result<Self, OpenAiError> {
        let deps = state.runs.deps();
        let length = u64::try_from(inbound.body.len()).unwrap_or(u64::MAX);
        let answer = match passage {
            Passage::Embeddings => 0,
            _ => inbound.asked.max_tokens.unwrap_or(ANSWER),
        };
        let most =
            Usage { prompt_tokens: length.div_ceil(BYTES_A_TOKEN), completion_tokens: answer, ..Usage::default() };
        let prices = targets.iter().filter_map(|one| state.gateway.price(one));
        let cost = prices.map(|price| price.cost(&most)).max().unwrap_or(0);
        let others: Vec<_> = targets.iter().skip(1).map(|one| one.id).collect();
        let spender = Spender {
            user: Some(principal.user),
            agent: None,
            connection: targets.first().map(|one| one.id),
            key: principal.key.as_ref().map(|key| key.id),
        };
        let (now, reservation) = (deps.clock.now(), ReservationId(deps.ids.next()));
        let tokens = most.prompt_tokens.saturating_add(most.completion_tokens);
        let until = now.plus(deadline + MARGIN);
        let limits = state.ledger.limits();
        let aside = limits
            .reserve(principal.tenant, reservation, spender, &others, tokens, cost, now, until)
            .await
            .map_err(|error| not_reserved(error, now))?;
        state.ledger.opened();
        targets.retain(|one| !aside.full.contains(&one.id));
        Ok(Self {
            ledger: Arc::clone(&state.ledger),
            clock: Arc::clone(&deps.clock),
            tenant: principal.tenant,
            reservation: aside.held.then_some(reservation),
            spender,
            model: targets.first().map_or_else(String::new, |one| one.model.clone()),
            // Four bytes are about a token; JSON around the prompt makes up for the difference.
            prompt: length.div_ceil(4),
            settled: false,
        })
    }

    /// The call is over; `connection` answered. `priced`: whether its tokens have a known price.
    pub fn settle(&mut self, connection: Option<&Connection>, usage: Usage, priced: bool, failed: bool) {
        if self.settled {
            return;
        }
        self.settled = true;
        if let Some(connection) = connection {
            self.spender.connection = Some(connection.id);
            self.model.clone_from(&connection.model);
        }
        self.ledger.settle(Settlement {
            tenant: self.tenant,
            reservation: self.reservation,
            record: SpentRecord {
                spender: self.spender,
                model: std::mem::take(&mut self.model),
                at: self.clock.now(),
                usage,
                priced,
                failed,
            },
        });
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        let usage = Usage { prompt_tokens: self.prompt, ..Usage::default() };
        self.settle(None, usage, false, true);
    }
}
