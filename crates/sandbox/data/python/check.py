"""Run inside a call with every module at hand: tries to get out, and reports what stopped it."""


def run(payload):
    import _socket, ctypes, os, posix, sys

    def attempt(name, action):
        try:
            action()
            return [name, False, "it was possible"]
        except BaseException as error:
            return [name, True, f"{type(error).__name__}: {error}"[:200]]

    libc = ctypes.CDLL(None, use_errno=True)

    def native(name, *arguments):
        if getattr(libc, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def executable_memory():
        libc.mmap.restype = ctypes.c_ssize_t
        native("mmap", None, 4096, 7, 0x22, -1, 0)

    def bear():
        if os.fork() == 0:
            os._exit(0)

    def other_descriptors():
        found = []
        for fd in range(1024):
            try:
                found.append(os.lseek(fd, 0, os.SEEK_CUR))
            except OSError as error:
                # ESPIPE is a pipe's answer.
                if error.errno != 9:
                    found.append(error.errno)
        if found == [29, 29, 29]:
            raise OSError("only three pipes are open")

    def thread():
        import _thread
        _thread.start_new_thread(print, ())

    return [
        attempt("open a file", lambda: posix.open("/etc/passwd", os.O_RDONLY)),
        attempt("open its own program", lambda: posix.open(sys.executable, os.O_RDONLY)),
        attempt("write a file", lambda: posix.open("/tmp/written", os.O_WRONLY | os.O_CREAT)),
        attempt("list a folder", lambda: os.listdir("/")),
        attempt("look at a path", lambda: os.stat("/")),
        attempt("read a link", lambda: os.readlink("/proc/self/exe")),
        attempt("make a file in memory", lambda: os.memfd_create("x")),
        attempt("make a pipe", os.pipe),
        attempt("duplicate a descriptor", lambda: os.dup(1)),
        attempt("make a child", bear),
        attempt("start a thread", thread),
        attempt("run a program", lambda: os.execv(sys.executable, ["python3"])),
        attempt("signal the parent", lambda: os.kill(os.getppid(), 0)),
        attempt("signal its own group", lambda: os.kill(0, 0)),
        attempt("signal itself", lambda: os.kill(os.getpid(), 15)),
        attempt("open a TCP socket", lambda: _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)),
        attempt("open a UNIX socket", lambda: _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)),
        attempt("make a pair of sockets", _socket.socketpair),
        attempt("use a descriptor of the parent", other_descriptors),
        attempt("trace its parent", lambda: native("ptrace", 16, os.getppid(), None, None)),
        attempt("lift a limit", lambda: native("setrlimit", 7, ctypes.byref((ctypes.c_ulong * 2)(64, 64)))),
        attempt("make executable memory", executable_memory),
        attempt("set a process flag", lambda: native("prctl", 15, b"x", 0, 0, 0)),
        attempt("make a user namespace", lambda: native("unshare", 0x10000000)),
    ]
