import pytest

from server.language.words import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What was the revenue of Nestlé in 2024?", "English"),
        ("MSFT revenue 2024", "English"),
        ("", "English"),
        ("Was kosteten Gold und Kupfer am 01.10.2026?", "German"),
        ("Quel a été le cours de clôture moyen d'Apple en juillet 2026 ?", "French"),
        ("¿Cuál fue el margen bruto de Walmart en 2025?", "Spanish"),
        ("苹果公司2024财年的营业利润是多少?", "Chinese"),
        ("アップルの利益はいくらですか", "Japanese"),
        ("Какова прибыль Apple?", "Russian"),
        ("Qual è il fatturato della Ferrari nel 2024?", "Italian"),
    ],
)
def test_a_language_is_told_by_its_script_and_its_short_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Welchen Umsatz machte die Filiale Bahnhof in KW 41?", "German"),
        ("Danke, das hilft mir sehr!", "German"),
        ("Wieviel Umsatz machen wir?", "German"),
        ("Cuántas facturas hay?", "Spanish"),
        ("Un chiffre, pas une courbe", "French"),
    ],
)
def test_short_questions_are_told_by_their_language_too(text: str, language: str) -> None:
    assert language_of(text) == language
