//! For tests only: a scripted model server, a counting effect server, a fake clock, reproducible ids, temporary
//! workspaces, and our programs run against all that.

mod clock;
pub mod database;
mod effect_server;
pub mod model_server;
pub mod postgres;
pub mod program;
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "places and brightness of pixels"
)]
pub mod scans;
mod set_up;
pub mod sshd;
mod strength;
mod workspace;

pub use clock::{FakeClock, SeqIds};
pub use effect_server::{Count, EffectOptions, EffectServer};
pub use model_server::ScriptedModelServer;
pub use set_up::{cache, set_up};
pub use sshd::Sshd;
pub use strength::{is_thorough, repetitions};
pub use workspace::Workspace;
