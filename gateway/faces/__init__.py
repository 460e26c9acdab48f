"""What the gateway shows to the outside: REST, MCP, and the guard in front of both.

Modules here are imported where they are needed, so that `turngate --help` loads no web server.
"""
