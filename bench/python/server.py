"""pydantic-ai on uvicorn, as its documentation says: the Vercel adapter over a function model.

A message that says `deltas N` is answered with N deltas, one that says `paced N` with the same at the
pace of a model.
"""

import asyncio
import socket

import uvicorn
from pydantic_ai import Agent
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.routing import Route

DELTA = "8 bytes "


# How long a model takes for a delta, where it speaks at its own pace, in seconds.
PACE = 0.02


async def said(messages, _info):
    """What the last message asks for, all of it ready at once, or each delta when it is due."""
    verb, count = messages[-1].parts[-1].content.split(" ")
    clock = asyncio.get_running_loop().time
    begun = clock()
    for place in range(int(count)):
        left = begun + place * PACE - clock()
        if verb == "paced" and left > 0:
            await asyncio.sleep(left)
        yield DELTA


agent = Agent(FunctionModel(stream_function=said))


async def chat(request):
    return await VercelAIAdapter.dispatch_request(request, agent=agent)


app = Starlette(routes=[Route("/api/chat", chat, methods=["POST"])])

if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    # With hundreds of clients an answer takes longer than a connection may usually be idle.
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_keep_alive=600)
    uvicorn.Server(config).run(sockets=[listener])
