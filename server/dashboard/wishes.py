"""Reads what a question asks for besides figures: a chart, a report, a place on the dashboard.

The words are known in English, German, French, Spanish and Chinese. A question is read once; the
query carries what was found.
"""

import re
from dataclasses import dataclass
from typing import get_args

from server.artifacts import Kind
from server.language.words import language_of

ANEW = re.compile(
    r"\b(?:refresh\w*|reload\w*|re-?read|re-?fetch|again|fresh|updat(?:e[ds]?|ing)|up[- ]to[- ]date"
    r"|right now|currently|current(?! (?:assets|liabilit|ratio|account|portion|yield))"
    r"|aktualisier\w*|aktuell\w*|neu laden|frische?[nrs]?|noch ?mals?|erneut"
    r"|actualis\w*|actuel\w*|rafraîch\w*|recharge\w*|à jour|de nouveau"
    r"|actualiz\w*|actuales|actualmente|(?:el|la|su|un|una) \w{1,40} actual|refresc\w*|recarg\w*"
    r"|de nuevo|otra vez)\b"
    r"|\b(?:now|jetzt|maintenant|ahora)[\s.?!]*$"
    r"|刷新|更新|最新|重新|现在的|当前|目前|实时|再[读查看]",
    re.IGNORECASE,
)
"""The user wants the data of this moment, not what an earlier turn has read. "Now as a chart" does
not match: a word for now must end the question."""
CHART = re.compile(
    r"\b(charts?|plot|graph|visuali[sz]e|draw|diagram"
    r"|(?:\w{1,20}-?)?(?:diagramme?|grafik)e?[ns]?|schaubild\w{0,3}|zeichne\w{0,2}|visualisiere\w?"
    r"|graphiques?|dessine\w{0,2}|trac(?:er?|ez)[ -](?:moi|une?|les?|la)|camembert"
    r"|gráfic[oa]s?|grafic[oa]s?|graficar?|dibuj\w{1,4}|diagrama)\b"
    r"|图表|折线图|柱状图|条形图|饼图|散点图|曲线图|走势图|画图|画出|绘制|图示",
    re.IGNORECASE,
)
TABLE = re.compile(
    r"\b(as a table|in a table|table of|tabulate|make a table|(?:als|in|einer?) tabelle|tabelle mit"
    r"|tableau (?:de|des|du|avec)|(?:dans|sous forme de|en) (?:un )?tableau"
    r"|(?:en|como|una) tabla)\b|表格|列表|列成表|制表",
    re.IGNORECASE,
)
"""Words that ask for a table; `CHART` has those for a chart. Both are in five languages. A model
that plans decides without them."""
WISHING = re.compile(
    r"\b(?:as|line|bar|pie|donut|scatter|show|give|make|draw|me|please|als|zeige?|mir|bitte|mach\w?"
    r"|en|barres|courbe|montre\w?|moi|líneas|barras|muestra\w{0,3}|como)\b|用|显示|请",
    re.IGNORECASE,
)
"""Words that accompany the request for a chart."""
KIND_WORDS: dict[str, str] = {
    "line": r"linien-?(?:diagramm|grafik)|(?:graphique en|trace\w? une) (?:courbes?|lignes?)"
    r"|gráfico de líneas?|折线图|曲线图|走势图",
    "bar": r"(?:balken|säulen)-?(?:diagramm|grafik)|histogramme|(?:diagramme|graphique) (?:à|en) "
    r"(?:barres|bâtons)|gráfico de (?:barras|columnas)|柱状图|条形图",
    "pie": r"(?:kreis|torten)-?(?:diagramm|grafik)|camembert|gráfico (?:circular|de (?:sectores|"
    r"torta|pastel))|饼图",
    "scatter": r"streu-?diagramm|nuage de points|gráfico de dispersión|散点图",
}
"""The names of the kinds of charts in languages other than English."""
ADDING = re.compile(
    r"\b(?:add|put|pin|place|create|save|füge?|hefte?|setze?|lege?|speichere?|erstelle?"
    r"|ajoute[rz]?|mets|mettez|épingle[rz]?|place[rz]|crée[rz]?|enregistre[rz]?"
    r"|añad[ea]|añadir|agreg(?:a|ar|ue)|pon|poner|fija|crea|guarda)\b|添加|加到|加入|放到|放在|放入|保存|创建",
    re.IGNORECASE,
)
TARGET = re.compile(
    r"dashboard|widget|tableau de bord|tablero|panel|cuadro de mando|仪表|看板|面板", re.IGNORECASE
)
"""Words for a place on the dashboard. Nothing is added unless the question has one of them."""
NOTE = re.compile(r"\b(?:notes?|notiz(?:en)?|notas?)\b|笔记|便签|备注", re.IGNORECASE)
REPORT = re.compile(
    r"\b(?:write|create|make|generate|prepare|draft|produce|give me)\b[^.?!]{0,80}\breport\b"
    r"|\b(?:schreib|erstell|mach|verfass|generier)\w*[^.?!]{0,80}bericht\b"
    r"|\b(?:rédige|écris|crée|fais|prépare|génère)\w*[^.?!]{0,80}\brapport\b"
    r"|\b(?:escribe|crea|haz|prepara|redacta|genera)\w*[^.?!]{0,80}\b(?:informe|reporte)\b"
    r"|\b(?:as|als|comme|como) (?:an? |einen? |un )?(?:report|bericht|rapport|informe)\b"
    r"|(?:写|生成|制作|撰写|做)[^。？！]{0,40}报告",  # noqa: RUF001
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a question asks for by its words, whether or not it can be done."""

    language: str
    chart: bool
    table: bool
    report: bool
    note: bool
    adding: bool
    """Whether something is to be put on the dashboard."""
    dashboard: bool
    """Whether the question names the dashboard at all."""
    anew: bool
    """Whether data is to be read again that an earlier turn has read."""


def read_wishes(question: str) -> Wishes:
    adding = ADDING.search(question)
    return Wishes(
        language=language_of(question),
        chart=bool(CHART.search(question) or named_kind(question)),
        table=TABLE.search(question) is not None,
        report=REPORT.search(question) is not None,
        note=NOTE.search(question) is not None,
        adding=adding is not None and TARGET.search(question, adding.end()) is not None,
        dashboard=TARGET.search(question) is not None,
        anew=ANEW.search(question) is not None,
    )


def named_kind(question: str) -> Kind | None:
    """Returns the kind of chart that the question names."""
    lowered = question.lower()
    for kind in get_args(Kind):
        words = KIND_WORDS.get(kind, "(?!)")
        if re.search(rf"\b{kind}\s?(chart|plot|graph|diagram)|{words}", lowered):
            return kind  # type: ignore[no-any-return]
    return None


def named_wish(question: str) -> str:
    """Returns the words by which a question asks for a chart or a table, or ""."""
    found = CHART.search(question) or TABLE.search(question)
    kind = named_kind(question)
    return f"{kind} chart" if kind else found[0] if found else ""


def without_wish(text: str) -> str:
    """Returns the text without the words that ask for a chart or a table."""
    text = TABLE.sub(" ", CHART.sub(" ", text))
    return WISHING.sub(" ", text)


def words_of_note(question: str) -> str:
    """Returns the words about a note on the dashboard. They say nothing about the data."""
    words = (ADDING, NOTE, TARGET)
    return " ".join(found[0] for pattern in words for found in pattern.finditer(question))
