//! Skills at real work, through the real program: no secret gets out, no effect is lost or doubled.

mod crash;
mod desk;
mod keys;
mod places;
mod secrets;
mod signatures;
mod trace;
