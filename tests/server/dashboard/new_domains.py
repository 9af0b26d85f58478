"""Tables of domains that the rules were never tuned on, as widgets bring them.

Each table is written as CSV: the name of its widget first, then a header and rows. A name with a
parameter (`Standings?club=Lyon`) is a widget that is read for a value.
"""

import csv
import io
import json
from dataclasses import replace
from datetime import date

from server.chat import ChatRequest
from server.dashboard.meaning import Meaning
from server.dashboard.plan import Planner
from server.dashboard.query import Element, Item, Param, Query, Result, Said, Source, Widget
from server.events import Pieces, TextDelta
from tests.kit.engines import ScriptedEngine

TODAY = date(2026, 11, 18)

DOMAINS: dict[str, list[str]] = {
    "hospital": [
        """Wards
ward,month,beds,occupied,admissions,cost_per_day
Cardiology,2026-01,40,36,210,880.5
Cardiology,2026-02,40,38,198,902
Cardiology,2026-03,42,41,225,915.25
Surgery,2026-01,60,51,340,1210
Surgery,2026-02,60,55,322,1195
Surgery,2026-03,58,49,351,1240.75
Pediatrics,2026-01,25,14,120,640
Pediatrics,2026-02,25,19,131,655
Pediatrics,2026-03,25,,140,661""",
        """Staff
name,role,ward,hired,salary
Adams,Nurse,Cardiology,2019-03-01,52000
Baker,Doctor,Cardiology,2015-07-15,118000
Cole,Nurse,Surgery,2021-11-01,49500
Diaz,Doctor,Surgery,2012-01-10,131000
Evans,Nurse,Pediatrics,2020-05-20,51000
Fox,Doctor,Pediatrics,2018-09-01,109000
Grant,Technician,Surgery,2022-02-14,45000""",
    ],
    "grid": [
        """Generation
plant,fuel,year,output_gwh,capacity_mw,emissions_kt
Alder,Gas,2023,2100,400,840
Alder,Gas,2024,1980,400,790
Alder,Gas,2025,1750,400,700
Birch,Wind,2023,620,250,0
Birch,Wind,2024,710,250,0
Birch,Wind,2025,905,320,0
Cedar,Nuclear,2023,7800,1000,0
Cedar,Nuclear,2024,7650,1000,0
Cedar,Nuclear,2025,7900,1000,0
Dogwood,Coal,2023,3300,600,3100
Dogwood,Coal,2024,2700,600,2540
Dogwood,Coal,2025,1200,600,1130""",
        """Load
hour,demand_mw,price_eur
2026-07-01 00:00,1450,38.2
2026-07-01 06:00,1720,55.9
2026-07-01 12:00,2310,21.4
2026-07-01 18:00,2480,96.7
2026-07-02 00:00,1390,36.0
2026-07-02 06:00,1690,
2026-07-02 12:00,2260,-4.5
2026-07-02 18:00,2515,101.3""",
    ],
    "football": [
        """Table
team,played,won,drawn,lost,goals_for,goals_against,points
Rovers,20,13,4,3,38,17,43
United,20,12,3,5,41,25,39
City,20,10,6,4,33,22,36
Albion,20,9,5,6,29,24,32
Wanderers,20,5,7,8,20,27,22
Athletic,20,3,3,14,14,44,12""",
        """Matches
date,home,away,home_goals,away_goals,attendance
2026-08-15,Rovers,United,2,1,31200
2026-08-15,City,Albion,0,0,22400
2026-08-22,United,City,3,2,40100
2026-08-22,Albion,Rovers,1,1,18900
2026-08-29,Rovers,City,2,0,30550
2026-09-05,Wanderers,Athletic,4,1,15100
2026-09-12,Athletic,United,0,5,12700
2026-09-12,Albion,Wanderers,2,2,17650""",
        """Transfers
player,from_team,to_team,season,fee_million
Okafor,United,Rovers,2025/26,12.5
Lindqvist,Albion,City,2025/26,8
Marsh,Rovers,Athletic,2024/25,1.2
Petrov,City,United,2024/25,
Sato,Wanderers,United,2025/26,21.75""",
    ],
    "people": [
        """Headcount
department,country,2023,2024,2025
Engineering,Germany,120,135,150
Engineering,India,80,110,160
Sales,Germany,45,44,40
Sales,India,30,36,41
Support,Germany,25,22,18
Support,India,60,75,88
Total,,360,422,497""",
        """Leavers
employee_id,department,left_on,tenure_years,reason
1001,Engineering,2026-01-31,3.5,Resigned
1002,Sales,2026-02-15,1.2,Dismissed
1003,Engineering,2026-02-28,7,Retired
1004,Support,2026-03-31,0.8,Resigned
1005,Sales,2026-05-10,4.4,Resigned
1006,Support,2026-06-30,2.1,Resigned""",
        """Pay
department,median_salary,bonus_percent,staff
Engineering,98000,12.5,310
Sales,72000,25,81
Support,51000,5,106""",
    ],
    "logistics": [
        """Shipments
shipment,origin,destination,carrier,shipped,delivered,weight_kg,cost
S-101,Hamburg,Lyon,Nordlog,2026-03-02,2026-03-05,1200,840
S-102,Hamburg,Madrid,Iberfrei,2026-03-03,2026-03-09,800,1130
S-103,Rotterdam,Lyon,Nordlog,2026-03-10,2026-03-12,450,390
S-104,Rotterdam,Milan,Alpex,2026-03-15,2026-03-21,2300,1990
S-105,Hamburg,Milan,Alpex,2026-04-01,2026-04-04,600,720
S-106,Antwerp,Madrid,Iberfrei,2026-04-07,2026-04-16,950,1240
S-107,Antwerp,Lyon,Nordlog,2026-04-09,,300,310
S-108,Hamburg,Lyon,Nordlog,2026-04-20,2026-04-22,1500,980""",
        """Warehouses
site,city,area_m2,pallets,capacity_pallets,opened
H1,Hamburg,12000,8200,10000,2011
R1,Rotterdam,15500,14100,15000,2016
A1,Antwerp,7000,3100,6500,2020
L1,Lyon,5200,5100,5200,2014""",
    ],
    "bonds": [
        """Positions
isin,issuer,sector,rating,coupon,maturity,face_value,market_value,duration
XS01,Norden Bank,Financials,A,3.25,2028-06-15,5000000,4925000,1.5
XS02,Ibero Gas,Utilities,BBB,4.5,2031-03-01,3000000,3060000,3.9
XS03,Helvia Pharma,Health,AA,2.0,2035-09-30,4000000,3520000,7.8
XS04,Norden Bank,Financials,BBB,5.125,2033-01-20,2000000,2080000,5.4
XS05,Lumen Rail,Transport,A,3.0,2029-12-01,6000000,5790000,2.8
XS06,Costa Water,Utilities,A,4.0,2040-05-15,2500000,2437500,10.1
Total,,,,,,22500000,21812500,""",
        """Curve
tenor,yield_today,yield_month_ago,yield_year_ago
3M,2.05,2.11,3.4
2Y,2.31,2.2,3.05
5Y,2.48,2.4,2.87
10Y,2.79,2.66,2.8
30Y,3.12,3.0,2.95""",
    ],
    "shop": [
        """Orders
order_id,placed,customer,country,channel,items,gross,discount,refund
1,2026-01-05,Ana,Spain,Web,2,120,0,0
2,2026-01-19,Ben,Ireland,App,1,45.5,5,0
3,2026-02-02,Ana,Spain,App,4,260,26,60
4,2026-02-14,Chloe,France,Web,3,180,0,0
5,2026-02-27,Dirk,Germany,Store,1,75,0,75
6,2026-03-08,Ben,Ireland,Web,5,310,31,0
7,2026-03-21,Ana,Spain,Web,1,60,0,0
8,2026-03-30,Elif,Germany,App,2,140,14,0""",
        """Visits
week,channel,visits,orders
2026-W10,Web,12000,240
2026-W10,App,8000,260
2026-W11,Web,12600,239
2026-W11,App,8900,301
2026-W12,Web,11800,260
2026-W12,App,9400,310""",
        """Products
sku,name,category,price,unit_cost,stock,rating
P1,Desk lamp,Lighting,39.9,18,140,4.4
P2,Floor lamp,Lighting,119,62,35,4.1
P3,Oak desk,Furniture,449,280,12,4.7
P4,Office chair,Furniture,229,131,48,3.9
P5,Notebook,Paper,4.5,1.1,2300,4.8""",
    ],
    "climate": [
        """Stations
station,country,elevation_m,latitude
Bergen,Norway,12,60.4
Davos,Switzerland,1594,46.8
Sevilla,Spain,34,37.4
Lagos,Nigeria,41,6.5""",
        """Temperatures
station,year,mean_c,max_c,min_c,rain_mm
Bergen,2015,8.1,27.4,-9.9,2900
Bergen,2020,8.9,28.1,-7.2,3110
Bergen,2025,9.0,29.3,-8.4,2780
Davos,2015,4.2,27.0,-22.5,1020
Davos,2020,4.9,26.2,-19.8,980
Davos,2025,5.3,28.8,-18.1,1075
Sevilla,2015,20.1,45.2,-0.9,410
Sevilla,2020,20.4,44.8,0.3,520
Sevilla,2025,21.0,46.1,0.1,365
Lagos,2015,27.2,36.1,20.4,1640
Lagos,2020,27.4,36.4,20.9,1810
Lagos,2025,27.8,37.0,21.1,1755""",
        """Emissions
sector,1990,2000,2010,2020
Energy,420,455,430,320
Transport,180,220,240,205
Industry,260,240,210,190
Farming,110,108,104,101
All sectors,970,1023,984,816""",
    ],
    "clubs": [
        """Season?club=Lyon
year,members,income,expenses
2023,18200,41.5,39
2024,19050,44.2,45.1
2025,20110,47.9,44""",
        """Season?club=Porto
year,members,income,expenses
2023,30400,66,61.2
2024,31200,70.3,69
2025,30900,68.8,71.5""",
    ],
    "werke": [
        """Werke
Werk,Land,Jahr,Umsatz (Mio. €),Kosten (Mio. €),Mitarbeiter,Ausschuss %
Leipzig,Deutschland,2024,310,262,1450,2.1
Leipzig,Deutschland,2025,335,270,1490,1.9
Graz,Österreich,2024,148,131,620,3.4
Graz,Österreich,2025,139,133,600,3.9
Brünn,Tschechien,2024,205,160,1010,2.8
Brünn,Tschechien,2025,238,181,1090,2.2
Gesamt,,2024,663,553,3080,
Gesamt,,2025,712,584,3180,""",
        """Aufträge
Auftrag,Werk,Monat,Stück,Wert
A1,Leipzig,2026-01,1200,96000
A2,Graz,2026-01,300,51000
A3,Leipzig,2026-02,900,70200
A4,Brünn,2026-02,1500,88500
A5,Graz,2026-03,420,73500
A6,Brünn,2026-03,1100,66000""",
    ],
    "musees": [
        """Musées
Musée,Ville,Visiteurs 2023,Visiteurs 2024,Visiteurs 2025,Budget (k€)
Beaux-Arts,Lille,182000,195500,201300,5400
Histoire,Lyon,240100,238000,251700,6150
Marine,Brest,96500,101200,99800,2300
Sciences,Lyon,310400,322900,340600,8900""",
        """Expositions
Titre,Musée,Début,Fin,Entrées,Prix (€)
Monet intime,Beaux-Arts,2026-01-15,2026-04-30,61200,14
Voiles,Marine,2026-02-01,2026-05-31,18400,9
Robots,Sciences,2026-03-01,2026-08-31,92300,12
Gaulois,Histoire,2026-04-10,2026-09-10,45100,11""",
    ],
    "fincas": [
        """Cosechas
Finca,Provincia,Cultivo,Campaña,Toneladas,Hectáreas,Precio medio
El Olivar,Jaén,Aceituna,2024,820,410,0.95
El Olivar,Jaén,Aceituna,2025,1040,410,0.71
La Vega,Granada,Almendra,2024,150,120,3.1
La Vega,Granada,Almendra,2025,131,120,3.4
Los Llanos,Albacete,Trigo,2024,2100,700,0.24
Los Llanos,Albacete,Trigo,2025,1890,690,0.22""",
    ],
    "stores": [
        """门店
门店,城市,季度,销售额(万元),成本(万元),客流
南京路店,上海,2025Q3,820,560,41000
南京路店,上海,2025Q4,905,601,45200
春熙路店,成都,2025Q3,610,402,38800
春熙路店,成都,2025Q4,655,430,40100
天河店,广州,2025Q3,700,505,36500
天河店,广州,2025Q4,690,498,35900""",
    ],
    "funds": [
        """Returns
fund,date,nav,benchmark
Polaris,2025-12-31,100,200
Polaris,2026-03-31,104,205
Polaris,2026-06-30,101,198
Polaris,2026-09-30,109,211
Vega,2025-12-31,50,200
Vega,2026-03-31,51,205
Vega,2026-06-30,53.5,198
Vega,2026-09-30,52.2,211""",
        """Fees
fund,management_fee_pct,performance_fee_pct,aum_million,launched
Polaris,0.75,10,820,2014-05-01
Vega,1.5,20,145,2019-10-15
Altair,0.2,,2300,2021-01-04""",
    ],
}


