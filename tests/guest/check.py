"""In the guest, as root: drives dtmcp as an ordinary user under each of Yama's scopes and prints what it says of programs that wait
and programs that work. Standard library only."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

PERSON = 1000
SCOPE = "/proc/sys/kernel/yama/ptrace_scope"

# Each leaves a part of a line behind: where a program cannot be told to work, 3 s of silence then end the wait.
BEGIN = 'import select, socket, sys; print("half a line", end="", flush=True); '
PAIR = BEGIN + "a, b = socket.socketpair(); "
RECV = 'l = socket.create_server(("127.0.0.1", 0)); s = socket.create_connection(l.getsockname()); s.recv(1)'
# A listener takes one connection more than it was told to keep, and the next one waits.
CONNECT = (
    'l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen(0); a = l.getsockname(); '
    "c = [socket.socket() for _ in range(4)]; [s.setblocking(False) or s.connect_ex(a) for s in c]; socket.socket().connect(a)"
)

# What is typed, what is said where all is to be seen, and where the calls of threads are not.
SITUATIONS = [
    ("read a line", "read x", "waiting", "waiting"),
    ("sleep", "sleep 600", "running", "running"),
    ("python's prompt", "python3 -q", "prompt", "prompt"),
    ("python's input()", "python3 -c 'input()'", "waiting", "waiting"),
    ("selects terminal and socket", f"python3 -c '{PAIR}select.select([sys.stdin, a], [], [])'", "waiting", "quiet"),
    ("selects a socket", f"python3 -c '{PAIR}select.select([a], [], [])'", "running", "quiet"),
    ("recv on TCP", f"python3 -c '{BEGIN}{RECV}'", "running", "quiet"),
    ("connect(), not answered", f"python3 -c '{BEGIN}{CONNECT}'", "running", "quiet"),
    ("expect drives another", "expect -c 'set timeout -1; spawn -noecho cat; expect never'", "running", "running"),
]

# Scope, user, what was done before, whether all is to be seen. The server that has started the ancestor is one itself; the
# next is not. Yama's scope 3 cannot be taken back: it comes last.
COLUMNS = [
    (0, PERSON, "", True),
    (1, PERSON, "", True),
    (1, PERSON, "next", True),
    (1, PERSON, "alone", False),
    (2, PERSON, "next", False),
    (2, 0, "next", True),
    (3, PERSON, "next", False),
    (3, 0, "next", False),
]


def tell(text):
    print("GUEST " + text, flush=True)


class Server:
    def __init__(self, user):
        self.home = f"/tmp/h{user}"
        shutil.rmtree(self.home, ignore_errors=True)
        os.mkdir(self.home, 0o700)
        os.chown(self.home, user, user)
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", "TERM": "xterm", "PS1": "$ ",
                    "TMUX_TMPDIR": self.home}
        self.user = user
        open("/tmp/log", "w").close()
        self.start()

    def start(self):
        user = self.user
        self.log = open("/tmp/log", "a")
        self.process = subprocess.Popen(["dtmcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                        user=user, group=user, extra_groups=[], env=self.env, cwd=self.home)
        self.ids = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "guest", "version": "1"}})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        self.ids += 1
        self.write({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.ids and "method" not in message:
                return message
        raise SystemExit("the server went away: " + open("/tmp/log").read())

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result["content"][0]["text"], (result.get("_meta") or {}).get("dtmcp/reply") or {}

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", "docent-terminal-mcp", *words], capture_output=True, text=True, env=self.env,
                              user=self.user, group=self.user, extra_groups=[])
        return done.stdout.strip()

    def end(self):
        self.tmux("kill-server")
        self.process.stdin.close()
        self.process.wait()


def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])


def is_ancestor(pid):
    return open(f"/proc/{pid}/cmdline").read().split("\0")[1:2] == ["ancestor"]


def gone(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(what, holds):
    begin = time.monotonic()
    while not holds():
        if time.monotonic() - begin > 120:
            raise SystemExit("never came: " + what)
        time.sleep(0.05)


def tries():
    return subprocess.run(["dmesg"], capture_output=True, text=True).stdout.count("ptrace attach of")


def column(scope, user, before_that, all_seen):
    with open(SCOPE, "w") as file:
        file.write(str(scope))
    before = tries()
    server = Server(user)
    server.call("session_create", name="first")
    tmux = int(server.tmux("display-message", "-p", "#{pid}"))
    ancestor = parent(tmux)
    wrong = [] if is_ancestor(ancestor) else ["tmux has no ancestor of ours"]
    if before_that == "next":
        server.process.kill()
        server.process.wait()
        server.start()
    if before_that == "alone":
        os.kill(ancestor, signal.SIGKILL)
        wait_for("the ancestor's end", lambda: gone(ancestor))
    said, told = [], False
    for at, (name, line, seen, unseen) in enumerate(SITUATIONS):
        session = f"s{at}"
        made, _ = server.call("session_create", name=session, command="sh")
        # Longer than a session without integration takes to say that it cannot tell.
        text, meta = server.call("run", session=session, line=line, timeout=8)
        told = told or f"ptrace_scope = {scope}" in made + text
        status = meta.get("status", "?")
        said.append(status)
        expected = seen if all_seen else unseen
        if status != expected:
            wrong.append(f"{name}: {status}, not {expected}: {text}")
        server.tmux("kill-session", "-t", f"={session}")
    if told == all_seen:
        wrong.append("what may not be seen was " + ("told" if told else "not told"))
    log = open("/tmp/log").read()
    server.end()
    wait_for("the ancestor's end with tmux", lambda: gone(ancestor))
    return said, wrong, tries() - before, log


def main():
    columns, heads, failed = [], [], []
    for scope, user, before_that, all_seen in COLUMNS:
        head = f"{scope} {before_that}{'' if user else ' root'}".replace("  ", " ").strip()
        said, wrong, tried, log = column(scope, user, before_that, all_seen)
        columns.append([*said, str(tried)])
        heads.append(head)
        failed += [f"scope {head}: {what}" for what in wrong]
        if wrong:
            failed += log.splitlines()
    names = [name for name, *_ in SITUATIONS] + ["tries in the kernel's log"]
    tell("scope".ljust(29) + "".join(head.ljust(12) for head in heads))
    for at, name in enumerate(names):
        tell(name.ljust(29) + "".join(column[at].ljust(12) for column in columns))
    for what in failed:
        for line in what.splitlines():
            tell(line)
    if not failed:
        tell("everything is as expected")


try:
    main()
except BaseException as error:
    tell(f"failed: {error!r}")
    sys.exit(1)
