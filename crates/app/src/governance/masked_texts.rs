//! Masking of texts that somebody sends, for good or so that they can have the values back for a while.

use crate::app::{Action, App, AppError, AppResult, Caller, ErrorKind, Resource, authorize};
use crate::dto::governance::{MaskInput, MaskedText, UnmaskInput, UnmaskedText};
use crate::retention::Deletes;
use serde_json::json;
use std::time::Duration;
use steward_access::governance::{Detector, Mask, MaskStyle, unmask};
use steward_core::audit::AuditResult;
use steward_core::governance::{MaskedKind, PiiKind};
use steward_core::ports::MaskMapRow;

const MAX_MASKED: usize = 1_000_000;
/// How long values can be put back if nothing is said of it, and at most.
const HOURS: u32 = 24;
const MAX_HOURS: u32 = 24 * 30;

impl App {
    /// Masks the personal data and secrets of a text. With `reversible` the caller can have them put back.
    pub async fn mask_text(&self, caller: &Caller, input: MaskInput) -> AppResult<MaskedText> {
        authorize(caller, Action::Read, Resource::Policies)?;
        check_length(&input.text, "mask it in parts")?;
        let hours = input.hours.unwrap_or(HOURS);
        if !(1..=MAX_HOURS).contains(&hours) || (input.hours.is_some() && !input.reversible) {
            return Err(AppError::invalid(
                "hours",
                format!("`hours` is 1 to {MAX_HOURS}, and only with `reversible`"),
                "leave it out for a day",
            ));
        }
        let detector = Detector::shared()
            .map_err(|error| AppError::new(ErrorKind::Internal, error.to_string(), "this program is damaged"))?;
        let kinds = input.kinds.clone().unwrap_or_else(|| PiiKind::ALL.to_vec());
        let style = if input.reversible { MaskStyle::Token } else { MaskStyle::Label };
        let (bytes, text) = (input.text.len(), input.text);
        let masked = self.work_for(caller, bytes, move || detector.mask(&text, &kinds, style)).await?;
        let counts: Vec<MaskedKind> =
            masked.counts.iter().map(|(kind, count)| MaskedKind { kind: *kind, count: *count as u64 }).collect();
        let mut answer = MaskedText { text: masked.text, masked: counts, map: None, ends_at: None };
        if input.reversible && !masked.masks.is_empty() {
            let (id, now) = (self.new_id(), self.now());
            let sealed = self.access.seal_text(id, &json!(masked.masks).to_string())?;
            let ends_at = now.plus(Duration::from_hours(u64::from(hours)));
            let row = MaskMapRow { id, user: caller.user(), made_at: now, ends_at, sealed };
            let entry = self.audit_entry_of(caller, "data.mask_kept").on(id.to_string()).with("ends_at", ends_at.0);
            self.record_audit(&entry).await?;
            self.store.save_mask_map(self.tenant(), &row).await?;
            (answer.map, answer.ends_at) = (Some(id), Some(ends_at.0));
        }
        Ok(answer)
    }

    /// Puts the values back: for who had them masked, and for administrators.
    pub async fn unmask_text(&self, caller: &Caller, input: UnmaskInput) -> AppResult<UnmaskedText> {
        authorize(caller, Action::Read, Resource::Policies)?;
        check_length(&input.text, "unmask it in parts")?;
        let found = self.store.mask_map(self.tenant(), input.map).await?;
        let row = found.filter(|row| self.now() < row.ends_at);
        let Some(row) = row else {
            return Err(AppError::not_found(format!("the list of tokens {}", input.map)));
        };
        let entry = self.audit_entry_of(caller, "data.unmasked").on(row.id.to_string());
        let entry = entry.with("masked_by", row.user.to_string());
        if row.user != caller.user() && authorize(caller, Action::Administer, Resource::Policies).is_err() {
            self.record_audit(&entry.ended(AuditResult::Refused)).await?;
            // As if it were not there: nothing says whose it is.
            return Err(AppError::not_found(format!("the list of tokens {}", input.map)));
        }
        self.record_audit(&entry).await?;
        let masks: Vec<Mask> = serde_json::from_str(&self.access.open_text(row.id, &row.sealed)?)
            .map_err(|_| AppError::unavailable("the list of tokens is damaged; have the text masked again"))?;
        let (bytes, text) = (input.text.len(), input.text);
        let text = self.work_for(caller, bytes, move || unmask(&text, &masks)).await?;
        Ok(UnmaskedText { text })
    }

    /// Forgets lists of tokens whose time is over.
    pub(crate) async fn forget_masks(&self) -> AppResult<()> {
        let ended = self.store.ended_mask_maps(self.tenant(), self.now()).await?;
        if ended.is_empty() || !self.believes_clock(Deletes::Masks).await? {
            return Ok(());
        }
        for row in ended {
            self.store.remove_mask_map(self.tenant(), row.id).await?;
        }
        Ok(())
    }
}

fn check_length(text: &str, hint: &str) -> AppResult<()> {
    if text.chars().count() > MAX_MASKED {
        return Err(AppError::invalid("text", format!("the text has more than {MAX_MASKED} characters"), hint));
    }
    Ok(())
}
