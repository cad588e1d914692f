"""Functions that read from outside of the program: arguments, files, the machine. Their results are unknown."""

from __future__ import annotations

from pgasrob.diagnostics.wrong import Wrong
from pgasrob.frontends.apis.interface import Call, Outcome
from pgasrob.frontends.c.libc.file_calls import opened
from pgasrob.frontends.c.libc.library_calls import VALUE, calls, machine_of, text_of, unknown_answer
from pgasrob.frontends.c.libc.string_functions import forget
from pgasrob.frontends.c.values import NULL, Address, Known
from pgasrob.program.assumptions import Kind

PAGE = 4096
_SC_PAGESIZE = 30


# Files


@calls("FILE *fopen(const char *path, const char *mode); FILE *fdopen(int fd, const char *mode); FILE *tmpfile(void); "
       "FILE *freopen(const char *path, const char *mode, FILE *old);")  # fmt: skip
def open_file(call: Call) -> Outcome | list[Outcome]:
    """A file to read may be there or not; one to write can be made, as calls succeed."""
    mode = text_of(call, 1) if call.name in ("fopen", "freopen") else b"w"
    stream = opened(call, None if mode is None else mode.decode(errors="replace"))
    if mode is not None and mode[:1] != b"r":
        return Outcome(result=stream)
    call.rests_on(Kind.UNKNOWN_VALUES, f"{call.name}()")
    return [Outcome(result=stream), Outcome(result=NULL)]


@calls("FILE *popen(const char *command, const char *mode);")
def pipe(call: Call) -> Outcome:
    """A pipe to another program or from it; processes can be made, as calls succeed."""
    return Outcome(result=opened(call, None))


@calls("char *fgets(char *to, int size, FILE *of); char *gets(char *to);")
def line(call: Call) -> Outcome | list[Outcome]:
    to = call.pointer(0)
    if to is None:
        call.fail(Wrong.POINTER, f"a null pointer where `{call.name}` puts a line", "pass memory")
    machine = machine_of(call).machine
    room = machine.objects.room(to)
    forget(call, to, min(room, call.known(1)) if call.name == "fgets" else room)
    return [Outcome(result=to), Outcome(result=NULL)]


@calls("size_t fread(void *to, size_t size, size_t count, FILE *of); long read(int fd, void *to, size_t size); "
       "long recv(int fd, void *to, size_t size, int flags); "
       "long pread(int fd, void *to, size_t size, long at);")  # fmt: skip
def read(call: Call) -> Outcome:
    to = call.pointer(0 if call.name == "fread" else 1)
    count = call.known(2)
    if to is not None:
        forget(call, to, call.known(1) * count if call.name == "fread" else count)
    return unknown_answer(call, (0 if call.name == "fread" else -1, count))


@calls("size_t fwrite(const void *of, size_t size, size_t count, FILE *to);")
def write(call: Call) -> Outcome:
    call.rests_on(Kind.NO_EFFECT, call.name)
    return Outcome(result=call.arguments[2])


