"""The warm interpreter: imports what calls may use, locks itself in, and then forks once for each call.

Started by the sandbox, which has confined this process already. Standard output is the control socket: one message
(JSON) each way; a request carries four descriptors (input, stdout, stderr, result). Nothing that a call does reaches
this process: a call has no descriptor of the socket, and its system calls are down to memory, time and its own pipes.
"""
import sys
import types


def main():
    config = read_config()
    if sys.version_info < (3, 10):
        raise SystemExit("Python 3.10 or later is needed, this is " + sys.version.split()[0])
    import importlib
    for name in config["allowed"] + config["warm"] + config["internal"]:
        if name != "typing" or sys.version_info >= (3, 12):
            importlib.import_module(name)
    # What cannot be loaded is what the interpreter was built without; calls that need it fail clearly.
    tools = Tools(config)
    rehearse()
    tools.baseline()
    barriers = own_barriers()
    for name in [n for n in tools.os.environ if n != "TZ"]:
        del tools.os.environ[name]
    import gc
    gc.collect()
    gc.disable()
    gc.freeze()
    tools.lock("zygote")
    say_ready(tools, barriers)
    serve(tools)


def read_config():
    import os, json
    parts = []
    while True:
        part = os.read(0, 65536)
        if not part:
            break
        parts.append(part)
    return json.loads(b"".join(parts))


