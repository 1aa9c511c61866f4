//! The guards of the semantic cache over pairs of questions, with the cosine that all-MiniLM-L6-v2 gives them. The second set
//! was written together with the first, before there were guards, and only measured.

use steward_knowledge::{CacheLimits, asks_the_same};

#[derive(Debug, PartialEq, Eq)]
struct Counts {
    near: usize,
    taken: usize,
}

fn count(set: &str, kind: &str) -> Counts {
    let mut counts = Counts { near: 0, taken: 0 };
    for line in set.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [found, one, other, cosine] = fields[..] else { panic!("{line}") };
        if found == kind && cosine.parse::<f32>().unwrap() >= CacheLimits::default().similarity {
            counts.near += 1;
            counts.taken += usize::from(asks_the_same(one, other));
        }
    }
    counts
}

#[test]
fn near_questions_that_ask_something_else_are_told_apart() {
    let (first, second) = (include_str!("data/questions/first.tsv"), include_str!("data/questions/second.tsv"));
    assert_eq!(count(first, "other"), Counts { near: 22, taken: 0 });
    assert_eq!(count(first, "same"), Counts { near: 26, taken: 12 });
    assert_eq!(count(second, "other"), Counts { near: 23, taken: 0 });
    assert_eq!(count(second, "same"), Counts { near: 25, taken: 13 });
}
