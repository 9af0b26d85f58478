"""OpenBB's copilot protocol in its three generations, and the AI service of OpenBB Workspace."""

from server.protocols.base import Endpoint
from server.protocols.openbb import discovery, query, service, writer

ENDPOINTS = (
    Endpoint("GET", "/copilots.json", discovery.copilots),
    Endpoint("GET", "/agents.json", discovery.agents),
    Endpoint("POST", discovery.OLD_QUERY, query.accept_old, query.render_old, failed=query.failed),
    Endpoint(
        "POST",
        discovery.QUERY,
        query.accept,
        query.render,
        keep_alive=writer.keep_alive,
        failed=query.failed,
    ),
    Endpoint("POST", discovery.FEEDBACK, query.take_vote),
    Endpoint("POST", "/v1/generate/chat/title", service.chat_title, collect=service.collect_json),
    Endpoint(
        "POST",
        "/v1/generate/dashboard/title",
        service.dashboard_title,
        collect=service.collect_text,
    ),
    Endpoint("POST", "/v1/enhance_prompt", service.enhance_prompt, collect=service.collect_text),
    Endpoint("POST", "/v1/generate/widget_info", service.widget_info),
    Endpoint("POST", "/v1/generate/widget_info/file", service.widget_info_of_file, takes_form=True),
    Endpoint("POST", "/v1/generate/code", service.code, collect=service.collect_code),
)
