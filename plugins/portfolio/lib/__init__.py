"""Sums over positions, done by code so that no digit depends on a model."""

import csv
from pathlib import Path

NEEDED = ("symbol", "quantity", "price")


class PortfolioValue:
    name = "portfolio_value"
    description = "Value, weight and gain of every position, the total, and the concentration."
    params_schema = {
        "type": "object",
        "properties": {
            "symbol": {
                "type": "string",
                "description": "Only this symbol, if the user names one.",
                "maxLength": 20,
            }
        },
    }

    def __init__(self, params):
        self.symbol = (params.get("symbol") or "").upper()

    def call(self, fixed_params):
        path = fixed_params["options"].get("positions", "")
        if not path:
            raise ValueError("Choose your file of positions under Plugins first.")
        rows = [row for row in positions(path) if not self.symbol or row["symbol"] == self.symbol]
        if not rows:
            raise ValueError(f"There is no position {self.symbol or 'in the file'}.")
        total = sum(row["value"] for row in rows)
        for row in rows:
            row["weight_percent"] = round(100 * row["value"] / total, 2) if total else 0.0
        rows.sort(key=lambda row: -row["value"])
        gain = sum(row["gain"] for row in rows)
        weights = [row["value"] / total for row in rows] if total else []
        output = {
            "total": round(total, 2),
            "gain": round(gain, 2),
            "concentration": round(sum(weight * weight for weight in weights), 4),
            "rows": rows,
        }
        largest = rows[0]
        message = (
            f"{len(rows)} positions are worth {total:,.2f}; the gain is {gain:,.2f}. "
            f"The largest is {largest['symbol']} with {largest['weight_percent']} %."
        )
        return {"output": output, "message": message}


def positions(path):
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        start = file.read(8192)
        file.seek(0)
        try:
            dialect = csv.Sniffer().sniff(start, ",;\t|")
        except csv.Error:
            dialect = csv.excel
        for line, row in enumerate(csv.DictReader(file, dialect=dialect), 2):
            plain = {(key or "").strip().lower(): (text or "").strip() for key, text in row.items()}
            lacking = [name for name in NEEDED if not plain.get(name)]
            if lacking:
                raise ValueError(f"Line {line} has no {', '.join(lacking)}.")
            quantity, price = number(plain["quantity"], line), number(plain["price"], line)
            cost = number(plain.get("cost") or "0", line)
            yield {
                "symbol": plain["symbol"].upper(),
                "quantity": quantity,
                "price": price,
                "value": round(quantity * price, 2),
                "gain": round(quantity * (price - cost), 2) if plain.get("cost") else 0.0,
            }


def number(text, line):
    try:
        return float(text.replace(" ", "").replace("'", ""))
    except ValueError:
        raise ValueError(f"Line {line}: '{text}' is not a number.") from None


exported = [PortfolioValue]
