//! Writers of just enough of a format.

/// A ZIP archive; contents are deflated.
pub fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let packed = miniz_oxide::deflate::compress_to_vec(content, 6);
        entry(&mut out, &mut directory, name, (0, 8), &packed, content.len() as u32, crc32fast::hash(content));
    }
    end(out, &directory, entries.len() as u16)
}

/// One that says of its entries what it likes: flags and method, content as it is, declared size.
pub fn odd_zip(entries: &[(&str, (u16, u16), &[u8], u32, u32)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, how, packed, size, crc) in entries {
        entry(&mut out, &mut directory, name, *how, packed, *size, *crc);
    }
    end(out, &directory, entries.len() as u16)
}

fn entry(out: &mut Vec<u8>, directory: &mut Vec<u8>, name: &str, how: (u16, u16), packed: &[u8], size: u32, crc: u32) {
    let header = out.len() as u32;
    let numbers = |to: &mut Vec<u8>| {
        to.extend_from_slice(&how.0.to_le_bytes());
        to.extend_from_slice(&how.1.to_le_bytes());
        to.extend_from_slice(&[0; 4]);
        for number in [crc, packed.len() as u32, size] {
            to.extend_from_slice(&number.to_le_bytes());
        }
        to.extend_from_slice(&(name.len() as u16).to_le_bytes());
        to.extend_from_slice(&[0; 2]);
    };
    out.extend_from_slice(b"PK\x03\x04\x14\0");
    numbers(out);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(packed);
    directory.extend_from_slice(b"PK\x01\x02\x14\0\x14\0");
    numbers(directory);
    directory.extend_from_slice(&[0; 10]);
    directory.extend_from_slice(&header.to_le_bytes());
    directory.extend_from_slice(name.as_bytes());
}

fn end(mut out: Vec<u8>, directory: &[u8], count: u16) -> Vec<u8> {
    let start = out.len() as u32;
    out.extend_from_slice(directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&[count.to_le_bytes(), count.to_le_bytes()].concat());
    out.extend_from_slice(&(directory.len() as u32).to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

const NONE: u32 = u32::MAX;
const LAST: u32 = 0xffff_fffe;
/// Streams below this size are parts of the mini stream.
const MINI_BELOW: usize = 4096;

/// Sectors of one size, and which follows which.
struct Sectors {
    size: usize,
    bytes: Vec<u8>,
    table: Vec<u32>,
}

impl Sectors {
    fn new(size: usize) -> Self {
        Self { size, bytes: Vec::new(), table: Vec::new() }
    }

    /// The number of the first sector.
    fn add(&mut self, content: &[u8]) -> u32 {
        let (first, count) = (self.table.len() as u32, content.len().div_ceil(self.size) as u32);
        self.table.extend((1..=count).map(|at| if at < count { first + at } else { LAST }));
        self.bytes.extend_from_slice(content);
        self.bytes.resize(self.table.len() * self.size, 0);
        if count == 0 { LAST } else { first }
    }
}

/// An entry of the directory: name, kind, next sibling, first child, first sector, size.
fn directory_entry(name: &str, kind: u8, right: u32, child: u32, start: u32, size: usize) -> Vec<u8> {
    let mut entry = vec![0_u8; 128];
    let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    entry[..units.len()].copy_from_slice(&units);
    entry[64..66].copy_from_slice(&(units.len() as u16 + 2).to_le_bytes());
    entry[66] = kind;
    for (at, number) in [(68, NONE), (72, right), (76, child), (116, start), (120, size as u32)] {
        entry[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    entry
}

/// A compound file with these streams; those of the one folder that there may be come last, their names after `/`.
pub fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut sectors, mut mini) = (Sectors::new(512), Sectors::new(64));
    let mut put = |content: &[u8]| {
        if content.len() < MINI_BELOW { mini.add(content) } else { sectors.add(content) }
    };
    let top = streams.iter().filter(|(path, _)| !path.contains('/')).count() as u32;
    let folder = streams.iter().find_map(|(path, _)| path.split_once('/')).map(|(folder, _)| folder);
    let mut entries = Vec::new();
    for (at, (path, content)) in (1_u32..).zip(streams) {
        let name = path.split_once('/').map_or(*path, |(_, name)| name);
        // The folder stands between the streams beside it and those in it; siblings are a chain.
        let (is_inner, last) = (at > top, streams.len() as u32);
        let right = match () {
            () if is_inner && at < last => at + 2,
            () if !is_inner && (at < top || folder.is_some()) => at + 1,
            () => NONE,
        };
        if at == top + 1 {
            entries.push(directory_entry(folder.unwrap(), 1, NONE, top + 2, LAST, 0));
        }
        entries.push(directory_entry(name, 2, right, NONE, put(content), content.len()));
    }
    let mini_start = sectors.add(&mini.bytes);
    entries.insert(0, directory_entry("Root Entry", 5, NONE, 1, mini_start, mini.bytes.len()));
    let words = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    mini.table.resize(mini.table.len().next_multiple_of(128), NONE);
    let mini_table = sectors.add(&words(&mini.table));
    let directory = sectors.add(&entries.concat());
    let parts = (sectors.table.len() + 2).div_ceil(128);
    let table_at = sectors.table.len();
    sectors.table.extend(std::iter::repeat_n(0xffff_fffd, parts));
    sectors.table.resize(parts * 128, NONE);
    let mut out = vec![0_u8; 512];
    out[..8].copy_from_slice(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    out[30] = 9;
    out[32] = 6;
    for (at, number) in [(48, directory), (56, MINI_BELOW as u32), (60, mini_table), (68, LAST)] {
        out[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    for at in 0..109 {
        let part = if at < parts { (table_at + at) as u32 } else { NONE };
        out[76 + at * 4..80 + at * 4].copy_from_slice(&part.to_le_bytes());
    }
    out.extend(sectors.bytes);
    out.extend(words(&sectors.table));
    out
}

/// A PDF of these content streams, with Helvetica as `/F1`, its bold as `/F2` and Courier as `/F3`.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".as_bytes().to_vec(),
        Vec::new(),
        b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> \
          /F2 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> \
          /F3 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >>"
            .to_vec(),
    ];
    let mut kids = String::new();
    for page in pages {
        let content = objects.len() + 1;
        objects.push(stream("", page.as_bytes()));
        objects.push(
            format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources 3 0 R /Contents {content} 0 R >>")
                .into_bytes(),
        );
        kids.push_str(&format!("{} 0 R ", content + 1));
    }
    objects[1] = format!("<< /Type /Pages /Count {} /Kids [{kids}] >>", pages.len()).into_bytes();
    pdf_of(&objects)
}

pub fn stream(dict: &str, content: &[u8]) -> Vec<u8> {
    let mut object = format!("<< {dict} /Length {} >>\nstream\n", content.len()).into_bytes();
    object.extend_from_slice(content);
    object.extend_from_slice(b"\nendstream");
    object
}

/// The first object is the catalogue.
pub fn pdf_of(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let start = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").bytes());
    }
    out.extend(format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).bytes());
    out
}
