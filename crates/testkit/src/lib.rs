//! For tests only: a scripted model server, a counting effect server, a fake clock, reproducible ids, users in memory,
//! temporary workspaces, and our programs run against all that.

mod clock;
mod effect_server;
mod memory;
pub mod model_server;
pub mod postgres;
pub mod program;
mod set_up;
pub mod sshd;
mod workspace;

pub use clock::{FakeClock, SeqIds};
pub use effect_server::{Count, EffectOptions, EffectServer};
pub use memory::Memory;
pub use model_server::ScriptedModelServer;
pub use set_up::{cache, set_up};
pub use sshd::Sshd;
pub use workspace::Workspace;
