mod login;
mod servers;

pub use servers::run;