class Tools:
    """Everything a call needs before it is locked in, held as locals of this file and not looked up later."""

    def __init__(self, config):
        import array
        import ctypes
        import _socket
        import builtins
        import os
        import resource
        import select
        import json

        self.array = array.array
        self.os, self.resource, self.select, self.json = os, resource, select, json
        self.control = _socket.socket(fileno=1)
        self.rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS)
        self.allowed = frozenset(config["allowed"])
        self.builtins = dict(vars(builtins))
        self.import_ = builtins.__import__
        self.internal = frozenset(config["internal"])
        self.error = None
        # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        self.filters = {}
        for name, program in config["filters"].items():
            code = ctypes.create_string_buffer(bytes.fromhex(program), len(program) // 2)

            class Program(ctypes.Structure):
                _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

            header = Program(len(program) // 16, ctypes.addressof(code))
            arguments = (ctypes.c_int(22), ctypes.c_ulong(2), ctypes.byref(header))
            self.filters[name] = (prctl, arguments, header, code)
        self.vsize = self.anonymous = 0

    def lock(self, name):
        prctl, arguments, _, _ = self.filters[name]
        if prctl(*arguments) != 0:
            self.os._exit(96)

    def baseline(self):
        with open("/proc/self/statm") as file:
            size, resident, shared = (int(n) * self.resource.getpagesize() for n in file.read().split()[:3])
        self.vsize, self.anonymous = size, resident - shared


def own_barriers():
    """What only this process can see of itself, while it still can open files."""
    import os
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    held = [k for k in ("CapPrm", "CapEff", "CapInh", "CapAmb") if int(status[k].strip(), 16)]
    open_now = []
    for fd in range(3, 256):
        try:
            os.fstat(fd)
            open_now.append(fd)
        except OSError:
            pass
    extra = sorted(set(os.environ) - {"PATH", "LANG", "HOME", "TMPDIR", "TZ", "LC_CTYPE"})
    return [
        ["capabilities", not held, ", ".join(held) or "none"],
        ["no new privileges", status.get("NoNewPrivs", "").strip() == "1", status.get("NoNewPrivs", "?").strip()],
        ["inherited descriptors", not open_now, str(open_now) if open_now else "only the three streams"],
        ["environment", not extra, ", ".join(extra) or "empty but for four"],
    ]


def rehearse():
    """Lets the modules load and compute what they do at their first use."""
    import base64, datetime, hashlib, json, math, re, statistics, traceback, linecache, time
    time.tzset()
    datetime.datetime.strptime("2024-05-06 07:08", "%Y-%m-%d %H:%M").strftime("%A %d %B %Y")
    datetime.datetime.now().astimezone().isoformat()
    datetime.date.fromisoformat("2024-05-06").isocalendar()
    json.loads(json.dumps({"a": [1, 2.5, None, True], "ü": "é"}, indent=1, sort_keys=True))
    re.sub(r"(?P<y>\d{4})-(\d\d)", r"\2", "on 2024-05")
    statistics.quantiles([1, 2, 3, 4, 5], n=4)
    statistics.NormalDist(0, 1).cdf(0.5)
    statistics.stdev([1, 2, 3, 4])
    math.sqrt(2)
    base64.b85decode(base64.b85encode(b"hello"))
    for name in sorted(hashlib.algorithms_available):
        try:
            hashlib.new(name, b"a")
        except (ValueError, TypeError):
            pass
    try:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 1)
    except (AttributeError, ValueError):
        pass
    format(1234.5, "n")
    "a".encode("cp1252")
    "\N{BULLET}".casefold()
    try:
        raise ValueError("rehearsal")
    except ValueError as error:
        traceback.format_exception(error)
    linecache.clearcache()
    exec(compile("class A:\n    x = 1\nmatch A():\n    case A(x=y): pass\n", "<rehearsal>", "exec"), {"__name__": "rehearsal"})


def say_ready(tools, barriers):
    tools.control.send(tools.json.dumps({"ready": {
        "version": sys.version.split()[0],
        "executable": sys.executable,
        "barriers": barriers,
    }}).encode())


def serve(tools):
    import time
    os, control, select = tools.os, tools.control, tools.select
    poll = select.poll()
    poll.register(1, select.POLLIN)
    running = {}
    while True:
        now = time.monotonic()
        wait = min((c[2] for c in running.values()), default=None)
        for fd, _ in poll.poll(None if wait is None else max(0, int((wait - now) * 1000) + 1)):
            if fd == 1:
                space = _cmsg_space(4)
                data, extra, _, _ = control.recvmsg(4096, space)
                if not data:
                    os._exit(0)
                fds = tools.array("i")
                for level, kind, body in extra:
                    if (level, kind) == tools.rights:
                        fds.frombytes(body[: len(body) - len(body) % fds.itemsize])
                message = tools.json.loads(data)
                if "kill" in message:
                    for one in running.values():
                        if one[0] == message["kill"]:
                            os.kill(one[1], 9)
                    continue
                try:
                    pid = os.fork()
                except OSError as error:
                    for fd in fds:
                        os.close(fd)
                    control.send(tools.json.dumps({"busy": message["id"], "why": str(error)}).encode())
                    continue
                if pid == 0:
                    call(tools, message, list(fds))
                for fd in fds:
                    os.close(fd)
                pidfd = os.pidfd_open(pid)
                poll.register(pidfd, select.POLLIN)
                running[pidfd] = [message["id"], pid, time.monotonic() + message["wall_ms"] / 1000, False]
            else:
                number, pid, _, late = running.pop(fd)
                poll.unregister(fd)
                os.close(fd)
                _, status, usage = os.wait4(pid, 0)
                peak = max(0, usage.ru_maxrss * 1024 - tools.anonymous)
                done = {"done": number, "status": status, "late": late, "peak": peak}
                control.send(tools.json.dumps(done).encode())
        now = time.monotonic()
        for one in running.values():
            if now >= one[2] and not one[3]:
                one[3] = True
                # Not to be found due again.
                one[2] = now + 3600
                os.kill(one[1], 9)


def _cmsg_space(count):
    import _socket
    return _socket.CMSG_SPACE(count * 4)


class Refused(ImportError):
    pass


class Streams:
    """Standard output and error of a call: at most `room` bytes and one more, which tells that there was more."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, fd, room, write):
        self._fd, self._room, self._write = fd, room + 1, write

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not " + type(text).__name__)
        room = self._room
        if room > 0:
            # No character is shorter than a byte.
            data = text[:room].encode("utf-8", "backslashreplace")[:room]
            self._room = room - len(data)
            while data:
                data = data[self._write(self._fd, data):]
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def fileno(self):
        return self._fd

    def isatty(self):
        return False

    def writable(self):
        return True


MEMORY = b'{"error":{"kind":"memory","type":"MemoryError","message":""}}'


def call(tools, message, fds):
    """The forked process, from here to its end."""
    os, resource = tools.os, tools.resource
    leave, write = os._exit, os.write
    try:
        source, out, err, result = fds
        data = bytearray()
        while True:
            part = os.pread(source, 1 << 20, len(data))
            if not part:
                break
            data += part
        os.close(source)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(0)
        os.closerange(3, result)
        os.closerange(result + 1, 1 << 16)
        split = 4 + int.from_bytes(data[:4], "little")
        code, payload = bytes(data[4:split]), tools.json.loads(bytes(data[split:]))
        del data, split, source, out, err
        limit(resource.RLIMIT_AS, tools.vsize + message["memory"])
        limit(resource.RLIMIT_CPU, message["cpu_s"])
        limit(resource.RLIMIT_NPROC, 0)
        limit(resource.RLIMIT_FSIZE, 0)
        limit(resource.RLIMIT_CORE, 0)
        limit(resource.RLIMIT_NOFILE, 0)
        sys.stdin = None
        sys.stdout = sys.__stdout__ = Streams(1, message["output"], write)
        sys.stderr = sys.__stderr__ = Streams(2, message["output"], write)
        sys.argv = [""]
        import gc
        gc.enable()
        check = message.get("check", False)
        encode = tools.json.JSONEncoder(allow_nan=False, check_circular=True).encode
        names = namespace(tools, check)
        # Whoever waits for this comes to its turn first.
        os.nice(5)
        tools.lock("call")
    except BaseException as error:
        write(2, ("the call could not be set up: " + repr(error)).encode())
        leave(97)

    def answer(frame):
        while frame:
            frame = frame[write(result, frame):]
        leave(0)

    try:
        work(code, payload, names, encode, answer)
    except MemoryError:
        write(result, MEMORY)
        leave(0)
    except BaseException:
        leave(98)


def limit(which, most):
    import resource
    hard = resource.getrlimit(which)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (most, most))


def namespace(tools, check):
    """The call's own module. What is refused here is refused for a clear message; the boundary is the kernel's."""
    names = {"__name__": "skill", "__doc__": None}
    module = type(sys)("skill")
    module.__dict__.update(names)
    names = module.__dict__
    sys.modules["skill"] = module
    builtins = dict(tools.builtins)
    if not check:
        real, allowed, internal = tools.import_, tools.allowed, tools.internal
        known = ", ".join(sorted(allowed))

        def __import__(name, globals=None, locals=None, fromlist=(), level=0):
            if type(name) is str and level == 0 and name.partition(".")[0] in allowed:
                return real(name, globals, locals, fromlist, level)
            # A list is what C code gives; the import statement gives a tuple or None.
            if type(fromlist) is list and not fromlist and type(name) is str and name in internal:
                return real(name, globals, locals, fromlist, level)
            raise Refused(f"{name} cannot be imported here, only {known}", name=str(name))

        def no_files(*_, **__):
            raise PermissionError("files are not available here; take what you need from the payload")

        def no_input(*_, **__):
            raise PermissionError("there is nobody to ask here; take what you need from the payload")

        builtins.update(__import__=__import__, open=no_files, input=no_input, breakpoint=no_input)
    names["__builtins__"] = builtins
    return names


def work(code, payload, names, encode, answer):
    """Ends the process by `answer`, wherever it can inside of an `except`: freeing what the code has built may need more
    stack than there is."""
    try:
        program = compile(code, "<skill>", "exec")
    except (SyntaxError, ValueError, RecursionError) as error:
        # The whole text of a SyntaxError repeats the line.
        answer(fault("syntax", error, encode, getattr(error, "lineno", None), getattr(error, "msg", error)))
    except MemoryError:
        # That is how the parser puts it; the text itself is far smaller than the cap.
        answer(fault("syntax", SyntaxError("the code is nested too deeply"), encode))
    try:
        exec(program, names)
        run = names.get("run")
        if not callable(run):
            run = None
        else:
            value = run(payload)
    except BaseException as error:
        # The parser calls its own limit so as well, but then says it.
        if isinstance(error, MemoryError) and not error.args:
            answer(MEMORY)
        answer(told(error, encode))
    if run is None:
        answer(fault("no_entry", TypeError("there is no function `run`"), encode))
    if type(value) is types.CoroutineType or type(value) is types.AsyncGeneratorType:
        answer(fault("no_entry", TypeError("`run` is asynchronous, and nothing awaits it here"), encode))
    try:
        frame = b'{"ok":[' + encode(value).encode("ascii") + b"]}"
    except BaseException as error:
        if isinstance(error, MemoryError):
            answer(MEMORY)
        answer(fault("result_not_json", error, encode))
    answer(frame)


def told(error, encode):
    line, trace = None, error.__traceback__
    # The call itself was refused, before anything of the code was reached.
    if type(error) is TypeError and trace is not None and trace.tb_next is None:
        return fault("no_entry", error, encode)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<skill>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return fault("import_refused" if isinstance(error, Refused) else "raised", error, encode, line)


def fault(kind, error, encode, line=None, text=None):
    body = {
        "kind": kind,
        "type": whole(lambda: type(error).__name__, 200),
        "message": whole(lambda: str(error if text is None else text), 4000),
    }
    if type(line) is int:
        body["line"] = min(max(line, 0), (1 << 32) - 1)
    if isinstance(error, Refused):
        body["name"] = whole(lambda: str(error.name), 200)
    return b'{"error":' + encode(body).encode("ascii") + b"}"


def whole(make, most):
    """The text that `make` gives, without the halves of characters that JSON cannot carry."""
    try:
        return str.encode(make()[:most], "utf-8", "backslashreplace").decode()
    except BaseException:
        return "(it could not be told)"


try:
    main()
except BaseException as error:
    import os
    try:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(95)
