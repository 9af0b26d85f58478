"""A message tells its text and its images in the order they were given."""

from server.chat import Image, Message

FIRST, SECOND = Image("image/png", b"1", at=7), Image("image/png", b"2", at=7)


def test_images_stand_where_they_were_given() -> None:
    message = Message("user", "Before after", (FIRST, SECOND))
    assert list(message.parts()) == ["Before ", FIRST, SECOND, "after"]


def test_an_image_without_a_place_comes_first() -> None:
    image = Image("image/png", b"x")
    assert list(Message("user", "What is it?", (image,)).parts()) == [image, "What is it?"]
    assert list(Message("user", "", (image,)).parts()) == [image]


def test_text_that_became_shorter_loses_no_image() -> None:
    assert list(Message("user", "Be", (FIRST,)).parts()) == ["Be", FIRST]
