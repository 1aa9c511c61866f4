//! Domains: what a part of a user's database means, and how it is shown. The language in which domains and views are
//! written, queries over them as data, and their lowering to SQL. No I/O: databases are read by who calls this.

pub mod model;
