"""The language-model agent: it looks, plans a few moves, plays them one by one, and plans anew when surprised.

What speaks to providers (pydantic-ai, their SDKs, prices) is imported here alone, and only once such an agent is made.
"""

from ptp.agents.llm.agent import LLMMultiStepAgent

__all__ = ["LLMMultiStepAgent"]
