//! Counting what comes back against the limits.

use serde_json::Value;

use super::SqlError;
use super::{Limits, Rows};
use crate::sql::query::Truncated;

/// Rows as they come, up to the caps.
pub(super) struct Collector<'l> {
    limits: &'l Limits,
    bytes: usize,
    pub rows: Rows,
}

impl<'l> Collector<'l> {
    pub fn new(columns: Vec<String>, limits: &'l Limits) -> Self {
        Self { limits, bytes: 0, rows: Rows { columns, rows: Vec::new(), truncated: None } }
    }

    /// Takes a row of about `bytes`; `false`: no more are wanted.
    pub fn take(&mut self, row: Vec<Value>, bytes: usize) -> Result<bool, SqlError> {
        if self.rows.rows.len() >= self.limits.rows {
            self.rows.truncated = Some(Truncated::Rows);
            return Ok(false);
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.limits.bytes {
            if self.rows.rows.is_empty() {
                return Err(first_row(self.limits));
            }
            self.rows.truncated = Some(Truncated::Bytes);
            return Ok(false);
        }
        self.rows.rows.push(row);
        Ok(true)
    }
}

pub(super) fn first_row(limits: &Limits) -> SqlError {
    SqlError::Limit { what: format!("a row is larger than {} bytes", limits.bytes) }
}
