"""What a good model writes about data passes unmarked; a number that it invents is marked."""

import pytest

from server.dashboard.checked_text import UNKNOWN, CheckedText
from server.dashboard.planned_answer import _known
from tests.server.dashboard.new_domains import RepeatingEngine, plan_over

BONDS = (
    "bonds",
    "What is our portfolio worth?",
    "SELECT SUM(market_value) AS value, SUM(market_value * duration) / SUM(market_value) AS years, "
    "100.0 * SUM(CASE WHEN rating = 'BBB' THEN market_value END) / SUM(market_value) AS share, "
    "SUM(CASE WHEN rating = 'BBB' THEN market_value END) / SUM(market_value) AS part "
    "FROM positions WHERE isin <> 'Total'",
)
"""21,812,500; 4.5313…; 23.5644…; 0.235644…"""
CURVE = (
    "bonds",
    "How did the 10-year yield change over the month?",
    "SELECT yield_today - yield_month_ago AS change FROM curve WHERE tenor = '10Y'",
)
"""0.13"""
GRID = (
    "grid",
    "How much did the plants produce in 2025?",
    "SELECT SUM(output_gwh) AS output, 100.0 * (SUM(output_gwh) - 13040) / 13040 AS change "
    "FROM generation WHERE year = 2025",
)
"""11,755; -9.854…"""
MATCHES = ("football", "How many people came?", "SELECT SUM(attendance) AS people FROM matches")
"""188,600"""
WERKE = ("werke", "Wie hoch war der Umsatz 2025?", "SELECT 712 AS umsatz, 1234567890 AS wert")
MUSEES = ("musees", "Combien de visiteurs en 2025 ?", "SELECT SUM(visiteurs_2025) AS n FROM musées")
"""893,400; budgets of 5,400 thousand euros"""
FINCAS = (
    "fincas",
    "¿Cuántas toneladas en 2025?",
    "SELECT SUM(toneladas) AS t FROM cosechas WHERE campaña = 2025",
)
"""3,061"""
STORES = ("stores", "总销售额是多少?", "SELECT SUM(销售额_万元) AS 总额, 21812500 AS 元 FROM 门店")
"""4,380"""

RIGHT = [
    (BONDS, "The portfolio is worth 21,812,500 euros."),
    (BONDS, "The portfolio is worth 21.8 million euros, or about 22 million."),
    (BONDS, "It is worth €21.8m with a duration of 4.5 years."),
    (BONDS, "It is a 21.8-million portfolio."),
    (BONDS, "Some 23.6% of it is rated BBB, nearly a quarter."),
    (BONDS, "About 24 percent is BBB; the rest, three quarters, is rated better."),
    (BONDS, "The BBB share is 0.24."),
    (BONDS, "The market value is roughly 20 million."),
    (BONDS, "It holds more than 20 million, just under 22 million to be precise."),
    (BONDS, "XS01 matures on 15 June 2028."),
    (BONDS, "XS01 matures on June 15, 2028, and XS03 on September 30th, 2035."),
    (BONDS, "XS01 wird am 15. Juni 2028 fällig, XS03 am 30.09.2035."),
    (BONDS, "XS01 arrive à échéance le 15 juin 2028, XS06 le 15/05/2040."),
    (BONDS, "XS01 vence el 15 de junio de 2028."),
    (BONDS, "XS01于2028年6月15日到期。"),
    (BONDS, "None of it is linked to the S&P 500, the Nikkei 225 or the DAX 40."),
    (BONDS, "The issuer's Form 20-F and its 10-K say so; IFRS 16 and Section 404 do not matter."),
    (BONDS, "COVID-19 hit the issuer, which flies the Boeing 737 and the Airbus A320."),
    (BONDS, "The 30-year bond and the 52-week high do not matter here."),
    (BONDS, "It is the issue of the 21st century, as in the 1990s."),
    (BONDS, "The top 20 holders and a 401(k) plan own it."),
    (BONDS, "In Q3 2026 and H1 2026 nothing changed, nor in FY2025/26."),
    (BONDS, "Norden Bank is rated A and BBB, and XS04 pays 5.125 percent."),
    (BONDS, "It has 6 bonds in 5 sectors."),
    (BONDS, "100% of it is in euros."),
    (BONDS, "The face value is 22.5 million, so the market value is below it."),
    (BONDS, "13. This is the thirteenth line.\n14. This is the next."),
    (BONDS, "La cartera vale 21,8 millones de euros."),
    (BONDS, "Le portefeuille vaut 21,8 millions d'euros, soit 21 812 500 €."),
    (BONDS, "Das Portfolio ist 21,8 Mio. € wert, genau 21.812.500 €."),
    (BONDS, "Il portafoglio vale 21,8 milioni di euro."),
    (BONDS, "A carteira vale 21,8 milhões de euros."),
    (BONDS, "Der Wert liegt bei 21'812'500 Franken."),
    (CURVE, "The 10-year yield rose by 13 basis points to 2.79%."),
    (CURVE, "It rose by 0.13 percentage points, from 2.66 to 2.79 percent."),
    (CURVE, "The 10Y yield is 13 bps higher, at about 2.8%."),
    (CURVE, "Over the year the 30-year yield went from 2.95% to 3.12%."),
    (GRID, "The plants produced 11,755 GWh in 2025, or 11.8 TWh."),
    (GRID, "Output fell by 9.9% to about 11,800 GWh."),
    (GRID, "Output fell by almost 10 percent."),
    (GRID, "Output was down nearly 10% against 2024."),
    (GRID, "Cedar alone produced 7.9 TWh, Dogwood 1,200 GWh (1.2 TWh)."),
    (GRID, "Demand peaked at 2,515 MW at 18:00 on 2 July 2026."),
    (GRID, "Demand peaked at around 2,500 MW, and the price was \u22124.5 € at noon."),
    (GRID, "The price was minus 4.5 euros on 2026-07-02."),
    (GRID, "It emitted 3.1 million tonnes in 2023."),
    (MATCHES, "In all, 188,600 people came, more than 180,000."),
    (MATCHES, "Nearly 190,000 people came, 40,100 of them to United on August 22nd."),
    (MATCHES, "United bought Sato for 21.75 million in 2025/26."),
    (MATCHES, "Rovers lead the table with 43 points; they have won 13 of 20 games."),
    (MATCHES, "Athletic is last, with a goal difference to match: 14 scored, 44 conceded."),
    (MATCHES, "The match was shown 24/7, and 50/50 was the split."),
    (WERKE, "Der Umsatz lag 2025 bei 712 Mio. €, also rund 700 Millionen Euro."),
    (WERKE, "Der Umsatz lag bei 0,71 Milliarden Euro."),
    (WERKE, "Der Wert beträgt 1,2 Milliarden, genau 1.234.567.890."),
    (WERKE, "The value is 1.2 billion, or 1.23bn."),
    (WERKE, "Leipzig hat 1.490 Mitarbeiter, der Ausschuss liegt bei 1,9 %."),
    (WERKE, "Im 3. Quartal 2026 und am 31. Dezember 2025 änderte sich nichts."),
    (MUSEES, "Les musées ont accueilli 893 400 visiteurs, près de 900 000."),
    (MUSEES, "Le budget des Beaux-Arts est de 5,4 millions d'euros."),
    (MUSEES, "L'exposition « Robots » a duré du 1er mars au 31 août 2026."),
    (MUSEES, "Les Sciences ont reçu 340,6 mille visiteurs."),
    (FINCAS, "Se cosecharon 3.061 toneladas, unas 3.000."),
    (FINCAS, "El Olivar produjo 1.040 toneladas a 0,71 euros el kilo."),
    (STORES, "总销售额为4380万元,约4400万元。"),
    (STORES, "约2180万元,即2181万元。"),
    (STORES, "南京路店2025年第四季度销售额为905万元,客流4.52万人次。"),
]  # fmt: skip

