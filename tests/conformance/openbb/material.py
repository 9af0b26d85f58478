"""What the requests are made of: widgets, their data, messages, small files."""

import base64
import io
import json
import struct
import uuid
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any

from tests.conformance.openbb.client import Json

ROWS: list[Json] = [
    {
        "date": f"2025-01-{day:02d}",
        "symbol": "ACME",
        "close": round(100 + day * 1.5, 2),
        "volume": 10_000 * day,
    }
    for day in range(1, 11)
]
NEWS = "ACME opens a new plant\nACME misses its forecast\nACME names a new chair"
LEGACY_WIDGET = {
    "uuid": "38181a68-9650-4940-84fb-a3f29c8869f3",
    "name": "Historical Stock Price",
    "description": "Historical closing prices of a stock",
    "metadata": {"symbol": "ACME", "source": "Lab", "lastUpdated": 1728994470324},
}


def human(text: str) -> Json:
    return {"role": "human", "content": text}


def ai(text: str, **more: Any) -> Json:
    return {"role": "ai", "content": text, **more}


def item(content: str, **data_format: Any) -> Json:
    return {"content": content, **({"data_format": data_format} if data_format else {})}


def items(*given: Json) -> Json:
    return {"items": list(given)}


def widget(
    widget_id: str, name: str, description: str, params: Iterable[Json] = (), **more: Any
) -> Json:
    return {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, widget_id)),
        "origin": "Lab Backend",
        "widget_id": widget_id,
        "name": name,
        "description": description,
        "params": list(params),
        "metadata": {"source": "Lab", "lastUpdated": 1737038636601},
        **more,
    }


def price_widget() -> Json:
    symbol = {
        "name": "symbol",
        "type": "ticker",
        "description": "Ticker symbol",
        "default_value": None,
        "current_value": "ACME",
        "options": [],
    }
    limit = {
        "name": "limit",
        "type": "number",
        "description": "Number of rows",
        "default_value": 10,
        "current_value": 10,
    }
    return widget(
        "price_history",
        "Price History",
        "Daily closing prices and volume of one symbol",
        [symbol, limit],
        category="Equity",
        sub_category="Price",
        columns=["date", "symbol", "close", "volume"],
    )


def news_widget() -> Json:
    ticker = {
        "name": "ticker",
        "type": "string",
        "description": "Ticker symbol",
        "current_value": "ACME",
    }
    return widget("company_news", "Company News", "Latest headlines about a company", [ticker])


def dashboard(*widgets: Json) -> Json:
    """The state of a workspace that shows these widgets."""
    shown = [{"widget_uuid": each["uuid"], "name": each["name"]} for each in widgets]
    return {
        "action_history": [],
        "current_dashboard_uuid": str(uuid.uuid4()),
        "current_dashboard_info": {
            "id": "d1",
            "name": "Lab",
            "current_tab_id": "main",
            "tabs": [{"tab_id": "main", "widgets": shown}],
        },
        "current_page_context": "dashboard",
    }


def request(
    *messages: Json, primary: Iterable[Json] = (), secondary: Iterable[Json] = (), **more: Any
) -> Json:
    return {
        "messages": list(messages),
        "widgets": {"primary": list(primary), "secondary": list(secondary), "extra": []},
        "context": [],
        "urls": [],
        "api_keys": {},
        "timezone": "Europe/Vienna",
        "workspace_options": {},
        "tools": [],
        **more,
    }


def fetch(call: Json) -> list[Json]:
    """What the browser hands back for a call."""
    name, arguments = call["function"], call["input_arguments"]
    if name in ("get_widget_data", "get_extra_widget_data"):
        return [_fetch_source(source) for source in arguments["data_sources"]]
    if name == "execute_agent_tool":
        return [{**items(item(json.dumps({"answer": 42}))), "extra_citations": []}]
    if name == "get_skill_content":
        skill = {"slug": arguments["slug"], "description": "lab", "source": "model_selected"}
        skill["contentMarkdown"] = "Answer briefly."
        return [{"status": "success", "data": {"skill": skill}}]
    if name == "get_params_options":
        return [_fetch_options(query) for query in arguments["param_options_queries"]]
    return [{"status": "success", "message": "done"}]


def _fetch_source(source: Json) -> Json:
    if source["id"] == "company_news":
        return items(item(NEWS, data_type="object", parse_as="text"))
    return items(item(json.dumps(ROWS)))  # built-in widgets tell no data_format


def _fetch_options(query: Json) -> Json:
    options = [{"label": "ACME", "value": "ACME"}]
    found = {"param_options": [{"param": query["param"], "options": options}]}
    return items(item(json.dumps(found)))


def fetched(data: list[Json], source: Json, arguments: Json | None = None) -> list[Json]:
    """The two messages of a call that has been made: what the agent asked for, and what came."""
    asked = {
        "widget_uuid": source["uuid"],
        "origin": source["origin"],
        "id": source["widget_id"],
        "input_args": arguments or {},
    }
    call = {"function": "get_widget_data", "input_arguments": {"data_sources": [asked]}}
    queries = [{"widget_uuid": source["uuid"]}]
    state = {"copilot_function_call_arguments": {"widget_queries": queries}}
    return [ai(json.dumps(call)), {"role": "tool", **call, "data": data, "extra_state": state}]


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def make_pdf(text: str) -> bytes:
    stream = f"BT /F1 14 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, count = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % count
    for offset in offsets:
        out += b"%010d 00000 n \n" % offset
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, start)
    return bytes(out)


def make_png() -> bytes:
    def chunk(tag: bytes, body: bytes) -> bytes:
        checked = struct.pack(">I", zlib.crc32(tag + body))
        return struct.pack(">I", len(body)) + tag + body + checked

    size = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    red = (b"\x00" + b"\xff\x00\x00" * 8) * 8
    parts = (chunk(b"IHDR", size), chunk(b"IDAT", zlib.compress(red)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def make_xlsx() -> bytes:
    """A workbook of two rows."""
    schemas = "http://schemas.openxmlformats.org/"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml."
    package = "application/vnd.openxmlformats-package."
    linked = f"{schemas}officeDocument/2006/relationships"
    sheet = f'xmlns="{schemas}spreadsheetml/2006/main"'
    rows = "".join(
        f'<row r="{at}"><c r="A{at}" t="inlineStr"><is><t>{word}</t></is></c>'
        f'<c r="B{at}"><v>{at}</v></c></row>'
        for at, word in enumerate(("alpha", "beta"), 1)
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{schemas}package/2006/content-types">'
        f'<Default Extension="rels" ContentType="{package}relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": _relate(schemas, f"{linked}/officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": f'<workbook {sheet} xmlns:r="{linked}">'
        '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relate(
            schemas, f"{linked}/worksheet", "worksheets/sheet1.xml"
        ),
        "xl/worksheets/sheet1.xml": f"<worksheet {sheet}><sheetData>{rows}</sheetData></worksheet>",
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + body)
    return buffer.getvalue()


def _relate(schemas: str, kind: str, target: str) -> str:
    relation = f'<Relationship Id="r1" Type="{kind}" Target="{target}"/>'
    start = f'<Relationships xmlns="{schemas}package/2006/relationships">'
    return f"{start}{relation}</Relationships>"
