//! What the checks of an exam found, and how points are counted.

use super::server_info::ServerInfo;
use std::collections::BTreeMap;
use steward_core::exam::Grade;
use steward_core::model::{Constrained, Strategy};
use steward_core::routing::Task;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Score {
    pub points: u32,
    pub of: u32,
}

impl Score {
    pub fn new(points: u32, of: u32) -> Self {
        Self { points, of }
    }

    /// 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "a few points")]
    pub fn share(self) -> f32 {
        if self.of == 0 {
            return 0.0;
        }
        self.points as f32 / self.of as f32
    }

    pub fn add(&mut self, other: Self) {
        self.points += other.points;
        self.of += other.of;
    }

    pub fn grade(self) -> Grade {
        match self.share() {
            share if share >= 0.95 => Grade::A,
            share if share >= 0.75 => Grade::B,
            share if share >= 0.5 => Grade::C,
            share if share >= 0.25 => Grade::D,
            _ => Grade::E,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FormScore {
    pub strategy: Strategy,
    pub score: Score,
    pub right_tools: u32,
}

/// What the checks found; `None`: not examined.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub server: ServerInfo,
    pub system_role: Option<bool>,
    pub thinks_first: bool,
    pub forms: Vec<FormScore>,
    pub parallel: Option<bool>,
    /// Constraint methods that work, best first.
    pub constrained: Option<Vec<Constrained>>,
    /// A schema through the provider's own interface.
    pub schema_obeyed: Option<bool>,
    /// True window, and how it is known.
    pub window: Option<(u32, String)>,
    /// To send to Ollama, and whether it was seen to help.
    pub num_ctx: Option<(u32, bool)>,
    pub remembers: Option<u32>,
    pub forgets: Option<u32>,
    pub vision: Option<bool>,
    pub tokens_per_second: f32,
    pub first_token_ms: u64,
    pub prompt_tokens_per_second: f32,
    pub reuses_cache: Option<bool>,
    /// Most tools among which it always chose right.
    pub tool_count: Option<usize>,
    pub summary: Option<Score>,
    pub tasks: BTreeMap<Task, Score>,
    /// Checks for which there was no time.
    pub unfinished: usize,
}

impl Findings {
    pub fn form(&self, strategy: Strategy) -> Option<FormScore> {
        self.forms.iter().find(|one| one.strategy == strategy).copied()
    }
}