@calls(
    """
    int fgetc(FILE *of); int getc(FILE *of); int getchar(void); int ungetc(int c, FILE *of); int feof(FILE *of);
    int ferror(FILE *of); long ftell(FILE *of);
    int open(const char *path, int flags, ...); int access(const char *p, int mode);
    int fileno(FILE *of); int system(const char *command); long sysconf(int name);
    int getpagesize(void); long gethostid(void); unsigned int geteuid(void); int get_nprocs(void);
    int mkdir(const char *path, int mode); int unlink(const char *path); int remove(const char *path);
    int rename(const char *old, const char *new); int kill(int process, int number); int getpid(void);
    int getppid(void); int gettid(void); int isatty(int fd); int sched_getcpu(void);
    unsigned int getuid(void); unsigned int getgid(void); unsigned int getegid(void);
    unsigned int alarm(unsigned int seconds); int fcntl(int fd, int command, ...);
    int link(const char *old, const char *new); int symlink(const char *old, const char *new);
    int rmdir(const char *path); int truncate(const char *path, long size); int creat(const char *path, int mode);
    int mkfifo(const char *path, int mode); int pclose(FILE *f);
    """
)
def answer(call: Call) -> Outcome:
    """An unknown answer of the operating system, in the range of the function; the size of a page is known."""
    if call.name == "getpagesize" or (call.name == "sysconf" and call.arguments[0] == Known(_SC_PAGESIZE)):
        call.rests_on(Kind.FIXED_ANSWERS, call.name)
        return Outcome(result=Known(PAGE))
    ranges = {
        **dict.fromkeys(("getpid", "gettid"), (1, (1 << 31) - 1)),
        **dict.fromkeys(("getppid", "sched_getcpu", "fcntl"), (0, (1 << 31) - 1)),
        **dict.fromkeys(("getuid", "geteuid", "getgid", "getegid", "alarm"), (0, (1 << 32) - 1)), "isatty": (0, 1),
        "fgetc": (-1, 255), "getc": (-1, 255), "getchar": (-1, 255), "ungetc": (-1, 255), "feof": (0, 1),
        "ferror": (0, 1), "access": (-1, 0), "mkdir": (-1, 0), "unlink": (-1, 0),
        "remove": (-1, 0), "rename": (-1, 0), "kill": (-1, 0), "get_nprocs": (1, 1 << 16),
        **dict.fromkeys(("link", "symlink", "rmdir", "truncate", "mkfifo"), (-1, 0)),
        "sysconf": (-1, (1 << 63) - 1), "ftell": (-1, (1 << 63) - 1), "gethostid": (-1 << 63, (1 << 63) - 1),
    }  # fmt: skip
    return unknown_answer(call, ranges.get(call.name, (-1, (1 << 31) - 1)))


@calls("int uname(struct utsname *to); int gethostname(char *to, size_t size); "
       "int getrusage(int who, struct rusage *to); "
       "char *getcwd(char *to, size_t size); int getdomainname(char *to, size_t size); "
       "size_t strftime(char *to, size_t size, const char *format, const struct tm *time); "
       "int sigemptyset(void *to); int sigfillset(void *to); "
       "int stat(const char *path, struct stat *to); int lstat(const char *path, struct stat *to); "
       "int fstat(int fd, struct stat *to); int getitimer(int which, struct itimerval *to);")  # fmt: skip
def describe(call: Call) -> Outcome:
    """Memory is filled with what the machine answers."""
    index = 1 if call.name in ("getrusage", "getitimer", "stat", "lstat", "fstat") else 0
    to = call.pointer(index)
    if to is None:
        call.fail(Wrong.POINTER, f"a null pointer where `{call.name}` puts its result", "pass memory")
    sizes = {
        **dict.fromkeys(("stat", "lstat", "fstat"), 144),
        "uname": 390,
        "getrusage": 144,
        "sigemptyset": 128,
        "sigfillset": 128,
        "getitimer": 32,
    }
    size = sizes.get(call.name)
    forget(call, to, call.known(1) if size is None else size)
    if call.name == "strftime":
        return unknown_answer(call, (0, call.known(1)))
    if call.name.endswith("stat"):
        return unknown_answer(call, (-1, 0))
    return Outcome(result=to if call.name == "getcwd" else VALUE)


@calls("struct tm *localtime(const long *time); struct tm *gmtime(const long *time);")
def calendar(call: Call) -> Outcome:
    to = call.internal("calendar", bytes=56, name="tm")
    forget(call, to, 56)
    return Outcome(result=to)


@calls("int backtrace(void **to, int size);")
def backtrace(call: Call) -> Outcome:
    to, size = call.pointer(0), call.known(1)
    if to is not None:
        forget(call, to, 8 * size)
    return unknown_answer(call, (0, max(size, 0)))


TEXT = 64
"""Room for a text of the operating system."""


@calls("char *strerror(int number); char *strsignal(int number); char *ctime(const long *time); "
       "char *setlocale(int category, const char *locale);")  # fmt: skip
def system_text(call: Call) -> Outcome | list[Outcome]:
    """A text that is not known, in memory of the library; there may be no such locale."""
    to = unknown_text(call)
    return [Outcome(result=to), Outcome(result=NULL)] if call.name == "setlocale" else Outcome(result=to)


def unknown_text(call: Call) -> Address:
    """Memory of the library that holds some text, for the function at hand."""
    to = call.internal(f"text of {call.name}", bytes=TEXT, name=f"{call.name} text")
    forget(call, to, TEXT)
    return to
