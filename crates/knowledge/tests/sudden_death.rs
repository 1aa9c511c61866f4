//! An index whose process is killed at any point.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use steward_knowledge::{ChunkEntry, DocumentSet, Index};
use tempfile::TempDir;

/// Where the second process writes.
const PLACE: &str = "STEWARD_TEST_INDEX";
const DOCUMENTS: u64 = 30;

fn open(dir: &Path) -> Index {
    Index::open(dir, "model", 2).unwrap()
}

/// Change `change` puts document `change % DOCUMENTS` in, with as many chunks as its number says, and takes every seventh
/// out.
fn apply(index: &Index, change: u64) {
    let document = u32::try_from(change % DOCUMENTS).unwrap();
    let chunks = if change.is_multiple_of(7) { 0 } else { change % 90 + 1 };
    let text = format!("every v{change}");
    let entries: Vec<ChunkEntry<'_>> = (0..u32::try_from(chunks).unwrap())
        .map(|index| ChunkEntry { index, heading: "", text: &text, vector: Some(&[1.0, 0.5]) })
        .collect();
    index.apply(change, document, &entries).unwrap();
}

/// Not a test of its own: the process that is killed.
#[test]
fn goes_on_until_it_is_killed() {
    let Some(place) = std::env::var_os(PLACE) else {
        return;
    };
    let index = open(Path::new(&place));
    let mut change = index.applied();
    loop {
        for _ in 0..=change % 4 {
            change += 1;
            apply(&index, change);
        }
        index.commit().unwrap();
        println!("committed {change}");
    }
}

fn check(index: &Index) {
    let applied = index.applied();
    let mut expected = 0;
    for change in applied.saturating_sub(DOCUMENTS - 1).max(1)..=applied {
        expected += if change.is_multiple_of(7) { 0 } else { usize::try_from(change % 90 + 1).unwrap() };
    }
    let all = DocumentSet::all();
    for hits in
        [index.search_text("every", &all, 100_000).unwrap(), index.search_vectors(&[1.0, 0.5], &all, 100_000).unwrap()]
    {
        let mut keys: Vec<_> = hits.iter().map(steward_knowledge::Hit::key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), hits.len(), "a chunk is there twice");
        assert_eq!(keys.len(), expected, "after change {applied}");
    }
}

#[test]
fn a_killed_index_is_as_one_of_its_commits_left_it() {
    let dir = TempDir::new().unwrap();
    let this = std::env::current_exe().unwrap();
    for round in 0..10 {
        let mut child = Command::new(&this)
            .args(["--exact", "sudden_death::goes_on_until_it_is_killed", "--nocapture"])
            .env(PLACE, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let number = |line: String| line.rsplit_once("committed ").and_then(|(_, number)| number.parse::<u64>().ok());
        // After some commits, and then at any point of the next.
        let first = lines.by_ref().filter_map(number).nth(round % 5).unwrap();
        std::thread::sleep(Duration::from_millis(round as u64 * 17 % 61));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = lines.filter_map(number).last().unwrap_or(first);
        let index = open(dir.path());
        assert!(index.applied() >= last, "{} is less than {last}", index.applied());
        check(&index);
        // Whoever is not sure applies more than needed.
        for change in index.applied().saturating_sub(9).max(1)..=index.applied() + 3 {
            apply(&index, change);
        }
        index.commit().unwrap();
        check(&index);
    }
}
