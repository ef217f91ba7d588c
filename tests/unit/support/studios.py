"""A studio at an address, and one that runs in a thread of the tests' process."""

import socket
from threading import Event, Thread

import httpx
import uvicorn

from judgesmith.studio import Project
from judgesmith.studio.access import OWNER, rater_of
from judgesmith.studio.application import studio_app


class Entered:
    """A studio at an address, and browsers that its links let in."""

    def __init__(self):
        self.clients = []

    def stranger(self, **named):
        self.clients.append(httpx.Client(base_url=self.address, timeout=60, **named))
        return self.clients[-1]

    def browser(self, name="owner"):
        client = self.stranger()
        assert client.get(self.links[name]).status_code == 200
        return client


class Within(Entered):
    """A studio in a thread of this process, which spares one that has all to import."""

    def __init__(self, folder, *raters):
        super().__init__()
        self.project = Project(folder)
        app = studio_app(self.project)
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
        ready, startup = Event(), self.server.startup

        async def started(sockets):
            await startup(sockets)
            ready.set()

        self.server.startup = started
        bound = socket.create_server(("127.0.0.1", 0))
        self.address = "http://{}:{}".format(*bound.getsockname())
        people = app.state.service.people
        one_each = (OWNER, *map(rater_of, raters))
        self.links = {one.name: self.address + people.link(one) for one in one_each}
        self.thread = Thread(target=self.server.run, args=([bound],))
        self.thread.start()
        assert ready.wait(60)

    def stop(self):
        self.server.should_exit = True
        self.thread.join(60)
        self.project.close()
