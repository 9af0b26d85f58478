"""Makes up a bank's credit book, a shipping desk and a chain of pharmacies, oddly written.

Headers are German and French, quarters and weeks are labels, shares are 0.0425 or 12,5 %, amounts
are in thousands or have a unit behind them, and some tables have their own total.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

Row = dict[str, Any]
QUARTERS = [f"Q{quarter}/{year}" for year in (2024, 2025, 2026) for quarter in (1, 2, 3, 4)][:11]
WEEKS = [f"2026-W{week:02d}" for week in range(20, 45)]
REGIONS = ["DACH", "Iberia", "Nordics", "Benelux"]
ROUTES = {
    "ROT-SHA": "Rotterdam\u2013Shanghai",
    "SHA-LAX": "Shanghai\u2013Los Angeles",
    "SIN-ROT": "Singapore\u2013Rotterdam",
    "HAM-NYC": "Hamburg\u2013New York",
}
PORTS = ["Rotterdam", "Singapore", "Fujairah", "Houston"]
BRANCHES = ["Hamburg", "Köln", "München", "Leipzig"]
STORES = ["Altstadt", "Bahnhof", "Nordring", "Seepark", "Klinikum"]


def chance(key: str) -> random.Random:
    """Returns a random generator for this key alone."""
    return random.Random(f"moat-ledger|{key}")


def loan_book() -> list[Row]:
    listed = [
        ("K-1001", "Möbel Krause GmbH", "Handel", 12450.5, 0.0425, "BBB", 1, "31.03.2027"),
        ("K-1002", "Stahlwerk Unna AG", "Industrie", 48200.0, 0.0515, "BB", 2, "30.06.2029"),
        ("K-1003", "Biohof Lenz KG", "Landwirtschaft", 3180.75, 0.0390, "BBB", 1, "15.01.2028"),
        ("K-1004", "Hotel Seeblick GmbH", "Gastgewerbe", 7900.0, 0.0675, "B", 3, "30.09.2026"),
        ("K-1005", "Wohnbau Süd eG", "Immobilien", 91250.0, 0.0310, "A", 1, "31.12.2035"),
        ("K-1006", "Spedition Ruhr GmbH", "Verkehr", 15670.2, 0.0480, "BB", 2, "28.02.2030"),
        ("K-1007", "Klinik Taunus gGmbH", "Gesundheit", 33400.0, 0.0350, "A", 1, "31.08.2031"),
        ("K-1008", "Solarpark Elbe GmbH", "Energie", 27800.0, 0.0405, "BBB", 1, "30.11.2033"),
        ("K-1009", "Café Central OHG", "Gastgewerbe", 640.0, 0.0725, "CCC", 3, "31.05.2026"),
        ("K-1010", "Textil Vogt GmbH", "Handel", 5230.0, 0.0560, None, 2, "31.10.2028"),
    ]
    names = (
        "Kreditnr",
        "Kunde",
        "Branche",
        "Saldo (TEUR)",
        "Zins",
        "Rating",
        "Stufe",
        "Fälligkeit",
    )
    return [dict(zip(names, one, strict=True)) for one in listed]


def npl_ratio() -> list[Row]:
    """Returns the ratios by quarter. One of them was not reported and is None."""
    dice = chance("npl")
    rows: list[Row] = [
        {
            "region": region, "quarter": quarter, "npl_ratio": round(dice.uniform(0.012, 0.058), 4),
            "coverage": round(dice.uniform(0.38, 0.71), 3),
        }
        for region in REGIONS
        for quarter in QUARTERS
    ]  # fmt: skip
    for row in rows:
        if (row["region"], row["quarter"]) == ("Nordics", "Q3/2025"):
            row["npl_ratio"] = None
    return rows


def provisions() -> list[Row]:
    dice = chance("provisions")
    rows = []
    for region in REGIONS:
        for quarter in QUARTERS:
            added, released = round(dice.uniform(900, 4200), 1), -round(dice.uniform(200, 1500), 1)
            rows.append({
                "region": region, "quarter": f"{quarter[3:]}-{quarter[:2]}", "additions": added,
                "releases": released, "net": round(added + released, 1),
            })  # fmt: skip
    return rows


def sector_exposure() -> list[Row]:
    listed = [
        ("Real Estate", 912.4, 1000, 0.9124),
        ("Manufacturing", 640.8, 900, 0.712),
        ("Energy", 377.1, 400, 0.9428),
        ("Retail", 251.9, 450, 0.5598),
        ("Shipping", 118.6, 120, 0.9883),
        ("Agriculture", 75.2, 200, 0.376),
        ("Public Sector", 530.0, None, None),
    ]
    return [
        {"sector": a, "exposure_eur_mn": b, "limit_eur_mn": c, "utilisation": d}
        for a, b, c, d in listed
    ]


def rating_migration() -> list[Row]:
    listed = {
        "AAA": (92.1, 6.8, 0.9, 0.2, 0.0),
        "AA": (1.4, 90.2, 7.3, 1.0, 0.1),
        "A": (0.1, 2.2, 91.0, 6.1, 0.6),
        "BBB": (0.0, 0.3, 4.4, 88.9, 6.4),
        "BB": (0.0, 0.1, 0.6, 7.2, 92.1),
    }
    return [
        {"from": key, "AAA": v[0], "AA": v[1], "A": v[2], "BBB": v[3], "below": v[4]}
        for key, v in listed.items()
    ]


def capital() -> list[Row]:
    return [
        {
            "cet1": 0.1427,
            "tier1": 0.1583,
            "total_capital": 0.1812,
            "leverage": 0.0561,
            "rwa_eur_bn": 18.94,
            "own_funds_eur_bn": 3.43,
            "lcr": 1.432,
            "nsfr": 1.187,
        }
    ]


def annual_result() -> list[Row]:
    listed = [
        (2021, 1204.5, -88.2, 612.0, 0.0151),
        (2022, 1251.8, -121.7, 640.4, 0.0149),
        (2023, 1398.6, -164.9, 671.3, 0.0168),
        (2024, 1442.3, -143.0, 702.8, 0.0172),
        (2025, 1467.1, -199.4, 731.6, 0.0166),
    ]
    names = (
        "Année",
        "Produit net bancaire (M€)",
        "Coût du risque (M€)",
        "Frais généraux (M€)",
        "Marge nette d'intérêt",
    )
    return [dict(zip(names, one, strict=True)) for one in listed]


def deposits() -> list[Row]:
    dice = chance("dep")
    rows = []
    for branch in BRANCHES:
        level = dice.uniform(220, 900)
        for month in range(1, 11):
            level *= 1 + dice.gauss(0.004, 0.02)
            rows.append(
                {
                    "branch": branch,
                    "month": f"2026-{month:02d}",
                    "retail_deposits": round(level, 1),
                    "corporate_deposits": round(level * dice.uniform(0.4, 0.9), 1),
                    "customers": dice.randrange(14000, 52000),
                }
            )
    return rows


def watch_list() -> list[Row]:
    listed = [
        ("Stahlwerk Unna AG", "Loan", 48200, 35),
        ("Hotel Seeblick GmbH", "Loan", 7900, 112),
        ("Hotel Seeblick GmbH", "Overdraft", 410, 96),
        ("Café Central OHG", "Loan", 640, 181),
        ("Textil Vogt GmbH", "Loan", 5230, 12),
        ("Textil Vogt GmbH", "Guarantee", 900, None),
        ("Reederei Harms KG", "Loan", 22150, 64),
    ]
    return [
        {"borrower": a, "facility": b, "exposure_k": c, "days_past_due": d} for a, b, c, d in listed
    ]


def freight_rates() -> list[Row]:
    dice = chance("freight")
    rows = []
    for route in ROUTES:
        level = dice.uniform(1800, 5200)
        for week in WEEKS:
            level *= 1 + dice.gauss(0, 0.05)
            rows.append(
                {
                    "route": route,
                    "week": week,
                    "usd_per_feu": round(level),
                    "wow": round(dice.gauss(0, 0.05), 4),
                }
            )
    return rows


def fleet() -> list[Row]:
    listed = [
        ("MV Aurelia", 9456123, "Panamax", 76500, 2011, "laden", "2026-11-21"),
        ("MV Borealis", 9512340, "Capesize", 180200, 2014, "ballast", "2026-11-19"),
        ("MV Cassiopeia", 9633871, "Supramax", 57800, 2009, "laden", "2026-12-02"),
        ("MV Delphin", 9702255, "Panamax", 81900, 2018, "drydock", None),
        ("MV Elbe Star", 9811406, "Handysize", 38400, 2020, "laden", "2026-11-24"),
        ("MV Fjord", 9387719, "Supramax", 56100, 2007, "ballast", "2026-11-30"),
    ]
    names = ("Vessel", "IMO", "Class", "DWT", "Built", "Status", "ETA")
    return [dict(zip(names, one, strict=True)) for one in listed]


def congestion() -> list[Row]:
    listed = [
        ("Rotterdam", 14, 1.5, 0.74),
        ("Singapore", 41, 2.8, 0.91),
        ("Shanghai", 63, 4.2, 0.97),
        ("Los Angeles", 22, 3.1, 0.86),
        ("Hamburg", 9, 0.9, 0.69),
        ("Santos", 37, 6.4, 0.93),
    ]
    return [
        {"port": a, "vessels_waiting": b, "avg_wait": c, "berth_occupancy": d}
        for a, b, c, d in listed
    ]


def bunker() -> list[Row]:
    dice = chance("bunker")
    rows = []
    for port in PORTS:
        base = dice.uniform(540, 640)
        for day in range(2, 31):
            rows.append(
                {
                    "port": port,
                    "date": f"2026-10-{day:02d}",
                    "VLSFO": round(base + dice.gauss(0, 9), 1),
                    "HSFO": round(base * 0.78 + dice.gauss(0, 7), 1),
                    "MGO": round(base * 1.32 + dice.gauss(0, 11), 1),
                }
            )
    return rows


def fixtures() -> list[Row]:
    listed = [
        ("MV Aurelia", "Norden Bulk", 16500, "11-13 months", "2026-03-04"),
        ("MV Borealis", "Vale Trading", 24800, "5-7 months", "2026-05-19"),
        ("MV Cassiopeia", "Norden Bulk", 13250, "1 trip", "2026-08-11"),
        ("MV Elbe Star", "Cargill Ocean", 11900, "11-13 months", "2026-07-27"),
        ("MV Fjord", "Oldendorff", 12400, "1 trip", "2026-09-30"),
        ("MV Borealis", "Vale Trading", 26100, "11-13 months", "2026-10-12"),
    ]
    return [
        {"vessel": a, "charterer": b, "daily_hire": c, "period": d, "fixed_on": e}
        for a, b, c, d, e in listed
    ]


def voyages() -> list[Row]:
    listed = [
        ("V-231", "MV Aurelia", 1840.0, 1122.5, 717.5),
        ("V-232", "MV Cassiopeia", 960.2, 1043.9, -83.7),
        ("V-233", "MV Borealis", 3105.0, 2010.4, 1094.6),
        ("V-234", "MV Fjord", 710.8, 902.1, -191.3),
        ("V-235", "MV Elbe Star", 655.0, 498.3, 156.7),
        ("V-236", "MV Aurelia", 1702.4, 1180.6, 521.8),
    ]
    return [
        {"voyage": a, "vessel": b, "revenue_kusd": c, "costs_kusd": d, "result_kusd": e}
        for a, b, c, d, e in listed
    ]


def store_sales() -> list[Row]:
    dice = chance("stores")
    rows = []
    for store in STORES:
        for week in WEEKS[-8:]:
            sales = round(dice.uniform(38000, 91000), 2)
            rows.append(
                {
                    "Filiale": store,
                    "KW": f"KW {week[-2:]}/2026",
                    "Umsatz": sales,
                    "Kunden": dice.randrange(900, 2600),
                    "Rohertrag %": round(dice.uniform(19, 27), 1),
                }
            )
    return rows


def stock() -> list[Row]:
    listed = [
        ("01234567", "Ibuprofen 400 mg", "Schmerz", 412, 150, 3.95),
        ("02345678", "Paracetamol 500 mg", "Schmerz", 88, 200, 2.49),
        ("03456789", "Nasenspray 0,1 %", "Erkältung", 37, 120, 4.10),
        ("04567890", "Vitamin D3 1000", "Vitamine", 240, 80, 7.80),
        ("05678901", "Cetirizin 10 mg", "Allergie", None, 90, 5.20),
        ("06789012", "Magnesium 400", "Vitamine", 131, 60, 6.35),
        ("07890123", "Hustensaft 200 ml", "Erkältung", 64, 100, 8.95),
    ]
    names = ("PZN", "Artikel", "Gruppe", "Bestand", "Mindestbestand", "EK-Preis")
    return [dict(zip(names, one, strict=True)) for one in listed]


def prescriptions() -> list[Row]:
    dice = chance("rx")
    rows = []
    for month in range(1, 11):
        public, private = dice.randrange(9000, 14000), dice.randrange(1500, 3900)
        rows.append(
            {
                "Monat": f"2026-{month:02d}",
                "GKV": public,
                "PKV": private,
                "PKV-Anteil": round(100 * private / (public + private), 1),
            }
        )
    return rows


def suppliers() -> list[Row]:
    listed = [
        ("Laboratoires Dumas", "France", 4, 0.973, 2310.0),
        ("Pharma Rhône", "France", 6, 0.948, 1275.5),
        ("Nordpharm AB", "Suède", 9, 0.991, 3480.2),
        ("Farmacéutica Ibérica", "Espagne", 7, 0.932, 890.0),
        ("Medica Basel AG", "Suisse", 3, 0.987, 4125.9),
    ]
    names = ("Fournisseur", "Pays", "Délai (jours)", "Taux de service", "Achats (k€)")
    return [dict(zip(names, one, strict=True)) for one in listed]


def recalls() -> list[Row]:
    return [
        {
            "date": "2026-09-14",
            "product": "Hustensaft 200 ml",
            "batch": "HX-4471",
            "class": "II",
            "units": 1240,
        },
        {
            "date": "2026-10-02",
            "product": "Nasenspray 0,1 %",
            "batch": "NS-0917",
            "class": "III",
            "units": 310,
        },
        {
            "date": "2026-10-21",
            "product": "Cetirizin 10 mg",
            "batch": "CZ-2208",
            "class": "I",
            "units": 5600,
        },
    ]


DATASETS: dict[str, Callable[[], list[Row]]] = {
    one.__name__: one
    for one in (
        loan_book, npl_ratio, provisions, sector_exposure, rating_migration, capital,
        annual_result, deposits, watch_list, freight_rates, fleet, congestion, bunker, fixtures,
        voyages, store_sales, stock, prescriptions, suppliers, recalls,
    )
}  # fmt: skip


def german(amount: float) -> str:
    """Writes 1.234,5 as in German and Spanish."""
    text = f"{amount:,.2f}".rstrip("0").rstrip(".") if amount % 1 else f"{amount:,.0f}"
    return text.replace(",", "\0").replace(".", ",").replace("\0", ".")


def french(amount: float) -> str:
    return f"{amount:,.1f}".replace(",", "\u202f").replace(".", ",").replace("-", "\u2212")


def brackets(amount: float) -> str:
    return f"({abs(amount):,.1f})" if amount < 0 else f"{amount:,.1f}"


def seconds(day: str) -> int:
    """Returns the day in seconds since 1970."""
    return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


FORMS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "loan_book": {"Saldo (TEUR)": german},
    "provisions": dict.fromkeys(("additions", "releases", "net"), brackets),
    "rating_migration": dict.fromkeys(
        ("AAA", "AA", "A", "BBB", "below"), lambda share: f"{share:.1f}%"
    ),
    "annual_result": dict.fromkeys(
        ("Produit net bancaire (M€)", "Coût du risque (M€)", "Frais généraux (M€)"), french
    ),
    "fleet": {"DWT": lambda tonnes: f"{tonnes:,} t", "ETA": seconds},
    "congestion": {"avg_wait": lambda days: f"{days:g} d"},
    "bunker": {"date": lambda day: f"{day[8:]}/{day[5:7]}/{day[:4]}"},
    "fixtures": {"daily_hire": lambda dollars: f"${dollars / 1000:g}k"},
    "voyages": {"result_kusd": brackets},
    "store_sales": {"Umsatz": lambda euros: f"{german(euros)} €"},
    "prescriptions": {"PKV-Anteil": lambda share: f"{german(share)} %"},
    "stock": {"EK-Preis": german},
}
TOTALS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "loan_book": ("Kunde", "Summe", ("Saldo (TEUR)",)),
    "sector_exposure": ("sector", "Total", ("exposure_eur_mn",)),
    "voyages": ("voyage", "Total", ("revenue_kusd", "costs_kusd", "result_kusd")),
}
"""For each dataset, the column with the row's name, that name, and the columns that it adds up."""
NESTED = {
    "capital": {
        "solvency": ("cet1", "tier1", "total_capital", "leverage"),
        "amounts": ("rwa_eur_bn", "own_funds_eur_bn"),
        "liquidity": ("lcr", "nsfr"),
    }
}
