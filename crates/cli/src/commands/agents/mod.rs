mod change;
mod show;

pub use show::run;
