//! Archives made to harm, each refused with a word on which entry and why.

use super::{files, refused};
use steward_core::hash::sha256;
use steward_tools::package::{read, write};

/// One entry of a hand-made archive.
#[derive(Clone)]
struct Entry {
    name: Vec<u8>,
    /// In front of the data; the directory's if none.
    local_name: Option<Vec<u8>>,
    data: Vec<u8>,
    size: u32,
    crc: u32,
    method: u16,
    flags: u16,
    mode: u32,
    extra: Vec<u8>,
}

fn entry(name: &str, content: &[u8]) -> Entry {
    // CRC-32 by its definition: the product's own is not to check itself.
    let mut crc = u32::MAX;
    for byte in content {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    Entry {
        name: name.into(),
        local_name: None,
        data: content.to_vec(),
        size: u32::try_from(content.len()).unwrap(),
        crc: !crc,
        method: 0,
        flags: 0,
        mode: 0o100_644,
        extra: Vec::new(),
    }
}

fn main_file() -> Entry {
    entry("p/SKILL.md", &files("p", &[])["SKILL.md"])
}

fn put(out: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        out.extend(value.to_le_bytes());
    }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    zip_with_gaps(entries, [b"", b"", b""])
}

/// With bytes that no entry lists: before the first, before the last, and before the directory.
fn zip_with_gaps(entries: &[Entry], gaps: [&[u8]; 3]) -> Vec<u8> {
    let (mut out, mut directory) = (gaps[0].to_vec(), Vec::new());
    for (number, one) in entries.iter().enumerate() {
        if number > 0 && number + 1 == entries.len() {
            out.extend(gaps[1]);
        }
        let at = u32::try_from(out.len()).unwrap();
        let packed = u32::try_from(one.data.len()).unwrap();
        let local = one.local_name.as_ref().unwrap_or(&one.name);
        out.extend(b"PK\x03\x04");
        put(&mut out, &[20, one.flags, one.method, 0, 33]);
        for value in [one.crc, packed, one.size] {
            out.extend(value.to_le_bytes());
        }
        put(&mut out, &[u16::try_from(local.len()).unwrap(), 0]);
        out.extend(local);
        out.extend(&one.data);

        directory.extend(b"PK\x01\x02");
        put(&mut directory, &[0x0314, 20, one.flags, one.method, 0, 33]);
        for value in [one.crc, packed, one.size] {
            directory.extend(value.to_le_bytes());
        }
        let lengths = [one.name.len(), one.extra.len()].map(|len| u16::try_from(len).unwrap());
        put(&mut directory, &[lengths[0], lengths[1], 0, 0, 0]);
        directory.extend((one.mode << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&one.name);
        directory.extend(&one.extra);
    }
    out.extend(gaps[2]);
    let at = u32::try_from(out.len()).unwrap();
    let count = u16::try_from(entries.len()).unwrap();
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    put(&mut out, &[0, 0, count, count]);
    out.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend(at.to_le_bytes());
    put(&mut out, &[0]);
    out
}

fn with(more: Vec<Entry>) -> Vec<u8> {
    let mut all = vec![main_file()];
    all.extend(more);
    zip(&all)
}

#[test]
fn the_hand_made_archive_is_taken_if_nothing_is_wrong() {
    let plain = read(&with(vec![entry("p/references/a.md", b"# A\n"), entry("p/references/", b"")]));
    let plain = plain.unwrap();
    assert_eq!(plain.front.name, "p");
    assert_eq!(plain.files.len(), 2);
    assert_eq!(plain.files["references/a.md"], b"# A\n");
}

#[test]
fn paths_that_lead_out_or_mislead_are_refused() {
    for (name, why) in [
        ("../evil", "leads out"),
        ("p/../../evil", "leads out"),
        ("p/./a", "leads out"),
        ("/etc/passwd", "absolute"),
        ("C:/evil", "colon"),
        ("p/a:stream", "colon"),
        ("p\\a.md", "backslash"),
        ("p//a.md", "empty folder"),
        ("p/a\0.md", "control or invisible"),
        ("p/a\n.md", "control or invisible"),
        ("p/gpj\u{202e}.md", "control or invisible"),
        ("p/a\u{200b}.md", "control or invisible"),
        ("p/a.", "dot"),
        ("p/a ", "space"),
        ("", "no name"),
        ("p/1/2/3/4/5/6/7/8/9/10", "too deep"),
    ] {
        let said = refused(&with(vec![entry(name, b"x")]));
        assert!(said.contains(why), "{name:?}: {said}");
        assert!(said.contains('`'), "{name:?} isn't named: {said}");
    }
    let long = format!("p/{}", "a".repeat(151));
    assert!(refused(&with(vec![entry(&long, b"x")])).contains("too long"));
}

#[test]
fn entries_that_are_no_plain_files_are_refused() {
    let change = |with_it: fn(&mut Entry)| {
        let mut one = entry("p/references/a.md", b"x");
        with_it(&mut one);
        refused(&with(vec![one]))
    };
    for (said, why) in [
        (change(|e| e.flags = 1), "encrypted"),
        (change(|e| e.flags = 1 << 6), "encrypted"),
        (change(|e| e.flags = 1 << 13), "encrypted"),
        (change(|e| e.method = 99), "method 99"),
        (change(|e| e.mode = 0o120_777), "symbolic link"),
        (change(|e| e.mode = 0o020_644), "no ordinary file"),
        (change(|e| e.mode = 0o010_644), "no ordinary file"),
        (change(|e| e.name = b"p/\xff\xfe.md".to_vec()), "UTF-8"),
        (change(|e| e.local_name = Some(b"p/references/b.md".to_vec())), "two ways"),
        (change(|e| e.crc ^= 1), "damaged"),
        (change(|e| e.size = 2), "damaged"),
        (change(|e| e.method = 8), "damaged"),
        (change(|e| e.extra = [b"\x75\x70\x0a\0\x01abcd".as_slice(), b"other"].concat()), "two names"),
    ] {
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn two_entries_for_one_file_are_refused() {
    for (one, two, why) in [
        ("p/a.md", "p/a.md", "twice"),
        ("p/a.md", "p/A.md", "upper and lower case"),
        ("p/x/a.md", "p/X/b.md", "upper and lower case"),
        ("p/\u{e9}.md", "p/e\u{301}.md", "accents"),
        ("p/a", "p/a/b", "file and a folder"),
        ("p/a/b", "p/a", "file and a folder"),
    ] {
        let said = refused(&with(vec![entry(one, b"1"), entry(two, b"2")]));
        assert!(said.contains(why), "{one} {two}: {said}");
    }
}

#[test]
fn bytes_that_no_entry_lists_are_refused() {
    let entries = [main_file(), entry("p/references/a.md", b"# A\n")];
    // What a program that looks for local headers would find.
    let hidden = zip(&[entry("p/evil.md", b"x")]);
    let hidden = &hidden[..=30 + 9];
    for gaps in
        [[hidden, b"", b""], [b"", hidden, b""], [b"", b"", hidden], [b"#!/bin/sh\n", b"", b""], [b"", b"", b"\0"]]
    {
        let said = refused(&zip_with_gaps(&entries, gaps));
        assert!(said.contains("belong to no entry"), "{said}");
    }
    assert!(read(&zip_with_gaps(&entries, [b"", b"", b""])).is_ok());
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 4 << 20];
    let packed = miniz(&zeros);
    assert!(packed.len() < 10_000);
    let mut bomb = entry("p/references/zeros.md", &zeros);
    bomb.method = 8;
    bomb.data = packed;
    assert!(refused(&with(vec![bomb.clone()])).contains("times larger"));

    // It says that it is small.
    let mut liar = bomb.clone();
    liar.size = 100;
    assert!(refused(&with(vec![liar])).contains("damaged"));

    let mut large = entry("p/references/large.md", b"");
    large.size = 6 << 20;
    assert!(refused(&with(vec![large])).contains("at most 5242880 bytes for a file"));

    let many = (0..600).map(|n| entry(&format!("p/references/{n}.md"), b"x"));
    assert!(refused(&with(many.collect())).contains("601 entries"));

    assert!(refused(&vec![0; (20 << 20) + 1]).contains("at most 20971520 bytes"));

    // Two directory entries over the same data.
    let mut twice = with(vec![entry("p/a.md", b"same"), entry("p/b.md", b"same")]);
    let second = twice.windows(6).rposition(|w| w == b"p/b.md").unwrap();
    let first = twice.windows(6).position(|w| w == b"p/a.md").unwrap() - 30;
    twice[second - 4..second].copy_from_slice(&u32::try_from(first).unwrap().to_le_bytes());
    let said = refused(&twice);
    assert!(said.contains("two ways"), "{said}");
}

fn miniz(bytes: &[u8]) -> Vec<u8> {
    // Stored by the product's writer in a package; its deflated form is cut out of there.
    let archive = write("p", &std::collections::BTreeMap::from([("z".to_owned(), bytes.to_vec())]));
    let size = u32::from_le_bytes(archive[18..22].try_into().unwrap()) as usize;
    archive[33..33 + size].to_vec()
}

#[test]
fn archives_in_the_archive_are_refused() {
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    for content in [
        zip(&[entry("x", b"y")]),
        b"\x1f\x8b\x08rest".to_vec(),
        b"7z\xbc\xaf\x27\x1crest".to_vec(),
        b"Rar!\x1a\x07\x01\0".to_vec(),
        b"\xfd7zXZ\0rest".to_vec(),
        b"BZh91AY&SY".to_vec(),
        tar,
    ] {
        let said = refused(&with(vec![entry("p/references/a.md", &content)]));
        assert!(said.contains("`references/a.md`") && said.contains("archive itself"), "{said}");
    }
    let office = with(vec![entry("p/references/form.docx", &zip(&[entry("x", b"y")]))]);
    assert_eq!(read(&office).unwrap().files.len(), 2);
}

#[test]
fn what_is_no_archive_says_so() {
    let good = with(vec![]);
    let mut before = b"#!/bin/sh\n".to_vec();
    before.extend(&good);
    let mut behind = good.clone();
    behind.extend(b"more");
    // Its end record counts one of two entries.
    let mut hidden = with(vec![entry("p/references/a.md", b"# A\n")]);
    let end = hidden.len() - 22;
    hidden[end + 8..end + 12].copy_from_slice(&[1, 0, 1, 0]);
    for (bytes, why) in [
        (Vec::new(), "too short"),
        (b"hello, this is no archive at all".to_vec(), "no end record"),
        (before, "directory"),
        (behind, "no end record"),
        (hidden, "more entries"),
    ] {
        let said = refused(&bytes);
        assert!(said.contains(why) && said.contains("zip the package's folder"), "{said}");
    }
    // Cut anywhere: an error, never a panic, never half a package.
    for length in 0..good.len() {
        refused(&good[..length]);
    }
}

#[test]
fn a_changed_byte_is_noticed_or_makes_no_difference() {
    let good = with(vec![entry("p/references/a.md", b"# A\ntext\n")]);
    let hash = read(&good).unwrap().hash;
    let content = good.windows(4).position(|w| w == b"text").unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x20;
        if let Ok(read) = read(&bad) {
            assert!(at != content && read.hash == hash, "byte {at}");
        }
    }
}

#[test]
fn what_systems_leave_behind_is_left_out() {
    let read = read(&with(vec![
        entry("__MACOSX/p/._SKILL.md", b"x"),
        entry("p/.DS_Store", b"x"),
        entry("p/references/._a.md", b"x"),
    ]));
    assert_eq!(read.unwrap().files.len(), 1);
}

#[test]
fn the_hash_knows_names_and_contents_only() {
    let a = read(&with(vec![entry("p/references/a.md", b"text")])).unwrap();
    let again = read(&write("p", &a.files)).unwrap();
    assert_eq!(a.hash, again.hash);
    let mut moved = a.files.clone();
    let content = moved.remove("references/a.md").unwrap();
    moved.insert("references/b.md".into(), content);
    let moved = read(&write("p", &moved)).unwrap();
    assert_ne!(a.hash, moved.hash);
    assert_eq!(a.hash.len(), sha256(b"").len());
}

#[test]
fn archives_of_other_programs_are_read() {
    for (bytes, by) in [
        (include_bytes!("fixtures/python.skill").as_slice(), "python"),
        // Sizes behind the data, as programs do that write to a pipe.
        (include_bytes!("fixtures/streamed.skill"), "a stream"),
        // Names in UTF-8 without saying so.
        (include_bytes!("fixtures/infozip.skill"), "zip"),
    ] {
        let read = read(bytes).unwrap_or_else(|error| panic!("{by}: {error}"));
        let paths: Vec<_> = read.files.keys().map(String::as_str).collect();
        assert_eq!(paths, ["SKILL.md", "references/ä.md"], "{by}");
        assert!(read.files["references/ä.md"].starts_with("# Ä".as_bytes()), "{by}");
    }
    let hash = |bytes: &[u8]| read(bytes).unwrap().hash;
    let one = hash(include_bytes!("fixtures/python.skill"));
    assert_eq!(one, hash(include_bytes!("fixtures/streamed.skill")));
    assert_eq!(one, hash(include_bytes!("fixtures/infozip.skill")));
}
