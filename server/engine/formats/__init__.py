"""Tool-call styles: the first that fits a model's template is used, else the generic one."""

from dataclasses import replace
from functools import partial

from server.chat import ChatRequest
from server.engine.base import ModelFacts
from server.engine.formats import (
    apertus,
    apriel,
    cohere,
    command_r,
    deepseek,
    deepseek_r1,
    deepseek_v4,
    devstral,
    firefunction,
    functionary_v2,
    functionary_v3_1,
    functionary_v3_2,
    gemma4,
    generic,
    gigachat,
    gigachat3,
    glm,
    gpt_oss,
    granite3,
    hermes,
    kimi,
    lfm2,
    llama3,
    minimax_m1,
    minimax_m3,
    mistral_nemo,
    mistral_small,
    muse,
    nemotron,
    phi4,
    plain,
    qwen_coder,
    seed,
)
from server.engine.formats.base import Format, Prepared
from server.engine.formats.choice import wants_tools

FORMATS: tuple[Format, ...] = (
    muse.FORMAT,
    gpt_oss.FORMAT,
    functionary_v3_2.FORMAT,
    functionary_v2.FORMAT,
    firefunction.FORMAT,
    minimax_m3.FORMAT,
    gemma4.FORMAT,
    lfm2.FORMAT,
    kimi.FORMAT,
    deepseek_v4.FORMAT,
    deepseek_r1.FORMAT,
    deepseek.FORMAT,
    seed.FORMAT,
    glm.FORMAT,
    qwen_coder.FORMAT,
    nemotron.FORMAT,
    apriel.FORMAT,
    minimax_m1.FORMAT,
    apertus.FORMAT,
    cohere.FORMAT,
    command_r.FORMAT,
    mistral_small.FORMAT,
    devstral.FORMAT,
    mistral_nemo.FORMAT,
    gigachat.FORMAT,
    gigachat3.FORMAT,
    functionary_v3_1.FORMAT,
    phi4.FORMAT,
    hermes.FORMAT,
    granite3.FORMAT,
    llama3.FORMAT,
    generic.FORMAT,
)


def choose(facts: ModelFacts) -> Format:
    style = next(style for style in FORMATS if style.fits(facts))
    return Format(style.name, style.fits, partial(_prepare, style), style.always)


def _prepare(style: Format, request: ChatRequest, facts: ModelFacts) -> Prepared:
    used = style if style.always or wants_tools(request) else plain.FORMAT
    prepared = used.prepare(request, facts)
    if request.continues and request.constraint is not None and not wants_tools(request):
        # What a style writes before an answer is already said.
        return replace(prepared, constraint=request.constraint, trigger=None)
    return prepared
