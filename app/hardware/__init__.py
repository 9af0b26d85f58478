"""The Hardware page."""
