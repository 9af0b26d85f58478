"""Small real files made in memory: pdf, xlsx, docx, png."""

import io
import struct
import zipfile
import zlib

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(*pages: str) -> bytes:
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Contents {5 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        bodies += [
            page.encode(),
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(bodies) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def zipped(**parts: str) -> bytes:
    """Parts named with __ for a slash and _dot_ for a dot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), body)
    return buffer.getvalue()


def xlsx() -> bytes:
    """A header with shared texts, a date cell, a number, a gap, a flag."""
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
        '<c r="D1" t="inlineStr"><is><t>ok</t></is></c></row>'
        '<row r="2"><c r="A2" s="1"><v>45658</v></c><c r="B2"><v>12.5</v></c>'
        '<c r="D2" t="b"><v>1</v></c></row>'
    )
    return zipped(
        xl__workbook_dot_xml=f'<workbook xmlns="{MAIN}"><sheets><sheet name="Fills"/></sheets>'
        "</workbook>",
        xl__worksheets__sheet1_dot_xml=f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
        xl__sharedStrings_dot_xml=f'<sst xmlns="{MAIN}"><si><t>day</t></si><si><r><t>am</t></r>'
        "<r><t>ount</t></r></si></sst>",
        xl__styles_dot_xml=f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="165" '
        'formatCode="yyyy\\-mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
        "</cellXfs></styleSheet>",
    )


def docx(*paragraphs: str) -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs)
    return zipped(
        word__document_dot_xml=f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    )


def png() -> bytes:
    def chunk(tag: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + tag + body + struct.pack(">I", zlib.crc32(tag + body))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )
