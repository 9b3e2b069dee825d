"""Client of the Saccade server. For chats use the `openai` package with the same address."""
from ._async import AsyncSaccade, AsyncStream
from ._client import Push, Saccade, Stream
from ._model import Event, Outcome, SaccadeError, StreamState

__all__ = ["AsyncSaccade", "AsyncStream", "Event", "Outcome", "Push", "Saccade", "SaccadeError", "Stream",
           "StreamState"]
