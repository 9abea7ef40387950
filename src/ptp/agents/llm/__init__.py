"""The language-model agent: it looks, plans a few moves, plays them one by one, and plans anew when surprised.

What speaks to providers (pydantic-ai, their SDKs, prices) is imported in this room alone, once such an agent is made.
"""
