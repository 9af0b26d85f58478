"""Small real files made in memory: pdf, xlsx, xls, docx, png."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence

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
    """Returns a zip archive. In the names of its parts, __ means a slash and _dot_ a dot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), body)
    return buffer.getvalue()


def xlsx() -> bytes:
    """Returns a sheet with shared texts in the header, a date, a number, a gap and a flag."""
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


def workbook(sheets: Mapping[str, Sequence[Sequence[str]]]) -> bytes:
    """Returns a workbook with sheets of texts, by their names."""
    names = "".join(f'<sheet name="{name}"/>' for name in sheets)
    parts = {
        "xl__workbook_dot_xml": f'<workbook xmlns="{MAIN}"><sheets>{names}</sheets></workbook>'
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = "".join(
            "<row>"
            + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row)
            + "</row>"
            for row in rows
        )
        body = f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
        parts[f"xl__worksheets__sheet{number}_dot_xml"] = body
    return zipped(**parts)


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


def xls(*cells: tuple[int, int, str | float], sheet: str = "Fills") -> bytes:
    """Returns a file in Excel 97's format: BIFF8 records in a compound file. A cell is its row,
    column and value."""
    start = _biff(0x0809, struct.pack("<HHHHII", 0x0600, 0x0005, 0x0DBB, 0x07CC, 0, 6))
    title = struct.pack("<BB", len(sheet), 0) + sheet.encode("latin-1")
    place = len(start) + 4 + 6 + len(title) + 4
    listed = _biff(0x0085, struct.pack("<IBB", place, 0, 0) + title)
    begin = _biff(0x0809, struct.pack("<HHHHII", 0x0600, 0x0010, 0x0DBB, 0x07CC, 0, 6))
    held = b"".join(_xls_cell(*cell) for cell in cells)
    end = _biff(0x000A, b"")
    return _compound("Workbook", start + listed + end + begin + held + end)


def _xls_cell(row: int, column: int, value: str | float) -> bytes:
    where = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
        return _biff(0x0204, where + text)
    return _biff(0x0203, where + struct.pack("<d", value))


def _biff(kind: int, body: bytes) -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def _compound(name: str, stream: bytes) -> bytes:
    """Returns a compound file with one stream in ordinary sectors of 512 bytes."""
    stream = stream.ljust(4096, b"\0")
    count = -(-len(stream) // 512)
    free, last, table = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
    chain = [table, last, *range(3, count + 2), last]
    allocation = struct.pack(f"<{len(chain)}I", *chain).ljust(512, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, last, 0, last, 0)
    head += struct.pack("<109I", 0, *[free] * 108)

    def entry(title: str, kind: int, child: int, begin: int, size: int) -> bytes:
        written = title.encode("utf-16-le")
        named = written.ljust(64, b"\0") + struct.pack("<H", len(written) + 2)
        links = struct.pack("<BBIII", kind, 1, free, free, child)
        return named + links + bytes(36) + struct.pack("<IQ", begin, size)

    folder = entry("Root Entry", 5, 1, last, 0) + entry(name, 2, free, 2, len(stream))
    return head + allocation + folder.ljust(512, b"\0") + stream.ljust(count * 512, b"\0")
