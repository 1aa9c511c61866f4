mod hosts;
mod packages;
mod skills;

pub use skills::run;