INVENTED = [
    (BONDS, "The portfolio is worth 23.4 million euros.", "23.4"),
    (BONDS, "The portfolio is worth 21,912,500 euros.", "21,912,500"),
    (BONDS, "About 31 percent of it is rated BBB.", "31"),
    (BONDS, "It grew by 11% last year.", "11"),
    (BONDS, "It grew by 12 percent.", "12"),
    (BONDS, "It lost €9 on each bond.", "9"),
    (BONDS, "It paid 9 million in interest.", "9"),
    (BONDS, "The value is 2,024 per bond.", "2,024"),
    (BONDS, "The duration is 6.1 years.", "6.1"),
    (BONDS, "It is worth around 35 million.", "35"),
    (BONDS, "There are 47 bonds.", "47"),
    (BONDS, "XS01 trades at 97.3.", "97.3"),
    (BONDS, "Revenue was 500.", "500"),
    (CURVE, "The yield rose by 18 basis points.", "18"),
    (CURVE, "The 10-year yield is 4.31%.", "4.31"),
    (GRID, "The plants produced 12,345 GWh.", "12,345"),
    (GRID, "Output fell by 15.2%.", "15.2"),
    (GRID, "Demand peaked at 9,870 MW.", "9,870"),
    (GRID, "Cedar produced 6.4 TWh.", "6.4"),
    (MATCHES, "Almost 250,000 people came.", "250,000"),
    (MATCHES, "The fee was 33.5 million.", "33.5"),
    (MATCHES, "Rovers have 57 points.", "57"),
    (WERKE, "Der Umsatz lag bei 815 Mio. €.", "815"),
    (WERKE, "Der Umsatz stieg um 6,3 %.", "6,3"),
    (WERKE, "Der Wert beträgt 2,6 Milliarden.", "2,6"),
    (MUSEES, "Les musées ont accueilli 950 000 visiteurs.", "950 000"),
    (MUSEES, "La hausse est de 8 %.", "8"),
    (FINCAS, "Se cosecharon 4.250 toneladas.", "4.250"),
    (FINCAS, "Subió un 5 por ciento.", "5"),
    (STORES, "总销售额为5120万元。", "5120"),
    (STORES, "同比增长了9%。", "9"),
]  # fmt: skip


async def check(case: tuple[str, str, str], sentence: str, step: int) -> str:
    """The sentence as it comes in pieces of so many letters."""
    domain, question, sql = case
    planner = await plan_over(domain, question, RepeatingEngine(sql))
    await planner._run(sql)
    checked = CheckedText(planner.results, _known(planner, None))
    pieces = [sentence[at : at + step] for at in range(0, len(sentence), step)]
    return "".join(map(checked.feed, pieces)) + checked.end()


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize(("case", "sentence"), RIGHT)
async def test_a_right_sentence_stays_as_it_is(
    case: tuple[str, str, str], sentence: str, step: int
) -> None:
    assert await check(case, sentence, step) == sentence


@pytest.mark.parametrize("step", [1, 5, 1000])
@pytest.mark.parametrize(("case", "sentence", "number"), INVENTED)
async def test_an_invented_number_is_marked(
    case: tuple[str, str, str], sentence: str, number: str, step: int
) -> None:
    found = await check(case, sentence, step)
    assert found.replace(UNKNOWN, "") == sentence
    assert UNKNOWN in found
    assert number in found.partition(UNKNOWN)[0]
