//! Who is asked next.

use std::sync::Arc;

use steward_core::model::Connection;

use super::board::{Board, Permit};

/// The targets of one call that were not asked yet, in order.
pub(super) struct Queue {
    board: Arc<Board>,
    waiting: Vec<Connection>,
    /// How many may still be asked.
    left: usize,
    asked_any: bool,
    /// Only models with more than so many tokens of window are of use.
    window_over: u32,
}

impl Queue {
    pub fn new(board: Arc<Board>, targets: &[Connection], most: usize) -> Self {
        Self { board, waiting: targets.to_vec(), left: most.max(1), asked_any: false, window_over: 0 }
    }

    /// The prompt did not fit into such a window.
    pub fn needs_more_than(&mut self, window: u32) {
        self.window_over = self.window_over.max(window);
    }

    /// The next one that may be asked. If nobody was asked yet and all are cooling down, it is the
    /// one that is ready first: a request is never refused without asking anybody.
    pub fn next(&mut self) -> Option<(Connection, Permit)> {
        if self.left == 0 {
            return None;
        }
        let over = self.window_over;
        self.waiting.retain(|one| over == 0 || one.capabilities.window > over);
        let admitted = self.waiting.iter().enumerate().find_map(|(at, one)| Some((at, self.board.admit(one.id)?)));
        let (at, permit) = match admitted {
            Some(found) => found,
            None if self.asked_any => return None,
            None => self.forced()?,
        };
        self.left -= 1;
        self.asked_any = true;
        Some((self.waiting.remove(at), permit))
    }

    fn forced(&self) -> Option<(usize, Permit)> {
        let (at, one) = self.waiting.iter().enumerate().min_by_key(|(_, one)| self.board.ready_at(one.id))?;
        Some((at, self.board.force(one.id)))
    }
}
