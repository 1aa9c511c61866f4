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

/// A compound file with these streams, a folder before `/`; all in sectors of 512 bytes.
pub fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut folders: Vec<&str> =
        streams.iter().filter_map(|(path, _)| path.split_once('/')).map(|(folder, _)| folder).collect();
    folders.dedup();
    // Siblings are a chain to the right; entry 0 is the root.
    let mut entries: Vec<(String, u8, u32, u32, Option<usize>, Vec<u8>)> = Vec::new();
    let top = streams.iter().enumerate().filter(|(_, (path, _))| !path.contains('/'));
    let mut level: Vec<(String, u8, Option<usize>)> =
        top.map(|(at, (path, _))| ((*path).to_owned(), 2, Some(at))).collect();
    level.extend(folders.iter().map(|folder| ((*folder).to_owned(), 1, None)));
    const NONE: u32 = u32::MAX;
    entries.push(("Root Entry".to_owned(), 5, NONE, 1, None, Vec::new()));
    for (at, (name, kind, stream)) in level.iter().enumerate() {
        let right = if at + 1 < level.len() { at as u32 + 2 } else { NONE };
        let content = stream.map(|at| streams[at].1.to_vec()).unwrap_or_default();
        entries.push((name.clone(), *kind, right, NONE, *stream, content));
    }
    for folder in &folders {
        let inner: Vec<&(&str, &[u8])> =
            streams.iter().filter(|(path, _)| path.starts_with(&format!("{folder}/"))).collect();
        let first = entries.len() as u32;
        let owner = entries.iter().position(|entry| entry.0 == *folder).unwrap();
        entries[owner].3 = first;
        for (at, (path, content)) in inner.iter().enumerate() {
            let right = if at + 1 < inner.len() { first + at as u32 + 1 } else { NONE };
            let name = path.split_once('/').unwrap().1.to_owned();
            entries.push((name, 2, right, NONE, Some(0), content.to_vec()));
        }
    }
    let (mut sectors, mut table): (Vec<u8>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut put = |content: &[u8]| -> u32 {
        let first = table.len() as u32;
        let count = content.len().div_ceil(512);
        for at in 0..count {
            table.push(if at + 1 < count { first + at as u32 + 1 } else { 0xffff_fffe });
        }
        sectors.extend_from_slice(content);
        sectors.resize(table.len() * 512, 0);
        if count == 0 { 0xffff_fffe } else { first }
    };
    let mut directory = Vec::new();
    for (name, kind, right, child, stream, content) in &entries {
        let start = if stream.is_some() { put(content) } else { 0xffff_fffe };
        let mut entry = vec![0_u8; 128];
        let units: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        entry[..units.len()].copy_from_slice(&units);
        entry[64..66].copy_from_slice(&(units.len() as u16 + 2).to_le_bytes());
        entry[66] = *kind;
        entry[68..72].copy_from_slice(&NONE.to_le_bytes());
        entry[72..76].copy_from_slice(&right.to_le_bytes());
        entry[76..80].copy_from_slice(&child.to_le_bytes());
        entry[116..120].copy_from_slice(&start.to_le_bytes());
        entry[120..124].copy_from_slice(&(content.len() as u32).to_le_bytes());
        directory.extend(entry);
    }
    let directory_at = put(&directory);
    let parts = (table.len() + 2).div_ceil(128).max(1);
    let table_at = table.len() as u32;
    table.extend(std::iter::repeat_n(0xffff_fffd, parts));
    table.resize(parts * 128, NONE);
    let mut out = vec![0_u8; 512];
    out[..8].copy_from_slice(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    out[30..32].copy_from_slice(&9_u16.to_le_bytes());
    out[32..34].copy_from_slice(&6_u16.to_le_bytes());
    out[48..52].copy_from_slice(&directory_at.to_le_bytes());
    for at in [60, 68] {
        out[at..at + 4].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    }
    for at in 0..109 {
        let part = if at < parts { table_at + at as u32 } else { NONE };
        out[76 + at * 4..80 + at * 4].copy_from_slice(&part.to_le_bytes());
    }
    out.extend(sectors);
    out.extend(table.iter().flat_map(|number| number.to_le_bytes()));
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
