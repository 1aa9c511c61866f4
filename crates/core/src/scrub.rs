//! Takes secrets out of everything that leaves an executor (SKILL-4).
