export type PdfSheet = { heading: string; lines: string[] };

/** A PDF of A4 pages with a heading and lines each, in a font that every viewer brings. Texts are ASCII. */
export function pdf(sheets: PdfSheet[]): Buffer {
  const escaped = (text: string) => text.replace(/[\\()]/g, "\\$&");
  const objects: string[] = ["<< /Type /Catalog /Pages 2 0 R >>", `<< /Type /Pages /Count ${sheets.length} /Kids [${sheets.map((_, at) => `${4 + at * 2} 0 R`).join(" ")}] >>`, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"];
  sheets.forEach(({ heading, lines }, at) => {
    const shown = [`BT /F1 20 Tf 72 760 Td (${escaped(heading)}) Tj ET`];
    let y = 715;
    for (const line of lines) {
      if (line) shown.push(`BT /F1 11 Tf 72 ${y} Td (${escaped(line)}) Tj ET`);
      y -= line ? 15 : 22;
    }
    const stream = shown.join("\n");
    objects.push(`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R >>`, `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  });
  let file = "%PDF-1.7\n";
  const places: number[] = [];
  objects.forEach((object, at) => {
    places.push(file.length);
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
  });
  const table = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("")}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}

/** A handbook of so many pages; the notice period stands on one of them. */
export function handbook(pages: number, noticeOn: number): Buffer {
  const topics = ["Travel", "Canteen", "Parking", "Printers", "Visitors", "Keys", "Heating", "Post"];
  return pdf(
    Array.from({ length: pages }, (_, at) =>
      at + 1 === noticeOn
        ? {
            heading: "Notice period",
            lines: ["This part holds for everybody who has a contract without an end.", "", "The notice period is three months to the end of a quarter. Notice has to be", "given in writing, and is to be handed to the head of the department.", "", "Whoever is on trial may leave within two weeks."],
          }
        : { heading: `${topics[at % topics.length]} ${at + 1}`, lines: [`What holds for ${topics[at % topics.length]?.toLowerCase()} is written here, in part ${at + 1} of the rules.`, "Ask the front desk where something is not clear, and bring your badge along.", "", "The rules are looked over once a year."] },
    ),
  );
}
