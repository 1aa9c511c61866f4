//! How much of a long test is done: `make prove` does all of it, the gate a part that still reaches each point.

/// Set by `make prove`.
const VARIABLE: &str = "STEWARD_PROVE";

/// Whether tests run at full length.
pub fn is_thorough() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == "1")
}

/// `full` for `make prove`, `gate` for `make test`.
pub fn repetitions(gate: usize, full: usize) -> usize {
    if is_thorough() { full } else { gate }
}