class RepeatingEngine(ScriptedEngine):
    """A model that is sure of its queries: asked again, it writes the same one."""

    def __init__(self, *queries: str) -> None:
        super().__init__()
        self.facts = replace(self.facts, context_tokens=32_768)
        self.queries = list(queries)
        self.asked = 0

    async def generate(self, request: ChatRequest) -> Pieces:
        self.requests.append(request)
        self.asked += 1
        sql = self.queries.pop(0) if len(self.queries) > 1 else self.queries[0]
        yield TextDelta(json.dumps({"sql": sql}))


async def plan_over(
    domain: str, question: str, engine: ScriptedEngine, english: str = ""
) -> Planner:
    """A plan that has read all widgets of a domain."""
    widgets, sources, elements, reads = [], [], [], []
    for place, text in enumerate(DOMAINS[domain]):
        head, _, rows = text.partition("\n")
        title, _, given = head.partition("?")
        name, _, value = given.partition("=")
        arguments = {name: value} if name else {}
        known = next((one for one in widgets if one.name == title), None)
        if known is None:
            param = Param(name, "text", value="", has_value=True, options=("Lyon", "Porto"))
            known = Widget("o", f"w{place}", title, uuid=f"u{place}", params=(param,) * bool(name))
            widgets.append(known)
        sources.append(Source("o", known.id, known.uuid, arguments))
        elements.append(Element((Item(json.dumps(read_rows(rows))),)))
    said = (Said("user", question, 1),)
    query = Query(said, question, 1, tuple(widgets))
    planner = Planner(query, engine, TODAY)
    aliases = {widget.id: alias for alias, widget in planner.inventory.widgets.items()}
    reads = [{"widget": aliases[one.id], "parameters": one.arguments} for one in sources]
    state = {"plan": [{"read": reads}]}
    result = Result("get_widget_data", {}, tuple(sources), tuple(elements), 1, state)
    planner = Planner(replace(query, results=(result,), state=state), engine, TODAY)
    await planner.resume()
    if english:
        planner.understood = Meaning(question, english=english)
    return planner


def read_rows(text: str) -> list[dict[str, str | float | None]]:
    return [
        {name: _value(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(cell: str) -> str | float | None:
    if not cell:
        return None
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell
