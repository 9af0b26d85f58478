from server.language.ranking import rank, stems
from server.language.words import stem


def order(question: str, *documents: str) -> list[int]:
    return [one.index for one in rank(question, [{text: 1.0} for text in documents])]


def test_forms_of_a_word_meet() -> None:
    assert stem("prices") == stem("price") == stem("priced") == stem("pricing")
    assert stem("companies") == stem("company")
    assert stem("loss") == "loss"


def test_names_are_split_and_small_words_left_out() -> None:
    assert stems("What is the net_income of grossProfit?") == stems("net income gross profit")


def test_words_without_spaces_between_them_meet() -> None:
    assert stems("净利润") == ["净利", "利润"]
    assert stems("PE比率 2024年") == ["pe", "比率", "2024", "年"]
    assert order("去年的净利润是多少", "天气", "公司净利润", "現金") == [1]


def test_the_document_that_shares_rarer_words_comes_first() -> None:
    assert order("price of gold", "price of oil", "price of gold", "weather") == [1, 0]


def test_nothing_shared_is_left_out() -> None:
    assert order("hello there", "prices", "news") == []


def test_related_words_count_less_than_the_same() -> None:
    assert order("headlines", "news of the day", "headlines of the day", "prices") == [1, 0]


def test_a_heavier_field_counts_more() -> None:
    found = rank("debt", [{"debt": 1.0, "x y z": 1.0}, {"debt": 3.0, "x y z": 1.0}])
    assert [one.index for one in found] == [1, 0]


def test_no_documents_no_order() -> None:
    assert rank("anything", []) == []
