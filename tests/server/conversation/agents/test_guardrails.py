import pytest

from server.conversation.agents.base import TopicRefused, Topics

ANIMALS = Topics(allowed=("cats", "guinea pigs"), denied=("dog food", "politics"))


@pytest.mark.parametrize(
    "question", ["Tell me about a cat.", "Do GUINEA PIGS sleep?", "cats, then?"]
)
def test_a_question_about_an_allowed_topic_passes(question: str):
    ANIMALS.check(question)


@pytest.mark.parametrize("question", ["And dogs?", "concatenate this", "guinea, and pigs", ""])
def test_a_question_about_none_of_them_is_refused(question: str):
    with pytest.raises(TopicRefused, match="Only questions about these topics"):
        ANIMALS.check(question)


@pytest.mark.parametrize("question", ["Do cats eat dog food?", "Cats in politics"])
def test_a_denied_topic_refuses_even_beside_an_allowed_one(question: str):
    with pytest.raises(TopicRefused, match="are not answered here"):
        ANIMALS.check(question)


def test_without_lists_everything_passes():
    Topics().check("anything at all")


def test_a_denied_list_alone_lets_the_rest_through():
    Topics(denied=("taxes",)).check("What is a bond?")
    with pytest.raises(TopicRefused):
        Topics(denied=("taxes",)).check("How is the tax paid?")


@pytest.mark.parametrize(
    ("topic", "question"),
    [
        ("政治", "请谈谈政治问题"),
        ("政治", "政治の話をしよう"),
        ("정치", "정치는 어떻습니까"),
        ("AI", "请谈谈AI问题"),
        ("AI 政策", "请谈谈ＡＩ政策"),
    ],
)
def test_a_topic_is_found_where_words_are_not_kept_apart(topic: str, question: str):
    with pytest.raises(TopicRefused):
        Topics(denied=(topic,)).check(question)
    Topics(denied=("政治",)).check("治政")
